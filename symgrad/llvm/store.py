"""Machine code on disk, from one process to the next: a directory of small files that may be deleted at any time.

What is read is run, so it must be what was written, and written by this user: every file begins with a digest of its
key and of what follows, and a directory that others may write to is not used. Whatever goes wrong with a disk costs
time and nothing else: there is nothing here that cannot be compiled again.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

__all__ = ["VARIABLE", "directory", "load", "save"]

VARIABLE = "SYMGRAD_CACHE"
"""The environment variable that names the directory, or is empty if nothing should be kept."""

_MOST = 1000
"""Files (of a few kilobytes each) from which on half of them go, the oldest first."""

_DIGEST_SIZE = sha256().digest_size


def directory() -> Path | None:
    """Return where code is kept, or None if it is not to be.

    By the habits of each platform, which the platformdirs package knows as well; but to import that takes as long as
    all that is gained here.
    """
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named).absolute() if named else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    # A home that is unknown stays as it is written, and a relative path is nobody's cache.
    found = Path(base or "")
    with suppress(RuntimeError):
        found = found.expanduser()
    return found / "symgrad" if found.is_absolute() else None


def load(key: bytes) -> bytes | None:
    """Return what was saved under a key, or None."""
    where = directory()
    if where is None:
        return None
    try:
        if not _ours(where):
            return None
        content = (where / _name(key)).read_bytes()
    except (OSError, ValueError):  # a name may have a zero in it
        return None
    data = content[_DIGEST_SIZE:]
    return data if _digest(key, data) == content[:_DIGEST_SIZE] else None


def save(key: bytes, data: bytes) -> None:
    """Keep data under a key, if there is a place for it: whoever reads meanwhile finds the whole of it or nothing."""
    where = directory()
    if where is None:
        return
    with suppress(OSError, ValueError):
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(where):
            return
        _make_room(where)
        handle, name = tempfile.mkstemp(dir=where, suffix=".new")
        new = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, data) + data)
            new.replace(where / _name(key))
        finally:
            new.unlink(missing_ok=True)  # nothing is there if all went well


def _name(key: bytes) -> str:
    return sha256(key).hexdigest() + ".code"


def _digest(key: bytes, data: bytes) -> bytes:
    return sha256(sha256(key).digest() + data).digest()


def _ours(where: Path) -> bool:
    """Whether the directory is this user's, and nobody else may write to it."""
    if not hasattr(os, "getuid"):
        return True  # on Windows, what is below a user's own directory is that user's
    found = where.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _make_room(where: Path) -> None:
    files = list(where.iterdir())
    if len(files) >= _MOST:
        ages = sorted((file.stat().st_mtime, file) for file in files)
        for _, file in ages[: _MOST // 2]:
            with suppress(OSError):
                file.unlink()
