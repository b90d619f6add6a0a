"""A NumPy ufunc around machine code, made through NumPy's C API with ctypes, so that no compiler is needed.

``PyUFunc_FromFuncAndDataAndSignature`` is slot 31 of the table in the capsule ``_UFUNC_API``; slot 0 is the type
``numpy.ufunc`` itself, which tells us that we read the right table. The ufunc borrows its buffers and the
machine code, so it is given a reference to their owner in its field ``obj``, which NumPy releases with the
ufunc.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, cast

import numpy as np

from symgrad.errors import InternalError

__all__ = ["MAX_ARGS", "Core", "ufunc_from_loop"]

MAX_ARGS = 64
"""The largest number of arguments of a ufunc (NPY_MAXARGS of NumPy 2)."""

_NUMBERS = {t: np.dtype(t).num for t in ("bool", "int64", "float32", "float64")}
_NO_IDENTITY = -1  # PyUFunc_None


class _Ufunc(ctypes.Structure):
    """PyUFuncObject (numpy/ufuncobject.h) of NumPy 2.1, which later versions may only add to."""

    _fields_ = [
        ("object_head", ctypes.c_byte * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("ntypes", ctypes.c_int),
        ("reserved1", ctypes.c_int),
        ("name", ctypes.c_void_p),
        ("types", ctypes.c_void_p),
        ("doc", ctypes.c_void_p),
        ("ptr", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("userloops", ctypes.c_void_p),
        ("core_enabled", ctypes.c_int),
        ("core_num_dim_ix", ctypes.c_int),
        ("core_num_dims", ctypes.c_void_p),
        ("core_dim_ixs", ctypes.POINTER(ctypes.c_int)),
        ("core_offsets", ctypes.c_void_p),
        ("core_signature", ctypes.c_char_p),
        ("type_resolver", ctypes.c_void_p),
        ("dict", ctypes.c_void_p),
        ("vectorcall", ctypes.c_void_p),
        ("reserved3", ctypes.c_void_p),
        ("op_flags", ctypes.c_void_p),
        ("iter_flags", ctypes.c_uint32),
        ("core_dim_sizes", ctypes.POINTER(ctypes.c_ssize_t)),
        ("core_dim_flags", ctypes.c_void_p),
        ("identity_value", ctypes.c_void_p),
        ("dispatch_cache", ctypes.c_void_p),
        ("loops", ctypes.c_void_p),
        ("process_core_dims", ctypes.c_void_p),
    ]


@dataclass(frozen=True, slots=True)
class Core:
    """The core dimensions of a generalised ufunc.

    Args:
        signature: in NumPy's notation, as ``(n,5),(5)->(n)``.
        axes: for all axes of all arguments, one after the other, the number of the core dimension.
        frozen: for every core dimension its size in the signature, or -1.
        process: address of ``int(PyUFuncObject *, intp *core_dim_sizes)``, which checks sizes and fills in those
            that are -1, or 0.
    """

    signature: str
    axes: tuple[int, ...]
    frozen: tuple[int, ...]
    process: int


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
        ctypes.py_object, text, text, text, number, number, number, number, text, text, number, text
    )
    return prototype(table[31] or 0)


def ufunc_from_loop(
    loop: int,
    data: int,
    kinds: Sequence[str],
    nin: int,
    *,
    name: str,
    doc: str,
    code: object,
    core: Core | None = None,
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
        core: what makes it a generalised ufunc, one of arrays instead of elements.
    """
    functions = (ctypes.c_void_p * 1)(loop)
    datas = (ctypes.c_void_p * 1)(data)
    types = ctypes.create_string_buffer(bytes(_NUMBERS[k] for k in kinds))
    name_text = ctypes.create_string_buffer(name.encode(errors="backslashreplace"))
    doc_text = ctypes.create_string_buffer(doc.encode(errors="backslashreplace"))
    signature = ctypes.create_string_buffer(core.signature.encode()) if core else None
    addresses = [ctypes.addressof(b) for b in (functions, datas, types, name_text, doc_text)]
    at_signature = ctypes.addressof(signature) if signature else None
    made = _constructor()(
        *addresses[:3], 1, nin, len(kinds) - nin, _NO_IDENTITY, *addresses[3:], 0, at_signature
    )
    fields = _Ufunc.from_address(id(made))
    read = (fields.nin, fields.nargs, fields.functions, fields.data, fields.types, fields.name)
    read += (fields.ptr, fields.obj, fields.process_core_dims)
    known = (nin, len(kinds), *addresses[:4], None, None, None)
    fits = isinstance(made, np.ufunc) and np.ufunc.__basicsize__ >= ctypes.sizeof(_Ufunc) and read == known
    if not fits or (core and not _same_core(fields, core)):
        raise InternalError(f"NumPy {np.__version__} lays out a ufunc otherwise than symgrad knows")
    owner = _Owner(code, (functions, datas, types, name_text, doc_text, signature))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    fields.obj = id(owner)
    if core and core.process:
        fields.process_core_dims = core.process
    return made


def _same_core(fields: _Ufunc, core: Core) -> bool:
    """Check that NumPy numbered the core dimensions as the loop does, from the first to the last appearance."""
    if fields.core_num_dim_ix != len(core.frozen) or bool(fields.core_enabled) != bool(core.frozen):
        return False
    if not core.frozen:
        return True
    numbered = fields.core_dim_ixs[: len(core.axes)] == list(core.axes)
    return numbered and fields.core_dim_sizes[: len(core.frozen)] == list(core.frozen)
