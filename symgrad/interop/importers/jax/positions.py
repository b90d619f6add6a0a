"""Primitives of JAX that read at positions, as expressions; known positions are NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.api.functions.constants import constant, iota
from symgrad.api.functions.elementary import clip, where
from symgrad.api.functions.layout import arange, expand_dims, reshape, take, transpose
from symgrad.api.functions.layout import size as size_value
from symgrad.api.handles.expr import Expr, handle
from symgrad.ir.sizes import Size
from symgrad.ops.numpy.lengths import as_size

Places: TypeAlias = "Expr | np.ndarray"


def _known(p: Places) -> np.ndarray | None:
    return None if isinstance(p, Expr) else p


def _dynamic_slice(x: Expr, *starts: Places, slice_sizes: Sequence[int], **_: Any) -> Expr:
    """Return a slice whose beginning is moved such that it is inside, as XLA defines it."""
    for axis, (start, size) in enumerate(zip(starts, slice_sizes, strict=True)):
        length = x.shape[axis]
        if size == length:
            continue
        known = _known(start)
        if known is not None and isinstance(length, int):
            at = int(np.clip(known, 0, length - size))
            key: list[slice] = [slice(None)] * len(x.shape)
            key[axis] = slice(at, at + size)
            x = x[tuple(key)]
        elif known is not None:  # this is checked when the program runs
            first = max(int(known), 0)
            x = take(x, first + arange(size) if first else arange(size), axis)
        else:
            at = strip_wrap(cast(Expr, start), length)
            # Positions that jnp wraps must be in bounds; other positions are clipped.
            if size == 1 and at is not start:
                x = expand_dims(take(x, at, axis), axis)
            else:
                x = take(x, clip(cast(Expr, start), 0, _last(length, size)) + arange(size), axis)
    return x


def _dynamic_update(x: Expr, update: Expr, *starts: Places, **_: Any) -> Expr:
    """Return an array in which a part is replaced."""
    inside: Expr | None = None
    for axis, start in enumerate(starts):
        length, size = cast(int, x.shape[axis]), cast(int, update.shape[axis])
        if size == length:
            continue
        known = _known(start)
        begin: Any = (
            int(np.clip(known, 0, length - size))
            if known is not None
            else clip(cast(Expr, start), 0, length - size)
        )
        offset = arange(length) - begin
        update = take(update, clip(offset, 0, size - 1), axis)
        here = (offset >= 0) & (offset < size)
        shape = [1] * len(x.shape)
        shape[axis] = length
        mask = reshape(here, tuple(shape))
        inside = mask if inside is None else inside & mask
    return update if inside is None else where(inside, update, x)


def _last(length: Size, size: Size) -> Any:
    """Return the last position at which a slice is inside."""
    return (length if isinstance(length, int) else size_value(length)) - (
        size if isinstance(size, int) else size_value(size)
    )


def strip_wrap(index: Expr, length: Size) -> Expr:
    """Remove the wrapping of negative positions by jnp."""
    node = index.node
    if node.op.name == "where":
        test, other, same = node.args
        negative = test.op.name == "lt" and test.args[1].is_number(0) and test.args[0] is same
        if negative and other.op.name == "add" and same in other.args and len(other.args) == 2:
            shift = next((a for a in other.args if a is not same), same)
            if as_size(shift) == length:
                return handle(same)
    return index


def positions_of(indices: Places, count: int) -> list[Places]:
    """Return the arrays of positions, one for each indexed axis, from the last axis of an array of indices."""
    if isinstance(indices, Expr) and indices.node.op.name == "concatenate" and count > 1:
        parts = [handle(a) for a in indices.node.args]
        last = len(indices.shape) - 1
        if indices.node.params[0] == last and all(p.shape[last] == 1 for p in parts):
            return [_column(p) for p in parts]
    return [_column(indices)] if count == 1 else [indices[..., k] for k in range(count)]


def _column(indices: Places) -> Places:
    """Return an array of indices without its last axis, of length one."""
    if isinstance(indices, Expr) and indices.node.op.name == "reshape":
        inner = indices.node.args[0]
        if (*inner.shape, 1) == tuple(indices.shape):
            return handle(inner)
    return indices[..., 0]


def apply_mode(position: Places, length: Size, size: Size, mode: str) -> Places:
    """Return positions as the mode defines: clipped; or checked to be inside when a program runs."""
    if "CLIP" not in mode.upper() and mode != "0":
        return position
    last = _last(length, size)
    if isinstance(position, Expr) or isinstance(last, Expr):
        return clip(symbolic(position), 0, last)
    return np.clip(position, 0, last)


def _gather(
    x: Expr, indices: Places, *, dimension_numbers: Any, slice_sizes: Any, mode: Any = None, **_: Any
) -> Expr:
    d = dimension_numbers
    if tuple(getattr(d, "operand_batching_dims", ())):
        return _gather_batched(x, indices, d, slice_sizes, str(mode))
    rank, sizes = len(x.shape), list(slice_sizes)
    indexed: list[int] = list(d.start_index_map)
    lead = len(indices.shape) - 1
    collapsed = set(d.collapsed_slice_dims)
    kept = [
        a for a in range(rank) if a not in collapsed
    ]  # the axes of the result that are not axes of the indices
    moving = [a for a in indexed if sizes[a] != x.shape[a] or a in collapsed]
    loose = [a for a in kept if a in moving]  # slices that begin at a position
    places: list[Places] = []
    for a, p in zip(indexed, positions_of(indices, len(indexed)), strict=True):
        if a not in moving:
            continue
        length = x.shape[a]
        p = apply_mode(p, length, sizes[a], str(mode))
        if isinstance(p, Expr) and a in collapsed:
            p = strip_wrap(p, length)
        p = (
            p.reshape((*p.shape, *[1] * len(loose)))
            if not isinstance(p, Expr)
            else expand_dims(p, tuple(range(lead, lead + len(loose))))
            if loose
            else p
        )
        if a in loose:
            shape = [1] * (lead + len(loose))
            shape[lead + loose.index(a)] = sizes[a]
            count = sizes[a]
            steps: Places = iota(count).reshape(shape) if isinstance(count, int) else arange(count)
            if isinstance(steps, Expr) and len(shape) > 1:
                steps = reshape(steps, tuple(shape))
            known = not isinstance(p, Expr) and not isinstance(steps, Expr)
            p = p + steps if known else symbolic(p) + symbolic(steps)
        places.append(p)
    fixed = [a for a in range(rank) if a not in moving]
    for a in fixed:
        if sizes[a] != x.shape[a]:
            key: list[slice] = [slice(None)] * rank
            key[a] = slice(0, sizes[a])
            x = x[tuple(key)]
    x = _taken(transpose(x, [*moving, *fixed]) if moving + fixed != list(range(rank)) else x, places)
    dropped = [a for a in fixed if a in collapsed]
    found = [
        *range(lead),
        *(a for a in loose),
        *fixed,
    ]  # the axes of x, which now come after those of the indices
    if dropped:
        places_of = [lead + len(loose) + fixed.index(a) for a in dropped]
        x = reshape(x, tuple(n for k, n in enumerate(x.shape) if k not in places_of))
        found = [*range(lead), *loose, *(a for a in fixed if a not in dropped)]
    behind = found[lead:]
    offsets = list(d.offset_dims)
    order = [0] * len(found)
    batch = iter(range(lead))
    for k in range(len(found)):
        order[k] = lead + behind.index(kept[offsets.index(k)]) if k in offsets else next(batch)
    return transpose(x, order) if order != list(range(len(order))) else x


def _taken(x: Expr, places: Sequence[Places]) -> Expr:
    """Return the entries at positions along the first axes."""
    if not places:
        return x
    known = [_known(p) for p in places]
    if all(p is not None and p.ndim == 0 for p in known):
        return x[tuple(int(cast(Any, p)) for p in known)]
    if len(places) == 1 and known[0] is not None and known[0].ndim == 1:
        return x[known[0].tolist()]
    return x[
        tuple(
            int(p) if p is not None and not p.ndim else symbolic(q)
            for p, q in zip(known, places, strict=True)
        )
    ]


def _gather_batched(x: Expr, indices: Places, d: Any, sizes: Any, mode: str) -> Expr:
    """Return an array of positions for each axis, for a gather with batch axes."""
    kept = [
        a for a in range(len(x.shape)) if a not in d.collapsed_slice_dims and a not in d.operand_batching_dims
    ]
    offsets: list[int] = list(d.offset_dims)
    rank = len(indices.shape) - 1 + len(offsets)
    batch = [k for k in range(rank) if k not in offsets]

    def along(axis: int, count: int) -> Expr:
        return reshape(arange(count), tuple(count if k == axis else 1 for k in range(rank)))

    positions: dict[int, Places] = dict(
        zip(d.start_index_map, positions_of(indices, len(d.start_index_map)), strict=True)
    )
    places: list[Expr] = []
    lengths = zip(cast("tuple[int, ...]", x.shape), cast("tuple[int, ...]", sizes), strict=True)
    for a, (length, size) in enumerate(lengths):
        if a in d.operand_batching_dims:
            s = int(d.start_indices_batching_dims[list(d.operand_batching_dims).index(a)])
            places.append(along(batch[s], length))
            continue
        own = along(offsets[kept.index(a)], size) if a in kept and size > 1 else None
        if a in positions:
            p = symbolic(apply_mode(positions[a], length, size, mode))
            p = strip_wrap(p, length) if size == 1 else p
            spread = iter(p.shape)
            p = reshape(p, tuple(next(spread) if k in batch else 1 for k in range(rank)))
            places.append(p if own is None else p + own)
        else:
            places.append(along(0, 1) if own is None else own)
    return x[tuple(places)]


def symbolic(p: Places) -> Expr:
    """Return positions as an expression."""
    return p if isinstance(p, Expr) else constant(p)


POSITIONED: Mapping[str, Callable[..., Expr]] = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update,
    "gather": _gather,
}
"""For each primitive, by name: a function of expressions of their whole shapes, and of the parameters."""

POSITIONS: Mapping[str, Sequence[int]] = {
    "dynamic_slice": range(1, 64),
    "dynamic_update_slice": range(2, 64),
    "gather": (1,),
}
"""The arguments that are positions; known ones stay NumPy arrays."""
