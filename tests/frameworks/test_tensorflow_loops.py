"""Loops of TensorFlow and recurrent layers of Keras as recurrences: values, gradients, sizes, and what is refused."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import UnsupportedError
from symgrad.ir.traverse import topological
from tests.frameworks.test_tensorflow_import import check, normal

tf: Any = import_module("tensorflow")
keras: Any = import_module("keras")


def counts(p: Any) -> list[int]:
    """Return the number of nodes of a program, and how many of them are recurrences."""
    order = topological([e.node for e in p.returned.values()])
    return [len(order), sum(n.op.name == "recurrence" for n in order)]


def ranged(x: Any, a: Any) -> Any:
    h = a
    for t in tf.range(tf.shape(x)[0]):
        h = tf.tanh(h * a + x[t] * x[tf.shape(x)[0] - 1 - t])
    return h


def back(x: Any, a: Any) -> Any:
    h = a
    for t in tf.range(x.shape[0] - 1, -1, -1):
        h = tf.sin(h + x[t])
    return h


def scanned(x: Any, a: Any) -> Any:
    return tf.scan(lambda h, r: tf.sin(h * a) + r, x, initializer=a)


def scanned_back(x: Any, a: Any) -> Any:
    return tf.scan(lambda h, r: (tf.sin(h[0] * a) + r, h[1] * r), x, initializer=(a, a), reverse=True)


def columns(x: Any, a: Any) -> Any:
    return tf.map_fn(lambda r: tf.reduce_sum(tf.sin(r) * a), x)


def written(x: Any, a: Any) -> Any:
    """A list that begins with an element from before the loop, and is read whole after it."""
    seen = tf.TensorArray(x.dtype, size=x.shape[0] + 1).write(0, a)
    h = a
    for t in tf.range(x.shape[0]):
        h = tf.sin(h) * x[t]
        seen = seen.write(t + 1, h)
    return seen.stack()


def two_counts(x: Any, a: Any) -> Any:
    def step(i: Any, k: Any, h: Any, on: Any) -> Any:
        h = tf.where(on, tf.sin(h) + x[i] * tf.cast(k, x.dtype), h)
        return i + 1, k - 2, h, on & (tf.reduce_sum(h) < 3.0)

    return tf.while_loop(lambda i, *_: i < x.shape[0], step, (0, 5, a, tf.constant(True)))[2]


def nested(x: Any, a: Any) -> Any:
    h = a
    for t in tf.range(x.shape[0]):
        for _ in tf.range(3):
            h = tf.sin(h) + x[t]
    return h


LOOPS = [ranged, back, scanned, scanned_back, columns, written, two_counts, nested]


# TensorFlow itself has no element of zero steps whose shape `back` and `columns` could take.
COUNTS = [(f, count) for f in LOOPS for count in (0, 1, 4) if count or f not in (back, columns)]


@pytest.mark.parametrize(("function", "count"), COUNTS)
def test_loops_have_the_values_of_tensorflow(function: Any, count: int) -> None:
    if count == 0 and function in (scanned, scanned_back):
        p = sg.from_tensorflow(function, (0, 3), (3,))
        assert [e(x=np.zeros((0, 3)), a=np.ones(3)).shape for e in p.returned.values()] in (
            [(0, 3)],
            [(0, 3)] * 2,
        )
        return
    check(function, normal(count, 3), normal(3))


@pytest.mark.parametrize("function", LOOPS)
def test_the_size_of_a_loop_does_not_depend_on_its_steps(function: Any) -> None:
    short, long = (counts(sg.from_tensorflow(function, (n, 3), (3,))) for n in (5, 700))
    assert short == long
    assert short[1] == {columns: 0}.get(function, 1)


def test_a_search() -> None:
    def bounded(x: Any) -> Any:
        return tf.while_loop(
            lambda z: tf.reduce_sum(z) > 0.1, lambda z: (z / 2.0,), (x,), maximum_iterations=50
        )[0]

    def counted(x: Any) -> Any:
        k, z = tf.while_loop(
            lambda k, z: (k < 40) & (tf.reduce_sum(z) > 0.1), lambda k, z: (k + 3, z / 2.0), (0, x)
        )
        return z * tf.cast(k, x.dtype)

    for x in (np.abs(normal(3)), np.abs(normal(3)) * 1e-3, np.abs(normal(3)) * 1e9):
        assert counts(check(bounded, x))[1] == 1
        assert counts(check(counted, x))[1] == 1


LAYERS: dict[str, Any] = {
    "LSTM": lambda: keras.layers.LSTM(4, dtype="float64"),
    "GRU": lambda: keras.layers.GRU(4, return_sequences=True, reset_after=False, dtype="float64"),
    "SimpleRNN": lambda: keras.layers.SimpleRNN(4, go_backwards=True, dtype="float64"),
    "Bidirectional": lambda: keras.layers.Bidirectional(
        keras.layers.LSTM(4, return_sequences=True, dtype="float64"), dtype="float64"
    ),
    "states": lambda: keras.layers.LSTM(4, return_state=True, return_sequences=True, dtype="float64"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_recurrent_layers_of_keras_are_loops(name: str) -> None:
    layer = LAYERS[name]()
    layer(np.zeros((2, 3, 5)))
    for v in layer.trainable_variables:
        v.assign(normal(*v.shape) / 2)
    sizes: list[list[int]] = []
    for count in (3, 30):
        x = normal(2, count, 5)
        p = check(lambda x: layer(x), x)
        sizes.append(counts(p))
        with tf.GradientTape() as tape:
            total = tf.add_n([tf.reduce_sum(tf.sin(y)) for y in tf.nest.flatten(layer(tf.constant(x)))])
        slopes = tape.gradient(total, [v.value for v in layer.trainable_variables])
        ours = sum(sg.sum(sg.sin(e)) for e in p.returned.values())
        given = {str(p.inputs[0].name): x, **p.values}
        left = [np.asarray(s) for s in slopes]
        for parameter in p.parameters:
            found = sg.grad(ours, parameter)(**given)
            k = next(
                k for k, s in enumerate(left) if s.shape == found.shape and np.allclose(s, found, rtol=1e-8)
            )
            del left[k]
        assert not left
    assert sizes[0] == sizes[1]
    assert sizes[0][1] == (2 if name == "Bidirectional" else 1)


def test_masks_of_a_recurrent_layer() -> None:
    layer = keras.layers.LSTM(4, dtype="float64")
    layer(np.zeros((2, 3, 5)))
    mask = np.array([[True, True, False, False], [True, True, True, False]])
    p = check(lambda x: layer(x, mask=tf.constant(mask)), normal(2, 4, 5))
    assert counts(p)[1] == 1


def test_what_is_no_recurrence_is_written_out() -> None:
    def doubled(x: Any) -> Any:
        return tf.while_loop(lambda k, z: k < 9, lambda k, z: (2 * k, z * tf.cast(k, x.dtype)), (1, x))[1]

    def reads_back(x: Any) -> Any:
        seen = tf.TensorArray(x.dtype, size=5, clear_after_read=False).write(0, x)
        for t in tf.range(1, 5):
            seen = seen.write(t, seen.read(t - 1) * x)
        return seen.stack()

    total = tf.Variable(1.0, dtype=tf.float64)

    def counts_up(x: Any) -> Any:
        total.assign(1.0)
        for _ in tf.range(3):
            total.assign_add(2.0)
        return x * total

    for function in (doubled, reads_back, counts_up):
        assert counts(check(function, normal(3)))[1] == 0


def test_what_is_refused_has_its_line() -> None:
    def unbounded(x: Any) -> Any:
        return tf.while_loop(lambda z: tf.reduce_sum(z) > 0.1, lambda z: (z / 2.0,), (x,))[0]

    def whole(x: Any) -> Any:
        return tf.while_loop(
            lambda k, z: (k < 99) & (tf.reduce_sum(z) > 0.1), lambda k, z: (2 * k, z / 2.0), (1, x)
        )[1]

    def missing(x: Any) -> Any:
        for _ in tf.range(9):
            x = x + tf.linalg.svd(x[:, None] * x, compute_uv=False)
        return x

    for function, words in (
        (
            unbounded,
            "a loop whose number of steps depends on the data (try: tf.while_loop(..., maximum_iterations=100))",
        ),
        (
            whole,
            "a loop that carries on a whole number other than a count, and whose number of steps depends on the data",
        ),
        (missing, "Svd"),
    ):
        with pytest.raises(UnsupportedError) as caught:
            sg.from_tensorflow(function, (3,))
        assert words in str(caught.value)
        first = function.__code__.co_firstlineno
        assert any(f"line {first + k}" in str(caught.value) for k in (1, 2))
