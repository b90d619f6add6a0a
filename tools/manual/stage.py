"""Lay out the sources of the manual in a folder, as they are in the tree, with generated pages beside them.

Sphinx reads that folder: the pages as they are, tables of contents on pages that have pages of their own, the
reference, and the pages of the examples.
"""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.manual.contents import INDEX, ROOT, Entry, pages, parts
from tools.manual.gallery import GALLERY, example_page, examples, page_of
from tools.manual.reference import topic_page, topics

__all__ = ["REFERENCE", "stage"]

REFERENCE = ROOT / "docs" / "reference.md"

_WORKERS = 2  # number of examples that run at the same time
_FILES = (
    "docs/**/*.svg",
    "docs/**/*.png",
    "examples/*.py",
    "examples/notebooks/*.ipynb",
    "examples/programs/*",
    "examples/derivations/*.tex",
    "LICENSE",
    "tests/frameworks/*.py",
)
"""Files that pages show or link to, in addition to pages."""


def stage(target: Path, *, run: bool = True) -> None:
    """Lay out the sources in a folder, which is created anew.

    Args:
        target: the folder.
        run: whether to run examples for their pages.
    """
    shutil.rmtree(target, ignore_errors=True)
    programs = examples()
    for path in pages():
        text = path.read_text(encoding="utf-8")
        for program in programs:  # if a page links to a program, the manual links to the program's page
            there = Path(os.path.relpath(program, path.parent)).as_posix()
            text = text.replace(f"]({there})", f"]({Path(there).with_suffix('.md').as_posix()})")
        _write(target / path.relative_to(ROOT), text + _tables(path, programs))
    for path in {path for pattern in _FILES for path in ROOT.glob(pattern)}:
        copy = target / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for topic in topics():
        _write(target / "docs" / "reference" / f"{topic['page']}.md", topic_page(topic))
    with ThreadPoolExecutor(_WORKERS) as pool:
        places = [target / page_of(program) for program in programs]
        texts = pool.map(lambda p, at: example_page(p, at.with_suffix(""), run=run), programs, places)
        for place, text in zip(places, texts, strict=True):
            _write(place, text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _tables(path: Path, programs: list[Path]) -> str:
    """Return the tables of contents that a page has at its end, which the sidebar shows."""
    if path == INDEX:
        return "".join(_table(part.caption, [_doc(e.path) for e in part.entries]) for part in parts())
    if path == REFERENCE:
        return _table("", [f"/docs/reference/{topic['page']}" for topic in topics()])
    if path == GALLERY:
        return _table("", [f"/{page_of(p).with_suffix('').as_posix()}" for p in programs])
    return _table(
        "", [_doc(e.path) for part in parts() for entry in part.entries for e in _below(entry, path)]
    )


def _below(entry: Entry, path: Path) -> tuple[Entry, ...]:
    return entry.below if entry.path == path else ()


def _doc(path: Path) -> str:
    return f"/{path.relative_to(ROOT).with_suffix('').as_posix()}"


def _table(caption: str, docs: list[str]) -> str:
    if not docs:
        return ""
    options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "")
    return f"\n```{{toctree}}\n{options}\n" + "".join(f"{doc}\n" for doc in docs) + "```\n"
