"""The blocks of an answer: plain data that the page can show.

text     text
code     text, label: set as it is, with a button that copies it
html     html: blocks of a report, every text in them escaped
fold     title, blocks: closed until it is asked for
verdict  status, text, html: proved, refuted, supported, undecided; as text, and as blocks of a report
listing  rows: each with text, and of what it was made: lines (of the program), what
plot     x, curves: each with label, values (None where there is none) and breaks (behind which places it jumps)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from symgrad.apps.web.limits import HTML_CHARACTERS, TEXT_CHARACTERS
from symgrad.report.blocks import Block as Told
from symgrad.report.writers.html import blocks_html

__all__ = ["Block", "code", "fold", "html", "listing", "shortened", "text", "verdict_block"]

Block: TypeAlias = "dict[str, Any]"
"""A kind and its fields."""


def shortened(said: str) -> str:
    """Return a text, or its beginning with a note on how long it is."""
    if len(said) <= TEXT_CHARACTERS:
        return said
    return f"{said[:TEXT_CHARACTERS]}\n... {len(said) - TEXT_CHARACTERS:,} more characters are not shown"


def text(said: str) -> Block:
    """Return a paragraph."""
    return {"kind": "text", "text": shortened(said)}


def code(said: str, label: str = "") -> Block:
    """Return a text that is set as it is."""
    return {"kind": "code", "text": shortened(said), "label": label}


def fold(title: str, blocks: Sequence[Block]) -> Block:
    """Return a block that is collapsed until the reader opens it."""
    return {"kind": "fold", "title": shortened(title), "blocks": list(blocks)}


def html(blocks: Iterable[Told]) -> Block:
    """Return the blocks of a report as HTML, or a note that they are too long."""
    found = blocks_html(blocks)
    if len(found) > HTML_CHARACTERS:
        return text(
            f"This is too long to be set: {len(found):,} characters. As text and as data it is there."
        )
    return {"kind": "html", "html": found}


def verdict_block(status: str, said: str, blocks: Iterable[Told]) -> Block:
    """Return what was decided, as text and as blocks of a report."""
    told = html(blocks)
    return {"kind": "verdict", "status": status, "text": shortened(said), "html": told.get("html", "")}


def listing(rows: Sequence[dict[str, Any]]) -> Block:
    """Return lines, each with what made it."""
    return {"kind": "listing", "rows": list(rows)}
