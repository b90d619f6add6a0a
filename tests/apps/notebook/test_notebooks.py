"""The notebooks in examples/: cleared, valid, and they run."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.docs.markdown import ROOT
from tools.manual.gallery import example_page, executed

BOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))

_ids = pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert len(BOOKS) == 5


@_ids
def test_it_is_cleared(path: Path) -> None:
    book: Any = json.loads(path.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    for cell in book["cells"]:
        assert cell["id"]
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    assert set(book["metadata"]) == {"kernelspec", "language_info"}


@_ids
def test_it_is_valid(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="an extra of development")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert len({cell.id for cell in book.cells}) == len(book.cells)


class _Fragment(HTMLParser):
    """What a fragment of a page has, and whether its style is its own."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.style = ""
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        self.style += data if self._in_style else ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Jupyter's packages
@_ids
def test_it_runs(path: Path) -> None:
    """Every cell, without a word on standard error; what is shown can stand in any page."""
    for needed in ("nbclient", "ipykernel", "nbformat"):
        pytest.importorskip(needed, reason="an extra of development")
    book = executed(path)
    outputs = [o for cell in book.cells for o in cell.get("outputs", ())]
    assert len(outputs) > 3
    for output in outputs:
        assert output.output_type != "error"
        assert output.get("name") != "stderr", output.text
        data = output.get("data", {})
        if not data.get("text/html"):  # where work took long, the bar that showed it is empty by now
            continue
        page = _Fragment(data["text/html"])
        assert page.tags[0][0] == "div"
        assert page.tags[0][1]["class"] in ("sg", "sg sg-graph", "sg-formula")
        assert not [tag for tag, _ in page.tags if tag in ("link", "iframe", "object", "base", "meta", "img")]
        assert ("script" in dict(page.tags)) == (page.tags[0][1]["class"] == "sg sg-graph")
        assert foreign(page.style) == []


def foreign(style: str) -> list[str]:
    """Return the selectors of a style sheet that are not about the report alone."""
    found: list[str] = []
    text = style
    while "{" in text:
        head, _, text = text.partition("{")
        head = head.rpartition("}")[2].strip()
        if not head.startswith("@"):
            # Commas inside :not(...) do not occur.
            found += [s for s in head.split(",") if ".sg" not in s]
    return found


def test_a_foreign_rule_would_be_found() -> None:
    assert foreign(".sg p { a: b } @media print { .sg a, h2 { c: d } } body { e: f }") == [" h2", "body"]


def test_its_page_in_the_manual(tmp_path: Path) -> None:
    page = example_page(BOOKS[0], tmp_path, run=False)
    assert page.startswith("# ")
    assert "````python\n" in page
