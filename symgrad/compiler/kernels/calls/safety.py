"""Decide whether kernels may be called without NumPy's dispatch: direct calls, thread teams and pools of outputs.

Such calls read the fields of Python's and NumPy's objects, and the reference counts of arrays. `SYMGRAD_SAFE_CALLS=1`
disables them, and so does an unknown layout of objects. Kernels are then called as ufuncs, and results have the same
bits.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

import numpy as np

from symgrad.compiler.llvm.call_stubs.object_layout import (
    ALIGNED,
    C_CONTIGUOUS,
    TP_ALLOC,
    WARN_ON_WRITE,
    WRITEABLE,
    function_address,
    read_field,
    read_integers,
)

VARIABLE = "SYMGRAD_SAFE_CALLS"
"""The environment variable that disables such calls, unless it is empty or 0."""


@cache
def refusal() -> str | None:
    """Return the reason why kernels must be called as ufuncs, or None. It is determined once in a process.

    Example:
        >>> refusal() is None or isinstance(refusal(), str)
        True
    """
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        return f"{VARIABLE} is set"
    if sys.implementation.name != "cpython":
        return f"the objects of {sys.implementation.name} are not known"
    if "free-threading" in sys.version or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "without the interpreter's lock an array may change while it is looked at"
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return "the places of fields are known for 64 bits"
    for name, found, expected in _comparisons():
        if found != expected:
            return (
                f"{name} is {found} where an object was looked at, and {expected} by what Python says of it"
            )
    return None


def _comparisons() -> Iterator[tuple[str, Any, Any]]:
    """Yield fields of some objects, as the table of fields reads them and as Python does.

    Fields without pointers come first.
    """
    number, scalar, content = 1234.5678, np.float64(8765.4321), bytes(range(17))
    items = (number, scalar, content)
    yield "float", read_field("float", number), number
    yield "double", read_field("double", scalar), float(scalar)
    yield "bytes", [read_field("bytes", content, k) for k in range(17)], [*content]
    yield "size", read_field("size", items), len(items)
    yield "items", [read_field("items", items, k) for k in range(3)], [*map(id, items)]
    square, frozen = np.zeros((3, 5)), np.zeros(7, np.float32)
    frozen.flags.writeable = False
    arrays = [square, square[:, 1:4], square.T, frozen, np.zeros((2, 3, 4), bool)]
    for value in (number, scalar, content, items, *arrays):
        yield "type", read_field("type", value), id(type(value))
    for array in arrays:
        known = array.flags
        flags = known.c_contiguous * C_CONTIGUOUS + known.aligned * ALIGNED + known.writeable * WRITEABLE
        mask = C_CONTIGUOUS | ALIGNED | WRITEABLE | WARN_ON_WRITE
        yield "nd", read_field("nd", array), array.ndim
        yield "flags", _bits(read_field("flags", array), mask), flags
        yield "data", read_field("data", array), array.__array_interface__["data"][0]
        yield "descr", read_field("descr", array), id(array.dtype)
        # NumPy stores the strides right after the lengths; the pointers are dereferenced only if that holds.
        lengths, strides = read_field("shape", array), read_field("strides", array)
        yield "strides less shape", (strides or 0) - (lengths or 0), 8 * array.ndim
        yield "shape", read_integers(lengths, array.ndim), array.shape
        yield "strides", read_integers(strides, array.ndim), array.strides
    warned = np.broadcast_arrays(np.ones(3), np.ones((2, 3)))[0]
    # Writes to such an array give a warning today, and will be errors in the future.
    yield (
        "warned",
        _bits(read_field("flags", warned), WARN_ON_WRITE | WRITEABLE) in (0, WARN_ON_WRITE | WRITEABLE),
        True,
    )
    yield (
        "allocator",
        allocator_of(float),
        function_address(ctypes.pythonapi.PyType_GenericAlloc),
    )
    yield from _reference_counts()


def allocator_of(kind: type) -> int | None:
    """Return the address of the allocator of a type."""
    slot = ctypes.pythonapi.PyType_GetSlot
    slot.restype, slot.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    return cast("int | None", slot(kind, TP_ALLOC))


def _bits(flags: int | None, mask: int) -> int | None:
    return None if flags is None else flags & mask


def _reference_counts() -> Iterator[tuple[str, Any, Any]]:
    """Yield whether reference counts of an array rise and fall with references of several kinds."""
    array = np.zeros(8)
    alone = sys.getrefcount(array)
    for refer in (lambda: [array], lambda: array[1:], lambda: memoryview(cast(Any, array))):
        held: Any = refer()
        yield "references to what is referred to", sys.getrefcount(array) > alone, True
        del held
        yield "references to what was referred to", sys.getrefcount(array), alone
