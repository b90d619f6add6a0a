"""Blocks of torch that contain graphs: scan, while_loop and map as loops, and cond as a choice."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Protocol, cast

from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.booleans import select_value
from symgrad.interop.importers.loops import NoRecurrenceError, read_loop, read_while, unroll_while
from symgrad.interop.importers.torch.ops.storage import TensorCell
from symgrad.interop.importers.torch.table import RefusedError, as_items, kind_of
from symgrad.ops.numpy.lengths import as_size
from symgrad.support.source import Place
from symgrad.support.user_code import of_user

torch: Any = import_module("torch")  # the values of this module have any type here


class GraphRunner(Protocol):
    """A reader of graphs inside a block."""

    problems: dict[Any, Any]

    def inside(self, module: Any, cells: Sequence[Any], *, grad: bool = True) -> Any:
        """Return the outputs of a graph."""
        ...


Block = Callable[..., list[Any]]
"""A function of the reader, the metadata of the results, and the arguments of a block."""


def _outputs(reader: GraphRunner, module: Any, values: Sequence[Any]) -> list[Any]:
    """Return the values that a graph returns."""
    cells = [TensorCell(v) if isinstance(v, Expr) else v for v in values]
    found = reader.inside(module, cells)
    return [c.read() if isinstance(c, TensorCell) else c for c in as_items(found) or [found]]


def _kinds(metas: Sequence[Any]) -> list[str]:
    def kind(meta: Any) -> str:
        if not isinstance(meta, torch.Tensor):
            return "int" if isinstance(meta, int | torch.SymInt) and not isinstance(meta, bool) else ""
        return kind_of(meta.dtype)

    return [kind(m) for m in metas]


def _scan(
    reader: GraphRunner, metas: Sequence[Any], step: Any, init: Any, xs: Any, more: Any = ()
) -> list[Any]:
    start, rows, carried = list(init), [as_expr(x) for x in xs], len(init)

    def one(values: list[Any], own: list[Expr], _: Expr) -> tuple[Sequence[Any], Sequence[Expr]]:
        found = _outputs(reader, step, [*values, *own, *more])
        return found[:carried], [as_expr(y) for y in found[carried:]]

    found = read_loop(one, start, _kinds(metas[:carried]), rows, rows[0].shape[0])
    return [*map(as_expr, found.last), *found.stacked]


def _map(reader: GraphRunner, _: Sequence[Any], function: Any, xs: Any, more: Any = ()) -> list[Any]:
    return _scan(reader, (), function, (), xs, more)


def _while(
    reader: GraphRunner, metas: Sequence[Any], condition: Any, body: Any, init: Any, more: Any = ()
) -> list[Any]:
    kinds, before = _kinds(metas), dict(reader.problems)
    start = [_as_number(v) if kind == "int" else v for v, kind in zip(init, kinds, strict=True)]

    def goes_on(values: list[Any]) -> Any:
        return _as_number(_outputs(reader, condition, [*values, *more])[0])

    def step(values: list[Any]) -> list[Any]:
        return _outputs(reader, body, [*values, *more])

    try:
        found = read_while(
            goes_on, lambda values, _rows, _number: (step(values), ()), start, kinds, cure=_BOUNDED
        ).last
    except NoRecurrenceError as error:
        reader.problems = before
        found = unroll_while(goes_on, step, start, error)
    return [as_expr(v) for v in found]


_BOUNDED = (
    "a count that begins at a number and is compared with one: while_loop(lambda k, h: (k < 100) & ..., ...)"
)


def _as_number(value: Any) -> Any:
    """Return a number or truth value without inputs as Python's own."""
    if not isinstance(value, Expr) or value.shape:
        return value
    number = (
        value.node.value if value.node.op.name == "number" and value.dtype == "bool" else as_size(value.node)
    )
    return number if isinstance(number, int) else value


def _cond(
    reader: GraphRunner, metas: Sequence[Any], test: Any, yes: Any, no: Any, operands: Any = ()
) -> list[Any]:
    del metas
    test = _as_number(test)
    if not isinstance(test, Expr):
        return _outputs(reader, yes if test else no, operands)
    results = [_outputs(reader, module, operands) for module in (yes, no)]
    return [select_value(test, as_expr(a), as_expr(b)) for a, b in zip(*results, strict=True)]


_BLOCKS: Mapping[str, Block] = {
    "scan": _scan,
    "while_loop": _while,
    "map_impl": _map,
    "cond": _cond,
}


def place_in_block(node: Any) -> Place | None:
    """Return the place of a node of a graph inside of a block, from the trace that torch keeps; None for no place."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [(file, int(line)) for file, line in frames if of_user(file)]
    return Place.of(*own[-1]) if own else None


_FRAME = re.compile(r'File "(.*?)", line (\d+)')


def read_block(name: str, reader: GraphRunner, meta: Any, args: Sequence[Any]) -> list[Any]:
    """Return the results of a block.

    Args:
        name: the name of the block in `torch.ops.higher_order`.
        reader: the reader of the graphs inside.
        meta: the metadata of the results.
        args: the arguments: graphs, expressions and lists of these.

    Raises:
        RefusedError: if it cannot be read.
    """
    block = _BLOCKS.get(name)
    if block is None:
        raise RefusedError(
            "a block or transform of torch's that is no operation on tensors",
            cure="read what stands inside of it as a function of its own",
        )
    return partial(block, reader, as_items(meta) or [meta])(*cast("list[Any]", args))
