"""Files that are damaged or mean harm: the readers of the command line give a value or an error of ours."""

from __future__ import annotations

import io
import json
import random
import struct
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.apps.cli.files import read_source
from symgrad.apps.cli.inputs.array_files import read_array, read_column
from symgrad.apps.cli.inputs.values import read_values
from symgrad.checker.check import check
from symgrad.checker.file.reader import read_proof_file
from symgrad.errors import SymgradError
from symgrad.verification.batch import finished_ids, read_rows
from tests.fuzz.kind import kind, refused

_DTYPES = ["<f8", ">f8", "<f4", "<f2", "<i8", ">i2", "|u1", "|b1", "<c16", "<U3", "<M8[D]", "|V4", "|O", "<g"]
_SHAPES = [
    "()",
    "(0,)",
    "(3,)",
    "(2, 2)",
    "(2**40,)",
    "(1099511627776, 99)",
    "(-1,)",
    "(True,)",
    "(0, 9**99)",
]
_NUMBERS = [
    "1",
    "-2.5",
    "1e999",
    "nan",
    "-inf",
    "",
    " ",
    "True",
    "9" * 30,
    "1_0",
    "0x1",
    "٣",
    "1,5",
    "'",
    '"',
    "\0",
]
_PROGRAMS = [
    "x : real\ny = x**2",
    "x : real[n]\nu ~ Uniform(0, 1)\ny = sum(x*u)\n",
    "A : real[n, n] symmetric\nlogdet(A)",
    "a = (1 + \n 2)\n",
]
_BITS = [
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\x1b[2J",
    b"{",
    b"[",
    b'"',
    b",",
    b"PK\3\4",
    b"-",
    b"99999999",
]
_BITS += ["\u202e".encode(), "σ".encode(), b"NaN", b"1e400", b"null", b"\\ud800", b"((((", b"\x80\x80"]


def _npy(rng: random.Random) -> bytes:
    file = io.BytesIO()
    shape = rng.choice([(), (0,), (3,), (2, 2), (1, 2, 3)])
    if rng.random() < 0.5:
        values: Any = np.ones(shape, rng.choice(_DTYPES[:9]))
        np.save(file, np.asfortranarray(values) if rng.random() < 0.3 else values)
        return file.getvalue()
    said = f"{{'descr': '{rng.choice(_DTYPES)}', 'fortran_order': {rng.choice(['True', 'False', '0'])}, "
    said += f"'shape': {rng.choice(_SHAPES)}, }}\n"
    version = rng.choice([1, 1, 2, 3, 9])
    length = len(said) + rng.choice([0, 0, 0, 1, -1, 60_000])
    count = struct.pack("<H" if version == 1 else "<I", max(0, length) % 2**16)
    return b"\x93NUMPY" + bytes([version, 0]) + count + said.encode() + bytes(rng.choice([0, 8, 24, 32, 999]))


def _npz(rng: random.Random) -> bytes:
    file = io.BytesIO()
    how = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    with zipfile.ZipFile(file, "w", how) as members:
        for name in rng.sample(["x.npy", "x", "y.npy", "../x.npy", "x.npy.npy", "σ.npy"], rng.randint(0, 3)):
            members.writestr(name, _npy(rng) + bytes(rng.choice([0, 0, 10**5])))
    return file.getvalue()


def _csv(rng: random.Random) -> bytes:
    mark = rng.choice([",", ",", ",", ";", "\t", "|"])
    head = rng.choice(["x", f"x{mark}y", f"y{mark} x", f'"x"{mark}x', "", "x" * 200_000, "\ufeffx"])
    rows = [mark.join(rng.choices(_NUMBERS, k=rng.randint(0, 3))) for _ in range(rng.randint(0, 6))]
    text = rng.choice(["\n", "\r\n", "\r"]).join([head, *rows])
    return text.encode(rng.choice(["utf-8", "utf-8", "utf-16"]))


def _program(rng: random.Random) -> bytes:
    return rng.choice(_PROGRAMS).encode()


@cache
def _proof() -> bytes:
    x = sg.symbols("x")
    proof = sg.equal(sg.sqrt(x**2), sg.abs(x)).proof
    assert proof is not None
    return proof.to_json().encode()


def _json(rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return _proof()
    row = {"id": rng.choice([1, "a", None, True, [], 10**40]), "a": rng.choice(["x", 1, None]), "b": "x"}
    return b"\n".join(json.dumps(row).encode() for _ in range(rng.randint(1, 3)))


def _mutated(rng: random.Random, content: bytes) -> bytes:
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        at, to = sorted(rng.randrange(len(content) + 1) for _ in range(2))
        before, between, after = content[:at], content[at:to], content[to:]
        changed = rng.choice(
            [
                b"",
                between * rng.choice([2, 50]),
                rng.choice(_BITS) + between,
                bytes([rng.randrange(256)]) + between[1:],
                rng.randbytes(rng.choice([2, 4, 8])) + between[8:],
            ]
        )
        content = (before + changed + rng.choice([after, after, after, b""]))[:400_000]
    return content


def _numeric(found: Any) -> None:
    assert np.asarray(found).dtype.kind in "biufc", found
    assert np.asarray(found).nbytes < 10**6, "more than the file can hold"


def _array(path: Path) -> None:
    _numeric(read_array(path, "x"))


def _column(path: Path) -> None:
    found = read_column(path, "x")
    assert found.dtype.kind in "biuf"
    assert found.ndim == 1


def _values(path: Path) -> None:
    for value in read_values(
        [f"x={path}:x" if path.suffix == ".npz" else f"x={path}"], [sg.symbols("x")]
    ).values():
        _numeric(value)


def _checked(path: Path) -> None:
    assert check(read_proof_file(path)).status in {"proved", "refuted", "supported", "undecided"}


def _rows(path: Path) -> None:
    assert len({row.id for row in read_rows(path)}) <= 10**5


def _results(path: Path) -> None:
    before = path.read_bytes()
    finished_ids(path)
    # A last line that was cut off is dropped; no other is touched.
    assert before.startswith(path.read_bytes())


_READERS: list[tuple[str, Callable[[random.Random], bytes], Callable[[Path], Any]]] = [
    (".npy", _npy, _array),
    (".npy", _npy, _values),
    (".npz", _npz, _array),
    (".npz", _npz, _values),
    (".csv", _csv, _column),
    (".csv", _csv, _values),
    (".sg", _program, lambda path: read_source(str(path))),
    (".json", _json, _checked),
    (".jsonl", _json, _rows),
    (".jsonl", _json, _results),
]


@kind("hostile-files")
def hostile_files(rng: random.Random) -> None:
    """A file of one sort, changed here and there, or called by the name of another sort."""
    suffix, _, read = rng.choice(_READERS)
    make = next(m for s, m, _ in _READERS if s == suffix) if rng.random() < 0.9 else rng.choice(_READERS)[1]
    with tempfile.TemporaryDirectory(prefix="symgrad-") as folder:
        path = Path(folder) / f"f{suffix}"
        path.write_bytes(_mutated(rng, make(rng)))
        try:
            read(path)
        except SymgradError as error:
            refused(error)
        assert [p.name for p in Path(folder).iterdir()] == [path.name]
