"""Random graphs over every op, with every kind of input, and points to try them at."""

from __future__ import annotations

import random
from fractions import Fraction

import symgrad.ops  # noqa: F401
from symgrad.errors import SymgradError
from symgrad.ir.graph import OPS, Node, number, symbol, truth
from symgrad.ir.types import INT, POSITIVE, REAL, Declaration, Distribution
from symgrad.ops.special.orders import BY_ORDER

x, y = symbol(Declaration("x")), symbol(Declaration("y"))
p = symbol(Declaration("p", POSITIVE))
n = symbol(Declaration("n", INT))
u = symbol(Declaration("u", REAL, (), Distribution("Uniform", (Fraction(9, 10), Fraction(11, 10)))))
SYMBOLS = [x, y, p, u, n]

EDGES = [Fraction(k) for k in (0, 1, -1, 2, -2, 3)] + [
    Fraction(a, b) for a, b in ((1, 2), (-1, 2), (7, 5), (-13, 7))
]
_NUMBERS = [number(v) for v in (0, 1, 2, -1, 3, -2, Fraction(1, 2), Fraction(-3, 2), Fraction(1, 3))]
_EXPONENTS = [number(v) for v in (2, 3, -1, -2, 0)] + [number(Fraction(k, 6)) for k in (3, -3, 9, 4)]
_ALGEBRA = [OPS[k] for k in ("add", "mul", "div", "pow", "neg", "sqrt", "abs", "sign")]
_SLOW = {"gamma", "lgamma", "digamma", "beta", "ellipkinc", "ellipeinc", *BY_ORDER}
_ALL = sorted(
    {op for op in OPS.values() if op.pointwise and not op.parameters and op.name not in _SLOW},
    key=lambda op: op.name,
)


def any_graph(seed: int, size: int = 9) -> Node:
    """Return a random scalar graph; the same for the same seed."""
    draw = random.Random(seed)
    pools: dict[str, list[Node]] = {"number": [*SYMBOLS, *_NUMBERS], "bool": [truth(True)]}
    for _ in range(size):
        op = draw.choice(_ALGEBRA if draw.random() < 0.6 else _ALL)
        args = [draw.choice(pools[k][-6:] if draw.random() < 0.6 else pools[k]) for k in op.takes]
        if op.name == "pow" and draw.random() < 0.8:
            args[1] = draw.choice(_EXPONENTS)
        try:
            node = op(*args)
        except SymgradError:
            continue
        if not node.shape:
            pools["bool" if node.dtype == "bool" else "number"].append(node)
    return pools["number"][-1]


def point(draw: random.Random) -> dict[Node, Fraction]:
    """Return values within the declared domains."""
    return {
        x: draw.choice(EDGES),
        y: draw.choice(EDGES),
        p: abs(draw.choice(EDGES)) or Fraction(1, 3),
        u: Fraction(draw.choice([9, 10, 11]), 10),
        n: Fraction(draw.randrange(-3, 5)),
    }
