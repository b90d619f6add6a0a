"""Where one side of a claim has no value although the other one has: what a claim about common points does not say.

The records of ops say where they have values. A condition of one side is told if it certainly fails at a point at which
the other side certainly has a value; thin sets, where something that is divided by vanishes, are listed elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from symgrad.checker.balls.entries import box
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.clock import until
from symgrad.checker.program.steps import ProofProgram
from symgrad.checker.witness import all_certain
from symgrad.ir.graph import OPS, SYMBOL, Node, apply, as_node, symbol
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological
from symgrad.ir.types import Domain, Number
from symgrad.ops.scalar.logic import CONVERSE, NEGATION
from symgrad.pretty.domains import outside_of_choices
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import UsageError
from symgrad.verification.limits import CONDITION_LENGTH, CONDITION_PARTS, CONDITIONS_TOLD, DEFINEDNESS_POINTS
from symgrad.verification.points.sampler import DrawnPoint, points_of
from symgrad.verification.statement import program_of
from symgrad.verification.verdict import Undefined

__all__ = ["Side", "conditions_of", "restrict_domain", "undefined"]

_BITS = 128
_ORDERS = frozenset({"lt", "le", "gt", "ge"})


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a claim.

    Args:
        name: what it is called.
        node: what has to have a value where it has one.
        wanted: the steps of the program that have values where it certainly has one.
    """

    name: str
    node: Node
    wanted: tuple[int, ...]


def undefined(
    program: ProofProgram,
    sides: tuple[Side, Side],
    *,
    strict: str | bool,
    plain: int | None,
    direction: str | None,
    deadline: float,
) -> tuple[Undefined, ...]:
    """Return where one side has no value, with a point at which the other one has one.

    Args:
        program: the steps of the claim.
        sides: the two.
        strict: see `symgrad.checker.balls.programs.evaluate`.
        plain: see there.
        direction: the variable that is the direction of a derivative, if there is one.
        deadline: when to stop, on the count of `symgrad.checker.clock`.
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
                defined: list[DrawnPoint] = []
                for point in islice(points_of(program), DEFINEDNESS_POINTS):
                    values = evaluate(
                        program,
                        point.values,
                        precision=_BITS,
                        sizes=point.sizes,
                        strict=strict,
                        plain=plain,
                        wanted=wanted,
                    )
                    if all_certain(values):
                        defined.append(point)
                for condition, point in _told(own, defined):
                    at = {name: v for name, v in point.values.items() if name != direction}
                    found.append(Undefined(sides[side].name, _text(condition), sides[other].name, at))
    except TimeoutError:
        pass
    return tuple(found)


def _told(conditions: Sequence[Node], points: Sequence[DrawnPoint]) -> Iterator[tuple[Node, DrawnPoint]]:
    """Yield conditions that fail at points, those that fail at more of them first, with the first such point."""
    program, at = program_of(conditions)
    fails: dict[Node, set[int]] = {c: set() for c in conditions}
    for n, point in enumerate(points):
        try:
            values = evaluate(program, point.values, precision=_BITS, sizes=point.sizes, wanted=at)
        except UsageError:  # what is drawn for the program of the claim does not fit
            continue
        for condition, value in zip(conditions, values, strict=True):
            if any(v is False for v in box(value).flat):
                fails[condition].add(n)
    seen: set[int] = set()
    for condition in sorted(conditions, key=lambda c: -len(fails[c])):
        if not fails[condition] <= seen and _text(condition):
            yield condition, min((points[n] for n in fails[condition]), key=_length)
            seen |= fails[condition]


def _length(point: DrawnPoint) -> tuple[int, int]:
    """How special a point is, and how long to read: at 0 conditions often fail by a hair."""
    return sum(v == 0 for v in point.values.values()), len(str(dict(point.values)))


def conditions_of(node: Node) -> Iterator[Node]:
    """Yield comparisons that hold where a node has a value, but for those that always do, and for thin sets."""
    facts = Conditions()
    for n in outside_of_choices([node]):
        if not n.op.pointwise or n.op.domain is None:
            continue
        for c in _conjuncts(_domain(n)):
            if _alternatives(c) and facts.holds(c) != "yes":
                yield c


def restrict_domain(sides: Sequence[Node]) -> dict[Node, Node]:
    """Return for variables ones of the smaller domains in which all sides may have a value.

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
        low, high = declared.domain.span
        ends = (_larger(low, right.value), high) if below else (low, _smaller(high, right.value))
        if _is_empty(*ends):
            continue
        closed = declared.domain.closed or c.op.name in ("ge", "le")
        found[left] = symbol(replace(declared, domain=Domain("real", "real", *ends, closed)))
    return found


def _is_empty(low: Number | None, high: Number | None) -> bool:
    return low is not None and high is not None and low >= high


def _larger(a: Number | None, b: Number) -> Number:
    return b if a is None else max(a, b)


def _smaller(a: Number | None, b: Number) -> Number:
    return b if a is None else min(a, b)


def _domain(n: Node) -> Node:
    """The condition under which an op has a value; of a root it is about what is below it alone."""
    if n.op.name == "pow" and n.args[1].is_number() and n.args[1].value.denominator != 1:
        return apply(OPS["ge" if n.args[1].value > 0 else "gt"], (n.args[0], as_node(0)))
    assert n.op.domain is not None
    return n.op.domain(*n.args)


def _conjuncts(condition: Node) -> Iterator[Node]:
    pending = [condition]
    while pending:
        c = pending.pop()
        if c.op.name == "and_":
            pending += c.args
        else:
            yield c


def _alternatives(condition: Node) -> list[Node]:
    """The comparisons of which one has to hold; none if others than those by size are among them."""
    found: list[Node] = []
    pending = [condition]
    while pending:
        c = pending.pop()
        if c.op.name == "or_":
            pending += reversed(c.args)
        elif c.op.name in _ORDERS:
            found.append(c)
        else:
            return []
    return found


def _text(condition: Node) -> str:
    """Say where a condition does not hold; nothing if that is long."""
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
