"""Programs of small arrays as scalar equations: their values, what they leave out, and which programs have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.lowering.entries.program import ScalarProgram, reason_for_loops, scalar_program
from symgrad.ir.graph import Node, as_node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.size_substitution import resized
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.contraction import sum_over
from tests.arrays import PROGRAMS, SIZES, random_value

WITHOUT = ("recurrence", "expm", "sinm", "cosm", "logcumsumexp", "argmax", "argmin")
"""Ops whose programs have no scalar equations: those of the last two read entries at computed positions."""


def entry_values(program: ScalarProgram, values: dict[Node, Any], inputs: list[Node]) -> list[float]:
    flat = [v for s in inputs for v in np.ravel(values[s])]
    return [float(v) for v in evaluate(list(program.outputs), dict(zip(program.inputs, flat, strict=True)))]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_entries_have_the_values_of_the_arrays(name, sizes):
    rng = np.random.default_rng(0)
    (value,) = resized([PROGRAMS[name]()], sizes)
    inputs = symbols_of([value])
    reals = [s for s in inputs if s.dtype == "real"]
    total = sum_over(value, range(len(value.shape))) if value.shape else value
    outputs = [value, *pull_back([total], [as_node(1)], reals).gradients]
    program = scalar_program(outputs, inputs, set(topological(outputs[1:])) - set(topological([value])))
    if program is None:
        large = any(int(str(n)) not in range(1, 17) for node in topological(outputs) for n in node.shape)
        assert (
            large
            or len(reals) < len(inputs)
            or name.startswith(WITHOUT)
            or name
            == "cholesky of a stack"  # the gradient of 15 rows has more equations than are written out
            or "int" in {n.dtype for n in outputs}
        )
        return
    values = {s: random_value(s, {}, rng) for s in inputs}
    expected = np.concatenate([np.ravel(v).astype(float) for v in evaluate(outputs, values)])
    np.testing.assert_allclose(entry_values(program, values, inputs), expected, rtol=1e-11, atol=1e-11)


def scalars(text: str, *outputs: str, wrt: str = "") -> ScalarProgram | None:
    p = sg.parse(text)
    own = [p[name].node for name in outputs]
    derived = [sg.grad(p[outputs[0]], p[wrt]).node] if wrt else []
    fusable = set(topological(derived)) - set(topological(own))
    return scalar_program([*own, *derived], symbols_of([*own, *derived]), fusable)


def test_zeros_by_structure_are_not_computed():
    rotated = scalars(
        """t : real[2]
        A = stack([stack([cos(t[0]), -sin(t[0]), 0]), stack([sin(t[0]), cos(t[0]), 0]), stack([0, 0, 1])])
        B = stack([stack([1, 0, 0]), stack([0, cos(t[1]), -sin(t[1])]), stack([0, sin(t[1]), cos(t[1])])])
        R = A@B""",
        "R",
    )
    assert rotated is not None
    products = [n for n in topological(rotated.outputs) if n.op.name == "mul"]
    assert len(products) == 4
    assert not any(n.op.name == "add" for n in topological(rotated.outputs))
    assert [expression_text(y) for y in rotated.outputs[6:]] == ["0", "sin(t[1])", "cos(t[1])"]


def test_a_zero_keeps_a_factor_without_a_value():
    found = scalars(
        "x : real; y = stack([0, 1])@stack([log(x), x]); z = stack([0, 1])@stack([exp(x), x])", "y", "z"
    )
    assert found is not None
    assert [expression_text(y) for y in found.outputs] == ["0*log(x) + x", "x"]


def test_zeros_of_a_derivative_are_numbers():
    found = scalars("x : real[3]; y = x[0]*x[1]", "y", wrt="x")
    assert found is not None
    assert [expression_text(y) for y in found.outputs[1:]] == ["x[1]", "x[0]", "0"]


def test_what_the_user_wrote_is_neither_folded_nor_fused():
    found = scalars("x : real[2]; y = 1*x + 0*x - x", "y")
    assert found is not None
    assert [expression_text(y) for y in found.outputs] == ["1*x[0] + 0*x[0] - x[0]", "1*x[1] + 0*x[1] - x[1]"]
    assert not found.fusable


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x : real[n]; y = sum(x)", "the size n is known only at the call"),
        ("x : int[3]; y = sum(x)", "it has arrays of whole numbers"),
        ("x : real[0]; y = sum(x)", "it has empty arrays"),
        ("x : real[17]; y = sum(x)", "an axis of 17 entries is longer than 16"),
        ("x : real[7, 7]; y = inv(x)", "a matrix of 7 rows has more than 6"),
        ("x : real[3, 3]; y = expm(x)", "an exponential of matrices has no scalar equations"),
        ("x : real[5, 5, 5, 5]; y = sum(x**2, axis=0)", "an array of 625 entries is larger than 256"),
        ("x : real[3]; y = x[argmax(x)]", "positions are computed"),
        ("x : real[16, 16]; y = x@x", "it would have more than 4000 scalar equations"),
    ],
)
def test_programs_without_scalar_equations(text, reason):
    assert scalars(text, "y") is None
    p = sg.parse(text)
    assert reason_for_loops([p["y"].node], symbols_of([p["y"].node])) == reason
    assert reason in str(sg.compile(p["y"]).report())
