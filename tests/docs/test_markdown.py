"""The runner of the documentation itself: a wrong page must fail."""

from __future__ import annotations

import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from tests.docs.markdown import SnippetError, blocks, run_page


def page(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "page.md"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def test_blocks_have_language_options_and_line() -> None:
    first, second = blocks("a\n```text file=a.sg\nx : real\n```\n\n- b\n  ~~~~python\n  f(\n    1)\n  ~~~~\n")
    assert (first.language, first.options, first.text, first.line) == (
        "text",
        {"file": "a.sg"},
        "x : real\n",
        3,
    )
    assert (second.language, second.text, second.line) == ("python", "f(\n  1)\n", 8)


def test_a_page_is_one_session(tmp_path: Path) -> None:
    text = """
        ```python
        a = 1
        ```
        ```python
        >>> b = a + 1
        >>> b
        2
        ```
        ```text file=a.txt
        here
        ```
        ```python
        from pathlib import Path
        assert b == 2 and Path("a.txt").read_text() == "here\\n"
        ```
    """
    assert run_page(page(tmp_path, text), tmp_path) == 3


@pytest.mark.parametrize(
    "block",
    [
        "```python\nassert 1 == 2\n```",
        "```python\n>>> 1 + 1\n3\n```",
        "```python\n>>> 1 +\n```",
        "```python\n1 +\n```",
        "```python\n1",
        "```python skip\n1\n```",
        "```sh\n$ symgrad --no-such-option\n```",
        "```sh\n$ symgrad --version | cat\n```",
    ],
)
def test_a_wrong_snippet_fails(tmp_path: Path, block: str) -> None:
    with pytest.raises((AssertionError, SyntaxError)):
        run_page(page(tmp_path, f"# A page\n\n{block}\n"), tmp_path)


def test_a_failure_points_at_the_page(tmp_path: Path) -> None:
    path = page(tmp_path, "one\n\n```python\nx = 1\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run_page(path, tmp_path)
    assert (str(caught.traceback[-1].path), caught.traceback[-1].lineno + 1) == (str(path), 5)
    path = page(tmp_path, "one\n\n```python\n>>> x = 1\n>>> x\n2\n```\n")
    with pytest.raises(SnippetError, match=r"page\.md.*, line 5"):
        run_page(path, tmp_path)


def test_shown_output_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.markdown.run_cli", lambda words: (0, f"took 3 ms\n{words[-1]}\n"))
    assert (
        run_page(
            page(tmp_path, "```sh\n$ symgrad run \\\n    'a b'\ntook ... ms\na b\n\n$ make demo\n```\n"),
            tmp_path,
        )
        == 1
    )
    with pytest.raises(SnippetError, match="line 2"):
        run_page(page(tmp_path, "```sh\n$ symgrad run 'a b'\ntook 3 ms\na c\n```\n"), tmp_path)


@pytest.mark.skipif(
    shutil.which("cc") is None or sys.platform == "win32", reason="no C compiler on this machine"
)
def test_c_is_compiled_and_run(tmp_path: Path) -> None:
    text = """
        ```c file=main.c
        #include <stdio.h>
        int main(void) { printf("%d\\n", 6*7); return 3; }
        ```
        ```sh
        $ cc main.c -o main
        ```
        ```sh exit=3
        $ ./main
        ANSWER
        ```
    """
    assert run_page(page(tmp_path, text.replace("ANSWER", "42")), tmp_path) == 2
    with pytest.raises(SnippetError, match="line 10"):
        run_page(page(tmp_path, text.replace("ANSWER", "43")), tmp_path)
    with pytest.raises(SnippetError, match="exit status 1"):
        run_page(page(tmp_path, text.replace("return 3;", "return 3")), tmp_path)


def test_exit_status_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.markdown.run_cli", lambda words: (1, "no\n"))
    assert run_page(page(tmp_path, "```sh exit=1\n$ symgrad run\nno\n```\n"), tmp_path) == 1
    with pytest.raises(SnippetError, match="exit status 1"):
        run_page(page(tmp_path, "```sh\n$ symgrad run\nno\n```\n"), tmp_path)
