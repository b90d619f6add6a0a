"""Find points at which a kink, a jump or a threshold lies between two draws of a random input.

If the noise is narrow, usually all draws lie on one side at a random point: `maximum(x, u)` separates them only for x
in the support of u. So one other input is moved to a value at which a choice ties for the middle of the two draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from symgrad.analysis.explain.limits import STRADDLE_POINTS
from symgrad.analysis.explain.noise.sample_points import domain_of
from symgrad.checker.balls.programs import infer_sizes
from symgrad.checker.program.steps import resolve_ends
from symgrad.ir.graph import Node
from symgrad.ir.traverse import readers
from symgrad.verification.points.decision_boundaries import aimed
from symgrad.verification.statement import program_of

_SHORT = (1, 12, 100, 1000)  # denominators of short numbers


def straddling(
    order: Sequence[Node], source: Node, draws: Sequence[Any], point: Mapping[Node, Any]
) -> Iterator[dict[Node, Any]]:
    """Yield variants of a point in which one input is moved such that something ties between two draws.

    Args:
        order: nodes, each after its arguments.
        source: the random input.
        draws: two exact values of the random input.
        point: exact values of the other inputs.

    Raises:
        SymgradError: if the values do not fit the nodes.
    """
    noisy = readers(order, [source])
    kinks = [n for n in order if n in noisy and n.op.switches]
    if not kinks or source.dtype == "bool":
        return
    one, other = draws
    program, _ = program_of(kinks)
    middle = (one + other) * Fraction(1, 2)
    values = {s.name: v.tolist() if s.shape else v for s, v in {**point, source: middle}.items()}
    sizes = infer_sizes(program, values)
    program = replace(program, symbols=tuple(resolve_ends(s, sizes) for s in program.symbols))
    found = (p for p in aimed(program, [values], sizes) if p[source.name] is values[source.name])
    for moved in islice(found, STRADDLE_POINTS):
        for s in (s for s in point if moved[s.name] is not values[s.name]):
            value = moved[s.name]
            if s.shape:
                yield {**point, s: np.array(value, dtype=object)}
                continue
            # A number near the tie will do if it is between the draws.
            short = (Fraction(value).limit_denominator(most) for most in _SHORT)
            numbers = dict.fromkeys([*(n for n in short if domain_of(s).admits(n)), value])
            yield from ({**point, s: number} for number in numbers)
