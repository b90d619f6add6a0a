"""Names for the values of recurrences: h_bar for the adjoint of h, and h_dot for its tangent.

A derivative of a recurrence is a recurrence that reads its values. An adjoint runs the other way; a tangent runs the
same way. Each carry is named after the one whose derivative it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import NamedTuple

from symgrad.ir.body import Body
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation.lags import lags_of
from symgrad.ir.notation.recurrences import recurrence_of, rows_read
from symgrad.ir.sizes import Shape, Size, size_sum


class _Loop(NamedTuple):
    """A recurrence in a text: the number of its steps, whether it runs back, and its carries with their shapes."""

    length: Size
    reverse: int
    names: tuple[str, ...]
    shapes: tuple[Shape, ...]

    def carries(self, shapes: Sequence[Shape], read: Sequence[str]) -> list[str] | None:
        """Return the carries with these shapes, in order; those that are read, if there are so many."""
        pairs = list(zip(self.names, self.shapes, strict=True))
        for some in ([p for p in pairs if p[0] in read], pairs):
            left = iter(some)
            found = [next((name for name, shape in left if shape == wanted), None) for wanted in shapes]
            names = [name for name in found if name is not None]
            if len(names) == len(shapes):
                return names
        return None


class RecurrenceNames:
    """The names of the recurrences of a text.

    Args:
        taken: all names in use; new ones are added.
        bodies: named nodes, or symbols that stand for them, with these nodes.
    """

    def __init__(self, taken: set[str], bodies: Iterable[tuple[str, Node]] = ()) -> None:
        self.taken = taken
        self._loops: dict[str, _Loop] = {}
        named: dict[Node, dict[int, str]] = {}
        for name, node in bodies:
            carry, lags = recurrence_of(node), lags_of(node)
            if carry is not None:
                named.setdefault(carry[0], {})[carry[1]] = name
            elif lags is not None:
                named.setdefault(lags.loop, {}).update(dict.fromkeys(lags.carries, name))
        for node, names in named.items():
            self.add(node, [names.get(k, "") for k in range(len(node.params[-1].carries))])

    def add(self, node: Node, names: Sequence[str]) -> None:
        """Add a recurrence with the names of its carries."""
        length, reverse, body = node.params
        loop = _Loop(length, reverse, tuple(names), tuple(c.shape for c in body.carries))
        self._loops.update(dict.fromkeys(names, loop))

    def new(self, node: Node, names: Mapping[Node, str]) -> list[str]:
        """Return new names for the carries of a recurrence, given names of other nodes."""
        found: list[str] = []
        for bases in self._bases(node, names):
            first, *_ = bases
            name = next(n for n in chain(bases, (f"{first}{k}" for k in count(2))) if n not in self.taken)
            self.taken.add(name)
            found.append(name)
        return found

    def _bases(self, node: Node, names: Mapping[Node, str]) -> list[Sequence[str]]:
        """Return the names for each carry from which one is taken."""
        length, reverse, body = node.params
        assert isinstance(body, Body)
        # Rows of an array with one row more than steps are the values of another recurrence.
        others = (x for x in rows_read(node) if x.shape[0] == size_sum([length, 1]))
        read = [
            name for x in others if (name := names.get(x) or (x.name if x.op is SYMBOL else None)) is not None
        ]
        shapes = [c.shape for c in body.carries]
        possible: list[list[str]] = []
        loops = dict.fromkeys(self._loops[name] for name in read if name in self._loops)
        if not read:  # the adjoint of linear steps does not read their values
            opposite = {
                x: None for x in self._loops.values() if (x.length, x.reverse) == (length, 1 - reverse)
            }
            loops = opposite if len(opposite) == 1 else {}
        for loop in loops:
            carries = loop.carries(shapes, read)
            if carries is not None:
                suffix = "dot" if reverse == loop.reverse else "bar"
                possible.append([f"{name}_{suffix}" for name in carries])
        if possible:
            best = next((p for p in possible if self.taken.isdisjoint(p)), possible[0])
            return [[name] for name in best]
        suffix = "bar" if reverse else "dot"
        over = [f"{name}_{suffix}" for name in dict.fromkeys(read)]
        if len(over) == len(shapes):
            return [[name] for name in over]
        return [over[:1] or ("abcdpqrs" if reverse else "hgqrsuvw")] * len(shapes)
