"""The memory layout of CPython's and NumPy's objects: one table of fields for generated code and for ctypes.

The offsets are for 64-bit platforms, where a pointer has 8 bytes and an int has 4; sizes that may differ between
versions come from the running interpreter. Before any use `symgrad/compiler/kernels/calls/safety.py` compares the table
with real objects, and `symgrad/compiler/kernels/ufunc.py` compares its fields of ufuncs.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class StructField:
    """A field of an object.

    Args:
        at: offset from the beginning of the object, in bytes.
        kind: its type in C.
    """

    at: int
    kind: Any


_INT, _WORD, _POINTER = ctypes.c_int, ctypes.c_ssize_t, ctypes.c_size_t
_HEADER_BYTES = object.__basicsize__  # Include/object.h: PyObject, 16 bytes without Py_TRACE_REFS

OBJECT_FIELDS = {
    # PyObject, Include/object.h: ob_type is its last word.
    "type": StructField(_HEADER_BYTES - 8, _POINTER),
    # PyFloatObject, Include/cpython/floatobject.h: ob_fval. PyDoubleScalarObject, numpy/arrayscalars.h: obval.
    "float": StructField(_HEADER_BYTES, ctypes.c_double),
    "double": StructField(_HEADER_BYTES, ctypes.c_double),
    # PyTupleObject, Include/cpython/tupleobject.h: ob_size, of PyVarObject; ob_item, at the end; from 3.14 on a hash
    # precedes it.
    "size": StructField(_HEADER_BYTES, _WORD),
    "items": StructField(tuple.__basicsize__, _POINTER),
    # PyBytesObject, Include/cpython/bytesobject.h: ob_sval, whose first byte is counted in the size of the object.
    "bytes": StructField(bytes.__basicsize__ - 1, ctypes.c_ubyte),
    # PyArrayObject_fields, numpy/ndarraytypes.h; `base` is between strides and descr.
    "data": StructField(_HEADER_BYTES, _POINTER),
    "nd": StructField(_HEADER_BYTES + 8, _INT),
    "shape": StructField(_HEADER_BYTES + 16, _POINTER),
    "strides": StructField(_HEADER_BYTES + 24, _POINTER),
    "descr": StructField(_HEADER_BYTES + 40, _POINTER),
    "flags": StructField(_HEADER_BYTES + 48, _INT),
    # PyUFuncObject, numpy/ufuncobject.h, since NumPy 2.1; later versions may only add to its end.
    "ufunc.nin": StructField(_HEADER_BYTES, _INT),
    "ufunc.nargs": StructField(_HEADER_BYTES + 8, _INT),
    "ufunc.functions": StructField(_HEADER_BYTES + 16, _POINTER),
    "ufunc.data": StructField(_HEADER_BYTES + 24, _POINTER),
    "ufunc.name": StructField(_HEADER_BYTES + 40, _POINTER),
    "ufunc.types": StructField(_HEADER_BYTES + 48, _POINTER),
    "ufunc.obj": StructField(_HEADER_BYTES + 72, _POINTER),
    "ufunc.core_enabled": StructField(_HEADER_BYTES + 88, _INT),
    "ufunc.core_num_dim_ix": StructField(_HEADER_BYTES + 92, _INT),
    "ufunc.core_dim_ixs": StructField(_HEADER_BYTES + 104, _POINTER),
    "ufunc.core_dim_sizes": StructField(_HEADER_BYTES + 176, _POINTER),
    "ufunc.process_core_dims_func": StructField(_HEADER_BYTES + 216, _POINTER),
}

# numpy/ndarraytypes.h: NPY_ARRAY_C_CONTIGUOUS, _ALIGNED, _WRITEABLE; NumPy's own NPY_ARRAY_WARN_ON_WRITE, the sign.
C_CONTIGUOUS, ALIGNED, WRITEABLE, WARN_ON_WRITE = 1, 0x100, 0x400, -(2**31)

FASTCALL, KEYWORDS = 0x80, 0x02
"""METH_FASTCALL and METH_KEYWORDS, Include/methodobject.h."""

TP_ALLOC = 47
"""Py_tp_alloc, Include/typeslots.h."""


UFUNC_TYPE, UFUNC_FROM_SIGNATURE = 0, 31
"""Slots of NumPy's table of functions on ufuncs, numpy/__ufunc_api.h: its type, PyUFunc_FromFuncAndDataAndSignature."""


class MethodDef(ctypes.Structure):
    """PyMethodDef, Include/methodobject.h."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def function_address(function: Any) -> int:
    """Return the address of a function of ctypes."""
    return cast(int, ctypes.cast(function, ctypes.c_void_p).value)


def function_constructor() -> Any:
    """Return PyCFunction_NewEx, which creates a function from the address of a `MethodDef` and the object `self`."""
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))


def read_field(name: str, owner: Any, k: int = 0) -> Any:
    """Return the value of a field of an object, a pointer as an integer; None if the field is outside the object.

    Args:
        name: the name of the field.
        owner: the object.
        k: the index of the item, if the field is an array at the end of the object.

    Example:
        >>> read_field("float", 0.1)
        0.1
    """
    place, kind = OBJECT_FIELDS[name], cast(Any, type(owner))
    width = ctypes.sizeof(place.kind)
    at = place.at + width * k
    end = kind.__basicsize__ + (kind.__itemsize__ and kind.__itemsize__ * len(owner))
    if at < 0 or at % width or at + width > end:
        return None
    return place.kind.from_address(id(owner) + at).value


def read_integers(address: int | None, count: int, kind: Any = _WORD) -> tuple[int, ...] | None:
    """Return the integers that a pointer field refers to; None if the value cannot be a pointer.

    Fields of objects that are not pointers hold null, small numbers, or two adjacent numbers, the first of which is
    odd, small or 0. If the offset is wrong, one of these is read, and it must not be dereferenced.

    Args:
        address: the value of the field.
        count: how many integers to read.
        kind: their type in C.
    """
    if address is None or not 2**16 <= address < 2**47 or address % 8 or not address % 2**32:
        return None
    return tuple((kind * count).from_address(address))


def write_field(name: str, owner: Any, value: int) -> None:
    """Set a field of an object."""
    place = OBJECT_FIELDS[name]
    place.kind.from_address(id(owner) + place.at).value = value
