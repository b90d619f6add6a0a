"""Assembly with the equations that made it: the same code as without, and every equation in it."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.compiler.kernels.artefacts import annotated
from symgrad.compiler.kernels.artefacts.annotated import assembly_lines
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological

ELEMENTWISE = {
    "roots": "x : real; u : real\ny = sqrt(x**2*u) + x/u",
    "functions": "x, y : positive\nf = exp(x)*log(y) + sin(x/y)**3 + erf(x) - x**y",
    "choices": "x : real; b : bool\ny = where(b & (x > 0), x, floor(x)) + abs(x)",
    "one function for two": "x : real\ny = sin(x) + cos(x)",
}
ARRAYS = {
    "a sum": "X : real[n, d]; w : real[d]; y : real[n]\nloss = mean((X@w - y)**2)",
    "an inverse": "A : real[n, n]\nf = log(det(A))",
}


def kernel(text: str) -> sg.Kernel:
    y = sg.parse(text).last
    return sg.compile([y, *sg.grad(y, [i for i in y.inputs if i.dtype == "real"])], effort="high")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_the_code_is_that_of_the_kernel(name: str, dtype: str) -> None:
    made = sg.compile(sg.parse(ELEMENTWISE[name]).last, dtype=dtype, effort="high")
    plain = [(text, function) for text, function, _ in annotated._lines(made.asm)]
    assert [(line.text, line.function) for line in assembly_lines(made)] == plain
    assert len(plain) > 10


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_every_equation_has_instructions(name: str) -> None:
    made = kernel(ELEMENTWISE[name])
    said = {node for line in assembly_lines(made) for node in line.nodes}
    free = {"neg", "and_", "not_", "cast", "stop_gradient"}  # which may be part of another one's instruction
    equations = {n for n in topological(made.outputs) if n.args and n.op.name not in free}
    assert said <= {*topological(made.outputs)}
    # Products and sums are rounded once together, and what is a number costs nothing.
    assert len(said & equations) >= 0.6 * len(equations)
    assert {n for n in said if n.op is SYMBOL} == set(made.symbols)


def test_an_instruction_is_of_the_equation_that_computes_it() -> None:
    made = sg.compile(sg.parse("x, u : real\ny = sqrt(x)/u").last, effort="high")
    by_name: dict[str, Node] = {n.op.name: n for n in topological(made.outputs)}
    for line in assembly_lines(made):
        instruction = line.text.split()[0]
        if "sqrt" in instruction:
            assert line.nodes == (by_name["sqrt"],)
        if "div" in instruction:
            assert line.nodes == (by_name["div"],)


@pytest.mark.parametrize("name", ARRAYS)
def test_every_loop_of_an_array_program_has_its_equations(name: str) -> None:
    made = kernel(ARRAYS[name])
    lines = assembly_lines(made)
    assert [line.text for line in lines] == [text for text, _, _ in annotated._lines(made.asm)]
    assert all(line.nodes for line in lines if line.function.startswith("step."))


def test_a_long_program_is_told_in_pieces() -> None:
    text = "x : real\ny0 = x\n" + "".join(f"y{k} = sin(y{k - 1})*{k} + x/{k + 2}\n" for k in range(1, 40))
    lines = assembly_lines(sg.compile(sg.parse(text).last, effort="high"))
    assert len({node for line in lines for node in line.nodes}) > 70


def test_small_arrays_have_the_equations_of_their_entries() -> None:
    made = sg.compile(sg.parse("R : real[2, 2]; v : real[2]; y = exp(R@v)").last)
    lines = assembly_lines(made)
    assert [(line.text, line.function) for line in lines] == [
        (t, f) for t, f, _ in annotated._lines(made.asm)
    ]
    said = {expression_text(node) for line in lines for node in line.nodes}
    assert {"R[0,0]", "v[1]", "exp(R[1,0]*v[0] + R[1,1]*v[1])"} <= said
