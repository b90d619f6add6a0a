"""Recognise numbers that are lengths of axes: compare a formula for two choices of lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product

from symgrad.ir.graph import NUMBER, SYMBOL, Node, as_node, size_leaf
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Number
from symgrad.support.traversal import walk

_POWERS = (0, 1, -1, 2, -2)
_ROOTS = (Fraction(1, 2), Fraction(-1, 2), Fraction(3, 2), Fraction(-3, 2))
_CLOSE = 1e-6
_SMALL = 12  # largest numerators and denominators of factors before names


def parallel_nodes(
    one: Node, other: Node, alike: Callable[[Node, Node], bool]
) -> Iterator[tuple[Node, Node]]:
    """Yield two nodes; if they are alike, also their arguments in pairs, and so on, depth first from right to left."""

    def descend(pair: tuple[Node, Node]) -> list[tuple[Node, Node]]:
        return list(zip(pair[0].args, pair[1].args, strict=True))[::-1] if alike(*pair) else []

    return walk([(one, other)], descend)


def _is_alike(a: Node, b: Node) -> bool:
    """Tell whether two nodes apply the same op to as many arguments, or are symbols with the same name."""
    same = a.op is b.op and len(a.args) == len(b.args)
    return same and (a.op is not SYMBOL or a.name == b.name)


class SizedPairs:
    """Formulas for some lengths, each paired with the same formula for other lengths.

    Args:
        first: the lengths of names.
        second: other lengths of the same names, all different.
    """

    def __init__(self, first: Mapping[str, int], second: Mapping[str, int]) -> None:
        self.first, self.second = dict(first), dict(second)
        self._other: dict[Node, Node | None] = {}

    def add(self, one: Node, other: Node) -> None:
        """Pair a formula for the first lengths with the formula for the second ones; do so for all of their parts.

        Parts of different structure are paired with None.
        """
        for a, b in parallel_nodes(one, other, _is_alike):
            if a not in self._other:
                numbers = a.op is NUMBER and b.op is NUMBER
                self._other[a] = b if numbers or _is_alike(a, b) else None

    def other(self, node: Node) -> Node | None:
        """Return the same part of the formula for the other lengths; None if that is not known."""
        return self._other.get(node)

    def named(self, node: Node) -> Node | None:
        """Replace the lengths in a formula by names; None if some number may or may not be a length.

        Example:
            >>> from symgrad.ir.graph import symbol
            >>> from symgrad.ir.types import Declaration
            >>> from symgrad.ir.notation.printer import expression_text
            >>> x = symbol(Declaration("x"))
            >>> pairs = SizedPairs({"n": 5, "d": 3}, {"n": 7, "d": 4})
            >>> pairs.add(3*x/10, 3*x/14)
            >>> expression_text(pairs.named(3*x/10))
            '3/(2*n)*x'
        """
        table: dict[Node, Node] = {}
        for part in topological([node]):
            if part.op is not NUMBER:
                if part in self._other and self._other[part] is None:
                    return None
                continue
            if isinstance(part.value, bool):
                continue
            other = self._other.get(part)
            if other is None or other.op is not NUMBER:
                return None
            if other.value != part.value:
                named = self._number(part.value, other.value)
                if named is None:
                    return None
                table[part] = named
        return substitute([node], table)[0]

    def _number(self, one: Number, other: Number) -> Node | None:
        found = named_number(float(one), float(other), self.first, self.second)
        if found is None:
            return None
        constant, powers = found
        above, below = as_node(constant.numerator), as_node(constant.denominator)
        for name, power in powers.items():
            factor = size_leaf(name) ** as_node(abs(power))
            above, below = (above * factor, below) if power > 0 else (above, below * factor)
        return above if below.is_number(1) else above / below


def named_number(
    one: float, other: float, first: Mapping[str, int], second: Mapping[str, int]
) -> tuple[Fraction, dict[str, Fraction]] | None:
    """Return a number as a fraction times powers of names; None if there is no such form for both lengths.

    Args:
        one: the value of the number for the first lengths.
        other: the value of the number for the second lengths.
        first: the first lengths.
        second: the second ones.

    Example:
        >>> found = named_number(3/5, 3/7, {"n": 5}, {"n": 7})
        >>> str(found[0]), {name: int(power) for name, power in found[1].items()}
        ('3', {'n': -1})
    """
    for powers in _monomials([*first]):
        a, b = one, other
        for name, power in powers.items():
            a /= float(first[name]) ** float(power)
            b /= float(second[name]) ** float(power)
        constant = Fraction(a).limit_denominator(_SMALL)
        small = 0 < abs(constant.numerator) <= _SMALL**2
        if small and all(abs(v / float(constant) - 1) < _CLOSE for v in (a, b)):
            return constant, {n: p for n, p in powers.items() if p}
    return None


def _monomials(names: list[str]) -> Iterator[dict[str, Fraction]]:
    """Yield products of powers of names, simple ones first."""
    powers = [*map(Fraction, _POWERS), *_ROOTS]
    every = product(powers, repeat=min(len(names), 3))
    ordered = sorted(
        every, key=lambda ps: (sum(abs(p) + (p.denominator > 1) for p in ps), ps.count(Fraction(0)))
    )
    for exponents in ordered:
        yield dict(zip(names, exponents, strict=False))


def monomial_text(constant: Fraction, powers: Mapping[str, Fraction]) -> str:
    """Return a fraction times powers of names as text.

    Example:
        >>> monomial_text(Fraction(3, 2), {"n": Fraction(-1), "d": Fraction(1, 2)})
        '3*sqrt(d)/(2*n)'
    """

    def factor(name: str, power: Fraction) -> str:
        base = name if power.denominator == 1 else f"sqrt({name})"
        times = power if power.denominator == 1 else 2 * power
        return base if times == 1 else f"{base}**{times}"

    above = [factor(n, p) for n, p in powers.items() if p > 0]
    below = [factor(n, -p) for n, p in powers.items() if p < 0]
    if abs(constant.numerator) != 1 or not above:
        above.insert(0, str(abs(constant.numerator)))
    if constant.denominator != 1:
        below.insert(0, str(constant.denominator))
    sign = "-" if constant < 0 else ""
    under = "*".join(below) if len(below) == 1 else f"({'*'.join(below)})"
    return sign + "*".join(above) + (f"/{under}" if below else "")
