"""Symbolic integration against the density, for products without a rule; quadrature must confirm the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.analysis.expectations.assumptions import Assumptions, Undecided
from symgrad.analysis.expectations.families.table import parameters_of
from symgrad.analysis.expectations.numeric.quadrature import Quadrature, first
from symgrad.analysis.explain.noise.sample_points import value_at
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.random.laws import density
from symgrad.ops.sympy_bridge.integration import definite_integral
from symgrad.rewrite.pipeline import canonical

_LARGEST = 40  # number of equations of an integrand
_TRIALS = 3  # number of points at which results are compared
_CLOSE = 1e-6


def integrated(node: Node, sources: Sequence[Node], given: Assumptions, seconds: float) -> Node:
    """Return the expectation of a function of one scalar random input, computed by SymPy.

    Raises:
        Undecided: if SymPy finds none in time, or quadrature disagrees.
    """
    if len(sources) != 1 or node.shape or seconds <= 0:
        raise Undecided
    (u,) = sources
    if u.shape or len(topological([node])) > _LARGEST or u.dtype != "real":
        raise Undecided
    if any(s.shape for s in symbols_of([node])):
        raise Undecided
    distribution = u.declaration.distribution
    assert distribution is not None
    plain = symbol(Declaration(u.name, distribution.support))
    weight = density(u, plain)
    if weight is None:
        raise Undecided
    inside = weight.args[1] if weight.op.name == "where" else weight
    integrand = canonical([substitute([node], {u: plain})[0] * inside]).nodes[0]
    found = definite_integral(integrand, plain, *_ends(u), seconds)
    if found is None:
        raise Undecided
    value, condition = found
    if plain in symbols_of([value, condition]) or not _agrees(value, condition, node, u):
        raise Undecided
    given.require(condition, None)
    return value


def _ends(u: Node) -> tuple[Node | None, Node | None]:
    name, parameters = parameters_of(u)
    if name == "Uniform":
        return parameters[0], parameters[1]
    distribution = u.declaration.distribution
    assert distribution is not None
    low, high = (None if end is None else as_node(end) for end in distribution.support.span)
    return low, high


def _agrees(value: Node, condition: Node, node: Node, u: Node) -> bool:
    """Tell whether quadrature confirms the value at some sample point, and contradicts it at no sample point."""
    rule = Quadrature([node], [u])
    agreed = False
    for trial in range(_TRIALS):
        values: dict[Node, Any] = {
            s: float(value_at(s, trial)) for s in symbols_of([node, value]) if s is not u
        }
        if not evaluate([condition], values)[0]:
            continue
        try:
            mean, error = rule.mean(values, first)
        except Undecided:
            continue
        apart = abs(evaluate([value], values)[0] - mean)
        if not apart <= _CLOSE * max(1.0, abs(mean)) + 10 * np.max(error):
            return False
        agreed = True
    return agreed
