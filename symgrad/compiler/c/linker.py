"""Link shared libraries with the C compiler or the linker of this machine."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from symgrad.support.errors import KernelError

_LINKERS = ("cc", "gcc", "clang", "ld", "ld.lld")


def shared_library(code: bytes, libraries: Sequence[str]) -> bytes:
    """Link an object.

    Args:
        code: the object file.
        libraries: options for the libraries that it calls.

    Raises:
        KernelError: if there is no linker, or it fails.
    """
    linker = next(filter(None, map(shutil.which, _LINKERS)), None)
    if linker is None:
        raise KernelError(
            "a shared library needs a linker, and there is none on this machine",
            expected=f"one of {', '.join(_LINKERS)} among the programs of PATH",
            cure="write an object (.o), and link that elsewhere",
        )
    with tempfile.TemporaryDirectory(prefix="symgrad-") as folder:
        library = Path(folder) / "kernel.so"
        (Path(folder) / "kernel.o").write_bytes(code)
        command = [linker, "-shared", "-o", str(library), "kernel.o", *libraries]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode or not library.exists():
            raise KernelError(
                f"{Path(linker).name} could not link the kernel: {done.stderr.strip() or 'it says nothing'}",
                cure="write an object (.o), and link that by hand",
            )
        return library.read_bytes()
