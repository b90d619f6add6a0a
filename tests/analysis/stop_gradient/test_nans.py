"""SG301, SG302, SG303: NaN gradients of finite values in other frameworks, and guards that come too late."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.analysis.explain.naming import naming_of
from symgrad.analysis.stop_gradient.checks.context import LintQuery
from symgrad.checker.clock import now
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node


def found(text: str, code: str) -> list[Any]:
    return [f for f in sg.lint(text, time_limit=30) if f.code == code]


@pytest.mark.parametrize(
    ("text", "where", "repaired"),
    [
        (
            "x : real\ny = where(x > 0, sqrt(x), 0)",
            "where x <= 0",
            "where(x > 0, sqrt(where(x > 0, x, 1)), 0)",
        ),
        (
            "x : real\ny = where(x <= 0, 0, sqrt(x))",
            "where x <= 0",
            "where(x <= 0, 0, sqrt(where(x <= 0, 1, x)))",
        ),
        (
            "x : real\ny = where(x == 0, 1, sin(x)/x)",
            "where x = 0",
            "where(x == 0, 1, sin(where(x == 0, 1, x))/where(x == 0, 1, x))",
        ),
        (
            "x : real\ny = where(x < 20, log(1 + exp(x)), x)",
            "at x = 1000",
            "where(x < 20, log(1 + exp(where(x < 20, x, 1))), x)",
        ),
        (
            "x : real[n]\ny = sum(where(x > 0, sqrt(x), 0))",
            "where x <= 0",
            "sum(where(x > 0, sqrt(where(x > 0, x, 1)), 0))",
        ),
    ],
)
def test_a_branch_that_is_not_taken(text: str, where: str, repaired: str) -> None:
    (finding,) = found(text, "SG301")
    assert where in finding.message
    assert "in JAX" in finding.message
    assert str(finding.repaired) == repaired
    assert finding.verdict is not None
    assert finding.verdict.of_values is not None
    assert finding.verdict.of_values.status in ("proved", "supported")
    assert finding.verdict.status != "refuted"
    assert "SG301" not in sg.lint(finding.repaired).codes


@pytest.mark.parametrize(
    "text",
    [
        "x : real\ny = where(x > 0, sqrt(where(x > 0, x, 1)), 0)",
        "x : positive\ny = where(x > 1, sqrt(x), 0)",
        "x : real\ny = where(x > 0, x**2, sin(x))",
        "x : real\ny = where(x > 0, sqrt(1 + x**2), 0)",
        "x : real\ny = where(sqrt(abs(x)) > 1, x, 0)",
        "x : real(0.1, 1)\ny = where(x > 0.5, log(x), 1/x)",
    ],
)
def test_no_branch(text: str) -> None:
    assert found(text, "SG301") == []


@pytest.mark.parametrize(
    ("text", "frameworks"),
    [
        ("x, y : real\nz = sqrt(x**2 + y**2)", "JAX, torch and TensorFlow"),
        ("x : real[n]\nz = norm(x)", "JAX and TensorFlow"),
        ("x : real[n]\nz = sqrt(sum(x**2))", "JAX, torch and TensorFlow"),
        ("x : real\nz = sqrt(maximum(x, 0))", "in JAX,"),
        ("x : real\nz = sqrt(relu(x))", "in TensorFlow,"),
    ],
)
def test_roots(text: str, frameworks: str) -> None:
    (finding,) = found(text, "SG302")
    assert frameworks in finding.message
    assert finding.repaired is not None
    assert "SG302" not in sg.lint(finding.repaired).codes
    names = {str(i.name): (np.array([0.3, -0.4, 1.2]) if i.shape else 0.7) for i in finding.repaired.inputs}
    assert float(finding.repaired(**names)) == float(sg.parse(text).last(**names))


ALL = "in JAX, torch and TensorFlow,"


@pytest.mark.parametrize(
    ("text", "where", "at"),
    [
        ("w : real\nz = acos(clip(w, -1, 1))**2", f"at w = 1 {ALL}", {"w": 1.0}),
        ("w, v : real\nz = v*acos(clip(w, -1, 1))", f"at v = 0, w = 1 {ALL}", {"w": 1.0, "v": 0.0}),
        ("w, v : real\nz = v*asin(clip(w, -2, 3)/3)", f"at v = 0, w = 3 {ALL}", {"w": 3.0, "v": 0.0}),
        (
            "a, b : real[3]\nz = acos(clip(sum(a*b)/(norm(a)*norm(b)), -1, 1))",
            f"at a = [1., 0., 0.], b = [1., 0., 0.] {ALL}",
            {"a": np.eye(3)[0], "b": np.eye(3)[0]},
        ),
        ("x : real\nz = x**0.0", "where x = 0 in JAX and TensorFlow,", {"x": 0.0}),
        ("x, p : real\nz = x**p", "at x = 0, p = 0 in JAX and TensorFlow,", {"x": 0.0, "p": 0.0}),
        ("x : real\nz = x + floor(sqrt(x))", "where x = 0 in torch,", {"x": 0.0}),
        (
            "x : real[n]\nz = sum(x + sqrt(x)*0)",
            "where an entry of x is 0 in JAX and torch,",
            {"x": np.zeros(3)},
        ),
    ],
)
def test_points_at_which_a_zero_meets_an_infinity(text: str, where: str, at: dict[str, Any]) -> None:
    """What is said of symgrad's gradient is what its kernel computes."""
    finding, *_ = found(text, "SG302")
    assert f"the gradient is NaN {where}" in finding.message
    p = sg.parse(text)["z"]
    gradients = [sg.grad(p, w) for w in p.inputs]
    computed = [g(**{str(i.name): at[str(i.name)] for i in g.inputs}) for g in gradients]
    nan = any(bool(np.isnan(c).any()) for c in computed)
    assert finding.reason.endswith("symgrad's gradient is NaN, too") == nan
    assert "guards" not in finding.reason


def test_symgrad_guards_what_a_choice_excludes() -> None:
    (finding,) = found("x, y : real\nz = where(x > 0, sqrt(x), 0)*y", "SG301")
    assert finding.reason.endswith("symgrad guards the product")
    assert sg.grad(sg.parse("x, y : real\nz = where(x > 0, sqrt(x), 0)*y")["z"], "x")(x=0.0, y=0.0) == 0


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("x : real\nz = x**0.0", "write 1 for x**0"),
        ("x, p : nonnegative\nz = x**p", "write where(x == 0 and p == 0, 1, x)**p for x**p"),
    ],
)
def test_a_power_with_the_exponent_0_is_repaired(text: str, cure: str) -> None:
    (finding,) = found(text, "SG302")
    assert finding.cure == cure
    assert finding.verdict is not None
    assert finding.verdict.status != "refuted"
    assert "SG302" not in sg.lint(finding.repaired).codes


@pytest.mark.parametrize(
    "text",
    [
        "x : positive\nz = sqrt(x)",
        "x : real\nz = sqrt(x)",  # infinite at 0, as the derivative is
        "x, y : real\nz = sqrt(x**2 + y**2 + 1e-12)",
        "x : real\nz = exp(x)/(1 + exp(x))",  # overflows, and has no value there
        "x : positive\nz = sqrt(x**2)",
    ],
)
def test_no_root(text: str) -> None:
    assert found(text, "SG302") == []


def test_a_guard_behind_the_root() -> None:
    (finding,) = found("x : real\ny = maximum(sqrt(x), 0)", "SG303")
    assert str(finding.repaired) == "where(x > 0, sqrt(where(x > 0, x, 1)), 0)"
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"
    assert found("x : positive\ny = maximum(sqrt(x), 0)", "SG303") == []
    assert found("x : real\ny = maximum(sqrt(x**2), 0)", "SG303") == []
    assert found("x : positive\ny = maximum(sqrt(x), 1)", "SG303") == []


LONG = ["x : real", "a0 = x", *(f"a{k} = sin(a{k - 1}) + cos(a{k - 1})*0.3" for k in range(1, 160))]


def asked_of(lines: list[str]) -> tuple[LintQuery, dict[str, Node]]:
    """Return the question of a program too long for the engine, and its nodes by name."""
    listing = parse_program("\n".join([*LONG, *lines]))
    y = listing["y"]
    naming = naming_of(y, listing)
    end = now() + 30
    query = LintQuery(y, (listing["x"],), False, (), (), (), listing, naming, end)
    return query, dict(listing.assignments)


def test_a_repair_in_a_long_program_is_proved_where_it_is() -> None:
    lines = ["h = a159 + x", "y = where(h > 0, sqrt(h), 0) + a7"]
    (finding,) = found("\n".join([*LONG, *lines]), "SG301")
    assert finding.cure == "write where(h > 0, sqrt(where(h > 0, h, 1)), 0)"
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"
    assert "whatever they read" in finding.verdict.why


@pytest.mark.parametrize(
    ("old", "new", "proved"),
    [
        ("h*h", "h**2", True),
        ("h*stop_gradient(h)", "h**2", False),  # another gradient
        ("stop_gradient(h)", "h", False),
        ("abs(h)", "h", False),  # equal at most where h is not negative, which nobody knows
        ("sqrt(h**2)", "abs(h)", True),
        ("where(h > 1, h, 1)", "maximum(h, 1)", True),
        ("h*k", "k*h + 1e-30", False),
        ("exp(log(e))", "e", True),  # e is an exponential, and so positive
    ],
)
def test_two_values_of_a_long_program_are_compared_whatever_they_read(
    old: str, new: str, proved: bool
) -> None:
    lines = ["h = a159 + x", "k = a158*x", "e = exp(a9)", f"old = {old}", f"new = {new}", "y = old*a7 + new"]
    query, nodes = asked_of(lines)
    verdict = query.same_but_for(nodes["old"], nodes["new"], 5)
    assert (verdict is not None and verdict.status == "proved") == proved


def test_a_long_repair_has_a_name_for_what_stands_in_it_several_times() -> None:
    text = "a, b, c, x : real\ny = sqrt(stop_gradient(a*x + b*x**2 + c*x**3 - x) + (x - a)**2 + (x - b)**2)"
    (finding,) = found(text, "SG302")
    assert finding.cure == (
        "t = stop_gradient(a*x + b*x**2 + c*x**3 - x) + (x - a)**2 + (x - b)**2; "
        "write where(t > 0, sqrt(where(t > 0, t, 1)), 0) for sqrt(t)"
    )
