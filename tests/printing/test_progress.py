"""Bars on a terminal and in a notebook, and functions that are called instead."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import symgrad as sg
from symgrad.printing import progress
from symgrad.printing.progress import Display, progress_text, show_usually
from symgrad.support.progress import Work, reports_progress, steps, watching


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    made = Terminal()
    # What captures output puts its own into `sys` again when the test begins.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=made, modules=sys.modules))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return made


def worked(what="differentiating", seconds=0.5):
    for _ in steps("backward", what, range(10)):
        time.sleep(seconds / 10)


def test_a_bar_moves_and_is_gone(terminal):
    with watching(Display(0.0)), reports_progress("kernel", "compiling"):
        worked()
    text = terminal.getvalue()
    assert "compiling: differentiating" in text
    assert text.count(" of 10") > 1
    assert text.endswith("\x1b[2K"), "the line is erased"
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor is back"


def test_what_takes_less_than_a_second_is_not_shown(terminal):
    assert Display()._after == 1.0
    with watching(Display(60.0)):
        worked(seconds=0.3)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    with watching(Display(0.0)):
        worked(seconds=0.3)
    monkeypatch.setattr("sys.stderr", None)  # as without a console
    with watching(Display(0.0)):
        worked(seconds=0.3)
    assert file.getvalue() == ""


def test_words_say_how_far_it_is():
    whole, part = Work("compiling"), Work("gathering numbers", 2000)
    whole._begun -= 61
    part._begun -= 10
    part.done = 500
    assert progress_text([whole, part]) == (
        "compiling: gathering numbers 500 of 2,000",
        0.25,
        "1 min 1 s, about 30 s left of this",
    )
    part.advance(lambda: "loss 0.5")
    assert progress_text([part])[0] == "gathering numbers 501 of 2,000, loss 0.5"
    assert progress_text([whole])[1:] == (None, "1 min 1 s")


class Notebook:
    """What a kernel of Jupyter has of IPython: a display handle that is updated."""

    def __init__(self):
        self.shown = []
        self.display = SimpleNamespace(display=self.first)

    def get_ipython(self):
        return SimpleNamespace(kernel=object())

    def first(self, data, *, raw, display_id):
        assert raw
        assert display_id is True
        self.shown.append(data)
        return SimpleNamespace(update=lambda data, *, raw: self.shown.append(data))


def test_in_a_notebook_one_output_is_updated_and_emptied(monkeypatch, terminal):
    notebook = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    with watching(Display(0.0)):
        worked("<b>")
    *shown, last = notebook.shown
    assert len(shown) > 2
    assert "&lt;b&gt; " in shown[-1]["text/html"]
    assert "<progress max='1' value='0." in shown[-1]["text/html"]
    assert "of 10" in shown[-1]["text/plain"]
    assert last == {"text/html": "", "text/plain": ""}
    assert terminal.getvalue() == ""


def test_a_function_is_told():
    told = []
    with sg.progress(lambda work: told.append((work.what, work.done, work.outer)), after=0.0):
        worked()
    assert {what for what, _, _ in told} == {"differentiating"}
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_function_that_fails_is_not_called_again():
    calls = []

    def broken(work):
        calls.append(work)
        raise ValueError("of the callback")

    with pytest.raises(ValueError, match="of the callback"), sg.progress(broken, after=0.0):
        worked()
    assert len(calls) == 1
    with pytest.raises(sg.errors.UsageError, match="progress cannot call 3"), sg.progress(3):  # pyright: ignore[reportArgumentType]
        pass


def test_true_draws_and_false_does_not(terminal):
    with sg.progress(after=0.0), sg.progress(False):
        worked(seconds=0.3)
    assert terminal.getvalue() == ""
    with sg.progress(after=0.0):
        worked(seconds=0.3)
    assert "differentiating" in terminal.getvalue()


@pytest.mark.parametrize(
    ("said", "command", "interactive", "wanted"),
    [
        (None, False, False, False),
        (None, True, False, True),
        (None, False, True, True),
        ("auto", True, False, True),
        ("0", True, True, False),
        ("1", False, False, True),
    ],
)
def test_when_it_is_shown(monkeypatch, said, command, interactive, wanted):
    made = []
    monkeypatch.setattr(progress, "watch_usually", made.append)
    if said is None:
        monkeypatch.delenv("SYMGRAD_PROGRESS", raising=False)
    else:
        monkeypatch.setenv("SYMGRAD_PROGRESS", said)
    if interactive:
        monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    else:  # a shell of IPython's that another test started leaves one
        monkeypatch.delattr(sys, "ps1", raising=False)
    show_usually(command=command)
    assert made == [Display if wanted else None]


_SOON = """
import symgrad.printing.progress
symgrad.printing.progress.Display.__init__.__defaults__ = (0.05,)  # no second must be spent to see it
from symgrad.apps.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals here")
@pytest.mark.parametrize("said", ["auto", "0"])
def test_at_the_command_line(tmp_path, said):
    """Standard output has the result alone, and the bar is on the terminal of standard error."""
    import pty

    lines = ["x : real", "h0 = x", *(f"h{k + 1} = sin(h{k}*x + {k})" for k in range(800))]
    program = tmp_path / "long.txt"
    program.write_text("\n".join(lines))
    ours, theirs = pty.openpty()
    env = {**os.environ, "SYMGRAD_PROGRESS": said, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        [sys.executable, "-c", _SOON, "run", str(program), "x=0.5"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=env,
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                some = os.read(ours, 4096)
            except OSError:  # Linux says so where the other end is closed
                break
            if not some:
                break
            seen += some
        out = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0
    assert b"dh800" in out
    assert b"\x1b" not in out
    assert (b"\x1b[?25l" in seen and b"compiling" in seen) == (said == "auto"), seen
