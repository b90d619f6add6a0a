"""The bar that is shown while a large graph is compiled."""

from __future__ import annotations

import io
import threading
import time
from types import SimpleNamespace

import pytest

from symgrad.kernel import progress
from symgrad.kernel.progress import bar, counter, waiting


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    made = Terminal()
    monkeypatch.setattr("symgrad.kernel.progress.sys", SimpleNamespace(stderr=made))
    monkeypatch.setenv("TERM", "xterm")
    return made


def test_it_moves_while_the_body_runs(terminal):
    before = set(threading.enumerate())
    with bar("compiling 9,000 equations", 2.0):
        time.sleep(0.5)
        begun = set(threading.enumerate()) - before
        assert begun
        assert all(thread.daemon for thread in begun), "none keeps a process that ends"
    text = terminal.getvalue()
    assert "compiling 9,000 equations" in text
    assert "of about 2 s" in text
    assert text.count("compiling") > 1


def test_nothing_is_shown_for_little_work(terminal):
    with bar("compiling 90 equations", 0.02):
        pass
    assert terminal.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr("symgrad.kernel.progress.sys", SimpleNamespace(stderr=file))
    with bar("compiling 9,000 equations", 2.0):
        pass
    assert file.getvalue() == ""


def test_what_takes_a_while_says_so(terminal, monkeypatch):
    monkeypatch.setattr("symgrad.kernel.progress._PATIENCE_S", 0.05)
    with waiting("deriving"):
        time.sleep(0.5)
    assert "deriving" in terminal.getvalue()
    assert not [t for t in threading.enumerate() if t.name == "symgrad progress"]


def test_what_takes_no_time_says_nothing(terminal, monkeypatch):
    with waiting("deriving"):
        pass
    with pytest.raises(ValueError, match="inside"), waiting("deriving"):
        raise ValueError("inside")
    monkeypatch.setattr("symgrad.kernel.progress.sys", SimpleNamespace(stderr=io.StringIO()))
    monkeypatch.setattr("symgrad.kernel.progress._PATIENCE_S", 0.0)
    with waiting("deriving"):
        time.sleep(0.1)
    assert terminal.getvalue() == ""


def test_errors_pass_through(terminal):
    with pytest.raises(ValueError, match="inside"), bar("compiling", 2.0):
        raise ValueError("inside")


@pytest.mark.parametrize("step", ["rich.progress.Progress.start", "threading.Thread.start"])
def test_an_interrupt_while_it_begins_leaves_nothing(terminal, monkeypatch, step):
    """Ctrl-C arrives as a call returns, having done its work."""
    import rich.progress

    owner = rich.progress.Progress if "Progress" in step else threading.Thread
    original = owner.start
    before = set(threading.enumerate())

    def interrupted(self):
        original(self)
        if owner is rich.progress.Progress or self.name == "symgrad progress":
            raise KeyboardInterrupt

    monkeypatch.setattr(owner, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), bar("compiling", 2.0):
        raise AssertionError("the body does not run")
    for thread in set(threading.enumerate()) - before:
        thread.join(2)
    assert set(threading.enumerate()) <= before
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l"), (
        "the cursor is back"
    )


def test_steps_are_counted_with_a_note(terminal, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    with counter("training", 30) as show:
        show(7, lambda: "loss 0.5")
        time.sleep(0.2)
    assert "training" in terminal.getvalue()
    assert "7/30" in terminal.getvalue()
    assert "loss 0.5" in terminal.getvalue()


def test_few_steps_are_not_counted(terminal):
    with counter("training", 30) as show:
        for k in range(30):
            show(k, lambda: "")
    assert "training" not in terminal.getvalue()


def test_nothing_is_counted_where_nobody_looks(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr("symgrad.kernel.progress.sys", SimpleNamespace(stderr=file))
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    with counter("training", 30) as show:
        show(7, lambda: "")
    assert file.getvalue() == ""
