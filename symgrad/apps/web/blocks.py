"""The blocks of an answer, as plain data that the page renders.

text     text
code     text, label: preformatted text with a copy button
html     html: blocks of a report, with all texts escaped
fold     title, blocks: collapsed until the reader opens it
verdict  status, text, html: proved, refuted, supported or undecided; as text, and as blocks of a report
listing  rows: each with text and its origin: lines of the program, and what (equations)
plot     x, curves: each with label, values (None if undefined) and breaks (positions after which it jumps)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from symgrad.apps.web.limits import HTML_CHARACTERS, TEXT_CHARACTERS
from symgrad.report.blocks import Block as ReportBlock
from symgrad.report.writers.html import blocks_html

Block: TypeAlias = "dict[str, Any]"
"""A kind with its fields."""


def shortened(content: str) -> str:
    """Return a text, truncated to the limit with a note."""
    if len(content) <= TEXT_CHARACTERS:
        return content
    return (
        f"{content[:TEXT_CHARACTERS]}\n... {len(content) - TEXT_CHARACTERS:,} more characters are not shown"
    )


def text(content: str) -> Block:
    """Return a paragraph."""
    return {"kind": "text", "text": shortened(content)}


def code(content: str, label: str = "") -> Block:
    """Return preformatted text."""
    return {"kind": "code", "text": shortened(content), "label": label}


def fold(title: str, blocks: Sequence[Block]) -> Block:
    """Return a block that is collapsed until the reader opens it."""
    return {"kind": "fold", "title": shortened(title), "blocks": list(blocks)}


def html(blocks: Iterable[ReportBlock]) -> Block:
    """Return the blocks of a report as HTML, or a note that they are too long."""
    found = blocks_html(blocks)
    if len(found) > HTML_CHARACTERS:
        return text(
            f"This is too long to be set: {len(found):,} characters. As text and as data it is there."
        )
    return {"kind": "html", "html": found}


def verdict_block(status: str, content: str, blocks: Iterable[ReportBlock]) -> Block:
    """Return a verdict, as text and as blocks of a report."""
    report = html(blocks).get("html", "")
    return {"kind": "verdict", "status": status, "text": shortened(content), "html": report}


def listing(rows: Sequence[dict[str, Any]]) -> Block:
    """Return lines, each with its origin."""
    return {"kind": "listing", "rows": list(rows)}
