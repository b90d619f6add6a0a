"""The workloads of numbers: a formula with its derivatives at many points, every point by itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.published import pbe_correlation, random_points
from benchmarks.scoreboard.tape import Tape, Variable, indices, namespace, partials

__all__ = ["POINTWISE", "SMALLEST", "Pointwise", "graph"]


@dataclass(frozen=True, slots=True)
class Pointwise:
    """Formulas, by what they are differentiated, and at which points.

    Attributes:
        what: in words.
        inputs: their names.
        wrt: positions of the inputs by which it is differentiated.
        order: all partials up to this one are wanted.
        formula: takes a namespace of functions and the inputs, returns the values.
        draw: takes a generator and a number of points, returns inputs of shape (inputs, points).
        points: the numbers of points it is measured at.
        text: the program in symgrad's notation, its outputs named `f`; without one it is built by the formula.
        by_hand: value and derivatives as someone who knows NumPy writes them.
        relative_to: an error is relative to the value itself (`each`), or to the largest of all results at
            the same point (`largest`): some of them may be zero there, or nearly.
        operations: about how many, for the time that reference values take.
    """

    what: str
    inputs: tuple[str, ...]
    wrt: tuple[int, ...]
    formula: Callable[..., Sequence[Any]]
    draw: Callable[[Any, int], Any]
    points: tuple[int, ...]
    order: int = 1
    text: str = ""
    by_hand: Callable[..., tuple[Any, ...]] | None = None
    relative_to: str = "each"
    operations: int = 100
    note: str = ""
    values: int = 1

    @property
    def outputs(self) -> list[tuple[int, tuple[int, ...]]]:
        """Which output, and by which of `wrt`, in the order in which every peer gives its results."""
        return [(f, i) for f in range(self.values) for i in indices(len(self.wrt), self.order)]

    def inputs_at(self, points: int) -> Any:
        return np.ascontiguousarray(self.draw(np.random.Generator(np.random.Philox(key=1)), points))

    def taped(self) -> tuple[Tape, list[Variable]]:
        """Return a tape and all outputs on it."""
        tape = Tape()
        xs = [tape.add("input", k) for k in range(len(self.inputs))]
        values = self.formula(namespace(tape), *xs)
        found = partials(tape, values, [xs[k] for k in self.wrt], self.order)
        return tape, [d for of_one in found for d in of_one]


def uniform(*ranges: tuple[float, float]) -> Callable[[Any, int], Any]:
    return lambda rng, points: np.array([rng.uniform(low, high, points) for low, high in ranges])


# ------------------------------------------------------------------------------------------------------- W1 and W2


def root(m: Any, x: Any, u: Any) -> list[Any]:
    return [m.sqrt(x**2 * u)]


def root_by_hand(x: Any, u: Any) -> tuple[Any, ...]:
    z = np.sqrt(x**2 * u)
    return z, x * u / z


def bell(m: Any, x: Any, y: Any) -> list[Any]:
    return [m.exp(-(x**2) / 2) * m.sin(3 * y) + m.log1p(x**2 + y**2) * m.tanh(x * y)]


def bell_by_hand(x: Any, y: Any) -> tuple[Any, ...]:
    e, s, c = np.exp(-(x**2) / 2), np.sin(3 * y), np.cos(3 * y)
    r = x**2 + y**2
    ell, t = np.log1p(r), np.tanh(x * y)
    slope = (1 - t**2) * ell
    return (
        e * s + ell * t,
        -x * e * s + 2 * x / (1 + r) * t + slope * y,
        3 * e * c + 2 * y / (1 + r) * t + slope * x,
    )


# --------------------------------------------------------------------------------------------------------------- W5

# Franka Emika Panda, Denavit-Hartenberg parameters in Craig's convention: a, d, and the sine of alpha, which is a
# right angle or none. The point is a fingertip of its open hand: one on the axis would not move with the last joint.
PANDA = (
    ("0", "0.333", 0),
    ("0", "0", -1),
    ("0", "0.316", 1),
    ("0.0825", "0", 1),
    ("-0.0825", "0.384", -1),
    ("0", "0", 1),
    ("0.088", "0", 1),
)
FINGERTIP = ("0.0282842712474619", "0.0282842712474619", "0.2104")  # 0.04 m aside, turned by 45 degrees


def panda(m: Any, *joints: Any) -> list[Any]:
    """Return the position of the fingertip: the point in the last frame, brought to the base frame by frame."""
    x, y, z = (m.number(text) for text in FINGERTIP)
    for q, (a, d, sine) in reversed(list(zip(joints, PANDA, strict=True))):
        c, s = m.cos(q), m.sin(q)
        x, y = x * c - y * s, x * s + y * c
        if d != "0":
            z = z + m.number(d)
        if sine:
            y, z = (-z, y) if sine == 1 else (z, -y)
        if a != "0":
            x = x + m.number(a)
    return [x, y, z]


def panda_by_hand(*joints: Any) -> tuple[Any, ...]:
    """The geometric Jacobian: joint i moves the point p by z_i x (p - o_i), its axis and its origin being z_i, o_i."""
    zero, one = np.zeros_like(joints[0]), np.ones_like(joints[0])
    X, Y, Z = (one, zero, zero), (zero, one, zero), (zero, zero, one)
    o = (zero, zero, zero)
    frames = []
    for q, (a, d, sine) in zip(joints, PANDA, strict=True):
        if a != "0":
            o = tuple(p + float(a) * e for p, e in zip(o, X, strict=True))
        if sine:
            Y, Z = (Z, tuple(-e for e in Y)) if sine == 1 else (tuple(-e for e in Z), Y)
        c, s = np.cos(q), np.sin(q)
        X, Y = (
            tuple(c * e + s * f for e, f in zip(X, Y, strict=True)),
            tuple(c * f - s * e for e, f in zip(X, Y, strict=True)),
        )
        if d != "0":
            o = tuple(p + float(d) * e for p, e in zip(o, Z, strict=True))
        frames.append((Z, o))
    tip = [float(t) for t in FINGERTIP]
    p = [o[k] + tip[0] * X[k] + tip[1] * Y[k] + tip[2] * Z[k] for k in range(3)]
    columns = []
    for axis, origin in frames:
        r = [p[k] - origin[k] for k in range(3)]
        columns.append(
            (
                axis[1] * r[2] - axis[2] * r[1],
                axis[2] * r[0] - axis[0] * r[2],
                axis[0] * r[1] - axis[1] * r[0],
            )
        )
    return tuple(v for k in range(3) for v in (p[k], *(column[k] for column in columns)))


# ------------------------------------------------------------------------------------------------------------ graphs

INPUTS = 10
RECENT = 10


def graph(m: Any, xs: Sequence[Any], length: int, seed: int = 0) -> list[Any]:
    """Return a random program: each operation reads the last one, a sum or product one more result or input."""
    choose = random.Random(seed)
    nodes = list(xs)
    for _ in range(length):
        last = nodes[-1]
        kind = choose.randrange(4)
        other = choose.choice([*nodes[-RECENT:], *xs]) if kind > 1 else None
        match kind:
            case 0:
                node = m.sin(last)
            case 1:
                node = m.tanh(last)
            case 2:
                node = last + other
            case _:
                node = last * other
        nodes.append(node)
    return [nodes[-1]]


def random_graph(length: int) -> Pointwise:
    return Pointwise(
        what=f"random graph of {length:,} shared operations (sin, tanh, +, *), value and 10 partials",
        inputs=tuple(f"x{k}" for k in range(INPUTS)),
        wrt=tuple(range(INPUTS)),
        formula=lambda m, *xs: graph(m, xs, length),
        draw=uniform(*[(-1.0, 1.0)] * INPUTS),
        points=(1_000,),
        relative_to="largest",
        operations=4 * length,
    )


# --------------------------------------------------------------------------------------------------------------- PBE


def pbe(m: Any, up: Any, down: Any, *invariants: Any) -> list[Any]:
    energy = pbe_correlation(
        (up, down),
        (invariants[0], invariants[1], invariants[2]),
        number=m.number,
        power=m.power,
        exp=m.exp,
        log=m.log,
        log_2=m.log_2,
        pi=m.pi,
    )
    return [energy]


def pbe_to(order: int) -> Pointwise:
    count = len(indices(5, order))
    return Pointwise(
        what=f"PBE correlation energy, all {count} derivatives to order {order}",
        inputs=("n_up", "n_dn", "sigma_uu", "sigma_ud", "sigma_dd"),
        wrt=(0, 1, 2, 3, 4),
        order=order,
        formula=pbe,
        draw=lambda rng, points: random_points(points),
        points=(1_000, 100_000),
        operations=(0, 600, 2_500, 9_000, 30_000)[order],
        note="Of the energy symgrad computes a form that keeps its digits, peers the published one, which is shorter",
    )


SMALLEST = Pointwise(
    "x*y and both partials",
    ("x", "y"),
    (0, 1),
    lambda m, x, y: [x * y],
    uniform((-3, 3), (-3, 3)),
    (1_000,),
    text="x : real\ny : real\nf = x*y",
    by_hand=lambda x, y: (x * y, y, x),
)
"""What every process compiles before it compiles a workload."""

POINTWISE: Mapping[str, Pointwise] = {
    "W1": Pointwise(
        "sqrt(x**2*u) and its slope in x",
        ("x", "u"),
        (0,),
        root,
        uniform((-3, 3), (0.9, 1.1)),
        (100_000, 10_000_000),
        text="x : real\nu : positive\nf = sqrt(x**2*u)",
        by_hand=root_by_hand,
    ),
    "W2": Pointwise(
        "exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y) and both partials",
        ("x", "y"),
        (0, 1),
        bell,
        uniform((-3, 3), (-3, 3)),
        (100_000,),
        text="x : real\ny : real\nf = exp(-x**2/2)*sin(3*y) + log1p(x**2 + y**2)*tanh(x*y)",
        by_hand=bell_by_hand,
        relative_to="largest",
    ),
    "W5": Pointwise(
        "Panda arm, 7 joints: position of a fingertip and its 3 x 7 Jacobian",
        tuple(f"q{k}" for k in range(1, 8)),
        tuple(range(7)),
        panda,
        uniform(*[(-2.8, 2.8)] * 7),
        (1_000, 100_000),
        by_hand=panda_by_hand,
        relative_to="largest",
        operations=400,
        values=3,
    ),
    "W4": random_graph(1_000),
    "W4-10k": random_graph(10_000),
    "W4-100k": random_graph(100_000),
    "PBE-1": pbe_to(1),
    "PBE-2": pbe_to(2),
    "PBE-3": pbe_to(3),
    "PBE-4": pbe_to(4),
}
