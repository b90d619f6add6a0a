"""Definite integrals and limits by SymPy, in another process with a time limit.

SymPy's integration may take hours and cannot be interrupted from Python, but a process can be killed on every system.
If the system counts processor time, the limit is for that time, so that a busy machine finds the same integrals.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from threading import Timer
from typing import IO, Any

from symgrad.ir.graph import Node, truth
from symgrad.ops.sympy_bridge.functions import to_sympy
from symgrad.ops.sympy_bridge.objects import sympy
from symgrad.ops.sympy_bridge.read import from_sympy
from symgrad.ops.sympy_bridge.write import declarations
from symgrad.support.errors import SymgradError

_PATIENCE = 4  # the limit of elapsed time, divided by the limit of processor time
_START = 5.0  # seconds to import SymPy


def definite_integral(
    integrand: Node, variable: Node, low: Node | None, high: Node | None, seconds: float
) -> tuple[Node, Node] | None:
    """Return a definite integral, and SymPy's condition for it.

    Args:
        integrand: a scalar node.
        variable: the symbol to integrate over.
        low: the lower end; None for minus infinity.
        high: the upper end; None for infinity.
        seconds: the limit of processor time.

    Returns:
        The integral, and a node of kind bool; None if SymPy finds no integral in time. SymPy's integrals are not always
        right: compare the value with a numeric integral.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ir.notation.printer import str_text
        >>> import symgrad.ops
        >>> x, t = symbol(Declaration("x")), symbol(Declaration("t"))
        >>> found, _ = definite_integral(1 / (1 + (x - t)**2), x, None, None, seconds=60)
        >>> str_text(found)
        'pi'
    """
    return _ask("integral", (integrand, variable, low, high), seconds)


def limit(node: Node, variable: Node, at: Node | int, direction: str, seconds: float) -> Node | None:
    """Return the limit of a formula.

    Args:
        node: a scalar node.
        variable: the symbol that moves.
        at: where it goes; 1 for infinity, -1 for minus infinity.
        direction: ``"+"`` from above, ``"-"`` from below, ``"+-"`` from both sides.
        seconds: the limit of processor time.

    Returns:
        The limit; None if SymPy finds no finite one in time. Compare it with values near by.

    Example:
        >>> from symgrad.ir.graph import OPS, as_node, symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ir.notation.printer import str_text
        >>> import symgrad.ops
        >>> x = symbol(Declaration("x"))
        >>> str_text(limit(OPS["sin"](3 * x) / x, x, as_node(0), "+-", seconds=60))
        '3'
    """
    found = _ask("limit", (node, variable, at, direction), seconds)
    return None if found is None else found[0]


def _ask(task: str, arguments: Sequence[Any], seconds: float) -> tuple[Node, Node] | None:
    """Return the result of a task from another process; None if it fails or takes too long."""
    worker = _workers.get(os.getpid())  # a forked process has a worker of its own
    if worker is None or worker.process.poll() is not None:
        try:
            worker = _workers[os.getpid()] = _IntegrationWorker()
        except OSError:
            return None
    answer = worker.ask(pickle.dumps((task, arguments, seconds)), _PATIENCE * (_START + seconds))
    return None if answer is None else pickle.loads(answer)  # the output of this module


class _IntegrationWorker:
    """A process that waits for tasks: it imports SymPy once."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        atexit.register(self.close)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        with self.process:
            pass

    def ask(self, question: bytes, patience: float) -> bytes | None:
        """Return the answer to a question; the process is killed if there is none in time."""
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        late = Timer(patience, process.kill)
        late.start()
        try:
            write_block(process.stdin, question)
            answer = read_block(process.stdout)
            if answer is None:
                self.close()
            return answer or None
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                return None
            raise
        finally:
            late.cancel()


_workers: dict[int, _IntegrationWorker] = {}


def write_block(stream: IO[bytes], block: bytes) -> None:
    """Write bytes behind their length."""
    stream.write(len(block).to_bytes(8, "big") + block)
    stream.flush()


def read_block(stream: IO[bytes]) -> bytes | None:
    """Return the bytes that `write_block` wrote; None at the end of the stream."""
    length = stream.read(8)
    return stream.read(int.from_bytes(length, "big")) if len(length) == 8 else None


def _integral(
    integrand: Node, variable: Node, low: Node | None, high: Node | None
) -> tuple[Node, Node] | None:
    nodes = [n for n in (integrand, variable, low, high) if n is not None]
    e, x, *ends = (s.doit() for s in to_sympy(nodes))
    first = ends.pop(0) if low is not None else -sympy.oo
    last = ends.pop(0) if high is not None else sympy.oo
    return _value(sympy.simplify(sympy.integrate(e, (x, first, last))), nodes)


def _limit(node: Node, variable: Node, at: Node | int, direction: str) -> tuple[Node, Node] | None:
    nodes = [n for n in (node, variable, at) if isinstance(n, Node)]
    e, x, *ends = (s.doit() for s in to_sympy(nodes))
    there = ends[0] if ends else at * sympy.oo
    return _value(sympy.simplify(sympy.limit(e, x, there, direction if ends else "+")), nodes)


def _value(found: Any, nodes: Sequence[Node]) -> tuple[Node, Node] | None:
    """Return what SymPy found as nodes, and its condition."""
    condition: Any = sympy.true
    if isinstance(found, sympy.Piecewise):
        found, condition = found.args[0]
    if found.has(sympy.Integral, sympy.Limit, sympy.AccumBounds, sympy.I, sympy.nan, sympy.oo, sympy.zoo):
        return None
    declared = declarations(nodes)
    (value,) = from_sympy([found], declared)
    return value, truth(True) if condition is sympy.true else from_sympy([condition], declared)[0]


# What SymPy raises, and symgrad for what it does not know.
_FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, SymgradError)
_TASKS: Any = {"integral": _integral, "limit": _limit}


def _main() -> None:
    """Answer tasks until there are no more: with nothing where there is no answer."""
    while question := read_block(sys.stdin.buffer):
        task, arguments, seconds = pickle.loads(question)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, seconds)  # the signal kills the process
        try:
            found = _TASKS[task](*arguments)
        except _FAILURES:
            found = None
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)
        write_block(sys.stdout.buffer, b"" if found is None else pickle.dumps(found))


if __name__ == "__main__":
    _main()
