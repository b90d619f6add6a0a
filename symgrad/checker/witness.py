"""Witnesses against "a = b": a point at which the balls of the two sides are disjoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.checker.balls.entries import box
from symgrad.checker.balls.programs import EVERY_VARIABLE, evaluate, in_domain
from symgrad.checker.balls.scalar_ops import Value, ball, number
from symgrad.checker.limits import POINT_DIGITS
from symgrad.checker.numbers import arb, context, fmpq
from symgrad.checker.program.equality import Equality

_DIGITS = 25
_BITS = 256


@dataclass(frozen=True, slots=True)
class Witness:
    """A point at which two values differ.

    Args:
        point: for every variable a Fraction, a truth value, or nested lists of these.
        sizes: the lengths of the axes.
        precision: bits of the balls.
        index: the index of the entry that differs; () for numbers.
        left, right: the two balls, written as midpoint +/- radius, or the exact values.
    """

    point: Mapping[str, Any]
    sizes: Mapping[str, int]
    precision: int
    index: tuple[int, ...]
    left: str
    right: str


def paired_entries(a: Any, b: Any) -> list[tuple[tuple[int, ...], Value, Value]]:
    """Return the pairs of entries of two values of the same shape, each with its index.

    Leave out pairs with an unknown entry.
    """
    left, right = box(a), box(b)
    if left.shape != right.shape:
        return []
    both = ((i, number(left[i]), number(right[i])) for i in np.ndindex(left.shape))
    return [(i, x, y) for i, x, y in both if x is not None and y is not None]


def disjoint(x: Value, y: Value) -> bool:
    """Tell whether two values are certainly different: different rationals, or disjoint balls."""
    if type(x) is fmpq and type(y) is fmpq:
        return bool(x != y)
    x, y = ball(x), ball(y)
    return bool(x < y or x > y)


def ball_text(value: Value, digits: int = _DIGITS) -> str:
    """Return a value as text: ``[3.1416 +/- 7.4e-6]``, or the exact number if it is short."""
    if type(value) is fmpq and value.height_bits() <= 128:
        return str(value)
    return str(ball(value).str(digits))


def distinct_texts(x: Value, y: Value) -> tuple[str, str]:
    """Return two different values as texts that differ; if that takes too many digits, the second text is a distance.

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
    """Return a value as text, and the number that the text represents."""
    text = ball_text(value, digits)
    return text, value if "." not in text and "[" not in text and "e" not in text else arb(text)


def all_certain(values: Sequence[Any]) -> bool:
    """Tell whether every entry of every value is certain."""
    return all(v is not None for value in values for v in box(value).flat)


def is_defined_around(claim: Equality, point: Mapping[str, Any], sizes: Mapping[str, int]) -> bool:
    """Tell whether the steps of a claim are certainly defined around a point; a thin set contains no neighbourhood.

    Raises:
        UsageError: if the point does not fit the program.
        TimeoutError: at the deadline of `symgrad.checker.clock`.
    """
    return all_certain(
        evaluate(
            claim.program,
            point,
            precision=_BITS,
            sizes=sizes,
            strict=EVERY_VARIABLE,
            wanted=claim.positions,
        )
    )


def certain_entries(
    claim: Equality,
    point: Mapping[str, Any],
    sizes: Mapping[str, int],
    *,
    precision: int,
    deadline: float | None = None,
) -> list[tuple[tuple[int, ...], Value, Value]]:
    """Return the entries of both sides of a claim that are certain at a point, each pair with its index.

    There are none if a further step of the claim is not certain.

    Args:
        claim: the claim.
        point: values of the variables, in their domains.
        sizes: the lengths of the axes.
        precision: bits of the balls.
        deadline: on the clock of `symgrad.checker.clock`.

    Raises:
        UsageError: if the point does not fit the program.
        TimeoutError: at the deadline.
    """
    left, right, *rest = evaluate(
        claim.program,
        point,
        precision=precision,
        sizes=sizes,
        strict=claim.strict,
        plain=claim.plain,
        wanted=claim.positions,
        deadline=deadline,
    )
    return paired_entries(left, right) if all_certain(rest) else []


def distinct_values(claim: Equality, witness: Witness) -> tuple[str, str] | None:
    """Recompute the values of both sides at a witness, and return them as texts; None if they may be equal there.

    Args:
        claim: the claim that the sides are equal.
        witness: the point; the texts in it are not read.

    Raises:
        UsageError: if the point does not fit the program.
        TimeoutError: at the deadline of `symgrad.checker.clock`.

    Example:
        >>> from fractions import Fraction
        >>> from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
        >>> steps = (ProofStep("symbol", (), ("x",)), ProofStep("mul", (0, 0)), ProofStep("sqrt", (1,)))
        >>> claim = Equality(ProofProgram(steps, (Symbol("x", "real", None, None),)), 0, 2)
        >>> distinct_values(claim, Witness({"x": Fraction(-1)}, {}, 64, (), "", ""))
        ('-1', '1')
        >>> distinct_values(claim, Witness({"x": Fraction(1)}, {}, 64, (), "", "")) is None
        True
    """
    if not in_domain(claim.program, witness.point, witness.sizes):
        return None
    found = certain_entries(claim, witness.point, witness.sizes, precision=witness.precision)
    with context.workprec(witness.precision):
        both = ((x, y) for i, x, y in found if i == witness.index and disjoint(x, y))
        return next((distinct_texts(x, y) for x, y in both), None)
