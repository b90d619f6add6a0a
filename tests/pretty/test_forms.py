"""Forms that are offered for a formula, and those that are not: where the value or the domain would be another."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import expression_text
from symgrad.pretty.forms.factor_out import distribute, shared
from symgrad.pretty.forms.guards import without_guards_of_zero, without_idle_guards
from symgrad.pretty.forms.positions import as_one_hot, merged
from symgrad.pretty.forms.quotients import forms_of
from symgrad.pretty.forms.term_order import order_terms
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.rational.read import rational_of
from tests.counting import counting

DECLARED = (
    "x, y, z : real; p : positive; q : real(0, 1); u, v, w : real[n]; A, B : real[n, n]\n"
    "M, N : real[m, k]; i : int; t : int[m]; s : real[5]"
)


def node(formula: str) -> Node:
    return sg.parse(f"{DECLARED}\nit_ = {formula}")["it_"].node


def canonical_text(found: Node) -> str:
    return str(sg.parse(f"{DECLARED}\ne_ = {expression_text(found)}")["e_"].canonical())


def printed(text: str, by: str) -> str:
    program = sg.parse(text)
    return str(sg.grad(program.last, program[by]))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("A@u + A@v", "A@(u + v)"),
        ("u@A + u@B", "(A.T + B.T)@u"),
        ("2*A@u - x*(A@v)", "A@(2*u - x*v)"),
        ("outer(u, v) - outer(u, w)", "outer(u, v - w)"),
        ("A@u + A.T@u", "(A + A.T)@u"),
    ],
)
def test_shared_operands(formula: str, expected: str) -> None:
    assert canonical_text(node(expected)) in map(canonical_text, shared(node(formula)))


@pytest.mark.parametrize("formula", ["A@u + B@v", "A@u + A.T@v", "A@u + mean(A@v)", "u + A@v"])
def test_operands_that_are_not_shared(formula: str) -> None:
    """Terms of other shapes have other axes: the mean of a product is no product."""
    assert not list(shared(node(formula)))


def test_inner_products_come_apart_and_matrix_products_do_not() -> None:
    assert canonical_text(distribute(node("u@(1 + v)"))) == canonical_text(node("sum(u) + u@v"))
    assert distribute(node("A@(u + v)")) is node("A@(u + v)")


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("(y - where(x != 0, z/x, 0))/x", "(y - z/x)/x"),
        ("where(x != 0, z/x, 0)/(y*x**2)", "z/x/(y*x**2)"),
        ("where(x != 0, z/x, 0)/y", "where(x != 0, z/x, 0)/y"),
        ("where(x != 0, z/x, 1)/x", "where(x != 0, z/x, 1)/x"),
        ("where(y > 0, 1/x, 0) + where(x != 0, z/x, 0)", "where(y > 0, 1/x, 0) + where(x != 0, z/x, 0)"),
        ("v/u + where(u != 0, w/u, 0)", "v/u + w/u"),
        ("v/u + sum(where(u != 0, w/u, 0))", "v/u + sum(where(u != 0, w/u, 0))"),
    ],
)
def test_guards(formula: str, expected: str) -> None:
    """A guard is idle where the same entry has no value without what it guards; of other entries that says nothing."""
    assert without_idle_guards(node(formula)) is node(expected)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("where(x == 0, 0, x*y)", "x*y"),
        ("where(x/2 != 0, y*x**2, 0)", "y*x**2"),
        ("where(1 - q == 0, 0, (1 - q)*p**q/3)", "(1 - q)*p**q/3"),
        ("where(x == 0, 0, x/y)", "where(x == 0, 0, x/y)"),
        ("where(x == 0, 1, x*y)", "where(x == 0, 1, x*y)"),
        ("where(x == 0, 0, y)", "where(x == 0, 0, y)"),
        ("where(x*y == 0, 0, x)", "where(x*y == 0, 0, x)"),
    ],
)
def test_guards_of_what_is_zero(formula: str, expected: str) -> None:
    assert without_guards_of_zero(node(formula), Conditions()) is node(expected)


@pytest.mark.parametrize(
    ("formula", "expected", "sure"),
    [
        ("scatter_add(1, 2, shape=(5,))", "one_hot(2, 5)", True),
        ("scatter_add(1, -1, shape=(5,))", "one_hot(4, 5)", True),
        ("scatter_add(x, 2, shape=(n,))", "x*one_hot(2, n)", False),
        ("scatter_add(1, i, shape=(5,))", None, True),
        ("scatter_add(1, argmax(s), shape=(5,))", "one_hot(argmax(s), 5)", True),
        ("scatter_add(1, argmax(s), shape=(n,))", None, True),
        ("scatter_add(ones(m), arange(m), t, axes=(0, 1), shape=(m, k))", None, True),
        (
            "scatter_add(ones(m), arange(m), argmax(N, axis=1), axes=(0, 1), shape=(m, k))",
            "one_hot(argmax(N, axis=1), k)",
            True,
        ),
        ("scatter_add(ones(m), arange(m), argmax(N, axis=1), axes=(0, 1), shape=(m, n))", None, True),
    ],
)
def test_positions(formula: str, expected: str | None, sure: bool) -> None:
    """Positions that may lie outside stay in `scatter_add`, which has no value there, where `one_hot` has zeros."""
    given = sg.parse(f"{DECLARED}\nit_ = {formula}")["it_"].canonical().node
    found, unsure = as_one_hot(given, Conditions())
    wanted = given if expected is None else sg.parse(f"{DECLARED}\nit_ = {expected}")["it_"].canonical().node
    assert sg.parse(f"{DECLARED}\nit_ = {expression_text(found)}")["it_"].canonical().node is wanted
    assert (not unsure) == sure


def test_what_multiplies_values_at_positions_is_read_there() -> None:
    scattered = "scatter_add(v_, arange(m), t, axes=(0, 1), shape=(m, k))"
    program = sg.parse(f"{DECLARED}; v_ : real[m]\na_ = M*{scattered}\nb_ = {scattered}\nc_ = b_/M")
    assert "M[arange(m), t]" in expression_text(merged(program["a_"].node))
    assert merged(program["b_"].node) is program["b_"].node
    assert "v_/M[arange(m), t]" in expression_text(merged(program["c_"].node))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("1/(x - sqrt(2)) - 1/(x + sqrt(2))", "2*sqrt(2)/(x**2 - 2)"),
        ("1/(x + sqrt(2)) + x/(x**2 - 2)", "(2*x - sqrt(2))/(x**2 - 2)"),
        ("1/(1 + sqrt(p))", None),  # (1 - sqrt(p))/(1 - p) has no value at p = 1
        ("1/(1 + sqrt(p)) + 1/(1 - sqrt(p))", "2/(1 - p)"),
    ],
)
def test_roots_below(formula: str, expected: str | None) -> None:
    quotient = rational_of(node(formula))
    assert quotient is not None
    rational = quotient.without_roots()
    if expected is None:
        assert rational is None
    else:
        forms = map(canonical_text, forms_of(rational or quotient))
        assert canonical_text(node(expected)) in forms


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("-1 - x", "-x - 1"),
        ("-1 - x + y", "y - 1 - x"),
        ("(q - x)/(q*(q - 1))", "(x - q)/(q*(1 - q))"),
        ("1/q + x/(q - 1)", "1/q - x/(1 - q)"),
        ("-(x + y - z)/p", "(z - x - y)/p"),
        ("-(A.T@B.T@A.T)", "-(A@B@A).T"),
        ("A.T@B.T + B.T@A.T", "(B@A + A@B).T"),
        ("A.T@B", "A.T@B"),
        ("x*(y*z)", "x*y*z"),
    ],
)
def test_styles(formula: str, expected: str) -> None:
    assert expression_text(order_terms(node(formula), Conditions())) == expected


def test_products_with_diagonals_are_no_chains_of_matrices() -> None:
    declared = "T : real[n,m,m]; A : real[m,n]; S : real[n,n]"
    assert printed(f"{declared}\ny = sum(einsum('ijj,jk->ik', T, A)*S)", "S") == 'einsum("ijj->ij", T)@A'


def test_sums_of_shares_are_one_only_where_there_are_some() -> None:
    assert printed("z : real[k]\np = softmax(z)\nH = -sum(p*log(p))", "z") == "-p*(H + log(p))"
    assert "sum(" in printed("z : real[k]; a : real\ny = a*sum(softmax(z))", "a")  # 0 for k = 0
    assert printed("z : real[3]; a : real\nP = softmax(z)\ny = a*sum(P)", "a") == "1"


def test_a_form_is_found_soon() -> None:
    """Long formulas are taken as they are; of those of ordinary length few are tried."""
    lines = ["x, y : real", "t0 = x + y"]
    lines += [f"t{k} = t{k - 1}**2/(x + {k}*y) + sin(t{k - 1})*x" for k in range(1, 9)]
    with counting() as calls:
        printed("\n".join(lines), "x")
    assert calls.count < 3_000_000
