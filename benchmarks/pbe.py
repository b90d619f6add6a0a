"""The PBE correlation energy: deriving all 126 derivatives, compiling them, and their accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import symgrad as sg
from benchmarks.measure import Options, Row, interleaved, once, per_point
from benchmarks.published import pbe_correlation, random_points
from benchmarks.reference import Balls, indices
from examples.pbe_correlation import CORRELATION, INPUTS
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate

__all__ = ["derivative_nodes", "errors", "random_points", "run", "run_accuracy"]

ORDER = 4
LIMIT_S = 1.0
LIMIT_ERROR = 1e-13
FAR = 1e-10


def derivative_nodes(order: int) -> list[Any]:
    """Return the nodes of all derivatives, in the order of `indices`."""
    energy = sg.parse(CORRELATION)["energy"]
    partials = sg.derivatives(energy, INPUTS, order=order)
    return [partials[tuple(INPUTS[i] for i in index)].node for index in indices(len(INPUTS), order)]


def equations(nodes: list[Any]) -> int:
    return sum(1 for node in topological(nodes) if node.args)


def sympy_energy() -> tuple[Any, list[Any]]:
    import sympy

    inputs = [sympy.Symbol(name, positive=name != "sigma_ud", real=True) for name in INPUTS]
    energy = pbe_correlation(
        (inputs[0], inputs[1]),
        (inputs[2], inputs[3], inputs[4]),
        number=sympy.Rational,
        power=lambda x, p: x**p,
        exp=sympy.exp,
        log=sympy.log,
        log_2=sympy.log(2),
        pi=sympy.pi,
    )
    return energy, inputs


def sympy_derivatives(energy: Any, inputs: list[Any], order: int) -> Any:
    """Derive each partial from the one of an order less, then share the common parts: what SymPy offers."""
    import sympy
    from sympy.core.cache import clear_cache

    clear_cache()  # it would find the derivatives of the run before
    found: dict[tuple[int, ...], Any] = {(): energy}
    for index in indices(len(inputs), order)[1:]:
        found[index] = found[index[:-1]].diff(inputs[index[-1]])
    return sympy.cse(list(found.values()))


def run(options: Options) -> Iterator[Row]:
    program = sg.parse(CORRELATION)
    energy = program["energy"]
    for order in range(1, 3 if options.quick else ORDER + 1):
        options.step(f"PBE to order {order}")
        yield from of_order(program, order, options)
    peer_energy, peer_inputs = sympy_energy()
    for order in (1, 2) if options.full else (1,):
        options.step(f"SymPy diff and cse, order {order}")
        taken = interleaved(
            {
                "symgrad": lambda n=order: sg.derivatives(energy, INPUTS, order=n),
                "SymPy": lambda n=order: sympy_derivatives(peer_energy, peer_inputs, n),
            },
            options.repeats(5) if order == 1 else 1,
        )
        yield Row(
            f"derive all {len(indices(len(INPUTS), order))} derivatives to order {order}",
            taken["symgrad"],
            "s",
            "SymPy diff + cse",
            taken["SymPy"],
        )


def of_order(program: sg.Program, order: int, options: Options) -> Iterator[Row]:
    """Yield the figures of one order; what it made is gone afterwards, so that the next order starts from nothing."""
    energy = program["energy"]
    count = len(indices(len(INPUTS), order))
    seconds = interleaved({"": lambda: sg.derivatives(energy, INPUTS, order=order)}, options.repeats(5))[""]
    partials = list(sg.derivatives(energy, INPUTS, order=order).values())
    yield Row(
        f"derive all {count} derivatives to order {order}",
        seconds,
        "s",
        limit=LIMIT_S if order == ORDER else None,
        note=f"{equations([e.node for e in partials]):,} shared equations",
    )
    seconds = once(lambda: sg.compile(partials, inputs=program.inputs))
    yield Row(f"compile all {count}", seconds, "s")
    seconds = once(lambda: sg.compile(partials, inputs=program.inputs, effort="high"))
    yield Row(f"compile all {count}, better code", seconds, "s")
    kernel = sg.compile(partials, inputs=program.inputs, effort="high")
    points = random_points(1_000)
    taken = per_point({"": lambda: kernel(*points)}, points.shape[1], options.repeats(5), 3)[""]
    yield Row(f"evaluate all {count}, 1,000 points", taken, "ns/point")


def errors(
    points: np.ndarray, candidates: dict[str, list[np.ndarray]], step: Callable[[str], None] = lambda _: None
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the relative errors of each candidate and the condition numbers, arrays of shape (126, points).

    The reference is the derivative graph in ball arithmetic at 256 bits: intervals that contain the exact
    value. The condition number of a derivative f is sum_i |x_i df/dx_i| / |f|, how much a relative change of
    the inputs grows; the df/dx_i are derivatives of one order more, from the same balls. It counts as 1 at
    least: the result itself is rounded.
    """
    import flint

    names = indices(len(INPUTS), ORDER + 1)
    position = {index: k for k, index in enumerate(names)}
    count = len(indices(len(INPUTS), ORDER))
    upward = [[position[tuple(sorted((*index, i)))] for i in range(len(INPUTS))] for index in names[:count]]
    balls = Balls(derivative_nodes(ORDER + 1))
    shape = (count, points.shape[1])
    relative = {name: np.empty(shape) for name in candidates}
    condition = np.empty(shape)
    for j in range(points.shape[1]):
        step(f"reference values at point {j + 1:,} of {points.shape[1]:,}")
        exact = balls(dict(zip(INPUTS, map(float, points[:, j]), strict=True)))
        rounded = [float(ball.mid()) for ball in exact]
        with flint.ctx.workprec(balls.bits):
            for k in range(count):
                if exact[k].rel_accuracy_bits() < 80:
                    raise ArithmeticError(f"derivative {names[k]}, point {j}: the reference has too few bits")
                for name, values in candidates.items():
                    error = (flint.arb(float(values[k][j])) - exact[k]) / exact[k]
                    relative[name][k, j] = abs(float(error.mid()))
        for k, ups in enumerate(upward):
            grown = sum(abs(points[i, j] * rounded[up]) for i, up in enumerate(ups))
            condition[k, j] = max(1.0, grown / abs(rounded[k]))
    return relative, condition


def run_accuracy(options: Options) -> Iterator[Row]:
    count = 20 if options.quick else 1_000
    points = random_points(count)
    program = sg.parse(CORRELATION)
    partials = sg.derivatives(program["energy"], INPUTS, order=ORDER)
    kernel = sg.compile(list(partials.values()), inputs=program.inputs)
    nodes = derivative_nodes(ORDER)
    inputs = {e.node: points[i] for i, e in enumerate(program.inputs)}
    candidates = {
        "compiled": [np.broadcast_to(v, (count,)) for v in kernel(*points)],
        "uncompiled": [np.broadcast_to(v, (count,)) for v in evaluate(nodes, inputs)],
    }
    relative, condition = errors(points, candidates, options.step)
    orders = np.array([len(index) for index in indices(len(INPUTS), ORDER)])
    for name, error in relative.items():
        for order in range(ORDER + 1):
            rows = orders == order
            beyond = error[rows] > LIMIT_ERROR * condition[rows]
            yield Row(
                f"{name}, order {order}: largest error / condition number",
                float((error[rows] / condition[rows]).max()),
                "",
                limit=LIMIT_ERROR,
                note=f"beyond {LIMIT_ERROR:g}: {beyond.mean():.2%}; relative error beyond {FAR:g}: "
                f"{(error[rows] > FAR).mean():.2%}; median error {np.median(error[rows]):.1e}, "
                f"largest condition number {condition[rows].max():.0f}",
            )
