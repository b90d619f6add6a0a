"""Noise that cancels: prove that any two draws give the same gradients, or find two that do not.

The engine of verdicts decides g(x, u) = g(x, v) for all x, u and v, where v is a second draw. This finds cancellation
that no form of g shows, as in sum(x + u - mean(x + u)) = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symgrad.analysis.explain.limits import CANCELLED_SECONDS, PROVABLE_EQUATIONS
from symgrad.analysis.explain.noise.evidence import NoiseWitness, decimals
from symgrad.analysis.explain.noise.sample_points import domain_of, place_in
from symgrad.checker.numbers import fmpq
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.layout import full
from symgrad.support.errors import SymgradError

if TYPE_CHECKING:
    from symgrad.verification.verdict import Verdict

_PLACES = tuple(Fraction(n, 12) for n in (6, 4, 9))
"""Fractions of the support at which a random input is fixed if neither 0 nor 1 will do."""


@dataclass(frozen=True, slots=True)
class TwoDraws:
    """The comparison of any two draws of a random input.

    Attributes:
        same: True if they are proved to give the same gradients, False if two draws do not, None if it is unknown.
        witness: two draws that give different gradients.
    """

    same: bool | None
    witness: NoiseWitness | None = None


def compare_draws(gradients: Sequence[Node], source: Node) -> TwoDraws:
    """Decide whether any two draws of a random input give the same gradients.

    Args:
        gradients: the gradients.
        source: the random input, a symbol of any shape.
    """
    name = free_name(f"{source.name}_", (s.name for s in symbols_of(gradients)))
    other = symbol(replace(source.declaration, name=name))
    read = [k for k, g in enumerate(gradients) if source in topological([g])]
    same = True
    for k, again in zip(read, substitute([gradients[k] for k in read], {source: other}), strict=True):
        verdict = _decided(gradients[k], again)
        if verdict is not None and verdict.status == "refuted":
            return TwoDraws(False, _witness(verdict, k, source.name, name))
        same = same and verdict is not None and _is_proof(verdict, gradients[k], again)
    return TwoDraws(True if same else None)


def without(gradient: Node, source: Node) -> Node | None:
    """Fix a random input that cancels in a gradient at a number; return None if it is not proved that it cancels.

    Args:
        gradient: a formula that reads the input.
        source: the random input.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("x : real[n]; u ~ Normal(0, 1); y = logsumexp(x + u) - u; z = logsumexp(x + u)")
        >>> str_text(without(p["y"], p["u"])), without(p["z"], p["u"])
        ('logsumexp(x + 0) - 0', None)
    """
    for value in _plain_values(source):
        (fixed,) = substitute([gradient], {source: full(as_node(value), source.shape)})
        verdict = _decided(gradient, fixed)
        if verdict is not None and _is_proof(verdict, gradient, fixed):
            return fixed
        if verdict is None or verdict.points or verdict.status == "refuted":
            return None  # another value helps only if the gradient does not exist at this value
    return None


def are_same(a: Node, b: Node) -> bool:
    """Tell whether two formulas are proved equal wherever both have a value."""
    verdict = _decided(a, b)
    return verdict is not None and _is_proof(verdict, a, b)


def _plain_values(source: Node) -> Iterator[Any]:
    """Yield values of a random input; those that simplify a formula most come first."""
    domain = domain_of(source)
    yield from (v for v in (0, 1) if domain.kind != "bool" and domain.admits(v))
    yield from (place_in(domain, t) for t in _PLACES)


def _decided(a: Node, b: Node) -> Verdict | None:
    """Return the verdict on an equation; None if it is too large or malformed."""
    # This is a late import: most gradients need no engine.
    from symgrad.verification.decide import decide, equal

    if len(topological([a, b])) > PROVABLE_EQUATIONS:
        return None
    try:
        return decide(equal(a, b), CANCELLED_SECONDS)
    except SymgradError:
        return None


def _is_proof(verdict: Verdict, *sides: Node) -> bool:
    """Tell whether a verdict covers all points at which both sides have a value."""
    chooses = any(
        n.dtype == "bool" or n.op.name == "abs" or "piecewise-constant" in n.op.facts
        for n in topological(sides)
    )
    return verdict.status == "proved" and not (chooses and verdict.excluded)


def _witness(verdict: Verdict, wrt: int, name: str, other: str) -> NoiseWitness | None:
    """Return the two draws of a refutation, each with its gradient."""
    if verdict.witness is None or verdict.values is None:
        return None
    point = dict(verdict.witness)
    draws = point.pop(name), point.pop(other)
    one, second = map(_decimal, verdict.values)
    gradients = (one, second) if one != second else verdict.values
    return NoiseWitness(point, draws, wrt, gradients, name, verdict.index)


def _decimal(text: str) -> str:
    """Convert a fraction, or the midpoint of a ball, to decimals; return other texts unchanged."""
    if text.startswith("["):
        return text[1:].split(" ")[0]
    top, sign, bottom = text.partition("/")
    return decimals(fmpq(int(top), int(bottom))) if sign else text
