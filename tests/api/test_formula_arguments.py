"""What verbs take for a formula: texts and programs as well as expressions, each verb the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import (
    ForbiddenSyntaxError,
    NotInProgramError,
    OperandError,
    RedefinitionError,
    SymgradError,
    UnknownNameError,
    UsageError,
)

VERBS: dict[str, Callable[[Any], Any]] = {
    "check_domain": sg.check_domain,
    "compile": lambda f: sg.compile(f)(x=1.5),
    "derivatives": lambda f: sg.derivatives(f, "x", order=2),
    "explain": lambda f: sg.explain(f, "x").values[0],
    "explain of all": lambda f: sg.explain(f).values[0],
    "grad": lambda f: sg.grad(f, "x"),
    "gradients": lambda f: sg.gradients(f, "x"),
    "hessian": lambda f: sg.hessian(f, "x"),
    "hvp": lambda f: sg.hvp(f, "x", 2),
    "jacobian": lambda f: sg.jacobian(f, "x"),
    "jvp": lambda f: sg.jvp(f, "x", 2),
    "implicit": lambda f: str(sg.implicit(f, "x", start=2.0)),
    "minimize": lambda f: sg.minimize(f, "x", {"x": 1.5})["x"],
    "simplify": sg.simplify,
    "value_and_grad": lambda f: sg.value_and_grad(f, "x"),
    "vjp": lambda f: sg.vjp(f, "x", 2),
    "with_gradient": lambda f: sg.grad(sg.with_gradient(f, "x"), "x"),
    "equal": lambda f: sg.equal(f, "x**4 - 2*x**2 + 1").status,
    "verify": lambda f: sg.verify(f, "x", "4*x**3 - 4*x").status,
}
TEXTS = ["(x**2 - 1)**2", "x : real\nh = x**2 - 1\ny = h**2", "x : real; h = x**2 - 1; h**2"]


def said(value: Any) -> str:
    return str(value.items() if isinstance(value, sg.results.Derivatives) else value)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("text", TEXTS)
def test_every_verb_takes_a_text_and_a_program_for_the_value_it_ends_with(verb: str, text: str) -> None:
    run, program = VERBS[verb], sg.parse(text)
    expected = said(run(program.last))
    assert said(run(text)) == said(run(program)) == expected


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_the_same_of_a_text_that_is_no_program(verb: str) -> None:
    with pytest.raises(ForbiddenSyntaxError, match="this is LaTeX"):
        VERBS[verb](r"\frac{x}{2}")
    with pytest.raises(UnknownNameError, match="declare it: x : real"):
        VERBS[verb]("y = x**2")


def test_texts_beside_other_formulas_are_read_in_their_names() -> None:
    p = sg.parse("x : positive\ny = log(x)")
    kernel = sg.compile([p, "y**2", "x*3"])
    np.testing.assert_allclose(kernel(x=np.e), [1.0, 1.0, 3 * np.e])
    total, beside = sg.grad(p["y"] + p["y"] * p["x"], "x"), sg.gradients([p["y"], "y*x"], ["x"])[0]
    assert sg.equal(total, beside).status == "proved"
    with pytest.raises(UnknownNameError, match="'q'"):
        sg.compile([p, "y + q"])


def test_texts_share_what_one_of_them_declares() -> None:
    kernel = sg.compile(["w*2", "w : real[n]\ns = sum(w)", "sum(w)"])
    doubled, s, again = kernel(w=[1.0, 2.0])
    assert doubled.tolist() == [2.0, 4.0]
    assert s == again == 3
    with pytest.raises(RedefinitionError):
        sg.compile(["x : real\nx", "x : positive\nx"])


def test_a_text_with_a_fault_beside_others_says_its_own_fault() -> None:
    p = sg.parse("x : real\ny = x**2")
    with pytest.raises(SymgradError, match="never closed"):
        sg.compile([p, "z = (x"])


def test_texts_of_a_solution_are_read_in_the_names_of_its_equations() -> None:
    root = sg.implicit("x : positive\nz : positive\nz**2 - x", "z", start=1.0)
    assert root.evaluate("z*x", x=4.0) == pytest.approx(8.0)
    assert root.grad("z*x", "x")(z=2.0, x=4.0) == pytest.approx(3.0)


def test_operands_of_expressions_are_no_texts() -> None:
    x = sg.symbols("x")
    with pytest.raises(OperandError):
        _ = x + cast("Any", "y")
    with pytest.raises(UsageError, match="part of a formula"):
        sg.sin(cast("Any", "y"))


@pytest.mark.parametrize("w", [sg.tensor("w", ("n",)), sg.symbols("w", "positive")])
def test_another_declaration_of_the_same_name_is_told_apart(w: sg.Expr) -> None:
    with pytest.raises(
        NotInProgramError, match=r"'w' is declared '.*', and in the formula 'w : real'"
    ) as caught:
        sg.grad("w**2", w)
    assert "'w'" in str(caught.value.cure)
    assert str(sg.grad("w**2", "w")) == "2*w"


def test_a_program_is_called_for_the_value_it_ends_with() -> None:
    p = sg.parse("x : real\ny = x**2")
    assert p(x=3.0) == p(3.0) == 9.0
    with pytest.raises(NotInProgramError, match="computes nothing"):
        sg.parse("x : real")(x=1.0)


@pytest.mark.parametrize("shape", [("n", "d"), ("n",), (3, 4), ()])
def test_size_is_no_method(shape: Any) -> None:
    x: Any = sg.tensor("x", shape)
    with pytest.raises(UsageError, match="the number of all entries") as caught:
        x.size(0)
    if shape:
        assert eval(str(caught.value.cure), {"x": x}) == shape[0]
    assert sg.size(x.size).same(sg.size(sg.tensor("y", shape).size))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "std", "argmax", "cumsum"])
@pytest.mark.parametrize("method", [True, False])
def test_names_of_arguments_in_torch_are_answered_with_those_of_numpy(name: str, method: bool) -> None:
    x: Any = sg.tensor("x", (2, 3))

    def call(**options: Any) -> Any:
        return getattr(x, name)(**options) if method else getattr(sg, name)(x, **options)

    with pytest.raises(UsageError, match="takes no argument named 'dim'") as caught:
        call(dim=1)
    assert call(**eval(f"dict({caught.value.cure})")).same(call(axis=1))
