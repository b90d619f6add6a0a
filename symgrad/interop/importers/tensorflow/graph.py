"""Read the operations of a TensorFlow graph in order, as expressions; the module is imported on demand.

Values that depend only on shapes (sizes, axes, masks) stay NumPy arrays, and TensorFlow computes them. The module reads
the graphs of TensorFlow 2.20 to 2.22.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from symgrad.api.functions.symbols import symbols, tensor
from symgrad.api.handles.expr import Expr, handle
from symgrad.interop.importers.booleans import as_boolean, select_value
from symgrad.interop.importers.custom_pullback import with_custom_pullback
from symgrad.interop.importers.loops import NoRecurrenceError, unroll_while
from symgrad.interop.importers.program import mark_places
from symgrad.interop.importers.refusals import Problem, is_placeholder, placeholder_name
from symgrad.interop.importers.tensorflow.axes import ALONG_AXES
from symgrad.interop.importers.tensorflow.layout import LAYOUT
from symgrad.interop.importers.tensorflow.linear import LINEAR
from symgrad.interop.importers.tensorflow.loops import read_tensor_loop
from symgrad.interop.importers.tensorflow.ops import ELEMENTWISE, Value, expr_of
from symgrad.interop.importers.tensorflow.static_values import (
    Operation,
    domain_of,
    fold_constants,
    kind_of,
    sizes,
    tf,
)
from symgrad.interop.importers.tensorflow.tensor_list import LISTS
from symgrad.interop.importers.tensorflow.windows import WINDOWS
from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Declaration
from symgrad.support.errors import InternalError, SymgradError, UnsupportedError
from symgrad.support.source import Place
from symgrad.support.traversal import walk
from symgrad.support.user_code import of_user

__all__ = ["Resource", "GraphReader", "domain_of", "tf"]

_CURES = {
    "Random": "pass the noise in as an argument",
    "RandomStandardNormal": "pass the noise in as an argument",
    "Multinomial": "pass the noise in as an argument",
    "Dropout": "pass the noise in as an argument",
    "PyFunc": "write it in TensorFlow's own operations",
    "PreventGradient": "leave it out: there is a gradient",
    "Where": "tf.where(condition, a, b), whose result has a known shape",
}

_SHAPES = frozenset(("Shape", "ShapeN", "Size", "Rank"))
_ASSIGNMENTS = {"AssignVariableOp": None, "AssignAddVariableOp": 1, "AssignSubVariableOp": -1}
_FUNCTIONS = frozenset(("If", "While", "StatefulPartitionedCall"))
_CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))


@dataclass(frozen=True, slots=True)
class Resource:
    """The handle of a variable."""

    key: int


@dataclass
class GraphReader:
    """The values of the tensors of a graph.

    Args:
        names: the names that tensors have in the user's code.
        problems: the unsupported operations.
        named: expressions with names, in order.
        places: the places of expressions.
        state: the current values of variables.
    """

    names: Mapping[Any, str]
    problems: list[Problem] = field(default_factory=list[Problem])
    named: list[tuple[str, Expr]] = field(default_factory=list[tuple[str, Expr]])
    places: dict[Node, Place] = field(default_factory=dict[Node, Place])
    state: dict[int, Value] = field(default_factory=dict[int, Value])
    here: Place = field(default_factory=lambda: Place("", 0))
    _depth: int = 0
    _loops: int = 0
    _open: list[tuple[dict[Any, Any], set[Any]]] = field(
        default_factory=list[tuple[dict[Any, Any], set[Any]]]
    )

    def graph(
        self,
        graph: Any,
        inputs: Sequence[Any],
        values: Sequence[Any],
        outputs: Sequence[Any],
        known: Mapping[Any, Any] | None = None,
        *,
        effects: bool = False,
    ) -> list[Any]:
        """Return the values of some tensors of a graph.

        Args:
            graph: the graph of TensorFlow.
            inputs: the input tensors.
            values: the values of the input tensors.
            outputs: the requested tensors.
            known: the values of further tensors, by references to the tensors.
            effects: whether variables keep what the graph assigns to them, though no output reads it.
        """
        found: dict[Any, Any] = {**(known or {}), **{t.ref(): v for t, v in zip(inputs, values, strict=True)}}
        needed = _live_operations(graph, outputs, found, effects)
        self._open.append((found, {t.ref() for t in outputs}))
        try:
            for op in graph.get_operations():
                if op not in needed:
                    continue
                place = _place_of(op)
                if place is not None:
                    self.here = place
                values = self._values(op, [found[t.ref()] for t in op.inputs])
                for t, value in zip(op.outputs, values, strict=True):
                    found[t.ref()] = value
                    self._note(t, value)
        finally:
            self._open.pop()
        return [found[t.ref()] for t in outputs]

    def _note(self, t: Any, value: Any) -> None:
        if not isinstance(value, Expr) or self.problems:
            return
        mark_places(self.places, value, self.here)
        name = self.names.get(t.ref())
        if name is not None and value.node.args and symbols_of([value.node]):
            self.named.append((name, value))

    def _values(self, op: Any, given: list[Any]) -> Sequence[Any]:
        if any(v is _UNCOVERED for v in given):
            return [_UNCOVERED] * len(op.outputs)
        before = len(self.problems)
        what = Operation(op)
        try:
            found = self._operation(op, what, given)
        except NoRecurrenceError:
            raise
        except SymgradError as error:
            what_ = error.what if error.what.startswith(what.type) else f"{what.type}: {error.what}"
            self._problem(op, what_, error.cure, given)
        except (AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
            text = f"{type(error).__name__}: {error}"
            self._problem(op, f"{what.type} as TensorFlow {tf.__version__} has it ({text})", None, given)
        else:
            if len(self.problems) == before:
                several = isinstance(found, list | tuple)
                values: list[Any] = list(cast("list[Any]", found)) if several else [found]
                values += [None] * (len(op.outputs) - len(values))
                return [_fitted(what.type, v, t) for v, t in zip(values, op.outputs, strict=True)]
        return [_placeholder(t, len(self.problems), k) for k, t in enumerate(op.outputs)]

    def _problem(self, op: Any, what: str, cure: str | None, given: Sequence[Any]) -> None:
        if any(map(is_placeholder, given)) and not any(kind_of(t.dtype) == "f" for t in op.inputs):
            what = ""  # a consequence of another problem, such as noise from an unsupported seed
        cure = cure or next((c for part, c in _CURES.items() if part in op.type), None)
        self.problems.append(Problem(what, self.here, cure))

    def _operation(self, op: Any, what: Operation, given: list[Any]) -> Any:
        kind = what.type
        if any(v is None for v in given):
            raise UnsupportedError(f"{kind} reads what an operation keeps for its own gradient")
        if kind == "Const":
            return [tf.make_ndarray(op.get_attr("value"))]
        if kind in _SHAPES:
            return sizes(op)
        if kind == "ReadVariableOp":
            return [self.state[given[0].key]]
        if kind == "ResourceGather":
            return [LAYOUT[kind](what, self.state[given[0].key], given[1])]
        if kind in _ASSIGNMENTS:
            return self._assign(kind, given)
        if kind in _CALLS:
            return self._call(op.get_attr("f").name, op, given)
        if kind in ("If", "StatelessIf"):
            return self._if(op, given)
        if kind in ("While", "StatelessWhile"):
            return self._while(op, given)
        if kind == "IdentityN":
            return self._identity(op, given)
        if kind in LISTS:
            return LISTS[kind](op, *given)
        known = fold_constants(op, given)
        if known is not None:
            return known
        for table in (ELEMENTWISE, ALONG_AXES, LAYOUT, LINEAR, WINDOWS):
            if kind in table:
                return table[kind](what, *given)
        raise UnsupportedError(kind)

    # Variables, functions, branches and loops

    def _assign(self, kind: str, given: list[Any]) -> list[Any]:
        sign = _ASSIGNMENTS[kind]
        if self._loops:
            raise NoRecurrenceError("a loop that changes a variable")
        if self._depth:
            raise UnsupportedError("a variable is changed in a branch")
        resource, value = given
        if sign is not None:
            value = expr_of(self.state[resource.key]) + sign * expr_of(value)
        self.state[resource.key] = value
        return []

    def _call(self, name: str, op: Any, given: list[Any]) -> list[Any]:
        inner = _function(op.graph, name)
        return self.graph(inner, inner.inputs, given, inner.outputs, effects=True)

    def _if(self, op: Any, given: list[Any]) -> list[Any]:
        condition, args = given[0], given[1:]
        branches = [op.get_attr(f"{k}_branch").name for k in ("then", "else")]
        if isinstance(condition, np.ndarray):
            return self._call(branches[0 if condition.item() else 1], op, args)
        self._depth += 1
        try:
            first, second = (self._call(name, op, args) for name in branches)
        finally:
            self._depth -= 1
        found: list[Any] = []
        for a, b, t in zip(first, second, op.outputs, strict=True):
            if a is b or _same(a, b):
                found.append(a)
            elif not kind_of(t.dtype):
                raise UnsupportedError("branches that return what is no tensor of numbers")
            else:
                found.append(select_value(as_boolean(expr_of(condition)), expr_of(a), expr_of(b)))
        return found

    def _while(self, op: Any, given: list[Any]) -> list[Any]:
        test, body = (_function(op.graph, op.get_attr(k).name) for k in ("cond", "body"))

        def goes_on(values: list[Any]) -> Any:
            return self.graph(test, test.inputs, values, test.outputs, effects=True)[0]

        def step(values: list[Any]) -> list[Any]:
            return self.graph(body, body.inputs, values, body.outputs, effects=True)

        before = self.state, self.names, self.problems
        # Names outside of the loop are none of values in its step.
        self.state, self.names, self.problems = dict(self.state), {}, []
        self._loops += 1
        found, reason = given, None
        try:
            found = read_tensor_loop(goes_on, step, given, body)
        except NoRecurrenceError as error:
            reason, self.problems = error, []
        except UnsupportedError:
            if not self.problems:
                raise
        finally:
            self._loops -= 1
            before[2].extend(self.problems)
            self.state, self.names, self.problems = before
        return found if reason is None else unroll_while(goes_on, step, given, reason)

    # Custom gradients

    def _identity(self, op: Any, given: list[Any]) -> list[Any]:
        try:
            op.get_attr("_gradient_op_type")
        except ValueError:
            return given
        read = self._open[-1][1]
        seen = [
            bool(t.consumers()) or t.ref() in read for t in op.outputs
        ]  # computed before gradients are added
        results: list[Any] = []
        moving = [
            k
            for k, (v, t) in enumerate(zip(given, op.inputs, strict=True))
            if isinstance(v, Expr) and v.dtype == "real" and symbols_of([v.node]) and kind_of(t.dtype) == "f"
        ]
        for k, value in enumerate(given):
            if not isinstance(value, Expr) or value.dtype != "real" or not seen[k]:
                results.append(value)
                continue
            results.append(self._pulled(op, k, value, [j for j in moving if j != k], given))
        return results

    def _pulled(self, op: Any, k: int, value: Expr, moving: Sequence[int], given: Sequence[Any]) -> Expr:
        """Return a value whose derivatives are those that TensorFlow computes with a custom gradient."""
        out = op.outputs[k]
        taken = {s.name for v in given if isinstance(v, Expr) for s in symbols_of([v.node])}
        cotangent = handle(symbol(Declaration(free_name("cotangent", taken), shape=tuple(value.shape))))
        with op.graph.as_default():
            seed = tf.compat.v1.placeholder(out.dtype, out.shape)
            pulled = tf.gradients(
                out, [op.inputs[j] for j in moving], grad_ys=seed, stop_gradients=list(op.inputs)
            )
        wanted = [(j, t) for j, t in zip(moving, pulled, strict=True) if t is not None]
        # The pullback reads the arguments, and intermediate values of the forward pass.
        inner = GraphReader({}, self.problems, state=dict(self.state), here=self.here)
        known = {**self._open[-1][0], **{t.ref(): v for t, v in zip(op.outputs, given, strict=True)}}
        read = inner.graph(op.graph, [seed], [cotangent], [t for _, t in wanted], known)
        pairs = [(given[j], p) for (j, _), p in zip(wanted, read, strict=True)]
        return with_custom_pullback(value, pairs, cotangent, "gradient")


def _fitted(name: str, value: Any, t: Any) -> Any:
    """Return the value of a tensor.

    If its entries are truth values that were moved as numbers, they are converted back.

    Raises:
        InternalError: if the shape or kind of the value is not the one in TensorFlow: the reader is wrong, and must
            stop.
    """
    if not isinstance(value, Expr | np.ndarray):
        return value
    found, known = tuple(cast("Any", value).shape), t.shape
    if known.rank is not None and (
        len(found) != known.rank
        or any(m not in (None, n) for n, m in zip(found, known.as_list(), strict=True))
    ):
        raise InternalError(f"{name} read as of shape {found}; TensorFlow has {known}")
    if not isinstance(value, Expr):
        return cast("Any", value)
    kind = kind_of(t.dtype)
    if kind == "b" and value.dtype != "bool":
        return value > 0
    if (kind == "i" and value.dtype == "real") or (kind != "b" and value.dtype == "bool"):
        raise InternalError(f"{name} read as {value.dtype}; TensorFlow has {t.dtype.name}")
    return value


def _same(a: Any, b: Any) -> bool:
    return (
        isinstance(a, np.ndarray)
        and isinstance(b, np.ndarray)
        and bool(np.array_equal(cast("Any", a), cast("Any", b)))
    )


def _live_operations(graph: Any, outputs: Sequence[Any], known: Mapping[Any, Any], effects: bool) -> set[Any]:
    """Return the operations that outputs need, including assignments to the variables that they read."""
    changes = [op for op in graph.get_operations() if op.type in _ASSIGNMENTS or op.type in _FUNCTIONS]

    def needed(op: Any) -> list[Any]:
        read = op.inputs[0].ref() if op.type in ("ReadVariableOp", "ResourceGather") else None
        return [
            *(t.op for t in op.inputs if t.ref() not in known),
            *(c for c in changes if read is not None and any(t.ref() == read for t in c.inputs)),
        ]

    variables = [c for c in changes if effects and any(t.dtype == tf.resource for t in c.inputs)]
    return set(walk([*(t.op for t in outputs if t.ref() not in known), *variables], needed))


def _function(graph: Any, name: str) -> Any:
    """Return the graph of a function by its name."""
    while graph is not None:
        found = graph._get_function(name)
        if found is not None:
            return found.graph
        graph = getattr(graph, "outer_graph", None)
    raise UnsupportedError(f"the function {name} without its graph")


def _place_of(op: Any) -> Place | None:
    for frame in reversed(cast("list[Any]", list(op.traceback or ()))):
        if of_user(frame.filename):
            return Place.of(frame.filename, frame.lineno)
    return None


_UNCOVERED = object()
"""The placeholder for a value whose shape is not known."""


def _placeholder(t: Any, *numbers: int) -> Any:
    """Return a placeholder for an unsupported value."""
    domain = domain_of(t.dtype)
    if domain is None or t.shape.rank is None or None in t.shape.as_list():
        return _UNCOVERED
    name, shape = placeholder_name(*numbers), tuple(t.shape.as_list())
    return tensor(name, shape, domain) if shape else symbols(name, domain)
