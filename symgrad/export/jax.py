"""Programs as functions of JAX, in two forms: a native kernel, and source code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from symgrad.api.extras import not_installed
from symgrad.api.handles.expr import Expr
from symgrad.errors import UnsupportedError, UsageError
from symgrad.export.batched import Written
from symgrad.export.callee import Callee, callee
from symgrad.ir.values.inputs import in_order
from symgrad.render.frameworks.pasted import framework_source

__all__ = ["to_jax"]


def to_jax(
    outputs: object, inputs: object = None, *, form: Literal["kernel", "source"] = "kernel", name: str = "f"
) -> Callable[..., Any]:
    r"""Return a function of JAX that computes expressions; jit, grad, jvp, vmap and all made of them apply to it.

    Its derivatives, of every order, are those that symgrad derives: kernels of their own, compiled when first needed.

    Args:
        outputs: an expression, or a list of them.
        inputs: the symbols, or their names, in the order of arguments; None for those that are needed, in the order of
            the program's declarations.
        form: ``kernel`` for symgrad's native code, which XLA calls on the CPU without copies and without Python;
            ``source`` for the formula in JAX's own operations, with JAX's own derivatives, on any device: its text is
            the function's attribute ``source``.
        name: what the function is called.

    Returns:
        A function of the inputs, in order or by name: arrays of the declared shapes, in the form ``kernel`` with a
        batch before them that broadcasts. Real numbers are float32 or float64, as JAX makes of all of them together.
        One output gives the array itself, several a tuple.

    Raises:
        MissingInputError: if the outputs read a symbol that is not among the inputs.
        UsageError: for another form, or without JAX.
        UnsupportedError: in source form, for operations without a spelling there.

    Example:
        >>> import jax, symgrad as sg
        >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
        >>> f = sg.to_jax(p["z"])
        >>> print(f(3.0, 1.0), jax.grad(f)(-3.0, 1.0), jax.jit(jax.hessian(f, 1))(3.0, 1.0))
        3.0 -1.0 -0.75
    """
    if form not in ("kernel", "source"):
        raise UsageError(f"form={form!r}", expected="form='kernel' or form='source'")
    try:
        from symgrad.export import jax_call  # JAX starts slowly, and may be missing
    except ImportError as error:
        raise not_installed("jax", error) from error
    made = callee(outputs, inputs)
    if form == "source":
        return _in_source(made, name)
    program = jax_call.Program(made, name)
    names = [e.node.name for e in made.inputs]
    one = len(made.outputs) == 1

    def call(*arrays: Any, **by_name: Any) -> Any:
        found = jax_call.called(program, in_order(names, arrays, by_name))
        return found[0] if one else tuple(found)

    said = "Compute " + ", ".join(map(_shortly, made.outputs)) + " by symgrad's kernel."
    return _described(call, name, said)


def _described(function: Any, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _shortly(e: Expr) -> str:
    text = str(e)
    return text if len(text) <= 100 else f"{text[:100]}..."


def _in_source(made: Callee, name: str) -> Callable[..., Any]:
    if len(made.outputs) != 1:
        raise UnsupportedError(
            f"{len(made.outputs)} outputs in source form",
            expected="one output",
            cure="make a function of each",
        )
    text = framework_source(made.outputs[0].node, "jax", name)
    space: dict[str, Any] = {}
    exec(compile(text, f"<{name}, written by symgrad>", "exec"), space)
    names = [e.node.name for e in made.inputs]
    inner = space[name]
    read: list[str] = list(inspect.signature(inner).parameters)

    written = Written([e.node for e in made.outputs], [e.node for e in made.inputs], "jax.vmap")

    def call(*arrays: Any, **by_name: Any) -> Any:
        values = in_order(names, arrays, by_name)
        written.check([np.shape(v) for v in values])
        given = dict(zip(names, values, strict=True))
        return inner(*[given[n] for n in read])

    found = _described(call, name, text)
    found.source = text
    return found
