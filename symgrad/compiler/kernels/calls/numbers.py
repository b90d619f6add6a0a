"""Call kernels with numbers at the cost of a function of an extension module, for solvers and optimisers.

A native function reads the fields of Python's objects, under the same conditions as in `direct.py`.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from symgrad.compiler.kernels.calls.safety import allocator_of, refusal
from symgrad.compiler.llvm.call_stubs.object_layout import (
    FASTCALL,
    KEYWORDS,
    MethodDef,
    function_address,
    function_constructor,
)
from symgrad.compiler.llvm.call_stubs.scalar_call import BOOL, CALL, DOUBLE, INFO, SINGLE, module_text
from symgrad.compiler.llvm.engine.binding import locked_cache
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.shared_functions import load_or_compile

_KINDS = {"float64": DOUBLE, "float32": SINGLE, "bool": BOOL}


@locked_cache
def _engine() -> Engine:
    """Return the code of the native function; each `_Owner` has the method definition of its function object."""
    return load_or_compile(module_text())


class _Owner:
    """The memory that a function object points to and does not own."""

    __slots__ = ("code", "doc", "method", "name")

    def __init__(self, name: str, doc: str, code: object) -> None:
        self.code = code
        self.name, self.doc = name.encode(errors="replace"), doc.encode(errors="replace")
        self.method = MethodDef(self.name, _engine().address(CALL), FASTCALL | KEYWORDS, self.doc)


def number_call(
    loop: int,
    passed: int,
    kinds: Sequence[Any],
    nin: int,
    *,
    name: str,
    code: object,
    result: type,
    doc: str = "",
    otherwise: Callable[..., Any] | None = None,
) -> Callable[..., Any] | None:
    """Return a function that computes one point; None if native calls are not allowed (`refusal`).

    The function takes a number for each input: a float, a
    ``numpy.float64`` or an int; for a bool input, True or False. It returns the output, or a tuple of the outputs.

    Args:
        loop: address of the function of a point: ``void(char **args, intp *dimensions, intp *steps, void *data)``.
        passed: the address for ``data``.
        kinds: dtype of every argument, inputs then outputs.
        nin: the number of inputs.
        name: the function's name.
        code: the owner of the machine code; the function keeps it alive.
        result: the type of real results, ``float`` or ``numpy.float64``; others are of `bool` or ``numpy.bool``.
        doc: its docstring, with a signature in CPython's format.
        otherwise: the function that is called if an argument is anything else; None to return None in this case.
    """
    if refusal() is not None:
        return None
    api = ctypes.pythonapi
    objects = {
        "float": float,
        "double": np.float64,
        "whole": int,
        "none": None,
        "true": True,
        "false": False,
        "result": result,
        "result.true": True if result is float else np.True_,
        "result.false": False if result is float else np.False_,
    }
    functions = {
        "keep": api.Py_IncRef,
        "drop": api.Py_DecRef,
        "as.double": api.PyFloat_AsDouble,
        "error": api.PyErr_Occurred,
        "forget": api.PyErr_Clear,
        "new.float": api.PyFloat_FromDouble,
        "new.tuple": api.PyTuple_New,
        "call": api.PyObject_Vectorcall,
    }
    found: dict[str, int] = {"loop": loop, "passed": passed, "nin": nin, "nout": len(kinds) - nin}
    found |= {key: id(value) for key, value in objects.items()}
    found |= {key: function_address(f) for key, f in functions.items()}
    # NumPy's numbers must come from NumPy's allocator, which frees them.
    found["new.object"] = cast(int, allocator_of(np.float64))
    numbers = struct.pack(f"={len(INFO)}q", *(found[key] for key, _ in INFO))
    codes = {kind: _KINDS[np.dtype(kind).name] for kind in set(kinds)}
    info = numbers + bytes([codes[kind] for kind in kinds])
    owner = _Owner(name, doc, code)
    return function_constructor()(ctypes.addressof(owner.method), (info, otherwise, owner), None)
