"""Places for kept code, of one test alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from symgrad.compiler.llvm.engine import disk_cache
from tests.compiler.llvm.disk_caches import OWN


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that is named: of this test alone, and so is the user's own."""
    monkeypatch.setattr(disk_cache, "_secrets", {})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv(disk_cache.ENVIRONMENT_VARIABLE, str(tmp_path / "named"))
    return tmp_path / "named"


@pytest.fixture
def place(named: Path) -> Path:
    """The directory inside it, with one file in it: `data` under `key`."""
    disk_cache.save(b"key", b"data")
    assert disk_cache.load(b"key") == b"data"
    return named / OWN
