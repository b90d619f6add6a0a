"""logcumsumexp, of which its record and the checker's rows are all that there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError, UnsupportedError

INF = np.inf
TEXT = "x : real[n]; A : real[n, m]\ny = logcumsumexp(x)\nz = logcumsumexp(A, axis=1)\ns = sum(z**2)"
A = np.random.default_rng(0).normal(size=(3, 5)) * 3


def program() -> Any:
    return sg.parse(TEXT)


def slopes(f: Any, x: Any, step: float = 1e-6) -> Any:
    """Return differences: of each entry of the result by each of x, the latter last."""
    units = np.eye(x.size).reshape(-1, *x.shape)
    return np.moveaxis(np.array([(f(x + step * u) - f(x - step * u)) / (2 * step) for u in units]), 0, -1)


def running(x: Any) -> Any:
    return np.array([np.logaddexp.reduce(x[: i + 1]) for i in range(len(x))])


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1000.0, 1000.0], [1000, 1000 + np.log(2)]),
        ([-1000.0, 1000.0, 3.0], [-1000, 1000, 1000]),
        ([-1e4, -1e4], [-1e4, -1e4 + np.log(2)]),
        ([-INF, 0.0, -INF], [-INF, 0, 0]),
        ([-INF, -INF], [-INF, -INF]),
        ([INF, 1.0, -INF], [INF, INF, INF]),
        ([1.0, np.nan, 2.0], [1, np.nan, np.nan]),
        ([], []),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_large_and_infinite_entries(x: list[float], expected: list[float], dtype: Any) -> None:
    y, given = program()["y"], np.array(x, dtype)
    precise = 1e-6 if dtype == "float32" else 1e-15
    for found in (sg.compile(y, dtype=dtype)(given), y(x=given)):
        np.testing.assert_allclose(found, np.array(expected), rtol=precise)


def test_kernels_agree_with_one_sum_for_each_entry() -> None:
    z, x = program()["z"], np.random.default_rng(1).normal(size=(4, 100)) * 30
    expected = np.array([running(row) for row in x])
    np.testing.assert_allclose(sg.compile(z)(x), expected, rtol=1e-14)
    np.testing.assert_allclose(
        sg.compile(sg.parse("A : real[n, m]; z = logcumsumexp(A, axis=0)")["z"])(x.T), expected.T
    )


def test_how_it_is_written() -> None:
    p = program()
    assert str(p["z"]) == "logcumsumexp(A, axis=1)"
    assert sg.parse(f"x : real[n]; y = {p['y']}")["y"].node is p["y"].node
    assert p["z"].latex() == r"\operatorname{logcumsumexp}_{1}\left(A\right)"
    assert p["y"].latex() == r"\operatorname{logcumsumexp}\left(x\right)"
    flat = sg.parse("A : real[2, 3]; y = logcumsumexp(A)")["y"]
    assert flat.shape == (6,)
    with pytest.raises(ShapeError, match="axis 2"):
        sg.parse("A : real[2, 3]; y = logcumsumexp(A, axis=2)")


def test_numpy_source_has_its_values() -> None:
    p = program()
    (gradient,) = sg.gradients(p["s"], ["A"])
    for e in (p["z"], gradient):
        made: dict[str, Any] = {}
        exec(e.numpy_source(), made)
        np.testing.assert_allclose(made["f"](A), e(A=A), rtol=1e-13)


@pytest.mark.parametrize(
    ("framework", "call"),
    [
        ("jax", "jax.lax.cumlogsumexp(A, axis=1)"),
        ("torch", "torch.logcumsumexp(A, dim=1)"),
        ("tensorflow", "tf.math.cumulative_logsumexp(A, axis=1)"),
        ("keras", "ops.associative_scan(ops.logaddexp, A, axis=1)"),
    ],
)
def test_source_of_frameworks(framework: Any, call: str) -> None:
    assert call in program()["z"].framework_source(framework)


def test_gradients_of_both_orders() -> None:
    p = program()
    (gradient,) = sg.gradients(p["s"], ["A"])
    value = sg.compile(p["s"])
    np.testing.assert_allclose(sg.compile(gradient)(A).ravel(), slopes(value, A), rtol=1e-6, atol=1e-7)
    q = sg.parse("x : real[4]\nq = sum(logcumsumexp(x)**3)")["q"]
    x = np.array([0.3, -1, 2, 0.5])
    first = sg.compile(sg.gradients(q, ["x"])[0])
    np.testing.assert_allclose(sg.compile(sg.hessian(q, "x"))(x), slopes(first, x), rtol=1e-6, atol=1e-6)
    far = np.array([1000.0, -1000, 3, 2000])
    np.testing.assert_allclose(first(far), [9e6, 0, 0, 12e6])
    np.testing.assert_allclose(sg.compile(sg.hessian(q, "x"))(far), np.diag([18e3, 0, 0, 12e3]))


def test_gradient_beside_masked_entries() -> None:
    p = sg.parse("x : real[n]; w : real[n]\nq = sum(w*logcumsumexp(x))")
    gradient = sg.compile(sg.gradients(p["q"], ["x"])[0], ["w", "x"])
    found = gradient(np.array([0.0, 1, 2]), np.array([-INF, 0, np.log(2)]))
    np.testing.assert_allclose(found, [0, 1 + 2 / 3, 4 / 3])


def test_jacobians() -> None:
    p = program()
    batched = sg.compile(sg.batch_jacobian(p["z"], "A"))(A)
    np.testing.assert_allclose(batched, [slopes(running, row) for row in A], atol=1e-8)
    np.testing.assert_allclose(sg.compile(sg.jacobian(p["y"], "x"))(A[0]), slopes(running, A[0]), atol=1e-8)
    with pytest.raises(UnsupportedError, match="rows may depend on each other"):
        sg.batch_jacobian(p["y"], "x")


def test_the_checker_has_rows_of_its_own() -> None:
    y = sg.parse("x : real[3]\ny = logcumsumexp(x)")["y"]
    assert sg.equal(y, "log(cumsum(exp(x), axis=0))").status == "proved"
    assert sg.equal(y, "logcumsumexp(x + 1) - 1").status == "proved"
    assert sg.equal(y, "log(cumsum(exp(x), axis=0, reverse=True))").status == "refuted"


def test_it_is_nowhere_else() -> None:
    root = Path(sg.__file__).parent
    files = {str(f.relative_to(root)) for f in root.rglob("*.py") if "logcumsumexp" in f.read_text("utf-8")}
    # The checker has tables of its own, and importers read the frameworks' functions of that name.
    assert {f for f in files if not f.startswith(("checker", "interop"))} == {str(Path("ops/array/scans.py"))}
