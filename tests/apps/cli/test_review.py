"""`symgrad review`: documents in, marks on their lines and the exit code of the worst step out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from symgrad.apps.cli import main

RIGHT = "f = x**2\ndf/dx = 2*x\n"


def call(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["review", *args], input=stdin)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (RIGHT, 0),
        (f"{RIGHT}f = x", 5),
        (f"{RIGHT}f = 2 +* 3", 7),
        ("f = x**2", 7),
        (f"{RIGHT}f = 2 +* 3\nf = x", 5),
        ("words", 1),
    ],
)
def test_the_exit_code_is_that_of_the_worst_step(text: str, code: int) -> None:
    assert call("-", stdin=text).exit_code == code


def test_forms(tmp_path: Path) -> None:
    path = tmp_path / "derivation.txt"
    path.write_text(RIGHT, encoding="utf-8")
    assert "proved  2 | df/dx = 2*x" in call(str(path)).output
    assert json.loads(call(str(path), "--format", "json").output)["status"] == "proved"
    page = tmp_path / "page.html"
    assert call(str(path), "--format", "html", "-o", str(page)).exit_code == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_a_document_is_can_be_said() -> None:
    text = "Let $f = x^2$, so `df/dx = 2*x`."
    assert call("-", "--as", "markdown", stdin=text).exit_code == 0
    assert call("-", "--as", "latex", stdin=text).exit_code == 7  # the quotes are none of LaTeX's


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "latin.md"
    path.write_bytes("Für `f = x`".encode("latin-1"))
    found = call(str(path))
    assert found.exit_code == 3
    assert "is not text in UTF-8 (byte 2)" in found.stderr
    assert "try: save it as UTF-8" in found.stderr
    assert call(str(tmp_path)).exit_code == 3
    assert call(str(tmp_path / "none.md")).exit_code == 3


def test_how_what_is_ambiguous_is_read_can_be_said() -> None:
    text = r"$y = 1/a x$ and $\frac{dy}{dx} = -\frac{1}{a x^2}$"
    assert call("-", "--read", "slash=left", stdin=text).exit_code == 5
    assert call("-", "--read", "slash=product", stdin=text).exit_code == 0
    for wrong in ("slash", "slash=down", "slsh=product"):
        found = call("-", "--read", wrong, stdin=text)
        assert found.exit_code == 2
        assert "expected: " in found.stderr
