"""Every pointwise op of the registry with every parameter value that is tried, and the points to try it at."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad.ops  # noqa: F401
from symgrad.ir.evaluate import evaluate_mp
from symgrad.ir.graph import Node, pointwise_shape, symbol
from symgrad.ir.op import OPS, Op
from symgrad.ir.types import BOOL, REAL, Declaration

MP = mpmath.MPContext()
MP.dps = 50

# An op with static parameters fails here until it says which values to try.
PARAMETERS: dict[str, tuple[tuple[Any, ...], ...]] = {"polygamma": ((0,), (1,), (2,), (5,))}

# Beyond this |x| mpmath needs minutes, or the value is so small that float64 does not hold it to full precision.
LARGEST = {"gamma": 170.0, "lgamma": 1e6, "digamma": 1e6, "polygamma": 1e6}
# Beyond these SciPy's values have few digits, or overflow on the way.
LARGEST |= dict.fromkeys(("jv", "yv", "iv", "kv", "airyai", "airyaiprime", "airybi", "airybiprime"), 20.0)
LARGEST |= {"Si": 1e5, "Ci": 1e5}

# Nearer to 0 SciPy's values and those that derivatives are sums of overflow or vanish.
SMALLEST: dict[str, float] = {"jv": 1e-9, "yv": 1e-9, "iv": 1e-9, "kv": 1e-9}

# Smooth there, but the formula of the derivative has only a limit.
REMOVABLE = {("Si", (0,))}

# Derivatives without a closed form: their rules raise.
NO_FORM = {("jv", 0), ("yv", 0), ("iv", 0), ("kv", 0)}


@dataclass(frozen=True)
class Case:
    """An op with its static parameters."""

    op: Op
    params: tuple[Any, ...]

    def __str__(self) -> str:
        return "-".join([self.op.name, *map(str, self.params)])

    @property
    def symbols(self) -> list[Node]:
        return [
            symbol(Declaration("xyz"[i], BOOL if t == "bool" else REAL)) for i, t in enumerate(self.op.takes)
        ]

    @property
    def node(self) -> Node:
        return self.op(*self.symbols, params=self.params)

    def partial(self, i: int) -> Node:
        rule = self.op.partials[i]
        assert rule is not None
        return rule(self.node, *self.symbols)

    @property
    def differentiable(self) -> list[int]:
        rules = enumerate(self.op.partials)
        return [i for i, rule in rules if rule is not None and (self.op.name, i) not in NO_FORM]

    def reference(self, point: tuple[Any, ...]) -> Any:
        return self.op.reference(MP, *self.params, *map(exact, point))

    def inside(self, point: tuple[Any, ...]) -> bool:
        """Tell whether the record's domain condition holds."""
        if self.op.domain is None:
            return True
        return bool(value(self.op.domain(*self.symbols), self.symbols, point))


CASES = [
    Case(op, params)
    for op in dict.fromkeys(OPS.values())
    if op.shape is pointwise_shape
    for params in (PARAMETERS[op.name] if op.parameters else [()])
]

every_case = pytest.mark.parametrize("case", CASES, ids=str)
numeric = [c for c in CASES if "bool" not in c.op.takes and c.op.gives != "bool"]
every_numeric_case = pytest.mark.parametrize("case", numeric, ids=str)
every_smooth_case = pytest.mark.parametrize("case", [c for c in CASES if c.differentiable], ids=str)


def exact(x: Any) -> Any:
    """Return a number, decimal text or truth value at 50 digits."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, (str, int, Fraction)):
        x = Fraction(x)
        return MP.mpf(x.numerator) / x.denominator
    return x if isinstance(x, MP.mpf) else MP.mpf(float(x))


def floating(x: Any) -> Any:
    """Return what a float64 program sees of a sample."""
    return x if isinstance(x, bool) else float(Fraction(x))


def value(node: Node, symbols: list[Node], point: tuple[Any, ...]) -> Any:
    """Evaluate a node at 50 digits."""
    return evaluate_mp(MP, [node], dict(zip(symbols, map(exact, point), strict=True)))[0]


def samples(case: Case) -> list[tuple[Any, ...]]:
    """The record's own points, as float64 holds them."""
    return [tuple(floating(x) for x in sample) for sample in case.op.samples]


EDGES = [-7.0, -2.5, -2.0, -1.5, -1.0 - 2**-30, -1.0, -1.0 + 2**-30, -0.5, -(2.0**-40), 0.0]
EDGES += [-x for x in EDGES[:-1]]


def grid(case: Case) -> list[tuple[Any, ...]]:
    """All tuples of integers, halves, zero, one and their close neighbours, or of truth values."""
    axes = [
        [True, False] if t == "bool" else (EDGES if case.op.arity < 3 else EDGES[::3]) for t in case.op.takes
    ]
    return list(product(*axes))


@cache
def spread(case: Case, count: int = 60) -> tuple[tuple[float, ...], ...]:
    """Random points of every size, near one, and near zero; the same in every run."""
    rng = np.random.default_rng(7)
    largest, smallest = LARGEST.get(case.op.name, 1e300), SMALLEST.get(case.op.name, 0.0)

    def axis() -> np.ndarray:
        signs = rng.choice([-1.0, 1.0], 5 * count)
        near_one = signs[:count] * (1 + rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-50, 0, count))
        moderate = signs[count : 2 * count] * 10.0 ** rng.uniform(-3, 3, count)
        wide = signs[2 * count : 3 * count] * 10.0 ** rng.uniform(-300, 300, count)
        plain = rng.uniform(-3, 3, 2 * count)
        return rng.permutation(np.concatenate([near_one, moderate, wide, plain]))

    points = zip(*(axis() for _ in range(case.op.arity)), strict=True)
    return tuple(
        tuple(map(float, p)) for p in points if max(map(abs, p)) <= largest and abs(p[-1]) >= smallest
    )
