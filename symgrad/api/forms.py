"""The forms that expressions have beside the one they are held in: text, canonical, stable, SymPy's, LaTeX, NumPy's."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

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
        plain = self.plain_text()
        said = self._said()
        return plain if said is None or (said.lines and len(said) > len(plain)) else said.text([""])

    def __repr__(self) -> str:
        text = str(self)
        return f"Expr({text if len(text) <= 200 else text[:197] + '...'})"

    def plain_text(self) -> str:
        """Return it without the names that its program gives to values, but for those of inputs.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("x : real\ns = sigmoid(x)\ny = s**2")
            >>> print(sg.grad(p["y"], p["x"]))
            2*s*(s - y)
            >>> print(sg.grad(p["y"], p["x"]).plain_text())
            2*sigmoid(x)**2*sigmoid(-x)
        """
        from symgrad.ir.printer import str_text

        return str_text(self._readable())

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

    @property
    def domain_notes(self) -> tuple[str, ...]:
        """Where the canonical form is defined although the expression as built is not, one sentence each."""
        from symgrad.rules.pipeline import canonical

        return tuple(canonical([self.node]).notes)

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

    def latex(self) -> str:
        r"""Return it as LaTeX.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> print((x / 2).latex())
            \frac{x}{2}
        """
        from symgrad.render.latex import latex

        return latex(self._readable())

    def numpy_source(self, name: str = "f") -> str:
        """Return a self-contained Python function over NumPy that computes it.

        Args:
            name: the name of the function.

        Raises:
            UsageError: if that is no identifier of Python, or one that the source needs itself.
            UnsupportedError: for an op that has neither a NumPy function nor a formula.
        """
        from symgrad.render.numpy_source import numpy_source

        return numpy_source([self._readable()], name=name)

    @property
    @abstractmethod
    def slope(self) -> Slope | None:
        """Of a derivative of one scalar, what it is the derivative of, and by what."""

    @property
    @abstractmethod
    def listings(self) -> tuple[Listing, ...]:
        """The programs it comes from."""

    def _said(self) -> Said | None:
        """Return a derivative in the words of its program, if they say it."""
        if self.slope is None or len(self.listings) != 1:
            return None
        from symgrad.words.said import said

        return said(self.listings[0], [self.slope])

    def _readable(self) -> Node:
        return self.canonical().node if self.derived else self.node
