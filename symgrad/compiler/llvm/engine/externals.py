"""External symbols: addresses of the functions that code calls but does not define, in C libraries or in symgrad."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from symgrad.compiler.llvm.engine.binding import llvm, lock, release_on_interrupt
from symgrad.support.errors import KernelError

_added: dict[str, int] = {}  # addresses of functions that are in no library, by symbol

# LLVM may insert calls of these functions if the target has no instruction for them (rounding before SSE4.1, fma before
# FMA3, large copies), so they must be known although no module declares them.
_IMPLICIT_CALLS: tuple[str, ...] = (
    "floor",
    "ceil",
    "rint",
    "fma",
    "floorf",
    "ceilf",
    "rintf",
    "fmaf",
    "memcpy",
    "memset",
    "memmove",
)
if sys.platform == "win32":
    _IMPLICIT_CALLS += ("__chkstk",)  # the stack probe of functions with more than a page of locals


def _libraries() -> Iterator[ctypes.CDLL]:
    """Yield the libraries that may define a C function, the cheapest to open first."""
    if sys.platform == "win32":
        names: tuple[str | None, ...] = ("ucrtbase", "msvcrt", "vcruntime140", "ntdll")
    else:
        names = (None, "libm.so.6")  # None: this process; Python is linked with libm nearly everywhere
    for name in names:
        with contextlib.suppress(OSError):
            yield _library(name)
    # This is last, since on Linux the lookup starts a linker, which takes longer than compiling a kernel.
    from ctypes.util import find_library

    with contextlib.suppress(OSError):
        yield _library(find_library("m"))


@cache
def _library(name: str | None) -> ctypes.CDLL:
    # ctypes has already opened this process, at least in CPython.
    return (None if name else getattr(ctypes, "pythonapi", None)) or ctypes.CDLL(name)


@cache
def resolve(name: str) -> int:
    """Return the address of a C function and register it with LLVM.

    Raises:
        KernelError: if no library of this process defines it.
    """
    with lock, release_on_interrupt():
        if name in _added:
            return _added[name]
        for library in _libraries():
            try:
                # The address is looked up as data, since ctypes takes five times as long to create a callable.
                address = ctypes.addressof(ctypes.c_char.in_dll(library, name))
            except ValueError:
                continue
            # The symbol is registered on every platform, since a static Python and the C runtime of Windows export
            # different symbols.
            llvm.add_symbol(name, address)
            return address
        known = llvm.address_of_symbol(name)
        if known:
            return int(known)
    raise KernelError(
        f"the C library of this system has no function '{name}'",
        expected="a C99 math library",
        cure="rewrite the formula with other functions",
    )


def is_in_c_library(name: str) -> bool:
    """Return whether the C library of this system defines a function or a variable with this name."""
    named = {"win32": ("ucrtbase",), "darwin": ("libSystem.B.dylib",)}
    found: list[ctypes.CDLL] = []
    for library in named.get(sys.platform, ("libc.so.6", "libm.so.6")):
        with contextlib.suppress(OSError):
            found.append(_library(library))
    # If the C library has another name, this process is linked with it.
    return any(hasattr(library, name) for library in found or [_library(None)])


def resolve_all(names: Iterable[str], code: bytes | None = None) -> None:
    """Register with LLVM all functions that a module calls, and those that LLVM may call implicitly.

    Args:
        names: the functions that the module declares.
        code: the object file of the module, if there is one; it contains the names of the functions that it calls
            implicitly.

    Raises:
        KernelError: if no library of this process defines one of them.
    """
    for name in _IMPLICIT_CALLS:
        if code is None or name.encode() in code:
            resolve(name)
    for name in names:
        resolve(name)


def add_symbol(name: str, address: int) -> None:
    """Register a function with LLVM under a name that no C library has."""
    with lock, release_on_interrupt():
        llvm.add_symbol(name, address)
        _added[name] = address
