"""Links between pages lead somewhere, and every page can be reached from the index."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from tests.docs.test_snippets import PAGES, ROOT

_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def local_links(path: Path) -> list[Path]:
    text = _CODE.sub("", path.read_text(encoding="utf-8"))
    targets = [target.partition("#")[0] for target in _LINK.findall(text) if "://" not in target]
    return [(path.parent / target).resolve() for target in targets if target]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files(path: Path) -> None:
    assert [str(target) for target in local_links(path) if not target.exists()] == []


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    todo = [(ROOT / "docs" / "index.md").resolve()]
    while todo:
        path = todo.pop()
        if path.suffix == ".md" and path.exists() and path not in reached:
            reached.add(path)
            todo += local_links(path)
    assert {path.resolve() for path in PAGES} - reached == set()


TRACKED = subprocess.run(
    ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
).stdout.split()
PLACES = {*TRACKED, *(str(above) for place in TRACKED for above in PurePosixPath(place).parents)}
_FENCE = re.compile(r"```.*?```", re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(
    r"(?:symgrad|tests|tools|docs|benchmarks|examples)(?:/[\w.-]+)*/?|[\w.-]+(?:/[\w.-]+)*\.(?:py|pyi|md|lark)"
)
_MODULE = re.compile(r"symgrad(?:\.[a-z_]+)+")


def missing_places(text: str) -> list[str]:
    """Return what a page names as a file, folder or module of ours and is none; a file may be named by its end."""
    spans = _SPAN.findall(_FENCE.sub("", text))
    ends = {place[i + 1 :] for place in PLACES for i, letter in enumerate(place) if letter == "/"}
    paths = [s for s in spans if _PATH.fullmatch(s) and s.rstrip("/") not in PLACES | ends]
    modules = [s.replace(".", "/") for s in spans if _MODULE.fullmatch(s)]
    return paths + [m for m in modules if m not in PLACES and f"{m}.py" not in PLACES]


@pytest.mark.skipif(not TRACKED, reason="not a git checkout")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_and_modules_that_pages_name_are_there(path: Path) -> None:
    assert missing_places(path.read_text(encoding="utf-8")) == []


def test_a_file_that_is_not_there_is_found() -> None:
    assert missing_places("`symgrad/ir/cas.py`, `symgrad.explain`, `ir/graph.py`, `symgrad/ir/`") == [
        "symgrad/ir/cas.py",
        "symgrad/explain",
    ]
