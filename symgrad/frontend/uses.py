"""What an unknown name is most likely to be, by where it stands: zeros(k) wants a size, x[i] a whole number."""

from __future__ import annotations

import re

__all__ = ["likely_domain"]

# For functions that take sizes or positions, what each of their arguments is; the last one repeats.
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


def likely_domain(line: str, start: int, end: int) -> str:
    """Return real, int or size.

    Args:
        line: the line that the name is in.
        start: where the name starts.
        end: where it ends.

    Example:
        >>> [likely_domain(t, t.index("k"), t.index("k") + 1) for t in ("zeros((3, k))", "x[k]", "x[:k]", "exp(k)")]
        ['size', 'int', 'size', 'real']
    """
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
