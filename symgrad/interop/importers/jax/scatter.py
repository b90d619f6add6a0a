"""Primitives of JAX that write at positions, as expressions; known positions are NumPy arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from symgrad.api.functions.constants import CONSTANT_ENTRIES, constant, iota
from symgrad.api.functions.elementary import maximum, minimum, where
from symgrad.api.functions.layout import (
    arange,
    broadcast_to,
    concatenate,
    expand_dims,
    reshape,
    scatter_add,
    take,
    transpose,
)
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.jax.positions import Places, apply_mode, positions_of, strip_wrap, symbolic
from symgrad.support.errors import UnsupportedError


def _known(p: Places) -> np.ndarray | None:
    return None if isinstance(p, Expr) else p


def _scattered(
    x: Expr, indices: Places, updates: Expr, *, how: str, dimension_numbers: Any, mode: Any = None
) -> Expr:
    d = dimension_numbers
    rank, lead = len(x.shape), len(indices.shape) - 1
    along = list(getattr(d, "operand_batching_dims", ()))
    own = list(getattr(d, "scatter_indices_batching_dims", ()))
    indexed = [*along, *d.scatter_dims_to_operand_dims]
    inserted = {*along, *d.inserted_window_dims}
    places: list[Places] = [
        iota(cast(int, x.shape[a])).reshape([-1 if k == s else 1 for k in range(lead)])
        for a, s in zip(along, own, strict=True)
    ]
    places += positions_of(indices, len(indexed) - len(along))
    kept = [a for a in range(rank) if a not in inserted]
    window = list(d.update_window_dims)
    others = [a for a in range(rank) if a not in indexed]
    if inserted - set(indexed):
        raise UnsupportedError("a scatter that leaves out an axis")
    # Return updates with the axes of the indices first, then slices along indexed axes, then the whole axes.
    batch = [k for k in range(len(updates.shape)) if k not in window]
    loose = [a for a in indexed if a not in inserted]
    order = [*batch, *(window[kept.index(a)] for a in (*loose, *others))]
    updates = transpose(updates, order) if order != list(range(len(order))) else updates
    for a in others:
        if updates.shape[lead + len(loose) + others.index(a)] != x.shape[a]:
            raise UnsupportedError("a scatter of a part of an axis without a position")
    strides = [prod(cast(Any, [x.shape[b] for b in indexed[k + 1 :]])) for k in range(len(indexed))]
    flat: Any = None
    for k, (a, p) in enumerate(zip(indexed, places, strict=True)):
        length = cast(int, x.shape[a])
        size = cast(int, updates.shape[lead + loose.index(a)]) if a in loose else 1
        p = apply_mode(p, length, size, str(mode))
        if isinstance(p, Expr) and len(indexed) == 1 and a in inserted:
            p = strip_wrap(p, length)
        for _ in loose:
            p = p[..., None]
        if a in loose:
            shape = [1] * (lead + len(loose))
            shape[lead + loose.index(a)] = size
            steps = iota(size).reshape(shape)
            p = p + steps if not isinstance(p, Expr) else p + constant(steps)
        part = p * strides[k] if strides[k] != 1 else p
        flat = (
            part
            if flat is None
            else symbolic(flat) + symbolic(part)
            if isinstance(flat, Expr) or isinstance(part, Expr)
            else flat + part
        )
    total = prod(cast(Any, [x.shape[a] for a in indexed]))
    rest = [x.shape[a] for a in others]
    spread = tuple(updates.shape[: lead + len(loose)])
    forward = [*indexed, *others]
    moved = transpose(x, forward) if forward != list(range(rank)) else x
    rows = reshape(moved, (total, *rest))
    found = _WRITE[how](rows, flat, updates, spread)
    found = reshape(found, tuple(moved.shape))
    back = [forward.index(a) for a in range(rank)]
    return transpose(found, back) if back != list(range(rank)) else found


def _added(rows: Expr, flat: Places, updates: Expr, spread: Sequence[Any]) -> Expr:
    at = symbolic(flat) if isinstance(flat, Expr) else constant(np.broadcast_to(flat, spread))
    if tuple(at.shape) != tuple(spread):
        at = broadcast_to(at, tuple(spread))
    if not spread:
        at, updates = reshape(at, (1,)), expand_dims(updates, 0)
    return rows + scatter_add(updates, at, tuple(rows.shape))


def _replaced(rows: Expr, flat: Places, updates: Expr, spread: Sequence[Any]) -> Expr:
    total, rest = cast(int, rows.shape[0]), rows.shape[1:]
    known = _known(flat)
    if known is None:
        if prod(cast(Any, spread)) != 1:
            raise UnsupportedError("several entries replaced at computed positions")
        place = reshape(symbolic(flat), (1,) * (1 + len(rest)))
        here = reshape(arange(total), (total, *[1] * len(rest))) == place
        return where(here, reshape(updates, (1, *rest)), rows)
    places = np.broadcast_to(known, cast(Any, spread)).reshape(-1)
    updates = reshape(updates, (len(places), *rest))
    inside = (places >= -total) & (places < total)
    source = iota(total)
    for k in np.flatnonzero(inside):  # the last write wins; writes out of bounds are dropped
        source[places[k]] = total + k
    if np.array_equal(source, iota(total)):
        return rows
    taken = np.flatnonzero(source >= total)
    first, last = int(taken[0]), int(taken[-1])
    if len(taken) == last - first + 1 == len(places) and np.array_equal(
        source[taken] - total, iota(len(taken))
    ):
        parts = [rows[:first], updates, rows[last + 1 :]]
        return concatenate([p for p in parts if p.shape[0] != 0], 0)
    if total > CONSTANT_ENTRIES:
        raise UnsupportedError(f"entries replaced at scattered places among {total:,}")
    return concatenate([rows, updates], 0)[source.tolist()]


def _combined(combine: Callable[[Expr, Expr], Expr]) -> Callable[..., Expr]:
    """Return a scatter that combines each entry with its update; it must write an entry at most once."""

    def write(rows: Expr, flat: Places, updates: Expr, spread: Sequence[Any]) -> Expr:
        known = _known(flat)
        if known is not None and len(np.unique(known)) != np.broadcast_to(known, cast(Any, spread)).size:
            raise UnsupportedError("several factors for one entry")
        at = symbolic(flat)
        return _replaced(rows, flat, combine(take(rows, at, 0), updates), spread)

    return write


_WRITE: Mapping[str, Callable[..., Expr]] = {
    "add": _added,
    "set": _replaced,
    "mul": _combined(operator.mul),
    "max": _combined(maximum),
    "min": _combined(minimum),
}


def _written(how: str) -> Callable[..., Expr]:
    def rule(
        x: Expr, indices: Places, updates: Expr, *, dimension_numbers: Any, mode: Any = None, **_: Any
    ) -> Expr:
        return _scattered(x, indices, updates, how=how, dimension_numbers=dimension_numbers, mode=mode)

    return rule


SCATTERED: Mapping[str, Callable[..., Expr]] = {
    "scatter": _written("set"),
    **{f"scatter-{how}": _written(how) for how in ("add", "mul", "max", "min")},
}
"""For each primitive, by name: a function of expressions of their whole shapes, and of the parameters."""
