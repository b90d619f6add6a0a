"""Powers of anything that can be multiplied."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def integer_power(x: T, n: int, times: Callable[[T, T], T]) -> T:
    """Return x**n for n > 0, by repeated squaring.

    Args:
        x: the base.
        n: the exponent.
        times: the product of two values.

    Example:
        >>> integer_power("ab", 3, lambda a, b: a + b)
        'ababab'
    """
    result: T | None = None
    while True:
        n, odd = divmod(n, 2)
        if odd:
            result = x if result is None else times(result, x)
        if not n:
            assert result is not None
            return result
        x = times(x, x)
