"""BLAS and LAPACK through SciPy's pointers: C functions of what SciPy was built with, made known to LLVM by name."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import Any

from symgrad.errors import KernelError
from symgrad.llvm.jit import define
from symgrad.llvm.types import FloatType

__all__ = ["gemm", "lapack"]


@cache
def gemm(real: FloatType) -> str:
    """Return the name by which code calls the product of matrices in a format.

    Its arguments are those of Fortran: transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, all by address.
    """
    return _known("blas", "gemm", real)


@cache
def lapack(routine: str, real: FloatType) -> str:
    """Return the name by which code calls a routine of LAPACK in a format, such as getrf, all arguments by address."""
    return _known("lapack", routine, real)


def _known(library: str, routine: str, real: FloatType) -> str:
    name = f"{'d' if real.bits == 64 else 's'}{routine}"
    symbol = f"symgrad.{name}"
    define(symbol, _address(library, name))
    return symbol


def _address(library: str, name: str) -> int:
    exports: Any = import_module(f"scipy.linalg.cython_{library}")
    capsule: Any = exports.__pyx_capi__.get(name)
    if capsule is None:
        raise KernelError(f"SciPy exports no {name}", cure="install SciPy from a wheel")
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule)))
