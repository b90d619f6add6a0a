"""What tests of kept code do to its files."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

from symgrad.compiler.llvm.engine import disk_cache

OWN = "symgrad-code-v2"
NOBODY = 65534
as_root = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root makes files of other users"
)


def code(place: Path, key: bytes = b"key") -> Path:
    return place / f"{blake2b(key, digest_size=32).hexdigest()}.code"


def anew(key: bytes = b"key") -> bytes | None:
    """Load as a process that has not loaded anything, and must not wait for anything."""
    disk_cache._secrets.clear()
    found: list[bytes | None] = []
    thread = threading.Thread(target=lambda: found.append(disk_cache.load(key)), daemon=True)
    thread.start()
    thread.join(20)
    assert found, "it waits for something"
    return found[0]


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def sparse(path: Path, size: int = 60 * 10**9) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


def remade(make: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda path: (path.unlink(), make(path))


def bytes_in(place: Path) -> int:
    return sum(path.stat().st_size for path in place.glob("*.code"))
