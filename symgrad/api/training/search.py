"""Run SciPy's search on a normalised loss, and restart it below saddle points and maxima."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.api.limits import CURVED_VARIABLES, MINIMUM_ROUNDS
from symgrad.api.training.flat_loss import FlatLoss
from symgrad.api.training.scipy_methods import BOUNDED, READS
from symgrad.api.training.stationary_points import EndPoint, Established, Landscape, classify_end
from symgrad.api.training.variables import has_end
from symgrad.ir.exact import float_of
from symgrad.ir.types import Domain
from symgrad.support.errors import SymgradError
from symgrad.support.progress import Work, reports_progress

Vector: TypeAlias = "np.ndarray[Any, Any]"

_MEANINGS: Mapping[Established, str] = {
    "minimum": "the gradient is zero to rounding or to twelve digits of the loss, and every curvature is positive",
    "no lower value": "no lower value was found beside it, and not every curvature is known to be positive",
    "stationary": "with constraints, that is SciPy's own test: curvatures are not looked at",
    "saddle": "the loss falls along a direction of negative curvature",
    "maximum": "the curvature is negative in every direction",
    "nothing": "the loss still falls",
}


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """The end of a search.

    Args:
        place: the point and its classification.
        message: SciPy's reason for stopping, and the classification.
        scipy: SciPy's result, in the unit of the loss.
    """

    place: EndPoint
    message: str
    scipy: Any


def search_minimum(
    problem: FlatLoss, domains: Sequence[Domain], method: str, options: Mapping[str, Any]
) -> SearchEnd:
    """Search for a minimum.

    SciPy's tolerances and first steps are absolute, so the loss is divided by the size of its gradient at the start.
    Newton's steps and the curvature classify the point at which SciPy stops. After a saddle point or a maximum, the
    search starts again from a lower point.

    Args:
        problem: the loss.
        domains: the domain of each variable.
        method: a method of SciPy.
        options: the user's options for SciPy.
    """
    start = np.concatenate([np.ravel(v) for v in problem.start]).astype(float)
    ends = [_bounds(d, v) for d, v in zip(domains, problem.start, strict=True)]
    low, high = (np.concatenate([np.ravel(e[k]) for e in ends]) for k in range(2))
    both = problem.value_and_gradient()
    try:
        product = problem.hessian_product()
    except SymgradError:  # a custom op without a second derivative
        product = None
    landscape = Landscape(both, product, low, high, start, both(start)[0])
    bounded = method in BOUNDED and any(map(has_end, domains))
    arguments = dict(options)
    if bounded:
        arguments["bounds"] = _scipy().Bounds(low, high)
    trusted, constrained = _has_tolerance(options), bool(options.get("constraints"))
    with reports_progress("training", f"minimising by {method}") as work:
        runner = _Runner(problem, both, product, method, arguments, work)
        x = start
        if not constrained and not both(start)[1].any():
            # SciPy's methods stop at once at a stationary start.
            x = classify_end(landscape, start, go_on=True, trusted=trusted).x
        rounds = MINIMUM_ROUNDS if len(x) <= CURVED_VARIABLES else MINIMUM_ROUNDS // 4
        while True:
            result, rounds = runner.run(x), rounds - 1
            end = np.asarray(result.x, dtype=float)
            if constrained:
                place = EndPoint(end, *both(end), "stationary" if result.success else "nothing")
                break
            stopped = not result.success and _was_stopped(str(result.message))
            place = classify_end(landscape, end, go_on=not stopped, trusted=trusted and bool(result.success))
            x = place.x
            if not place.lower or np.array_equal(end, x) or not rounds:
                break
    result = runner.total(result, place)
    message = f"{str(result.message).rstrip('. ')}; {_MEANINGS[place.established]}"
    return SearchEnd(place, message, result)


class _Runner:
    """Runs SciPy's search on the loss divided by its unit, and adds up the counts of several runs."""

    _COUNTS: tuple[str, ...] = ("nit", "nfev", "njev", "nhev")

    def __init__(
        self,
        problem: FlatLoss,
        both: Callable[[Vector], tuple[float, Vector]],
        product: Callable[[Vector, Vector], Vector] | None,
        method: str,
        options: Mapping[str, Any],
        work: Work,
    ) -> None:
        self._both, self._method, self._options, self._work = both, method, dict(options), work
        self._limits = dict(cast("Mapping[str, Any]", options.get("options") or {}))
        self._reads = READS[method]
        self._value = problem.value() if self._reads == "value" else None
        self._product = product if self._reads == "hvp" and product is not None else None
        if self._reads == "hvp" and product is None:
            self._product = problem.hessian_product()  # the error has the reason
        self._hessian = problem.hessian() if self._reads == "hessian" else None
        self._counts = dict.fromkeys(self._COUNTS, 0)
        self._unit = 1.0

    def run(self, x: Vector) -> Any:
        """Return SciPy's result from a start, in the unit of the loss."""
        unit = self._unit = _unit(*self._both(x))
        arguments: dict[str, Any] = dict(self._options)
        if self._limits:
            arguments["options"] = self._left()
        if "callback" in arguments:
            arguments["callback"] = _in_unit(arguments["callback"], unit)
        if self._reads != "value":
            arguments["jac"] = True
        if self._product is not None:
            arguments["hessp"] = _over(self._product, unit)
        if self._hessian is not None:
            arguments["hess"] = _over(self._hessian, unit)

        def function(flat: Any) -> Any:
            work = self._work
            work.advance(lambda: f"{work.done:,} evaluations")
            if self._value is not None:
                return self._value(flat) / unit
            value, slope = self._both(flat)
            return value / unit, slope / unit

        with np.errstate(over="ignore", invalid="ignore"):  # for a loss without a lower limit
            result: Any = _scipy().minimize(function, x, method=self._method, **arguments)
        for name in self._COUNTS:
            self._counts[name] += int(result.get(name) or 0)
        return result

    def total(self, result: Any, place: EndPoint) -> Any:
        """Return the last result with the counts of all runs and the final point."""
        for name in self._COUNTS:
            if result.get(name) is not None:
                result[name] = self._counts[name]
        for name, power in _IN_UNITS.items():
            if result.get(name) is not None:
                result[name] = _times(result[name], self._unit**power)
        if result.get("final_simplex") is not None:
            points, values = result["final_simplex"]
            result["final_simplex"] = (points, values * self._unit)
        result.x, result.fun = place.x, place.value
        if self._reads != "value":
            result.jac = place.slope
        return result

    def _left(self) -> dict[str, Any]:
        """Return the user's options for SciPy, with limits reduced by the counts of earlier runs."""
        found = dict(self._limits)
        for name, taken in (("maxiter", "nit"), ("maxfun", "nfev"), ("maxfev", "nfev")):
            if isinstance(found.get(name), int):
                found[name] = max(1, found[name] - self._counts[taken])
        return found


_IN_UNITS = {"grad": 1, "hess": 1, "lagrangian_grad": 1, "multipliers": 1, "v": 1, "hess_inv": -1}
"""The powers of the unit of the loss in SciPy's results."""


def _over(function: Callable[..., Any], unit: float) -> Callable[..., Any]:
    return lambda *values: function(*values) / unit


def _times(found: Any, unit: float) -> Any:
    return (
        [_times(part, unit) for part in cast("list[Any]", found)] if isinstance(found, list) else found * unit
    )


def _unit(value: float, slope: Vector) -> float:
    """Return a power of two near the size of the gradient, or near the loss if the gradient is zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = (float(np.linalg.norm(slope)), abs(value))
    for size in sizes:
        if np.isfinite(size) and size > 0:
            # Products and quotients with this power of two are exact.
            return float(np.ldexp(1.0, int(np.clip(np.frexp(size)[1], -1000, 1000))))
    return 1.0


def _in_unit(callback: Any, unit: float) -> Any:
    """Wrap a callback so that it gets the loss in its own unit; SciPy passes a result to an argument with this name."""
    try:
        whole = set(inspect.signature(callback).parameters) == {"intermediate_result"}
    except (TypeError, ValueError):
        whole = False
    if not whole:
        return callback

    def called(intermediate_result: Any) -> Any:
        intermediate_result.fun = intermediate_result.fun * unit
        return callback(intermediate_result=intermediate_result)

    return called


def _has_tolerance(options: Mapping[str, Any]) -> bool:
    """Tell whether the user set a tolerance."""
    limits = cast("Mapping[str, Any]", options.get("options") or {})
    return options.get("tol") is not None or any("tol" in name or name == "eps" for name in limits)


def _was_stopped(message: str) -> bool:
    """Tell whether a limit or a callback ended a search, which must then stop completely."""
    message = message.lower()
    return any(word in message for word in ("max", "limit", "callback"))


def _scipy() -> Any:
    from scipy import optimize  # it starts slowly

    return cast("Any", optimize)


def _bounds(domain: Domain, start: Any) -> tuple[Any, Any]:
    """Return the bounds of every entry.

    The float next to the end of an open domain is not used as a bound, because log and 1/x have slopes of 1e308 there,
    and line searches fail (L-BFGS-B stops and reports success).
    """
    start = np.asarray(start)
    low, high = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    epsilon = 0.0 if domain.closed else float(np.finfo(float).eps)
    first, last = domain.span
    if first is not None:
        end = float_of(first)
        low = end + epsilon * np.minimum(1, start - end)
        low = low if domain.closed else np.maximum(low, np.nextafter(end, np.inf))
    if last is not None:
        end = float_of(last)
        high = end - epsilon * np.minimum(1, end - start)
        high = high if domain.closed else np.minimum(high, np.nextafter(end, -np.inf))
    return low, high
