"""Where kernels may not be called around NumPy's machinery they are plain ufuncs, with the same bits."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.kernels.calls.direct import direct_call
from symgrad.compiler.kernels.calls.output_pool import OutputPool
from symgrad.compiler.kernels.calls.safety import VARIABLE, refusal
from symgrad.compiler.kernels.calls.team import call_directly
from symgrad.compiler.kernels.ufunc import ufuncs_are_known
from symgrad.compiler.llvm.call_stubs.object_layout import OBJECT_FIELDS, MethodDef, StructField
from symgrad.errors import KernelError
from tests.processes import printed

OF_UFUNCS = [name for name in OBJECT_FIELDS if name.startswith("ufunc.")]
OF_OBJECTS = [name for name in OBJECT_FIELDS if name not in OF_UFUNCS]
SHIFTS = (8, -8, 4, 16, -56, 10**6, -(10**6))


@pytest.fixture(autouse=True)
def decided_anew() -> Iterator[None]:
    """What a test changes is looked at, and what the next one finds is not of this one."""
    for decision in (refusal, ufuncs_are_known):
        decision.cache_clear()
    yield
    for decision in (refusal, ufuncs_are_known):
        decision.cache_clear()


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As if the variable were not set."""
    monkeypatch.delenv(VARIABLE, raising=False)
    return monkeypatch


def shift(patch: pytest.MonkeyPatch, name: str, by: int) -> None:
    patch.setitem(OBJECT_FIELDS, name, StructField(OBJECT_FIELDS[name].at + by, OBJECT_FIELDS[name].kind))


def digests() -> list[str]:
    """Calls of all kinds of kernels: three times each, as the first and the second go other ways."""
    x, u = sg.symbols("x u")
    z = sg.sqrt(x**2 * u) + sg.sin(u)
    p = sg.parse("X : real[n, 30]; w : real[30]; loss = sum(tanh(X@w)**2)")
    rng = np.random.default_rng(0)
    found: list[str] = []
    for dtype in ("float64", "float32"):
        outputs = [z, x > u, *sg.grad(z, [x, u])]
        kernels: list[Any] = [
            sg.compile(outputs, inputs=[x, u], dtype=dtype, threads=t)
            for t in range(1, min(os.cpu_count() or 1, 2) + 1)
        ]
        kernels.append(
            sg.compile([p["loss"], *sg.grad(p["loss"], [p["X"], p["w"]])], inputs=["X", "w"], dtype=dtype)
        )
        for kernel in kernels:
            for n in (1, 7, 1_000, 100_003):
                a, b = rng.uniform(0.5, 2, (2, n)).astype(dtype)
                if kernel is kernels[-1]:
                    a, b = rng.normal(size=(n // 10 + 1, 30)).astype(dtype), rng.normal(size=30).astype(dtype)
                for _ in range(3):
                    results = kernel(a, b)
                    found += [f"{r.dtype}{r.shape}{hash(r.tobytes())}" for r in results]
                    outs = tuple(np.empty_like(r) for r in results if isinstance(r, np.ndarray))
                    if len(outs) == len(results):
                        kernel(a[::-1][::-1], b, out=outs)
                        found += [str(hash(out.tobytes())) for out in outs]
    return found


_BOTH_WAYS = """
import sys
from tests.compiler.kernels.test_safety import digests
from symgrad.compiler.kernels.calls import direct, team
from symgrad.compiler.kernels.calls.output_pool import OutputPool
ways = dict.fromkeys(["direct", "spares", "team"], 0)
for owner, name, way in (
    (direct._Machinery, "function", "direct"),
    (OutputPool, "_take", "spares"),
    (team.Team, "share", "team"),
):
    def counted(*arguments, _call=getattr(owner, name), _way=way, **more):
        ways[_way] += 1
        return _call(*arguments, **more)
    setattr(owner, name, counted)
print(*digests(), sep="\\n")
print(*(f"{way}:{count > 0}" for way, count in ways.items()))
"""


def both_ways(value: str) -> tuple[list[str], str]:
    settings = {**os.environ, "PYTHONHASHSEED": "0", VARIABLE: value}
    *found, ways = printed(_BOTH_WAYS, env=settings, timeout=200).splitlines()
    return found, ways


def test_the_bits_are_the_same_with_the_variable_and_without(free: pytest.MonkeyPatch) -> None:
    safe, of_safe = both_ways("1")
    fast, of_fast = both_ways("")
    assert of_safe == "direct:False spares:False team:False"
    if refusal() is None:
        several = (os.cpu_count() or 1) > 1
        assert of_fast == f"direct:True spares:True team:{several}"
    assert len(safe) > 100
    assert safe == fast


@pytest.mark.parametrize(("value", "refused"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_the_variable_is_on_unless_it_is_empty_or_0(
    free: pytest.MonkeyPatch, value: str, refused: bool
) -> None:
    unset = refusal()
    refusal.cache_clear()
    free.setenv(VARIABLE, value)
    assert refusal() == (f"{VARIABLE} is set" if refused else unset)


@pytest.mark.parametrize(
    ("where", "name", "value", "said"),
    [
        (sys, "implementation", SimpleNamespace(name="pypy"), "pypy"),
        (sys, "version", "3.14.0 free-threading build", "lock"),
        (sys, "_is_gil_enabled", lambda: False, "lock"),
        (sys, "getrefcount", lambda _: 2**32 - 1, "references"),
        (ctypes, "sizeof", lambda _: 4, "64 bits"),
    ],
)
def test_other_interpreters_are_refused(
    free: pytest.MonkeyPatch, where: Any, name: str, value: Any, said: str
) -> None:
    with free.context() as patch:
        patch.setattr(where, name, value, raising=False)
        found = refusal()
    assert found is not None
    assert said in found


@pytest.mark.parametrize("name", OF_OBJECTS)
def test_a_wrong_place_turns_the_fast_ways_off(free: pytest.MonkeyPatch, name: str) -> None:
    for by in SHIFTS:
        with free.context() as patch:
            shift(patch, name, by)
            refusal.cache_clear()
            assert refusal() is not None, by
    shift(free, name, 8)
    refusal.cache_clear()
    assert direct_call(0, 0, [], 0) is None
    assert call_directly(0, 0, [], 0, threads=2, piece=1) is None
    assert OutputPool([np.dtype("float64")]).arrays([(10**6,)]) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_kernels_are_called_as_ever_where_a_place_is_wrong(free: pytest.MonkeyPatch, threads: int) -> None:
    shift(free, "strides", -8)
    for module in ("calls.threads", "kernel"):
        free.setattr(f"symgrad.compiler.kernels.{module}.cores", lambda: 2)
    x, u = sg.symbols("x u")
    kernel: Any = sg.compile([x * u, sg.sin(x) + u], inputs=[x, u], threads=threads)
    for size in (9, 90_000):
        a = np.random.default_rng(0).uniform(1, 2, size)
        for _ in range(3):
            for found, expected in zip(kernel(a, 2.0), kernel.ufunc(a, 2.0), strict=True):
                assert found.tobytes() == expected.tobytes()
    assert kernel._direct is None
    assert not kernel._spares._rounds


@pytest.mark.parametrize("name", OF_UFUNCS)
def test_without_ufuncs_as_known_kernels_have_the_same_bits(free: pytest.MonkeyPatch, name: str) -> None:
    assert ufuncs_are_known(of_arrays=True)
    p = sg.parse(
        "x : real\nX : real[n, 3]\nw : real[3]\nz = sin(x)*x\nf = x > 1\nloss = sum(tanh(X@w)**2)\n"
        "both = concatenate([w, w])"
    )
    programs: list[tuple[Any, list[str]]] = [([p["z"], p["f"]], ["x"]), ([p["loss"], p["both"]], ["X", "w"])]
    usual: list[Any] = [sg.compile(*program) for program in programs]
    for by in SHIFTS:
        with free.context() as patch:
            shift(patch, name, by)
            ufuncs_are_known.cache_clear()
            assert not ufuncs_are_known(of_arrays=True), by
    shift(free, name, 8)
    ufuncs_are_known.cache_clear()
    others: list[Any] = [sg.compile(*program) for program in programs]
    rng = np.random.default_rng(0)
    x, X, w = rng.uniform(0.5, 2, (3, 4)), rng.normal(size=(2, 5, 3)), rng.normal(size=3)
    has_ufunc = (ufuncs_are_known(), False)  # what ufuncs of arrays have alone does not matter to others
    calls = ([(x,), (1.5,)], [(X, w), (X[0], w)])
    for one, other, given, has in zip(usual, others, calls, has_ufunc, strict=True):
        for arrays in given * 2:
            for found, expected in zip(other(*arrays), one(*arrays), strict=True):
                assert type(found) is type(expected)
                assert found.dtype == expected.dtype
                assert found.shape == expected.shape
                assert found.tobytes() == expected.tobytes()
        if has:
            assert type(other.ufunc) is np.ufunc
            continue
        with pytest.raises(KernelError, match="a layout of ufuncs that symgrad does not know"):
            _ = other.ufunc
    out = np.zeros((3, 4))
    assert others[0](x, out=(out, None), where=x > 1)[0] is out
    np.testing.assert_array_equal(out, np.where(x > 1, usual[0](x)[0], 0))


_IN_C = """
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_1_API_VERSION
#include <stddef.h>
#include <Python.h>
#include <numpy/ndarraytypes.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>
const long long places[] = {{ {places} }};
"""

IN_C = {
    "type": ("PyObject", "ob_type"),
    "float": ("PyFloatObject", "ob_fval"),
    "double": ("PyDoubleScalarObject", "obval"),
    "size": ("PyVarObject", "ob_size"),
    "items": ("PyTupleObject", "ob_item"),
    "bytes": ("PyBytesObject", "ob_sval"),
    **{name: ("PyArrayObject_fields", name) for name in ("data", "nd", "strides", "descr", "flags")},
    "shape": ("PyArrayObject_fields", "dimensions"),
    **{name: ("PyUFuncObject", name.removeprefix("ufunc.")) for name in OF_UFUNCS},
}


@pytest.mark.skipif(os.name != "posix" or not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.skipif(
    not Path(sysconfig.get_path("include"), "Python.h").exists(), reason="needs the headers of Python"
)
def test_places_are_those_of_the_headers(tmp_path: Path) -> None:
    assert set(IN_C) == set(OBJECT_FIELDS)
    fields = [*IN_C.values(), *(("PyMethodDef", f"ml_{short}") for short in ("name", "meth", "flags", "doc"))]
    sizes = [f"sizeof((({struct} *)0)->{field})" for struct, field in fields[: len(IN_C)]]
    places = [f"offsetof({struct}, {field})" for struct, field in fields]
    flags = ["NPY_ARRAY_C_CONTIGUOUS", "NPY_ARRAY_ALIGNED", "NPY_ARRAY_WRITEABLE", "METH_FASTCALL"]
    source, library = tmp_path / "places.c", tmp_path / "places.so"
    source.write_text(_IN_C.format(places=", ".join([*places, *sizes, *flags])))
    includes = [f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
    undefined = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    subprocess.run(
        ["cc", "-w", "-shared", "-fPIC", *undefined, *includes, str(source), "-o", str(library)], check=True
    )
    count = len(places) + len(sizes) + len(flags)
    found = [*(ctypes.c_longlong * count).in_dll(ctypes.CDLL(str(library)), "places")]
    assert dict(zip(IN_C, found, strict=False)) == {name: OBJECT_FIELDS[name].at for name in IN_C}
    of_method = [MethodDef.name, MethodDef.function, MethodDef.flags, MethodDef.doc]
    assert found[len(IN_C) : len(places)] == [field.offset for field in of_method]
    widths = dict(zip(IN_C, found[len(places) :], strict=False))
    several = {"items": ctypes.sizeof(ctypes.c_void_p), "bytes": 1}  # arrays at the end, of one item in C
    assert widths == {name: ctypes.sizeof(OBJECT_FIELDS[name].kind) for name in IN_C} | several
    assert found[-4:] == [0x1, 0x100, 0x400, 0x80]
