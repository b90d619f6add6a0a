"""Check by the metadata of a file whether this machine can run its code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symgrad.compiler.llvm.engine.target import host
from symgrad.support.errors import KernelError

_SAME = {"amd64": "x86_64", "arm64": "aarch64"}
_SYSTEMS = {"linux": "linux", "darwin": "macos", "macos": "macos", "win": "windows"}


def check_machine(note: Mapping[str, Any], name: str) -> None:
    """Check that this machine can run the code of a file.

    Args:
        note: the metadata of the kernel.
        name: the name of the file.

    Raises:
        KernelError: if it cannot, with the kind of machine, or the features that the processor lacks.
    """
    here = host()
    made_for, processor, features = str(note["triple"]), str(note["cpu"]), note["features"]
    if _kind(made_for) != _kind(here.triple):
        raise KernelError(
            f"'{name}' is for machines of the kind {made_for}",
            expected=f"code for this one, {here.triple}",
            cure=f'save it with cpu="baseline", triple="{here.triple}"',
        )
    if features is None:
        if processor != here.cpu:
            raise KernelError(
                f"'{name}' is for the processor {processor}, and this one is {here.cpu}: it is not known "
                "whether it has all features that the code uses",
                expected=f"code for {here.cpu}, or for all processors of a level",
                cure='save it with cpu="baseline", or a level as cpu="x86-64-v3"',
            )
        return
    has = {feature[1:] for feature in here.features.split(",") if feature.startswith("+")}
    missing = sorted(set(features) - has)
    if missing:
        raise KernelError(
            f"'{name}' is for processors with {', '.join(missing)}, which this one ({here.cpu}) lacks",
            expected="code that uses only features of this processor",
            cure='save it with cpu="baseline", or compile it here',
        )


def _kind(triple: str) -> tuple[str, str]:
    """Return the processor and the system of a triple, with normalised names."""
    first, *others = triple.split("-")
    system = next((s for word in others for start, s in _SYSTEMS.items() if word.startswith(start)), "")
    return _SAME.get(first, first), system
