"""Comparisons and boolean logic, which carry no tangent, and `where`, which passes on the tangent of its branch."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, Op, as_node
from symgrad.ir.notation.literals import AND, COMPARE, NOT, OR
from symgrad.ir.op import Builder, Lane
from symgrad.ops.record import binary, facts, ternary, unary

NEGATION = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
"""For each comparison of numbers, the comparison that holds where it does not."""
CONVERSE = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""For each comparison of a and b, the equivalent comparison of b and a."""

_POINTS = (("0.5", "1.5"), ("1.5", "0.5"), (2, 2), ("-1", "0"))


def _comparison(
    name: str, aliases: tuple[str, ...], cas: str, compare: Callable[[Any, Any], Any], text: str, symbol: str
) -> Op:
    def lower(builder: Builder, _node: Node, x: Lane, y: Lane) -> Lane:
        return getattr(builder, name)(x, y)

    return binary(
        name,
        aliases=aliases,
        doc=f"x {text} y",
        gives="bool",
        cas=cas,
        domain=None,
        # As in IEEE arithmetic, comparisons with NaN are False, except !=; this holds for arrays and in mpmath.
        evaluate=compare,
        reference=lambda mp, x, y: compare(x, y),
        partials=(None, None),
        kinks=(),
        lower=lower,
        latex=f"{{0}} {symbol} {{1}}",
        precedence=COMPARE,
        facts=facts("commutative") if name in {"eq", "ne"} else facts(),
        samples=_POINTS,
    )


lt = _comparison("lt", ("less", "Lt"), "StrictLessThan", operator.lt, "<", "<")
le = _comparison("le", ("less_equal", "Le"), "LessThan", operator.le, "<=", r"\le")
gt = _comparison("gt", ("greater", "Gt"), "StrictGreaterThan", operator.gt, ">", ">")
ge = _comparison("ge", ("greater_equal", "Ge"), "GreaterThan", operator.ge, ">=", r"\ge")
eq = _comparison("eq", ("equal", "Eq"), "Equality", operator.eq, "==", "=")
ne = _comparison("ne", ("not_equal", "Ne"), "Unequality", operator.ne, "!=", r"\ne")


def is_nonzero(x: Node) -> Node:
    """Return the condition x != 0."""
    return ne(x, as_node(0))


def _connective(
    name: str,
    aliases: tuple[str, ...],
    doc: str,
    cas: str,
    evaluate: Callable[[Any, Any], Any],
    reference: Callable[[Any, Any, Any], Any],
    symbol: str,
    precedence: int,
) -> Op:
    def lower(builder: Builder, _node: Node, x: Lane, y: Lane) -> Lane:
        return getattr(builder, name)(x, y)

    return binary(
        name,
        aliases=aliases,
        doc=doc,
        takes=("bool", "bool"),
        gives="bool",
        cas=cas,
        domain=None,
        evaluate=evaluate,
        reference=reference,
        partials=(None, None),
        kinks=(),
        lower=lower,
        latex=f"{{0}} {symbol} {{1}}",
        precedence=precedence,
        facts=facts("commutative", "associative"),
        samples=((True, True), (True, False), (False, True), (False, False)),
    )


and_ = _connective(
    "and_", ("logical_and", "And"), "both", "And", np.logical_and, lambda mp, x, y: x and y, r"\wedge", AND
)
or_ = _connective(
    "or_", ("logical_or", "Or"), "at least one", "Or", np.logical_or, lambda mp, x, y: x or y, r"\vee", OR
)
xor = _connective(
    "xor",
    ("logical_xor", "Xor"),
    "exactly one",
    "Xor",
    np.logical_xor,
    lambda mp, x, y: x != y,
    r"\veebar",
    OR,
)

not_ = unary(
    "not_",
    aliases=("logical_not", "Not"),
    doc="the opposite truth value",
    takes=("bool",),
    gives="bool",
    cas="Not",
    domain=None,
    evaluate=np.logical_not,
    reference=lambda mp, x: not x,
    partials=(None,),
    kinks=(),
    lower=lambda b, node, x: b.not_(x),
    latex=r"\neg {0}",
    precedence=NOT,
    samples=((True,), (False,)),
)

# The partials are choices between 1 and a structural zero. Linearisation reads such a choice as a guard: the other
# branch contributes a strong zero, even if its own partials are infinite.
where: Op = ternary(
    "where",
    doc="x where the condition holds, y elsewhere",
    takes=("bool", "number", "number"),
    gives="same",
    cas=None,
    domain=None,
    reference=lambda mp, c, x, y: x if c else y,
    partials=(
        None,
        lambda out, c, x, y: where(c, as_node(1), as_node(0)),
        lambda out, c, x, y: where(c, as_node(0), as_node(1)),
    ),
    kinks=(),
    lower=lambda b, node, c, x, y: b.select(c, x, y),
    latex=r"\begin{{cases}} {1} & \text{{if }} {0} \\ {2} & \text{{otherwise}} \end{{cases}}",
    facts=facts("piecewise-linear", "chooses"),
    samples=((True, "0.5", "1.5"), (False, "0.5", "1.5")),
)


def _infinite_elsewhere(name: str, end: float, text: str, latex: str) -> Op:
    """Register a choice with an infinity as its other branch, which cannot be a number in a graph.

    The domain of the op is the condition, so no rule treats the infinity as a number. Ops that accept such a choice
    handle the infinity (its softmax is 0), and no cotangent passes through its branch.
    """

    def slope(_out: Node, c: Node, _x: Node) -> Node:
        return where(c, as_node(1), as_node(0))

    rows = rf"{{1}} & \text{{{{if }}}} {{0}} \\ {latex} & \text{{{{otherwise}}}}"

    return binary(
        name,
        doc=f"where(condition, x, {text})",
        takes=("bool", "number"),
        cas=None,
        domain=lambda c, x: c,
        evaluate=lambda c, x: np.where(c, x, end),
        reference=lambda mp, c, x: x if c else mp.mpf(end),
        partials=(None, slope),
        kinks=(),
        lower=lambda b, node, c, x: b.select(c, x, b.const(end)),
        latex=rf"\begin{{{{cases}}}} {rows} \end{{{{cases}}}}",
        samples=((True, "0.5"), (True, "-1.5")),
    )


_minus_oo = _infinite_elsewhere("where_minus_oo", -math.inf, "-oo", r"-\infty")
_plus_oo = _infinite_elsewhere("where_plus_oo", math.inf, "oo", r"\infty")


def where_infinite(condition: Node, x: Node, y: float) -> Node:
    """Return where(condition, x, y) for an infinite y."""
    return (_plus_oo if y > 0 else _minus_oo)(condition, x)


def all_of(first: Node, *rest: Node) -> Node:
    """Return the conjunction of conditions."""
    for condition in rest:
        first = and_(first, condition)
    return first


def any_of(first: Node, *rest: Node) -> Node:
    """Return the disjunction of conditions."""
    for condition in rest:
        first = or_(first, condition)
    return first
