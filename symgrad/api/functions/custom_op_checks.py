"""Check the partial derivatives of a custom op against finite differences, at points of its domain."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath as typed_mpmath

from symgrad.ir.composite import CompositeFunction
from symgrad.ir.graph import Node
from symgrad.ir.op import Kink
from symgrad.ir.values.differences import Rounding, slope_of
from symgrad.ir.values.evaluate import evaluate, evaluate_mp, mp_context
from symgrad.ops.user_ops import OwnOp
from symgrad.support.errors import UnsupportedError, UsageError

mpmath: Any = typed_mpmath  # without annotations of its own

_DIGITS = 50
_TRIED, _WANTED, _LEAST = 120, 16, 3  # numbers of points: candidates, enough points, and the fewest points
_STABLE_DIGITS = 10  # number of digits that are the same on every machine
_STEP = 15  # number of digits of a step in exact numbers
_FAR = 100  # a partial this many errors away from a difference is wrong
_TELLS = 1e-2  # a difference with a larger relative error decides nothing
_AGREE = (1e-12, 1e-20)  # tolerance relative to the slope, and to the rounding error value/argument
_AGREE_IN_FLOATS = (1e-6, 1e-10)  # the same in floats
_SAME_VALUE = 1e-8
_CENTRES = (0.37, -0.61, 1.27, 2.71, -2.3, 0.083, 7.9, -11.3, 0.93)


def generic_points(count: int) -> list[tuple[Any, ...]]:
    """Return generic points of moderate size, the same in every run."""
    source = random.Random(7)
    found: list[tuple[Any, ...]] = []
    for k in range(_TRIED):
        row = (_CENTRES[(k + 3 * i) % len(_CENTRES)] for i in range(count))
        found.append(tuple(round(c * (1 + 0.3 * source.random()), 4) for c in row))
    return found


def check_partials(
    own: OwnOp,
    names: Sequence[str],
    points: Sequence[tuple[Any, ...]],
    partials: Sequence[tuple[Node, Sequence[Node]] | None],
    others: Sequence[tuple[str, Callable[..., Any]]],
    *,
    from_user: bool,
) -> str:
    """Compare partials with finite differences of the value, and other implementations with the value.

    Args:
        own: the op.
        names: the names of its arguments.
        points: sample points, as floats.
        partials: for each argument the partial with its symbols for the output and the arguments, or None.
        others: further implementations in floats, with their names in messages.
        from_user: whether the user chose the points; if so, all of them must lie in the domain.

    Returns:
        The values at these points as text, which identifies the function.

    Raises:
        UsageError: if values differ (the message has the point and both numbers), or if too few points have a value.
    """
    mp = mp_context(_DIGITS)
    values: list[str] = []
    rounding, checked = Rounding(), 0
    for point in points:
        at = tuple(mp.mpf(x) for x in point)
        value = own.op.reference(mp, *at)
        if not mp.isfinite(value):
            if from_user:
                raise UsageError(
                    f"'{own.op.name}' has no value at {_where(names, point)}",
                    expected="samples inside the domain",
                    cure="leave the sample out, or correct the value or the domain",
                )
            continue
        for called, other in others:
            _compare_values(own, names, point, value, called, float(other(*point)))
        decided = [
            _compare_derivatives(mp, own, names, at, point, i, partial, value, rounding)
            for i, partial in enumerate(partials)
            if partial is not None
        ]
        if from_user and not all(decided):
            raise UsageError(
                f"the partials of '{own.op.name}' cannot be checked at {_where(names, point)}: "
                "differences of its values converge to no slope there",
                expected="points with values on both sides, at distances over which the function changes little",
                cure="pass other points of its domain: samples=[(0.5,), (2,), ...]",
            )
        checked += all(decided)
        values.append(mpmath.nstr(value, _STABLE_DIGITS))
        if len(values) >= _WANTED and not from_user:
            break
    if len(values) < min(_LEAST, len(points)):
        raise UsageError(
            f"'{own.op.name}' has a value at {len(values)} of the {len(points)} points that were tried",
            expected=f"at least {_LEAST} points at which its partials can be checked",
            cure="pass some points of its domain: samples=[(0.5,), (2,), ...]",
        )
    if checked < min(_LEAST, len(points)):
        raise UsageError(
            f"the partials of '{own.op.name}' can be checked at {checked} of the {len(values)} points where it has a "
            "value: elsewhere differences of its values converge to no slope",
            expected=f"at least {_LEAST} points at which its partials can be checked",
            cure="pass some points of its domain: samples=[(0.5,), (2,), ...]",
        )
    return " ".join(values)


def _where(names: Sequence[str], point: Sequence[Any]) -> str:
    return ", ".join(f"{n} = {x}" for n, x in zip(names, point, strict=True))


def _compare_values(
    own: OwnOp, names: Sequence[str], point: Sequence[Any], value: Any, called: str, other: float
) -> None:
    if not abs(value - other) <= _SAME_VALUE * abs(value):
        raise UsageError(
            f"two values of '{own.op.name}' differ at {_where(names, point)}: "
            f"{mpmath.nstr(value, 15)}, and {other!r} by {called}",
            expected="one function",
            cure="correct one of them, or the domain",
        )


def _compare_derivatives(
    mp: Any,
    own: OwnOp,
    names: Sequence[str],
    at: tuple[Any, ...],
    point: Sequence[Any],
    i: int,
    partial: tuple[Node, Sequence[Node]],
    value: Any,
    rounding: Rounding,
) -> bool:
    """Tell whether finite differences determine the slope at a point; raise an error if the partial differs from it."""
    formula, symbols = partial
    try:
        (slope,) = evaluate_mp(mp, [formula], dict(zip(symbols, (value, *at), strict=True)))
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise UsageError(
            f"the partial of '{own.op.name}' with respect to '{names[i]}' has no value at "
            f"{_where(names, point)}: {error}"
        ) from None
    found = _difference(mp, own, at, i, rounding)
    if found is None:
        return False
    difference, far, (agree, noise) = found
    size = max(abs(slope), abs(difference)) if mp.isfinite(slope) else abs(difference)
    if far > _TELLS * size and (slope or difference):
        return False
    allowed = agree * size + noise * abs(value) / max(abs(at[i]), mp.mpf("0.1")) + far
    if not mp.isfinite(slope) or not abs(slope - difference) <= allowed:
        shown = range(9, _DIGITS)
        digits = next((d for d in shown if mpmath.nstr(slope, d) != mpmath.nstr(difference, d)), _DIGITS)
        raise UsageError(
            f"the partial of '{own.op.name}' with respect to '{names[i]}' is wrong at "
            f"{_where(names, point)}: the formula gives {mpmath.nstr(slope, digits)}, "
            f"differences of the value {mpmath.nstr(difference, digits)}",
            expected="the derivative of the value",
            cure="correct the partial; or the value, or the domain",
        )
    return True


def _difference(
    mp: Any, own: OwnOp, at: tuple[Any, ...], i: int, rounding: Rounding
) -> tuple[Any, Any, tuple[float, float]] | None:
    """Return a slope from finite differences in argument i, its error, and the tolerances; None if none converges."""

    def f(x: Any) -> Any:
        return own.op.reference(mp, *at[:i], x, *at[i + 1 :])

    if own.exact:
        size = abs(at[i])
        # The length scale of a function is taken to be about one, or proportional to its argument.
        for scale in dict.fromkeys((max(1, size), mp.mpf(1), size or mp.mpf(1))):
            steps = [mp.mpf(10) ** -k * scale for k in (_STEP, _STEP - 3)]
            first, second = (_central(f, at[i], h) for h in steps)
            # A reference may have only the precision of floats.
            if mp.isfinite(first) and abs(first - second) <= 1e-14 * max(1, abs(first)):
                return first, mp.mpf(0), _AGREE
    slope = slope_of(lambda x: float(f(mp.mpf(x))), float(at[i]), rounding)
    return None if slope is None else (mp.mpf(slope.value), _FAR * slope.error(rounding), _AGREE_IN_FLOATS)


def _central(f: Callable[[Any], Any], x: Any, h: Any) -> Any:
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def refuse(name: str, argument: str) -> Callable[..., Node]:
    """Return a partial that raises an error, for an argument without a partial."""

    def partial(*_: Node) -> Node:
        raise UnsupportedError(
            f"'{name}' was registered without a partial with respect to '{argument}'",
            expected="the variable of differentiation not to occur in this argument",
            cure="register the function with this partial, too, or put stop_gradient around the argument",
        )

    return partial


def in_floats(body: CompositeFunction) -> Callable[..., Any]:
    """Return a formula as a function of floats."""
    return lambda *point: evaluate([body.formula], dict(zip(body.variables, point, strict=True)))[0]


def check_kinks(
    kinks: Sequence[Kink],
    partials: Sequence[tuple[Node, Sequence[Node]] | None],
    reference: Callable[..., Any],
    name: str,
) -> None:
    """Compare the values of partials at kinks with the declared values.

    Raises:
        UsageError: if they differ.
    """
    mp = mp_context(15)
    for kink in kinks:
        at = [mp.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in kink.point]
        for partial_of, declared in zip(partials, kink.partials, strict=True):
            if partial_of is None:
                continue
            formula, symbols = partial_of
            (found,) = evaluate_mp(mp, [formula], dict(zip(symbols, (reference(mp, *at), *at), strict=True)))
            finite = bool(mp.isfinite(found))
            agrees = not finite if declared is None else finite and abs(found - declared) < 1e-12
            if not agrees:
                raise UsageError(
                    f"at {kink.where} a partial of '{name}' is {mpmath.nstr(found, 12)}, but the "
                    f"declared value is {declared}",
                    expected="the values of the partials there, or None for a value that is not a number",
                )
