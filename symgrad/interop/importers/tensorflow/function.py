"""Import functions of TensorFlow, and models of Keras on TensorFlow, as programs with the names of their variables."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np

from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.expr import Expr
from symgrad.api.missing_framework import not_installed
from symgrad.interop.importers.names import watch_locals
from symgrad.interop.importers.program import ImportedProgram, UniqueNames
from symgrad.interop.importers.refusals import depends_on_data, not_covered
from symgrad.interop.importers.specs import argument_names, flatten, is_leaf, is_shape, parse_spec, repack
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.literals import decimals_in
from symgrad.support.errors import UnsupportedError, UsageError


def variable_names(
    variables: Sequence[Any], bound: Mapping[str, Any], inputs: Iterable[str]
) -> dict[int, str]:
    """Return names of variables, by their handles: the name in the function, or else the end of their path.

    Args:
        variables: the variables that the graph reads.
        bound: the values of the free names of the function.
        inputs: the names of inputs, which are taken.
    """
    keys = {id(v.handle) for v in variables}
    own: dict[int, str] = {}
    for name, value in bound.items():
        key = id(getattr(value, "handle", None))
        if key in keys:
            own.setdefault(key, name)
    taken, found = UniqueNames(inputs), dict[int, str]()
    paths = {
        id(v.handle): [re.sub(r"\W+", "_", part) for part in v.name.removesuffix(":0").split("/")]
        for v in variables
    }
    for key, path in paths.items():
        others = [p for k, p in paths.items() if k != key]
        alone = (n for n in range(min(2, len(path)), len(path)) if all(p[-n:] != path[-n:] for p in others))
        found[key] = taken.free(own.get(key) or "_".join(path[-next(alone, len(path)) :]))
    return found


def layer_names(graph: Any, models: Iterable[Any]) -> dict[Any, str]:
    """Return names for tensors that leave the name scope of a Keras layer.

    Args:
        graph: the graph.
        models: objects that may have layers: the function, and the values of its free names.
    """
    layers = {part for v in graph.variables for part in v.name.split("/")[:-1]}
    for model in models:
        found = getattr(model, "layers", None)
        if isinstance(found, list):
            layers |= {str(getattr(part, "name", "")) for part in cast("list[Any]", found)}
    names: dict[Any, str] = {}
    for op in graph.get_operations():
        parts = op.name.split("/")[:-1]
        own = [k for k, part in enumerate(parts) if part in layers or _unnumbered(part) in layers]
        for t in op.outputs if own else ():
            left = [
                k for k in own if any(c.name.split("/")[: k + 1] != parts[: k + 1] for c in t.consumers())
            ]
            if left:  # a layer of a model, and not the model itself
                part = parts[left[1] if len(left) > 1 and left[0] == 0 else left[0]]
                names[t.ref()] = part if part in layers else _unnumbered(part)
    return names


def _unnumbered(part: str) -> str:
    return re.sub(r"_\d+$", "", part)


_VERSIONS = (2, 20), (2, 22)


def from_tensorflow(fn: Callable[..., Any], *specs: Any, dtype: str = "float32") -> ImportedProgram:
    r"""Import a function of TensorFlow, or a model of Keras, as a program.

    The function is traced once as a concrete function, in graph mode and with known shapes; calls, and loops of known
    length, are inlined. `tf.stop_gradient` and `tf.custom_gradient` are preserved. Values of Python are constants:
    import the function again if they change. A model is imported in inference mode; for training pass ``lambda x:
    model(x, training=True)``, with the noise as an argument.

    The inputs are the arguments, then the variables that are read; a variable has its name in the function, or the end
    of its path: ``dense_kernel``. Intermediate values have the names of their variables, or of the layers that return
    them. Numbers of float32 are read as their shortest decimals.

    Args:
        fn: a function of tensors that returns tensors, in any structure; it may also be a `tf.function` or a model of
            Keras.
        specs: a spec for every argument: a `tf.TensorSpec`, a tensor or array for its shape and dtype; a tuple of
            sizes for real numbers; a text such as ``"real[3, 5]"``, ``"positive"``, ``"int[8]"`` or
            ``"Normal(0, 1)[8]"``, as in programs; or a structure of these.
        dtype: the dtype in the trace of real numbers whose spec is a text or a tuple; it should be the dtype of the
            function's variables.

    Returns:
        An ImportedProgram. ``returned`` are the outputs, ``values`` the current values of the variables.

    Raises:
        UnsupportedError: for unsupported operations, all of which are in one message with their lines; for control flow
            that depends on the data, and for unknown sizes.
        UsageError: if a spec or the function is invalid, or TensorFlow is not installed.

    Example:
        >>> import tensorflow as tf, symgrad as sg
        >>> w = tf.Variable([1.0, 2.0, 3.0])
        >>> def loss(x, y):
        ...     p = tf.sigmoid(tf.linalg.matvec(x, w))
        ...     return tf.reduce_sum((p - tf.stop_gradient(y))**2)
        >>> p = sg.from_tensorflow(loss, (5, 3), (5,))
        >>> p.names
        ('x', 'y', 'w', 'p', 'loss')
        >>> print(sg.grad(p["loss"], "w"))
        2*x.T@(p*(1 - p)*(p - stop_gradient(y)))
        >>> sg.grad(p["loss"], "y").nothing
        'stopped'
    """
    try:
        graphs = import_module("symgrad.interop.importers.tensorflow.graph")
    except ImportError as error:
        raise not_installed("tensorflow", error) from error
    if not callable(fn):
        raise UsageError(
            f"a value of type {type(fn).__name__} is no function", expected="a function of TensorFlow"
        )
    return _SourceFunctionReader(fn, graphs, dtype).program(specs)


class _SourceFunctionReader:
    """The state while one function is read."""

    def __init__(self, fn: Callable[..., Any], graphs: Any, dtype: str) -> None:
        self.graphs, self.tf = graphs, graphs.tf
        version = tuple(map(int, self.tf.__version__.split(".")[:2]))
        if not _VERSIONS[0] <= version <= _VERSIONS[1]:
            raise UnsupportedError(
                f"graphs of TensorFlow {self.tf.__version__}, which symgrad has not been tried with",
                expected=f"TensorFlow {'.'.join(map(str, _VERSIONS[0]))} to {'.'.join(map(str, _VERSIONS[1]))}",
            )
        self.dtype = self.tf.as_dtype(dtype)
        self.fn = getattr(fn, "python_function", fn)  # the function inside a tf.function
        self.own = self.fn if inspect.isroutine(self.fn) else getattr(self.fn, "call", self.fn)
        self.code = inspect.unwrap(self.own)
        self.name = getattr(self.fn, "name", None) or getattr(self.fn, "__name__", "out")
        self.name = self.name if str(self.name).isidentifier() else "out"
        self.inputs: dict[str, Expr] = {}

    def program(self, specs: Sequence[Any]) -> ImportedProgram:
        """Trace the function, and read its graph."""
        arguments = self._arguments(specs)
        concrete, names = self._traced(arguments)
        graph = concrete.graph
        count = len(graph.inputs) - len(graph.captures)
        inputs = {t.ref() for t in graph.inputs}
        # AutoGraph has a variable for what a function returns.
        names = {t: n for t, n in names.items() if n != "retval_"}
        names = {**layer_names(graph, [self.fn, *self._bound().values()]), **names}
        walk = self.graphs.GraphReader({k: n for k, n in names.items() if k not in inputs})
        values: list[Any] = list(self._given(count))
        variables = {id(v.handle): v for v in graph.variables}
        called = variable_names(graph.variables, self._bound(), self.inputs)
        parameters: list[str] = []
        held: dict[str, np.ndarray] = {}
        for outer, _ in graph.captures:
            if outer.dtype != self.tf.resource:
                values.append(np.asarray(outer))
                continue
            variable = variables.get(id(outer))
            if variable is None:
                raise UnsupportedError("a function that reads what is no variable: a table, a dataset")
            key = id(outer)
            name = called[key]
            self.inputs[name] = self._declared(name, self.tf.TensorSpec(variable.shape, variable.dtype))
            held[name] = np.asarray(variable)
            if variable.trainable:
                parameters.append(name)
            walk.state[key] = self.inputs[name]
            values.append(self.graphs.Resource(key))
        outputs = [t for t in self.tf.nest.flatten(concrete.structured_outputs) if t is not None]
        found = walk.graph(graph, graph.inputs, values, outputs)
        if not walk.problems:
            found = [self._output(v) for v in found]
        else:
            raise not_covered(self.name, walk.problems)
        paths = ["_".join(map(str, path)) for path, _ in flatten(concrete.structured_outputs)]
        return self._program(walk, found, paths, parameters, held)

    # Arguments and variables

    def _arguments(self, specs: Sequence[Any]) -> list[Any]:
        names = argument_names(self.own, len(specs))
        arguments: list[Any] = []
        for name, spec in zip(names, specs, strict=True):
            leaves: list[Any] = []
            parts: list[tuple[tuple[Any, ...], Any]] = [((), spec)] if is_leaf(spec) else list(flatten(spec))
            for path, leaf in parts:
                full = "_".join([name, *map(str, path)])
                full = re.sub(r"\W+", "_", full)
                e = self._declared(full, leaf)
                if full in self.inputs:
                    raise UsageError(f"two inputs are called '{full}'", cure="name the keys otherwise")
                self.inputs[full] = e
                dtype = getattr(leaf, "dtype", None) if not isinstance(leaf, str | Expr) else None
                kinds = {"real": self.dtype, "int": self.tf.int32, "bool": self.tf.bool}
                shape = tuple(cast("tuple[int, ...]", e.shape))
                leaves.append(
                    self.tf.TensorSpec(shape, dtype if dtype is not None else kinds[e.dtype], name=full)
                )
            arguments.append(leaves[0] if is_leaf(spec) else repack(spec, iter(leaves)))
        return arguments

    def _declared(self, name: str, leaf: Any) -> Expr:
        if isinstance(leaf, str) or is_shape(leaf):
            return _sized(parse_spec(name, leaf) if isinstance(leaf, str) else array_input(name, leaf))
        if isinstance(leaf, Expr) and leaf.node.op is SYMBOL:
            return _sized(leaf)
        shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
        if shape is None or dtype is None:
            raise UsageError(
                f"a value of type {type(leaf).__name__} does not say what '{name}' is",
                expected="a tf.TensorSpec, a tensor, a tuple of sizes, or a text such as 'real[3, 5]'",
            )
        shape, dtype = self.tf.TensorShape(shape), self.tf.as_dtype(dtype)
        if shape.rank is None or None in shape.as_list():
            raise UnsupportedError(
                f"'{name}' of shape {shape}",
                expected="sizes in numbers",
                cure="import it with numbers as sizes",
            )
        domain = self.graphs.domain_of(dtype)
        if domain is None:
            raise UnsupportedError(
                f"'{name}' is {dtype.name}", expected="real numbers, whole numbers or truth values"
            )
        return array_input(name, tuple(shape.as_list()), domain)

    def _given(self, count: int) -> Iterable[Any]:
        inputs = list(self.inputs.values())
        if len(inputs) != count:
            raise UnsupportedError("a function whose arguments are not the tensors that were said")
        return inputs

    def _bound(self) -> Mapping[str, Any]:
        """Return the values of the free names of the function."""
        try:
            seen = inspect.getclosurevars(self.code)
        except TypeError:
            return {}
        return {**seen.globals, **seen.nonlocals}

    # The graph

    def _traced(self, arguments: Sequence[Any]) -> tuple[Any, Mapping[Any, str]]:
        """Return the concrete function, and the names of its tensors.

        Trace the function and the functions that it calls: first without AutoGraph, which rewrites code; then, if the
        function branches on values, with AutoGraph.
        """
        tf = self.tf
        before = tf.config.functions_run_eagerly()
        tf.config.run_functions_eagerly(True)
        try:
            try:
                return watch_locals(lambda: self._concrete(arguments, False), self._file(), self._reference)
            except tf.errors.OperatorNotAllowedInGraphError:
                return watch_locals(lambda: self._concrete(arguments, True), self._file(), self._reference)
        except (tf.errors.OperatorNotAllowedInGraphError, NotImplementedError) as error:
            if isinstance(error, NotImplementedError) and "symbolic" not in str(error):
                raise  # a symbolic tensor must not be read as an array
            cure = "tf.where(condition, a, b), or tf.cond"
            raise depends_on_data(self.name, self._file(), error.__traceback__, cure) from None
        finally:
            tf.config.run_functions_eagerly(before)

    def _concrete(self, arguments: Sequence[Any], autograph: bool) -> Any:
        function = self.fn
        if not inspect.isroutine(function):  # the function is a model
            function = _calling(function)
        return self.tf.function(function, autograph=autograph).get_concrete_function(*arguments)

    def _reference(self, bound: Any) -> Any:
        if isinstance(bound, self.tf.Tensor) and self.tf.is_symbolic_tensor(bound):
            return bound.ref()
        return None

    def _file(self) -> str:
        code = getattr(self.code, "__code__", None)
        return code.co_filename if code is not None else ""

    def _output(self, value: Any) -> Expr:
        return cast("Any", import_module("symgrad.interop.importers.tensorflow.ops")).expr_of(value)

    # The program

    def _program(
        self,
        walk: Any,
        outputs: Sequence[Expr],
        paths: Sequence[str],
        parameters: Sequence[str],
        held: Mapping[str, np.ndarray],
    ) -> ImportedProgram:
        taken = UniqueNames(self.inputs)
        named: dict[Node, str] = {e.node: name for name, e in self.inputs.items()}
        assignments: dict[str, Node] = {}

        def assign(name: str, e: Expr) -> None:
            named[e.node] = taken.free(name)
            assignments[named[e.node]] = e.node

        for name, e in walk.named:
            if e.node not in named:
                assign(name, e)
        inputs = {e.node for e in self.inputs.values()}
        returned: list[tuple[str, str]] = []
        for k, (e, path) in enumerate(zip(outputs, paths, strict=True)):
            if e.node not in named or e.node in inputs:
                other = self.name if len(outputs) == 1 else f"{self.name}_{k}"
                assign(other if path.isdecimal() or not path else path, e)
            returned.append((path or "out", named[e.node]))
        symbols = {n: e.node for n, e in self.inputs.items()}
        decimals = decimals_in(assignments.values())
        listing = Listing(symbols, assignments, places=walk.places, decimals=decimals, framework="tensorflow")
        return ImportedProgram(listing, returned, parameters, held)


def _sized(e: Expr) -> Expr:
    """Return an input whose sizes are numbers."""
    named = next((n for n in e.shape if not isinstance(n, int)), None)
    if named is not None:
        raise UnsupportedError(
            f"the size {named} of '{e}'",
            expected="sizes in numbers: TensorFlow computes shapes as tensors, which a program has not",
            cure="import it with numbers as sizes",
        )
    return e


def _calling(model: Any) -> Callable[..., Any]:
    return lambda *args: model(*args)
