"""What works where: a function for every cell of the table in docs/frameworks.md, which tries it.

A cell that raises is `refused`, if symgrad says so, or `no`. A wrong number is neither: it fails the test. What stands
for a framework that is not installed, or is not made yet, is not tried, and the table keeps what it says.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import symgrad as sg
from symgrad import errors
from symgrad.errors import SymgradError

__all__ = ["COLUMNS", "NOT_TRIED", "ROWS", "row"]

COLUMNS = ("jit", "vmap", "grad of grad", "forward mode", "compile", "save and load", "GPU", "dtype")
NOT_TRIED = "not tried"
NONE = "–"
"""For what the framework has no such thing."""

E = sg.parse("x : real\nz = x*sin(x)")["z"]
X = np.array([0.3, -1.25, 2.5])
VALUE, FIRST, SECOND = X * np.sin(X), np.sin(X) + X * np.cos(X), 2 * np.cos(X) - X * np.sin(X)


def right(found: Any, expected: Any, rtol: float = 1e-5) -> None:
    if hasattr(found, "detach"):
        found = found.detach()
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol)


# JAX


def jax_(form: str) -> dict[str, Callable[[], Any]]:
    jax: Any = import_module("jax")
    f = sg.to_jax(E, form=form)
    x = jax.numpy.asarray(X)
    one = jax.grad(lambda t: f(t).sum())

    def save() -> None:
        exported = jax.export.export(jax.jit(f))(jax.ShapeDtypeStruct(x.shape, x.dtype))
        right(jax.export.deserialize(exported.serialize()).call(x), VALUE)

    def dtypes() -> str:
        with jax.enable_x64(True):
            return ", ".join(d for d in ("float32", "float64") if f(jax.numpy.asarray(X, d)).dtype == d)

    return {
        "jit": lambda: right(jax.jit(f)(x), VALUE),
        "vmap": lambda: right(jax.vmap(f)(x), VALUE),
        "grad of grad": lambda: right(jax.grad(lambda t: one(t).sum())(x), SECOND),
        "forward mode": lambda: right(jax.jvp(f, (x,), (jax.numpy.ones_like(x),))[1], FIRST),
        "compile": lambda: right(jax.jit(f).lower(x).compile()(x), VALUE),
        "save and load": save,
        "dtype": dtypes,
    }


# torch


def torch_(form: str) -> dict[str, Callable[[], Any]]:
    torch: Any = import_module("torch")
    f = sg.to_torch(E, form=form)
    x = torch.tensor(X)

    class Model(torch.nn.Module):
        def forward(self, t: Any) -> Any:
            return f(t)

    def twice() -> None:
        t = x.clone().requires_grad_()
        (first,) = torch.autograd.grad(f(t).sum(), t, create_graph=True)
        right(torch.autograd.grad(first.sum(), t)[0], SECOND)

    def compiled() -> None:
        torch._dynamo.reset()
        right(torch.compile(f, fullgraph=True, backend="aot_eager")(x), VALUE)

    def save() -> None:
        right(pickle.loads(pickle.dumps(f))(x), VALUE)

    return {
        "jit": lambda: right(torch.export.export(Model(), (x,)).module()(x), VALUE),
        "vmap": lambda: right(torch.func.vmap(f)(x), VALUE),
        "grad of grad": twice,
        "forward mode": lambda: right(torch.func.jvp(f, (x,), (torch.ones_like(x),))[1], FIRST),
        "compile": compiled,
        "save and load": save,
        "dtype": lambda: ", ".join(
            d
            for d in ("float16", "float32", "float64")
            if accepts(lambda d=d: str(f(x.to(getattr(torch, d))).dtype) == f"torch.{d}")
        ),
    }


def accepts(call: Callable[[], bool]) -> bool:
    try:
        return call()
    except (SymgradError, RuntimeError, TypeError, ValueError):
        return False


# TensorFlow


def tensorflow_(form: str) -> dict[str, Callable[[], Any]]:
    tf: Any = import_module("tensorflow")
    f = sg.to_tensorflow(E, form=form)
    x = tf.constant(X)

    def twice() -> None:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            first = inner.gradient(y, x)
        right(outer.gradient(first, x), SECOND)

    def forward() -> None:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as pushed:
            y = f(x)
        right(pushed.jvp(y), FIRST)

    def save() -> None:
        module = tf.Module()
        module.f = tf.function(f, input_signature=[tf.TensorSpec(x.shape, x.dtype)])
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder)
            script = f"import tensorflow as tf\nf = tf.saved_model.load({folder!r}).f\n"
            script += f"print(*f(tf.constant({X.tolist()}, tf.float64)).numpy())"
            right(np.array(elsewhere(script).split(), float), VALUE)

    return {
        "jit": lambda: right(tf.function(f)(x), VALUE),
        "vmap": lambda: right(tf.vectorized_map(f, x), VALUE),
        "grad of grad": twice,
        "forward mode": forward,
        "compile": lambda: right(tf.function(f, jit_compile=True)(x), VALUE),
        "save and load": save,
        "dtype": lambda: ", ".join(
            d
            for d in ("float16", "float32", "float64")
            if accepts(lambda d=d: f(tf.cast(x, d)).dtype.name == d)
        ),
    }


def elsewhere(script: str) -> str:
    """Run a script in a process of its own, where nothing is left of this one, and return what it prints."""
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


# Keras


def keras_(form: str) -> dict[str, Callable[[], Any]]:
    keras: Any = import_module("keras")
    tf: Any = import_module("tensorflow")

    def layer(**more: Any) -> Any:
        return sg.to_keras(E, form=form, **more)

    x = X.astype("float32").reshape(1, -1)

    def model() -> Any:
        inputs = keras.Input((3,))
        return keras.Model(inputs, layer()(inputs))

    def twice() -> None:
        made, t = layer(), tf.constant(x)
        with tf.GradientTape() as outer:
            outer.watch(t)
            with tf.GradientTape() as inner:
                inner.watch(t)
                y = made(t)
            first = inner.gradient(y, t)
        right(outer.gradient(first, t), [SECOND])

    def forward() -> None:
        made, t = layer(), tf.constant(x)
        with tf.autodiff.ForwardAccumulator(t, tf.ones_like(t)) as pushed:
            y = made(t)
        right(pushed.jvp(y), [FIRST])

    def fitted() -> None:
        made = model()
        made.compile(optimizer="sgd", loss="mse", jit_compile=True)
        right(made.predict(x, verbose=0), [VALUE])

    def save() -> None:
        made = model()
        with tempfile.TemporaryDirectory() as folder:
            made.save(Path(folder) / "model.keras")
            right(keras.models.load_model(Path(folder) / "model.keras")(x), [VALUE])

    return {
        "jit": lambda: right(model().predict(x, verbose=0), [VALUE]),
        "vmap": lambda: right(keras.ops.vectorized_map(layer(), tf.constant(x)), [VALUE]),
        "grad of grad": twice,
        "forward mode": forward,
        "compile": fitted,
        "save and load": save,
        "dtype": lambda: ", ".join(
            d
            for d in ("bfloat16", "float16", "float32", "float64")
            if accepts(lambda d=d: keras.backend.standardize_dtype(layer(dtype=d)(tf.cast(x, d)).dtype) == d)
        ),
    }


# What is read


def read(program: Callable[..., Any], *functions: Any) -> dict[str, Callable[[], Any]]:
    """Cells of a row of an importer.

    Args:
        program: reads a function of one argument.
        functions: the plain function; one that is jitted, one that maps, one that holds a gradient, one a tangent.
    """
    plain, jitted, mapped, gradient, tangent = functions

    def output(function: Any) -> Any:
        return program(function).last

    def evaluates(function: Any, expected: Any) -> None:
        if function is None:
            raise NotImplementedError
        right(output(function)(X), expected, 1e-6)

    return {
        "jit": partial(evaluates, jitted, VALUE),
        "vmap": partial(evaluates, mapped, VALUE),
        "grad of grad": partial(evaluates, gradient, FIRST),
        "forward mode": partial(evaluates, tangent, FIRST),
        "compile": lambda: right(sg.compile(sg.grad(sg.sum(output(plain)), "x"))(X), FIRST, 1e-9),
        "save and load": lambda: right(pickle.loads(pickle.dumps(program(plain))).last(X), VALUE, 1e-9),
        "dtype": lambda: "exact",
    }


def from_jax() -> dict[str, Callable[[], Any]]:
    jax: Any = import_module("jax")

    def f(x: Any) -> Any:
        return x * jax.numpy.sin(x)

    program = lambda g: sg.from_jax(g, "real[3]")  # noqa: E731
    return read(
        program,
        f,
        jax.jit(f),
        lambda x: jax.vmap(f)(x),
        lambda x: jax.grad(lambda t: f(t).sum())(x),
        lambda x: jax.jvp(f, (x,), (jax.numpy.ones_like(x),))[1],
    )


def from_torch() -> dict[str, Callable[[], Any]]:
    torch: Any = import_module("torch")

    def f(x: Any) -> Any:
        return x * torch.sin(x)

    def gradient(x: Any) -> Any:
        return torch.func.grad(lambda t: f(t).sum())(x)

    def tangent(x: Any) -> Any:
        return torch.func.jvp(f, (x,), (torch.ones_like(x),))[1]

    program = lambda g: sg.from_torch(g, torch.tensor(X))  # noqa: E731
    return read(program, f, torch.compile(f), lambda x: torch.func.vmap(f)(x), gradient, tangent)


def from_tensorflow() -> dict[str, Callable[[], Any]]:
    tf: Any = import_module("tensorflow")

    def f(x: Any) -> Any:
        return x * tf.sin(x)

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    def tangent(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as pushed:
            y = f(x)
        return pushed.jvp(y)

    program = lambda g: sg.from_tensorflow(g, tf.constant(X))  # noqa: E731
    return read(program, f, tf.function(f), lambda x: tf.vectorized_map(f, x), gradient, tangent)


def on_gpu(framework: str, form: str) -> str:
    """A kernel refuses the tensors of a GPU; source is the framework's own operations, which run where it does."""
    return "no" if form == "kernel" else f"as {framework}'s own"


FORMS = ("kernel", "source")
ROWS: dict[str, tuple[str, str, Callable[[], dict[str, Callable[[], Any]]]]] = {
    **{
        f"`to_{name}`, {form}": (f"to_{name}", name, partial(make, form))
        for name, make in (("jax", jax_), ("torch", torch_), ("tensorflow", tensorflow_), ("keras", keras_))
        for form in FORMS
    },
    **{
        f"`{make.__name__}`": (make.__name__, make.__name__.removeprefix("from_"), make)
        for make in (from_jax, from_torch, from_tensorflow)
    },
}
"""By the title of a row: the name in symgrad, the framework, and what makes its cells."""


def row(title: str) -> list[str] | None:
    """Return the cells of a row; None if it cannot be tried here."""
    name, framework, make = ROWS[title]
    needed = [framework, "tensorflow"] if framework == "keras" else [framework]
    if any(find_spec(n) is None for n in needed) or not hasattr(sg, name):
        return None
    if framework == "keras" and import_module("keras").backend.backend() != "tensorflow":
        return None
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    cells = make()
    form = title.rpartition(" ")[2]
    texts: list[str] = []
    for column in COLUMNS:
        if column == "GPU":
            texts.append(on_gpu(framework, form) if form in FORMS else NONE)
        else:
            texts.append(tried(cells[column]))
    return texts


def tried(cell: Callable[[], Any]) -> str:
    """Return what comes of trying a cell."""
    try:
        found = cell()
    except AssertionError:
        raise  # a wrong number
    except SymgradError:
        return "refused"
    except Exception as error:  # noqa: BLE001 (frameworks raise what they like)
        # A framework may have put what symgrad says into an error of its own.
        return "refused" if any(name in str(error) for name in errors.__all__) else "no"
    return found if isinstance(found, str) else "yes"
