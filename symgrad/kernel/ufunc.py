"""A NumPy ufunc around machine code, made through NumPy's C API with ctypes, so that no compiler is needed.

``PyUFunc_FromFuncAndData`` is slot 1 of the table in the capsule ``_UFUNC_API``; slot 0 is the type
``numpy.ufunc`` itself, which tells us that we read the right table. The ufunc borrows its buffers and the
machine code, so it is given a reference to their owner in its field ``obj``, which NumPy releases with the
ufunc.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, cast

import numpy as np

from symgrad.errors import InternalError

__all__ = ["MAX_ARGS", "ufunc_from_loop"]

MAX_ARGS = 64
"""The largest number of arguments of a ufunc (NPY_MAXARGS of NumPy 2)."""

_BOOL, _FLOAT32, _FLOAT64 = (np.dtype(t).num for t in (np.bool_, np.float32, np.float64))
_NO_IDENTITY = -1  # PyUFunc_None


class _UfuncHead(ctypes.Structure):
    """The public head of PyUFuncObject (numpy/ufuncobject.h), the same from NumPy 1.7 to 2.x."""

    _fields_ = [
        ("object_head", ctypes.c_byte * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_void_p),
        ("types", ctypes.c_void_p),
        ("doc", ctypes.c_void_p),
        ("ptr", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
    ]


class _Owner:
    """Everything that a ufunc points to and does not own."""

    __slots__ = ("buffers", "code")

    def __init__(self, code: object, buffers: tuple[object, ...]) -> None:
        self.code = code
        self.buffers = buffers


@cache
def _constructor() -> Any:
    capsule = cast(Any, import_module("numpy._core._multiarray_umath"))._UFUNC_API
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    if table[0] != id(np.ufunc):
        raise InternalError(f"NumPy {np.__version__} has another ufunc table than symgrad knows")
    text, number = ctypes.c_void_p, ctypes.c_int
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, text, text, text, number, number, number, number, text, text, number
    )
    return prototype(table[1] or 0)


def ufunc_from_loop(
    loop: int, data: int, kinds: Sequence[str], nin: int, *, name: str, doc: str, code: object
) -> np.ufunc:
    """Wrap an inner loop as a ufunc.

    Args:
        loop: address of ``void(char **args, intp *dimensions, intp *steps, void *data)``.
        data: address that is passed to it.
        kinds: dtype name of every argument, inputs then outputs.
        nin: number of inputs, at least 1.
        name: the ufunc's name.
        doc: its docstring.
        code: owner of the machine code; it lives as long as the ufunc.
    """
    numbers = {"bool": _BOOL, "float32": _FLOAT32, "float64": _FLOAT64}
    functions = (ctypes.c_void_p * 1)(loop)
    datas = (ctypes.c_void_p * 1)(data)
    types = ctypes.create_string_buffer(bytes(numbers[k] for k in kinds))
    name_text = ctypes.create_string_buffer(name.encode())
    doc_text = ctypes.create_string_buffer(doc.encode())
    addresses = [ctypes.addressof(b) for b in (functions, datas, types, name_text, doc_text)]
    made = _constructor()(*addresses[:3], 1, nin, len(kinds) - nin, _NO_IDENTITY, *addresses[3:], 0)
    head = _UfuncHead.from_address(id(made))
    read = (head.nin, head.nargs, head.functions, head.data, head.types, head.name, head.ptr, head.obj)
    known = (nin, len(kinds), addresses[0], addresses[1], addresses[2], addresses[3], None, None)
    if not isinstance(made, np.ufunc) or read != known:
        raise InternalError(f"NumPy {np.__version__} lays out a ufunc otherwise than symgrad knows")
    owner = _Owner(code, (functions, datas, types, name_text, doc_text))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    head.obj = id(owner)
    return made
