"""`to_tensorflow`: a program as a function of TensorFlow, as source in its operations or as a kernel on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, Literal, final

import numpy as np

from symgrad.api.handles.expr import Expr
from symgrad.api.missing_framework import not_installed
from symgrad.interop.exporters.batching import Lengths, SourceShapes, broadcast, names_text
from symgrad.interop.exporters.callee import Callee, callee, cast_for_kernel, repeated_axes
from symgrad.interop.exporters.program_source import execute_source, source_of
from symgrad.ir.values.bound_sizes import lengths_of_names
from symgrad.ir.values.inputs import in_order
from symgrad.support.errors import ArrayTypeError, UsageError

try:
    tf: Any = import_module("tensorflow")  # a type checker does not see the types of this module
except ImportError as error:
    raise not_installed("tensorflow", error) from error

_Form = Literal["source", "kernel"]


def to_tensorflow(
    outputs: Any, inputs: Any = None, *, form: _Form = "source", gradient: bool | int = True
) -> TensorFlowFunction:
    r"""Export expressions as a function of TensorFlow, with the gradient that symgrad derives.

    The form ``source`` consists of operations of TensorFlow and a ``tf.custom_gradient``: it runs on any device, in a
    ``tf.function``, under XLA, and can be saved in a SavedModel. It takes arrays of the declared shapes; a program of
    numbers broadcasts.

    The form ``kernel`` calls compiled native code on the CPU through ``tf.numpy_function``; its derivatives of every
    order are also kernels. XLA (``jit_compile=True``) and SavedModel do not support this form, and it runs only in this
    process. Batch axes may precede the declared axes.

    Args:
        outputs: an expression, or a list of expressions.
        inputs: the symbols, or their names, in the order of the arguments; None for all symbols that the outputs need,
            in the order of the program.
        form: ``"source"`` or ``"kernel"``.
        gradient: whether, and up to which order, symgrad derives the derivatives of the source (see
            `Expr.framework_source`); a kernel has derivatives of all orders.

    Returns:
        A function of tensors; if a list was exported, it returns a tuple of tensors. `TensorFlowFunction.source` is the
            text.

    Raises:
        UnsupportedError: in the form ``source``, if TensorFlow does not have an operation.
        NotInProgramError, UsageError: if inputs are unknown.

    Example:
        >>> import symgrad as sg
        >>> import tensorflow as tf
        >>> x, u = sg.symbols("x u")
        >>> f = sg.to_tensorflow(sg.with_gradient(forward=sg.round(x*u), backward_of=x*u))
        >>> x, u = tf.constant([0.7, 2.2]), tf.constant([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = f(x, u)
        >>> y.numpy(), tape.gradient(y, x).numpy()
        (array([1., 4.], dtype=float32), array([1., 2.], dtype=float32))
    """
    if form not in ("source", "kernel"):
        raise UsageError(f"form={form!r}", expected="'source' or 'kernel'")
    return TensorFlowFunction(
        callee(outputs, inputs),
        single=not isinstance(outputs, list | tuple),
        form=form,
        gradient=int(gradient),
    )


@final
class TensorFlowFunction:
    """A program as a function of tensors; `to_tensorflow` creates it.

    Attributes:
        source: the text in operations of TensorFlow; None in the form ``kernel``.
        inputs: the names of the arguments.
    """

    def __init__(self, program: Callee, *, single: bool, form: _Form, gradient: int) -> None:
        self.inputs = tuple(str(e.node.name) for e in program.inputs)
        self._kinds = tuple(e.dtype for e in program.inputs)
        self._single = single
        self._shapes = SourceShapes(
            [e.node for e in program.outputs], [e.node for e in program.inputs], "tf.vectorized_map"
        )
        self.source: str | None = None
        # tf.function copies the attributes of the object that it wraps, and has its own _call.
        self._symgrad_call: Callable[..., Any]
        if form == "kernel":
            self._symgrad_call = _Kernel(program)
        else:
            self.source = source_of(program, "tensorflow", "f", single=single, gradient=gradient)
            self._symgrad_call = execute_source(self.source, "f", self.inputs)

    # AutoGraph must not convert this method: there is no control flow over tensors in it, and converting the compiler
    # takes minutes.
    @tf.autograph.experimental.do_not_convert
    def __call__(self, *arrays: Any, **by_name: Any) -> Any:
        """Compute the outputs.

        Args:
            arrays: the inputs, in the order of `inputs`: tensors, arrays or numbers. Numbers take the dtype of the
                tensors.
            by_name: inputs by their names.

        Raises:
            ArrayTypeError: if an argument is not a tensor, or real inputs have different dtypes.
            MissingInputError: if an input is missing, or there is one too many.
            ShapeError: if arrays do not have the declared shapes, or do not broadcast.
        """
        tensors = self._tensors(in_order(self.inputs, arrays, by_name))
        if self.source is None:
            found = self._symgrad_call(*tensors)
            return found[0] if self._single else tuple(found)
        self._shapes.check([None if t.shape.rank is None else tuple(t.shape) for t in tensors])
        return self._symgrad_call(*tensors)

    def _tensors(self, arrays: Sequence[Any]) -> list[Any]:
        """Convert arrays to tensors; real numbers take the dtype of the other tensors."""
        found: list[Any] = [None] * len(arrays)
        numbers: list[int] = []
        for k, (name, x) in enumerate(zip(self.inputs, arrays, strict=True)):
            if self._kinds[k] == "real" and isinstance(x, int | float) and not isinstance(x, np.generic):
                numbers.append(k)
                continue
            try:
                found[k] = tf.convert_to_tensor(x)
            except (TypeError, ValueError) as error:
                raise ArrayTypeError(
                    f"input '{name}' cannot be read as a tensor: {error}",
                    expected="a tensor, an array or a number",
                ) from None
        real = {
            name: t.dtype
            for name, t, kind in zip(self.inputs, found, self._kinds, strict=True)
            if t is not None and kind == "real"
        }
        for name, dtype in real.items():
            first = next(iter(real))
            if not dtype.is_floating and not dtype.is_complex:
                raise ArrayTypeError(
                    f"input '{name}' is {dtype.name}",
                    expected="real numbers",
                    cure=f"pass tf.cast({name}, tf.float32)",
                )
            if dtype != real[first]:
                raise ArrayTypeError(
                    f"input '{first}' is {real[first].name} and '{name}' is {dtype.name}",
                    expected="real inputs of one dtype",
                    cure="pass all in one, by tf.cast",
                )
        for k in numbers:
            found[k] = tf.constant(arrays[k], next(iter(real.values()), tf.float32))
        return found

    def __repr__(self) -> str:
        return f"TensorFlowFunction({names_text(self.inputs)})"


class _Kernel:
    """A program as a kernel behind ``tf.numpy_function``; every derivative is another function of this kind."""

    def __init__(self, program: Callee) -> None:
        self.program = program
        self.real = tuple(e.dtype == "real" for e in program.inputs)
        self.results = tuple(e.dtype == "real" for e in program.outputs)

    def __call__(self, *arrays: Any) -> list[Any]:
        dtype = self._dtype(arrays)
        arrays = tuple(
            a if real else tf.cast(a, tf.int64 if e.dtype == "int" else tf.bool)
            for a, e, real in zip(arrays, self.program.inputs, self.real, strict=True)
        )
        others = {k: a for k, a in enumerate(arrays) if not self.real[k]}

        @tf.custom_gradient
        def of_real(*given: Any) -> Any:
            each = iter(given)
            every = [others[k] if k in others else next(each) for k in range(len(arrays))]

            def grad(*cotangents: Any) -> list[Any]:
                kept = [c for c, real in zip(cotangents, self.results, strict=True) if real]
                # Copy the tensors: TensorFlow cannot differentiate tensors of an outer graph again.
                here = map(tf.identity, every)
                pulled = _Kernel(self.program.vjp(self.real))(*here, *kept)
                # A constant zero is an integer.
                return [
                    _summed(tf.cast(bar, x.dtype), x, e)
                    for bar, x, e in zip(pulled, given, self._moving(), strict=True)
                ]

            return self._run(every, dtype), grad

        return list(of_real(*[a for k, a in enumerate(arrays) if k not in others]))

    def _moving(self) -> list[Expr]:
        return [e for e, real in zip(self.program.inputs, self.real, strict=True) if real]

    def _dtype(self, arrays: Sequence[Any]) -> Any:
        found = {a.dtype for a, real in zip(arrays, self.real, strict=True) if real}
        if len(found) > 1 or not found <= {tf.float32, tf.float64}:
            raise ArrayTypeError(
                f"arrays of {names_text(sorted(d.name for d in found))}",
                expected="float32 or float64, one for all",
                cure='tf.cast, or form="source"',
            )
        return next(iter(found), tf.float64)

    def _run(self, arrays: Sequence[Any], dtype: Any) -> list[Any]:
        kernel = self.program.kernel(dtype.name)
        kinds = [
            dtype if e.dtype == "real" else tf.int64 if e.dtype == "int" else tf.bool
            for e in self.program.outputs
        ]

        def compute(*values: Any) -> list[Any]:
            given = [
                cast_for_kernel(v, k, name)
                for v, k, name in zip(values, kernel.kinds, kernel.inputs, strict=False)
            ]
            results = self.program.run(kernel, given)
            return [np.asarray(r, kind.as_numpy_dtype) for r, kind in zip(results, kinds, strict=True)]

        found: Any = tf.numpy_function(compute, list(arrays), kinds, stateful=False)
        outputs: list[Any] = tf.nest.flatten(found)
        for output, shape in zip(outputs, self._shapes(arrays), strict=True):
            output.set_shape(shape)
        return outputs

    def _shapes(self, arrays: Sequence[Any]) -> list[tuple[int | None, ...] | None]:
        """Return the static shapes of the outputs, which later layers need."""
        if any(a.shape.rank is None or a.shape.rank < len(e.shape) for a, e in self._each(arrays)):
            return [None] * len(self.program.outputs)
        batches: list[tuple[int | None, ...]] = []
        own: list[tuple[int | None, ...]] = []
        for a, e in self._each(arrays):
            shape = tuple(a.shape)
            split = len(shape) - len(e.shape)
            batches.append(shape[:split])
            own.append(shape[split:])
        batch, sizes = (
            broadcast(batches),
            Lengths(lengths_of_names([e.shape for e in self.program.inputs], own)),
        )
        return [(*batch, *map(sizes.of, e.shape)) for e in self.program.outputs]

    def _each(self, arrays: Sequence[Any]) -> Iterable[tuple[Any, Expr]]:
        return zip(arrays, self.program.inputs, strict=True)


def _summed(bar: Any, x: Any, e: Expr) -> Any:
    """Sum a cotangent of the whole batch to the batch of its argument."""
    rank = len(e.shape)
    if bar.shape.is_fully_defined() and x.shape.is_fully_defined():
        own, whole = (tuple(a.shape)[: len(a.shape) - rank] for a in (x, bar))
        axes = repeated_axes(whole, own)
        return tf.reshape(tf.reduce_sum(bar, axes), x.shape) if axes else bar
    axes = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(bar), s1=tf.shape(x))[1]
    return tf.reshape(tf.reduce_sum(bar, axes), tf.shape(x))
