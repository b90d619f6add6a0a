"""What a kernel of symgrad computes where the gradient of a framework, or of the program as written, is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.analysis.stop_gradient.checks.context import LintQuery
from symgrad.analysis.stop_gradient.checks.points import Batch

_CLOSE = 1e-6
"""The error of a gradient that is right, relative to its size or to 1."""


def kernel_text(query: LintQuery, point: Batch, exact: Sequence[Any] | None = None) -> str:
    """Say what gradients a kernel of symgrad computes at a point.

    Args:
        query: the program.
        point: the point, without an axis for points or with one of length 1.
        exact: the exact gradient with respect to each of wrt, or None where it is unknown.
    """
    found = query.points.evaluate(query.kernel_gradients, point)
    gradients = [np.ravel(np.asarray(g, dtype=float)) for g in found or [np.nan]]
    entries = np.concatenate(gradients)
    if np.isnan(entries).any():
        return "symgrad's gradient is NaN, too"
    if np.isinf(entries).any():
        return "symgrad's gradient is infinite"
    if exact is None:
        return f"symgrad's gradient is {'finite' if entries.any() else '0'}"
    right = (g is None or is_close(own, g) for own, g in zip(gradients, exact, strict=True))
    return f"symgrad's gradient is {'right' if all(right) else 'wrong, too'}"


def is_close(value: Any, exact: Any) -> bool:
    """Tell whether floats are close to exact numbers."""
    floats = np.ravel(np.asarray(value, dtype=float))
    numbers = np.ravel(np.asarray(exact, dtype=object)).astype(float)
    return bool(np.all(np.abs(floats - numbers) <= _CLOSE * (1 + np.abs(numbers))))
