"""Files: programs and values in, texts and arrays out. What is written is written whole or not at all."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import symgrad
from symgrad.errors import ArrayTypeError, MissingInputError, UsageError
from symgrad.kernel.artefact import write_atomically

__all__ = ["read_source", "read_values", "write_arrays", "write_text"]


def read_source(source: str) -> symgrad.Program:
    """Return the program of a file, of standard input (``-``) or of an inline expression."""
    if source == "-":
        if sys.stdin is None:  # closed by whoever started us
            raise UsageError("standard input is closed", cure="name a file, or pipe the program in")
        return symgrad.parse(sys.stdin.read(), "<stdin>")
    path = Path(source)
    # A long inline program is no path, and asking the file system for it may itself fail.
    looks_like_a_file = "\n" not in source and len(source) < 1000 and path.suffix in {".sg", ".txt"}
    if looks_like_a_file or (
        "\n" not in source and len(source) < 250 and path.exists() and not path.is_dir()
    ):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"'{source}' is not text in UTF-8", cure="save the program as UTF-8") from None
        return symgrad.parse(text, source)
    return symgrad.parse(source, "<command line>")


def read_values(pairs: Iterable[str], known: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE arguments: numbers, number lists, .npy files and .csv columns."""
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
        values[name] = _value(name, text)
    return values


def _value(name: str, text: str) -> Any:
    path, _, column = text.partition(".csv:")
    if column or text.endswith(".csv"):
        return _column(Path(path + ".csv" if column else text), column or name)
    if text.endswith(".npy"):
        with Path(text).open("rb") as file:
            try:
                return np.load(file, allow_pickle=False)  # a pickle could run code
            except (ValueError, EOFError):
                raise ArrayTypeError(
                    f"'{text}' holds no numeric array",
                    cure="write it with numpy.save, from an array of numbers",
                ) from None
    parts = [part.strip() for part in text.split(",")]
    try:
        truths = {*parts} <= {"True", "False"}
        numbers = [part == "True" if truths else float(part) for part in parts]
    except ValueError:
        raise UsageError(
            f"'{text}' is not a value for '{name}'",
            expected="a number, numbers separated by commas, a .npy file or a .csv column",
        ) from None
    return numbers[0] if len(numbers) == 1 else np.array(numbers)


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
        np.savez(file, allow_pickle=False, **{k: np.asarray(v) for k, v in arrays.items()})
        write_atomically(path, file.getvalue())
    elif path.suffix == ".csv":
        columns = np.broadcast_arrays(*(np.atleast_1d(v) for v in arrays.values()))
        if columns[0].ndim > 1:
            raise UsageError("a .csv file holds columns, the results have more axes", cure="write .npz")
        lines = [",".join(arrays)]
        lines += [",".join(repr(v.item()) for v in row) for row in zip(*columns, strict=True)]
        write_text(path, "\n".join(lines) + "\n")
    else:
        raise UsageError(f"cannot write '{path.name}'", expected="a name that ends in .npy, .npz or .csv")
