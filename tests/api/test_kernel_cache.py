"""Whole kernels on disk: found again with the same bits, by what they are and nothing less, and never if damaged."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import symgrad as sg
from symgrad.api.handles.output import outputs_of
from symgrad.api.kernels import compile as compiling
from symgrad.api.kernels import disk_cache as kept
from symgrad.apps.cli import main
from symgrad.compiler.forms.output import Output
from symgrad.compiler.llvm.engine import disk_cache as store
from symgrad.compiler.llvm.engine import shared_functions as shared
from tests.compiler.kernels.formulas import same_bits

X = np.linspace(-1, 1, 37)
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory in which kernels are kept."""
    monkeypatch.setenv(store.ENVIRONMENT_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(kept.VARIABLE, "1")
    kept._marked.clear()
    yield tmp_path / "cache" / "symgrad-code-v2"
    kept._marked.clear()


def formula(
    text: str = "exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)", head: str = "x, y : real"
) -> Any:
    p = sg.parse(f"{head}\nf = {text}")
    return [p["f"], *sg.grad(p["f"], ["x", "y"])]


def made(**how: Any) -> Any:
    return sg.compile(formula(), **{"effort": "high", **how})


def key(outputs: Any, inputs: Any, *options: object) -> bytes:
    return kept._key_of(outputs_of(outputs), [i.node for i in inputs], options)


def process(*args: str, **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.api.disk_cache_process", *args]
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, **env, "PYTHONPATH": str(root)},
    )


def told(child: subprocess.Popen[str]) -> Any:
    out, _ = child.communicate(timeout=300)
    assert child.returncode == 0
    return json.loads(out)


def kernels(place: Path) -> list[Path]:
    """The entries that are kernels: what they share is in the same directory."""
    return [p for p in place.glob("*.code") if b"ufunc.plan" in p.read_bytes()]


def test_the_third_process_has_it_from_disk(place: Path) -> None:
    first, second, third = (told(process("sin(x*y)*x", "auto")) for _ in range(3))
    assert [p["quick"] for p in (first, second, third)] == [True, False, False]
    assert [p["rules"] for p in (first, second, third)] == [True, True, False], "nothing is arranged again"
    assert first["values"] == second["values"] == third["values"]
    assert len(kernels(place)) == 1


def test_what_calls_scipy_is_found_by_a_process_that_has_not_called_it(place: Path) -> None:
    first, second = (told(process("jv(0, x)*y", "high")) for _ in range(2))
    assert (first["rules"], second["rules"]) == (True, False)
    assert first["values"] == second["values"]


def test_another_scipy_has_kernels_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It computes constants: the first on the path counts, wherever it lies, and none where there is none."""
    usual = kept._scipy()
    state = Path(importlib.util.find_spec("scipy").origin).with_name("version.py").stat()  # type: ignore[union-attr, arg-type]
    assert usual == (state.st_mtime_ns, state.st_size)
    (tmp_path / "scipy").mkdir()
    (tmp_path / "scipy" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert kept._scipy() == usual, "what has no version is no SciPy"
    (tmp_path / "scipy" / "version.py").write_text("version = '0'")
    assert kept._scipy() not in (usual, None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [""])
    assert kept._scipy() not in (usual, None)
    (tmp_path / "scipy" / "version.py").unlink()
    (tmp_path / "scipy" / "__init__.py").unlink()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "nothing")])
    assert kept._scipy() is None


def test_in_one_process_quick_code_comes_first_every_time(place: Path) -> None:
    assert all(sg.compile(formula()).quick for _ in range(3))


def test_better_code_is_kept_when_it_comes(place: Path) -> None:
    kernel = sg.compile(formula())
    assert kernel.quick
    assert not kernels(place)
    kernel.ufunc  # noqa: B018  (compiles it)
    assert len(kernels(place)) == 1
    again = sg.compile(formula())
    assert not again.quick
    assert again.effort == "auto"


def test_what_is_found_is_the_kernel(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its bits, and what it shows; the formulas are arranged when they are asked for, and not before."""
    first = made(name="wave")
    arranged: list[int] = []
    real = compiling.arrange_nodes
    monkeypatch.setattr(compiling, "arrange_nodes", lambda *a, **k: (arranged.append(1), real(*a, **k))[1])
    found = made(name="wave")
    assert all(map(same_bits, found(X, 0.25), first(X, 0.25)))
    assert all(map(same_bits, found(X, X), first(X, X)))
    assert all(map(same_bits, found(x=X[::-1], y=X), first(x=X[::-1], y=X)))
    assert found(0.5, 0.25) == first(0.5, 0.25)
    assert repr(found) == repr(first)
    assert (found.inputs, found.kinds, found.name, found.effort) == (
        first.inputs,
        first.kinds,
        first.name,
        first.effort,
    )
    assert not arranged
    assert found.scalar(0.5, 0.25) == first.scalar(0.5, 0.25)
    assert found.c_signature == first.c_signature
    assert found.llvm_ir == first.llvm_ir
    assert found.asm == first.asm
    assert found.outputs == first.outputs
    assert found.fusable == first.fusable
    assert found.report().json() == first.report().json()
    assert sum(arranged) == 1


def test_threads_have_the_same_bits(place: Path) -> None:
    most = min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    first = made()
    found = made(threads=most)
    big = np.linspace(-2, 2, 200_001)
    assert all(map(same_bits, found(big, big), first(big, big)))
    with pytest.raises(sg.errors.UsageError, match="threads"):
        made(threads=10_000)


HEADS = [
    "x, y : real",
    "x : positive; y : real",
    "x, y : real(0, 1)",
    "x : int; y : real",
    "x : real[n]; y : real[n]",
    "x ~ Normal(0, 1); y : real",
]


def test_every_change_has_another_key() -> None:
    """Of a formula, a number in its last digit, a declaration, an order, an option."""
    keys: list[bytes] = []
    inputs: Any
    texts = [
        "x*y",
        "y*x",
        "x*y + 1",
        "x*y + 1.0000000000000002",
        "x**3*y",
        "x**2*y",
        "exp(x)*y",
        "exp(x)*y**2",
    ]
    for text in texts:
        outputs = formula(text)
        inputs = [*sg.symbols("x y")]
        for count in (1, 2, 3):
            keys += [key(outputs[:count], inputs), key(outputs[:count], inputs[::-1])]
        keys.append(key(outputs[::-1], inputs))
        keys += [key(outputs, inputs, *o) for o in (("float32", True), ("float32", False), ("float64", True))]
        # A formula that somebody wrote stays as it is, the same one as a derivative is arranged.
        keys.append(kept._key_of([Output(o.node) for o in outputs], [i.node for i in inputs], ()))
    for head in HEADS[1:]:
        p = sg.parse(f"{head}\nf = x*y")
        keys.append(key([p["f"]], [p["x"], p["y"]]))
    assert len(set(keys)) == len(keys)


def test_keys_of_drawn_formulas_are_equal_only_where_formulas_are() -> None:
    """Random formulas over few names and numbers: one key, one formula, and so the same bits."""
    draw = random.Random(3)
    x, y = sg.symbols("x y")

    def drawn(depth: int) -> Any:
        if depth == 0:
            return draw.choice([x, y, x * draw.randint(1, 3) / draw.randint(1, 3)])
        a, b = drawn(depth - 1), drawn(depth - 1)
        return draw.choice([lambda: a + b, lambda: a * b, lambda: sg.sin(a), lambda: a - b])()

    by_key: dict[bytes, Any] = {}
    for _ in range(400):
        f = drawn(draw.randint(1, 3))
        same = by_key.setdefault(key([f], [x, y]), f)
        assert same.node is f.node


def test_the_key_is_the_same_in_every_process(place: Path) -> None:
    code = (
        "import symgrad as sg\nfrom symgrad.api.kernels import disk_cache as kept\n"
        "from symgrad.api.handles.output import outputs_of\n"
        "p = sg.parse('x, y : real\\nf = sin(x*y)*x')\no = [p['f'], *sg.grad(p['f'], ['x', 'y'])]\n"
        "print(kept._key_of(outputs_of(o), [p['x'].node, p['y'].node], ()).hex())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(found) == 1


def test_ops_of_users_are_not_kept(place: Path) -> None:
    """What one is called says nothing of what it computes in another process."""
    double = sg.register_op("kept_double", "x", definition="2*x")
    x = sg.symbols("x")
    sg.compile([double(x), sg.grad(double(x) ** 2, x)], effort="high")
    assert not kernels(place)
    made()
    assert len(kernels(place)) == 1


def test_many_processes_at_once_leave_one_entry(place: Path) -> None:
    """64 of them, as many at once as start."""
    children = [process("x*y + 1", "high") for _ in range(64)]
    found = [told(child) for child in children]
    assert len({tuple(f["values"]) for f in found}) == 1
    assert len(kernels(place)) == 1
    assert not list(place.glob("*.new"))


def test_a_thousand_damages_are_never_executed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is compiled again, and the entry is whole afterwards."""
    wanted = made()(X, 0.25)
    (entry,) = kernels(place)
    content = entry.read_bytes()
    draw = random.Random(5)
    for k in range(1000):
        data = bytearray(content)
        at, length = draw.randrange(len(data)), draw.randrange(1, 60)
        if k % 4 == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif k % 4 == 1:
            data[at : at + length] = draw.randbytes(len(data[at : at + length]))
        elif k % 4 == 2:
            del data[at:]
        else:
            data[at:at] = data[at : at + length]
        if data == content:
            continue
        entry.write_bytes(data)
        place_of = kept.CachedKernel.of(outputs_of(formula()), _inputs(), "float64", False)
        assert place_of is not None
        assert place_of._found is None
        if k % 100 == 0:
            assert all(map(same_bits, made()(X, 0.25), wanted))
            assert store.load(place_of._key) is not None
    entry.write_bytes(content)
    assert not made().quick


def _inputs() -> list[Any]:
    p = sg.parse("x, y : real\nf = x*y")
    return [p["x"].node, p["y"].node]


def test_what_is_signed_and_makes_no_sense_is_compiled_again(place: Path) -> None:
    """What another state of symgrad could have kept under a key."""
    made()
    place_of = kept.CachedKernel.of(outputs_of(formula()), _inputs(), "float64", False)
    assert place_of is not None
    assert place_of._found
    good = place_of._found
    for data in (
        b"",
        b"5.0 9",
        b"\n\n\n\n",
        b"5.0 9\n---\n",
        b"5.0 9\n-----\nufunc.plan\nno_such\n" + good[-2000:],
    ):
        store.save(place_of._key, data)
        assert all(map(same_bits, made()(X, 0.25), made()(X, 0.25)))


def test_what_is_refused_is_refused_as_ever(place: Path) -> None:
    made()
    x, y = sg.symbols("x y")
    f = formula()
    for inputs, error in (
        (["x"], sg.errors.MissingInputError),
        ([x, y, x], sg.errors.UsageError),
        ([x, y + 1], sg.errors.UsageError),
        (["z"], sg.errors.NotInProgramError),
    ):
        for _ in range(2):
            with pytest.raises(error):
                sg.compile(f, inputs, effort="high")
    with pytest.raises(sg.errors.UsageError):
        made(dtype="float16")


def test_switches(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kept.VARIABLE, "0")
    made()
    assert not kernels(place)
    monkeypatch.setenv(kept.VARIABLE, "1")
    monkeypatch.setenv(store.ENVIRONMENT_VARIABLE, "")
    made()
    assert not kernels(place)


def test_a_full_disk_and_one_that_may_only_be_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **_more: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_write_file", full)
    assert all(map(same_bits, made()(X, 0.25), made()(X, 0.25)))
    assert not kernels(place)
    monkeypatch.undo()


@POSIX
def test_a_directory_of_somebody_else(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made()
    place.chmod(0o777)
    assert all(map(same_bits, made()(X, 0.25), made()(X, 0.25)))
    found = CliRunner().invoke(main, ["cache", "--clear"])
    assert found.exit_code == 3
    assert "is not this user's alone" in found.output
    assert kernels(place)


def test_what_is_too_large_is_not_kept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MAX_FILE_BYTES", 2000)
    made()
    assert not kernels(place)
    assert sg.compile(formula()).quick, "and is no reason to compile better code at once"


def test_the_command(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made()
    made(dtype="float32")
    sg.compile(formula("x*y"))
    v = sg.tensor("v", ("n",))
    sg.compile([sg.sum(v**2), v < 1.0])
    # One at least: those of the kernels may be in memory from a test before.
    shared.load_or_compile("define double @once(double %x) {\n  ret double %x\n}\n")
    beside = place / "notes.txt"
    beside.write_text("mine")
    count = len(list(place.glob("*.code")))
    found = CliRunner().invoke(main, ["cache"])
    assert found.output.startswith(f"{place}\n{count} files, ")
    told = {
        kind: int(number) for number, kind in (line.split(None, 1) for line in found.output.splitlines()[2:])
    }
    assert sum(told.values()) == count
    assert told.pop("functions that kernels share") > 0
    assert told == {
        "kernels of formulas": 2,
        "kernels of array programs": 1,
        "formulas that were compiled once": 1,
    }
    found = CliRunner().invoke(main, ["cache", "--clear"])
    assert found.output == f"removed {count} files from {place}\n"
    assert not list(place.glob("*.code"))
    assert beside.exists()
    assert "0 files" in CliRunner().invoke(main, ["cache"]).output
    monkeypatch.setenv(store.ENVIRONMENT_VARIABLE, "")
    assert CliRunner().invoke(main, ["cache"]).output.startswith("nothing is kept")
