"""Witnesses against "a = b": a point at which two balls are disjoint, and the two values there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.checker.balls.entries import box
from symgrad.checker.balls.programs import EVERY_VARIABLE, context, evaluate, flint, in_domain
from symgrad.checker.balls.scalar_ops import Value, ball, number
from symgrad.checker.limits import POINT_DIGITS
from symgrad.checker.program.steps import ProofProgram

__all__ = [
    "Witness",
    "is_defined_around",
    "disjoint",
    "ball_text",
    "all_certain",
    "paired_entries",
    "distinct_texts",
    "distinct_values",
]

fmpq: Any = flint.fmpq
_DIGITS = 25
_BITS = 256


@dataclass(frozen=True, slots=True)
class Witness:
    """A point at which two values differ.

    Args:
        point: for every variable a Fraction, a truth value, or nested lists of them.
        sizes: the lengths of axes there.
        precision: bits at which the balls are disjoint.
        index: the entry of the arrays that differs; () for numbers.
        left, right: the two balls, as midpoint +/- radius; exact values as they are.
    """

    point: Mapping[str, Any]
    sizes: Mapping[str, int]
    precision: int
    index: tuple[int, ...]
    left: str
    right: str


def paired_entries(a: Any, b: Any) -> list[tuple[tuple[int, ...], Value, Value]]:
    """Return the entries of two values of one shape side by side, each with its index, where neither is unknown."""
    left, right = box(a), box(b)
    if left.shape != right.shape:
        return []
    both = ((i, number(left[i]), number(right[i])) for i in np.ndindex(left.shape))
    return [(i, x, y) for i, x, y in both if x is not None and y is not None]


def disjoint(x: Value, y: Value) -> bool:
    """Tell whether two values are certainly different numbers."""
    if type(x) is fmpq and type(y) is fmpq:
        return bool(x != y)
    x, y = ball(x), ball(y)
    return bool(x < y or x > y)


def ball_text(value: Value, digits: int = _DIGITS) -> str:
    """Return a value as text: ``[3.1416 +/- 7.4e-6]``, or as it is if it is exact and short."""
    if type(value) is fmpq and value.height_bits() <= 128:
        return str(value)
    return str(ball(value).str(digits))


def distinct_texts(x: Value, y: Value) -> tuple[str, str]:
    """Return two different values as text, with so many digits that it shows; else the second by its distance.

    Example:
        >>> distinct_texts(fmpq(1, 3) + fmpq(1, 10**300), fmpq(1, 3))
        ('[0.3333333333333333333333333 +/- 3.34e-26]', 'the first - [1.000000000000000000000000e-300 +/- 3e-329]')
    """
    with context.workprec(max(context.prec, 4 * POINT_DIGITS)):
        for digits in range(_DIGITS, POINT_DIGITS + 1, 5):
            texts, read = zip(_round_trip(x, digits), _round_trip(y, digits), strict=True)
            if disjoint(*read):
                return texts
        gap = y - x if type(x) is fmpq and type(y) is fmpq else ball(y) - ball(x)
        return ball_text(x), f"the first {'-' if gap < 0 else '+'} {ball(abs(gap)).str(_DIGITS)}"


def _round_trip(value: Value, digits: int) -> tuple[str, Value]:
    """Return a value as text, and what the text says."""
    text = ball_text(value, digits)
    return text, value if "." not in text and "[" not in text and "e" not in text else flint.arb(text)


def all_certain(values: Sequence[Any]) -> bool:
    """Tell whether every entry of every value is certain."""
    return all(v is not None for value in values for v in box(value).flat)


def is_defined_around(
    program: ProofProgram,
    wanted: Sequence[int],
    point: Mapping[str, Any],
    sizes: Mapping[str, int],
    deadline: float | None = None,
) -> bool:
    """Tell whether steps are certainly defined all around a point: no thin set has all such points near it.

    Raises:
        UsageError: if the point does not fit the program.
        TimeoutError: at the deadline.
    """
    found = evaluate(
        program, point, precision=_BITS, sizes=sizes, strict=EVERY_VARIABLE, wanted=wanted, deadline=deadline
    )
    return all_certain(found)


def distinct_values(
    program: ProofProgram,
    a: int,
    b: int,
    witness: Witness,
    *,
    strict: bool | str = False,
    plain: int | None = None,
    defined: Sequence[int] = (),
) -> tuple[str, str] | None:
    """Return the values of two steps at a witness, computed anew, as text; None if they may be equal there.

    Args:
        program: the steps.
        a: position of one value.
        b: position of the other.
        witness: what was found; its texts are not read.
        strict: see `symgrad.checker.balls.programs.evaluate`.
        plain: see there.
        defined: positions of further values that must be certain at the point; for a derivative, of the function.

    Raises:
        UsageError: if the point does not fit the program.
        TimeoutError: at the deadline of `symgrad.checker.clock`.

    Example:
        >>> from fractions import Fraction
        >>> from symgrad.checker.program.steps import ProofStep, Symbol
        >>> steps = (ProofStep("symbol", (), ("x",)), ProofStep("mul", (0, 0)), ProofStep("sqrt", (1,)))
        >>> program = ProofProgram(steps, (Symbol("x", "real", None, None),))
        >>> distinct_values(program, 0, 2, Witness({"x": Fraction(-1)}, {}, 64, (), "", ""))
        ('-1', '1')
        >>> distinct_values(program, 0, 2, Witness({"x": Fraction(1)}, {}, 64, (), "", "")) is None
        True
    """
    if not in_domain(program, witness.point, witness.sizes):
        return None
    left, right, *rest = evaluate(
        program,
        witness.point,
        precision=witness.precision,
        sizes=witness.sizes,
        strict=strict,
        plain=plain,
        wanted=[a, b, *defined],
    )
    if not all_certain(rest):
        return None
    with context.workprec(witness.precision):
        both = ((x, y) for i, x, y in paired_entries(left, right) if i == witness.index and disjoint(x, y))
        return next((distinct_texts(x, y) for x, y in both), None)
