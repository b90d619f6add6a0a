"""Object files: linked from C, complete or absent."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from symgrad.errors import KernelError, UsageError
from symgrad.ir.graph import symbol
from symgrad.ir.types import BOOL, Declaration
from symgrad.kernel.artefact import c_identifier, c_prototype, write_artefacts, write_atomically
from symgrad.kernel.compile import compile_nodes
from symgrad.llvm.jit import emit_object
from tests.kernel.formulas import op, same_bits, sub, u, x

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang") or ""
needs_cc = pytest.mark.skipif(not CC or sys.platform == "win32", reason="no C compiler")


@pytest.fixture(scope="module")
def kernel():
    return compile_nodes(
        [op("sqrt", op("mul", op("mul", x, x), u)), op("sin", op("div", x, u))], [x, u], name="loss"
    )


def test_prototype(kernel):
    expected = "void loss(const double *x, const double *u, long n, double *z, double *dz)"
    assert c_prototype(kernel, ["z", "dz"]) == expected
    assert c_prototype(kernel).endswith("double *out0, double *out1)")
    odd = [
        symbol(Declaration("double")),
        symbol(Declaration("n")),
        symbol(Declaration("σ")),
        symbol(Declaration("b", BOOL)),
    ]
    k = compile_nodes(
        [op("where", odd[3], op("mul", odd[0], odd[1]), odd[2])], odd, name="sin-1", dtype="float32"
    )
    assert c_prototype(k) == (
        "void sin_1(const float *double_, const float *n_, const float *_u03C3, const unsigned char *b, "
        "long n, float *out)"
    )
    with pytest.raises(UsageError, match="1 names for 2 outputs"):
        c_prototype(kernel, ["z"])


def test_a_kernel_named_like_what_it_calls():
    k = compile_nodes([op("sin", x)], name="sin")
    assert c_prototype(k).startswith("void sin_(")
    assert c_prototype(compile_nodes([op("neg", x)], name="sqrtf")).startswith("void sqrtf_(")
    assert (c_identifier("malloc"), c_identifier("while"), c_identifier("")) == ("malloc_", "while_", "_")


@needs_cc
@pytest.mark.parametrize("cpu", ["host", "baseline"])
def test_a_c_program_that_links_the_object(kernel, tmp_path, cpu):
    files = write_artefacts(kernel, tmp_path / "loss.o", cpu=cpu, outputs=["z", "dz"])
    assert [f.name for f in files] == ["loss.ll", "loss.s", "loss.o", "loss.h"]
    assert sorted(f.name for f in tmp_path.iterdir()) == ["loss.h", "loss.ll", "loss.o", "loss.s"]
    (tmp_path / "main.c").write_text("""
        #include <stdio.h>
        #include "loss.h"
        int main(void) {
            double x[19], u[19], z[19], dz[19];
            for (int i = 0; i < 19; i++) { x[i] = i - 9.3; u[i] = 0.9 + 0.01*i; }
            loss(x, u, 19, z, dz);
            loss(x, u, 0, 0, 0);
            for (int i = 0; i < 19; i++) printf("%a %a\\n", z[i], dz[i]);
            return 0;
        }""")
    command = [CC, "-Wall", "-Werror", "-pedantic", "-std=c99", "main.c", "loss.o", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    rows = np.array([[float.fromhex(t) for t in line.split()] for line in printed.splitlines()])
    i = np.arange(19)
    z, dz = kernel(i - 9.3, 0.9 + 0.01 * i)
    assert same_bits(rows[:, 0], z)
    assert same_bits(rows[:, 1], dz)


@needs_cc
def test_a_shared_library_from_two_objects(tmp_path):
    """Position independent, and nothing but the entry is visible, so two kernels do not clash."""
    big = x
    for _ in range(40):
        big = op("add", op("exp", sub(big, u)), big)
    for name, node in (("first", big), ("second", op("lt", x, u))):
        write_artefacts(compile_nodes([node], [x, u], name=name), tmp_path / name)
    subprocess.run([CC, "-shared", "first.o", "second.o", "-lm", "-o", "both.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "both.so"))
    a, b = np.linspace(0, 1, 33), np.linspace(2, -1, 33)
    out, less = np.empty(33), np.empty(33, bool)
    for function, target in ((library.first, out), (library.second, less)):
        function(
            *(ctypes.c_void_p(v.ctypes.data) for v in (a, b)),
            ctypes.c_long(33),
            ctypes.c_void_p(target.ctypes.data),
        )
    assert same_bits(out, compile_nodes([big], [x, u])(a, b))
    assert same_bits(less, a < b)
    (tmp_path / "first.s").write_bytes((tmp_path / "first.s").read_bytes())
    subprocess.run([CC, "-c", "first.s", "-o", "again.o"], cwd=tmp_path, check=True)


def test_the_text_is_a_module_of_its_own(kernel, tmp_path):
    ll = write_artefacts(kernel, tmp_path / "k.v2")[0]
    assert ll.name == "k.v2.ll"
    text = ll.read_text()
    assert "target triple" in text
    assert "target datalayout" in text
    assert emit_object(text) == (tmp_path / "k.v2.o").read_bytes()


def test_nothing_half_written(kernel, tmp_path, monkeypatch):
    target = tmp_path / "k.o"
    target.write_bytes(b"old")

    def fail(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(KernelError, match=r"cannot write .*k\.o: No space left"):
            write_atomically(target, b"new")
    assert [f.name for f in tmp_path.iterdir()] == ["k.o"]
    assert target.read_bytes() == b"old"
    with pytest.raises(KernelError, match="cannot write"):
        write_artefacts(kernel, tmp_path / "no" / "such" / "folder")
    with pytest.raises(UsageError, match="unknown cpu"):
        write_artefacts(kernel, tmp_path / "k", cpu="pentium")  # pyright: ignore[reportArgumentType]
