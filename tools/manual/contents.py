"""The contents of the manual, which follow from the links of its pages: there is no separate table of contents.

A heading of `docs/index.md` is a part, and the pages linked below it are its pages, in that order. The pages of a page
are in a folder beside it with the same name (`frameworks.md`, `frameworks/`); those of an `index.md` are in its own
folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

__all__ = ["INDEX", "ROOT", "Entry", "Part", "children", "links", "pages", "parts"]

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "index.md"

_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A page, and the pages below it."""

    path: Path
    below: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the manual: its heading and its pages; the first part has no heading."""

    caption: str
    entries: list[Entry] = field(default_factory=list[Entry])


def links(text: str, folder: Path) -> list[Path]:
    """Return the files that a text links to, each once, in the order of the text."""
    found = [t for t in _LINK.findall(_CODE.sub("", text)) if "://" not in t]
    return list(dict.fromkeys((folder / target).resolve() for target in found))


def children(path: Path) -> list[Path]:
    """Return the pages below a page, in the order of its links."""
    room = path.parent if path.name == "index.md" else path.with_suffix("")
    found = links(path.read_text(encoding="utf-8"), path.parent)
    return [page for page in found if page.parent == room and page.suffix == ".md" and page != path]


def parts() -> list[Part]:
    """Return the parts of the manual with their pages."""
    text = INDEX.read_text(encoding="utf-8")
    cut = [0, *(m.start() for m in _HEADING.finditer(text)), len(text)]
    found: list[Part] = []
    seen: set[Path] = {INDEX}
    for a, b in pairwise(cut):
        heading = _HEADING.match(text[a:b])
        part = Part(heading[1] if heading else "")
        for page in links(text[a:b], INDEX.parent):
            if page.suffix == ".md" and page not in seen:
                below = [] if page.name == "gallery.md" else [p for p in children(page) if p not in seen]
                seen |= {page, *below}
                part.entries.append(Entry(page, tuple(map(Entry, below))))
        found.append(part)
    return [part for part in found if part.entries]


def pages() -> list[Path]:
    """Return all pages, in the order of the manual."""
    entries = [entry for part in parts() for entry in part.entries]
    return [INDEX, *(e.path for entry in entries for e in (entry, *entry.below))]
