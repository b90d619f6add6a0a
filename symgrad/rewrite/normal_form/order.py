"""Order terms and factors as a person writes them: by structure alone, never by identity, creation or hash.

Factors: numbers, constants, roots of numbers, symbols, functions, sums; then arrays in the same order; then reductions
of arrays. Within a group: by the symbols that they contain, then by their text, short before long; entries of one
array are in the order of their indices. Terms: by falling
degree, then like monomials lexicographically, with the constant last. The constant comes first if the other terms have
no degree, as in `1 + exp(-x)`, or if the sum would open with a minus sign, as in `1 - x`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.traverse import digest, fold, spelling

Exponent: TypeAlias = "int | Fraction"
FactorKey: TypeAlias = "tuple[int, tuple[str, ...], int, str, _Digest]"
TermKey: TypeAlias = (
    "tuple[Exponent, bool, tuple[tuple[int, tuple[str, ...], int, str, _Digest, Exponent], ...]]"
)

_NAMES = 6  # largest number of symbol names in a key
_TEXT = 60  # largest number of characters of text in a key; after these the structural digest decides

_NUMBER, _CONSTANT, _RADICAL, _SYMBOL, _FUNCTION, _SUM = range(6)
_ARRAYS = 6  # arrays come after scalars in the same ranks, and reductions of arrays after both


@dataclass(frozen=True, slots=True)
class _Looks:
    """The features of a node that order it: its first symbols, the beginning of its text, its degree."""

    names: tuple[str, ...]
    text: str
    degree: Exponent


class _Digest:
    """The digest of a node, computed lazily: few nodes have equal features."""

    __slots__ = ("_node",)

    def __init__(self, node: Node) -> None:
        self._node = node

    def __lt__(self, other: _Digest) -> bool:
        return digest(self._node) < digest(other._node)


class Order:
    """Sort keys of nodes, computed lazily and cached."""

    def __init__(self) -> None:
        self._seen: dict[Node, _Looks] = {}
        self._keys: dict[Node, FactorKey] = {}

    def _looks(self, node: Node) -> _Looks:
        found = self._seen.get(node)
        return found if found is not None else fold([node], _describe, self._seen)[node]

    def degree(self, node: Node) -> Exponent:
        """Return the degree of a factor as a polynomial; 0 for a function of symbols."""
        return self._looks(node).degree

    def factor(self, base: Node) -> FactorKey:
        """Return the sort key of a factor by its base."""
        key = self._keys.get(base)
        if key is None:
            looks = self._looks(base)
            key = self._keys[base] = (
                _rank(base, looks.names) + _group(base),
                looks.names,
                len(looks.text),
                looks.text,
                _Digest(base),
            )
        return key

    def term(self, factors: list[tuple[Node, Exponent]]) -> TermKey:
        """Return the sort key of a term by its factors (bases with exponents, in the order of factors)."""
        degree: Exponent = 0
        scalar = True
        keys: list[tuple[int, tuple[str, ...], int, str, _Digest, Exponent]] = []
        for base, exponent in factors:
            degree += _bounded(self.degree(base) * exponent)
            scalar = scalar and not base.shape
            keys.append((*self.factor(base), -exponent))
        return (-degree, scalar, tuple(keys))


def _group(base: Node) -> int:
    """Return the rank of the group of a factor: scalars, arrays, then reductions of arrays, lam*w*sum(y)."""
    if base.shape:
        return _ARRAYS
    return 0 if base.op.pointwise else 2 * _ARRAYS


def _rank(base: Node, names: tuple[str, ...]) -> int:
    if base.op is NUMBER:
        return _NUMBER
    if base.op is CONSTANT:
        return _CONSTANT
    if base.op is SYMBOL:
        return _CONSTANT if base.declaration.domain.name == "constant" else _SYMBOL
    if base.op.name == "add":
        return _SUM
    return _FUNCTION if names else _RADICAL


def _describe(node: Node, args: list[_Looks]) -> _Looks:
    if node.op is SYMBOL:
        return _Looks((node.name,), str(node.declaration)[:_TEXT], 1)
    if not args:
        return _Looks((), spelling(node.params[-1])[:_TEXT], 0)
    names = args[0].names
    for arg in args[1:]:
        if arg.names != names:
            names = tuple(sorted({*names, *arg.names})[:_NAMES])
    at = _positions(node) if node.op.name == "slice" else ""
    text = f"{node.op.name}{at}({','.join(a.text for a in args)})"
    if node.op.name == "einsum" and not _is_chain(*node.params):
        text += str(node.params)  # A @ x comes before A.T @ x
    return _Looks(names, text[:_TEXT], _bounded(_degree(node, [a.degree for a in args])))


def _positions(taken: Node) -> str:
    """Return where a slice starts on each axis, for the order v[0]*v[1]*v[10]."""
    return ",".join(f"{0 if start is None else start!s:>4}" for start, _, _ in taken.params[0])


def _is_chain(labels: tuple[tuple[int, ...], ...], result: tuple[int, ...]) -> bool:
    """Tell whether a contraction is a product of matrices without a transpose."""
    joins = all(a[-1:] == b[:1] for a, b in pairwise(labels))
    return joins and result == (*labels[0][:-1], *labels[-1][1:]) and all(len(own) <= 2 for own in labels)


_OF_FIRST = frozenset(["neg", "stop_gradient", "gather", "scatter_add"])
_HIGHEST = 10**6


def _bounded(degree: Exponent) -> Exponent:
    """Return a degree with bounded size and precision: readers see no finer difference."""
    degree = max(min(degree, _HIGHEST), -_HIGHEST)
    return degree if degree.denominator <= _HIGHEST else Fraction(round(degree * _HIGHEST), _HIGHEST)


def _degree(node: Node, args: list[Exponent]) -> Exponent:
    name = node.op.name
    if name in _OF_FIRST or ("linear" in node.op.facts and node.op.arity == 1 and not node.op.variadic):
        return args[0]
    if name == "einsum":
        return sum(args)
    if name == "add":
        return max(args)
    if name == "mul":
        return args[0] + args[1]
    if name == "div":
        return args[0] - args[1]
    if name == "pow" and node.args[1].is_number() and abs(node.args[1].value) < 1000:
        return args[0] * node.args[1].value
    return Fraction(args[0]) / 2 if name == "sqrt" else 0
