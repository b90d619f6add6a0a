"""Two draws of a random input for which a gradient certainly differs: the evidence, and its test at a point.

The values are computed with balls at exact points. So a comparison or a jump that rounding might decide has no value,
and draws at which a gradient needs such a value are no evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from symgrad.analysis.explain.limits import WITNESS_ENTRIES_TOLD, WITNESS_INPUTS_TOLD
from symgrad.checker.balls.entries import box
from symgrad.checker.balls.scalar_ops import ball
from symgrad.checker.numbers import context, fmpq
from symgrad.checker.witness import all_certain, disjoint, paired_entries
from symgrad.ir.graph import Node
from symgrad.ir.notation.literals import number_text
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Number, decimal_text
from symgrad.ir.values.evaluate import mp_context
from symgrad.rewrite.choice.certain_values import ball_values, exact_ball
from symgrad.rewrite.facts.distribution_params import conditions_on

DIGITS = 20
"""The digits of printed values."""

_MOST_DIGITS = 110  # if two values agree in so many digits, their difference is printed

ExactValue: TypeAlias = "Number | bool | list[ExactValue]"


@dataclass(frozen=True, slots=True)
class NoiseWitness:
    """A point and two draws at which the gradient differs.

    Attributes:
        values: the exact values of the other inputs; an array is a nested list.
        draws: the two exact values of the random input.
        wrt: the position, in ``wrt``, of the input whose gradient differs.
        gradients: the gradient for each draw, with enough digits to differ; for an array, the entry that differs.
        name: the name of the random input.
        entry: the index of the entry that differs; () for a number.
    """

    values: Mapping[str, ExactValue]
    draws: tuple[ExactValue, ExactValue]
    wrt: int
    gradients: tuple[str, str]
    name: str
    entry: tuple[int, ...] = ()

    def __str__(self) -> str:
        inputs = list(self.values.items())[:WITNESS_INPUTS_TOLD]
        at = ", ".join(f"{name} = {_text(value)}" for name, value in inputs)
        left = len(self.values) - len(inputs)
        more = f" and {left} more inputs" if left else ""
        where = f" in entry {list(self.entry)}" if self.entry else ""
        one, other = (
            f"{self.name} = {_text(draw)} gives {gradient}{where}"
            for draw, gradient in zip(self.draws, self.gradients, strict=True)
        )
        return f"{'at ' if at else ''}{at}{more}{', ' if at else ''}{one}, {other}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A witness with the value of every node for either draw, in balls of so many bits."""

    witness: NoiseWitness
    first: Mapping[Node, Any]
    second: Mapping[Node, Any]
    bits: int

    def differs(self, node: Node) -> bool:
        """Tell whether the value of a node certainly depends on the draw."""
        return differ(self.first[node], self.second[node])


def differ(a: Any, b: Any) -> bool:
    """Tell whether an entry of two values, in balls, certainly differs."""
    return any(disjoint(x, y) for _, x, y in paired_entries(a, b))


def requirements(outputs: Sequence[Node]) -> list[Node]:
    """Return the conditions under which the random inputs of outputs have valid distributions and values.

    The conditions read the nodes that compute parameters, so these nodes belong to the point.
    """
    return [c for s in symbols_of(outputs) for c in conditions_on(s)]


def decide(
    nodes: Sequence[Node],
    y: Node,
    gradients: Sequence[Node],
    source: Node,
    point: Mapping[Node, Any],
    pair: Sequence[Any],
    bits: int,
) -> Evidence | None:
    """Return the evidence if two draws certainly give different gradients at a point.

    Args:
        nodes: the nodes to evaluate.
        y: the differentiated value, which must exist for both draws.
        gradients: the gradients.
        source: the random input.
        point: the exact values of the other inputs.
        pair: the two exact values of the random input.
        bits: the precision.

    Raises:
        SymgradError, ArithmeticError, ValueError: if the nodes cannot be evaluated there.
    """
    conditions = requirements([y, *gradients])
    sides: list[dict[Node, Any]] = []
    for draw in pair:
        given = {s: exact_ball(v) for s, v in {**point, source: draw}.items()}
        values = ball_values([*nodes, y, *gradients, *conditions], given, bits)
        valid = all(v is True for c in conditions for v in box(values[c]).flat)
        if not valid or not all_certain([values[n] for n in (y, *gradients)]):
            return None  # the point is outside a domain or a support, or too near its end
        sides.append(values)
    first, second = sides
    with context.workprec(bits):
        for i, gradient in enumerate(gradients):
            pairs = paired_entries(first[gradient], second[gradient])
            found = next((p for p in pairs if disjoint(*p[1:])), None)
            if found is not None:
                named = {s.name: _listed(v) for s, v in point.items()}
                draws = _listed(pair[0]), _listed(pair[1])
                texts = distinct_decimals(*found[1:])
                witness = NoiseWitness(named, draws, i, texts, source.name, found[0])
                return Evidence(witness, first, second, bits)
    return None


def distinct_decimals(one: Any, other: Any) -> tuple[str, str]:
    """Return two different values in balls as decimals; a value that may be zero is written "0".

    There are 20 digits, or more until the two texts differ; if that takes over a hundred, the second text is the
    distance from the first.
    """
    for digits in range(DIGITS, _MOST_DIGITS + 1, 5):
        texts = decimals(one, digits), decimals(other, digits)
        if texts[0] != texts[1]:
            return texts
    gap = other - one
    return decimals(one), f"the first {'-' if gap < 0 else '+'} {decimals(abs(gap), 5)}"


def decimals(value: Any, digits: int = DIGITS) -> str:
    """Return a rational number, or the middle of a ball, as a decimal.

    Example:
        >>> from symgrad.checker.numbers import arb
        >>> decimals(fmpq(1, 3)), decimals(arb(1.5)), decimals(arb(0, 1))
        ('0.33333333333333333333', '1.5', '0')
    """
    mp = mp_context(_MOST_DIGITS + DIGITS)
    if type(value) is fmpq:
        return str(mp.nstr(mp.mpf(int(value.p)) / int(value.q), digits))
    if not value.is_exact() and value.contains(0):
        return "0"
    mantissa, exponent = ball(value).mid().man_exp()
    return str(mp.nstr(mp.ldexp(mp.mpf(int(mantissa)), int(exponent)), digits))


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _text(value: ExactValue) -> str:
    if isinstance(value, list):
        shown = [_text(v) for v in value[:WITNESS_ENTRIES_TOLD]]
        return f"[{', '.join([*shown, *(['...'] if len(value) > WITNESS_ENTRIES_TOLD else [])])}]"
    return str(value) if isinstance(value, bool) else decimal_text(value) or number_text(value)
