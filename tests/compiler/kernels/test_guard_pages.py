"""Kernels read and write nothing outside the arrays they are given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="mprotect is POSIX")


def start(what: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.compiler.kernels.guarded", what],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("what", ["elementwise", "arrays", "entries", "factors", "positions"])
def test_nothing_outside(what):
    done = start(what)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_the_guards_guard():
    done = start("overrun")
    assert done.returncode < 0
    assert "done" not in done.stdout
