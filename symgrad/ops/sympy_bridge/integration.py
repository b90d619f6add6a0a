"""Definite integrals by SymPy, in a subprocess with a time limit.

SymPy's integration may take hours and cannot be interrupted from Python, but a process can be killed on every system.
If the system counts processor time, the limit is for that time, so that a busy machine finds the same integrals.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from typing import Any

from symgrad.ir.graph import Node, truth
from symgrad.ops.sympy_bridge.functions import to_sympy
from symgrad.ops.sympy_bridge.objects import sympy
from symgrad.ops.sympy_bridge.read import from_sympy
from symgrad.ops.sympy_bridge.write import declarations

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
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    question = pickle.dumps([n for n in (integrand, variable, low, high) if n is not None])
    ends = f"{low is not None:d}{high is not None:d}"
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__, ends, str(seconds)],
            input=question,
            capture_output=True,
            timeout=_PATIENCE * (_START + seconds),
            env=environment,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    if done.returncode or not done.stdout:
        return None
    value, condition = pickle.loads(done.stdout)  # the output of this module
    return value, condition


def _integral(
    integrand: Node, variable: Node, low: Node | None, high: Node | None
) -> tuple[Node, Node] | None:
    nodes = [n for n in (integrand, variable, low, high) if n is not None]
    e, x, *ends = (s.doit() for s in to_sympy(nodes))
    first = ends.pop(0) if low is not None else -sympy.oo
    last = ends.pop(0) if high is not None else sympy.oo
    found = sympy.simplify(sympy.integrate(e, (x, first, last)))
    condition: Any = sympy.true
    if isinstance(found, sympy.Piecewise):
        found, condition = found.args[0]
    if found.has(sympy.Integral, sympy.I, sympy.nan, sympy.oo, sympy.zoo):
        return None
    declared = declarations(nodes)
    (value,) = from_sympy([found], declared)
    return value, truth(True) if condition is sympy.true else from_sympy([condition], declared)[0]


def _main() -> None:
    """Read an integral and write its value; there is no output on failure."""
    integrand, variable, *ends = pickle.loads(sys.stdin.buffer.read())
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, float(sys.argv[2]))  # the signal kills the process
    low = ends.pop(0) if sys.argv[1][0] == "1" else None
    high = ends.pop(0) if sys.argv[1][1] == "1" else None
    found = _integral(integrand, variable, low, high)
    if found is not None:
        sys.stdout.buffer.write(pickle.dumps(found))


if __name__ == "__main__":
    _main()
