"""Cancel like terms of sums, and bring sums over one denominator, if the result is shorter."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import mul

from symgrad.ir.exact import MONOMIALS
from symgrad.ir.graph import Node
from symgrad.ir.traverse import fold, topological
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.elementary import sqrt
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.rational.read import Reading, power_of, rational_of
from symgrad.rewrite.rational.ring import sum_of
from symgrad.support.traversal import walk

_OPENED = 40  # largest number of nodes of an expression
_SUMS = Reading(laws=frozenset((sqrt,)), divides=False, exponent=3, terms=MONOMIALS)


def shortened(node: Node) -> Node:
    """Return a sum, product or quotient by a number with like terms cancelled, or the node itself if none cancel.

    The caller checks with `keeps_domain` that the cancelled terms have a value everywhere.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> import symgrad.ops
        >>> x, y = symbol(Declaration("x")), symbol(Declaration("y"))
        >>> shortened((x + y) - x) is y
        True
    """
    terms = _terms(node)
    return node if terms is None or len(terms) >= fold([node], _count_terms)[node] else sum_of(terms)


def common_denominator(terms: Iterable[Node], known: Conditions) -> Node | None:
    """Return a sum as one quotient if that adds no terms: `1/(x + 1) - 1/x` is `-1/((x + 1)*x)`.

    Otherwise return None.
    """
    parts = list(terms)
    quotients = [_quotient(t) for t in parts]
    below = dict.fromkeys(q for _, q in quotients if q is not None)
    if not below or len(topological(parts)) > _OPENED:
        return None
    products = [reduce(mul, [q for q in below if q is not own], above) for above, own in quotients]
    found = _terms(sum_of(products))
    if found is None or len(found) > len(parts):
        return None
    numerator = sum_of(found)
    if not keeps_domain((above for above, _ in quotients), [numerator, *below], known):
        return None
    return numerator / reduce(mul, below)


def keeps_domain(before: Iterable[Node], after: Iterable[Node], known: Conditions) -> bool:
    """Tell whether the nodes that a rewrite removes have a value wherever their arguments have one.

    If a choice is removed, its branches may be removed too, so they do not count as kept.
    """
    preserved = set(walk(after, lambda n: n.args[:1] if n.op.name == "where" else n.args))
    return all(n in preserved or known.total(n) for n in topological(before))


def _quotient(term: Node) -> tuple[Node, Node | None]:
    if term.op.name == "neg":
        above, below = _quotient(term.args[0])
        return -above, below
    if term.op.name == "div" and not term.args[1].is_number():
        return term.args[0], term.args[1]
    if term.op.name == "mul" and term.args[0].is_number():
        above, below = _quotient(term.args[1])
        return term.args[0] * above, below
    return term, None


def _terms(node: Node) -> list[Node] | None:
    """Return a node as a sum of unlike terms; None if it is long."""
    found = rational_of(node, reading=_SUMS) if len(topological([node])) <= _OPENED else None
    return found and found.ring.scaled_terms_of(found.above / found.below.leading_coefficient())


def _count_terms(node: Node, counts: list[int]) -> int:
    """Return the number of terms of a sum as it is written, with products multiplied out one by one."""
    if node.op is add:
        return sum(counts)
    return max(counts) if _SUMS.opens(node) and power_of(node)[1].denominator == 1 else 1
