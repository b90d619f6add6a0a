"""Solve for ties: find a formula by inverting one function after another, or a number by bisection."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from symgrad.analysis.explain.noise.dependence import Dependence
from symgrad.analysis.explain.noise.sample_points import domain_of, place_in
from symgrad.ir.graph import OPS, Node
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.verification.points.roots import root_between

_PLACES = 24


def tie_of(left: Node, right: Node, u: Node) -> Node | None:
    """Return the value of u at which two sides tie, if one side is a chain of monotonic functions of u."""
    side, other = (left, right) if u in topological([left]) else (right, left)
    if u in topological([other]):
        return None
    depends = Dependence([side], [u])
    while side is not u:
        inner = [a for a in side.args if depends(a, u)]
        if len(inner) != 1:
            return None
        k = side.args.index(inner[0])
        rest = next((a for i, a in enumerate(side.args) if i != k), None)
        match side.op.name, rest:
            case "add", Node():
                other = other - rest
            case "mul", Node():
                other = other / rest
            case "div", Node() if k == 0:
                other = other * rest
            case "div", Node():
                other = rest / other
            case "neg", None:
                other = -other
            case "sqrt", None:  # sqrt(s) = t < 0 never holds, and s = -t**2 is below the domain
                other = other * OPS["abs"](other)
            case "exp", None:
                other = OPS["log"](other)
            case "log", None:
                other = OPS["exp"](other)
            case _:
                return None
        side = inner[0]
    return other


def change_of(choice: Node, u: Node, point: Mapping[Node, Any]) -> tuple[float, float, float] | None:
    """Return a value of u at which a condition or a sign changes, and its values below and above.

    The result is None if none is found.

    Args:
        choice: a node that has few values.
        u: an input.
        point: values of all other inputs.
    """

    def at(v: float) -> float:
        return float(evaluate([choice], {**point, u: np.float64(v)})[0])

    places = [float(place_in(domain_of(u), Fraction(k, _PLACES))) for k in range(1, _PLACES)]
    values = [at(v) for v in places]
    for (low, below), (high, above) in pairwise(zip(places, values, strict=True)):
        if below != above and np.isfinite(below) and np.isfinite(above):
            crossed = root_between(lambda v, at_low=below: -1.0 if at(v) == at_low else 1.0, low, high)
            return crossed, below, at(crossed)
    return None
