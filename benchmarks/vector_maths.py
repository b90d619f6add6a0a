"""The functions of symgrad/compiler/llvm/maths against NumPy's and against the C library's, called for every lane."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import symgrad as sg
from benchmarks.measure import Options, Row, per_point
from symgrad.compiler.llvm.maths import FUNCTIONS

__all__ = ["run"]

POINTS = 100_000

# Where the arguments lie; NumPy's name where it is another.
RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "exp": ((-20, 20),),
    "exp2": ((-20, 20),),
    "expm1": ((-20, 20),),
    "log": ((0, 100),),
    "log1p": ((-1, 100),),
    "log2": ((0, 100),),
    "log10": ((0, 100),),
    "sinh": ((-20, 20),),
    "cosh": ((-20, 20),),
    "tanh": ((-10, 10),),
    "sin": ((-100, 100),),
    "cos": ((-100, 100),),
    "tan": ((-100, 100),),
    "asin": ((-1, 1),),
    "acos": ((-1, 1),),
    "atan": ((-10, 10),),
    "atan2": ((-10, 10), (-10, 10)),
    "asinh": ((-10, 10),),
    "acosh": ((1, 100),),
    "atanh": ((-1, 1),),
    "pow": ((0, 10), (-10, 10)),
    "cbrt": ((-10, 10),),
    "hypot": ((-10, 10), (-10, 10)),
    "erf": ((-4, 4),),
    "erfc": ((-4, 20),),
    "lgamma": ((0, 20),),
    "digamma": ((0, 20),),
    "sigmoid": ((-20, 20),),
    "softplus": ((-20, 20),),
}
SPELLED = {"a" + name: "arc" + name for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")} | {
    "pow": "power",
    "lgamma": "gammaln",
    "sigmoid": "expit",
}


def peer(name: str) -> tuple[str, Callable[..., Any]]:
    if name == "softplus":
        return "NumPy", partial(np.logaddexp, 0)
    function = getattr(np, SPELLED.get(name, name), None)
    if function is not None:
        return "NumPy", function
    from scipy import special

    return "SciPy", getattr(special, SPELLED.get(name, name))


def kernel(name: str, dtype: str) -> Callable[..., Any]:
    arguments = "xy"[: len(RANGES[name])]
    declared = "".join(f"{a} : real\n" for a in arguments)
    program = sg.parse(f"{declared}value = {name}({', '.join(arguments)})")
    return sg.compile(program["value"], inputs=[program[a] for a in arguments], dtype=dtype).ufunc


def run(options: Options) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    names = ("exp", "pow") if options.quick else tuple(RANGES)
    for name in names:
        single = ""
        for dtype in ("float32", "float64"):
            options.step(f"{name}, {dtype}")
            columns = [rng.uniform(low, high, POINTS).astype(dtype) for low, high in RANGES[name]]
            out = np.empty(POINTS, dtype)
            of_peer, theirs = peer(name)
            ours = kernel(name, dtype)
            with patch.dict(FUNCTIONS, clear=True):
                lanes = kernel(name, dtype)
            nothing = [np.full_like(c, np.nan) for c in columns]
            works = {
                "ours": partial(ours, *columns, out),
                "nothing": partial(ours, *nothing, out),
                "peer": partial(theirs, *columns, out),
                "lanes": partial(lanes, *columns, out),
            }
            with np.errstate(all="ignore"):
                took = per_point(works, POINTS, options.repeats(9), 5)
            if dtype == "float32":
                single = f"float32 {took['ours']:.3g} against {took['peer']:.3g}"
                continue
            note = f"all NaN {took['nothing']:.3g}, libm for every lane {took['lanes']:.3g}; {single}"
            yield Row(name, took["ours"], "ns/point", of_peer, took["peer"], note=note)
