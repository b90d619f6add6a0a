"""The order in which a person writes terms and factors: by structure alone, never by identity, creation or hash.

Factors: numbers, constants, roots of numbers, symbols, functions, sums; within a group by the symbols they contain, then by their text.
Terms: by falling degree, like monomials lexicographically, the constant last; `1 + exp(-x)` and `1 - x` put it first, where the rest has no degree, or
would open with a minus sign.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.traverse import digest

__all__ = ["FactorKey", "Order", "TermKey"]

Exponent: TypeAlias = "int | Fraction"
FactorKey: TypeAlias = tuple[int, tuple[str, ...], str, str]
TermKey: TypeAlias = tuple[Fraction, tuple[tuple[int, tuple[str, ...], str, str, Fraction], ...]]

_NAMES = 6  # how many symbol names, and
_TEXT = 60  # how many characters of the text take part before the structural digest decides

_NUMBER, _CONSTANT, _RADICAL, _SYMBOL, _FUNCTION, _SUM = range(6)


class Order:
    """Sort keys of nodes, computed when first asked and remembered."""

    def __init__(self) -> None:
        self._texts: dict[Node, tuple[tuple[str, ...], str, Fraction]] = {}
        self._keys: dict[Node, FactorKey] = {}

    def _text(self, node: Node) -> tuple[tuple[str, ...], str, Fraction]:
        """The symbols a node contains (the first few), the beginning of its text, and its degree."""
        found = self._texts.get(node)
        if found is not None:
            return found
        pending = [node]
        while pending:
            top = pending[-1]
            missing = [a for a in top.args if a not in self._texts]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            if top not in self._texts:
                self._texts[top] = _describe(top, [self._texts[a] for a in top.args])
        return self._texts[node]

    def degree(self, node: Node) -> Fraction:
        """Return the degree of a factor as a polynomial, 0 for a function of symbols."""
        return self._text(node)[2]

    def factor(self, base: Node) -> FactorKey:
        """Return the sort key of a factor by its base."""
        key = self._keys.get(base)
        if key is None:
            names, text, _ = self._text(base)
            rest = digest(base).hex() if len(text) >= _TEXT or len(names) >= _NAMES else ""
            key = self._keys[base] = (_rank(base, names), names, text, rest)
        return key

    def term(self, factors: list[tuple[Node, Exponent]]) -> TermKey:
        """Return the sort key of a term by its factors (bases with exponents, in the order of factors)."""
        degree = Fraction(0)
        keys: list[tuple[int, tuple[str, ...], str, str, Fraction]] = []
        for base, exponent in factors:
            degree += self.degree(base) * exponent
            keys.append((*self.factor(base), -Fraction(exponent)))
        return (-degree, tuple(keys))


def _rank(base: Node, names: tuple[str, ...]) -> int:
    if base.op is NUMBER:
        return _NUMBER
    if base.op is CONSTANT:
        return _CONSTANT
    if base.op is SYMBOL:
        return _SYMBOL
    if base.op.name == "add":
        return _SUM
    return _FUNCTION if names else _RADICAL


def _describe(
    node: Node, args: list[tuple[tuple[str, ...], str, Fraction]]
) -> tuple[tuple[str, ...], str, Fraction]:
    if node.op is SYMBOL:
        return ((node.name,), str(node.declaration)[:_TEXT], Fraction(1))
    if not node.args:
        return ((), str(node.params[-1])[:_TEXT], Fraction(0))
    names: set[str] = set()
    for arg in args:
        names.update(arg[0])
    text = f"{node.op.name}({','.join(a[1] for a in args)})"
    return (tuple(sorted(names)[:_NAMES]), text[:_TEXT], _degree(node, [a[2] for a in args]))


def _degree(node: Node, args: list[Fraction]) -> Fraction:
    name = node.op.name
    if name in {"neg", "stop_gradient"}:
        return args[0]
    if name == "add":
        return max(args)
    if name == "mul":
        return args[0] + args[1]
    if name == "div":
        return args[0] - args[1]
    if name == "pow" and node.args[1].is_number() and abs(node.args[1].value) < 1000:
        return args[0] * node.args[1].value
    return args[0] / 2 if name == "sqrt" else Fraction(0)
