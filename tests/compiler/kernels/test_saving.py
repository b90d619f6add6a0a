"""`Kernel.save`: a format for each suffix, other processors, and what cannot be written."""

from __future__ import annotations

import ctypes
import pickle
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.artefacts.metadata import opened
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.engine.jit import emit_object
from symgrad.compiler.llvm.engine.platforms import platform
from symgrad.compiler.llvm.engine.target import host
from symgrad.errors import FileError, KernelError, UnsupportedError, UsageError
from tests.compiler.kernels.c_libraries import on_a_point, on_arrays, on_strided
from tests.compiler.kernels.formulas import op, same_bits, x
from tests.compiler.kernels.test_artefact import needs_cc

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a shared library of Linux")

MACHINES = {
    "aarch64-linux-gnu": 183,
    "riscv64-linux-gnu": 243,
    "x86_64-linux-gnu": 62,
    "powerpc64le-linux-gnu": 21,
}
"""What an ELF file says of its machine (System V ABI, e_machine)."""


@pytest.fixture(scope="module")
def kernel() -> Any:
    p = sg.parse("x : real\nb : bool\nu : real\nz = where(b, exp(-x**2)*sin(u), x/u)")
    return sg.compile([p["z"], *sg.grad(p["z"], ["x", "u"]), p["b"]], ["x", "b", "u"])


def arrays(n: int = 77) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    a = rng.normal(size=n)
    return a, a > 0.3, rng.uniform(0.5, 1.5, n)


@linux
@needs_cc
def test_a_shared_library_has_the_functions_of_the_header(kernel: Any, tmp_path: Path) -> None:
    made, header = kernel.save(tmp_path / "wave.so", outputs=["z", "dx", "du", "b"])
    assert (made.name, header.name) == ("wave.so", "wave.h")
    assert "void wave(const double *x, const unsigned char *b, const double *u, int64_t n, double *z" in (
        header.read_text()
    )
    loaded = ctypes.CDLL(str(made))
    given = arrays()
    wanted = kernel(*given)
    for a, b in zip(on_arrays(loaded.wave, kernel, given), wanted, strict=True):
        assert same_bits(a, b)
    for i in (0, 5, 76):
        found = on_a_point(loaded.wave_point, kernel, [c[i] for c in given])
        assert found == tuple(w[i] for w in wanted)
    table = np.zeros((4, 2, 77))
    flags = np.zeros(77, bool)
    views = [given[0][::-1], given[1][::-1], np.array(0.75)]
    outputs = [table[0, 1], table[1, 0], table[2, 1][::-1], flags]
    on_strided(loaded.wave_strided, views, outputs, 77)
    for a, b in zip(outputs, kernel(given[0][::-1], given[1][::-1], 0.75), strict=True):
        assert same_bits(a, b)
    assert not table[0, 0].any()
    assert not table[1, 1].any()


def test_every_suffix(kernel: Any, tmp_path: Path) -> None:
    for suffix, start in ((".ll", b"target datalayout"), (".s", b"\t"), (".bc", b"BC\xc0\xde"), (".o", b"")):
        made = kernel.save(tmp_path / f"k{suffix}")
        assert made[0].read_bytes().startswith(start)
        assert [p.suffix for p in made[1:]] == ([".h"] if suffix == ".o" else [])
    text = (tmp_path / "k.ll").read_text()
    code, _ = opened((tmp_path / "k.o").read_bytes(), "k.o")
    assert emit_object(text) == code


def test_source_in_python_has_the_arguments_of_the_kernel(kernel: Any, tmp_path: Path) -> None:
    given = arrays()
    for stem, function in (("wave", "wave"), ("lambda", "lambda_"), ("a-b", "a_b")):
        (path,) = kernel.save(tmp_path / f"{stem}.py")
        namespace: dict[str, Any] = {}
        exec(path.read_text(), namespace)
        for a, b in zip(namespace[function](*given), kernel(*given), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    with pytest.raises(
        UnsupportedError, match="a kernel that was compiled from nodes has no source in Python"
    ):
        compile_nodes([op("sin", x)], [x]).save(tmp_path / "nodes.py")


def test_names(kernel: Any, tmp_path: Path) -> None:
    """That of `save`, else that of `compile`, else that of the file; what C keeps for itself is written otherwise."""
    X = sg.symbols("x")
    named = sg.compile(X**2, name="loss")
    for made, name, wanted in (
        (kernel, None, "file"),
        (kernel, "wave", "wave"),
        (named, None, "loss"),
        (named, "int", "int_"),
        (named, "*/ int evil; /*", "int_evil_"),
        (named, "sin", "sin_"),
    ):
        header = made.save(tmp_path / "file.c", name=name)[1].read_text()
        assert f"void {wanted}(" in header
        assert f"void {wanted}_strided(".replace("__", "_") in header
        assert header.count("/*") == header.count("*/") == 1
    again = pickle.loads(pickle.dumps(named))
    assert again.save(tmp_path / "file.py")[0].read_text().count("def loss(") == 1
    with pytest.raises(UsageError, match="1 names for 4 outputs"):
        kernel.save(tmp_path / "k.c", outputs=["z"])
    with pytest.raises(UsageError, match="1 names for 4 outputs"):
        kernel.save(tmp_path / "k.py", outputs=["z"])


@pytest.mark.parametrize("triple", MACHINES)
def test_objects_for_other_machines(kernel: Any, tmp_path: Path, triple: str) -> None:
    made, _ = kernel.save(tmp_path / "k.o", cpu="baseline", triple=triple)
    content = made.read_bytes()
    assert content[:5] == b"\x7fELF\x02"
    kind, machine = struct.unpack("<HH", content[16:20])
    assert (kind, machine) == (1, MACHINES[triple])
    assembly = kernel.save(tmp_path / "k.s", cpu="baseline", triple=triple)[0].read_text()
    # Instructions of that machine alone; the plainest of riscv64 has none for numbers with a point.
    wanted = {"aarch64": r"fmla\tv", "riscv64": "__adddf3", "x86_64": r"addpd\t%xmm", "powerpc64le": "xvmadd"}
    assert wanted[triple.split("-")[0]].encode().decode("unicode_escape") in assembly


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="processors of another kind")
def test_objects_for_other_processors(kernel: Any, tmp_path: Path) -> None:
    text = {
        cpu: kernel.save(tmp_path / "k.s", cpu=cpu)[0].read_text()
        for cpu in ("baseline", "x86-64-v2", "x86-64-v3", "x86-64-v4")
    }
    widest = {cpu: [r for r in ("xmm", "ymm", "zmm") if f"%{r}" in t][-1] for cpu, t in text.items()}
    assert widest == {"baseline": "xmm", "x86-64-v2": "xmm", "x86-64-v3": "ymm", "x86-64-v4": "zmm"}
    assert "vfmadd" in text["x86-64-v3"]
    assert "vfmadd" not in text["x86-64-v2"]


def test_what_is_not_known(kernel: Any, tmp_path: Path) -> None:
    for path, how, message in (
        ("k.exe", {}, "cannot write 'k.exe'"),
        ("k", {}, "cannot write 'k'"),
        ("k.o", {"cpu": "no-such"}, "no code for the processor 'no-such'"),
        ("k.o", {"cpu": "i386"}, "no code for the processor 'i386'"),
        ("k.o", {"cpu": "x; exit"}, "no code for the processor 'x; exit'"),
        ("k.o", {"triple": "quux"}, "no code for the kind of machine 'quux'"),
        ("k.o", {"triple": "aarch64-apple-macosx"}, "cpu='host' is this machine"),
        ("k.o", {"cpu": "baseline", "triple": "quux"}, "no code for the kind of machine 'quux'"),
        ("k.o", {"cpu": "baseline", "triple": "armv7-linux-gnueabihf"}, "addresses of 32 bits"),
        ("k.so", {"cpu": "baseline", "triple": "aarch64-linux-gnu"}, "needs the linker of such a machine"),
        ("k.c", {"cpu": "x86-64-v3"}, r"source \(.c\) is for every processor"),
        ("k.py", {"triple": "aarch64-linux-gnu"}, r"source \(.py\) is for every processor"),
    ):
        with pytest.raises(UsageError, match=message):
            kernel.save(tmp_path / path, **how)
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_written(kernel: Any, tmp_path: Path) -> None:
    for suffix in ("c", "o", "py"):
        with pytest.raises(FileError, match="cannot write"):
            kernel.save(tmp_path / "no" / "such" / f"k.{suffix}")
    (tmp_path / "k.c").mkdir()
    with pytest.raises(FileError, match="cannot write"):
        kernel.save(tmp_path / "k.c")


@linux
def test_without_a_linker(kernel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KernelError, match="a shared library needs a linker"):
        kernel.save(tmp_path / "k.so")
    failing = tmp_path / "cc"
    failing.write_text("#!/bin/sh\necho 'no space' >&2\nexit 1\n")
    failing.chmod(0o755)
    with pytest.raises(KernelError, match="cc could not link the kernel: no space"):
        kernel.save(tmp_path / "k.so")
    assert [p.name for p in tmp_path.iterdir()] == ["cc"]


def test_a_kernel_with_named_sizes_is_an_object_whose_sizes_are_arguments(tmp_path: Path) -> None:
    X = sg.tensor("X", ("n", "m"))
    _, header = sg.compile(sg.sum(X, axis=0), [X]).save(tmp_path / "sums.o")
    assert "int sums(const double *X, int64_t n, int64_t m, double *out);" in header.read_text()


def test_processors_are_described_by_what_their_code_is() -> None:
    assert platform("host") is host()
    there = platform("baseline", "aarch64-linux-gnu")
    assert (there.target.vector_bytes, there.target.fused, there.target.estimates) == (16, True, False)
