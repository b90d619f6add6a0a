"""Special functions on expressions, under the names of `scipy.special`.

Functions that SciPy computes together, such as the four Airy functions, are returned together here, too.

Example:
    >>> import symgrad as sg
    >>> x = sg.symbols("x")
    >>> print(sg.grad(sg.special.gammaln(x), x))
    digamma(x)
    >>> sine, cosine = sg.special.sici(x)
    >>> print(sg.grad(cosine, x))
    cos(x)/x
"""

from __future__ import annotations

from symgrad.api.functions import elementary as _functions
from symgrad.api.functions.arrays import logsumexp
from symgrad.api.functions.elementary import LambertW as lambertw  # noqa: N813  (SciPy's name)
from symgrad.api.functions.elementary import (
    beta,
    betaln,
    dawsn,
    digamma,
    ellipe,
    ellipeinc,
    ellipk,
    ellipkinc,
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfi,
    erfinv,
    exp1,
    expi,
    expit,
    factorial,
    gamma,
    gammainc,
    gammaincc,
    huber,
    iv,
    ive,
    jv,
    kv,
    log_ndtr,
    logit,
    ndtr,
    ndtri,
    polygamma,
    polylog,
    sinc,
    spence,
    spherical_jn,
    xlog1py,
    xlogy,
    yv,
    zeta,
)
from symgrad.api.functions.elementary import binomial as binom
from symgrad.api.functions.elementary import expint as expn
from symgrad.api.functions.elementary import lgamma as gammaln
from symgrad.api.handles.expr import Expr, Operand

__all__ = [
    "airy",
    "beta",
    "betaln",
    "binom",
    "dawsn",
    "digamma",
    "ellipe",
    "ellipeinc",
    "ellipk",
    "ellipkinc",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "expn",
    "factorial",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "huber",
    "iv",
    "ive",
    "jv",
    "kv",
    "lambertw",
    "log_ndtr",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "polygamma",
    "polylog",
    "shichi",
    "sici",
    "sinc",
    "spence",
    "spherical_jn",
    "xlog1py",
    "xlogy",
    "yv",
    "zeta",
]


def airy(x: Operand) -> tuple[Expr, Expr, Expr, Expr]:
    """Return the Airy functions and their derivatives, Ai, Ai', Bi and Bi', as ``scipy.special.airy``.

    Args:
        x: an expression or number.

    Example:
        >>> import symgrad as sg
        >>> ai, slope, _, _ = airy(sg.symbols("x"))
        >>> sg.grad(ai, "x").same(slope)
        True
    """
    f = _functions
    return f.airyai(x), f.airyaiprime(x), f.airybi(x), f.airybiprime(x)


def fresnel(x: Operand) -> tuple[Expr, Expr]:
    """Return the Fresnel integrals S and C, of sin(pi*t**2/2) and cos(pi*t**2/2) from 0, as ``scipy.special.fresnel``.

    Args:
        x: an expression or number.

    Example:
        >>> import symgrad as sg
        >>> s, c = fresnel(sg.symbols("x"))
        >>> print(sg.grad(s, "x"))
        sin(pi*x**2/2)
    """
    return _functions.fresnels(x), _functions.fresnelc(x)


def sici(x: Operand) -> tuple[Expr, Expr]:
    """Return the integrals of sine and cosine, Si and Ci, as ``scipy.special.sici``.

    Args:
        x: an expression or number, positive for Ci.

    Example:
        >>> import symgrad as sg
        >>> si, ci = sici(sg.symbols("x"))
        >>> print(sg.grad(si, "x"))
        sin(x)/x
    """
    return _functions.Si(x), _functions.Ci(x)


def shichi(x: Operand) -> tuple[Expr, Expr]:
    """Return the integrals of hyperbolic sine and cosine, Shi and Chi, as ``scipy.special.shichi``.

    Args:
        x: an expression or number, positive for Chi.

    Example:
        >>> import symgrad as sg
        >>> shi, chi = shichi(sg.symbols("x"))
        >>> print(sg.grad(shi, "x"))
        sinh(x)/x
    """
    return _functions.Shi(x), _functions.Chi(x)
