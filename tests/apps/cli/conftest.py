"""A call of the command line, in an empty folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symgrad.apps.cli import main


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """What runs a command with arguments, and text or bytes as ``stdin``."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, args, input=stdin)

    return run
