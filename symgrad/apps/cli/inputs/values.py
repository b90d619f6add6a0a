"""Parse NAME=VALUE arguments: numbers, lists of numbers, and references to files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import symgrad
from symgrad.apps.cli.inputs.numbers import quoted, read_number
from symgrad.ir.listing import one_of
from symgrad.support.errors import MissingInputError, ShapeError, UsageError

_AXES = 64  # the largest number of axes of a NumPy array


def read_values(pairs: Iterable[str], inputs: Sequence[symgrad.Expr]) -> dict[str, Any]:
    """Read NAME=VALUE arguments: numbers, lists, .npy and .npz files, and .csv columns."""
    known = {i.name or "": i for i in inputs}
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name, text = name.strip(), text.strip()
        if not equals or not name or not text:
            raise UsageError(
                f"{quoted(pair)} gives no value", expected="NAME=VALUE, such as x=1.5 or x=points.npy"
            )
        if name not in known:
            raise MissingInputError(f"{quoted(name)} is not an input", expected=one_of(known))
        if name in values:
            raise UsageError(f"'{name}' is given twice")
        value = _value(name, text)
        # An input with one axis also accepts a single number.
        one = known[name].ndim == 1 and np.ndim(value) == 0
        value = np.reshape(value, 1) if one else value
        values[name] = _truth(value) if known[name].dtype == "bool" else value
    return values


def _truth(value: Any) -> Any:
    """Convert zeros and ones to truth values, which a command line and a table cannot express."""
    return np.equal(value, 1) if np.isin(value, (0, 1)).all() else value


def _value(name: str, text: str) -> Any:
    # Imported here because it is slow to import.
    from symgrad.apps.cli.inputs.array_files import read_array, read_column

    file, column = text, name
    for suffix in (".csv", ".npz"):
        before, colon, after = text.partition(suffix + ":")
        if colon:
            file, column = before + suffix, after
    if file.endswith(".csv"):
        return read_column(Path(file), column)
    if file.endswith((".npy", ".npz")):
        return read_array(Path(file), column)
    if text.startswith("["):
        return _nested(name, text)
    try:
        numbers = [read_number(part) for part in text.split(",")]
    except ValueError:
        raise _no_value(name, text) from None
    return numbers[0] if len(numbers) == 1 else np.array(numbers)


def _no_value(name: str, text: str) -> UsageError:
    return UsageError(
        f"{quoted(text)} is not a value for '{name}'",
        expected="a number, numbers separated by commas, lists such as [[1, 2], [3, 4]], "
        "a .npy or .npz file or a .csv column",
    )


def _nested(name: str, text: str) -> Any:
    """Parse nested lists: JSON with the number format of the command line."""
    try:
        lists = json.loads(re.sub(r"[^][,\s]+", lambda word: json.dumps(read_number(word.group())), text))
    except (ValueError, RecursionError):
        raise _no_value(name, text) from None
    try:
        return np.array(lists)
    except ValueError:
        plain = "".join(text.split())
        if len(plain) - len(plain.lstrip("[")) > _AXES:
            raise ShapeError(
                f"the lists in {quoted(text)} nest too deeply", expected=f"at most {_AXES} axes, as NumPy has"
            ) from None
        raise ShapeError(
            f"the lists in {quoted(text)} have different lengths",
            expected="rows of one length",
            cure="write [[1, 2], [3, 4]] for two rows of two",
        ) from None
