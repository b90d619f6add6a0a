"""Kernels take empty arrays in every place: beside others, as outputs that are inputs, in any layout, called anyhow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from symgrad.compiler.kernels.calls.safety import VARIABLE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="mprotect is POSIX")


@pytest.mark.parametrize("safe", ["0", "1"])
def test_empty_arrays_in_every_way(tmp_path: Path, safe: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.compiler.kernels.guarded_empty", str(tmp_path)],
        cwd=Path(__file__).parents[3],
        env={**os.environ, VARIABLE: safe},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
