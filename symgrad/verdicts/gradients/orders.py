"""Equality of programs that hold values back from differentiation, to any order, or to all of them.

Order by order: of each gradient by an input, which is a program with stop_gradients itself, the gradients again. All
orders at once are plain mathematics: the programs are functions F(x, frozen x) and G(x, frozen x)
(`symgrad.backward.frozen`); where F = G as functions of both, every derivative by x agrees, taken at frozen x = x too.
Only where something switches on a comparison of x with its own copy does that say nothing: it switches just there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symgrad.backward.frozen import frozen_copy, thaw
from symgrad.backward.vjp import pull_back
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.layout import full
from symgrad.ops.control import with_slope
from symgrad.rules.pipeline import canonical
from symgrad.verdicts.decide import decide, equal, same_gradient
from symgrad.verdicts.gradients.both import decide_both, together
from symgrad.verdicts.verdict import Verdict

__all__ = ["decide_all_orders", "decide_orders"]

_REFUTED_UP_TO = 4
"""Orders at which programs are told apart whose functions of x and its copy differ: by then all of our cases were."""

_COMPARING = frozenset({"clip", "maximum", "minimum"})
"""Their kinks are where two arguments are equal."""

_FOR_ALL = 0.4
"""Of the time: what the question about both functions may take."""


def decide_orders(
    a: Node, b: Node, inputs: Sequence[Node], order: int, sizes: Mapping[str, Size] | None, time_limit: float
) -> Verdict:
    """Decide whether two sides have equal values, and equal derivatives by some inputs, up to an order.

    Args:
        a: one side.
        b: the other, of the same shape.
        inputs: symbols.
        order: how often one differentiates, at least once.
        sizes: what is written instead of names of sizes.
        time_limit: seconds for all together.
    """
    begun = time.monotonic()
    first = decide_both(a, b, inputs, sizes, None, time_limit / order)
    if order == 1 or first.status == "refuted":
        return first
    assert first.of_values is not None
    higher: dict[tuple[str, ...], Verdict] = {}
    # Derivatives of one function may be taken in any order, and each set of inputs is asked once; those of a custom
    # gradient are whatever it says, in each order.
    in_any_order = not _has_custom_gradient([a, b])
    level = [(_Pair((), a, b), inputs)]
    for k in range(2, order + 1):
        level = [(p.by(x), behind[i * in_any_order :]) for p, behind in level for i, x in enumerate(behind)]
        questions = [(p, x) for p, behind in level for x in behind]
        left = max(begun + k * time_limit / order - time.monotonic(), 0.01 * time_limit)
        for p, x in questions:
            found = decide(same_gradient(p.a, p.b, x, sizes), left / len(questions))
            words = found.why.replace("the two sides", "the two derivatives")
            found = replace(found, why=words.replace("both sides", "both derivatives"))
            higher[*p.names, x.name] = found
        if any(v.status == "refuted" for v in higher.values()):
            break
    verdict = together(first.of_values, first.of_gradients, higher)
    return replace(verdict, seconds=time.monotonic() - begun)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The derivatives of both sides by the inputs of these names, times one cotangent where they are of arrays."""

    names: tuple[str, ...]
    a: Node
    b: Node

    def by(self, x: Node) -> _Pair:
        """Return the derivatives by a further input."""
        if not self.a.shape:
            seed = as_node(1)
        else:
            taken = {s.name for s in symbols_of([self.a, self.b, x])}
            name = next(n for k in range(len(taken) + 1) if (n := f"v{k + 1}") not in taken)
            seed = symbol(Declaration(name, REAL, shape=self.a.shape))
        a, b = (full(pull_back([side], [seed], [x]).gradients[0], x.shape) for side in (self.a, self.b))
        return _Pair((*self.names, x.name), a, b)


def decide_all_orders(
    a: Node, b: Node, inputs: Sequence[Node], sizes: Mapping[str, Size] | None, time_limit: float
) -> Verdict:
    """Decide whether two sides have equal values, and equal derivatives of every order by some inputs."""
    begun = time.monotonic()
    few = decide_orders(a, b, inputs, 2, sizes, (1 - _FOR_ALL) / 2 * time_limit)
    if few.status == "refuted":
        return few
    assert few.of_values is not None
    whole, why, apart = _as_functions(a, b, inputs, sizes, _FOR_ALL * time_limit)
    if whole is not None and few.of_values.status == "proved":
        found = together(few.of_values, few.of_gradients, few.of_higher, whole)
        return replace(found, seconds=time.monotonic() - begun)
    left = max(begun + time_limit - time.monotonic(), 0.05 * time_limit)
    more = decide_orders(a, b, inputs, _REFUTED_UP_TO, sizes, left)
    if more.status == "refuted":
        return replace(more, seconds=time.monotonic() - begun)
    return replace(
        more,
        status="supported" if more.status in ("proved", "supported") and not apart else "undecided",
        why=f"{more.why}, up to order {_REFUTED_UP_TO}; of all orders nothing is proved: {why}",
        proof=None,
        seconds=time.monotonic() - begun,
    )


def _as_functions(
    a: Node, b: Node, inputs: Sequence[Node], sizes: Mapping[str, Size] | None, seconds: float
) -> tuple[Verdict | None, str, bool]:
    """Return the proof that both sides are the same function of inputs and of frozen copies; or None, and why not.

    The last is whether they are known to be different functions: of smooth ones some derivative differs then.

    Floors and conditions are of the copies alone: they have no derivatives, so that this changes none.
    """
    if _has_custom_gradient([a, b]):
        return None, "a custom gradient is what it says it is, and no function has it", False
    copies, twins = frozen_copy([a, b], flat=True)
    by = {*inputs}
    # Of what one does not differentiate by, a frozen copy is the thing itself.
    copies = thaw(copies, {x: t for x, t in twins.items() if x not in by})
    twins = {x: t for x, t in twins.items() if x in by}
    why = _switch_at_the_copy(copies, twins)
    if why is not None:
        return None, why, False
    found = decide(equal(copies[0], copies[1], sizes), seconds)
    if found.status != "proved":
        why = f"as functions of the inputs and of their frozen copies, {found.why}"
        return None, why, found.status == "refuted"
    for condition in found.excluded:
        if any(_reads(condition, x) and _reads(condition, t) for x, t in twins.items()):
            return None, f"the proof leaves out points where {condition}", False
    # A condition on copies alone says the same of what they are copies of.
    told = (_thawed(condition, twins) for condition in found.excluded)
    return replace(found, excluded=tuple(dict.fromkeys(told))), "", False


def _has_custom_gradient(sides: Sequence[Node]) -> bool:
    return any(n.op is with_slope for n in topological(sides))


def _reads(condition: str, symbol: Node) -> bool:
    return re.search(rf"\b{re.escape(symbol.name)}\b", condition) is not None


def _thawed(condition: str, twins: Mapping[Node, Node]) -> str:
    for x, twin in twins.items():
        condition = re.sub(rf"\b{re.escape(twin.name)}\b", x.name, condition)
    return condition


def _is_whole_power(n: Node) -> bool:
    return n.op.name == "pow" and n.args[1].is_number() and n.args[1].value in range(100)


def _switch_at_the_copy(copies: Sequence[Node], twins: Mapping[Node, Node]) -> str | None:
    """Say what has a kink just where an input is equal to its copy: there equal functions may differ in derivatives."""
    running, frozen = set(twins), set(twins.values())
    reads: dict[Node, int] = {}
    kinked: list[Node] = []
    for n in topological(copies):
        mask = (n in running) | 2 * (n in frozen)
        for arg in n.args:
            mask |= reads[arg]
        reads[n] = mask
        if mask == 3 and n.dtype == "real" and n.op.kinks and not _is_whole_power(n):
            kinked.append(n)
    for n in kinked:
        args = canonical(thaw(n.args, twins)).nodes
        if any(not symbols_of([a]) for a in args) or (n.op.name in _COMPARING and len({*args}) < len(args)):
            return f"'{n.op.name}' switches where an input is equal to its frozen copy"
    return None
