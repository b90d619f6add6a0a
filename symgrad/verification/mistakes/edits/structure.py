"""Compare a claim as a whole with the right derivative: factor, term, exchanged names, sums, digits, branch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, permutations
from math import pi

import numpy as np

from symgrad.ir.graph import OPS, Node, as_node, constant
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Number
from symgrad.ops.array.contraction import adjoint, contract, sum_over
from symgrad.ops.array.layout import full
from symgrad.verification.mistakes.derivation import RightDerivation
from symgrad.verification.mistakes.edits.formulas import Edit
from symgrad.verification.mistakes.limits import AGREE, LONG, MOST_LANES, ROUNDED, SIMPLE, TELLING
from symgrad.verification.mistakes.numbers import Array, TrialPoint, TrialPoints, telling


def agree(one: Array, other: Array, right: Array | None = None, *, most: bool = False) -> bool:
    """Tell whether values are equal except for rounding.

    Args:
        one: values, one row for each point; they are also compared with the largest value of their row.
        other: likewise.
        right: the values of the right derivative: a difference that is small compared with them is rounding.
        most: whether to ignore a few points, at which one of two forms may have lost its digits.
    """
    if one.shape != other.shape:
        return False
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(one), np.abs(other))
        if right is not None and right.shape == one.shape:
            scale = scale + 1e-4 * np.abs(right)
        scale = np.maximum(scale, 1e-3 * np.max(scale, axis=1, keepdims=True, initial=0))
        # An infinite value would agree with any other value, because the scale is infinite, too.
        fine: Array = np.all((np.abs(one - other) <= AGREE * scale) & np.isfinite(scale), axis=1)
        return bool(np.mean(fine) >= MOST_LANES if most and len(fine) else np.all(fine))


@dataclass(frozen=True, slots=True)
class Deviation:
    """A difference between the claim and the right derivative as a whole.

    Args:
        kind: the kind of the diagnosis.
        says: the sentence, in which ``{held}`` and ``{other}`` are parts of the program.
        rank: as for a `MalRule`.
        sides: a function that returns two formulas, which must be equal; None if they are known to be.
        held, other: the parts of the program that the sentence quotes.
        number: the number in the sentence, if it may depend on lengths of axes: ``{number}``.
    """

    kind: str
    says: str
    rank: float
    sides: Callable[[], tuple[Node, Node]] | None = None
    held: Node | None = None
    other: Node | None = None
    number: float | None = None


def named_factors(d: RightDerivation, claim: Node, right: Array, claimed: Array) -> Iterator[Deviation]:
    """If the claim is the right derivative times a number, yield the names of this factor; otherwise nothing."""
    ratio = _ratio(d, right, claimed)
    if ratio is None:
        return
    number = TrialPoint({})
    for kind, factor, says in _factors(d.counts):
        if abs(ratio / float(number(factor)) - 1) < AGREE:
            rank = 16 if kind != "lost-minus" else 23
            says = f"the claim is the right derivative {says}"
            yield Deviation(kind, says, rank, lambda factor=factor: (d.right * factor, claim))


def _ratio(d: RightDerivation, right: Array, claimed: Array) -> float | None:
    """Return c if the claim is c times the right derivative; otherwise None."""
    lanes = d.sampled.lanes
    there = telling(right, lanes=lanes)
    # Any factor fits at one point.
    least = min(TELLING, len(there)) if lanes else 2
    if np.sum(np.any(there, axis=1)) < least or np.any(telling(claimed, lanes=lanes)[~there]):
        return None
    quotients = claimed[there] / right[there]
    middle = float(np.median(quotients))
    return middle if middle and np.all(np.abs(quotients / middle - 1) < AGREE) else None


def _factors(counts: Mapping[str, int]) -> Iterator[tuple[str, Node, str]]:
    """Yield factors that have a name, each with its kind and its text."""
    yield "lost-minus", as_node(-1), "with the other sign"
    for f in (2, -2):
        yield "factor-2", as_node(f), f"times {f}"
        yield "factor-2", as_node(Fraction(1, f)), f"divided by {f}"
    for text, n in counts.items():
        yield "factor-n", as_node(n), f"times {text}"
        yield "factor-n", as_node(Fraction(1, n)), f"divided by {text}"
        if n > 1:
            yield "factor-n", as_node(Fraction(n - 1, n)), f"times (1 - 1/{_bracketed(text)})"
            yield "factor-n", as_node(Fraction(n, n - 1)), f"divided by (1 - 1/{_bracketed(text)})"
    for (a, m), (b, n) in permutations(counts.items(), 2):
        yield "factor-n", as_node(Fraction(m, n)), f"times {a}/({b})"
    yield "degrees-for-radians", constant("pi") / 180, "times pi/180"
    yield "degrees-for-radians", 180 / constant("pi"), "times 180/pi"
    for base in (2, 10):
        yield "log-base", OPS["log"](as_node(base)), f"times log({base})"
        yield "log-base", 1 / OPS["log"](as_node(base)), f"divided by log({base})"


def _bracketed(text: str) -> str:
    return text if text.isidentifier() or text.isdecimal() else f"({text})"


_SUM = "the claim lacks a sum over all of {0}"
_TIMES, _PLUS, _MINUS = (f"the claim is the right derivative {w}" for w in ("times", "plus", "minus"))
_TWIN = (
    "the claim is the derivative with respect to a symmetric {held}, each entry counted with its mirror image"
)
_ONE, _ALL = (
    "the claim is right only for a symmetric {held}",
    "the claim is right only for symmetric matrices",
)


def missing_sums(derivation: RightDerivation, claim: Node) -> Iterator[tuple[Edit, Node, Node]]:
    """Yield pairs of formulas that are equal if the claim lacks a sum around it, or has one too many."""
    right, shape, own = derivation.right, derivation.wrt.shape, claim.shape
    if len(own) < len(shape):
        for axes in combinations(range(len(shape)), len(shape) - len(own)):
            total = sum_over(right, axes)
            if total.shape == own:
                says = "the claim is the right derivative summed over an axis that it has"
                yield Edit("wrong-axis-sum", right, total, 20, says), total, claim
    elif len(own) > len(shape):
        forms = [sum_over(claim, axes) for axes in combinations(range(len(own)), len(own) - len(shape))]
        if len(own) == 2 and own[0] == own[1] and not shape:
            forms.append(contract([claim], [(0, 0)], ()))
        for form in forms:
            if form.shape == shape:
                yield Edit("missing-broadcast-sum", claim, form, 12, _SUM), form, right


def of_symmetric(
    derivation: RightDerivation, claim: Node, square: Collection[str]
) -> Iterator[tuple[str, Node | None, float]]:
    """Yield a sentence and the symmetric matrices for which, or with respect to which, a claim is right.

    Args:
        derivation: the right derivation.
        claim: a claim about arrays.
        square: the names of the matrices that are square for all sizes.
    """
    right, wrt = derivation.right, derivation.wrt
    points = derivation.sampled.points

    def equal(one: Node, other: Node, at: Sequence[TrialPoint]) -> bool:
        sampled = TrialPoints(at, lanes=False)
        first, second = (sampled.rows(n, wrt.shape) for n in (one, other))
        return agree(first, second)

    if wrt.name in square:
        twice = right + adjoint(right)
        diagonal = right * OPS["eye"](params=(wrt.shape[0], wrt.shape[0]))
        if equal(twice - diagonal, claim, points) or equal(twice, claim, points):
            yield _TWIN, wrt, 13
            return
    symbols = symbols_of([right, claim])
    found = [s for s in symbols if s.name in square]
    for some in [*([s] for s in found), *([found] if len(found) > 1 else [])]:
        turned = [
            TrialPoint({s: (p(s) + p(s).T) / 2 if s in some else p(s) for s in symbols}) for p in points
        ]
        if equal(right, claim, turned):
            one = some[0] if len(some) == 1 else None
            yield _ONE if one is not None else _ALL, one, 13
            return


def differences(
    derivation: RightDerivation, claim: Node, right: Array, claimed: Array
) -> Iterator[Deviation]:
    """Yield the first difference that no mistake explains."""
    ways = (_other_derivative, _exchanged, _rounded, _constant_factor, _constant_term)
    yield from islice((f for way in ways for f in way(derivation, claim, right, claimed)), 1)


def _other_derivative(d: RightDerivation, claim: Node, right: Array, claimed: Array) -> Iterator[Deviation]:
    """Yield the derivative with respect to another variable, or the function itself."""
    for node, bar in d.bars.items():
        if node is not d.wrt and not node.args and node.shape == d.wrt.shape:
            says = "the claim is the derivative with respect to {held}"
            found = Deviation("other-variable", says, 30, lambda bar=bar: (bar, claim), node, node)
            if agree(d.rows(bar), claimed, right):
                yield found
    if d.y.shape == d.wrt.shape and agree(d.rows(d.y), claimed, right):
        yield Deviation(
            "not-differentiated", "the claim is {held} itself", 30, lambda: (d.y, claim), d.y, d.y
        )


def _exchanged(d: RightDerivation, claim: Node, right: Array, _claimed: Array) -> Iterator[Deviation]:
    """Yield two names that are exchanged in the claim."""
    for a, b in combinations(symbols_of([claim, d.right]), 2):
        if a.shape == b.shape and a.dtype == b.dtype:
            (other,) = substitute([claim], {a: b, b: a})
            if other is not claim and agree(d.rows(other), right, right):
                says = "the claim has {held} and {other} exchanged"
                yield Deviation("names-exchanged", says, 30, lambda other=other: (other, d.right), a, b)


def _constant_factor(d: RightDerivation, _claim: Node, right: Array, claimed: Array) -> Iterator[Deviation]:
    ratio = _ratio(d, right, claimed)
    if ratio is not None:
        for text, unit in (("", 1.0), ("*pi", pi), ("/pi", 1 / pi)):
            simple = _simple(ratio / unit)
            if simple is not None:
                yield Deviation("constant-factor", f"{_TIMES} {_spelled(simple)}{text}", 30, number=ratio)
                return
        yield Deviation("constant-factor", f"{_TIMES} {ratio:.6g}", 31, number=ratio)


def _constant_term(d: RightDerivation, claim: Node, right: Array, claimed: Array) -> Iterator[Deviation]:
    gap = claimed - right
    simple = _simple(float(np.median(gap))) if len(gap) else None
    if simple is not None and agree(gap, np.full_like(gap, float(simple)), right):
        term = full(as_node(simple), claim.shape)
        says = f"{_PLUS if simple > 0 else _MINUS} {_spelled(abs(simple))}"
        yield Deviation("missing-term", says, 30, lambda: (d.right + term, claim), number=abs(float(simple)))


def _spelled(number: Number) -> str:
    """Return a number as people write it: 8.314 and not 4157/500, but 2/3, 7/4 and 1/100."""
    decimal = f"{float(number):.6g}"
    short = Fraction(decimal) == number and "e" not in decimal
    return decimal if short and abs(number.numerator) > 1 and number.denominator > LONG else str(number)


def _simple(value: float) -> Number | None:
    """Return the fraction of small integers that equals a float; None if there is none."""
    found = Fraction(value).limit_denominator(SIMPLE)
    # Fractions of large integers approximate any number.
    if not found or abs(value / float(found) - 1) > 10 * AGREE / abs(found.numerator * found.denominator):
        return None
    return found.numerator if found.denominator == 1 else found


def _rounded(_d: RightDerivation, _claim: Node, right: Array, claimed: Array) -> Iterator[Deviation]:
    """Yield the number of digits to which a claim with rounded numbers agrees."""
    with np.errstate(all="ignore"):
        gap = np.max(np.abs(claimed - right) / np.maximum(np.abs(claimed), np.abs(right)), initial=0)
    if 0 < gap < ROUNDED:
        digits = -int(np.floor(np.log10(gap))) - 1
        says = f"the claim agrees with the right derivative to {digits} digits: a number in it is rounded"
        yield Deviation("rounded-number", says, 32)


def on_a_branch(d: RightDerivation, right: Array, claimed: Array) -> Iterator[Deviation]:
    """Yield a claim that is right at a large share of the points."""
    if not d.sampled.lanes:
        return
    equal = np.array([agree(a[None], b[None], a[None]) for a, b in zip(claimed, right, strict=True)])
    if 2 <= np.sum(equal) < len(equal):
        yield Deviation("right-on-a-branch", "the claim is right {where}, and not elsewhere", 40)
