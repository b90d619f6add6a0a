"""Certain values of formulas: ball arithmetic; for scalars with more bits until enough of them are right.

The functions are those of the checker of proofs, so a function that the checker knows is known here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from symgrad.checker.numbers import arb, context, fmpq, rational
from symgrad.ir.body import Body, run_steps
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, Node
from symgrad.ir.sizes import evaluate_size, resolve
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import mp_context, sizes_of
from symgrad.ops.user_ops import OWN, without_definitions

Point: TypeAlias = "Mapping[Node, float | Fraction]"
Ball: TypeAlias = Any
"""A ball, an exact rational or a truth value; None for an unknown value."""

_RIGHT_BITS = 70
"""The bits of a value that are right: more than a float has, so that its rounding is known."""

_FIRST_BITS = 192
_MOST_BITS = 12_000
_GROWTH = 4
_LEVELS = 3
"""The precisions that a table tries: values at its points seldom need more."""

_LOGIC = frozenset(("and_", "or_", "xor", "not_"))
_ZERO = 2**1100
"""A ball within the reciprocal of this around zero is zero for floats."""


class CertainValues:
    """Computes formulas of scalars at points, to at least 70 right bits.

    A value is unknown where the formula is undefined, where a function has no balls, and where thousands of bits
    cancel.

    Args:
        nodes: the formulas.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.scalar.elementary import exp
        >>> x = symbol(Declaration("x"))
        >>> values = CertainValues([exp(x) - 1 - x, 1/x])
        >>> [float(v) for v in values.at({x: 1e-120})]
        [5e-241, 1e+120]
        >>> values.at({x: 0.0})
        [0, None]
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = without_definitions(nodes)

    @cached_property
    def _steps(self) -> list[tuple[Node, Callable[..., Ball] | None]]:
        return [(n, _function(n)) for n in topological(self._nodes)]

    def at(self, point: Point) -> list[Ball]:
        """Return the values of the formulas at a point, which has a number for every symbol."""
        found: list[Ball] = [None] * len(self._nodes)
        bits = _FIRST_BITS
        while bits <= _MOST_BITS:
            unknown = False
            for k, value in enumerate(self.balls(point, bits)):
                if found[k] is None:
                    found[k] = value if _is_certain(value) else None
                    unknown |= found[k] is None
            if not unknown:
                break
            bits *= _GROWTH
        return found

    def balls(self, point: Point, bits: int) -> list[Ball]:
        """Return the values of the formulas with balls of so many bits."""
        values: dict[Node, Ball] = {}
        with context.workprec(bits):
            for n, function in self._steps:
                values[n] = _value(n, function, point, values)
        return [values[n] for n in self._nodes]


class BallTable:
    """Certain values of nodes at fixed points; every value is computed once at each precision that it needs.

    Args:
        points: the points, each with a number or truth value for every leaf; more leaves may be added to them.
    """

    def __init__(self, points: Sequence[dict[Node, Any]]) -> None:
        self.points = points
        self._values: list[list[dict[Node, Ball]]] = [[] for _ in points]
        self._functions: dict[Node, Callable[..., Ball] | None] = {}

    def at(self, node: Node, point: int) -> Ball:
        """Return the value of a node at a point, by its position; None if it is unknown."""
        levels = self._values[point]
        bits = _FIRST_BITS
        for level in range(_LEVELS):
            if level == len(levels):
                levels.append({})
            value = self._at(node, point, levels[level], bits)
            if _is_certain(value):
                return value
            if value is None and level:
                return None
            bits *= _GROWTH
        return None

    def _at(self, node: Node, point: int, values: dict[Node, Ball], bits: int) -> Ball:
        if node not in values:
            at = self.points[point]
            with context.workprec(bits):
                for n in topological([node], until=values):
                    if n in values:
                        continue
                    if n not in self._functions:
                        self._functions[n] = _function(n)
                    values[n] = _value(n, self._functions[n], at, values)
        return values[node]


def ball_values(
    nodes: Sequence[Node], given: Mapping[Node, Ball], bits: int, sizes: Mapping[str, int] | None = None
) -> dict[Node, Ball]:
    """Return the values of nodes of any shape, and of the nodes that they read, with balls of so many bits.

    Args:
        nodes: the nodes.
        given: balls for every symbol, and for other nodes that are not to be computed; see `exact_ball`.
        bits: the precision.
        sizes: sizes by name, for sizes that no symbol has in its shape.

    Raises:
        SymgradError: if a symbol has no value, or the arrays do not fit together.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> x = symbol(Declaration("x"))
        >>> values = ball_values([1/x], {x: exact_ball(Fraction(1, 3))}, 64)
        >>> values[1/x]
        3
    """
    order = topological(nodes, until=given)
    known = sizes_of(order, given, sizes)
    values = dict(given)
    with context.workprec(bits):
        for n in order:
            if n not in values:
                values[n] = _value_of_any_shape(n, values, known)
    return values


def exact_ball(value: Any) -> Ball:
    """Return an exact number, float or truth value as a ball without a radius; of an array, every entry."""
    from symgrad.checker.balls.entries import elementwise, is_array  # a late import, as in `_function`

    return elementwise(_exact, value) if is_array(value) else _exact(value)


def _value_of_any_shape(n: Node, values: Mapping[Node, Ball], sizes: Mapping[str, int]) -> Ball:
    from symgrad.checker.balls.array_ops import ARRAY_OPS  # late imports, as in `_function`
    from symgrad.checker.balls.entries import box, elementwise, is_array, unbox
    from symgrad.checker.balls.scalar_ops import number

    if n.op is SIZE:
        return fmpq(evaluate_size(n.params[0], sizes))
    args = [values[a] for a in n.args]
    if n.op.pointwise:
        function = _function(n)
        (plain,) = (n,) if function is not None or not args else without_definitions([n])
        if plain is not n:  # an op of the user with a definition
            return ball_values([plain], values, context.prec)[plain]
        if function is None and args and n.op.name in OWN and OWN[n.op.name].exact:
            function = partial(_by_reference, n)
        if function is None or not any(map(is_array, args)):
            return _value(n, function, {}, values)
        return elementwise(function, *args)
    if n.params and isinstance(n.params[-1], Body):
        length, reverse, body = n.params
        steps = evaluate_size(length, sizes)

        def compute(nodes: Sequence[Node], given: Mapping[Node, Any]) -> Sequence[Any]:
            found = ball_values(nodes, {s: unbox(box(v)) for s, v in given.items()}, context.prec, sizes)
            return [box(found[node]) for node in nodes]

        return run_steps(steps, reverse, body, [box(v) for v in args], compute, object)
    function = ARRAY_OPS.get(n.op.name)
    if function is None and n.op.array.entries == "moved":
        function = n.op.evaluate  # it moves any entries
    if function is None or any(v is None and a.shape for v, a in zip(args, n.args, strict=True)):
        return None
    numbers = (
        elementwise(number, v) if a.dtype == "bool" != n.dtype else box(v)
        for v, a in zip(args, n.args, strict=True)
    )
    return unbox(function(*resolve(n.params, sizes), *numbers))


def _by_reference(n: Node, *args: Ball) -> Ball:
    """Return the value of an op of the user that only mpmath knows, with the change within the balls as the error."""
    mp = mp_context(context.dps)
    ends: list[Any] = []
    for side in (0, 1, -1):
        numbers: list[Any] = []
        for x in args:
            if x is None:
                return None
            mantissa, exponent = (arb(x).mid() + side * arb(x).rad()).mid().man_exp()
            numbers.append(mp.ldexp(mp.mpf(int(mantissa)), int(exponent)))
        found = n.op.reference(mp, *n.params, *numbers)
        if not isinstance(found, mp.mpf) or not mp.isfinite(found):
            return None
        mantissa, exponent = found.man_exp
        size = arb(int(mantissa)) * arb(2) ** int(exponent)
        ends.append(-size if found < 0 else size)
    value, *others = ends
    error = abs(value) * arb(2) ** (16 - context.prec) + sum(abs(value - y) for y in others)
    return value + arb(0, error.upper())


def _value(n: Node, function: Callable[..., Ball] | None, point: Point, values: Mapping[Node, Ball]) -> Ball:
    if n in point:
        return _exact(point[n])
    if n.op is NUMBER:
        return n.value if isinstance(n.value, bool) else rational(n.value)
    if n.op is CONSTANT:
        from symgrad.checker.balls.scalar_ops import CONSTANTS  # a late import, as in `_function`

        constant = CONSTANTS.get(n.params[0])
        return None if constant is None else constant()
    return None if function is None else function(*(values[a] for a in n.args))


def may_be_equal(a: Ball, b: Ball) -> bool:
    """Tell whether two certain values may be the same number."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    with context.workprec(_FIRST_BITS):
        return bool(arb(a).overlaps(arb(b)))


def signed_distance(a: Ball, b: Ball) -> float:
    """Return the difference of two certain values."""
    with context.workprec(_FIRST_BITS):
        return float((arb(a) - arb(b)).mid())


def distance(a: Ball, b: Ball) -> float:
    """Return the distance of two certain values."""
    return abs(signed_distance(a, b))


def as_floats(value: Ball) -> tuple[float, float]:
    """Return a certain value as the nearest float, and what the float lacks."""
    with context.workprec(_FIRST_BITS):
        middle = arb(value).mid()
        high = float(middle)
        return high, float(middle - arb(high)) if math.isfinite(high) else 0.0


def _is_certain(value: Ball) -> bool:
    if type(value) is not arb:
        return value is not None
    if value.rel_accuracy_bits() >= _RIGHT_BITS or value.is_zero():
        return True
    return bool(value.abs_upper() * _ZERO < 1)


def _function(n: Node) -> Callable[..., Ball] | None:
    from symgrad.checker.balls.gamma import polygamma  # for start-up time: most formulas lose no digits
    from symgrad.checker.balls.piecewise_ops import POINTWISE_OPS
    from symgrad.checker.balls.scalar_ops import number

    name = n.op.name
    if name == "polygamma":
        return partial(polygamma, int(n.params[0]))
    function = POINTWISE_OPS.get(name)
    if function is None or name in _LOGIC or not any(a.dtype == "bool" for a in n.args):
        return function
    conditions = 1 if name == "where" else 0
    of_truth_values = name == "where" and n.dtype == "bool"

    def with_numbers(*args: Ball) -> Ball:
        rest = args[conditions:]
        return function(*args[:conditions], *(rest if of_truth_values else map(number, rest)))

    return with_numbers


def _exact(value: Any) -> Ball:
    """Return a number as the checker writes it: a rational if it is short, otherwise a ball without a radius."""
    if isinstance(value, bool) or type(value) is np.bool_:
        return bool(value)
    if isinstance(value, int | Fraction):
        return rational(value)
    if abs(value) < 2.0**53 and value == math.floor(value):
        return fmpq(int(value))
    return arb(value)
