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
        gaps: points at which it has no value beside which it tends to one, each with ``.where``, ``.kind`` (0/0,
            oo - oo, ...), ``.limit``, ``.form``, ``.lost`` and ``.reason`` (why there is no limit or no form).
        form: the formula in a form that computes it and its derivatives at these points and beside them; None where
            none was found, the formula itself where it needs none.
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
        """Why there is no form of the whole, in a sentence; None where there is one."""
        if self.form is not None:
            return None
        missing = [f"where {g.where}: {g.reason}" for g in self.gaps if g.form is None]
        return (
            "; ".join(missing) or "the forms at these points do not combine to one that holds at all of them"
        )


def check_domain(e: Formula) -> DomainCheck:
    r"""Find points of its domain at which a formula has no value although it has a limit there.

    Candidates are points where a denominator vanishes, or what else an op may not be given (cos(x) of tan(x)): by
    undoing functions, as roots of polynomials, and at 0, 1, other inputs and numbers of the formula. A point is
    reported if values beside it, computed with 240 digits, have one limit from both sides. Where they depend on a
    function of what is infinite, as x*sin(1/x) at 0, no limit is claimed. Forms are compared with such values, too: at
    the point, beside it, and where a series ends, of the formula and of its first two derivatives.

    Args:
        e: a formula of numbers, of at most 400 equations, such as a gradient; or the text of a program that ends with
            one.

    Returns:
        The points, each with the limit, how many digits are lost near it, and a form that computes it: a stable one, or
        the power series there, or the reason why there is none. None found is no proof that there is none.

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
            "check_domain looks at formulas of numbers, of at most 400 equations",
            cure="ask about an intermediate value, or about one entry written with scalar symbols",
        )
    slope = expr.slope

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
