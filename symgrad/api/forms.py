"""The forms that expressions have beside the one they are held in: text, canonical, stable, SymPy's, LaTeX, NumPy's."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, cast

from symgrad.api.methods import ArrayMethods
from symgrad.errors import UnsupportedError
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import topological
from symgrad.ops.layout import text as shape_text

if TYPE_CHECKING:
    import sympy

    from symgrad.api.expr import Expr
    from symgrad.backward.trace import Slope
    from symgrad.ir.listing import Listing
    from symgrad.words.said import Said

__all__ = ["Forms"]


class Forms(ArrayMethods):
    """The methods of `Expr` that give it in another form."""

    __slots__ = ()

    @property
    @abstractmethod
    def derived(self) -> bool:
        """Whether it is a derivative that symgrad made, whose arrangement is symgrad's own."""

    @abstractmethod
    def _in_form(self, node: Node, *, derived: bool) -> Expr:
        """Return it as another node: the same derivative if it is one, or a formula that is computed as it stands."""

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        text = str(self)
        return f"Expr({text if len(text) <= 200 else text[:197] + '...'})"

    def text(self, *, expand: bool = False) -> str:
        r"""Return it as text that `parse` reads, given its symbols: what ``print`` shows.

        Args:
            expand: whether over inputs alone. Else a derivative is in the names of its program where that is shorter,
                with lines below that say what new names stand for.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("x : real\ns = sigmoid(x)\ny = sin(s)*s")
            >>> g = sg.grad(p["y"], p["x"])
            >>> print(g)
            (1 - s)*(s**2*cos(s) + y)
            >>> print(g.text(expand=True))
            sigmoid(x)*sigmoid(-x)*(sigmoid(x)*cos(sigmoid(x)) + sin(sigmoid(x)))
        """
        from symgrad.ir.printer import str_text

        said = None if expand else self._said()
        if said is None and self.of_entries and not expand and len(self.listings) == 1:
            from symgrad.words.said import in_names

            found = in_names(self.listings[0], self.canonical().node)
            if found is not None:
                return found
        return str_text(self._readable()) if said is None else said.text([""])

    def canonical(self) -> Expr:
        r"""Return it as a person would write it: collected, cancelled, ordered.

        Every rule keeps the value wherever the original is defined; `domain_notes` tells where one is
        defined at more points. stop_gradient stays, so the result may be differentiated again.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
            >>> print(sg.grad(p["z"], p["x"]).canonical())
            sqrt(u)*sign(x)
        """
        from symgrad.rules.pipeline import canonical

        return self._in_form(canonical([self.node]).nodes[0], derived=self.derived)

    def stable(self) -> Expr:
        """Return what is equal to it in exact arithmetic and loses fewer digits in floating point.

        `exp(x) - 1` becomes `expm1(x)`, `sqrt(x**2 + y**2)` becomes `hypot(x, y)`. A form is chosen by how many bits
        are wrong at sample points of the declared domains, so declare them; one that helps at some points and harms at
        others is not taken. `stable_notes` tells where the result is defined at more points. A derivative starts from
        its canonical form; the result is computed as it stands.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x", domain="positive")
            >>> print((sg.sqrt(x + 1) - sg.sqrt(x)).stable())
            1/(sqrt(x + 1) + sqrt(x))
        """
        from symgrad.rules.pipeline import stable

        return self._in_form(stable([self._readable()]).nodes[0], derived=False)

    @property
    def stable_notes(self) -> tuple[str, ...]:
        """Where the stable form is defined although the one it starts from is not, one sentence each."""
        from symgrad.rules.pipeline import stable

        return tuple(stable([self._readable()]).notes)

    def simplify(self) -> Expr:
        """Return it in the form that is easiest to read, of those that are looked at in bounded time.

        It is equal wherever the original is defined; `simplified_notes` tells where it is defined at more points.

        Example:
            >>> import symgrad as sg
            >>> x, a, b = sg.symbols("x a b")
            >>> print((x*(a + b) - a*x - b*x).simplify(), ((x**2 - a**2)/(x - a)).simplify())
            0 a + x
        """
        from symgrad.words.simplify import simplified

        return self._in_form(simplified(self.node).node, derived=False)

    @property
    def simplified_notes(self) -> tuple[str, ...]:
        """Where the simplified form is defined although the expression is not, one sentence each."""
        from symgrad.words.simplify import simplified

        return simplified(self.node).notes

    @property
    def domain_notes(self) -> tuple[str, ...]:
        """Where what is printed is defined although the expression as built is not, one phrase each."""
        said = self._said()
        return self.expanded_notes if said is None else tuple(said.notes([self.node])[0])

    @property
    def form_notes(self) -> tuple[str, ...]:
        r"""What would be shorter in what is printed of a derivative if more were known, one sentence each.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("h : real[k]; t : int; p = softmax(h); loss = -log(p[t])")
            >>> g = sg.grad(p["loss"], "h")
            >>> print(g, *g.form_notes, sep="\n")
            p - scatter_add(1, t, shape=(k,))
            scatter_add(1, t, shape=(k,)) is one_hot(t, k) where t is in 0..k-1; below 0 it counts from the end
        """
        said = self._said()
        return () if said is None else tuple(said.readings()[0])

    @property
    def expanded_notes(self) -> tuple[str, ...]:
        """Where the canonical form is defined although the expression as built is not, one phrase each."""
        from symgrad.rules.pipeline import canonical
        from symgrad.words.simplify import gained

        found = canonical([self.node])
        return gained(self.node, found.nodes[0]) if found.notes else ()

    def sympy(self) -> sympy.Basic:
        """Return it as a SymPy expression, unevaluated; shared parts are shared objects.

        Raises:
            UnsupportedError: if an array is in it: SymPy's symbols are numbers.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> sg.sin(x).sympy()
            sin(x)
        """
        from symgrad.ir.cas import to_sympy

        node = self._readable()
        array = next((n for n in topological([node]) if n.shape), None)
        if array is not None:
            what = f"'{array.name}'" if array.op is SYMBOL else "a part"
            raise UnsupportedError(
                f"SymPy takes formulas of numbers; {what} has shape {shape_text(array.shape)}",
                cure="print it, .latex() and .numpy_source() write arrays; or write one entry with scalar symbols",
            )
        return to_sympy([node])[0]

    def _sympy_(self) -> sympy.Basic:
        """Return what ``sympy.sympify`` makes of it, and so SymPy's functions and operators: see `sympy`."""
        return self.sympy()

    def latex(self, *, expand: bool = False) -> str:
        r"""Return it as LaTeX.

        Args:
            expand: whether over inputs alone; else a derivative is in the names of its program where that is shorter,
                in an ``aligned`` environment if there are lines that say what new names stand for.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> print((x / 2).latex())
            \frac{x}{2}
        """
        from symgrad.render.latex import latex
        from symgrad.render.said import said_latex

        said = None if expand else self._said()
        return latex(self._readable()) if said is None else said_latex(said)

    def numpy_source(self, name: str = "f", *, expand: bool = False) -> str:
        """Return a self-contained Python function over NumPy that computes it.

        Args:
            name: the name of the function.
            expand: whether over inputs alone; else the names of a derivative's program are variables, where that is
                shorter.

        Raises:
            UsageError: if that is no identifier of Python, or one that the source needs itself.
            UnsupportedError: for an op that has neither a NumPy function nor a formula.
        """
        from symgrad.render.numpy_source import numpy_source
        from symgrad.render.said import said_source

        said = None if expand else self._said()
        return numpy_source([self._readable()], name=name) if said is None else said_source(said, name)

    def framework_source(self, framework: str, name: str = "f") -> str:
        r"""Return a Python function in the operations of JAX, torch or TensorFlow: an expression to paste there.

        stop_gradient is the framework's own, so that the derivatives there are those of this expression, at every
        order; named values of the program are lines.

        Args:
            framework: ``"jax"``, ``"torch"`` or ``"tensorflow"``.
            name: the name of the function.

        Raises:
            UsageError: for another framework, or for a name that is no identifier of Python.
            UnsupportedError: for operations that are neither elementwise nor a sum of products, and for a
                `custom_gradient`, which is no expression there.

        Example:
            >>> import symgrad as sg
            >>> x, u = sg.symbols("x u")
            >>> y = sg.with_gradient(forward=sg.tanh(x*u), backward_of=sg.tanh(x))
            >>> print(y.framework_source("jax"))
            import jax
            import jax.numpy as jnp
            <BLANKLINE>
            <BLANKLINE>
            def f(x, u):
                t1 = jnp.tanh(x)
                return jax.lax.stop_gradient(jnp.tanh(x*u)) - (jax.lax.stop_gradient(t1) - t1)
            <BLANKLINE>
            >>> print(y.framework_source("torch").splitlines()[-1].strip())
            return torch.tanh(x*u).detach() - (t1.detach() - t1)
        """
        from symgrad.render.frameworks import framework_source

        names = {n: t for listing in reversed(self.listings) for n, t in listing.name_of().items()}
        return framework_source(self._readable(), framework, name, names)

    @property
    @abstractmethod
    def slope(self) -> Slope | None:
        """Of a derivative of one scalar, what it is the derivative of, and by what."""

    @property
    @abstractmethod
    def of_entries(self) -> bool:
        """Whether it is a derivative by entries of an input."""

    @property
    @abstractmethod
    def listings(self) -> tuple[Listing, ...]:
        """The programs it comes from."""

    def _said(self) -> Said | None:
        """Return a derivative in the words of its program, None where these do not say it shorter."""
        from symgrad.api.told import said_together

        return said_together([cast("Expr", self)])

    def _readable(self) -> Node:
        return self.canonical().node if self.derived else self.node
