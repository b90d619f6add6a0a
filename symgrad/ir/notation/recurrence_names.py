"""Names for the values of recurrences: h_bar for the adjoint of h, and h_dot for its tangent.

A derivative of a recurrence is a recurrence that reads its values. An adjoint runs the other way; a tangent runs the
same way. Each carry is named after the one whose derivative it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import NamedTuple

from symgrad.ir.body import Body, StepNotation
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.notation.lags import Lags, carry_names, lags_of, named_arrays
from symgrad.ir.notation.literals import size_text
from symgrad.ir.notation.recurrences import (
    CarryName,
    is_recurrence,
    letter_for,
    names_in_step,
    over_names,
    pack_names,
    position_text,
    recurrence_of,
    rows_read,
    step_formulas,
    step_places,
    values_computed,
)
from symgrad.ir.sizes import Shape, Size, size_sum
from symgrad.ir.traverse import substitute, topological, with_args
from symgrad.ir.types import Declaration


class _Loop(NamedTuple):
    """A recurrence in a text: the letter of its positions, how many steps it has and whether they run back, carries."""

    letter: str
    length: Size
    reverse: int
    names: tuple[str, ...]
    shapes: tuple[Shape, ...]

    def named_as(self, shapes: Sequence[Shape], read: Sequence[str]) -> list[str] | None:
        """Return the carries with these shapes, in order; those that are read, if there are so many."""
        pairs = list(zip(self.names, self.shapes, strict=True))
        for some in ([p for p in pairs if p[0] in read], pairs):
            left = iter(some)
            found = [next((name for name, shape in left if shape == wanted), None) for wanted in shapes]
            names = [name for name in found if name is not None]
            if len(names) == len(shapes):
                return names
        return None


def _kind_of(name: str) -> str:
    """Return the end of the name of a derivative: bar for adjoints, dot for tangents."""
    return name.rpartition("_")[2]


class ValueName(NamedTuple):
    """A value that a step computes: the recurrence, the name of the carry, and the symbol h[t]."""

    loop: Node
    name: str
    place: Node


class NamedStep(NamedTuple):
    """The lines of one step, each by its left side: a name within the step, or a value, h[t].

    Args:
        before: for each name of values, the symbol of the value of the step before, h[t-1]; earlier values of a longer
            memory by their own text, F[t-2].
        lines: the formulas, over symbols of this kind and those named by the other left sides.
        values: the left sides of the values that the step computes, by name.
        whole: the same formulas over values of the step before, rows and operands only.
        span: the range of the steps: t in 1..T.
    """

    before: dict[str, Node]
    lines: dict[str, Node]
    values: dict[str, str]
    whole: dict[str, Node]
    span: str


class RecurrenceNames:
    """The names of the recurrences of a text.

    Args:
        taken: all names in use; new ones are added.
        bodies: named nodes, or symbols that stand for them, with these nodes.
        steps: how the program writes the steps of recurrences.
    """

    def __init__(
        self,
        taken: set[str],
        bodies: Iterable[tuple[str, Node]] = (),
        steps: Mapping[Body, StepNotation] = {},
    ) -> None:
        self.taken = taken
        self._loops: dict[str, _Loop] = {}
        self._letters = {body: notation.letter for body, notation in steps.items()}
        self._steps = {
            body: {name: f for name, f in notation.parts.items() if name not in taken and f.args}
            for body, notation in steps.items()
        }
        taken.update(name for named in self._steps.values() for name in named)
        self._named: list[tuple[Node, Sequence[CarryName]]] = []
        self._derived: dict[str, str] = {}
        self.arrays: set[str] = set()
        """Names of parts that sums read, which are arrays: S[t]."""
        found: dict[Node, dict[int, CarryName]] = {}
        for name, node in bodies:
            carry, lags = recurrence_of(node), lags_of(node)
            if carry is not None:
                found.setdefault(carry[0], {})[carry[1]] = CarryName(name)
            elif lags is not None:
                last = len(lags.carries) - 1
                own = {k: CarryName(name, back, last) for back, k in enumerate(lags.carries)}
                found.setdefault(lags.loop, {}).update(own)
        for node, names in found.items():
            self.add(node, [names.get(k, CarryName("")) for k in range(len(node.params[-1].carries))])

    def add(self, node: Node, names: Sequence[CarryName]) -> None:
        """Add a recurrence with the names of its carries."""
        length, reverse, body = node.params
        own = tuple(n.name for n in names)
        # A derivative has the letter of the recurrence that is differentiated.
        of = (self._loops[of].letter for n in own if (of := self._derived.get(n)) in self._loops)
        letter = self._letters.get(body) or next(of, "")
        self._letters.setdefault(body, letter)
        loop = _Loop(letter, length, reverse, own, tuple(c.shape for c in body.carries))
        self._loops.update(dict.fromkeys(loop.names, loop))
        self._named.append((node, names))

    def letter(self, node: Node) -> str:
        """Return the name of the positions of a recurrence."""
        letter = self._letters.get(node.params[-1])
        return letter if letter and letter not in self.taken else letter_for(self.taken)

    def formulas(self, text: Callable[[Node], str], letter: str) -> dict[Node, str]:
        """Return the formulas that have names within a step, over the names of values and rows (`over_names`).

        Args:
            text: a function that returns an array as text.
            letter: the name of the position.
        """
        found: dict[Node, str] = {}
        for node, names in self._named:
            named = self._steps.get(node.params[-1])
            if not named:
                continue
            formulas = over_names(node, list(named.values()), names, text, letter)
            values = values_computed(node, names, text, letter)
            for some in (formulas, substitute(formulas, {f: place for f, place in values.items() if f.args})):
                found |= {f: name for f, name in zip(some, named, strict=True) if f.args and f not in values}
        return found

    def values(self, text: Callable[[Node], str], letter: str) -> dict[Node, ValueName]:
        """Return the formulas of the values that steps compute, over these names."""
        return {
            formula: ValueName(node, place.name.partition("[")[0], place)
            for node, names in self._named
            for formula, place in values_computed(node, names, text, letter).items()
            if formula.args
        }

    def new(self, node: Node, names: Mapping[Node, str]) -> list[str]:
        """Return new names for the carries of a recurrence, given names of other nodes."""
        found: list[str] = []
        for bases in self._possible_names(node, names):
            first, *_ = bases
            name = next(n for n in chain(bases, (f"{first}{k}" for k in count(2))) if n not in self.taken)
            self.taken.add(name)
            found.append(name)
        return found

    def _possible_names(self, node: Node, names: Mapping[Node, str]) -> list[Sequence[str]]:
        """Return the names for each carry from which one is taken."""
        length, reverse, body = node.params
        assert isinstance(body, Body)
        # Rows of an array with one row more than steps are the values of another recurrence.
        others = (x for x in rows_read(node) if x.shape[0] == size_sum([length, 1]))
        found = (names.get(x) or (x.name if x.op is SYMBOL else None) for x in others)
        read = [name for name in found if name in self._loops]
        shapes = [c.shape for c in body.carries]
        possible: list[list[str]] = []
        loops = dict.fromkeys(self._loops[name] for name in read)
        if not read:  # the adjoint of linear steps does not read their values
            opposite = {
                x: None for x in self._loops.values() if (x.length, x.reverse) == (length, 1 - reverse)
            }
            starting = {s.name for s in topological(node.args[: len(shapes)]) if s.op is SYMBOL}
            starting |= {names[n] for n in topological(node.args[: len(shapes)]) if n in names}
            ends = {x: None for x in opposite if not starting.isdisjoint(x.names)}
            loops = opposite if len(opposite) == 1 else ends if len(ends) == 1 else {}
        for loop in loops:
            carries = loop.named_as(shapes, read)
            if carries is not None:
                possible.append(self._derivatives(carries, "dot" if reverse == loop.reverse else "bar"))
        if possible:
            free = [p for p in possible if self.taken.isdisjoint(p)] or possible[:1]
            # A tangent reads other tangents, an adjoint other adjoints; gradients are what most programs have.
            kinds = [_kind_of(name) for name in read if name in self._derived] or ["bar"]
            return [[n] for n in min(free, key=lambda p: (self._order(p[0]), _kind_of(p[0]) not in kinds))]
        over = self._derivatives(list(dict.fromkeys(read)), "bar" if reverse else "dot")
        if len(over) == len(shapes):
            return [[name] for name in over]
        return [over[:1] or ("abcdpqrs" if reverse else "hgqrsuvw")] * len(shapes)

    def _derivatives(self, names: Sequence[str], suffix: str) -> list[str]:
        """Return the names of adjoints or tangents."""
        found = [f"{name}_{suffix}" for name in names]
        self._derived.update(zip(found, names, strict=True))
        return found

    def _order(self, name: str) -> int:
        """Return how often the values of a recurrence of the program were differentiated for those of a name."""
        order = 0
        while name in self._derived:
            name, order = self._derived[name], order + 1
        return order

    def value_of(self, name: str) -> str | None:
        """Return the value whose adjoint or tangent a name stands for; None for other names."""
        return self._derived.get(name)

    def step_of(self, name: str, text: Callable[[Node], str], letter: str) -> NamedStep | None:
        """Return the step that computes the values of a name; None for other names.

        Args:
            name: the name.
            text: a function that returns an array as text.
            letter: the name of the position.
        """
        for node, names in self._named:
            if name not in [n.name for n in names]:
                continue
            symbols = names_in_step(node, names, text, letter)
            pairs = list(zip(node.params[-1].carries, names, strict=True))
            parts = self._steps.get(node.params[-1], {})
            formulas = over_names(node, list(parts.values()), names, text, letter)
            step, _ = step_formulas(node, names, text, letter)
            at = step_places(node, names)
            values = {
                names[k].name: f"{names[k].name}[{position_text(letter, p)}]" for k, p in at.after.items()
            }
            lines = dict(zip(parts, formulas, strict=True))
            lines |= {values[names[k].name]: step[k] for k in at.after}
            marks = {f: symbol(Declaration(left, shape=f.shape)) for left, f in lines.items() if f.args}
            return NamedStep(
                {symbols[c].name if n.back else n.name: symbols[c] for c, n in pairs},
                {left: with_args(f, substitute(f.args, marks)) for left, f in lines.items()},
                values,
                lines,
                "{} in {}..{}".format(letter, *map(size_text, at.ends)),
            )
        return None


class NamedRecurrences(NamedTuple):
    """The recurrences of a program: the names of their carries, of nodes, and the arrays that need names."""

    lines: dict[Node, list[CarryName]]
    names: dict[Node, str]
    rows: set[Node]


def name_recurrences(
    order: Iterable[Node],
    named: Mapping[Node, str],
    loops: RecurrenceNames,
    lags: Mapping[Node, Sequence[Lags]],
    text: Callable[[Node], str],
) -> NamedRecurrences:
    """Return names for the recurrences among nodes.

    Args:
        order: the nodes.
        named: the names of other nodes.
        loops: the names of recurrences; these are added.
        lags: for recurrences, the arrays that stand for carries and those that keep their earlier values.
        text: a function that returns a formula over names as text.
    """
    found = NamedRecurrences({}, {}, set())
    for node in order:
        if not is_recurrence(node):
            continue
        new = loops.new(node, {**named, **found.names})
        arrays = named_arrays(node, lags.get(node, ()))
        own = [named.get(c) or name for c, name in zip(arrays, new, strict=True)]
        found.lines[node] = carry_names(own, lags.get(node, ()))
        loops.add(node, found.lines[node])
        found.names.update(zip(arrays, own, strict=True))
        if len(own) > 1:
            found.names[node] = text(pack_names(node, own))
        found.rows.update(x for x in rows_read(node) if x.op is not SYMBOL)
    return found
