"""Compare programs as functions of inputs and of frozen copies of these inputs.

Both sides are functions F(x, c) and G(x, c) of the inputs x and of their frozen copies c (`symgrad.autodiff.frozen`).
If F = G as functions of both, all derivatives with respect to x agree, and so they do at c = x. The exception is a
comparison of x with its own copy, whose outcome changes exactly at c = x. If F and G differ at some x and c, and both
are analytic in x between c and x, then some derivative differs at x = c.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any, Literal, cast

from symgrad.autodiff.frozen import frozen_copy, unfreeze
from symgrad.checker.balls.entries import box
from symgrad.checker.balls.programs import context, evaluate
from symgrad.checker.balls.scalar_ops import ball
from symgrad.checker.witness import paired_entries
from symgrad.ir.graph import Node, number, truth
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Number
from symgrad.ops.control import with_slope
from symgrad.ops.scalar.logic import eq, ne
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from symgrad.verification.decide import decide, equal
from symgrad.verification.gradients.analytic import conditions_off_kinks, in_a_box, is_analytic
from symgrad.verification.gradients.generic import is_generic, lengths_in
from symgrad.verification.points.sampler import points_of
from symgrad.verification.reporting.side_conditions import describe_conditions
from symgrad.verification.statement import program_of
from symgrad.verification.verdict import Verdict

_BOXES: Sequence[tuple[Number, Number]] = ((1, 2), (2, 4), (-2, -1), (Fraction(1, 4), Fraction(3, 4)))
"""Intervals of all inputs on which to compare functions that are not analytic everywhere."""

_POINTS = 12
"""Points at which a difference is tested for being zero."""

_STEP = 40
"""Exponent of a small step 2**-n."""


@dataclass(frozen=True, slots=True)
class FunctionsOfCopies:
    """The comparison of two programs as functions of inputs and copies.

    Args:
        equal: the proof that they are the same function; None if there is none.
        apart: a verdict with a point at which the functions differ; None if there is none.
        analytic: whether both functions are analytic between the copy and that point; if so, some derivative differs.
        why: the reason if the comparison does not decide the derivatives.
        sides: both functions, and the copy of each input.
    """

    equal: Verdict | None = None
    apart: Verdict | None = None
    analytic: bool = False
    why: str = ""
    sides: tuple[Sequence[Node], Mapping[Node, Node]] = ((), {})


def decide_functions(
    a: Node, b: Node, inputs: Sequence[Node], sizes: Mapping[str, Size] | None, seconds: float
) -> FunctionsOfCopies:
    """Decide whether both sides are the same function of inputs and of frozen copies of these.

    Floors and conditions read the copies alone: their derivatives are zero.

    Args:
        a: one side.
        b: the other side, of the same shape.
        inputs: the symbols with respect to which derivatives are taken.
        sizes: replacements of named sizes.
        seconds: the time limit.
    """
    if any(n.op is with_slope for n in topological([a, b])):
        return FunctionsOfCopies(why="a custom gradient need not be the derivative of any function")
    copies, twins = frozen_copy([a, b], flat=True)
    by = {*inputs}
    # Other inputs are constant: they equal their frozen copies.
    copies = unfreeze(copies, {x: t for x, t in twins.items() if x not in by})
    twins = {x: t for x, t in twins.items() if x in by}
    copies, left_out = _without_ties(copies, twins, sizes)
    found = decide(equal(copies[0], copies[1], sizes), 0.6 * seconds, simple=True)
    if found.status == "refuted":
        analytic = _difference_where_analytic(copies, by, found, sizes, 0.1 * seconds)
        why = f"as functions of the inputs and of their frozen copies, {found.why}"
        apart = found if analytic is None else analytic
        return FunctionsOfCopies(apart=apart, analytic=analytic is not None, why=why, sides=(copies, twins))
    if found.status != "proved":
        return FunctionsOfCopies(why=f"as functions of the inputs and of their frozen copies, {found.why}")
    why = None if a is b else _switch_at_the_copy(copies, twins, sizes)
    if why is not None:
        return FunctionsOfCopies(why=why)
    for condition in found.excluded:
        if any(_reads(condition, x) and _reads(condition, t) for x, t in twins.items()):
            return FunctionsOfCopies(why=f"the proof leaves out points where {condition}")
    # A condition on copies alone is also a condition on the originals. A proof about arrays refers to names by their
    # order: describe its conditions before the copies are renamed.
    of_arrays = any(n.shape for n in topological(copies))
    excluded = describe_conditions(found.excluded, copies, {}) if of_arrays else found.excluded
    conditions = (*left_out, *(_with_originals(condition, twins) for condition in excluded))
    return FunctionsOfCopies(equal=replace(found, excluded=tuple(dict.fromkeys(conditions))))


def _without_ties(
    copies: Sequence[Node], twins: Mapping[Node, Node], sizes: Mapping[str, Size] | None
) -> tuple[list[Node], list[str]]:
    """Replace comparisons `==` of copies that hold only at isolated points; return the functions and these points."""
    originals = {t: x for x, t in twins.items()}
    table: dict[Node, Node] = {}
    left_out: list[str] = []
    known = Conditions()
    for n in topological(copies):
        symbols = symbols_of([n])
        if n.op not in (eq, ne) or n.shape or not symbols or not all(s in originals for s in symbols):
            continue
        a, b = substitute(n.args, originals)
        if _zeros(ne(a, b), known, sizes) == "seldom":
            table[n] = truth(n.op is ne)
            (gap,) = canonical([a - b]).nodes
            left_out.append(f"{expression_text(gap)} = 0")
    return substitute(list(copies), table), left_out


def _difference_where_analytic(
    copies: Sequence[Node],
    inputs: set[Node],
    found: Verdict,
    sizes: Mapping[str, Size] | None,
    seconds: float,
) -> Verdict | None:
    """Return a verdict that the functions differ in a box in which both are analytic in the inputs.

    The result is None if there is none.

    A box is connected, and contains the copy.
    """
    if is_analytic(copies, inputs) and is_generic(copies, found, sizes):
        return found
    for low, high in _BOXES:
        boxed = in_a_box(copies, low, high)
        if boxed is None:
            continue
        named = {x.name for x in inputs}
        if is_analytic(boxed, {s for s in symbols_of(boxed) if s.name in named}):
            there = decide(equal(boxed[0], boxed[1], sizes), seconds)
            if there.status == "refuted" and is_generic(boxed, there, sizes):
                return there
    return None


def differing_orders(
    functions: FunctionsOfCopies, inputs: Sequence[Node], sizes: Mapping[str, Size] | None, most: int
) -> list[tuple[int, Node]]:
    """Estimate for each input the lowest order at which derivatives with respect to it differ.

    Return these, lowest first.

    At a distance t from the copy the difference of the functions is about a multiple of t**order: two values of t tell
    the order.

    Args:
        functions: two functions that differ where both are analytic.
        inputs: symbols.
        sizes: replacements of named sizes.
        most: the highest order.
    """
    copies, twins = functions.sides
    if functions.apart is None or functions.apart.witness is None:
        return []
    witness = functions.apart.witness
    program, (left, right) = program_of(copies, sizes=sizes)
    lengths = lengths_in(program, witness)
    at = {**witness, **{x.name: witness[t.name] for x, t in twins.items() if x.name in witness}}

    def distance(x: Node, step: Fraction) -> Any:
        moved = {**at, x.name: _moved(at[x.name], step)}
        bits = 128 + 2 * most * _STEP
        found = evaluate(program, moved, precision=bits, sizes=lengths, wanted=[left, right])
        with context.workprec(bits):
            return max(
                (ball(a) - ball(b) for _, a, b in paired_entries(*found)),
                key=lambda d: d.abs_lower(),
                default=ball(0),
            )

    orders: list[tuple[int, Node]] = []
    for x in inputs:
        if x not in twins or x.name not in at:
            continue
        one, half = (distance(x, Fraction(1, 2**k)) for k in (_STEP, _STEP + 1))
        if one.abs_lower() > 0 and half.abs_lower() > 0:
            order = round(math.log2(float((one / half).abs_upper())))
            if 0 < order <= most:
                orders.append((order, x))
    return sorted(orders, key=lambda found: found[0])


def _moved(value: Any, step: Fraction) -> Any:
    """Add a step to a number, or to each of nested lists of numbers."""
    return [_moved(v, step) for v in cast("list[Any]", value)] if isinstance(value, list) else value + step


def _reads(condition: str, symbol: Node) -> bool:
    return re.search(rf"\b{re.escape(symbol.name)}\b", condition) is not None


def _with_originals(condition: str, twins: Mapping[Node, Node]) -> str:
    for x, twin in twins.items():
        condition = re.sub(rf"\b{re.escape(twin.name)}\b", x.name, condition)
    return condition


def _switch_at_the_copy(
    copies: Sequence[Node], twins: Mapping[Node, Node], sizes: Mapping[str, Size] | None
) -> str | None:
    """Describe an op that may have a kink wherever an input equals its copy: equal functions may differ in slope there.

    If the copies are replaced by the inputs, an analytic argument that is off the kink at one point meets it only at
    isolated points.
    """
    running, frozen = set(twins), set(twins.values())
    reads: dict[Node, int] = {}
    known = Conditions()
    for n in topological(copies):
        mask = (n in running) | 2 * (n in frozen)
        for arg in n.args:
            mask |= reads[arg]
        reads[n] = mask
        if mask != 3 or n.dtype != "real" or not n.op.kinks or not _has_kinks_inside(n):
            continue
        there = n.op(*canonical(unfreeze(n.args, twins)).nodes, params=n.params)
        conditions = conditions_off_kinks(there)
        zeros = ["perhaps"] if conditions is None else [_zeros(c, known, sizes) for c in conditions]
        if "always" in zeros:
            return f"'{n.op.name}' switches where an input is equal to its frozen copy"
        if "perhaps" in zeros:
            return f"'{n.op.name}' may switch where an input is equal to its frozen copy"
    return None


def _zeros(
    comparison: Node, known: Conditions, sizes: Mapping[str, Size] | None
) -> Literal["never", "seldom", "perhaps", "always"]:
    """Tell where the sides of a comparison are equal: seldom (isolated points), or always (at all points tried)."""
    if known.holds(comparison) == "yes":
        return "never"
    a, b = comparison.args
    gap = canonical([a - b]).nodes
    program, at = program_of(gap, sizes=sizes)
    for point in islice(points_of(program, aim=False), _POINTS):
        (found,) = evaluate(program, point.values, precision=128, sizes=point.sizes, wanted=at)
        entries = list(box(found).flat)
        if entries and all(v is not None and (v > 0 or v < 0) for v in entries):
            return "seldom" if is_analytic(gap, symbols_of(gap)) else "perhaps"
    return "always"


def _has_kinks_inside(n: Node) -> bool:
    """Tell whether an op has a value at its kinks: at a pole both sides are undefined."""
    if n.op.name == "pow" and n.args[1].is_number():
        exponent = n.args[1].value
        return exponent > 0 and exponent.denominator != 1
    if not n.op.pointwise:
        return n.op.array.total not in ("of regular", "of definite")
    if n.op.domain is None:
        return True
    known = Conditions()
    points = [[number(Fraction(x)) for x in kink.point] for kink in n.op.kinks]
    return any(known.holds(n.op.domain(*point)) != "no" for point in points)
