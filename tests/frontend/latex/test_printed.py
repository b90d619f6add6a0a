"""What symgrad prints as LaTeX it reads back, with the declarations of the same program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.expr import Expr
from symgrad.autodiff.jacobians import derivative_of
from symgrad.errors import UnknownNameError
from symgrad.frontend.latex.document import latex_statements
from symgrad.frontend.latex.meaning.lines import LatexReader
from symgrad.frontend.latex.meaning.names import spelled_name
from symgrad.frontend.latex.meaning.readings import checked_options
from symgrad.ir.graph import CONSTANT, Node, size_node
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.support.source import Source
from tests.conftest import GOLDEN
from tests.end_to_end import test_golden_arrays, test_golden_gradients

ROOT = Path(__file__).parents[3]
PROGRAMS = {**test_golden_gradients.PROGRAMS, **test_golden_arrays.PROGRAMS}
WHOLE = sorted((GOLDEN / "programs").glob("*.tex"))


def assert_same(found: sg.Expr, wanted: sg.Expr) -> None:
    assert found.shape == wanted.shape
    if found.node is not wanted.node:
        verdict = sg.equal(found, wanted)
        assert verdict.status in ("proved", "supported"), f"{found}  is not  {wanted}: {verdict}"


def last_of(found: sg.Expr | sg.Program) -> sg.Expr:
    return found.last if isinstance(found, sg.Program) else found


@pytest.mark.parametrize("title", PROGRAMS)
def test_golden_programs_and_their_gradients(title: str) -> None:
    text, wrt = PROGRAMS[title]
    program = sg.parse(text)
    for e in (program.last, *sg.grad(program.last, [name.strip() for name in wrt.split(",")])):
        assert_same(last_of(sg.parse_latex(e.latex(), program)), e)


def sizes_in(node: Node) -> set[str]:
    return {
        name for n in topological([node]) if n.op is not CONSTANT for name in names_of(n.shape, *n.params)
    }


def known_in(node: Node) -> dict[str, sg.Expr]:
    """Return the symbols of a node, and the sizes of its axes."""
    known = {s.name: Expr(s) for s in symbols_of([node])}
    sizes = sizes_in(node)
    return {**{name: Expr(size_node(name)) for name in sizes}, **known}


def assert_close(found: sg.Expr, wanted: sg.Expr) -> None:
    """Compare values at a point: a proof of what a whole program says takes long."""
    numbers = np.random.default_rng(3)
    inputs = {i.name: i for i in (*found.inputs, *wanted.inputs)}
    sizes = {"n": 3, "m": 3, "d": 2, "k": 2}
    values: dict[str, Any] = {}
    for name, i in inputs.items():
        shape = tuple(s if isinstance(s, int) else sizes[str(s)] for s in i.shape)
        values[str(name)] = numbers.uniform(0.4, 0.9, shape)
    values = {n: v + v.T if inputs[n].node.declaration.symmetric else v for n, v in values.items()}
    left, right = (e(**{str(i.name): values[str(i.name)] for i in e.inputs}) for e in (found, wanted))
    np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_both_sides_of_every_line_of_whole_programs(path: Path) -> None:
    """What is printed of a program's derivatives are equations: definitions of t_1, and claims that hold."""
    stem, _, _ = path.stem.partition(".")
    program = sg.parse((ROOT / "examples" / "programs" / f"{stem}.sg").read_text(encoding="utf-8"))
    source = Source(path.read_text(encoding="utf-8"))
    known = {name: program[name].node for name in program.names}
    reader = LatexReader(source, known, True, checked_options({}), derivative_of)
    pending = latex_statements(source)
    assert pending
    while pending:  # what stands below "where" may be read above it
        waiting = []
        for line in pending:
            left, right = line.sides
            try:
                value = reader.read(right)
            except UnknownNameError:
                reader.error = None
                waiting.append(line)
                continue
            name = spelled_name(left)
            if name is not None and not reader.is_known(left):
                reader.statement(line)
            else:
                assert_close(Expr(value.node), Expr(reader.read(left).node))
        assert len(waiting) < len(pending)
        pending = waiting


def test_one_name_has_one_text_in_all_formulas_of_a_program() -> None:
    p = sg.parse("x1, x_1 : real\na = x1 + 1\nb = x_1 + 1")
    assert p["a"].latex() == "x_{1} + 1"
    assert p["b"].latex() == r"\mathtt{x\_1} + 1"
