"""Find where one side of a claim is undefined although the other is defined: a verdict is about points where both are.

The records of ops have their domains. A condition of one side is reported if it certainly fails at a point at which the
other side is certainly defined. Thin sets, where a denominator vanishes, are reported by `side_conditions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from symgrad.checker.balls.entries import box
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.clock import until
from symgrad.checker.program.equality import Equality
from symgrad.checker.witness import all_certain
from symgrad.ir.graph import OPS, SYMBOL, Node, apply, as_node, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological
from symgrad.ir.types import Domain
from symgrad.ops.scalar.logic import CONVERSE, NEGATION
from symgrad.pretty.domains import outside_of_choices
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import UsageError
from symgrad.support.traversal import leaves
from symgrad.verification.limits import CONDITION_LENGTH, CONDITION_PARTS, CONDITIONS_TOLD, DEFINEDNESS_POINTS
from symgrad.verification.points.sampler import SamplePoint, points_of
from symgrad.verification.statement import program_of
from symgrad.verification.verdict import Undefined

_BITS = 128
_ORDERS = frozenset({"lt", "le", "gt", "ge"})


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a claim.

    Args:
        name: the name of the side in texts.
        node: the node of the side, which must have a value.
        wanted: steps of the program; all of them have values exactly where the side certainly has one.
    """

    name: str
    node: Node
    wanted: tuple[int, ...]


def undefined(claim: Equality, sides: tuple[Side, Side], deadline: float) -> tuple[Undefined, ...]:
    """Return the conditions under which one side is undefined, each with a point at which the other is defined.

    Args:
        claim: the claim.
        sides: both sides.
        deadline: the time of the end, on the clock of `symgrad.checker.clock`.
    """
    conditions = [list(conditions_of(s.node)) for s in sides]
    found: list[Undefined] = []
    try:
        with until(deadline):
            for side, other in ((0, 1), (1, 0)):
                own = [c for c in conditions[side] if c not in conditions[other]][:CONDITIONS_TOLD]
                if not own:
                    continue
                wanted = sides[other].wanted
                defined: list[SamplePoint] = []
                for point in islice(points_of(claim.program), DEFINEDNESS_POINTS):
                    values = evaluate(
                        claim.program,
                        point.values,
                        precision=_BITS,
                        sizes=point.sizes,
                        strict=claim.strict,
                        plain=claim.plain,
                        wanted=wanted,
                    )
                    if all_certain(values):
                        defined.append(point)
                for condition, point in _failing_at(own, defined):
                    at = {name: v for name, v in point.values.items() if name != claim.direction}
                    found.append(Undefined(sides[side].name, _text(condition), sides[other].name, at))
    except TimeoutError:
        pass
    return tuple(found)


def _failing_at(
    conditions: Sequence[Node], points: Sequence[SamplePoint]
) -> Iterator[tuple[Node, SamplePoint]]:
    """Yield conditions that fail at points, the most frequent first, each with the simplest point at which it fails."""
    program, at = program_of(conditions)
    fails: dict[Node, set[int]] = {c: set() for c in conditions}
    for n, point in enumerate(points):
        try:
            values = evaluate(program, point.values, precision=_BITS, sizes=point.sizes, wanted=at)
        except UsageError:  # the point has no value for a symbol of the conditions, or a wrong shape
            continue
        for condition, value in zip(conditions, values, strict=True):
            if any(v is False for v in box(value).flat):
                fails[condition].add(n)
    seen: set[int] = set()
    for condition in sorted(conditions, key=lambda c: -len(fails[c])):
        if not fails[condition] <= seen and _text(condition):
            yield condition, min((points[n] for n in fails[condition]), key=_length)
            seen |= fails[condition]


def _length(point: SamplePoint) -> tuple[int, int]:
    """Return how special a point is, and its length. At simple points such as 0, conditions often fail only just."""
    return sum(v == 0 for v in point.values.values()), len(str(dict(point.values)))


def conditions_of(node: Node) -> Iterator[Node]:
    """Yield comparisons that hold wherever a node has a value, except thin sets and comparisons that always hold."""
    facts = Conditions()
    for n in outside_of_choices([node]):
        if not n.op.pointwise or n.op.domain is None:
            continue
        for c in _conjuncts(_domain(n)):
            if _alternatives(c) and facts.holds(c) != "yes":
                yield c


def restrict_domain(sides: Sequence[Node]) -> dict[Node, Node]:
    """Return variables with smaller domains, outside which some side has no value.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real; y = log(x) + asin(x)")
        >>> [str(s.declaration) for s in restrict_domain([p["y"]]).values()]
        ['x : real(0, 1)']
    """
    found: dict[Node, Node] = {}
    for c in (c for side in sides for c in conditions_of(side)):
        left, right = c.args if c.op.name in _ORDERS else (c, c)
        below = c.op.name in ("gt", "ge")
        if left.is_number():
            left, right, below = right, left, not below
        if left.op is not SYMBOL or not right.is_number() or left.dtype != "real":
            continue
        declared = found.get(left, left).declaration
        if declared.distribution is not None:
            continue
        value = right.value
        low, high = declared.domain.span
        if below:
            low = value if low is None else max(low, value)
        else:
            high = value if high is None else min(high, value)
        if low is not None and high is not None and low >= high:
            continue
        closed = declared.domain.closed or c.op.name in ("ge", "le")
        found[left] = symbol(replace(declared, domain=Domain("real", "real", low, high, closed)))
    return found


def _domain(n: Node) -> Node:
    """Return the condition under which an op has a value; for a root it is about the radicand only."""
    if n.op.name == "pow" and n.args[1].is_number() and n.args[1].value.denominator != 1:
        return apply(OPS["ge" if n.args[1].value > 0 else "gt"], (n.args[0], as_node(0)))
    assert n.op.domain is not None
    return n.op.domain(*n.args)


def _conjuncts(condition: Node) -> list[Node]:
    return leaves(condition, lambda c: c.args[::-1] if c.op.name == "and_" else None)


def _alternatives(condition: Node) -> list[Node]:
    """Return the operands of a disjunction; an empty result if some operand is not an inequality."""
    found = leaves(condition, lambda c: c.args if c.op.name == "or_" else None)
    return found if all(c.op.name in _ORDERS for c in found) else []


def _text(condition: Node) -> str:
    """Describe where a condition fails; return an empty text if the description is long."""
    texts = [_failing(c) for c in _alternatives(condition)]
    if not all(texts):
        return ""
    return " and ".join(texts) + " for some entry" * bool(condition.shape)


def _failing(comparison: Node) -> str:
    left, right = canonical(comparison.args, drop_stops=True).nodes
    name = NEGATION[comparison.op.name]
    if not left.args and left.is_number():
        left, right, name = right, left, CONVERSE[name]
    if len(topological([left, right])) > CONDITION_PARTS:
        return ""
    text = expression_text(apply(OPS[name], (left, right)))
    return text if len(text) <= CONDITION_LENGTH else ""
