"""Every snippet of the pages about frameworks runs and prints what is shown."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, run_page

NEEDED = {"scale": ["dask", "joblib"]}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the frameworks, about themselves
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "frameworks").glob("*.md")), ids=lambda path: path.stem
)
def test_snippets(path: Path, tmp_path: Path) -> None:
    missing = [name for name in NEEDED.get(path.stem, [path.stem]) if find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    run_page(path, tmp_path)
