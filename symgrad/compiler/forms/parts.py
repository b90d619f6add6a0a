"""The parts of formulas that depend on one variable: these can be compared everywhere, and differentiated alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from symgrad.autodiff.jvp import Pushforward
from symgrad.ir.graph import SYMBOL, Node, as_node, symbol
from symgrad.ir.traverse import is_entrywise_in, substitute, topological
from symgrad.ir.types import DOMAINS, Declaration, Domain, Kind
from symgrad.ops.control import stop_gradient, with_slope
from symgrad.rewrite.facts.intervals import Facts

_EQUATIONS = 120
"""The most equations of a part."""

_EXACT = frozenset(("neg", "mul", "div", "stop_gradient"))
"""Ops whose results have all digits that their arguments have, unless they leave the range of floats."""


def parts_of_one_variable(nodes: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield the largest parts of formulas that depend on one variable, each with this variable.

    The variable is a symbol, or the node through which a part reads all its symbols: sin(a*x)/(a*x) depends on a*x.
    It is the node nearest to the symbols that dominates the part. In array programs parts are elementwise.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import DOMAINS, Declaration, Domain, Kind
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ops.scalar.trig import sin
        >>> a, x = (symbol(Declaration(name)) for name in "ax")
        >>> [(expression_text(n), expression_text(v)) for n, v in parts_of_one_variable([a*(sin(a*x)/(a*x) - 1)])]
        [('sin(a*x)/(a*x) - 1', 'a*x')]
    """
    order = topological(nodes)
    dominators: dict[Node, Node | None] = {}
    depths: dict[Node, int] = {}
    variables: dict[Node, Node] = {}
    read_by: dict[Node, list[Node]] = {}
    for n in order:
        args = [a for a in dict.fromkeys(n.args) if a in variables]
        for a in args:
            read_by.setdefault(a, []).append(n)
        if not n.args and n.op is not SYMBOL:
            continue
        if n.args and not args:  # it has no symbols
            continue
        nearest = _common(args, dominators, depths) if args and n.op.pointwise else None
        dominators[n] = nearest
        depths[n] = 1 if nearest is None else depths[nearest] + 1
        variables[n] = n if nearest is None else variables[nearest]
    outputs = set(nodes)
    for n in order:
        variable = variables.get(n)
        if variable is None or variable is n or n.dtype != "real" or variable.dtype != "real":
            continue
        if n.shape != variable.shape:
            continue
        if n not in outputs and all(variables[r] is variable for r in read_by[n]):
            continue
        inside = topological([n], until=[variable])
        loses = not all(_is_exact(m) for m in inside if m is not variable)
        if loses and len(inside) <= _EQUATIONS and is_entrywise_in(n, variable):
            yield n, variable


def _common(
    args: Sequence[Node], dominators: dict[Node, Node | None], depths: dict[Node, int]
) -> Node | None:
    """Return the node nearest to the arguments through which all of them read their symbols."""
    found: Node | None = args[0]
    for a in args[1:]:
        other: Node | None = a
        while found is not other:
            if found is None or other is None:
                return None
            if depths[found] >= depths[other]:
                found = dominators[found]
            else:
                other = dominators[other]
    return found


def _is_exact(n: Node) -> bool:
    return not n.args or n.op.name in _EXACT


def slopes_of_parts(y: Node, order: int) -> Iterator[tuple[Node, Node, Node, list[Node]]]:
    """Yield the parts of one variable of a formula with their derivatives.

    Args:
        y: the formula.
        order: the highest order of the derivatives.

    Yields:
        The part, its variable, the symbol that stands for it, and the part and its derivatives over the symbol.
    """
    for number, (part, variable) in enumerate(parts_of_one_variable([y])):
        argument = variable if variable.op is SYMBOL else symbol(Declaration(f"__argument{number}"))
        push = Pushforward({argument: as_node(1)})
        slopes = substitute([part], {variable: argument})
        for _ in range(order):
            slopes += push([slopes[-1]])
        yield part, variable, argument, slopes


def with_slopes(y: Node, order: int, form_of: Callable[[Node, Node, Node, int], Node]) -> Node:
    """Return a formula whose parts of one variable have derivatives in chosen forms.

    Args:
        y: the formula.
        order: the highest order of the derivatives.
        form_of: returns the form of a derivative of a part, from the derivative, the variable, the part and the order.
    """
    changed: dict[Node, Node] = {}
    for part, variable, argument, slopes in slopes_of_parts(y, order):
        found: Node = as_node(0)
        for k in range(order, 0, -1):
            (form,) = substitute([form_of(slopes[k], argument, slopes[0], k)], {argument: variable})
            found = with_slope(stop_gradient(form), variable, found)
        changed[part] = with_slope(stop_gradient(part), variable, found)
    return substitute([y], changed)[0] if changed else y


def number_symbol(name: str, facts: Facts, kind: Kind = "real") -> Node:
    """Return a symbol for a number: a real one has the interval of its facts."""
    if kind != "real":
        return symbol(Declaration(name, DOMAINS[kind]))
    low, high = (None if isinstance(end, float) else end for end in (facts.low, facts.high))
    return symbol(
        Declaration(name, Domain("real", "real", low, high, not (facts.low_open or facts.high_open)))
    )
