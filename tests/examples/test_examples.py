"""Every file in examples/ is a program that runs as it stands, anywhere, and says something."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Those that have a framework in their name run where it is installed.
MISSING = {
    name for name in ("dask", "jax", "keras", "numba", "tensorflow", "torch") if find_spec(name) is None
}
EXAMPLES = sorted(
    path for path in (ROOT / "examples").glob("*.py") if not MISSING.intersection(path.stem.split("_"))
)


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    environment = os.environ | {
        "MPLBACKEND": "agg",  # no window
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
