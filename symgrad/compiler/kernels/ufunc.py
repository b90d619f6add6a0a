"""Create NumPy ufuncs around machine code, through NumPy's C API with ctypes, without a compiler.

``PyUFunc_FromFuncAndDataAndSignature`` is a slot of the table in the capsule ``_UFUNC_API``; another slot, the type
``numpy.ufunc``, serves to recognise the table. A ufunc borrows its buffers and the machine code. A reference to their
owner is stored in its field ``obj``, which NumPy releases with the ufunc. If the layout of ufuncs is unknown, no ufuncs
are created, and kernels call their inner loops themselves.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import accumulate, chain
from typing import Any, NamedTuple, cast

import numpy as np

from symgrad.compiler.kernels.signature import Signature, signature_of
from symgrad.compiler.llvm.call_stubs.object_layout import (
    UFUNC_FROM_SIGNATURE,
    UFUNC_TYPE,
    read_field,
    read_integers,
    write_field,
)
from symgrad.support.errors import InternalError

MAX_ARGS = 64
"""The largest number of arguments of a ufunc (NPY_MAXARGS of NumPy 2)."""

_MAX_AXES = 32
"""Largest number of axes of all outputs: NumPy's iterator has 64 for these and the batch."""

_NUMBERS = {t: np.dtype(t).num for t in ("bool", "int64", "float32", "float64")}
_NO_IDENTITY = -1  # PyUFunc_None


class Core(NamedTuple):
    """The core dimensions of a generalised ufunc.

    Args:
        declared: the shapes of its arguments.
        process: address of ``int(PyUFuncObject *, intp *core_dim_sizes)``, which checks sizes, and fills in sizes that
            are -1; 0 for no such function.
    """

    declared: Signature
    process: int


@cache
def _constructor() -> Any:
    """Return NumPy's function that creates ufuncs, None if the table of its functions is not recognised."""
    capsule = cast(Any, import_module("numpy._core._multiarray_umath"))._UFUNC_API
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = cast(int, pointer(capsule, None))

    def slot(k: int) -> int:
        return ctypes.c_void_p.from_address(table + k * ctypes.sizeof(ctypes.c_void_p)).value or 0

    if slot(UFUNC_TYPE) != id(np.ufunc):
        return None
    text, number = ctypes.c_void_p, ctypes.c_int
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, text, text, text, number, number, number, number, text, text, number, text
    )
    return prototype(slot(UFUNC_FROM_SIGNATURE))


class _Buffers:
    """The memory that a ufunc points to and does not own.

    All buffers are one piece of memory, because ctypes creates a type for every length of array, which takes as long as
    everything else here.
    """

    __slots__ = ("_memory", "code", "datas", "doc", "functions", "name", "signature", "types")

    def __init__(
        self,
        loop: int,
        data: int,
        kinds: Sequence[str],
        signature: str | None,
        *,
        name: str,
        doc: str,
        code: object,
    ) -> None:
        self.code = code
        parts = [
            struct.pack("P", loop),
            struct.pack("P", data),
            bytes([_NUMBERS[k] for k in kinds]),
            name.encode(errors="backslashreplace") + b"\0",
            doc.encode(errors="backslashreplace") + b"\0",
            (signature or "").encode() + b"\0",
        ]
        self._memory = ctypes.c_char.from_buffer(bytearray(b"".join(parts)))
        places = accumulate(map(len, parts), initial=ctypes.addressof(self._memory))
        self.functions, self.datas, self.types, self.name, self.doc, at, _ = places
        self.signature = None if signature is None else at

    def ufunc(self, nin: int, nout: int) -> Any:
        """Return a ufunc that points to the buffers, without a reference to them."""
        return _constructor()(
            self.functions,
            self.datas,
            self.types,
            1,
            nin,
            nout,
            _NO_IDENTITY,
            self.name,
            self.doc,
            0,
            self.signature,
        )


@cache
def ufuncs_are_known(*, of_arrays: bool = False) -> bool:
    """Tell whether the layout of ufuncs agrees with the table of fields; a ufunc with known fields shows it.

    Args:
        of_arrays: whether to test also the fields of generalised ufuncs, which have core dimensions.
    """
    if sys.implementation.name != "cpython":
        return False
    python_ufunc = np.frompyfunc(max, 2, 1)  # its field for the function is our field for the buffers
    if _constructor() is None or read_field("ufunc.obj", python_ufunc) != id(max):
        return False
    core = signature_of([("n", "m"), ("m",), ()], [("n",), ()]) if of_arrays else None
    for part in (None, core) if core else (None,):
        signature = part.text if part else None
        buffers = _Buffers(0, 0, ["float64"] * 5, signature, name="trial", doc="", code=None)
        trial = buffers.ufunc(3, 2)
        known = {"nin": 3, "nargs": 5, "obj": 0, "process_core_dims_func": 0}
        known |= {"core_enabled": int(part is not None), "core_num_dim_ix": 2 if part else 0}
        known |= {"functions": buffers.functions, "data": buffers.datas}
        known |= {"types": buffers.types, "name": buffers.name}
        if type(trial) is not np.ufunc or any(
            read_field(f"ufunc.{name}", trial) != value for name, value in known.items()
        ):
            return False
        if part and not _same_core(trial, part):
            return False
    return True


def make_ufunc(
    name: str,
    inputs: Sequence[str],
    kinds: Sequence[np.dtype[Any]],
    loop: int,
    data: int,
    code: object,
    core: Core | None = None,
) -> np.ufunc | None:
    """Wrap an inner loop as a ufunc.

    Args:
        name: the ufunc's name.
        inputs: the names of the inputs.
        kinds: dtype of every argument, inputs then outputs.
        loop: address of ``void(char **args, intp *dimensions, intp *steps, void *data)``.
        data: the address that is passed to the loop.
        code: the owner of the machine code; the ufunc keeps it alive.
        core: the core dimensions of a generalised ufunc.

    Returns:
        None if it exceeds NumPy's limits (there must be an input), or the layout of ufuncs is unknown.
    """
    nin, found = len(inputs), core and core.declared
    axes = sum(map(len, found.axes[nin:])) if found else 0
    if (
        not nin
        or len(kinds) > MAX_ARGS
        or axes > _MAX_AXES
        or not ufuncs_are_known(of_arrays=core is not None)
    ):
        return None
    doc = f"{name}({', '.join(inputs)})"
    names = [kind.name for kind in kinds]
    owner = _Buffers(loop, data, names, found.text if found else None, name=name, doc=doc, code=code)
    ufunc = owner.ufunc(nin, len(kinds) - nin)
    if found and not _same_core(ufunc, found):
        raise InternalError(
            f"NumPy {np.__version__} numbers the axes of a ufunc otherwise than symgrad knows"
        )
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    write_field("ufunc.obj", ufunc, id(owner))
    if core and core.process:
        write_field("ufunc.process_core_dims_func", ufunc, core.process)
    return ufunc


def _same_core(ufunc: np.ufunc, core: Signature) -> bool:
    """Check that NumPy numbered the core dimensions as the loop does, in order of appearance."""
    count, enabled = read_field("ufunc.core_num_dim_ix", ufunc), read_field("ufunc.core_enabled", ufunc)
    if (count, enabled) != (len(core.frozen), bool(core.frozen)):
        return False
    if not core.frozen:
        return True
    axes = tuple(chain.from_iterable(core.axes))
    numbered = read_integers(read_field("ufunc.core_dim_ixs", ufunc), len(axes), ctypes.c_int)
    sizes = read_integers(read_field("ufunc.core_dim_sizes", ufunc), len(core.frozen))
    return numbered == axes and sizes == core.frozen
