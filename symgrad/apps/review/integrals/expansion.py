r"""Expansions with a remainder: e^x = 1 + x + O(x^2), and sums that end in dots."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from symgrad.analysis.explain.removable_singularities.points import is_real, precise
from symgrad.analysis.explain.removable_singularities.series import NoSeries, PowerSeries
from symgrad.analysis.explain.removable_singularities.short_coefficients import Shortener
from symgrad.api.claims.verify import equal
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.layout.statements import SideText
from symgrad.checker.clock import now
from symgrad.frontend.glyphs import SUPERSCRIPTS
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate_mp
from symgrad.support.errors import SymgradError
from symgrad.verification.verdict import Verdict

_REMAINDER = re.compile(
    r"\s*\+\s*(?P<sign>\\mathcal\s*\{?\s*O\s*\}?|[Oo])\s*(?:\\left|\\[bB]igg?l?)?\s*\(\s*(?P<by>\\?[a-zA-Zα-ω]+)\s*"
    rf"(?:(?:\^|\*\*)\s*\{{?\s*(?P<order>\d+)\s*\}}?|(?P<raised>[{SUPERSCRIPTS}]+))?\s*(?:\\right|\\[bB]igg?r?)?\s*\)\s*$"
)
_DOTS = re.compile(r"\s*[+−-]\s*(?:\\[lc]?dots|\.\.\.|…|⋯)\s*$")
_LARGEST = 12


@dataclass(frozen=True, slots=True)
class Remainder:
    """What an expansion leaves out.

    Args:
        by: the variable, as it is written; None for dots, which do not say it.
        order: the lowest power of the variable in it; None for dots: one more than the last power that is written.
    """

    by: str | None
    order: int | None


def without_remainder(text: SideText) -> tuple[SideText, Remainder] | None:
    """Return an expansion without its remainder, and that; None for another formula.

    Example:
        >>> found = without_remainder(SideText(0, "1 + x + O(x^2)"))
        >>> found[0].text.strip(), found[1]
        ('1 + x', Remainder(by='x', order=2))
    """
    match = _REMAINDER.search(text.text)
    if match is not None:
        raised = match["raised"] and match["raised"].translate(str.maketrans(SUPERSCRIPTS, "0123456789"))
        order = int(match["order"] or raised or 1) + (match["sign"] == "o")
        return _cut(text, match), Remainder(match["by"], order)
    match = _DOTS.search(text.text)
    if match is None or not re.search(r"[+−-]", text.text[: match.start()].strip(" &-−")):
        return None
    return _cut(text, match), Remainder(None, None)


def _cut(text: SideText, match: re.Match[str]) -> SideText:
    return replace(text, text=text.text[: match.start()].ljust(len(text.text)))


def decide_expansion(left: Node, right: Node, x: Node, order: int | None, seconds: float) -> Verdict:
    """Decide whether two formulas differ by a remainder at x = 0: whether their coefficients below it are the same.

    Args:
        left: a formula.
        right: another one.
        x: the variable.
        order: the lowest power that may differ; None for one more than the highest power of the second formula.
        seconds: the limit of time.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> [decide_expansion(sg.exp(x).node, (1 + x + x**2 / c).node, x.node, 3, 5).status for c in (2, 3)]
        ['proved', 'refuted']
    """
    short = Shortener(now() + seconds)
    try:
        terms = _LARGEST + 2 if order is None else order
        if terms > _LARGEST + 2:
            return Verdict("undecided", "the expansion is too long")
        second = PowerSeries(right, x, as_node(0), short).first(terms)
        if order is None:
            known = [k for k, c in enumerate(second) if not c.is_number(0)]
            order = known[-1] + 1 if known else 0
            if order > _LARGEST:
                return Verdict("undecided", "the sum before the dots is no polynomial")
        first = PowerSeries(left, x, as_node(0), short).first(order)
    except (NoSeries, SymgradError, ArithmeticError) as error:
        return Verdict("undecided", f"no power series was found: {error}")
    if min(len(first), len(second)) < order:
        return Verdict("undecided", "not all coefficients of the power series were found")
    verdicts = [
        equal(Expr(a), Expr(b), time_limit=seconds, values_only=True)
        for a, b in zip(first[:order], second[:order], strict=True)
    ]
    near = _is_near(left, right, x, order)
    for k, verdict in enumerate(verdicts):
        if verdict.status == "refuted" and near is not True:
            why = f"the coefficient of {x.name}**{k} is {Expr(first[k])}, and {Expr(second[k])} here"
            return Verdict("refuted", why)
    if any(v.status != "proved" for v in verdicts) or near is not True:
        return Verdict("undecided", "the coefficients of the power series are not known to be the same")
    return Verdict("proved", f"the coefficients of {x.name}**0 to {x.name}**{max(order - 1, 0)} are the same")


def _is_near(left: Node, right: Node, x: Node, order: int) -> bool | None:
    """Tell whether values near zero differ by about a power of the variable; None if they are not known."""
    mp = precise()
    others = {s: mp.mpf(7 + 4 * k) / 5 for k, s in enumerate(symbols_of([left, right])) if s is not x}
    seen = False
    for sign in (1, -1):
        ratios: list[Any] = []
        for digits in (6, 12):
            small = sign * mp.mpf(10) ** -digits
            a, b = evaluate_mp(mp, [left, right], {**others, x: small})
            if is_real(mp, a) and is_real(mp, b):
                ratios.append(abs(a - b) / abs(small) ** order)
        if len(ratios) == 2:
            seen = True
            if ratios[1] > 1000 * (1 + ratios[0]):
                return False
    return True if seen else None
