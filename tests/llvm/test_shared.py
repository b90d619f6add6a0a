"""Functions that kernels share, and their machine code on disk."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from symgrad.errors import InternalError, KernelError
from symgrad.llvm import shared, store
from symgrad.llvm.jit import Engine, ObjectCode, compiling_for, object_code

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no owners and modes of this kind")


def text(name: str, value: float = 1.0) -> str:
    return f"define double @{name}(double %x) {{\n  %y = fadd double %x, {value:e}\n  ret double %y\n}}\n"


def call(address: int, value: float) -> float:
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)(value)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    where = tmp_path / "code"
    monkeypatch.setenv(store.VARIABLE, str(where))
    return where


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that are compiled from now on, and not found."""
    texts: list[str] = []

    def note(ir: str, *, quick: bool) -> ObjectCode:
        texts.append(ir)
        return object_code(ir, quick=quick)

    monkeypatch.setattr(shared, "object_code", note)
    return texts


def test_what_is_kept_is_not_compiled_again(place: Path, compiled: list[str]) -> None:
    engines = [shared.kept(text("f", 2.0)) for _ in range(3)]
    assert [call(e.address("f"), 1.0) for e in engines] == [3.0] * 3
    assert len(compiled) == len(list(place.iterdir())) == 1
    assert call(shared.kept(text("f", 4.0)).address("f"), 1.0) == 5.0
    assert call(shared.kept(text("f", 4.0), quick=True).address("f"), 1.0) == 5.0
    assert len(compiled) == len(list(place.iterdir())) == 3
    with pytest.raises(InternalError, match="does not define 'g'"):
        engines[0].address("g")


def test_code_is_kept_for_the_machine_and_the_compiler_that_it_is_of(
    place: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = compiling_for()
    for k in range(len(plain)):
        monkeypatch.setattr(
            shared, "compiling_for", lambda k=k, **_: (*plain[:k], plain[k] + "x", *plain[k + 1 :])
        )
        shared.kept(text("f"))
        assert len(compiled) == k + 1


def test_provided_functions_can_be_called_from_any_module(place: Path, compiled: list[str]) -> None:
    names = [f"test.provided.{k}" for k in range(3)]
    for _ in range(2):
        shared.provide({name: text(f'"{name}"', float(k)) for k, name in enumerate(names)})
    assert len(compiled) == 3
    calls = "".join(f'  %x{k + 1} = call double @"{n}"(double %x{k})\n' for k, n in enumerate(names))
    declared = "".join(f'declare double @"{n}"(double)\n' for n in names)
    engine = Engine(f"{declared}define double @g(double %x0) {{\n{calls}  ret double %x3\n}}")
    assert call(engine.address("g"), 1.0) == 4.0
    assert [call(shared.address(n), 1.0) for n in names] == [1.0, 2.0, 3.0]
    with pytest.raises(InternalError, match=r"two functions are called 'test\.provided\.1'"):
        shared.provide({names[1]: text(f'"{names[1]}"', 7.0)})


def test_needs_are_looked_up_before_code_is_loaded() -> None:
    code = object_code(
        "declare double @exp(double)\n" + text("f").replace("fadd", "call double @exp(double %x) ;")
    )
    assert code.needs == ("exp",)
    assert ObjectCode.from_bytes(code.to_bytes()) == code
    with pytest.raises(KernelError, match="no function 'no_such'"):
        Engine.of(ObjectCode(code.data, code.defines, ("no_such",)))
    assert call(Engine.of(code).address("f"), 0.0) == 1.0


def harm_flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def harm_swap(path: Path) -> None:
    shared.kept(text("f", 9.0))  # a whole file, of another module
    (other,) = (p for p in path.parent.iterdir() if p != path)
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize(
    "harm",
    [
        harm_flip,
        harm_swap,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes() + b"x"),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["flipped", "swapped", "empty", "cut", "longer", "directory"],
)
def test_what_is_damaged_is_compiled_again(
    place: Path, compiled: list[str], harm: Callable[[Path], object]
) -> None:
    shared.kept(text("f", 2.0))
    (path,) = place.iterdir()
    harm(path)
    compiled.clear()
    assert call(shared.kept(text("f", 2.0)).address("f"), 1.0) == 3.0
    assert len(compiled) == 1
    if not path.is_dir():  # and then it is whole again
        assert call(shared.kept(text("f", 2.0)).address("f"), 1.0) == 3.0
        assert len(compiled) == 1


def test_nothing_is_kept_if_nothing_should_be(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.VARIABLE, "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    for _ in range(2):
        assert call(shared.kept(text("f", 2.0)).address("f"), 1.0) == 3.0
    assert len(compiled) == 2
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_used_costs_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for where in (file, file / "below", tmp_path / ("x" * 300), tmp_path / "nul\N{SNOWMAN}"):
        monkeypatch.setenv(store.VARIABLE, str(where))
        assert call(shared.kept(text("f", 2.0)).address("f"), 1.0) == 3.0
    assert file.read_text() == "mine"


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_directory_that_others_may_write_to_is_not_used(
    place: Path, compiled: list[str], mode: int
) -> None:
    shared.kept(text("f"))
    place.chmod(mode)
    shared.kept(text("f"))
    assert len(compiled) == 2
    place.chmod(0o700)
    shared.kept(text("f"))
    assert len(compiled) == 2


@posix
def test_what_is_made_is_for_its_user_alone(place: Path) -> None:
    shared.kept(text("f"))
    assert place.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in place.iterdir()] == [0o600]


@posix
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS keeps caches in another place")
def test_where_code_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(store.VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert store.directory() == tmp_path / ".cache" / "symgrad"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert store.directory() == tmp_path / "elsewhere" / "symgrad"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert store.directory() is None
    monkeypatch.setenv(store.VARIABLE, "relative")
    assert store.directory() == Path.cwd() / "relative"


def test_old_files_make_room(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST", 6)
    for k in range(6):
        store.save(b"%d" % k, b"data")
        os.utime(place / store._name(b"%d" % k), (k, k))
    store.save(b"6", b"data")
    assert [store.load(b"%d" % k) is not None for k in range(7)] == [False] * 3 + [True] * 4


def test_readers_find_the_whole_or_nothing(place: Path) -> None:
    contents = [bytes([k]) * 100_000 for k in range(4)]

    def churn(k: int) -> bool:
        store.save(b"key", contents[k % 4])
        return store.load(b"key") in contents

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(churn, range(200)))
    assert len(list(place.iterdir())) == 1


KERNELS = """
import sys, numpy as np, symgrad as sg
x, y = sg.symbols("x y")
f = sg.exp(-x**2/2)*sg.sin(3*y) + sg.log1p(x**2 + y**2)*sg.tanh(x*y)
found = sg.compile([f, *sg.grad(f, [x, y])], inputs=[x, y])(np.linspace(-3, 3, 37), np.linspace(5, 1e8, 37))
sys.stdout.buffer.write(np.array(found).tobytes())
"""


def test_processes_that_start_together_and_one_after_the_other_give_the_same_bits(place: Path) -> None:
    def run(_: int) -> bytes:
        return subprocess.run([sys.executable, "-c", KERNELS], capture_output=True, check=True).stdout

    with ThreadPoolExecutor(3) as pool:
        first = list(pool.map(run, range(3)))
    files = {path.name for path in place.iterdir()}
    assert len(files) >= 5  # the inner loop, and four functions
    assert run(0) == first[0] == first[1] == first[2]
    assert np.isfinite(np.frombuffer(first[0])).all()
    assert {path.name for path in place.iterdir()} == files
