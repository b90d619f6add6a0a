"""The protocols between the parts of the normal form: `Sums`, `Products`, laws, contractions.

A factor of a product may be a sum, whose terms are products. So `Sums` and `Products` call each other, and the laws and
contractions call both. Each holds the others as `AllForms`; `NormalForms` implements it. Take

    x*(2*x + 4*y) + 3*x*(x + 2*y)

Arguments come first. `Products` collects x*(2*x + 4*y): a `Gathering` includes x, and calls for the sum

1. `sums.primitive`, which splits off the content. `Sums` splits its terms, and calls for 2*x and for 4*y
2. `products.form`. Their factors are symbols, so the recursion ends here.

The content is 2 and the primitive part x + 2*y, so the product is 2 * x**1 * (x + 2*y)**1. No law applies to it
(`apply_to_product`), and it is written. Then `Sums` collects 2*x*(x + 2*y) + 3*x*(x + 2*y), and calls

3. `products.form` of each term, and `products.write` for its monic part. This is the same node x*(x + 2*y) both times:
   like terms with the coefficient 2 + 3.
4. `apply_to_sum`: no law of sums applies.
5. `products.write_signed`, which writes 5 * x**1 * (x + 2*y)**1.

    >>> from symgrad.ir.graph import symbol
    >>> from symgrad.ir.types import Declaration
    >>> from symgrad.rewrite.pipeline import canonical
    >>> x, y = symbol(Declaration("x")), symbol(Declaration("y"))
    >>> found = canonical([x * (2 * x + 4 * y) + 3 * x * (x + 2 * y)])
    >>> [(step.rule, *step.laws) for step in found.trace.steps]
    [('collect-factors', 'content-of-a-sum'), ('collect-terms', 'like-terms')]
    >>> found.nodes[0] is 5 * x * (x + 2 * y)
    True

A call for a node leads to calls for its parts, and results are cached, so the recursion ends soon. Laws could apply to
results of laws without end, so their number is bounded (`Gathering.settle`).
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


class OpenProduct(Protocol):
    """A product while it is collected: laws divide it by factors and multiply it by other factors.

    Attributes:
        factors: bases with their exponents; an exponent is zero if the base cancelled.
        laws: names of the laws that were used.
        notes: where the domain of the product is larger than the domain of the written product.
        fired: whether a law included nodes that have no normal form yet.
    """

    factors: dict[Node, Exponent]
    laws: dict[str, None]
    notes: dict[Note, None]
    fired: bool

    def divide(self, base: Node, e: Exponent) -> None:
        """Divide by a power of a base."""
        ...

    def include(self, base: Node, e: Exponent) -> None:
        """Multiply by a power of a base that is not a product."""
        ...

    def take(self, node: Node, e: Exponent) -> None:
        """Multiply by a power of a node in normal form."""
        ...

    def walk_new(self, node: Node, exponent: int = 1) -> None:
        """Multiply by a power of the result of a rule, which has no normal form yet."""
        ...


class ProductForms(Protocol):
    """Conversions between nodes and products."""

    def small(self, node: Node) -> bool:
        """Tell whether a product in normal form has few enough factors to be flattened into another one."""
        ...

    def form(self, node: Node) -> Form:
        """Return the form of a node in normal form."""
        ...

    def form_of_factor(self, node: Node) -> Form:
        """Return the form of a node as the base of a power; a node in normal form that is a power stays one."""
        ...

    def write(self, form: Form) -> Node:
        """Write a form as one quotient of two products, with the sign in front."""
        ...

    def write_signed(self, form: Form) -> Node:
        """Write a form; a minus sign enters a sum with as many minus as plus signs, a factor -1 enters a single sum."""
        ...

    def sorted(self, factors: Iterable[Node]) -> list[Node]:
        """Return factors in the order of writing."""
        ...

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a product of normal arguments."""
        ...


class SumForms(Protocol):
    """Conversions between nodes and sums."""

    def small(self, node: Node) -> bool:
        """Tell whether a sum has few enough terms to be flattened into another one."""
        ...

    def of(self, node: Node) -> Sum:
        """Return the sum of a node in normal form."""
        ...

    def primitive(self, node: Node) -> tuple[Exponent, Node]:
        """Split a sum into its content and a sum with coprime integer coefficients and a canonical sign."""
        ...

    def flipped(self, node: Node) -> Node | None:
        """Return the negation of a sum with as many minus as plus signs; None for other sums."""
        ...

    def include(self, total: Sum, form: Form) -> None:
        """Add a product to a sum."""
        ...

    def write(self, found: Sum) -> Node:
        """Write a sum, with a common numeric factor in front if that saves a multiplication."""
        ...

    def times(self, node: Node, c: Exponent) -> Node:
        """Write a number times a sum."""
        ...

    def plain(self, node: Node) -> Node:
        """Collect the like terms of a sum whose terms are in normal form, and return other nodes unchanged."""
        ...

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a sum whose terms are in normal form."""
        ...


class AllForms(View, Protocol):
    """The interface through which each normal form uses the others."""

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
        """Results in normal form, which need no visit in this round."""
        ...

    @property
    def products(self) -> ProductForms: ...

    @property
    def sums(self) -> SumForms: ...

    def opens(self, node: Node, root: Node) -> bool:
        """Tell whether a sum or product is flattened into a larger one."""
        ...

    def reads_negative(self, node: Node) -> bool:
        """Tell whether a node in normal form opens with a minus sign, or is a sum with more minus than plus signs."""
        ...

    def negated(self, node: Node) -> Node:
        """Return the negation of a node that reads negative."""
        ...

    def apply_to_product(self, product: OpenProduct) -> bool:
        """Apply the first law of products that matches, and tell whether one matched."""
        ...

    def apply_to_sum(self, total: Sum, laws: dict[str, None], notes: dict[Note, None]) -> bool:
        """Apply laws of sums until none matches, and tell whether one matched; add their names and notes."""
        ...

    def contraction(self, node: Node) -> Node:
        """Return the normal form of a contraction whose operands are in normal form."""
        ...
