"""The forms of expressions: text, canonical, stable, simplified, SymPy, LaTeX, source code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from symgrad.api.handles.inputs import number_texts, program_names
from symgrad.api.handles.methods import ArrayMethods
from symgrad.api.handles.named_derivatives import (
    expanded,
    expanded_text,
    name_derivative,
    named_together,
    readable,
    recurrence_notation,
)
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import is_elementwise, substitute, topological
from symgrad.ops.array.layout import shape_text
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.memo import keeping, remembered
from symgrad.support.errors import UnsupportedError

if TYPE_CHECKING:
    from symgrad.ops.sympy_bridge.objects import Basic
    from symgrad.rewrite.pipeline import Stable

# What is imported in functions here would slow down `import symgrad`: the printers.


class FormMethods(ArrayMethods):
    """The methods of `Expr` that return another form of the expression."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        text = str(self)
        return f"Expr({text if len(text) <= 200 else text[:197] + '...'})"

    def text(self, *, expand: bool = False) -> str:
        r"""Return the text that ``print`` shows; `parse` can read it, with the same symbols.

        Args:
            expand: whether to write it in terms of the inputs only. Otherwise a derivative is written in the names of
                its program if that is shorter, with lines below that define new names.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("x : real\ns = sigmoid(x)\ny = sin(s)*s")
            >>> g = sg.grad(p["y"], p["x"])
            >>> print(g)
            (1 - s)*(s**2*cos(s) + y)
            >>> print(g.text(expand=True))
            sigmoid(x)*sigmoid(-x)*(sigmoid(x)*cos(sigmoid(x)) + sin(sigmoid(x)))
        """
        said = None if expand else named_together([self])
        if said is not None:
            return said.text([""])
        found = None if expand else name_derivative(self)
        return expanded_text(self) if found is None else str(found)

    def canonical(self) -> Self:
        r"""Return the expression as a person would write it: collected, cancelled, ordered.

        No rule changes the value where the original is defined; `domain_notes` tells where else the result is defined.
        The result keeps every stop_gradient, so it may be differentiated again, with one exception: to differentiate
        with respect to a matrix that is declared symmetric, use the original expression. The canonical form may read
        A[i, j] where the original reads A[j, i], so only the sum of the two derivatives is the same.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
            >>> print(sg.grad(p["z"], p["x"]).canonical())
            sqrt(u)*sign(x)
        """
        from symgrad.rewrite.pipeline import canonical

        with keeping(self.answers):
            return self._in_form(canonical([self.node]).nodes[0], derived=self.derived)

    def stable(self) -> Self:
        """Return a form that is equal in exact arithmetic, and loses fewer digits in floating point.

        `exp(x) - 1` becomes `expm1(x)`, `sqrt(x**2 + y**2)` becomes `hypot(x, y)`. A form is chosen by the number of
        wrong bits at sample points of the declared domains, so declare them. A part of one variable may become a choice
        between forms at thresholds, one of which may be a Taylor polynomial, correct to the last bits of floats.
        `stable_notes` tells where else the result is defined. The stable form of a derivative is the form that its
        kernel computes; if the derivative contains stop_gradients, these stay, and only rules look for other forms. The
        stable form is computed exactly as written, without further rewriting.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x", domain="positive")
            >>> print((sg.sqrt(x + 1) - sg.sqrt(x)).stable())
            1/(sqrt(x + 1) + sqrt(x))
        """
        chosen = self._kernel_form()
        return self._in_form(self._stable().nodes[0] if chosen is None else chosen, derived=False)

    @property
    def stable_notes(self) -> tuple[str, ...]:
        """Conditions under which the stable form is defined although the starting form is not, one for each."""
        chosen = self._kernel_form()
        if chosen is None:
            return tuple(self._stable().notes)
        from symgrad.pretty.simplify import domain_gains

        return domain_gains(readable(self), chosen, number_texts([self]))

    def _kernel_form(self) -> Node | None:
        """Return the form that a kernel of this derivative computes; None if stop_gradients must stay."""
        from symgrad.api.handles.output import arrange_nodes, has_stops

        return arrange_nodes([self]).nodes[0] if self.derived and not has_stops([self]) else None

    def _stable(self) -> Stable:
        from symgrad.rewrite.pipeline import Stable, stable

        formula = [readable(self)]
        with keeping(self.answers):
            found = stable(formula)
            if self.derived or not is_elementwise(formula):
                return found
            from symgrad.compiler.forms.one_variable import keep_digits_of_values

            def by_parts() -> Stable:
                return Stable(keep_digits_of_values(found.nodes), found.trace)

            return remembered(formula, "stable by parts", by_parts)

    def simplify(self) -> Self:
        """Return the most readable form that is found in bounded time.

        The result is equal wherever the original is defined; `simplified_notes` tells where else it is defined.

        Example:
            >>> import symgrad as sg
            >>> x, a, b = sg.symbols("x a b")
            >>> print((x*(a + b) - a*x - b*x).simplify(), ((x**2 - a**2)/(x - a)).simplify())
            0 a + x
        """
        from symgrad.pretty.simplify import simplified

        with keeping(self.answers):
            return self._in_form(simplified(self.node).node, derived=False)

    @property
    def simplified_notes(self) -> tuple[str, ...]:
        """Conditions under which the simplified form is defined although the expression is not, one sentence each."""
        from symgrad.pretty.simplify import domain_gains, simplified

        with keeping(self.answers):
            found = simplified(self.node)
            return found.notes and domain_gains(self.node, found.node, number_texts([self]))

    @property
    def domain_notes(self) -> tuple[str, ...]:
        """Conditions under which the printed form is defined but the original expression is not, one phrase each."""
        said = named_together([self])
        if said is not None:
            return tuple(said.notes([self.node])[0])
        found = name_derivative(self)
        return self.expanded_notes if found is None else tuple(found.notes(self.node))

    @property
    def form_notes(self) -> tuple[str, ...]:
        r"""Hints, one sentence each: parts of the printed derivative that would be shorter with more declarations.

        Example:
            >>> import symgrad as sg
            >>> p = sg.parse("h : real[k]; t : int; p = softmax(h); loss = -log(p[t])")
            >>> g = sg.grad(p["loss"], "h")
            >>> print(g, *g.form_notes, sep="\n")  # doctest: +ELLIPSIS
            p - scatter_add(1, t, shape=(k,))
            scatter_add(1, t, shape=(k,)) is one_hot(t, k) where t is in 0..k-1, as t : int(0, k - 1) declares; ...
        """
        said = named_together([self])
        if said is not None:
            return tuple(said.readings()[0])
        if not self.derived:
            return ()
        from symgrad.pretty.forms.positions import is_inside, readings

        known = Conditions()
        return tuple(
            dict.fromkeys(readings(readable(self), lambda index, size: is_inside(index, size, known)))
        )

    @property
    def digit_notes(self) -> tuple[str, ...]:
        """Where the printed form loses digits that `stable` keeps, as one line, or none if no such place is found.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> sg.grad(sg.sin(x)/x, x).digit_notes  # doctest: +ELLIPSIS
            ('as printed, loses digits for x from -0... to 0...; calls, kernels and sources keep them',)
        """
        from symgrad.api.reports.digits import digit_notes

        chosen = self._kernel_form()
        return digit_notes(self, self._stable().nodes[0] if chosen is None else chosen)

    @property
    def expanded_notes(self) -> tuple[str, ...]:
        """Conditions under which the canonical form is defined but the original expression is not, one phrase each."""
        from symgrad.pretty.simplify import domain_gains
        from symgrad.rewrite.pipeline import canonical

        form, spelling = expanded(self)
        if spelling.literals:
            return domain_gains(self.node, substitute([form], spelling.literals)[0], spelling.numbers)
        with keeping(self.answers):
            found = canonical([self.node])
        return domain_gains(self.node, found.nodes[0], spelling.numbers) if found.notes else ()

    def sympy(self) -> Basic:
        """Return the expression as an unevaluated SymPy expression; shared parts are shared objects.

        Raises:
            UnsupportedError: if it contains an array, since SymPy's symbols are numbers.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> sg.sin(x).sympy()
            sin(x)
        """
        from symgrad.ops.sympy_bridge import to_sympy

        node = readable(self)
        array = next((n for n in topological([node]) if n.shape), None)
        if array is not None:
            what = f"'{array.name}'" if array.op is SYMBOL else "a part"
            raise UnsupportedError(
                f"SymPy takes formulas of numbers; {what} has shape {shape_text(array.shape)}",
                cure="print it, .latex() and .numpy_source() write arrays; or write one entry with scalar symbols",
            )
        return to_sympy([node])[0]

    def _sympy_(self) -> Basic:
        """Convert to a SymPy expression for ``sympy.sympify`` and SymPy's functions and operators; see `sympy`."""
        return self.sympy()

    def latex(self, *, expand: bool = False) -> str:
        r"""Return the expression as LaTeX.

        Args:
            expand: whether to write it in terms of the inputs only. Otherwise a derivative is written in the names of
                its program if that is shorter, in an ``aligned`` environment if there are lines that define new names.

        Example:
            >>> import symgrad as sg
            >>> x = sg.symbols("x")
            >>> print((x / 2).latex())
            \frac{x}{2}
        """
        from symgrad.printing.texts.named_formulas import formulas_latex, named_latex

        names = program_names([self])
        said = None if expand else named_together([self])
        if said is not None:
            return formulas_latex(said, names)
        found = None if expand else name_derivative(self)
        node, spelling = expanded(self) if found is None else (found.formula, found.spelling)
        return named_latex(node, spelling, names, *recurrence_notation(self))

    def numpy_source(self, name: str = "f", *, expand: bool = False) -> str:
        """Return the source of a self-contained NumPy function that computes the expression.

        A derivative is computed in the form of its kernel, which may be longer than what is printed, and loses fewer
        digits.

        Args:
            name: the name of the function; its arguments are in the order of `inputs`.
            expand: whether to write it in terms of the inputs only. Otherwise the values of a derivative that its
                program names are variables.

        Raises:
            UsageError: if the name is not a Python identifier, or is a name that the source uses itself.
            UnsupportedError: for an op that has neither a NumPy function nor a formula.
        """
        from symgrad.api.handles.output import numpy_text

        return numpy_text([self], name, expand=expand, single=True)

    def framework_source(self, framework: str, name: str = "f", *, gradient: bool | int = False) -> str:
        r"""Return the source of a Python function in the operations of JAX, torch, TensorFlow or Keras.

        Each named value of the program is a line. By default, the function has only plain operations and uses the
        framework's stop_gradient, so the framework's derivatives agree with the derivatives of this expression at every
        order. At kinks the framework's convention applies. With ``gradient=True`` the function has the gradient that
        symgrad derived, registered by ``jax.custom_vjp``, ``torch.autograd.Function``, ``tf.custom_gradient`` or
        ``keras.ops.custom_gradient``; the framework derives the second derivative from that gradient. With
        ``gradient=k``, symgrad derives all derivatives up to order k. Derivatives are written in the forms that their
        kernels compute; a derivative that contains stop_gradients keeps these, and has its printed form.

        Args:
            framework: ``"jax"``, ``"torch"``, ``"tensorflow"`` or ``"keras"`` (all backends that have gradients).
            name: the name of the function; its arguments are in the order of `inputs`.
            gradient: whether the function has symgrad's derivatives, or the order up to which it has them.

        Raises:
            UsageError: for another framework, or for a name that is not a Python identifier.
            UnsupportedError: if the framework has no function for some operations; the message names all of them.

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
            >>> print(sg.round(x).framework_source("tensorflow", gradient=True))
            import tensorflow as tf
            <BLANKLINE>
            <BLANKLINE>
            def _f_value(x):
                return tf.math.round(x)
            <BLANKLINE>
            <BLANKLINE>
            def _f_pullback(x, out_bar):
                return tf.zeros_like(x)
            <BLANKLINE>
            <BLANKLINE>
            @tf.custom_gradient
            def f(x):
                def grad(*cotangent):
                    return _f_pullback(x, *cotangent)
            <BLANKLINE>
                return _f_value(x), grad
            <BLANKLINE>
        """
        from symgrad.api.handles.output import read_symbols, source_forms
        from symgrad.printing.frameworks.pasted import framework_source

        node = readable(self)
        forms, names = source_forms([self])
        symbols = read_symbols([self], [node, *(forms or ())])
        return framework_source(
            node, framework, name, names, inputs=symbols, gradient=int(gradient), forms=forms
        )
