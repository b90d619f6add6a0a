"""The disk cache of machine code: a directory of small files that may be deleted at any time.

Code that is read is run, so it must be unchanged and written by this user. The directory is a subdirectory of the
configured one and private to this user (`folder_posix.py`, `folder_windows.py`). Every file begins with a keyed digest
(BLAKE2b) of its cache key and its content, which only the owner of the secret can compute. The secret is a file in the
directory; if other users can change the path to the directory, the secret of the default directory is used instead. An
error of the disk costs only time, because everything in the cache can be compiled again.
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

ENVIRONMENT_VARIABLE = "SYMGRAD_CACHE"
"""The environment variable that names the directory; empty switches the cache off."""

_DIRECTORY_NAME = "symgrad-code-v2"
"""The subdirectory; its number changes with the format of files, and with the options that symgrad passes to LLVM."""

_MAGIC = b"symgrad-code-v2\n"
"""The first bytes of every file; other files are neither counted nor removed."""

_DIGEST_BYTES = 32
"""The size of a digest of BLAKE2b, which can be keyed and is part of Python; loading OpenSSL for SHA-256 would take
longer."""

_KEY = "key"
_CODE = r"[0-9a-f]{64}\.code"
_NEW = r"[0-9a-f]{32}\.new"  # a file that is being written, and renamed afterwards

MAX_TOTAL_BYTES = 64 * 2**20
"""If all files together are larger than this, the least recently used ones are removed, a quarter of the size at a
time."""
_MAX_FILE_BYTES = 8 * 2**20
"""Limit of the size of a file, some hundred times the usual size."""

_PREVIEW_BYTES = 120
"""Bytes of an entry that `list_entries` returns to identify it."""

_HOUR, _DAY = 3600.0, 86400.0
"""The longest time that writing a file takes, and the interval at which the time of last use is updated."""


def directory() -> Path | None:
    """Return the directory of the cache, or None if the cache is off.

    The default follows the conventions of each platform, as the platformdirs package does, but importing that package
    takes as long as the cache saves.

    Raises:
        OSError: if the configured path is relative and there is no current directory.
        RuntimeError: if the path names an unknown home directory.
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
    # A relative path is no valid default.
    found = Path(base or "").expanduser()
    return found / "symgrad" / _DIRECTORY_NAME if found.is_absolute() else None


_secrets: dict[tuple[int, int], bytes] = {}
"""The secrets that were read, by directory, since reading a secret takes as long as loading a file."""

# The errors of disks, paths and home directories; ValueError is for a path with a zero byte.
_UNAVAILABLE = (OSError, ValueError, RuntimeError)


def load(key: bytes) -> bytes | None:
    """Return the data of a key, or None if there are none."""
    with suppress(*_UNAVAILABLE):
        where = directory()
        if where is None:
            return None
        of = _hash(key)
        with Folder(where) as folder, folder.opened(name := _file_name(of.hex())) as (file, found):
            content = _read(file, found)
            signature, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            if not _is_authentic(folder, signature, of + data):
                return None
            if abs(time.time() - found.st_mtime) > _DAY:
                with suppress(
                    *_UNAVAILABLE
                ):  # a read-only directory evicts nothing, so the time does not matter
                    folder.touch(name)
            return data
    return None


def save(key: bytes, data: bytes) -> None:
    """Save data under a key, if possible, atomically: a concurrent reader finds all of it or nothing."""
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
    """Return whether data of this size can be saved."""
    return len(_MAGIC) + _DIGEST_BYTES + len(data) <= _MAX_FILE_BYTES


def list_entries() -> list[tuple[bytes, int]]:
    """Return the first bytes and the size of every entry. They are not verified, and must only be shown, never run."""
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
    """Remove all cached code, and nothing else; return the number of files.

    Raises:
        OSError: if the directory is not private to this user.
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
    """Return whether a digest was computed with the secret of a directory, either the remembered or the current one."""
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
    """Return the content of a file after the magic bytes."""
    if not len(_MAGIC) <= found.st_size <= _MAX_FILE_BYTES:
        raise ValueError("the size is not that of a cache file")
    content = b""
    while len(content) < found.st_size and (more := os.read(file, found.st_size - len(content))):
        content += more
    if not content.startswith(_MAGIC):
        raise ValueError("the first bytes are not those of a cache file")
    return content[len(_MAGIC) :]


def _write_file(folder: Folder, name: str, content: bytes, *, first: bool = False) -> None:
    """Write a file atomically; with ``first``, only if no other process has written it."""
    new = f"{os.urandom(16).hex()}.new"
    try:
        with os.fdopen(folder.create(new), "wb") as file:
            file.write(content)
        (folder.claim if first else folder.replace)(new, name)
    finally:
        with suppress(OSError):  # after success it has been renamed
            folder.remove(new)


def _secret(folder: Folder, *, make: bool = False) -> bytes:
    """Return the secret that signs the files of a directory.

    Raises:
        OSError, ValueError: if there is no secret, and none can be created.
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
        # A secret that is damaged, or that others could read, is replaced; files that it signed are compiled again.
        with suppress(FileExistsError):
            _write_file(folder, _KEY, _MAGIC + os.urandom(32), first=isinstance(error, FileNotFoundError))
        return _read_key(folder)  # possibly another process was first


def _read_key(folder: Folder) -> bytes:
    with folder.opened(_KEY, secret=True) as (file, found):
        secret = _read(file, found)
    if len(secret) != 32:
        raise ValueError("the size is not that of a secret")
    return secret


def _evict(folder: Folder, needed: int) -> None:
    """Remove leftovers of killed processes, and the least recently used files if the total would be too large."""
    now = time.time()
    code: list[tuple[bool, float, int, str]] = []  # in reverse order of removal
    for name, found in folder.files():
        unused = abs(now - found.st_mtime)  # a time in the future is as wrong as one long ago
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
    """Return the first bytes of a file; b"?", which starts no valid file, if it cannot be read."""
    with suppress(OSError), folder.opened(name) as (file, _):
        return os.read(file, length)
    return b"?"


def _remove(folder: Folder, name: str) -> bool:
    with suppress(FileNotFoundError):  # another process evicted it
        try:
            folder.remove(name)
        except PermissionError:
            return False
    return True
