"""Trace an entry back through data movement: `x[1:][3]` is `x[4]`, and an entry of padding is 0.

The moves (slices, gathers and scatters at fixed positions) are evaluated on an array with entries 1, 2, ..., so that
each entry of the result shows its source. Named sizes take all small values; beyond the sum of all offsets nothing
changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, cast

import numpy as np

from symgrad.api.limits import PLACED_ENTRIES, PLACED_SIZES
from symgrad.ir.graph import Node, as_node, size_node
from symgrad.ir.size_substitution import size_with
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.indexing import gather
from symgrad.ops.numpy.subscripts import index
from symgrad.ops.scalar.logic import eq, where
from symgrad.support.errors import SymgradError

_MOVES = frozenset(("slice", "gather", "reshape", "unslice", "scatter_add", "broadcast_to"))


def entry_of(node: Node) -> Node | None:
    """Return a scalar that data movement selects, as a formula of the source entries; None if it depends on sizes.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import expression_text
        >>> p = parse_program("x : real[n]; y = (2*x[1:])[3]")
        >>> expression_text(entry_of(p["y"]))
        '2*x[4]'
    """
    leaf = _moved_array(node)
    if node.shape or leaf is node:
        return None
    found: set[tuple[int, ...]] = set()
    ends: set[tuple[int, ...]] = set()
    ones: list[Mapping[str, int]] = []  # sizes at which the entry is not zero
    for sizes, shape, value in _trace_entries(node, leaf):
        if not value:
            found.add(())
            ends.add(())
            continue
        ones.append(sizes)
        place = tuple(map(int, np.unravel_index(int(value) - 1, shape)))
        found.add(place if shape else (0,))
        ends.add(tuple(p - s for p, s in zip(place, shape, strict=True)) if shape else (0,))
    if found == {()}:
        return as_node(0)
    if () in found and len(ones) == 1 and len(ones[0]) == 1 and not leaf.shape:
        ((name, size),) = ones[0].items()
        return where(eq(size_node(name), as_node(size)), leaf, as_node(0))
    if not found or () in found:
        return None
    if not leaf.shape:
        return leaf
    places = [_common(axis) for axis in zip(zip(*found, strict=True), zip(*ends, strict=True), strict=True)]
    known = [p for p in places if p is not None]
    return _entry(leaf, tuple(known)) if len(known) == len(places) else None


def _common(axis: tuple[tuple[int, ...], tuple[int, ...]]) -> int | None:
    """Return the common position along an axis, counted from its beginning or its end; None if there are several."""
    return next((ways[0] for ways in axis if len(set(ways)) == 1), None)


def unit_of(node: Node) -> list[int] | None:
    """Return [i] for a unit vector e_i, where i counts from either end; None for any other node."""
    if len(node.shape) != 1:
        return None
    leaf = _moved_array(node)
    if not leaf.is_number(1) or leaf is node:
        return None
    places: set[int] = set()
    ends: set[int] = set()
    for _, _, values in _trace_entries(node, leaf):
        ones = [i for i, value in enumerate(values.tolist()) if value]
        if len(ones) != 1:
            return None
        places.add(ones[0])
        ends.add(ones[0] - len(values))
    return next((list(ways) for ways in (places, ends) if len(ways) == 1), None)


def _is_move(node: Node) -> bool:
    return node.op.name in _MOVES and all(a.is_number() for a in node.args[1:])


def _moved_array(node: Node) -> Node:
    """Return the source array of all data movement."""
    while _is_move(node):
        node = node.args[0]
    return node


def _trace_entries(node: Node, leaf: Node) -> Iterator[tuple[Mapping[str, int], tuple[int, ...], Any]]:
    """Yield sizes, the shape of the leaf, and the result of the moves on entries 1, 2, ..., for all relevant sizes."""
    inside = topological([node], until=[leaf])
    names = sorted(names_of(*(n.shape for n in (*inside, leaf))))
    offsets = [abs(int(n.value)) for n in inside if n.is_number()]
    cuts = [part for n in inside if n.op.name in ("slice", "unslice") for part in n.params[0]]
    if names and any(part[2] != 1 for part in cuts):
        return  # the result may depend on the parity of a size
    offsets += [abs(end) for part in cuts for end in part[:2] if isinstance(end, int)]
    most = 2 * sum(offsets) + 3
    if most ** len(names) > PLACED_SIZES:
        return
    if not all(end is None or isinstance(end, int) for part in cuts for end in part[:2]):
        return
    for lengths in product(range(1, most + 1), repeat=len(names)):
        sizes = dict(zip(names, lengths, strict=True))
        shape = tuple(int(cast("Any", size_with(size, sizes))) for size in leaf.shape)
        if any(n < 0 for n in shape) or int(np.prod(shape)) > PLACED_ENTRIES:
            continue
        values = np.arange(1.0, 1 + int(np.prod(shape))).reshape(shape)
        try:
            (result,) = evaluate([node], {leaf: values}, sizes)
        except SymgradError:
            continue  # there is no such entry
        yield sizes, shape, result


def _entry(node: Node, place: tuple[int, ...]) -> Node:
    """Return an entry of an array; push it through elementwise operations: f(x)[i] = f(x[i])."""
    if node.op.pointwise and node.args and all(a.shape in ((), node.shape) for a in node.args):
        args = [_entry(a, place) if a.shape else a for a in node.args]
        return node.op(*args, params=node.params)
    if all(isinstance(size, int) for size in node.shape):
        entry = index(node, place if len(place) > 1 else next(iter(place)))
    else:
        entry = gather(node, *map(as_node, place), params=(tuple(range(len(place))),))
    return (entry_of(entry) if _is_move(node) else None) or entry
