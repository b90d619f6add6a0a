"""What the parts of the normal form ask of each other: sums, products and contractions are made of one another.

A factor of a product may be a sum, whose terms are products, whose factors may be sums. So `Sums` and `Products` call
each other, and what stands beside them (laws, contractions) calls both. Each holds the others as `AllForms`, and knows
no more of them than is said here; `NormalForms` is all of them together. Take

    x*(2*x + 4*y) + 3*x*(x + 2*y)

Arguments come first. `Products` collects x*(2*x + 4*y): a `Gathering` takes in x, and asks of the sum

1. `sums.primitive`: what number can stand in front? `Sums` takes its terms apart, and asks of 2*x and of 4*y
2. `products.form`: what are you made of? Their factors are symbols: here the questions end.

The answers are 2 and x + 2*y, so the product is 2 * x**1 * (x + 2*y)**1. No law wants to change that
(`apply_to_product`), and it is written down. Then `Sums` collects 2*x*(x + 2*y) + 3*x*(x + 2*y), and asks

3. `products.form` of each term, and `products.write` for what stands behind its number. This is x*(x + 2*y) both times,
   one and the same node: like terms, 2 + 3 of them.
4. `apply_to_sum`: does a law of sums fit? None does.
5. `products.write_signed`: how is 5 * x**1 * (x + 2*y)**1 written?

    >>> from symgrad.ir.graph import symbol
    >>> from symgrad.ir.types import Declaration
    >>> from symgrad.rewrite.pipeline import canonical
    >>> x, y = symbol(Declaration("x")), symbol(Declaration("y"))
    >>> found = canonical([x * (2 * x + 4 * y) + 3 * x * (x + 2 * y)])
    >>> [(step.rule, *step.laws) for step in found.trace.steps]
    [('collect-factors', 'content-of-a-sum'), ('collect-terms', 'like-terms')]
    >>> found.nodes[0] is 5 * x * (x + 2 * y)
    True

Questions about a node lead to questions about its parts, and the answers are remembered: that is why this ends, and
soon. What laws put together anew could lead on for ever, so they are counted (`Gathering.settle`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from symgrad.ir.graph import Node
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.normal_form.form import Exponent, Form, Sum
from symgrad.rewrite.normal_form.order import Order
from symgrad.rewrite.pattern import View
from symgrad.rewrite.trace import Note, Step

__all__ = ["AllForms", "OpenProduct", "ProductForms", "SumForms"]


class OpenProduct(Protocol):
    """A product that is being gathered, as a law sees it: it takes factors out and puts others in.

    Attributes:
        factors: bases with their exponents; zero where they cancelled.
        laws: names of the laws that were used.
        notes: where the product is defined and what was written was not.
        fired: whether a law brought in nodes that have no normal form yet.
    """

    factors: dict[Node, Exponent]
    laws: dict[str, None]
    notes: dict[Note, None]
    fired: bool

    def divide(self, base: Node, e: Exponent) -> None:
        """Take out a power of a base."""
        ...

    def include(self, base: Node, e: Exponent) -> None:
        """Multiply by a power of a base that is no product."""
        ...

    def take(self, node: Node, e: Exponent) -> None:
        """Multiply by a power of a node in normal form."""
        ...

    def walk_new(self, node: Node, exponent: int = 1) -> None:
        """Multiply by a power of what a rule has put together, which has no normal form yet."""
        ...


class ProductForms(Protocol):
    """Products: forms of nodes, and nodes of forms."""

    def small(self, node: Node) -> bool:
        """Tell whether a product in normal form has few enough factors to be copied into another."""
        ...

    def form(self, node: Node) -> Form:
        """Return the form of a node in normal form."""
        ...

    def form_of_factor(self, node: Node) -> Form:
        """Return the form of a node that is to be raised to a power; a power in normal form is taken as it is."""
        ...

    def write(self, form: Form) -> Node:
        """Write a form down as one quotient of two products, the sign in front."""
        ...

    def write_signed(self, form: Form) -> Node:
        """Write a form down: a minus sign enters a sum that reads as well so, a number a lone sum."""
        ...

    def sorted(self, factors: Iterable[Node]) -> list[Node]:
        """Return factors in the order in which they are written."""
        ...

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a product of normal arguments."""
        ...


class SumForms(Protocol):
    """Sums: forms of nodes, and nodes of forms."""

    def small(self, node: Node) -> bool:
        """Tell whether a sum has few enough terms to be copied into another."""
        ...

    def of(self, node: Node) -> Sum:
        """Return the sum of a node in normal form."""
        ...

    def primitive(self, node: Node) -> tuple[Exponent, Node]:
        """Write a sum as its content times a sum with coprime integer coefficients and an agreed sign."""
        ...

    def flipped(self, node: Node) -> Node | None:
        """Return the negation of a sum with as many minus as plus signs, which reads as well; else None."""
        ...

    def include(self, total: Sum, form: Form) -> None:
        """Add a product to a sum."""
        ...

    def write(self, found: Sum) -> Node:
        """Write a sum down, a common numeric factor in front if that saves a multiplication."""
        ...

    def times(self, node: Node, c: Exponent) -> Node:
        """Write a number times a sum."""
        ...

    def plain(self, node: Node) -> Node:
        """Write down a sum as written, whose terms are in normal form, with like terms collected."""
        ...

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a sum whose terms are in normal form."""
        ...


class AllForms(View, Protocol):
    """The normal forms together, as each part of them sees the others."""

    @property
    def known(self) -> Conditions:
        """Facts about nodes."""
        ...

    @property
    def order(self) -> Order:
        """The order of terms and factors."""
        ...

    @property
    def settled(self) -> set[Node]:
        """Results known to be in normal form, which need no visit in this round."""
        ...

    @property
    def products(self) -> ProductForms: ...

    @property
    def sums(self) -> SumForms: ...

    def opens(self, node: Node, root: Node) -> bool:
        """Tell whether a sum or product is taken apart inside a larger one."""
        ...

    def reads_negative(self, node: Node) -> bool:
        """Tell whether a node in normal form opens with a minus sign, or is a sum with more minus than plus signs."""
        ...

    def negated(self, node: Node) -> Node:
        """Return the negation of a node that reads negative."""
        ...

    def apply_to_product(self, product: OpenProduct) -> bool:
        """Apply the first law of products that matches, and tell whether one did."""
        ...

    def apply_to_sum(self, total: Sum, laws: dict[str, None], notes: dict[Note, None]) -> bool:
        """Apply laws of sums until none matches, and tell whether one did; add their names and notes."""
        ...

    def contraction(self, node: Node) -> Node:
        """Return a contraction whose operands are in normal form, or what is left of one, in normal form."""
        ...
