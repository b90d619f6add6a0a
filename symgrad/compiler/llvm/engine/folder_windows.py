"""A private directory on Windows, where access control lists determine who may access a file.

Everything below %LOCALAPPDATA% inherits the list of the user's profile, which gives other users no access. Lists of
other directories are not checked: the secret key is never there, and without it nobody can write a file that passes the
check. Windows cannot open files relative to a directory handle, so a file is examined before it is opened, and must
still be the same file afterwards.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_REPARSE_POINT = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT: links, junctions, files that are not on this disk


def _flags(*names: str) -> int:
    # Other systems lack these flags; there only tests import this module.
    return sum(getattr(os, name, 0) for name in ("O_BINARY", "O_NOINHERIT", *names))


def _is_link(found: os.stat_result) -> bool:
    return bool(getattr(found, "st_file_attributes", 0) & _REPARSE_POINT) or stat.S_ISLNK(found.st_mode)


class Folder:
    """A private directory, like `symgrad.compiler.llvm.engine.folder_posix.Folder`.

    Args:
        where: its absolute path.

    Raises:
        OSError: on entering, if the path does not exist or is a link.
    """

    __slots__ = ("_where", "identity")

    def __init__(self, where: Path) -> None:
        self._where = Path(os.path.abspath(where))  # noqa: PTH100  `..` is resolved in the text, as Windows does

    def __enter__(self) -> Folder:
        found = self._where.lstat()
        if not stat.S_ISDIR(found.st_mode) or _is_link(found):
            raise NotADirectoryError(f"{self._where} is no directory")
        self.identity = (found.st_dev, found.st_ino)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def sure(self) -> bool:
        """Whether only this user and the system can change the directory that the path names."""
        profile = Path(os.environ.get("LOCALAPPDATA", ""))
        return profile.is_absolute() and self._where.is_relative_to(os.path.abspath(profile))  # noqa: PTH100  (likewise)

    @contextmanager
    def opened(self, name: str, *, secret: bool = False) -> Generator[tuple[int, os.stat_result]]:
        """Open a file that has one name; yield its descriptor and state. A secret file may have a second name.

        Raises:
            OSError: if there is no such file.
        """
        path = self._where / name
        before = path.lstat()
        if not stat.S_ISREG(before.st_mode) or _is_link(before):
            raise PermissionError(f"{path} is no file")
        file = os.open(path, _flags("O_RDONLY"))
        try:
            found = os.fstat(file)
            if not os.path.samestat(before, found) or (found.st_nlink > 1 and not secret):
                raise PermissionError(f"{path} is no file of this directory alone")
            yield file, found
        finally:
            os.close(file)

    def create(self, name: str) -> int:
        """Open a new file for writing."""
        return os.open(self._where / name, _flags("O_WRONLY", "O_CREAT", "O_EXCL"), 0o600)

    def replace(self, name: str, place: str) -> None:
        """Rename a file, replacing any file with the new name."""
        (self._where / name).replace(self._where / place)

    def claim(self, name: str, place: str) -> None:
        """Rename a file, unless the new name exists.

        Raises:
            FileExistsError: if the new name exists.
        """
        (self._where / name).rename(self._where / place)

    def remove(self, name: str) -> None:
        """Remove a file."""
        (self._where / name).unlink()

    def touch(self, name: str) -> None:
        """Set the time of last use of a file to now."""
        os.utime(self._where / name)

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the name and state of every regular file."""
        with os.scandir(self._where) as entries:
            for entry in entries:
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and not _is_link(found):
                        yield entry.name, found
