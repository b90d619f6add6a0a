"""The PBE correlation energy: three derivations that share nothing, and Libxc's numbers, agree with symgrad's."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import mpmath
import numpy as np
import pytest

import symgrad as sg
from benchmarks.pbe import derivative_nodes, errors, random_points, sympy_energy
from benchmarks.published import pbe_derivatives
from benchmarks.reference import Balls, indices
from examples.pbe_correlation import CORRELATION, INPUTS

# Both regimes of the gradient, both polarisations, a partly antiparallel pair of gradients.
POINTS: list[tuple[float, ...]] = [
    (0.3, 0.1, 0.2, 0.05, 0.1),
    (0.002, 0.05, 1.5, -0.5, 2.0),
    (8.0, 0.0005, 1e-5, 1e-6, 1e-6),
]


@pytest.fixture(scope="module")
def balls() -> Balls:
    return Balls(derivative_nodes(4))


@pytest.mark.parametrize("point", POINTS)
def test_all_derivatives_are_those_of_the_published_formula_by_power_series(
    balls: Balls, point: tuple[float, ...]
) -> None:
    mp = mpmath.MPContext()
    mp.dps = 90  # the published form loses up to half of them
    expected = pbe_derivatives(mp, point, 4)
    found = balls(dict(zip(INPUTS, point, strict=True)))
    assert len(found) == len(expected) == 126
    for index, ball in zip(indices(5, 4), found, strict=True):
        value = mp.mpf(ball.mid().str(60, radius=False))
        assert abs(value / expected[index] - 1) < mp.mpf(10) ** -40, index


def test_first_derivatives_are_sympys() -> None:
    import sympy

    energy, inputs = sympy_energy()
    slopes = sympy.lambdify(inputs, [energy.diff(x) for x in inputs], "mpmath", cse=True)
    nodes = derivative_nodes(1)[1:]
    with mpmath.workdps(80):
        for point in POINTS:
            expected = slopes(*map(mpmath.mpf, point))
            found = Balls(nodes)(dict(zip(INPUTS, point, strict=True)))
            for value, ball in zip(expected, found, strict=True):
                assert abs(mpmath.mpf(ball.mid().str(50, radius=False)) / value - 1) < mpmath.mpf(10) ** -30


# GGA_C_PBE of Libxc 7.0.0. Its groups in its order: densities, then invariants, each ascending.
LIBXC: dict[tuple[float, ...], str] = {
    (0.3, 0.1, 0.2, 0.05, 0.1): """
        -0.018781604257049625
        -0.06509828706861243 -0.10770517009632638
        0.00923133559418395 0.018462671188367898 0.00923133559418395
        0.05983725506042002 -0.11138541942493865 0.2513747623679329
        -0.014237556791504225 -0.02847511358300845 -0.014237556791504225
        -0.0037841990887934086 -0.007568398177586817 -0.0037841990887934086
        -0.008135198695854912 -0.01627039739170982 -0.008135198695854912
        -0.032540794783419646 -0.01627039739170982 -0.008135198695854912
        -0.16772382372475336 0.16691004933233144 0.9064569627331351 -2.860165681672867
        """,
    (0.02, 0.0021, 0.0003, -0.0001, 0.0002): """
        -0.0005406051422646029
        -0.03742101229772261 -0.09838654598444432
        0.43888103518915295 0.8777620703783058 0.43888103518915295
        0.44709491801126067 -2.081637554777895 9.154759062306914
        -12.920846262208581 -25.841692524417162 -12.920846262208581
        9.603218756559698 19.206437513119397 9.603218756559698
        -483.58765031457483 -967.1753006291498 -483.58765031457483
        -1934.3506012582993 -967.1753006291498 -483.58765031457483
        -15.457459901920345 127.43219282423259 429.01751939325226 -3431.5128017191905
        """,
}
DENSITIES, INVARIANTS = INPUTS[:2], INPUTS[2:]
LIBXC_KEYS = [
    (),
    *product(DENSITIES),
    *product(INVARIANTS),
    *combinations_with_replacement(DENSITIES, 2),
    *product(DENSITIES, INVARIANTS),
    *combinations_with_replacement(INVARIANTS, 2),
    *combinations_with_replacement(DENSITIES, 3),
]


@pytest.mark.parametrize("point", LIBXC)
def test_the_kernel_gives_libxcs_numbers(point: tuple[float, ...]) -> None:
    program = sg.parse(CORRELATION)
    partials = sg.derivatives(program["energy"], INPUTS, order=3)
    kernel = sg.compile([partials[key] for key in LIBXC_KEYS], inputs=program.inputs)
    expected = [float(number) for number in LIBXC[point].split()]
    np.testing.assert_allclose(kernel(*point), expected, rtol=2e-12)


def test_compiled_derivatives_are_accurate_at_random_points() -> None:
    points = random_points(10, seed=1)
    program = sg.parse(CORRELATION)
    partials = sg.derivatives(program["energy"], INPUTS, order=4)
    kernel = sg.compile(list(partials.values()), inputs=program.inputs)
    compiled = [np.broadcast_to(value, (10,)) for value in kernel(*points)]
    spoiled = [value * (1 + 1e-9) for value in compiled]
    relative, condition = errors(points, {"compiled": compiled, "spoiled": spoiled})
    assert (relative["compiled"] <= 1e-13 * condition).all()
    assert (relative["spoiled"] > 1e-10).all()


def test_both_forms_of_the_energy_are_one_function() -> None:
    program = sg.parse(CORRELATION)
    small, large = Balls([program["small"].node]), Balls([program["large"].node])
    for point in POINTS:
        values: dict[str, float] = dict(zip(INPUTS, point, strict=True))
        assert small(values)[0].overlaps(large(values)[0])
