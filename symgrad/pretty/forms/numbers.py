"""Numbers as they were written: decimals stay decimals, and numbers with many digits are not multiplied out.

A literal is a symbol whose name is the text of a number, `6.62607015e-34`. Canonical forms fold numbers, but they leave
a symbol where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

from symgrad.ir.graph import Node, as_node, number, symbol
from symgrad.ir.listing import Listing, spellings_of
from symgrad.ir.notation.literals import number_text, significant_digits
from symgrad.ir.traverse import topological, with_args
from symgrad.ir.types import Declaration, Domain, Number
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.pretty.forms.factor_out import terms_of, without_sign
from symgrad.pretty.limits import FOLDED_DENOMINATOR, FOLDED_DIGITS, FOLDED_WHOLE_DIGITS, PRODUCT_DIGITS

_BINARY = (2, 4, 8)
"""Denominators of decimals such as 0.5 and 2.25; quotients have the same denominators."""

_PRODUCTS = (mul, div, neg)

_NEAR = Fraction(1, 2**20)


@dataclass(slots=True)
class Literals:
    """How numbers are written.

    Args:
        spelled: the text of each decimal of the program.
        meaning: the number of each literal.
        whole: whether every decimal stays as it is, and none is folded.
        spellings: how numbers of the program are written that no literal stands for, such as exponents.
    """

    spelled: dict[Number, str] = field(default_factory=dict[Number, str])
    meaning: dict[Node, Node] = field(default_factory=dict[Node, Node])
    whole: bool = False
    spellings: Mapping[Node, str] = field(default_factory=dict[Node, str])

    @classmethod
    def of(cls, *listings: Listing) -> Literals:
        """Return the literals of programs; the first program takes precedence."""
        decimals = {v: text for listing in reversed(listings) for v, text in listing.decimals.items()}
        return cls(decimals, spellings=spellings_of(listings))

    @property
    def decimal(self) -> bool:
        """Whether the program uses decimals."""
        return bool(self.spelled) or self.whole

    def symbol(self, value: Number) -> Node:
        """Return the literal of a positive number."""
        text = self.spelled.get(value) or number_text(value, decimal=True)
        domain = Domain("constant", "real", value * (1 - _NEAR), value * (1 + _NEAR))
        made = symbol(Declaration(text, domain))
        self.meaning[made] = number(value)
        return made

    def opaque(self, node: Node) -> Node:
        """Return a node whose long decimals are literals, except in exponents."""
        done: dict[Node, Node] = {}
        for n in topological([node]):
            if n.is_number():
                done[n] = self._literal(n.value) if self.is_long(n) else n
                continue
            args = tuple(a if n.op is pow and i and a.is_number() else done[a] for i, a in enumerate(n.args))
            done[n] = n if args == n.args else n.op(*args, params=n.params)
        return done[node]

    def _literal(self, value: Number) -> Node:
        return neg(self.symbol(-value)) if value < 0 else self.symbol(value)

    def is_long(self, node: Node) -> bool:
        """Tell whether a node is a number that is not multiplied out with other numbers."""
        if not node.is_number() or isinstance(node.value, bool):
            return False
        value = node.value
        digits = significant_digits(abs(value))
        if digits is None:
            return False
        if isinstance(value, Fraction):
            return self.whole or digits > FOLDED_DIGITS or value.denominator > FOLDED_DENOMINATOR
        return digits > FOLDED_WHOLE_DIGITS

    def tidy(self, node: Node) -> Node:
        """Return a node with its numbers as a person would write them: `2*0.26992*w` is `0.53984*w`.

        A half that differentiation introduced is written `x/2`, unless the program has such decimals, `0.5` or `2.5`.
        """
        done: dict[Node, Node] = {}
        for n in topological([node]):
            if n.is_number() or not n.args:
                done[n] = n
            elif n.op in _PRODUCTS:
                done[n] = self._product(n, done)
            else:
                args = tuple(
                    a
                    if n.op is pow and i and a.is_number()
                    else self._number(a)
                    if a.is_number()
                    else done[a]
                    for i, a in enumerate(n.args)
                )
                if n.op is add and (subtracted := without_sign(args[1])) is not None:
                    args = args[0], neg(subtracted)
                done[n] = n if args == n.args else n.op(*args, params=n.params)
        return self._number(node) if node.is_number() else done[node]

    def canonical(self, node: Node) -> Node | None:
        """Return the canonical form in which long decimals are literals; None if there are none."""
        from symgrad.rewrite.pipeline import canonical  # a late import, for a quick start

        opaque = self.opaque(node)
        if all(n.value.denominator == 1 for n in self.meaning.values()):
            return None
        return self.tidy(self._literals_last(canonical([opaque]).nodes[0]))

    def _literals_last(self, node: Node) -> Node:
        """Return a node in which sums end with their literals, as with other numbers: x + 0.25, but 0.25 - x."""
        done: dict[Node, Node] = {}
        order = topological([node])
        inner = {a for n in order if n.op is add for a in n.args}
        for n in order:
            done[n] = with_args(n, [done[a] for a in n.args])
            if n.op is add and n not in inner:
                first, *others = terms_of(done[n])
                if first in self.meaning and without_sign(others[0]) is None:
                    done[n] = reduce(add, [*others, first])
        return done[node]

    def _number(self, node: Node) -> Node:
        """Return a single number, as a decimal if it is one."""
        value = node.value
        return self._literal(value) if self._is_decimal(value, 6) else node

    def _is_decimal(self, value: Number, most: int) -> bool:
        """Tell whether a number is a fraction that should be a decimal, because the program has such decimals."""
        if not isinstance(value, Fraction) or not self._is_short(abs(value), most):
            return False
        folded = [v.denominator for v in self.spelled if not self.is_long(number(v))]
        if value.denominator % 5 == 0:
            return any(d > 1 for d in folded)
        return abs(value) in self.spelled or any(d in _BINARY for d in folded)

    def _is_short(self, value: Number, most: int) -> bool:
        digits = significant_digits(value)
        return self.decimal and digits is not None and digits <= most

    def _product(self, node: Node, done: dict[Node, Node]) -> Node:
        """Return a product with its numbers in front; they are multiplied out with literals if the result is short."""
        above: list[Node] = []
        below: list[Node] = []
        number_: Number = 1
        pending = [(node, True)]
        while pending:
            top, up = pending.pop()
            if top.is_number() and top.value:
                number_ = number_ * top.value if up else Fraction(number_) / top.value
            elif top.op is mul and (up or top.args[0].is_number()):
                pending += [(a, up) for a in reversed(top.args)]
            elif top.op is div and up:
                pending += [(top.args[1], False), (top.args[0], True)]
            elif top.op is neg:
                number_ = -number_
                pending.append((top.args[0], up))
            else:
                (above if up else below).append(top)
        literals = [f for f in above if f in self.meaning]
        if len(literals) == 1 and abs(number_) != 1:
            value = abs(number_) * self.meaning[literals[0]].value
            if self._is_short(
                value, max(PRODUCT_DIGITS, 1 + (significant_digits(self.meaning[literals[0]].value) or 0))
            ):
                above.remove(literals[0])
                number_ = value if number_ > 0 else -value
        short = self._is_decimal(number_, PRODUCT_DIGITS)
        if not short and (not literals or literals[0] in above):
            return self._rebuilt(node, done)
        front = self._literal(number_) if isinstance(number_, Fraction) else as_node(number_)
        parts = [done.get(f, f) for f in above]
        if not front.is_number(1):
            parts.insert(0, front)
        product = reduce(mul, parts) if parts else as_node(1)
        return div(product, reduce(mul, [done.get(f, f) for f in below])) if below else product

    def _rebuilt(self, node: Node, done: dict[Node, Node]) -> Node:
        args = tuple(a if a.is_number() else done[a] for a in node.args)
        return node if args == node.args else node.op(*args, params=node.params)
