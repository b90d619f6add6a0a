"""Error functions without overflow and cancellation: erfcx, Dawson's integral, log of the normal distribution.

Derivatives are from DLMF 7.2, 7.5.1 and 7.10.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.graph import as_node, constant
from symgrad.ops.record import facts, unary
from symgrad.ops.scalar.elementary import sqrt

_REALS = (("-3.5",), ("-0.75",), ("-1e-6",), (0,), ("0.3",), (1,), ("2.5",), ("12.5",))


def _more_digits(mp: Any, x: Any) -> Any:
    """Return a precision context in which exp(x**2) has all digits."""
    return mp.workdps(mp.dps + 20 + max(0, int(0.61 * mp.mag(x))) if x else mp.dps)


def _far(mp: Any, x: Any) -> bool:
    """Tell whether the asymptotic series are exact to all digits after four terms."""
    return abs(x) > mp.mpf(10) ** 13


def _erfcx_reference(mp: Any, x: Any) -> Any:
    if mp.isnan(x):
        return x
    with _more_digits(mp, x):
        if x > 0 and _far(mp, x):  # DLMF 7.12.1
            w = 1 / (2 * x * x)
            value = (1 - w + 3 * w**2 - 15 * w**3) / (x * mp.sqrt(mp.pi))
        else:
            value = mp.exp(x * x) * (mp.mpf(2) if _far(mp, x) else mp.erfc(x))
    return +value


def _dawsn_reference(mp: Any, x: Any) -> Any:
    if mp.isnan(x):
        return x
    with _more_digits(mp, x):
        if _far(mp, x):
            w = 1 / (2 * x * x)
            value = (1 + w + 3 * w**2 + 15 * w**3) / (2 * x)
        else:
            value = mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)
    return +value


def _log_ndtr_reference(mp: Any, x: Any) -> Any:
    if mp.isnan(x):
        return x
    with _more_digits(mp, x):
        if x > 0:
            value = mp.mpf(0) if _far(mp, x) else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)
        else:
            value = mp.log(_erfcx_reference(mp, -x / mp.sqrt(2)) / 2) - x * x / 2
    return +value


erfcx = unary(
    "erfcx",
    doc="exp(x**2)*erfc(x)",
    cas=None,
    domain=None,
    reference=_erfcx_reference,
    partials=(lambda out, x: 2 * x * out - as_node(2) / sqrt(constant("pi")),),
    kinks=(),
    facts=facts("decreasing", "positive"),
    samples=_REALS,
)

dawsn = unary(
    "dawsn",
    doc="Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x",
    cas=None,
    domain=None,
    reference=_dawsn_reference,
    partials=(lambda out, x: 1 - 2 * x * out,),
    kinks=(),
    latex=r"D_+\left({0}\right)",
    facts=facts("odd", "bounded-by-one"),
    samples=_REALS,
)

log_ndtr = unary(
    "log_ndtr",
    doc="the logarithm of the normal distribution function, log(erfc(-x/sqrt(2))/2)",
    cas=None,
    domain=None,
    reference=_log_ndtr_reference,
    partials=(lambda out, x: sqrt(as_node(2) / constant("pi")) / erfcx(-x / sqrt(as_node(2))),),
    kinks=(),
    latex=r"\log\Phi\left({0}\right)",
    facts=facts("increasing"),
    samples=_REALS,
)
