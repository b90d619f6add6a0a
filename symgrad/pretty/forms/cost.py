"""Measure how long a formula is as text, and how hard it is to read; both follow from how each of its parts is written.

Most forms that are tried are far too long to be written out. So the measures of a node are computed from the measures
of its arguments, even if several nodes share these.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import expression_text, in_parentheses, parts_of
from symgrad.ir.notation.recurrences import recurrence_of
from symgrad.ir.traverse import topological
from symgrad.ops.scalar.arith import add
from symgrad.support.traversal import postorder

COST = 400
"""The cost of a name or a sign; all costs are integers, so that comparing them involves no rounding."""

_LETTER = COST // 16
"""The additional cost of each letter of a name, and of each digit."""

_SUM = 52 * COST // 100
"""The additional cost of a sum, compared with a product of as many names and signs."""

_TERM = 30 * COST // 100
"""The cost of each sign of a sum after the first."""

_HELD = 75 * COST // 100
"""The cost of such a sign inside parentheses: a reader must remember it until they close."""

_NUMBER = 70 * COST // 100
"""The cost of a number, in addition to that of its digits."""

_QUOTIENT = 80 * COST // 100
"""The additional cost of a quotient, compared with a product."""

_CALL = 150 * COST // 100
"""The cost of a function, in addition to that of its name."""

_PARENTHESES = 50 * COST // 100
"""The cost of a pair of parentheses."""

_UNHEARD = -(10**9)
"""Marks the arguments of a call: their signs do not count as signs of a sum."""

_TOKEN = re.compile(r"\w+\(|[\w.]+|\*\*|[^\s\w]")


class _Written(NamedTuple):
    """The measures of a node as it is written.

    Args:
        length: the number of its characters.
        cost: the cost of reading it, without the cost of its own signs as signs of a sum.
        signs: the number of its signs outside parentheses.
        precedence: the precedence of its outermost operation.
    """

    length: int
    cost: int
    signs: int
    precedence: int


class Measure:
    """Measures formulas; each part is measured once."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Node, _Written] = {}

    def length(self, node: Node) -> int:
        """Return the length of a node as text."""
        return self._written(node).length

    def cost(self, node: Node) -> int:
        """Return how hard a node is to read: by its names, numbers, signs and functions."""
        found = self._written(node)
        return found.cost + _TERM * max(0, found.signs - 1) + (node.op is add) * _SUM

    def _written(self, node: Node) -> _Written:
        for part in postorder([node], lambda top: top.args if top.op.pointwise else (), until=self._found):
            self._found[part] = self._by_parts(part)
        return self._found[node]

    def _by_parts(self, node: Node) -> _Written:
        parts, precedence = parts_of(node)
        if not node.op.pointwise:  # in this notation texts run together: `A.T` is one name
            # Recurrences have lines of their own, so only their names are in the text.
            loops = {n: "h_bar" for n in topological([node]) if recurrence_of(n) is not None}
            parts = [expression_text(node, loops)]
        length = cost = 0
        signs = [
            0
        ]  # the first number is for the outermost level, the others for each open pair of parentheses
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
    """Return the cost of a text; ``signs`` counts the signs of the open sums, and the text may open and close sums."""
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
