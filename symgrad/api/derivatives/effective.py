"""What a program with stop_gradient computes: its value, and what it sends back, without a stop_gradient left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from symgrad.api.derivatives.differentiate import vjp
from symgrad.api.derivatives.draws import differentiated_by
from symgrad.api.derivatives.jacobians import jacobian
from symgrad.api.derivatives.targets import Wrt, Wrts, differentiable
from symgrad.api.explain import joined_listing
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.given import Formula
from symgrad.api.handles.told import title
from symgrad.errors import NotScalarError, UsageError
from symgrad.ir.graph import Node, symbol
from symgrad.ir.listing import Listing
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.layout import shape_text
from symgrad.rules.pipeline import canonical

__all__ = ["Backward", "Effective", "effective", "resolved_texts"]


class Backward:
    """The backward function of a program: from a cotangent of its value to cotangents of what one differentiates by.

    Call it with a cotangent, an Expr or numbers of the shape of the value, by default one named after it.

    Attributes:
        cotangent: the symbol that stands for the cotangent of the value.
        wrt: what one differentiates by.
    """

    def __init__(self, y: Expr, wrt: Sequence[Expr], single: bool) -> None:
        self._y, self.wrt, self._single = y, tuple(wrt), single
        taken = {s.name for s in symbols_of([y.node])}
        name = f"{y.name or 'y'}_bar"
        while name in taken:
            name += "_"
        self.cotangent = Expr(symbol(Declaration(name, REAL, shape=y.shape)))

    def __call__(self, cotangent: Any = None) -> Any:
        """Return the cotangent of what one differentiates by: an Expr, or a list of them for a list.

        Args:
            cotangent: of the value; by default the symbol `cotangent`.
        """
        seed = self.cotangent if cotangent is None else cotangent
        found = [resolved(g, self._y) for g in vjp(self._y, list(self.wrt), seed)]
        return found[0] if self._single else found

    def __str__(self) -> str:
        found = self()
        each: list[Expr] = [found] if self._single else found
        names = [f"{w.name or f'({w})'}_bar" for w in self.wrt]
        return "\n".join(
            f"{n} = {t}" for n, t in zip(names, resolved_texts(self._y, [e.node for e in each]), strict=True)
        )

    def __repr__(self) -> str:
        return f"<Backward of {self._y.name or self._y}: {self}>"


class Effective:
    """A value and its backward function, with every stop_gradient resolved: ``value, backward = sg.effective(y, x)``.

    Attributes:
        value: what the program computes, as a formula.
        backward: what it sends back, as a function of the cotangent that comes in; see `Backward`.
        order: up to which order derivatives are listed.
    """

    def __init__(self, y: Expr, wrt: Sequence[Expr], single: bool, order: int) -> None:
        self._y, self._wrt, self._single, self.order = y, tuple(wrt), single, order
        self.value = resolved(y, y)
        self.backward = Backward(y, wrt, single)

    def __iter__(self) -> Iterator[Any]:
        yield self.value
        yield self.backward

    @cached_property
    def gradient(self) -> Any:
        """The gradient of a scalar: an Expr of the shape of ``wrt``, or a list of them for a list.

        Raises:
            NotScalarError: if the value is an array; `backward` takes its cotangent.
        """
        if self._y.shape:
            raise NotScalarError(
                f"the value has shape {shape_text(self._y.shape)}",
                expected="a scalar",
                cure="backward(cotangent) takes an array; derivative(x) is the Jacobian",
            )
        return self.backward(1)

    def derivative(self, *by: Wrt) -> Expr:
        r"""Return a derivative of any order as a formula: of the shape of the value, then of each of ``by``.

        It is that of the program as it runs: differentiated with its stop_gradients where they are, each time, and
        resolved at the end.

        Args:
            by: what to differentiate by, one after the other.

        Example:
            >>> import symgrad as sg
            >>> e = sg.effective("x : real\ny = x**3*stop_gradient(x)", "x")
            >>> print(e.derivative("x"), "|", e.derivative("x", "x"))
            3*x**3 | 6*x**2
        """
        return resolved(self._raw(differentiated_by(self._y, list(by))), self._y)

    def _raw(self, by: Sequence[Expr]) -> Expr:
        found = self._y
        for w in by:
            found = jacobian(found, w)
        return found

    @cached_property
    def derivatives(self) -> Mapping[tuple[str, ...], Expr]:
        """All derivatives up to the order that was asked for, by the names of what they are by; ``()`` is the value.

        A mixed one is there once, by inputs in the order of ``wrt``: they are derivatives of one function. (Of a custom
        gradient they need not be; `derivative` takes any order.)
        """
        found: dict[tuple[str, ...], Expr] = {(): self.value}
        level: list[tuple[tuple[Expr, ...], int, Expr]] = [((), 0, self._y)]
        for _ in range(self.order):
            level = [
                ((*by, w), k, jacobian(e, w))
                for by, first, e in level
                for k, w in enumerate(self._wrt[first:], first)
            ]
            for by, _, e in level:
                found[tuple(str(w.name or w) for w in by)] = resolved(e, self._y)
        return found

    def __str__(self) -> str:
        name = self._y.name or "value"
        if self._y.shape and self.order == 1:
            (value,) = resolved_texts(self._y, [self.value.node])
            return f"{name} = {value}\n{self.backward}"
        named = {str(w.name or w): w for w in self._wrt}
        keys = [[named[n] for n in key] for key in self.derivatives]
        texts = resolved_texts(self._y, [e.node for e in self.derivatives.values()])
        return "\n".join(f"{title(self._y, by)} = {text}" for by, text in zip(keys, texts, strict=True))

    def __repr__(self) -> str:
        return f"<Effective\n{self}>"


def effective(y: Formula, wrt: Wrt | Wrts, order: int = 1) -> Effective:
    r"""Return what a program with stop_gradient really computes, forward and backward, as plain formulas.

    ``stop_gradient(e)`` is e with every input replaced by a frozen copy; the program is a function F(x, frozen x),
    whose value is F(x, x), and whose derivatives are those of F by its first argument alone, at frozen x = x. These are
    written out with nothing stopped in them.

    Args:
        y: an expression of any shape.
        wrt: an input or intermediate expression (or its name), or a list of them.
        order: up to which order derivatives are listed in ``derivatives`` and in print.

    Returns:
        An `Effective`, which unpacks into the value and the backward function.

    Raises:
        NotInProgramError: if ``wrt`` does not occur in the program of ``y``.
        NotDifferentiableError: if ``y`` is a truth value.
        UsageError: for an order that is no positive integer.

    Example:
        >>> import symgrad as sg
        >>> value, backward = sg.effective("x + stop_gradient(round(x) - x)", "x")
        >>> print(value, "|", backward)
        round(x) | x_bar = y_bar
        >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(stop_gradient(x**2*u - x**2) + x**2)")
        >>> print(sg.effective(p["z"], "x"))
        z = sqrt(u)*abs(x)
        dz/dx = sign(x)/sqrt(u)
    """
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(f"order is {order!r}", expected="a positive integer")
    expr = differentiable(y)
    exprs = differentiated_by(expr, wrt)
    if not exprs:
        raise UsageError("there is nothing to differentiate by", cure="name at least one input: wrt='x'")
    return Effective(expr, exprs, not isinstance(wrt, list | tuple), order)


def resolved(e: Expr, of: Expr) -> Expr:
    """Return an expression as its value: without stop_gradient, simplified, in the names of a program (internal)."""
    return Expr(canonical([e.node], drop_stops=True).nodes[0], listings=of.listings, origins=(of.node,))


def resolved_texts(y: Expr, formulas: Sequence[Node]) -> list[str]:
    """Return formulas without stop_gradient in the names of a program, of whose values they are made (internal).

    A name stands for its value here, so it is read without stop_gradient as well.
    """
    from symgrad.spell.printer import str_text  # for start-up time
    from symgrad.words.said import in_names

    listing = joined_listing(y.listings)
    below = set(topological([y.node])) - {y.node}
    named = {} if listing is None else {n: e for n, e in listing.assignments.items() if e in below}
    if listing is None or not named:
        return [str_text(e) for e in formulas]
    values = canonical(list(named.values()), drop_stops=True).nodes
    program = Listing(listing.symbols, dict(zip(named, values, strict=True)))
    found = [in_names(program, e) for e in formulas]
    return [
        str_text(e) if n is None else n.spelling.text(n.formula) for e, n in zip(formulas, found, strict=True)
    ]
