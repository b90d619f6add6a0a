"""Random functions in pieces of random inputs, and their moments by sums and integrals over the cells between breaks.

The judge knows nothing of the package: NumPy evaluates the text of a function, SciPy has the distributions. Slopes and
constants are dyadic, so that every break of a function lies on one fine grid, ties included, and floats are exact.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.stats

from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.traverse import symbols_of

stats: Any = scipy.stats

__all__ = ["LAWS", "Case", "Law", "drawn_case", "drawn_jump", "piece_of"]


def _relu(x: Any) -> Any:
    return np.maximum(x, 0.0)


def _clip(x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


_FUNCTIONS: dict[str, Any] = {
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "abs": np.abs,
    "relu": _relu,
    "tanh": np.tanh,
    "cos": np.cos,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "clip": _clip,
    "heaviside": np.heaviside,
    "where": np.where,
}
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)
_CONSTANTS = ("-1", "-1/2", "0", "0", "0", "1/2", "1", "2")
_SLOPES = ("-2", "-1", "-1/2", "1/2", "2", "t", "-t")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Law:
    """A distribution: its text, and what SciPy makes of it.

    Args:
        text: as it is declared, with the parameter q where it has one to differentiate by.
        frozen: SciPy's, from the value of q; the probabilities of 0, 1, ... where a list.
        q: a value of that parameter.
        steps: whether it has whole numbers alone.
        heavy: whether it has no mean.
    """

    text: str
    frozen: Callable[[float], Any]
    q: float = 0.5
    steps: bool = False
    heavy: bool = False

    @property
    def domain(self) -> str:
        return "real(0, 1)" if self.steps and self.q < 1 else "positive"


LAWS: tuple[Law, ...] = (
    Law("Normal(0, q)", lambda q: stats.norm(0, q), 1.0),
    Law("Normal(q, 2)", lambda q: stats.norm(q, 2), 0.5),
    Law("LogNormal(0, q)", lambda q: stats.lognorm(q), 0.5),
    Law("Uniform(-1, q)", lambda q: stats.uniform(-1, q + 1), 2.0),
    Law("Uniform(0, q)", lambda q: stats.uniform(0, q), 1.0),
    Law("Exponential(q)", lambda q: stats.expon(scale=1 / q), 1.5),
    Law("Gamma(2, q)", lambda q: stats.gamma(2, scale=q), 0.5),
    Law("Gamma(q, 1)", lambda q: stats.gamma(q), 0.5),
    Law("Beta(q, 3)", lambda q: stats.beta(q, 3), 2.0),
    Law("Laplace(0, q)", lambda q: stats.laplace(0, q), 1.0),
    Law("Laplace(q, 1)", lambda q: stats.laplace(q, 1), 0.25),
    Law("Cauchy(0, q)", lambda q: stats.cauchy(0, q), 1.0, heavy=True),
    Law("Bernoulli(q)", lambda q: [1 - q, q], 0.2, steps=True),
    Law("Bernoulli(1 - q)", lambda q: [q, 1 - q], 0.25, steps=True),
    Law("Poisson(q)", lambda q: stats.poisson(q).pmf(np.arange(60)), 1.0, steps=True),
    Law("Poisson(2*q)", lambda q: stats.poisson(2 * q).pmf(np.arange(60)), 1.25, steps=True),
    Law("Categorical([1/5, 4/5 - q, q])", lambda q: [0.2, 0.8 - q, q], 0.5, steps=True),
    Law("Categorical([q, 0, 1/4, 3/4 - q])", lambda q: [q, 0, 0.25, 0.75 - q], 0.25, steps=True),
)


@dataclass(frozen=True)
class Case:
    """A program: a function of one or two random inputs, with a parameter t and one of each distribution.

    Args:
        text: the function of u, v and t.
        laws: of u, and of v.
        t: the value of t.
        declared: the program, without the function.
        values: of its parameters.
    """

    text: str
    laws: tuple[Law, ...]
    t: float
    declared: str = field(init=False)
    values: Mapping[str, float] = field(init=False)

    def __post_init__(self) -> None:
        lines = ["t : real"]
        values = {"t": self.t}
        for name, law in zip("uv", self.laws, strict=False):
            q = f"q{name}"
            lines += [f"{q} : {law.domain}", f"{name} ~ {law.text.replace('q', q)}"]
            values[q] = law.q
        object.__setattr__(self, "declared", "\n".join(lines))
        object.__setattr__(self, "values", values)

    def generic(self) -> Case:
        """Return the case at values of parameters that meet no break."""
        laws = tuple(replace(law, q=law.q * 1.0237) for law in self.laws)
        return Case(self.text, laws, 0.3717)

    @property
    def program(self) -> str:
        return f"{self.declared}\ny = {self.text}"

    def sources(self, listing: Listing) -> list[Node]:
        """Return the random inputs that the function reads."""
        read = symbols_of([listing["y"]])
        return [s for s in read if s.declaration.distribution is not None]

    def at(self, listing: Listing) -> dict[Node, float]:
        """Return the values of the parameters, by their symbols."""
        return {listing[name]: value for name, value in self.values.items()}

    def slope(self, name: str, step: float = 1e-3) -> float:
        """Return the derivative of the mean by a parameter, by Richardson's differences of the judge's means."""

        def quotient(h: float) -> float:
            high, low = (self.mean(**{name: self.values[name] + d}) for d in (h, -h))
            return (high - low) / (2 * h)

        return (4 * quotient(step / 2) - quotient(step)) / 3

    def mean(self, **moved: float) -> float:
        """Return the mean by the judge, with other values of some parameters."""
        return self.moments(**moved)[0]

    def moments(self, **moved: float) -> tuple[float, float]:
        """Return the mean and the variance by the judge, with other values of some parameters."""
        values = {**self.values, **moved}
        f = _of_text(self.text, values["t"])
        laws = [(law, law.frozen(values[f"q{name}"])) for name, law in zip("uv", self.laws, strict=False)]
        mean = _expected(f, laws, values["t"])
        return mean, _expected(lambda *u: (f(*u) - mean) ** 2, laws, values["t"])


def _of_text(text: str, t: float) -> Callable[..., Any]:
    """Return the function that a text is, of u and v, by NumPy."""
    code = compile(text, text, "eval")

    def f(u: Any, v: Any = 0.0) -> Any:
        found = eval(code, {"__builtins__": {}}, {**_FUNCTIONS, "u": u, "v": v, "t": t})
        return np.broadcast_to(np.asarray(found, dtype=float), np.shape(u))

    return f


def _expected(f: Callable[..., Any], laws: Sequence[tuple[Law, Any]], t: float, scale: int = 1) -> float:
    (law, frozen), *rest = laws
    if not rest:
        if law.steps:
            k = np.arange(len(frozen), dtype=float)
            return float(np.sum(f(k) * frozen))
        return _integral(f, frozen, t, scale)
    # The first is a whole number.
    total = 0.0
    for k, probability in enumerate(frozen):
        if probability > 1e-14:
            total += probability * _expected(_held(f, k), rest, t, k or 1)
    return total


def _held(f: Callable[..., Any], k: int) -> Callable[[Any], Any]:
    """Return a function of two inputs at a value of the first."""
    return lambda v: f(np.full(np.shape(v), float(k)), v)


def _integral(f: Callable[[Any], Any], frozen: Any, t: float, scale: int = 1) -> float:
    """Return the mean of a function whose breaks lie on the grid, or are what t and a whole number make of it."""
    low, high = (float(x) for x in (frozen.ppf(1e-15), frozen.isf(1e-15)))
    bottom, top = frozen.support()
    low, high = (bottom if np.isfinite(bottom) else low), (top if np.isfinite(top) else high)
    reach = 40.0
    grid = np.arange(-16 * reach, 16 * reach + 1) / 16
    moved = [grid]
    if t % 0.5:  # else what it moves is on the grid
        moved += [grid[::4] + s * t for s in (-4, -2, -1, -0.5, -0.25, 0.25, 0.5, 1, 2, 4)]
        moved.append(grid / t)
    if scale & (scale - 1):
        moved += [m / scale for m in moved]
    near = low + 2.0 ** -np.arange(4.0, 70.0)  # a density may be infinite at its lower end
    far = np.sign(grid[grid != 0]) * 2 ** np.abs(grid[grid != 0])  # tails without mean fall slowly
    edges = np.unique(np.concatenate([[low, high, float(frozen.median())], *moved, near, far]))
    edges = edges[(edges >= low) & (edges <= high)]
    a, b = edges[:-1, None], edges[1:, None]
    x = (a + b) / 2 + (b - a) / 2 * _NODES
    y = f(x) * frozen.pdf(x)
    return float(np.sum(y * _WEIGHTS * (b - a) / 2))


def drawn_case(rng: random.Random) -> Case:
    """Return a random case: two functions in pieces deep, of one input or of a whole number and another input."""
    laws = [rng.choice(LAWS)]
    if rng.random() < 0.3:
        laws = [rng.choice([a for a in LAWS if a.steps]), rng.choice([a for a in LAWS if not a.heavy])]
    names = "uv"[: len(laws)]
    text = piece_of(rng, names, 2)
    if any(law.heavy for law in laws):
        text = rng.choice(("sign({})", "clip({}, -1, 1)", "where({} > 0, 1, 0)")).format(text)
    elif rng.random() < 0.3:
        text = f"{text}*{rng.choice((_inner(rng, names, 0), piece_of(rng, names, 1)))}"
    return Case(text, tuple(laws), rng.choice((-1.0, 0.0, 0.5, 0.5, 1.0, 2.0)))


def drawn_jump(rng: random.Random) -> Case:
    """Return a random case of one continuous input whose mean has mostly no closed form, and whose breaks t moves."""
    law = rng.choice([a for a in LAWS if not a.steps and not a.heavy])
    while True:
        factor = rng.choice(("tanh(u)", "cos(u)", "1"))
        more = rng.choice(("0", f"tanh(u)*{piece_of(rng, 'u', 1)}"))
        text = f"({piece_of(rng, 'u', 2)})*{factor} + {more}"
        if re.search(r"\bt\b", text):
            return Case(text, (law,), 0.3717)


def _inner(rng: random.Random, names: str, depth: int) -> str:
    """Return a multiple of an input or of a function in pieces, moved."""
    if depth:
        inner = piece_of(rng, names, depth)
    else:
        inner = rng.choice(names) if len(names) == 1 or rng.random() < 0.6 else rng.choice(("u*v", "(u + v)"))
    kind = rng.random()
    if kind < 0.4:
        return inner
    if kind < 0.6:
        return f"({rng.choice(_SLOPES)})*{inner}"
    return f"({inner} {rng.choice('+-')} {rng.choice((*_CONSTANTS, 't'))})"


def piece_of(rng: random.Random, names: str, depth: int) -> str:
    """Return a function in pieces of something of less depth."""
    of = rng.randint(0, depth - 1)
    a = _inner(rng, names, of)
    c, d = rng.choice(_CONSTANTS), rng.choice(_CONSTANTS)
    kind = rng.randint(0, 11)
    if kind < 6:
        name = ("sign", "floor", "ceil", "round", "abs", "relu")[kind]
        return f"{name}({a})"
    if kind == 6:
        return f"{rng.choice(('maximum', 'minimum'))}({a}, {rng.choice((c, 't'))})"
    if kind == 7:
        return f"clip({a}, {rng.choice(('-1', '0', '-1/2'))}, {rng.choice(('1/2', '1', '2'))})"
    if kind == 8:
        return f"heaviside({a}, {rng.choice(('0', '1/2', '1'))})"
    condition = f"{a} {rng.choice(_COMPARISONS)} {rng.choice((c, c, 't'))}"
    if kind == 11:
        other = f"{_inner(rng, names, of)} {rng.choice(_COMPARISONS)} {d}"
        condition = f"({condition}) {rng.choice('&|')} ({other})"
    return f"where({condition}, {rng.choice((a, '1', 't'))}, {rng.choice((_inner(rng, names, 0), '0', d))})"
