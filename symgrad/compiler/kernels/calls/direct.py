"""Call kernels without NumPy's dispatch, if the arguments are plain: numbers, and arrays of the same shape.

A native function reads the fields of arrays, as any extension module does. The offsets of the fields are in
`symgrad/compiler/llvm/call_stubs/object_layout.py`; `symgrad/compiler/kernels/calls/safety.py` decides whether such
calls are allowed.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.kernels.calls.safety import refusal
from symgrad.compiler.llvm.call_stubs.array_call import CALL, INFO, module_text
from symgrad.compiler.llvm.call_stubs.object_layout import (
    FASTCALL,
    MethodDef,
    function_address,
    function_constructor,
)
from symgrad.compiler.llvm.engine.binding import locked_cache
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile

LONG = 500
"""Number of elements above which a call releases the GIL, as in NumPy."""


class _Machinery:
    """The native function, and the method definition of Python's function objects."""

    def __init__(self) -> None:
        self.engine = load_or_compile(module_text())
        self.method = MethodDef(b"kernel", self.engine.address(CALL), FASTCALL, None)
        self.construct = function_constructor()

    def function(self, info: bytes) -> Callable[..., Any]:
        return self.construct(ctypes.addressof(self.method), info, None)


@locked_cache
def _machinery() -> _Machinery:
    return _Machinery()


def direct_call(
    loop: int, passed: int, kinds: Sequence[Any], nin: int, *, many: int = LONG
) -> Callable[..., Any] | None:
    """Return a function that computes the outputs; None if such calls are not allowed (`refusal`).

    The function takes a tuple of the inputs and a tuple of the outputs (or the only output itself), and returns the
    outputs. It returns None, without an effect, unless the arguments are plain: arrays of exactly NumPy's type with the
    kernel's dtypes and the same shape, contiguous or with one axis; inputs may also be numbers or have no axes; and no
    output overlaps another argument, unless it is the same array as an input. A third argument, True, says that the
    outputs are new arrays, which overlap nothing.

    Args:
        loop: address of the inner loop.
        passed: address for the last argument of the loop.
        kinds: dtype of every input, then of every output.
        nin: the number of inputs.
        many: the number of elements from which a call releases the GIL.
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
    info = {"loop": loop, "passed": passed, "many": many, "inputs": nin, "values": len(kinds)}
    info |= {name: id(x) for name, x in objects.items()}
    info |= {name: function_address(f) for name, f in functions.items()}
    # Arrays of a native dtype share one object for it; other dtypes (a byte order, metadata) are not plain.
    records = [word for kind in map(np.dtype, kinds) for word in (id(kind), kind.itemsize)]
    numbers = [*(info[name] for name, _ in INFO), *records]
    return _machinery().function(struct.pack(f"={len(numbers)}q", *numbers))
