"""Make BLAS and LAPACK known to LLVM by name: the C functions that SciPy was built with, through its capsules."""

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

_BLAS_ROUTINES = ("gemm",)

_ROUTINE_NAMES: dict[str, str] = {}
"""The names of routines by the symbols that code calls."""


@cache
def gemm(real: FloatType, *, standalone: bool = False) -> str:
    """Return the symbol of the matrix product gemm in a format.

    Its arguments are those of the Fortran routine: transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, all by
    address.

    Args:
        real: the format.
        standalone: whether the code will be linked with a library that defines the routine by its Fortran name.
    """
    return _register("blas", "gemm", real, standalone)


@cache
def lapack(routine: str, real: FloatType, *, standalone: bool = False) -> str:
    """Return the symbol of a LAPACK routine such as getrf in a format; all its arguments are passed by address."""
    return _register("lapack", routine, real, standalone)


_PREFIX = "symgrad."
"""The prefix of symbols in code for this process; code that will be linked uses the names of Fortran."""


def register_symbols(names: Iterable[str]) -> None:
    """Register the routines of BLAS and LAPACK among the symbols that cached code or an object file calls.

    Raises:
        KernelError: if SciPy has no routine with such a name.
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
    """Return the names of the routines of BLAS and LAPACK among the symbols that code calls."""
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
    """Return an extension module of scipy.linalg without importing the package, which takes ten times as long.

    Cython creates only one module for a file, however often the file is loaded, so the package later finds the same
    module.
    """
    full = f"scipy.linalg.{name}"
    import scipy  # on Windows it sets the search path of the libraries

    spec = PathFinder.find_spec(full, [str(Path(folder) / "linalg") for folder in scipy.__path__])
    if "scipy.linalg" in sys.modules or spec is None or spec.loader is None:
        return import_module(full)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    # The import system sets the attribute of the package only for modules that it loads itself.
    sys.modules.pop(full, None)
    return module


def exported_address(exports: dict[str, object], name: str, signature: str | None = None) -> int:
    """Return the address of a C function that SciPy exports.

    Args:
        exports: the exports of a module of SciPy, by name.
        name: the function.
        signature: the C type of the function, if Cython generated several functions with this name from one source.

    Raises:
        KernelError: if there is no such function.
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
