"""`review` takes a document and returns a verdict on each of its steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from symgrad.api.claims.verify import validate_seconds
from symgrad.apps.review.formulas.matrix_facts import DocumentFacts, facts_in
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.layout.order import order_definitions
from symgrad.apps.review.layout.passages import DocumentForm, form_of, passages
from symgrad.apps.review.layout.quantities import PlainNumbers, plain_numbers
from symgrad.apps.review.layout.remarks import with_all_items
from symgrad.apps.review.layout.statements import ChainText, statements
from symgrad.apps.review.reviewer import Reviewer
from symgrad.apps.review.steps import ReviewRecord, ReviewStep
from symgrad.frontend.latex.meaning.readings import ReadingOptions, checked_options
from symgrad.ir.listing import Listing
from symgrad.report.report import Report, Reported
from symgrad.support.errors import ProgramSyntaxError, UsageError
from symgrad.support.progress import steps
from symgrad.support.source import Source
from symgrad.verification.verdict import Verdict

if TYPE_CHECKING:
    from typing import Unpack

_OTHERWISE = re.compile(
    r'otherwise: (arguments|slash)="(\w+)"|a position counted from \d; otherwise: (first)=(\d)'
)
_LOGARITHM = re.compile(r"\blog\b(?!_)")
# What has logarithms of base 10: pH, decibels, log(100) = 2.
_BASE_10 = re.compile(
    r"\bpH\b|\bpK_?[abw]?\b|\bdB\b|\bdecibels?\b|\blg\b|\blog_?\{?10"
    r"|\blog\s*\(?\s*10+(?:\^[-−(){}\w]+)?\s*\)?\s*=\s*[-−]?\s*(?:\d+|[a-z])(?![.\w])"
)
_LENGTH = re.compile(r"\|([^\W\d]\w*)\|")
_POWER_OF_10 = re.compile(r"(?<=/)(\s*\d[\d.]*)\s?[×·]\s?10\^([-−]?\d+)")
_RIGHT = ("proved", "supported")
_BOTH = {
    "arguments": "a function without brackets",
    "slash": "a slash before several factors",
    "first": "positions, which may count from 0 or from 1",
}
_AHEAD = 6  # statements behind one that may say what it is for
_READINGS = 5  # of a document in which names are explained behind their use, by others that are

# What is imported in functions here is for start-up time: a review is written in one of these forms, or in none.


class Review(ReviewRecord, Reported):
    """What became of the steps of a document; made by `review`.

    Attributes:
        steps: all steps, in the order of the document: ``kind``, ``line``, ``text``, ``status``, ``verdict``.
        assumptions: what the verdicts rest on: what the document declares, and what it leaves open.
        first_wrong: the first step that is refuted, or None.
        status: the worst status of a step.
    """

    def text(self) -> str:
        """Return the document with a mark on each line that has a step; remarks on the step stand below its line."""
        from symgrad.apps.review.formatting import review_text

        return review_text(self)

    def report(self) -> Report:
        """Return it as a report: the document with a mark on each line, and what is to be said below it."""
        from symgrad.apps.review.report import review_report

        return review_report(self)

    def json(self) -> dict[str, Any]:
        """Return it as a dictionary of plain values."""
        from symgrad.apps.review.formatting import review_json

        return review_json(self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Review of {self.source.name}: {self.status}, {len(self.steps)} steps>"


def review(
    text: str,
    name: str = "<text>",
    form: DocumentForm | None = None,
    time_limit: float = 10,
    **options: Unpack[ReadingOptions],
) -> Review:
    r"""Check a hand derivation, step by step: which line is right, and which is the first that is not.

    What stands between formulas is left alone. The first equation for a name defines it. All further equations are
    claims, and so are the steps of a chain ``a = b = c``, which may extend over several lines.

    Args:
        text: a document: Markdown, LaTeX or plain text. Formulas are read from fenced blocks marked ``symgrad``, code
            spans and dollars; in plain text, every equation is read.
        name: the name of the document in messages. If it is a file name, its ending (.md, .tex) determines the form.
        form: ``"markdown"``, ``"latex"`` or ``"text"``; by default what its name or its text says.
        time_limit: seconds for one step.
        options: how LaTeX is read where it is ambiguous, as `docs/latex.md` tells: ``slash="product"``.

    Returns:
        A Review: ``steps``, ``first_wrong``, ``status``, ``assumptions``.

    Raises:
        ProgramSyntaxError: if there is no formula in it.
        UsageError: if the document is not a str, or an option does not exist.

    Example:
        >>> import symgrad as sg
        >>> r = sg.review('''
        ... Let L = log(1 + exp(w*x)). By the chain rule
        ...   dL/dw = exp(w*x)/(1 + exp(w*x))*x
        ...         = sigmoid(w*x)
        ... ''')
        >>> r.status, r.first_wrong.line, r.first_wrong.text
        ('refuted', 4, 'sigmoid(w*x)')
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(
            f"a document is a text (str), not {type(text).__name__}",
            cure="read a file with Path(...).read_text()",
        )
    seconds = validate_seconds(time_limit)
    chosen = checked_options({"slash": "papers", **options})
    known = form_of(text, name) if form is None else form
    source, plain = Source(text, name), plain_numbers(text)
    found = _statements(plain.text, known)
    if not any(s.relations for s in found):
        raise ProgramSyntaxError(
            "the document has no equation" if found else "the document has no formula",
            expected="equations: in fenced blocks marked symgrad, between dollars, or on lines of plain text",
            cure="write a step such as dL/dw = 2*w",
        )
    document = _Document(source, known, found, plain.units)
    first = _read(document, seconds, chosen)
    for text, meant, both in _other_texts(plain, known):
        if (both or first.status == "refuted") and (others := _statements(text, known)) != found:
            other = _read(replace(document, statements=others), seconds, chosen)
            first = _unless_otherwise(first, other, meant, both=both)
    if first.status != "refuted":
        return first
    doubts = (_OTHERWISE.search(a.text) for a in first.assumptions)
    noted = [(m[1] or m[3], m[2] or int(m[4])) for m in doubts if m is not None]
    for option, value in dict.fromkeys((o, v) for o, v in noted if o not in options):
        other = _read(document, seconds, {**chosen, option: value})
        first = _unless_otherwise(first, other, _BOTH[option])
    return first


def _other_texts(plain: PlainNumbers, form: DocumentForm) -> Iterator[tuple[str, str, bool]]:
    """Give what a document may say, too; what is read in two ways; and whether what is right must be so in both."""
    text = plain.text
    if form == "text":
        yield with_all_items(text), "a sign at the begin of a line, a bullet perhaps", True
    if _BASE_10.search(text) is not None:
        yield _LOGARITHM.sub("lg ", text), "log, which may have the base 10", True
    yield plain.in_si, "units that are not read, which may be those of the SI", False
    yield _LENGTH.sub(r"‖\1‖", text), "bars, which may be around the length of a vector", False
    powers = _POWER_OF_10.sub(lambda m: f"{m[1]}e{m[2].replace('−', '-')}".ljust(len(m[0])), text)
    yield powers, "a power of ten behind a slash", False


def _statements(text: str, form: DocumentForm) -> list[ChainText]:
    """Return the statements of a document. What readers do not see holds from the first line on, wherever it stands."""
    return list(statements(text, sorted(passages(text, form), key=lambda p: p.kind != "option")))


def _unless_otherwise(review: Review, other: Review, meant: str, *, both: bool = False) -> Review:
    """Return a review in which a step is undecided that is wrong in one reading and right in another.

    Args:
        review: in one reading.
        other: in another one.
        meant: what is read in two ways.
        both: whether that is so, too, of a step that is right in the first reading.
    """
    there = {step.span.start: step.status for step in other.steps}

    def merged(step: ReviewStep) -> ReviewStep:
        right, right_there = step.status in _RIGHT, there.get(step.span.start) in _RIGHT
        if right_there == right or not (step.status == "refuted" or (both and right)):
            return step
        here, other = ("right", "wrong") if right else ("wrong", "right")
        why = f"it is {here} as the formulas are read, and {other} in the other reading of {meant}"
        return replace(step, verdict=Verdict("undecided", why), corrected=None)

    return Review(
        review.source, review.form, tuple(map(merged, review.steps)), review.assumptions, review.defined
    )


@dataclass(frozen=True, slots=True)
class _Document:
    """What is read once, whatever its formulas mean."""

    source: Source
    form: DocumentForm
    statements: Sequence[ChainText]
    units: Mapping[int, str]


def _read(document: _Document, seconds: float, options: Mapping[str, Any]) -> Review:
    """Review the statements of a document, with one choice of options for ambiguous LaTeX."""
    source, found, units = document.source, document.statements, document.units
    order, facts = list(range(len(found))), facts_in(source.text)
    reviewer = _reviewed(document, order, facts, seconds, options)
    for _ in range(_READINGS):
        if not (reviewer.late or reviewer.again):
            break
        order = order_definitions(order, reviewer.late, found)
        before = reviewer.names.unread
        reviewer = _reviewed(document, order, facts, seconds, options, before)
    if units:
        line, _ = source.line_column(min(units))
        said = ", ".join(dict.fromkeys(units[at] for at in sorted(units)))
        reviewer.names.assume(f"units behind numbers are left out: {said}", line, stated=False)
    steps = sorted(reviewer.steps, key=lambda step: step.span.start)
    return Review(source, document.form, tuple(steps), reviewer.names.told(), _listing(reviewer.names))


def _reviewed(
    document: _Document,
    order: Sequence[int],
    facts: DocumentFacts,
    seconds: float,
    options: Mapping[str, Any],
    unread: Mapping[str, int] | None = None,
) -> Reviewer:
    """Return what became of statements that are read in an order."""
    found = document.statements
    reviewer = Reviewer(document.source, facts, seconds, options)
    reviewer.names.unread.update(unread or {})
    reviewer.expect(found, document.units)
    for k in steps("documents", "reviewing", order):
        reviewer.read(k, found[k], found[k + 1 : k + 1 + _AHEAD])
    return reviewer


def _listing(names: DocumentNames) -> Listing:
    """Return the inputs and definitions of a document, in the order in which they were read."""
    symbols = {name: node for name, node in names.values.items() if names.is_input(name)}
    return Listing(symbols, {name: node for name, node in names.values.items() if name not in symbols})
