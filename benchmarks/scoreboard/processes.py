"""The processes of the peers, as the one that measures sees them."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.arrays import ONE_THREAD
from benchmarks.measure import ROOT
from benchmarks.scoreboard.peers import OURS, PEERS, Peer, UnableError

__all__ = ["LATE", "Worker", "environment", "python_for", "pythons"]

# What a peer finds out about the machine once, and keeps for its other processes.
_KEPT = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
LATE = "compile: not done"
# XLA asks for NPROC, and has a pool of so many threads.
_COUNTED = (
    "NPROC",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_FIND = "import sys; from importlib.util import find_spec; print(*(n for n in sys.argv[1:] if find_spec(n)))"


def pythons(given: str | None) -> list[tuple[str, frozenset[str]]]:
    """Return the interpreters, our own first, each with those modules that it has of all that peers need."""
    folder = ROOT / ".venv-peers" / ("Scripts" if os.name == "nt" else "bin")
    candidates = [sys.executable, given or str(folder / "python")]
    needed = sorted({n for p in PEERS.values() for n in p.needs})
    found: list[tuple[str, frozenset[str]]] = []
    for path in dict.fromkeys(candidates):
        if path == given or Path(path).exists() or Path(f"{path}.exe").exists():
            done = subprocess.run([path, "-c", _FIND, *needed], capture_output=True, text=True, check=True)
            found.append((path, frozenset(done.stdout.split())))
    return found


def python_for(name: str, available: Sequence[tuple[str, frozenset[str]]]) -> str:
    """Return the interpreter that a peer runs in.

    Raises:
        UnableError: if none has what the peer needs.
    """
    for path, modules in available[:1] if name in OURS else available:
        if modules.issuperset(PEERS[name].needs):
            return path
    raise UnableError("not installed")


def environment(peer: Peer, python: str, threads: int) -> dict[str, str]:
    """Return the variables of a process: threads as many as are asked for, and where a peer keeps what on disk."""
    found = {
        **os.environ,
        **ONE_THREAD,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "TORCHINDUCTOR_CACHE_DIR": _KEPT.name,
        "PYTENSOR_FLAGS": f"base_compiledir={_KEPT.name}",
        **dict.fromkeys(_COUNTED, str(threads)),
        **peer.environment,
    }
    # The wheel of icc-rt has SVML where no loader looks; PyTensor compiles by Numba.
    if "svml" in peer.variant or peer.package == "pytensor":
        libraries = str(Path(python).parent.parent / "lib")
        found["LD_LIBRARY_PATH"] = os.pathsep.join(
            filter(None, [libraries, os.environ.get("LD_LIBRARY_PATH")])
        )
    return found


class Worker:
    """A process with one peer and one workload; every request is answered, or the process is ended."""

    def __init__(self, name: str, workload: str, python: str, threads: int = 1) -> None:
        self.name = name
        # Some peers write the code that they compile to where they are, and leave it there when they are ended.
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.scoreboard.child", name, workload, str(threads)],
            cwd=self._folder.name,
            env={
                **environment(PEERS[name], python, threads),
                # What it compiled in an earlier process is not found: nobody's compile time is that of a second time.
                "PYTENSOR_FLAGS": f"base_compiledir={self._folder.name}",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # so that the compilers it runs are ended with it
        )
        self._answers: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def ask(self, what: str, *arguments: Any, limit: float) -> dict[str, Any]:
        """Have one thing done.

        Args:
            what: the name of a method of `child.Child`.
            arguments: its arguments.
            limit: seconds to wait.

        Raises:
            UnableError: if the peer cannot do it, takes longer than the limit, or ends; the process is over then.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps([what, *arguments]) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=limit)
        except queue.Empty:
            self.close()
            raise UnableError(f"{what}: not done after {limit:.0f} s") from None
        except OSError:
            line = ""
        if not line:
            self.close()
            raise UnableError(f"{what}: its process ended (status {self._process.returncode})")
        answer: dict[str, Any] = json.loads(line)
        if "unable" in answer:
            self.close()
            raise UnableError(answer["unable"])
        return answer

    def close(self) -> None:
        if hasattr(os, "killpg") and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._listener.join()
        self._folder.cleanup()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was written last may have no reader
                    pipe.close()
