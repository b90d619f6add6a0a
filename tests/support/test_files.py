"""Saving replaces the file that the caller named, and no other."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import symgrad as sg
from symgrad.errors import FileError
from symgrad.support.files import AppendedFile, write_atomically, write_together

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")

NEW = b"/* ours */\nnew\n"


def content(folder: Path) -> dict[str, str]:
    """What is in a folder: texts of files, and where links lead."""
    return {
        p.name: f"-> {p.readlink()}" if p.is_symlink() else p.read_text(errors="replace")
        for p in folder.iterdir()
    }


@pytest.fixture(scope="module")
def answers() -> dict[str, Callable[[Path], Any]]:
    """What saves something under a path, by the ending that it takes."""
    x = sg.symbols("x")
    kernel = sg.compile(x**2, name="square")
    proof = sg.equivalent(x + x, 2 * x).proof
    assert proof is not None
    report = sg.explain(x**2).report()
    kernels = (".c", ".o", ".s", ".ll", ".bc", ".py", ".ptx", ".wasm")
    return {
        **dict.fromkeys(kernels, kernel.save),
        **dict.fromkeys((".txt", ".md", ".tex", ".html", ".json"), report.save),
        ".proof": proof.save,
        ".svg": (x**2).graph().save,
    }


ENDINGS = (
    ".c .o .s .ll .bc .py .ptx .wasm .txt .md .tex .html .json .proof .svg".split()  # noqa: SIM905 (a line of words)
)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_named_file_is_replaced(answers: dict[str, Any], tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"k{ending}"
    path.write_text("mine")
    path.chmod(0o640)
    answers[ending](path)
    first = content(tmp_path)
    assert first[path.name] != "mine"
    assert sys.platform == "win32" or stat.S_IMODE(path.stat().st_mode) == 0o640
    answers[ending](path)  # what symgrad wrote beside it is replaced, too
    assert content(tmp_path).keys() == first.keys()


@needs_links
@pytest.mark.parametrize("target", ["theirs", "nothing", "k"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_link_is_refused(answers: dict[str, Any], tmp_path: Path, ending: str, target: str) -> None:
    (tmp_path / "theirs").write_text("theirs")
    path = tmp_path / f"k{ending}"
    path.symlink_to(path.name if target == "k" else target)  # to a file, to none, in a circle
    before = content(tmp_path)
    with pytest.raises(FileError) as error:
        answers[ending](path)
    assert path.name in str(error.value)
    assert target == "k" or (error.value.cure or "").endswith(str(Path(os.path.realpath(path))))
    assert content(tmp_path) == before


@needs_links
def test_a_folder_may_be_a_link(answers: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    answers[".c"](tmp_path / "link" / "k.c")
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == ["k.c", "k.h"]
    assert (tmp_path / "link").is_symlink()


@needs_links
def test_another_name_of_a_file_keeps_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "k").hardlink_to(tmp_path / "theirs")
    write_atomically(tmp_path / "k", b"new")
    assert content(tmp_path) == {"theirs": "theirs", "k": "new"}


@needs_links
def test_lines_are_not_appended_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs\n")
    (tmp_path / "rows").symlink_to("theirs")
    with pytest.raises(FileError):
        AppendedFile(tmp_path / "rows")
    assert (tmp_path / "theirs").read_text() == "theirs\n"


def make(path: Path, what: str) -> None:
    """Put something where a header would be."""
    match what:
        case "folder":
            path.mkdir()
        case "link":
            (path.parent / "theirs").write_bytes(NEW)
            path.symlink_to("theirs")
        case "loose link":
            path.symlink_to("nothing")
        case "pipe":
            os.mkfifo(path)
        case text:
            path.write_text(text)


# The text of a file, or what else is there.
OTHERS = ["#define MINE 1\n", "", "/* ours", "\n/* ours */\n", "/* ours */ more\n", "folder"]
POSIX = ["link", "loose link", "pipe"]


@pytest.mark.parametrize("what", [*OTHERS, *(pytest.param(w, marks=needs_links) for w in POSIX)])
def test_what_was_not_named_is_not_replaced(tmp_path: Path, what: str) -> None:
    named, other = tmp_path / "k.c", tmp_path / "k.h"
    named.write_text("old")
    make(other, what)
    before = {p.name: p.lstat() for p in tmp_path.iterdir()}
    with pytest.raises(FileError) as error:
        write_together([(named, b"new")], [(other, NEW)])
    assert str(other) in str(error.value)
    assert error.value.cure is not None
    assert {p.name: p.lstat() for p in tmp_path.iterdir()} == before
    assert named.read_text() == "old"


@pytest.mark.parametrize("there", [None, b"/* ours */\nold\n", b"/* ours */\r\nold\r\n"])
def test_what_begins_alike_is_replaced(tmp_path: Path, there: bytes | None) -> None:
    named, other = tmp_path / "k.c", tmp_path / "k.h"
    if there is not None:
        other.write_bytes(there)
    write_together([(named, b"new")], [(other, NEW)])
    assert (named.read_bytes(), other.read_bytes()) == (b"new", NEW)


@pytest.mark.parametrize("ending", [".c", ".o", ".wasm"])
def test_a_header_of_others_stays(answers: dict[str, Any], tmp_path: Path, ending: str) -> None:
    header = tmp_path / "k.h"
    header.write_text("#define MINE 1\n")
    with pytest.raises(FileError, match=r"k\.h is in the way") as error:
        answers[ending](tmp_path / f"k{ending}")
    assert f"k{ending}" in (error.value.cure or "")
    assert content(tmp_path) == {"k.h": "#define MINE 1\n"}


def test_a_header_of_another_kernel_is_replaced(answers: dict[str, Any], tmp_path: Path) -> None:
    answers[".c"](tmp_path / "k.c")
    before = (tmp_path / "k.h").read_text()
    answers[".o"](tmp_path / "k.o")
    after = (tmp_path / "k.h").read_text()
    assert before != after
    assert before.splitlines()[0] == after.splitlines()[0]
    assert content(tmp_path).keys() == {"k.c", "k.o", "k.h"}
