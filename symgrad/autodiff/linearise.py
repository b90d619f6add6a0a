"""Linearisation: the linear map from the tangents of arguments to the tangent of their equation, in terms of nodes.

    out_dot = sum over arguments i of  guard_i ? coefficient_i * arg_i_dot : 0

A partial of the form ``where(c, v, 0)`` is a choice between v and a *strong zero*. If it were multiplied out, an
infinite v of the untaken branch could meet a numeric zero and make NaN (`where(x > 0, sqrt(x), 0)` at 0). So the
condition becomes a guard. Every product is formed inside the guard, and the choice comes last: where the guard is
false, the result is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple
from weakref import WeakKeyDictionary

from symgrad.ir.graph import NUMBER, OPS, Node, as_node
from symgrad.ops.scalar.logic import and_, not_, or_, where
from symgrad.support.traversal import postorder

_ZERO = as_node(0)
_known: WeakKeyDictionary[Node, bool] = WeakKeyDictionary()  # the cache of _finite


class GuardedTangent(NamedTuple):
    """A tangent or cotangent: ``value`` where the guard is None or holds, a strong zero elsewhere."""

    guard: Node | None
    value: Node
    settled: bool = False  # whether the value itself is already zero where the guard is false

    def node(self) -> Node:
        """Return the tangent as one node, with the choice."""
        if self.guard is None or self.settled or self.value.is_number(0):
            return self.value
        return where(self.guard, self.value, _ZERO)


class Linear(NamedTuple):
    """One term of a linearised equation: d(node)/d(argument), as a guarded coefficient."""

    argument: int
    coefficient: GuardedTangent


def linearise(node: Node, wanted: Sequence[bool], *, zeros: bool = False) -> list[Linear]:
    """Return the nonzero terms of an equation's linear map, for the arguments that are needed.

    Args:
        node: an equation, not a leaf.
        wanted: for each argument, whether its term is needed.
        zeros: whether terms with the coefficient 0 are returned, too.
    """
    terms: list[Linear] = []
    for i, partial in enumerate(node.op.partials):
        if not wanted[i] or partial is None:
            continue
        coefficient = guarded(partial(node, *node.args))
        if zeros or not coefficient.value.is_number(0):
            terms.append(Linear(i, coefficient))
    return terms


def guarded(coefficient: Node) -> GuardedTangent:
    """Convert ``where(c, v, 0)`` and ``where(c, 0, v)`` to v with a guard."""
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

    If a value is zero outside its guard, and the coefficient is finite there, the product is zero outside the guard,
    too.
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
    """Tell whether a coefficient is finite everywhere, also where a guard is false and forward values are undefined."""
    for node in postorder([coefficient], lambda n: n.args, until=_known):
        _known[node] = _total(node) and all(_known[a] for a in node.args)
    return _known[coefficient]


def _total(part: Node) -> bool:
    """Tell whether an op is finite for finite arguments, provided that they are not so large that products overflow."""
    if not part.op.pointwise:
        return not part.args or part.op.array.total == "always"
    if part.op.domain is None:
        return "exponential" not in part.op.facts
    last = part.args[-1]
    if part.op is OPS["div"]:
        return last.is_number() and last.value != 0
    return part.op is OPS["pow"] and last.is_number() and isinstance(last.value, int) and last.value >= 0


def accumulate(contributions: Sequence[GuardedTangent]) -> GuardedTangent:
    """Add contributions by guard, so that strong zeros stay strong zeros."""
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
            continue  # already used as the other side of a choice
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
