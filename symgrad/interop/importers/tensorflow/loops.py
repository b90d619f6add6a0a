"""Loops of TensorFlow as recurrences; the lists that their steps write to become stacked arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.loops import NoRecurrenceError, read_while
from symgrad.interop.importers.tensorflow.ops import expr_of
from symgrad.interop.importers.tensorflow.static_values import domain_of
from symgrad.interop.importers.tensorflow.tensor_list import ListInLoop, TensorList, list_after_loop


def read_tensor_loop(
    goes_on: Callable[[list[Any]], Any],
    step: Callable[[list[Any]], list[Any]],
    start: Sequence[Any],
    body: Any,
) -> list[Any]:
    """Return what a loop carries on after its last step.

    Args:
        goes_on: the condition, a function of what the loop carries on.
        step: the step.
        start: what it carries on at the beginning: expressions, known arrays, lists, handles of variables.
        body: the graph of the step.

    Raises:
        NoRecurrenceError: if the loop is no recurrence.
        UnsupportedError: if its condition does not bound the number of steps.
    """
    same = {k for k, t in enumerate(body.outputs) if _source(t) is body.inputs[k]}
    lists = [k for k, v in enumerate(start) if isinstance(v, TensorList) and k not in same]
    rest = [k for k in range(len(start)) if k not in lists]
    in_loop: dict[int, Any] = {}
    computed: list[Any] = []

    def all_values(values: Sequence[Any]) -> list[Any]:
        of = dict(zip(rest, values, strict=True))
        return [of[k] if k in of else ListInLoop() for k in range(len(start))]

    def one(values: list[Any], _rows: list[Expr], _number: Expr) -> tuple[list[Any], list[Expr]]:
        computed[:] = step(all_values(values))
        for k in lists:
            made = computed[k]
            if not isinstance(made, ListInLoop) or len(made.writes) != 1:
                raise NoRecurrenceError("a loop that writes a list more than once in a step")
            in_loop[k] = made
        elements = [expr_of(in_loop[k].writes[0][1]) for k in lists]
        return [None if k in same else _as_carry(computed[k]) for k in rest], elements

    kinds = [_kind(body.inputs[k].dtype) for k in rest]
    first = [
        expr_of(start[k]) if kind in ("real", "bool") and k not in same else start[k]
        for k, kind in zip(rest, kinds, strict=True)
    ]
    found = read_while(
        lambda values: goes_on(all_values(values)),
        one,
        first,
        kinds,
        same=[place for place, k in enumerate(rest) if k in same],
        cure="tf.while_loop(..., maximum_iterations=100)",
    )
    ends = dict(zip(rest, found.last, strict=True))
    position = cast("Callable[[Any], tuple[int, int] | None]", found.position)
    for k, rows in zip(lists, found.stacked, strict=True):
        element = in_loop[k].writes[0][1]
        carried = next((j for j in rest if computed[j] is element and j not in same), None)
        last = rows[-1] if carried is None and found.length else None if carried is None else ends[carried]
        ends[k] = list_after_loop(start[k], in_loop[k], cast("int", found.length), position, rows, last)
    return [ends[k] for k in range(len(start))]


def _as_carry(value: Any) -> Any:
    return value if isinstance(value, Expr) or not hasattr(value, "dtype") else expr_of(value)


def _kind(dtype: Any) -> str:
    return domain_of(dtype) or ""


def _source(t: Any) -> Any:
    """Return the tensor that a tensor is equal to."""
    while t.op.type == "Identity":
        (t,) = t.op.inputs
    return t
