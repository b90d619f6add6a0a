"""The result of a search for a moment: a formula or a numerical method, with its conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from symgrad.analysis.explain.noise.sample_points import converted
from symgrad.checker.balls.scalar_ops import ball
from symgrad.checker.witness import all_certain
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.values.evaluate import evaluate
from symgrad.rewrite.choice.certain_values import ball_values, exact_ball

How = Literal["closed form", "quadrature", "monte carlo", "none"]
NONE: How = "none"

_BITS = (100, 200, 400, 800)
_ENTRIES = 500  # number of entries of the largest array that is computed with more digits


@dataclass(frozen=True, slots=True)
class Estimate:
    """A moment at numbers.

    Args:
        value: a float or an array; NaN if there is no moment.
        low: the lower end of the interval of the moment. For a closed form the interval covers rounding; for
            quadrature, the difference of two orders; for Monte Carlo, a confidence of 99 %.
        high: the upper end of the interval.
        how: the method.
        notes: doubts about the value, or the reason why there is no moment.
    """

    value: Any
    low: Any
    high: Any
    how: How
    notes: tuple[str, ...] = ()


Further = Callable[[Mapping[Node, Any], Mapping[str, int] | None], Estimate]


@dataclass(frozen=True, slots=True)
class Moment:
    """An expectation, a variance or a covariance.

    Args:
        how: the method: a closed form, Gauss quadrature or Monte Carlo; ``none`` if there is provably no moment.
        node: the closed form or the quadrature, in the remaining symbols; None if there is no expression.
        reason: why there is no moment.
        notes: the conditions of the formula, in words.
        conditions: the conditions of a closed form: nodes of kind bool, each with whether there is no moment if the
            node is false.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.analysis.expectations.expectation import expectation
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("t : real; u ~ Exponential(2); y = exp(t*u)")
        >>> (m,) = expectation([p["y"]], [p["u"]])
        >>> str_text(m.node), m.how, m.notes
        ('2/(2 - t)', 'closed form', ('only where 1 - t/2 > 0: elsewhere there is none',))
        >>> print(m.at({p["t"]: 1}).value, m.at({p["t"]: 3}).how)
        2.0 none
    """

    how: How
    node: Node | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    conditions: Mapping[Node, bool] = field(default_factory=dict[Node, bool])
    _further: Further | None = None

    @property
    def formula(self) -> Node | None:
        """The closed form; None if there is none."""
        return self.node if self.how == "closed form" else None

    def at(self, values: Mapping[Node, Any], sizes: Mapping[str, int] | None = None) -> Estimate:
        """Compute the moment at numbers.

        Args:
            values: a number or array for every remaining symbol.
            sizes: the values of named sizes that are not the length of an axis in ``values``.

        Raises:
            MissingInputError: if a symbol has no value.
        """
        if self.how == "none":
            return _nothing(self.reason)
        rounded = {s: _rounded(v) for s, v in values.items()}
        if self.how != "closed form":
            assert self._further is not None
            return self._further(rounded, sizes)
        for condition, exists in self.conditions.items():
            if not np.all(evaluate([condition], rounded, sizes)[0]):
                if exists:
                    return _nothing(f"there is none where {expression_text(condition)} does not hold")
                if self._further is not None:
                    return self._further(rounded, sizes)
        assert self.node is not None
        value, error = _computed(self.node, values, sizes)
        if not np.all(np.isfinite(value)) and self._further is not None:
            return self._further(rounded, sizes)
        return Estimate(value, value - error, value + error, "closed form")


def _nothing(reason: str) -> Estimate:
    nan = float("nan")
    return Estimate(nan, nan, nan, NONE, (reason,))


def _computed(node: Node, values: Mapping[Node, Any], sizes: Mapping[str, int] | None) -> tuple[Any, Any]:
    """Return the value of a formula and a bound on its error; more digits are used until cancellation does no harm."""
    rough = evaluate([node], {s: _rounded(v) for s, v in values.items()}, sizes)[0]
    if max(map(np.size, (rough, *values.values()))) > _ENTRIES:
        return rough, 1e-9 * np.abs(rough)
    value, error = rough, 1e-9 * np.abs(rough)
    given = {s: exact_ball(np.asarray(v, dtype=object) if np.ndim(v) else v) for s, v in values.items()}
    for bits in _BITS:
        found = converted(ball_values([node], given, bits, sizes)[node], ball)
        if not all_certain([found]):
            continue
        value = np.asarray(found, dtype=float)[()]
        error = np.asarray(converted(found, lambda x: x.rad()), dtype=float)[()] + 2.0**-52 * np.abs(value)
        if np.all(error <= 1e-14 * np.abs(value)):
            break
    return value, error


def _rounded(value: Any) -> Any:
    """Convert numbers to floats; truth values stay as they are."""
    array = np.asarray(value)
    return array if array.dtype == bool else array.astype(float)[()]
