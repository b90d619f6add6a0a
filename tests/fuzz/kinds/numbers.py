"""Programs with numbers from 1e-40 to 1e40, through every pass: text, derivatives, forms, printing, kernels."""

from __future__ import annotations

import random
from typing import Any

import mpmath
import numpy as np

import symgrad as sg
from symgrad.errors import NumberTooLargeError
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate_mp
from tests.fuzz.kind import kind, refused
from tests.fuzz.programs import decimal, random_program


def through_every_pass(program: sg.Program, rng: random.Random, order: int = 1) -> None:
    """Derive, rewrite, print, read back, compile and compare with mpmath wherever that has a finite value."""
    y, inputs = program.last, list(program.inputs)
    wrt = [x for x in inputs if x.node.declaration.distribution is None]
    wrt = rng.sample(wrt, min(2, len(wrt)))
    exprs = list(sg.derivatives(y, wrt, order=order).values())
    e = rng.choice(exprs)
    form = rng.choice([e, e.canonical(), e.stable()])
    known = {x.name: x for x in inputs if x.name}
    again = sg.parse(form.text(expand=True), symbols=known)
    assert str(again.last) == form.text(expand=True)
    other = rng.choice([form.latex, form.numpy_source, lambda: str(sg.explain(y, wrt[0])), lambda: None])
    other()
    points = [[_value(x, rng) for x in inputs] for _ in range(4)]
    accuracy, dtype = rng.choice(
        [("high", "float64"), ("high", "float64"), ("fast", "float64"), ("high", "float32")]
    )
    try:
        kernel = sg.compile(exprs, inputs, dtype=dtype, accuracy=accuracy)
    except NumberTooLargeError as error:
        refused(error)
        return
    with np.errstate(all="ignore"):
        results = kernel(*np.array(points).T.astype(dtype))
    if dtype == "float32":
        return  # what a float32 holds is another question: that it compiles and runs is this one
    results = results if isinstance(results, tuple) else (results,)
    for j, point in enumerate(points):
        _compare([e.node for e in exprs], [np.broadcast_to(r, 4)[j] for r in results], inputs, point)


def _value(x: sg.Expr, rng: random.Random) -> float:
    declared = x.node.declaration
    if declared.distribution is not None:
        return 1.0
    value = float(decimal(rng))
    return abs(value) if declared.domain.low is not None else value


def _compare(nodes, found, inputs, point) -> None:
    """Compare with mpmath, where all values are in the range of floats and rounding leaves enough of the result."""
    values = {x.node: mpmath.mpf(p) for x, p in zip(inputs, point, strict=True)}
    with mpmath.workdps(80):
        exact = _values(nodes, values, lambda: 0)
        if exact is None:
            return
        rounding = random.Random(0)
        # Often enough to see what rounding decides, such as 9.8 > 9.8.
        rounded = [_values(nodes, values, lambda: rounding.uniform(-4e-16, 4e-16)) for _ in range(12)]
        rough = [r for r in rounded if r is not None]
        for got, node in zip(found, nodes, strict=True):
            wanted = exact[node]
            slack = max((abs(r[node] - wanted) for r in rough), default=mpmath.inf)
            if slack < 1e-6 * abs(wanted):
                assert abs(got - wanted) <= 1e-9 * abs(wanted) + 100 * slack, (point, got, wanted)


def _values(nodes, values, error) -> dict[Node, Any] | None:
    """Every value on the way, each with a relative error: what rounding does to a result, however it cancels.

    None where one of them is out of the range of floats: how the kernel gets there is its own affair.
    """
    known = {x: value * (1 + error()) for x, value in values.items()}
    for node in topological(nodes):
        if node not in known:
            (value,) = evaluate_mp(mpmath.mp, [node], known)
            if not isinstance(value, bool):
                if not (value == 0 or 1e-250 < abs(value) < 1e250):  # nor what is not a number
                    return None
                value *= 1 + error()
            known[node] = value
    return known


@kind("numbers-of-all-sizes")
def numbers_of_all_sizes(rng: random.Random) -> None:
    program = sg.parse(random_program(rng, rng.randint(2, 10)))
    through_every_pass(program, rng, order=rng.choice([1, 1, 2]))


@kind("long-recurrences")
def long_recurrences(rng: random.Random) -> None:
    """A step written out many times, as a loop over time does it."""
    a, b = decimal(rng), decimal(rng)
    step = rng.choice(
        [
            "sin({e})*({a}) + x",
            "({e} + y/{e})/2",
            "({a})*exp({e})*y",
            "{e} + ({a})*({b} - {e})*x",
            "{e}*({a}) - ({b})*{e}**3",
            "sqrt({e}**2 + ({a})*x)",
            "{e}/(1 + ({a})*{e}**2) + y",
            "tanh(({a})*{e} + ({b})*x)",
            "where({e} > y, {e} - ({a})*x, {e} + ({a})*x)",
        ]
    )
    count = rng.choice([10, 30, 60, 120])
    lines = ["x, y : real", "e0 = x*y"]
    lines += [f"e{k + 1} = " + step.format(e=f"e{k}", a=a, b=b) for k in range(count)]
    program = sg.parse("\n".join(lines))
    outputs = [program.last, *sg.grad(program.last, [program["x"], program["y"]])]
    try:
        kernel = sg.compile(outputs, [program["x"], program["y"]])
    except NumberTooLargeError as error:
        refused(error)
        return
    with np.errstate(all="ignore"):
        kernel(np.linspace(-2, 2, 9), 0.5)
