"""BLAS and LAPACK through SciPy's pointers: C functions of what SciPy was built with, made known to LLVM by name."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

from symgrad.compiler.llvm.engine.externals import add_symbol
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64, FloatType
from symgrad.support.errors import KernelError

__all__ = ["exported_address", "gemm", "lapack", "register_symbols", "routines"]


_BLAS_ROUTINES = ("gemm",)

_ROUTINE_NAMES: dict[str, str] = {}
"""Routines by the names by which code calls them."""


@cache
def gemm(real: FloatType, *, standalone: bool = False) -> str:
    """Return the name by which code calls the product of matrices in a format.

    Its arguments are those of Fortran: transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, all by address.

    Args:
        real: the format.
        standalone: whether the code will be linked with a library that has the routine by its own name.
    """
    return _register("blas", "gemm", real, standalone)


@cache
def lapack(routine: str, real: FloatType, *, standalone: bool = False) -> str:
    """Return the name by which code calls a routine of LAPACK in a format, such as getrf, all arguments by address."""
    return _register("lapack", routine, real, standalone)


_PREFIX = "symgrad."
"""What the names begin with by which code of this process calls routines; what is linked has those of Fortran."""


def register_symbols(names: Iterable[str]) -> None:
    """Make known to LLVM the routines of BLAS and LAPACK that code of another process calls by its names, or an object.

    Raises:
        KernelError: if SciPy has none of such a name.
    """
    for name in names:
        standalone = not name.startswith(_PREFIX)
        kind, routine = name[0], name[1:-1]
        if not standalone:
            kind, routine = name[len(_PREFIX) :][:1], name[len(_PREFIX) + 1 :]
        named = 4 <= len(routine) <= 6 and routine.isascii() and routine.isalpha() and routine.islower()
        if named and kind in "ds" and (name[-1] == "_" or not standalone):
            library = "blas" if routine in _BLAS_ROUTINES else "lapack"
            _register(library, routine, FLOAT64 if kind == "d" else FLOAT32, standalone)


def routines(names: Iterable[str]) -> list[str]:
    """Return the routines of BLAS and LAPACK among the functions that code calls."""
    return sorted(_ROUTINE_NAMES[name] for name in names if name in _ROUTINE_NAMES)


def _register(library: str, routine: str, real: FloatType, standalone: bool) -> str:
    name = f"{'d' if real.bits == 64 else 's'}{routine}"
    symbol = f"{name}_" if standalone else f"{_PREFIX}{name}"
    add_symbol(symbol, _address(library, name))
    _ROUTINE_NAMES[symbol] = name
    return symbol


def _address(library: str, name: str) -> int:
    exports: dict[str, object] = _module(f"cython_{library}").__pyx_capi__
    return exported_address(exports, name)


def _module(name: str) -> Any:
    """Return an extension module of scipy.linalg without the package, which takes ten times as long to import.

    Cython makes one module of a file, however often it is loaded, so the package finds the same one later.
    """
    full = f"scipy.linalg.{name}"
    import scipy  # Windows looks for the libraries where this says

    spec = PathFinder.find_spec(full, [str(Path(folder) / "linalg") for folder in scipy.__path__])
    if "scipy.linalg" in sys.modules or spec is None or spec.loader is None:
        return import_module(full)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    # The import system makes a module an attribute of its package only when it loads it itself.
    sys.modules.pop(full, None)
    return module


def exported_address(exports: dict[str, object], name: str, signature: str | None = None) -> int:
    """Return the address of a C function that SciPy exports.

    Args:
        exports: what a module of SciPy exports, by name.
        name: the function.
        signature: its type, of those of this name that Cython made from one text.

    Raises:
        KernelError: if there is none.
    """
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    for spelled in (name, *(f"__pyx_fuse_{k}{name}" for k in range(4))):
        capsule = exports.get(spelled)
        if capsule is not None:
            found = api.PyCapsule_GetName(capsule)
            if signature is None or found.decode() == signature:
                return int(api.PyCapsule_GetPointer(capsule, found))
    raise KernelError(f"SciPy exports no {name}", cure="install SciPy from a wheel")
