"""How long a formula is, and how hard to read: both from what each part is written with, each part once.

Most forms that are tried are far too long to be written. The measures of a node follow from those of its arguments,
whatever shares them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import expression_text, in_parentheses, parts_of
from symgrad.ops.scalar.arith import add

COST = 400
"""What a name or a sign costs; all costs are whole, so that their order is no matter of rounding."""

_LETTER = COST // 16
"""What each letter of a name and each digit costs beside."""

_SUM = 52 * COST // 100
"""What a sum costs beside a product of as many names and signs."""

_TERM = 30 * COST // 100
"""What each sign of a sum beyond the first costs."""

_HELD = 75 * COST // 100
"""The same in parentheses: it is held in mind until they close."""

_NUMBER = 70 * COST // 100
"""What a number costs, beside its digits."""

_QUOTIENT = 80 * COST // 100
"""What a quotient costs beside a product."""

_CALL = 150 * COST // 100
"""What a function costs beside its name."""

_PARENTHESES = 50 * COST // 100
"""What a pair of them costs."""

_UNHEARD = -(10**9)
"""Signs of the arguments of a call are not those of a sum."""

_TOKEN = re.compile(r"\w+\(|[\w.]+|\*\*|[^\s\w]")


class _Written(NamedTuple):
    """A node as it is written.

    Args:
        length: its characters.
        cost: what it costs to read, but for what its own signs cost as those of a sum.
        signs: its signs outside of any parentheses.
        precedence: that of its outermost operation.
    """

    length: int
    cost: int
    signs: int
    precedence: int


class Measure:
    """Measures formulas, each part once."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Node, _Written] = {}

    def length(self, node: Node) -> int:
        """Return how long a node is as text."""
        return self._written(node).length

    def cost(self, node: Node) -> int:
        """Return how hard a node is to read: by its names, numbers, signs and functions."""
        found = self._written(node)
        return found.cost + _TERM * max(0, found.signs - 1) + (node.op is add) * _SUM

    def _written(self, node: Node) -> _Written:
        found = self._found.get(node)
        if found is None:
            pending = [node]
            while pending:
                top = pending[-1]
                missing = [a for a in top.args if a not in self._found] if top.op.pointwise else []
                pending += missing
                if not missing:
                    self._found[pending.pop()] = found = self._by_parts(top)
            assert found is not None
        return found

    def _by_parts(self, node: Node) -> _Written:
        parts, precedence = parts_of(node)
        if not node.op.pointwise:  # here texts run together: `A.T` is one name
            parts = [expression_text(node)]
        length = cost = 0
        signs = [0]  # outside, then in each pair of parentheses that is open
        for part in parts:
            if isinstance(part, str):
                length += len(part)
                cost += _read(part, signs)
                continue
            inner = self._found[part[0]]
            length += inner.length
            cost += inner.cost
            if in_parentheses(part, inner.precedence):
                length += 2
                cost += _PARENTHESES + _HELD * max(0, inner.signs - 1)
            else:
                signs[-1] += inner.signs
        return _Written(length, cost, signs[0], precedence)


def _read(text: str, signs: list[int]) -> int:
    """Return what a text costs; ``signs`` are those of the sums that are open, which it may open and close."""
    if "(" not in text and ")" not in text:
        cost, found = _plain(text)
        signs[-1] += found
        return cost
    total = 0
    for token in _TOKEN.findall(text):
        if token == ")":
            total += _HELD * max(0, signs.pop() - 1)
        elif token == "(":
            total += _PARENTHESES
            signs.append(0)
        elif token.endswith("("):
            total += _token(token) + _CALL * token[0].isalpha()
            signs.append(_UNHEARD)
        else:
            total += _token(token)
            signs[-1] += token in "+-"
    return total


@lru_cache(4096)
def _plain(text: str) -> tuple[int, int]:
    tokens = _TOKEN.findall(text)
    return sum(map(_token, tokens)), sum(token in "+-" for token in tokens)


def _token(token: str) -> int:
    if token[0].isalpha():
        return COST + _LETTER * len(token)
    if token[0].isdigit():
        return _NUMBER + _LETTER * len(token)
    return COST + _QUOTIENT * (token == "/")
