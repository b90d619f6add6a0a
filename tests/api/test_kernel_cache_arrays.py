"""Kernels of array programs on disk: the same bits, checks and errors, in a process that lowers nothing."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.output import outputs_of
from symgrad.api.kernels import compile as compiling
from symgrad.api.kernels import disk_cache as kept
from symgrad.compiler.llvm.arrays.cached_code import CachedArrayCode
from symgrad.compiler.llvm.engine import disk_cache as store
from symgrad.compiler.llvm.entries.entry_code import EntryCode
from tests.compiler.kernels.formulas import same_bits


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which kernels are kept."""
    monkeypatch.setenv(store.ENVIRONMENT_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(kept.VARIABLE, "1")
    return tmp_path / "cache" / "symgrad-code-v2"


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape) + 1).uniform(0.5, 1.5, shape)


SQUARE = draw(4, 4) + 3 * np.eye(4)
PROGRAMS: dict[str, tuple[str, list[Any]]] = {
    "products": ("X : real[n, 9]; w : real[9]; y : real[n]\nf = mean((X@w - y)**2)", [draw(7, 9), draw(9), draw(7)]),
    "blas": ("A : real[n, m]; B : real[m, n]\nf = sum(tanh(A@B))", [draw(70, 90), draw(90, 70)]),
    "lapack": ("A : real[n, n]; b : real[n]\nf = sum(inv(A)@b)", [SQUARE, draw(4)]),
    "small arrays": ("A : real[4, 4]; b : real[4]\nf = sum(inv(A)@b)", [SQUARE, draw(4)]),
    "positions": ("x : real[n]; t : int[m]\nf = sum(x[t]**2)", [draw(5), np.array([0, 4, -5])]),
    "computed positions": ("x : real[n]; t : int[m]\nf = sum(x[t + 1]**2)", [draw(5), np.array([0, 3, 1])]),
    "sizes": ("x : real[n]; y : real[m]\nf = sum(concatenate([x, y])**2)/(n + m)", [draw(5), draw(3)]),
    "all pairs": ("x : real[n]\nf = sum(exp(-(x[:, None] - x[None, :])**2))", [draw(30)]),
    "functions of SciPy": ("x : real[n]\nf = sum(jv(0, x))", [draw(6)]),
    "a row": ("X : real[n, 3]; w : real[3]\nf = X@w", [draw(4, 3), draw(3)]),
}  # fmt: skip


def program(name: str) -> tuple[list[Any], list[Any]]:
    text, values = PROGRAMS[name]
    p = sg.parse(text)
    if p["f"].shape:
        return [p["f"], p["f"], p["w"]], values  # one that stands twice, and an input
    return [p["f"], *sg.grad(p["f"], [s for s in p.inputs if s.dtype == "real"])], values


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("how", [{}, {"dtype": "float32"}, {"accuracy": "fast"}], ids=["", "float32", "fast"])
def test_what_is_found_is_the_kernel(
    name: str, how: Any, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "functions of SciPy" and how:
        how = {"accuracy": "fast"}  # they are of doubles
    outputs, values = program(name)
    inputs = list(sg.parse(PROGRAMS[name][0]).inputs)
    if "dtype" in how:
        values = [v.astype("float32") if v.dtype == "float64" else v for v in values]
    first: Any = sg.compile(outputs, inputs, name="first", **how)
    arranged: list[int] = []
    real = compiling.arrange_nodes
    monkeypatch.setattr(compiling, "arrange_nodes", lambda *a, **k: (arranged.append(1), real(*a, **k))[1])
    found: Any = sg.compile(outputs, inputs, name="first", **how)
    assert isinstance(found.code, EntryCode if name == "small arrays" else CachedArrayCode)
    assert not isinstance(first.code, CachedArrayCode)
    assert all(map(same_bits, found(*values), first(*values)))
    batch = [np.stack([v, v[::-1]]) for v in values]
    assert all(map(same_bits, found(*batch), first(*batch)))
    assert not arranged
    assert found.outputs == first.outputs
    for what in ("inputs", "kinds", "name", "effort", "signature", "sizes", "needs", "llvm_ir"):
        assert getattr(found, what) == getattr(first, what)
    assert repr(found) == repr(first)
    assert found.code.shapes == first.code.shapes
    sizes = dict.fromkeys(found.sizes, 7)
    assert found.scratch_bytes(**sizes) == first.scratch_bytes(**sizes)
    assert all(map(same_bits, pickle.loads(pickle.dumps(found))(*values), first(*values)))


def said(call: Callable[..., object], values: list[Any]) -> str:
    with pytest.raises(sg.errors.SymgradError) as found:
        call(*values)
    return f"{type(found.value).__name__}: {found.value}"


def test_what_calls_check_is_checked(place: Path) -> None:
    x = draw(5)
    wrong: dict[str, list[Any]] = {
        "positions": [x, np.array([0, 5])],
        "computed positions": [x, np.array([0, 4])],
        "products": [draw(7, 9), draw(9), draw(8)],
        "sizes": [draw(5, 5), 1.0],
        "all pairs": [np.array([1j])],
    }
    for name, values in wrong.items():
        first, found = (sg.compile(program(name)[0]) for _ in range(2))
        assert isinstance(getattr(found, "code", None), CachedArrayCode)
        assert said(found, values) == said(first, values)


PROCESS = """
import json, sys
import numpy as np
import symgrad as sg
p = sg.parse(sys.argv[1])
k = sg.compile([p["f"], *sg.grad(p["f"], list(p.inputs))])
rooms = [m for m in ("symgrad.rewrite.pipeline", "symgrad.compiler.llvm.arrays.array_code") if m in sys.modules]
r = np.random.default_rng(5)
values = [np.asarray(v).tobytes().hex() for v in k(r.normal(size=(60, 70)), r.normal(size=(70, 60)))]
print(json.dumps([rooms, values]))
"""


def test_the_second_process_lowers_nothing(place: Path) -> None:
    """And has the product for small matrices, BLAS and the rest known that the code calls."""
    text = "A : real[n, m]; B : real[m, n]\nf = sum(inv(A@B + eye(n)*9)) + sum((A[:, None, :] - A[None, :, :])**2)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    found: list[Any] = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROCESS, text], capture_output=True, text=True, env=environment, check=True
        )
        found.append(json.loads(done.stdout))
    (first, values), (second, again) = found
    assert (len(first), second) == (2, [])
    assert values == again


def place_of(name: str) -> kept.CachedKernel:
    inputs = [s.node for s in sg.parse(PROGRAMS[name][0]).inputs]
    found = kept.CachedKernel.of(outputs_of(program(name)[0]), inputs, "float64", False)
    assert found is not None
    return found


def test_what_is_signed_and_makes_no_sense_is_compiled_again(place: Path) -> None:
    outputs, values = program("products")
    wanted: Any = sg.compile(outputs)(*values)
    of, other = map(place_of, ("products", "all pairs"))
    assert of._found
    sg.compile(program("all pairs")[0])
    for data in (
        b"arrays\n",
        of._found[:-40],
        b"arrays\n" + pickle.dumps(1),
        b"arrays\n" + pickle.dumps(([("no such", (), ())], (), b"")),
        store.load(other._key) or b"",
    ):
        store.save(of._key, data)
        again: Any = sg.compile(outputs)
        assert not isinstance(again.code, CachedArrayCode)
        assert all(map(same_bits, again(*values), wanted))
    found: Any = sg.compile(outputs)
    assert isinstance(found.code, CachedArrayCode)


def test_threads_have_the_same_bits(place: Path) -> None:
    most = min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    outputs, values = program("all pairs")
    first, found = sg.compile(outputs), sg.compile(outputs, threads=most)
    batch = np.random.default_rng(0).normal(size=(500, 30))
    assert all(map(same_bits, found(batch), first(batch)))
    assert all(map(same_bits, found(*values), first(*values)))
