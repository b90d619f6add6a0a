"""Shapes under broadcasting, and sizes of slices, as in NumPy, but also for named sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, cast

from symgrad.ir.sizes import (
    Extent,
    Shape,
    Size,
    SizeAtom,
    clamped,
    names_of,
    size_ceildiv,
    size_max,
    size_min,
    size_product,
    size_sum,
)
from symgrad.support.errors import ShapeError

Triple: TypeAlias = "tuple[Size | None, Size | None, int]"
"""Start, stop and step of a slice of one axis."""


def broadcast_shapes(shapes: Iterable[Shape]) -> Shape:
    """Return the shape of NumPy broadcasting, for sizes that may be names.

    Args:
        shapes: the operands' shapes. A named size matches only itself and 1.

    Raises:
        ShapeError: if two sizes differ and neither is 1.

    Example:
        >>> broadcast_shapes([("n", 1), (5,)])
        ('n', 5)
    """
    result: list[Size] = []
    for shape in shapes:
        if len(shape) > len(result):
            result[:0] = [1] * (len(shape) - len(result))
        offset = len(result) - len(shape)
        for i, size in enumerate(shape):
            present = result[offset + i]
            if size == present or size == 1:
                continue
            if present != 1:
                raise ShapeError(
                    f"sizes {present} and {size} do not broadcast",
                    expected="equal sizes, or one of them 1",
                    cure="a slice x[:, :1] may be empty: write x[:, 0][:, None] for one column"
                    if _may_be_empty(present) or _may_be_empty(size)
                    else "check the declared shapes of the operands",
                )
            result[offset + i] = size
    return tuple(result)


def fitting(a: tuple[str, Shape], b: tuple[str, Shape]) -> str | None:
    """Return the cure for two operands that would broadcast if one of them got new axes at its end; else None.

    Args:
        a: the text and the shape of the first operand.
        b: the text and the shape of the second operand.

    Example:
        >>> fitting(("A", ("n", 3)), ("b", ("n",)))
        'b goes with the first axis of A: write b[:, None]'
    """
    (short, few), (long, many) = sorted((a, b), key=lambda term: len(term[1]))
    missing = len(many) - len(few)
    try:
        broadcast_shapes([(*few, *[1] * missing), many])
    except ShapeError:
        return None
    if not few or not missing:
        return None
    whole = short.isidentifier() or (short[0] == "(" and short.find(")") == len(short) - 1)
    text = short if whole else f"({short})"
    which = "axis" if len(few) == 1 else "axes"
    subscript = ", ".join([":"] * len(few) + ["None"] * missing)
    return f"{short} goes with the first {which} of {long}: write {text}[{subscript}]"


def _may_be_empty(size: Size) -> bool:
    """Tell whether a size is always one, or zero if an axis is empty, such as the length of x[:1]."""
    return isinstance(size, Extent) and any(size == size_min(1, name) for name in names_of(size))


def slice_start(size: Size, triple: Triple) -> Size:
    """Return the position at which a nonempty slice of an axis starts."""
    start, _, step = triple
    if step > 0:
        if start is None:
            return 0
        return size_max(size_sum([size, start]), 0) if isinstance(start, int) and start < 0 else start
    if start is None:
        return size_sum([size, -1])
    if isinstance(start, int) and start < 0:
        return size_sum([size, start])
    return size_min(start, size_sum([size, -1]))


def slice_length(size: Size, triple: Triple) -> Size:
    """Return the number of elements of NumPy's slice of an axis.

    Example:
        >>> print(slice_length("n", (1, None, 1)), slice_length("n", (-2, None, 1)))
        max(n - 1, 0) min(2, n)
    """
    start, stop, step = triple
    if isinstance(size, int) and all(isinstance(v, int) or v is None for v in (start, stop)):
        low, high, _ = slice(cast("int | None", start), cast("int | None", stop), step).indices(size)
        return max(0, -((low - high) // step))  # len(range(...)) stops at the largest C integer
    if step > 0 and stop == size:
        stop = None
    if step == 1 and start in (None, 0) and stop is None:
        return size
    first = slice_start(size, triple)
    if step > 0:
        if start is not None and isinstance(start, int) and start < 0 and stop is None:
            return size_ceildiv(size_min(-start, size), step)
        if stop is None:
            end: Size = size
        elif isinstance(stop, int) and stop < 0:
            end = size_sum([size, stop])
        else:
            end = size_min(stop, size)
        return size_ceildiv(size_max(size_sum([end, size_product([-1, first])]), 0), step)
    if stop is None:
        end = -1
    elif isinstance(stop, int) and stop < 0:
        end = size_max(size_sum([size, stop]), -1)
    else:
        end = stop
    return size_ceildiv(size_max(size_sum([first, size_product([-1, end])]), 0), -step)


def typed_slice(triple: Triple, size: Size) -> Triple:
    """Return the ends that one types for a slice of an axis: n - 3 for a start or stop of max(n - 3, 0).

    Example:
        >>> print(*typed_slice((size_max(size_sum(["n", -3]), 0), None, 1), "n"))
        n - 3 None 1
    """
    start, stop, step = triple
    first, last = (clamped(end) if isinstance(end, Extent) else None for end in (start, stop))
    if isinstance(first, Extent) and step > 0:
        start = first
    if isinstance(last, Extent) and size_sum([size, size_product([-1, last])]) not in (1, 2):
        stop = last
    return start, stop, step


def padded(size: Size, before: Size, after: Size) -> tuple[Triple, Size]:
    """Return the slice of a padded axis that contains the original axis, and the size of the padded axis.

    Args:
        size: the number of elements of the slice. If the size is ``maximum(n - k, 0)``, and k elements are added, the
            padded axis has n elements.
        before: the number of elements before the slice, not negative.
        after: the number of elements after the slice, not negative.

    Example:
        >>> padded(slice_length("n", (1, -2, 1)), 1, 2), padded(3, "k", 0)[0]
        (((1, -2, 1), 'n'), ('k', None, 1))
    """
    stop = -after or None if isinstance(after, int) else size_sum([before, size])
    triple: Triple = before or None, stop, 1
    more = size_sum([before, after])
    if isinstance(size, Extent) and len(size.terms) == 1 and size.terms[0][1] == 1:
        (monomial, _) = size.terms[0]
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, SizeAtom):
            longer = size_sum([atom.a, more])
            if slice_length(longer, triple) == size:
                return triple, longer
    return triple, size_sum([size, more])
