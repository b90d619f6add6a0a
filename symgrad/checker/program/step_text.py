"""Print steps as short text, for conditions in reports."""

from __future__ import annotations

from fractions import Fraction

from symgrad.checker.limits import TEXT_DEPTH
from symgrad.checker.numbers import number_to_json
from symgrad.checker.program.steps import ProofProgram, ProofStep

INFIX = {
    "add": "+", "mul": "*", "div": "/", "pow": "**",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


def step_text(program: ProofProgram, at: int) -> str:
    """Return a step in the notation of programs; long operands become an ellipsis."""
    texts: dict[int, str] = {}
    stack = [at]
    while stack:
        i = stack[-1]
        step = program.steps[i]
        missing = [a for a in step.args if a not in texts] if len(stack) < TEXT_DEPTH else []
        if missing:
            stack += missing
            continue
        stack.pop()
        args = [texts.get(a, "...") for a in step.args]
        if not args:
            text = _leaf(step)
        elif step.op in INFIX and len(args) == 2:
            text = f" {INFIX[step.op]} ".join(_parenthesize(a) for a in args)
        elif step.op == "neg":
            text = "-" + _parenthesize(args[0])
        else:
            text = f"{step.op}({', '.join(args)})"
        texts[i] = text if len(text) <= TEXT_DEPTH else "..."
    return texts[at]


def _leaf(step: ProofStep) -> str:
    if not step.params:
        return step.op
    value = step.params[0]
    return number_to_json(value) if isinstance(value, Fraction) else str(value)


def _parenthesize(text: str) -> str:
    return f"({text})" if " " in text and not text.endswith(")") else text
