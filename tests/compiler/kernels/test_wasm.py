"""Kernels as objects of WebAssembly: linked and run where there is a linker and a runtime."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedError, UsageError
from tests.compiler.kernels.c_libraries import as_c_has_it
from tests.compiler.kernels.formulas import same_bits
from tests.compiler.kernels.test_grids import given, wave
from tests.compiler.kernels.tools_of_others import wasm_linker

LINKER = wasm_linker()
needs_runtime = pytest.mark.skipif(
    LINKER is None or find_spec("wasmtime") is None,
    reason="no linker or no runtime of WebAssembly: pip install ziglang wasmtime",
)
NAMES = ("wave", "wave_strided", "wave_point")


def sections(content: bytes) -> dict[int, bytes]:
    """The sections of a module by their numbers; those without a number of their own are left out."""
    assert content[:8] == b"\0asm\1\0\0\0"
    found: dict[int, bytes] = {}
    at = 8
    while at < len(content):
        kind = content[at]
        size, at = leb128(content, at + 1)
        if kind:
            found[kind] = content[at : at + size]
        at += size
    return found


def leb128(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_object_needs_nothing_but_memory(dtype: str, tmp_path: Path) -> None:
    made, header = wave(dtype).save(tmp_path / "wave.wasm")
    imported = sections(made.read_bytes())[2]
    count, _ = leb128(imported, 0)
    # Memory and the pointer of the stack, of the linker; no function of C's.
    assert count <= 2
    assert b"__linear_memory" in imported
    number = {"float64": "double", "float32": "float"}[dtype]
    assert f"void wave_point({number} x, unsigned char b, {number} u, {number} *z," in header.read_text()


def test_versions(tmp_path: Path) -> None:
    kernel = wave()
    made, header = kernel.save(tmp_path / "int.wasm")
    for name in ("int_", "int_strided", "int_point"):  # what C keeps for itself is written otherwise
        assert f"void {name}(" in header.read_text()
        assert bytes([len(name)]) + name.encode() in made.read_bytes()
    plain, _ = kernel.save(tmp_path / "plain.wasm", cpu="mvp", name="wave")
    today, _ = kernel.save(tmp_path / "today.wasm", name="wave")
    assert b"+\x07simd128" in today.read_bytes()
    assert b"simd128" not in plain.read_bytes()
    with pytest.raises(UsageError, match="there is no WebAssembly 'mvp2'") as refused:
        kernel.save(tmp_path / "k.wasm", cpu="mvp2")
    assert "near it: mvp" in str(refused.value)
    X = sg.tensor("X", ("n", "m"))
    sums = sg.compile(sg.sum(X, axis=0), [X])
    with pytest.raises(UnsupportedError, match="there is no WebAssembly of"):
        sums.save(tmp_path / "k.wasm")


class Instance:
    """A linked object in a runtime, with arrays in its memory."""

    def __init__(self, made: Path) -> None:
        assert LINKER is not None
        wasmtime: Any = import_module("wasmtime")
        linked = made.with_suffix(".linked")
        exports = [f"--export={name}" for name in (*NAMES, "__heap_base")]
        command = [*LINKER, "--no-entry", *exports, "--initial-memory=1048576", str(made), "-o", str(linked)]
        subprocess.run(command, check=True)
        self._store = wasmtime.Store()
        module = wasmtime.Module.from_file(self._store.engine, str(linked))
        assert not module.imports
        self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory = self._exports["memory"]
        self._free = self._exports["__heap_base"].value(self._store)

    def put(self, array: np.ndarray) -> int:
        place = -(-self._free // 16) * 16
        self._free = place + array.nbytes
        self._memory.write(self._store, array.tobytes(), place)
        return place

    def get(self, place: int, like: np.ndarray) -> np.ndarray:
        raw = self._memory.read(self._store, place, place + like.nbytes)
        return np.frombuffer(bytes(raw), like.dtype)

    def call(self, name: str, arguments: Sequence[Any]) -> None:
        self._exports[name](self._store, *arguments)


@needs_runtime
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("cpu", ["host", "mvp"])
def test_it_has_the_bits_of_processors_without_a_fused_product(dtype: str, cpu: str, tmp_path: Path) -> None:
    kernel = wave(dtype)
    instance = Instance(kernel.save(tmp_path / "wave.wasm", cpu=cpu)[0])
    n = 77
    arrays = [np.asarray(a, kind) for a, kind in zip(given(n), kernel.kinds, strict=False)]
    wanted = as_c_has_it(kernel, fused=False, arrays=arrays)
    outputs = [np.zeros(n, kind) for kind in kernel.kinds[3:]]
    ins, outs = [instance.put(a) for a in arrays], [instance.put(a) for a in outputs]
    instance.call("wave", [*ins, n, *outs])
    for place, like, w in zip(outs, outputs, wanted, strict=True):
        assert same_bits(instance.get(place, like), w)
    for i in (0, 5, 76):
        instance.call("wave_point", [*(a[i].item() for a in arrays), *outs])
        for place, like, w in zip(outs, outputs, wanted, strict=True):
            assert same_bits(instance.get(place, like)[:1], w[i : i + 1])
    last = [p + (n - 1) * a.itemsize for p, a in zip(ins, arrays, strict=True)]
    given_strides = [x for p in last for x in (p, -1)]
    instance.call("wave_strided", [*given_strides, n, *(x for p in outs for x in (p, 1))])
    for place, like, w in zip(outs, outputs, wanted, strict=True):
        assert same_bits(instance.get(place, like), w[::-1].copy())
    instance.call("wave_strided", [ins[0], 0, ins[1], 0, ins[2], 0, n, *(x for p in outs for x in (p, 1))])
    for place, like, w in zip(outs, outputs, wanted, strict=True):
        assert same_bits(instance.get(place, like), np.repeat(w[:1], n))


@needs_runtime
def test_sines_of_large_angles_need_no_library(tmp_path: Path) -> None:
    x = sg.symbols("x")
    instance = Instance(sg.compile(sg.sin(x)).save(tmp_path / "wave.wasm", name="wave")[0])
    angles = np.array([1e6, -3e8, 1e22, 2.0**1000, 6381956970095103.0 * 2.0**797])
    place, out = instance.put(angles), instance.put(np.zeros(5))
    instance.call("wave", [place, 5, out])
    np.testing.assert_array_max_ulp(instance.get(out, angles), np.sin(angles), 1)
