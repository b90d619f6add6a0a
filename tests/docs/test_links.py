"""Links between pages lead somewhere, and every page can be reached from the index."""

from __future__ import annotations

import re
from pathlib import Path

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
