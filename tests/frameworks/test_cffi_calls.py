"""Kernels called by cffi: in memory, and as a library that was saved."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import symgrad as sg

cffi: Any = import_module("cffi")


def gaussian() -> Any:
    x, a = sg.symbols("x a")
    f = sg.exp(-a * x**2)
    return sg.compile([f, *sg.grad(f, [x, a])], inputs=[x, a], name="gaussian")


def called(function: Any) -> tuple[float, ...]:
    out = cffi.FFI().new("double[3]")
    function(0.5, 1.5, out, out + 1, out + 2)
    return tuple(out)


def test_the_code_in_memory() -> None:
    kernel = gaussian()
    pointer = kernel.c_signature.replace("gaussian_point", "(*)")
    assert called(cffi.FFI().cast(pointer, kernel.address)) == kernel.scalar(0.5, 1.5)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no linker")
def test_a_saved_library_by_its_declaration(tmp_path: Path) -> None:
    kernel = gaussian()
    kernel.save(tmp_path / "gaussian.so")
    ffi = cffi.FFI()
    ffi.cdef(kernel.c_signature + ";")
    library = ffi.dlopen(str(tmp_path / "gaussian.so"))
    assert called(library.gaussian_point) == kernel.scalar(0.5, 1.5)
