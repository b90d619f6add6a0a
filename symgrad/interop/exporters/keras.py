"""`to_keras`: a program as a layer of Keras 3, for its TensorFlow, torch and JAX backends.

The layer holds only the text of the program, so that a saved model can be loaded on any backend; the text is parsed,
never executed. The layer computes the source of `framework_source("keras")`, with the gradient that symgrad derives.
For a value that has the gradient of another expression (`with_gradient`, `ignore_noise`), the forward pass evaluates
only the value. So it is finite even where the other expression overflows; in the stop_gradient form the value would be
NaN there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast, final

from symgrad.api.derivatives.gradient_override import ignore_noise
from symgrad.api.handles.expr import Expr, as_expr, handle
from symgrad.api.handles.inputs import inputs_of
from symgrad.api.handles.program import parse
from symgrad.interop.exporters.batching import batch_program, broadcast, lengths, names_text
from symgrad.interop.exporters.callee import expressions, select_inputs
from symgrad.interop.exporters.keras_noise import DRAWN, draw_values, keras
from symgrad.interop.exporters.program_source import execute_source, fix_noise_at_means, source_text, text_of
from symgrad.ir.graph import Node
from symgrad.ir.listing import one_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.support.errors import MissingInputError, ShapeError, UnsupportedError, UsageError
from symgrad.support.public_names import PUBLIC, public

_Layer: Any = keras.layers.Layer
_BACKENDS = ("tensorflow", "torch", "jax")
_DTYPES = ("float16", "bfloat16", "float32", "float64")
_Form = Literal["source", "kernel"]


def to_keras(
    outputs: Any,
    inputs: Any = None,
    *,
    local: Literal["clean", "noisy"] | None = None,
    form: _Form = "source",
    gradient: bool | int = True,
    seed: int | None = None,
    **layer: Any,
) -> ProgramLayer:
    r"""Return a Keras layer that computes expressions.

    Random inputs of the program are noise: sampled in training (`keras.random`, with a seed that is saved with the
    model), otherwise fixed at their means. All other inputs are inputs of the layer.

    An input has the declared axes; batch axes may precede them. In an elementwise program of numbers all inputs
    broadcast, and each entry has its own noise.

    Args:
        outputs: an expression, or a list of expressions.
        inputs: the symbols, or their names, in the order of the layer's arguments; None for all inputs that are not
            random, in the order of the program. A random input in this list is an argument, and is not sampled.
        local: whether the gradient is the gradient without noise, and where it is taken: see `ignore_noise`. None for
            the gradient of the expressions.
        form: ``"source"`` for operations of Keras, which run on any device and in any floating dtype; ``"kernel"`` for
            the compiled kernel on the CPU, through `to_tensorflow`, `to_torch` or `to_jax`.
        gradient: whether symgrad derives the gradient, and up to which order; otherwise the backend differentiates the
            operations.
        seed: the seed of the noise.
        layer: arguments that every Keras layer has: ``name=``, ``dtype=``, ...

    Raises:
        UnsupportedError: if operations, dtypes or the backend are not supported, or Keras cannot sample the noise.
        NotInProgramError, UsageError: if inputs are unknown or missing.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
        >>> noisy = sg.to_keras(p["z"], local="clean", seed=1)
        >>> import numpy as np
        >>> [f"{float(z):.4f}" for z in noisy(np.array([3.0, -4.0]))]
        ['3.0000', '4.0000']
        >>> print(noisy.program)
        x : real
        u ~ Uniform(0.9, 1.1)
        z = sqrt(x**2*u)
        t1 = sqrt(x**2*1)
        y = stop_gradient(z) - (stop_gradient(t1) - t1)
    """
    several = isinstance(outputs, list | tuple)
    exprs = expressions(outputs)
    if local not in (None, "clean", "noisy"):
        raise UsageError(f"local={local!r}", expected="'clean', 'noisy' or None")
    if local is not None:
        exprs = [_calm(e, local, inputs) for e in exprs]
    every = inputs_of(exprs)
    if inputs is None:
        given = [s for s in every if s.declaration.distribution is None]
    else:
        given = [e.node for e in select_inputs(exprs, inputs)]
    noise = [s for s in every if s not in given]
    for s in noise:
        if s.declaration.distribution is None:
            raise MissingInputError(
                f"'{s.name}' is not among the inputs",
                expected=one_of(n.name for n in every),
                cure="list it as well",
            )
    text, names = text_of(exprs, [*given, *noise])
    return ProgramLayer(
        text,
        names if several else names[0],
        [s.name for s in given],
        [s.name for s in noise],
        form=form,
        gradient=int(gradient),
        seed=seed,
        **layer,
    )


def _calm(e: Expr, local: Literal["clean", "noisy"], inputs: Any) -> Expr:
    listed = cast("list[Any]", inputs if isinstance(inputs, list | tuple) else [inputs])
    kept = {i if isinstance(i, str) else as_expr(i).name for i in listed if i is not None}
    noise = [s for s in symbols_of([e.node]) if s.declaration.distribution is not None and s.name not in kept]
    return ignore_noise(e, [handle(s) for s in noise], local=local) if noise else e


@final
@keras.saving.register_keras_serializable(package="symgrad")
class ProgramLayer(_Layer):
    """A layer that computes the outputs of a program; `to_keras` creates it.

    Args:
        program: the text of the program.
        outputs: the name of the output, or a list of names.
        inputs: the names of the inputs, in order; the layer is called with one array, or a list of arrays.
        noise: the names of the sampled random inputs.
        form, gradient, seed: as for `to_keras`.
        layer: arguments that every Keras layer has.

    Attributes:
        program: the text of the program.
        seed_generator: the state of the noise, which is saved with the model.
    """

    def __init__(
        self,
        program: str,
        outputs: str | Sequence[str],
        inputs: Sequence[str],
        noise: Sequence[str] = (),
        *,
        form: _Form = "source",
        gradient: int = 1,
        seed: int | None = None,
        **layer: Any,
    ) -> None:
        _Layer.__init__(self, **layer)
        if form not in ("source", "kernel"):
            raise UsageError(f"form={form!r}", expected="'source' or 'kernel'")
        self.program = program
        self.form = form
        self.gradient = gradient
        self._check_dtype()
        self._written = {"outputs": outputs, "inputs": list(inputs), "noise": list(noise), "seed": seed}
        read = parse(program, "the layer's program")
        names = [outputs] if isinstance(outputs, str) else list(outputs)
        self._single = isinstance(outputs, str)
        self._exprs = tuple(read[name] for name in names)
        self._given = tuple(read[name].node for name in inputs)
        self._noise = tuple(read[name].node for name in noise)
        self._names = {n: t for n, t in read.listing.name_of().items() if n.args and t not in names}
        for s in self._noise:
            drawn_from = s.declaration.distribution
            if drawn_from is None or drawn_from.name not in DRAWN or drawn_from.formulas:
                raise UnsupportedError(
                    f"Keras cannot draw '{s.declaration}'",
                    expected=f"{one_of(DRAWN)}, with numbers as parameters",
                    cure="list it among the inputs, and pass what you draw",
                )
        self._calm = fix_noise_at_means([e.node for e in self._exprs], self._noise) if noise else ()
        self._free = not any(
            n.shape or not n.op.pointwise for n in (*topological(e.node for e in self._exprs), *self._given)
        )
        self._functions: dict[Any, Callable[..., Any]] = {}
        self.seed_generator = keras.random.SeedGenerator(seed) if noise else None
        self.source_of(training=bool(noise))  # raise an error now if there is no source

    def _check_dtype(self) -> None:
        backend = keras.backend.backend()
        if backend not in _BACKENDS:
            raise UnsupportedError(
                f"Keras' {backend} backend has no gradients",
                expected=one_of(_BACKENDS),
                cure="set KERAS_BACKEND",
            )
        if self.compute_dtype not in _DTYPES:
            raise UnsupportedError(f"a layer that computes in {self.compute_dtype}", expected=one_of(_DTYPES))
        if self.form == "kernel" and self.compute_dtype in ("float16", "bfloat16"):
            raise UnsupportedError(
                f"a kernel in {self.compute_dtype}", expected="float32 or float64", cure='form="source"'
            )
        if self.form == "source" and self.compute_dtype == "float64" and backend != "tensorflow":
            raise UnsupportedError(
                f"Keras computes float64 in float32 in many functions of its {backend} backend",
                expected="float32, or its TensorFlow backend",
                cure='form="kernel" computes in float64',
            )

    # -- the protocol of Keras layers

    def get_config(self) -> dict[str, Any]:
        """Return the configuration of the layer: text, names and numbers."""
        own = {"program": self.program, "form": self.form, "gradient": self.gradient}
        written = {k: list(v) if isinstance(v, list | tuple) else v for k, v in self._written.items()}
        return {**_Layer.get_config(self), **own, **written}

    def build(self, input_shape: Any) -> None:
        """Check the shapes of inputs; they are not stored, so that the layer may be built again for other shapes."""
        self._result_shapes(self._listed(input_shape, shapes=True))
        self.built = True

    def compute_output_spec(self, inputs: Any, training: Any = None) -> Any:
        """Return the shapes and dtypes of the outputs; unknown lengths are None."""
        del training
        shapes = self._result_shapes([tuple(x.shape) for x in self._listed(inputs)])
        dtypes = {"real": self.compute_dtype, "int": "int32", "bool": "bool"}
        made = [
            keras.KerasTensor(shape, dtype=dtypes[e.dtype])
            for shape, e in zip(shapes, self._exprs, strict=True)
        ]
        return made[0] if self._single else made

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Compute the outputs: in training with sampled noise, otherwise with noise at its means."""
        arrays = [self._array(x, s) for x, s in zip(self._listed(inputs), self._given, strict=True)]
        self._result_shapes([tuple(x.shape) for x in arrays])
        noisy = bool(training) and bool(self._noise)
        extra = tuple(len(x.shape) - len(s.shape) for x, s in zip(arrays, self._given, strict=True))
        if noisy:
            arrays += self._draw(arrays)
        found = self._function(() if self._free else extra, training=noisy)(*arrays)
        return found if self._single else list(found)

    def save_own_variables(self, store: Any) -> None:
        """Save the state of the noise, because Keras does not save it."""
        if self.seed_generator is not None:
            store["noise"] = keras.ops.convert_to_numpy(self.seed_generator.state)

    def load_own_variables(self, store: Any) -> None:
        """Restore the state of the noise."""
        if self.seed_generator is not None:
            self.seed_generator.state.assign(store["noise"])

    # -- how

    @property
    def source(self) -> str:
        """The source that is run in training, for arrays of the declared shapes."""
        return self.source_of(training=True)

    def source_of(self, *, training: bool) -> str:
        """Return the source that is run, in training or otherwise, for arrays of the declared shapes."""
        return self._source(self._nodes(training=training), self._symbols(training=training), self._names)

    def _nodes(self, *, training: bool) -> tuple[Node, ...]:
        return tuple(e.node for e in self._exprs) if training or not self._noise else tuple(self._calm)

    def _symbols(self, *, training: bool) -> tuple[Node, ...]:
        return (*self._given, *self._noise) if training else self._given

    def _source(self, nodes: Sequence[Node], symbols: Sequence[Node], names: Mapping[Node, str]) -> str:
        return source_text(
            nodes, symbols, "keras", "program", names, single=self._single, gradient=self.gradient
        )

    def _function(self, extra: tuple[int, ...], *, training: bool) -> Callable[..., Any]:
        """Return the function for arrays that have so many axes before the declared ones."""
        key = extra, training
        found = self._functions.get(key)
        if found is None:
            nodes, symbols = self._nodes(training=training), self._symbols(training=training)
            if self.form == "kernel":
                found = self._kernel(nodes, symbols)
            else:
                names = self._names
                if any(extra):
                    every = (*extra, *[max(extra)] * len(self._noise)) if training else extra
                    nodes, symbols, names = batch_program(nodes, symbols, every, names)
                source = self._source(nodes, symbols, names)
                found = execute_source(source, "program", [s.name for s in symbols])
            self._functions[key] = found
        return found

    def _kernel(self, nodes: Sequence[Node], symbols: Sequence[Node]) -> Callable[..., Any]:
        name = f"to_{keras.backend.backend()}"
        if name not in PUBLIC:
            raise UnsupportedError(f"symgrad has no {name}", cure='form="source"')
        make = public(name)
        exprs = [handle(n) for n in nodes]
        options = {"form": "kernel"} if name == "to_tensorflow" else {}
        made: Callable[..., Any] = make(
            exprs[0] if self._single else exprs, [handle(s) for s in symbols], **options
        )
        return made

    def _listed(self, inputs: Any, *, shapes: bool = False) -> list[Any]:
        """Return the inputs (or their shapes) one by one."""
        if isinstance(inputs, Mapping):
            table = cast("Mapping[str, Any]", inputs)
            names = [s.name for s in self._given]
            if set(table) != set(names):
                raise UsageError(f"inputs named {names_text(table)}", expected=names_text(names))
            return [table[name] for name in names]
        listed: list[Any] = list(cast("list[Any]", inputs)) if isinstance(inputs, list | tuple) else []
        # A tuple of numbers is a shape; a list may be an array.
        parts = [isinstance(e, list | tuple) if shapes else hasattr(e, "shape") for e in listed]
        found: list[Any] = listed if any(parts) else [cast("Any", inputs)]
        if any(e is None for e in found):
            raise UsageError(
                "an input is None", expected=f"arrays: {names_text(s.name for s in self._given)}"
            )
        if len(found) != len(self._given):
            raise UsageError(
                f"{len(found)} inputs",
                expected=f"{len(self._given)}: {names_text(s.name for s in self._given)}",
            )
        return found

    def _array(self, x: Any, s: Node) -> Any:
        dtype = {"real": self.compute_dtype, "int": "int32", "bool": "bool"}[s.dtype]
        found = keras.ops.convert_to_tensor(x)
        return (
            found if keras.backend.standardize_dtype(found.dtype) == dtype else keras.ops.cast(found, dtype)
        )

    def _result_shapes(self, shapes: Sequence[tuple[int | None, ...]]) -> list[tuple[int | None, ...]]:
        if self._free:
            return [broadcast(shapes)] * len(self._exprs)
        lead, sizes = lengths(self._given, shapes)
        return [(*lead, *(sizes.of(s) for s in e.shape)) for e in self._exprs]

    def _draw(self, arrays: Sequence[Any]) -> list[Any]:
        """Sample noise for arrays: in their broadcast shape, or in the declared shape after the batch axes."""
        ops = keras.ops
        if self._free:
            total = arrays[0]
            for x in arrays[1:]:
                total = ops.cast(total, self.compute_dtype) + ops.cast(x, self.compute_dtype)
            shapes = [tuple(ops.shape(total))] * len(self._noise)
        else:
            lead, sizes = lengths(self._given, [tuple(ops.shape(x)) for x in arrays])
            shapes = [(*lead, *(sizes.of(size) for size in s.shape)) for s in self._noise]
            for s, shape in zip(self._noise, shapes, strict=True):
                if None in shape:
                    raise ShapeError(
                        f"no input has the sizes of '{s.declaration}'", cure="give them as numbers"
                    )
        return [self._drawn(s, shape) for s, shape in zip(self._noise, shapes, strict=True)]

    def _drawn(self, s: Node, shape: tuple[Any, ...]) -> Any:
        distribution = s.declaration.distribution
        assert distribution is not None
        wide = "float64" if self.compute_dtype == "float64" else "float32"
        value = draw_values(distribution, shape, wide, self.seed_generator)
        return keras.ops.cast(value, self.compute_dtype if s.dtype == "real" else "int32")
