"""Short texts of values."""

from __future__ import annotations

from typing import Any

import numpy as np

_ENTRIES = 6
"""How many entries of an array its text shows."""


def short_value(value: Any) -> str:
    """Return a number with six digits, and an array as its shape and its first entries.

    Example:
        >>> short_value(2/3), short_value(np.arange(8.0).reshape(2, 4)), short_value(True)
        ('0.666667', '(2, 4): 0, 1, 2, 3, 4, 5, ...', 'True')
    """
    array = np.asarray(value)
    if not array.ndim:
        return f"{array.item():.6g}" if array.dtype.kind == "f" else str(array.item())
    entries = ", ".join(short_value(v) for v in array.flat[:_ENTRIES])
    shape = f"({', '.join(map(str, array.shape))}{',' if array.ndim == 1 else ''})"
    return f"{shape}: {entries}{', ...' if array.size > _ENTRIES else ''}"
