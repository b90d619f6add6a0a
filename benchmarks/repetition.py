"""Programs in which the same equations stand again and again, and one in which they do not: with loops and without."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

import symgrad as sg
from benchmarks.measure import Options, Row, interleaved, per_point
from symgrad.api.kernels.compile import arrange_nodes
from symgrad.compiler.kernels.compile import compile_nodes, save_native
from symgrad.compiler.kernels.elementwise import ElementwiseKernel
from symgrad.compiler.kernels.kernel import KernelOptions
from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.compiler.llvm.text.types import FLOAT64
from symgrad.compiler.lowering.elementwise.schedule import schedule

__all__ = ["lennard_jones", "long_sum", "no_repetition", "pendulum", "rosenbrock", "run", "total"]

POINTS = 1_000

Program = tuple[list[sg.Expr], list[sg.Expr]]
"""Inputs and outputs."""


def total(terms: Sequence[sg.Expr]) -> sg.Expr:
    value = terms[0]
    for term in terms[1:]:
        value = value + term
    return value


def with_gradient(value: sg.Expr, inputs: Sequence[sg.Expr]) -> Program:
    return list(inputs), [value, *sg.grad(value, list(inputs))]


def rosenbrock(n: int) -> Program:
    x = list(sg.symbols(" ".join(f"x{k}" for k in range(n))))
    terms = [100 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2 for k in range(n - 1)]
    return with_gradient(total(terms), x)


def lennard_jones(n: int) -> Program:
    x = list(sg.symbols(" ".join(f"{c}{k}" for k in range(n) for c in "xyz")))
    terms: list[sg.Expr] = []
    for i in range(n):
        for j in range(i):
            apart = [x[3 * i + c] - x[3 * j + c] for c in range(3)]
            sixth = (1 / total([d**2 for d in apart])) ** 3
            terms.append(4 * (sixth * sixth - sixth))
    return with_gradient(total(terms), x)


def pendulum(steps: int) -> Program:
    q, p, h = sg.symbols("q p h")
    angle, speed = q, p
    for _ in range(steps):
        speed = speed - h / 2 * sg.sin(angle)
        angle = angle + h * speed
        speed = speed - h / 2 * sg.sin(angle)
    return [q, p, h], [angle, speed]


def long_sum(n: int) -> Program:
    """A discretised integral: terms that differ in numbers alone."""
    x, y = sg.symbols("x y")
    terms = [sg.exp(-((x - Fraction(k, n)) ** 2)) * (y * (k + 1) / n) for k in range(n)]
    return with_gradient(total(terms), [x, y])


def no_repetition(length: int, seed: int = 0) -> Program:
    choose = random.Random(seed)
    x = sg.symbols("x y z")
    nodes = list(x)
    for _ in range(length):
        a, b = nodes[-1], choose.choice(nodes[-10:])
        nodes.append(choose.choice([sg.sin(a), sg.tanh(a), a + b, a * b]))
    return list(x), [nodes[-1], *sg.grad(nodes[-1], list(x))]


PROGRAMS: Mapping[str, tuple[Callable[[int], Program], int, int]] = {
    "Rosenbrock of {} variables with gradient": (rosenbrock, 1_000, 150),
    "Lennard-Jones energy of {} particles with forces": (lennard_jones, 20, 12),
    "pendulum, {} steps": (pendulum, 500, 300),
    "sum of {} terms with two derivatives": (long_sum, 1_000, 180),
    "random graph of {} operations with gradient": (no_repetition, 10_000, 1_000),
}


def compiled(program: Program, *, rolled: bool) -> ElementwiseKernel:
    inputs, outputs = program
    found = arrange_nodes(outputs)
    symbols = [x.node for x in inputs]
    plan = schedule(found.nodes, symbols, fusable=found.fusable, rolled=rolled)
    return ElementwiseKernel(
        ElementwiseCode(plan, FLOAT64),
        found.nodes,
        symbols,
        KernelOptions("k", 1, compile_nodes, save_native),
        fusable=found.fusable,
    )


def run(options: Options) -> Iterator[Row]:
    for name, (build, size, quick) in PROGRAMS.items():
        size = quick if options.quick else size
        what = name.format(f"{size:,}")
        options.step(what)
        program = build(size)
        ways = {"loops": True, "no loops": False}
        seconds = interleaved(
            {way: lambda p=program, r=rolled: compiled(p, rolled=r) for way, rolled in ways.items()},
            options.repeats(3),
        )
        yield Row(f"compile: {what}", seconds["loops"], "s", "no loops", seconds["no loops"])
        kernels = {way: compiled(program, rolled=rolled) for way, rolled in ways.items()}
        # Both on the same arrays, which begin at different places of a page: where they lie can double the time.
        count = sum(map(len, program))
        arrays = list(np.random.default_rng(0).uniform(0.5, 1.5, (count, POINTS + 24))[:, :POINTS])
        given, out = arrays[: len(program[0])], tuple(arrays[len(program[0]) :])
        calls = {way: lambda k=k, a=given, out=out: k(*a, out=out) for way, k in kernels.items()}
        for call in calls.values():
            call()  # the second call, in `per_point`, compiles how later ones go around NumPy
        nanoseconds = per_point(calls, POINTS, options.repeats(15), 5)
        yield Row(what, nanoseconds["loops"], "ns/point", "no loops", nanoseconds["no loops"])
