"""Kernels as PTX: what the file says, which instructions it has, and whether NVIDIA's assembler takes it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import symgrad as sg
from symgrad.compiler.kernels.artefacts.artefact import write_artefacts
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.errors import UnsupportedError, UsageError
from symgrad.ir.graph import symbol
from symgrad.ir.types import Declaration
from tests.compiler.kernels.formulas import op
from tests.compiler.kernels.test_grids import FUNCTIONS, wave
from tests.compiler.kernels.tools_of_others import ptxas

PTXAS = ptxas()
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="no ptxas: pip install nvidia-cuda-nvcc-cu12")
PROCESSORS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")

ROUNDED = ("add", "sub", "mul", "fma", "div", "rcp", "sqrt")
"""Instructions of numbers that say how they are rounded, or else may be rounded together."""


class Ptx:
    """The parts of a file of PTX: what stands in which function, line by line."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        self.comments = [line.removeprefix("//").strip() for line in lines if line.startswith("//")]
        code = [line for line in lines if line and not line.startswith("//")]
        self.version, self.target = code[0], code[1]
        self.entries: dict[str, int] = {}
        self.others: list[str] = []
        self.code: list[list[str]] = []
        for k, line in enumerate(code):
            if ".entry" in line:
                name = line.split(".entry")[1].strip().rstrip("(")
                self.entries[name] = next(
                    i for i, below in enumerate(code[k + 1 :]) if not below.startswith(".param")
                )
            elif ".extern" in line:
                self.others.append(line)
            words = line.rstrip(";").replace(",", " ").split()
            if words and words[0].startswith("@"):
                words = words[1:]
            if words and not words[0].startswith((".", "$", "{", "}", ")")):
                self.code.append(words)

    @property
    def instructions(self) -> set[str]:
        return {words[0] for words in self.code}


def written(kernel: Any, folder: Path, **how: Any) -> Ptx:
    (path,) = kernel.save(folder / "wave.ptx", **how)
    return Ptx(path.read_text())


def test_what_stands_at_the_head(tmp_path: Path) -> None:
    found = written(wave(), tmp_path, outputs=["z", "dx", "du", "b"])
    assert found.comments[0] == "wave(x, b, u): 4 output(s), elementwise, in one pass."
    interface = [line for line in found.comments if line.startswith("extern")]
    assert interface[0] == (
        'extern "C" __global__ void wave(const double *x, const unsigned char *b, const double *u, int64_t n, '
        "double *z, double *dx, double *du, unsigned char *b_2);"
    )
    assert "const double *x, int64_t x_stride, int64_t x_row, " in interface[1]
    assert "int64_t n, int64_t rows, double *z, int64_t z_stride, int64_t z_row, " in interface[1]
    assert found.target == ".target sm_75"
    assert found.entries == {"wave": 8, "wave_strided": 7 * 3 + 2}
    assert not found.others


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_rounding_is_said(dtype: str, tmp_path: Path) -> None:
    """So no assembler contracts a product and a sum, and nothing is flushed to zero or approximated."""
    names = sorted(set(FUNCTIONS.split()) - {"abs", "floor", "ceil", "round"})
    p = sg.parse("x : real\n" + "\n".join(f"y{k} = {name}(x)" for k, name in enumerate(names)))
    kernel = sg.compile([p[f"y{k}"] for k in range(len(names))], dtype=dtype)
    found = written(kernel, tmp_path)
    assert not found.others
    for code in found.instructions:
        parts = code.split(".")
        assert not {"approx", "ftz", "full", "extern"}.intersection(parts), code
        if parts[0] in ROUNDED and parts[-1] in ("f32", "f64"):
            assert "rn" in parts, code
        assert parts[0] not in ("sin", "cos", "ex2", "lg2", "rsqrt", "tanh"), code
    assert "fma.rn.f64" in found.instructions


def test_neighbours_are_read_together_where_memory_is_what_takes_time(tmp_path: Path) -> None:
    p = sg.parse("x : real\nu : real\nz = sqrt(x**2*u)")
    for dtype, load in (("float64", "ld.global.v2.b64"), ("float32", "ld.global.v4.b32")):
        found = written(sg.compile([p["z"], sg.grad(p["z"], p["x"])], dtype=dtype), tmp_path)
        assert list(found.entries) == ["wave", "wave_aligned", "wave_strided"]
        assert load in found.instructions
        assert load.replace("ld", "st") in found.instructions
    assert "wave_aligned" not in written(wave(), tmp_path).entries


def test_names_and_processors(tmp_path: Path) -> None:
    kernel = wave()
    for cpu in PROCESSORS:
        assert written(kernel, tmp_path, cpu=cpu).target == f".target {cpu}"
    p = sg.parse("x : real\nu : real\nz = sqrt(x**2*u)")
    for made in (sg.compile(p["z"]), sg.compile(p["z"], target="cuda")):
        found = written(made, tmp_path, name="int")
        assert list(found.entries) == ["int_", "int_aligned", "int_strided"]
        said = [line for line in found.comments if line.startswith("extern")]
        assert [line.split("(")[0].split()[-1] for line in said] == list(found.entries)
    for how, message in (
        ({"cpu": "sm_8"}, "no PTX for 'sm_8'"),
        ({"cpu": "x86-64-v3"}, "no PTX for 'x86-64-v3'"),
        ({"triple": "aarch64-linux-gnu"}, "ptx is for nvptx64, not for 'aarch64-linux-gnu'"),
    ):
        with pytest.raises(UsageError, match=message):
            kernel.save(tmp_path / "other.ptx", **how)
    with pytest.raises(UsageError, match="code for 'nvptx64-nvidia-cuda' is not written as"):
        kernel.save(tmp_path / "other.o", triple="nvptx64-nvidia-cuda")
    assert not (tmp_path / "other.ptx").exists()


def test_what_has_no_ptx(tmp_path: Path) -> None:
    X = sg.tensor("X", ("n", "m"))
    with pytest.raises(UnsupportedError, match="which computes with arrays as wholes"):
        sg.compile(sg.sum(X, axis=0), [X]).save(tmp_path / "k.ptx")
    p = sg.parse("x : real\ny = gamma(x)\nz = jv(1, x)")
    with pytest.raises(UnsupportedError, match="the code of tgamma is in a library"):
        sg.compile(p["y"]).save(tmp_path / "k.ptx")
    with pytest.raises(UnsupportedError, match="jv"):
        sg.compile(p["z"]).save(tmp_path / "k.ptx")
    many = [symbol(Declaration(f"x{k}")) for k in range(1400)]
    total = op("add", many[0], many[1])
    with pytest.raises(
        UnsupportedError, match="1401 arrays are more than a function on a GPU is launched with"
    ):
        compile_nodes([total], many).save(tmp_path / "k.ptx")
    assert not list(tmp_path.iterdir())


def assembled(path: Path, cpu: str) -> str:
    assert PTXAS is not None
    command = [*PTXAS, f"-arch={cpu}", "-v", str(path), "-o", str(path.with_suffix(".cubin"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert path.with_suffix(".cubin").read_bytes()[:4] == b"\x7fELF"
    return done.stderr


@needs_ptxas
@pytest.mark.parametrize("cpu", PROCESSORS)
def test_the_assembler_takes_it(cpu: str, tmp_path: Path) -> None:
    for dtype in ("float64", "float32"):
        (path,) = wave(dtype).save(tmp_path / "wave.ptx", cpu=cpu)
        said = assembled(path, cpu)
        assert "0 bytes spill stores" in said
    # An instruction's name, and one that CUDA has, as names of functions.
    for name in ("add", "threadIdx"):
        (path,) = sg.compile(sg.symbols("x") ** 2).save(tmp_path / "named.ptx", name=name, cpu=cpu)
        assembled(path, cpu)


@needs_ptxas
def test_every_function_is_assembled(tmp_path: Path) -> None:
    names = [*FUNCTIONS.split(), "lgamma"]
    p = sg.parse("x : real\n" + "\n".join(f"y{k} = {name}(x)" for k, name in enumerate(names)))
    (path,) = sg.compile([p[f"y{k}"] for k in range(len(names))]).save(tmp_path / "all.ptx")
    assembled(path, "sm_75")


@needs_ptxas
@pytest.mark.slow
def test_many_equations_and_many_arrays_are_assembled(tmp_path: Path) -> None:
    inputs = [symbol(Declaration(f"x{k}")) for k in range(200)]
    value = inputs[0]
    for k in range(6100):
        value = op("mul" if k % 3 else "add", value, inputs[(k + 1) % 200])
    (path, *_) = write_artefacts(compile_nodes([value], inputs), tmp_path / "many", suffixes=(".ptx",))
    text = path.read_text()
    assert ".version 8.1" in text
    assert ".func" in text
    assembled(path, "sm_90")
