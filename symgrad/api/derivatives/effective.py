"""`effective`: write the value and the backward function of a program as formulas without stop_gradient."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from symgrad.analysis.explain.naming import Naming, naming_of
from symgrad.api.derivatives.differentiate import vjp
from symgrad.api.derivatives.distribution_check import differentiation_targets
from symgrad.api.derivatives.jacobians import jacobian
from symgrad.api.derivatives.targets import Wrt, Wrts, differentiable
from symgrad.api.explaining.explain import joined_listing
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formatting import title
from symgrad.api.handles.formula_arguments import Formula
from symgrad.ir.graph import Node, symbol
from symgrad.ir.listing import Derivative, Listing
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.layout import shape_text
from symgrad.ops.control import without_stops
from symgrad.report.report import Reported
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import NotScalarError, UsageError, name_one

if TYPE_CHECKING:
    from symgrad.pretty.forms.numbers import Literals
    from symgrad.pretty.named_formulas import NamedConstants

_WORD = re.compile(r"[^\W\d]\w*")
_HOLD = ("stop_gradient", "with_slope")
_SHORT = 30
"""A text with at most this many characters needs no shorter form."""

_WIDTH = 78
"""The most characters in a line of a formula with names for its parts."""


class Backward:
    """The backward function of a program: it maps a cotangent of its value to the cotangents of variables.

    Call it with a cotangent: an Expr or numbers of the shape of the value; by default a symbol named after the value.

    Attributes:
        cotangent: the symbol that stands for the cotangent of the value.
        wrt: the variables.
    """

    def __init__(self, y: Expr, wrt: Sequence[Expr], single: bool) -> None:
        self._y, self.wrt, self._single = y, tuple(wrt), single
        taken = {s.name for s in symbols_of([y.node])}
        name = free_name(f"{y.name or 'y'}_bar", taken)
        self.cotangent = Expr(symbol(Declaration(name, REAL, shape=y.shape)))

    def __call__(self, cotangent: Any = None) -> Any:
        """Return the cotangent of the variable: an Expr, or a list of them for a list.

        Args:
            cotangent: the cotangent of the value; by default the symbol `cotangent`.
        """
        seed = self.cotangent if cotangent is None else cotangent
        found = [resolve_stops(g, self._y) for g in vjp(self._y, list(self.wrt), seed)]
        return found[0] if self._single else found

    def __str__(self) -> str:
        lifted = lift_constants(self._y, self.wrt)
        if lifted is None:
            return self._text(None)
        y, wrt, constants = lifted
        return Backward(y, wrt, self._single)._text(constants.literals)

    def _text(self, literals: Literals | None) -> str:
        found = self()
        each: list[Expr] = [found] if self._single else found
        names = [f"{w.name or f'({w})'}_bar" for w in self.wrt]
        texts = resolve_texts(self._y, [e.node for e in each], literals)
        return "\n".join(f"{n} = {t}" for n, t in zip(names, texts, strict=True))

    def __repr__(self) -> str:
        return f"<Backward of {self._y.name or self._y}: {self}>"


class Effective(Reported):
    """A value and its backward function, with every stop_gradient resolved: ``value, backward = sg.effective(y, x)``.

    Attributes:
        value: the value of the program, as a formula.
        backward: the backward function of the program; see `Backward`.
        order: the highest order of the listed derivatives.
    """

    told_by: ClassVar[str] = "symgrad.api.reports.gradients:effective_report"

    def __init__(self, y: Expr, wrt: Sequence[Expr], single: bool, order: int) -> None:
        self._y, self._wrt, self._single, self.order = y, tuple(wrt), single, order
        self.value = resolve_stops(y, y)
        self.backward = Backward(y, wrt, single)

    @property
    def of(self) -> Expr:
        """The program, with its stop_gradients."""
        return self._y

    def __iter__(self) -> Iterator[Any]:
        yield self.value
        yield self.backward

    @cached_property
    def gradient(self) -> Any:
        """The gradient of a scalar: an Expr of the shape of ``wrt``, or a list of them for a list.

        Raises:
            NotScalarError: if the value is an array; call `backward` with a cotangent.
        """
        if self._y.shape:
            raise NotScalarError(
                f"the value has shape {shape_text(self._y.shape)}",
                expected="a scalar",
                cure="backward(cotangent) takes an array; derivative(x) is the Jacobian",
            )
        return self.backward(1)

    def derivative(self, *by: Wrt) -> Expr:
        r"""Return a derivative of any order as a formula, of the shape of the value followed by the shapes of ``by``.

        Each differentiation respects the stop_gradients of the program; they are resolved at the end.

        Args:
            by: the variables to differentiate with respect to, one after the other.

        Example:
            >>> import symgrad as sg
            >>> e = sg.effective("x : real\ny = x**3*stop_gradient(x)", "x")
            >>> print(e.derivative("x"), "|", e.derivative("x", "x"))
            3*x**3 | 6*x**2
        """
        derivative = self._y
        for w in differentiation_targets(self._y, list(by)):
            derivative = jacobian(derivative, w)
        return resolve_stops(derivative, self._y)

    @cached_property
    def derivatives(self) -> Mapping[tuple[str, ...], Expr]:
        """All derivatives up to `order`, by the names of their variables; ``()`` is the value.

        Mixed derivatives of a function commute, so each is listed once, with its variables in the order of ``wrt``.
        (Mixed derivatives of a custom gradient need not commute; `derivative` takes the variables in any order.)
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
                found[tuple(str(w.name or w) for w in by)] = resolve_stops(e, self._y)
        return found

    def __str__(self) -> str:
        lifted = lift_constants(self._y, self._wrt)
        if lifted is None:
            return "\n".join(self._lines(self, None))
        y, wrt, constants = lifted
        return "\n".join(self._lines(Effective(y, wrt, self._single, self.order), constants.literals))

    def _lines(self, lifted: Effective, literals: Literals | None) -> list[str]:
        """Return the lines to print.

        Args:
            lifted: the result for the same program with long numbers as symbols.
            literals: the long numbers.
        """
        if self._y.shape and self.order == 1:
            (value,) = resolve_texts(lifted._y, [lifted.value.node], literals)
            return [f"{self._y.name or 'value'} = {value_text(self._y, value)}", str(self.backward)]
        named = {str(w.name or w): w for w in self._wrt}
        keys = [[named[n] for n in key] for key in self.derivatives]
        texts = resolve_texts(lifted._y, [e.node for e in lifted.derivatives.values()], literals)
        texts = [
            gradient_text(self._y, by, text) if by else value_text(self._y, text)
            for by, text in zip(keys, texts, strict=True)
        ]
        return [f"{title(self._y, by)} = {text}" for by, text in zip(keys, texts, strict=True)]

    def __repr__(self) -> str:
        return f"<Effective\n{self}>"


def effective(y: Formula, wrt: Wrt | Wrts, order: int = 1) -> Effective:
    r"""Return the value and the backward function of a program with stop_gradient as plain formulas.

    ``stop_gradient(e)`` is e with every input replaced by a frozen copy. So the program is a function F(x, frozen x).
    Its value is F(x, x); its derivatives are the derivatives of F with respect to the first argument, at frozen x = x.
    The result has these formulas without stop_gradient.

    Args:
        y: an expression of any shape.
        wrt: an input or intermediate expression (or its name), or a list of them.
        order: the highest order of derivatives in ``derivatives`` and in print.

    Returns:
        An `Effective`, which unpacks into the value and the backward function.

    Raises:
        NotInProgramError: if ``wrt`` does not occur in the program of ``y``.
        NotDifferentiableError: if ``y`` is a truth value.
        UsageError: for an order that is not a positive integer, and for variables without real values.

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
    exprs = differentiation_targets(expr, wrt)
    for w in exprs:
        if w.dtype != "real":
            raise UsageError(
                f"'{w.name or w}' takes no real values: there is no derivative with respect to it",
                cure="differentiate with respect to a real input",
            )
    if not exprs:
        raise UsageError(
            "there is nothing to differentiate with respect to",
            cure=name_one("wrt", "x"),
        )
    return Effective(expr, exprs, not isinstance(wrt, list | tuple), order)


def resolve_stops(e: Expr, of: Expr) -> Expr:
    """Remove stop_gradient from an expression and simplify it, in the names of a program (internal)."""
    from symgrad.pretty.simplify import simplest  # for start-up time

    value = canonical([e.node], drop_stops=True).nodes[0]
    return Expr(simplest(value), listings=of.listings, origins=(of.node,))


def resolve_texts(y: Expr, formulas: Sequence[Node], literals: Literals | None = None) -> list[str]:
    """Write formulas without stop_gradient in the names of a program (internal).

    In these texts a name stands for its value without stop_gradient.
    """
    listing = joined_listing(y.listings)
    named = () if listing is None else listing.assignments
    taken = {*named, *(s.name for s in symbols_of([y.node, *formulas]))}
    found = resolve_formulas(y, formulas, literals)
    return [_in_parts(formula, taken) if text is None else text for formula, text in found]


def resolve_formulas(
    y: Expr, formulas: Sequence[Node], literals: Literals | None = None
) -> list[tuple[Node, str | None]]:
    """Return formulas in the names of a program, each with its text, or with None if it is very long (internal)."""
    from symgrad.pretty.forms.numbers import Literals  # for start-up time
    from symgrad.pretty.named_derivatives import values_in_names
    from symgrad.pretty.simplify import simplest

    formulas = [simplest(e) for e in formulas]

    listing = joined_listing(y.listings)
    below = set(topological([y.node])) - {y.node}
    named = {} if listing is None else {n: e for n, e in listing.assignments.items() if e in below}
    values = canonical(list(named.values()), drop_stops=True).nodes
    if literals is None:
        literals = Literals() if listing is None else Literals.of(listing)
    return values_in_names(dict(zip(named, values, strict=True)), formulas, literals)


def _in_parts(formula: Node, taken: Collection[str]) -> str:
    """Write a long formula with names for its subformulas, which are defined in the lines below.

    Return the text, or only a count of its operations if it would be too long.
    """
    naming, parts = Naming({}).with_recurrences([formula]).with_parts([formula], taken, _WIDTH)
    if not parts:
        operations = sum(bool(n.args) for n in topological([formula]))
        return f"too long to show ({operations:,} operations): take it as a formula, and call it with numbers"
    lines = [f"  {name} = {naming.body(node, _WIDTH)}" for node, name in parts.items()]
    loops = [f"  {line}" for some in naming.recurrences.values() for line in some]
    return "\n".join([naming.body(formula, _WIDTH), "where", *reversed(lines), *loops])


def gradient_text(y: Expr, by: Sequence[Expr], text: str) -> str:
    """Return the text of a derivative, or the shorter text that `grad` prints (internal).

    With stop_gradient, names can mislead: the name of the value itself, or of a noisy value, hides the inputs that a
    gradient reads. If the text has such a name, `text` is returned.

    Args:
        y: the function.
        by: the variables, one after the other.
        text: the text.
    """
    from symgrad.pretty.named_derivatives import slopes_in_names  # for start-up time

    listing = joined_listing(y.listings)
    stops = any("stops" in n.op.facts for n in topological([y.node]))
    if y.shape or listing is None or (stops and len(text) < _SHORT):
        return text
    found = slopes_in_names(listing, [Derivative(y.node, tuple(w.node for w in by))])
    if found is None or len(found[0]) >= len(text) or (stops and _hides(listing, y.node, found[0])):
        return text
    return found[0]


def _hides(listing: Listing, y: Node, text: str) -> bool:
    """Tell whether a text contains stop_gradient, the name of the value itself, or the name of a noisy value."""
    words = set(_WORD.findall(text))
    read = [e for name, e in listing.assignments.items() if name in words]
    return bool(
        words.intersection(_HOLD)
        or y in read
        or any(s.declaration.distribution is not None for s in symbols_of(read))
    )


def value_text(y: Expr, text: str) -> str:
    """Return the text of a value, or the much shorter line of the program without stop_gradient (internal).

    Args:
        y: the value.
        text: the text.
    """
    if len(text) < _SHORT:
        return text
    naming = naming_of(y.node, joined_listing(y.listings))
    resolved = without_stops([y.node], {n for n in topological([y.node]) if n.op.name in _HOLD})
    names: dict[Node, str] = {}
    for n, name in naming.names.items():
        if n in resolved and n is not y.node:
            names.setdefault(resolved[n], name)
    return replace(naming, names=names).whole(resolved[y.node], len(text) * 3 // 4) or text


def lift_constants(y: Expr, wrt: Sequence[Expr]) -> tuple[Expr, list[Expr], NamedConstants] | None:
    """Replace the long numbers of a program by symbols; return also their values, or None if there are none (internal).

    Args:
        y: the value of the program.
        wrt: the variables.
    """
    from symgrad.pretty.named_derivatives import with_constants  # for start-up time

    listing = joined_listing(y.listings)
    found = None if listing is None else with_constants(listing, [y.node, *(w.node for w in wrt)])
    if found is None:
        return None
    listings = (found.listing,)
    named = [Expr(node, listings=listings) for node in found.nodes]
    return named[0], named[1:], found
