"""What meets a terminal, a pipe or an impatient person: exit codes of other programs, and no traceback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symgrad.apps.cli import main
from tests.waiting import until

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, pipes and terminals of POSIX")
SYMGRAD = [sys.executable, "-m", "symgrad"]
# What a shell starts in the background does not hear Ctrl-C, nor do its children: tests may be such.
_HEAR = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
HEARING = [sys.executable, "-c", _HEAR, *SYMGRAD]


def start(
    *args: str, program: list[str] = SYMGRAD, env: dict[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "PYTHONIOENCODING")}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    process: Any = subprocess.Popen([*program, *args], env={**plain, **(env or {})}, **options)
    return process


def finished(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out or b"", err or b""


@needs_posix
@pytest.mark.parametrize("args", [("demo",), ("run", "x**2", "x=1,2,3")])
def test_nobody_reads(args, tmp_path):
    process = start(*args, cwd=tmp_path)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    assert finished(process) == (141, b"", b"")


@needs_posix
def test_somebody_reads_the_first_line(tmp_path):
    process = start("demo", cwd=tmp_path)
    assert process.stdout is not None
    assert b"The program" in process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    assert finished(process) == (141, b"", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("args", [("derive", "x**2"), ("demo",)])
def test_there_is_no_room_for_the_output(args, tmp_path):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        code, _, err = finished(start(*args, stdout=full, cwd=tmp_path))
    assert (code, err) == (3, b"symgrad: standard output: No space left on device\n")


@needs_posix
def test_ctrl_c_ends_with_one_line_and_130(tmp_path):
    process = start("derive", "-", program=HEARING, stdin=subprocess.PIPE, cwd=tmp_path)
    # It reads its input once the modules are there, and goes on when the pipe is closed.
    waits_for = Path(f"/proc/{process.pid}/wchan")
    if waits_for.exists():
        until(lambda: b"pipe" in waits_for.read_bytes())
    process.send_signal(signal.SIGINT)
    assert finished(process) == (130, b"", b"symgrad: interrupted\n")


def test_ctrl_c_in_a_command(monkeypatch):
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("symgrad.apps.cli.report.derive_report", interrupted)
    result = CliRunner().invoke(main, ["derive", "x**2"])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "symgrad: interrupted\n")


def test_too_little_memory_is_no_fault(monkeypatch):
    def exhausted(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("symgrad.apps.cli.report.derive_report", exhausted)
    result = CliRunner().invoke(main, ["derive", "x**2"])
    assert (result.exit_code, result.stderr) == (1, "symgrad: there is not enough memory for this\n")


def test_a_fault_says_that_it_is_one(monkeypatch):
    monkeypatch.setattr("symgrad.apps.cli.report.derive_report", lambda *_, **__: 1 / 0)
    result = CliRunner().invoke(main, ["derive", "x**2"])
    assert result.exit_code == 4
    assert "ZeroDivisionError" in result.stderr
    assert result.stderr.endswith("symgrad: this is a fault in symgrad; please report it with the program\n")


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [("cp1252", b"d/d\\u03c3 = 2*\\u03c3"), ("cp437", b"d/d\xe5 = 2*\xe5")],
)
def test_what_the_terminal_cannot_show_is_written_out(encoding, printed, tmp_path):
    (tmp_path / "p.sg").write_text("\u03c3 : real\n\u03c3**2\n", encoding="utf-8")
    code, out, err = finished(start("derive", "p.sg", env={"PYTHONIOENCODING": encoding}, cwd=tmp_path))
    assert (code, out.strip(), err) == (0, printed, b"")
    code, _, err = finished(
        start("derive", "p.sg", "--of", "\u03c4", env={"PYTHONIOENCODING": encoding}, cwd=tmp_path)
    )
    assert code == 1
    assert b"the program has no" in err
    assert b"Traceback" not in err


@needs_posix
@pytest.mark.parametrize(
    "encoding", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]
)
def test_a_locale_without_letters(encoding, tmp_path):
    code, out, err = finished(start("derive", "\u03c3**2 + x", env=encoding, cwd=tmp_path))
    assert (code, err) == (0, b"")
    assert out.decode() in ("d/d\u03c3 = 2*\u03c3\nd/dx = 1\n", "d/d\\u03c3 = 2*\\u03c3\nd/dx = 1\n")


@needs_posix
@pytest.mark.parametrize(
    ("env", "colours"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(env, colours, tmp_path):
    import pty

    ours, theirs = pty.openpty()
    process = start("demo", env=env, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path)
    os.close(theirs)
    printed = b""
    try:
        while piece := os.read(ours, 65536):
            printed += piece
    except OSError:  # what Linux says of a terminal whose other end is closed
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    assert b"the same bits everywhere" in printed
    # how far it is may be drawn where it takes long: that moves the cursor, and is no colour
    assert bool(re.search(rb"\x1b\[[\d;]*m", printed)) is colours
    assert env["TERM"] != "dumb" or b"\x1b" not in printed


def test_a_pipe_is_no_terminal(tmp_path):
    code, out, _ = finished(start("demo", env={"TERM": "xterm"}, cwd=tmp_path))
    assert code == 0
    assert b"\x1b" not in out
