"""Functions that kernels share, and their machine code on disk."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from symgrad.compiler.llvm.engine import disk_cache, shared_functions
from symgrad.compiler.llvm.engine.jit import Engine, ObjectCode, compiler_fingerprint, object_code
from symgrad.errors import InternalError, KernelError


def text(name: str, value: float = 1.0) -> str:
    return f"define double @{name}(double %x) {{\n  %y = fadd double %x, {value:e}\n  ret double %y\n}}\n"


def call(address: int, value: float) -> float:
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)(value)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    where = tmp_path / "code"
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(where))
    monkeypatch.setenv(
        "XDG_CACHE_HOME", str(tmp_path / "home")
    )  # of the key, if this is below somebody else's
    return where


def codes(place: Path) -> list[Path]:
    return sorted(place.rglob("*.code"))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that are compiled from now on, and not found."""
    texts: list[str] = []

    def note(ir: str, *, quick: bool) -> ObjectCode:
        texts.append(ir)
        return object_code(ir, quick=quick)

    monkeypatch.setattr(shared_functions, "object_code", note)
    return texts


def test_what_is_kept_is_not_compiled_again(place: Path, compiled: list[str]) -> None:
    engines = [shared_functions.load_or_compile(text("f", 2.0)) for _ in range(3)]
    assert [call(e.address("f"), 1.0) for e in engines] == [3.0] * 3
    assert len(compiled) == len(codes(place)) == 1
    assert call(shared_functions.load_or_compile(text("f", 4.0)).address("f"), 1.0) == 5.0
    assert call(shared_functions.load_or_compile(text("f", 4.0), quick=True).address("f"), 1.0) == 5.0
    assert len(compiled) == len(codes(place)) == 3
    with pytest.raises(InternalError, match="does not define 'g'"):
        engines[0].address("g")


def test_code_is_kept_for_the_machine_and_the_compiler_that_it_is_of(
    place: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = compiler_fingerprint()
    for k in range(len(plain)):
        monkeypatch.setattr(
            shared_functions,
            "compiler_fingerprint",
            lambda k=k, **_: (*plain[:k], plain[k] + "x", *plain[k + 1 :]),
        )
        shared_functions.load_or_compile(text("f"))
        assert len(compiled) == k + 1


def test_provided_functions_can_be_called_from_any_module(place: Path, compiled: list[str]) -> None:
    names = [f"test.provided.{k}" for k in range(3)]
    for _ in range(2):
        shared_functions.register_functions(
            {name: text(f'"{name}"', float(k)) for k, name in enumerate(names)}
        )
    assert len(compiled) == 3
    calls = "".join(f'  %x{k + 1} = call double @"{n}"(double %x{k})\n' for k, n in enumerate(names))
    declared = "".join(f'declare double @"{n}"(double)\n' for n in names)
    engine = Engine(f"{declared}define double @g(double %x0) {{\n{calls}  ret double %x3\n}}")
    assert call(engine.address("g"), 1.0) == 4.0
    assert [call(shared_functions.address(n), 1.0) for n in names] == [1.0, 2.0, 3.0]
    with pytest.raises(InternalError, match=r"two functions are called 'test\.provided\.1'"):
        shared_functions.register_functions({names[1]: text(f'"{names[1]}"', 7.0)})


def test_needs_are_looked_up_before_code_is_loaded() -> None:
    code = object_code(
        "declare double @exp(double)\n" + text("f").replace("fadd", "call double @exp(double %x) ;")
    )
    assert code.needs == ("exp",)
    assert ObjectCode.from_bytes(code.to_bytes()) == code
    with pytest.raises(KernelError, match="no function 'no_such'"):
        Engine.of(ObjectCode(code.data, code.defines, ("no_such",)))
    assert call(Engine.of(code).address("f"), 0.0) == 1.0


def test_what_is_damaged_is_compiled_again(place: Path, compiled: list[str]) -> None:
    shared_functions.load_or_compile(text("f", 2.0))
    (path,) = codes(place)
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    compiled.clear()
    for _ in range(2):
        assert call(shared_functions.load_or_compile(text("f", 2.0)).address("f"), 1.0) == 3.0
        assert len(compiled) == 1  # and then it is whole again


def test_nothing_is_kept_if_nothing_should_be(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    for _ in range(2):
        assert call(shared_functions.load_or_compile(text("f", 2.0)).address("f"), 1.0) == 3.0
    assert len(compiled) == 2
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_used_costs_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for where in (file, file / "below", tmp_path / ("x" * 300), tmp_path / "nul\N{SNOWMAN}"):
        monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(where))
        assert call(shared_functions.load_or_compile(text("f", 2.0)).address("f"), 1.0) == 3.0
    assert file.read_text() == "mine"


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
    files = codes(place)
    assert len(files) >= 5  # the inner loop, and four functions
    assert run(0) == first[0] == first[1] == first[2]
    assert np.isfinite(np.frombuffer(first[0])).all()
    assert codes(place) == files


PROGRAMS = """
import sys, numpy as np, symgrad as sg
from symgrad.compiler.llvm.engine import shared_functions

compiled = []
make = shared_functions.object_code

def note(ir, *, quick=False):
    compiled.append(ir)
    return make(ir, quick=quick)

shared_functions.object_code = note
noise = [object() for _ in range(int(sys.argv[1]))]  # so that no address is that of another process
x, y = sg.symbols("x y")
vector = np.linspace(0.1, 3, 40_000)

def scalars():
    f = sg.exp(-x**2/2)*sg.sin(3*y) + sg.log1p(x**2 + y**2)*sg.tanh(x*y) + sg.special.erf(x)*sg.sin(2)
    sg.compile([f, *sg.grad(f, [x, y])], inputs=[x, y])(1.0, vector[:40])

def better():
    f = sg.cos(x)*sg.special.digamma(y) + sg.special.gammaln(x) + x**y
    sg.compile([f, *sg.grad(f, [x, y])], inputs=[x, y], effort="high", threads=2)(vector, vector)

def single():
    p = sg.parse("a : real\\nb : real\\nf = where(a > b, atan(a), sinh(b)) + jv(0.5, a)")
    sg.compile([p.last], dtype="float32", accuracy="fast")(vector[:9].astype("float32"), np.float32(1))

def arrays():
    p = sg.parse("X : real[n,m]\\nA : real[m,m]\\nw : real[m]\\nf = sum(sigmoid(X@w)) + logdet(A) + w@inv(A)@w")
    w = p["w"]
    kernel = sg.compile([p.last, sg.grad(p.last, w)], threads=2)
    kernel(np.ones((5, 3)), np.eye(3), np.ones(3))
    kernel.ufunc(np.ones((2, 5, 3))[..., ::-1], np.eye(3), np.ones(3))

def lengths():
    p = sg.parse("u : real[n]\\nv : real[m]\\ng = concatenate([u[2:], exp(v)])")
    sg.compile([p.last])(np.ones(4), np.ones(3))

def matrices():
    p = sg.parse("A : real[n,n]\\nB : real[n,n]\\ng = expm(A) @ solve(A, B)")
    sg.compile([p.last])(np.eye(4), np.ones((4, 4)))
    sg.compile([p.last], dtype="float32")(np.eye(4, dtype="float32"), np.ones((4, 4), dtype="float32"))

parts = [scalars, better, single, arrays, lengths, matrices]
for part in parts[:: int(sys.argv[2])]:
    part()
print(len(compiled))
"""


@pytest.mark.slow
def test_what_is_kept_is_the_same_in_every_process(place: Path) -> None:
    """Whatever the hashes, the addresses and the order of the programs are: else it is never found again."""
    seen: list[list[Path]] = []
    for seed, noise, order in (("1", "0", "1"), ("2", "100003", "-1"), ("3", "5", "1")):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAMS, noise, order],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        seen.append(codes(place))
        assert int(done.stdout) == (len(seen[0]) if len(seen) == 1 else 0)
    assert len(seen[0]) > 10
    assert seen[0] == seen[1] == seen[2]
