"""Compare values of gradient code with the derivative: the error, and its likely cause.

An error is held against four others. What a change of the inputs in their last digit does to the derivative: no code
can be better. What the backward pass gives, operation by operation in floats: so much is lost where large terms cancel.
The same in single precision. And the error of the code at inputs that differ in their last digits: one that comes of
rounding jumps from each to the next (stochastic arithmetic tells them so, as in CADNA), a mistake stays what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from symgrad.apps.gradcheck.gradient_code import CallResult, GradientCode
from symgrad.apps.gradcheck.limits import SLACK, STEADY
from symgrad.apps.gradcheck.reference import ExactDerivative, Values

__all__ = ["Level", "Measurement", "Neighbourhood", "compare_gradients"]

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
class Measurement:
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


class Neighbourhood:
    """Code and derivative in the neighbourhood of a point, computed once for all variables.

    Args:
        backward: the code, to be called beside the point.
        exact: the derivative.
        point: the point.
        count: how many of the values are arguments of f.
    """

    def __init__(self, backward: GradientCode, exact: ExactDerivative, point: Values, count: int) -> None:
        self._backward = backward
        self._exact = exact
        self._count = count
        self._beside: dict[float, list[_NearbyPoint]] = {}
        self.point = point

    @cached_property
    def nearby(self) -> dict[str, Any] | None:
        """The gradients so near that no float lies between."""
        return self._exact.nearby(self.point, np.random.default_rng(0))

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The gradients in floats, operation by operation."""
        return self._exact.plainly(self.point)

    @cached_property
    def sides(self) -> dict[str, Any]:
        """How the choices of the function come out."""
        return self._exact.sides(self.point)

    def beside(self, eps: float) -> list[_NearbyPoint]:
        """Return points whose entries differ in a last digit, which is worth so much, where there is a derivative."""
        if eps not in self._beside:
            rng = np.random.default_rng(1)
            moved = (_moved(self.point, self._exact, h * eps, rng) for h in _BESIDE)
            self._beside[eps] = [
                _NearbyPoint(p, there) for p in moved if (there := self._exact.at(p)) is not None
            ]
        return self._beside[eps]

    def bound(self, eps: float, name: str, wanted: Any) -> Any:
        """Return how far off a gradient is in floats, operation by operation, here and beside."""
        bound = _distances(self.plain[name], wanted)
        for other in self.beside(eps):
            if other.plain is None:
                other.plain = self._exact.plainly(other.point)
            bound = np.maximum(bound, _distances(other.plain[name], other.exact[name]))
        return np.where(np.isnan(bound), np.inf, bound)

    def jumps(self, eps: float, name: str) -> Any:
        """Tell for each entry whether the error of the code differs from a point to the next, as that of rounding."""
        errors: list[Any] = []
        for other in self.beside(eps):
            if other.called is None:
                shapes = {n: np.shape(other.point[n]) for n in self._exact.shapes}
                other.called = self._backward.at(other.point, shapes, self._count)
            if other.called.fault is None:
                given, there = other.called.values[name], other.exact[name]
                errors.append(np.frompyfunc(lambda a, b: float(b - float(a)), 2, 1)(given, there))
        if len(errors) < 2:
            return np.zeros(np.shape(self.point[name]), dtype=bool)
        table = np.array(errors, dtype=np.float64)
        largest = np.max(np.abs(table), axis=0)
        with np.errstate(all="ignore"):
            return (np.max(table, axis=0) - np.min(table, axis=0)) > STEADY * largest


@dataclass(slots=True)
class _NearbyPoint:
    """A nearby point, with the exact gradients, those in floats, and those of the code, computed lazily."""

    point: Values
    exact: Mapping[str, Any]
    plain: Mapping[str, Any] | None = None
    called: CallResult | None = None


def compare_gradients(
    around: Neighbourhood, name: str, given: Any, dtype: np.dtype[Any], wanted: Any
) -> Measurement:
    """Compare what code gives at a point with the derivative there.

    Args:
        around: the point, with what is known around it.
        name: by what it is differentiated.
        given: what the code gave.
        dtype: as what.
        wanted: the derivative, as exact numbers.
    """
    point = around.point
    rounded = _floats(wanted)
    limits = np.finfo(dtype)
    off = _distances(given, wanted)
    size = np.abs(rounded)
    fine = off <= _CLEARLY * float(limits.eps) * size + float(limits.tiny)
    if np.all(fine) and np.all(np.isfinite(rounded)):
        relative = np.divide(off, size, out=np.zeros_like(off), where=size > 0)
        worst = float(np.max(off, initial=0)), float(np.max(size, initial=0))
        most = float(np.max(relative, initial=0))
        return Measurement("right", point, given, rounded, _worst(relative), most, *worst, float(limits.eps))
    near = around.nearby
    if near is None or not np.all(np.isfinite(rounded)):
        return Measurement("kink", point, given, rounded)
    moved = np.abs(_floats(near[name] - wanted))
    if np.any(moved > 1e-12 * (size + np.max(size, initial=0)) + _STILL):
        return Measurement("kink", point, given, rounded)
    inherent = np.zeros_like(size)
    for other in around.beside(float(limits.eps)):
        inherent = np.maximum(inherent, np.abs(_floats(other.exact[name] - wanted)))
    bound = around.bound(float(limits.eps), name, wanted)
    if not np.all(np.isfinite(given)):
        index = _worst(~np.isfinite(given))
        lost = bool(np.any(~np.isfinite(bound[~np.isfinite(given)]))) or _is_far(point, rounded)
        return Measurement("beyond" if lost else "not finite", point, given, rounded, index, np.inf)
    coarse = float(limits.eps) / _EPS
    allowed = SLACK * (float(limits.eps) * size + inherent) + float(limits.tiny)
    blurred = bool(np.max(allowed, initial=0) > _BLURRED * np.max(size, initial=0))
    levels = np.where(off <= allowed, 0, _WRONG)
    levels = np.where((levels > 0) & (off <= SLACK * bound * coarse), 2, levels)
    if np.any(levels == _WRONG):
        levels = np.where((levels == _WRONG) & around.jumps(float(limits.eps), name), 2, levels)
    if np.any(levels == _WRONG) and limits.eps < _SINGLE:
        single = off <= SLACK * (_SINGLE * size + inherent * (_SINGLE / _EPS))
        lost = off <= SLACK * bound * (_SINGLE / _EPS)
        # Where so small a change moves the derivative itself, errors differ from a point to the next anyway.
        still = inherent * (_SINGLE / _EPS) <= _MOVED * np.max(size, initial=0)
        jumps = around.jumps(_SINGLE, name) & still
        levels = np.where((levels == _WRONG) & jumps & single, 1, levels)
        levels = np.where((levels == _WRONG) & jumps & lost, 2, levels)
        levels = np.where((levels == _WRONG) & single, 3, levels)
    relative = np.divide(off, size, out=np.full_like(off, np.inf), where=size > 0)
    relative = np.where(off == 0, 0, relative)
    index = _worst(np.where(levels == np.max(levels), relative, -1))
    level = _LEVELS[int(np.max(levels))]
    worst = float(np.max(off[levels == np.max(levels)])), float(np.max(size, initial=0))
    return Measurement(
        level,
        point,
        given,
        rounded,
        index,
        float(relative[index]),
        *worst,
        float(limits.eps),
        around.sides,
        blurred,
    )


def _floats(exact: Any) -> Any:
    """Return exact numbers as floats."""
    return np.asarray(exact, dtype=object).astype(np.float64)


def _distances(given: Any, wanted: Any) -> Any:
    """Return the distances of floats from exact numbers; infinity where a float is not finite."""

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


def _is_far(point: Values, derivative: Any) -> bool:
    """Tell whether a number at a point is so large or small that its powers leave the range of floats."""
    sizes = np.concatenate(
        [np.ravel(np.abs(np.asarray(v, dtype=np.float64))) for v in (*point.values(), derivative)]
    )
    sizes = sizes[sizes > 0]
    return bool(sizes.size) and bool(np.max(sizes) > _FAR or np.min(sizes) < 1 / _FAR)
