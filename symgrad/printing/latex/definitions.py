"""The lines that define recurrences, as LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.recurrence_definitions import RecurrenceDefinitions, recurrence_definitions
from symgrad.ir.traverse import topological
from symgrad.printing.latex.expressions import latex, latex_lines
from symgrad.printing.latex.glyphs import Glyphs
from symgrad.printing.latex.pieces import Written
from symgrad.printing.latex.recurrences import recurrence_rows
from symgrad.report.blocks import Maths


def recurrence_maths(
    nodes: Sequence[Node], names: Mapping[Node, str], listing: Listing | None
) -> dict[Node, Maths]:
    """Return the lines of the recurrences in formulas, in both notations.

    Args:
        nodes: the formulas.
        names: the names of nodes, and other spellings of numbers.
        listing: the program, which has names within steps.
    """
    found = recurrence_definitions(nodes, names, {} if listing is None else listing.steps)
    rows = definition_rows(found, names)
    return {node: Maths("\n".join(lines), rows[node]) for node, lines in found.lines.items()}


def definition_rows(found: RecurrenceDefinitions, names: Mapping[Node, str]) -> dict[Node, str]:
    """Return the aligned rows of each recurrence.

    Args:
        found: the recurrences.
        names: the names of other nodes, and other spellings of numbers.
    """
    known = {**names, **found.names}
    read = [s.name for s in topological(found.carries) if s.op is SYMBOL]
    beside = [*read, *found.called.taken]

    def glyphs(parts: Iterable[str]) -> Glyphs:
        return Glyphs([*beside, *parts])

    def step(r: Node, more: Mapping[Node, Written]) -> tuple[list[str], str]:
        return latex_lines(r, known, more, beside, whole=True)

    def text(x: Node) -> str:
        return latex(x, known, beside=beside)

    rows: dict[Node, str] = {}
    for node, own in found.carries.items():
        called = found.called
        lines, _ = recurrence_rows(node, own, glyphs, text, step, called.letter(node), called.taken, called)
        rows[node] = " \\\\\n".join(lines)
    return rows
