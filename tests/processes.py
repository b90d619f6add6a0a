"""Programs in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def printed(
    code: str, *arguments: str, env: Mapping[str, str] | None = None, timeout: float = 120, quiet: bool = True
) -> str:
    """Return what a program prints that ends well, run beside the package and the tests.

    Args:
        code: the program.
        arguments: its arguments.
        env: its environment; by default that of this process.
        timeout: the seconds that it may take.
        quiet: whether it complains of nothing.
    """
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=Path(__file__).parents[1],
        env=env,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert not (quiet and done.stderr), done.stderr[-2000:]
    return done.stdout
