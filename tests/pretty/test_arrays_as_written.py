"""Jacobians, Hessians and gradients of arrays have the printed forms of the literature, and these read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad as sg


class _Case(NamedTuple):
    verb: str
    program: str
    by: str
    printed: str
    proved: bool = True


_MISES = "((s[0]-s[1])**2 + (s[1]-s[2])**2 + (s[2]-s[0])**2)/2 + 3*(s[3]**2+s[4]**2+s[5]**2)"
_ROSENBROCK = "y = sum(100*(x[1:] - x[:-1]**2)**2 + (1-x[:-1])**2)"

CASES = {
    "array of entries": _Case(
        "jacobian",
        "v : real[3]\ny = array([v[0]**2, v[1]*v[2], v[0]])",
        "v",
        "array([[2*v[0], 0, 0], [0, v[2], v[1]], [1, 0, 0]])",
    ),
    "gradient of entries": _Case(
        "grad", "v : real[3]\ny = v[0]**2*v[1]", "v", "array([2*v[0]*v[1], v[0]**2, 0])"
    ),
    "Hessian of entries": _Case(
        "hessian",
        "v : real[3]\ny = v[0]**2*v[1] + v[2]**3",
        "v",
        "array([[2*v[1], 2*v[0], 0], [2*v[0], 0, 0], [0, 0, 6*v[2]]])",
    ),
    "yield function": _Case(
        "grad",
        f"s : real[6]\ny = sqrt({_MISES})",
        "s",
        "array([(2*s[0] - s[1] - s[2])/2, (2*s[1] - s[0] - s[2])/2, (2*s[2] - s[0] - s[1])/2, "
        "3*s[3], 3*s[4], 3*s[5]])/y",
    ),
    "diagonal": _Case("hessian", "v : real[3]\ny = sum(v**4) + sum(v)**2", "v", "diag(12*v**2) + 2"),
    "fractions": _Case("jacobian", "n : real[3]\nnt = sum(n)\ny = n/nt", "n", "(eye(3) - y[:, None])/nt"),
    "kinetics": _Case(
        "jacobian",
        "c : real[3]\nk : real[2]\nr1 = k[0]*c[0]*c[1]\nr2 = k[1]*c[2]\ny = array([r2 - r1, r2 - r1, r1 - r2])",
        "c",
        "array([[-c[1]*k[0], -c[0]*k[0], k[1]], [-c[1]*k[0], -c[0]*k[0], k[1]], [c[1]*k[0], k[0]*c[0], -k[1]]])",
    ),
    "mass matrix": _Case(
        "hessian",
        "q : real[2]\nw : real[2]\nm : real\nl : real\n"
        "y = m*l**2*w[0]**2 + m*l**2*w[1]**2/2 + m*l**2*w[0]*w[1]*cos(q[0]-q[1])",
        "w",
        "m*l**2*array([[2, cos(q[0] - q[1])], [cos(q[0] - q[1]), 1]])",
    ),
    "softmax": _Case("jacobian", "z : real[n]\np = softmax(z)\ny = p", "z", "diag(p) - outer(p, p)"),
    "unit vector": _Case(
        "jacobian",
        "x : real[n]\ny = x/norm(x)",
        "x",
        "(eye(n) - outer(y, y))/norm(x)",
    ),
    "quadratic form": _Case("hessian", "A : real[n,n]\nx : real[n]\ny = x @ A @ x", "x", "A + A.T"),
    "Rosenbrock": _Case(
        "hessian",
        f"x : real[3]\n{_ROSENBROCK}",
        "x",
        "array([[1200*x[0]**2 - 400*x[1] + 2, -400*x[0], 0], "
        "[-400*x[0], 1200*x[1]**2 - 400*x[2] + 202, -400*x[1]], [0, -400*x[1], 200]])",
        proved=False,  # the prover has no normal form of slices of identity matrices
    ),
    "whole arrays stay whole": _Case(
        "grad",
        f"x : real[n]\n{_ROSENBROCK}",
        "x",
        "pad(2*x[:-1] - 400*x[:-1]*(x[1:] - x[:-1]**2) - 2, (0, 1)) - 200*pad(x[:-1]**2 - x[1:], (1, 0))",
    ),
    "a matrix that is not symmetric": _Case(
        "jacobian", "A : real[3,3]\nv : real[3]\ny = A@v + v**2", "v", "diag(2*v) + A"
    ),
}


def _derivative(case: _Case) -> sg.Expr:
    y = sg.parse(case.program)["y"]
    verbs: dict[str, Callable[[sg.Expr, str], sg.Expr]] = {
        "grad": sg.grad,
        "hessian": sg.hessian,
        "jacobian": sg.jacobian,
    }
    return verbs[case.verb](y, case.by)


def _before(case: _Case) -> sg.Expr:
    """Return the formula of which the derivative is the Jacobian."""
    y = sg.parse(case.program)["y"]
    return sg.grad(y, case.by) if case.verb == "hessian" else y


@pytest.mark.parametrize("name", CASES)
def test_printed_form(name: str) -> None:
    case = CASES[name]
    assert str(_derivative(case)) == case.printed


@pytest.mark.parametrize("name", CASES)
def test_printed_form_reads_back_as_the_same_derivative(name: str) -> None:
    case = CASES[name]
    found = sg.verify(_before(case), case.by, str(_derivative(case)))
    assert found.status == ("proved" if case.proved else "supported")


@pytest.mark.parametrize("name", CASES)
def test_printed_form_has_the_values_of_differences(name: str) -> None:
    case = CASES[name]
    read = sg.parse(f"{case.program}\nread = {_derivative(case)}")["read"]
    before = _before(case)
    rng = np.random.default_rng(7)
    point: dict[str, Any] = {
        str(s): rng.uniform(0.5, 1.5, tuple(k if isinstance(k, int) else 3 for k in s.shape))
        for s in sg.parse(case.program)["y"].inputs
    }
    x, step = point[case.by], 1e-6
    expected = np.empty((*np.shape(before(**point)), *x.shape))
    for at in np.ndindex(*x.shape):
        moved = np.zeros(x.shape)
        moved[at] = step
        up, down = (np.asarray(before(**{**point, case.by: x + sign * moved})) for sign in (1, -1))
        expected[(..., *at)] = (up - down) / (2 * step)
    values = np.broadcast_to(np.asarray(read(**point)), expected.shape)
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6)


def test_matrices_of_entries_in_latex() -> None:
    assert _derivative(CASES["Hessian of entries"]).latex() == (
        r"\begin{pmatrix} 2 v_{1} & 2 v_{0} & 0 \\ 2 v_{0} & 0 & 0 \\ 0 & 0 & 6 v_{2} \end{pmatrix}"
    )


def test_long_matrices_in_latex_have_no_names_for_rows() -> None:
    assert "broadcast" not in _derivative(CASES["kinetics"]).latex()


@pytest.mark.parametrize(
    ("formula", "guarded"),
    [
        ("where(c != 0, c/u, 0) - x/u", False),
        ("where(c != 0, c/u, 0) - x", True),  # where u and c are zero, c/u has no value
        ("where(c != 0, c*log(u), 0) - x/u", True),  # where u is negative, log(u) has no value
        (
            "where(c != 0, c*sum(1/z), 0) - x/z",
            True,
        ),  # an entry of x/z says nothing of the other entries of z
    ],
)
def test_guards_stay_where_a_plain_product_has_no_value(formula: str, guarded: bool) -> None:
    y = sg.parse(f"c, x, z : real[3]\nu : real\ny = {formula}")["y"]
    assert ("where" in str(y.simplify())) == guarded


SHIFTED = "X : real[n, 5]; W : real[5, 3]; y : real[n, 3]\nz = X@W\ns = z - max(z, axis=1, keepdims=True)\n"


def test_softmax_with_the_largest_entry_taken_off_has_no_derivative_by_that_entry() -> None:
    """Rows of a fixed length have a largest entry, so its derivative, which is zero, may be left out."""
    p = sg.parse(f"{SHIFTED}L = -mean(sum((s - log(sum(exp(s), axis=1, keepdims=True)))*y, axis=1))")
    assert str(sg.grad(p["L"], "W")).splitlines() == [
        "X.T@dL_ds",
        "where",
        "  dL_ds = (sum(y, axis=1, keepdims=True)*exp(s)/sum(exp(s), axis=1, keepdims=True) - y)/n",
    ]


def test_lines_behind_it_have_none_either() -> None:
    deep = SHIFTED.replace("z = X@W", "h = tanh(X@W)\nV : real[3, 3]\nz = h@V")
    p = sg.parse(f"{deep}L = -mean(sum((s - log(sum(exp(s), axis=1, keepdims=True)))*y, axis=1))")
    text = str(sg.grad(p["L"], "W"))
    assert "where(" not in text
    assert "max(" not in text
    assert "exp(s)" in text
    assert sg.verify(p["L"], "W", sg.parse(f"{p}\n{text}").last).status in ("proved", "supported")


def test_a_condition_that_is_read_twice_is_a_line() -> None:
    p = sg.parse(f"{SHIFTED}L = sum(log(sum(exp(s), axis=1)))")
    assert "t1 = z == max(z, axis=1, keepdims=True)" in str(sg.grad(p["L"], "W"))
