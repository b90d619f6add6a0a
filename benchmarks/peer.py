"""What `sympy.simplify` decides of the same claims: a peer, in the same processes and under the same limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import symgrad as sg

__all__ = ["decide"]


def decide(row: Mapping[str, Any], seconds: float) -> dict[str, Any]:  # noqa: ARG001  the process is ended
    """Tell whether ``simplify(diff(y, x) - claim)`` is 0, in real symbols.

    Nothing follows where it is not 0, so the status is then ``undecided``.

    Args:
        row: a claim whose formulas SymPy reads too.
        seconds: not read: SymPy takes as long as it takes.
    """
    import sympy

    program = sg.parse(row["program"])  # SymPy evaluates its text as Python: what is no formula ends here
    sg.parse(row["claim"], symbols={str(i): i for i in program.inputs})
    formula = row["program"].rpartition(f"\n{row['of']} = ")[2]
    names = {str(i): sympy.Symbol(str(i), real=True) for i in program.inputs}
    read: Any = sympy.sympify
    y, claim = read(formula, names), read(row["claim"], names)
    if sympy.simplify(sympy.diff(y, names[row["wrt"]]) - claim) == 0:
        return {"status": "proved", "why": "simplify gives 0"}
    return {"status": "undecided", "why": "simplify does not give 0"}
