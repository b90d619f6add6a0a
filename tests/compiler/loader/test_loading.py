"""`symgrad.load`: the kernel that was saved, without its formulas; and files that are never run."""

from __future__ import annotations

import json
import pickle
import random
import shutil
import struct
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from scipy.integrate import nquad, quad
from scipy.ndimage import generic_filter

import symgrad as sg
from symgrad.compiler.kernels.artefacts.metadata import opened, sealed
from symgrad.errors import (
    ArrayTypeError,
    DomainError,
    FileError,
    IndexRangeError,
    KernelError,
    MissingInputError,
    ShapeError,
    UnsupportedError,
    UsageError,
)
from tests.compiler.kernels.formulas import same_bits
from tests.compiler.kernels.test_artefact import needs_cc

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a shared library of Linux")
SUFFIXES = [
    ".o",
    ".ll",
    pytest.param(".so", marks=[linux, needs_cc]),
]


@pytest.fixture(scope="module")
def kernel() -> Any:
    p = sg.parse("x : real\nb : bool\nu : real\nz = where(b, exp(-x**2)*sin(u), x/u)")
    return sg.compile([p["z"], *sg.grad(p["z"], ["x", "u"]), p["b"]], ["x", "b", "u"], name="wave")


def arrays(n: int = 77) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    a = rng.normal(size=n)
    return a, a > 0.3, rng.uniform(0.5, 1.5, n)


def equal(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(map(same_bits, a, b))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_loaded_kernel_is_called_as_the_one_that_was_saved(
    kernel: Any, suffix: str, tmp_path: Path
) -> None:
    kernel.save(tmp_path / f"k{suffix}")
    loaded: Any = sg.load(tmp_path / f"k{suffix}")
    x, b, u = arrays()
    wanted = kernel(x, b, u)
    for _ in range(3):
        assert equal(loaded(x, b, u), wanted)
    assert equal(loaded(x, u=u, b=b), wanted)
    assert equal(loaded(x[::-2], b[::-2], 0.75), kernel(x[::-2], b[::-2], 0.75))
    assert equal(loaded(x[:, None], True, u), kernel(x[:, None], True, u))
    assert equal(loaded(x.astype(np.float32), b, [*u]), kernel(x.astype(np.float32), b, [*u]))
    out = tuple(np.empty(77, kind) for kind in kernel.kinds[3:])
    assert loaded(x, b, u, out=out)[0] is out[0]
    assert equal(out, wanted)
    assert equal(loaded(x, b, u, where=b), kernel(x, b, u, where=b))
    assert loaded.scalar(0.25, True, 0.75) == kernel.scalar(0.25, True, 0.75)
    assert loaded.c_signature == kernel.c_signature
    assert loaded.address
    assert equal(loaded.ufunc(x, b, u), wanted)
    assert (loaded.inputs, loaded.kinds, loaded.dtype, loaded.name) == (
        kernel.inputs,
        kernel.kinds,
        kernel.dtype,
        kernel.name,
    )
    assert repr(loaded) == "<Kernel wave(x, b, u) -> 4 outputs, float64, loaded>"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_array_programs(suffix: str, tmp_path: Path) -> None:
    """With named, fixed and computed sizes, positions, a batch, products of BLAS, and factors of LAPACK."""
    p = sg.parse(
        "X : real[n, d]; w : real[d]; i : int[m]; S : real[3, 3]; y : real[n]\n"
        "loss = sum((tanh(X@w) - y)**2) + sum(w[i]) + sum(X[1:]@X.T) + sum(solve(S, ones(3)))"
    )
    kernel = sg.compile([p["loss"], sg.grad(p["loss"], p["w"]), p["X"][1:]], name="fit")
    if suffix == ".so":
        try:
            kernel.save(tmp_path / "k.so")
        except KernelError:
            pytest.skip("there is no BLAS to link with")
    kernel.save(tmp_path / f"k{suffix}")
    loaded: Any = sg.load(tmp_path / f"k{suffix}")
    assert loaded.signature == kernel.signature  # type: ignore[attr-defined]
    assert loaded.sizes == kernel.sizes  # type: ignore[attr-defined]
    rng = np.random.default_rng(1)
    given = {
        "X": rng.normal(size=(40, 50)),
        "w": rng.normal(size=50),
        "i": np.array([0, 3, -1]),
        "S": np.eye(3) + rng.normal(size=(3, 3)) / 9,
        "y": rng.normal(size=40),
    }
    assert equal(loaded(**given), kernel(**given))
    batch = {**given, "w": rng.normal(size=(4, 50))}
    assert equal(loaded(**batch), kernel(**batch))
    for wrong, error in (
        ({"i": np.array([50])}, IndexRangeError),
        ({"w": np.ones(3)}, ShapeError),
        ({"S": np.ones((2, 2))}, ShapeError),
        ({"i": np.array([0.5])}, ArrayTypeError),
        ({"X": np.ma.masked_array(given["X"])}, ArrayTypeError),
    ):
        with pytest.raises(error):
            loaded(**{**given, **wrong})
        with pytest.raises(error):
            kernel(**{**given, **wrong})
    with pytest.raises(UnsupportedError):
        loaded(**given, where=np.array(True))


def test_what_calls_check(tmp_path: Path) -> None:
    p = sg.parse("x : real[n]; k : int(0, 5)[n]\nz = x*k")
    kernel = sg.compile(p["z"])
    kernel.save(tmp_path / "k.o")
    loaded: Any = sg.load(tmp_path / "k.o")
    assert same_bits(loaded([1.0, 2.0], [3, 4]), kernel([1.0, 2.0], [3, 4]))
    for given, error in (
        (([1.0], [3, 4]), ShapeError),
        (([1.0, 2.0], [3, 9]), DomainError),
        (([1.0, 2.0], [3, 0.5]), ArrayTypeError),
        (([1.0, 2j], [3, 4]), sg.errors.ComplexInputError),
        (([1.0, 2.0],), MissingInputError),
        ((["a", "b"], [3, 4]), ArrayTypeError),
    ):
        with pytest.raises(error):
            loaded(*given)
        with pytest.raises(error):
            kernel(*given)


def test_many_arguments_and_none(tmp_path: Path) -> None:
    """More than a ufunc may have, and a constant."""
    names = [f"x{k}" for k in range(70)]
    symbols = sg.symbols(" ".join(names))
    many = sg.compile(sum(s * (k + 1) for k, s in enumerate(symbols)), inputs=[*symbols])
    many.save(tmp_path / "many.o")
    loaded: Any = sg.load(tmp_path / "many.o")
    given = [*np.random.default_rng(2).normal(size=(70, 5))]
    assert same_bits(loaded(*given), many(*given))
    with pytest.raises(KernelError):
        _ = loaded.ufunc
    none = sg.compile(sg.exp(sg.parse("x : real\ny = 2")["y"]), inputs=[])
    none.save(tmp_path / "none.o")
    assert sg.load(tmp_path / "none.o")() == none()


def test_a_loaded_kernel_keeps_its_code(kernel: Any, tmp_path: Path) -> None:
    kernel.save(tmp_path / "k.o")
    x, b, u = arrays()
    ufunc = sg.load(tmp_path / "k.o").ufunc
    function = sg.load(tmp_path / "k.o").scalar
    (tmp_path / "k.o").unlink()
    assert equal(ufunc(x, b, u), kernel(x, b, u))
    assert function(0.5, False, 2.0) == kernel.scalar(0.5, False, 2.0)
    with pytest.raises(UnsupportedError, match="machine code cannot be pickled"):
        pickle.dumps(sg.load(kernel.save(tmp_path / "k.o")[0]))


@pytest.mark.parametrize("suffix", [".o", pytest.param(".so", marks=[linux, needs_cc])])
def test_scipy_calls_a_loaded_kernel_without_python(suffix: str, tmp_path: Path) -> None:
    """With the values of the kernel that was saved, and with none that remember the file or the kernel."""
    x, a, b = sg.symbols("x a b")
    f = sg.exp(-a * x**2) * sg.cos(b * x)
    saved = sg.compile([f, sg.grad(f, a)], inputs=[x, a, b])
    path = saved.save(tmp_path / f"k{suffix}")[0]
    integrand, window = (sg.load(path).as_lowlevel(use) for use in ("integrand", "filter"))
    path.unlink()
    assert quad(integrand, -1, 2, args=(0.5, 3.0)) == quad(saved.as_lowlevel(), -1, 2, args=(0.5, 3.0))
    box = [(0, 1), (0.5, 1), (0, 2)]
    assert nquad(integrand, box)[0] == nquad(saved.as_lowlevel(), box)[0]
    line = np.linspace(0, 1, 9)
    wanted = generic_filter(line, saved.as_lowlevel("filter"), size=3)
    assert same_bits(generic_filter(line, window, size=3), wanted)
    with pytest.raises(RuntimeError):
        generic_filter(line, window, size=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(quad(integrand, 0, 1, args=(0.5,))[0])


def test_what_scipy_cannot_call_is_refused(tmp_path: Path) -> None:
    x = sg.symbols("x")
    single = sg.load(sg.compile(x**2, dtype="float32").save(tmp_path / "single.o")[0])
    with pytest.raises(UnsupportedError, match="not double"):
        single.as_lowlevel()
    v = sg.tensor("v", ("n",))
    total = sg.load(sg.compile(sg.sum(v**2)).save(tmp_path / "total.o")[0])
    with pytest.raises(UnsupportedError, match="no code for one point"):
        total.as_lowlevel()
    double = sg.load(sg.compile(x**2).save(tmp_path / "double.o")[0])
    with pytest.raises(UsageError, match="there is no use"):
        double.as_lowlevel("no such")  # pyright: ignore[reportArgumentType]


@linux
@needs_cc
def test_a_library_at_a_path_that_was_loaded_before(tmp_path: Path) -> None:
    x = sg.symbols("x")
    made = []
    for formula in (x + 1, x + 2):
        sg.compile(formula).save(tmp_path / "k.so")
        made.append(sg.load(tmp_path / "k.so"))
    assert [k(1.0) for k in made] == [2.0, 3.0]


def renoted(path: Path, **changes: Any) -> Path:
    """Write an object with another note, and a checksum that fits."""
    code, note = opened(path.read_bytes(), path.name)
    other = path.with_name("other.o")
    other.write_bytes(sealed(code, {**note, **changes}))
    return other


def test_another_machine(kernel: Any, tmp_path: Path) -> None:
    path = kernel.save(tmp_path / "k.o")[0]
    _, note = opened(path.read_bytes(), "k.o")
    for changes, said in (
        ({"features": [*note["features"], "amx-tile9", "x-y"]}, "processors with amx-tile9, x-y"),
        ({"triple": "sparc64-linux-gnu"}, "of the kind sparc64-linux-gnu"),
        ({"features": None, "cpu": "some-cpu"}, "for the processor some-cpu"),
        ({"needs": [*note["needs"], "no_such_function"]}, "no function 'no_such_function'"),
        ({"needs": ["dnosuch_"]}, "dnosuch"),
    ):
        with pytest.raises(KernelError, match=said):
            sg.load(renoted(path, **changes))
    with pytest.raises(FileError, match="in format 99"):
        sg.load(renoted(path, abi=99))
    arm = kernel.save(tmp_path / "arm.o", cpu="baseline", triple="aarch64-linux-gnu")[0]
    if note["triple"].startswith("x86_64"):
        with pytest.raises(KernelError, match="of the kind aarch64-linux-gnu"):
            sg.load(arm)
    everywhere: Any = sg.load(kernel.save(tmp_path / "all.o", cpu="baseline")[0])
    np.testing.assert_allclose(everywhere(*arrays())[0], kernel(*arrays())[0], rtol=1e-13)


def test_files_that_are_none(kernel: Any, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        sg.load(tmp_path / "missing.o")
    with pytest.raises(FileError, match="cannot read"):
        sg.load(tmp_path)
    path = kernel.save(tmp_path / "k.o")[0]
    content = path.read_bytes()
    for data in (b"", content[:-1], content[: len(content) // 2], b"\x7fELF" * 9, opened(content, "")[0]):
        path.write_bytes(data)
        with pytest.raises(FileError, match="does not end with a note"):
            sg.load(path)
    text = kernel.save(tmp_path / "k.ll")[0]
    lines = text.read_text()
    text.write_text(lines.replace("fmul", "fadd", 1))
    with pytest.raises(FileError, match="is damaged"):
        sg.load(text)
    path.write_bytes(sealed(b"no code at all", opened(content, "")[1]))
    with pytest.raises(FileError, match="no code that"):
        sg.load(path)
    bad = b"code" + b"[1]"
    path.write_bytes(bad + struct.pack("<IQ", crc32(bad), 3) + b"symgrad-note-v1\n")
    with pytest.raises(FileError, match="is damaged"):
        sg.load(path)


@pytest.mark.parametrize("suffix", [".o", ".ll"])
def test_a_thousand_damages(kernel: Any, suffix: str, tmp_path: Path) -> None:
    """A byte, several, a piece that is gone or comes twice: each is refused before any code runs."""
    path = kernel.save(tmp_path / f"k{suffix}")[0]
    content = path.read_bytes()
    draw = random.Random(7)
    for k in range(500):
        data = bytearray(content)
        at, length = draw.randrange(len(data)), draw.randrange(1, 40)
        if k % 4 == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif k % 4 == 1:
            data[at : at + length] = draw.randbytes(len(data[at : at + length]))
        elif k % 4 == 2:
            del data[at : at + length]
        else:
            data[at:at] = data[at : at + length]
        if data == content:
            continue
        path.write_bytes(data)
        with pytest.raises(FileError):
            sg.load(path)


@needs_cc
def test_a_header_of_other_arguments_is_told(tmp_path: Path) -> None:
    x, y = sg.symbols("x y")
    (tmp_path / "old").mkdir()
    _, old = sg.compile(x + y, name="k").save(tmp_path / "old" / "k.o")
    sg.compile(x + 1, name="k").save(tmp_path / "k.o")
    source = '#include <stdio.h>\n#include "k.h"\nint main(void) { printf("%d", k_fits()); return 0; }\n'
    (tmp_path / "source").mkdir()  # what is beside a file is included first
    (tmp_path / "source" / "main.c").write_text(source)
    compiler = shutil.which("cc") or shutil.which("gcc") or "clang"
    for folder, wanted in ((tmp_path, "1"), (old.parent, "0")):
        strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{folder}"]
        command = [compiler, *strict, "source/main.c", "k.o", "-lm", "-o", "main"]
        subprocess.run(command, cwd=tmp_path, check=True)
        done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
        assert done.stdout == wanted


def test_loading_imports_no_formulas(kernel: Any, tmp_path: Path) -> None:
    """Neither SymPy nor SciPy, nor graphs and rules: in a process of its own."""
    path = kernel.save(tmp_path / "k.o")[0]
    code = f"""
import sys, json
import symgrad.runtime
kernel = symgrad.runtime.load({str(path)!r})
value = [float(v) for v in kernel(0.25, True, 0.75)]
print(json.dumps([value, [m for m in sys.modules if m.startswith(('sympy', 'scipy', 'symgrad'))]]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    value, modules = json.loads(done.stdout)
    assert value == [float(v) for v in kernel(0.25, True, 0.75)]
    assert not [m for m in modules if m.startswith(("sympy", "scipy"))]
    forbidden = ("ir.graph", "ops", "rules", "rewrite", "api", "lower", "llvm.maths", "kernel.kernel")
    assert not [m for m in modules if m.startswith(tuple(f"symgrad.{room}" for room in forbidden))]
