"""The manual has every page once and every public name once, and is built without a warning."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import symgrad as sg
from symgrad import errors
from symgrad.support.public_names import MODULES, PUBLIC
from tests.docs.test_snippets import PAGES, ROOT
from tools.manual.contents import INDEX, children, pages, parts
from tools.manual.gallery import GALLERY, examples, page_of
from tools.manual.reference import described, overview, topic_page, topics, written


def test_every_page_is_in_the_manual_once() -> None:
    there = Counter(pages())
    assert {page.relative_to(ROOT).as_posix(): n for page, n in there.items() if n > 1} == {}
    wanted = {*PAGES, *(ROOT / "docs").rglob("*.md")}
    # A page that is missing: link it in a table of docs/index.md, or on the page whose folder it is in.
    assert {page.relative_to(ROOT).as_posix() for page in wanted - set(there)} == set()


def test_parts_are_the_headings_of_the_index() -> None:
    captions = [part.caption for part in parts()]
    text = INDEX.read_text(encoding="utf-8")
    assert captions == [
        "",
        *(line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")),
    ]
    assert [page.name for page in children(ROOT / "docs" / "frameworks.md")] == [
        *("jax.md", "torch.md", "tensorflow.md", "keras.md", "scale.md"),
    ]


def test_every_public_name_is_in_the_reference_once() -> None:
    listed = Counter(name for topic in topics() for name in topic.get("names", []))
    assert [name for name, n in listed.items() if n > 1] == []
    assert set(listed) == set(PUBLIC)
    assert sorted(m for topic in topics() for m in topic.get("modules", [])) == sorted(MODULES)


def test_the_page_of_the_reference_is_up_to_date(golden: Callable[[str, str], None]) -> None:
    golden("../../docs/reference.md", overview())


def test_every_line_of_the_reference_says_something() -> None:
    rows = [line for line in overview().splitlines() if line.startswith("| `sg.")]
    assert len(rows) > 200
    assert [row for row in rows if len(row.split(" | ", 1)[1]) < 5] == []


def test_docstrings_that_begin_with_a_call_are_told_apart() -> None:
    assert described(sg.sin.__doc__ or "") == ("(x)", "the sine of an angle in radians.")
    assert described("Return x: a value (of y): z.") == ("", "Return x: a value (of y): z.")
    assert (written("pi", PUBLIC["pi"]) or "").startswith("The number π")


@pytest.mark.parametrize("name", errors.__all__)
def test_each_error_leads_to_its_section(name: str) -> None:
    """As an anchor that Markdown makes of the heading."""
    (topic,) = (t for t in topics() if t["page"] == "errors")
    assert f"(../errors.md#{name.lower()})" in topic_page(topic)
    assert f"\n## {name}\n" in (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def test_every_example_is_in_the_gallery() -> None:
    programs = set((ROOT / "examples").glob("*.py"))
    right = {p for p in (ROOT / "examples" / "derivations").glob("*.md") if not p.stem.endswith("_wrong")}
    notebooks = set((ROOT / "examples" / "notebooks").glob("*.ipynb"))
    assert set(examples()) == programs | right | notebooks
    assert len({page_of(path) for path in examples()}) == len(examples())
    for path in programs:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{path.name} says nothing"


class _Resources(HTMLParser):
    """What a page loads, and the pages that it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if source := given.get("src"):
            self.loaded.append(source)
        if href := given.get("href"):
            (self.links if tag == "a" else self.loaded).append(href)


@pytest.mark.slow
def test_the_manual_is_built_and_needs_no_network(tmp_path: Path) -> None:
    """All pages, but that no example is run; every warning is an error."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("Sphinx is not installed: make docs")
    folder = tmp_path / "manual"
    done = subprocess.run(
        [sys.executable, "-m", "tools.manual", "--quick", str(folder)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    built = {path.relative_to(folder).as_posix(): _read(path) for path in folder.rglob("*.html")}
    assert {page.relative_to(ROOT).with_suffix(".html").as_posix() for page in pages()} <= set(built)
    assert [s for page in built.values() for s in page.loaded if "//" in s] == []
    for name, page in built.items():
        for link in page.links:
            target = link.partition("#")[0]
            if target and "//" not in target and not target.startswith("mailto:"):
                assert ((folder / name).parent / target).resolve().exists(), f"{name} links to {link}"
    styles = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.css"))
    assert "url(http" not in styles
    assert "url(//" not in styles
    reference = (folder / "docs" / "reference" / "derivatives.html").read_text(encoding="utf-8")
    assert 'id="symgrad.grad"' in reference
    assert GALLERY.stem in "".join(built)


def _read(path: Path) -> Any:
    page = _Resources()
    page.feed(path.read_text(encoding="utf-8"))
    return page
