"""Lists of tensors, which TensorFlow's loops read and write: elements alone, and rows of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from symgrad.api.functions.layout import concatenate, expand_dims, stack
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.loops import NoRecurrenceError
from symgrad.interop.importers.tensorflow.ops import expr_of, known_ints
from symgrad.support.errors import UnsupportedError


@final
@dataclass(frozen=True, slots=True)
class RowSpan:
    """Neighbouring elements of a list: the rows of an array; None for elements that are not written yet."""

    count: int
    rows: Any = None

    def between(self, first: int, end: int) -> RowSpan:
        """Return some of the elements."""
        return RowSpan(end - first, None if self.rows is None else self.rows[first:end])


@final
@dataclass(frozen=True, slots=True)
class TensorList:
    """A list of tensors.

    Args:
        parts: elements, and spans of elements.
    """

    parts: tuple[Any, ...]

    @property
    def length(self) -> int:
        """The number of elements."""
        return sum(p.count if isinstance(p, RowSpan) else 1 for p in self.parts)

    def with_part(self, first: int, count: int, part: Any) -> TensorList:
        """Return a list in which a part replaces some elements; the list grows if they are beyond its end."""
        before, after = list[Any](), list[Any]()
        begin, end = 0, first + count
        for p in self.parts:
            span = p if isinstance(p, RowSpan) else RowSpan(1)
            stop = begin + span.count
            if begin < first:
                before.append(p if stop <= first else span.between(0, first - begin))
            if stop > end:
                after.append(p if begin >= end else span.between(end - begin, span.count))
            begin = stop
        missing = [RowSpan(first - begin)] if begin < first else []
        return TensorList((*before, *missing, *([part] if count else []), *after))

    def at(self, place: Any) -> Any:
        """Return the element at a position."""
        if isinstance(place, Expr):
            return expr_of(self.stacked())[place]
        (k,) = known_ints(place, "a place in a list")
        for part in self.parts:
            count = part.count if isinstance(part, RowSpan) else 1
            if 0 <= k < count:
                return part if not isinstance(part, RowSpan) else None if part.rows is None else part.rows[k]
            k -= count
        raise UnsupportedError("a place outside of a list")

    def stacked(self) -> Any:
        """Return the elements as rows of one array."""
        if any(p is None or (isinstance(p, RowSpan) and p.rows is None and p.count) for p in self.parts):
            raise UnsupportedError("a list with places that nothing was written to")
        parts = [p for p in self.parts if not isinstance(p, RowSpan) or p.count or len(self.parts) == 1]
        if len(parts) == 1 and isinstance(parts[0], RowSpan):
            return parts[0].rows
        alone: list[Any] = [p for p in parts if not isinstance(p, RowSpan)]
        if len(alone) == len(parts):
            if all(isinstance(p, np.ndarray) for p in alone):
                return np.stack(alone)
            exprs = [expr_of(p) for p in alone]
            return stack(exprs, 0) if len(exprs) > 1 else expand_dims(exprs[0], 0)
        rows = [expr_of(p.rows) if isinstance(p, RowSpan) else expand_dims(expr_of(p), 0) for p in parts]
        return concatenate(rows, 0)


@final
@dataclass(frozen=True, slots=True)
class ListInLoop:
    """A list that the step of a loop carries on, with what the step writes to it: positions and elements."""

    writes: tuple[tuple[Any, Any], ...] = ()


def _from_tensor(op: Any, x: Any, *_: Any) -> TensorList:
    return TensorList((RowSpan(op.inputs[0].shape[0], x),))


def _reserve(_: Any, shape: Any, count: Any) -> TensorList:
    del shape
    return TensorList((RowSpan(known_ints(count, "the length of a list")[0]),))


def _item(_: Any, items: TensorList | ListInLoop, place: Any, *more: Any) -> Any:
    del more
    return _outside_loop(items).at(place)


def _set_item(_: Any, items: TensorList | ListInLoop, place: Any, value: Any) -> TensorList | ListInLoop:
    if isinstance(items, ListInLoop):
        return ListInLoop((*items.writes, (place, value)))
    return items.with_part(known_ints(place, "a place in a list")[0], 1, value)


def _stacked(op: Any, items: TensorList | ListInLoop, *more: Any) -> Any:
    del more
    whole = _outside_loop(items)
    return (
        whole.stacked() if whole.length else np.zeros(op.outputs[0].shape, op.outputs[0].dtype.as_numpy_dtype)
    )


def _length(_: Any, items: TensorList | ListInLoop) -> np.ndarray:
    return np.array(_outside_loop(items).length, np.int32)


def _outside_loop(items: TensorList | ListInLoop) -> TensorList:
    if isinstance(items, ListInLoop):
        raise NoRecurrenceError("a loop that reads the list it writes")
    return items


def list_after_loop(
    before: TensorList,
    after: Any,
    length: int,
    position: Callable[[Any], tuple[int, int] | None],
    rows: Expr,
    last: Any,
) -> TensorList:
    """Return a list after a loop whose steps write one element to it.

    Args:
        before: the list before the loop.
        after: the list with what a step writes.
        length: the number of steps.
        position: a function that returns by how much a position changes in a step, and its first value.
        rows: the elements that the steps write, along a first axis.
        last: the element that the last step writes.
    """
    ((place, _),) = after.writes
    found = position(place)
    if found is None or found[0] not in (-1, 0, 1):
        raise NoRecurrenceError("a loop that writes a list at places that do not count")
    by, first = found
    if by == 0:
        return before.with_part(first, 1, last) if length else before
    begin = first if by == 1 else first - length + 1
    return (
        before.with_part(begin, length, RowSpan(length, rows if by == 1 else rows[::-1]))
        if length
        else before
    )


LISTS: Mapping[str, Callable[..., Any]] = {
    "TensorListFromTensor": _from_tensor,
    "TensorListReserve": _reserve,
    "TensorListGetItem": _item,
    "TensorListSetItem": _set_item,
    "TensorListStack": _stacked,
    "TensorListLength": _length,
}
