"""Enclose exact values at sample points in extended precision, which settles most questions without mpmath.

An enclosure is a value and a bound on its distance to the exact value. It is known at a point only if this bound is
small: then no digits have cancelled, nothing overflowed, and the exact value surely exists. At other points, and
between the ends of an enclosure, exact values decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgrad.ir.graph import CONSTANT, NUMBER, Node
from symgrad.ir.traverse import topological

Enclosed = tuple[Any, Any]
"""Values, and bounds on their errors, which are infinite where nothing is known."""

_UNIT = 1.001 * 2.0**-64  # relative error of an operation with 64 bits, including the arithmetic on bounds
_FUNCTION = 2.0**-60  # relative error of a function: eight ulps, while functions of C have at most three
_LITTLE = 2.0**-20  # largest relative error: values with a larger error count as unknown
_FIRST_ORDER = 1.001  # factor for terms of second order in such small errors
_LARGE = 2.0**20  # size of the largest arguments of functions
_TINY, _HUGE = np.longdouble(2) ** -16000, np.longdouble(2) ** 16000
_NORMAL = 2.0**-1000
_SLACK = 1e-9  # error of the arithmetic on bits
WORST_BITS = 64.0  # wrong bits of a value that is NaN or infinite


def _sum(a: Any, e: Any, b: Any, f: Any) -> Enclosed:
    total = a + b
    error = e + f + _UNIT * np.abs(total)
    if np.all(total):
        return total, error
    # A sum that vanishes has no known digits.
    return total, np.where((total == 0) & ((a != 0) | (b != 0)), np.inf, error)


def _product(a: Any, e: Any, b: Any, f: Any) -> Enclosed:
    found = a * b
    return found, np.abs(a) * f + (np.abs(b) + f) * e + _UNIT * np.abs(found)


def _quotient(a: Any, e: Any, b: Any, f: Any) -> Enclosed:
    found = a / b
    return found, (e + np.abs(found) * f) / (np.abs(b) - f) + _UNIT * np.abs(found)


def _power(a: Any, e: Any, b: Any, f: Any) -> Enclosed:
    whole = (f == 0) & (b == np.rint(b))
    found = np.power(a, b)
    relative = _FIRST_ORDER * (np.abs(b) * e / np.abs(a) + np.abs(np.log(np.abs(a))) * f) + _FUNCTION
    there = ((a > 0) | ((a < 0) & whole)) & (np.abs(b) < _LARGE) & (relative < _LITTLE)
    return found, np.where(there, np.abs(found) * relative, np.inf)


def _negative(a: Any, e: Any) -> Enclosed:
    return -a, e


def _absolute(a: Any, e: Any) -> Enclosed:
    return np.abs(a), e


def _same(a: Any, e: Any) -> Enclosed:
    return a, e


def _root(a: Any, e: Any) -> Enclosed:
    found = np.sqrt(a)
    return found, np.where(a > 0, found * (e / a + _UNIT), np.where((a == 0) & (e == 0), 0.0, np.inf))


def _cube_root(a: Any, e: Any) -> Enclosed:
    found = np.cbrt(a)
    return found, np.where(a > 0, found * (e / a + _FUNCTION), np.inf)


def _exp(a: Any, e: Any) -> Enclosed:
    found = np.exp(a)
    return found, _within(a, e, found * (_FIRST_ORDER * e + _FUNCTION))


def _expm1(a: Any, e: Any) -> Enclosed:
    found = np.expm1(a)
    return found, _within(a, e, _FIRST_ORDER * (np.abs(found) + 1) * e + _FUNCTION * np.abs(found))


def _within(a: Any, e: Any, error: Any) -> Any:
    return np.where((np.abs(a) < _LARGE) & (e < _LITTLE), error, np.inf)


def _log(a: Any, e: Any) -> Enclosed:
    found = np.log(a)
    return found, np.where(a > 0, _FIRST_ORDER * e / a + _FUNCTION * np.abs(found), np.inf)


def _log1p(a: Any, e: Any) -> Enclosed:
    found = np.log1p(a)
    error = _FIRST_ORDER * e / (1 + a) + _FUNCTION * np.abs(found)
    return found, np.where((a > -0.99) & (e < _LITTLE * (1 + a)), error, np.inf)


def _bounded_slope(function: Any) -> Callable[[Any, Any], Enclosed]:
    """Return the enclosure of a function with a slope of at most one."""

    def enclosed(a: Any, e: Any) -> Enclosed:
        found = function(a)
        return found, _within(a, e, _FIRST_ORDER * e + _FUNCTION * np.abs(found))

    return enclosed


_ENCLOSED: Mapping[str, Callable[..., Enclosed]] = {
    "add": _sum,
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "neg": _negative,
    "abs": _absolute,
    "stop_gradient": _same,
    "sqrt": _root,
    "cbrt": _cube_root,
    "exp": _exp,
    "expm1": _expm1,
    "log": _log,
    "log1p": _log1p,
    "sin": _bounded_slope(np.sin),
    "cos": _bounded_slope(np.cos),
    "tanh": _bounded_slope(np.tanh),
    "atan": _bounded_slope(np.arctan),
}


class Enclosures:
    """Enclosures of nodes at points, each computed once.

    Args:
        wide: returns the value of a number or constant in extended precision.
        count: the number of points.
    """

    def __init__(self, wide: Callable[[Node], Any], count: int) -> None:
        self._wide, self._count = wide, count
        self._found: dict[Node, Enclosed] = {}
        self._bits: dict[tuple[Node, Node], tuple[Any, Any]] = {}

    def take(self, leaf: Node, floats: Any) -> None:
        """Set the values of a leaf, which are exact."""
        known = (floats.astype(np.longdouble), np.longdouble(0))
        self._found[leaf] = _UNKNOWN if floats.dtype == np.bool_ else known

    def of(self, node: Node) -> Enclosed:
        """Return the enclosure of a node."""
        found = self._found
        if node not in found:
            with np.errstate(all="ignore"):
                for n in topological([node], until=found):
                    if n not in found:
                        found[n] = self._of(n)
        return found[node]

    def known(self, node: Node) -> Any:
        """Return a mask of the points at which a node is known."""
        return np.broadcast_to(np.isfinite(self.of(node)[1]), (self._count,))

    def bits(self, floats: Any, node: Node, target: Node) -> tuple[Any, Any]:
        """Return bounds on the number of wrong bits in the floats of a form of a target, NaN where unknown."""
        if (node, target) not in self._bits:
            with np.errstate(all="ignore"):
                self._bits[node, target] = self._bits_of(floats, target)
        return self._bits[node, target]

    def _bits_of(self, floats: Any, target: Node) -> tuple[Any, Any]:
        shape = (self._count,)
        value, error = self.of(target)
        size = np.abs(value)
        # The unit in the last place belongs to the rounded exact value, so both ends must have the same one.
        low, high = ((size + k * error).astype(np.float64) for k in (-1, 1))
        ulp = np.spacing(high)
        sure = np.isfinite(error) & (low > _NORMAL) & np.isfinite(ulp) & (np.spacing(low) == ulp)
        away = np.abs(floats - value)
        error = error + _UNIT * away
        ends = [np.maximum(away + k * error, 0) / ulp for k in (-1, 1)]
        found: list[Any] = []
        for ulps, slack in zip(ends, (-_SLACK, _SLACK), strict=True):
            bits = np.minimum(np.log2(1 + ulps).astype(np.float64) + slack, WORST_BITS)
            bits = np.where(np.isfinite(floats), bits, WORST_BITS)
            found.append(np.broadcast_to(np.where(sure, bits, np.nan), shape))
        return found[0], found[1]

    def _of(self, n: Node) -> Enclosed:
        if n.op is NUMBER or n.op is CONSTANT:
            if isinstance(n.value if n.op is NUMBER else None, bool):
                return _UNKNOWN
            value = self._wide(n)
            small = n.op is NUMBER and n.value.denominator == 1 and abs(n.value.numerator) < 2**53
            return value, np.longdouble(0) if small else np.abs(value) * (4 * _UNIT)
        rule = _ENCLOSED.get(n.op.name)
        if rule is None:
            return _UNKNOWN
        value, error = rule(*(part for a in n.args for part in self._found[a]))
        size = np.abs(value)
        known = (error <= _LITTLE * size) & (size > _TINY) & (size < _HUGE)
        if not np.all(value):
            # A zero must be exact: it follows from exact zeros, not from underflow.
            zero = (value == 0) & (error == 0)
            if n.op.name in ("mul", "div"):
                first, second = (self._found[a][0] for a in n.args)
                zero &= (first == 0) | (second == 0)
            elif n.op.name in ("exp", "pow"):
                zero = False
            known |= zero
        return value, np.where(known, error, np.inf)


_UNKNOWN: Enclosed = (np.longdouble(np.nan), np.longdouble(np.inf))
