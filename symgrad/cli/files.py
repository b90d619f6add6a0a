"""Files: programs and values in, texts and arrays out. What is written is written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

import symgrad
from symgrad.errors import ArrayTypeError, MissingInputError, ShapeError, UsageError
from symgrad.kernel.artefact import write_atomically

__all__ = ["read_source", "read_text", "read_values", "write_arrays", "write_text"]


def read_source(source: str) -> symgrad.Program:
    """Return the program of a file, of standard input (``-``) or of an inline expression."""
    return symgrad.parse(*read_text(source))


def read_text(source: str) -> tuple[str, str]:
    """Return the text of a source, and what messages call it."""
    if source == "-":
        if sys.stdin is None:  # closed by whoever started us
            raise UsageError("standard input is closed", cure="name a file, or pipe the program in")
        return sys.stdin.read(), "<stdin>"
    path = Path(source)
    # A long inline program is no path, and asking the file system for it may itself fail.
    looks_like_a_file = "\n" not in source and len(source) < 1000 and path.suffix in {".sg", ".txt"}
    if looks_like_a_file or (
        "\n" not in source and len(source) < 250 and path.exists() and not path.is_dir()
    ):
        try:
            return path.read_text(encoding="utf-8"), source
        except UnicodeDecodeError:
            raise UsageError(f"'{source}' is not text in UTF-8", cure="save the program as UTF-8") from None
    return source, "<command line>"


def read_values(pairs: Iterable[str], inputs: Sequence[symgrad.Expr]) -> dict[str, Any]:
    """Read NAME=VALUE arguments: numbers, lists, .npy and .npz files, and .csv columns."""
    known = {i.name or "": i for i in inputs}
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name, text = name.strip(), text.strip()
        if not equals or not name or not text:
            raise UsageError(f"'{pair}' gives no value", expected="NAME=VALUE, such as x=1.5 or x=points.npy")
        if name not in known:
            raise MissingInputError(f"'{name}' is not an input", expected="one of " + ", ".join(known))
        if name in values:
            raise UsageError(f"'{name}' is given twice")
        value = _value(name, text)
        # What is declared a list may have one number.
        one = known[name].ndim == 1 and np.ndim(value) == 0
        value = np.reshape(value, 1) if one else value
        values[name] = _truth(value) if known[name].dtype == "bool" else value
    return values


def _truth(value: Any) -> Any:
    """Return zeros and ones as truth values: a command line and a table have no others."""
    return np.equal(value, 1) if np.isin(value, (0, 1)).all() else value


def _value(name: str, text: str) -> Any:
    file, column = text, name
    for suffix in (".csv", ".npz"):
        before, colon, after = text.partition(suffix + ":")
        if colon:
            file, column = before + suffix, after
    if file.endswith(".csv"):
        return _column(Path(file), column)
    if file.endswith((".npy", ".npz")):
        return _array(Path(file), column)
    if text.startswith("["):
        return _nested(name, text)
    try:
        numbers = [_number(part) for part in text.split(",")]
    except ValueError:
        raise _no_value(name, text) from None
    return numbers[0] if len(numbers) == 1 else np.array(numbers)


def _no_value(name: str, text: str) -> UsageError:
    return UsageError(
        f"'{text}' is not a value for '{name}'",
        expected="a number, numbers separated by commas, lists such as [[1, 2], [3, 4]], "
        "a .npy or .npz file or a .csv column",
    )


def _number(text: str) -> bool | int | float:
    """Return a number; whole ones keep all their digits, for positions in arrays."""
    text = text.strip()
    if text in ("True", "False"):
        return text == "True"
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else float(text)


def _nested(name: str, text: str) -> Any:
    """Read nested lists: the structure is JSON's, the numbers are read as everywhere else."""
    try:
        lists = json.loads(re.sub(r"[^][,\s]+", lambda word: json.dumps(_number(word.group())), text))
    except (ValueError, RecursionError):
        raise _no_value(name, text) from None
    try:
        return np.array(lists)
    except ValueError:
        raise ShapeError(
            f"the lists in '{text}' have different lengths",
            expected="rows of one length",
            cure="write [[1, 2], [3, 4]] for two rows of two",
        ) from None


def _array(path: Path, name: str) -> Any:
    with path.open("rb") as file:
        try:
            found: Any = np.load(file, allow_pickle=False)  # a pickle could run code
            arrays = cast("Mapping[str, Any]", found) if isinstance(found, np.lib.npyio.NpzFile) else None
            if arrays is None:
                return cast("Any", found)
            if name in arrays:
                return arrays[name]
        except (ValueError, EOFError, zipfile.BadZipFile):
            raise ArrayTypeError(
                f"'{path}' holds no numeric array",
                cure="write it with numpy.save or numpy.savez, from arrays of numbers",
            ) from None
    raise UsageError(f"'{path}' has no array '{name}'", expected="one of " + ", ".join(arrays))


def _column(path: Path, column: str) -> Any:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        header = [h.strip() for h in next(rows, list[str]())]
        if column not in header:
            raise UsageError(
                f"'{path}' has no column '{column}'",
                expected="one of " + ", ".join(header) if header else "names in its first line",
                cure="separate columns by commas" if any(";" in h or "\t" in h for h in header) else None,
            )
        at = header.index(column)
        numbers: list[float] = []
        for line, row in enumerate(rows, start=2):
            if not row:
                continue
            try:
                numbers.append(float(row[at]))
            except (ValueError, IndexError):
                found = row[at] if at < len(row) else "nothing"
                raise ArrayTypeError(
                    f"'{path}', line {line}: column '{column}' holds {found!r}", expected="a number"
                ) from None
    return np.array(numbers)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write results to a .npy (one array), .npz or .csv file, whole or not at all."""
    if path.suffix == ".npy":
        if len(arrays) != 1:
            raise UsageError(
                f"a .npy file holds one array, the results are {len(arrays)}: {', '.join(arrays)}",
                cure="write .npz or .csv, or add --no-gradient",
            )
        file = io.BytesIO()
        np.save(file, next(iter(arrays.values())))
        write_atomically(path, file.getvalue())
    elif path.suffix == ".npz":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as members:  # numpy.savez takes no array called "file"
            for name, value in arrays.items():
                with members.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)
        write_atomically(path, file.getvalue())
    elif path.suffix == ".csv":
        try:
            columns = np.broadcast_arrays(*(np.atleast_1d(v) for v in arrays.values()))
        except ValueError:
            columns = None
        if columns is None or columns[0].ndim > 1:
            shapes = ", ".join(f"{name} {np.shape(value)}" for name, value in arrays.items())
            raise UsageError(f"a .csv file holds columns of one length, not {shapes}", cure="write .npz")
        lines = [",".join(arrays)]
        lines += [",".join(repr(v.item()) for v in row) for row in zip(*columns, strict=True)]
        write_text(path, "\n".join(lines) + "\n")
    else:
        raise UsageError(f"cannot write '{path.name}'", expected="a name that ends in .npy, .npz or .csv")
