"""Batch a program: arrays that have axes before the declared ones, and the shapes that result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from symgrad.autodiff.batch import batch
from symgrad.ir.graph import Node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.sizes import Shape, Size, evaluate_size, names_of
from symgrad.ir.traverse import is_elementwise, topological
from symgrad.ir.values.bound_sizes import lengths_of_names
from symgrad.ops.array.layout import shape_text
from symgrad.support.errors import ShapeError

KnownShape = tuple[Any, ...]
"""Lengths of axes: numbers, None for an unknown length, or symbolic sizes of a framework."""


def names_text(names: Iterable[str]) -> str:
    """Join names for a sentence."""
    return ", ".join(names)


def broadcast(shapes: Sequence[KnownShape]) -> KnownShape:
    """Return the shape to which arrays broadcast; None for lengths that are not known.

    Raises:
        ShapeError: if they do not broadcast.

    Example:
        >>> broadcast([(None, 1, 3), (4, 1), ()])
        (None, 4, 3)
    """
    rank = max(map(len, shapes), default=0)
    found: list[Any] = [1] * rank
    for shape in shapes:
        for k, n in enumerate(shape, rank - len(shape)):
            if found[k] == 1:
                found[k] = n
            elif n not in (1, None) and found[k] not in (n, None):
                raise ShapeError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
            elif found[k] is None and n != 1:
                found[k] = n
    return tuple(found)


@dataclass(frozen=True)
class Lengths:
    """The values of the named sizes; None for an unknown value."""

    known: Mapping[str, Any]

    def of(self, size: Size) -> Any:
        """Return a size; None if it is not known."""
        if isinstance(size, int):
            return size
        if isinstance(size, str):
            return self.known.get(size)
        if any(self.known.get(name) is None for name in names_of(size)):
            return None
        return evaluate_size(size, cast("Mapping[str, int]", self.known))


def lengths(symbols: Sequence[Node], shapes: Sequence[KnownShape]) -> tuple[KnownShape, Lengths]:
    """Return the axes before the declared ones, and the sizes, of the arrays for some symbols.

    Arrays without such axes are the same for the whole batch.

    Raises:
        ShapeError: if an array does not have its declared shape, or batches differ.
    """
    lead: KnownShape = ()
    owner = ""
    for s, shape in zip(symbols, shapes, strict=True):
        if len(shape) < len(s.shape):
            raise ShapeError(
                f"'{s.name}' has shape {shape}",
                expected=f"{shape_text(s.shape)}, with any axes of a batch before it",
            )
    declared = [shape[len(shape) - len(s.shape) :] for s, shape in zip(symbols, shapes, strict=True)]
    sizes = Lengths(lengths_of_names([s.shape for s in symbols], declared))
    for s, shape, own in zip(symbols, shapes, declared, strict=True):
        count = len(shape) - len(own)
        for size, n in zip(s.shape, own, strict=True):
            have = sizes.of(size)
            if _differ(have, n):
                raise ShapeError(
                    f"'{s.name}' has shape {shape}, where {size} is {have}"
                    if not isinstance(size, int)
                    else f"'{s.name}' has shape {shape}",
                    expected=shape_text(s.shape),
                )
        if count:
            first = tuple(shape[:count])
            if lead and (len(first) != len(lead) or any(map(_differ, first, lead))):
                raise ShapeError(
                    f"'{s.name}' has a batch of shape {first}, and '{owner}' one of {lead}",
                    expected="one batch",
                )
            lead = tuple(a if b is None else b for a, b in zip(first, lead or first, strict=True))
            owner = owner or s.name
    return lead, sizes


class SourceShapes:
    """The shapes that the source of a program requires.

    Operations of a framework broadcast and contract arrays of any shapes, so arrays of other shapes would silently
    compute another formula.

    Args:
        outputs: the outputs of the program.
        symbols: the inputs of the program.
        batched: the name of the function that supports batches, for the error message.
    """

    def __init__(self, outputs: Sequence[Node], symbols: Sequence[Node], batched: str) -> None:
        self._symbols, self._batched = tuple(symbols), batched
        elementwise = is_elementwise(outputs)
        rank = max((len(s.shape) for s in symbols), default=0)
        # In a program of numbers, all arrays broadcast. In an entry-by-entry program, a batch before the axes of all
        # arrays is also allowed.
        self._any = elementwise and not rank
        self._aligned = frozenset(s for s in symbols if elementwise and len(s.shape) == rank)

    def check(self, shapes: Sequence[KnownShape | None]) -> None:
        """Refuse arrays of other shapes; a shape that is None, or contains None, is not known yet.

        Raises:
            ShapeError: if a shape is wrong; the message names the input.
        """
        if self._any:
            return
        known = [(s, shape) for s, shape in zip(self._symbols, shapes, strict=True) if shape is not None]
        lengths([s for s, _ in known], [shape for _, shape in known])
        for s, shape in known:
            if len(shape) > len(s.shape) and s not in self._aligned:
                raise ShapeError(
                    f"'{s.name}' has shape {shape}, and the source is written for one without a batch",
                    expected=shape_text(s.shape),
                    cure=f"map over the batch with {self._batched}",
                )


def _differ(a: Any, b: Any) -> bool:
    return isinstance(a, int) and isinstance(b, int) and a != b


def batch_program(
    outputs: Sequence[Node], symbols: Sequence[Node], extra: Sequence[int], names: Mapping[Node, str]
) -> tuple[tuple[Node, ...], tuple[Node, ...], dict[Node, str]]:
    """Return a program for a batch: its outputs, its inputs and its names.

    Args:
        outputs: the outputs of the program.
        symbols: the inputs of the program.
        extra: the number of batch axes of each input: 0, or the same number for all.
        names: the names of intermediate values.
    """
    depth = max(extra)
    taken = {*names_of(*((n.shape, n.params) for n in (*topological(outputs), *symbols)))}
    taken |= {s.name for s in symbols} | set(names.values())
    lead = [free_name("batch" if depth == 1 else f"batch{k + 1}", taken) for k in range(depth)]
    shape: Shape = tuple(lead)
    stacks = {
        s: symbol(replace(s.declaration, shape=(*shape, *s.shape), symmetric=False))
        for s, count in zip(symbols, extra, strict=True)
        if count
    }
    order = topological(outputs)
    named = [n for n in order if n in names]
    made = batch([*outputs, *named], stacks, shape)
    above = dict(zip(made[len(outputs) :], (names[n] for n in named), strict=True))
    return tuple(made[: len(outputs)]), tuple(stacks.get(s, s) for s in symbols), above
