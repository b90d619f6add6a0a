"""Compare values of gradient code with the derivative: the error, and its likely cause.

An error is compared with four others: the change of the derivative if the inputs change in their last digit (the best
that code can do); the error of the backward pass in floats (large where terms cancel); the same in single precision;
and the error of the code at nearby inputs. A rounding error jumps between nearby inputs, as in stochastic arithmetic
(CADNA); a mistake does not.
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

Level: TypeAlias = Literal["right", "single", "cancels", "near", "wrong", "kink", "not finite", "beyond"]
"""``near``: wrong, but by no more than single precision could be."""


_CLEARLY = 16.0  # roundings up to which a value is right without further tests
_EPS = float(np.finfo(np.float64).eps)
_SINGLE = float(np.finfo(np.float32).eps)
_LEVELS: tuple[Level, ...] = ("right", "single", "cancels", "near", "wrong")
_WRONG = 4
_BLURRED = 1e-3  # a derivative with this relative uncertainty proves no mistake
_MOVED = 1e-2  # the relative change of a derivative by a last digit of single precision
_BESIDE = (3.0, -2.0, 7.0, -5.0)  # the distances of neighbours, in last digits
_STILL = 1e-18  # the largest change of a smooth derivative between points at a distance of 1e-30
_FAR = 1e6  # the size from which, and below whose inverse, powers leave the range of floats


@dataclass(frozen=True, slots=True)
class Measurement:
    """A gradient at a point.

    Args:
        level: the worst level of the entries.
        point: the point.
        given: the values of the code.
        exact: the derivative, rounded.
        index: the index of the worst entry.
        relative: the relative error of the worst entry.
        off: the absolute error of the worst entry.
        size: the size of the largest entry of the derivative.
        eps: one rounding in the dtype of the code's values.
        sides: the truth of the conditions of the function.
        blurred: whether a change of the inputs in their last digits changes the derivative substantially.
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
        """Whether a mistake would be visible: a zero may be right by chance, and a blurred value is not known."""
        return bool(np.any(self.exact != 0)) and not self.blurred

    @property
    def worst_entry(self) -> tuple[float, float]:
        """The worst entry, of the code and of the derivative."""
        return float(np.asarray(self.given)[self.index]), float(np.asarray(self.exact)[self.index])


class Neighbourhood:
    """Code and derivative in the neighbourhood of a point, computed once for all variables.

    Args:
        backward: the code, which is called near the point.
        exact: the derivative.
        point: the point.
        count: the number of values that are arguments of f.
    """

    def __init__(self, backward: GradientCode, exact: ExactDerivative, point: Values, count: int) -> None:
        self._backward = backward
        self._exact = exact
        self._count = count
        self._beside: dict[float, list[_NearbyPoint]] = {}
        self.point = point

    @cached_property
    def nearby(self) -> dict[str, Any] | None:
        """The gradients at a point so near that no float lies between."""
        return self._exact.nearby(self.point, np.random.default_rng(0))

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The gradients in floats, operation by operation."""
        return self._exact.plainly(self.point)

    @cached_property
    def sides(self) -> dict[str, Any]:
        """The truth of the conditions of the function."""
        return self._exact.sides(self.point)

    def beside(self, eps: float) -> list[_NearbyPoint]:
        """Return neighbours at which there is a derivative; they differ by a few ``eps`` in every entry."""
        if eps not in self._beside:
            rng = np.random.default_rng(1)
            moved = (_moved(self.point, self._exact, h * eps, rng) for h in _BESIDE)
            self._beside[eps] = [
                _NearbyPoint(p, there) for p in moved if (there := self._exact.at(p)) is not None
            ]
        return self._beside[eps]

    def bound(self, eps: float, name: str, wanted: Any) -> Any:
        """Return the error of the backward pass in floats, the largest at the point and its neighbours."""
        bound = _distances(self.plain[name], wanted)
        for other in self.beside(eps):
            if other.plain is None:
                other.plain = self._exact.plainly(other.point)
            bound = np.maximum(bound, _distances(other.plain[name], other.exact[name]))
        return np.where(np.isnan(bound), np.inf, bound)

    def jumps(self, eps: float, name: str) -> Any:
        """Tell for each entry whether the error of the code varies between neighbours, as a rounding error does."""
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
    """Compare the value of code at a point with the derivative there.

    Args:
        around: the neighbourhood of the point.
        name: the variable of differentiation.
        given: the value of the code.
        dtype: the dtype of that value.
        wanted: the derivative, as exact numbers.
    """
    point = around.point
    rounded = _floats(wanted)
    eps, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny)
    off = _distances(given, wanted)
    size = np.abs(rounded)
    fine = off <= _CLEARLY * eps * size + tiny
    if np.all(fine) and np.all(np.isfinite(rounded)):
        relative = np.divide(off, size, out=np.zeros_like(off), where=size > 0)
        worst = float(np.max(off, initial=0)), float(np.max(size, initial=0))
        most = float(np.max(relative, initial=0))
        return Measurement("right", point, given, rounded, _worst(relative), most, *worst, eps)
    near = around.nearby
    if near is None or not np.all(np.isfinite(rounded)):
        return Measurement("kink", point, given, rounded)
    moved = np.abs(_floats(near[name] - wanted))
    if np.any(moved > 1e-12 * (size + np.max(size, initial=0)) + _STILL):
        return Measurement("kink", point, given, rounded)
    inherent = np.zeros_like(size)
    for other in around.beside(eps):
        inherent = np.maximum(inherent, np.abs(_floats(other.exact[name] - wanted)))
    bound = around.bound(eps, name, wanted)
    if not np.all(np.isfinite(given)):
        index = _worst(~np.isfinite(given))
        lost = bool(np.any(~np.isfinite(bound[~np.isfinite(given)]))) or _is_far(point, rounded)
        return Measurement("beyond" if lost else "not finite", point, given, rounded, index, np.inf)
    coarse = eps / _EPS
    allowed = SLACK * (eps * size + inherent) + tiny
    blurred = bool(np.max(allowed, initial=0) > _BLURRED * np.max(size, initial=0))
    levels = np.where(off <= allowed, 0, _WRONG)
    levels = np.where((levels > 0) & (off <= SLACK * bound * coarse), 2, levels)
    if np.any(levels == _WRONG):
        levels = np.where((levels == _WRONG) & around.jumps(eps, name), 2, levels)
    if np.any(levels == _WRONG) and eps < _SINGLE:
        single = off <= SLACK * (_SINGLE * size + inherent * (_SINGLE / _EPS))
        lost = off <= SLACK * bound * (_SINGLE / _EPS)
        # Where so small a change moves the derivative itself, every error varies between neighbours.
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
    most = float(relative[index])
    return Measurement(level, point, given, rounded, index, most, *worst, eps, around.sides, blurred)


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
