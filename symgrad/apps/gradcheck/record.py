"""The verdict on gradient code: for each argument a verdict, and the kind of right or wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeAlias, get_args

import numpy as np

from symgrad.ir.listing import one_of, suggest
from symgrad.report.blocks import Banner, Block, Code, Column, Heading, Table, Tone, prose
from symgrad.report.blocks import Literal as Text
from symgrad.report.report import Report, Reported
from symgrad.support.errors import NotInProgramError, TruthValueError
from symgrad.verification.diagnosis import Diagnosis
from symgrad.verification.verdict import Status, Verdict

CodeKind: TypeAlias = Literal[
    "right",
    "float32 noise",
    "cancellation",
    "wrong",
    "wrong on a branch",
    "not finite",
    "raises",
    "wrong number of gradients",
    "wrong shape",
    "no numbers",
    "no gradient",
    "changes its inputs",
    "not deterministic",
    "undecided",
]

KINDS: tuple[CodeKind, ...] = get_args(CodeKind)
"""All kinds of right and wrong."""

_ORDER: tuple[Status, ...] = ("refuted", "undecided", "supported", "proved")
_SHOWN = 100  # characters of a line
_ENTRIES = 12  # entries up to which an array is printed in full


@dataclass(frozen=True, slots=True)
class ArgumentVerdict:
    """The verdict on the gradient by one argument.

    Args:
        name: the name of the argument.
        kind: ``right``: proved, or right to working accuracy at all tested points (``status`` tells which);
            ``float32 noise``: errors of single precision in double precision values; ``cancellation``: right, but large
            terms cancel at some inputs; ``wrong``; ``wrong on a branch``: wrong at the inputs of ``where`` only;
            ``undecided``: not testable; or the reason why it is no gradient at all: ``not finite``, ``raises``,
            ``wrong shape``, ``wrong number of gradients``, ``no numbers``, ``no gradient``: None,
            where the derivative is not zero; ``changes its inputs``, ``not deterministic``.
        verdict: ``proved`` or ``refuted`` with a proof if both functions were read; else ``refuted`` by a point, or
            ``supported``.
        told: the kind as a sentence.
        where: the inputs that the sentence is about.
        point: a point as an example.
        given: the value of the code there.
        exact: the derivative there.
        index: the index of the worst entry there.
        relative: the relative error of that entry.
        small: whether the error of a ``cancellation`` is everywhere below a rounding of the usual size of the
            derivative.
        notes: further observations.
        right: the right formula, if it is short.
        entries: for a proof entry by entry, the verdict on each entry, with its proof. Its name is ``"x[0, 1]"``, or
            ``"x[0, 1], way 2"`` if the code branches on values.
    """

    name: str
    kind: CodeKind
    verdict: Verdict
    told: str
    where: str | None = None
    point: Mapping[str, Any] | None = field(default=None, repr=False)
    given: Any = field(default=None, repr=False)
    exact: Any = field(default=None, repr=False)
    index: tuple[int, ...] = ()
    relative: float | None = None
    small: bool = False
    notes: tuple[str, ...] = ()
    right: str | None = None
    entries: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict], repr=False)

    @property
    def status(self) -> Status:
        """The status of the verdict."""
        return self.verdict.status

    @property
    def diagnosis(self) -> list[Diagnosis]:
        """The mistakes that reproduce the values of the code, best first."""
        return self.verdict.diagnosis

    def __bool__(self) -> NoReturn:
        raise TruthValueError(
            "a verdict has no truth value: it may also be 'supported' or 'undecided'",
            cure="compare its kind: verdict.kind == 'right'",
        )

    def __str__(self) -> str:
        return self.text()

    def text(self, *, told: Mapping[str, Any] | None = None) -> str:
        """Return the verdict as text.

        Args:
            told: a point that the reader has already seen.
        """
        lines = [f"{self.name}: {self.kind}, {self.told}" if self.told else f"{self.name}: {self.kind}"]
        if self.point is not None:
            lines += ["  at the same point"] if self.point is told else _point_lines(self.point)
            if self.given is not None and self.exact is not None:
                a, b = np.asarray(self.given)[self.index], np.asarray(self.exact)[self.index]
                got, true = _pair(float(a), float(b))
                entry = f", of entry {list(self.index)}" if self.index else ""
                lines.append(f"  it gives {got}, the derivative is {true}{entry}")
        lines += [f"  {d}" for d in self.diagnosis[:1]]
        if self.right is not None and self.status == "refuted":
            lines.append(f"  right is: {self.right}")
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as data for `json.dumps`."""
        return {
            "name": self.name,
            "kind": self.kind,
            "told": self.told,
            "where": self.where,
            "point": None if self.point is None else {n: _nested(v) for n, v in self.point.items()},
            "given": None if self.given is None else _nested(self.given),
            "exact": None if self.exact is None else _nested(self.exact),
            "index": list(self.index),
            "relative": self.relative if self.relative is None or np.isfinite(self.relative) else None,
            "small": self.small,
            "notes": list(self.notes),
            "right": self.right,
            "verdict": self.verdict.to_json(),
        }


def _nested(value: Any) -> Any:
    return np.asarray(value).tolist()


_TONES: dict[str, Tone] = {"proved": "good", "refuted": "bad", "supported": "open", "undecided": "open"}


@dataclass(frozen=True, slots=True)
class CodeVerdict(Reported):
    """The verdict on gradient code. It has no truth value: read ``status`` or ``kind``.

    Args:
        arguments: the verdict for each argument, by name; ``verdict["x"]`` is short for it.
        how: the method, in words.
        seconds: the time that it took.
    """

    arguments: Mapping[str, ArgumentVerdict]
    how: str
    seconds: float = 0.0

    @property
    def worst(self) -> ArgumentVerdict:
        """The worst verdict of an argument."""
        return min(self.arguments.values(), key=lambda v: (_ORDER.index(v.status), v.kind == "right"))

    @property
    def status(self) -> Status:
        """The worst status: ``refuted``, else ``undecided``, else ``supported``, else ``proved``."""
        return self.worst.status

    @property
    def kind(self) -> CodeKind:
        """The kind of the worst argument: ``right`` if all are."""
        return self.worst.kind

    def __getitem__(self, name: str) -> ArgumentVerdict:
        if name not in self.arguments:
            raise NotInProgramError(
                f"'{name}' is none of the arguments that were differentiated by",
                expected=one_of(self.arguments),
                cure=suggest(name, self.arguments),
            )
        return self.arguments[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arguments)

    def __len__(self) -> int:
        return len(self.arguments)

    def __bool__(self) -> NoReturn:
        raise TruthValueError(
            "a verdict has no truth value: it may also be 'supported' or 'undecided'",
            cure="compare its status: verdict.status == 'proved'; or sg.testing.assert_gradient",
        )

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.how}"]
        told = None
        for verdict in self.arguments.values():
            lines += [f"  {line}" for line in verdict.text(told=told).splitlines()]
            told = told if verdict.point is None else verdict.point
        return "\n".join(lines)

    def report(self) -> Report:
        """Return the verdict as a report: a row for each argument, and its mistakes in words."""
        rows = tuple(
            (prose(Text(name)), prose(v.status), prose(v.kind), prose(v.told))
            for name, v in self.arguments.items()
        )
        columns = tuple(map(Column, ("gradient by", "verdict", "kind", "what is known")))
        blocks: list[Block] = [
            Banner(self.status, _TONES[self.status], prose(self.how)),
            Table("The gradient by each argument", columns, rows),
        ]
        told = None
        for name, v in self.arguments.items():
            if v.kind != "right" or v.notes:
                blocks += [Heading(f"By {name}"), Code(v.text(told=told), "text")]
                told = told if v.point is None else v.point
        return Report("Does the code compute the gradient?", tuple(blocks))

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as data for `json.dumps`."""
        return {
            "status": self.status,
            "kind": self.kind,
            "how": self.how,
            "seconds": round(self.seconds, 6),
            "arguments": {n: v.to_json() for n, v in self.arguments.items()},
        }


def point_text(point: Mapping[str, Any]) -> str:
    """Return a point as text, its arrays shortened.

    Example:
        >>> point_text({"x": np.float64(0.5), "n": np.array([1, 2])})
        'x = 0.5, n = [1, 2]'
    """
    return ", ".join(f"{name} = {_short(value)}" for name, value in point.items())


def _point_lines(point: Mapping[str, Any]) -> list[str]:
    """Return a point in one line if it is short, else a line for each input."""
    text = f"  at {point_text(point)}"
    if len(text) <= _SHOWN:
        return [text]
    rows = [f"{name} = {_short(value)}" for name, value in point.items()]
    return [f"  at {rows[0]}", *(f"     {row}" for row in rows[1:])]


def _short(value: Any) -> str:
    array = np.asarray(value)
    if not array.shape:
        return number_text(float(array))
    text = np.array2string(
        array, separator=", ", precision=4, threshold=_ENTRIES, edgeitems=2, max_line_width=10_000
    )
    return " ".join(text.split())


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the number."""
    whole = np.isfinite(value) and value == int(value) and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


def _pair(a: float, b: float) -> tuple[str, str]:
    """Return two numbers with two digits more than are needed to distinguish them."""
    for digits in range(6, 17):
        if f"{a:.{digits - 2}g}" != f"{b:.{digits - 2}g}":
            return f"{a:.{digits}g}", f"{b:.{digits}g}"
    return repr(a), repr(b)
