"""Write kernels to files: native formats, or Python source over NumPy."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from pathlib import Path

from symgrad.compiler.c.identifiers import c_identifier
from symgrad.compiler.kernels.compile import save_native
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.support.errors import UsageError
from symgrad.support.files import write_atomically


def save(
    kernel: Kernel,
    path: str | Path,
    *,
    name: str | None = None,
    outputs: Sequence[str] | None = None,
    cpu: str = "host",
    triple: str | None = None,
) -> tuple[Path, ...]:
    """Write a kernel in the format that the suffix of a path selects; see `Kernel.save`."""
    path = Path(path)
    if path.suffix != ".py":
        return save_native(kernel, path, name=name, outputs=outputs, cpu=cpu, triple=triple)
    from symgrad.compiler.kernels.artefacts.artefact import check_path  # most kernels are never written
    from symgrad.printing.numpy.source import numpy_source

    check_path(path, cpu, triple)
    if outputs is not None and len(outputs) != len(kernel.outputs):
        raise UsageError(f"{len(outputs)} names for {len(kernel.outputs)} outputs")
    function = name or (path.stem if kernel.name == "kernel" else kernel.name)
    function = function if function.isidentifier() else c_identifier(function)
    nodes = kernel.outputs[0] if len(kernel.outputs) == 1 else kernel.outputs
    text = numpy_source(nodes, name=function + "_" * keyword.iskeyword(function), inputs=kernel.symbols)
    write_atomically(path, text.encode())
    return (path,)
