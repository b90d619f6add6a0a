"""Merge equal steps by the laws of arithmetic that change no domain (value numbering).

x + 0, x*1, x/1, x**1 and -(-x) are x. So is stop_gradient(x), because derivatives are steps already. Sums, products,
maxima and minima are associative and commutative, and the maximum of x and x is x. These laws keep the domain: each
side is defined where its operands are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from symgrad.checker.program.steps import ProofProgram, ProofStep
from symgrad.support.traversal import leaves

_Key: TypeAlias = "tuple[Any, ...]"

_ASSOCIATIVE: dict[str, Fraction | None] = {
    "add": Fraction(0),
    "mul": Fraction(1),
    "maximum": None,
    "minimum": None,
}
"""Associative and commutative ops, and the neutral element of each."""
_IDEMPOTENT = frozenset({"maximum", "minimum"})
_COMMUTATIVE = frozenset({"hypot", "eq", "ne", "and_", "or_", "xor"})
_NUMBERS = frozenset({"real", "int"})


def is_same_step(program: ProofProgram, a: int, b: int) -> bool:
    """Tell whether two steps are equal by these laws.

    Example:
        >>> x, y = ProofStep("symbol", (), ("x",)), ProofStep("symbol", (), ("y",))
        >>> steps = (x, y, ProofStep("number", (), (Fraction(1),)))
        >>> sums = ProofStep("add", (0, 1)), ProofStep("add", (4, 0))
        >>> products = ProofStep("mul", (1, 2)), ProofStep("mul", (0, 1))
        >>> more = (sums[0], products[0], sums[1], products[1])
        >>> program = ProofProgram((*steps, *more), ())
        >>> is_same_step(program, 3, 5), is_same_step(program, 3, 6)
        (True, False)
    """
    found = merge_steps(program, program.needed([a, b]), [a, b])
    return found[a] == found[b]


def merge_steps(program: ProofProgram, order: Sequence[int], outputs: Sequence[int]) -> dict[int, int]:
    """Map each step to the first step that equals it.

    Args:
        program: the steps.
        order: positions of the steps to merge, each after its arguments; steps that are not listed stay as they are.
        outputs: positions of steps that must not be absorbed into a longer sum or product.
    """
    steps = program.steps
    inner = _chain_links(steps, order, outputs)
    found: dict[int, int] = {}
    first: dict[_Key, int] = {}
    for i in order:
        key = _step_key(steps, i, inner, found)
        found[i] = i if key is None else key if isinstance(key, int) else first.setdefault(key, i)
    return found


def _chain_links(steps: Sequence[ProofStep], order: Sequence[int], outputs: Sequence[int]) -> set[int]:
    """Return the steps that are read only once, by a step with the same associative op."""
    uses = dict.fromkeys(outputs, 2)
    mine: set[int] = set()
    for i in order:
        for a in steps[i].args:
            uses[a] = uses.get(a, 0) + 1
            if steps[i].op in _ASSOCIATIVE and steps[a].op == steps[i].op and steps[a].kind == steps[i].kind:
                mine.add(a)
    return {a for a in mine if uses[a] == 1 and steps[a].kind in _NUMBERS}


def _step_key(
    steps: Sequence[ProofStep], i: int, inner: set[int], found: dict[int, int]
) -> _Key | int | None:
    """Return the key of a step; or the position of an equal step; or None for a step inside a longer chain."""
    step = steps[i]
    args = [found.get(a, a) for a in step.args]
    if step.op == "stop_gradient":
        return args[0]
    if step.kind in _NUMBERS:
        if step.op in _ASSOCIATIVE:
            return None if i in inner else _chain_key(steps, i, inner, found)
        if step.op == "neg" and steps[args[0]].op == "neg" and step.kind == steps[args[0]].kind:
            (other,) = steps[args[0]].args
            other = found.get(other, other)
            if _same_type(step, steps[other]):
                return other
        if (
            step.op in {"div", "pow"}
            and _is_number(steps[args[1]], Fraction(1))
            and _same_type(step, steps[args[0]])
        ):
            return args[0]
    if step.op in _COMMUTATIVE:
        args.sort()
    return (step.op, step.params, step.shape, step.kind, tuple(args))


def _chain_key(steps: Sequence[ProofStep], i: int, inner: set[int], found: dict[int, int]) -> _Key | int:
    step = steps[i]
    neutral = _ASSOCIATIVE[step.op]
    chain = leaves(i, lambda a: steps[a].args if a == i or (a in inner and steps[a].op == step.op) else None)
    operands = [found.get(a, a) for a in chain if neutral is None or not _is_number(steps[a], neutral)]
    operands = sorted(set(operands) if step.op in _IDEMPOTENT else operands)
    if len(operands) == 1 and _same_type(step, steps[operands[0]]):
        return operands[0]
    return (step.op, step.shape, step.kind, tuple(operands))


def _same_type(step: ProofStep, other: ProofStep) -> bool:
    return step.shape == other.shape and step.kind == other.kind


def _is_number(step: ProofStep, value: Fraction) -> bool:
    return step.op == "number" and not step.shape and step.kind in _NUMBERS and step.params[0] == value
