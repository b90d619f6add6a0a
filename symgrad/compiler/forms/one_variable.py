"""Keep the digits of the parts of derivatives that depend on one variable: by other forms, and by choices of forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symgrad.autodiff.logarithmic import LogarithmicDifferentiation
from symgrad.compiler.forms.output import Output
from symgrad.compiler.forms.redifferentiation import rederived
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import substitute, topological
from symgrad.rewrite.choice.regimes import OneVariable
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.support.errors import NumberTooLargeError
from symgrad.support.logs import info

_EQUATIONS = 120
"""The most equations of a part that is looked at."""

_PARTS = 40
"""The most parts that are looked at: each takes some milliseconds."""

_SEARCHES = 8
"""The most parts for which forms are compared: each takes some tenths of a second."""

_EXACT = frozenset(("neg", "mul", "div", "stop_gradient"))
"""Ops whose results have all digits that their arguments have, unless they leave the range of floats."""


def keep_digits(outputs: Sequence[Output], nodes: Sequence[Node]) -> list[Node]:
    """Return derivatives with each part of one variable in a form, or a choice of forms, that keeps its digits.

    Args:
        outputs: the derivatives.
        nodes: the forms in which they would be computed.
    """
    known = Conditions()
    wholes = dict(zip(nodes, outputs, strict=True))
    better: dict[Node, Node] = {}
    searches = 0
    for node, variable in list(parts_of_one_variable(nodes))[:_PARTS]:
        part = OneVariable(node, variable, known.facts(variable))
        if not part.is_suspect(node):
            continue
        searches += 1
        if searches > _SEARCHES:
            info("arrange", "more than %d parts may lose digits; the rest stays as it is", _SEARCHES)
            break
        form = part.choose(list(_forms(node, variable, wholes.get(node))))
        if form is not node:
            better[node] = form
    if better:
        info("arrange", "%d parts of one variable in other forms, as theirs lose digits", len(better))
    return substitute(nodes, better) if better else list(nodes)


def parts_of_one_variable(nodes: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield the largest parts of formulas that depend on one variable, each with this variable.

    The variable is a symbol, or the node through which a part reads all its symbols: sin(a*x)/(a*x) depends on a*x.
    It is the node nearest to the symbols that dominates the part.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
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
        nearest = _common(args, dominators, depths) if args else None
        dominators[n] = nearest
        depths[n] = 1 if nearest is None else depths[nearest] + 1
        variables[n] = n if nearest is None else variables[nearest]
    outputs = set(nodes)
    for n in order:
        variable = variables.get(n)
        if variable is None or variable is n or n.dtype != "real" or variable.dtype != "real":
            continue
        if n not in outputs and all(variables[r] is variable for r in read_by[n]):
            continue
        inside = topological([n], until=[variable])
        if len(inside) <= _EQUATIONS and not all(_is_exact(m) for m in inside if m is not variable):
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


def _forms(node: Node, variable: Node, output: Output | None) -> Iterator[Node]:
    """Yield forms of a part, its own first; further ones if the part is a derivative of a formula of one variable."""
    yield node
    made = [node, canonical([node]).nodes[0]]
    if output is not None:
        made += [output.node, *rederived([output])]
        made += _logarithmic(output, variable)
    for form in list(made):
        try:
            made.append(LogarithmicDifferentiation(variable).reassociated(form))
        except NumberTooLargeError:
            continue
    for form in dict.fromkeys(made):
        yield form
        yield stable([form]).nodes[0]


def _logarithmic(output: Output, variable: Node) -> Iterator[Node]:
    """Yield a derivative by logarithmic differentiation."""
    if variable.op is not SYMBOL:
        return
    for y, order in _differentiated(output, variable):
        for formula in dict.fromkeys([y, stable([y]).nodes[0], canonical([y]).nodes[0]]):
            slope: Node | None = formula
            way = LogarithmicDifferentiation(variable)
            try:
                for _ in range(order):
                    slope = None if slope is None else way.derivative(slope)
            except NumberTooLargeError:
                continue
            if slope is not None:
                yield slope


def _differentiated(output: Output, variable: Node) -> Iterator[tuple[Node, int]]:
    """Yield formulas whose derivative by the variable an output is, with the order."""
    slope = output.slope
    if slope is not None and all(x is variable for x in slope.by):
        yield slope.y, len(slope.by)
    for trace in output.traces:
        if len(trace.outputs) == 1 and trace.outputs[0][1].is_number(1) and output.node in trace.gradients:
            if trace.wrt[trace.gradients.index(output.node)] is variable:
                yield trace.outputs[0][0], 1
