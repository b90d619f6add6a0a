"""Programs in which the same equations stand again and again, and one in which they do not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import symgrad as sg

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
    x = sg.symbols(" ".join(f"x{k}" for k in range(n)))
    terms = [100 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2 for k in range(n - 1)]
    return with_gradient(total(terms), x)


def lennard_jones(n: int) -> Program:
    x = sg.symbols(" ".join(f"{c}{k}" for k in range(n) for c in "xyz"))
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
