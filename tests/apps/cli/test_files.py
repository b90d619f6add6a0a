"""Files at the command line: those that are odd are read, those that are damaged end with one message and code 3."""

from __future__ import annotations

import io
import os
import stat
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices are POSIX's")


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def header(descr: str, shape: str, fortran: str = "False", version: int = 1) -> bytes:
    """The beginning of a .npy file, with a header that may say anything."""
    text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text


def archive(content: bytes, name: str = "x.npy", how: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as members:
        members.writestr(name, content)
    return file.getvalue()


def changed(content: bytes, pattern: bytes, replacement: bytes) -> bytes:
    assert pattern in content
    return content.replace(pattern, replacement)


GOOD = npy(np.array([1.0, 2, 3]))
HUGE = header("'<f8'", "(12500000000,)")
ENCRYPTED = archive(GOOD)
ENCRYPTED = changed(
    changed(ENCRYPTED, b"PK\3\4\x14\0\0", b"PK\3\4\x14\0\1"), b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1"
)

DAMAGED = {
    "empty.npy": (b"", "damaged"),
    "magic.npy": (b"\x93NUMPY garbage", "damaged"),
    "version.npy": (b"\x93NUMPY\x09\0" + GOOD[8:], "damaged"),
    "text.npy": (b"1,2,3\n", "damaged"),
    "short.npy": (GOOD[:-1], "cut short"),
    "header.npy": (GOOD[:30], "damaged"),
    "huge.npy": (HUGE, "100,000,000,000 bytes, and it holds 0"),
    "overflow.npy": (header("'<f8'", f"({2**40}, {2**40})") + bytes(64), "cut short"),
    "negative.npy": (header("'<f8'", "(-1,)") + bytes(64), "damaged"),
    "truth.npy": (header("'<f8'", "(True,)") + bytes(64), "damaged"),
    "no shape.npy": (header("'<f8'", "None") + bytes(64), "damaged"),
    "no type.npy": (header("'<q9'", "(1,)") + bytes(64), "damaged"),
    "many axes.npy": (header("'<f8'", "(1,)*70"), "damaged"),
    "axes.npy": (header("'<f8'", f"({', '.join('1' * 70)})") + bytes(8), "damaged"),
    "no bytes.npy": (header("'<f8'", f"(0, {2**63})"), "damaged"),
    "code.npy": (header("__import__('os').system('touch owned')", "(1,)") + bytes(8), "damaged"),
    "long.npy": (header("'<f8'", "(1,)" + " " * 20_000, version=2) + bytes(8), "damaged"),
    "longer.npy": (b"\x93NUMPY\2\0" + struct.pack("<I", 2**32 - 1) + b"{" * 100, "damaged"),
    "deep.npy": (header("'<f8'", "(" * 5_000), "damaged"),
    "empty.npz": (b"", "damaged"),
    "text.npz": (b"PK\3\4 and more", "damaged"),
    "cut.npz": (archive(GOOD)[:-30], "damaged"),
    "encrypted.npz": (ENCRYPTED, "is encrypted"),
    "checksum.npz": (changed(archive(GOOD), GOOD[-8:], bytes(8)), "damaged"),
    "bomb.npz": (
        archive(HUGE + bytes(10**6), how=zipfile.ZIP_DEFLATED),
        "100,000,000,000 bytes, and it holds",
    ),
    "bzip2.npz": (archive(GOOD, how=zipfile.ZIP_BZIP2), "NumPy does not use"),
    "inner.npz": (archive(GOOD[:-1]), "cut short"),
    "latin.csv": ("x\n1\n# \xe9\n".encode("latin-1"), "not text in UTF-8"),
    "utf16.csv": ("x\n1\n".encode("utf-16"), "not text in UTF-8"),
    "quote.csv": (b'x\n1\n"2\n' + b"3\n" * 100_000, "field larger than field limit"),
    "field.csv": (b"x\n" + b"1" * 200_000, "field larger than field limit"),
    "line.csv": (b"0" * (2**24 + 10), "line of more than"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_told_so_before_memory_is_taken(call, tmp_path, name):
    content, text = DAMAGED[name]
    (tmp_path / name).write_bytes(content)
    tracemalloc.start()
    result = call("run", "x**2", f"x={name}:x" if name.endswith("npz") else f"x={name}")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (result.exit_code, result.stdout) == (3, ""), result.output
    assert text in result.stderr
    assert name in result.stderr
    assert "Traceback" not in result.stderr
    assert most < 50 << 20
    assert [p.name for p in tmp_path.iterdir()] == [name]


NOT_NUMBERS = {
    "o.npy": (npy(np.array([object])), "no numeric array, but one of dtype object"),
    "s.npy": (npy(np.array(["a"])), "no numeric array"),
    "d.npy": (npy(np.array(["2000-01-01"], "M8[D]")), "no numeric array"),
    "r.npy": (npy(np.zeros(2, [("a", "f8")])), "no numeric array"),
    "v.npy": (header("'|V0'", "(100000000000,)"), "no numeric array"),
    "c.npy": (npy(np.array([1j])), "input 'x' is complex"),
    "word.csv": (b"x\n1\nabc\n", "line 3: column 'x' holds 'abc'"),
    "short.csv": (b"y,x\n1,2\n3\n", "line 3: column 'x' holds 'nothing'"),
    "none.csv": (b"x\n\n \n", "line 3: column 'x' holds ''"),
    "digits.csv": ("x\n\u0663\n".encode(), "holds '\u0663'"),
    "large.csv": (b"x\n1e999\n", "'1e999' is too large"),
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_what_are_no_numbers_is_told_so(call, tmp_path, name):
    content, text = NOT_NUMBERS[name]
    (tmp_path / name).write_bytes(content)
    result = call("run", "x**2", f"x={name}:x" if name.endswith("csv") else f"x={name}")
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert text in result.stderr


ODD = {
    "fortran.npy": npy(np.asfortranarray([[1.0, 2], [3, 4]])),
    "big.npy": npy(np.array([[1, 2], [3, 4]], ">f8")),
    "whole.npy": npy(np.array([[1, 2], [3, 4]], ">i2")),
    "half.npy": npy(np.array([[1, 2], [3, 4]], "f2")),
    "long.npy": npy(np.array([[1, 2], [3, 4]], np.longdouble)),
    "later.npy": npy(np.array([[1.0, 2], [3, 4]])) + b"and more",
    "second.npy": header("'<f8'", "(2, 2)", version=2) + np.array([1.0, 2, 3, 4]).tobytes(),
    "deflated.npz": archive(npy(np.array([[1.0, 2], [3, 4]])), "X.npy", zipfile.ZIP_DEFLATED),
    "plain.npz": archive(npy(np.asfortranarray(np.array([[1, 2], [3, 4]], ">f4"))), "X"),
}


@pytest.mark.parametrize("name", ODD)
def test_files_in_other_orders_and_versions_are_read(call, tmp_path, name):
    (tmp_path / name).write_bytes(ODD[name])
    result = call("run", "X : real[n, m]\ny = 2*X", f"X={name}", "--no-gradient", "-o", "out.npy")
    assert result.exit_code == 0, result.output
    assert np.load(tmp_path / "out.npy").tolist() == [[2, 4], [6, 8]]
    result = call(
        "run", "X : int[n, m]\nx : real[5]\ny = sum(x[X])", f"X={name}", "x=1,2,3,4,5", "--wrt", "x"
    )
    assert "y = 14.0" in result.stdout, result.output


def test_a_large_array_is_read_in_pieces(call, tmp_path):
    values = np.random.default_rng(0).normal(size=5 << 20)
    np.savez_compressed(tmp_path / "x.npz", x=values)
    assert call("run", "x : real[n]\nsum(x)", "x=x.npz", "--no-gradient", "-o", "y.npy").exit_code == 0
    assert abs(np.load(tmp_path / "y.npy") - values.sum()) < 1e-6


def test_truth_values_are_zeros_and_ones_whatever_the_file_has(call, tmp_path):
    (tmp_path / "b.npy").write_bytes(header("'|b1'", "(4,)") + bytes([0, 1, 2, 255]))
    result = call(
        "run", "b : bool[n]\nx : real[n]\nsum(where(b, x, 0))", "b=b.npy", "x=1,2,4,8", "--no-gradient"
    )
    assert result.stdout == "value = 14.0\n"


def test_tables(call, tmp_path):
    (tmp_path / "t.csv").write_bytes(
        b'\xef\xbb\xbfx, "y" ,b,id\r\n1, 2,True,9007199254740993\r\n\r\n-.5e1,inf,False,2\r\n'
    )
    lines = call("run", "x + y", "x=t.csv", "y=t.csv:y", "--no-gradient").stdout.splitlines()
    assert [line.split() for line in lines[1:]] == [["1.0", "2.0", "3.0"], ["-5.0", "inf", "inf"]]
    picked = call("run", "b : bool\nx : real\nwhere(b, x, 0)", "b=t.csv", "x=t.csv", "--no-gradient").stdout
    assert [line.split()[-1] for line in picked.splitlines()[1:]] == ["1.0", "0.0"]
    found = call("run", "id : int[n]\nx : real[3]\nsum(x[id])", "id=t.csv", "x=1,2,3", "--wrt", "x")
    assert "input 'id' is 9007199254740993 at [0]" in found.stderr
    (tmp_path / "twice.csv").write_text("x,x\n1,2\n")
    result = call("run", "x**2", "x=twice.csv")
    assert (result.exit_code, "two columns 'x'" in result.stderr) == (2, True)
    (tmp_path / "wide.csv").write_text(",".join(f"c{k}" for k in range(10_000)) + "\n")
    assert len(call("run", "x**2", "x=wide.csv").stderr) < 1000
    (tmp_path / "long.csv").write_text("c" * 100_000 + "\n")
    assert len(call("run", "x**2", "x=long.csv").stderr) < 1000
    (tmp_path / "empty.csv").write_text("")
    assert "no column 'x'" in call("run", "x**2", "x=empty.csv").stderr
    (tmp_path / "none.csv").write_text("x\n")
    assert call("run", "x : real[n]\nsum(x)", "x=none.csv", "--no-gradient").stdout == "value = 0.0\n"


PROGRAMS = {
    "latin.sg": ("x : real # \xe9\nx**2".encode("latin-1"), 3, "'latin.sg' is not text in UTF-8 (byte 12)"),
    "utf16.sg": ("x**2".encode("utf-16"), 3, "not text in UTF-8"),
    "picture.sg": (b"\x89PNG\r\n\x1a\n", 3, "not text in UTF-8"),
    "nul.sg": (b"x**2\0", 1, "a control character, U+0000"),
    "escape.sg": (b"x**2 \x1b[31m + y", 1, "a control character, U+001B"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_are_none(call, tmp_path, name):
    content, code, text = PROGRAMS[name]
    (tmp_path / name).write_bytes(content)
    result = call("derive", name)
    assert result.exit_code == code, result.output
    assert text in result.stderr
    assert "\x1b" not in result.stderr
    result = call("derive", "-", stdin=content)
    assert result.exit_code == code, result.output
    assert text.replace("'latin.sg'", "standard input") in result.stderr


def test_programs_of_other_systems(call, tmp_path):
    (tmp_path / "windows.sg").write_bytes(b"\xef\xbb\xbfx : real\r\ny = x**2 + \\\r\n x\r\n")
    (tmp_path / "mac.sg").write_bytes(b"x : real\ry = x**2 + x\r")
    for name in ("windows.sg", "mac.sg"):
        assert call("derive", name).stdout == "dy/dx = 2*x + 1\n"
        assert call("derive", "-", stdin=(tmp_path / name).read_bytes()).stdout == "dy/dx = 2*x + 1\n"


@needs_posix
def test_what_has_no_end_is_not_read_for_ever(call, tmp_path):
    for source in ("/dev/zero", "zero.sg"):
        if source == "zero.sg":
            (tmp_path / source).symlink_to("/dev/zero")
        result = call("derive", source)
        assert (result.exit_code, "is too long" in result.stderr) == (3, True), result.output
    for name, text in (
        ("z.csv", "line of more than"),
        ("z.npy", "no file but a pipe"),
        ("z.npz", "no file but a pipe"),
    ):
        (tmp_path / name).symlink_to("/dev/zero")
        result = call("run", "x**2", f"x={name}")
        assert (result.exit_code, text in result.stderr) == (3, True), result.output
    result = call("check", "/dev/zero")
    assert (result.exit_code, "more than 32 MiB" in result.stderr) == (2, True), result.output


@needs_posix
def test_pipes_that_have_names(call, tmp_path):
    for name, content in (("p", "x**2"), ("t.csv", "x\n3\n")):
        pipe = tmp_path / name
        os.mkfifo(pipe)
        args = ["derive", str(pipe)] if name == "p" else ["run", "x**2", f"x={pipe}", "--no-gradient"]
        with subprocess.Popen(
            [sys.executable, "-m", "symgrad", *args], stdout=subprocess.PIPE, text=True
        ) as process:
            pipe.write_text(content)
            found = process.communicate(timeout=60)[0]
            assert found.split()[-1] == ("2*x" if name == "p" else "9.0")
    os.mkfifo(tmp_path / "q.npy")
    result = call("run", "x**2", "x=q.npy")
    assert (result.exit_code, "no file but a pipe" in result.stderr) == (3, True)


def test_folders_are_no_files(call, tmp_path):
    for name in ("d.sg", "d.npy", "d.npz", "d.csv"):
        (tmp_path / name).mkdir()
        result = call(*(("derive", name) if name == "d.sg" else ("run", "x**2", f"x={name}")))
        assert (result.exit_code, name in result.stderr) == (3, True), result.output
        assert "Traceback" not in result.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_or_written(call, tmp_path):
    for name in ("p.sg", "a.npy", "t.csv"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0)
        result = call(*(("derive", name) if name == "p.sg" else ("run", "x**2", f"x={name}")))
        assert (result.exit_code, "Permission denied" in result.stderr) == (3, True), result.output
    (tmp_path / "out.txt").write_text("old")
    (tmp_path / "out.txt").chmod(0o444)
    assert call("derive", "x**2", "-o", "out.txt").exit_code == 3
    assert (tmp_path / "out.txt").read_text() == "old"


OUTPUTS = {
    "text": (("derive", "x**2"), ".txt"),
    "picture": (("explain", "x**2", "--format", "html"), ".html"),
    "npy": (("run", "x**2", "x=3", "--no-gradient"), ".npy"),
    "npz": (("run", "x**2", "x=3"), ".npz"),
    "csv": (("run", "x**2", "x=3"), ".csv"),
    "object": (("compile", "x**2"), ".o"),
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_results_go_where_they_can_and_nowhere_else(call, tmp_path, kind):
    args, suffix = OUTPUTS[kind]
    beside = [f"k{suffix}", *(["k.h"] if kind == "object" else [])]
    (tmp_path / "file").write_text("mine")
    (tmp_path / f"folder{suffix}").mkdir()
    for target in (f"folder{suffix}", f"file/k{suffix}", f"file/deeper/k{suffix}", "x" * 300 + suffix):
        result = call(*args, "-o", target)
        assert (result.exit_code, "Traceback" in result.output) == (3, False), result.output
        assert target.split("/")[0][:200] in result.stderr
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.rglob("*")) == sorted(["file", f"folder{suffix}"])
    assert call(*args, "-o", f"new/er/k{suffix}").exit_code == 0
    assert sorted(p.name for p in (tmp_path / "new/er").iterdir()) == sorted(beside)


@needs_posix
@pytest.mark.parametrize("kind", OUTPUTS)
def test_devices_stay_devices(call, tmp_path, kind):
    args, suffix = OUTPUTS[kind]
    for device, code in (("/dev/null", 0), ("/dev/full", 3)):
        link = tmp_path / f"{Path(device).name}{suffix}"
        link.symlink_to(device)
        result = call(*args, "-o", str(link))
        assert result.exit_code == code, result.output
        assert stat.S_ISCHR(Path(device).stat().st_mode)
        assert link.is_symlink()
    assert "No space left" in result.stderr


@needs_posix
def test_what_is_overwritten_keeps_its_permissions(call, tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o600)
    assert call("derive", "x**2", "-o", "real.txt").exit_code == 0
    assert (tmp_path / "real.txt").read_text() == "d/dx = 2*x\n"
    assert stat.S_IMODE((tmp_path / "real.txt").stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["real.txt"]


@needs_posix
@pytest.mark.parametrize("kind", OUTPUTS)
def test_no_result_goes_through_a_link(call, tmp_path, kind):
    args, suffix = OUTPUTS[kind]
    (tmp_path / "real").write_text("mine")
    link = tmp_path / f"link{suffix}"
    link.symlink_to("real")
    result = call(*args, "-o", link.name)
    assert (result.exit_code, f"{link.name} is a link to" in result.stderr) == (3, True), result.output
    assert (link.is_symlink(), (tmp_path / "real").read_text()) == (True, "mine")
    assert sorted(p.name for p in tmp_path.iterdir()) == [link.name, "real"]


def test_a_header_of_others_stays(call, tmp_path):
    (tmp_path / "k.h").write_text("mine")
    result = call("compile", "x**2", "-o", "k.c")
    assert (result.exit_code, "k.h is in the way" in result.stderr) == (3, True), result.output
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("k.h", "mine")]


def test_batches(call, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "a": "x", "b": "x"}\n')
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}\n')
    for rows, output, text in (
        ("latin.jsonl", "out.jsonl", "not text in UTF-8"),
        ("none.jsonl", "out.jsonl", "cannot read none.jsonl"),
        ("rows.jsonl", "rows.jsonl/out.jsonl", "cannot make the folder"),
    ):
        result = call("verify", "--batch", rows, "-o", output)
        assert (result.exit_code, text in result.stderr) == (3, True), result.output
    if Path("/dev/full").exists():
        result = call("verify", "--batch", "rows.jsonl", "-o", "/dev/full", "--jobs", "1")
        assert (result.exit_code, "cannot write /dev/full" in result.stderr) == (3, True), result.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["latin.jsonl", "rows.jsonl"]
