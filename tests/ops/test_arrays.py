"""Every array op: value against mpmath, both modes against differences and each other, second order, shapes, sizes."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import linalg

from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.vjp import pull_back
from symgrad.errors import ArrayTypeError, DomainError, IndexRangeError, ShapeError, UsageError
from symgrad.ir.graph import OPS, Node, symbol
from symgrad.ir.sizes import evaluate_size, size_sum
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import INT, Declaration
from symgrad.ir.values.evaluate import evaluate, evaluate_mp
from symgrad.ops.array.contraction import contract
from symgrad.ops.array.layout import WHOLE, slice_rows, unslice
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import products
from symgrad.ops.numpy.subscripts import index, take_along_axis
from tests.arrays import PROGRAMS, SIZES, random_value, symbol_of

every_program = pytest.mark.parametrize("name", PROGRAMS)
every_size = pytest.mark.parametrize("sizes", SIZES, ids=str)


def values_for(nodes: list[Node], sizes: Any, seed: int = 0) -> dict[Node, Any]:
    """Return arrays for the symbols of some nodes, and for one that binds every name."""
    rng = np.random.default_rng(seed)
    binder = symbol_of("binder", *sizes)
    return {s: random_value(s, sizes, rng) for s in [*symbols_of(nodes), binder]}


def test_every_array_op_has_a_program() -> None:
    used = {n.op.name for make in PROGRAMS.values() for n in topological([make()])}
    assert {op.name for op in OPS.values() if not op.pointwise} <= used


@every_program
@every_size
def test_the_value_has_the_shape_and_is_exact(name: str, sizes: Any) -> None:
    node = PROGRAMS[name]()
    values = values_for([node], sizes)
    found = np.asarray(evaluate([node], values)[0], dtype=float)
    assert found.shape == tuple(evaluate_size(s, sizes) for s in node.shape)
    mp = mpmath.mp.clone()
    mp.dps = 30
    exact = {
        s: np.vectorize(lambda x, s=s: int(x) if s.dtype == "int" else mp.mpf(float(x)), otypes=[object])(v)
        if np.ndim(v)
        else mp.mpf(float(v))
        for s, v in values.items()
    }
    reference = evaluate_mp(mp, [node], exact)[0]
    np.testing.assert_allclose(found, np.asarray(reference, dtype=float), rtol=1e-13, atol=1e-13)


@every_program
@every_size
def test_both_modes_agree_with_differences_to_second_order(name: str, sizes: Any) -> None:
    node = PROGRAMS[name]()
    assert _checked(node, sizes, order=2) > 0 or name == "argmax"


def _checked(node: Node, sizes: Any, order: int) -> int:
    """Compare pull_back and push_forward with central differences and each other; count the comparisons."""
    seed = symbol_of(f"seed{order}", *node.shape)
    values = values_for([node, seed], sizes, seed=order)
    real = [s for s in symbols_of([node]) if s.dtype == "real" and not s.name.startswith(("seed", "along"))]
    gradients = pull_back([node], [seed], real).gradients
    checked = 0
    for s, gradient in zip(real, gradients, strict=True):
        assert gradient.shape == s.shape
        along = symbol_of(f"along{order}", *s.shape)
        direction = values[along] = values_for([along], sizes, seed=7)[along]
        pulled, pushed = evaluate([gradient, push_forward([node], {s: along})[0]], values)
        step = 1e-6
        above = evaluate([node], {**values, s: values[s] + step * direction})[0]
        below = evaluate([node], {**values, s: values[s] - step * direction})[0]
        slope = float(np.sum((above - below) / (2 * step) * values[seed]))
        backward, forward = float(np.sum(pulled * direction)), float(np.sum(pushed * values[seed]))
        scale = 1 + abs(slope) + float(np.sum(np.abs(pulled)))
        assert abs(backward - slope) < 1e-6 * scale
        assert abs(backward - forward) < 1e-12 * scale
        checked += 1
        if order > 1:
            labels = range(len(s.shape))
            weight = symbol_of("weight", *s.shape)
            checked += _checked(contract([gradient * weight], [labels], ()), sizes, order - 1)
    return checked


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("lead", [(), (2,), (2, 4), (1, 2, 1)], ids=str)
@pytest.mark.parametrize("of", ["expm", "sinm", "cosm"])
@pytest.mark.usefixtures("ends")
def test_functions_of_stacks_of_stacks_of_matrices(of: str, lead: tuple[int, ...], n: int) -> None:
    """Against SciPy's, and the reference too; a matrix that is not finite has none, the others have one."""
    rng = np.random.default_rng(n)
    x, e = rng.normal(size=(2, *lead, n, n))
    if n and lead:
        x[(0,) * len(lead)][0, n - 1] = np.nan
        e[(-1,) * len(lead)][n - 1, 0] = np.inf
    values, slopes = np.full(x.shape, np.nan), np.full(x.shape, np.nan)
    step = 1e-6
    for at in np.ndindex(*lead):
        one = getattr(linalg, of)
        if n and np.isfinite(x[at]).all():
            values[at] = one(x[at])
            if np.isfinite(e[at]).all():
                slopes[at] = (one(x[at] + step * e[at]) - one(x[at] - step * e[at])) / (2 * step)
    mp = mpmath.mp.clone()

    def exact(array: np.ndarray) -> np.ndarray:
        return np.array([*map(mp.mpf, array.flat), None], dtype=object)[:-1].reshape(array.shape)

    for op, args, expected in ((OPS[of], (x,), values), (OPS[f"{of}_frechet"], (x, e), slopes)):
        tolerance = 1e-12 if op is OPS[of] else 1e-7
        found = op.evaluate(*args)
        reference = op.reference(mp, *map(exact, args))
        for got in (found, reference):
            assert np.shape(got) == x.shape
            np.testing.assert_allclose(np.asarray(got, float), expected, rtol=tolerance, atol=tolerance)


NO_ROWS = {"n": 0, "m": 3, "b": 2}
WITHOUT_ROWS = [
    name
    for name in PROGRAMS
    if not any(word in name for word in ("max", "min", "gather", "scatter", "inf", "take", "cross"))
]


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_no_rows_at_all(name: str) -> None:
    node = PROGRAMS[name]()
    values = values_for([node], NO_ROWS)
    value = np.asarray(evaluate([node], values)[0])
    assert value.shape == tuple(evaluate_size(s, NO_ROWS) for s in node.shape)
    seed = symbol_of("seed", *node.shape)
    values[seed] = np.ones(value.shape)
    real = [s for s in symbols_of([node]) if s.dtype == "real"]
    for s, gradient in zip(real, pull_back([node], [seed], real).gradients, strict=True):
        assert np.shape(evaluate([gradient], values)[0]) == np.shape(values[s])


X, V = symbol_of("X", "n", 3), symbol_of("v", 3)


class TestKinks:
    def test_ties_share_the_derivative(self) -> None:
        node = build.reduce_axes("max", V)
        (gradient,) = pull_back([node], [_one()], [V]).gradients
        assert list(evaluate([gradient], {V: np.array([2.0, 2.0, 1.0])})[0]) == [0.5, 0.5, 0.0]

    def test_the_norm_has_derivative_zero_at_zero(self) -> None:
        (gradient,) = pull_back([build.vector_norm(V)], [_one()], [V]).gradients
        assert list(evaluate([gradient], {V: np.zeros(3)})[0]) == [0, 0, 0]

    @pytest.mark.parametrize("point", [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    def test_products_with_zeros_are_exact_to_second_order(self, point: list[float]) -> None:
        node = build.reduce_axes("prod", V)
        (gradient,) = pull_back([node], [_one()], [V]).gradients
        at = {V: np.array(point)}
        a, b, c = point
        assert list(evaluate([gradient], at)[0]) == [b * c, a * c, a * b]
        second = [
            list(evaluate([pull_back([index(gradient, i)], [_one()], [V]).gradients[0]], at)[0])
            for i in range(3)
        ]
        assert second == [[0, c, b], [c, 0, a], [b, a, 0]]

    def test_softmax_takes_large_numbers(self) -> None:
        at = {V: np.array([1000.0, 999.0, -1000.0])}
        s, total, logs = evaluate(
            [
                build.over_axes("softmax", V),
                build.reduce_axes("logsumexp", V),
                build.over_axes("log_softmax", V),
            ],
            at,
        )
        assert s[0] + s[1] == pytest.approx(1)
        assert total == pytest.approx(1000.3132616875182)
        assert logs[2] == pytest.approx(-2000.3132616875182)

    def test_the_norm_neither_overflows_nor_vanishes(self) -> None:
        for scale in (1e200, 1e-200, 1.0):
            assert evaluate([build.vector_norm(V)], {V: scale * np.array([3.0, 0.0, 4.0])})[0] == 5 * scale


def _one() -> Node:
    return build.as_node(1)


class TestRefusals:
    def test_contracted_sizes_must_agree(self) -> None:
        with pytest.raises(ShapeError, match=r"@ of arrays of shapes \(n, 3\) and \(n, 3\): 3 is not n"):
            products.matmul(X, X)

    def test_named_sizes_do_not_stretch(self) -> None:
        with pytest.raises(ShapeError, match="sizes n and m do not broadcast"):
            _ = X + symbol_of("Y", "m", 3)

    def test_a_size_has_one_value(self) -> None:
        with pytest.raises(ShapeError, match=r"size n is 2 in 'X' of shape .* and 4 in 'w'"):
            evaluate(
                [products.matmul(symbol_of("w", "n"), X)],
                {X: np.ones((2, 3)), symbol_of("w", "n"): np.ones(4)},
            )

    def test_arrays_of_another_rank_are_refused(self) -> None:
        with pytest.raises(ShapeError, match=r"'X' has shape \(3,\)"):
            evaluate([build.total(X)], {X: np.ones(3)})

    @pytest.mark.parametrize("at", [3, -4, 100])
    def test_positions_outside_the_axis(self, at: int) -> None:
        ids = symbol_of("ids", 2, domain=INT)
        with pytest.raises(IndexRangeError, match=f"index {at} is out of range for an axis of length 3"):
            evaluate([index(V, ids)], {V: np.ones(3), ids: np.array([0, at])})

    @pytest.mark.parametrize("axis", [0, 1])
    def test_positions_along_an_axis_fit_the_others(self, axis: int) -> None:
        sizes = "n and 2" if axis == 1 else "3 and 2"
        with pytest.raises(ShapeError, match=f"^sizes {sizes} do not broadcast"):
            take_along_axis(X, symbol_of("ids", 2, 2, domain=INT), axis)

    def test_positions_must_be_whole(self) -> None:
        with pytest.raises(DomainError, match="a subscript of kind real"):
            index(V, symbol_of("r", 2))
        with pytest.raises(ArrayTypeError, match="not a whole number"):
            OPS["gather"].evaluate((0,), np.ones(3), np.array([0.5]))

    def test_the_largest_of_nothing(self) -> None:
        with pytest.raises(ShapeError, match="max of no elements"):
            evaluate([build.reduce_axes("max", X, 0)], {X: np.ones((0, 3))})
        with pytest.raises(ShapeError, match="no elements does not exist"):
            build.reduce_axes("max", symbol_of("Z", 0))

    def test_reshape_keeps_the_elements(self) -> None:
        with pytest.raises(ShapeError, match=r"has 3\*n elements, one of shape \(n, 2\) has 2\*n"):
            build.reshaped(X, ("n", 2))
        with pytest.raises(ShapeError, match="a size that divides"):
            build.reshaped(X, (-1, 2))

    def test_arity_of_variadic_ops(self) -> None:
        with pytest.raises(UsageError, match="concatenate takes 1 arguments or more, got 0"):
            OPS["concatenate"](params=(0,))


@pytest.mark.parametrize("begin", range(6))
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("ends", [(0, 3), (2, 6), (3, 4), (1, None), (None, 5)])
def test_a_slice_of_few_rows_has_all_of_them_or_none(
    begin: int, rows: int, ends: tuple[int | None, int | None]
) -> None:
    x = symbol(Declaration("x", shape=(rows, 2)))
    if begin + rows > 6:
        return
    whole = unslice(x, params=(((begin, begin + rows, 1), WHOLE), (6, 2)))
    values = {x: np.arange(1.0, 1 + 2 * rows).reshape(rows, 2)}
    found, expected = evaluate([slice_rows(whole, *ends), whole], values)
    np.testing.assert_array_equal(found, expected[slice(*ends)])


def test_a_slice_of_few_rows_whose_place_is_a_size() -> None:
    last = unslice(symbol(Declaration("x", shape=(1,))), params=((("n", None, 1),), (size_sum(["n", 1]),)))
    assert slice_rows(last, None, "n").op.name == "broadcast_to"  # zeros
    assert slice_rows(last, 1, None).op.name == "slice"  # for n = 0 there is no row left
