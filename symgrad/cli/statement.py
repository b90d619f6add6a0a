"""What a proof file claims, as text: who checks a proof wants to know of what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from symgrad.errors import SymgradError
from symgrad.proof.steps import Program, Step, Symbol, program_from_json

__all__ = ["statement_lines"]

_INFIX = {
    "add": " + ", "mul": "*", "div": "/", "pow": "**", "matmul": "@",
    "lt": " < ", "le": " <= ", "gt": " > ", "ge": " >= ", "eq": " == ", "ne": " != ",
}  # fmt: skip
_LONG = 70  # a text as long as this gets a line and a name of its own
_MOST = 60  # lines that are shown


def statement_lines(data: Any) -> list[str]:
    """Return the declarations, lines for what is long or used twice, and the claim; nothing if there is none to read.

    Args:
        data: what a proof file holds.

    Example:
        >>> from symgrad.proof.steps import program_to_json
        >>> x, y = Step("symbol", (), ("x",)), Step("mul", (0, 0))
        >>> program = Program((x, y, Step("add", (0, 0))), (Symbol("x", "real", None, None),))
        >>> file = {"kind": "derivative", "program": program_to_json(program), "a": 1, "b": 2, "wrt": "x"}
        >>> print(*statement_lines(file), sep="; ")
        x : real; d(x*x)/dx = x + x
    """
    try:
        program = program_from_json(data["program"])
        lines, texts = _lines(program, [data["a"], data["b"]])
        left, right = texts[data["a"]], texts[data["b"]]
        if data["kind"] == "derivative":
            left = f"d({left})/d{data['wrt']}"
    except (SymgradError, KeyError, TypeError, IndexError):
        return []
    found = [*(_declaration(s) for s in program.symbols), *lines, f"{left} = {right}"]
    return found if len(found) <= _MOST else [*found[: _MOST - 2], "...", found[-1]]


def _declaration(symbol: Symbol) -> str:
    ends = [str(e) if e is not None else o for e, o in ((symbol.low, "-oo"), (symbol.high, "oo"))]
    domain = symbol.kind if ends == ["-oo", "oo"] else f"{symbol.kind}({', '.join(ends)})"
    return f"{symbol.name} : {domain}" + (f"[{', '.join(map(str, symbol.shape))}]" if symbol.shape else "")


def _lines(program: Program, wanted: list[int]) -> tuple[list[str], Mapping[int, str]]:
    uses = Counter(wanted)
    needed = set(wanted)
    for i in range(max(wanted), -1, -1):
        if i in needed:
            needed.update(program.steps[i].args)
            uses.update(program.steps[i].args)
    taken = {s.name for s in program.symbols}
    lines: list[str] = []
    texts: dict[int, str] = {}
    for i in sorted(needed):
        step = program.steps[i]
        text = _text(step, [texts[a] for a in step.args])
        if step.args and i not in wanted and (uses[i] > 1 or len(text) > _LONG):
            name = f"s{i}"
            while name in taken:
                name += "_"
            lines.append(f"{name} = {text}")
            text = name
        texts[i] = text
    return lines, texts


def _text(step: Step, args: list[str]) -> str:
    if not args:
        params = ", ".join(map(str, step.params))
        return params if step.op in ("symbol", "number", "constant", "size") else f"{step.op}({params})"
    if step.op in _INFIX and len(args) == 2 and not step.params:
        return _INFIX[step.op].join(map(_wrapped, args))
    if step.op == "neg":
        return "-" + _wrapped(args[0])
    params = "; ".join(["", *map(str, step.params)])
    return f"{step.op}({', '.join(args)}{params})"


def _wrapped(text: str) -> str:
    """Put an operation in parentheses; names, numbers and single calls read well without."""
    return text if re.fullmatch(r"\w+(\([^()]*\))?", text) else f"({text})"
