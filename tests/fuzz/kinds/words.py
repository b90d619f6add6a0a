"""Derivatives in the names of their program: they read back, and are the derivatives."""

from __future__ import annotations

import math
import random
from typing import Any

import mpmath
import numpy as np

import symgrad as sg
from symgrad.errors import MissingInputError
from symgrad.ir.sizes import Shape
from symgrad.ir.values.evaluate import evaluate_mp
from symgrad.pretty.named_derivatives import name_derivatives
from symgrad.rewrite.pipeline import canonical
from tests.fuzz.kind import kind
from tests.fuzz.programs import random_program

# Lines over matrices of n rows and vectors of k entries; each form says which shape it has and what it reads.
_LINES = (
    ("matrix", "tanh({matrix}*{number})"),
    ("matrix", "{matrix} - mean({matrix}, axis=0)"),
    ("matrix", "softmax({matrix}, axis=1)"),
    ("matrix", "{matrix}*{vector} + {matrix}"),
    ("matrix", "relu({matrix} - {vector})"),
    ("matrix", "{matrix}/sqrt({vector}**2 + 1e-5)"),
    ("vector", "mean({matrix}**2, axis=0)"),
    ("vector", "{matrix}.T@{rows}"),
    ("vector", "exp(-{vector}**2)*{vector}"),
    ("rows", "{matrix}@{vector}"),
    ("rows", "sum({matrix}*{matrix}, axis=1)"),
    ("rows", "logsumexp({matrix}, axis=1)"),
    ("rows", "{rows}*{number} + {rows}**2"),
)
_SIZES = {"n": 2, "k": 3}
_ENDS = ("sum({matrix}**2)", "mean(({rows} - b)**2)", "sum({vector}*{vector})", "log(1 + sum({rows}**2))/2")


@kind("printed-in-names")
def printed_in_names(rng: random.Random) -> None:
    """What is printed is the derivative of the program, over its names and what stands below."""
    arrays = rng.random() < 0.4
    program = sg.parse(_arrays(rng) if arrays else random_program(rng, rng.randint(2, 9)))
    inputs = list(program.inputs)
    by = rng.choice([x for x in inputs if x.node.declaration.distribution is None and x.node.dtype == "real"])
    g = sg.grad(program.last, by)
    if not arrays and rng.random() < 0.3 and g.nothing is None:
        g = sg.grad(g, by)
    if g.slope is None:
        return
    (listing,) = g.listings
    found = name_derivatives(listing, [g.slope])
    if found is None:
        return
    names = {str(x.name): x for x in inputs} | {n: program[n] for n in listing.assignments}
    again = sg.parse(found.text([""]), symbols=names).last
    assert canonical([again.node]).nodes[0] is canonical([found.meaning[0]]).nodes[0], found.text([""])
    mp = mpmath.MPContext()
    mp.dps = 60
    nodes = [program.last.node, g.node, again.node]
    for _ in range(2):
        point = {x.node: _drawn(rng, mp, x.shape) for x in inputs}
        try:
            y, expected, value = (np.asarray(v, object).ravel() for v in evaluate_mp(mp, nodes, point))
        except (
            ArithmeticError,
            MissingInputError,
        ):  # a size that no input tells: nothing of an input is left
            continue
        if not all(isinstance(v, mp.mpf) and abs(v) < 1e40 for v in (*y, *expected)):
            continue
        value = np.broadcast_to(value, expected.shape)
        for a, b in zip(value, expected, strict=True):
            assert abs(a - b) <= 1e-15 * (1 + abs(b)), (found.text([""]), point, value, expected)


def _drawn(rng: random.Random, mp: Any, shape: Shape) -> Any:
    """Return a value of an input; arrays have two rows and three columns, or as many as their length says."""
    lengths = [_SIZES[str(size)] for size in shape]
    if not lengths:
        return mp.mpf(rng.uniform(0.3, 1.7))
    return np.array([mp.mpf(rng.uniform(0.3, 1.7)) for _ in range(math.prod(lengths))], object).reshape(
        lengths
    )


def _arrays(rng: random.Random) -> str:
    known = {"matrix": ["X", "Y"], "vector": ["w", "c"], "rows": ["a", "b"]}
    lines = ["X, Y : real[n, k]; w, c : real[k]; a, b : real[n]"]
    for number in range(rng.randint(1, 4)):
        shape, form = rng.choice(_LINES)
        lines.append(f"t{number} = {_filled(rng, form, known)}")
        known[shape].append(f"t{number}")
    lines.append(f"loss = {_filled(rng, rng.choice(_ENDS), known)}")
    return "\n".join(lines)


def _filled(rng: random.Random, form: str, known: dict[str, list[str]]) -> str:
    for shape, names in known.items():
        while f"{{{shape}}}" in form:
            form = form.replace(f"{{{shape}}}", rng.choice(names[-3:]), 1)
    return form.replace("{number}", rng.choice(["0.5", "2", "1.75", "0.125"]))
