"""PBE correlation energy of a spin-polarised density, with all derivatives up to order four.

A density functional code needs the energy per volume as a function of two spin densities and three gradient
invariants, and its derivatives: first for the potential, second for linear response, third and fourth beyond.
Here they all follow from one text, as one graph that shares every common part.

Formula: J. P. Perdew, K. Burke, M. Ernzerhof, Phys. Rev. Lett. 77, 3865 (1996), eqs. 3, 7 and 8, on the local
correlation of J. P. Perdew, Y. Wang, Phys. Rev. B 45, 13244 (1992), eqs. 8 to 10, with the digits of the PBE
authors' own routine (PW92_MOD in Libxc): A = 0.0310907, 0.01554535, 0.0168869 where the table of 1992 has
0.031091, 0.015545, 0.016887; beta = 0.06672455060314922; f''(0) in full. Atomic units.

Evaluated as published, the formula loses all digits at large gradients and many at strong polarisation. The
program is the same function without those differences:

- 1 + zeta and 1 - zeta are 2*n_up/n and 2*n_dn/n, and 1 - zeta**4 is a product;
- log(1 + ...) is log1p, exp(...) - 1 is expm1;
- ec + H, where H tends to -ec as the gradient grows. With g = gamma*phi**3, w = exp(-ec/g) - 1, a = A*t**2 and
  s = a + a**2, the published H is g*log(1 + s*w/(1 + s)), good while s is small. Since ec = -g*log(1 + w),
  exactly ec + H = g*log(1 - w/(1 + w)/(1 + s)), and w/(1 + w) = 1 - exp(ec/g): good while s is large.
"""

from __future__ import annotations

import numpy as np

import symgrad as sg

CORRELATION = """
n_up     : positive      # spin densities
n_dn     : positive
sigma_uu : positive      # grad n_up . grad n_up
sigma_ud : real          # grad n_up . grad n_dn
sigma_dd : positive

n     = n_up + n_dn
up    = 2*n_up/n                                    # 1 + zeta
dn    = 2*n_dn/n                                    # 1 - zeta
zeta  = (n_up - n_dn)/n
rs    = cbrt(3/(4*pi*n))                            # radius of a sphere that holds one electron
x     = sqrt(rs)

# Local correlation of Perdew and Wang: unpolarised, fully polarised, and minus the spin stiffness
q0    = 2*0.0310907*x*(7.5957 + x*(3.5876 + x*(1.6382 + x*0.49294)))
q1    = 2*0.01554535*x*(14.1189 + x*(6.1977 + x*(3.3662 + x*0.62517)))
q2    = 2*0.0168869*x*(10.357 + x*(3.6231 + x*(0.88026 + x*0.49671)))
ec0   = -2*0.0310907*(1 + 0.21370*rs)*log1p(1/q0)
ec1   = -2*0.01554535*(1 + 0.20548*rs)*log1p(1/q1)
mac   = -2*0.0168869*(1 + 0.11125*rs)*log1p(1/q2)
f     = (up**(4/3) + dn**(4/3) - 2)/(2**(4/3) - 2)
curve = 8/(9*(2**(4/3) - 2))                        # f''(0)
z4    = zeta**4
ec    = ec0 - mac*f/curve*up*dn*(1 + zeta**2) + (ec1 - ec0)*f*z4

# Gradient correction
gamma = (1 - log(2))/pi**2
beta  = 0.06672455060314922
phi   = (up**(2/3) + dn**(2/3))/2
g     = gamma*phi**3
sigma = sigma_uu + 2*sigma_ud + sigma_dd
t2    = pi*sigma/(16*phi**2*cbrt(3*pi**2*n)*n**2)   # t**2
a     = beta/gamma*t2/expm1(-ec/g)                  # A*t**2
s     = a + a**2
small = ec + g*log1p(s*expm1(-ec/g)/(1 + s))        # ec + H as published
large = g*log1p(expm1(ec/g)/(1 + s))                # the same, for large gradients
energy = n*where(s < 1, small, large)
"""

INPUTS = ("n_up", "n_dn", "sigma_uu", "sigma_ud", "sigma_dd")

# Libxc 7.0.0, GGA_C_PBE, at the point below: energy, its first derivatives by all inputs, its second ones by densities
POINT = {"n_up": 0.3, "n_dn": 0.1, "sigma_uu": 0.2, "sigma_ud": 0.05, "sigma_dd": 0.1}
LIBXC = {
    (): -0.018781604257049625,
    ("n_up",): -0.06509828706861243,
    ("n_dn",): -0.10770517009632638,
    ("sigma_uu",): 0.00923133559418395,
    ("sigma_ud",): 0.018462671188367898,
    ("sigma_dd",): 0.00923133559418395,
    ("n_up", "n_up"): 0.05983725506042002,
    ("n_up", "n_dn"): -0.11138541942493865,
    ("n_dn", "n_dn"): 0.2513747623679329,
}


def main() -> None:
    program = sg.parse(CORRELATION)
    energy = program["energy"]
    partials = sg.derivatives(energy, INPUTS, order=4)
    print(f"{len(partials)} distinct derivatives of order 0 to 4 by {', '.join(INPUTS)}")

    # One kernel computes the energy, the potential and the response kernel in one pass over the densities.
    wanted = [key for key in partials if len(key) <= 2]
    kernel = sg.compile([partials[key] for key in wanted], inputs=program.inputs, name="pbe_c")
    print(f"{kernel!r}")

    values = dict(zip(wanted, kernel(**POINT), strict=True))
    values = {tuple(e.name for e in key): value for key, value in values.items()}
    print(f"at {', '.join(f'{name} = {value}' for name, value in POINT.items())}:")
    for key, expected in LIBXC.items():
        label = "energy" if not key else "d energy / d " + " d ".join(key)
        print(f"  {label:<28} {values[key]: .15f}   Libxc {expected: .15f}")
        assert np.isclose(values[key], expected, rtol=1e-13, atol=0)

    # Where the gradient is large against the density, no digit of the published form is right.
    thin = POINT | {"n_up": 1e-5, "n_dn": 2e-5}
    published = program["small"](**thin) * (thin["n_up"] + thin["n_dn"])
    print(f"in a thin tail:  published form {published:.10e}   this program {kernel(**thin)[0]:.10e}")


if __name__ == "__main__":
    main()
