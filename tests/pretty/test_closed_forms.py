"""What is printed for derivatives is what the literature has, equal to what is computed, and defined where that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate
from tests.pretty.closed_forms import ROWS

SIZES = {"n": 6, "m": 5, "k": 4, "d": 3, "e": 2, "h": 5, "l": 3, "p": 4, "r": 2, "v": 7}


def gradient(text: str, wrt: str) -> sg.Expr:
    program = sg.parse(text)
    return sg.grad(program.last, program[wrt])


def test_there_are_many() -> None:
    assert len({title for title, *_ in ROWS}) == len(ROWS) >= 120


@pytest.mark.parametrize(("title", "text", "wrt", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_closed_form(title: str, text: str, wrt: str, expected: str) -> None:
    found = gradient(text, wrt)
    assert str(found) == expected
    shown = sg.parse(f"{text}\nshown = {expected}")["shown"]
    rng = np.random.default_rng(len(title))
    for _ in range(3):
        values = {s: draw(s.declaration, rng) for s in symbols(found.node, shown.node)}
        computed, said = evaluate([found.node, shown.node], values, SIZES)
        assert np.all(np.isfinite(computed))
        assert np.max(np.abs(computed - said), initial=0) <= 1e-10 * np.max(np.abs(computed), initial=1)


@pytest.mark.parametrize(("title", "text", "wrt", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_no_domain_widens(title: str, text: str, wrt: str, expected: str) -> None:
    """Where the derivative as built has no value, what is printed has none, or a note says so."""
    found = gradient(text, wrt)
    shown = sg.parse(f"{text}\nshown = {expected}")["shown"]
    for values in edges(symbols(found.node, shown.node), np.random.default_rng(len(title))):
        with np.errstate(all="ignore"):
            try:
                computed, said = evaluate([found.node, shown.node], values, SIZES)
            except np.linalg.LinAlgError:
                continue
        gained = np.isfinite(said) & ~np.isfinite(computed)
        if np.any(gained):
            assert noted(text, wrt), {s.name: v for s, v in values.items()}
        assert np.all(~np.isfinite(computed) | np.isfinite(said))


def noted(text: str, wrt: str) -> bool:
    return bool(gradient(text, wrt).domain_notes)


def symbols(*nodes: Node) -> list[Node]:
    return [n for n in topological(nodes) if n.op is SYMBOL]


def edges(wanted: list[Node], rng: np.random.Generator) -> Iterator[Mapping[Node, Any]]:
    """Yield points where something is zero, one, or equal to something else, as far as domains have these.

    No square matrix of ones: that rounding leaves it singular in one formula says nothing of another.
    """
    points = [{s: draw(s.declaration, rng) for s in wanted} for _ in range(2)]
    for point in points:
        for s in wanted:
            if s.declaration.domain.kind != "real":
                continue
            others = [point[o] for o in wanted if o is not s and np.shape(point[o]) == np.shape(point[s])]
            square = np.ndim(point[s]) == 2 and np.shape(point[s])[0] == np.shape(point[s])[1]
            for value in (0.0, *others) if square else (0.0, 1.0, -1.0, *others):
                if inside(s.declaration, value):
                    yield {**point, s: np.broadcast_to(value, np.shape(point[s])) + 0.0}
    reals = [s for s in wanted if s.declaration.domain.kind == "real" and inside(s.declaration, 0.0)]
    yield {**points[0], **{s: np.zeros_like(points[0][s]) for s in reals}}


def _ends(declared: Declaration) -> list[Fraction | None]:
    return [None if e is None else Fraction(str(e)) for e in (declared.domain.low, declared.domain.high)]


def inside(declared: Declaration, value: Any) -> bool:
    low, high = _ends(declared)
    above = low is None or np.all(np.asarray(value) > float(low))
    return bool(above and (high is None or np.all(np.asarray(value) < float(high))))


def draw(declared: Declaration, rng: np.random.Generator) -> Any:
    """Return a value of a symbol: matrices are regular, and symmetric ones positive definite."""
    shape = tuple(s if isinstance(s, int) else SIZES[str(s)] for s in declared.shape)
    if declared.domain.kind == "int":
        return rng.integers(0, min(SIZES.values()), shape)
    low, high = _ends(declared)
    if low is not None and high is not None:
        return rng.uniform(float(low) + 0.1, float(high) - 0.1, shape)
    if low is not None:
        return float(low) + np.exp(rng.normal(size=shape) / 2)
    value = rng.normal(size=shape)
    if declared.symmetric:
        return value @ value.T / len(value) + np.eye(len(value))
    return value / 3 + 2 * np.eye(len(value)) if len(shape) == 2 and shape[0] == shape[1] else value
