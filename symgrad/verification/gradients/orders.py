"""Decide equality of programs with stop_gradient up to an order of derivatives, or for all orders.

Order by order: differentiate each gradient, which is a program with stop_gradient again. For all orders at once:
compare functions of inputs and frozen copies; see `frozen_copies.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symgrad.checker.clock import now, stopwatch
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import topological
from symgrad.ops.control import with_slope
from symgrad.verification.gradients.frozen_copies import FunctionsOfCopies, decide_functions, differing_orders
from symgrad.verification.gradients.value_and_gradient import (
    combine_verdicts,
    decide_both,
    decide_slopes,
    slopes,
)
from symgrad.verification.limits import ORDERS_LOOKED_AT, ORDERS_TRIED
from symgrad.verification.verdict import Verdict

_FOR_ALL = 0.4
"""Share of the time for the comparison of both functions."""


def decide_orders(
    a: Node, b: Node, inputs: Sequence[Node], order: int, sizes: Mapping[str, Size] | None, time_limit: float
) -> Verdict:
    """Decide whether two sides have equal values, and equal derivatives up to an order with respect to some inputs.

    Args:
        a: one side.
        b: the other side, of the same shape.
        inputs: symbols.
        order: the highest order, at least 1.
        sizes: replacements of named sizes.
        time_limit: the seconds for everything.
    """
    return _Orders(a, b, inputs, sizes, time_limit).up_to(order, time_limit)


def decide_all_orders(
    a: Node, b: Node, inputs: Sequence[Node], sizes: Mapping[str, Size] | None, time_limit: float
) -> Verdict:
    """Decide whether two sides have equal values, and equal derivatives of every order with respect to some inputs."""
    orders = _Orders(a, b, inputs, sizes, time_limit)
    few = orders.up_to(1, (1 - _FOR_ALL) / 2 * time_limit)
    if few.status == "refuted":
        return few
    assert few.of_values is not None
    functions = decide_functions(a, b, inputs, sizes, _FOR_ALL * time_limit)
    if functions.equal is not None and few.of_values.status == "proved":
        whole = replace(functions.equal, undefined=few.of_values.undefined)
        return orders.timed(combine_verdicts(few.of_values, few.of_gradients, few.of_higher, whole))
    more = orders.up_to(ORDERS_TRIED, time_limit)
    if more.status == "refuted":
        return more
    if functions.analytic and functions.apart is not None:
        at_an_order = orders.lowest_difference(functions)
        return orders.timed(_refuted(more, functions.apart)) if at_an_order is None else at_an_order
    supported = more.status in ("proved", "supported") and functions.apart is None
    why = f"{more.why}; of higher orders nothing is known: {functions.why}"
    return orders.timed(replace(more, status="supported" if supported else "undecided", why=why, proof=None))


def _refuted(found: Verdict, apart: Verdict) -> Verdict:
    """Return the verdict that some derivative differs, of an unknown order."""
    return replace(
        found,
        status="refuted",
        why="some derivative of a higher order differs: as functions of the inputs and of their frozen copies, and "
        "analytic in the inputs all the way from the copies, the two sides differ",
        witness=apart.witness,
        values=apart.values,
        index=apart.index,
        excluded=(),
        proof=apart.proof,
        of_all_orders=apart,
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """The derivatives of both sides with respect to some inputs; array sides are contracted with the same cotangent."""

    names: tuple[str, ...]
    a: Node
    b: Node

    def by(self, x: Node) -> _Pair:
        """Return the derivatives with respect to a further input."""
        return _Pair((*self.names, x.name), *slopes(self.a, self.b, x))


class _Orders:
    """The derivatives of two sides, order by order; each is decided once."""

    def __init__(
        self,
        a: Node,
        b: Node,
        inputs: Sequence[Node],
        sizes: Mapping[str, Size] | None,
        time_limit: float,
    ) -> None:
        self._begun = now()
        self._took = stopwatch()
        self._time_limit = time_limit
        self._sizes = sizes
        self._inputs = inputs
        self._sides = _Pair((), a, b)
        # Derivatives of one function commute, so that each multiset of inputs is decided only once. Those of a custom
        # gradient need not commute.
        self._in_any_order = not any(n.op is with_slope for n in topological([a, b]))
        self._level: list[tuple[_Pair, Sequence[Node]]] = [(self._sides, inputs)]
        self._found: list[Verdict] = []
        self._higher: dict[tuple[str, ...], Verdict] = {}

    def up_to(self, order: int, until: float) -> Verdict:
        """Decide one order after another, up to ``order`` or until one is refuted; return the combined verdict.

        Args:
            order: the highest order.
            until: seconds after the beginning by which the decisions should end.
        """
        while len(self._found) < order and not (self._found and self._found[-1].status == "refuted"):
            left = self._begun + until - now()
            share = max(left / (order - len(self._found)), 0.01 * self._time_limit)
            s, first = self._sides, not self._found
            found = (
                decide_both(s.a, s.b, self._inputs, self._sizes, None, share) if first else self._next(share)
            )
            self._found.append(found)
        return self.timed(self._found[-1])

    def timed(self, verdict: Verdict) -> Verdict:
        """Return a verdict with the real time since the beginning as its ``seconds``."""
        return replace(verdict, seconds=self._took())

    def _next(self, seconds: float) -> Verdict:
        self._level = [
            (p.by(x), behind[i * self._in_any_order :])
            for p, behind in self._level
            for i, x in enumerate(behind)
        ]
        questions = [(p, x) for p, behind in self._level for x in behind]
        for p, x in questions:
            self._higher[*p.names, x.name] = self._decide(p, x, seconds / len(questions))
        return self._all()

    def _decide(self, p: _Pair, x: Node, seconds: float) -> Verdict:
        return decide_slopes(p.a, p.b, x, self._sizes, seconds, "derivatives")

    def _all(self) -> Verdict:
        first = self._found[0]
        assert first.of_values is not None
        return combine_verdicts(first.of_values, first.of_gradients, self._higher)

    def lowest_difference(self, functions: FunctionsOfCopies) -> Verdict | None:
        """Return the verdict on the lowest order at which derivatives with respect to one input differ.

        The result is None if none do.
        """
        for order, x in differing_orders(functions, self._inputs, self._sizes, ORDERS_LOOKED_AT):
            p = self._sides
            while len(p.names) + 1 < order:
                p = p.by(x)
            left = self._begun + self._time_limit - now()
            found = self._decide(p, x, max(left, 0.1 * self._time_limit))
            if found.status == "refuted":
                self._higher[(x.name,) * order] = found
                return self.timed(self._all())
        return None
