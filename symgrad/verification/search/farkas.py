"""Show by linear programming that a part of a case has no points: Farkas' lemma over monomials."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from symgrad.checker.extension_field.extension import ExtensionField
from symgrad.checker.extension_field.field import Poly
from symgrad.checker.extension_field.generators import to_fraction
from symgrad.verification.limits import FARKAS_DENOMINATOR, INEQUALITIES


def weights(k: ExtensionField, quantities: Sequence[Poly]) -> list[Fraction] | None:
    """Propose weights of sum 1 for which no monomial of the weighted sum can be positive.

    Monomials count as independent. If the sign of a monomial is known, its coefficient may have the opposite sign;
    otherwise the coefficient must be 0.
    """
    from scipy import optimize  # the import is slow

    columns = [q.to_dict() for q in quantities]
    monomials = sorted({m for c in columns for m in c})
    if not quantities or len(quantities) > INEQUALITIES or len(monomials) > INEQUALITIES:
        return None
    rows: dict[str, list[list[float]]] = {"equal": [[1.0] * len(columns)], "below": []}
    for m in monomials:
        low, high = k.range(k.field.ring.from_dict({m: 1}))
        try:
            row = [float(to_fraction(c[m])) if m in c else 0.0 for c in columns]
        except OverflowError:
            return None
        if low is not None and low >= 0:
            rows["below"].append(row)
        elif high is not None and high <= 0:
            rows["below"].append([-x for x in row])
        else:
            rows["equal"].append(row)
    right = np.zeros(len(rows["equal"]))
    right[0] = 1
    solved = cast(Any, optimize).linprog(
        np.zeros(len(columns)),
        A_eq=np.array(rows["equal"]),
        b_eq=right,
        A_ub=np.array(rows["below"]) if rows["below"] else None,
        b_ub=np.zeros(len(rows["below"])) if rows["below"] else None,
    )
    if not solved.success:
        return None
    return [Fraction(max(float(x), 0.0)).limit_denominator(FARKAS_DENOMINATOR) for x in solved.x]
