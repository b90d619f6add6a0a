"""Kernels as C99: the bits of the machine code, names that nobody expects, strides, numbers, and what is refused."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.maths import FUNCTIONS
from symgrad.errors import UnsupportedError
from symgrad.ir.graph import number, symbol
from symgrad.ir.types import BOOL, Declaration
from tests.compiler.kernels.c_libraries import (
    FUSED,
    HERE,
    STRICT,
    as_c_has_it,
    library,
    on_a_point,
    on_arrays,
    on_strided,
)
from tests.compiler.kernels.formulas import EXACT, flag, op, same_bits, u, x
from tests.compiler.kernels.test_artefact import CC, needs_cc
from tests.compiler.kernels.test_c_names import HOSTILE
from tests.compiler.llvm.maths_cases import CASES, exact, sample, ulps
from tests.graphs import SMOOTH, inputs, random_graph

pytestmark = needs_cc

EXACT_OPS = ("add", "add", "mul", "div", "neg", "sqrt", "pow2", "pow3", "abs", "maximum")
_ENDS = (np.inf, -np.inf, np.nan, 1e-320, -3e-310, 1e300, -1e308)
HARD = np.array([*_ENDS, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-8, 7.3, -21.5, 709.5, -745.0, 1e5, 1e22])


def pairs(dtype: str = "float64") -> tuple[np.ndarray, np.ndarray]:
    """Hard numbers beside each other, and so many usual ones that whole blocks have no hard one."""
    usual = np.random.default_rng(1).normal(scale=3.0, size=(2, 300))
    a, b = (np.concatenate([c.ravel(), d]) for c, d in zip(np.meshgrid(HARD, HARD), usual, strict=True))
    with np.errstate(over="ignore"):
        return a.astype(dtype), b.astype(dtype)


def all_same(found: Any, wanted: Any) -> None:
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert same_bits(a, b), (k, a[a != b], b[a != b])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_exact_operations_have_the_bits_of_the_kernel(tmp_path: Path, dtype: str) -> None:
    nodes = [node for _, outputs, _ in EXACT for node in outputs]
    kernel = compile_nodes(nodes, [x, u, flag], dtype=dtype)
    a, b = pairs(dtype)
    given = a, b, a < b
    wanted: Any = kernel(*given)
    for options in (("-O0",), ("-O3", *HERE), ("-O2", *HERE, "-std=gnu17")):
        made = library(kernel, tmp_path, *options, name=f"k{len(options)}")
        all_same(on_arrays(getattr(made, f"k{len(options)}"), kernel, given), wanted)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 40))
def test_random_programs_of_exact_operations_have_the_bits_of_the_kernel(
    tmp_path: Path, seed: int, size: int
) -> None:
    symbols = inputs(2)
    nodes = [random_graph(seed + k, symbols, size=size, ops=EXACT_OPS) for k in range(8)]
    kernel = compile_nodes(nodes, symbols)
    wanted: Any = kernel(*pairs())
    made = library(kernel, tmp_path, "-O2", *HERE, "-ffp-contract=off", name=f"k{seed}_{size}")
    all_same(on_arrays(getattr(made, f"k{seed}_{size}"), kernel, pairs()), wanted)


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 30), fast=st.booleans())
def test_derivatives_have_the_bits_of_machine_code(tmp_path: Path, seed: int, size: int, fast: bool) -> None:
    """Whose products and sums are rounded once together, with functions of ours, in vectors and one by one."""
    symbols = inputs(2)
    value = sg.Expr(random_graph(seed, symbols, size=size, ops=SMOOTH))
    wrt = [sg.Expr(s) for s in symbols]
    outputs = [value, *sg.grad(value, wrt)]
    kernel = sg.compile(outputs, wrt, accuracy="fast" if fast else "high")
    name = f"d{seed}_{size}"
    made = library(kernel, tmp_path, "-O3", *HERE, name=name)
    found = on_arrays(getattr(made, name), kernel, pairs())
    all_same(found, as_c_has_it(kernel, fused=FUSED, arrays=pairs()))
    for i in range(0, len(found[0]), 37):
        values = on_a_point(getattr(made, f"{name}_point"), kernel, [float(c[i]) for c in pairs()])
        assert all(same_bits(np.float64(v), f[i]) for v, f in zip(values, found, strict=True))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("fused", [True, False])
def test_functions_have_the_bits_of_machine_code(tmp_path: Path, dtype: str, fused: bool) -> None:
    """All in one kernel, which calls them, and some by themselves, in place: rare numbers among usual ones."""
    if fused and not FUSED:
        pytest.skip("this processor has no instruction for a*b + c")
    if not fused and not HERE:
        pytest.skip("every processor of this kind has an instruction for a*b + c")
    called = [op(name, *[x, u][: CASES[name].arity]) for name in CASES if name in FUNCTIONS]
    a, b = pairs(dtype)
    options = ("-O2", *(HERE if fused else ()))
    groups = [called, *([op(name, x), op("mul", x, u)] for name in ("exp", "sin", "lgamma", "log1p"))]
    for k, nodes in enumerate(groups):
        kernel = compile_nodes(nodes, [x, u], dtype=dtype)
        made = library(kernel, tmp_path, *options, name=f"k{k}")
        found = on_arrays(getattr(made, f"k{k}"), kernel, (a, b))
        all_same(found, as_c_has_it(kernel, fused=fused, arrays=(a, b)))


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "pow", "erf"])
def test_functions_are_within_their_bounds(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    kernel = compile_nodes([op(name, *[x, u][: case.arity])], [x, u][: case.arity])
    columns = sample(case, 400, 0, "float64")
    (found,) = on_arrays(library(kernel, tmp_path).k, kernel, columns)
    assert np.max(ulps(found, *exact(name, columns))) <= case.limit


def test_a_long_formula_in_pieces(tmp_path: Path) -> None:
    node = x
    for k in range(2_500):
        node = op("add", op("mul", node, u), op("div", x, op("add", u, op("mul", node, node))))
        if k % 500 == 0:
            node = op("sin", node)
    kernel = compile_nodes([node, op("lt", node, x), u], [x, u])
    a, b = np.random.default_rng(0).uniform(0.1, 0.9, (2, 150))
    made = library(kernel, tmp_path, "-O1", *HERE)
    found = on_arrays(made.k, kernel, (a, b))
    all_same(found, as_c_has_it(kernel, fused=FUSED, arrays=(a, b)))
    assert on_a_point(made.k_point, kernel, (a[7], b[7])) == tuple(f[7] for f in found)
    assert "k_chunk_1(" in (tmp_path / "k.c").read_text()


def test_strides(tmp_path: Path) -> None:
    kernel: Any = compile_nodes([op("mul", op("exp", x), u)], [x, u])
    made = library(kernel, tmp_path)
    table = np.random.default_rng(0).normal(size=(131, 3))
    wanted = kernel(table[::-1, 1], 0.75)
    results = np.zeros((131, 2))
    on_strided(made.k_strided, [table[::-1, 1], np.array(0.75)], [results[:, 0]], 131)
    assert same_bits(results[:, 0], wanted)
    assert not results[:, 1].any()
    again = table[:, 2].copy()
    on_strided(made.k_strided, [again, np.array(-2.0)], [again], 131)  # in place
    assert same_bits(again, kernel(table[:, 2], -2.0))
    before = again.copy()
    on_strided(made.k_strided, [again, np.array(3.0)], [again], 0)
    assert same_bits(again, before)


@pytest.mark.parametrize("function", ["exp", "neg"])
def test_an_output_may_be_an_input(tmp_path: Path, function: str) -> None:
    """Through buffers where there are rare numbers, and without them."""
    kernel: Any = compile_nodes([op("mul", op(function, x), u), op("add", x, u)], [x, u])
    a, b = np.random.default_rng(0).normal(size=(2, 131))
    wanted = kernel(a, b)
    pointers = [ctypes.c_void_p(c.ctypes.data) for c in (a, b)]
    library(kernel, tmp_path, "-O3", *HERE).k(*pointers, ctypes.c_int64(131), *pointers)
    all_same((a, b), wanted)


def test_truth_values_and_outputs_that_are_inputs_or_numbers(tmp_path: Path) -> None:
    b = symbol(Declaration("b", BOOL))
    nodes = [op("where", b, x, op("neg", x)), op("lt", x, op("neg", x)), x, op("add", x, op("neg", x)), b]
    kernel = compile_nodes(nodes, [x, b, u], dtype="float32")
    made = library(kernel, tmp_path)
    a = np.linspace(-2, 2, 70, dtype=np.float32)
    wanted: Any = kernel(a, a > 0, a)
    all_same(on_arrays(made.k, kernel, (a, a > 0, a)), wanted)
    assert on_a_point(made.k_point, kernel, (1.5, True, 0.0)) == (1.5, 0, 1.5, 0.0, 1)
    nothing = compile_nodes([op("sqrt", number(2))], [], name="two")
    two = library(nothing, tmp_path, name="two")
    assert on_a_point(two.two_point, nothing, ()) == (np.sqrt(2.0),)


@pytest.mark.parametrize("k", range(0, len(HOSTILE), 40))
def test_hostile_names_compile_and_stay_names(tmp_path: Path, k: int) -> None:
    names = HOSTILE[k : k + 40]
    total = symbol(Declaration(names[0]))
    symbols = [total, *(symbol(Declaration(name)) for name in names[1:])]
    for s in symbols[1:]:
        total = op("add", op("mul", total, s), op("exp", s))
    kernel = compile_nodes([total, op("sqrt", total)], symbols, name=names[3])
    source, header = kernel.save(tmp_path / "k.c", outputs=[names[-1], names[len(names) // 2]])
    text = source.read_text(encoding="ascii")
    function = header.read_text(encoding="ascii").partition("void ")[2].partition("(")[0]
    command = [CC, *STRICT, "-shared", "-fPIC", source, "-o", tmp_path / "k.so", "-lm"]
    subprocess.run(command, check=True)
    assert "evil" not in text.replace("evil_int", "").replace("int_evil", "") or "evil(" not in text
    given = [np.full(3, 0.01 * (i + 1)) for i in range(len(symbols))]
    found = on_arrays(getattr(ctypes.CDLL(str(tmp_path / "k.so")), function), kernel, given)
    for a, b in zip(found, kernel(*given), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    check = f'#include "{source}"\n#include "{header}"\n'  # what it defines is what the header declares
    subprocess.run([CC, *STRICT, "-fsyntax-only", "-x", "c", "-"], input=check.encode(), check=True)


def test_names_of_the_files_own_are_no_names_of_arguments(tmp_path: Path) -> None:
    own = "in out v0 v1 exp fabs careful rare i j m BLOCK k_formula k_block k bits_of k_exp x_k_exp"
    names = own.split()
    symbols = [symbol(Declaration(name)) for name in names]
    node = symbols[0]
    for s in symbols[1:]:
        node = op("add", op("exp", op("mul", node, s)), op("abs", s))
    kernel = compile_nodes([node], symbols)
    given = [np.full(2, 0.1 * i) for i in range(len(names))]
    (found,) = on_arrays(library(kernel, tmp_path).k, kernel, given)
    assert same_bits(found, as_c_has_it(kernel, fused=FUSED, arrays=given)[0])


def test_options_that_reorder_arithmetic_are_refused(tmp_path: Path) -> None:
    source, _ = compile_nodes([op("exp", x)], [x]).save(tmp_path / "k.c")
    done = subprocess.run(
        [CC, "-ffast-math", "-c", source, "-o", tmp_path / "k.o"], capture_output=True, check=False
    )
    assert done.returncode
    assert b"without -ffast-math" in done.stderr


def test_what_c_has_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="the code of Si is SciPy's, which C source cannot"):
        compile_nodes([op("add", op("Si", x), op("sin", x))], [x]).save(tmp_path / "k.c")
    assert not list(tmp_path.iterdir())
