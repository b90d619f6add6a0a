"""A directory that is this user's alone, where files have owners and modes (POSIX).

A path leads elsewhere as soon as somebody changes a directory or a link on its way. So the directory is opened once,
its files are opened from there, and what is asked of either is asked of what is open, before anything is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

__all__ = ["Folder"]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ACCESS = stat.S_IRWXG | stat.S_IRWXO
_MAX_LINKS = 40

# By name what Windows lacks: there this module is imported by tests alone.
_user: Callable[[], int] = getattr(os, "geteuid", int)
_group: Callable[[], int] = getattr(os, "getegid", int)


def _flags(*names: str) -> int:
    return sum(getattr(os, name) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", *names))


class Folder:
    """A directory of this user's into which nobody else may write, open while it is entered.

    Args:
        where: its absolute path.

    Attributes:
        identity: of this directory alone, by whatever path, as long as there is it.

    Raises:
        OSError: on entering, if there is none, or it is a link, or somebody else's.
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
        """Whether nobody but this user and root has a say in what the path leads to."""
        return _is_trusted_path(self._where)

    @contextmanager
    def opened(self, name: str, *, secret: bool = False) -> Generator[tuple[int, os.stat_result]]:
        """Open a file of this user's that nobody else may write and that has no other name, or that is a secret.

        Raises:
            OSError: if there is none.
        """
        # Not to wait is for pipes: to open one for reading else waits for a writer.
        file = os.open(name, _flags("O_RDONLY", "O_NOCTTY"), dir_fd=self._fd)
        try:
            found = os.fstat(file)
            if (
                not stat.S_ISREG(found.st_mode)
                or found.st_uid != _user()
                or found.st_mode & (_OTHERS_ACCESS if secret else _OTHERS_WRITE)
                or (found.st_nlink > 1 and not secret)  # while it is claimed it has two
            ):
                raise PermissionError(f"{name} is no file of this user's alone")
            yield file, found
        finally:
            os.close(file)

    def create(self, name: str) -> int:
        """Open a new file for writing."""
        return os.open(name, _flags("O_WRONLY", "O_CREAT", "O_EXCL"), 0o600, dir_fd=self._fd)

    def replace(self, name: str, place: str) -> None:
        """Move a file over what is at another name."""
        os.replace(name, place, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def claim(self, name: str, place: str) -> None:
        """Give a file another name.

        Raises:
            FileExistsError: if there is something of that name.
        """
        try:
            os.link(name, place, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except FileExistsError:
            raise
        except OSError:  # there are file systems without links: the last one has it
            self.replace(name, place)
        else:
            self.remove(name)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=self._fd)

    def touch(self, name: str) -> None:
        """Say that a file was used now."""
        os.utime(name, dir_fd=self._fd, follow_symlinks=False)

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Return name and state of every regular file."""
        with os.scandir(self._fd) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        yield entry.name, entry.stat(follow_symlinks=False)


def _is_trusted_path(where: PurePath) -> bool:
    """Follow a path as the system does, and see who may change what it leads to.

    Top down: what nobody else may change above is the same when it is used, so this says nothing that is not true
    any more by then.
    """
    if not _only_trusted_writers(os.lstat("/")):
        return False
    at, links = "", 0  # at: without a link, and without a slash at its end
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
    """Whether only friends may change what names in a directory lead to, those that are friends' at least.

    Where users have a group each, of their own number, directories are often made so that it may write.
    """
    alone = found.st_gid == _group() == _user()
    others = stat.S_IWOTH if alone else _OTHERS_WRITE
    return _owner_is_trusted(found) and (not found.st_mode & others or bool(found.st_mode & stat.S_ISVTX))
