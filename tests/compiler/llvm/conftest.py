"""Places for kept code, of one test alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from symgrad.compiler.llvm.engine import store
from tests.compiler.llvm.stores import OWN


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that is named: of this test alone, and so is the user's own."""
    monkeypatch.setattr(store, "_known", {})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "named"))
    return tmp_path / "named"


@pytest.fixture
def place(named: Path) -> Path:
    """The directory inside it, with one file in it: `data` under `key`."""
    store.save(b"key", b"data")
    assert store.load(b"key") == b"data"
    return named / OWN
