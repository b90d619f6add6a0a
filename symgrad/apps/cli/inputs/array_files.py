"""Read arrays of untrusted files: .npy, .npz, and columns of .csv files.

The header of a file is compared with its size before memory is allocated, and no content is executed.
"""

from __future__ import annotations

import csv
import io
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from symgrad.apps.cli.inputs.numbers import read_number
from symgrad.ir.listing import one_of
from symgrad.support.errors import ArrayTypeError, FileError, UsageError
from symgrad.support.files import reason

_HEADER = 2**16  # bytes of a header
_PIECE = 2**24  # bytes of one read
_LINE = 2**24  # characters of a line
_DEFLATED = 1032  # the largest compression ratio of deflate
_HEADERS = {  # by version; the third differs in names of fields, which arrays of numbers do not have
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,
}
_KINDS = "biufc"  # the kinds of numeric dtypes
_DAMAGED = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    SyntaxError,
    EOFError,
    OverflowError,
    RecursionError,
    RuntimeError,
    NotImplementedError,
    MemoryError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions of the readers of zip archives, headers and literals for damaged files."""


def read_array(path: Path, name: str) -> Any:
    """Return the array of a .npy file, or a named array of a .npz file.

    Args:
        path: the file.
        name: the name of the array in a .npz file.

    Raises:
        FileError: if the file cannot be read, is damaged, or is shorter than its header claims.
        ArrayTypeError: if the array is not numeric.
        UsageError: if there is no array of that name.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise FileError(f"'{path}' is no file but a pipe or a device", cure="save the array in a file")
        with path.open("rb") as file:
            if path.suffix == ".npy":
                return _read(file, os.fstat(file.fileno()).st_size, f"'{path}'")
            return _member(file, path, name)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _member(file: BinaryIO, path: Path, name: str) -> Any:
    try:
        with zipfile.ZipFile(file) as archive:
            members = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}
            if name not in members:
                raise UsageError(f"'{path}' has no array '{name}'", expected=one_of(members))
            member, what = members[name], f"'{name}' in '{path}'"
            if member.flag_bits & 1:
                raise FileError(f"{what} is encrypted", cure="save the arrays again, with numpy.savez")
            ratio = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: _DEFLATED}.get(member.compress_type)
            if ratio is None:
                raise FileError(
                    f"{what} is compressed in a way that NumPy does not use",
                    cure="save the arrays again, with numpy.savez or numpy.savez_compressed",
                )
            held = min(member.file_size, ratio * min(member.compress_size, path.stat().st_size))
            with archive.open(member) as stored:
                found = _read(stored, held, what)
                stored.read(1)  # zipfile checks the CRC at the end of the file
                return found
    except _DAMAGED as error:
        raise _damaged(f"'{path}'", error) from None


def _unreadable(path: Path, error: Exception) -> FileError:
    return FileError(f"cannot read {path}: {reason(error)}", cure="name a file that exists and may be read")


def _damaged(what: str, error: Exception) -> FileError:
    if isinstance(error, MemoryError):
        return FileError(f"{what} does not fit into memory")
    return FileError(
        f"{what} is damaged, or not what its name says",
        expected="what numpy.save or numpy.savez wrote, from arrays of numbers",
        cure="make the file anew",
    )


def _read(file: Any, held: int, what: str) -> Any:
    """Read an array from a stream with a known number of bytes left."""
    try:
        header = io.BytesIO(file.read(min(held, _HEADER)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about files of Python 2
            version = np.lib.format.read_magic(header)
            read = _HEADERS[version]
            shape, fortran, dtype = read(header)
        if any(isinstance(n, bool) or n < 0 for n in shape):
            raise ValueError(shape)
    except _DAMAGED as error:
        raise _damaged(what, error) from None
    if dtype.kind not in _KINDS:
        raise ArrayTypeError(
            f"{what} holds no numeric array, but one of dtype {dtype}",
            cure="write it with numpy.save or numpy.savez, from arrays of numbers",
        )
    size = math.prod(shape) * dtype.itemsize
    start = header.getvalue()[header.tell() :]
    if size > held - header.tell():
        raise FileError(
            f"{what} is cut short, or damaged: an array of {dtype} with shape {shape} has {size:,} bytes, "
            f"and it holds {held - header.tell():,}",
            cure="make the file anew",
        )
    try:
        array: Any = np.empty(size // dtype.itemsize, dtype)
        _fill(memoryview(array.view(np.uint8)), start, file)
        # NumPy expects bytes 0 and 1 in arrays of truth values, and a file may hold any byte.
        array = array.view(np.uint8) != 0 if dtype.kind == "b" else array
        return array.reshape(shape, order="F" if fortran else "C")
    except _DAMAGED as error:
        raise _damaged(what, error) from None


def _fill(target: memoryview, start: bytes, file: Any) -> None:
    at = min(len(start), len(target))
    target[:at] = start[:at]
    while at < len(target):
        piece = file.read(min(_PIECE, len(target) - at))
        if not piece:
            raise EOFError
        target[at : at + len(piece)] = piece
        at += len(piece)


def read_column(path: Path, column: str) -> Any:
    """Return a column of a .csv file as an array; its first line names the columns.

    Raises:
        FileError: if the file cannot be read, or is no table.
        ArrayTypeError: if an entry is no number.
        UsageError: if there is not exactly one column of that name.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _column(file, path, column)
    except UnicodeDecodeError:
        raise FileError(f"'{path}' is not text in UTF-8", cure="save the table as UTF-8") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    except MemoryError:
        raise FileError(f"'{path}' does not fit into memory") from None


def _column(file: TextIO, path: Path, column: str) -> Any:
    rows = csv.reader(_lines(file, path), skipinitialspace=True)
    header = [h.strip() for h in _row(rows, path) or []]
    if header.count(column) != 1:
        raise UsageError(
            f"'{path}' has {'two columns' if column in header else 'no column'} '{column}'",
            expected=one_of(header) or "names in its first line",
            cure="separate columns by commas" if any(";" in h or "\t" in h for h in header) else None,
        )
    at = header.index(column)
    numbers: list[Any] = []
    while (row := _row(rows, path)) is not None:
        if not row:
            continue
        try:
            numbers.append(read_number(row[at]))
        except (ValueError, IndexError):
            found = row[at] if at < len(row) else "nothing"
            raise ArrayTypeError(
                f"'{path}', line {rows.line_num}: column '{column}' holds {found[:60]!r}", expected="a number"
            ) from None
    return np.array(numbers, None if numbers else float)


def _row(rows: Any, path: Path) -> list[str] | None:
    try:
        return next(rows, None)
    except csv.Error as error:
        raise FileError(
            f"'{path}', line {rows.line_num}: {error}",
            expected="a table of numbers separated by commas",
            cure="look for a quotation mark that is never closed",
        ) from None


def _lines(file: TextIO, path: Path) -> Iterator[str]:
    while line := file.readline(_LINE):
        if len(line) == _LINE:
            raise FileError(
                f"'{path}' has a line of more than {_LINE:,} characters", expected="a table in lines"
            )
        yield line
