"""Power series of formulas, with formulas as coefficients, at a point where the formulas may be 0/0.

Coefficients are computed on demand. The coefficients of sums, products, quotients and powers follow from the
coefficients of the arguments. Those of y = f(u) follow from y' = f'(u)*u', with the partial derivative f' in the record
of the op. The series of f'(u) may need earlier coefficients of y: sin and cos need each other.

Source: P. Henrici, Applied and Computational Complex Analysis, volume 1 (1974), section 1.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from operator import add, mul
from typing import TypeAlias

from symgrad.analysis.explain.limits import (
    CANCELLED_COEFFICIENTS,
    COEFFICIENT_EQUATIONS,
    SERIES_DEPTH,
    SERIES_EQUATIONS,
    SERIES_POWER,
)
from symgrad.ir.exact import Exact, fits
from symgrad.ir.graph import OPS, Node, apply, as_node
from symgrad.ir.notation.printer import str_text
from symgrad.ir.traverse import topological

Shortest: TypeAlias = "Callable[[Node], Node]"

_ZERO, _ONE, _MINUS = as_node(0), as_node(1), as_node(-1)
_QUOTIENTS: Mapping[str, Callable[[Node], Node]] = {
    "cot": lambda x: OPS["cos"](x) / OPS["sin"](x),
    "csc": lambda x: 1 / OPS["sin"](x),
    "sec": lambda x: 1 / OPS["cos"](x),
    "coth": lambda x: OPS["cosh"](x) / OPS["sinh"](x),
    "csch": lambda x: 1 / OPS["sinh"](x),
}  # functions that are expanded at their poles


class NoSeries(Exception):
    """A formula has no power series at a point, or no series that this module finds."""


@dataclass(slots=True)
class _Coefficients:
    """The known coefficients of t**low, t**(low + 1), ..."""

    low: int
    c: list[Node] = field(default_factory=list[Node])


class PowerSeries:
    r"""The power series of a formula at w = at + t.

    Args:
        e: a formula of scalars.
        w: the variable of the expansion, a node; the rest of the formula must not depend on the inputs of w.
        at: the value of w.
        shortest: a function that simplifies a formula; it returns 0 for a formula that vanishes everywhere.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.rewrite.pipeline import canonical
        >>> p = parse_program("x : real\ny = (1 - cos(x))/x**2")
        >>> series = PowerSeries(p["y"], p["x"], as_node(0), lambda n: canonical([n]).nodes[0])
        >>> [str_text(c) for c in series.first(3)]
        ['1/2', '0', '-1/24']
    """

    def __init__(self, e: Node, w: Node, at: Node, shortest: Shortest) -> None:
        self._shortest = shortest
        self._order = topological([e], until=[w])
        if len(self._order) > SERIES_EQUATIONS:
            raise NoSeries("it is too long")
        self._w = w
        self._known = {w: _Coefficients(0, [at, _ONE])}
        self._moving: dict[Node, bool] = {w: True}
        self._slopes: dict[Node, list[tuple[Node, Node]]] = {}
        self._open: set[Node] = set()
        self._pending: set[tuple[Node, int]] = set()
        self._depth = 0

    def first(self, terms: int) -> list[Node]:
        """Return the coefficients of 1, t, t**2, ....

        At least one, but fewer than ``terms`` if the next takes too long.

        Raises:
            NoSeries: if there is a pole, or no series is found.
        """
        e = self._order[-1]
        found: list[Node] = []
        try:
            for k in range(terms):
                for n in self._order:  # arguments come first, so that the recursion is not deep
                    self._at(n, k)
                if not found and self._valuation(e, 0) < 0:
                    raise NoSeries("there is a pole")
                found.append(self._at(e, k))
        except NoSeries:
            if not found:
                raise
        return found

    def _at(self, n: Node, k: int) -> Node:
        """Return the coefficient of t**k."""
        if not self._moves(n):
            return n if k == 0 else _ZERO
        known = self._known.get(n)
        if known is None:
            if n in self._open:
                raise NoSeries(f"{n.op.name} has no derivative there")
            self._open.add(n)
            known = self._known[n] = _Coefficients(self._low(n))
            self._open.discard(n)
        if k < known.low or (n is self._w and k > 1):
            return _ZERO
        while len(known.c) <= k - known.low:
            place = n, known.low + len(known.c)
            if place in self._pending:  # the slope of ellipe(x) is (ellipe(x) - ellipk(x))/(2*x)
                raise NoSeries("its coefficients follow from one another alone")
            if (
                self._depth == SERIES_DEPTH
            ):  # the slope of polylog(n, x) contains polylog(n - 1, x), and so on
                raise NoSeries("its coefficients need ever more functions")
            self._depth += 1
            self._pending.add(place)
            try:
                c = self._shortest(self._next(*place, known))
            finally:
                self._depth -= 1
                self._pending.discard(place)
            if len(topological([c])) > COEFFICIENT_EQUATIONS:
                raise NoSeries("its coefficients are too long")
            known.c.append(c)
        return known.c[k - known.low]

    def _moves(self, n: Node) -> bool:
        if n not in self._moving:
            for x in topological([n], until=self._moving):
                if x not in self._moving:
                    self._moving[x] = any(self._moving[a] for a in x.args)
        return self._moving[n]

    def _valuation(self, n: Node, most: int | None = None) -> int:
        """Return the exponent of the first term; ``most`` if there is none below it."""
        if not self._moves(n):
            return 0
        self._at(n, -1)
        low = self._known[n].low
        end = low + CANCELLED_COEFFICIENTS if most is None else most
        for k in range(low, end):
            if not self._at(n, k).is_number(0):
                return k
        if most is None:
            raise NoSeries(f"{str_text(n)} vanishes, as far as its series is known")
        return most

    def _low(self, n: Node) -> int:
        """Return an exponent below which a node has no terms."""
        name, args = n.op.name, n.args
        other = self._other(n)
        if other is not None:
            return self._bound(other)
        if name == "add":
            return min(self._bound(a) for a in args)
        if name in ("neg", "stop_gradient"):
            return self._bound(args[0])
        if name == "mul":
            return sum(self._bound(a) for a in args)
        if name == "div":
            return self._bound(args[0]) - self._valuation(args[1])
        p = _exponent(n)
        if p is not None:
            first = self._valuation(args[0])
            if first and not (p.is_number() and p.value.denominator == 1):
                raise NoSeries(f"{str_text(n)} is a root of what vanishes")
            return first * int(p.value) if first else 0
        if not n.op.pointwise or n.dtype != "real" or any(a.dtype == "bool" and self._moves(a) for a in args):
            raise NoSeries(f"{name} has none")
        for a in args:
            if self._valuation(a, 0) < 0:
                raise NoSeries(f"{str_text(a)} is infinite there")
        return 0

    def _bound(self, n: Node) -> int:
        if not self._moves(n):
            return 0
        self._at(n, -1 if n not in self._known else self._known[n].low)
        return self._known[n].low

    def _next(self, n: Node, k: int, known: _Coefficients) -> Node:
        """Compute the coefficient of t**k from the earlier ones."""
        name, args = n.op.name, n.args
        other = self._other(n)
        if other is not None:
            return self._at(other, k)
        if name == "add":
            return _sum([self._at(a, k) for a in args])
        if name == "neg":
            return -self._at(args[0], k)
        if name == "stop_gradient":
            return self._at(args[0], k)
        if name == "mul":
            return self._product(args[0], args[1], k)
        if name == "div":
            first = self._valuation(args[1])
            pairs = [(self._at(args[1], first + j), c) for j, c in enumerate(reversed(known.c), 1)]
            own, below = self._at(args[0], first + k), self._at(args[1], first)
            above = _of_numbers([(own,), *((_MINUS, *pair) for pair in pairs)])
            if above is None:
                above = _sum([own, *(-(x * c) for x, c in pairs)])
            return above / below
        p = _exponent(n)
        if p is not None:
            return self._power(args[0], p, k - known.low, known)
        return self._composed(n, k)

    def _other(self, n: Node) -> Node | None:
        """Return a node with the same series that uses other functions; None if the node itself is expanded."""
        if n.op.name in _QUOTIENTS:
            return _QUOTIENTS[n.op.name](*n.args)
        if n.op.name != "pow":
            return None
        base, p = n.args
        if self._moves(p):
            return OPS["exp"](p * OPS["log"](base))
        if p.is_number() and p.value.denominator == 1 and 2 <= p.value <= SERIES_POWER:
            half = int(p.value) // 2
            return OPS["mul"](base**half, base ** (int(p.value) - half))
        return None

    def _product(self, a: Node, b: Node, k: int) -> Node:
        low, high = self._bound(a), k - self._bound(b)
        return _sum_of([(self._at(a, i), self._at(b, k - i)) for i in range(low, high + 1)])

    def _power(self, a: Node, p: Node, n: int, known: _Coefficients) -> Node:
        """Expand (c*t**s*(1 + u))**p by Miller's recurrence: with b = (1 + u)**p, b' (1 + u) = p u' b term by term."""
        first = self._valuation(a)
        lead = self._at(a, first)
        if n == 0:
            return lead**p
        terms = [(p * k - (n - k), self._at(a, first + k), known.c[n - k]) for k in range(1, n + 1)]
        return _sum_of(terms) / (n * lead)

    def _composed(self, n: Node, k: int) -> Node:
        """Expand f(u) with its derivative: k*y[k] is the sum of j*u[j]*f'(u)[k - j]."""
        if k == 0:
            start = tuple(self._at(a, 0) for a in n.args)
            if any(_is_at(start, kink.point) for kink in n.op.kinks if not kink.smooth):
                raise NoSeries(f"{n.op.name} is not smooth there")
            return apply(n.op, start, n.params)
        if n not in self._slopes:
            self._slopes[n] = [
                (a, partial(n, *n.args))
                for a, partial in zip(n.args, n.op.partials, strict=True)
                if partial is not None and self._moves(a)
            ]
        total: list[tuple[Node, ...]] = []
        for a, slope in self._slopes[n]:
            if self._valuation(slope, 0) < 0:
                raise NoSeries(f"{n.op.name} has no derivative there")
            total += [(as_node(j), self._at(a, j), self._at(slope, k - j)) for j in range(1, k + 1)]
        return _sum_of(total) / k


def _exponent(n: Node) -> Node | None:
    """Return the exponent of a power; 1/2 for a square root."""
    return n.args[1] if n.op.name == "pow" else as_node(1) / 2 if n.op.name == "sqrt" else None


def _is_at(args: tuple[Node, ...], point: tuple[object, ...]) -> bool:
    return all(a.is_number() and a.value == p for a, p in zip(args, point, strict=False))


def _sum_of(products: Sequence[tuple[Node, ...]]) -> Node:
    found = _of_numbers(products)
    return _sum([reduce(mul, factors) for factors in products]) if found is None else found


def _of_numbers(products: Sequence[tuple[Node, ...]]) -> Node | None:
    """Return a sum of products of numbers; None if a factor is not a number.

    Partial sums are not nodes: their numbers are long, and interning them takes longer than the arithmetic.
    """
    total: Exact = 0
    for factors in products:
        if any(f.is_number(0) for f in factors):
            continue
        if not all(f.is_number() for f in factors):
            return None
        total += prod(f.value for f in factors)
    return as_node(total) if fits(total) else None


def _sum(terms: list[Node]) -> Node:
    return reduce(add, terms, _ZERO)
