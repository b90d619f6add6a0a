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
# log(2); multiples up to 2048 of the first part are exact
LN2 = _read("0x1.62e42fefa3800p-1 0x1.ef35793c76730p-45")
# log(2) as a sum
LN2_FULL = _read("0x1.62e42fefa39efp-1 0x1.abc9e3b39803fp-56")
# 1/log(2)
LOG2_E = _read("0x1.71547652b82fep+0 0x1.777d0ffda0d24p-56")
# 1/log(10)
LOG10_E = _read("0x1.bcb7b1526e50ep-2 0x1.95355baaafad3p-57")
# log10(2), multiples as of LN2
LOG10_2 = _read("0x1.34413509f7800p-2 0x1.fef311f12b358p-46")
