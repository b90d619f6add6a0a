"""The derivative verbs on array programs: against differences, each other, second order, and JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.formatting import format_many
from symgrad.autodiff.jacobians import backwards, forwards
from symgrad.errors import NotDifferentiableError, NotScalarError, ShapeError, UnsupportedError, UsageError
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from tests.arrays import PROGRAMS, SIZES, random_value, symbol_of

SIZE = SIZES[0]


def numbers(shape: Any) -> tuple[int, ...]:
    return tuple(evaluate_size(s, SIZE) for s in shape)


def differences(function: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    """Return the Jacobian of a function of one array by central differences: shape of the value, then of x."""
    x = np.asarray(x, dtype=float)
    columns: list[Any] = []
    for i in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[i] += step
        below[i] -= step
        columns.append((np.asarray(function(above)) - np.asarray(function(below))) / (2 * step))
    shape = np.shape(function(x))
    return (
        np.moveaxis(np.reshape(columns, (*x.shape, *shape)), range(x.ndim), range(-x.ndim, 0))
        if x.ndim
        else columns[0]
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_jacobians_of_every_op_in_both_directions(name: str) -> None:
    node = PROGRAMS[name]()
    rng = np.random.default_rng(11)
    symbols = symbols_of([node])
    binder = symbol_of("binder", *SIZE)
    given = {s: random_value(s, SIZE, rng) for s in [*symbols, binder]}
    for s in symbols:
        if s.dtype != "real":
            continue
        expected = differences(lambda v, s=s: evaluate([node], {**given, s: v})[0], given[s])
        both = *forwards([node], s), *backwards(node, [s])
        for found in both:
            assert found is not None
            assert found.shape == (*node.shape, *s.shape)
            np.testing.assert_allclose(evaluate([found], given)[0], expected, rtol=1e-6, atol=1e-7)


def values_of(*exprs: Any, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {str(i.name): random_value(i.node, SIZE, rng) for e in exprs for i in e.inputs}


X, W, B = sg.tensor("X", ("n", 3)), sg.tensor("W", (3, "m")), sg.tensor("b", ("m",))
H = X @ W + B
Z: Any = np.tanh(H)  # as type checkers see it, NumPy's functions give arrays
Y = sg.tensor("y", ("n", "m"))
LOSS: Any = ((Z - Y) ** 2).mean()
GIVEN = values_of(LOSS, seed=2)


def at(expr: Any, **more: Any) -> Any:
    """Evaluate, with the values that the expression needs of GIVEN and more."""
    known = {**GIVEN, **more}
    return expr(**{str(i.name): known[str(i.name)] for i in expr.inputs})


def moved(expr: Any, x: Any) -> Callable[[Any], Any]:
    return lambda value: at(expr, **{x.name: value})


def test_a_gradient_has_the_shape_of_what_one_differentiates_by() -> None:
    gw, gb, gz = sg.grad(LOSS, [W, B, Z])
    assert (gw.shape, gb.shape, gz.shape) == (W.shape, B.shape, Z.shape)
    np.testing.assert_allclose(at(gw), differences(moved(LOSS, W), GIVEN["W"]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(at(gz), 2 * (at(Z) - GIVEN["y"]) / at(Z).size)
    value, slopes = sg.value_and_grad(LOSS, [W])
    assert value.same(LOSS)
    assert slopes[0].same(gw)


def test_gradients_sum_over_ys() -> None:
    (g,) = sg.gradients(Z, [W])
    np.testing.assert_allclose(at(g), at(sg.jacobian(Z, W)).sum(axis=(0, 1)), rtol=1e-12)
    (g,) = sg.gradients([Z, LOSS], [W], grad_ys=[None, 2])
    expected = at(sg.jacobian(Z, W)).sum(axis=(0, 1)) + 2 * at(sg.grad(LOSS, W))
    np.testing.assert_allclose(at(g), expected, rtol=1e-12)


def test_three_right_ways_to_a_gradient_by_parts_and_the_wrong_one() -> None:
    whole = at(sg.grad(LOSS, W))
    outside = sg.grad(LOSS, H)
    contracted = sg.einsum("nm,nmkl->kl", outside, sg.jacobian(H, W))
    np.testing.assert_allclose(at(contracted), whole, rtol=1e-13)
    np.testing.assert_allclose(at(sg.vjp(H, W, cotangent=outside)), whole, rtol=1e-13)
    parts = np.stack([[at(sg.jacobian(H[i, j], W)) for j in range(3)] for i in range(4)])
    np.testing.assert_allclose(np.einsum("nm,nmkl->kl", at(outside), parts), whole, rtol=1e-13)
    assert sg.gradients(H, W)[0].shape == W.shape  # and not H.shape + W.shape: the axes of h are summed away


def test_vjp_and_jvp_are_transposes() -> None:
    ct, t = sg.tensor("ct", ("n", "m")), sg.tensor("t", (3, "m"))
    more = values_of(ct, t, seed=5)
    pulled = at(sg.vjp(Z, W, ct), **more)
    pushed = at(sg.jvp(Z, W, t), **more)
    np.testing.assert_allclose((pulled * more["t"]).sum(), (pushed * more["ct"]).sum(), rtol=1e-12)
    several = sg.jvp([Z, H], [W, X], [t, 0])
    assert [e.shape for e in several] == [Z.shape, H.shape]
    np.testing.assert_allclose(at(several[0], **more), pushed)
    np.testing.assert_allclose(at(sg.vjp(Z, W, 1)), at(sg.gradients(Z, W)[0]))


def test_hessian_and_hvp() -> None:
    v = sg.tensor("v", (3, "m"))
    more = values_of(v, seed=6)
    H2 = sg.hessian(LOSS, W)
    assert H2.shape == (*W.shape, *W.shape)
    expected = differences(moved(sg.grad(LOSS, W), W), GIVEN["W"])
    np.testing.assert_allclose(at(H2), expected, rtol=1e-6, atol=1e-8)
    product = at(sg.hvp(LOSS, W, v), **more)
    np.testing.assert_allclose(product, np.einsum("abcd,cd->ab", at(H2), more["v"]), rtol=1e-12)
    blocks = sg.hessian(LOSS, [W, B])
    assert [[e.shape for e in row] for row in blocks] == [
        [(3, "m", 3, "m"), (3, "m", "m")],
        [("m", 3, "m"), ("m", "m")],
    ]
    np.testing.assert_allclose(at(blocks[0][1]), np.moveaxis(at(blocks[1][0]), 0, -1), rtol=1e-12)
    both = sg.hvp(LOSS, [W, B], [v, 0])
    np.testing.assert_allclose(at(both[0], **more), product, rtol=1e-12)
    np.testing.assert_allclose(
        at(both[1], **more), np.einsum("acd,cd->a", at(blocks[1][0]), more["v"]), rtol=1e-12
    )


def test_third_derivatives() -> None:
    x = sg.tensor("x", (3,))
    y = sg.sum(sg.exp(x) * sg.sum(x) ** 2)
    third = sg.jacobian(sg.hessian(y, x), x)
    point = np.array([0.3, -0.2, 0.5])
    assert third.shape == (3, 3, 3)
    expected = differences(lambda p: sg.hessian(y, x)(x=p), point)
    np.testing.assert_allclose(third(x=point), expected, rtol=1e-6)
    again = sg.jacobian(sg.jacobian(sg.grad(y, x), x), x)
    np.testing.assert_allclose(again(x=point), third(x=point), rtol=1e-12)


def test_jacobian_by_an_intermediate() -> None:
    J = sg.jacobian(Z, H)
    assert J.shape == (*Z.shape, *H.shape)
    expected = np.einsum("na,mb,nm->nmab", np.eye(4), np.eye(3), 1 - at(Z) ** 2)
    np.testing.assert_allclose(at(J), expected, rtol=1e-14)
    np.testing.assert_allclose(at(sg.jacobian(LOSS, Z)), 2 * (at(Z) - GIVEN["y"]) / at(Z).size, rtol=1e-14)


def test_batch_jacobian_is_the_diagonal_of_the_jacobian() -> None:
    J, D = sg.jacobian(Z, X), sg.batch_jacobian(Z, X)
    assert D.shape == ("n", "m", 3)
    np.testing.assert_allclose(at(D), np.einsum("bibj->bij", at(J)), rtol=1e-14)
    soft = sg.nn.softmax(H, axis=1)
    np.testing.assert_allclose(
        at(sg.batch_jacobian(soft, H)), np.einsum("bibj->bij", at(sg.jacobian(soft, H))), rtol=1e-12
    )
    rows = sg.sum(X**3, axis=1)
    np.testing.assert_allclose(at(sg.batch_jacobian(rows, X)), 3 * GIVEN["X"] ** 2)
    with pytest.raises(UnsupportedError, match="rows may depend on each other"):
        sg.batch_jacobian(X - X.mean(axis=0), X)
    with pytest.raises(ShapeError, match="batch_jacobian of an array"):
        sg.batch_jacobian(Z, W)
    assert sg.batch_jacobian(sg.sign(X), X).nothing == "zero"


@pytest.mark.parametrize("verb", [sg.jacobian, sg.batch_jacobian])
def test_an_infinite_slope_stays_in_its_entry(verb: Any) -> None:
    x = sg.tensor("x", ("n", 2))
    point = np.array([[0.0, 1.0], [4.0, 0.0]])
    slope = np.array([[np.inf, 0.5], [0.25, np.inf]])
    J = verb(sg.sqrt(x), x)
    expected = np.zeros((2, 2, 2, 2)) if verb is sg.jacobian else np.zeros((2, 2, 2))
    for i, j in np.ndindex(2, 2):
        expected[(i, j, i, j) if verb is sg.jacobian else (i, j, j)] = slope[i, j]
    np.testing.assert_array_equal(J(x=point), expected)
    np.testing.assert_array_equal(sg.compile(J)(point), expected)
    (both,) = backwards(sg.sqrt(x).node, [x.node])
    assert both is not None
    if verb is sg.jacobian:
        np.testing.assert_array_equal(evaluate([both], {x.node: point})[0], expected)
    # A choice is made only where a slope may be infinite.
    assert "where" not in {e.op for e in verb(sg.tanh(x**2 / 3), x).equations}


@pytest.mark.parametrize("verb", [sg.jacobian, sg.batch_jacobian])
@pytest.mark.parametrize(
    ("f", "entry", "slope"),
    [
        (lambda x: x * sg.log(x), 0.0, -np.inf),
        (lambda x: x * sg.sqrt(x), -1.0, np.nan),
        (lambda x: x * sg.exp(x), 1000.0, np.inf),
        (lambda x: x**2 * sg.arcsin(x), 2.0, np.nan),
    ],
)
def test_a_value_that_is_missing_in_one_entry_is_missing_in_no_other(
    verb: Any, f: Any, entry: float, slope: float
) -> None:
    x = sg.tensor("x", ("n", 2))
    found = verb(f(x), x)(x=np.array([[0.5, entry]]))
    assert np.isfinite(found[0, 0]).all()
    assert found[0, 1, ..., 0] == 0
    np.testing.assert_array_equal(~np.isfinite(found[0, 1, ..., 1]), not np.isfinite(slope))


def test_a_jacobian_is_stacked_along_the_side_with_fewer_entries() -> None:
    x, A = sg.tensor("x", (3,)), sg.tensor("A", ("n", 3))
    assert sg.jacobian(sg.tanh(A @ x), x).same(sg.Expr(_of(forwards([sg.tanh(A @ x).node], x.node)[0])))
    total = sg.sum(sg.tanh(A @ x) ** 2)
    assert sg.jacobian(total, A).same(sg.Expr(_of(backwards(total.node, [A.node])[0])))


def _of(found: Any) -> Any:
    assert found is not None
    return found


# -- kinds of nothing --------------------------------------------------------------------------------------------

IDS = sg.tensor("ids", ("n",), "int")
A = sg.tensor("A", ("n", 3))


@pytest.mark.parametrize(
    ("y", "x", "kind"),
    [
        (sg.sum(X), W, "disconnected"),
        (sg.sum(sg.stop_gradient(X @ W)), W, "stopped"),
        (sg.sum(sg.floor(X)), X, "zero"),
        (sg.sum(X.argmax(axis=1)), X, "zero"),
        (sg.sum(A[IDS]), IDS, "no tangent"),
    ],
)
def test_the_kinds_of_nothing_have_their_names_in_every_verb(y: Any, x: Any, kind: str) -> None:
    made = {
        "grad": (sg.grad(y, x), x.shape),
        "gradients": (sg.gradients(y, x)[0], x.shape),
        "jacobian": (sg.jacobian(y, x), x.shape),
        "hessian": (sg.hessian(y, x), (*x.shape, *x.shape)),
        "hvp": (sg.hvp(y, x, 1), x.shape),
        "jvp": (sg.jvp(y, x, 1), ()),
        "vjp": (sg.vjp(y, x, 1), x.shape),
    }
    for verb, (found, shape) in made.items():
        assert (verb, found.nothing) == (verb, kind)
        assert (verb, found.shape) == (verb, shape)
    given = {**GIVEN, "ids": np.zeros(4, dtype=int), "A": np.ones((4, 3))}
    for found, _ in made.values():
        assert not np.any(found(**{str(i.name): given[str(i.name)] for i in found.inputs}))


def test_a_zero_hessian_block_of_something_is_zero() -> None:
    blocks = sg.hessian(sg.sum(X * A) + sg.sum(B), [X, A, B])
    assert [[b.nothing for b in row] for row in blocks] == [
        ["zero", None, "zero"],
        [None, "zero", "zero"],
        ["zero", "zero", "zero"],
    ]
    assert sg.jvp(Z, [W, X], [0, 0]).nothing == "zero"
    assert sg.grad(LOSS, W).nothing is None


def test_stop_gradient_is_a_frozen_copy_at_every_order() -> None:
    loss = sg.sum((X @ W - sg.stop_gradient(X @ W) ** 2) ** 2)
    frozen = sg.tensor("F", ("n", "m"))
    twin = sg.sum((X @ W - frozen**2) ** 2)
    more = {"F": GIVEN["X"] @ GIVEN["W"]}
    np.testing.assert_allclose(at(sg.grad(loss, W)), at(sg.grad(twin, W), **more), rtol=1e-12)
    np.testing.assert_allclose(at(sg.hessian(loss, W)), at(sg.hessian(twin, W), **more), rtol=1e-12)


# -- an embedding ------------------------------------------------------------------------------------------------

CBOW = sg.parse("""
table : real[V, 3]
out : real[3, V]
ids : int[b, 2]
target : int[b]
embedded = table[ids]
z = mean(embedded, axis=1) @ out
loss = mean(logsumexp(z, axis=1) - sum(one_hot(target, V)*z, axis=1))
""")


def test_gradients_by_a_gathered_intermediate_and_its_table() -> None:
    rng = np.random.default_rng(4)
    given = {
        "table": rng.normal(size=(5, 3)),
        "out": rng.normal(size=(3, 5)),
        "ids": np.array([[0, 3], [3, 3]]),
        "target": np.array([4, 1]),
    }
    by_embedded, by_table = sg.grad(CBOW["loss"], [CBOW["embedded"], CBOW["table"]])
    assert by_embedded.shape == ("b", 2, 3)
    rows = by_embedded(**given)
    dense = np.zeros((5, 3))
    np.add.at(dense, given["ids"], rows)
    np.testing.assert_allclose(by_table(**given), dense, rtol=1e-12)
    expected = differences(lambda t: CBOW["loss"](**{**given, "table": t}), given["table"])
    np.testing.assert_allclose(dense, expected, rtol=1e-6, atol=1e-9)
    assert sg.grad(CBOW["loss"], "ids").nothing == "no tangent"


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sg.grad(Z, W), NotScalarError, r"gradients\(ys, xs\)[^;]*; vjp"),
        (lambda: sg.grad(Z, W), NotScalarError, "jacobian"),
        (lambda: sg.value_and_grad(Z, W), NotScalarError, "jacobian"),
        (lambda: sg.hessian(Z, W), NotScalarError, "hessian needs a scalar"),
        (lambda: sg.hvp(Z, W, 1), NotScalarError, "hvp needs a scalar"),
        (lambda: sg.derivatives(LOSS, [W], order=2), NotScalarError, "hessian"),
        (lambda: sg.derivatives(Z, [W]), NotScalarError, "jacobian"),
        (lambda: sg.vjp(Z, W), UsageError, "one cotangent"),
        (lambda: sg.vjp(Z, W, B), ShapeError, r"cotangent of shape \(m,\)"),
        (lambda: sg.jvp(Z, W, B), ShapeError, r"tangent of shape \(m,\)"),
        (lambda: sg.hvp(LOSS, [W, B], [1]), UsageError, "1 vectors for 2"),
        (lambda: sg.jacobian(X > 0, X), NotDifferentiableError, "truth value"),
        (
            lambda: sg.jacobian(Z, cast("Any", 3)),
            UsageError,
            "cannot differentiate with respect to",
        ),
    ],
)
def test_refusals(call: Callable[[], Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# -- JAX ---------------------------------------------------------------------------------------------------------


def test_all_verbs_agree_with_jax() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():

        def z(w: Any) -> Any:
            return jnp.tanh(GIVEN["X"] @ w + GIVEN["b"])

        def loss(w: Any) -> Any:
            return jnp.mean((jax.nn.softmax(z(w), axis=1) - GIVEN["y"]) ** 2)

        ours = ((sg.nn.softmax(Z, axis=1) - Y) ** 2).mean()
        w, v = GIVEN["W"], values_of(sg.tensor("v", (3, "m")), seed=8)["v"]
        np.testing.assert_allclose(at(sg.grad(ours, W)), jax.grad(loss)(w), rtol=1e-10)
        np.testing.assert_allclose(at(sg.jacobian(Z, W)), jax.jacrev(z)(w), rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(at(sg.hessian(ours, W)), jax.hessian(loss)(w), rtol=1e-9, atol=1e-12)
        product = at(sg.hvp(ours, W, sg.tensor("v", (3, "m"))), v=v)
        np.testing.assert_allclose(product, jax.jvp(jax.grad(loss), (w,), (v,))[1], rtol=1e-9, atol=1e-12)


def test_what_is_expanded_is_printed_over_inputs_alone_and_is_the_same_formula() -> None:
    p = sg.parse("x, c : positive\nr = sqrt(x**2 + c)\ny = c/r")
    named, plain = sg.grad(p["y"], "x"), sg.grad(p["y"], "x", expand=True)
    assert (str(named), str(plain)) == ("-x*y/r**2", "-c*x/(x**2 + c)**(3/2)")
    assert plain.same(named)
    assert plain.latex() == named.latex(expand=True)
    assert plain.numpy_source() == named.numpy_source(expand=True)
    assert str(sg.grad(plain, "c")) == sg.grad(named, "c").text(expand=True)
    assert [str(g) for g in sg.grad(p["y"], ["x", "c"], expand=True)] == [
        g.text(expand=True) for g in sg.grad(p["y"], ["x", "c"])
    ]
    both = sg.derivatives(p["y"], ["x", "c"], order=2)
    expanded = sg.derivatives(p["y"], ["x", "c"], order=2, expand=True)
    assert str(expanded) == both.text(expand=True) != str(both)
    assert expanded.latex() == both.latex(expand=True)
    assert expanded["x", "c"].same(both["x", "c"])


def test_derivatives_by_entries_take_expand() -> None:
    p = sg.parse("w : real[3]\ns = sum(w**2)\ny = exp(s)")
    assert str(sg.grad(p["y"], "w[1]", expand=True)) == "2*w[1]*exp(sum(w**2))"
    assert "s" not in str(sg.grad(p["y"], p["w"], expand=True)).replace("sum", "")


NETWORK = """
X : real[n, d]; y : real[n]; W : real[d, k]; v : real[k]; c : real
h = tanh(X@W)
r = h@v + c - y
loss = sum(r**2)
"""


def network_values() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    shapes = {"X": (4, 3), "y": (4,), "W": (3, 2), "v": (2,), "c": ()}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def test_derivatives_by_arrays_are_one_listing() -> None:
    p = sg.parse(NETWORK)
    ds = sg.derivatives(p["loss"], ["W", "v", "c"])
    lines = ["dloss/dW = 2*X.T@(outer(r, v)*(1 - h**2))", "dloss/dv = 2*h.T@r", "dloss/dc = 2*sum(r)"]
    assert str(ds) == "\n".join(lines)
    assert ds["W"].shape == ("d", "k")
    assert ds.latex().count("&=") == 3
    values = network_values()
    gradients = [g(**values) for g in sg.grad(p["loss"], ["W", "v", "c"])]
    for expand in (False, True):
        namespace: dict[str, Any] = {}
        exec(ds.numpy_source("slopes", expand=expand), namespace)
        by_source = namespace["slopes"](**values)
        for name, expected, written in zip("Wvc", gradients, by_source, strict=True):
            np.testing.assert_allclose(ds[name](**values), expected, rtol=1e-12)
            np.testing.assert_allclose(written, expected, rtol=1e-12)


def test_the_source_of_one_derivative_and_of_none() -> None:
    x = sg.symbols("x")
    namespace: dict[str, Any] = {}
    exec(sg.derivatives(x**3, [x]).numpy_source("slope"), namespace)
    exec(sg.derivatives(x**3, [x], order=0).numpy_source("value"), namespace)
    assert (namespace["slope"](2.0), namespace["value"](2.0)) == (12, 8)


def test_source_has_the_names_and_the_inputs_of_its_program() -> None:
    p = sg.parse("c, x : positive\nnp = x**2\nr = sqrt(np + c)\ny = c/r")
    g = sg.grad(p["y"], "x")
    lines = [line.strip() for line in g.numpy_source("slope").splitlines()]
    assert "def slope(c, x):" in lines  # as in the declarations, and as for a call
    assert "r = np.sqrt(_pow(x, 2.0) + c)" in lines  # np is the module, not x**2
    assert not any(line.startswith("r = ") for line in g.numpy_source(expand=True).splitlines())
    namespace: dict[str, Any] = {}
    exec(g.numpy_source("slope"), namespace)
    assert namespace["slope"](2.0, 3.0) == g(2.0, 3.0)


@pytest.mark.parametrize("shape", ["", "[n]"])
def test_named_values_beside_inputs(shape: str) -> None:
    """Gradients are total, however many are asked for; derivatives hold what else is asked for fixed."""
    p = sg.parse(
        f"x : real{shape}\ns = sin(x)\nloss = sum(s**2) + sum(x)"
        if shape
        else "x : real\ns = sin(x)\nloss = s**2 + x"
    )
    by_x, by_s = sg.grad(p["loss"], ["x", "s"])
    partials = sg.derivatives(p["loss"], ["x", "s"])
    assert (str(by_x), str(by_s)) == ("2*s*cos(x) + 1", "2*s")
    assert format_many([by_x, by_s])[0] == ["2*s*cos(x) + 1", "2*s"]
    assert str(partials) == f"dloss/dx = {'ones(n)' if shape else 1}\ndloss/ds = 2*sin(x)"
    bars = [str(a) for a in sg.explain(p["loss"], ["x", "s"]).adjoints]
    assert bars == ["loss_bar = 1", "s_bar = 2*s", "x_bar = 2*s*cos(x) + 1"]
