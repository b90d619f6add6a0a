"""Where the functions of symgrad/compiler/llvm/maths are tested, and their exact values."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from symgrad.checker.numbers import flint
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.llvm.elementwise.c_entry import Entry
from symgrad.compiler.llvm.elementwise.emit import emit
from symgrad.compiler.llvm.engine.jit import Engine
from symgrad.compiler.llvm.engine.target import Target
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.lowering.elementwise.schedule import schedule
from tests.compiler.kernels.formulas import op, u, x


@dataclass(frozen=True)
class Case:
    """A function: ranges to sample (uniformly, or over all magnitudes), and points that are hard."""

    ranges: tuple[tuple[float, float], ...]
    hard: tuple[Any, ...] = ()
    magnitudes: tuple[float, float] | None = None
    """Powers of two between which the size of an argument lies; negative arguments too if the ranges have them."""
    arity: int = 1
    limit: float = 1.0


def near(*points: float) -> tuple[float, ...]:
    """The points and the two numbers on either side of each."""
    found: list[float] = []
    for p in points:
        down = math.nextafter(p, -math.inf)
        up = math.nextafter(p, math.inf)
        found += [math.nextafter(down, -math.inf), down, p, up, math.nextafter(up, math.inf)]
    return tuple(found)


LN2 = math.log(2)
STEPS = near(*(LN2 * (n + 0.5) for n in (-40, -3, -2, -1, 0, 1, 2, 52, 53, 54)))
# Where one rounding more than needed makes an error of 1.2 units.
EXPONENTS = tuple(
    map(
        float.fromhex,
        ("0x1.6a88f3ac6068cp-2", "-0x1.9a0425d822d9ep+3", "-0x1.9471a2407c6c6p+8", "0x1.38a662bbce594p+7"),
    )
)
ROOTS = near(*(math.sqrt(0.5) * 2.0**n for n in (-2, -1, 0, 1, 2, 3)), 1.0, 0.5, 2.0)


def beside_turns(bits: int) -> list[float]:
    """Numbers of so many bits that are nearer to a multiple of pi/2 than others of their size, up to 2**40.

    That m*2**q/(pi/2) is nearly whole says that the continued fraction of 2**q/(pi/2) has the denominator m.
    """
    with mp.workprec(200):
        turns = int(mp.ldexp(2 / mp.pi, 160))
    found: list[float] = []
    for q in range(1 - bits, 41 - bits):
        above, below = turns << (q + bits), 1 << (160 + bits)
        last, m = 0, 1
        while below and m < 1 << bits:
            found.append(math.ldexp(m, q))
            above, (part, below) = below, divmod(above, below)
            last, m = m, part * m + last
    return sorted({f for f in found if 1 < f < 2.0**40})


# Multiples of pi/4, odd ones of pi/16, and where the fast reduction ends.
TURNS = (
    *near(*(n * math.pi / 4 for n in (1, 2, 3, 4, 7, 100, 1000, 355 * 4, 12345, 654_321, 1_335_088))),
    *near(*(n * math.pi / 16 for n in (1, 3, 5, 7, 9, 11, 13, 15, 101, 54_321, 5_340_351, 8_388_607))),
    *near(2.0**20, -(2.0**20), 2.0**22 * math.pi / 8, -(2.0**22) * math.pi / 8),
    *(n * math.pi / 2 for n in range(3, 667_544, 3557)),
    *(float.fromhex("0x1.6c6cbc45dc8dep+5") * 2.0**k for k in range(16)),  # the closest ones below 2**21
    *(f for bits in (53, 24) for f in beside_turns(bits)[-120:]),
    1e22,
)

# Near one, where the exponent magnifies the logarithm most; whole and negative powers; results near the ends.
POWERS = (
    *((a, b) for a in near(1.0) if a != 1 for b in (1e15, -1e15, 3e16, 2.0**53)),
    *((1 + 2.0**-k, 600 * 2.0**k) for k in range(1, 50)),
    *((a, b) for a in (-3.0, -0.5, 10.0, 0.1) for b in (-300.0, -3.0, 3.0, 7.0, 22.0, 300.0)),
    *((math.sqrt(2) * 2.0**k, y) for k in (-500, -1, 0, 1, 500) for y in (0.5, -1.5, 2.0, 1 / 3)),
)

# The positive one, and some between the poles.
DIGAMMA_ROOTS = tuple(
    float(mp.findroot(mp.digamma, start))
    for start in (1.4616, -0.50408, -1.57350, -2.61072, -3.63529, -4.65324, -9.70267, -99.82)
)

SIZES = (1.5e308, -3e200, 7e-5, -2.3e-114, 1.1e-200, 2e-305, 1.048e-319, 5e-324)

CASES: dict[str, Case] = {
    "exp": Case(
        ((-1, 1), (-20, 20), (-745.2, 709.8)),
        STEPS + near(709.782712893384, -708.3964185322641, -745.133) + EXPONENTS,
        (-60, 3),
    ),
    "exp2": Case(
        ((-1, 1), (-20, 20), (-1075, 1024)), (*near(0.5, -0.5, 1.5, 1023.5, -1022, -1074), 3.0), (-60, 3)
    ),
    "expm1": Case(
        ((-1, 1), (-0.4, 0.4), (-40, 40), (-50, 709.8)), STEPS + near(709.782712893384), (-1074, 3)
    ),
    "sinh": Case(
        ((-1, 1), (-0.4, 0.4), (-40, 40), (-710.5, 710.5)), STEPS + near(709.78, 710.4758), (-1074, 3)
    ),
    "cosh": Case(
        ((-1, 1), (-0.4, 0.4), (-40, 40), (-710.5, 710.5)), STEPS + near(709.78, 710.4758), (-1074, 3)
    ),
    "tanh": Case(((-1, 1), (-0.4, 0.4), (-23, 23)), STEPS + near(18.7, 19.1, 22.0), (-1074, 10)),
    "sech": Case(
        ((-1, 1), (-23, 23), (-745, 745)), STEPS + near(354.0, 708.4, 745.0), (-1074, 10), limit=2.5
    ),
    "sigmoid": Case(
        ((-1, 1), (-20, 20), (-745, 745)),
        STEPS + near(36.7, 37.4, 690, -690, -708.3964185322641, -745.133),
        (-1074, 9),
    ),
    "softplus": Case(
        ((-1, 1), (-20, 20), (-745, 745)),
        STEPS + near(36.7, 37.4, 690, -690, -708.3964185322641, -745.133),
        (-1074, 1023),
    ),
    "log": Case(((0.5, 2), (0.99, 1.01), (0, 100)), ROOTS, (-1074, 1023)),
    "log2": Case(((0.5, 2), (0.99, 1.01), (0, 100)), (*ROOTS, 8.0, 2.0**-1074), (-1074, 1023)),
    "log10": Case(((0.5, 2), (0.99, 1.01), (0, 100)), (*ROOTS, *(10.0**n for n in range(23))), (-1074, 1023)),
    "log1p": Case(
        ((-0.5, 1), (-0.01, 0.01), (-1, 100)), tuple(r - 1 for r in ROOTS) + near(-1)[3:], (-1074, 1023)
    ),
    "sin": Case(((-1, 1), (-10, 10), (-1e5, 1e5), (-1e6, 1.1e6)), TURNS, (-1074, 1023)),
    "cos": Case(((-1, 1), (-10, 10), (-1e5, 1e5), (-1e6, 1.1e6)), TURNS, (-1074, 1023)),
    "tan": Case(((-1, 1), (-10, 10), (-1e5, 1e5), (-1e6, 1.1e6)), TURNS, (-1074, 1023)),
    "asin": Case(
        ((-1, 1), (-0.5, 0.5), (0.4, 0.6), (0.999, 1)), near(0.5, -0.5, 1 - 2**-20)[:-2], (-1074, -1)
    ),
    "acos": Case(
        ((-1, 1), (-0.5, 0.5), (0.4, 0.6), (0.999, 1)), near(0.5, -0.5, 1 - 2**-20)[:-2], (-1074, -1)
    ),
    "atan": Case(((-1, 1), (-3, 3), (0.4, 0.6), (1.9, 2.1)), near(0.5, -0.5, 1, 2), (-1074, 1023)),
    "asinh": Case(((-1, 1), (-0.3, 0.3), (-10, 10)), near(0.5, 2.0**30, 2.0**-28), (-1074, 1023)),
    "acosh": Case(((1, 2), (1, 1.001), (1, 100)), near(1.0)[2:] + near(2.0**30), (0, 1023)),
    "atanh": Case(((-1, 1), (-0.5, 0.5), (0.99, 1)), near(2.0**-28, 1)[:-3], (-1074, -1)),
    "cbrt": Case(((-1, 1), (-10, 10)), (*near(8, 27, 0.125), *ROOTS), (-1074, 1023)),
    "erf": Case(((-1, 1), (-2, 2), (-6, 6)), near(1, -1), (-1074, 5), limit=4),
    "erfc": Case(((-1, 1), (-2, 6), (0, 28)), near(1, -1, 26.5), (-1074, 5), limit=4),
    "atan2": Case(
        ((-1, 1), (-100, 100)),
        (*((a, b) for a in near(0.5, 1, 2) for b in near(1, -1)), *((a, b) for a in SIZES for b in SIZES)),
        (-1074, 1023),
        2,
    ),
    "hypot": Case(
        ((-1, 1), (-100, 100)),
        ((3.0, 4.0), *((a, b) for a in SIZES for b in SIZES)),
        (-1074, 1022),
        2,
    ),
    "lgamma": Case(
        ((0, 3), (0.9, 1.1), (1.9, 2.1), (2, 9), (7, 100)),
        near(1.0, 2.0, 0.5, 1.5, 2.5, 3.5, 7.5, 8.0),
        (-1074, 1013),
        limit=4,
    ),
    "digamma": Case(
        ((0, 1), (1, 2), (1.4, 1.5), (2, 10), (4, 100), (-1, 0), (-5, 0), (-100, 0), (-1e6, 0)),
        (
            *near(1.0, 2.0, 3.0, 4.0, 2.0**-60, *DIGAMMA_ROOTS),
            *map(float.fromhex, ("-0x1.6ab2ca18e6ce3p+2", "-0x1.743c30269d43cp+11", "-0x1.0b2f020000000p+6")),
            *(
                math.nextafter(float(n), end)
                for n in (-1, -2, -10, -1000, -(2**40))
                for end in (-math.inf, 0)
            ),
            *(n - 0.5 for n in (0, -1, -2, -77, -(2**30), -(2**51), 2 - 2**52)),
            *(n + f for n in (-(2**45), -(2**48), -(2**49)) for f in (0.25, 0.5, 0.125, 0.75, 0.0625)),
            *(-math.ldexp(2**52 + m, k) for k in (*range(120), 970) for m in (1, 2, 3, 2**52 - 1)),  # poles
        ),
        (-1074, 1023),
        limit=4,
    ),
    "pow": Case(((0, 2), (0.5, 4), (0, 40)), POWERS, (-8, 6), 2),
}


def sample(case: Case, count: int, seed: int, dtype: str) -> tuple[np.ndarray, ...]:
    """Return about ``count`` arguments of the dtype, hard points first."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    limits = np.finfo(dtype)
    for k in range(case.arity):
        hard = np.array([p if case.arity == 1 else p[k] for p in case.hard], float)
        each = count // (len(case.ranges) + (case.magnitudes is not None))
        drawn = [rng.uniform(low, high, each) for low, high in case.ranges]
        if case.magnitudes:
            low, high = case.magnitudes
            low, high = max(low, limits.minexp - limits.nmant), min(high, limits.maxexp - 1)
            size = np.exp2(rng.uniform(low, high, each))
            signed = any(r[0] < 0 for r in case.ranges)
            drawn.append(size * rng.choice([-1.0, 1.0], each) if signed else size)
        columns.append(np.concatenate([hard, *drawn]))
    with np.errstate(all="ignore"):
        cast = [c.astype(dtype) for c in columns]
    keep = np.all(
        [np.isfinite(s) & ((s != 0) | (c == 0)) for s, c in zip(cast, columns, strict=True)], axis=0
    )
    return tuple(c[keep] for c in cast)


arb: Any = flint.arb

BALLS: dict[str, Callable[..., Any]] = {
    "exp2": lambda x: arb(2) ** x,
    "log2": lambda x: x.log() / arb.const_log2(),
    "log10": lambda x: x.log() / arb.const_log10(),
    "cbrt": lambda x: x.root(3) if x >= 0 else -(-x).root(3),
    "hypot": lambda x, y: (x * x + y * y).sqrt(),
    "pow": lambda x, y: x**y,
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "softplus": lambda x: x + (-x).exp().log1p() if x > 0 else x.exp().log1p(),
}
IN_MPMATH: dict[str, Callable[..., Any]] = {
    "exp2": lambda x: mp.power(2, x),
    "log2": lambda x: mp.log(x) / mp.ln2,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "lgamma": lambda x: mp.loggamma(x).real,
    "digamma": lambda x: mp.nan if x <= 0 and x == mp.floor(x) else mp.digamma(x),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
    "pow": lambda x, y: mp.inf if x == 0 and y < 0 else mp.power(x, y),
}


def exact(name: str, columns: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The values as doubles and what those lack, in their units; infinite or NaN where there is no such value.

    They are Arb's balls, whose radius says that they are narrow enough; at a pole mpmath's.
    """
    function = BALLS.get(name) or getattr(arb, name)
    high, low = np.empty((2, len(columns[0])))
    for i, row in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        for bits in (128, 1024):
            with flint.ctx.workprec(bits):
                ball = function(*map(arb, row))
                if ball.is_zero() or ball.rel_accuracy_bits() > 100:
                    high[i] = h = float(ball)
                    low[i] = float((ball - h) / math.ulp(h)) if math.isfinite(h) else 0.0
                    break
        else:
            high[i], low[i] = map(
                np.ndarray.item, exact_in_mpmath(name, tuple(c[i : i + 1] for c in columns))
            )
    return high, low


def exact_in_mpmath(name: str, columns: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The same by other means: slower."""
    function = IN_MPMATH.get(name) or getattr(mp, name)
    high, low = [], []
    with mp.workprec(200):
        for row in zip(*(c.tolist() for c in columns), strict=True):
            try:
                value = function(*map(mp.mpf, row))
            except ZeroDivisionError:
                value = mp.nan
            value = mp.nan if isinstance(value, mpmath.mpc) else value
            high.append(h := float(value))
            low.append(float((value - h) / math.ulp(h)) if math.isfinite(h) else 0.0)
    return np.array(high), np.array(low)


def agree(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Where two results of `exact` are the same numbers (the doubles may be neighbours)."""
    with np.errstate(invalid="ignore"):
        apart = (one[0] - other[0]) / np.spacing(np.abs(other[0])) + (one[1] - other[1])
    same = (one[0] == other[0]) | (np.isnan(one[0]) & np.isnan(other[0]))
    return np.where(np.isfinite(one[0]) & np.isfinite(other[0]), np.abs(apart) < 1e-9, same)


def ulps(found: np.ndarray, high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Errors in units in the last place of the exact value, in the dtype of what was found."""
    limits = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        nearest = high.astype(found.dtype)
        unit = np.abs(np.spacing(np.minimum(np.abs(nearest), limits.max))).astype(float)
        errors = np.abs((found.astype(float) - high) / unit - low * (np.abs(np.spacing(high)) / unit))
        same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
    return np.where(~np.isfinite(nearest) | ~np.isfinite(found), np.where(same, 0.0, np.inf), errors)


def kernel(
    name: str, dtype: str = "float64", target: Target | None = None, *, fast: bool = False
) -> Callable[..., np.ndarray]:
    """The function by itself, for this machine or with less than it has."""
    inputs = [x, u][: CASES[name].arity]
    outputs = [op(name, *inputs)]
    if target is None:
        return compile_nodes(outputs, inputs, dtype=dtype, fast=fast)
    plan = schedule(outputs, inputs, fast=fast)
    engine = Engine(emit(plan, float_type(dtype), target, entry=Entry.of("under_test")).ir)
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(None, *[pointer] * len(inputs), ctypes.c_long, pointer)(
        engine.address("under_test")
    )

    def call(*columns: np.ndarray) -> np.ndarray:
        assert engine is not None  # the code lives as long as this
        given = [np.ascontiguousarray(c, dtype) for c in columns]
        found = np.empty_like(given[0])
        function(*(c.ctypes.data for c in given), len(found), found.ctypes.data)
        return found

    return call
