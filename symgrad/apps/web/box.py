r"""Tell what a text in the box is: a program, a formula as people write it, or a derivation.

The text is tried as a program first, then as a document; for this, a formula without a left side gets one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import symgrad
from symgrad.api.handles.program import Program
from symgrad.apps.review.layout.passages import DocumentForm
from symgrad.apps.review.review import Review
from symgrad.ir.listing import Listing
from symgrad.support.errors import SymgradError, UnknownNameError, UsageError

BoxKind: TypeAlias = Literal["formula", "program", "derivation"]

_ENCLOSED = re.compile(r"\s*(?:\$\$?|\\\[|\\\()(?P<inner>[^$]*?)(?:\$\$?|\\\]|\\\))\s*")
_LETTERS = "yfghzqwv"
"""Letters, one of which stands for a formula without a name while it is read."""


@dataclass(frozen=True, slots=True)
class BoxText:
    """A text in the box, read.

    Args:
        kind: ``formula``, ``program`` or ``derivation``.
        program: what the text declares and defines.
        review: for a derivation, the verdicts on its steps; for an informal formula, how it was read; else None.
    """

    kind: BoxKind
    program: Program
    review: Review | None = None


def read_box(text: str, name: str, form: DocumentForm | None, seconds: float) -> BoxText:
    r"""Read a text in the box.

    Args:
        text: the text.
        name: the name of the text in messages.
        form: the form of a document, None to recognise it.
        seconds: the time limit of each step of a derivation.

    Raises:
        SymgradError: if no reader can read it, with the place.

    Example:
        >>> for text in ("x**2", "x : real\ny = x**2", "2x sin x", r"\frac{x}{2}", "f(x) = x^2\nf'(x) = 2x"):
        ...     found = read_box(text, "box", None, 1)
        ...     print(found.kind, found.program.last)
        formula x**2
        program x**2
        formula 2*x*sin(x)
        formula x/2
        derivation x**2
    """
    if not text.strip():
        raise UsageError("there is no program yet", cure="type a formula, such as sqrt(x**2 + 1)")
    try:
        program = symgrad.parse(text, name)
    except SymgradError as error:
        found = _document(text, name, form, seconds)
        if found is None or (isinstance(error, UnknownNameError) and _has_declarations(found)):
            raise
        return found
    return BoxText("program" if program.outputs else "formula", program)


def _document(text: str, name: str, form: DocumentForm | None, seconds: float) -> BoxText | None:
    """Return a text as a document, None if it defines and claims nothing that is understood."""
    for document, left in _texts(text):
        try:
            review = symgrad.review(document, name, form, seconds)
        except SymgradError:
            continue
        if any(step.verdict is not None for step in review.steps):
            return BoxText("derivation", Program(review.defined), review)
        if review.not_understood:
            continue
        defined = dict(review.defined.assignments)
        if not defined:
            continue
        alone = defined.pop(left, None)
        return BoxText("formula", Program(Listing(review.defined.symbols, defined, alone)), review)
    return None


def _has_declarations(found: BoxText) -> bool:
    """Tell whether a formula has declarations: then a name without one is a mistake, as in programs."""
    known = () if found.review is None else found.review.assumptions
    return found.kind == "formula" and any(a.stated and " : " in a.text for a in known)


def _texts(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text in the layout of a document, then with a left side for its last line; and that left side."""
    yield text, ""
    left = next((letter for letter in _LETTERS if letter not in text), None)
    if left is not None:
        inner = _ENCLOSED.fullmatch(text)
        *before, last = (text if inner is None else inner["inner"]).strip("\n ").split("\n")
        yield "\n".join([*before, f"{left} = {last}"]), left
