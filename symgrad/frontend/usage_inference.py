"""Infer the likely domain of an unknown name from its use: zeros(k) needs a size, x[i] an integer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product

from symgrad.ir.graph import Node, symbol
from symgrad.ir.sizes import Shape
from symgrad.ir.types import REAL, Declaration
from symgrad.support.errors import SymgradError

_TOGETHER = 3
"""The number of names in one call for which shapes are searched for."""

# For functions of sizes or positions, the kinds of their arguments; the last kind is repeated.
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "zeros": ("size", "real"),
    "ones": ("size", "real"),
    "full": ("size", "real"),
    "eye": ("size",),
    "arange": ("size",),
    "reshape": ("real", "size"),
    "broadcast_to": ("real", "size"),
    "one_hot": ("int", "size"),
    "take": ("real", "int"),
    "take_along_axis": ("real", "int"),
    "scatter_add": ("real", "int"),
}
_CALLED = re.compile(r"[^\W\d]\w*$")


_RANGE_BEFORE = re.compile(r"\.\.[\w\s+*-]*$")
_RANGE_BEHIND = re.compile(r"[\w\s+*-]*\.\.")
"""Where a name is an end of a range: t in 1..T - 1."""


def likely_domain(line: str, start: int, end: int) -> str:
    """Return ``real``, ``int`` or ``size``.

    Args:
        line: the line with the name.
        start: where the name begins.
        end: where the name ends.

    Example:
        >>> [likely_domain(t, t.index("k"), t.index("k") + 1) for t in ("zeros((3, k))", "x[k]", "t in 1..k", "exp(k)")]
        ['size', 'int', 'size', 'real']
    """
    if _RANGE_BEFORE.search(line[:start]) or _RANGE_BEHIND.match(line[end:]):
        return "size"
    section = line[end:].lstrip().startswith(":")
    depth = commas = 0
    for i in range(start - 1, -1, -1):
        c = line[i]
        if c in ")]":
            depth += 1
        elif c in "([" and depth:
            depth -= 1
        elif depth:
            continue
        elif c == ",":
            commas += 1
        elif c == ":":
            section = section or commas == 0
        elif c in "([":
            before = line[:i].rstrip()
            called = _CALLED.search(before)
            if c == "[" and (called or before.endswith((")", "]"))):
                return "size" if section else "int"
            if c == "(" and before.endswith("="):
                return "size" if before[:-1].rstrip().endswith("shape") else "real"
            if c == "(" and called:
                kinds = _ARGUMENTS.get(called.group(), ("real",))
                return kinds[min(commas, len(kinds) - 1)]
            commas, section = 0, False
    return "real"


def declared_as_arrays(
    build: Callable[[Sequence[Node]], Node],
    operands: Sequence[Node],
    free: Sequence[Node],
    unused: Callable[[str], str],
) -> str | None:
    """Find declarations of undeclared names as arrays that make a formula valid; None if there are none.

    Several shapes are tried; those with the fewest axes come first.

    Args:
        build: a function that builds the value of the operands.
        operands: the operands.
        free: the operands that are undeclared names, and so far count as numbers.
        unused: a function that returns an unused name similar to a given name.
    """
    names = list(dict.fromkeys(free))
    if not 0 < len(names) <= _TOGETHER:
        return None
    n, m, k = map(unused, "nmk")
    shapes: tuple[Shape, ...] = ((), (n,), (n, m), (n, n), (n, m, k))
    for chosen in sorted(product(shapes, repeat=len(names)), key=lambda found: sum(map(len, found))):
        found = [symbol(Declaration(s.name, REAL, shape)) for s, shape in zip(names, chosen, strict=True)]
        arrays = dict(zip(names, found, strict=True))
        try:
            build([arrays.get(operand, operand) for operand in operands])
        except SymgradError:
            continue
        lines = [str(s.declaration) for s in found if s.shape]
        what = "it as an array" if len(lines) == 1 else "them as arrays"
        return f"declare {what}, on a line above: {'; '.join(lines)}" if lines else None
    return None
