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
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.errors import UnsupportedError
from symgrad.ir.graph import OPS, Node, Op, as_node, pointwise_shape, symbol
from symgrad.ir.types import BOOL, REAL, Declaration
from symgrad.ir.values.evaluate import evaluate, evaluate_mp

MP = mpmath.MPContext()
MP.dps = 50

# An op with static parameters fails here until it says which values to try.
PARAMETERS: dict[str, tuple[tuple[Any, ...], ...]] = {"polygamma": ((0,), (1,), (2,), (5,))}

# Beyond this |x| mpmath needs minutes, or the value is so small that float64 does not hold it to full precision.
LARGEST = {"gamma": 170.0, "lgamma": 1e6, "digamma": 1e6, "polygamma": 1e6}
# Beyond these SciPy's values have few digits, or overflow on the way.
LARGEST |= dict.fromkeys(("jv", "yv", "iv", "kv", "airyai", "airyaiprime", "airybi", "airybiprime"), 20.0)
LARGEST |= {"Si": 1e5, "Ci": 1e5, "Shi": 600.0, "Chi": 600.0, "ive": 20.0, "fresnels": 20.0, "fresnelc": 20.0}
LARGEST |= {"expint": 20.0, "uppergamma": 20.0, "lowergamma": 20.0, "polylog": 1e3, "zeta": 1e3}
LARGEST |= {"ellipk": 1e6, "ellipe": 1e6, "ellipkinc": 100.0, "ellipeinc": 100.0}

# Nearer to 0 SciPy's values and those that derivatives are sums of overflow or vanish.
SMALLEST: dict[str, float] = {"jv": 1e-9, "yv": 1e-9, "iv": 1e-9, "kv": 1e-9, "ive": 1e-9}

# Nearer to 0 the quotients that are their derivatives have few digits.
CANCELS: dict[str, float] = dict.fromkeys(("ellipk", "ellipe", "ellipkinc", "ellipeinc"), 1e-3)

# The quotients that are their derivatives by the last argument have only a limit where that is 0.
NEAR = 1e-9
REMOVABLE = {"Si", "Shi", "polylog", "ellipk", "ellipe", "ellipkinc", "ellipeinc"}

# Where the reference of a partial has no value and the numbers have: 1/log(0) is -0.0.
BY_LIMIT = {("li", (0,))}

# What native code computes for one order at a time, by the orders that are tried.
BY_ORDER: dict[str, tuple[float, ...]] = {
    "expint": (-7.0, -2.5, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.75, 7.0),
    "uppergamma": (-2.5, -2.0, -(2.0**-40), 0.0, 2.0**-40, 0.5, 1.0, 2.0, 3.0, 7.25),
    "lowergamma": (-2.5, -2.0, -(2.0**-40), 0.0, 2.0**-40, 0.5, 1.0, 2.0, 3.0, 7.25),
    "spherical_jn": (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 7.0, 19.0),
    "polylog": (-3.0, 0.0, 1.0, 2.0, 5.0),
    "zeta": (-2.5, -2.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 7.25),
}

# Derivatives without a closed form: their rules raise.
NO_FORM = {(name, 0) for name in ("jv", "yv", "iv", "kv", "ive", *BY_ORDER)}


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

    def of_order(self, order: float, i: int | None = None) -> Node:
        """The node of one order, or its partial by argument i."""
        args = [as_node(Fraction(order)), *self.symbols[1:]]
        out = self.op(*args)
        rule = self.op.partials[i] if i is not None else None
        return out if rule is None else rule(out, *args)

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

# No statement has a choice with an infinity: the checker knows none of these.
STATED = [c for c in CASES if c.op.name not in ("where_minus_oo", "where_plus_oo")]

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_stated_case = pytest.mark.parametrize("case", STATED, ids=str)
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


def removable(case: Case, point: tuple[Any, ...]) -> bool:
    """Whether a partial has only a limit at a point, or next to it no digits."""
    if case.op.name == "zeta":
        return point[0] == 0
    at_one = case.op.name == "ellipkinc" and abs(floating(point[-1]) - 1) < NEAR
    return case.op.name in REMOVABLE and (abs(floating(point[-1])) < NEAR or at_one)


def samples(case: Case) -> list[tuple[Any, ...]]:
    """The record's own points, as float64 holds them."""
    return [tuple(floating(x) for x in sample) for sample in case.op.samples]


def compiled(
    case: Case, arrays: list[np.ndarray], dtype: str = "float64", i: int | None = None
) -> np.ndarray:
    """What kernels give: the values of a case, or of its partial by argument i; what has no code is evaluated."""
    node = case.node if i is None else case.partial(i)
    if case.op.name not in BY_ORDER:
        return np.asarray(compile_nodes([node], case.symbols, dtype=dtype)(*arrays))
    with np.errstate(all="ignore"):
        evaluated = evaluate([node], dict(zip(case.symbols, arrays, strict=True)))[0]
    values = np.array(np.broadcast_to(evaluated, np.broadcast_shapes(*(np.shape(a) for a in arrays))), dtype)
    for order in np.unique(arrays[0]):
        here = arrays[0] == order
        if np.isfinite(order):
            try:
                kernel = compile_nodes([case.of_order(float(order), i)], case.symbols[1:], dtype=dtype)
            except UnsupportedError:
                continue
            values[here] = kernel(*(a[here] for a in arrays[1:]))
    return values


EDGES = [-7.0, -2.5, -2.0, -1.5, -1.0 - 2**-30, -1.0, -1.0 + 2**-30, -0.5, -(2.0**-40), 0.0]
EDGES += [-x for x in EDGES[:-1]]


def grid(case: Case) -> list[tuple[Any, ...]]:
    """All tuples of integers, halves, zero, one and their close neighbours, or of truth values."""
    dear = case.op.name in {"ellipkinc", "ellipeinc"}
    axes = [
        [True, False] if t == "bool" else (EDGES if case.op.arity < 3 and not dear else EDGES[::3])
        for t in case.op.takes
    ]
    if case.op.name in BY_ORDER:
        axes[0] = list(BY_ORDER[case.op.name])
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

    columns = [axis() for _ in range(case.op.arity)]
    if case.op.name in BY_ORDER:
        columns[0] = rng.choice(BY_ORDER[case.op.name], len(columns[0]))
    points = zip(*columns, strict=True)
    return tuple(
        tuple(map(float, p)) for p in points if max(map(abs, p)) <= largest and abs(p[-1]) >= smallest
    )
