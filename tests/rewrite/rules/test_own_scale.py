"""Formulas in SI units are sampled where their parts are near 1: what is chosen there has its digits there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.traverse import topological
from symgrad.rewrite.choice.natural_scale import natural_scale

# Of a log of a quotient, in atomic units of length: multiplied out its numbers are beyond what floats hold.
QUOTIENT = """
x, z : positive
a0 = 5.29177210903e-11
n = x*a0**3
t = z*a0**8/n**(7/3)
A = 1/n
y = log(1 + t*(1 + A*t)/(1 + A*t + A**2*t**2))
"""

# Correlation energy of Perdew, Burke and Ernzerhof (Phys. Rev. Lett. 77, 3865) in joules and metres.
PBE = """
rho, g2 : positive
a0 = 5.29177210903e-11
Eh = 4.3597447222071e-18
n = rho*a0**3
ks = sqrt(4*(3*pi**2*n)**(1/3)/pi)
t2 = g2*a0**8/(4*ks**2*n**2)
rs = (3/(4*pi*n))**(1/3)
ec = -0.0621814*(1 + 0.21370*rs)*log(1 + 1/(0.0621814*(7.5957*sqrt(rs) + 3.5876*rs + 1.6382*rs**1.5 + 0.49294*rs**2)))
gamma = 0.031090690869654895
beta = 0.06672455060314922
A = beta/gamma/(exp(-ec/gamma) - 1)
H = gamma*log(1 + beta/gamma*t2*(1 + A*t2)/(1 + A*t2 + A**2*t2**2))
y = Eh*n*(ec + H)
"""


@pytest.mark.parametrize(
    ("program", "size", "wrt"), [(QUOTIENT, (1e30, 1e79), "x"), (PBE, (1e30, 1e79), "rho")]
)
def test_a_kernel_in_si_units_has_the_digits_of_the_chain_rule(
    program: str, size: tuple[float, float], wrt: str
) -> None:
    p = sg.parse(program)
    g = sg.grad(p["y"], wrt)
    draw = np.random.default_rng(1)
    points = [s * 10.0 ** draw.uniform(-1, 1, 40) for s in size]
    names = list(map(str, g.inputs))
    straight = np.array([float(g(**dict(zip(names, row, strict=True)))) for row in zip(*points, strict=True)])
    # Where the chain rule cancels itself the two differ in the last digits, by what it loses.
    np.testing.assert_allclose(sg.compile(g)(*points), straight, rtol=1e-9)
    np.testing.assert_allclose(sg.compile(g.stable())(*points), straight, rtol=1e-9)


def scale_of(program: str) -> list[float] | None:
    e = sg.parse(program).last
    return natural_scale(topological([e.node]), [i.node for i in e.inputs])


def test_the_scale_makes_terms_and_arguments_alike() -> None:
    assert scale_of("x : real\ny = log(1 + 1e30*x)") == pytest.approx([-math.log2(1e30)], abs=1)
    found = scale_of("x, z : real\ny = exp(x*1e-25)*(z**2*1e-40 + x*1e-25)")
    assert found == pytest.approx([math.log2(1e25), math.log2(1e20)], abs=1)


@pytest.mark.parametrize(
    "program",
    [
        "x : real\ny = log(1 + x)*0.031090690869654895",
        "x : real\ny = 1e30*x",  # of one size wherever it is read
        "y = 1e30 + 2",
        "x : bool\ny = where(x, 1e30, 1)",
    ],
)
def test_formulas_without_a_scale_of_their_own_have_none(program: str) -> None:
    assert scale_of(program) is None
