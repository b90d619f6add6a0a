r"""Read a text of LaTeX with its declarations into a Listing, and record how ambiguous places were read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symgrad.frontend.latex.meaning.functions.differentials import Differentiate
from symgrad.frontend.latex.meaning.lines import LatexReader
from symgrad.frontend.latex.meaning.order import reading_order
from symgrad.frontend.latex.meaning.readings import Ambiguity
from symgrad.frontend.latex.meaning.step_lines import with_recurrences
from symgrad.frontend.latex.syntax.grammar import statements
from symgrad.frontend.latex.syntax.lexer import latex_error, split_rows, tokenize
from symgrad.frontend.latex.syntax.macros import expand_macros
from symgrad.frontend.latex.syntax.tree import LatexLine
from symgrad.frontend.limits import TEXT_CHARACTERS
from symgrad.ir.body import StepNotation
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.support.errors import ProgramSyntaxError, UsageError
from symgrad.support.source import Source


@dataclass(frozen=True, slots=True)
class LatexListing:
    """The result of reading a text of LaTeX.

    Args:
        listing: symbols, assignments and the result; it has no text, because LaTeX is not the program notation.
        readings: how ambiguous places were read, in the order of the text.
        source: the text.
        defined: the names that the lines of the text define.
        firsts: the number of the first position of arrays that recurrences define or read.
    """

    listing: Listing
    readings: tuple[Ambiguity, ...]
    source: Source
    defined: tuple[str, ...]
    firsts: Mapping[Node, int]


def latex_statements(source: Source) -> list[LatexLine]:
    r"""Return the lines of a text as trees; nothing is known about their names yet.

    Raises:
        ProgramSyntaxError: if the LaTeX is malformed; the message has the place and what was expected.

    Example:
        >>> (line,) = latex_statements(Source(r"y = \frac{x}{2}"))
        >>> line.relations
        ('=',)
    """
    return statements(source, split_rows(source, expand_macros(source, tokenize(source))))


def parse_latex_program(
    text: str,
    options: Mapping[str, Any],
    name: str = "<text>",
    declared: Listing | None = None,
    symbols: Mapping[str, Node] | None = None,
    sizes: Mapping[str, Node] | None = None,
    differentiate: Differentiate | None = None,
    *,
    strict: bool | None = None,
    firsts: Mapping[Node, int] = {},
) -> LatexListing:
    r"""Read formulas in LaTeX.

    Args:
        text: one formula, or lines that define names.
        options: the result of `symgrad.frontend.latex.meaning.readings.checked_options`.
        name: the name of the text in messages.
        declared: declarations and definitions that precede the text; without them names are real numbers.
        symbols: further names that are known beforehand.
        sizes: names of sizes that were declared.
        differentiate: a function that returns the derivative of one node with respect to another; without it
            derivatives are refused.
        strict: whether names must be declared; by default, if some are.
        firsts: the numbers of the first positions of known arrays, where texts before have numbered these.

    Raises:
        SymgradError: if the text is wrong; the message has the place.

    Example:
        >>> from symgrad.frontend.latex.meaning.readings import checked_options
        >>> found = parse_latex_program(r"\sin x y", checked_options({}))
        >>> found.listing.names, found.readings[0].meaning
        (('x', 'y'), 'sin(x*y)')
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(f"a formula is a text, got {type(text).__name__}")
    if len(text) > TEXT_CHARACTERS:
        raise ProgramSyntaxError(
            f"the text has {len(text):,} characters",
            expected=f"at most {TEXT_CHARACTERS:,}",
            cure="split it into several formulas",
        )
    source = Source(text, name)
    lines = with_recurrences(latex_statements(source))
    if not lines:
        raise latex_error(
            source, "the text is empty", 0, 0, expected="a formula", cure=r"write one, such as \frac{x^2}{2}"
        )
    before = {} if declared is None else {**declared.symbols, **declared.assignments}
    given = {**(declared.given if declared else {}), **before, **(sizes or {}), **(symbols or {})}
    strict = (declared is not None or symbols is not None) if strict is None else strict
    reader = LatexReader(source, given, strict, options, differentiate)
    reader.firsts.update(firsts)
    with gc_paused():
        if not strict:
            reader.infer_arrays([side for line in lines for side in line.sides])
        for line in reading_order(lines, reader.key_of):
            reader.statement(line)
    found = reader.listing()
    listing = Listing(
        {**(declared.symbols if declared else {}), **found.symbols},
        {**(declared.assignments if declared else {}), **found.assignments},
        found.result,
        given=found.given if symbols else {},
        derivatives={**(declared.derivatives if declared else {}), **found.derivatives},
        decimals={**(declared.decimals if declared else {}), **found.decimals},
        steps={body: _without_letter(notation) for body, notation in found.steps.items()},
    )
    readings = sorted(reader.readings, key=lambda r: (r.span.start, r.span.end))
    defined = (*found.assignments, *reader.defined_here)
    return LatexListing(listing, tuple(readings), source, defined, reader.firsts)


def _without_letter(notation: StepNotation) -> StepNotation:
    """Return how programs write a step: z for z_t, which reads no other step."""
    letter, parts = notation
    return StepNotation(letter, {name.removesuffix(f"_{letter}"): f for name, f in parts.items()})
