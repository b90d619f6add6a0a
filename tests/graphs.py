"""Random graphs for property tests: built from the registry, so a new op is tested by being registered."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import symgrad.ops  # noqa: F401
from symgrad.ir.graph import OPS, Node, Op, number, symbol
from symgrad.ir.types import Declaration, Distribution

_WORDS = """
    add add mul mul div neg sin cos tanh exp sqrt log1p atan sigmoid softplus expm1 asinh erf
    pow2 pow3 abs maximum where
"""
SMOOTH = tuple(_WORDS.split())


def inputs(count: int = 3) -> list[Node]:
    """Return real symbols x0, x1, ... ."""
    return [symbol(Declaration(f"x{i}")) for i in range(count)]


def noise(name: str = "u") -> Node:
    """Return a random input that is uniform around one."""
    return symbol(
        Declaration(name, distribution=Distribution("Uniform", (Fraction(9, 10), Fraction(11, 10))))
    )


def random_graph(
    seed: int, symbols: Sequence[Node], size: int = 12, ops: Sequence[str] = SMOOTH, stops: float = 0.0
) -> Node:
    """Return a random scalar graph over the symbols, with shared nodes; the same for the same seed.

    Args:
        seed: of the generator.
        symbols: the inputs to draw from.
        size: how many operations to stack.
        ops: names to draw from (``pow2`` and ``pow3`` are powers with these exponents).
        stops: the share of nodes to wrap in stop_gradient.
    """
    rng = random.Random(seed)
    pool = [*symbols, number(rng.choice([2, 3, Fraction(1, 2)]))]
    for _ in range(size):
        name = rng.choice(ops)
        picked = [rng.choice(pool[-6:]) for _ in range(2)]
        pool.append(_apply(name, picked))
        if rng.random() < stops:
            pool.append(OPS["stop_gradient"](pool[-1]))
    return pool[-1]


def _apply(name: str, args: list[Node]) -> Node:
    a, b = args
    if name.startswith("pow"):
        return OPS["pow"](a, number(int(name[3:])))
    if name == "where":
        return OPS["where"](OPS["gt"](a, b), a, OPS["sin"](b))
    if name == "sqrt":
        return OPS["sqrt"](OPS["add"](OPS["pow"](a, number(2)), number(1)))
    if name == "log1p":
        return OPS["log1p"](OPS["pow"](a, number(2)))
    op: Op = OPS[name]
    return op(a, b) if op.arity == 2 else op(a)
