"""Convert reports to plain values, with a JSON schema."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast, get_args

from symgrad.report.blocks import Block, Literal
from symgrad.report.report import Report

VERSION = 1
"""The version of the schema; a program that reads version 1 reads every report with this number."""


def report_json(report: Report) -> dict[str, Any]:
    """Convert a report to dictionaries, lists, text, numbers and truth values, with attribute names as keys.

    Each block has the name of its class under the key ``"block"``. Parts of prose are text, formulas, or ``{"literal":
    ...}``.

    Example:
        >>> from symgrad.report.blocks import Heading
        >>> report_json(Report("z", (Heading("Noise"),)))["blocks"]
        [{'block': 'Heading', 'text': 'Noise', 'level': 1}]
    """
    return {"version": VERSION, "title": report.title, "blocks": _value(report.blocks)}


_BLOCKS = frozenset(get_args(Block))


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_value(part) for part in cast("tuple[Any, ...]", value)]
    if isinstance(value, Literal):
        return {"literal": value.text}
    if not is_dataclass(value):
        return value
    own = {f.name: _value(getattr(value, f.name)) for f in fields(value)}
    return {"block": type(value).__name__, **own} if type(value) in _BLOCKS else own


def report_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a report as plain values.

    Example:
        >>> report_schema()["title"]
        'A report of symgrad'
    """
    return json.loads((Path(__file__).parent / "schema.json").read_text(encoding="utf-8"))
