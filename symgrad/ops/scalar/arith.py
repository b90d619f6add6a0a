"""Arithmetic: + - * / **.

`a - b` is ``add(a, neg(b))``, which has the same bits in IEEE arithmetic and needs no rules of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.graph import NUMBER, SYMBOL, Node, as_node
from symgrad.ir.notation.literals import ADD, MUL, NEG, POW
from symgrad.ir.op import Kink
from symgrad.ops.record import DIVISION_COST, binary, facts, unary
from symgrad.ops.scalar.elementary import log
from symgrad.ops.scalar.logic import all_of, any_of, eq, ge, gt, ne, where
from symgrad.ops.scalar.power_code import lower_power
from symgrad.ops.scalar.rounding import floor

_PAIRS = (("0.5", "1.5"), ("-2", "3.25"), (3, "-0.75"), ("1e-3", "1e3"))

add = binary(
    "add",
    doc="x + y",
    gives="same",
    cas=None,
    domain=None,
    reference=lambda mp, x, y: x + y,
    partials=(lambda out, x, y: as_node(1), lambda out, x, y: as_node(1)),
    kinks=(),
    lower=lambda b, node, x, y: b.add(x, y),
    latex="{0} + {1}",
    precedence=ADD,
    facts=facts("commutative", "associative", "linear"),
    samples=_PAIRS,
)

neg = unary(
    "neg",
    aliases=("negative",),
    doc="-x",
    gives="same",
    cas=None,
    domain=None,
    evaluate=np.negative,
    reference=lambda mp, x: -x,
    partials=(lambda out, x: as_node(-1),),
    kinks=(),
    lower=lambda b, node, x: b.neg(x),
    latex="- {0}",
    precedence=NEG,
    facts=facts("linear", "odd", "decreasing"),
    samples=(("0.5",), ("-2",), (0,)),
)

mul = binary(
    "mul",
    aliases=("multiply",),
    doc="x*y",
    gives="same",
    cas=None,
    domain=None,
    evaluate=np.multiply,
    reference=lambda mp, x, y: x * y,
    partials=(lambda out, x, y: y, lambda out, x, y: x),
    kinks=(),
    lower=lambda b, node, x, y: b.mul(x, y),
    latex="{0} {1}",
    precedence=MUL,
    facts=facts("commutative", "associative"),
    samples=_PAIRS,
)

div = binary(
    "div",
    aliases=("divide", "true_divide"),
    doc="x/y",
    cas=None,
    domain=lambda x, y: ne(y, as_node(0)),
    evaluate=np.true_divide,
    reference=lambda mp, x, y: x / y if y != 0 else mp.nan,
    # d(x/y)/dy = -x/y**2 = -out/y: if the quotient is reused, the derivative overflows no earlier than the value
    # itself.
    partials=(lambda out, x, y: 1 / y, lambda out, x, y: -out / y),
    kinks=(Kink("y = 0", (1, 0), (None, None), "a pole: the value is undefined there"),),
    lower=lambda b, node, x, y: b.div(x, y),
    cost=DIVISION_COST,
    latex=r"\frac{{{0}}}{{{1}}}",
    precedence=MUL,
    facts=facts("continuous", "poles"),
    samples=_PAIRS,
)


def _is_positive(x: Node) -> bool:
    """Tell whether x is a positive number or declared positive.

    Facts (exp(x) > 0) do not count, since floats underflow.
    """
    if x.op is SYMBOL:
        declared = x.declaration
        support = declared.values
        low, _ = support.span
        return low is not None and (low > 0 or (low == 0 and not support.closed))
    return x.is_number() and x.value > 0


def _power_of_base(_out: Node, x: Node, y: Node) -> Node:
    """Return d(x**y)/dx = y*x**(y - 1), or 0 for y = 0, also at x = 0."""
    slope = y * x ** (y - 1)
    if y.op is NUMBER or _is_positive(x):
        return slope
    return where(eq(y, as_node(0)), as_node(0), slope)


def _power_of_exponent(out: Node, x: Node, y: Node) -> Node:
    """Return d(x**y)/dy = x**y*log(x), or 0 at x = 0 for y >= 0, where 0**y is constant."""
    slope = out * log(x)
    if _is_positive(x):
        return slope
    return where(all_of(eq(x, as_node(0)), ge(y, as_node(0))), as_node(0), slope)


def _power_domain(x: Node, y: Node) -> Node:
    zero = as_node(0)
    integer = eq(floor(y), y)
    return any_of(gt(x, zero), all_of(eq(x, zero), ge(y, zero)), all_of(ne(x, zero), integer))


def _power_value(x: Any, y: Any) -> Any:
    # NumPy raises an error for integers to negative integer powers, but the op is the real power.
    with np.errstate(all="ignore"):
        x = np.asarray(x)  # a Python float has no dtype, and would become float32 here
        return np.power(x.astype(np.result_type(x, np.float32)), y)


def _power_reference(mp: Any, x: Any, y: Any) -> Any:
    if (x < 0 and y != mp.floor(y)) or (x == 0 and y < 0):
        return mp.nan
    return mp.mpf(1) if y == 0 else mp.power(x, y)


pow = binary(
    "pow",
    aliases=("power", "Pow"),
    doc="x**y, the real power: undefined for x < 0 unless y is an integer, and for 0 to a negative power",
    cas=None,
    domain=_power_domain,
    evaluate=_power_value,
    reference=_power_reference,
    partials=(_power_of_base, _power_of_exponent),
    kinks=(
        Kink("x = 0, y < 0", (0, -1), (None, None), "a pole"),
        Kink("x = 0, y = 0", (0, 0), (0.0, 0.0), "x**0 is constant in x; in y, 0**y is constant for y > 0"),
        Kink(
            "x = 0, 0 < y < 1",
            (0, "0.5"),
            (None, 0.0),
            "a vertical tangent in x; in y, 0**y is constant for y > 0",
        ),
        Kink(
            "x < 0, y an integer",
            (-2, 3),
            (12.0, None),
            "in y the points of the domain are isolated: no slope there",
        ),
    ),
    lower=lower_power,
    cost=30,
    latex="{0}^{{{1}}}",
    precedence=POW,
    facts=facts("poles"),
    samples=(("0.5", "1.5"), (2, 3), ("-2", 3), ("-1.5", -2), ("0.25", "-0.5"), (3, "0.2")),
)
