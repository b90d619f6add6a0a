"""Convolutions and pooling as contractions over windows, for all frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.functions.arrays import einsum
from symgrad.api.functions.layout import arange, concatenate, full, reshape, take
from symgrad.api.handles.expr import Expr
from symgrad.ir.sizes import Size
from symgrad.support.errors import ShapeError, UnsupportedError

Pair = tuple[int, int]


def padded(x: Expr, axes: Sequence[int], padding: Sequence[Pair], value: float = 0) -> Expr:
    """Return x with entries of one value before and after it along axes; a negative number removes entries."""
    for axis, (before, after) in zip(axes, padding, strict=True):
        key: list[slice] = [slice(None)] * len(x.shape)
        key[axis] = slice(max(-before, 0), None if after >= 0 else after)
        if before < 0 or after < 0:
            x = x[tuple(key)]
        parts = [x]
        for count, front in ((before, True), (after, False)):
            if count > 0:
                shape: tuple[Size, ...] = (*x.shape[:axis], count, *x.shape[axis + 1 :])
                parts.insert(0 if front else len(parts), full(shape, value))
        x = concatenate(parts, axis) if len(parts) > 1 else x
    return x


def dilated(x: Expr, axes: Sequence[int], steps: Sequence[int]) -> Expr:
    """Insert ``step - 1`` zeros between the entries of x along axes, as a transposed convolution does."""
    for axis, step in zip(axes, steps, strict=True):
        if step == 1:
            continue
        n = _counted(x.shape[axis])
        lead, rest = x.shape[:axis], x.shape[axis + 1 :]
        column = reshape(x, (*lead, n, 1, *rest))
        spread = concatenate([column, full((*lead, n, step - 1, *rest), 0)], axis + 1)
        key: list[slice] = [slice(None)] * len(x.shape)
        key[axis] = slice(0, (n - 1) * step + 1)
        x = reshape(spread, (*lead, n * step, *rest))[tuple(key)]
    return x


def windows(
    x: Expr,
    axes: Sequence[int],
    lengths: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Expr:
    """Return the windows of x along axes: each axis becomes two, one for the positions, one for the places in a window.

    Args:
        x: an array, already padded, whose sizes along the axes are integers.
        axes: the axes, in ascending order.
        lengths: the length of a window along each axis.
        strides: the distance between the first places of neighbouring windows.
        dilations: the distance between neighbouring places of a window.

    Raises:
        ShapeError: if a window is longer than its axis.

    Example:
        >>> import symgrad as sg
        >>> x = sg.tensor("x", (5,))
        >>> windows(x, [0], [3], [2], [1])(x=[0.0, 1.0, 2.0, 3.0, 4.0])
        array([[0., 1., 2.],
               [2., 3., 4.]])
    """
    for k in reversed(range(len(axes))):  # splitting an axis does not move the axes before it
        axis, length = axes[k], lengths[k]
        size, reach = _counted(x.shape[axis]), (length - 1) * dilations[k] + 1
        if reach > size:
            raise ShapeError(f"a window over {reach} entries of an axis of {size}")
        count = (size - reach) // strides[k] + 1
        if strides[k] == length and dilations[k] == 1:  # windows that do not overlap are read without copying
            lead, rest = x.shape[:axis], x.shape[axis + 1 :]
            key = (*(slice(None),) * axis, slice(0, count * length))
            x = reshape(x if count * length == size else x[key], (*lead, count, length, *rest))
            continue
        places = _steps(count, strides[k])[:, None] + _steps(length, dilations[k])[None, :]
        x = take(x, places, axis)
    return x


def _steps(count: int, step: int) -> Expr:
    return arange(count) if step == 1 else step * arange(count)


def convolved(
    x: Expr,
    w: Expr,
    strides: Sequence[int],
    padding: Sequence[Pair],
    dilations: Sequence[int] | None = None,
    groups: int = 1,
) -> Expr:
    """Return the cross-correlation, which deep learning calls convolution.

    Args:
        x: an array of shape (batch, channels, *space).
        w: an array of shape (features, channels/groups, *window).
        strides: the strides of the windows, for each axis of space.
        padding: the numbers of zeros before and after, for each axis of space.
        dilations: the dilations of the windows, for each axis of space; None for ones.
        groups: the number of groups of equal size into which channels and features are divided.

    Returns:
        An Expr of shape (batch, features, *positions).

    Example:
        >>> import symgrad as sg
        >>> x, w = sg.tensor("x", (1, 1, 4)), sg.tensor("w", (1, 1, 2))
        >>> convolved(x, w, [1], [(0, 0)])(x=[[[1.0, 2.0, 4.0, 8.0]]], w=[[[-1.0, 1.0]]])
        array([[[1., 2., 4.]]])
    """
    rank = len(strides)
    lengths = [_counted(n) for n in w.shape[2:]]
    axes = range(2, 2 + rank)
    seen = windows(padded(x, axes, padding), axes, lengths, strides, dilations or [1] * rank)
    places, inner = _LETTERS[:rank], _LETTERS[rank : 2 * rank]
    both = "".join(p + q for p, q in zip(places, inner, strict=True))
    if groups == 1:
        return einsum(f"nc{both},oc{inner}->no{places}", seen, w)
    channels, features = _counted(x.shape[1]), _counted(w.shape[0])
    seen = reshape(seen, (seen.shape[0], groups, channels // groups, *seen.shape[2:]))
    parted = reshape(w, (groups, features // groups, *w.shape[1:]))
    out = einsum(f"ngc{both},goc{inner}->ngo{places}", seen, parted)
    return reshape(out, (out.shape[0], features, *out.shape[3:]))


_LETTERS = "abdefhijk"  # all letters except n, c, o and g


def _counted(size: Size) -> int:
    if isinstance(size, int):
        return size
    raise UnsupportedError(
        f"windows over an axis of {size} entries",
        expected="a size that is a number",
        cure="give the shape in numbers",
    )
