"""Write the result of checking a proof as a report."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.checker.check import CheckResult
from symgrad.checker.file.statement import value_text
from symgrad.checker.program.names import terminal_text
from symgrad.report.blocks import Banner, Block, Code, Column, Heading, Literal, Paragraph, Table, prose
from symgrad.report.report import Report
from symgrad.verification.reporting.report import TONES


def check_report(found: CheckResult, name: str = "a proof") -> Report:
    """Return the claim of a file, and whether it is proved.

    Args:
        found: the result of the checker.
        name: the name of the file.
    """
    return Report(f"Check of {name}", tuple(_blocks(found)))


def _blocks(found: CheckResult) -> Iterator[Block]:
    yield Banner(found.status, TONES.get(found.status, "open"), prose(f"{found.why}."))
    for k, part in enumerate(found.parts, 1):
        yield Heading(f"Part {k}")
        yield from _blocks(part)
    if found.statement is not None:
        s = found.statement
        yield Code("\n".join([*s.declarations, *s.definitions, s.claim]), "", "What the file claims")
    if found.difference is not None:
        d = found.difference
        entry = f", entry {list(d.index)}" if d.index else ""
        rows = [(prose(Literal(terminal_text(n))), prose(Literal(value_text(v)))) for n, v in d.point.items()]
        sides = zip(("the first side", "the second side"), d.values, strict=True)
        rows += [(prose(side + entry), prose(Literal(str(v)))) for side, v in sides]
        yield Table("A point at which it fails", (Column("quantity"), Column("value")), tuple(rows))
    if found.excluded:
        yield Paragraph(
            prose("Not claimed where ", Literal("; ".join(map(terminal_text, found.excluded))), ".")
        )
