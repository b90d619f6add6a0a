"""Object files: linked from C, complete or absent."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.compiler.kernels.artefacts.metadata import opened
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.engine.jit import emit_object
from symgrad.errors import FileError, UnsupportedError, UsageError
from symgrad.ir.graph import symbol
from symgrad.ir.types import BOOL, Declaration
from symgrad.support.files import write_atomically
from tests.compiler.kernels.formulas import op, same_bits, sub, u, x
from tests.compiler.kernels.headers import c_prototype
from tests.compiler.kernels.programs import W, X, array, ids, matmul, mean, op_with, w, y

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang") or ""
needs_cc = pytest.mark.skipif(not CC or sys.platform == "win32", reason="no C compiler")


@pytest.fixture(scope="module")
def kernel():
    return compile_nodes(
        [op("sqrt", op("mul", op("mul", x, x), u)), op("sin", op("div", x, u))], [x, u], name="loss"
    )


def test_prototype(kernel):
    expected = "void loss(const double *x, const double *u, int64_t n, double *z, double *dz)"
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
        "void sin_1(const float *double_, const float *n_2, const float *u03C3, const unsigned char *b, "
        "int64_t n, float *out)"
    )
    with pytest.raises(UsageError, match="1 names for 2 outputs"):
        c_prototype(kernel, ["z"])


def test_a_kernel_named_like_what_it_calls():
    k = compile_nodes([op("sin", x)], name="sin")
    assert c_prototype(k).startswith("void sin_(")
    assert c_prototype(compile_nodes([op("neg", x)], name="sqrtf")).startswith("void sqrtf_(")


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
    if cpu == "host":
        assert same_bits(rows[:, 1], dz)
    else:  # functions of ours use a*b + c with one rounding where it is an instruction
        np.testing.assert_array_almost_equal_nulp(rows[:, 1], dz, 2)


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
            ctypes.c_int64(33),
            ctypes.c_void_p(target.ctypes.data),
        )
    assert same_bits(out, compile_nodes([big], [x, u])(a, b))
    assert same_bits(less, a < b)
    (tmp_path / "first.s").write_bytes((tmp_path / "first.s").read_bytes())
    subprocess.run([CC, "-c", "first.s", "-o", "again.o"], cwd=tmp_path, check=True)


def test_prototypes_of_array_programs():
    k = compile_nodes([mean(matmul(X, w)), op_with("gather", ((0,),), y, ids)], [X, w, y, ids], name="loss")
    assert c_prototype(k, ["value", "picked"]) == (
        "int loss(const double *X, const double *w, const double *y, const int64_t *ids, int64_t n, int64_t m, "
        "double *value, double *picked)"
    )
    a, b = array("a", "n", "double"), array("double_", "double")
    k = compile_nodes([mean(a), mean(b)], [a, b], dtype="float32")
    assert c_prototype(k) == (
        "int kernel(const float *a, const float *double_, int64_t n, int64_t double_2, float *out0, float *out1)"
    )


@needs_cc
@pytest.mark.parametrize("cpu", ["host", "baseline"])
def test_a_c_program_that_calls_an_array_program(tmp_path, cpu):
    outputs = [
        mean((op_with("einsum", (((0, 1), (1,)), (0,)), X, w) - y) ** 2),
        op_with("softmax", ((0,),), y),
        op_with("gather", ((0,),), y, ids),
        op("lt", y, op_with("max", ((0,),), y)),
    ]
    k = compile_nodes(outputs, [X, w, y, ids], name="model")
    write_artefacts(k, tmp_path / "model", cpu=cpu, outputs=["loss", "weights", "picked", "below"])
    header = (tmp_path / "model.h").read_text()
    assert "X[n, 5], w[5], y[n], ids[m], weights[n], picked[m], below[n]." in header
    (tmp_path / "main.c").write_text("""
        #include <stdio.h>
        #include "model.h"
        int main(void) {
            double X[35], w[5], y[7], loss, weights[7], picked[3];
            unsigned char below[7];
            int64_t ids[3] = {6, -1, 0};
            for (int i = 0; i < 35; i++) X[i] = i - 9.3;
            for (int i = 0; i < 5; i++) w[i] = 0.9 + 0.01*i;
            for (int i = 0; i < 7; i++) y[i] = 1.5*i - 2;
            for (int again = 0; again < 3; again++)
                if (model(X, w, y, ids, 7, 3, &loss, weights, picked, below)) return 1;
            printf("%a\\n", loss);
            for (int i = 0; i < 7; i++) printf("%a\\n", weights[i]);
            for (int i = 0; i < 3; i++) printf("%a\\n", picked[i]);
            for (int i = 0; i < 7; i++) printf("%a\\n", (double)below[i]);
            return 0;
        }""")
    command = [CC, "-Wall", "-Werror", "-pedantic", "-std=c99", "main.c", "model.o", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    found = np.array([float.fromhex(line) for line in printed.split()])
    given = np.arange(35.0).reshape(7, 5) - 9.3, 0.9 + 0.01 * np.arange(5), 1.5 * np.arange(7) - 2, [6, -1, 0]
    expected = np.concatenate([np.ravel(e).astype(float) for e in k(*given)])
    # Other processors add in other groups.
    assert same_bits(found, expected) if cpu == "host" else np.allclose(found, expected, rtol=1e-14)


@needs_cc
def test_matrices_are_multiplied_by_the_blas_that_one_links(tmp_path):
    k = compile_nodes([matmul(X, W)], [X, W], name="layer")
    write_artefacts(k, tmp_path / "layer", cpu="baseline")  # whose large products are left to BLAS
    assert "-lblas" in (tmp_path / "layer.h").read_text()
    (tmp_path / "main.c").write_text("""
        #include <stdio.h>
        #include <stdlib.h>
        #include "layer.h"
        static int calls = 0;
        void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha,
                    const double *a, const int *lda, const double *b, const int *ldb, const double *beta,
                    double *c, const int *ldc) {
            calls++;
            if (*ta != 'N' || *tb != 'N' || *beta != 0) exit(2);
            for (int j = 0; j < *n; j++)
                for (int i = 0; i < *m; i++) {
                    double sum = 0;
                    for (int l = 0; l < *k; l++) sum += a[i + l * *lda] * b[l + j * *ldb];
                    c[i + j * *ldc] = *alpha * sum;
                }
        }
        int main(void) {
            enum { n = 20000 };
            static double X[5*n], W[15], out[3*n];
            double total = 0;
            for (int i = 0; i < 5*n; i++) X[i] = i % 7;
            for (int i = 0; i < 15; i++) W[i] = i;
            if (layer(X, W, n, out)) return 1;
            for (int i = 0; i < 3*n; i++) total += out[i]*(i + 1);
            printf("%d %.0f\\n", calls, total);
            return 0;
        }""")
    subprocess.run([CC, "-std=c99", "main.c", "layer.o", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    product = (np.arange(100000.0) % 7).reshape(20000, 5) @ np.arange(15.0).reshape(5, 3)
    assert printed == f"1 {np.sum(product.ravel() * np.arange(1, 60001)):.0f}\n"


def test_the_text_is_a_module_of_its_own(kernel, tmp_path):
    ll = write_artefacts(kernel, tmp_path / "k.v2")[0]
    assert ll.name == "k.v2.ll"
    text = ll.read_text()
    assert "target triple" in text
    assert "target datalayout" in text
    code, note = opened((tmp_path / "k.v2.o").read_bytes(), "k.v2.o")
    assert emit_object(text) == code
    assert opened(ll.read_bytes(), ll.name)[1] == note


def test_nothing_half_written(kernel, tmp_path, monkeypatch):
    target = tmp_path / "k.o"
    target.write_bytes(b"old")

    def fail(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(FileError, match=r"cannot write .*k\.o: No space left"):
            write_atomically(target, b"new")
    assert [f.name for f in tmp_path.iterdir()] == ["k.o"]
    assert target.read_bytes() == b"old"
    with pytest.raises(FileError, match="cannot write"):
        write_artefacts(kernel, tmp_path / "no" / "such" / "folder")
    with pytest.raises(UsageError, match="no code for the processor 'pentium'"):
        write_artefacts(kernel, tmp_path / "k", cpu="pentium")


def test_object_and_header_are_written_together_or_not_at_all(kernel, tmp_path, monkeypatch):
    """On a disk that has room for one of them, both stay as they were."""
    for name in ("k.o", "k.h"):
        (tmp_path / name).write_bytes(b"old")
    opened: list[str] = []
    real = Path.open

    def full(self: Path, mode: str = "r", **how: Any) -> Any:
        if "x" in mode:
            opened.append(mode)
            if len(opened) == 2:
                raise OSError(28, "No space left on device")
        return real(self, mode, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(FileError, match=r"(?s)cannot write .*k\.\w: No space left.*make room"):
            write_artefacts(kernel, tmp_path / "k")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["k.h", "k.o"]
    assert {f.read_bytes() for f in tmp_path.iterdir()} == {b"old"}


@pytest.mark.parametrize("wrap", [lambda node: node, mean])
def test_what_only_scipy_has_is_named_with_the_file_that_cannot_have_it(tmp_path, wrap):
    node = y if wrap is mean else x
    kernel = compile_nodes([wrap(op("add", op("mul", op("li", node), op("sin", node)), op("Si", node)))])
    with pytest.raises(UnsupportedError) as caught:
        write_artefacts(kernel, tmp_path / "file", cpu="baseline")
    error = caught.value
    assert error.what.startswith("the code of li, Si is SciPy's, which an object file (cpu='baseline')")
    assert error.expected
    assert error.cure
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_order_without_code_is_an_error_of_the_op_by_name(dtype):
    node = op("add", x, op_with("polygamma", (200,), x))
    for outputs in ([node], [mean(op_with("polygamma", (200,), y))]):
        with pytest.raises(UnsupportedError) as caught:
            compile_nodes(outputs, dtype=dtype)
        assert caught.value.what == "polygamma of order 200 has no native code"
        assert caught.value.expected
        assert caught.value.cure
