"""Calls of a kernel around NumPy's ufunc machinery, for the plain case.

That is: arrays of one shape, contiguous or of one axis, and bare numbers.

The fields of arrays are read as any extension module compiled against NumPy reads them, from where the table of
`symgrad/compiler/llvm/call_stubs/object_layout.py` says; `symgrad/compiler/kernels/calls/safety.py` decides whether
there are such calls at all.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from symgrad.compiler.kernels.calls.safety import refusal
from symgrad.compiler.llvm.call_stubs.array_call import CALL, INFO, module_text
from symgrad.compiler.llvm.call_stubs.object_layout import FASTCALL, MethodDef
from symgrad.compiler.llvm.engine.binding import locked_cache
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile

__all__ = ["direct_call"]

_LONG = 500
"""From so many elements on, other threads of Python may run meanwhile: what NumPy takes, too."""


class _Machinery:
    """The one native function, and the method definition that Python's function objects point to."""

    def __init__(self) -> None:
        self.engine = load_or_compile(module_text())
        self.method = MethodDef(b"kernel", self.engine.address(CALL), FASTCALL, None)
        self.make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
            ("PyCFunction_NewEx", ctypes.pythonapi)
        )

    def function(self, info: bytes) -> Callable[..., Any]:
        return self.make(ctypes.addressof(self.method), info, None)


@locked_cache
def _machinery() -> _Machinery:
    return _Machinery()


def direct_call(
    loop: int, cell: int, kinds: Sequence[Any], passed: int | None = None
) -> Callable[..., Any] | None:
    """Return a function that computes the outputs; None if there may be none (`refusal`).

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
    if refusal() is not None:
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
    return _machinery().function(struct.pack(f"={len(numbers)}q", *numbers))
