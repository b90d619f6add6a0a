"""Linearisation: an equation becomes a linear map of its arguments' tangents, with its coefficients as nodes.

    out_dot = sum over arguments i of  guard_i ? coefficient_i * arg_i_dot : 0

A partial of the form ``where(c, v, 0)`` is a choice between v and a *strong zero*. Multiplying it out would
let an infinite v of the branch that was not taken meet a numeric zero and make NaN (`where(x > 0, sqrt(x),
0)` at 0). So the condition travels along as a guard, every product is formed inside it, and the choice is
made last: where the guard is false the result is zero, whatever the product was.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple
from weakref import WeakKeyDictionary

from symgrad.ir.graph import NUMBER, OPS, Node, as_node
from symgrad.ops.scalar.logic import and_, not_, or_, where

__all__ = ["GuardedTangent", "Linear", "accumulate", "guarded", "linearise", "pass_through"]

_ZERO = as_node(0)
_known: WeakKeyDictionary[Node, bool] = WeakKeyDictionary()  # what is finite


class GuardedTangent(NamedTuple):
    """A tangent or cotangent: ``value`` where the guard holds (everywhere if it is None), a strong zero elsewhere."""

    guard: Node | None
    value: Node
    settled: bool = False  # whether the value itself is already zero where the guard is false

    def node(self) -> Node:
        """Return it as one node, the choice made."""
        if self.guard is None or self.settled or self.value.is_number(0):
            return self.value
        return where(self.guard, self.value, _ZERO)


class Linear(NamedTuple):
    """One term of a linearised equation: d(node)/d(argument), as a guarded coefficient."""

    argument: int
    coefficient: GuardedTangent


def linearise(node: Node, wanted: Sequence[bool]) -> list[Linear]:
    """Return the nonzero terms of an equation's linear map, for the wanted arguments.

    Args:
        node: an equation, not a leaf.
        wanted: for each argument, whether its tangent matters.
    """
    terms: list[Linear] = []
    for i, partial in enumerate(node.op.partials):
        if not wanted[i] or partial is None:
            continue
        coefficient = guarded(partial(node, *node.args))
        if not coefficient.value.is_number(0):
            terms.append(Linear(i, coefficient))
    return terms


def guarded(coefficient: Node) -> GuardedTangent:
    """Read ``where(c, v, 0)`` and ``where(c, 0, v)`` as v under a guard."""
    if coefficient.op is where:
        condition, yes, no = coefficient.args
        if no.is_number(0):
            return GuardedTangent(condition, yes)
        if yes.is_number(0):
            return GuardedTangent(_negate(condition), no)
    return GuardedTangent(None, coefficient)


def _negate(condition: Node) -> Node:
    if condition.op is not_:
        return condition.args[0]
    return as_node(not condition.value) if condition.op is NUMBER else not_(condition)


def pass_through(term: GuardedTangent, incoming: GuardedTangent) -> GuardedTangent:
    """Multiply a tangent or cotangent by a coefficient of an equation, inside both guards.

    Where the value is zero of itself outside its guard, it stays so times a coefficient that is finite there too.
    """
    if term.guard is None or term.guard is incoming.guard:
        guard = incoming.guard
    elif incoming.guard is None:
        guard = term.guard
    else:
        guard = and_(incoming.guard, term.guard)
    settled = incoming.settled and term.guard is None and _finite(term.value)
    return GuardedTangent(guard, incoming.value * term.value, settled)


def _finite(coefficient: Node) -> bool:
    """Tell whether a coefficient is finite at every point: where a guard is false, forward values may be missing."""
    pending = [coefficient]
    while pending:
        top = pending[-1]
        missing = [a for a in top.args if a not in _known]
        if missing and top not in _known:
            pending += missing
            continue
        pending.pop()
        if top not in _known:
            _known[top] = _total(top) and all(_known[a] for a in top.args)
    return _known[coefficient]


def _total(part: Node) -> bool:
    """Tell whether an op is finite wherever its arguments are, unless these are so large that products overflow."""
    if not part.op.pointwise:
        return not part.args or part.op.array.total == "always"
    if part.op.domain is None:
        return "exponential" not in part.op.facts
    last = part.args[-1]
    if part.op is OPS["div"]:
        return last.is_number() and last.value != 0
    return part.op is OPS["pow"] and last.is_number() and isinstance(last.value, int) and last.value >= 0


def accumulate(contributions: Sequence[GuardedTangent]) -> GuardedTangent:
    """Add contributions; what is guarded alike stays under its guard, so a strong zero stays one."""
    if len(contributions) == 1:
        return contributions[0]
    by_guard: dict[Node | None, Node] = {}
    settled: dict[Node | None, bool] = {}
    for guard, value, zero_outside in contributions:
        by_guard[guard] = by_guard[guard] + value if guard in by_guard else value
        settled[guard] = settled.get(guard, True) and zero_outside
    if len(by_guard) == 1:
        ((guard, value),) = by_guard.items()
        return GuardedTangent(guard, value, settled[guard])
    total = by_guard.pop(None, None)
    everywhere = total is not None
    guards: list[Node] = []
    for guard in list(by_guard):
        if guard not in by_guard:
            continue  # it was the other side of a choice
        assert guard is not None
        value = by_guard.pop(guard)
        otherwise = by_guard.pop(_negate(guard), None)
        alone = otherwise is None and settled[guard]
        choice = value if alone else where(guard, value, _ZERO if otherwise is None else otherwise)
        total = choice if total is None else total + choice
        guards.append(guard)
        everywhere = everywhere or otherwise is not None
    assert total is not None
    return GuardedTangent(None if everywhere else reduce(or_, guards), total, settled=True)
