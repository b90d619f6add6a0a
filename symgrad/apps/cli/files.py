"""Read programs; write texts and arrays atomically."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

import symgrad
from symgrad.frontend.limits import TEXT_CHARACTERS
from symgrad.support.errors import FileError, UsageError
from symgrad.support.files import decode_text, make_folder, reason, write_atomically
from symgrad.support.files import read_text as read_file


def read_source(source: str) -> symgrad.Program:
    """Return the program of a file, of standard input (``-``) or of an inline expression."""
    return symgrad.parse(*read_text(source))


def reading_options(texts: Sequence[str]) -> dict[str, Any]:
    """Parse options of the LaTeX reader, such as ``slash=product``."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--read is '{text}'", expected="OPTION=VALUE, such as slash=product")
        if name in found:
            raise UsageError(f"--read says twice what {name} is", cure=f"keep one --read {name}=...")
        found[name] = int(value) if value.isdecimal() else value
    return found


def read_latex_source(source: str, declarations: str | None, options: Mapping[str, Any]) -> symgrad.Program:
    """Return the program of formulas in LaTeX; print the readings of ambiguous notation to standard error."""
    text, name = read_text(source)
    found = symgrad.read_latex(text, declarations, name=name, **options)
    for reading in found.readings:
        click.echo(f"symgrad: {reading.text(command=True)}", err=True)
    return found.program


def read_text(source: str) -> tuple[str, str]:
    """Return the text of a source, and its name in messages."""
    if source == "-":
        return _standard_input(), "<stdin>"
    # A long source is an inline program, not a path.
    looks_like_a_file = "\n" not in source and len(source) < 1000 and Path(source).suffix in {".sg", ".txt"}
    # os.path accepts names that no file can have.
    there = "\n" not in source and os.path.exists(source) and not os.path.isdir(source)  # noqa: PTH110, PTH112  (see above)
    if looks_like_a_file or there:
        return read_file(Path(source), TEXT_CHARACTERS), source
    # In an ASCII locale, Python encodes other bytes of an argument as surrogates.
    return os.fsencode(source).decode("utf-8", "surrogateescape"), "<command line>"


def _standard_input() -> str:
    if sys.stdin is None:  # closed by the parent process
        raise UsageError("standard input is closed", cure="name a file, or pipe the program in")
    try:
        content = sys.stdin.buffer.read(TEXT_CHARACTERS + 1)
    except OSError as error:
        raise FileError(f"cannot read standard input: {reason(error)}") from error
    if len(content) > TEXT_CHARACTERS:
        raise FileError("standard input is too long", expected=f"at most {TEXT_CHARACTERS:,} bytes")
    return decode_text(content, "standard input")


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    _write(path, text.encode(errors="backslashreplace"))


def _write(path: Path, content: bytes) -> None:
    make_folder(path.parent)
    write_atomically(path, content)


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write results atomically to a .npy (one array), .npz or .csv file."""
    if path.suffix == ".npy":
        if len(arrays) != 1:
            raise UsageError(
                f"a .npy file holds one array, the results are {len(arrays)}: {', '.join(arrays)}",
                cure="write .npz or .csv, or add --no-gradient",
            )
        file = io.BytesIO()
        np.save(file, next(iter(arrays.values())))
        _write(path, file.getvalue())
    elif path.suffix == ".npz":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as members:  # numpy.savez refuses the name "file"
            for name, value in arrays.items():
                with members.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)
        _write(path, file.getvalue())
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
