r"""Recurrences in LaTeX: h_0 = 0, and h_t = \tanh(W h_{t-1} + U x_t), \quad t = 1, \dots, T.

The lines of one step stand before their range, in any order. A name of these lines that is read at its own position
only is computed in each step, and needs no first value. Positions of the values that a recurrence computes are the
numbers in the text. Rows of other arrays are counted from 0 or from 1, as their lengths require.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from symgrad.frontend.expressions.recurrence_steps import STEP, RecurrenceSteps, StepRange, step_offset
from symgrad.frontend.expressions.recurrences import StepDefinition
from symgrad.frontend.latex.meaning.names import entry_name, spelled_name, without_power
from symgrad.frontend.latex.meaning.recurrence_shapes import RecurrenceShapes
from symgrad.frontend.latex.syntax.tree import Bracket, Command, LatexLine, Scripted, Tree, Word
from symgrad.frontend.latex.syntax.vocabulary import GREEK
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.frontend.tokens.terms import Term, Token
from symgrad.ir.graph import SYMBOL, Node, size_node, symbol
from symgrad.ir.notation.recurrences import recurrence_of
from symgrad.ir.sizes import Size, nonnegative, size_product, size_sum
from symgrad.ir.types import INT, Declaration
from symgrad.ops.numpy.lengths import as_size
from symgrad.support.errors import RedefinitionError
from symgrad.support.traversal import postorder


@dataclass(frozen=True, slots=True)
class StepLines(LatexLine):
    """The lines of a recurrence, as one line whose sides are all right sides.

    Args:
        starts: the lines of first values.
        steps: the lines of one step.
        letter: the letter of the position.
        ends: the positions that are written: the first, perhaps the second, and the last one.
    """

    starts: tuple[LatexLine, ...] = ()
    steps: tuple[LatexLine, ...] = ()
    letter: Word = field(default_factory=lambda: Word(0, 0, ""))
    ends: tuple[Tree, ...] = ()

    @property
    def defined(self) -> tuple[Tree, ...]:
        return tuple(line.sides[0] for line in self.steps)


def with_recurrences(lines: Sequence[LatexLine]) -> list[LatexLine]:
    r"""Return lines, of which those of a recurrence and its range are one.

    Example:
        >>> from symgrad.frontend.latex.document import latex_statements
        >>> from symgrad.support.source import Source
        >>> lines = latex_statements(Source(r"h_0 = a \\ h_t = b h_{t-1}, \quad t = 1, \dots, 5 \\ y = h_5^2"))
        >>> [type(line).__name__ for line in with_recurrences(lines)]
        ['StepLines', 'LatexLine']
    """
    found: list[LatexLine] = []
    k = 0
    while k < len(lines):
        span = _range_at(lines, k)
        steps = [] if span is None else _last_steps(found, span[0])
        if span is None or not steps:
            found.append(lines[k])
            k += 1
            continue
        letter, ends, k = span
        found.append(_joined((), steps, letter, ends))
    return _with_starts(found)


def _joined(
    starts: Sequence[LatexLine], steps: Sequence[LatexLine], letter: Word, ends: tuple[Tree, ...]
) -> StepLines:
    sides = tuple(line.sides[1] for line in (*starts, *steps))
    first = steps[0]
    return StepLines(
        sides, ("=",), first.start, ends[-1].end, first.explains, (*starts,), (*steps,), letter, ends
    )


def _range_at(lines: Sequence[LatexLine], k: int) -> tuple[Word, tuple[Tree, ...], int] | None:
    r"""Return the letter and the ends of the range that begins at a line, and where the lines continue.

    Ranges are t = 1, \dots, T; t = 1, 2, \dots, T; 1 \le t \le T; and t \in \{1, \dots, T\}.
    """
    line = lines[k]
    sides = line.sides
    if line.relations == ("<=", "<=") and _is_letter(sides[1]):
        return sides[1], (sides[0], sides[2]), k + 1
    if not _is_letter(sides[0]):
        return None
    if line.relations == ("in",) and isinstance(sides[1], Bracket) and len(sides[1].items) in (3, 4):
        items = sides[1].items
        return (sides[0], (*items[:-2], items[-1]), k + 1) if _is_dots(items[-2]) else None
    if line.relations != ("=",):
        return None
    for count in (2, 3):
        some = lines[k + 1 : k + 1 + count]
        if len(some) == count and not any(s.relations for s in some) and _is_dots(some[-2].sides[0]):
            return sides[0], (sides[1], *(s.sides[0] for s in (*some[:-2], some[-1]))), k + 1 + count
    return None


def _is_letter(tree: Tree) -> TypeGuard[Word]:
    return isinstance(tree, Word) and (len(tree.text) == 1 or tree.text in GREEK)


def _is_dots(tree: Tree) -> bool:
    return isinstance(tree, Command) and tree.name in ("ldots", "dots", "cdots")


def _last_steps(found: list[LatexLine], letter: Word) -> list[LatexLine]:
    """Take the lines of a step from the end of a list: values at a position, and what they read at this position."""
    begin = len(found)
    while begin and found[begin - 1].relations == ("=",) and not isinstance(found[begin - 1], StepLines):
        begin -= 1
    values: list[int] = []
    local: dict[str, int] = {}
    for k in range(begin, len(found)):
        left, right = found[k].sides
        name = spelled_name(left)
        if name is not None and _array(left, letter) is not None:
            values.append(k)
        elif name is not None and (
            any(_reads(t.below or (), letter) for t in _scripted([right]))
            or any(n in local for n in _names_read(found[k]))
        ):
            local[name] = k
    if len(found) - 1 not in values:
        return []
    needed = postorder(values, lambda k: [local[n] for n in _names_read(found[k]) if n in local])
    steps = [found[k] for k in sorted(needed)]
    for k in sorted(needed, reverse=True):
        del found[k]
    return steps


def _reads(trees: Sequence[Tree], letter: Word) -> bool:
    return any(isinstance(t, Word) and t.text == letter.text for t in trees_in(trees))


def _scripted(trees: Sequence[Tree]) -> Iterator[Scripted]:
    return (t for t in trees_in(trees) if isinstance(t, Scripted))


def _base(tree: Tree) -> str | None:
    """Return the name of an array before its subscript."""
    found = entry_name(tree)
    return None if found is None else spelled_name(found[0])


def _array(tree: Tree, letter: Word) -> str | None:
    """Return the name of the array whose value at a position with a letter is a left side; None for other names."""
    found = entry_name(tree)
    return None if found is None or not _reads(found[1:], letter) else spelled_name(found[0])


def _names_read(line: LatexLine) -> Iterator[str]:
    """Yield the names with their subscripts that the right side of a line reads, whatever powers of them it reads."""
    for tree in trees_in(line.sides[1:]):
        yield from (n for n in (spelled_name(tree), spelled_name(without_power(tree))) if n is not None)


def _with_starts(lines: Sequence[LatexLine]) -> list[LatexLine]:
    """Return lines, of which those of first values belong to their recurrences."""
    starts: dict[int, list[LatexLine]] = {}
    owner = {
        name: k
        for k, line in enumerate(lines)
        if isinstance(line, StepLines)
        for step in line.steps
        if (name := _array(step.sides[0], line.letter)) is not None
    }
    moved: set[int] = set()
    for k, line in enumerate(lines):
        name = _base(line.sides[0])
        if (
            line.relations == ("=",)
            and name is not None
            and name in owner
            and not isinstance(line, StepLines)
        ):
            starts.setdefault(owner[name], []).append(line)
            moved.add(k)
    found: list[LatexLine] = []
    for k, line in enumerate(lines):
        if isinstance(line, StepLines):
            found.append(_joined(starts.get(k, ()), line.steps, line.letter, line.ends))
        elif k not in moved:
            found.append(line)
    return found


class LatexRecurrenceRules(RecurrenceShapes):
    """The rules for recurrences."""

    _loop_here: StepRange | None = None

    def _begin(self) -> None:
        self._only_last()  # names without a declaration are numbers, as in other lines

    def _reads_bound(self, tree: Tree) -> bool:
        loop = self._loop_here
        return super()._reads_bound(tree) or (
            loop is not None and any(isinstance(t, Word) and t.text == loop.name for t in trees_in([tree]))
        )

    def _formula(self, written: Tree) -> Term:
        return self.read(written)

    def _number_positions(self, line: StepDefinition, lowest: Size) -> None:
        self.lowest[str(line.name)] = self._first_number(lowest, line.name)

    def _first_number(self, lowest: Size, name: Token) -> int:
        if isinstance(lowest, int):
            return lowest
        raise self.refuse(
            "the number of the first position is no whole number",
            Tree(name.start_pos, name.end_pos),
            expected=r"t = 1, \dots, T",
            cure="begin the range with a whole number",
        )

    def _formula_end(self, line: StepDefinition) -> int:
        return line.formula.end

    def recurrence_lines(self, line: StepLines) -> None:
        """Read the lines of a recurrence."""
        for start in line.starts:
            self.start_value(_definition(start, entry=True))
            self._raise_error()
        for name, given in self.starts.items():
            for position, (token, value) in given.items():
                self._refuse_two_values(name, position, token, value)
        loop = self._range(line)
        arrays = {k: name for k, s in enumerate(line.steps) if (name := _array(s.sides[0], line.letter))}
        own = {spelled_name(s.sides[0]) for s in line.steps}
        past = {
            _base(t)
            for t in _scripted([side for s in line.steps for side in s.sides[1:]])
            if spelled_name(without_power(t)) not in own and _reads(t.below or (), line.letter)
        }
        kept = {k: name for k, name in arrays.items() if name in past or name in self.starts}
        for k, name in kept.items():
            if name not in self.starts:
                self._use_declared_start(name, line.steps[k], loop)
        loop = self._in_direction(loop, line.steps, kept)
        order = _in_order(line.steps)
        self._loop_here = loop
        if kept:
            steps = [_definition(line.steps[k], entry=k in kept) for k in order]
            self.give_shapes(steps, loop)
            self.define_steps(steps, loop)
            self._raise_error()
        for k, name in kept.items():
            self._number_array(name, self.lowest[name], line.steps[k])
        for k in order:
            if k in arrays and k not in kept:
                self._define_rows(arrays[k], line.steps[k], loop)
        self._loop_here = None

    def _range(self, line: StepLines) -> StepRange:
        letter = line.letter
        first, *others, last = line.ends
        loop = self.step_range(Token("NAME", letter.text, letter.start, letter.end), (first, last))
        self._raise_error()
        assert loop is not None
        for second in others:
            if as_size(self.read(second).node) != size_sum([loop.first, -1 if loop.reverse else 1]):
                raise self.refuse(
                    "the second position is not next to the first one",
                    second,
                    expected=r"all positions of a range: t = 1, 2, \dots, T",
                    cure="number the steps one by one",
                )
        return loop

    def _before_first(self, step: LatexLine, loop: StepRange) -> Size | None:
        """Return the position before those that the steps of a line compute."""
        found = entry_name(step.sides[0])
        assert found is not None
        before = size_sum([loop.first, 1 if loop.reverse else -1])
        outer = self.local
        self.local = {**outer, str(loop.name): Term(size_node(before), 0, 0)}
        position = as_size(self.read(found[1]).node)
        self.local = outer
        return position

    def _in_direction(
        self, loop: StepRange, steps: Sequence[LatexLine], kept: Mapping[int, str]
    ) -> StepRange:
        """Return the range from the end at which the first values are given: t = 1, ..., T also means T, ..., 1."""
        back = replace(loop, first=loop.last, last=loop.first, reverse=not loop.reverse)
        for way in (loop, back):
            if all(
                self._before_first(steps[k], way) in self.starts.get(name, ()) for k, name in kept.items()
            ):
                return way
        return loop

    def _define_rows(self, name: str, step: LatexLine, loop: StepRange) -> None:
        """Define the array of values that a line computes at each position from values that are known."""
        position = symbol(Declaration(STEP, INT))
        parts = entry_name(step.sides[0])
        assert parts is not None
        outer = self.local
        self.local = {**outer, str(loop.name): Term(position, 0, 0)}
        value = self.read(step.sides[1])
        offset = step_offset(position, self.read(parts[1]).node)
        self.local = outer
        low = loop.last if loop.reverse else loop.first
        token = Token("NAME", name, step.sides[0].start, step.sides[0].end)
        first = self._first_number(low if offset is None else size_sum([low, offset]), token)
        self._claim(token)
        rows = RecurrenceSteps(loop, position, {}, [])
        self.assign(token, self.build(rows.stacked, [value], value.start, value.end))
        self._raise_error()
        self._number_array(name, first, step)

    def _number_array(self, name: str, first: int, line: LatexLine) -> None:
        """Remember the number of the first position of an array that a line defines."""
        self.known.add(name)
        if self.firsts.setdefault(self.defined[name], first) != first:
            raise self.refuse(
                f"'{name}' has the values of another array, whose positions have other numbers",
                line.sides[0],
                expected="the same numbers for the same values",
                cure="number the positions of both from 0",
            )

    def _raise_error(self) -> None:
        if self.error is not None:
            raise self.error

    def _named_position(self, name: str, position: Size) -> str | None:
        """Return the known name that looks like an array with a position below it: h0 for h_0."""
        found = self.known.find(f"{name}_{position}")
        return found if found in self.defined else None

    def _refuse_two_values(self, name: str, position: Size, token: Token, value: Term) -> None:
        other = self._named_position(name, position)
        if other is not None and self.defined[other] is not value.node:
            raise self.refuse(
                f"{name}_{position} is the name '{other}', and here a value of the recurrence '{name}'",
                Tree(token.start_pos, token.end_pos),
                expected="one meaning for one name",
                cure="choose another name for the declared one",
                cls=RedefinitionError,
            )

    def _use_declared_start(self, name: str, step: LatexLine, loop: StepRange) -> None:
        """Take a declared name as the first value: h0 for a recurrence of h without a line h_0 = ..."""
        position = self._before_first(step, loop)
        known = None if position is None else self._named_position(name, position)
        if position is not None and known is not None:
            token = Token("NAME", name, step.sides[0].start, step.sides[0].end)
            self.starts[name] = {position: (token, self.named(known, step.sides[0]))}

    def _refuse_ambiguity(self, tree: Scripted, name: str) -> None:
        array = self.defined.get(_base(tree) or "")
        found = entry_name(tree)
        if name in self.local or array is None or array not in self.firsts or found is None:
            return
        if not all(self.is_known(t) for t in trees_in(found[1:]) if isinstance(t, Word)):
            return
        known = recurrence_of(array)
        starts = () if known is None else (known[0].args[known[1]],)
        if self.defined.get(name) in starts and as_size(self.read(found[1]).node) in (0, array.shape[0]):
            return
        raise self.refuse(
            f"{self.text_of(tree)} is the name '{name}', and also a value of the array '{_base(tree)}'",
            tree,
            expected="one meaning for one name",
            cure="choose another name for the declared one",
            cls=RedefinitionError,
        )

    def first_entry(self, array: Node, axis: int, place: Node, tree: Tree) -> int:
        loop = self._loop_here
        if array.op is SYMBOL and array.name.startswith(STEP) and axis == 0:
            return 0  # positions of values of the recurrence itself
        if (axis == 0 and array in self.firsts) or not (loop or self.firsts):
            return super().first_entry(array, axis, place, tree)
        fixed = as_size(place)
        offset = None if loop is None else step_offset(symbol(Declaration(STEP, INT)), place)
        if loop is not None and offset is not None:
            ends = (loop.last, loop.first) if loop.reverse else (loop.first, loop.last)
            low, high = (size_sum([end, offset]) for end in ends)
        elif fixed is not None and axis == 0 and fixed == array.shape[0]:
            low = high = fixed  # the position T of T rows
        else:
            return super().first_entry(array, axis, place, tree)
        fits = [
            first
            for first in (0, 1)
            if nonnegative(size_sum([low, -first]))
            and nonnegative(size_sum([array.shape[axis], first - 1, size_product([-1, high])]))
        ]
        first = self.options["first"]
        if fits == [1] and first == 0:
            first = 1
            self.read_as(tree, "a position counted from 1", "a declaration with more rows")
        elif len(fits) == 2 and 1 in (f for n, f in self.firsts.items() if n.op is SYMBOL):
            first = 1  # as those of other arrays
            self.read_as(tree, "a position counted from 1", "other rows of the other arrays")
        elif len(fits) == 2:
            self.read_as(tree, f"a position counted from {first}", f"first={1 - first}")
        if axis == 0:
            self.firsts[array] = first
        return first


def _definition(line: LatexLine, *, entry: bool) -> StepDefinition:
    """Return a line as a definition: of a value at a position, or of a name that is used in one step."""
    left, right = line.sides
    parts = entry_name(left) if entry else None
    name = spelled_name(left if parts is None else parts[0]) or ""
    return StepDefinition(
        Token("NAME", name, left.start, left.end), None if parts is None else parts[1], right
    )


def _in_order(steps: Sequence[LatexLine]) -> list[int]:
    """Return the numbers of the lines of a step, each after the lines whose values at this step it reads."""
    known = {spelled_name(s.sides[0]): k for k, s in enumerate(steps)}
    needs = [[known[n] for n in _names_read(s) if known.get(n, k) != k] for k, s in enumerate(steps)]
    return postorder(range(len(steps)), needs.__getitem__)
