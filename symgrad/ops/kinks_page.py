"""Write docs/kinks.md from the records: ``python -m symgrad.ops.kinks_page > docs/kinks.md``."""

from __future__ import annotations

import sys
from fractions import Fraction

import symgrad.ops  # noqa: F401  (registers the records)
from symgrad.ir.graph import OPS, Op
from symgrad.ir.op import Kink
from symgrad.ops.user_ops import OWN

_INTRODUCTION = """\
# Where a derivative is a choice

Some functions have corners, jumps, poles or vertical tangents. Gradients need a value there, too, so the record of
each op lists these points, with the value that is taken; kernels compute exactly these values. *Undefined* means that
there is no value to choose: a kernel computes NaN or an infinity. `x`, `y`, `z` are the arguments in order, and the
column *at* has one of the points.

A choice such as `where(x > 0, 1, 0)` has a strong zero: the gradient of the branch that is not taken is zero, even if
later factors of the chain rule are infinite.

```python
import symgrad as sg

p = sg.parse("x : real\\ny = sqrt(relu(x))")
assert sg.grad(p["y"], p["x"])(x=-1.0) == 0
```

`where(condition, x, y)` has the derivative of the branch that its condition chooses, also where the condition changes.

The poles of `tan` and `sec` are not listed: no floating-point number is an odd multiple of pi/2, so their derivatives
are large, but never undefined. `stop_gradient` has the derivative zero, by intention.

`python -m symgrad.ops.kinks_page` writes this page from the op records.
"""


_OWN_WORDS = {"where", "where_minus_oo", "where_plus_oo", "tan", "sec"}  # the introduction describes them


def kinks_page() -> str:
    """Return the text of docs/kinks.md."""
    every = [op for op in dict.fromkeys(OPS.values()) if op.name not in OWN]
    ops = [op for op in every if op.pointwise]
    rows = [_row(op, kink) for op in ops for kink in op.kinks]
    arrays = [
        f"| `{op.name}` | {_cell(k.where)} | {_cell(k.why)} |"
        for op in every
        if not op.pointwise
        for k in op.kinks
    ]
    smooth = [
        op.name
        for op in ops
        if not op.kinks and any(op.partials) and "stops" not in op.facts and op.name not in _OWN_WORDS
    ]
    silent = [op.name for op in ops if not any(op.partials)]
    return "\n".join(
        [
            _INTRODUCTION,
            "| op | where | at | derivative taken | why |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "Reductions of arrays and linear algebra:",
            "",
            "| op | where | derivative taken |",
            "|---|---|---|",
            *arrays,
            "",
            f"These ops are smooth wherever they are defined: {_names(smooth)}.",
            "",
            f"These ops have no derivatives, because their values are truth values: {_names(silent)}.",
            "",
        ]
    )


def _row(op: Op, kink: Kink) -> str:
    taken = [
        f"∂{'xyz'[i]}: {_value(value)}" if op.arity > 1 else _value(value)
        for i, value in enumerate(kink.partials)
    ]
    at = ", ".join(map(str, kink.point))
    return f"| `{op.name}` | {_cell(kink.where)} | {at} | {', '.join(taken)} | {_cell(kink.why)} |"


def _value(value: float | None) -> str:
    return "undefined" if value is None else str(Fraction(value))


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*")


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    sys.stdout.write(kinks_page())
