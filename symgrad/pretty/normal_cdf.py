"""The normal distribution function by name: `ndtr(x)` instead of `erfc` in programs that call `ndtr` or `gelu`.

    (sqrt(2)*x*exp(-x**2/2)/sqrt(pi) + erfc(-x/sqrt(2)))/2   is   ndtr(x) + x*exp(-x**2/2)/sqrt(2*pi)

While a formula is prepared for printing, symbols replace the calls, so that the arithmetic around the calls is
simplified again. The formula is not differentiated in this state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from symgrad.ir.composite import WRITTEN, form_of
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.elementary import sqrt
from symgrad.ops.special.gamma import erfc
from symgrad.pretty.forms.calls import NamedCall

_CALL = re.compile(r"\b([A-Za-z]\w*)\(")
_NAME = "ndtr"


class Normal:
    """Recognise calls of the normal distribution function in formulas.

    Args:
        source: the text of the program.
        taken: the names of the program.
        canonical: a function that returns the canonical form of a node over names.
        forms: a function that returns candidate forms of a node.
        cost: a function that returns the cost of reading a node.
    """

    def __init__(
        self,
        source: str,
        taken: Sequence[str],
        canonical: Callable[[Node], Node],
        forms: Callable[[Node], Sequence[Node]],
        cost: Callable[[Node], float],
    ) -> None:
        called = set(_CALL.findall(source))
        self.spoken = "erfc" not in called and any(map(_is_normal, called))
        self._taken = taken
        self._canonical, self._forms, self._cost = canonical, forms, cost
        self._symbols: dict[Node, Node] = {}

    def named(self, node: Node) -> Node:
        """Replace calls, and half-calls with erfc, by symbols; return the same node if there are none."""
        if not self.spoken or not any(n.op is erfc for n in topological([node])):
            return node
        made = self._with_symbols(node)
        rest = {n: 2 * self._symbol(self._argument(n)) for n in topological([made]) if n.op is erfc}
        if not rest:
            return made
        other = substitute([made], rest)[0]
        return min(self._forms(other), key=self._cost)

    def called(self, node: Node) -> tuple[Node, dict[Node, NamedCall]]:
        """Return a node with the calls inserted for their symbols, and the arguments of these calls."""
        table = {s: n for n, s in self._symbols.items()}
        own = [s for s in topological([node]) if s in table]
        calls = {table[s]: NamedCall(_NAME, u) for s in own if (u := _argument_of(table[s])) is not None}
        return (substitute([node], table)[0] if own else node), calls

    def _with_symbols(self, node: Node) -> Node:
        calls = {n: self._symbol(u) for n in topological([node]) if (u := _argument_of(n)) is not None}
        return substitute([node], calls)[0] if calls else node

    def _argument(self, complement: Node) -> Node:
        """Return u for erfc(-u/sqrt(2)); None for other nodes."""
        return self._canonical(-(complement.args[0] * sqrt(as_node(2))))

    def _symbol(self, argument: Node) -> Node:
        how = form_of(_NAME, 1)
        assert how is not None
        call = how.build(argument)
        found = self._symbols.get(call)
        if found is None:
            taken = {*self._taken, *(s.name for s in self._symbols.values())}
            name = next(n for k in range(len(taken) + 1) if (n := f"zz{k}") not in taken)
            found = self._symbols[call] = symbol(Declaration(name, shape=argument.shape))
        return found


def _argument_of(node: Node) -> Node | None:
    """Return u of the definition of ndtr(u); None for other nodes."""
    how = form_of(_NAME, 1)
    if how is None or node.op.name != "div" or node.args[0].op is not erfc:
        return None
    inner = node.args[0].args[0]
    if inner.op.name != "div" or inner.args[0].op.name != "neg":
        return None
    (u,) = inner.args[0].args
    return u if how.build(u) is node else None


def _is_normal(name: str) -> bool:
    """Tell whether a function is defined by the normal distribution function."""
    how = form_of(name, 1) if name in WRITTEN else None
    return how is not None and any(n.op is erfc for n in topological([how.build(symbol(Declaration("x")))]))
