"""Coefficients and constants: written by tools/minimax.py, constant coefficient first."""

# fmt: off
from __future__ import annotations


def _read(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))

# (exp(r) - 1 - r)/r**2, |r| <= log(2)/2: 2**-61.2
EXP = _read(
    "0x1.0000000000000p-1 0x1.5555555555559p-3 0x1.555555555555ap-5 0x1.111111110f618p-7 "
    "0x1.6c16c16c14396p-10 0x1.a01a01b028ce2p-13 0x1.a01a01b0ed77fp-16 0x1.71ddf7978ac9ap-19 "
    "0x1.27e4c5324d526p-22 0x1.af60230393915p-26 0x1.1f960645df986p-29 "
)
# (cosh(r) - 1)/r**2 in r**2: 2**-65.7
COSH = _read(
    "0x1.0000000000000p-1 0x1.555555555555cp-5 0x1.6c16c16c13e20p-10 0x1.a01a01b1cadb9p-16 "
    "0x1.27e4c46434bc7p-22 0x1.1f96371400af2p-29 "
)
# (sinh(r) - r)/r**3 in r**2: 2**-59.6
SINH = _read(
    "0x1.5555555555555p-3 0x1.1111111111113p-7 0x1.a01a01a018798p-13 0x1.71de3a5edb5fap-19 "
    "0x1.ae641bc297f69p-26 0x1.61d841e11d21ep-33 "
)
# R(s)/s**2 in s**2, log((1 + s)/(1 - s)) = 2*s + s*R, |s| <= 0.1716: 2**-58.8
LOG = _read(
    "0x1.5555555555592p-1 0x1.999999997fd0bp-2 0x1.24924941fb785p-2 0x1.c71c52005a0cep-3 "
    "0x1.746640e14bdb9p-3 0x1.39a184be9de08p-3 0x1.2f07a193b89a3p-3 "
)
# (sin(r) - r)/r**3 in r**2, |r| <= pi/4: 2**-57.3
SIN = _read(
    "-0x1.5555555555555p-3 0x1.111111111110bp-7 -0x1.a01a01a018ac0p-13 0x1.71de3a5336847p-19 "
    "-0x1.ae64529460e5ap-26 0x1.6120902cbb365p-33 -0x1.aaa3feb598687p-41 "
)
# (cos(r) - 1 + r**2/2)/r**4 in r**2: 2**-59.6
COS = _read(
    "0x1.555555555554cp-5 -0x1.6c16c16c15152p-10 0x1.a01a019cad415p-16 -0x1.27e4f8068bb2cp-22 "
    "0x1.1ee9e981cfe55p-29 -0x1.8fad51d91398bp-37 "
)
# (atan(t) - t)/t**3 in t**2, |t| <= 1/2: 2**-57.6
ATAN = _read(
    "-0x1.5555555555552p-2 0x1.9999999999056p-3 -0x1.24924924513e6p-3 0x1.c71c71aa526d3p-4 "
    "-0x1.745d138197592p-4 0x1.3b135fe7cc7ddp-4 -0x1.110c69507e691p-4 0x1.e1826b4542c22p-5 "
    "-0x1.ac70a7fb4cbdbp-5 0x1.77f57d8747828p-5 -0x1.300ef95ca0fe5p-5 0x1.83851f3308da5p-6 "
    "-0x1.1214ba942c0c4p-7 "
)
# (asin(t) - t)/t**3 in t**2, |t| <= 1/2: 2**-59.3
ASIN = _read(
    "0x1.5555555555578p-3 0x1.333333332df0dp-4 0x1.6db6db722ba48p-5 0x1.f1c71a8b8d3edp-6 "
    "0x1.6e8bdfe7b19f6p-6 0x1.1c49ddf4ff55dp-6 0x1.ca2144ffabe61p-7 0x1.75778a1eb6fc9p-7 "
    "0x1.618ac041221dcp-7 0x1.e15b6a06a5441p-9 0x1.6501d8c1e623cp-6 -0x1.59f62bb3b3776p-6 "
    "0x1.0be443bd99f50p-5 "
)
# log(2); multiples up to 2048 of the first part are exact
LN2 = _read("0x1.62e42fefa3800p-1 0x1.ef35793c76730p-45")
# log(2) as a sum
LN2_FULL = _read("0x1.62e42fefa39efp-1 0x1.abc9e3b39803fp-56")
# pi/2; multiples up to 2**20 of all parts but the last are exact
HALF_PI = _read("0x1.921fb54400000p+0 0x1.0b4611a600000p-34 0x1.3198a2e000000p-69 0x1.b839a252049c1p-104")
# pi/2 as a sum
HALF_PI_FULL = _read("0x1.921fb54442d18p+0 0x1.1a62633145c07p-54")
# 1/log(2)
LOG2_E = _read("0x1.71547652b82fep+0 0x1.777d0ffda0d24p-56")
# 1/log(10)
LOG10_E = _read("0x1.bcb7b1526e50ep-2 0x1.95355baaafad3p-57")
# log10(2), multiples as of LN2
LOG10_2 = _read("0x1.34413509f7800p-2 0x1.fef311f12b358p-46")
