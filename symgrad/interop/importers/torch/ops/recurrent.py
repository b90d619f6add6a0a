"""Recurrent layers of torch as recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.api.functions import elementary as f
from symgrad.api.functions import layout as l
from symgrad.api.functions.loops import scan
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.torch.ops.products import linear
from symgrad.interop.importers.torch.table import RefusedError, aten, integer_size

__all__: list[str] = []

CellState = tuple[Any, ...]
"""The state of a step, the output first."""


def _parts(x: Any, number: int) -> list[Expr]:
    """Split the last axis into equal parts, one for each gate."""
    n = integer_size(x.shape[-1]) // number
    return [x[..., k * n : (k + 1) * n] for k in range(number)]


def _lstm(x: Any, state: CellState, w: Any, u: Any, b: Any = None, c: Any = None) -> CellState:
    h, cell = state
    enter, forget, new, leave = _parts(linear(x, w, b) + linear(h, u, c), 4)
    cell = f.sigmoid(forget) * cell + f.sigmoid(enter) * f.tanh(new)
    return f.sigmoid(leave) * f.tanh(cell), cell


def _gru(x: Any, state: CellState, w: Any, u: Any, b: Any = None, c: Any = None) -> CellState:
    (h,) = state
    reset, update, new = _parts(linear(x, w, b), 3)
    reset_h, update_h, new_h = _parts(linear(h, u, c), 3)
    kept = f.sigmoid(update + update_h)
    new = f.tanh(new + f.sigmoid(reset + reset_h) * new_h)
    return ((1 - kept) * new + kept * h,)


def _simple(activation: Any) -> Callable[..., CellState]:
    def step(x: Any, state: CellState, w: Any, u: Any, b: Any = None, c: Any = None) -> CellState:
        return (activation(linear(x, w, b) + linear(state[0], u, c)),)

    return step


_CELLS: dict[str, Callable[..., CellState]] = {
    "lstm": _lstm,
    "gru": _gru,
    "rnn_tanh": _simple(f.tanh),
    "rnn_relu": _simple(f.relu),
}


def _layer(name: str) -> None:
    step = _CELLS[name]

    def apply(
        input: Any,
        hx: Any,
        params: Any,
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> list[Expr]:
        states = hx if name == "lstm" else [hx]
        if dropout and train and num_layers > 1:
            raise RefusedError(
                "dropout between layers, which draws noise", cure="module.eval(), or dropout=0"
            )
        directions, width = 1 + bidirectional, 4 if has_biases else 2
        if len(params) != num_layers * directions * width:
            raise RefusedError("a projection of the output", expected="proj_size=0")
        axis = len(input.shape) - 2 if batch_first or len(input.shape) == 2 else 0
        rows: Any = l.moveaxis(input, axis, 0) if axis else input
        last: list[CellState] = []
        for layer in range(num_layers):
            both: list[Any] = []
            for direction in range(directions):
                k = layer * directions + direction
                weights = params[k * width : (k + 1) * width]

                def one(state: CellState, row: Any, weights: Any = weights) -> tuple[CellState, Any]:
                    state = step(row, state, *weights)
                    return state, state[0]

                state, outputs = scan(one, tuple(s[k] for s in states), rows, reverse=bool(direction))
                both.append(outputs)
                last.append(state)
            rows = l.concatenate(both, -1) if directions > 1 else both[0]
        ends = [l.stack([state[k] for state in last], 0) for k in range(len(states))]
        return [l.moveaxis(rows, 0, axis) if axis else rows, *ends]

    aten(name)(apply)

    def cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        found = step(input, tuple(hx) if name == "lstm" else (hx,), w_ih, w_hh, b_ih, b_hh)
        return list(found) if name == "lstm" else found[0]

    aten(f"{name}_cell")(cell)


for _name in _CELLS:
    _layer(_name)
