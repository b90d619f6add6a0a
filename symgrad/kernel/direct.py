"""Calls of a kernel around NumPy's ufunc machinery, for the plain case.

That is: arrays of one shape, contiguous or of one axis, and bare numbers.

The fields of arrays are read as any extension module compiled against NumPy reads them; before the first call all of
them are compared with what Python says, and where anything is otherwise there are no direct calls.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from symgrad.llvm.binding import made_once
from symgrad.llvm.direct_code import CALL, INFO, Layout, text
from symgrad.llvm.shared import kept

__all__ = ["direct_call", "layout_is_known"]

_LONG = 500
"""From so many elements on, other threads of Python may run meanwhile: what NumPy takes, too."""

_FASTCALL = 0x80  # METH_FASTCALL
_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 1, 256, 1024


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Fields(ctypes.Structure):
    """PyArrayObject_fields (numpy/ndarraytypes.h), behind the head of every object."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("nd", ctypes.c_int),
        ("dimensions", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("base", ctypes.c_void_p),
        ("descr", ctypes.c_void_p),
        ("flags", ctypes.c_int),
    ]


class _Machinery:
    """The one native function, and the method definition that Python's function objects point to."""

    def __init__(self) -> None:
        head = object.__basicsize__
        layout = Layout(
            type=head - 8,
            value=head,
            size=head,
            items=tuple.__basicsize__,
            bytes=bytes.__basicsize__ - 1,
            data=head,
        )
        self.engine = kept(text(layout))
        self.method = _Method(b"kernel", self.engine.address(CALL), _FASTCALL, None)
        self.make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
            ("PyCFunction_NewEx", ctypes.pythonapi)
        )

    def function(self, info: bytes) -> Callable[..., Any]:
        return self.make(ctypes.addressof(self.method), info, None)


@made_once
def _machinery() -> _Machinery | None:
    """Return what direct calls need, or None where objects are not laid out as the code reads them."""
    return _Machinery() if sys.implementation.name == "cpython" and _as_known() else None


def layout_is_known() -> bool:
    """Tell whether there are direct calls."""
    return _machinery() is not None


def _as_known() -> bool:
    """Compare the fields of some objects with what Python says of them."""
    head = object.__basicsize__
    if ctypes.sizeof(ctypes.c_void_p) != 8 or bytes.__basicsize__ - 1 < head:
        return False
    number, scalar, content = 1234.5678, np.float64(8765.4321), bytes(range(17))
    for value in (number, scalar):
        if ctypes.c_double.from_address(id(value) + head).value != value:
            return False
    if ctypes.string_at(id(content) + bytes.__basicsize__ - 1, len(content)) != content:
        return False
    items = (number, scalar, content)
    found = (ctypes.c_size_t * 3).from_address(id(items) + tuple.__basicsize__)
    if ctypes.c_ssize_t.from_address(id(items) + head).value != 3 or [*found] != [*map(id, items)]:
        return False
    square = np.zeros((3, 5))
    frozen = np.zeros(7, np.float32)
    frozen.flags.writeable = False
    arrays = [square, square[:, 1:4], square.T, frozen, np.zeros((2, 3, 4), bool)]
    typed = (number, items, *arrays)
    if any(ctypes.c_void_p.from_address(id(x) + head - 8).value != id(type(x)) for x in typed):
        return False
    for array in arrays:
        fields = _Fields.from_address(id(array) + head)
        flags = array.flags
        said = flags.c_contiguous * _C_CONTIGUOUS + flags.aligned * _ALIGNED + flags.writeable * _WRITEABLE
        same = (
            fields.data == array.ctypes.data
            and fields.nd == array.ndim
            and tuple(fields.dimensions[: array.ndim]) == array.shape
            and tuple(fields.strides[: array.ndim]) == array.strides
            and fields.descr == id(array.dtype)
            and fields.flags & (_C_CONTIGUOUS | _ALIGNED | _WRITEABLE) == said
        )
        if not same:
            return False
    return True


def direct_call(
    loop: int, cell: int, kinds: Sequence[Any], passed: int | None = None
) -> Callable[..., Any] | None:
    """Return a function that computes the outputs; None if there can be none.

    It takes the inputs and the outputs, a tuple each, or the array itself if there is one output. It returns what it
    was given as outputs, the array if there is one; and None, with nothing touched, if the arguments are not plain:
    arrays of NumPy's own type, of the kernel's dtypes and of one shape, contiguous or of one axis; numbers among the
    inputs; and no overlap but that of an output with an input that is the same array.

    Args:
        loop: address of the inner loop.
        cell: address of the kernel's cell.
        kinds: dtype of every argument, inputs then outputs.
        passed: address of what the loop is passed as its last argument, by default the cell.
    """
    machinery = _machinery()
    if machinery is None:
        return None
    api = ctypes.pythonapi
    objects = {
        "array": np.ndarray,
        "float": float,
        "double": np.float64,
        "float64": np.dtype(np.float64),
        "tuple": tuple,
        "none": None,
    }
    functions = {
        "keep": api.Py_IncRef,
        "drop": api.Py_DecRef,
        "list": api.PySequence_List,
        "release": api.PyEval_SaveThread,
        "acquire": api.PyEval_RestoreThread,
    }
    # While other threads are waited for, the lock is never held.
    several = {"passed": cell, "many": _LONG} if passed is None else {"passed": passed, "many": 0}
    info = {"loop": loop, "cell": cell, **several}
    info |= {name: id(x) for name, x in objects.items()}
    info |= {name: cast(int, ctypes.cast(f, ctypes.c_void_p).value) for name, f in functions.items()}
    # Arrays share the one object of a dtype that is NumPy's own; others (a byte order, metadata) are not plain.
    descrs = [id(np.dtype(k)) for k in kinds]
    numbers = [*(info[name] for name, _ in INFO), *descrs]
    return machinery.function(struct.pack(f"={len(numbers)}q", *numbers))
