"""Derivations of array programs: shapes, linear maps, kinds of nothing, and the fate of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad.analysis.explain.derivation import DerivationRecord, explain
from symgrad.analysis.explain.naming import Naming
from symgrad.frontend.text import parse_program
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.printing.reports.steps import derivation_report
from symgrad.printing.texts.derivation import derivation_latex, derivation_svg, derivation_text
from symgrad.printing.texts.plain import derivation_json

FREEZING = """
X : real[n, 5]
w1 : real[5, 1]
w2 : real[5, 1]
w3 : real[5, 1]
loss = mean((X@w1 - stop_gradient(X@(w2*w3)))**2)
"""
NETWORK = """
X : real[n, 4]
t : int[n]
W : real[4, 3]
b : real[3]
u ~ Normal(0, 1)[n, 4]
h = (X + 0.1*u)@W + b
p = softmax(h, axis=1)
loss = -sum(one_hot(t, 3)*log_softmax(h, axis=1))/n
"""


def derive(program: str, of: str, *wrt: str) -> DerivationRecord:
    listing = parse_program(program)
    return explain(listing[of], [listing[w] for w in wrt], listing)


@pytest.mark.parametrize(
    ("name", "program", "wrt"),
    [("arrays_frozen", FREEZING, ("w1", "w2", "w3")), ("arrays_network", NETWORK, ("W", "b", "t"))],
)
@pytest.mark.parametrize("steps", [True, False])
def test_texts(name: str, program: str, wrt: tuple[str, ...], steps: bool, golden: Any) -> None:
    d = derive(program, "loss", *wrt)
    text = derivation_text(d, steps=steps)
    name += "" if steps or not d.told_by_names else "_adjoints"
    assert max(map(len, text.splitlines())) <= 100
    assert "__cotangent" not in text
    golden(f"derivations/{name}.txt", text)
    tex = derivation_latex(d, steps=steps)
    assert "COTANGENT" not in tex
    assert tex.count("{") == tex.count("}")
    golden(f"derivations/{name}.tex", tex)


def test_what_is_frozen_is_stopped_and_never_none() -> None:
    d = derive(FREEZING, "loss", "w1", "w2", "w3")
    assert [None if n is None else str(n) for n in d.nothing] == [None, "stopped", "stopped"]
    for name, reason in zip(("w2", "w3"), d.nothing_reasons[1:], strict=True):
        assert (
            reason
            == f"{name} reaches loss only inside stop_gradient(X@(w2*w3)), whose derivative edge is cut"
        )
    assert [g.shape for g in d.gradient] == [(5, 1)] * 3


def test_a_step_has_shapes_and_a_map() -> None:
    d = derive("W : real[4, 5]\nx : real[5]\nh = W@x\ny = sum(tanh(h))", "y", "x")
    step = d.steps[-1]
    assert (step.rule, step.equation, step.shape) == ("matmul", "h = W@x", "(4,)")
    assert (step.target, step.target_shape, step.reads) == ("x", "(5,)", ("W",))
    assert (step.is_map, step.linear, step.cotangent) == (True, False, "h_bar")
    assert step.partial in ("h_bar -> W.T@h_bar", "h_bar -> h_bar@W")
    first = d.steps[0]
    assert (first.rule, first.linear, first.is_map) == ("sum", True, True)
    found = derivation_json(d)["steps"][-1]
    assert (found["shape"], found["target_shape"], found["partial"]) == ("(4,)", "(5,)", step.partial)


def test_pictures_and_pages_show_shapes() -> None:
    d = derive(NETWORK, "loss", "W")
    svg, page = derivation_svg(d), derivation_report(d).html()
    for text in ("(n, 3)", "X : real[n, 4]"):
        assert text in svg
        assert text in page


# ------------------------------------------------------------------------------------------------------------ noise

N = "x : real[n]\nA : real[3, 3]\nu ~ Normal(0, 1)[n]\nv ~ Normal(0, 1)[3, 3]\nk ~ Bernoulli(0.5)[n]\n"
FATES = {
    "y = mean((x*u)**2)": True,
    "y = sum((u - mean(u))*x)": True,  # constant along a direction of ones
    "y = sum(x)*(u[0] - u[1])": True,
    "y = x[argmax(u)]": True,
    "y = max(x + u)": True,
    "y = sum(relu(x + u))": True,
    "y = sum(where(k > 0, x**2, x))": True,
    "y = sum(sqrt(stop_gradient(x**2*u - x**2) + x**2))": True,
    "y = sum(x)*norm(u)": True,
    "y = sum(cumsum(x*u))": True,
    "y = trace(A@(v - v.T))": True,
    "y = sum(max(A*v, axis=1))": True,
    "y = sum(where(A*v == broadcast_to(max(A*v), (3, 3)), A, 0))": True,
    "y = sum(x[:2][argmax(2*v[:2, :2], axis=0)])": True,
    "y = sum(x*(1 + u) - x*u)": False,
    "y = mean(x + u)": False,
    "y = sum(x)*sum(u - u)": False,
    "y = sum(A)*trace(v - v.T)": False,
    "y = sum(x**2) + sum(stop_gradient(x*u))": False,
    "y = sum(x) + sum(u)": False,
    "y = sum(stop_gradient(x)*u)": False,
    "y = sum(x)*sum(softmax(u))": False,
    "y = sum(A)*(max(v) - max(v.T))": False,
    "y = sum(x*where(u == u, 1, 2))": False,
}


@pytest.mark.parametrize("line", FATES)
def test_the_fate_of_noise(line: str) -> None:
    wrt = "A" if "A" in line else "x"
    d = derive(N + line, "y", wrt)
    source = "v" if "v" in line else "k" if "k > 0" in line else "u"
    verdict = d.noise[source]
    expected = FATES[line]
    assert verdict.enters is expected or (not expected and verdict.enters is None)
    if expected:
        the_witness_is_one(d, source)
        assert verdict.path[-1] == source
    for other in {"u", "v", "k"} - {source}:
        assert d.noise[other].enters is False


def the_witness_is_one(d: DerivationRecord, source: str) -> None:
    """The exact point and the two draws do give different gradients, those that it says."""
    witness = d.noise[source].witness
    assert witness is not None
    gradient = d.gradient[witness.wrt]
    found: list[float] = []
    for draw, said in zip(witness.draws, witness.gradients, strict=True):
        values = {**witness.values, source: draw}
        symbols = {s.name: s for s in symbols_of([d.y, *d.gradient])}
        arrays = {symbols[n]: np.array(v, dtype=float) for n, v in values.items()}
        entry = np.asarray(evaluate([gradient], arrays)[0])[witness.entry]
        np.testing.assert_allclose(entry, float(said), rtol=1e-9, atol=1e-12)
        found.append(float(entry))
    assert found[0] != found[1]


def test_too_large_to_try_is_not_decided() -> None:
    d = derive("W : real[400, 500]\nu ~ Normal(0, 1)[500]\ny = sum((W@u)**2)", "y", "W")
    assert d.noise["u"].enters is None


def test_a_near_tie_is_no_witness() -> None:
    # Both draws give the same sum up to rounding; which of the equal entries is the largest decides nothing.
    d = derive(
        "x : real[3]\nu ~ Normal(0, 1)\ny = max(stack((x[0] + u - u, x[0] + 2*u - 2*u)))*sum(x*0)", "y", "x"
    )
    assert d.noise["u"].enters is not True


@pytest.mark.parametrize(
    "form",
    [
        "x[argmax({})]**2",
        "sum(where({0} == max({0}), x**2, x))",
        "sum(x*where({} >= 0, 1, 2))",
        "sum(x*floor({}))",
    ],
)
def test_a_choice_among_nothing_but_rounding_is_no_witness(form: str) -> None:
    """However large its scale: what rounding alone makes differ is not told apart by a second precision."""
    for nothing in ("sinh(3*w) - 3*sinh(w) - 4*sinh(w)**3", "cos(3*w) + 3*cos(w) - 4*cos(w)**3"):
        for scale, factor in (("1e12", 1), ("1e18", 3), ("1e25", 3), ("1e25", 7)):
            y = form.format(f"({scale}*({nothing}))")
            program = f"x : real[n]\nu ~ Normal(0, 1)[n]\nw = {factor}*u\ny = {y}"
            verdict = derive(program, "y", "x").noise["u"]
            assert (verdict.enters is True, verdict.witness) == (False, None), (nothing, scale, factor)


def test_a_witness_is_a_point_of_the_domain() -> None:
    """Of a symmetric matrix a symmetric one."""
    verdict = derive(
        "S : real[n, n] symmetric\nx : real[n]\nu ~ Normal(0, 1)[n]\ny = exp(u)@S@sin(x)", "y", "x"
    ).noise["u"]
    assert verdict.witness is not None
    matrix = np.array(verdict.witness.values["S"], dtype=object)
    assert len(matrix) > 1
    assert (matrix == matrix.T).all()
    assert len({*matrix.ravel().tolist()}) > 1


def test_the_reading_that_is_named_is_the_one_that_matters() -> None:
    program = "x : real[n]\nw : real[n]\nu ~ Normal(0, 1)[n]\na = (w - w)*(x*u)\nc = sin(x)*exp(u)\ny = sum(a*w + c)"
    verdict = derive(program, "y", "x").noise["u"]
    assert verdict.enters is True
    assert verdict.residual == "exp(u)"
    by_value = {r.residual: r.matters for r in verdict.all_paths}
    assert by_value["exp(u)"] is True
    assert by_value["u"] is False


def test_a_number_that_reads_arrays() -> None:
    verdict = derive("x : real\nu ~ Normal(0, 1)[3]\ny = tanh(x*u[0])*exp(x*sum(u**2))", "y", "x").noise["u"]
    assert verdict.enters is True
    assert any(r.matters for r in verdict.all_paths)


def test_a_value_of_very_many_parts_is_printed_one_level_deep() -> None:
    many = ", ".join(f"sin(x*{k} + exp(x))" for k in range(300))
    listing = parse_program(f"x : real[2]\ny = concatenate(({many}))")
    text = Naming({}).body(listing["y"])
    assert text.startswith("concatenate((…, …")
    assert len(text) < 300 * 4
