"""A noisy layer in the middle of a Keras model: its value has the noise, its gradient does not.

    python keras_noise_layer.py [tensorflow|torch|jax]

The layer is z = sqrt(x**2*u), with u drawn anew for every entry in training. The question was asked from inside a long
Keras graph: forward as it is, backward as if there were no noise, and in Python alone.
"""

from __future__ import annotations

import os
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["KERAS_BACKEND"] = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("KERAS_BACKEND", "jax")
warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)  # Keras' own, of its arrays
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras  # noqa: E402  (after its backend is chosen)
import numpy as np  # noqa: E402  (as keras)

import symgrad as sg  # noqa: E402  (as keras)

BACKEND = keras.backend.backend()
NOISY = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")


def noise_layer(local: str | None) -> Any:
    """The layer, with noise that is the same in every run; without ``local`` its gradient is that of the formula."""
    return sg.to_keras(NOISY["z"], local=local, seed=7)


def gradient(f: Callable[[Any], Any], at: Any) -> Any:
    """The gradient of a function of one array, by whatever Keras runs on."""
    if BACKEND == "tensorflow":
        import tensorflow as tf

        x = tf.constant(at)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x).numpy()
    if BACKEND == "torch":
        import torch

        x = torch.tensor(at, requires_grad=True)
        return torch.autograd.grad(f(x), x)[0].numpy()
    import jax

    return np.asarray(jax.grad(f)(at))


def apart(a: Any, b: Any) -> str:
    """How far a gradient is from another one, relative to its size."""
    return f"{np.linalg.norm(a - b) / np.linalg.norm(b):.1e}"


rng = np.random.default_rng(0)
ops = keras.ops
LOCAL = {None: "that of the formula", "noisy": 'local="noisy"', "clean": 'local="clean"'}

print(f"Keras {keras.__version__} on {BACKEND}\n")
print("The layer alone: what it passes back of random cotangents, beside the same without noise")
x = rng.normal(size=(5, 4)).astype("float32")
cotangents = ops.convert_to_tensor(rng.normal(size=(5, 4)).astype("float32"))
calm = gradient(lambda h: ops.sum(noise_layer(None)(h, training=False) * cotangents), x)
for local, said in LOCAL.items():
    value = ops.convert_to_numpy(noise_layer(local)(x, training=True))
    pulled = gradient(lambda h, local=local: ops.sum(noise_layer(local)(h, training=True) * cotangents), x)
    print(f"    {said:20} value {apart(value, abs(x))} away, gradient {apart(pulled, calm)} away")
    if local == "clean":
        assert float(apart(value, abs(x))) > 1e-2
        assert float(apart(pulled, calm)) < 1e-6

print("\nIn the middle of a convolutional model that trains (which images have a bright lower half?)")
images = rng.normal(size=(128, 8, 8, 1)).astype("float32")
labels = (images[:, 4:].mean(axis=(1, 2, 3)) > images[:, :4].mean(axis=(1, 2, 3))).astype("float32")


def head() -> list[Any]:
    """What comes after the layer."""
    return [
        keras.layers.Conv2D(8, 3, activation="tanh"),
        keras.layers.Flatten(),
        keras.layers.Dense(1, activation="sigmoid"),
    ]


keras.utils.set_random_seed(1)
first, after = keras.layers.Conv2D(6, 3, name="first"), head()
model = keras.Sequential([keras.Input((8, 8, 1)), first, noise_layer("clean"), *after])
model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy")
losses = model.fit(images, labels, epochs=15, batch_size=32, verbose=0).history["loss"]
print(f"    loss {losses[0]:.3f} in the first epoch, {losses[-1]:.3f} in the last")
assert losses[-1] < 0.8 * losses[0]

path = "keras_noise_layer.keras"
model.save(path)
again = keras.saving.load_model(path)
same = np.array_equal(model.predict(images, verbose=0), again.predict(images, verbose=0))
Path(path).unlink()
print(f"    saved and loaded: the same bits: {same}")
assert same

print("\nThe whole model's gradient by its first kernel, beside that of the model without noise")
kernel = ops.convert_to_numpy(first.kernel)
errors = ops.expand_dims(labels, 1)


def loss(kernel: Any, local: str | None, *, training: bool) -> Any:
    """The mean squared error of the trained model, as a function of its first kernel."""
    h = noise_layer(local)(ops.conv(images, kernel, padding="valid"), training=training)
    for part in after:
        h = part(h)
    return ops.mean((h - errors) ** 2)


calm = gradient(lambda k: loss(k, None, training=False), kernel)
for local, said in LOCAL.items():
    found = gradient(lambda k, local=local: loss(k, local, training=True), kernel)
    print(f"    {said:20} {apart(found, calm)} away")


def total(kernel: Any, local: str | None, *, training: bool) -> Any:
    """The layer at the very end: what follows is linear."""
    return ops.sum(noise_layer(local)(ops.conv(images, kernel, padding="valid"), training=training))


calm = gradient(lambda k: total(k, None, training=False), kernel)
found = gradient(lambda k: total(k, "clean", training=True), kernel)
print(f"    {LOCAL['clean']:20} {apart(found, calm)} away, where the layer is the end of the graph")
assert float(apart(found, calm)) < 1e-5

print(
    "\nWhat comes after the layer in one layer with it: the whole gradient without noise, in the middle too"
)
WHOLE = sg.parse("""
x : real[k]; w : real[k]; t : real
u ~ Uniform(0.9, 1.1)[k]
z = sqrt(x**2*u)
y = sigmoid(sum(w*z))
loss = (y - t)**2
""")
x, w = (rng.normal(size=(6, 10)).astype("float32") for _ in range(2))
t = np.ones(6, "float32")
whole = sg.to_keras(WHOLE["loss"], ["x", "w", "t"], local="clean", seed=7)
calm = gradient(lambda h: ops.sum(whole([h, w, t], training=False)), x)
found = gradient(lambda h: ops.sum(whole([h, w, t], training=True)), x)
print(f"    {LOCAL['clean']:20} {apart(found, calm)} away")
assert float(apart(found, calm)) < 1e-5

print()
print(
    textwrap.fill(
        'When is "only at the very end of the graph" true? A layer decides what it passes back of the cotangent '
        'that it gets, not that cotangent. With local="clean" it passes on exactly what it would without noise. '
        "The cotangent itself is made by what comes after, from values that have the noise: the gradient of the "
        "whole model is the noise-free one if these derivatives do not depend on the values, that is if the layer is "
        "the end of the graph, or everything after it is linear. In the middle of a network it is not, however the "
        "layer is written. To have it there too, make what comes after part of the expression, loss included, and "
        'let sg.ignore_noise (or to_keras(..., local="clean")) fix the noise in all of it: the value stays noisy, '
        "bit for bit.",
        width=100,
    )
)
