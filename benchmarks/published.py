"""The PBE correlation energy once more, as the papers print it, over any arithmetic.

Written from the papers alone, with exp(...) - 1, log(1 + ...), 1 - zeta and ec + H as they stand there: at fifty
digits the differences cost nothing. It holds `examples/pbe_correlation.py` to the papers. Perdew, Burke,
Ernzerhof, Phys. Rev. Lett. 77, 3865 (1996); Perdew, Wang, Phys. Rev. B 45, 13244 (1992), table I.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["pbe_correlation", "pbe_derivatives", "random_points"]

# A, alpha_1, beta_1 .. beta_4 of G(rs): unpolarised, polarised, minus the spin stiffness.
TABLE = (
    ("0.0310907", "0.21370", "7.5957", "3.5876", "1.6382", "0.49294"),
    ("0.01554535", "0.20548", "14.1189", "6.1977", "3.3662", "0.62517"),
    ("0.0168869", "0.11125", "10.357", "3.6231", "0.88026", "0.49671"),
)


def pbe_correlation(
    densities: tuple[Any, Any],
    invariants: tuple[Any, Any, Any],
    *,
    number: Callable[[str], Any],
    power: Callable[[Any, Any], Any],
    exp: Callable[[Any], Any],
    log: Callable[[Any], Any],
    log_2: Any,
    pi: Any,
) -> Any:
    """Return the correlation energy per volume.

    Args:
        densities: of spin up and spin down.
        invariants: sigma_uu, sigma_ud, sigma_dd.
        number: an exact decimal, or a quotient "a/b", in the arithmetic of the caller.
        power: x to a constant power.
        exp: the exponential.
        log: the logarithm.
        log_2: log(2).
        pi: the circle's number.
    """
    up, down = densities
    n = up + down
    zeta = (up - down) / n
    third = number("1/3")
    rs = power(3 / (4 * pi * n), third)

    def local(a: str, alpha: str, *betas: str) -> Any:
        total: Any = 0
        for k, beta in enumerate(betas, 1):
            total = total + number(beta) * power(rs, k * number("1/2"))
        return -2 * number(a) * (1 + number(alpha) * rs) * log(1 + 1 / (2 * number(a) * total))

    unpolarised, polarised, minus_stiffness = (local(*row) for row in TABLE)
    norm = power(number("2"), 4 * third) - 2
    f = (power(1 + zeta, 4 * third) + power(1 - zeta, 4 * third) - 2) * (1 / norm)
    curvature = 8 / (9 * norm)
    ec = (
        unpolarised
        - minus_stiffness * f * (1 / curvature) * (1 - zeta**4)
        + (polarised - unpolarised) * f * zeta**4
    )

    gamma = (1 - log_2) / pi**2
    beta = number("0.06672455060314922")
    phi = (power(1 + zeta, 2 * third) + power(1 - zeta, 2 * third)) * number("1/2")
    fermi = power(3 * pi**2 * n, third)
    screening = power(4 * fermi * (1 / pi), number("1/2"))
    uu, ud, dd = invariants
    t2 = (uu + 2 * ud + dd) / (2 * phi * screening * n) ** 2
    a = beta / gamma / (exp(-ec / (gamma * phi**3)) - 1)
    h = gamma * phi**3 * log(1 + beta / gamma * t2 * (1 + a * t2) / (1 + a * t2 + a**2 * t2**2))
    return n * (ec + h)


def pbe_derivatives(mp: Any, point: tuple[Any, ...], order: int) -> dict[tuple[int, ...], Any]:
    """Return all partial derivatives at a point, from truncated power series in mpmath.

    Args:
        mp: an mpmath context, its precision set by the caller.
        point: densities and gradient invariants.
        order: the highest order.
    """
    from benchmarks.reference import Series, series_of

    def number(text: str) -> Any:
        numerator, _, denominator = text.partition("/")
        return mp.mpf(numerator) / mp.mpf(denominator or 1)

    def energy(*inputs: Series) -> Series:
        return pbe_correlation(
            (inputs[0], inputs[1]),
            (inputs[2], inputs[3], inputs[4]),
            number=number,
            power=lambda x, p: x.power(p) if isinstance(x, Series) else mp.power(x, p),
            exp=lambda x: x.exp(mp.exp),
            log=lambda x: x.log(mp.log),
            log_2=mp.log(2),
            pi=+mp.pi,
        )

    return series_of(energy, [mp.mpf(x) for x in point], order)


def random_points(count: int, seed: int = 0) -> np.ndarray:
    """Return random inputs, shape (5, count).

    Densities are log-uniform in 1e-4 to 10, sigma_uu and sigma_dd in 1e-6 to 10, and the angle between the
    gradients is random: |sigma_ud| <= sqrt(sigma_uu*sigma_dd), as for any two vectors.
    """
    rng = np.random.default_rng(seed)
    up, down = np.exp(rng.uniform(np.log(1e-4), np.log(10), (2, count)))
    uu, dd = np.exp(rng.uniform(np.log(1e-6), np.log(10), (2, count)))
    return np.array([up, down, uu, np.sqrt(uu * dd) * rng.uniform(-1, 1, count), dd])
