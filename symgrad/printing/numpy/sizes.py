"""Write sizes of axes as NumPy source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from symgrad.ir.sizes import Extent, Size, SizeAtom


def functions_in(params: Any) -> set[str]:
    """Return the functions that sizes in static parameters call.

    Example:
        >>> from symgrad.ir.sizes import size_max
        >>> functions_in(((size_max("n", 3), 2), "m"))
        {'max'}
    """
    if isinstance(params, tuple):
        return {f for p in cast("tuple[Any, ...]", params) for f in functions_in(p)}
    if not isinstance(params, Extent):
        return set()
    atoms = [a for monomial, _ in params.terms for a in monomial if not isinstance(a, str)]
    inside = {f for atom in atoms for f in functions_in((atom.a, atom.b))}
    return inside | {atom.op for atom in atoms if atom.op != "ceildiv"}


def size_source(size: Size, names: Mapping[str, str]) -> str:
    """Return a size as a Python expression over the names of sizes.

    Example:
        >>> from symgrad.ir.sizes import size_ceildiv, size_sum
        >>> size_source(size_ceildiv(size_sum(["n", 1]), 2), {"n": "n"})
        '-(-(n + 1)//2)'
    """
    if isinstance(size, int):
        return str(size)
    if isinstance(size, str):
        return names[size]
    terms: list[str] = []
    for monomial, c in size.terms:
        factors = [names[a] if isinstance(a, str) else _atom(a, names) for a in monomial]
        if abs(c) != 1 or not factors:
            factors.insert(0, str(abs(c)))
        terms.append(("-" if c < 0 else "+") + "*".join(factors))
    text = "".join(f" {t[0]} {t[1:]}" for t in terms)
    return text[3:] if text.startswith(" + ") else "-" + text[3:]


def _atom(atom: SizeAtom, names: Mapping[str, str]) -> str:
    a, b = (size_source(s, names) for s in (atom.a, atom.b))
    if atom.op != "ceildiv":
        return f"{atom.op}({a}, {b})"
    return f"-(-{f'({a})' if isinstance(atom.a, Extent) else a}//{f'({b})' if isinstance(atom.b, Extent) else b})"
