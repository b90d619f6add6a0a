"""Bounded reads and atomic writes of files."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Generator, Sequence
from pathlib import Path

from symgrad.support.errors import FileError


def reason(error: Exception) -> str:
    """Return the reason of the operating system, or of Python, for an error."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a file, a pipe or a device, which may have no end.

    Args:
        path: the file.
        most: the largest number of bytes.

    Raises:
        FileError: if the file cannot be read, or is longer.
    """
    content = read_start(path, most + 1)
    if len(content) > most:
        raise FileError(f"'{path}' is too long", expected=f"at most {most:,} bytes")
    return content


def read_start(path: Path, most: int) -> bytes:
    """Return the first bytes of a file.

    Args:
        path: the file.
        most: the number of bytes; fewer if the file is shorter.

    Raises:
        FileError: if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(most)
    except (OSError, ValueError, MemoryError) as error:  # ValueError: a name with NUL in it
        raise FileError(
            f"cannot read {path}: {reason(error)}", cure="name a file that exists and may be read"
        ) from error


def read_text(path: Path, most: int) -> str:
    """Return the text of a file, with line feeds as the ends of lines.

    Args:
        path: the file.
        most: the largest number of bytes.

    Raises:
        FileError: if the file cannot be read, is longer, or is not text in UTF-8.
    """
    return decode_text(read_bytes(path, most), f"'{path}'")


def decode_text(content: bytes, name: str) -> str:
    """Decode a text in UTF-8, with line feeds as the ends of lines.

    Raises:
        FileError: if the content is not in UTF-8; the message has the name.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{name} is not text in UTF-8 (byte {error.start + 1})", cure="save it as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def make_folder(path: Path) -> None:
    """Create a folder and its parents.

    Raises:
        FileError: if the folder cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise FileError(
            f"cannot make the folder {path}: {reason(error)}",
            cure="name a folder that exists and is writable",
        ) from error


class AppendedFile:
    """A file to which lines are appended without buffering.

    Args:
        path: the file; its folder is created.

    Raises:
        FileError: if the file cannot be written, now or later.
    """

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self._path = path
        with _writing(path):
            _state(path)
            self._file = path.open("ab", buffering=0)

    def write(self, line: str) -> None:
        """Append a line and a line feed."""
        rest = memoryview(f"{line}\n".encode())
        with _writing(self._path):
            while rest:
                rest = rest[self._file.write(rest) :]

    def __enter__(self) -> AppendedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@contextlib.contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise FileError(
            f"cannot write {path}: {reason(error)}",
            cure="make room, or choose a folder on another disk"
            if full
            else "choose a folder that exists and is writable",
        ) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under a temporary name in the same folder, then rename it.

    The permissions of an existing file stay. A pipe or a device is written directly. A link to a file is an error.

    Raises:
        FileError: if the folder or the file cannot be written, or the path is a link.
    """
    write_together([(path, content)])


def write_together(files: Sequence[tuple[Path, bytes]], beside: Sequence[tuple[Path, bytes]] = ()) -> None:
    """Write files that belong together, each as in `write_atomically`, and rename them after all are written.

    Args:
        files: paths that the user named, with their content; they replace existing files.
        beside: paths that the user did not name, with their content. They replace only files with the same first line,
            which must identify the writer.

    Raises:
        FileError: if a folder or a file cannot be written, if an existing file is a link, or if an existing file that
            the user did not name has another first line.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        for path, content in beside:
            _check_replaceable(path, content, files[0][0])
        for path, content in (*files, *beside):
            with _writing(path):
                written = _write_temporary(path, content)
            if written is not None:
                waiting.append((path, written))
        for path, written in waiting:
            with _writing(path):
                written.replace(path)
    finally:  # after success no temporary files are left
        for _, written in waiting:
            written.unlink(missing_ok=True)


def _check_replaceable(path: Path, content: bytes, named: Path) -> None:
    """Raise an error for an existing file that the user did not name, unless it has the same first line."""
    if not os.path.lexists(path):
        return
    line = content[: content.index(b"\n") + 1]
    own = path.is_file() and not path.is_symlink() and read_start(path, len(line) + 1)
    if not own or own.replace(b"\r\n", b"\n")[: len(line)] != line:
        raise FileError(
            f"{path} is in the way: it belongs beside {named}, and symgrad did not write the one that is there",
            cure=f"save under another name than {named.name}",
        )


def _state(path: Path) -> int | None:
    """Return the mode of an existing file; None if there is no file.

    Raises:
        FileError: for a link, unless it leads to a pipe or a device: neither the link nor its target is replaced.
        OSError: if the mode is not accessible.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if path.is_symlink() and (mode is None or stat.S_ISREG(mode)):
        target = os.path.realpath(path)
        raise FileError(f"{path} is a link to {target}", cure=f"name the file itself: {target}")
    return mode


def _write_temporary(path: Path, content: bytes) -> Path | None:
    """Write a file under a temporary name, and return this name.

    Write directly to a pipe or a device, and return None.
    """
    mode = _state(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as file:
            file.write(content)
        return None
    if mode is not None and not os.access(path, os.W_OK):  # renaming needs no permission to write to the file
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = path.with_name(f".symgrad-{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
