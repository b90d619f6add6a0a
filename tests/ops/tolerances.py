"""How far a value may be from the exact one, in units of the dtype's epsilon: the one table.

The error is taken relative to the larger of the exact value and the *floor*: a sum of terms of that size cannot be
more exact than they are. Below the smallest normal number, zero is as good as any value.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from tests.ops.cases import Case


@dataclass(frozen=True)
class Tolerance:
    """Units of epsilon, relative to max(|exact value|, floor)."""

    units: float
    floor: float = 0.0


# Our formulas and a good libm: two roundings, and one to spare.
DEFAULT = Tolerance(3)

KERNEL: dict[str, Tolerance] = {
    "cbrt": Tolerance(4),  # glibc: 4
    "gamma": Tolerance(10),  # glibc: 10 for tgamma
    "lgamma": Tolerance(10, floor=1),  # C's, which promises nothing near the zeros at negative numbers
    "digamma": Tolerance(4),
    # What SciPy was seen to give, doubled; the floors are for what oscillates.
    "jv": Tolerance(330, floor=0.1),
    "yv": Tolerance(100, floor=0.1),
    "iv": Tolerance(12),
    "kv": Tolerance(180),
    "airyai": Tolerance(200, floor=0.1),
    "airyaiprime": Tolerance(30, floor=1),
    "airybi": Tolerance(40, floor=0.1),
    "airybiprime": Tolerance(120, floor=1),
    "erfi": Tolerance(280),
    "erfcinv": Tolerance(6),
    "expi": Tolerance(14, floor=1),
    "exp1": Tolerance(10),
    "Ci": Tolerance(30, floor=0.1),
    "Chi": Tolerance(10),
    "Shi": Tolerance(10),
    "ive": Tolerance(280),
    "erfcx": Tolerance(170),
    "dawsn": Tolerance(90),
    "log_ndtr": Tolerance(1200),  # exp(-x**2/2), x <= 38
    "li": Tolerance(800, floor=1e-3),  # of log(x) <= 700
    "ellipkinc": Tolerance(6),
    "ellipeinc": Tolerance(26),
    "expint": Tolerance(760, floor=0.1),
    "uppergamma": Tolerance(360),
    "lowergamma": Tolerance(60),
    "polylog": Tolerance(20),
    "zeta": Tolerance(8, floor=1),
    "spherical_jn": Tolerance(40, floor=0.1),
}

EVALUATE: dict[str, Tolerance] = KERNEL | {
    "erfc": Tolerance(1000),  # SciPy's exp(-x**2) for x up to 26 loses x**2 units
    "gamma": Tolerance(40),
    "lgamma": Tolerance(40, floor=1),
    "digamma": Tolerance(6, floor=1),
    "sinc": Tolerance(3, floor=1),  # NumPy's sine of pi*x, which is rounded
}

# Two or three ops each; a difference such as y - 1 in x**(y - 1) costs log(x) <= 700 units.
PARTIAL: dict[str, Tolerance] = {
    "pow": Tolerance(800),
    "erf": Tolerance(800),  # exp(-x**2), x <= 27
    "erfc": Tolerance(800),
    "erfi": Tolerance(800),
    "erfinv": Tolerance(120),  # exp(out**2), out <= 6
    "erfcinv": Tolerance(3400),  # exp(out**2), out <= 27
    "jv": Tolerance(220, floor=0.1),
    "yv": Tolerance(80, floor=0.1),
    "iv": Tolerance(60),
    "kv": Tolerance(80),
    "airyai": Tolerance(70, floor=1),
    "airyaiprime": Tolerance(620, floor=1),
    "airybi": Tolerance(620, floor=1),
    "airybiprime": Tolerance(620, floor=0.1),
    "gamma": Tolerance(1000, floor=1e-3),
    "lgamma": Tolerance(8, floor=1),
    "ive": Tolerance(40, floor=1),
    "erfcx": Tolerance(170, floor=1),
    "dawsn": Tolerance(14, floor=1),
    "log_ndtr": Tolerance(800),
    "fresnels": Tolerance(700, floor=1),  # sin(pi*x**2/2), x <= 20
    "fresnelc": Tolerance(700, floor=1),
    "LambertW": Tolerance(800),  # exp(-out), out <= 700
    "ellipk": Tolerance(1400),  # for abs(m) >= 1e-3
    "ellipe": Tolerance(1400),
    "ellipkinc": Tolerance(1400, floor=1),
    "ellipeinc": Tolerance(1400, floor=1),
    "expint": Tolerance(70, floor=1),
    "polylog": Tolerance(8, floor=1),
    "zeta": Tolerance(8, floor=1),
    "sinc": Tolerance(8, floor=1),
    "spherical_jn": Tolerance(40, floor=0.1),
}


def tolerance(case: Case, table: dict[str, Tolerance], default: Tolerance = DEFAULT) -> Tolerance:
    if case.op.name == "polygamma":
        # n + 1 multiplications in each of the terms, whose size is n!.
        order = case.params[0]
        return Tolerance(6 + 2 * order, floor=factorial(order))
    return table.get(case.op.name, default)


def units_off(got: Any, exact: Any, allowed: Tolerance, dtype: str = "float64") -> float:
    """Return the error in units of epsilon; an infinity counts as right beyond the largest number."""
    limits = np.finfo(dtype)
    if not np.isfinite(got):
        return 0.0 if abs(exact) >= float(limits.max) and (got > 0) == (exact > 0) else float("inf")
    tiny = float(limits.smallest_normal)
    if abs(exact) < tiny and abs(got) <= 2 * tiny:
        return 0.0
    scale = max(abs(exact), allowed.floor)
    return float(abs(exact - float(got)) / scale / float(limits.eps))
