"""Values of gradient code against the derivative: how far off, and what explains it.

An error is held against four others. What a change of the inputs in their last digit does to the derivative: no code
can be better. What the backward pass gives, operation by operation in floats: so much is lost where large terms cancel.
The same in single precision. And the error of the code at inputs that differ in their last digits: one that comes of
rounding jumps from each to the next (stochastic arithmetic tells them so, as in CADNA), a mistake stays what it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from symgrad.gradcode.calling import GradientCode
from symgrad.gradcode.limits import SLACK, STEADY
from symgrad.gradcode.reference import ExactDerivative, Values

__all__ = ["Level", "Measured", "compared"]

Level: TypeAlias = Literal["right", "single", "cancels", "near", "wrong", "kink", "not finite", "beyond"]
"""``near``: wrong, but by no more than single precision could be."""


_CLEARLY = 16.0  # roundings that need no explanation
_EPS = float(np.finfo(np.float64).eps)
_SINGLE = float(np.finfo(np.float32).eps)
_LEVELS: tuple[Level, ...] = ("right", "single", "cancels", "near", "wrong")
_WRONG = 4
_BLURRED = 1e-3  # of a derivative: what may be off by so much tells nothing
_MOVED = 1e-2  # of a derivative, by a last digit of single precision
_BESIDE = (3.0, -2.0, 7.0, -5.0)  # last digits by which neighbours differ
_STILL = 1e-18  # a change of a derivative between points that 1e-30 is between: more is a kink
_FAR = 1e6  # from here on values, or below its inverse, leave the range of floats soon


@dataclass(frozen=True, slots=True)
class Measured:
    """A gradient at a point.

    Args:
        level: the worst of its entries.
        point: the point.
        given: what the code gave.
        exact: the derivative, rounded.
        index: the entry that is worst.
        relative: how far that is off, relative to the derivative there.
        off: how far the worst entry is off.
        size: how large the largest entry of the derivative is.
        eps: one rounding, of what the code's values came as.
        sides: how the choices of the function come out.
        blurred: whether a change of the inputs in their last digits changes the derivative as much as it is large.
    """

    level: Level
    point: Values
    given: Any
    exact: Any
    index: tuple[int, ...] = ()
    relative: float = 0.0
    off: float = 0.0
    size: float = 0.0
    eps: float = _EPS
    sides: Mapping[str, Any] = field(default_factory=dict[str, Any])
    blurred: bool = False

    @property
    def informs(self) -> bool:
        """Whether much would be wrong there too: zero is right by chance, and of a blurred value nothing is known."""
        return bool(np.any(self.exact != 0)) and not self.blurred


def compared(
    backward: GradientCode,
    exact: ExactDerivative,
    point: Values,
    name: str,
    given: Any,
    dtype: np.dtype[Any],
    wanted: Any,
    count: int,
) -> Measured:
    """Compare what code gives at a point with the derivative there.

    Args:
        backward: the code, to be called beside the point.
        exact: the derivative.
        point: the point.
        name: by what it is differentiated.
        given: what the code gave.
        dtype: as what.
        wanted: the derivative, as exact numbers.
        count: how many of the values are arguments of f.
    """
    rounded = _floats(wanted)
    limits = np.finfo(dtype)
    off = _off(given, wanted)
    size = np.abs(rounded)
    fine = off <= _CLEARLY * float(limits.eps) * size + float(limits.tiny)
    if np.all(fine) and np.all(np.isfinite(rounded)):
        relative = np.divide(off, size, out=np.zeros_like(off), where=size > 0)
        worst = float(np.max(off, initial=0)), float(np.max(size, initial=0))
        most = float(np.max(relative, initial=0))
        return Measured("right", point, given, rounded, _worst(relative), most, *worst, float(limits.eps))
    rng = np.random.default_rng(0)
    beside = exact.nearby(point, name, rng)
    if beside is None or not np.all(np.isfinite(rounded)):
        return Measured("kink", point, given, rounded)
    moved = np.abs(_floats(beside - wanted))
    if np.any(moved > 1e-12 * (size + np.max(size, initial=0)) + _STILL):
        return Measured("kink", point, given, rounded)
    neighbours = [_moved(point, exact, h * float(limits.eps), rng) for h in _BESIDE]
    plain = exact.plainly(point)[name]
    bound = _off(plain, wanted)
    inherent = np.zeros_like(size)
    for other in neighbours:
        there = exact.at(other)
        if there is None:
            continue
        inherent = np.maximum(inherent, np.abs(_floats(there[name] - wanted)))
        bound = np.maximum(bound, _off(exact.plainly(other)[name], there[name]))
    bound = np.where(np.isnan(bound), np.inf, bound)
    if not np.all(np.isfinite(given)):
        index = _worst(~np.isfinite(given))
        lost = bool(np.any(~np.isfinite(bound[~np.isfinite(given)]))) or _is_far(point, rounded)
        return Measured("beyond" if lost else "not finite", point, given, rounded, index, np.inf)
    sides = exact.sides(point)
    coarse = float(limits.eps) / _EPS
    allowed = SLACK * (float(limits.eps) * size + inherent) + float(limits.tiny)
    blurred = bool(np.max(allowed, initial=0) > _BLURRED * np.max(size, initial=0))
    levels = np.where(off <= allowed, 0, _WRONG)
    levels = np.where((levels > 0) & (off <= SLACK * bound * coarse), 2, levels)
    if np.any(levels == _WRONG):
        fine_jumps = _jumps(backward, exact, name, neighbours, count)
        levels = np.where((levels == _WRONG) & fine_jumps, 2, levels)
    if np.any(levels == _WRONG) and limits.eps < _SINGLE:
        wide = [_moved(point, exact, h * _SINGLE, rng) for h in _BESIDE]
        single = off <= SLACK * (_SINGLE * size + inherent * (_SINGLE / _EPS))
        lost = off <= SLACK * bound * (_SINGLE / _EPS)
        # Where so small a change moves the derivative itself, errors differ from a point to the next anyway.
        still = inherent * (_SINGLE / _EPS) <= _MOVED * np.max(size, initial=0)
        jumps = _jumps(backward, exact, name, wide, count) & still
        levels = np.where((levels == _WRONG) & jumps & single, 1, levels)
        levels = np.where((levels == _WRONG) & jumps & lost, 2, levels)
        levels = np.where((levels == _WRONG) & single, 3, levels)
    relative = np.divide(off, size, out=np.full_like(off, np.inf), where=size > 0)
    relative = np.where(off == 0, 0, relative)
    index = _worst(np.where(levels == np.max(levels), relative, -1))
    level = _LEVELS[int(np.max(levels))]
    worst = float(np.max(off[levels == np.max(levels)])), float(np.max(size, initial=0))
    return Measured(
        level, point, given, rounded, index, float(relative[index]), *worst, float(limits.eps), sides, blurred
    )


def _floats(exact: Any) -> Any:
    """Return exact numbers as floats."""
    return np.asarray(exact, dtype=object).astype(np.float64)


def _off(given: Any, wanted: Any) -> Any:
    """Return the distances of floats from exact numbers; infinity for what is no finite number."""

    def one(a: float, b: Any) -> float:
        return float(abs(b - float(a))) if np.isfinite(a) else np.inf

    with np.errstate(all="ignore"):
        return np.asarray(np.frompyfunc(one, 2, 1)(given, wanted), dtype=np.float64)


def _worst(values: Any) -> tuple[int, ...]:
    array = np.asarray(values)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(array)), array.shape)) if array.size else ()


def _moved(point: Values, exact: ExactDerivative, step: float, rng: np.random.Generator) -> Values:
    """Return a point whose real entries differ from those of another in a last digit."""
    found = dict(point)
    for name, node in exact.inputs.items():
        if node.dtype == "real":
            value = np.asarray(point[name])
            near = (value * (1 + step * rng.choice([-1.0, 1.0, 2.0], value.shape))).astype(value.dtype)
            found[name] = near if near.shape else near[()]
    return found


def _jumps(
    backward: GradientCode, exact: ExactDerivative, name: str, points: Sequence[Values], count: int
) -> Any:
    """Tell for each entry whether the error of the code differs from a point to the next, as that of rounding does."""
    errors: list[Any] = []
    for point in points:
        there = exact.at(point)
        called = backward.at(point, {n: np.shape(point[n]) for n in exact.shapes}, count)
        if there is None or called.fault is not None:
            continue
        errors.append(np.frompyfunc(lambda a, b: float(b - float(a)), 2, 1)(called.values[name], there[name]))
    if len(errors) < 2:
        return np.zeros(np.shape(points[0][name]), dtype=bool)
    table = np.array(errors, dtype=np.float64)
    largest = np.max(np.abs(table), axis=0)
    with np.errstate(all="ignore"):
        return (np.max(table, axis=0) - np.min(table, axis=0)) > STEADY * largest


def _is_far(point: Values, derivative: Any) -> bool:
    """Tell whether a number at a point is so large or small that its powers leave the range of floats."""
    sizes = np.concatenate(
        [np.ravel(np.abs(np.asarray(v, dtype=np.float64))) for v in (*point.values(), derivative)]
    )
    sizes = sizes[sizes > 0]
    return bool(sizes.size) and bool(np.max(sizes) > _FAR or np.min(sizes) < 1 / _FAR)
