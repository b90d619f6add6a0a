"""Every snippet of the README and of docs/ runs and prints what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, run_page

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_snippets(path: Path, tmp_path: Path) -> None:
    run_page(path, tmp_path)
