"""Further forms of a formula for the choice between regimes: one application of a row, or logarithms taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from symgrad.ir.graph import Node, number
from symgrad.ir.traverse import fold, substitute, topological, with_args
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import exp, expm1, log, log1p, sqrt
from symgrad.rewrite.choice.alternatives import Alternatives
from symgrad.rewrite.choice.as_written import ScaledTerm, sum_of
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.rewrite.rules.stable import STABLE

_FORMS = 40
"""The most forms of one formula."""

_ONE, _TWO = number(1), number(2)


def _sum(u: Node) -> Node:
    """Return exp(-u)*2*cosh(u)."""
    return add(_ONE, exp(neg(mul(_TWO, u))))


def _difference(u: Node) -> Node:
    """Return exp(-u)*2*sinh(u)."""
    return neg(expm1(neg(mul(_TWO, u))))


def _cosh(u: Node) -> Node:
    return div(mul(exp(u), _sum(u)), _TWO)


def _sinh(u: Node) -> Node:
    return div(mul(exp(u), _difference(u)), _TWO)


_EXPONENTIALS: Mapping[str, Callable[[Node], Node]] = {
    "cosh": _cosh,
    "sinh": _sinh,
    "tanh": lambda u: div(_difference(u), _sum(u)),
    "sech": lambda u: div(_ONE, _cosh(u)),
    "csch": lambda u: div(_ONE, _sinh(u)),
    "coth": lambda u: div(_sum(u), _difference(u)),
    "sigmoid": lambda u: div(_ONE, add(_ONE, exp(neg(u)))),
}
"""Functions by exponentials that do not overflow for positive arguments."""


_ELEMENTARY: Mapping[str, Callable[[Node], Node]] = {
    "expm1": lambda u: add(exp(u), number(-1)),
    "log1p": lambda u: log(add(_ONE, u)),
}


def value_forms(node: Node, known: Conditions) -> list[Node]:
    """Return forms of a formula that differ from it at one place.

    Args:
        node: the formula.
        known: facts, which decide the conditions of rows.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import Declaration
        >>> x = symbol(Declaration("x"))
        >>> [expression_text(n) for n in value_forms(log(1 - exp(-x)), Conditions())]
        ['log(1 - exp(-x))', 'log1p(-exp(-x))', 'log(-expm1(-x))']
    """
    found = dict.fromkeys([node, canonical([node]).nodes[0], elementary_form(node)])
    for form in _forms(node, known):
        found[form] = None
        if len(found) >= _FORMS:
            break
    return list(found)


def elementary_form(node: Node) -> Node:
    """Return a formula in canonical form over exp and log: 1 + expm1(x) is exp(x).

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ir.types import Declaration
        >>> x = symbol(Declaration("x"))
        >>> expression_text(elementary_form(1 + expm1(x)))
        'exp(x)'
    """
    if not any(n.op.name in _ELEMENTARY for n in topological([node])):
        return node

    def spelled(n: Node, args: list[Node]) -> Node:
        return _ELEMENTARY[n.op.name](args[0]) if n.op.name in _ELEMENTARY else with_args(n, args)

    found = fold([node], spelled)
    return canonical([found[node]]).nodes[0]


def _forms(node: Node, known: Conditions) -> Iterator[Node]:
    starts = dict.fromkeys([node, canonical([node]).nodes[0]])
    alternatives = Alternatives(STABLE, known)
    for start in starts:
        for part in reversed(topological([start])):
            others = [step.after for step in alternatives.of(part)]
            if part.op is log:
                others += _log_forms(part.args[0])
            yield from (substitute([start], {part: other})[0] for other in others)


def _log_forms(u: Node) -> Iterator[Node]:
    """Yield forms of log(u)."""
    # Near 1 the logarithm is as small as u - 1.
    yield log1p(canonical([add(u, number(-1))]).nodes[0])
    for argument in dict.fromkeys([u, *canonical([u]).nodes, *stable([u]).nodes]):
        for mirrored in (False, True):
            yield sum_of(_log_terms(_in_exponentials(argument, mirrored)))


def _in_exponentials(node: Node, mirrored: bool) -> Node:
    """Return a formula with exponentials in place of hyperbolic functions; ``mirrored`` for negative arguments."""

    def form(n: Node) -> Node:
        (u,) = n.args
        if not mirrored:
            return _EXPONENTIALS[n.op.name](u)
        if n.op.name == "sigmoid":
            return div(exp(u), add(_ONE, exp(u)))
        found = _EXPONENTIALS[n.op.name](neg(u))
        return neg(found) if "odd" in n.op.facts else found

    changed = {n: form(n) for n in topological([node]) if n.op.name in _EXPONENTIALS}
    return substitute([node], changed)[0] if changed else node


def _log_terms(u: Node, power: Fraction = Fraction(1)) -> list[ScaledTerm]:
    """Return the terms of the logarithm of a product."""
    if u.is_number(1):
        return []
    if u.op is mul:
        return _log_terms(u.args[0], power) + _log_terms(u.args[1], power)
    if u.op is div:
        return _log_terms(u.args[0], power) + _log_terms(u.args[1], -power)
    if u.op is pow and u.args[1].is_number():
        return _log_terms(u.args[0], power * Fraction(u.args[1].value))
    if u.op is sqrt:
        return _log_terms(u.args[0], power / 2)
    if u.op is exp:
        return [(power, u.args[0])]
    if u.op is add and u.args[0].is_number(1):
        return [(power, log1p(u.args[1]))]
    if u.op is neg and u.args[0].op is expm1:
        return [(power, log1p(neg(exp(u.args[0].args[0]))))]
    return [(power, log(u))]
