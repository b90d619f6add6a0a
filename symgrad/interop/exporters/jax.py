"""Programs as functions of JAX, in two forms: a native kernel, or source code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal, final

import numpy as np

from symgrad.api.handles.expr import Expr
from symgrad.api.missing_framework import not_installed
from symgrad.interop.exporters.batching import SourceShapes
from symgrad.interop.exporters.callee import Callee, callee
from symgrad.interop.exporters.program_source import execute_source, source_of
from symgrad.ir.values.inputs import in_order
from symgrad.support.errors import UsageError

_Form = Literal["kernel", "source"]


def to_jax(outputs: object, inputs: object = None, *, form: _Form = "kernel", name: str = "f") -> JaxFunction:
    r"""Export expressions as a function of JAX, for jit, grad, jvp, vmap and their compositions.

    Derivatives of every order are derived by symgrad, which compiles a kernel for each on its first use.

    Args:
        outputs: an expression, or a list of expressions.
        inputs: the symbols, or their names, in the order of the arguments; None for all symbols that the outputs need,
            in the order of the program's declarations.
        form: ``kernel`` for symgrad's native code, which XLA calls on the CPU without copies and without Python.
            ``source`` for the formula in operations of JAX, which JAX differentiates, on any device; the attribute
            ``source`` of the function is its text.
        name: the name of the function.

    Returns:
        A function of the inputs, which are passed in order or by name: arrays of the declared shapes; in the form
        ``kernel``, batch axes may precede these shapes, and broadcast. Real numbers are float32 or float64, by the
        promotion rules of JAX. It returns an array for one output, and a tuple for several. It can be pickled.

    Raises:
        MissingInputError: if the outputs read a symbol that is not among the inputs.
        UsageError: if there is no such form, or JAX is not installed.
        UnsupportedError: in the form ``source``, if JAX does not have an operation.

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
        import_module("jax")  # JAX starts slowly, and may be missing
    except ImportError as error:
        raise not_installed("jax", error) from error
    return JaxFunction(callee(outputs, inputs), form, name)


@final
class JaxFunction:
    """A program as a function of arrays; `to_jax` creates it.

    A pickle contains the formulas; the loaded function returns the same bits.

    Attributes:
        inputs: the names of the arguments.
        source: the text in operations of JAX; None in the form ``kernel``.
    """

    def __init__(self, program: Callee, form: _Form, name: str) -> None:
        self.inputs = tuple(str(e.node.name) for e in program.inputs)
        self.source: str | None = None
        self._program, self._form = program, form
        self.__name__ = self.__qualname__ = name
        if form == "kernel":
            self.__doc__ = f"Compute {', '.join(map(_shortly, program.outputs))} by symgrad's kernel."
            self._compute = _by_kernel(program, name)
        else:
            self.__doc__ = self.source = source_of(program, "jax", name, single=len(program.outputs) == 1)
            self._compute = _by_source(program, execute_source(self.source, name, self.inputs))

    def __call__(self, *arrays: Any, **by_name: Any) -> Any:
        """Compute the outputs.

        Args:
            arrays: the inputs, in the order of `inputs`.
            by_name: inputs by their names.

        Raises:
            ArrayTypeError: if an argument is not an array of the declared kind.
            MissingInputError: if an input is missing, or there is one too many.
            ShapeError: if arrays do not have the declared shapes, or do not broadcast.
        """
        return self._compute(in_order(self.inputs, arrays, by_name))

    def __reduce__(self) -> tuple[object, ...]:
        program = self._program
        return (_loaded, (list(program.outputs), list(program.inputs), self._form, self.__name__))

    def __repr__(self) -> str:
        return f"<JaxFunction {self.__name__}({', '.join(self.inputs)}), {self._form}>"


def _loaded(outputs: list[Expr], inputs: list[Expr], form: _Form, name: str) -> JaxFunction:
    """Restore a pickled function."""
    return to_jax(outputs, inputs, form=form, name=name)


def _by_kernel(program: Callee, name: str) -> Callable[[Sequence[Any]], Any]:
    from symgrad.interop.exporters import jax_call  # the form `source` needs none of this

    called = jax_call.TangentProgram(program, name)
    single = len(program.outputs) == 1

    def compute(arrays: Sequence[Any]) -> Any:
        found = jax_call.call_program(called, arrays)
        return found[0] if single else tuple(found)

    return compute


def _by_source(program: Callee, function: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
    written = SourceShapes([e.node for e in program.outputs], [e.node for e in program.inputs], "jax.vmap")

    def compute(arrays: Sequence[Any]) -> Any:
        written.check([np.shape(a) for a in arrays])
        return function(*arrays)

    return compute


def _shortly(e: Expr) -> str:
    text = str(e)
    return text if len(text) <= 100 else f"{text[:100]}..."
