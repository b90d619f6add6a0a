r"""The lines of a recurrence in LaTeX: first values, the lines of one step, and their range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from symgrad.frontend.latex.meaning.names import entry_name, spelled_name, without_power
from symgrad.frontend.latex.syntax.tree import (
    Bracket,
    Chain,
    Command,
    LatexLine,
    Negation,
    Scripted,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.vocabulary import GREEK
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.support.traversal import postorder


@dataclass(frozen=True, slots=True)
class StepLines(LatexLine):
    """The lines of a recurrence, as one line whose sides are all right sides.

    Args:
        starts: the lines of first values.
        steps: the lines of one step.
        letter: the letter of the position.
        ends: the positions that are written: the first, perhaps the second, and the last one; of a search, the largest
            number of steps.
        until: the condition that ends a search.
    """

    starts: tuple[LatexLine, ...] = ()
    steps: tuple[LatexLine, ...] = ()
    letter: Word = field(default_factory=lambda: Word(0, 0, ""))
    ends: tuple[Tree, ...] = ()
    until: Tree | None = None

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
        until = _condition_at(lines, k) if found else None
        span = _range_at(lines, k)
        if until is not None:
            letter = _letter_of(found[-1])
            span = None if letter is None else (letter, lines[k + 1].sides, k + 2)
        steps = [] if span is None else _last_steps(found, span[0], until)
        if span is None or not steps:
            found.append(lines[k])
            k += 1
            continue
        letter, ends, k = span
        found.append(_joined((), steps, letter, ends, until))
    return _with_starts(found)


def _joined(
    starts: Sequence[LatexLine],
    steps: Sequence[LatexLine],
    letter: Word,
    ends: tuple[Tree, ...],
    until: Tree | None,
) -> StepLines:
    sides = (*(line.sides[1] for line in (*starts, *steps)), *([until] if until is not None else []))
    first = steps[0]
    return StepLines(
        sides,
        ("=",),
        first.start,
        ends[-1].end,
        first.explains,
        starts=(*starts,),
        steps=(*steps,),
        letter=letter,
        ends=ends,
        until=until,
    )


def _condition_at(lines: Sequence[LatexLine], k: int) -> Tree | None:
    r"""Return the condition that ends a search: \text{until } c, \text{at most } 50; None for other lines."""
    line, *after = lines[k : k + 2]
    bound = [(a.word, a.relations) for a in after]
    if line.word not in ("until", "while") or bound != [("at most", ())]:
        return None
    whole = Chain(line.start, line.end, line.sides, line.relations) if line.relations else line.sides[0]
    return whole if line.word == "until" else Negation(line.start, line.end, whole)


def _letter_of(line: LatexLine) -> Word | None:
    """Return the only letter in the subscript of a left side: the position, whose range a search does not tell."""
    found = entry_name(line.sides[0])
    letters = {t.text: t for t in trees_in(found[1:]) if _is_letter(t)} if found is not None else {}
    return next(iter(letters.values())) if len(letters) == 1 else None


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


def _last_steps(found: list[LatexLine], letter: Word, until: Tree | None) -> list[LatexLine]:
    """Take the lines of a step from the end of a list: values at a position, and what they read at this position.

    Args:
        found: the list.
        letter: the letter of the position.
        until: the condition of a search.
    """
    begin = len(found)
    while begin and found[begin - 1].relations == ("=",) and not isinstance(found[begin - 1], StepLines):
        begin -= 1
    values: list[int] = []
    local: dict[str, int] = {}
    for k in range(begin, len(found)):
        left, right = found[k].sides
        name = spelled_name(left)
        if name is not None and array_at(left, letter) is not None:
            values.append(k)
        elif name is not None and (
            any(reads_letter(t.below or (), letter) for t in scripted_in([right]))
            or any(n in local for n in names_read(found[k].sides[1:]))
        ):
            local[name] = k
    if len(found) - 1 not in values:
        return []
    values += [local[n] for n in names_read([until] if until is not None else []) if n in local]
    needed = postorder(values, lambda k: [local[n] for n in names_read(found[k].sides[1:]) if n in local])
    steps = [found[k] for k in sorted(needed)]
    for k in sorted(needed, reverse=True):
        del found[k]
    return steps


def reads_letter(trees: Sequence[Tree], letter: Word) -> bool:
    """Tell whether trees contain a letter."""
    return any(isinstance(t, Word) and t.text == letter.text for t in trees_in(trees))


def scripted_in(trees: Sequence[Tree]) -> Iterator[Scripted]:
    """Return the letters with scripts in trees."""
    return (t for t in trees_in(trees) if isinstance(t, Scripted))


def array_name(tree: Tree) -> str | None:
    """Return the name of an array before its subscript."""
    found = entry_name(tree)
    return None if found is None else spelled_name(found[0])


def array_at(tree: Tree, letter: Word) -> str | None:
    """Return the name of the array whose value at a position with a letter is a left side; None for other names."""
    found = entry_name(tree)
    return None if found is None or not reads_letter(found[1:], letter) else spelled_name(found[0])


def names_read(trees: Sequence[Tree]) -> Iterator[str]:
    """Yield the names with their subscripts in trees, whatever powers of them these read."""
    for tree in trees_in(trees):
        yield from (n for n in (spelled_name(tree), spelled_name(without_power(tree))) if n is not None)


def _with_starts(lines: Sequence[LatexLine]) -> list[LatexLine]:
    """Return lines, of which those of first values belong to their recurrences."""
    starts: dict[int, list[LatexLine]] = {}
    owner = {
        name: k
        for k, line in enumerate(lines)
        if isinstance(line, StepLines)
        for step in line.steps
        if (name := array_at(step.sides[0], line.letter)) is not None
    }
    moved: set[int] = set()
    for k, line in enumerate(lines):
        name = array_name(line.sides[0])
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
            found.append(_joined(starts.get(k, ()), line.steps, line.letter, line.ends, line.until))
        elif k not in moved:
            found.append(line)
    return found


def step_order(steps: Sequence[LatexLine]) -> list[int]:
    """Return the numbers of the lines of a step, each after the lines whose values at this step it reads."""
    known = {spelled_name(s.sides[0]): k for k, s in enumerate(steps)}
    needs = [[known[n] for n in names_read(s.sides[1:]) if known.get(n, k) != k] for k, s in enumerate(steps)]
    return postorder(range(len(steps)), needs.__getitem__)
