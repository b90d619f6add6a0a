"""Random inputs in programs: what is printed of one reads back as the same, and what declarations follow."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import RandomParameterError, RedefinitionError
from symgrad.ir.notation.printer import program_text
from symgrad.ir.traverse import digest
from symgrad.ir.types import Declaration, Distribution

HEAD = "n, k : size; x : real; s : positive; q : real(0, 1); v : real[n]; w : real[k]; r : positive[n]; A : real[n, k]"
# Kinds of parameters, by what the families require of them.
SCALARS = {
    "real": ["0", "-1/3", "x", "2*x - s", "sin(h)", "pi", "1e-3", "where(x > 0, x, s)", "-x**2/2", "n"],
    "positive": ["1", "0.25", "s", "exp(x)", "1/n", "sqrt(2)", "1 + h**2", "sqrt(x**2 + s)"],
    "unit": ["0.5", "q", "sigmoid(x)", "q**2", "1/2"],
    "vector": [
        "[0.2, 0.3, 0.5]",
        "softmax(w)",
        "softmax(w/s)",
        "[q, 1 - q]",
        "full(k, 1/k)",
        "softmax(A, axis=1)[0]",
    ],
    "size": ["n", "7"],
}
ROWS = {  # of shape (n,), or (n, k) for probabilities
    "real": [*SCALARS["real"], "v", "x*v", "sum(A, axis=1)", "A@w"],
    "positive": [*SCALARS["positive"], "r", "exp(v)"],
    "unit": [*SCALARS["unit"], "sigmoid(v)", "1/(1 + r)"],
    "vector": [*SCALARS["vector"], "softmax(A, axis=1)"],
}
SHAPES = {"number": "", "row": "[n]", "matrix": "[3, n]"}
FAMILIES = {
    "Normal": ("real", "positive"),
    "LogNormal": ("real", "positive"),
    "Laplace": ("real", "positive"),
    "Cauchy": ("real", "positive"),
    "Exponential": ("positive",),
    "Gamma": ("positive", "positive"),
    "Beta": ("positive", "positive"),
    "Bernoulli": ("unit",),
    "Poisson": ("positive",),
    "Categorical": ("vector",),
}


@st.composite
def draws(draw: st.DrawFn) -> str:
    """Return what stands behind ~."""
    kind = draw(st.sampled_from(["number", "row", "matrix", "positions", "between"]))
    if kind == "positions":
        return (
            f"Permutation({draw(st.sampled_from(SCALARS['size']))})[{draw(st.sampled_from(['3', 'm', 'k']))}]"
        )
    if kind == "between":
        low, width = draw(st.sampled_from(SCALARS["real"])), draw(st.sampled_from(SCALARS["positive"]))
        return f"Uniform({low}, ({low}) + {width})"
    family = draw(st.sampled_from(sorted(FAMILIES)))
    table = SCALARS if kind == "number" else ROWS
    given = [draw(st.sampled_from(table[p])) for p in FAMILIES[family]]
    return f"{family}({', '.join(given)}){SHAPES[kind]}"


@given(st.lists(draws(), min_size=1, max_size=4), st.booleans())
def test_what_is_printed_reads_back(laws: list[str], assigned: bool) -> None:
    lines = [HEAD, "h = x*s" if assigned else "h : real"]
    lines += [f"u{i} ~ {law}" for i, law in enumerate(laws)]
    lines += ["g = u0*h"]
    p = sg.parse("\n".join(lines))
    again = sg.parse(str(p))
    assert all(again[n].node is p[n].node for n in p.names)
    kept = pickle.loads(pickle.dumps(p))
    assert all(kept[n].node is p[n].node for n in p.names)


def test_declarations_stand_below_what_their_parameters_read() -> None:
    p = sg.parse("z0 : real; t : real; s = exp(t); z ~ Normal(z0, s)[n]; x : real[n]; y = sum(x*z)*s")
    assert str(p).splitlines() == [
        "z0 : real",
        "t : real",
        "x : real[n]",
        "s = exp(t)",
        "z ~ Normal(z0, s)[n]",
        "y = sum(x*z)*s",
    ]


def test_sizes_that_only_parameters_read_are_declared_first() -> None:
    p = sg.parse("n : size; z ~ Normal(0, 1/n)[n]; y = sum(z)")
    assert str(p) == "n : size\nz ~ Normal(0, 1/n)[n]\ny = sum(z)"


def test_a_long_formula_that_two_parameters_share_is_written_once() -> None:
    p = sg.parse("x : real; z ~ Normal(sqrt(sin(x)*cos(x) + 2), exp(sin(x)*cos(x) + 2)); y = z*x")
    assert str(p).count("sin(x)") == 1
    assert sg.parse(str(p))["y"].same(p["y"])


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("u ~ Normal(1 + 2, 1/4)", (3, Fraction(1, 4))),
        ("u ~ Normal(-1/2, 2**3)", (Fraction(-1, 2), 8)),
        ("u ~ Normal(sd=2, mean=1)", (1, 2)),
        ("u ~ Normal(1, sd=2)", (1, 2)),
    ],
)
def test_numbers_are_computed(text: str, parameters: tuple[int | Fraction, ...]) -> None:
    assert sg.parse(text)["u"].node.declaration == Declaration(
        "u", distribution=Distribution("Normal", parameters)
    )


def test_formulas_are_written_out_as_long_as_that_is_short() -> None:
    lines = [f"a{i + 1} = a{i}*a{i} + sin(a{i})" for i in range(60)]
    p = sg.parse("\n".join(["a0 : real", *lines, "z ~ Normal(a60, exp(a60))", "y = z*a0"]))
    assert str(p["z"].node.declaration) == "z ~ Normal(..., ...)"
    assert digest(p["y"].node) == digest(sg.parse(str(p))["y"].node)
    with pytest.raises(RandomParameterError, match=r"Normal\(a60, exp\(a60\)\)") as caught:
        sg.grad(p["y"], "a0")
    assert caught.value.cure == "declare eps ~ Normal(0, 1), and write z = a60 + exp(a60)*eps"


def test_one_name_of_two_meanings_is_not_printed() -> None:
    z = sg.symbols("z", ("Normal", sg.symbols("mu"), 1))
    y = z * sg.symbols("mu", "positive")
    with pytest.raises(RedefinitionError, match="'mu' stands for two different"):
        program_text({"y": y.node})
