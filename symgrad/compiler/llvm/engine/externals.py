"""Functions that code calls and does not define: C's, and ours that no library has; LLVM must know where they are."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from symgrad.compiler.llvm.engine.binding import llvm, lock, release_on_interrupt
from symgrad.support.errors import KernelError

__all__ = ["add_symbol", "is_in_c_library", "resolve", "resolve_all"]

_added: dict[str, int] = {}  # functions that are in no library by the names that code calls them by

# Code generation may call these by itself where the target has no instruction for them (rounding before
# SSE4.1, fma before FMA3, large copies), so they must be known although no module declares them.
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
    _IMPLICIT_CALLS += ("__chkstk",)  # probes the stack of functions with more than a page of locals


def _libraries() -> Iterator[ctypes.CDLL]:
    """Open, one after the other, the libraries that may have a C function."""
    if sys.platform == "win32":
        names: tuple[str | None, ...] = ("ucrtbase", "msvcrt", "vcruntime140", "ntdll")
    else:
        names = (None, "libm.so.6")  # Python itself is linked with libm nearly everywhere
    for name in names:
        with contextlib.suppress(OSError):
            yield _library(name)
    # To look a library up by name starts a linker on Linux: longer than it takes to compile a kernel, so last.
    from ctypes.util import find_library

    with contextlib.suppress(OSError):
        yield _library(find_library("m"))


@cache
def _library(name: str | None) -> ctypes.CDLL:
    # Of this process ctypes has opened one already, at least in CPython.
    return (None if name else getattr(ctypes, "pythonapi", None)) or ctypes.CDLL(name)


@cache
def resolve(name: str) -> int:
    """Return the address of a C function and make it known to LLVM.

    Raises:
        KernelError: if no library of this process has it.
    """
    with lock, release_on_interrupt():
        if name in _added:
            return _added[name]
        for library in _libraries():
            try:
                # As if it were data: a callable that nobody calls takes ctypes five times as long to make.
                address = ctypes.addressof(ctypes.c_char.in_dll(library, name))
            except ValueError:
                continue
            # Said explicitly on every platform: what a static Python or the C runtime of Windows exports
            # by itself differs.
            llvm.add_symbol(name, address)
            return address
        known = llvm.address_of_symbol(name)
        if known:
            return int(known)
    raise KernelError(
        f"the C library of this system has no function '{name}'",
        expected="a C99 math library",
        cure="rewrite the formula with functions that it has",
    )


def is_in_c_library(name: str) -> bool:
    """Tell whether this system's C library has a function or a variable of a name."""
    named = {"win32": ("ucrtbase",), "darwin": ("libSystem.B.dylib",)}
    found: list[ctypes.CDLL] = []
    for library in named.get(sys.platform, ("libc.so.6", "libm.so.6")):
        with contextlib.suppress(OSError):
            found.append(_library(library))
    # Of another name, it is among what this process is linked with.
    return any(hasattr(library, name) for library in found or [_library(None)])


def resolve_all(names: Iterable[str], code: bytes | None = None) -> None:
    """Make known to LLVM all that a module calls, and what code generation may call by itself.

    Args:
        names: what the module calls.
        code: its object file if there is one, in which whatever it calls has its name.

    Raises:
        KernelError: if no library of this process has one of them.
    """
    for name in _IMPLICIT_CALLS:
        if code is None or name.encode() in code:
            resolve(name)
    for name in names:
        resolve(name)


def add_symbol(name: str, address: int) -> None:
    """Make a function known to LLVM by a name of ours, which no C library has."""
    with lock, release_on_interrupt():
        llvm.add_symbol(name, address)
        _added[name] = address
