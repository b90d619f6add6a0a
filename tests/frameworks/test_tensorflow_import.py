"""Functions of TensorFlow as programs: each operation with its gradients against TensorFlow's, and what is refused."""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import InternalError, UnsupportedError, UsageError

tf: Any = import_module("tensorflow")

RNG = np.random.default_rng(17)
I32 = tf.constant([2, 0, 1, 2])


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def check(function: Any, *arrays: Any, rtol: float = 1e-9) -> Any:
    """Compare values and gradients by all real arguments, in float64."""
    tensors = [tf.constant(a) for a in arrays]
    p = sg.from_tensorflow(function, *tensors)
    with tf.GradientTape() as tape:
        for t in tensors:
            tape.watch(t)
        expected = function(*tensors)
        flat = tf.nest.flatten(expected)
        total = tf.add_n([tf.reduce_sum(tf.sin(e)) for e in flat if e.dtype.is_floating])
    outputs = list(p.returned.values())
    assert len(outputs) == len(flat)
    names = [str(e.name) for e in p.inputs]
    given = dict(zip(names, [*arrays, *p.values.values()], strict=True))
    for found, wanted in (
        zip(sg.compile(outputs, names)(*given.values()), flat, strict=True)
        if len(outputs) > 1
        else [(sg.compile(outputs, names)(*given.values()), flat[0])]
    ):
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12)
        assert np.shape(found) == tuple(wanted.shape)
    ours: Any = 0
    for e in outputs:
        ours = ours + (
            sg.sum(sg.sin(e)) if e.dtype == "real" and e.shape else sg.sin(e) if e.dtype == "real" else 0
        )
    real = [(n, t) for n, t in zip(names, tensors, strict=False) if t.dtype.is_floating]
    for (name, _), wanted in zip(real, tape.gradient(total, [t for _, t in real]), strict=True):
        found = sg.grad(ours, name)(**given)
        wanted = (
            np.zeros(np.shape(given[name])) if wanted is None else np.asarray(tf.convert_to_tensor(wanted))
        )
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-11, err_msg=name)
    return p


UNARY = """
abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp expm1 floor lgamma log log1p log_sigmoid
ndtri negative reciprocal rint round rsqrt sigmoid sign sin sinh softplus softsign sqrt square tan tanh bessel_i0e
bessel_i1e reciprocal_no_nan
"""
BINARY = """
add subtract multiply divide divide_no_nan multiply_no_nan maximum minimum pow atan2 floordiv floormod mod
squared_difference xlogy xlog1py xdivy igamma igammac zeta
"""


@pytest.mark.parametrize("name", UNARY.split())
def test_functions_of_one_number(name: str) -> None:
    x = np.array([[0.1, 0.3], [0.55, 0.9]]) + (1 if name == "acosh" else 0)
    check(getattr(tf.math, name), x)


@pytest.mark.parametrize("name", BINARY.split())
def test_functions_of_two_numbers(name: str) -> None:
    x, y = RNG.uniform(1.2, 3, (2, 3)), RNG.uniform(1.2, 3, (3,))
    if name in ("igamma", "igammac", "zeta"):  # no partial by the first
        a = tf.constant(2.5, tf.float64)
        check(lambda y: getattr(tf.math, name)(a, y), y)
    else:
        check(getattr(tf.math, name), x, y)


regular = normal(2, 3, 3) + 3 * np.eye(3)
ONE: dict[str, tuple[Any, list[Any]]] = {
    "relu": (tf.nn.relu, [normal(3, 4)]),
    "relu6": (lambda x: tf.nn.relu6(9 * x), [normal(3, 4)]),
    "leaky_relu": (lambda x: tf.nn.leaky_relu(x, 0.25), [normal(3, 4)]),
    "elu": (tf.nn.elu, [normal(3, 4)]),
    "selu": (tf.nn.selu, [normal(3, 4)]),
    "gelu": (lambda x: (tf.nn.gelu(x), tf.nn.gelu(x, approximate=True)), [normal(3, 4)]),
    "swish": (tf.nn.silu, [normal(3, 4)]),
    "clip": (lambda x: tf.clip_by_value(x, -0.5, 0.5), [normal(3, 4)]),
    "reductions": (
        lambda x: (
            tf.reduce_sum(x, 1),
            tf.reduce_mean(x, [0, -1]),
            tf.reduce_max(x, 2, keepdims=True),
            tf.reduce_min(x),
        ),
        [normal(2, 3, 4)],
    ),
    "more reductions": (
        lambda x: (
            tf.reduce_prod(x, 1),
            tf.reduce_logsumexp(x, 0),
            tf.math.reduce_std(x, 1),
            tf.norm(x, axis=1),
        ),
        [normal(3, 4)],
    ),
    "conditions": (
        lambda x: (
            tf.where(tf.reduce_any(x > 0.5, axis=1) & ~tf.reduce_all(x < 1, axis=1), x[:, 1], 0 * x[:, 2])
            * x[:, 0]
        ),
        [normal(5, 4)],
    ),
    "cumsum": (
        lambda x: (
            tf.cumsum(x, 1),
            tf.cumsum(x, 0, exclusive=True),
            tf.cumsum(x, 1, reverse=True, exclusive=True),
        ),
        [normal(3, 4)],
    ),
    "running": (
        lambda x: (
            tf.math.cumprod(x, 1),
            tf.math.cumprod(x, 0, exclusive=True, reverse=True),
            tf.math.cumprod(x, 1, exclusive=True),
            tf.math.cumulative_logsumexp(x, 1, reverse=True),
        ),
        [normal(3, 4)],
    ),
    "order": (
        lambda x: (
            tf.sort(x),
            tf.sort(x, 0, direction="DESCENDING"),
            tf.gather(x, tf.argsort(x[0]), axis=1),
            tf.math.top_k(x, 2).values,
            tf.math.top_k(-x, 1).indices,
        ),
        [normal(3, 4)],
    ),
    "determinants": (
        lambda a: (tf.linalg.det(a), tf.linalg.slogdet(a).log_abs_determinant, tf.linalg.slogdet(a).sign),
        [regular],
    ),
    "solve": (
        lambda a, b: (
            tf.linalg.solve(a, b),
            tf.linalg.solve(a, b, adjoint=True),
            tf.linalg.inv(a),
            tf.linalg.inv(a, adjoint=True),
        ),
        [regular, normal(2, 3, 2)],
    ),
    "triangles solved": (
        lambda a, b: (
            tf.linalg.triangular_solve(a, b),
            tf.linalg.cholesky(tf.linalg.matmul(a, a, transpose_b=True) + tf.eye(3, dtype=a.dtype)),
            tf.linalg.triangular_solve(a, b, lower=False),
            tf.linalg.triangular_solve(a, b, adjoint=True),
        ),
        [regular, normal(2, 3, 2)],
    ),
    "diagonals": (
        lambda a: (
            tf.linalg.diag_part(a),
            tf.linalg.diag(a[0]),
            tf.linalg.trace(a),
            tf.linalg.diag_part(a[:, :2]),
        ),
        [regular],
    ),
    "softmax": (lambda x: (tf.nn.softmax(x), tf.nn.log_softmax(x, axis=0)), [normal(3, 4)]),
    "cross entropy": (
        lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.constant(np.eye(4)[:3]), x),
        [normal(3, 4)],
    ),
    "sparse cross entropy": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(I32[:3], x),
        [normal(3, 4)],
    ),
    "moved": (
        lambda x: (
            tf.reshape(tf.transpose(x, (2, 0, 1)), (4, -1)),
            tf.squeeze(tf.expand_dims(x, 1)),
            tf.reverse(x, [1]),
        ),
        [normal(2, 3, 4)],
    ),
    "joined": (
        lambda x, y: (
            tf.concat([x, y], 1),
            tf.stack([x, x * 2], -1),
            tf.tile(y, (1, 3)),
            tf.unstack(x, axis=1)[1],
        ),
        [normal(2, 3), normal(2, 2)],
    ),
    "split": (lambda x: (*tf.split(x, 2, 1), *tf.split(x, [1, 3], 1)), [normal(2, 4)]),
    "slices": (
        lambda x: (x[1:, ::-2], x[..., tf.newaxis, 1], x[:, -1], tf.slice(x, (0, 1), (2, -1)), x[0]),
        [normal(3, 4)],
    ),
    "pads": (
        lambda x: (
            tf.pad(x, ((1, 0), (0, 2)), constant_values=2.5),
            tf.pad(x, ((1, 1), (2, 2)), "REFLECT"),
            tf.pad(x, ((1, 1), (2, 2)), "SYMMETRIC"),
        ),
        [normal(3, 4)],
    ),
    "gather": (
        lambda x: (
            tf.gather(x, I32),
            tf.gather(x, I32[:, tf.newaxis], axis=1),
            tf.gather_nd(x, [[0, 1], [2, 2]]),
        ),
        [normal(3, 4)],
    ),
    "gather in batches": (
        lambda x: (
            tf.gather(x, [[0, 2], [1, 1]], batch_dims=1),
            tf.gather(x, [[0, 2], [1, 1]], axis=2, batch_dims=1),
            tf.gather(x, [[[1], [2], [0]]] * 2, axis=2, batch_dims=2),
        ),
        [normal(2, 3, 4)],
    ),
    "scatter": (
        lambda x: (
            tf.scatter_nd([[1], [3], [1]], x, (5, 4)),
            tf.scatter_nd([[1, 0], [3, 1], [1, 0]], x[:, 0], (5, 2)),
            tf.math.unsorted_segment_sum(x, [1, 0, 1], 2),
            tf.tensor_scatter_nd_add(x, [[1], [1]], x[:2]),
        ),
        [normal(3, 4)],
    ),
    "one hot": (
        lambda x: (
            tf.one_hot(I32, 3, dtype=x.dtype) @ x
            + tf.reduce_sum(tf.one_hot(I32, 3, 2.0, -1.0, 0, x.dtype), 0)[:, tf.newaxis]
        ),
        [normal(3, 4)],
    ),
    "products": (
        lambda a, b: (
            tf.matmul(a, b, transpose_a=True),
            tf.linalg.matmul(a[tf.newaxis], tf.stack([b, b]), adjoint_a=True),
            tf.einsum("ij,ik->jk", a, b),
            tf.einsum("...ij,...ik->...jk", a, b),
            tf.tensordot(a, b, [[0], [0]]),
        ),
        [normal(3, 4), normal(3, 2)],
    ),
    "band": (lambda a: tf.linalg.band_part(a, 1, 0), [normal(4, 4)]),
    "parts": (lambda a: tf.zeros_like(a) + tf.ones_like(a) * a + tf.eye(4, dtype=a.dtype), [normal(4, 4)]),
    "positions": (
        lambda x: x * tf.cast(tf.argmax(x, 1), x.dtype)[:, tf.newaxis] + tf.cast(tf.range(4), x.dtype),
        [normal(3, 4)],
    ),
    "batch normalisation": (
        lambda x, g, b: tf.nn.batch_normalization(x, *tf.nn.moments(x, [0, 1, 2]), b, g, 0.01),
        [normal(2, 3, 3, 4), normal(4), normal(4)],
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_operations(name: str) -> None:
    function, arrays = ONE[name]
    check(function, *arrays)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 2], [0, 1], [0, 0]]], ids=str)
@pytest.mark.parametrize(("strides", "dilations"), [(1, 1), (2, 1), ([1, 3], 1), (1, [2, 1])], ids=str)
def test_convolutions(padding: Any, strides: Any, dilations: Any) -> None:
    def convolution(x, w):
        return tf.nn.conv2d(x, w, strides, padding, dilations=dilations)

    x, w, grouped = normal(2, 6, 7, 4), normal(3, 2, 4, 3), normal(3, 2, 2, 6)
    if dilations == 1:
        check(convolution, x, w)
    for kernel in (w, grouped):  # values alone: TensorFlow has no gradients of the others on the CPU
        p = sg.from_tensorflow(convolution, tf.constant(x), tf.constant(kernel))
        groups = range(0, 4, kernel.shape[2])
        features = 3
        parts = [
            convolution(x[..., c : c + kernel.shape[2]], kernel[..., features * k : features * (k + 1)])
            for k, c in enumerate(groups)
        ]
        np.testing.assert_allclose(
            p.returned["out"](x=x, w=kernel), np.concatenate(parts, -1), rtol=1e-9, atol=1e-12
        )


def test_channels_first_is_the_same_convolution() -> None:
    w = normal(3, 2, 4, 3)
    first = sg.from_tensorflow(
        lambda x: tf.nn.conv2d(x, w, 2, "SAME", data_format="NCHW"), tf.TensorSpec((2, 4, 6, 7), tf.float64)
    )
    x = normal(2, 6, 7, 4)
    expected = np.moveaxis(tf.nn.conv2d(x, w, 2, "SAME").numpy(), -1, 1)
    np.testing.assert_allclose(first.returned["out"](np.moveaxis(x, -1, 1)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_other_windows(padding: str) -> None:
    x = normal(2, 7, 6, 3)
    check(lambda x, w: tf.nn.depthwise_conv2d(x, w, (1, 1, 1, 1), padding), x, normal(3, 2, 3, 2))
    check(lambda x: tf.nn.max_pool2d(x, (3, 2), (2, 1), padding), x)
    check(lambda x: tf.nn.avg_pool2d(x, 3, 2, padding), x)
    check(lambda x, w: tf.nn.conv1d(x, w, 2, padding), normal(2, 7, 3), normal(3, 3, 2))
    size = 14 if padding == "SAME" else 15
    wide = 12 if padding == "SAME" else 13
    check(lambda x, w: tf.nn.conv2d_transpose(x, w, (2, size, wide, 4), 2, padding), x, normal(3, 3, 4, 3))


def test_batch_normalisation_of_float32() -> None:
    x, g, b = normal(2, 3, 3, 4), normal(4), normal(4)
    for training in (True, False):
        m, v = normal(4), RNG.uniform(1, 2, 4)
        options: Any = (
            {} if training else {"mean": tf.constant(m, tf.float32), "variance": tf.constant(v, tf.float32)}
        )

        def norm(x, g, b, training=training, options=options):
            return tf.compat.v1.nn.fused_batch_norm(x, g, b, epsilon=0.01, is_training=training, **options)[0]

        p = sg.from_tensorflow(lambda x, g, b, norm=norm: norm(x, g, b), x.shape, (4,), (4,))
        expected = norm(*(tf.constant(a, tf.float32) for a in (x, g, b)))
        np.testing.assert_allclose(p.returned["out"](x, g, b), expected, rtol=2e-4, atol=2e-5)


# Functions, variables, control flow


def test_functions_that_are_called_are_written_out_and_names_are_the_users() -> None:
    @tf.function
    def inner(a):
        square = a**2
        return square + 1.0

    w = tf.Variable(np.array([1.0, 2.0]))

    @tf.function
    def f(x):
        h = inner(x) * w
        s = tf.reduce_sum(h)
        return {"loss": s, "parts": [h, x]}

    p = sg.from_tensorflow(f, tf.TensorSpec((2,), tf.float64))
    assert p.names == ("x", "w", "square", "h", "s", "parts_1")
    assert [*p.returned] == ["loss", "parts_0", "parts_1"]
    assert p.parameters == ("w",)
    np.testing.assert_array_equal(p.values["w"], [1.0, 2.0])
    assert str(p["h"]).endswith("(x**2 + 1)*w")
    assert p.places["h"].file == __file__
    assert (
        "h = inner(x) * w" in Path(__file__).read_text(encoding="utf-8").splitlines()[p.places["h"].line - 1]
    )
    again = pickle.loads(pickle.dumps(p))
    assert again.names == p.names
    assert again.returned.keys() == p.returned.keys()
    assert again.places == p.places


def test_variables_that_change_on_the_way() -> None:
    count = tf.Variable(2.0, trainable=False)

    def f(x):
        before = count * x
        count.assign_add(tf.reduce_sum(x))
        return before + count * x

    p = sg.from_tensorflow(f, (3,))
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(p.returned["out"](x=x, **p.values), 2 * x + 8 * x)
    assert float(count) == 2.0
    assert p.parameters == ()


def test_stop_gradient_and_gradients_of_ones_own() -> None:
    @tf.custom_gradient
    def clipped(x, y):
        h = tf.tanh(x * y)

        def pull(up):
            return tf.clip_by_value(x, -0.5, 0.5) * up, 3.0 * h * up

        return h, pull

    check(lambda x, y: clipped(x, y) + tf.stop_gradient(x) * y, normal(5), normal(5))

    def twice(x):  # order two differentiates the pullback
        with tf.GradientTape() as tape:
            tape.watch(x)
            s = tf.reduce_sum(clipped(x, 2.0 * x) ** 2)
        return tape.gradient(s, x)

    x = tf.constant(normal(4))
    p = sg.from_tensorflow(lambda x: tf.reduce_sum(clipped(x, 2.0 * x) ** 2), x)
    slope = sg.grad(p.returned["out"], "x")
    np.testing.assert_allclose(slope(x=x.numpy()), twice(x), rtol=1e-9)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(tf.sin(twice(x)))
    np.testing.assert_allclose(
        sg.grad(sg.sum(sg.sin(slope)), "x")(x=x.numpy()), tape.gradient(total, x), rtol=1e-8
    )


@pytest.mark.parametrize(
    "name",
    ["tanh", "sigmoid", "sqrt", "rsqrt", "reciprocal", "softplus", "elu", "relu", "relu6", "exp"],
)
def test_a_tape_inside_of_a_function(name: str) -> None:
    function = getattr(tf.math, name, None) or getattr(tf.nn, name)

    def penalty(x, b):
        with tf.GradientTape() as tape:
            tape.watch([x, b])
            y = function(tf.nn.bias_add(x, b)) ** 2
        by_x, by_b = tape.gradient(y, [x, b])
        return tf.reduce_sum(by_x**2, axis=1) + tf.reduce_sum(by_b * x)

    check(penalty, RNG.uniform(0.2, 2, (3, 4)), RNG.uniform(0.1, 0.5, 4))


def test_a_gradient_of_ones_own_by_a_variable() -> None:
    w = tf.Variable(normal(3, 3))

    @tf.custom_gradient
    def f(x):
        y = x @ w

        def pull(up, variables=None):
            return up * 2.0, [tf.ones_like(w) * tf.reduce_sum(up)]

        return y, pull

    p = sg.from_tensorflow(lambda x: tf.reduce_sum(f(x) ** 2), tf.TensorSpec((2, 3), tf.float64))
    x = tf.constant(normal(2, 3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(f(x) ** 2)
    for name, wanted in zip(("x", p.parameters[0]), tape.gradient(total, [x, w]), strict=True):
        np.testing.assert_allclose(
            sg.grad(p.returned["out"], name)(x=x.numpy(), **p.values), wanted, rtol=1e-9
        )


def test_loops_and_branches() -> None:
    def loops(x):
        a = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, tf.sin(z) * 2.0), (0, x))[1]
        b = tf.map_fn(lambda r: tf.reduce_sum(r**2), a)
        c = tf.scan(lambda s, r: s * 0.5 + r, b)
        return tf.cond(tf.constant(True), lambda: c, lambda: -c) + tf.cond(
            tf.reduce_sum(x) > 0, lambda: c, lambda: 2.0 * c
        )

    check(loops, normal(3, 2))

    def decides(x):
        if tf.reduce_sum(x) > 0:  # noqa: SIM108 (as users write it)
            y = x * 2.0
        else:
            y = -x
        for _ in tf.range(2):
            y = y + tf.sin(x)
        return y

    for x in (np.array([1.0, 2.0]), np.array([-1.0, -2.0])):
        p = sg.from_tensorflow(decides, tf.TensorSpec((2,), tf.float64))
        np.testing.assert_allclose(p.returned["out"](x=x), tf.function(decides)(tf.constant(x)), rtol=1e-12)


def test_keras_recurrent_layers_are_written_out() -> None:
    keras = pytest.importorskip("keras")
    if keras.backend.backend() != "tensorflow":
        pytest.skip("of Keras on TensorFlow")
    layer = keras.layers.LSTM(3)
    x = normal(2, 4, 5).astype("float32")
    expected = layer(x)
    p = sg.from_tensorflow(layer, x)
    found = p.returned["out"](x, *p.values.values())
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_lines_of_the_user_in_explanations() -> None:
    def loss(w: Any, x: Any, u: Any) -> Any:
        h = tf.tanh(tf.linalg.matvec(x, w))
        noisy = tf.stop_gradient(h) * (1 + 0.1 * u) + tf.nn.relu(h)
        return tf.reduce_sum(noisy**2)

    p = sg.from_tensorflow(loss, "real[3]", "real[5, 3]", "Normal(0, 1)[5]")
    line = loss.__code__.co_firstlineno
    d = sg.explain(p.last, "w")
    assert [(place.file, place.line) for place in d.noise["u"].places] == [(__file__, line + 2)]
    assert "noisy = tf.stop_gradient(h)" in " ".join(str(d).split())
    assert next(s.place for s in d.steps if s.rule == "tanh").line == line + 1
    q = sg.from_tensorflow(lambda x: tf.reduce_sum(tf.stop_gradient(x)) * 2, "real[3]")
    assert "tf.reduce_sum(tf.stop_gradient(x)) * 2" in " ".join(str(sg.explain(q.last, "x")).split())


def test_specs() -> None:
    p = sg.from_tensorflow(
        lambda u, t, s: u["a"] * s + tf.cast(t, s.dtype) + u["b"][0],
        {"a": (2,), "b": ["positive"]},
        "int[2]",
        "Normal(0, 1)",
    )
    assert [e.name for e in p.inputs] == ["u_a", "u_b_0", "t", "s"]
    assert str(p.inputs[3].node.declaration) == "s ~ Normal(0, 1)"
    with pytest.raises(UsageError, match="2 specs for the arguments x"):
        sg.from_tensorflow(lambda x: x, (2,), (2,))
    with pytest.raises(UsageError, match="a value of type object does not say what 'x' is"):
        sg.from_tensorflow(lambda x: x, object())
    with pytest.raises(UnsupportedError, match=r"'x' of shape \(None, 3\)") as e:
        sg.from_tensorflow(lambda x: x, tf.TensorSpec((None, 3)))
    assert "import it with numbers as sizes" in str(e.value.cure)
    with pytest.raises(UnsupportedError, match="the size n of 'x'"):
        sg.from_tensorflow(lambda x: x, "real[n]")
    with pytest.raises(UnsupportedError, match="the size n of 'x'"):
        sg.from_tensorflow(lambda x: x, ("n", 3))
    with pytest.raises(UnsupportedError, match="'x' is complex64"):
        sg.from_tensorflow(lambda x: x, tf.TensorSpec((3,), tf.complex64))
    with pytest.raises(UsageError, match="is no function"):
        sg.from_tensorflow(3, (2,))  # pyright: ignore[reportArgumentType]


def test_everything_that_is_not_covered_is_in_one_error() -> None:
    def bad(x):
        a = tf.linalg.svd(x)[0]
        b = tf.random.normal((3,)) + a
        c = tf.linalg.qr(b[:, None] * b)[0][0]
        return tf.reduce_sum(c) + tf.numpy_function(np.sum, [x], tf.float32)

    line = bad.__code__.co_firstlineno
    with pytest.raises(UnsupportedError) as e:
        sg.from_tensorflow(bad, (3, 3))
    text = str(e.value)
    assert f"line {line + 1}: Svd" in text
    assert f"line {line + 2}: RandomStandardNormal (try: pass the noise in as an argument)" in text
    assert f"line {line + 3}: Qr" in text
    assert f"line {line + 4}: PyFunc" in text or f"line {line + 4}: EagerPyFunc" in text
    assert text.count("line ") == 4


def test_what_depends_on_the_data_is_refused_with_its_line() -> None:
    def loop(x):
        while tf.reduce_sum(x) < 10:
            x = x * 2.0
        return x

    with pytest.raises(
        UnsupportedError, match=f"line {loop.__code__.co_firstlineno + 1}.*number of steps depends"
    ):
        sg.from_tensorflow(loop, (3,))

    def python(x):
        return x * float(tf.reduce_sum(x).numpy())

    with pytest.raises((UnsupportedError, AttributeError)):
        sg.from_tensorflow(python, (3,))

    def array(x):
        return x * np.asarray(x)

    with pytest.raises(UnsupportedError, match=f"line {array.__code__.co_firstlineno + 1}"):
        sg.from_tensorflow(array, (3,))


def test_a_constant_that_is_too_large_is_an_argument() -> None:
    table = tf.constant(normal(100, 100))
    with pytest.raises(UnsupportedError, match="an array of 10,000 numbers in the function") as e:
        sg.from_tensorflow(lambda x: x @ table, tf.TensorSpec((2, 100), tf.float64))
    assert "pass it as an argument" in str(e.value)


def test_another_version_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tf, "__version__", "2.99.0")
    with pytest.raises(UnsupportedError, match=r"graphs of TensorFlow 2\.99\.0"):
        sg.from_tensorflow(lambda x: x, (2,))


def test_settings_of_tensorflow_are_as_before() -> None:
    sg.from_tensorflow(lambda x: x + 1, (2,))
    assert tf.config.functions_run_eagerly() is False


# What was once read as something else, or not at all.


def test_maximum_over_windows_that_are_values() -> None:
    pool = lambda x: tf.raw_ops.MaxPoolV2(  # noqa: E731
        input=x, ksize=[1, 2, 3, 1], strides=[1, 2, 1, 1], padding="SAME"
    )
    check(pool, normal(2, 5, 4, 3))


def test_a_wrong_reading_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from symgrad.interop.importers.tensorflow import graph

    for wrong, said in (
        (lambda _, x: x[0], r"Tanh read as of shape \(3,\); TensorFlow has \(2, 3\)"),
        (lambda _, x: x > 0, "Tanh read as bool; TensorFlow has float32"),
    ):
        monkeypatch.setitem(graph.ELEMENTWISE, "Tanh", wrong)
        with pytest.raises(InternalError, match=said):
            sg.from_tensorflow(tf.tanh, (2, 3))


def test_truth_values_that_are_moved_and_chosen() -> None:
    x, y = normal(3), normal(3)

    def moved(a: Any, b: Any) -> Any:
        c = tf.concat([a > b, a > 1], 0)
        return tf.where(tf.logical_not(c), tf.stack([a, b]), tf.zeros((2, 1), a.dtype))

    check(lambda a, b: moved(a[None], b[None]), x, y)
    check(lambda a, b: tf.where(tf.cond(a[0] > b[0], lambda: a > 0, lambda: b > 0), a, b), x, y)
    check(lambda a, b: tf.where(tf.where(a > b, a > 0, b > 0), a, b), x, y)
    band = sg.from_tensorflow(lambda a: tf.linalg.band_part(a > 0, 0, -1), (3, 3))
    at = normal(3, 3)
    assert np.array_equal(next(iter(band.returned.values()))(a=at), np.triu(at > 0))


def test_a_band_of_what_is_infinite_outside() -> None:
    at = np.array([[1.0, np.inf], [np.nan, 2.0]])
    p = sg.from_tensorflow(lambda x: tf.linalg.band_part(x, 0, 0), (2, 2))
    assert np.array_equal(p["out"](x=at), np.diag([1.0, 2.0]))


def test_slopes_at_kinks() -> None:
    at = np.array([-1.0, 0.0, 3.0, 6.0, 7.0])
    check(tf.nn.relu6, at)
    check(tf.nn.selu, at)


def test_running_sums_of_what_is_before() -> None:
    x = normal(2, 4)
    for reverse in (False, True):
        check(lambda x, r=reverse: tf.cumsum(x, 1, exclusive=True, reverse=r), x)
    p = sg.from_tensorflow(lambda x: tf.cumsum(x, exclusive=True), (3,))
    assert p["out"](x=[1.0, 2.0, np.inf]).tolist() == [0.0, 1.0, 3.0]


def test_running_statistics_that_move_by_a_factor() -> None:
    def statistics(x: Any, g: Any, b: Any, m: Any, v: Any) -> Any:
        found = tf.raw_ops.FusedBatchNormV3(
            x=x, scale=g, offset=b, mean=m, variance=v, exponential_avg_factor=0.25, is_training=True
        )
        return found[1], found[2]

    arrays = [a.astype(np.float32) for a in (normal(2, 3, 3, 2), *normal(4, 2))]
    p = sg.from_tensorflow(statistics, *map(tf.constant, arrays))
    given = dict(zip("xgbmv", arrays, strict=True))
    for e, wanted in zip(p.returned.values(), statistics(*map(tf.constant, arrays)), strict=True):
        np.testing.assert_allclose(e(**{s.name: given[str(s.name)] for s in e.inputs}), wanted, rtol=1e-5)


def test_segments_of_negative_numbers_are_left_out() -> None:
    x, places = normal(4, 2), tf.constant([1, -1, 0, 1])
    check(lambda x: tf.math.unsorted_segment_sum(x, places, 2), x)
    check(lambda x, k: tf.math.unsorted_segment_sum(x, k, 2), x, np.array([1, -1, 0, 1]))
    check(lambda x: tf.gather(x, I32[None, :2], axis=1, batch_dims=-1), normal(1, 3, 2))


def test_whole_numbers_divided() -> None:
    with pytest.raises(UnsupportedError, match="Reciprocal of whole numbers"):
        sg.from_tensorflow(lambda k: tf.raw_ops.Reciprocal(x=k), "int[3]")
