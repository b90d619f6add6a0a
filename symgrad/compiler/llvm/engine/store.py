"""Machine code on disk, from one process to the next: a directory of small files that may be deleted at any time.

What is read is run, so it must be what was written, and written by this user. The directory is symgrad's own, inside
the one that is named, and this user's alone (`folder_posix.py`, `folder_windows.py`); every file in it begins with a
digest that only who has the key can make, of what the file is for and of what follows. The key is a file there; where
somebody else has a say in what the path leads to, it is the one in the user's own place. Whatever goes wrong with a
disk costs time and nothing else: there is nothing here that cannot be compiled again.
"""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from itertools import chain, takewhile
from pathlib import Path

if sys.platform == "win32":
    from symgrad.compiler.llvm.engine.folder_windows import Folder
else:
    from symgrad.compiler.llvm.engine.folder_posix import Folder

__all__ = ["KEPT_BYTES", "VARIABLE", "clear", "contents", "directory", "fits", "load", "save"]

VARIABLE = "SYMGRAD_CACHE"
"""The environment variable that names the directory, or is empty if nothing should be kept."""

_OWN = "symgrad-code-v2"
"""The directory inside the one that is named: of another number as soon as files, or our options of LLVM, change."""

_HEAD = b"symgrad-code-v2\n"
"""What every file begins with; without it, it is not ours, and neither counted nor removed."""

_DIGEST_BYTES = 32
"""Of BLAKE2b, which takes a key and is part of Python: OpenSSL, which has SHA-256, takes longer to set up."""

_KEY = "key"
_CODE = r"[0-9a-f]{64}\.code"
_NEW = r"[0-9a-f]{32}\.new"  # what is being written, and moved to its place then

KEPT_BYTES = 64 * 2**20
"""Bytes of all files together, beyond which the least recently used ones go, a quarter at a time."""
_LARGEST = 8 * 2**20
"""Bytes of a file: some hundred times what there is."""

_TOLD = 120
"""Bytes of what is kept by which one sees what it is."""

_HOUR, _DAY = 3600.0, 86400.0
"""For so long a file may be being written; so seldom is noted that one was used."""


def directory() -> Path | None:
    """Return where code is kept, or None if it is not to be.

    By the habits of each platform, which the platformdirs package knows as well; but to import that takes as long as
    all that is gained here.

    Raises:
        OSError: if a relative path is named, and there is no current directory.
        RuntimeError: if a home is named that nobody knows.
    """
    named = os.environ.get(VARIABLE)
    if named is None:
        return _default()
    return Path(named).expanduser().absolute() / _OWN if named else None


def _default() -> Path | None:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    # A relative path is nobody's cache.
    found = Path(base or "").expanduser()
    return found / "symgrad" / _OWN if found.is_absolute() else None


_known: dict[tuple[int, int], bytes] = {}
"""Keys that were found, by the directories that they are for: to find one takes as long as to load a file."""

# What a disk, a name or a home may be the matter with; a name may have a zero in it.
_NO_PLACE = (OSError, ValueError, RuntimeError)


def load(key: bytes) -> bytes | None:
    """Return what was saved under a key, or None."""
    with suppress(*_NO_PLACE):
        where = directory()
        if where is None:
            return None
        of = _hashed(key)
        with Folder(where) as folder, folder.opened(name := _name(of.hex())) as (file, found):
            content = _read(file, found)
            said, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            if not _is_signed(folder, said, of + data):
                return None
            if abs(time.time() - found.st_mtime) > _DAY:
                with suppress(*_NO_PLACE):  # where nothing can be written, nothing goes either
                    folder.touch(name)
            return data
    return None


def save(key: bytes, data: bytes) -> None:
    """Keep data under a key, if there is a place for it: whoever reads meanwhile finds the whole of it or nothing."""
    with suppress(*_NO_PLACE):
        where = directory()
        if where is None:
            return
        of = _hashed(key)
        with _made(where) as folder:
            content = _HEAD + _digest(_secret(folder, make=True), of + data) + data
            if len(content) <= _LARGEST:
                _make_room(folder, len(content))
                _put(folder, _name(of.hex()), content)


def fits(data: bytes) -> bool:
    """Whether so much is kept under one key."""
    return len(_HEAD) + _DIGEST_BYTES + len(data) <= _LARGEST


def contents() -> list[tuple[bytes, int]]:
    """Return of every file of code how what it keeps begins, to be looked at and not to be run, and how long it is."""
    found: list[tuple[bytes, int]] = []
    skipped = len(_HEAD) + _DIGEST_BYTES
    with suppress(*_NO_PLACE):
        where = directory()
        if where is not None and where.exists():
            with Folder(where) as folder:
                for name, state in folder.files():
                    if re.fullmatch(_CODE, name):
                        start = _beginning(folder, name, skipped + _TOLD)
                        if start.startswith(_HEAD):
                            found.append((start[skipped:], state.st_size))
    return found


def clear() -> int:
    """Remove all code that is kept, and nothing else; return how many files that were.

    Raises:
        OSError: if the directory is not this user's alone.
    """
    removed = 0
    where = directory()
    if where is None or not where.exists():
        return removed
    with Folder(where) as folder:
        for name in [name for name, _ in folder.files() if re.fullmatch(_CODE, name)]:
            if _beginning(folder, name) == _HEAD:
                removed += _remove(folder, name)
    return removed


def _hashed(key: bytes) -> bytes:
    return blake2b(key, digest_size=_DIGEST_BYTES).digest()


def _name(digest: str) -> str:
    return f"{digest}.code"


def _digest(secret: bytes, text: bytes) -> bytes:
    return blake2b(text, digest_size=_DIGEST_BYTES, key=secret).digest()


def _is_signed(folder: Folder, digest: bytes, text: bytes) -> bool:
    """Whether a digest was made with the key to a directory: the one that was found before, or else the one of now."""
    known = _known.get(folder.identity)
    if known is not None and compare_digest(digest, _digest(known, text)):
        return True
    return compare_digest(digest, _digest(_secret(folder), text))


def _made(where: Path) -> Folder:
    missing = [*takewhile(lambda path: not path.exists(), chain((where,), where.parents))]
    for path in reversed(missing):
        with suppress(FileExistsError):
            path.mkdir(0o700)
    return Folder(where)


def _read(file: int, found: os.stat_result) -> bytes:
    """Return what follows the head of a file."""
    if not len(_HEAD) <= found.st_size <= _LARGEST:
        raise ValueError("no file of ours has this size")
    content = b""
    while len(content) < found.st_size and (more := os.read(file, found.st_size - len(content))):
        content += more
    if not content.startswith(_HEAD):
        raise ValueError("no file of ours begins like this")
    return content[len(_HEAD) :]


def _put(folder: Folder, name: str, content: bytes, *, first: bool = False) -> None:
    """Write a file, or leave it to whoever was first."""
    new = f"{os.urandom(16).hex()}.new"
    try:
        with os.fdopen(folder.create(new), "wb") as file:
            file.write(content)
        (folder.claim if first else folder.replace)(new, name)
    finally:
        with suppress(OSError):  # it is not there if all went well
            folder.remove(new)


def _secret(folder: Folder, *, make: bool = False) -> bytes:
    """Return the key to the files of a directory.

    Raises:
        OSError, ValueError: if there is none, and none can be made.
    """
    if folder.sure:
        secret = _key_in(folder, make=make)
    elif (home := _default()) is None:
        raise FileNotFoundError("there is no place of this user's")
    else:
        with _made(home) if make else Folder(home) as keeper:
            if not keeper.sure:
                raise PermissionError(f"others have a say in what {home} is")
            secret = _key_in(keeper, make=make)
    _known[folder.identity] = secret
    return secret


def _key_in(folder: Folder, *, make: bool) -> bytes:
    try:
        return _read_key(folder)
    except (OSError, ValueError) as error:
        if not make:
            raise
        # What is damaged, or was to be read by others, is a key no more; files of the old one are written again.
        with suppress(FileExistsError):
            _put(folder, _KEY, _HEAD + os.urandom(32), first=isinstance(error, FileNotFoundError))
        return _read_key(folder)  # of whoever was first


def _read_key(folder: Folder) -> bytes:
    with folder.opened(_KEY, secret=True) as (file, found):
        secret = _read(file, found)
    if len(secret) != 32:
        raise ValueError("no key of ours has this size")
    return secret


def _make_room(folder: Folder, needed: int) -> None:
    """Remove what a process left that was ended, and the least recently used files if all would be too much."""
    now = time.time()
    code: list[tuple[bool, float, int, str]] = []  # the first to go last
    for name, found in folder.files():
        unused = abs(now - found.st_mtime)  # a time to come says as little as one long ago
        if re.fullmatch(_CODE, name):
            code.append((found.st_size > _LARGEST, unused, found.st_size, name))
        elif re.fullmatch(_NEW, name) and unused > _HOUR and _HEAD.startswith(_beginning(folder, name)):
            _remove(folder, name)
    if sum(size for *_, size, _ in code) + needed <= KEPT_BYTES:
        return
    code = [file for file in sorted(code) if _beginning(folder, file[-1]) == _HEAD]
    left = sum(size for *_, size, _ in code)
    while code and left + needed > KEPT_BYTES * 3 // 4:
        *_, size, name = code.pop()
        left -= size if _remove(folder, name) else 0


def _beginning(folder: Folder, name: str, length: int = len(_HEAD)) -> bytes:
    """Return as much of a file as its head is long, or more, and what no file begins with if it cannot be read."""
    with suppress(OSError), folder.opened(name) as (file, _):
        return os.read(file, length)
    return b"?"


def _remove(folder: Folder, name: str) -> bool:
    with suppress(FileNotFoundError):  # another process was making room, too
        try:
            folder.remove(name)
        except PermissionError:
            return False
    return True
