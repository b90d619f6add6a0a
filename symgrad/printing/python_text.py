"""Common parts of written Python source: precedence, infix operators, templates, and free names."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.notation import literals
from symgrad.ir.notation.contractions import ContractionSpelling
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.literals import ADD, ATOM, MUL, NEG, POW
from symgrad.ir.shapes import Triple
from symgrad.ir.sizes import Size
from symgrad.support.errors import UsageError

INFIX: Mapping[str, tuple[str, int, int, int]] = {
    **{op: row for op, row in literals.INFIX.items() if op not in ("and_", "or_")},
    "mul": ("*", MUL, MUL, POW),
    "div": ("/", MUL, MUL, POW),
}
"""The operators of the notation that Python applies to arrays, too; a signed factor needs parentheses."""

HELPER = re.compile(r"(?<![\w.])_\w+(?=\()")
"""A call of a helper function that the source defines."""


_Written: TypeAlias = Callable[[Node, int], str]
"""Writes an argument, in parentheses if it binds less tightly than a rank."""


def within(text: str, own: int, rank: int) -> str:
    """Return a text, in parentheses if it binds less tightly than a rank."""
    return text if own >= rank else f"({text})"


def tuple_text(texts: Sequence[str]) -> str:
    """Return the text of a tuple."""
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def applied(factors: Sequence[str], *, vector: bool) -> str:
    """Return a matrix product.

    Several matrices are applied to a vector one after the other, and are not multiplied first.
    """
    if not vector:
        return " @ ".join(factors)
    text = factors[-1]
    for i, factor in enumerate(reversed(factors[:-1])):
        text = f"{factor} @ {f'({text})' if i else text}"
    return text


def aligned(node: Node, s: ContractionSpelling, write: _Written) -> str:
    """Return a contraction as an entrywise product, with new axes where a factor lacks an axis."""
    rank = max(map(len, s.places))
    texts: list[str] = []
    for arg, places in zip(node.args, s.places, strict=True):
        items = [":" if i in places else "None" for i in range(rank)]
        while items and items[0] == "None":
            items.pop(0)
        texts.append(write(arg, ATOM) + (f"[{', '.join(items)}]" if "None" in items else ""))
    return "*".join(texts)


def slice_key(
    triples: Sequence[Triple], size: Callable[[Size], str], *, backwards: bool = True
) -> tuple[str, list[int]]:
    """Return subscripts, and the axes to flip first if steps must be positive: entry i is then entry -(i + 1).

    Args:
        triples: start, stop and step of every axis.
        size: a function that writes a size as an expression.
        backwards: whether steps may be negative.
    """

    def end_text(end: Size | None, *, flipped: bool) -> str:
        if end is None:
            return ""
        if not flipped:
            return size(end)
        return str(-(end + 1)) if isinstance(end, int) else f"-({size(end)} + 1)"

    items: list[str] = []
    flipped: list[int] = []
    for axis, (start, stop, step) in enumerate(triples):
        turn = step < 0 and not backwards
        if turn:
            flipped.append(axis)
            step = -step
        ends = [end_text(start, flipped=turn), end_text(stop, flipped=turn)]
        items.append(":".join([*ends, *([str(step)] if step != 1 else [])]))
    while len(items) > 1 and items[-1] == ":":
        items.pop()
    return ", ".join(items), flipped


class TemplateArgument:
    """An argument of a template in `Structure.source`."""

    def __init__(self, node: Node, plain: _Written, tensor: _Written) -> None:
        self.node, self.plain, self.tensor = node, plain, tensor

    def __format__(self, spec: str) -> str:
        rank = ATOM if "a" in spec else MUL if "m" in spec else 0
        return self.tensor(self.node, rank) if "t" in spec else self.plain(self.node, rank)


def template_of(node: Node, library: str) -> str | None:
    """Return the template for an op on arrays in a library, from the record of the op; None if it has none."""
    source = node.op.array.source
    found = None if source is None else source(node)
    return found if found is None or isinstance(found, str) else found.get(library)


def infix(node: Node, of: _Written, text: str) -> tuple[str, int] | None:
    """Return an infix or prefix expression and its precedence; None for other ops.

    Args:
        node: the application of an op.
        of: a function that writes the arguments of the op.
        text: the text of the second argument, without parentheses.
    """
    op, args = node.op, node.args
    if op.name == "add" and args[1].op.name == "neg" and text.startswith("-"):
        # in IEEE arithmetic, a + (-b) and a - b are the same operation
        return f"{of(args[0], ADD)} - {of(args[1].args[0], MUL)}", ADD
    if op.name == "neg":
        return f"-{of(args[0], POW)}", NEG
    if op.name in INFIX:
        sign, own, left, right = INFIX[op.name]
        return f"{of(args[0], left)}{sign}{of(args[1], right)}", own
    return None


def parameters(symbols: Sequence[Node], taken: set[str]) -> dict[Node, str]:
    """Return names of arguments for symbols, and add them to the taken ones.

    A name that is a Python keyword, or taken, gets an underscore.

    Raises:
        UsageError: if a name is not an identifier.
    """
    found: dict[Node, str] = {}
    plain = {
        s: unicodedata.normalize("NFKC", s.name) for s in symbols
    }  # Python normalizes identifiers in this way
    for symbol, name in plain.items():
        if not name.isidentifier():
            kind = "an argument" if symbol.op is SYMBOL else "a value"
            raise UsageError(f"{symbol.name!r} cannot name {kind}", expected="a Python identifier")
        if not keyword.iskeyword(name) and name not in taken:
            taken.add(name)
            found[symbol] = name
    for symbol, name in plain.items():
        if symbol not in found:
            found[symbol] = free_name(name + "_", taken)
            taken.add(found[symbol])
    return {symbol: found[symbol] for symbol in symbols}
