"""Convert sizes and shapes to JSON and back: numbers, names, and lists for sizes that are computed from names."""

from __future__ import annotations

from typing import Any

from symgrad.ir.sizes import Extent, Shape, Size, SizeAtom


def plain_size(size: Size) -> Any:
    """Return a size for JSON: a number, a name, or the list of terms of a size that is computed from names.

    Example:
        >>> from symgrad.ir.sizes import size_sum
        >>> plain_size(size_sum(["n", -1])), as_size(plain_size(size_sum(["n", -1])))
        ([[['n'], 1], [[], -1]], n - 1)
    """
    if not isinstance(size, Extent):
        return size
    return [[[_plain_atom(atom) for atom in monomial], c] for monomial, c in size.terms]


def _plain_atom(atom: str | SizeAtom) -> Any:
    return atom if isinstance(atom, str) else [atom.op, plain_size(atom.a), plain_size(atom.b)]


def as_size(plain: Any) -> Size:
    """Return the size from the result of `plain_size`."""
    if isinstance(plain, int | str):
        return plain
    return Extent(tuple((tuple(map(_atom, monomial)), int(c)) for monomial, c in plain))


def _atom(plain: Any) -> str | SizeAtom:
    return plain if isinstance(plain, str) else SizeAtom(plain[0], as_size(plain[1]), as_size(plain[2]))


def plain_shape(shape: Shape) -> list[Any]:
    """Return a shape for JSON."""
    return [plain_size(size) for size in shape]
