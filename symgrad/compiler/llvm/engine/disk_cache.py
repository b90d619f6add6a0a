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

__all__ = [
    "MAX_TOTAL_BYTES",
    "ENVIRONMENT_VARIABLE",
    "clear",
    "list_entries",
    "directory",
    "fits",
    "load",
    "save",
]

ENVIRONMENT_VARIABLE = "SYMGRAD_CACHE"
"""The environment variable that names the directory, or is empty if nothing should be kept."""

_DIRECTORY_NAME = "symgrad-code-v2"
"""The directory inside the one that is named: of another number as soon as files, or our options of LLVM, change."""

_MAGIC = b"symgrad-code-v2\n"
"""What every file begins with; without it, it is not ours, and neither counted nor removed."""

_DIGEST_BYTES = 32
"""Of BLAKE2b, which takes a key and is part of Python: OpenSSL, which has SHA-256, takes longer to set up."""

_KEY = "key"
_CODE = r"[0-9a-f]{64}\.code"
_NEW = r"[0-9a-f]{32}\.new"  # what is being written, and moved to its place then

MAX_TOTAL_BYTES = 64 * 2**20
"""Bytes of all files together, beyond which the least recently used ones go, a quarter at a time."""
_MAX_FILE_BYTES = 8 * 2**20
"""Bytes of a file: some hundred times what there is."""

_PREVIEW_BYTES = 120
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
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if named is None:
        return _default_directory()
    return Path(named).expanduser().absolute() / _DIRECTORY_NAME if named else None


def _default_directory() -> Path | None:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    # A relative path is nobody's cache.
    found = Path(base or "").expanduser()
    return found / "symgrad" / _DIRECTORY_NAME if found.is_absolute() else None


_secrets: dict[tuple[int, int], bytes] = {}
"""Keys that were found, by the directories that they are for: to find one takes as long as to load a file."""

# What a disk, a name or a home may be the matter with; a name may have a zero in it.
_UNAVAILABLE = (OSError, ValueError, RuntimeError)


def load(key: bytes) -> bytes | None:
    """Return what was saved under a key, or None."""
    with suppress(*_UNAVAILABLE):
        where = directory()
        if where is None:
            return None
        of = _hash(key)
        with Folder(where) as folder, folder.opened(name := _file_name(of.hex())) as (file, found):
            content = _read(file, found)
            said, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            if not _is_authentic(folder, said, of + data):
                return None
            if abs(time.time() - found.st_mtime) > _DAY:
                with suppress(*_UNAVAILABLE):  # where nothing can be written, nothing goes either
                    folder.touch(name)
            return data
    return None


def save(key: bytes, data: bytes) -> None:
    """Keep data under a key, if there is a place for it: whoever reads meanwhile finds the whole of it or nothing."""
    with suppress(*_UNAVAILABLE):
        where = directory()
        if where is None:
            return
        of = _hash(key)
        with _open_or_create(where) as folder:
            content = _MAGIC + _signature(_secret(folder, make=True), of + data) + data
            if len(content) <= _MAX_FILE_BYTES:
                _evict(folder, len(content))
                _write_file(folder, _file_name(of.hex()), content)


def fits(data: bytes) -> bool:
    """Whether so much is kept under one key."""
    return len(_MAGIC) + _DIGEST_BYTES + len(data) <= _MAX_FILE_BYTES


def list_entries() -> list[tuple[bytes, int]]:
    """Return of every file of code how what it keeps begins, to be looked at and not to be run, and how long it is."""
    found: list[tuple[bytes, int]] = []
    skipped = len(_MAGIC) + _DIGEST_BYTES
    with suppress(*_UNAVAILABLE):
        where = directory()
        if where is not None and where.exists():
            with Folder(where) as folder:
                for name, state in folder.files():
                    if re.fullmatch(_CODE, name):
                        start = _read_prefix(folder, name, skipped + _PREVIEW_BYTES)
                        if start.startswith(_MAGIC):
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
            if _read_prefix(folder, name) == _MAGIC:
                removed += _remove(folder, name)
    return removed


def _hash(key: bytes) -> bytes:
    return blake2b(key, digest_size=_DIGEST_BYTES).digest()


def _file_name(digest: str) -> str:
    return f"{digest}.code"


def _signature(secret: bytes, text: bytes) -> bytes:
    return blake2b(text, digest_size=_DIGEST_BYTES, key=secret).digest()


def _is_authentic(folder: Folder, digest: bytes, text: bytes) -> bool:
    """Whether a digest was made with the key to a directory: the one that was found before, or else the one of now."""
    known = _secrets.get(folder.identity)
    if known is not None and compare_digest(digest, _signature(known, text)):
        return True
    return compare_digest(digest, _signature(_secret(folder), text))


def _open_or_create(where: Path) -> Folder:
    missing = [*takewhile(lambda path: not path.exists(), chain((where,), where.parents))]
    for path in reversed(missing):
        with suppress(FileExistsError):
            path.mkdir(0o700)
    return Folder(where)


def _read(file: int, found: os.stat_result) -> bytes:
    """Return what follows the head of a file."""
    if not len(_MAGIC) <= found.st_size <= _MAX_FILE_BYTES:
        raise ValueError("the size is not that of a cache file")
    content = b""
    while len(content) < found.st_size and (more := os.read(file, found.st_size - len(content))):
        content += more
    if not content.startswith(_MAGIC):
        raise ValueError("the first bytes are not those of a cache file")
    return content[len(_MAGIC) :]


def _write_file(folder: Folder, name: str, content: bytes, *, first: bool = False) -> None:
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
    elif (home := _default_directory()) is None:
        raise FileNotFoundError("there is no default directory")
    else:
        with _open_or_create(home) if make else Folder(home) as keeper:
            if not keeper.sure:
                raise PermissionError(f"other users can change {home}")
            secret = _key_in(keeper, make=make)
    _secrets[folder.identity] = secret
    return secret


def _key_in(folder: Folder, *, make: bool) -> bytes:
    try:
        return _read_key(folder)
    except (OSError, ValueError) as error:
        if not make:
            raise
        # What is damaged, or was to be read by others, is a key no more; files of the old one are written again.
        with suppress(FileExistsError):
            _write_file(folder, _KEY, _MAGIC + os.urandom(32), first=isinstance(error, FileNotFoundError))
        return _read_key(folder)  # of whoever was first


def _read_key(folder: Folder) -> bytes:
    with folder.opened(_KEY, secret=True) as (file, found):
        secret = _read(file, found)
    if len(secret) != 32:
        raise ValueError("the size is not that of a secret")
    return secret


def _evict(folder: Folder, needed: int) -> None:
    """Remove what a process left that was ended, and the least recently used files if all would be too much."""
    now = time.time()
    code: list[tuple[bool, float, int, str]] = []  # the first to go last
    for name, found in folder.files():
        unused = abs(now - found.st_mtime)  # a time to come says as little as one long ago
        if re.fullmatch(_CODE, name):
            code.append((found.st_size > _MAX_FILE_BYTES, unused, found.st_size, name))
        elif re.fullmatch(_NEW, name) and unused > _HOUR and _MAGIC.startswith(_read_prefix(folder, name)):
            _remove(folder, name)
    if sum(size for *_, size, _ in code) + needed <= MAX_TOTAL_BYTES:
        return
    code = [file for file in sorted(code) if _read_prefix(folder, file[-1]) == _MAGIC]
    left = sum(size for *_, size, _ in code)
    while code and left + needed > MAX_TOTAL_BYTES * 3 // 4:
        *_, size, name = code.pop()
        left -= size if _remove(folder, name) else 0


def _read_prefix(folder: Folder, name: str, length: int = len(_MAGIC)) -> bytes:
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
