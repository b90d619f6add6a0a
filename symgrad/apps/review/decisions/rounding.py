"""Decimals as people write them: 5.48 is a number that rounds to it, where it stands in a claim."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import isfinite, log10

from symgrad.api.claims.verify import equal
from symgrad.api.functions.elementary import abs as magnitude
from symgrad.api.functions.elementary import where
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.assumptions import Condition
from symgrad.apps.review.decisions.conditions import eliminate
from symgrad.apps.review.decisions.shapes import match_shapes
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.ir.graph import NUMBER, OPS, Node, number, symbol
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.support.errors import SymgradError
from symgrad.verification.verdict import Verdict

# A letter may follow at once, as in 0.333x. Digits that a comma parts are not read here.
_DECIMAL = re.compile(r"(?<![\w.,])(?P<digits>\d+\.\d*|\.\d+)(?:[eE](?P<exponent>[-+]?\d+)\b)?(?![.\d])")
_INTEGER = re.compile(r"(?<![\w.,])(?P<digits>\d+)(?![\w.,])")
_NUMBER = re.compile(r"(?<![\w.])(?P<digits>\d+(?:\.\d*)?|\.\d+)(?:[eE](?P<exponent>[-+]?\d+)\b)?")
_SECONDS = 1.0
_SLACK = Fraction(11, 10)  # where a formula is not linear in a decimal
_DOUBTFUL = 4
"""How many times the rounding of its decimals a side may be off before that can have no other reason than a mistake."""
_INHERITED = 10
"""The same where lines above have rounded, too, and a line may go on with what they wrote."""
_FACTORS = (*(10.0**k for k in range(1, 13)), 60.0, 3600.0, 24.0, 86400.0, 3.6)
_CLOSE = 0.01
_SURELY = 1.001  # what no error of floats comes to
_HALF = Fraction(1, 2)
_FEW = 3  # digits from which on a small difference is doubtful


@dataclass(frozen=True, slots=True)
class Decimal:
    """A number that is written with a decimal point.

    Args:
        value: it.
        half: half a unit of its last digit.
        digits: how many it has from the first that is not 0.
    """

    value: Fraction
    half: Fraction
    digits: int


def decimals_in(text: str, *, whole: bool = False) -> list[Decimal]:
    """Return the decimals of a formula.

    Args:
        text: the formula, in any notation.
        whole: whether whole numbers count, too, whose zeros at the end may be none that are known.

    Example:
        >>> [(str(d.value), str(d.half), d.digits) for d in decimals_in("0.0476x + 2.0e3")]
        [('119/2500', '1/20000', 3), ('2000', '50', 2)]
    """
    found: list[Decimal] = []
    for match in _DECIMAL.finditer(text):
        digits, exponent = match["digits"], int(match["exponent"] or 0)
        if abs(exponent) > 400:
            continue
        places = len(digits.partition(".")[2]) - exponent
        value = Fraction(digits) * Fraction(10) ** exponent
        found.append(Decimal(value, Fraction(10) ** -places / 2, len(digits.replace(".", "").lstrip("0"))))
    if whole:
        for match in _INTEGER.finditer(text):
            known = match["digits"].rstrip("0")
            unit = 10 ** (len(match["digits"]) - len(known))
            if known:
                found.append(Decimal(Fraction(match["digits"]), Fraction(unit, 2), len(known)))
    return [d for d in found if d.value]


def numbers_in(text: str) -> list[Fraction]:
    """Return the numbers of a formula, in their order.

    Example:
        >>> [str(n) for n in numbers_in("pi*0.02^2/4 + 3x")]
        ['1/50', '2', '4', '3']
    """
    return [
        Fraction(m["digits"]) * Fraction(10) ** int(m["exponent"] or 0)
        for m in _NUMBER.finditer(text)
        if abs(int(m["exponent"] or 0)) < 400
    ]


def number_text(value: Fraction) -> str:
    """Return a number as a decimal of twelve digits at most.

    Example:
        >>> number_text(Fraction(1, 50)), number_text(Fraction(2, 3))
        ('0.02', '0.666666666667')
    """
    return f"{float(value):.12g}"


class DecimalReadings:
    """Decides claims whose decimals are read as rounded.

    Attributes:
        seen: whether a line had a rounded number: lines below may go on with it.
    """

    def __init__(self) -> None:
        self.seen = False
        self._written: dict[str, Decimal] = {}  # numbers that were rounded, as they are written

    def judged(
        self, left: Node, right: Node, text: str, *, about: bool = False
    ) -> tuple[Verdict, str | None] | None:
        """Decide whether a side is another one, but for the rounding of its decimals.

        Args:
            left: a side.
            right: one that is not equal to it.
            text: as the second one is written.
            about: whether the claim is x ≈ 524: then whole numbers and single digits may be rounded, too.

        Returns:
            The verdict and a sentence: proved where numbers that round to the decimals make the sides equal for all
            inputs; supported where the sides differ by no more than the rounding at all points that were tried;
            undecided where the difference is small, and may be one of numbers that were rounded above. None where
            rounding explains nothing.

        Example:
            >>> from symgrad.frontend.text import parse_program
            >>> p = parse_program("x : real; f = x/3; g = 0.333*x; h = 0.343*x")
            >>> verdict, why = DecimalReadings().judged(p["f"], p["g"], "0.333 x")
            >>> verdict.status, why
            ('proved', '0.333 is 1/3, rounded')
            >>> DecimalReadings().judged(p["f"], p["h"], "0.343 x") is None
            True
        """
        decimals = decimals_in(text, whole=about)
        if not about and not symbols_of([left, right]):  # 7348 of 7348.32
            decimals = [d for d in decimals_in(text, whole=True) if d.half < _HALF or d.digits >= _FEW]
        known = [
            d
            for said, d in self._written.items()
            if re.search(rf"(?<![\d.]){re.escape(said)}(?![\d.])", text)
        ]
        decimals += [d for d in known if d not in decimals]
        found = _with_unknowns(right, decimals)
        if found is None:
            return None
        rounded, unknowns = found
        try:
            return self._judged(left, rounded, unknowns, 1 if about else 2)
        except SymgradError:
            return None

    def _judged(
        self, left: Node, rounded: Node, unknowns: Mapping[Node, Decimal], fewest: int
    ) -> tuple[Verdict, str | None] | None:
        exact = _solved(left, rounded, list(unknowns))
        if exact is not None and all(_is_rounded(exact[r], d) for r, d in unknowns.items()):
            claim = equal(Expr(left), Expr(substitute([rounded], exact)[0]), time_limit=_SECONDS)
            if claim.status in ("proved", "supported"):
                values = [
                    f"{_decimal_text(d)} is {_value_text(exact[r], d)}"
                    for r, d in unknowns.items()
                    if not exact[r].is_number(d.value)
                ]
                said = f"{', '.join(values)}, rounded" if values else None
                if said is not None and min(d.digits for d in unknowns.values()) < fewest:
                    return Verdict("undecided", f"{said} to one digit, if it is meant so"), None
                self.seen = True
                self._written.update((_decimal_text(d), d) for d in unknowns.values())
                why = "the decimals are read as rounded to the digits that are written"
                return Verdict(claim.status, why, points=claim.points), said
        off, most = _distance(left, rounded, unknowns)
        if _holds(off, most):
            self.seen = True
            why = "the sides differ by less than the rounding of the decimals at all points that were tried"
            return Verdict("supported", why, points=1), None
        if min(d.digits for d in unknowns.values()) < _FEW:
            return None
        if exact is not None and not self.seen and any(_is_short(exact[r], d) for r, d in unknowns.items()):
            return None  # the right number has as few digits, and nobody had to round it
        if not _holds(off, most * (_INHERITED if self.seen else _DOUBTFUL)):
            return None
        return Verdict("undecided", "the sides differ by a little, perhaps since numbers were rounded"), None

    def solution(
        self, conditions: Sequence[Condition], unknown: Node, value: Node, text: str
    ) -> tuple[Verdict, str | None] | None:
        """Decide whether a decimal is a solution of equations, rounded; None where rounding explains nothing.

        Args:
            conditions: the equations.
            unknown: the input that they are solved for.
            value: the decimal.
            text: as it is written.
        """
        exact = eliminate(
            conditions, [unknown, *sorted(_others(conditions, unknown), key=lambda s: s.name)], {}
        )
        if exact is not None and unknown in exact:
            return self.judged(exact[unknown], value, text)
        decimals = decimals_in(text)
        if len(decimals) != 1 or decimals[0].digits < 2 or value.op is not NUMBER:
            return None
        for condition in conditions:
            found = (
                None if _others([condition], unknown) else _root_near(condition, unknown, value, decimals[0])
            )
            if found is not None:
                self.seen = True
                return found
        return None


def unit_factor(left: Node, right: Node) -> str | None:
    """Return by what factor of units numbers differ: 1000 of 0.005 and 5, of metres and millimetres.

    Example:
        >>> unit_factor(number(Fraction(1, 200)), number(5)), unit_factor(number(2), number(3))
        ('1000', None)
    """
    sizes = [abs(value) for value in _floats([left, right])]
    if not sizes or not all(size and isfinite(size) for size in sizes):
        return None
    ratio = max(sizes) / min(sizes)
    found = [f for f in _FACTORS if abs(ratio / f - 1) < _CLOSE]
    return f"{found[0]:.0f}" if found else None


def agree_in_floats(sides: Sequence[Node], text: str) -> bool:
    """Tell whether numbers are equal in floats, but for what rounding the decimals of a text may change.

    Example:
        >>> agree_in_floats([number(Fraction(1, 3)), number(Fraction("0.333"))], "0.333")
        True
    """
    values = _floats(sides)
    if not values:
        return False
    digits = min((d.digits for d in decimals_in(text)), default=9)
    return abs(values[0] - values[1]) <= 10.0 ** (2 - digits) * max(map(abs, values))


def _floats(sides: Sequence[Node]) -> list[float]:
    """Return sides as floats; none where one is no number."""
    if symbols_of(sides) or any(side.shape for side in sides):
        return []
    try:
        return [float(Expr(side)) for side in sides]
    except SymgradError:
        return []


def _others(conditions: Sequence[Condition], unknown: Node) -> set[Node]:
    return {s for c in conditions for s in c.reads} - {unknown}


def _root_near(
    condition: Condition, unknown: Node, value: Node, decimal: Decimal
) -> tuple[Verdict, str | None] | None:
    """Return that an equation has a solution that rounds to a decimal, where its sides change their order there.

    They do so at a pole, too, but their difference is no straight line there.
    """
    here = Fraction(value.value)
    places = [here - decimal.half, here, here + decimal.half]
    try:
        found = [
            _floats([(Expr(a) - Expr(b)).node])
            for a, b in (condition.at({unknown: number(x)}) for x in places)
        ]
    except SymgradError:
        return None
    if not all(found):
        return None
    low, middle, high = (values[0] for values in found)
    if not low * high <= 0 or abs(low + high - 2 * middle) > abs(high - low) / 2:
        return None
    ends = f"{number_text(places[0])} and {number_text(places[-1])}"
    said = f"between {ends} the sides of {condition.said} change their order"
    return Verdict("supported", said, points=2), "a solution, rounded"


def _with_unknowns(side: Node, decimals: Sequence[Decimal]) -> tuple[Node, dict[Node, Decimal]] | None:
    """Return a side with inputs in place of its decimals, and which input is which; None if one is not found in it."""
    numbers = [n for n in topological([side]) if n.op is NUMBER and not isinstance(n.value, bool)]
    put: dict[Node, Node] = {}
    unknowns: dict[Node, Decimal] = {}
    for k, d in zip(count(), decimals):
        place = next(((n, s) for n in numbers if (s := _scale(n, d)) is not None), None)
        if place is None:
            continue
        node, scale = place
        if node in put:
            continue
        new = symbol(Declaration(f"rounded_{k}"))
        put[node] = new if scale == 1 else number(scale) * new
        unknowns[new] = d
    return None if not put else (substitute([side], put)[0], unknowns)


def _scale(node: Node, decimal: Decimal) -> Fraction | None:
    """Return how many times a decimal a number is, if that is a power of ten or its negative."""
    ratio = Fraction(node.value) / decimal.value
    power = abs(ratio)
    if power.numerator != 1 and power.denominator != 1:
        return None
    digits = str(max(power.numerator, power.denominator))
    if digits.strip("0") != "1" or (power != 1 and decimal.value.denominator == 1):
        return None
    return ratio


def _distance(left: Node, rounded: Node, unknowns: Mapping[Node, Decimal]) -> tuple[Expr, Expr]:
    """Return how far a side is from another one, and how far the rounding of its decimals can bring it."""
    written = {r: number(d.value) for r, d in unknowns.items()}
    a, b = match_shapes(Expr(left), Expr(substitute([rounded], written)[0]))
    most: Expr | None = None
    slack = Fraction(1)
    for r, d in unknowns.items():
        slope = derivative(Expr(rounded), (Expr(r),)).node
        if r in symbols_of([slope]):
            slack = _SLACK
        term = magnitude(Expr(substitute([slope], written)[0])) * d.half
        most = term if most is None else most + term
    assert most is not None
    return magnitude(a - b), slack * most


def _holds(off: Expr, most: Expr) -> bool:
    """Tell whether a distance is small enough at all points; most are not at the first one that is looked at."""
    inputs = symbols_of([off.node, most.node])
    if all(s.dtype == "real" and not s.shape for s in inputs):
        values = _floats(substitute([off.node, most.node], _point(inputs, 0)))
        if values and values[0] > _SURELY * values[1]:
            return False
    return _true(off <= most).status in ("proved", "supported")


def _true(condition: Expr) -> Verdict:
    sides = match_shapes(where(condition, 1, 0), Expr(number(1)))
    return equal(*sides, time_limit=_SECONDS, values_only=True)


def _solved(left: Node, rounded: Node, unknowns: Sequence[Node]) -> dict[Node, Node] | None:
    """Return the numbers in place of the decimals that make the sides equal at as many points as there are decimals.

    Where the sides are not linear in these their logarithms may be, as of e**(-0.693*t).
    """
    inputs = sorted({*symbols_of([left, rounded])} - set(unknowns), key=lambda s: s.name)
    if any(s.shape or s.dtype != "real" for s in inputs) or left.shape or rounded.shape:
        return None
    points = [_point(inputs, k) for k in range(len(unknowns))]
    for sides in ([left, rounded], [Expr(OPS["log"](n)).canonical().node for n in (left, rounded)]):
        conditions = [Condition(*substitute(sides, point), said="") for point in points]
        found = eliminate(conditions, unknowns, {})
        if found is not None and all(r in found and not symbols_of([found[r]]) for r in unknowns):
            return found
    return None


def _point(inputs: Sequence[Node], k: int) -> dict[Node, Node]:
    """Return a point: numbers that are not equal, and above 1, where most formulas have values."""
    return {s: number(1 + Fraction(2 * j + 3 * k + 1, 4 + j)) for j, s in enumerate(inputs)}


def _is_rounded(value: Node, decimal: Decimal) -> bool:
    share = decimal.half / abs(decimal.value)  # numbers near 1 are decided exactly, whatever the unit
    return _true(magnitude(Expr(value) / decimal.value - 1) <= share).status == "proved"


def _is_short(value: Node, decimal: Decimal) -> bool:
    """Tell whether a number has a decimal with as few places, so that nobody had to round it."""
    value = Expr(value).canonical().node
    return value.op is NUMBER and (Fraction(value.value) / (2 * decimal.half)).denominator == 1


def _value_text(value: Node, decimal: Decimal) -> str:
    text = str(Expr(value).canonical())
    if len(text) <= 12:
        return text
    about = float(Expr(value))
    return f"{about:.{decimal.digits + 3}g}" if isfinite(about) else text


def _decimal_text(decimal: Decimal) -> str:
    """Return a decimal as it was written, with the zeros at its end."""
    places = round(-log10(2 * decimal.half))
    if -1 <= places <= 12 and decimal.value < 10**12:
        return f"{float(decimal.value):.{max(places, 0)}f}"
    return f"{float(decimal.value):.{decimal.digits - 1}e}"
