"""Every snippet of the README and of docs/ runs and prints what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, run_page

# The pages about frameworks run where these are: tests/frameworks/test_pages.py.
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "frameworks"),
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_snippets(path: Path, tmp_path: Path) -> None:
    run_page(path, tmp_path)
