r"""Recurrences of a document: the statements that define their values, with their range, as one text.

h_t = \tanh(W h_{t-1}), \quad t = 1, \dots, T        h[t] = tanh(W@h[t-1]) for t in 1..T
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symgrad.apps.review.layout.statements import ChainText
from symgrad.frontend.latex.document import latex_statements
from symgrad.frontend.latex.meaning.step_lines import StepLines, with_recurrences
from symgrad.support.errors import SymgradError
from symgrad.support.source import Source

_DOTS = re.compile(r"\\[lc]?dots(?![a-zA-Z])")
_LOOP = re.compile(r"\bfor\s+(?P<letter>\w+)\s+in\b.*\.\.")
_ENTRY = re.compile(r"\s*(?P<base>[^\W\d]\w*)\s*\[(?P<place>[^\[\]]*)\]\s*")
_SUBSCRIPT = re.compile(r"(?P<base>.*[^\s_\\])\s*_\s*(?P<place>\{[^{}]*\}|\w)\s*", re.DOTALL)
_LETTER = re.compile(r"(?<![a-zA-Z\\])[a-z](?![a-zA-Z])")
_SPACE = re.compile(r"[{}\s&]+")


@dataclass(frozen=True, slots=True)
class RecurrenceText:
    """A recurrence.

    Args:
        statements: the numbers of the statements of its first values, of its steps, and of its range.
        first: the number of the first statement of its steps.
        text: all of it; empty for a recurrence without a range.
        bases: the names of its values as they are written.
        letter: the letter of the position.
    """

    statements: tuple[int, ...]
    first: int
    text: str
    bases: tuple[str, ...]
    letter: str


def recurrences_in(found: Sequence[ChainText]) -> list[RecurrenceText]:
    """Return the recurrences of a document."""
    loops = [*_with_ranges(found), *_loops(found)]
    taken = {k for r in loops for k in r.statements}
    return [*loops, *_without_ranges(found, taken, loops)]


def _is_definition(s: ChainText) -> bool:
    return len(s.sides) == 2 and not s.continues and s.relations[0].kind in ("equal", "define")


def _latex_entry(s: ChainText) -> tuple[str, str] | None:
    """Return the name before the subscript of a left side, and the subscript."""
    if not _is_definition(s) or s.sides[0].notation != "latex":
        return None
    match = _SUBSCRIPT.fullmatch(s.sides[0].text.strip(" &\n"))
    return None if match is None else (_plain(match["base"]), match["place"])


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _with_ranges(found: Sequence[ChainText]) -> Iterator[RecurrenceText]:
    for k in range(1, len(found)):
        end = _range_at(found, k)
        if end is None:
            continue
        first = k
        while first and _is_definition(found[first - 1]) and found[first - 1].sides[0].notation == "latex":
            first -= 1
        run = range(first, k)
        rows = [f"{found[i].sides[0].text} = {found[i].sides[1].text}" for i in run]
        span = ", ".join(" ".join(_parts_of(s)) for s in found[k:end])
        steps = _steps([*rows[:-1], f"{rows[-1]}, {span}"]) if rows else []
        if not steps:
            continue
        letter = found[k].sides[1 if len(found[k].sides) == 3 else 0].text.strip()
        chosen = [first + n for n in steps]
        entries = {i: e for i in chosen if (e := _latex_entry(found[i])) and letter in _LETTER.findall(e[1])}
        bases = tuple(dict.fromkeys(base for base, _ in entries.values()))
        starts = [
            i
            for i, s in enumerate(found)
            if i not in chosen
            and (e := _latex_entry(s)) is not None
            and e[0] in bases
            and letter not in _LETTER.findall(e[1])
        ]
        # Behind the first values above a recurrence, such lines are claims: F_9 = 34.
        starts = [i for i in starts if i < k] or starts
        lines = [rows[i - first] for i in chosen]
        lines[-1] = f"{lines[-1]}, {span}"
        begin = [f"{found[i].sides[0].text} = {found[i].sides[1].text}" for i in starts]
        text = " \\\\\n".join(line.replace("\n", " ").replace("&", " ") for line in (*begin, *lines))
        yield RecurrenceText((*starts, *chosen, *range(k, end)), chosen[0], text, bases, letter)


def _parts_of(s: ChainText) -> Iterator[str]:
    for k, side in enumerate(s.sides):
        yield side.text.strip()
        if k < len(s.relations):
            yield s.relations[k].text


def _range_at(found: Sequence[ChainText], k: int) -> int | None:
    r"""Return the number of the statement behind a range; None where no range begins: t = 1, \dots, T."""
    s = found[k]
    if s.sides[0].notation != "latex" or s.continues:
        return None
    if len(s.sides) == 3 and all(r.text.startswith((r"\le", "<=", "≤")) for r in s.relations):
        return k + 1 if _LETTER.fullmatch(s.sides[1].text.strip()) else None
    if len(s.sides) != 2 or _LETTER.fullmatch(s.sides[0].text.strip(" &\n")) is None:
        return None
    if s.relations[0].text == r"\in":
        return k + 1 if _DOTS.search(s.sides[1].text) else None
    rest = found[k + 1 : k + 2]
    return k + 2 if rest and not rest[0].relations and _DOTS.search(rest[0].sides[0].text) else None


def _steps(rows: Sequence[str]) -> list[int]:
    """Return the numbers of the rows that belong to the step whose range is behind the last one."""
    text = " \\\\\n".join(row.replace("\n", " ").replace("&", " ") for row in rows)
    try:
        lines = with_recurrences(latex_statements(Source(text)))
    except SymgradError:
        return [len(rows) - 1]
    steps = next((line.steps for line in lines if isinstance(line, StepLines)), ())
    return [text.count("\\\\\n", 0, line.start) for line in steps]


def _loops(found: Sequence[ChainText]) -> Iterator[RecurrenceText]:
    for k, s in enumerate(found):
        loop = _LOOP.search(s.sides[-1].text) if _is_definition(s) else None
        if loop is None or s.sides[0].notation != "symgrad":
            continue
        first = k
        while first and _is_step(found[first - 1], loop["letter"]):
            first -= 1
        entries = [_ENTRY.fullmatch(found[i].sides[0].text) for i in range(first, k + 1)]
        bases = tuple(dict.fromkeys(e["base"] for e in entries if e is not None))
        starts = [
            i
            for i, other in enumerate(found)
            if not first <= i <= k
            and _is_definition(other)
            and (e := _ENTRY.fullmatch(other.sides[0].text)) is not None
            and e["base"] in bases
        ]
        lines = [
            "=".join(side.text.strip() for side in found[i].sides) for i in (*starts, *range(first, k + 1))
        ]
        begin = "".join(f"{line}\n" for line in lines[: len(starts)])
        text = f"{begin}{'; '.join(lines[len(starts) :])}"
        yield RecurrenceText((*starts, *range(first, k + 1)), first, text, bases, loop["letter"])


def _is_step(s: ChainText, letter: str) -> bool:
    """Tell whether a statement before a loop belongs to its step: it reads the position, and has no loop of its own."""
    if not _is_definition(s) or s.sides[0].notation != "symgrad" or _LOOP.search(s.sides[1].text):
        return False
    return any(letter in re.findall(r"[^\W\d]\w*", place) for side in s.sides for place in _places(side.text))


def _places(text: str) -> list[str]:
    return re.findall(r"\[([^\[\]]*)\]", text)


def _without_ranges(
    found: Sequence[ChainText], taken: set[int], known: Sequence[RecurrenceText]
) -> Iterator[RecurrenceText]:
    """Yield h_t = f(h_{t-1}) whose range the document does not say, and what reads values of other recurrences so."""
    statements: dict[tuple[str, str], list[int]] = {}
    for k, s in enumerate(found):
        entry = None if k in taken else _latex_entry(s)
        letters = () if entry is None else _LETTER.findall(entry[1])
        if entry is None or len(letters) != 1:
            continue
        base, letter, right = entry[0], letters[0], s.sides[1].text
        same = [b for r in known if r.letter == letter for b in r.bases]
        reads = [p for b in same for p in subscripts_of(b, right)]
        reads += [p for p in subscripts_of(base, right) if p != _plain(entry[1])]
        if any(letter in _LETTER.findall(place) for place in reads):
            statements.setdefault((base, letter), []).append(k)
    for (base, letter), numbers in statements.items():
        yield RecurrenceText((*numbers,), numbers[0], "", (base,), letter)


def reads_values(found: RecurrenceText, text: str) -> bool:
    """Tell whether a text reads values of a recurrence; without a range, whether it reads some at other positions."""
    if any(re.search(rf"(?<![\w\\]){re.escape(base)}\s*\[", text) for base in found.bases):
        return True
    places = [place for base in found.bases for place in subscripts_of(base, text)]
    if found.text or not places:
        return bool(places)
    summed = re.search(rf"\\sum\s*_\s*\{{?\s*{found.letter}(?![a-zA-Z])", text) is not None
    return summed or any(found.letter not in _LETTER.findall(place) for place in places)


def subscripts_of(base: str, text: str) -> list[str]:
    """Return the subscripts with which a name is read in LaTeX."""
    name = re.escape(base).replace(r"\ ", r"[\s{}]*")
    return [_plain(p) for p in re.findall(rf"(?<![a-zA-Z\\]){name}[\s}}]*_\s*(\{{[^{{}}]*\}}|\w)", text)]
