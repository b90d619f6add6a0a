"""Write small arrays entry by entry: `one_hot(0, 2)*x[1] + one_hot(1, 2)*x[0]` is `array([x[1], x[0]])`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from math import prod

import numpy as np

from symgrad.compiler.lowering.entries.program import scalar_program
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ops.array.indexing import eye, one_hot, scatter_add
from symgrad.ops.array.layout import concatenate, unslice
from symgrad.ops.numpy.calls import array
from symgrad.ops.numpy.subscripts import index
from symgrad.ops.scalar.arith import mul
from symgrad.pretty.forms.factor_out import factors_of
from symgrad.pretty.limits import MAX_ENTRIES
from symgrad.support.errors import SymgradError

_PLACED = frozenset((concatenate, eye, one_hot, scatter_add, unslice))
"""Ops whose entries differ by their positions; other arrays say the same of every entry, so they stay whole."""


def by_entries(node: Node, best: Callable[[Node], Node]) -> Node | None:
    """Return a small array as its entries, with their common factors in front; None for other nodes.

    Args:
        node: a formula.
        best: a function that returns the shortest form of a scalar.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import Declaration
        >>> x, y = (symbol(Declaration(name)) for name in "xy")
        >>> first, second = (one_hot(as_node(k), params=(3,)) for k in (0, 1))
        >>> expression_text(by_entries(second * x + first * y, lambda entry: entry))
        'array([y, x, 0])'
    """
    entries = entries_of(node) if any(n.op in _PLACED for n in topological([node])) else None
    if entries is None:
        return None
    found = {e: best(e) for e in dict.fromkeys(entries)}
    front, parts = common_factors([found[e] for e in entries])
    inner = [best(part) for part in parts]
    nested = np.empty(len(inner), dtype=object)
    nested[:] = inner
    made = array(nested.reshape(_sizes(node)).tolist())
    return made if front is None else front(made)


def entries_of(node: Node) -> list[Node] | None:
    """Return the entries of a small array as formulas of the entries of its inputs; None for other nodes."""
    sizes = _sizes(node)
    if not sizes or len(sizes) < len(node.shape) or not 0 < prod(sizes) <= MAX_ENTRIES:
        return None
    inputs = symbols_of([node])
    # A named constant that is whole, such as E = 210e9, is a factor like any other.
    whole = [s for s in inputs if s.dtype == "int" and s.declaration.domain.name == "constant"]
    real = {s: symbol(Declaration(s.name, shape=s.shape)) for s in whole}
    try:
        (factored,) = substitute([node], real)
    except SymgradError:  # it is a position
        return None
    program = scalar_program([factored], [real.get(s, s) for s in inputs], topological([factored]))
    if program is None:
        return None
    places = [index(s, at) if at else s for s in inputs for at in np.ndindex(*_sizes(s))]
    return substitute(program.outputs, dict(zip(program.inputs, places, strict=True)))


def _sizes(node: Node) -> tuple[int, ...]:
    return tuple(size for size in node.shape if isinstance(size, int))


def common_factors(
    entries: Sequence[Node], *, divisors: bool = True
) -> tuple[Callable[[Node], Node] | None, list[Node]]:
    """Return a function that multiplies by the factors which all entries share, and the entries without them."""
    parts = {e: factors_of(e) for e in dict.fromkeys(entries) if not e.is_number(0)}
    if len(parts) < 2:
        return None, list(entries)
    above = _shared([up for _, up, _ in parts.values()])
    below = _shared([down if divisors else [] for _, _, down in parts.values()])
    if not above and not below:
        return None, list(entries)
    inner = {
        e: _quotient(as_node(sign), Counter(up) - above, Counter(down) - below)
        for e, (sign, up, down) in parts.items()
    }
    return lambda rest: _quotient(rest, above, below), [inner.get(e, e) for e in entries]


def _shared(factors: Sequence[Sequence[Node]]) -> Counter[Node]:
    shared = Counter(factors[0])
    for more in factors[1:]:
        shared &= Counter(more)
    return shared


def _quotient(inner: Node, above: Counter[Node], below: Counter[Node]) -> Node:
    made = reduce(mul, [*above.elements(), inner])
    return made / reduce(mul, below.elements()) if below else made
