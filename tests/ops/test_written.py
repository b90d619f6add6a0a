"""Functions that have no op: what an argument is folds nothing of their formula away, so that no domain is lost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

import symgrad as sg
import symgrad.ops  # fills the table of written functions
from symgrad.ir.composite import WRITTEN, CompositeFunction
from symgrad.ir.graph import Node, number, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate

FORMS = [(name, form) for name, forms in sorted(WRITTEN.items()) for form in forms]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("Mod(x, 0)", "x - 0*floor(x/0)"),
        ("Mod(0, x)", "0 - x*floor(0/x)"),
        ("Mod(x, 1)", "x - 1*floor(x/1)"),
        ("binomial(x, 0)", "gamma(x + 1)/(gamma(1)*gamma(x + 0 + 1))"),
        ("rf(x, 0)", "gamma(x + 0)/gamma(x)"),
        ("ff(x, 0)", "gamma(x + 1)/gamma(x + 0 + 1)"),
        ("gammainc(0, x)", "lowergamma(0, x)/gamma(0)"),
        ("erf2(x, x)", "erf(x) - erf(x)"),
        ("Mod(7, 2)", "7 - 2*floor(7/2)"),
    ],
)
def test_a_call_is_its_formula(call: str, text: str) -> None:
    assert str(sg.parse(call, symbols={"x": sg.symbols("x")}).last) == text


def _readers(node: Node, name: Node) -> list[str]:
    """Return the ops that a name goes through."""
    reads = {name}
    for n in topological([node]):
        if not reads.isdisjoint(n.args):
            reads.add(n)
    return sorted(n.op.name for n in reads)


@pytest.mark.parametrize(("name", "form"), FORMS, ids=[f"{n}-{len(f.parameters)}" for n, f in FORMS])
def test_no_argument_is_folded_away(name: str, form: CompositeFunction) -> None:
    """Beside constants a name goes through all that it goes through beside names."""
    names = [symbol(Declaration(n)) for n in form.parameters]
    whole = form.build(*names)
    for at, constants in product(range(len(names)), product((0, 1), repeat=len(names) - 1)):
        args = [number(c) for c in constants]
        args.insert(at, names[at])
        assert _readers(form.build(*args), names[at]) == _readers(whole, names[at]), (name, args)


@pytest.mark.parametrize(
    ("a", "b", "statuses"),
    [
        ("Mod(x, 0)", "x", {"undecided"}),
        ("Mod(0, x)", "where(x == 0, 5, 0)", {"supported", "proved"}),
        ("Mod(0, x) + where(x == 0, 1, 2)", "2", {"supported", "proved"}),
        ("Mod(x, 1)", "x - floor(x)", {"proved"}),
        ("gammainc(0, x)", "0*x", {"undecided"}),
        ("Mod(x, 0)*0", "0", {"undecided"}),
    ],
)
def test_verdicts_know_where_they_have_no_value(a: str, b: str, statuses: set[str]) -> None:
    assert sg.equal(a, b, time_limit=5).status in statuses


# What SciPy has under another name, or not at all.
PEERS: dict[str, Callable[..., Any]] = {
    "Mod": np.mod,
    "Li": lambda x: mpmath.li(x, offset=True),
    "binomial": special.binom,
    "catalan": lambda n: mpmath.binomial(2 * n, n) / (n + 1),
    "elliptic_e": lambda *args: mpmath.ellipe(*args),
    "erf2": lambda x, y: mpmath.erf(y) - mpmath.erf(x),
    "elu": lambda x, alpha=1.0: x if x > 0 else alpha * np.expm1(x),
    "ff": lambda x, n: mpmath.ff(x, n),
    "gelu": lambda x: x * special.ndtr(x),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "harmonic": lambda n: mpmath.harmonic(n),
    "leaky_relu": lambda x, slope=0.01: x if x > 0 else slope * x,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "rf": lambda x, n: mpmath.rf(x, n),
    "silu": lambda x: x * special.expit(x),
    "swish": lambda x: x * special.expit(x),
    "trigamma": lambda x: special.polygamma(1, x),
}


@pytest.mark.parametrize(("name", "form"), FORMS, ids=[f"{n}-{len(f.parameters)}" for n, f in FORMS])
def test_values_are_those_of_other_libraries(name: str, form: CompositeFunction) -> None:
    peer = PEERS.get(name) or getattr(special, name, None) or getattr(np, name)
    seen = 0
    for point in product((0.2, 0.35, 0.8, 1.6, 2.75), repeat=len(form.parameters)):
        expected = complex(peer(*point))
        if np.isfinite(expected) and not expected.imag:
            values = dict(zip(form.variables, map(np.float64, point), strict=True))
            found = float(evaluate([form.formula], values)[0])
            assert found == pytest.approx(expected.real, rel=1e-12, abs=1e-14), point
            seen += 1
    assert seen >= 3


def test_values_are_those_of_python() -> None:
    x = sg.symbols("x")
    for divisor in (3, -3, 2):
        y = sg.parse(f"Mod(x, {divisor})", symbols={"x": x}).last
        for value in range(-7, 8):
            assert y(x=float(value)) == value % divisor
