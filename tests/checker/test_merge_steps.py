"""Steps that are the same by laws that change no domain: what they find, and what they must not."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.checker.program.merge_steps import is_same_step
from symgrad.verification.statement import program_of


def _same(a: str, b: str, declared: str = "x, y, z, w : real") -> bool:
    p = sg.parse(f"{declared}\nleft = {a}\nright = {b}")
    program, (i, j) = program_of([p["left"].node, p["right"].node])
    return is_same_step(program, i, j)


def _nested(name: str, n: int) -> str:
    return f"{name}(" * n + "x" + ")" * n


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x*1", "x"),
        ("0 + x", "x"),
        ("x**1/1", "x"),
        ("-(-x)", "x"),
        ("(x*1 + y)*z", "z*(y + x)"),
        ("x + y + z + w", "w + (z + (y + x))"),
        ("x*y*z", "z*(y*x)"),
        ("maximum(x, maximum(y, maximum(x, z)))", "maximum(maximum(z, y), x)"),
        ("minimum(x, x)", "x"),
        ("sin(x + y)*1 + 0", "sin(y + x)"),
        ("sqrt(-1 - x**2)*1", "sqrt(-1 - x**2)"),
        ("where((x > 0) & (y > 0), x, y)", "where((y > 0) & (x > 0), 1*x, y + 0)"),
        ("hypot(x, y)", "hypot(y, x)"),
        (_nested("sin", 60), _nested("sin", 60) + "*1"),
        ("x*stop_gradient(y)", "stop_gradient(y*x)"),
    ],
)
def test_what_is_the_same(a: str, b: str) -> None:
    assert _same(a, b)
    assert _same(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x*2", "x"),
        ("x + 1", "x"),
        ("x*0", "0"),
        ("x - x", "0"),
        ("x/y", "y/x"),
        ("x**y", "y**x"),
        ("1/x", "x"),
        ("1**x", "x"),
        ("x + x", "x"),
        ("x*x", "x"),
        ("x + y*z", "x*y + z"),
        ("(x + y)*z", "x + y*z"),
        ("maximum(x, minimum(y, z))", "minimum(maximum(x, y), z)"),
        ("maximum(x, y)", "minimum(x, y)"),
        ("maximum(x, 0)", "x"),
        ("minimum(x, 1)", "x"),
        ("-x", "x"),
        ("-(-(-x))", "x"),
        ("atan2(x, y)", "atan2(y, x)"),
        ("x < y", "y < x"),
        ("x*(y/y)", "x"),
    ],
)
def test_what_is_not(a: str, b: str) -> None:
    assert not _same(a, b)
    assert not _same(b, a)


def test_arrays_keep_their_shapes() -> None:
    declared = "v : real[n]\nw : real[n]\ns : real"
    assert _same("v*s + w", "w + s*v", declared)
    assert _same("v*1", "v", declared)
    assert not _same("s + 0*v", "s + v", declared)
    assert not _same("s*ones(n)", "s", declared)


def test_a_truth_value_is_no_number() -> None:
    p = sg.parse("x : bool\nleft = x*1\nright = x")
    program, (i, j) = program_of([p["left"].node, p["right"].node])
    assert is_same_step(program, i, j) == (program.steps[i].kind == program.steps[j].kind)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (_nested("sin", 50), _nested("sin", 50) + " + 0"),
        (_nested("tanh", 50), "1*" + _nested("tanh", 50)),
        (
            "maximum(a, maximum(b, maximum(c, maximum(d, maximum(e, maximum(f, maximum(g, h)))))))",
            "maximum(maximum(h, g), maximum(maximum(f, e), maximum(maximum(d, c), maximum(b, a))))",
        ),
        (
            " + ".join(f"{k}*x**{k}" for k in range(1, 301)),
            " + ".join(f"{k}*x**{k}" for k in range(300, 0, -1)),
        ),
    ],
)
def test_a_proof_of_what_is_the_same_is_checked(a: str, b: str) -> None:
    verdict = sg.equal(a, b, time_limit=100)
    assert verdict.status == "proved"
    assert not verdict.excluded
    assert verdict.proof is not None
    assert check(verdict.proof.data).status == "proved"


def test_a_proof_needs_a_point_at_which_the_sides_are_defined() -> None:
    verdict = sg.equal("sqrt(-1 - x**2)*1", "sqrt(-1 - x**2)", time_limit=1)
    assert verdict.status == "undecided"


def test_the_derivative_is_not_that_of_what_is_merged_away() -> None:
    p = sg.parse("x : real\ny = x*stop_gradient(x)*1")
    assert sg.verify(p["y"], p["x"], "x").status == "proved"
    assert sg.verify(p["y"], p["x"], "2*x").status == "refuted"
