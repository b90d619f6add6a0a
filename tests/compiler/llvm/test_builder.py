"""Every method of the Builder: compiled code, folding of literals and NumPy agree bit by bit."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest

from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.equations.builder import VectorBuilder
from symgrad.compiler.llvm.equations.declarations import Declarations
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64, float_type
from symgrad.errors import InternalError, UnsupportedError
from symgrad.ir.graph import OPS, apply
from tests.compiler.kernels.formulas import op, same_bits, u, v, x

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.7,
    1e-40,
    1e30,
    -1e300,
    5e-324,
    np.inf,
    -np.inf,
    np.nan,
]

NUMPY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "copysign": np.copysign,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "isnan": np.isnan,
}
MASKS = {
    "and_": np.logical_and,
    "or_": np.logical_or,
    "xor": np.logical_xor,
    "eq": np.equal,
    "ne": np.not_equal,
}


def compiled(lower, args, gives, dtype):
    """A kernel of one op that lowers as given."""
    base = OPS["add" if len(args) == 2 else "neg" if len(args) == 1 else "where"]
    kind = "real" if gives == "real" else "bool"
    takes = ("number",) * len(args)
    made = dataclasses.replace(base, name="under test", lower=lower, gives=kind, takes=takes)
    return compile_nodes([apply(made, args, ())], list(args), dtype=dtype)


def points(count: int, dtype: str) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        pool = np.array(SPECIAL).astype(dtype)
    return [np.array(c) for c in zip(*itertools.product(pool, repeat=count), strict=True)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NUMPY)
def test_arithmetic_and_comparisons(name, dtype):
    reference = NUMPY[name]
    arrays = points(reference.nin, dtype)
    with np.errstate(all="ignore"):
        expected = reference(*arrays)
    gives = "bool" if expected.dtype == bool else "real"
    args = (x, u)[: reference.nin]
    found = compiled(lambda b, node, *lanes: getattr(b, name)(*lanes), args, gives, dtype)(*arrays)
    builder = VectorBuilder(float_type(dtype), 4, Declarations())
    with np.errstate(all="ignore"):
        folded = [
            getattr(builder, name)(*(builder.const(float(a)) for a in row)).literal
            for row in zip(*arrays, strict=True)
        ]
    assert same_bits(found, np.array(folded, expected.dtype))
    if name in {"minimum", "maximum"}:  # NumPy leaves open which zero minimum(0, -0) is
        expected, found = expected + 0.0, found + 0.0
    assert same_bits(found, expected)


@pytest.mark.parametrize("name", MASKS)
def test_masks(name):
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    kernel = compiled(
        lambda b, node, p, q: getattr(b, name)(b.gt(p, b.const(0)), b.gt(q, b.const(0))),
        (x, u),
        "bool",
        "float64",
    )
    assert same_bits(kernel(a, b), MASKS[name](a, b))
    builder = VectorBuilder(FLOAT64, 4, Declarations())
    for p, q in zip(a, b, strict=True):
        literal = getattr(builder, name)(builder.bool_const(bool(p)), builder.bool_const(bool(q))).literal
        assert literal is bool(MASKS[name](p, q))


def exact_fma(a: float, b: float, c: float, dtype: str) -> float:
    with np.errstate(all="ignore"):
        if np.isfinite([a, b]).all() and not np.isfinite(c):
            return c
        if not np.isfinite([a, b]).all() or a == 0 or b == 0:
            return np.dtype(dtype).type(a) * np.dtype(dtype).type(b) + np.dtype(dtype).type(c)
        value = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        if value == 0:
            return 0.0
        limit = Fraction(2) ** (1024 if dtype == "float64" else 128)
        if abs(value) >= limit:
            return np.inf if value > 0 else -np.inf
        rounded = float_type(dtype).round(value)
        return np.copysign(rounded, np.sign(float(value > 0) - 0.5))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fma_is_rounded_once(dtype):
    arrays = points(3, dtype)
    tiny = np.array([1 + 2.0**-20, 1 - 2.0**-20, -1.0]).astype(dtype)
    arrays = [np.append(a, t) for a, t in zip(arrays, tiny, strict=True)]
    found = compiled(lambda b, node, *lanes: b.fma(*lanes), (x, u, v), "real", dtype)(*arrays)
    builder = VectorBuilder(float_type(dtype), 4, Declarations())
    expected, folded = [], []
    for row in zip(*map(np.ndarray.tolist, arrays), strict=True):
        a, b, c = row
        expected.append(exact_fma(a, b, c, dtype))
        with np.errstate(all="ignore"):
            folded.append(builder.fma(*map(builder.const, row)).literal)
    assert same_bits(found, np.array(expected, dtype))
    assert same_bits(found, np.array(folded, dtype))
    assert found[-1] != 0, "the product's last bits must survive"


def test_select_and_equal_instructions():
    builder = VectorBuilder(FLOAT64, 4, Declarations())
    a, b = builder.fresh("load <4 x double>, ptr %a"), builder.fresh("load <4 x double>, ptr %b")
    assert builder.select(builder.bool_const(True), a, b) is a
    assert builder.select(builder.bool_const(False), a, b) is b
    before = len(builder.lines)
    assert builder.add(a, b) == builder.add(a, b)
    assert len(builder.lines) == before + 1
    assert builder.add(a, b) != builder.add(b, a)
    assert builder.fresh("load <4 x double>, ptr %a") != a, "memory may have changed"


def test_libm_calls_take_the_variant_of_the_dtype():
    assert "@tgamma(" in compile_nodes([op("gamma", x)]).llvm_ir
    single = compile_nodes([op("gamma", x)], dtype="float32")
    assert "@tgammaf(" in single.llvm_ir
    assert "@tgamma(" not in single.llvm_ir
    assert single(np.float32(5)) == 24
    builder = VectorBuilder(FLOAT32, 4, Declarations())
    assert builder.call("tgamma", builder.const(2.5)).literal == single(np.float32(2.5))
    assert builder.call("pow", builder.const(2), builder.const(0.5)).literal == np.float32(2**0.5)


def test_lowerings_that_break_their_promise():
    with pytest.raises(InternalError, match="gave a mask"):
        compiled(lambda b, node, p: b.gt(p, p), (x,), "real", "float64")
    with pytest.raises(InternalError, match="gave numbers"):
        compiled(lambda b, node, p: p, (x,), "bool", "float64")
    with pytest.raises(UnsupportedError, match="'under test' has no native code"):
        compiled(lambda b, node, p: None, (x,), "real", "float64")
    with pytest.raises(InternalError, match="the constant 'tau'"):
        compiled(lambda b, node, p: b.const_named("tau"), (x,), "real", "float64")
