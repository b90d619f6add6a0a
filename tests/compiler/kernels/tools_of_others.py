"""Assemblers, linkers and compilers for other machines: on the path, or in packages that have them."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["aarch64_compiler", "aarch64_emulator", "ptxas", "wasm_linker"]


def _folders(package: str) -> list[Path]:
    try:
        found = find_spec(package)
    except ModuleNotFoundError:
        return []
    return [Path(p) for p in (found.submodule_search_locations or ())] if found is not None else []


def _zig(*command: str) -> list[str] | None:
    """A command of Zig, whose package ``ziglang`` has a compiler and linkers for many machines."""
    for folder in _folders("ziglang"):
        program = shutil.which("zig", path=str(folder))
        if program is not None:
            return [program, *command]
    return None


def _here(name: str) -> list[str] | None:
    program = shutil.which(name)
    return None if program is None else [program]


def ptxas() -> list[str] | None:
    """NVIDIA's assembler: of CUDA, or of the package ``nvidia-cuda-nvcc-cu12``."""
    if (found := _here("ptxas")) is not None:
        return found
    name = "ptxas.exe" if sys.platform == "win32" else "ptxas"
    for folder in _folders("nvidia"):
        for program in sorted(folder.glob(f"*/bin/{name}")):
            return [str(program)]
    return None


def wasm_linker() -> list[str] | None:
    return _here("wasm-ld") or _zig("wasm-ld")


def aarch64_compiler() -> list[str] | None:
    return _here("aarch64-linux-gnu-gcc") or _zig("cc", "-target", "aarch64-linux-musl")


def aarch64_emulator() -> list[str] | None:
    return _here("qemu-aarch64") or _here("qemu-aarch64-static")
