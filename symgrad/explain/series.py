"""Power series of formulas at a point where they may be 0/0, with coefficients that are formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import factorial
from typing import TypeAlias

from symgrad.backward.jvp import all_partials
from symgrad.ir.graph import SYMBOL, Node, apply, as_node, symbol
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import REAL, Declaration

__all__ = ["NoSeries", "series_of"]

_LARGEST = 150  # equations of a coefficient
_STEPS = 400  # equations of what is expanded

Shortest: TypeAlias = "Callable[[Node], Node]"


class NoSeries(Exception):  # noqa: N818
    """That a formula has no power series at a point, or none that this finds."""


@dataclass(frozen=True, slots=True)
class _Series:
    """t**shift*(c[0] + c[1]*t + ... + O(t**len(c))); c[0] is not zero, or there is none."""

    shift: int
    c: tuple[Node, ...]


def series_of(e: Node, w: Node, at: Node, terms: int, shortest: Shortest) -> list[Node]:
    r"""Return the coefficients of 1, t, t**2, ... of a formula at w = at + t.

    Args:
        e: a formula of numbers.
        w: a node of it, by which it is expanded; the rest must not depend on what w is made of.
        at: where.
        terms: how many coefficients are wanted; there may be fewer.
        shortest: a short form of a formula, 0 of one that vanishes everywhere.

    Raises:
        NoSeries: if there is a pole, or no series is found.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.printer import str_text
        >>> from symgrad.rules.pipeline import canonical
        >>> p = parse_program("x : real\ny = (1 - cos(x))/x**2")
        >>> short = lambda n: canonical([n]).nodes[0]
        >>> [str_text(c) for c in series_of(p["y"], p["x"], as_node(0), 3, short)]
        ['1/2', '0', '-1/24']
    """
    algebra = _Algebra(shortest, terms + 4)
    order = topological([e], until=[w])
    if len(order) > _STEPS:
        raise NoSeries("too long")
    found: dict[Node, _Series] = {}
    moving: set[Node] = set()
    for node in order:
        if node is w:
            found[node] = algebra.made(0, [at, as_node(1), *[as_node(0)] * algebra.most])
            moving.add(node)
        elif moving.isdisjoint(node.args):
            found[node] = algebra.made(0, [node, *[as_node(0)] * algebra.most])
        else:
            found[node] = algebra.of(node, [found[a] for a in node.args], [a in moving for a in node.args])
            moving.add(node)
    s = found[e]
    if s.shift + len(s.c) < 1:
        raise NoSeries("all coefficients cancel")
    if s.shift < 0:
        raise NoSeries("a pole")
    return ([as_node(0)] * s.shift + list(s.c))[:terms]


@dataclass(frozen=True, slots=True)
class _Algebra:
    shortest: Shortest
    most: int

    def made(self, shift: int, c: Sequence[Node]) -> _Series:
        """A series, without its leading zeros."""
        c = self.short(c)
        first = next((k for k, x in enumerate(c) if not x.is_number(0)), len(c))
        return _Series(shift + first, tuple(c[first : first + self.most]))

    def short(self, c: Sequence[Node]) -> list[Node]:
        found: list[Node] = []
        for x in map(self.shortest, c):
            if len(topological([x])) > _LARGEST:
                break  # what follows is longer still
            found.append(x)
        return found

    def of(self, node: Node, args: Sequence[_Series], moving: Sequence[bool]) -> _Series:
        name = node.op.name
        if name == "add":
            return self.add(*args)
        if name == "neg":
            return self.made(args[0].shift, [-x for x in args[0].c])
        if name == "mul":
            return self.mul(*args)
        if name == "div":
            return self.mul(args[0], self.power(args[1], as_node(-1)))
        if name == "pow" and not moving[1]:
            return self.power(args[0], node.args[1])
        if name == "sqrt":
            return self.power(args[0], as_node(1) / as_node(2))
        if name == "stop_gradient":
            return args[0]
        if not node.op.pointwise or sum(moving) != 1 or node.dtype != "real":
            raise NoSeries(name)
        return self.composed(node, args, moving.index(True))

    def add(self, a: _Series, b: _Series) -> _Series:
        low = min(a.shift, b.shift)
        high = min(a.shift + len(a.c), b.shift + len(b.c))
        zero = as_node(0)

        def at(s: _Series, k: int) -> Node:
            return s.c[k - s.shift] if 0 <= k - s.shift < len(s.c) else zero

        return self.made(low, [at(a, k) + at(b, k) for k in range(low, high)])

    def mul(self, a: _Series, b: _Series) -> _Series:
        n = min(len(a.c), len(b.c))
        if not n:
            return _Series(a.shift + b.shift, ())
        c = [_sum([a.c[i] * b.c[k - i] for i in range(k + 1)]) for k in range(n)]
        return self.made(a.shift + b.shift, c)

    def power(self, a: _Series, p: Node) -> _Series:
        """(c0*t**s*(1 + u))**p by Miller's recurrence: with b = (1 + u)**p, b' (1 + u) = p u' b term by term.

        Source: P. Henrici, Applied and Computational Complex Analysis, volume 1 (1974), theorem 1.6c.
        """
        if not a.c:
            raise NoSeries("a power of what vanishes, as far as it is known")
        if a.shift and not (p.is_number() and p.value.denominator == 1):
            raise NoSeries("a root of what vanishes")
        lead = a.c[0]
        u = [as_node(0), *self.short([x / lead for x in a.c[1:]])]
        total = [as_node(1)]
        for n in range(1, len(u)):
            found = self.short([_sum([(p * k - (n - k)) * u[k] * total[n - k] for k in range(1, n + 1)]) / n])
            if not found:
                break
            total += found
        shift = a.shift * int(p.value) if a.shift else 0
        front = lead**p
        return self.made(shift, [front * x for x in total])

    def composed(self, node: Node, args: Sequence[_Series], k: int) -> _Series:
        """f(c0 + u) by the derivatives of f at c0."""
        a = args[k]
        if a.c and a.shift < 0:
            raise NoSeries("a function of what is infinite")
        c = [as_node(0)] * a.shift + list(a.c)
        c = c[: self.most]
        taken = {s.name for s in topological([node]) if s.op is SYMBOL}
        x = symbol(Declaration(next(n for n in ("w", "w_", "w__", "w___") if n not in taken), REAL))
        inner = tuple(x if i == k else b for i, b in enumerate(node.args))
        whole = apply(node.op, inner, node.params)
        partials = all_partials(whole, [x], len(c) - 1)
        slopes = [substitute([partials[(0,) * m]], {x: c[0]})[0] for m in range(len(c))]
        slopes = self.short(slopes)
        u = [as_node(0), *c[1:]]
        total = [as_node(0)] * len(slopes)
        product = [as_node(1), *[as_node(0)] * (len(slopes) - 1)]
        for m, slope in enumerate(slopes):
            total = [t + slope * y / factorial(m) for t, y in zip(total, product, strict=False)]
            product = self.short(
                [_sum([product[i] * u[j - i] for i in range(j + 1)]) for j in range(len(product))]
            )
        return self.made(0, total)


def _sum(terms: Sequence[Node]) -> Node:
    kept = [t for t in terms if not (t.op.name == "mul" and any(a.is_number(0) for a in t.args))]
    if not kept:
        return as_node(0)
    total = kept[0]
    for t in kept[1:]:
        total = total + t
    return total
