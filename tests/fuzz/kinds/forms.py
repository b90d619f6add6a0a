"""Formulas as people write them: what is printed for a derivative, computed by NumPy, is the slope that NumPy finds.

The judge is a step into the imaginary direction, f(x + i*h)/h, which loses no digits: it knows nothing of symgrad.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import symgrad as sg
from tests.fuzz.kind import kind

_STEP = 1e-30
_SIZES = {"n": 3, "m": 2}

# Each line says what it is and what it reads: numbers, vectors of n, square matrices, and n by m ones.
_LINES = (
    ("number", "{number}*{number}"),
    ("number", "{number}/({number} + {positive})"),
    ("number", "{number} - {number}*{number}"),
    ("number", "({number} + {number})*({number} - {literal})"),
    ("number", "sigmoid({number})"),
    ("number", "tanh({number})"),
    ("number", "exp(-{positive}*{number})"),
    ("number", "{literal} - {number}"),
    ("number", "{number}**2/{positive}"),
    ("number", "sin({number})*cos({number})"),
    ("number", "where({number} > {number}, 1, 0)*{number}"),
    ("number", "relu({number})*{number}"),
    ("number", "{number}/({positive} + sqrt(2)) + {number}/({positive} - sqrt(2))"),
    ("number", "log({positive})*{number}"),
    ("number", "{vector}@{vector}"),
    ("number", "sum({vector}*{vector})"),
    ("number", "sum(log({share}))"),
    ("number", "{vector}[1]"),
    ("number", "{share}@log({share})"),
    ("number", "trace({square}@{square})"),
    ("number", "{vector}@{square}@{vector}"),
    ("number", "mean({vector}**2)"),
    ("positive", "sqrt({number}**2 + {positive})"),
    ("positive", "exp({number}/4)"),
    ("positive", "{positive}*{positive}"),
    ("vector", "{square}@{vector}"),
    ("vector", "{square}.T@{vector}"),
    ("vector", "{wide}@({wide}.T@{vector})"),
    ("vector", "{vector} - {vector}"),
    ("vector", "{vector}/{positive}"),
    ("vector", "({vector} - mean({vector}))/{positive}"),
    ("vector", "sigmoid({vector})"),
    ("vector", "{vector}*where({vector} > 0, 1, 0)"),
    ("vector", "{number}*{vector}"),
    ("vector", "{share}*{vector}"),
    ("share", "softmax({vector})"),
    ("square", "{square}@{square}"),
    ("square", "{square} - {square}.T"),
    ("square", "{wide}@{wide}.T"),
    ("square", "outer({vector}, {vector})"),
    ("square", "{number}*{square}"),
    ("wide", "{square}@{wide}"),
    ("wide", "{wide} - {vector}[:, None]"),
    ("wide", "tanh({wide})"),
)
_ENDS = {
    "number": "{it}*{number}",
    "positive": "log({it})",
    "vector": "sum({it}*{vector})",
    "share": "-sum({it}*log({it}))",
    "square": "sum({it}*{square})/2",
    "wide": "sum({it}**2)/2",
}


@kind("written-forms")
def written_forms(rng: random.Random) -> None:
    """Draw a program, print its derivative by one of its inputs, and compute that."""
    program, by = _program(rng)
    text = str(sg.grad(sg.parse(program).last, sg.parse(program)[by]))
    shown, _, below = text.partition("\nwhere\n")
    added = [line.strip() for line in below.splitlines()][::-1]
    lines = [line for line in program.splitlines() if ":" not in line.partition("=")[0]]
    numbers = np.random.default_rng(rng.randrange(2**32))
    point = {
        "a": numbers.normal(),
        "b": numbers.normal(),
        "p": numbers.uniform(1.6, 3),
        "x": numbers.normal(size=3),
        "y": numbers.normal(size=3),
        "A": numbers.normal(size=(3, 3)),
        "W": numbers.normal(size=(3, 2)),
    }
    names: dict[str, Any] = {**_FUNCTIONS, **_SIZES, **point}
    _run([*lines, *added, f"shown_ = {shown}"], names)
    assert "\n" not in shown
    expected = np.zeros(np.shape(point[by]))
    for at in np.ndindex(expected.shape):
        moved = np.array(point[by], complex)
        moved[at] += 1j * _STEP
        names_moved: dict[str, Any] = {
            **_FUNCTIONS,
            **_SIZES,
            **point,
            by: moved if moved.ndim else moved[()],
        }
        last = _run(lines, names_moved)
        expected[at] = np.imag(names_moved[last]) / _STEP
    close = np.allclose(
        names["shown_"], expected, rtol=1e-7, atol=1e-8 * (1 + np.max(np.abs(expected), initial=0))
    )
    assert close, (program, by, text, names["shown_"], expected)


def _run(lines: list[str], names: dict[str, Any]) -> str:
    last = ""
    with np.errstate(all="ignore"):
        for line in lines:
            last, _, body = line.partition(" = ")
            names[last] = eval(body, {"__builtins__": {}}, names)  # the notation is NumPy's here
    return last


def _program(rng: random.Random) -> tuple[str, str]:
    known = {
        "number": ["a", "b"],
        "positive": ["p"],
        "vector": ["x", "y"],
        "share": [],
        "square": ["A"],
        "wide": ["W"],
    }
    lines = ["a, b : real; p : real(3/2, 4); x, y : real[n]; A : real[n, n]; W : real[n, m]"]
    kind_of = ""
    for _ in range(rng.randint(1, 4)):
        kind_of, form = rng.choice([(k, f) for k, f in _LINES if "{share}" not in f or known["share"]])
        lines.append(f"t{len(lines)} = {_filled(rng, form, known)}")
        known[kind_of].append(f"t{len(lines) - 1}")
    form = _ENDS[kind_of].replace("{it}", f"t{len(lines) - 1}")
    lines.append(f"end = {_filled(rng, form, known)}")
    read = [n for n in "abpxyAW" if any(n in _names(line) for line in lines[1:])]
    return "\n".join(lines), rng.choice(read)


def _names(text: str) -> set[str]:
    return {"".join(c for c in word if c.isalnum()) for word in _spaced(text).split()}


def _spaced(text: str) -> str:
    return "".join(c if c.isalnum() else " " for c in text)


def _filled(rng: random.Random, form: str, known: dict[str, list[str]]) -> str:
    for what, names in known.items():
        while f"{{{what}}}" in form:
            form = form.replace(f"{{{what}}}", rng.choice(names[-3:]), 1)
    while "{literal}" in form:
        form = form.replace("{literal}", rng.choice(["1", "2", "3", "1/2"]), 1)
    return form


def _softmax(z: Any, axis: int = -1) -> Any:
    e: Any = np.exp(z)
    return e / np.sum(e, axis=axis, keepdims=True)


def _scatter_add(values: Any, *indices: Any, shape: tuple[int, ...], axes: tuple[int, ...] = (0,)) -> Any:
    found = np.zeros(shape)
    assert len(indices) == len(axes)
    np.add.at(found, indices, values)
    return found


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _relu(x: Any) -> Any:
    return np.where(np.real(x) > 0, x, 0)


def _sech(x: Any) -> Any:
    return 1 / np.cosh(x)


def _sign(x: Any) -> Any:
    real: Any = np.real(x)
    return np.sign(real)


def _hypot(x: Any, y: Any) -> Any:
    return np.sqrt(x**2 + y**2)


def _softplus(x: Any) -> Any:
    return np.log(1 + np.exp(x))


def _one_hot(t: Any, k: int) -> Any:
    found: Any = np.equal.outer(t, np.arange(k))
    return found + 0.0


_FUNCTIONS: dict[str, Any] = {
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "relu": _relu,
    "sech": _sech,
    "where": np.where,
    "softmax": _softmax,
    "scatter_add": _scatter_add,
    "one_hot": _one_hot,
    "sign": _sign,
    "hypot": _hypot,
    "trace": np.trace,
    "eye": np.eye,
    "ones": np.ones,
    "zeros": np.zeros,
    "arange": np.arange,
    "broadcast_to": np.broadcast_to,
    "outer": np.outer,
    "full": np.full,
    **{
        f: getattr(np, f)
        for f in ("sqrt", "exp", "log", "sin", "cos", "tanh", "cosh", "sinh", "sum", "mean", "abs")
    },
    "einsum": np.einsum,
    "None": None,
    "True": True,
}
