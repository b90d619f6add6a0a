"""minimize says what it established: minima, saddle points left behind, and the same in every unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.training.scipy_methods import READS
from symgrad.api.training.stationary_points import Landscape, classify_end
from symgrad.nn import relu

X, Y = sg.symbols("x y")
VALLEY = (X - 3) ** 2 + (X * Y - 1) ** 2
FACTORS = [1e-30, 1e-20, 1e-9, 1.0, 1e9, 1e20, 1e30]


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(
    ("loss", "start", "expected"),
    [
        ((X - 3) ** 2, {"x": 0.0}, {"x": 3.0}),
        (VALLEY, {"x": 0.0, "y": 0.0}, {"x": 3.0, "y": 1 / 3}),
        (X**4 - X**2, {"x": 0.0}, {"x": 0.5**0.5}),
        (X**2 - Y**2 + Y**4, {"x": 1.0, "y": 0.0}, {"x": 0.0, "y": 0.5**0.5}),
        (sg.cos(X), {"x": 0.0}, {"x": np.pi}),
        ((X - 3) ** 2 + 5, {"x": 3 + 1e-9}, {"x": 3.0}),
    ],
)
def test_the_unit_of_the_loss_does_not_matter(
    factor: float, loss: sg.Expr, start: dict[str, float], expected: dict[str, float]
) -> None:
    found = sg.minimize(factor * loss, list(start), start)
    assert found.established == "minimum"
    assert found.success
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("first", [1e-10, 1.0, 1e10])
@pytest.mark.parametrize("second", [1e-10, 1.0, 1e10])
def test_the_units_of_the_variables_do_not_matter(first: float, second: float) -> None:
    u, v = first * X, second * Y
    loss = (u - 3) ** 2 + (v - u) ** 2 + (u * v - 9) ** 2
    found = sg.minimize(loss, [X, Y], {"x": 0.0, "y": 0.0})
    assert found.established == "minimum"
    assert [first * found["x"], second * found["y"]] == pytest.approx([3.0, 3.0], rel=1e-5)


@pytest.mark.parametrize("method", READS)
def test_every_method_leaves_a_saddle_point(method: str) -> None:
    found = sg.minimize(X**2 - Y**2 + Y**4, [X, Y], {"x": 0.0, "y": 0.0}, method=method)
    assert found.established == "minimum"
    assert abs(found["y"]) == pytest.approx(0.5**0.5, rel=1e-4)
    assert found.value == found.scipy.fun == pytest.approx(-0.25)


def test_a_stop_at_a_saddle_point_is_called_one() -> None:
    def ends(loss: sg.Expr, over: list[sg.Expr]) -> Any:
        names = [str(e.name) for e in over]
        grads, matrix = sg.grad(loss, over), sg.hessian(loss, over)

        def both(z: Any) -> Any:
            values = dict(zip(names, z, strict=True))
            return float(loss(**values)), np.array([float(g(**values)) for g in grads])

        def product(z: Any, d: Any) -> Any:
            values = dict(zip(names, z, strict=True))
            return np.array([[float(h(**values)) for h in row] for row in matrix]) @ d

        end = np.full(len(over), np.inf)
        start = np.zeros(len(over))
        landscape = Landscape(both, product, -end, end, start, both(start)[0])
        return classify_end(landscape, start, go_on=False, trusted=False).established

    assert ends(X**2 - Y**2 + X * Y, [X, Y]) == "saddle"
    assert ends(-(X**2) - Y**2, [X, Y]) == "maximum"
    assert ends(-(X**2), [X]) == "maximum"
    assert ends(X**2 + Y**2, [X, Y]) == "minimum"
    assert ends(X**2 + Y**4, [X, Y]) == "no lower value"
    assert ends(X + Y**2, [X, Y]) == "nothing"


@pytest.mark.parametrize(
    ("loss", "start", "established"),
    [
        (X**4, 0.0, "no lower value"),  # no curvature, and nothing lower
        (X**4, 1.0, "minimum"),
        (X**3, 0.0, "nothing"),  # it falls for ever
        (-(X**4), 0.0, "nothing"),
        (X, 0.0, "nothing"),
        (sg.exp(-X), 0.0, "no lower value"),  # it falls until it underflows
        (X**6 - X**4, 0.0, "minimum"),  # no curvature, and lower values beside it
        (sg.abs(X - 1), 0.3, "no lower value"),  # a kink
        (relu(X) + relu(1 - X), 0.5, "no lower value"),
    ],
)
def test_points_without_curvature_and_kinks(loss: sg.Expr, start: float, established: str) -> None:
    found = sg.minimize(loss, X, {"x": start})
    assert found.established == established
    assert found.success == (established != "nothing")


def test_a_valley_of_minima_is_no_isolated_minimum() -> None:
    found = sg.minimize((X * Y - 1) ** 2, [X, Y], {"x": 2.0, "y": 1.0})
    assert found.established == "no lower value"
    assert found["x"] * found["y"] == pytest.approx(1.0)


# -- ends of domains -----------------------------------------------------------------------------------------------


def test_a_maximum_at_the_end_of_a_domain_is_left() -> None:
    p = sg.symbols("p", "nonnegative")
    found = sg.minimize((p**2 - 1) ** 2, p, {"p": 0.0})
    assert (found["p"], found.established) == (pytest.approx(1.0, rel=1e-5), "minimum")


def test_the_end_of_a_domain_that_holds_a_variable_is_a_minimum() -> None:
    q = sg.symbols("q", "real(0, 1)")
    found = sg.minimize(-q + (X**2 - 1) ** 2, [q, X], {"q": 0.5, "x": 0.0})
    assert found.established == "minimum"
    assert [found["q"], abs(found["x"])] == pytest.approx([1.0, 1.0])
    held = sg.minimize(1e-20 * (q + 1) ** 2, q, {"q": 0.5})
    assert (held["q"], held.established) == (pytest.approx(0.0, abs=1e-15), "minimum")


# -- what a user asks for ------------------------------------------------------------------------------------------


def test_limits_and_callbacks_end_all_of_it() -> None:
    steps: list[float] = []

    def stop(intermediate_result: Any) -> None:
        steps.append(intermediate_result.fun)
        raise StopIteration

    loss = 1e20 * VALLEY
    found = sg.minimize(loss, [X, Y], {"x": 0.0, "y": 0.0}, callback=stop)
    assert (found.established, len(steps)) == ("nothing", 1)
    assert steps[0] == pytest.approx(found.value)  # in the unit of the loss
    limited = sg.minimize(loss, [X, Y], {"x": 0.0, "y": 0.0}, options={"maxiter": 1})
    assert (limited.established, limited.scipy.nit) == ("nothing", 1)


def test_a_tolerance_of_the_user_is_kept_and_a_saddle_point_is_left() -> None:
    rough = sg.minimize(VALLEY, [X, Y], {"x": 1.0, "y": 1.0}, tol=0.3)
    fine = sg.minimize(VALLEY, [X, Y], {"x": 1.0, "y": 1.0})
    assert rough.success
    assert rough.value > 1e3 * fine.value
    assert sg.minimize(X**4 - X**2, X, {"x": 0.0}, tol=1e-3).value == pytest.approx(-0.25, abs=1e-3)


def _on_a_line(v: Any) -> Any:
    return v[0] + v[1] - 1


def test_constraints_leave_curvature_unknown() -> None:
    line: dict[str, Any] = {"type": "eq", "fun": _on_a_line}
    found = sg.minimize(1e-20 * (X**2 + Y**2), [X, Y], {"x": 3.0, "y": 0.0}, constraints=line)
    assert (found.established, found.success) == ("stationary", True)
    assert [found["x"], found["y"]] == pytest.approx([0.5, 0.5])


def test_a_saddle_point_among_many_variables_is_left() -> None:
    z = sg.tensor("z", ("n",))
    start = np.zeros(2_000)
    found = sg.minimize(sg.sum(z**4) / 4 - sg.sum(z**2) / 2, z, {"z": start})
    assert found.established == "no lower value"  # not every curvature is known
    np.testing.assert_allclose(np.abs(found["z"]), 1.0, atol=1e-5)


def test_results_of_scipy_are_in_the_unit_of_the_loss() -> None:
    found = sg.minimize(1e20 * VALLEY, [X, Y], {"x": 1.0, "y": 1.0})
    exact = np.linalg.inv(np.array([[2 + 2 / 9, 2 / 3 * 3 - 0], [2.0, 18.0]]))
    assert np.linalg.norm(found.scipy.hess_inv * 1e20 - exact) < 0.5 * np.linalg.norm(exact)
    simplex = sg.minimize(1e20 * VALLEY, [X, Y], {"x": 1.0, "y": 1.0}, method="Nelder-Mead")
    points, values = simplex.scipy.final_simplex
    assert values[0] == pytest.approx(1e20 * float(VALLEY(x=points[0][0], y=points[0][1])))
