"""What the header of a kernel declares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.compiler.kernels.kernel import Kernel


def c_prototype(kernel: Kernel, outputs: Sequence[str] | None = None) -> str:
    """Return the C declaration of a kernel's function."""
    with TemporaryDirectory() as folder:
        (header,) = write_artefacts(kernel, Path(folder) / "k", outputs=outputs, suffixes=(".h",))
        return header.read_text(encoding="utf-8").split("#endif\n\n")[1].split(";\n")[0]
