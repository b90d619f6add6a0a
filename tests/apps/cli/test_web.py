"""`symgrad serve` on the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.processes import printed

ROOT = Path(__file__).parents[3]

WITHOUT = """
import sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "uvicorn":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
sys.meta_path.insert(0, Nowhere())
from click.testing import CliRunner
from symgrad.apps.cli import main
found = CliRunner().invoke(main, ["serve"])
print(found.exit_code, found.stderr)
"""


def test_what_is_missing_is_said() -> None:
    said = printed(WITHOUT)
    assert said.startswith("2 symgrad: the page needs ")
    assert "symgrad[web]" in said


def test_a_port_that_is_taken_is_said() -> None:
    pytest.importorskip("starlette")
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "symgrad", "serve", "--no-browser", "--port", str(port)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert "cannot listen at 127.0.0.1" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C goes to all processes of a console")
def test_the_page_is_served_until_it_is_interrupted() -> None:
    pytest.importorskip("starlette")
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "symgrad",
            "serve",
            "--no-browser",
            "--port",
            "0",
            "--host",
            "0.0.0.0",
            "--jobs",
            "1",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "may be reached from other machines" in process.stderr.readline()
        address = process.stdout.readline().split()[0]
        port = address.rstrip("/").rpartition(":")[2]
        # It is said before the page is there: who asks meanwhile waits, and is answered.
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/style.css", timeout=60) as found:
            assert found.status == 200
        process.send_signal(signal.SIGINT)
        process.wait(30)
        assert process.returncode in (0, 130)
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            stream.close()
