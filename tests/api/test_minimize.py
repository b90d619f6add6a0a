"""minimize: SciPy's methods on the compiled loss, bounds from domains, and what is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.training import scipy_methods as searches
from symgrad.api.training.scipy_methods import READS
from symgrad.errors import MissingInputError, NotScalarError, ShapeError, UsageError
from symgrad.ir import bounds

A, B = sg.symbols("a b")
ROSENBROCK = (1 - A) ** 2 + 5 * (B - A**2) ** 2

X = sg.tensor("X", ("n", 3))
W, C = sg.tensor("w", (3, 1)), sg.tensor("c", (1,))
Y = sg.tensor("y", ("n", 1))
LEAST = ((X @ W + C - Y) ** 2).mean()
RNG = np.random.default_rng(7)
DATA = {"X": RNG.normal(size=(20, 3)), "y": RNG.normal(size=(20, 1))}
START = {"w": np.zeros((3, 1)), "c": [0.0]}
SOLUTION = np.linalg.lstsq(np.hstack([DATA["X"], np.ones((20, 1))]), DATA["y"], rcond=None)[0]


@pytest.mark.parametrize("method", [None, *READS])
def test_every_method_finds_the_valley(method: str | None) -> None:
    options: dict[str, Any] = {"tol": 1e-6, "options": {"maxiter": 20000}} if method == "cobyla" else {}
    found = sg.minimize(ROSENBROCK, [A, "b"], {"a": -1.0, "b": 1.0}, method=method, **options)
    assert found.success, found.message
    np.testing.assert_allclose([found["a"], found["b"]], [1, 1], atol=5e-3)
    assert found.value == found.scipy.fun < 1e-5
    assert set(found.solution) == {"a", "b"}


@pytest.mark.parametrize(
    "method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-exact", "trust-krylov", "trust-constr"]
)
def test_arrays_keep_their_shapes(method: str) -> None:
    found = sg.minimize(LEAST, [W, C], START, DATA, method=method)
    assert found["w"].shape == (3, 1)
    assert found["c"].shape == (1,)
    np.testing.assert_allclose(np.ravel([*found["w"][:, 0], *found["c"]]), SOLUTION[:, 0], atol=1e-4)


def test_one_variable_and_the_others_as_data() -> None:
    w1, w2, w3 = (sg.tensor(name, (3, 1)) for name in ("w1", "w2", "w3"))
    loss = ((X @ w1 - X @ (w2 * w3)) ** 2).mean()
    data = {"X": DATA["X"], "w2": RNG.normal(size=(3, 1)), "w3": RNG.normal(size=(3, 1))}
    found = sg.minimize(loss, over=[w1], start={"w1": np.ones((3, 1))}, data=data)
    np.testing.assert_allclose(found["w1"], data["w2"] * data["w3"], atol=1e-4)
    stopped = ((X @ w1 - sg.stop_gradient(X @ (w2 * w3))) ** 2).mean()
    assert [g.nothing for g in sg.grad(stopped, [w1, w2, w3])] == [None, "stopped", "stopped"]
    again = sg.minimize(stopped, over="w1", start={"w1": np.ones((3, 1))}, data=data)
    np.testing.assert_allclose(again["w1"], found["w1"], atol=1e-6)


def test_data_of_the_program_that_the_loss_does_not_need_is_no_mistake() -> None:
    p = sg.parse("x : real\nunread : real\ny = (x - 1)**2")
    assert sg.minimize(p["y"], "x", {"x": 0}, {"unread": 3}).success


# -- bounds ------------------------------------------------------------------------------------------------------


def test_domains_are_bounds() -> None:
    p, q = sg.symbols("p", "positive"), sg.symbols("q", "real(0, 1)")
    found = sg.minimize(p + q**2 - 3 * q, [p, q], {"p": 1.0, "q": 0.5})
    assert found.success
    assert 0 < found["p"] < 1e-15
    assert 0.999 < found["q"] < 1


@pytest.mark.parametrize("start", [0.1, 0.5, 3.0, 30.0])
def test_a_slope_without_limit_at_the_end_of_a_domain_is_no_trap(start: float) -> None:
    p = sg.tensor("p", (2,), "positive")
    for loss in (sg.sum(p - sg.log(p)), sg.sum(p + 1 / p)):
        found = sg.minimize(loss, p, {"p": [start, 2.0]}, options={"maxiter": 1000})
        np.testing.assert_allclose(found["p"], 1, atol=1e-3)


def test_a_method_without_bounds_says_when_it_has_left() -> None:
    p = sg.symbols("p", "positive")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sg.minimize((p + 1) ** 2, p, {"p": 1.0}, method="BFGS")
    assert not found.success
    assert found.scipy.success
    assert "Outside its domain: p" in found.message
    assert sg.minimize((p - 2) ** 2, p, {"p": 1.0}, method="BFGS").success


def test_options_reach_scipy() -> None:
    seen: list[Any] = []
    found = sg.minimize(ROSENBROCK, [A, B], {"a": 0, "b": 0}, options={"maxiter": 2}, callback=seen.append)
    assert (found.success, len(seen)) == (False, 2)
    sloppy = sg.minimize(ROSENBROCK, [A, B], {"a": 0, "b": 0}, tol=10.0)
    assert sloppy.scipy.nit < 5
    line = {"type": "eq", "fun": lambda v: v[0] + v[1] - 1}
    on = sg.minimize(A**2 + B**2, [A, B], {"a": 3, "b": 0}, constraints=line)
    np.testing.assert_allclose([on["a"], on["b"]], [0.5, 0.5], atol=1e-8)


# -- many variables ----------------------------------------------------------------------------------------------


def test_many_variables_take_no_square_matrices() -> None:
    n = 1_000_000
    x, t = sg.tensor("x", ("n",)), sg.tensor("t", ("n",))
    goal = np.linspace(-1, 1, n)
    found = sg.minimize(sg.sum((x - t) ** 2 + (x - t) ** 4), x, {"x": np.zeros(n)}, {"t": goal})
    assert found.success
    np.testing.assert_allclose(found["x"], goal, atol=1e-3)


@pytest.mark.parametrize(("size", "keeps"), [(1_000, True), (1_001, False)])
def test_the_default_keeps_a_square_matrix_for_few_variables(size: int, keeps: bool) -> None:
    x = sg.tensor("x", ("n",))
    found = sg.minimize(sg.sum(x**2), x, {"x": np.ones(size)})
    assert found.success
    assert isinstance(found.scipy.get("hess_inv"), np.ndarray) == keeps


@pytest.mark.parametrize(
    "method", ["bfgs", "SLSQP", "dogleg", "trust-exact", "powell", "Nelder-Mead", "COBYLA", "cobyqa"]
)
def test_a_method_that_needs_more_memory_than_there_is_says_so(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "main_memory", lambda: 10**6)
    x = sg.tensor("x", ("n",))
    with pytest.raises(UsageError, match=f"{method.lower()} of 1,000 variables takes 0 GiB") as caught:
        sg.minimize(sg.sum(x**2), x, {"x": np.ones(1_000)}, method=method)
    assert "l-bfgs-b" in (caught.value.cure or "")
    assert sg.minimize(sg.sum(x**2), x, {"x": np.ones(1_000)}, method="l-bfgs-b").success
    monkeypatch.setattr(searches, "main_memory", lambda: None)
    assert searches.choose_method(method.lower(), 10**6, bounds=False, constraints=False) == method.lower()


def test_constraints_on_many_variables_have_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "main_memory", lambda: 10**6)
    x = sg.tensor("x", ("n",))
    line = {"type": "eq", "fun": lambda v: v[0] - 1}
    with pytest.raises(UsageError, match="slsqp of 1,000 variables") as caught:
        sg.minimize(sg.sum(x**2), x, {"x": np.ones(1_000)}, constraints=line)
    assert caught.value.cure == "method='trust-constr'"


def test_the_memory_of_this_machine_is_known() -> None:
    memory = bounds.main_memory()
    assert memory is not None
    assert 2**26 < memory < 2**60


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sg.minimize(X @ W, W, START), NotScalarError, "sum or mean"),
        (lambda: sg.minimize(LEAST, [], START, DATA), UsageError, "nothing to minimise over"),
        (lambda: sg.minimize(LEAST, [X @ W], START, DATA), UsageError, "cannot minimise over"),
        (lambda: sg.minimize(LEAST, [W, W], START, DATA), UsageError, "twice"),
        (lambda: sg.minimize(A**2, B, {"b": 1}), UsageError, "does not depend on b"),
        (lambda: sg.minimize(LEAST, [W, C], START, {"X": DATA["X"]}), MissingInputError, "no data for y"),
        (lambda: sg.minimize(LEAST, [W, C], {"w": 0}, DATA), MissingInputError, "no start for c"),
        (lambda: sg.minimize(LEAST, W, START, DATA), MissingInputError, "not minimised over"),
        (lambda: sg.minimize(A**2, A, {"a": 1}, {"a": 1}), MissingInputError, "in start and in data"),
        (lambda: sg.minimize(A**2, A, {}, {"a": 1}), MissingInputError, "minimised over"),
        (lambda: sg.minimize(A**2, A, {"a": 1}, {"q": 1}), MissingInputError, "no input of the loss"),
        (lambda: sg.minimize(A**2, A, {"a": [1.0, 2.0]}), ShapeError, "of one a"),
        (
            lambda: sg.minimize(LEAST, [W, C], {**START, "w": np.zeros(3)}, DATA),
            ShapeError,
            r"w : real\[3, 1\]",
        ),
        (lambda: sg.minimize(A**2, A, {"a": 1}, method="bgfs"), UsageError, "did you mean 'bfgs'"),
        (lambda: sg.minimize(A**2, A, {"a": 1}, bounds=[(0, 1)]), UsageError, "declare bounds as domains"),
        (lambda: sg.minimize(A**2, A, {"a": 1}, jac=True), UsageError, "no option 'jac'"),
    ],
)
def test_refusals(call: Callable[[], Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_start_outside_its_domain_is_refused() -> None:
    p = sg.symbols("p", "positive")
    for value in (-1.0, 0.0, np.nan):
        with pytest.raises(UsageError, match="outside its domain, positive"):
            sg.minimize((p - 1) ** 2, p, {"p": value})


def test_values_come_by_name() -> None:
    w = sg.tensor("w", (2,))
    with pytest.raises(UsageError, match="start is of type ndarray") as caught:
        sg.minimize(sg.sum(w**2), over=w, start=np.ones(2))  # type: ignore[arg-type]
    assert caught.value.cure == "pass start={'w': ...}"
    with pytest.raises(UsageError, match="data is of type list"):
        sg.minimize(sg.sum(w**2), over=w, start={"w": [1, 1]}, data=[1.0])  # type: ignore[arg-type]


def test_arrays_without_entries_are_nothing_to_minimise_over() -> None:
    x = sg.tensor("x", ("n",))
    with pytest.raises(UsageError, match="x has no entries"):
        sg.minimize(sg.sum(x**2), over=x, start={"x": np.zeros(0)})
