"""Functions that a program calls and that have no op of their own, such as `silu`: they are printed as calls.

`x*sigmoid(x)` has an op for the sigmoid, but none for the product; if a program calls `silu(x)`, the product is printed
so in its derivatives, too.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from symgrad.ir.composite import WRITTEN, form_of
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.scalar.arith import mul
from symgrad.pretty.limits import EQUATIONS
from symgrad.support.errors import SymgradError
from symgrad.support.traversal import leaves

_CALL = re.compile(r"\b([A-Za-z]\w*)\(")


class NamedCall(NamedTuple):
    """A call of a function of one argument that has no op of its own.

    Args:
        name: the function.
        argument: the argument of the call.
    """

    name: str
    argument: Node


@dataclass(frozen=True, slots=True)
class Notation:
    """How formulas over names are written, in any notation.

    Args:
        literals: symbols that stand for numbers, with these numbers, which are written as in the program.
        calls: parts that are written as calls.
        numbers: the texts of other numbers.
    """

    literals: Mapping[Node, Node]
    calls: Mapping[Node, NamedCall]
    numbers: Mapping[Node, str]

    @property
    def texts(self) -> dict[Node, str]:
        """The texts of calls and numbers in program notation."""
        return {**call_texts(self.calls, self.numbers), **self.numbers}

    def text(self, node: Node) -> str:
        """Return a formula in program notation."""
        return expression_text(node, self.texts)


def call_texts(calls: Mapping[Node, NamedCall], names: Mapping[Node, str] = {}) -> dict[Node, str]:
    r"""Return how calls are written in program notation, given the nodes that are written as a name.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real\ny = silu(silu(x))")
        >>> list(call_texts(calls_in("y = silu(silu(x))", [p["y"]])).values())
        ['silu(x)', 'silu(silu(x))']
    """
    texts: dict[Node, str] = {}
    for node in topological(calls):
        if node in calls:
            name, argument = calls[node]
            texts[node] = f"{name}({expression_text(argument, {**texts, **names})})"
    return texts


def calls_in(text: str, bodies: Iterable[Node]) -> dict[Node, NamedCall]:
    r"""Return the calls of functions of one argument in a program, by the nodes that they compute.

    Args:
        text: the program.
        bodies: the lines of the program.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real\ny = 2*silu(x)")
        >>> [(expression_text(n), call.name) for n, call in calls_in("y = 2*silu(x)", [p["y"]]).items()]
        [('x*sigmoid(x)', 'silu')]
    """
    wanted = [name for name in dict.fromkeys(_CALL.findall(text)) if name in WRITTEN]
    forms = [(name, how) for name in wanted if (how := form_of(name, 1)) is not None]
    if not forms:
        return {}
    nodes = topological(bodies)
    if len(nodes) > EQUATIONS:
        return {}
    known = set(nodes)
    found: dict[Node, NamedCall] = {}
    for name, how in forms:
        for argument in nodes:
            try:
                made = how.build(argument)
            except SymgradError:  # for instance, the argument is a truth value
                continue
            if made in known and made.args:
                found.setdefault(made, NamedCall(name, argument))
    return found


def regrouped(node: Node, calls: Mapping[Node, NamedCall]) -> Node:
    """Return a node in which factors that make up a call, such as `h*silu(g)`, stand next to each other."""
    products = [c for c in calls if c.op is mul]
    if not products:
        return node
    done: dict[Node, Node] = {}
    order = topological([node])
    inner = {a for n in order if n.op is mul for a in n.args if a.op is mul}
    for n in order:
        done[n] = with_args(n, [done[a] for a in n.args])
        if n.op is mul and n not in inner and n not in calls:
            done[n] = _grouped(done[n], products)
    return done[node]


def _grouped(product: Node, calls: Iterable[Node]) -> Node:
    factors = leaves(product, lambda top: top.args if top.op is mul and top not in calls else None)
    before = len(factors)
    for call in calls:
        while all(factors.count(a) >= call.args.count(a) for a in call.args):
            places = [factors.index(a) for a in call.args]
            for a in call.args:
                factors.remove(a)
            factors.insert(max(places) + 1 - len(places), call)
    return reduce(operator.mul, factors) if len(factors) < before else product
