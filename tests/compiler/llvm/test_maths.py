"""Functions of our own: within an ulp of Arb, right at the ends, the same bits in every lane and when folded."""

from __future__ import annotations

import ctypes
import itertools
import math
import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import special

import symgrad as sg
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.elementwise.emit import emit
from symgrad.compiler.llvm.engine.externals import add_symbol
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.target import Target, host
from symgrad.compiler.llvm.equations.builder import VectorBuilder
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.maths import FUNCTIONS, write_function
from symgrad.compiler.llvm.maths.vectors.lanes import FunctionOptions
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.lowering.elementwise.schedule import schedule
from tests.compiler.kernels.formulas import as_tuple, op, same_bits, u, x
from tests.compiler.llvm.maths_cases import CASES, agree, exact, exact_in_mpmath, kernel, sample, ulps

UNFUSED = Target(16, fused=False)

SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.0,
    -1.0,
    2.0,
    -3.0,
    0.5,
    1e308,
    -1e308,
    5e-324,
    -5e-324,
    2e-310,
    1e-300,
    1e5,
    -1e5,
]


def c_lgamma(x: float) -> float:
    """Python's is C's, but that it raises where C gives an infinity."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


C_FUNCTIONS = {
    "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan, "acosh": np.arccosh, "asinh": np.arcsinh,
    "atanh": np.arctanh, "atan2": np.arctan2, "pow": np.power,
    "sech": lambda x: 1 / np.cosh(x),
    "sigmoid": lambda x: special.expit(x),
    "softplus": lambda x: np.logaddexp(0, x),
    "digamma": lambda x: np.where(x == 0, np.nan, special.digamma(x)),
    "lgamma": np.vectorize(c_lgamma, otypes=[float]),
}  # fmt: skip


# What a cube root lacks is for powers by thirds (`tests/ops/test_power_code.py`), and a power's logarithm for what is
# derived from it (below).
BY_NAME = {name: function for name, function in FUNCTIONS.items() if name not in {"cbrt_low", "log_of_base"}}


FORMATS = [("float64", False), ("float32", False), ("float64", True)]
"""The dtype, and whether four units of the last place are precise enough."""


def test_every_function_has_a_case():
    assert set(CASES) == set(BY_NAME)
    assert all(CASES[name].arity == function.arity for name, function in BY_NAME.items())


@pytest.mark.parametrize("name", CASES)
def test_two_libraries_agree_on_the_exact_values(name):
    columns = tuple(c[-60:] for c in sample(CASES[name], 300, 6, "float64"))
    assert np.all(agree(exact(name, columns), exact_in_mpmath(name, columns)))


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(("dtype", "fast"), FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_accuracy(name, dtype, fast, fused):
    case = CASES[name]
    columns = sample(case, 10_000, 1, dtype)
    found = kernel(name, dtype, None if fused else UNFUSED, fast=fast)(*columns)
    errors = ulps(found, *exact(name, columns))
    worst = np.argmax(errors)
    assert errors[worst] <= (4 if fast else case.limit), [c[worst].item().hex() for c in columns]


def in_c(name: str, columns: list[np.ndarray]) -> np.ndarray:
    """C's values of double, at the ends those of C99 appendix F."""
    function = C_FUNCTIONS.get(name) or getattr(np, name, None) or getattr(special, name)
    return function(*columns)


@pytest.mark.parametrize("target", [None, UNFUSED])
@pytest.mark.parametrize(("dtype", "fast"), FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_ends(name, dtype, fast, target):
    """NaN, infinities, signs of zeros, numbers below the normal ones, overflow: as in C."""
    with np.errstate(all="ignore"):
        pool = np.array(SPECIAL).astype(dtype)
        columns = [np.array(c) for c in zip(*itertools.product(pool, repeat=CASES[name].arity), strict=True)]
        # NumPy's float32 functions are their own; C's of doubles, rounded, is what is meant.
        expected = in_c(name, [c.astype(float) for c in columns]).astype(dtype)
    found = kernel(name, dtype, target, fast=fast)(*columns)
    ordinary = np.isfinite(expected) & (np.abs(expected) > np.finfo(dtype).tiny)
    assert same_bits(np.where(ordinary, 0, found), np.where(ordinary, 0, expected))
    assert np.all(np.signbit(found) == np.signbit(expected), where=ordinary)
    np.testing.assert_allclose(found[ordinary], expected[ordinary], rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_a_lane_knows_of_no_other(name, dtype):
    """The same bits at every length, position and stride, beside whatever numbers."""
    k = kernel(name, dtype)
    columns = sample(CASES[name], 120, 2, dtype)
    with np.errstate(all="ignore"):
        special = np.array(SPECIAL).astype(dtype)
    columns = tuple(np.concatenate([c[:60], c[-60:], special]) for c in columns)
    together = k(*columns)
    rng = np.random.default_rng(5)
    for _ in range(4):
        order = rng.permutation(len(together))[: rng.integers(1, 70)]
        assert same_bits(k(*(c[order] for c in columns)), together[order])
        spread = [np.full((len(order), 3), 7, dtype) for _ in columns]
        for s, c in zip(spread, columns, strict=True):
            s[:, 1] = c[order]
        assert same_bits(k(*(s[:, 1] for s in spread)), together[order])
    alone = [k(*row) for row in zip(*columns, strict=True)]
    assert same_bits(np.array(alone, dtype), together)


@pytest.mark.parametrize("name", CASES)
def test_nan_does_not_run_the_code_for_rare_lanes(name):
    """An array of nothing else is as quick as any; what the code is for does run it."""
    inputs = [x, u][: CASES[name].arity]
    text = emit(
        schedule([op(name, *inputs)], inputs), float_type("float64"), host().target, entry=Entry.of("seen")
    ).ir
    # The block of a branch, or what it goes on to where lanes are not NaN.
    blocks = {re.sub(r"\D", "", b): b for b in re.findall(r"^((?:rare|work)\d+):$", text, re.MULTILINE)}
    for block in blocks.values():
        text = text.replace(f"\n{block}:\n", f"\n{block}:\n  call void @tests.seen()\n")
    runs = []
    seen = ctypes.CFUNCTYPE(None)(lambda: runs.append(1))
    add_symbol("tests.seen", ctypes.cast(seen, ctypes.c_void_p).value or 0)
    engine = Engine(text + "\ndeclare void @tests.seen()\n")
    pointer = ctypes.c_void_p
    run = ctypes.CFUNCTYPE(None, *[pointer] * len(inputs), ctypes.c_long, pointer)(engine.address("seen"))

    def count(*columns):
        runs.clear()
        found = np.empty(len(columns[0]))
        run(*(c.ctypes.data for c in columns), len(found), found.ctypes.data)
        return len(runs), found

    often, found = count(*(np.full(40, np.nan) for _ in inputs))
    assert often == 0
    assert np.isnan(found).all()
    rare = np.array([0.0, np.inf, -np.inf, -0.5, 1e308, 5e-324, 1e22])
    assert (count(*(rare.copy() for _ in inputs))[0] > 0) == bool(blocks)


@pytest.mark.parametrize(("dtype", "fast"), FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_ends_have_the_same_bits_at_every_place(name, dtype, fast):
    """Each at every position of a vector and of a remainder, among ordinary numbers and among others of its kind."""
    k = kernel(name, dtype, fast=fast)
    limits = np.finfo(dtype)
    with np.errstate(all="ignore"):
        special = np.array([*SPECIAL, limits.tiny, limits.max, -limits.max, limits.smallest_subnormal], dtype)
        special = np.append(special, np.nextafter(limits.tiny, limits.dtype.type(0)))
    columns = []
    for ordinary in sample(CASES[name], 200, 8, dtype):
        ordinary = ordinary[-2 * len(special) :]
        columns.append(
            np.concatenate([np.column_stack([special, ordinary[::2]]).ravel(), special, ordinary[1::2]])
        )
    if len(columns) == 2:
        columns[1] = np.roll(columns[1], 5)
    alone = np.array([k(*row) for row in zip(*columns, strict=True)], dtype)
    for length in (1, 2, 3, 5, 7, 8, 9, 15, 17):
        for first in range(0, len(alone) - length, 1 if length > 8 else 3):
            part = slice(first, first + length)
            assert same_bits(k(*(c[part] for c in columns)), alone[part])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_vectors_of_every_width_give_the_same_bits(name, dtype):
    columns = sample(CASES[name], 120, 4, dtype)
    wide, narrow = Target(64, fused=False), UNFUSED
    assert same_bits(kernel(name, dtype, wide)(*columns), kernel(name, dtype, narrow)(*columns))


@pytest.mark.parametrize("target", [None, UNFUSED])
@pytest.mark.parametrize(("dtype", "fast"), FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_folding_has_the_bits_of_the_code(name, dtype, fast, target):
    columns = sample(CASES[name], 30, 3, dtype)
    with np.errstate(all="ignore"):
        special = np.array(SPECIAL).astype(dtype)
    columns = [np.concatenate([c[-25:], special]) for c in columns]
    real = float_type(dtype)
    has = target or host().target
    builder = VectorBuilder(real, 4, Declarations(fused=has.fused, estimates=has.estimates, fast=fast))
    folded = [
        builder.call(name, *(builder.const(float(a)) for a in row)).literal
        for row in zip(*columns, strict=True)
    ]
    assert same_bits(np.array(folded, dtype), kernel(name, dtype, target, fast=fast)(*columns))


def test_a_function_stands_once_in_a_module():
    k = compile_nodes([op("exp", x), op("exp", op("add", x, u)), op("exp", x)], [x, u])
    assert k.llvm_ir.count("@maths.exp.") == 3  # its definition and two calls
    a, b, c = as_tuple(k(1.0, 0.5))
    assert same_bits(a, c)
    assert same_bits(b, kernel("exp")(1.5))


def test_sine_and_cosine_share_their_reduction():
    k = compile_nodes([op("sin", x), op("cos", x)], [x])
    assert k.llvm_ir.count("call {") == 1
    s, c = as_tuple(k(0.7))
    assert same_bits(s, kernel("sin")(0.7))
    assert same_bits(c, kernel("cos")(0.7))


LOGISTIC = [op(name, of) for name in ("sigmoid", "softplus") for of in (x, op("neg", x))]


@pytest.mark.parametrize("effort", ["auto", "high"])
@pytest.mark.parametrize(("dtype", "fast"), FORMATS)
def test_sigmoids_and_softpluses_of_both_signs_share_their_exponential(dtype, fast, effort):
    """In whatever order and number, with the bits that each has alone."""
    with np.errstate(all="ignore"):
        at = np.concatenate([np.linspace(-800, 800, 401), np.linspace(-3, 3, 200), SPECIAL]).astype(dtype)
    alone = [as_tuple(compile_nodes([f], [x], dtype=dtype, fast=fast)(at))[0] for f in LOGISTIC]
    for of_x, of_minus in ((0, 1), (2, 3)):
        mirrored = as_tuple(compile_nodes([LOGISTIC[of_x]], [x], dtype=dtype, fast=fast)(-at))[0]
        assert same_bits(alone[of_minus], mirrored)
    for chosen in ((0, 1), (1, 0), (2, 0), (3, 1), (2, 1, 0), (3, 0, 2), (3, 1, 2, 0)):
        k = compile_nodes([LOGISTIC[i] for i in chosen], [x], dtype=dtype, fast=fast, effort=effort)
        assert len(re.findall(r"call [^\n]*@maths\.", k.llvm_ir)) == 1
        for i, found in zip(chosen, as_tuple(k(at)), strict=True):
            assert same_bits(found, alone[i])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_processors_without_fused_multiply_add_are_not_asked_for_it(dtype):
    """There llvm.fma would be a call of C's fma for every lane."""
    outputs = [op(name, *(x, u)[: function.arity]) for name, function in BY_NAME.items()]
    plan = schedule(outputs, [x, u])
    assert "llvm.fma" not in emit(plan, float_type(dtype), UNFUSED).ir
    assert "llvm.fma" in emit(plan, float_type("float64"), Target(16, fused=True)).ir


def test_the_text_of_a_module_is_the_same_in_every_process():
    program = (
        "import symgrad as sg; x, y = sg.symbols('x y');"
        "f = sg.sin(x)*sg.tanh(y) + sg.arctan2(x, y)*sg.special.gammaln(x)**y;"
        "print(sg.compile([f, *sg.grad(f, [x, y])], inputs=[x, y], effort='high').llvm_ir)"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(set(texts)) == 1


def test_only_large_angles_and_negative_arguments_reach_the_c_library():
    called = {
        name
        for name in FUNCTIONS
        if write_function(name, float_type("float64"), 2, FunctionOptions(fused=True)).libm
    }
    assert called == {"sin", "cos", "tan", "lgamma"}
    assert same_bits(kernel("sin")(np.array([1e22, 0.5]))[1], kernel("sin")(0.5))
    assert abs(kernel("sin")(1e22) - -0.8522008497671888) < 2e-16
    assert same_bits(kernel("lgamma")(np.array([-2.5, 0.5]))[1], kernel("lgamma")(0.5))
    assert abs(kernel("lgamma")(-2.5) - -0.05624371649767405) < 2e-16


def power_and_log(dtype: str, *, fast: bool, derived: bool, effort: Any = "high") -> Any:
    log = op("log", x)
    return compile_nodes(
        [op("pow", x, u), log],
        [x, u],
        dtype=dtype,
        fast=fast,
        fusable=[log] if derived else [],
        effort=effort,
    )


@pytest.mark.parametrize(("dtype", "fast"), FORMATS)
def test_the_logarithm_that_a_power_takes(dtype, fast):
    """As precise as the function by itself at whatever exponent, the same at the ends; the power stays as it is."""
    rng = np.random.default_rng(7)
    (at,) = sample(CASES["log"], 4_000, 7, dtype)
    with np.errstate(all="ignore"):
        pool = np.array(SPECIAL).astype(dtype)
        ends, exponents = (np.array(c) for c in zip(*itertools.product(pool, repeat=2), strict=True))
        at, exponents = (
            np.concatenate([a, b]).astype(dtype)
            for a, b in (
                (at, ends),
                (rng.standard_normal(len(at)) * 10.0 ** rng.integers(-3, 300, len(at)), exponents),
            )
        )
        assert np.isinf(exponents).any()
    kernel = power_and_log(dtype, fast=fast, derived=True)
    assert "@maths.log" not in kernel.llvm_ir
    power, log = as_tuple(kernel(at, exponents))
    assert np.max(ulps(log, *exact("log", (at,)))) <= 1
    apart, ours = as_tuple(power_and_log(dtype, fast=fast, derived=False)(at, exponents))
    assert same_bits(power, apart)
    assert same_bits(ours, as_tuple(compile_nodes([op("log", x)], [x], dtype=dtype, fast=fast)(at))[0])
    quick = as_tuple(power_and_log(dtype, fast=fast, derived=True, effort="auto")(at, exponents))
    assert same_bits(quick[0], power)
    assert same_bits(quick[1], log)


def test_gradients_of_powers_have_it():
    base, exponent = sg.symbols("b e")
    power = base**exponent
    kernel = sg.compile([power, sg.grad(power, exponent)], inputs=[base, exponent])
    assert "@maths.log" not in kernel.llvm_ir
    assert "@maths.log" in sg.compile([power, sg.log(base)], inputs=[base, exponent]).llvm_ir
    value, slope = kernel(2.0, 3.0)
    assert slope == pytest.approx(value * math.log(2.0), rel=1e-15)
