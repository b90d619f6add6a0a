"""From a random program to its kernel: value and gradient against mpmath at 60 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import symgrad as sg
from symgrad.api.handles.expr import handle
from symgrad.errors import NumberTooLargeError
from symgrad.ir.graph import OPS, as_node
from symgrad.ir.values.evaluate import evaluate_mp
from symgrad.ops.special.orders import BY_ORDER
from symgrad.ops.user_ops import OWN
from tests.graphs import SMOOTH, inputs, random_graph

OPS_HERE = [*SMOOTH, "cosh", "erfc", "log2", "hypot", "atan2", "minimum", "relu", "cbrt", "sech", "exp2"]
POINTS = np.random.Generator(np.random.Philox(key=5)).uniform(-2, 2, (3, 9))


def compiled(seed, dtype="float64", stops=0.0):
    xs = inputs()
    y = handle(random_graph(seed, xs, size=10, ops=OPS_HERE, stops=stops))
    wrt = [handle(x) for x in xs]
    outputs = [y, *(g for g in sg.gradients([y], wrt))]
    try:
        return xs, outputs, sg.compile(outputs, wrt, dtype=dtype)
    except NumberTooLargeError:
        reject()  # a constant such as cosh(2979) is refused


def at(nodes, xs, point, digits):
    with mpmath.workdps(digits):
        return evaluate_mp(mpmath.mp, nodes, {x: mpmath.mpf(p) for x, p in zip(xs, point, strict=True)})


def exact(outputs, xs, point):
    """Return the values at one point, and how ill-conditioned the program is there: what fewer digits would lose.

    The gradient is a difference of values, None where that has no limit: its own formula is no judge of it.
    """
    nodes = [e.node for e in outputs]
    rough = [at(nodes, xs, point, digits) for digits in (13, 12)]
    (here,) = at(nodes[:1], xs, point, 80)
    values = [here, *(slope(nodes[0], xs, point, i, here) for i in range(len(xs)))]
    with mpmath.workdps(60):
        return [
            (v, None if v is None else max(abs(r - v) for r in some))
            for v, *some in zip(values, *rough, strict=True)
        ]


def slope(y, xs, point, i, here):
    with mpmath.workdps(80):
        step = mpmath.mpf(10) ** -25
        below, above = (
            at([y], xs, [p + sign * step * (j == i) for j, p in enumerate(map(mpmath.mpf, point))], 80)[0]
            for sign in (-1, 1)
        )
        if not all(map(mpmath.isfinite, (below, here, above))):
            return None
        smooth = abs((above - here) - (here - below)) <= mpmath.mpf(10) ** -15 * abs(above - below)
        return (above - below) / (2 * step) if smooth or above == below == here else None


@given(st.integers(0, 10**9))
def test_kernels_agree_with_mpmath(seed):
    xs, outputs, kernel = compiled(seed)
    results = kernel(*POINTS)
    for j, point in enumerate(POINTS.T):
        for result, (value, slack) in zip(results, exact(outputs, xs, point), strict=True):
            got = float(np.broadcast_to(result, POINTS.shape[1])[j])
            if value is None or slack is None or not mpmath.isfinite(value) or abs(value) > 1e250:
                continue  # at a kink, outside the domain, or beyond what the intermediate values of a float kernel hold
            allowed = 1e-9 * (1 + abs(value)) + 10 * slack
            assert math.isfinite(got), (seed, point, value)
            assert abs(got - value) <= allowed, (seed, point, got, value)


@given(st.integers(0, 10**9))
def test_the_value_has_the_bits_of_the_evaluation_as_written(seed):
    """Arithmetic and roots only: there every operation is correctly rounded, so the kernel equals NumPy to the bit."""
    xs = inputs()
    y = handle(
        random_graph(seed, xs, size=12, ops=["add", "mul", "div", "neg", "sqrt", "abs", "maximum"], stops=0.2)
    )
    kernel = sg.compile(y, [handle(x) for x in xs])
    values = dict(zip([x.name for x in xs], POINTS, strict=True))
    read = {i.name for i in y.inputs}
    expected = np.broadcast_to(
        y(**{name: value for name, value in values.items() if name in read}), POINTS.shape[1]
    )
    got = kernel(*POINTS)
    number = ~np.isnan(expected)
    assert np.array_equal(np.isnan(got), ~number)
    assert np.array_equal(got[number].view(np.int64), expected[number].view(np.int64))


@given(st.integers(0, 10**9))
def test_what_is_printed_reads_back_and_computes_the_same(seed):
    xs, outputs, _ = compiled(seed, stops=0.1)
    names = {x.name: handle(x) for x in xs}
    for e in outputs:
        again = sg.parse(str(e), symbols=names)
        assert again.result is not None
        assert str(again.result) == str(e)


@pytest.mark.parametrize("name", ["z_outer", "z_exact"])
def test_the_exact_form_keeps_every_bit_and_the_outer_trick_does_not(name):
    p = sg.parse(
        "x : real\nu : positive\ny = x**2\nz = sqrt(y*u)\ng = sqrt(y)\n"
        "z_outer = stop_gradient(z - g) + g\nz_exact = stop_gradient(z) - (stop_gradient(g) - g)"
    )
    rng = np.random.Generator(np.random.Philox(key=1))
    x = rng.normal(size=20_000) * 10.0 ** rng.integers(-120, 120, 20_000)
    x[:4] = 0.0, -0.0, 5e-324, -1e-300
    u = 10.0 ** rng.uniform(-9, 9, x.size)
    z, other = sg.compile([p["z"], p[name]], [p["x"], p["u"]])(x, u)
    assert np.array_equal(z.view(np.int64), other.view(np.int64)) == (name == "z_exact")


def test_signed_zeros_survive_the_exact_form():
    p = sg.parse("x : real\nf = x*0\ng = sin(x)\ne = stop_gradient(f) - (stop_gradient(g) - g)")
    k = sg.compile([p["f"], p["e"]])
    f, e = k(np.array([-1.0, 1.0, -0.0]))
    assert np.array_equal(np.signbit(f), np.signbit(e))
    assert np.signbit(e)[0]


def test_every_op_compiles_in_both_dtypes():
    x, y, w = inputs()
    for op in {id(o): o for n, o in OPS.items() if o.pointwise and n not in OWN}.values():
        args = [
            OPS["gt"](a, y) if kind == "bool" else a for a, kind in zip((x, y, w), op.takes, strict=False)
        ]
        if op.name in BY_ORDER:
            args[0] = as_node(2)
        node = op(*args, params=(1,) * len(op.parameters))
        for dtype in ("float64", "float32"):
            kernel = sg.compile(handle(node), [handle(s) for s in (x, y, w)], dtype=dtype)
            assert kernel(*(np.ones(3, dtype),) * 3).shape == (3,)
