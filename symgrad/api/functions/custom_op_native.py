"""C functions as ops of one's own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.compiler.llvm.engine.scipy_functions import add_user_function
from symgrad.support.errors import UsageError

__all__ = ["address_of", "array_function", "in_kernels"]

_FUNCTION: Any = ctypes.CFUNCTYPE(None).__base__
"""What functions of C libraries and callbacks of ctypes are."""


def address_of(native: Any) -> int:
    """Return the address of a C function.

    Raises:
        UsageError: if it is none.
    """
    found = (
        native
        if isinstance(native, int) and not isinstance(native, bool)
        else getattr(native, "address", None)
    )
    if found is None and isinstance(native, _FUNCTION):  # texts and arrays could be cast as well
        found = ctypes.cast(native, ctypes.c_void_p).value
    if not isinstance(found, int) or found <= 0:
        raise UsageError(
            f"{type(native).__name__} is no C function",
            expected="an address, a function of ctypes, or what has an .address (numba's cfunc)",
        )
    return found


def array_function(address: int, count: int) -> Callable[..., Any]:
    """Return a C function of doubles as one of arrays."""
    function = ctypes.CFUNCTYPE(*[ctypes.c_double] * (count + 1))(address)
    return np.vectorize(lambda *args: function(*map(float, args)), otypes=[float])


def in_kernels(name: str, count: int, address: int) -> str:
    """Make a C function known to kernels, and return what code calls it."""
    return add_user_function(name, count, address)
