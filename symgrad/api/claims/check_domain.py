"""`check_domain`: find removable singularities of a formula."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from symgrad.analysis.explain.naming import Naming
from symgrad.analysis.explain.removable_singularities.search import (
    Gap,
    gaps_of,
    looked_at,
    mended,
    slope_of_form,
)
from symgrad.api.derivatives.targets import differentiable
from symgrad.api.explaining.explain import joined_listing, with_exprs
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula
from symgrad.api.handles.named_derivatives import readable
from symgrad.support.errors import UnsupportedError

__all__ = ["DomainCheck", "Gap", "check_domain"]


@dataclass(frozen=True, slots=True)
class DomainCheck:
    """The result of `check_domain`: removable singularities of a formula.

    Attributes:
        gaps: points at which the formula has no value, but a limit; each has ``.where``, ``.kind`` (0/0, oo - oo, ...),
            ``.limit``, ``.form``, ``.lost`` and ``.reason`` (why there is no limit or no form).
        form: a form that computes the formula and its derivatives at these points and near them; None if no form was
            found; the formula itself if it has no gaps.
    """

    gaps: tuple[Gap, ...]
    form: Expr | None
    _name: str = field(repr=False)
    _naming: Naming = field(repr=False)

    def __str__(self) -> str:
        if not self.gaps:
            return f"no point was found at which {self._name} has no value, but a limit"
        lines: list[str] = []
        for gap in self.gaps:
            lines.append(f"{self._name} {gap.what} where {gap.where}")
            lines += [f"  {label:<8}{text}" for label, text in gap.rows(self._naming)]
        if self.form is None and all(g.form is not None for g in self.gaps):
            lines.append(str(self.reason))
        return "\n".join(lines)

    @property
    def reason(self) -> str | None:
        """The reason why there is no form of the whole formula, as a sentence; None if there is a form."""
        if self.form is not None:
            return None
        missing = [f"where {g.where}: {g.reason}" for g in self.gaps if g.form is None]
        return (
            "; ".join(missing) or "the forms at these points do not combine to one that holds at all of them"
        )


def check_domain(e: Formula) -> DomainCheck:
    r"""Find points of the domain at which a formula has no value, but a limit.

    Candidates are points at which a denominator vanishes, or another op is undefined (tan(x) where cos(x) = 0). They
    are found by inverting functions, as roots of polynomials, and among 0, 1, other inputs and numbers of the formula.
    A point is reported if values near it, computed with 240 digits, have the same limit from both sides. No limit is
    claimed if the values depend on a function of an infinite argument, such as x*sin(1/x) at 0. Each form is also
    compared with such values of the formula and of its first two derivatives: at the point, near it, and where a series
    ends.

    Args:
        e: a scalar formula of at most 400 equations, such as a gradient; or the text of a program that ends with such a
            formula.

    Returns:
        The points, each with the limit, the number of digits lost near it, and a form that computes it (a stable form
        or a power series) or the reason why there is none. An empty result is no proof that there are no such points.

    Raises:
        UnsupportedError: for arrays, and for longer formulas.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("V : real\na = 0.1*(V + 40)/(1 - exp(-(V + 40)/10))")
        >>> found = sg.check_domain(p["a"])
        >>> found.gaps[0].where, str(found.gaps[0].limit)
        ('V = -40', '1')
        >>> float(found.form(V=-40.0))
        1.0
    """
    expr = differentiable(e)
    node = readable(expr)
    if not looked_at(node):
        raise UnsupportedError(
            "check_domain takes formulas of numbers, of at most 400 equations",
            cure="ask about an intermediate value, or about one entry written with scalar symbols",
        )
    slope = expr.slope if expr.derived and expr.slope is not None and expr.slope.by else None

    def mended_slope() -> Any:
        return None if slope is None else slope_of_form(mended(slope.y, gaps_of(slope.y)), slope.by)

    found = gaps_of(node, mended_slope=cache(mended_slope))

    def as_expr(n: Any) -> Any:
        return None if n is None else Expr(n, listings=expr.listings)

    form = node if not found else mended(node, found)
    listing = joined_listing(expr.listings)
    naming = Naming({}) if listing is None else Naming(listing.name_of(), places=listing.places)
    gaps = tuple(with_exprs(g, as_expr) for g in found)
    return DomainCheck(gaps, as_expr(form), expr.name or "the formula", naming)
