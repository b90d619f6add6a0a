"""Programs with numbers from 1e-40 to 1e40, through every pass: text, derivatives, forms, printing, kernels."""

from __future__ import annotations

import random

import mpmath
import numpy as np

import symgrad as sg
from symgrad.errors import NumberTooLargeError
from symgrad.ir.evaluate import evaluate_mp
from tests.fuzz.kind import kind, refused
from tests.fuzz.programs import decimal, random_program


def through_every_pass(program: sg.Program, rng: random.Random, order: int = 1) -> None:
    """Derive, rewrite, print, read back, compile and compare with mpmath wherever that has a finite value."""
    y = program.last
    wrt = [x for x in program.inputs if x.dtype == "real"]
    wrt = rng.sample(wrt, min(2, len(wrt)))
    exprs = list(sg.derivatives(y, wrt, order=order).values())
    names = {x.name: x for x in program.inputs if x.name}
    for e in exprs[:3]:
        for form in (e, e.canonical(), e.stable()):
            again = sg.parse(str(form), symbols=names).last
            assert str(again) == str(form)
    y.latex()
    y.numpy_source()
    inputs = list(program.inputs)
    points = [
        [
            float(decimal(rng).lstrip("-"))
            if x.node.declaration.domain.low is not None
            else float(decimal(rng))
            for x in inputs
        ]
        for _ in range(4)
    ]
    try:
        results = sg.compile(exprs, inputs)(*np.array(points).T)
    except NumberTooLargeError as error:
        refused(error)
        return
    results = results if isinstance(results, tuple) else (results,)
    for j, point in enumerate(points):
        _compare([e.node for e in exprs], [np.broadcast_to(r, 4)[j] for r in results], inputs, point)


def _compare(nodes, found, inputs, point) -> None:
    """Compare with mpmath, where the value is finite, in range, and not the difference of much larger ones."""
    values = []
    for digits in (80, 14, 13):
        with mpmath.workdps(digits):
            at = {x.node: mpmath.mpf(p) for x, p in zip(inputs, point, strict=True)}
            values.append(evaluate_mp(mpmath.mp, nodes, at))
    for got, exact, *rough in zip(found, *values, strict=True):
        if not all(map(mpmath.isfinite, (exact, *rough))) or not 1e-250 < abs(exact) < 1e250:
            continue
        slack = max(abs(r - exact) for r in rough)
        if slack > 1e-6 * abs(exact):
            continue
        if not np.isfinite(got):
            continue  # an intermediate value left the range of floats
        assert abs(got - exact) <= 1e-9 * abs(exact) + 100 * slack, (point, got, exact)


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
