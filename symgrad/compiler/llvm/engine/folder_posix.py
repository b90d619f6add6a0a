"""A private directory on POSIX, where files have owners and modes.

A path may name another file as soon as somebody changes a directory or a link on it. So the directory is opened once,
files are opened relative to its descriptor, and owner and mode are checked on descriptors before anything is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ACCESS = stat.S_IRWXG | stat.S_IRWXO
_MAX_LINKS = 40

# Windows lacks these functions; there only tests import this module.
_user: Callable[[], int] = getattr(os, "geteuid", int)
_group: Callable[[], int] = getattr(os, "getegid", int)


def _flags(*names: str) -> int:
    return sum(getattr(os, name) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", *names))


class Folder:
    """A directory that only this user owns and may write; a context manager, which holds it open.

    Args:
        where: its absolute path.

    Attributes:
        identity: device and inode, which are unique to this directory while it exists, whatever the path.

    Raises:
        OSError: on entering, if the path does not exist, is a link, or the directory belongs to somebody else.
    """

    __slots__ = ("_fd", "_where", "identity")

    def __init__(self, where: Path) -> None:
        self._where = where

    def __enter__(self) -> Folder:
        self._fd = os.open(self._where, _flags("O_RDONLY", "O_DIRECTORY"))
        try:
            found = os.fstat(self._fd)
            if found.st_uid != _user() or found.st_mode & _OTHERS_WRITE:
                raise PermissionError(f"{self._where} is not this user's alone")
        except OSError:
            os.close(self._fd)
            raise
        self.identity = (found.st_dev, found.st_ino)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    @property
    def sure(self) -> bool:
        """Whether only this user and root can change the directory that the path names."""
        return _is_trusted_path(self._where)

    @contextmanager
    def opened(self, name: str, *, secret: bool = False) -> Generator[tuple[int, os.stat_result]]:
        """Open a file that this user owns, that nobody else may write, and that has one name.

        Yield its descriptor and state.

        A secret file may have a second name, and nobody else may read it.

        Raises:
            OSError: if there is no such file.
        """
        # O_NONBLOCK is for pipes: opening one for reading would wait for a writer.
        file = os.open(name, _flags("O_RDONLY", "O_NOCTTY"), dir_fd=self._fd)
        try:
            found = os.fstat(file)
            if (
                not stat.S_ISREG(found.st_mode)
                or found.st_uid != _user()
                or found.st_mode & (_OTHERS_ACCESS if secret else _OTHERS_WRITE)
                or (found.st_nlink > 1 and not secret)  # `claim` gives it two names for a moment
            ):
                raise PermissionError(f"{name} is no file of this user's alone")
            yield file, found
        finally:
            os.close(file)

    def create(self, name: str) -> int:
        """Open a new file for writing."""
        return os.open(name, _flags("O_WRONLY", "O_CREAT", "O_EXCL"), 0o600, dir_fd=self._fd)

    def replace(self, name: str, place: str) -> None:
        """Rename a file, replacing any file with the new name."""
        os.replace(name, place, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def claim(self, name: str, place: str) -> None:
        """Rename a file, unless the new name exists.

        Raises:
            FileExistsError: if the new name exists.
        """
        try:
            os.link(name, place, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except FileExistsError:
            raise
        except OSError:  # on file systems without hard links the last process wins
            self.replace(name, place)
        else:
            self.remove(name)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=self._fd)

    def touch(self, name: str) -> None:
        """Set the time of last use of a file to now."""
        os.utime(name, dir_fd=self._fd, follow_symlinks=False)

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield the name and state of every regular file."""
        with os.scandir(self._fd) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        yield entry.name, entry.stat(follow_symlinks=False)


def _is_trusted_path(where: PurePath) -> bool:
    """Resolve a path as the system does, and check who may change each step.

    The check goes from the root down. A step below directories that nobody else may change is still the same when it is
    used, so the answer cannot become false in between.
    """
    if not _only_trusted_writers(os.lstat("/")):
        return False
    at, links = "", 0  # at: the resolved prefix, without a final slash
    todo = [*reversed(where.parts[1:])]
    while todo:
        part = todo.pop()
        here = at.rpartition("/")[0] if part == ".." else f"{at}/{part}"
        found = os.lstat(here or "/")
        if stat.S_ISLNK(found.st_mode):
            target = Path(here).readlink()
            links += 1
            if links > _MAX_LINKS or not _owner_is_trusted(found):
                return False
            at = "" if target.is_absolute() else at
            todo += reversed(target.parts[target.is_absolute() :])
        elif _only_trusted_writers(found):
            at = here
        else:
            return False
    return True


def _owner_is_trusted(found: os.stat_result) -> bool:
    return found.st_uid in {0, _user()}


def _only_trusted_writers(found: os.stat_result) -> bool:
    """Return whether only this user and root can change their own entries of a directory.

    A group with the same number as the user is that user's private group, which often has write access to directories.
    """
    alone = found.st_gid == _group() == _user()
    others = stat.S_IWOTH if alone else _OTHERS_WRITE
    return _owner_is_trusted(found) and (not found.st_mode & others or bool(found.st_mode & stat.S_ISVTX))
