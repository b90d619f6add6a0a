"""`load`: load a kernel from a file, after checks of the file and the machine."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symgrad.compiler.kernels.artefacts.metadata import ABI, opened
from symgrad.compiler.llvm.engine.jit import Engine, ObjectCode
from symgrad.compiler.loader.elementwise import LoadedKernel
from symgrad.compiler.loader.machine import check_machine
from symgrad.support.errors import FileError, KernelError

if TYPE_CHECKING:
    from symgrad.compiler.loader.arrays import LoadedArrayKernel
    from symgrad.compiler.loader.base import OwnedCode

_FILE_BYTES = 2**30
"""The largest size of a file, in bytes; machine code of a million equations has a tenth of it."""


class _Library:
    """A shared library. It is never unloaded, because callers may hold addresses in it."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def address(self, name: str) -> int:
        return ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value or 0


def load(path: str | os.PathLike[str]) -> LoadedKernel | LoadedArrayKernel:
    """Load a kernel that `Kernel.save` wrote: an object (``.o``), a shared library (``.so``), LLVM's text (``.ll``).

    The loaded kernel is called like the kernel that was saved, and gives the same bits. Loading a file runs the code in
    it. The checksum at its end detects accidental damage, but not malice, so load only files that you would run as a
    program.

    Args:
        path: the path of the file.

    Returns:
        A kernel: call it with arrays, by position or by name, with ``out=``, and for elementwise programs with
        ``where=``. It also has `scalar`, `address`, `c_signature` and `ufunc`, but no formulas.

    Raises:
        FileError: if there is no such file, if it is damaged or cut short, if it is not a file of a kernel, or if it
            was saved by a version of symgrad with another format.
        KernelError: if the file is for another kind of machine, or for a processor with features that this processor
            lacks, or if it calls functions that this system does not have.

    Example:
        >>> import tempfile
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saved = sg.compile(x**2, name="square").save(folder + "/square.o")
        ...     square = sg.load(saved[0])
        >>> square
        <Kernel square(x) -> 1 output, float64, loaded>
        >>> square(x=[1.0, 3.0])
        array([1., 9.])
    """
    path = Path(path)
    name = path.name
    content, note = opened(_content(path), name)
    if note.get("abi") != ABI:
        raise FileError(
            f"'{name}' was saved by symgrad {note.get('symgrad')}, in format {note.get('abi')}",
            expected=f"format {ABI}, which this version reads",
            cure="save the kernel again with this version",
        )
    check_machine(note, name)
    code = _machine_code(content, note, path)
    if "array" not in note:
        return LoadedKernel(code, note)
    from symgrad.compiler.loader.arrays import LoadedArrayKernel  # this module imports more of the package

    return LoadedArrayKernel(code, note)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(
            f"cannot read {path}: {reason}", cure="name a file that exists and may be read"
        ) from None
    if len(content) > _FILE_BYTES:
        raise FileError(f"'{path}' is too long", expected=f"at most {_FILE_BYTES:,} bytes")
    return content


def _machine_code(content: bytes, note: Mapping[str, Any], path: Path) -> OwnedCode:
    functions: Mapping[str, str] = note["functions"]
    needs = tuple(note["needs"])
    about = functions["about"].encode()
    if content.startswith(_OBJECTS) and not _is_shared(content):
        _provide(needs)
        names = frozenset(
            functions[way] for way in ("arrays", "about", *(("point",) * ("array" not in note)))
        )
        return Engine.of(ObjectCode(content, names, needs))
    if _is_shared(content):
        return _Library(_dlopened(content, path))
    if b"define" in content and about in content:
        _provide(needs)
        return Engine(content.decode())
    raise FileError(
        f"'{path.name}' has a note of symgrad, but no code that this machine could run",
        expected="an object (.o), a shared library (.so) or LLVM's text (.ll)",
    )


_ELF = b"\x7fELF"
_OBJECTS = (_ELF, b"\xcf\xfa\xed\xfe", b"\x64\x86", b"\x64\xaa")  # ELF, Mach-O, COFF for x86-64 and Arm


def _is_shared(content: bytes) -> bool:
    if content.startswith(_ELF):
        return content[16:18] in (b"\x03\x00", b"\x00\x03")  # e_type is ET_DYN
    if content.startswith(b"\xcf\xfa\xed\xfe"):
        return content[12] in (6, 8)  # MH_DYLIB, MH_BUNDLE
    return content.startswith(b"MZ")


def _dlopened(content: bytes, path: Path) -> ctypes.CDLL:
    """Load a library from a copy of the checked content: the system would reuse a loaded library with the same path."""
    import tempfile  # most kernels are objects

    handle, copy = tempfile.mkstemp(prefix="symgrad-", suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # Bind all symbols now: a failure of lazy binding ends the process.
        return ctypes.CDLL(copy, mode=os.RTLD_NOW | os.RTLD_LOCAL if hasattr(os, "RTLD_NOW") else 0)
    except OSError as error:
        raise KernelError(
            f"the system does not load '{path.name}': {error}",
            cure="install the missing library, or save the kernel as an object (.o) and load that",
        ) from None
    finally:
        with suppress(OSError):  # Windows does not delete a loaded library
            Path(copy).unlink()


def _provide(needs: tuple[str, ...]) -> None:
    """Register routines of BLAS and LAPACK, through SciPy."""
    if any(name.endswith("_") for name in needs):
        from symgrad.compiler.llvm.engine.blas import register_symbols  # for start-up time

        register_symbols(needs)
