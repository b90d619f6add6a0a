"""Read a graph of torch: every node becomes an expression, by the table of operations."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, final

import symgrad.interop.importers.torch.ops.elementwise
import symgrad.interop.importers.torch.ops.layout
import symgrad.interop.importers.torch.ops.linear
import symgrad.interop.importers.torch.ops.losses
import symgrad.interop.importers.torch.ops.norms
import symgrad.interop.importers.torch.ops.positions
import symgrad.interop.importers.torch.ops.products
import symgrad.interop.importers.torch.ops.recurrent
import symgrad.interop.importers.torch.ops.reductions
import symgrad.interop.importers.torch.ops.sorting
import symgrad.interop.importers.torch.ops.windows  # noqa: F401  (all of these fill the table)
from symgrad.api.derivatives.differentiate import stop_gradient
from symgrad.api.functions.layout import broadcast_to, size
from symgrad.api.handles.expr import Expr, as_expr, handle
from symgrad.interop.importers.program import mark_places
from symgrad.interop.importers.specs import shape_matches
from symgrad.interop.importers.torch.control import place_in_block, read_block
from symgrad.interop.importers.torch.ops.storage import TensorCell, TensorView, whole_view
from symgrad.interop.importers.torch.sizes import SizeNames
from symgrad.interop.importers.torch.table import (
    ALIASES,
    PUTS,
    TABLE,
    RefusedError,
    as_items,
    as_number,
    bind_arguments,
    kind_of,
)
from symgrad.interop.importers.torch.trace import TAG
from symgrad.ir.graph import Node, symbol
from symgrad.ir.types import DOMAINS, Declaration
from symgrad.support.errors import InternalError, SymgradError
from symgrad.support.source import Place

torch: Any = import_module("torch")  # the values of this module have any type here


class Stopped(Exception):
    """Ends the reading; the collected problems are then reported together."""


_RANDOM = ("rand", "normal", "bernoulli", "multinomial", "poisson", "uniform", "exponential", "dropout")


@final
class ExportedGraphReader:
    """Reads graphs node by node, and collects unsupported operations for one error.

    Args:
        places: the places of the calls with which nodes are tagged.
        constant: the calls whose values are held constant.
        sizes: the names of sizes.

    Attributes:
        values: the value that each call returned.
        problems: the unsupported operations, each with its place.
        places: the places of equations.
    """

    def __init__(
        self, places: Mapping[int, Place | None], constant: Collection[int], sizes: SizeNames
    ) -> None:
        self._calls, self._constant, self._sizes = places, constant, sizes
        self._blocks: set[Any] = set()  # the calls with graphs inside, whose nodes have the same number
        self._depth = 0  # of graphs inside, whose values are held constant outside of them
        self.places: dict[Node, Place] = {}
        self.values: dict[int, Any] = {}
        self.problems: dict[tuple[str, Place | None], SymgradError | None] = {}

    def run(self, module: Any, cells: Sequence[Any], *, grad: bool = True) -> Any:
        """Return the outputs of a graph.

        Args:
            module: the module of the graph, whose attributes it may read.
            cells: the storage of the inputs.
            grad: whether derivatives pass; if not, every value is held constant.
        """
        known: dict[Any, Any] = {}
        given = iter(cells)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                known[node] = next(given)
            elif node.op == "get_attr":
                known[node] = _attribute(module, node.target)
            elif node.op == "output":
                return _mapped(node.args[0], known, lambda c: c)
            else:
                known[node] = self._called(node, known, grad)
        raise InternalError("a graph without outputs")

    def inside(self, module: Any, cells: Sequence[Any], *, grad: bool = True) -> Any:
        """Return the outputs of a graph inside of another one; the arguments are those of `run`."""
        self._depth += 1
        try:
            return self.run(module, cells, grad=grad)
        finally:
            self._depth -= 1

    def _called(self, node: Any, known: Mapping[Any, Any], grad: bool) -> Any:
        target = node.target
        tag = _tag(node)
        place = None if tag is None else self._calls.get(tag)
        if tag in self._blocks:
            place = place_in_block(node) or place
        meta = node.meta.get("val")
        if isinstance(meta, torch.SymInt) and self._sizes.knows(meta):
            return size(self._sizes.of(meta))
        if target is operator.getitem and (parts := as_items(known[node.args[0]])) is not None:
            return self._item(node, parts[node.args[1]])
        if self._unsized(node):  # later nodes cannot be read
            reason = RefusedError(
                "the size of its result depends on values",
                cure="torch.where(mask, x, 0), say, has a size that does not",
            )
            self.problems.setdefault((f"{_short(target)}: {reason.what}", place), reason)
            raise Stopped
        if target is operator.getitem:
            return self._item(node, TensorCell(self._unknown(node, node.args[0].meta.get("val"))))
        if getattr(target, "__name__", "") == "wrap_with_set_grad_enabled":
            enabled, inner, *args = node.args
            return self._region(known[inner], [known.get(a, a) for a in args], enabled)
        grad = grad and (bool(self._depth) or tag not in self._constant)
        try:
            found = self._applied(node, known, grad)
        except RefusedError as error:
            self.problems.setdefault((f"{_short(target)}: {error.what}", place), error)
            found = None
        except SymgradError as error:
            self.problems.setdefault((f"{_short(target)}: {error}", place), error)
            found = None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # The form of the operation is not supported.
            what = f"{_short(target)}: not as it is called here ({type(error).__name__}: {error})"
            self.problems.setdefault((what, place), None)
            found = None
        if found is None:
            found = _held(self._unknown(node, node.meta.get("val")))
        value = _mapped(found, {}, _read)
        for part in as_items(value) or [value]:
            mark_places(self.places, part, place)
        if tag is not None:
            self.values[tag] = value
        return found

    def _item(self, node: Any, found: Any) -> Any:
        """Return an item of the results of a call; it is a result of its own if an own call of the user took it."""
        tag = _tag(node)
        if tag is not None and _tag(node.args[0]) != tag:
            self.values[tag] = _read(found)
        return found

    def _region(self, inner: Any, args: Sequence[Any], enabled: bool) -> Any:
        """Inline a block under no_grad or enable_grad; values of a no_grad block get a stop_gradient."""
        nested = any(
            getattr(n.target, "__name__", "") == "wrap_with_set_grad_enabled" for n in inner.graph.nodes
        )
        before = [(a, a.version) for a in args if isinstance(a, TensorCell)]
        found = self.inside(inner, args, grad=enabled or not nested)
        if enabled:
            return found
        if any(a.version != version for a, version in before):
            self.problems.setdefault(
                ("a write in place to a tensor from outside of torch.no_grad()", None), None
            )
        return [TensorCell(_stopped(c.read())) if isinstance(c, TensorCell) else c for c in found]

    def _unknown(self, node: Any, meta: Any) -> Any:
        """Return a placeholder for an unsupported node, so that the reader can find further problems."""
        parts = as_items(meta)
        if parts is not None:
            return [self._unknown(node, m) for m in parts]
        if not isinstance(meta, torch.Tensor):
            return 0
        kind = "real" if meta.dtype.is_complex else kind_of(meta.dtype)
        name = f"unknown_{node.name.strip('_')}"
        return handle(symbol(Declaration(name, DOMAINS[kind], self._sizes.shape(meta))))

    def _unsized(self, node: Any) -> bool:
        """Tell whether a node has a size that depends on data, or is such a size."""

        def unsized(meta: Any) -> bool:
            parts = as_items(meta)
            if parts is not None:
                return any(map(unsized, parts))
            if isinstance(meta, torch.SymInt | torch.SymFloat | torch.SymBool):
                return isinstance(node.target, torch._ops.OpOverload)
            return isinstance(meta, torch.Tensor) and not all(map(self._sizes.knows, meta.shape))

        return unsized(node.meta.get("val"))

    def _applied(self, node: Any, known: Mapping[Any, Any], grad: bool) -> Any:
        target = node.target
        if isinstance(target, torch._ops.OpOverload):
            schema = target._schema
            name = schema.name.partition("::")[2]
            space = schema.name.partition("::")[0]
        else:  # Python's arithmetic on sizes
            if callable(target) and getattr(target, "__module__", "") in ("_operator", "math", "builtins"):
                return target(*_mapped(list(node.args), known, _read))
            args = _mapped(list(node.args), known, _read)
            self._blocks.add(_tag(node))
            found = read_block(target.__name__, self, node.meta.get("val"), args)
            return _held(found if grad else _mapped(found, {}, _stopped))
        cells = {
            a.name: _mapped(node.args[k] if k < len(node.args) else node.kwargs[a.name], known, lambda c: c)
            for k, a in enumerate(schema.arguments)
            if k < len(node.args) or a.name in node.kwargs
        }
        values = {n: _mapped(v, {}, _read) for n, v in cells.items()}
        if space != "aten":
            raise RefusedError(
                "an operator of a library's own" if space != "symgrad" else "a program of symgrad's",
                cure="import the function around it, and put the two together with subs",
            )
        if name in _CHECKS:
            return []
        if name == "to" or name == "_to_copy" or name == "type_as":
            found = _converted(values["self"], kind_of(node.meta["val"].dtype))
            return (
                TensorView(cells["self"], whole_view, None)
                if found is values["self"]
                else TensorCell(self._checked(node, found))
            )
        if any(name.startswith(r) or name == f"{r}_" for r in _RANDOM) and name not in TABLE:
            raise RefusedError("draws random numbers", cure="pass the noise as an argument")
        plain = name[:-1] if name.endswith("_") and name not in TABLE else name
        function = TABLE.get(plain)
        if function is None:
            raise RefusedError("it has no counterpart here")
        meta = node.meta.get("val")
        more = {"_out": self._sizes.shape(meta), "_kind": _kinds(meta)}
        defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
        first: Any = next(iter(cells), "")

        def apply(e: Any) -> Any:
            changed = values | {first: e} if first else values
            return _of_kind(function(**bind_arguments(function, changed, defaults, more)), meta)

        found = apply(values[first]) if first else apply(None)
        if name == "detach_":
            cells[first].hold(found)
            return cells[first]
        if plain != name:  # an operation in place
            new = (
                broadcast_to(as_expr(found), values[first].shape)
                if as_expr(found).shape != values[first].shape
                else found
            )
            cells[first].write(self._checked(node, _stopped(new) if not grad else new))
            return cells[first]
        if plain in ALIASES or (plain.endswith("dropout") and found is values[first]):
            return self._views(
                node, plain, cells[first], apply, found, bind_arguments(function, values, defaults, {}), first
            )
        found = self._checked(node, found)
        return _held(found if grad else _mapped(found, {}, _stopped))

    def _checked(self, node: Any, found: Any) -> Any:
        """Return a value if it has the shape and kind that it has in torch; a wrong reader must stop."""
        meta, parts = node.meta.get("val"), as_items(found)
        if parts is None:
            found = as_expr(found)
            self._alike(node, found, meta)
            return found
        for e, m in zip(parts, meta, strict=True):
            self._alike(node, e, m)
        return parts

    def _alike(self, node: Any, e: Any, meta: Any) -> None:
        if not isinstance(meta, torch.Tensor) or not isinstance(e, Expr):
            return
        wanted, kind = self._sizes.shape(meta), kind_of(meta.dtype)
        fits = (kind == "bool") == (e.dtype == "bool")  # here a rounded quotient of integers is real
        if shape_matches(e.shape, wanted) and fits:
            return
        if any(not isinstance(n, int) for n in (*e.shape, *wanted)):
            raise RefusedError(f"shape {wanted} in torch, and {e.shape} for every size", cure=_NUMBERS)
        raise InternalError(
            f"{node.target} read as {e.dtype} of shape {e.shape}; torch has {kind} of shape {wanted}"
        )

    def _views(
        self,
        node: Any,
        name: str,
        parent: TensorCell,
        apply: Any,
        found: Any,
        args: dict[str, Any],
        first: str,
    ) -> Any:
        put = PUTS.get(name)
        rest = {n: v for n, v in args.items() if n != first}
        written = None if put is None else partial(_written, put, rest)
        if isinstance(found, list):
            self._checked(node, found)
            return [
                TensorView(parent, partial(_part, apply, k), None) for k in range(len(as_items(found) or []))
            ]
        self._checked(node, found)
        if name in ("reshape", "contiguous", "flatten") and not node.args[0].meta["val"].is_contiguous():
            return TensorCell(found)  # a copy
        return TensorView(parent, apply, written)


def _part(look: Callable[[Any], Any], k: int, value: Any) -> Any:
    return look(value)[k]


def _written(put: Callable[..., Any], rest: Mapping[str, Any], old: Any, new: Any) -> Any:
    found = put(old, _new=new, **rest)
    return found > 0 if old.dtype == "bool" and found.dtype != "bool" else found


def _of_kind(found: Any, meta: Any) -> Any:
    """Restore truth values, which were turned into numbers in order to be moved."""
    parts, metas = as_items(found), as_items(meta)
    if parts is not None and metas is not None:
        return [_of_kind(e, m) for e, m in zip(parts, metas, strict=True)]
    moved = isinstance(found, Expr) and found.dtype == "int"
    return found > 0 if moved and isinstance(meta, torch.Tensor) and meta.dtype is torch.bool else found


_NUMBERS = "import it with numbers as sizes"

# Asserts and similar calls, which have no value.
_CHECKS = (
    "_assert_scalar",
    "_assert_async",
    "sym_constrain_range_for_size",
    "sym_constrain_range",
    "_assert_tensor_metadata",
)


def _tag(node: Any) -> Any:
    custom: dict[str, Any] = node.meta.get("custom") or {}
    return custom.get(TAG)


def _short(target: Any) -> str:
    text = str(target)
    return text.removesuffix(".default") if "." in text else text


def _attribute(module: Any, target: str) -> Any:
    for part in target.split("."):
        module = getattr(module, part)
    return module


def _read(cell: Any) -> Any:
    return cell.read() if isinstance(cell, TensorCell) else cell


def _mapped(value: Any, known: Mapping[Any, Any], leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, torch.fx.Node):
        return _mapped(known[value], known, leaf)
    parts = as_items(value)
    return leaf(value) if parts is None else [_mapped(v, known, leaf) for v in parts]


def _held(found: Any) -> Any:
    parts = as_items(found)
    return TensorCell(found) if parts is None else [_held(e) for e in parts]


def _stopped(e: Any) -> Any:
    return stop_gradient(e) if isinstance(e, Expr) and e.dtype == "real" else e


def _kinds(meta: Any) -> Any:
    return kind_of(meta.dtype) if isinstance(meta, torch.Tensor) else "real"


def _converted(e: Expr, kind: str) -> Any:
    """Return a value in another dtype; only the kind of number matters here."""
    found = as_expr(e)
    if kind == found.dtype or (kind == "real" and found.dtype == "int"):
        return e
    if kind == "bool":
        return found != 0
    if found.dtype == "bool":
        return as_number(found)
    raise RefusedError("real numbers made whole", cure="pass the whole numbers as an argument")
