"""Wrap C functions for custom ops."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.support.errors import UsageError

_FUNCTION: Any = ctypes.CFUNCTYPE(None).__base__
"""The class of C functions and callbacks in ctypes."""


def address_of(native: Any) -> int:
    """Return the address of a C function.

    Raises:
        UsageError: if it is not a C function.
    """
    is_address = isinstance(native, int) and not isinstance(native, bool)
    found = native if is_address else getattr(native, "address", None)
    if found is None and isinstance(native, _FUNCTION):  # ctypes.cast also accepts texts and arrays
        found = ctypes.cast(native, ctypes.c_void_p).value
    if not isinstance(found, int) or found <= 0:
        raise UsageError(
            f"{type(native).__name__} is no C function",
            expected="an address, a function of ctypes, or an object with an .address (numba's cfunc)",
        )
    return found


def array_function(address: int, count: int) -> Callable[..., Any]:
    """Vectorize a C function of doubles over arrays."""
    function = ctypes.CFUNCTYPE(*[ctypes.c_double] * (count + 1))(address)
    return np.vectorize(lambda *args: function(*map(float, args)), otypes=[float])
