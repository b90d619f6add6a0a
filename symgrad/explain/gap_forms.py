"""Forms that compute a formula where it is 0/0 as written, and beside that point: stable ones, and power series."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from symgrad.backward.vjp import pull_back
from symgrad.explain.beside import ULP, Beside
from symgrad.explain.draws import domain_of
from symgrad.ir.evaluate import evaluate_mp
from symgrad.ir.graph import Node, as_node
from symgrad.ir.op import OPS
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.rewrite.condition import Conditions
from symgrad.rules.pipeline import canonical, stable
from symgrad.words.common import without_sign

__all__ = ["CLOSE", "FormSearch"]

CLOSE = 1e-6  # a distance at which forms that have no radius are compared

_FORM = 1e-13  # the largest relative error of a form
_SLOPE = 1e-11  # one of its derivative that is small enough
_SMALL = Fraction("1.1e-16")  # beside one, half an ulp
_BEYOND = 3  # terms behind the last one that tell whether it was


@dataclass(frozen=True, slots=True)
class FormSearch:
    """Looks for a form of a formula.

    Args:
        whole: the formula.
        beside: where it is 0/0.
        end: when to stop, by the monotonic clock.
    """

    whole: Node
    beside: Beside
    end: float

    def form(self, e: Node, part: Node, w: Node, start: Node, c: Sequence[Node]) -> Node | None:
        """Return a form of a part; of derivatives digits are to be kept, too. None if none is found.

        Args:
            e: the formula with the part in it.
            part: what is 0/0.
            w: by what it has a power series.
            start: its value at the point.
            c: the coefficients.
        """
        (t,) = canonical([w - start]).nodes if not start.is_number(0) else (w,)
        (direct,) = stable([part]).nodes
        ended = next((k for k in range(1, len(c) - 3) if all(x.is_number(0) for x in c[k:])), None)
        polynomial = [] if ended is None else [_polynomial(c[:ended], t)]
        close = [CLOSE] * len(self.beside.points)
        for plain in dict.fromkeys([*polynomial, *canonical([part]).nodes, direct]):
            (whole,) = substitute([e], {part: plain})
            if self.beside.worst(self.whole, whole, w, close) <= _FORM:
                return plain
        best: tuple[float, Node] | None = None
        for terms in range(2, len(c)):
            radii = None if c[terms].is_number(0) else self._radii(c, terms)
            if radii is None:
                continue
            if time.monotonic() > self.end:
                break
            near, radii = self._near(c, terms, t, radii)
            own = OPS["where"](near, _polynomial(c[:terms], t), direct)
            (form,) = substitute([e], {part: own})
            error = self.beside.worst(self.whole, form, w, radii)
            if error > _FORM:
                continue
            slopes = [pull_back([x], [as_node(1)], [self.beside.v]).gradients[0] for x in (self.whole, form)]
            error = self.beside.worst(slopes[0], slopes[1], w, radii)
            if best is None or error < best[0]:
                best = error, own
            if error < _SLOPE:
                break
        return None if best is None else best[1]

    def _radii(self, c: Sequence[Node], terms: int) -> list[float] | None:
        """How far a series of so many terms is right to all digits, at each of the points."""
        mp = self.beside.mp
        found: list[float] = []
        for point, _ in self.beside.points:
            values = [abs(x) for x in evaluate_mp(mp, list(c[: terms + 1]), point)]
            first = next((k for k, x in enumerate(values) if x), None)
            if first is None or first >= terms or not values[terms]:
                return None
            found.append(float((values[first] * ULP / values[terms]) ** (mp.mpf(1) / (terms - first))))
        return found

    def _near(
        self, c: Sequence[Node], terms: int, t: Node, radii: Sequence[float]
    ) -> tuple[Node, Sequence[float]]:
        """Return where the series is taken, and how far that is at each of the points.

        Coefficients of bounded inputs have about one size, and so one radius. Others may have any: there the terms that
        were left out have to be small beside the first.
        """
        symbols = symbols_of(list(c))
        if all(domain_of(s).low is not None and domain_of(s).high is not None for s in symbols):
            radius = _rounded(min(radii))
            return OPS["lt"](OPS["abs"](t), as_node(radius)), [float(radius)] * len(radii)
        known = Conditions()
        first = next(k for k, x in enumerate(c) if not x.is_number(0))
        sizes = [without_sign(x) or x for x in c]
        size = as_node(_SMALL) * OPS["abs"](sizes[first])
        left_out = [k for k in range(terms, len(c)) if not c[k].is_number(0)][:_BEYOND]
        small = [OPS["le"](OPS["abs"](_times(sizes[k], t ** (k - first), known)), size) for k in left_out]
        return reduce(OPS["and_"], small), radii


def _rounded(radius: float) -> Fraction:
    """Return a number of one digit, 1, 2 or 5, that is no larger."""
    power = math.floor(math.log10(radius))
    digit = max(d for d in (1, 2, 5) if d * 10.0**power <= radius * 1.0001 or d == 1)
    return digit * Fraction(10) ** power


def _polynomial(c: Sequence[Node], t: Node) -> Node:
    """A polynomial as people write it: 1 - t**2/6."""
    known = Conditions()
    total: Node | None = None
    for k, x in enumerate(c):
        if x.is_number(0):
            continue
        power = None if k == 0 else t if k == 1 else t**k
        number = known.point(x)
        less = number is not None and number < 0 and total is not None
        size = abs(Fraction(number)) if number is not None and less else x
        term = _times(size if isinstance(size, Node) else as_node(size), power, known)
        positive = without_sign(term)
        if less or (positive is not None and total is not None):
            term = OPS["neg"](term if positive is None else positive)
        total = term if total is None else OPS["add"](total, term)
    return as_node(0) if total is None else total


def _times(c: Node, power: Node | None, known: Conditions) -> Node:
    number = known.point(c)
    if power is None or number is None:
        return c if power is None else OPS["mul"](c, power)
    value = Fraction(number)
    top = power if value.numerator == 1 else OPS["mul"](as_node(value.numerator), power)
    return top if value.denominator == 1 else OPS["div"](top, as_node(value.denominator))
