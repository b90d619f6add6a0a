"""Complex numbers in the checker: what functions mean, in balls and in kernels, and damaged proofs."""

from __future__ import annotations

import cmath
import copy
import json
import random
from fractions import Fraction
from typing import Any, cast

import mpmath
import pytest

import symgrad as sg
from symgrad.checker.balls.programs import context
from symgrad.checker.check import check
from symgrad.checker.complex.balls import ball, evaluate, in_domain
from symgrad.checker.complex.check import real_statement
from symgrad.checker.complex.gaussian import Gaussian, gaussian_from_json
from symgrad.checker.complex.principal_branches import complex_statement, retype_symbols
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.program.steps import program_from_json
from symgrad.errors import UsageError
from symgrad.frontend.text import parse_program
from symgrad.verification.statement import program_of
from tests.checker.checking import answer
from tests.checker.test_check import damaged


def statement(a, b="0", wrt=None, kinds="z, w : real"):
    listing = parse_program(f"{kinds}\nleft = {a}\nright = {b}")
    sides = [listing.assignments["left"], listing.assignments["right"]]
    program, (i, j) = program_of(sides, list(listing.symbols.values()))
    return complex_statement(
        retype_symbols(program, [s.name for s in program.symbols if s.kind == "real"]), i, j, wrt
    )


def value(text, precision=106, wrt=None, **point):
    """What is known of a formula, or with ``wrt`` of its derivative."""
    s = statement(text, wrt=wrt)
    numbers = {"w": Gaussian(Fraction(0)), **{name: number(z) for name, z in point.items()}}
    found = evaluate(s.program, numbers, precision=precision, wanted=[s.a, *s.defined], wrt=s.wrt)
    return None if None in found else found[0]


def number(z):
    z = complex(z)
    return Gaussian(Fraction(z.real), Fraction(z.imag))


def close(found, expected):
    """Whether a ball contains a number that is known to some digits, and is as small."""
    found = ball(found)
    assert float(found.rad()) < 1e-15 * (1 + abs(complex(expected)))
    middle = complex(float(found.real.mid()), float(found.imag.mid()))
    return abs(middle - complex(expected)) <= 1e-12 * (1 + abs(complex(expected)))


# ---------------------------------------------------------------------------------------------------------- functions

FUNCTIONS = {
    **{name: getattr(mpmath, name) for name in (  # noqa: SIM905
        "exp sqrt log expm1 sin cos tan sec csc cot sinh cosh tanh sech csch coth asin acos atan asec acsc acot asinh "
        "acosh atanh asech acsch acoth erf erfc erfi gamma digamma"
    ).split()},
    "exp2": lambda z: mpmath.power(2, z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "log1p": lambda z: mpmath.log(1 + z),
    "sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
    "softplus": lambda z: mpmath.log(1 + mpmath.exp(z)),
    "abs": abs,
    "sign": mpmath.sign,
    "Si": mpmath.si,
    "Ci": mpmath.ci,
    "exp1": mpmath.e1,
    "airyai": mpmath.airyai,
    "airybi": mpmath.airybi,
    "erfcx": lambda z: mpmath.exp(z**2) * mpmath.erfc(z),
    "dawsn": lambda z: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-(z**2)) * mpmath.erfi(z),
    "fresnels": mpmath.fresnels,
    "fresnelc": mpmath.fresnelc,
    "Shi": mpmath.shi,
    "Chi": mpmath.chi,
    "LambertW": mpmath.lambertw,
    "ellipk": mpmath.ellipk,
    "ellipe": mpmath.ellipe,
}  # fmt: skip


def points(rng, count):
    for _ in range(count):
        size = rng.choice([0.3, 1, 3])
        yield complex(rng.uniform(-size, size), rng.uniform(-size, size))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_balls_have_the_values_of_mpmath(name):
    """In every quadrant, and beside both sides of both axes, where branches are cut."""
    rng = random.Random(name)
    beside = [complex(a, b * 1e-9) for a in (-2.5, -0.5, 0.5, 2.5) for b in (-1, 1)]
    met = 0
    for z in [*points(rng, 12), *beside, *(1j * p for p in beside)]:
        with mpmath.workdps(40):
            expected = FUNCTIONS[name](mpmath.mpmathify(z))
        found = value(f"{name}(z)", z=z)
        met += found is not None
        assert found is None or close(found, expected), (z, found, expected)
    assert met >= 24


@pytest.mark.parametrize("seed", range(5))
def test_balls_of_powers_have_the_values_of_mpmath(seed):
    rng = random.Random(seed)
    for z, w in zip(points(rng, 12), points(rng, 12), strict=True):
        assert close(value("z**w", z=z, w=w), mpmath.power(z, w))
        assert close(value("polygamma(2, z)", z=z), mpmath.polygamma(2, z))
        assert close(value("jv(1/3, z)", z=z), mpmath.besselj(mpmath.mpf(1) / 3, z))
        assert close(value("iv(2, z)", z=z), mpmath.besseli(2, z))
        assert close(value("kv(1/2, z)", z=z), mpmath.besselk(0.5, z))
        assert close(value("yv(1, z)", z=z), mpmath.bessely(1, z))


@pytest.mark.parametrize(
    ("text", "z", "expected"),
    [
        ("log(z)", -2, cmath.log(-2)),
        ("sqrt(z)", -4, 2j),
        ("sqrt(z)", -2, cmath.sqrt(-2)),
        ("z**(1/3)", -8, 1 + 3**0.5 * 1j),
        ("z**3", -2, -8),
        ("sqrt(log(z))", 0.5, cmath.sqrt(cmath.log(0.5))),
        # On cuts from the counterclockwise side: the second argument of each is just before the cut.
        ("asin(z)", 2, cmath.asin(2 - 1e-20j)),
        ("asin(z)", -2, cmath.asin(-2 + 1e-20j)),
        ("acosh(z)", -2, cmath.acosh(-2 + 1e-20j)),
        ("atanh(z)", 2, cmath.atanh(2 - 1e-20j)),
        ("atan(z)", 2j, cmath.atan(2j + 1e-20)),
        ("asinh(z)", -2j, cmath.asinh(-2j - 1e-20)),
    ],
)  # fmt: skip
def test_on_a_cut_it_is_the_principal_value(text, z, expected):
    assert close(value(text, z=z), expected)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 5])
def test_bessel_functions_of_whole_orders_have_no_cut(n):
    """Those of the first kind: all others are unknown on the negative axis and at zero."""
    for z in (-4, -2.5, -0.5, 0):
        with mpmath.workdps(40):
            assert close(value(f"jv({n}, z)", z=z), mpmath.besselj(n, z))
            assert close(value(f"iv({n}, z)", z=z), mpmath.besseli(n, z))
        unknown = (f"yv({n}, z)", f"kv({n}, z)", f"jv({n} + 1/2, z)", f"iv({n} - 1/3, z)", f"jv({n} + w, z)")
        for text in unknown:
            assert value(text, z=z, w=1j) is None, (text, z)


@pytest.mark.parametrize(
    ("text", "z"),
    [("log({})", 1), ("sqrt({})", 1), ("({})**z", 1j), ("({})**z", -1), ("1/(z - z)", 1), ("z**(-1)*0", 0)],
)
def test_what_reaches_across_a_cut_or_a_pole_is_unknown(text, z):
    """A ball around zero: the sine of a number that is not exact."""
    assert value(text.format("sin(pi/6) - 1/2"), z=z) is None


@pytest.mark.parametrize(
    ("z", "w", "expected"), [(0, 2 + 1j, 0), (0, 0, 1), (0, -1, None), (0, 1j, None), (1, 5j, 1)]
)
def test_powers_of_zero_and_one(z, w, expected):
    found = value("z**w", z=z, w=w)
    assert found == (None if expected is None else number(expected))


def test_derivatives_are_unknown_on_cuts_and_elsewhere_are_those_of_mpmath():
    rng = random.Random(3)
    for name in (
        "asin",
        "acosh",
        "asec",
        "acsc",
        "asech",
        "acsch",
        "acot",
        "log",
        "sqrt",
        "softplus",
        "atanh",
        "acoth",
    ):
        for z in points(rng, 6):
            with mpmath.workdps(40):
                expected = mpmath.diff(FUNCTIONS[name], mpmath.mpmathify(z))
            assert close(value(f"{name}(z)", wrt="z", z=z), expected), (name, z)
    for text, z in [("log(z)", -2), ("sqrt(z)", 0), ("asin(z)", 3), ("atan(z)", 2j), ("z**w", -1)]:
        assert value(text, z=z, **cast("Any", {"w": 0.5} if "w" in text else {})) is not None or z == 0
        assert value(text, wrt="z", z=z, **cast("Any", {"w": 0.5} if "w" in text else {})) is None
    assert value("z**w", wrt="z", z=-2, w=2) == number(-4)  # a product has no cut


OPERATIONS = [
    "sqrt({})", "log({})", "exp({})", "({})**w", "w**({})", "({})**({})", "asin({})", "acosh({})", "atan({})",
    "({})*({})", "({})/({})", "acsc({})", "asech({})", "acoth({})", "softplus({})", "gamma({})", "erf({})", "log10({})",
    "tan({})", "({}) + ({})", "jv(2, {})", "Ci({})", "exp1({})", "airyai({})", "asinh({})", "coth({})", "({})**(-2)",
    "exp2({})", "LambertW({})", "ellipk({})", "ellipe({})", "Chi({})", "fresnels({})", "dawsn({})",
]  # fmt: skip


def formula(rng, depth):
    if depth == 0:
        return rng.choice(["z", "z", "2*z - 1", "w", "1/3"])
    operation = rng.choice(OPERATIONS)
    return operation.format(*(formula(rng, depth - 1) for _ in range(operation.count("{}"))))


@pytest.mark.parametrize("block", range(4))
def test_derivatives_of_random_formulas_are_those_of_small_differences(block):
    rng = random.Random(block)
    h = Gaussian(Fraction(1, 2**100), Fraction(1, 2**101))
    met = 0
    for _ in range(60):
        text = formula(rng, rng.choice([1, 2, 2, 3]))
        s = statement(text, wrt="z")
        z, w = (number(p) for p in points(rng, 2))
        wanted = [s.a, *s.defined]
        slope, middle = evaluate(s.program, {"z": z, "w": w}, precision=600, wanted=wanted, wrt="z")
        ends = [evaluate(s.program, {"z": z + d, "w": w}, precision=600, wanted=wanted)[1] for d in (h, -h)]
        if slope is None or middle is None or None in ends:
            continue
        met += 1
        with context.workprec(600):
            found = (ball(ends[0]) - ball(ends[1])) / (2 * ball(h))
            gap, size = abs(found - ball(slope)), abs(ball(slope)) + 1
            assert bool(gap < size * 1e-20), (text, str(z), str(w))
    assert met >= 20


@pytest.mark.parametrize("text", [
    "maximum(z, w)", "where(z > 0, z, w)", "floor(z)", "cbrt(z)", "lgamma(z)", "hypot(z, w)", "atan2(z, w)", "relu(z)",
    "erfinv(z)", "expi(z)", "z*(w > 0)",
])  # fmt: skip
def test_what_has_no_meaning_for_complex_numbers_is_refused(text):
    with pytest.raises(UsageError, match=r"not a function of complex numbers|truth value"):
        statement(text)


@pytest.mark.parametrize("text", ["abs(z)", "sign(z**2)*w", "z*abs(z)"])
def test_what_is_not_holomorphic_has_no_derivative(text):
    with pytest.raises(UsageError, match="no complex derivative"):
        statement(text, wrt="z")
    statement(text.replace("z", "w"), wrt="z")


MEROMORPHIC = [
    "z**3", "z**(-2)", "2**z", "(1/3)**z", "pi**(z*w)", "sqrt(2)**z", "log(2)*z", "jv(2, z)", "iv(-3, z)", "gamma(z)",
    "erf(z)/z", "jv(0, z*w)",
]  # fmt: skip
WITH_CUTS = [
    "z**(1/2)", "z**(3/2)", "(z**2)**(-5/2)", "z**(1/3)", "z**w", "z**pi", "jv(1/2, z)", "iv(-1/3, z)", "jv(5/2, z**2)",
    "jv(w, z)", "iv(sqrt(2), z)", "(-2)**z", "(-1/2)**z", "0**z", "yv(2, z)", "kv(1, z)", "log(z)", "abs(z)", "z**k",
    "jv(k, z)", "sqrt(z**2)", "asin(z)", "ellipk(z)",
]  # fmt: skip


@pytest.mark.parametrize("text", [*MEROMORPHIC, *WITH_CUTS])
def test_only_what_is_meromorphic_follows_from_real_numbers(text):
    """For real z, ((1 + z**2)**2)**(3/2) is (1 + z**2)**3; at 2j it is not: powers and Bessel functions have cuts."""
    listing = parse_program(f"z, w : real\nk : int\ny = {text}")
    program, (y,) = program_of([listing.assignments["y"]], list(listing.symbols.values()))
    claim = retype_symbols(program, ["z", "w"]), y, y, None
    if text in MEROMORPHIC:
        found = real_statement(*claim)
        assert (found.a, found.b) == (y, y)
    else:
        with pytest.raises(GiveUp, match=r"is not meromorphic|is an integer"):
            real_statement(*claim)


def test_points_are_in_the_domains():
    listing = parse_program("z : real\nx : positive\nn : int\ny = z*x*n")
    program, _ = program_of([listing["y"]])
    program = retype_symbols(program, ["z"])
    i, one = Gaussian(Fraction(0), Fraction(1)), Gaussian(Fraction(1))
    assert in_domain(program, {"z": i, "x": one, "n": one})
    for wrong in ({"x": i}, {"x": -one}, {"n": one / number(2)}, {"n": i}):
        assert not in_domain(program, {"z": i, "x": one, "n": one, **wrong})
    assert not in_domain(program, {"z": i, "x": one})


def test_exact_numbers():
    z = Gaussian(Fraction(-3), Fraction(4))
    assert z.sqrt() == Gaussian(Fraction(1), Fraction(2))
    assert Gaussian(Fraction(-4)).sqrt() == Gaussian(Fraction(0), Fraction(2))
    assert Gaussian(Fraction(0), Fraction(1)).sqrt() is None
    assert z**-2 == Gaussian(Fraction(1)) / (z * z)
    assert gaussian_from_json(json.loads(json.dumps(z.to_json()))) == z
    assert gaussian_from_json("1/2") == Gaussian(Fraction(1, 2))
    for wrong in ({"re": "1"}, {"re": 1, "im": "0"}, {"re": "1", "im": "0", "k": "1"}, "1+i"):
        with pytest.raises((ValueError, KeyError, TypeError)):
            gaussian_from_json(wrong)


# ------------------------------------------------------------------------------------------------------------- proofs


def proof_of(verdict):
    assert verdict.proof is not None, verdict
    return json.loads(verdict.proof.to_json())


PROOFS = [
    (lambda: sg.equal("exp(z + w)", "exp(z)*exp(w)", domain="complex"), "proved"),
    (lambda: sg.equal("tan(2*z)", "2*tan(z)/(1 - tan(z)**2)", domain="complex"), "proved"),
    (lambda: sg.equal("gamma(z + 1)", "z*gamma(z)", domain="complex"), "proved"),
    (lambda: sg.equal("sqrt(x*z)", "sqrt(x)*sqrt(z)", domain={"x": "positive", "z": "complex"}), "proved"),
    (lambda: sg.verify("z**z", "z", "z**z*(log(z) + 1)", domain="complex"), "proved"),
    (lambda: sg.verify("erf(z)*sqrt(pi)", "z", "2*exp(-z**2)", domain="complex"), "proved"),
    (lambda: sg.equal("sqrt(z**2)", "z", domain="complex"), "refuted"),
    (lambda: sg.verify("acosh(z)", "z", "1/sqrt(z**2 - 1)", domain="complex"), "refuted"),
]


@pytest.mark.parametrize("row", range(len(PROOFS)))
def test_the_checker_finds_what_the_search_found(row):
    make, status = PROOFS[row]
    verdict = make()
    assert verdict.status == status
    found = check(proof_of(verdict))
    assert (found.status, found.excluded) == (status, verdict.excluded)


@pytest.mark.parametrize("row", range(len(PROOFS)))
def test_a_damaged_proof_proves_nothing_false(row):
    """What is still accepted after a change is true at random points, or is refuted at its own."""
    data = proof_of(PROOFS[row][0]())
    rng = random.Random(row)
    refused = 0
    for _ in range(60):
        bad = damaged(data, rng)
        try:
            found = check(bad)
        except UsageError:
            refused += 1
            continue
        refused += found.status == "supported"
        if found.status == "proved":
            assert holds(bad, rng), bad
    assert refused >= 10


def holds(data, rng):
    """Whether both sides agree at points at which they are defined."""
    program = program_from_json(data["program"])
    s = complex_statement(program, data["a"], data["b"], data.get("wrt"))
    for z in points(rng, 12):
        here = {
            d.name: number(z * (k + 1)) if d.kind == "complex" else number(abs(z))
            for k, d in enumerate(program.symbols)
        }
        left, right, *rest = evaluate(
            s.program, here, precision=128, wanted=[s.a, s.b, *s.defined], wrt=s.wrt
        )
        if (
            left is not None
            and right is not None
            and None not in rest
            and not ball(left).overlaps(ball(right))
        ):
            return False
    return True


@pytest.mark.parametrize("row", [0, 2, 4])
def test_a_proof_is_of_its_own_statement_and_domain(row):
    data = proof_of(PROOFS[row][0]())
    other = copy.deepcopy(data)
    other["b"] = other["a"] if row == 4 else next(iter(range(other["a"] - 1, -1, -1)))
    assert check(other).status == "supported"
    for key, wrong in [
        ("domain", "real"),
        ("domain", None),
        ("kind", "other"),
        ("status", "refuted"),
        ("status", "apart"),
    ]:
        assert answer({**data, key: wrong}) in {"supported", "refused"}
    without = {k: v for k, v in data.items() if k != "domain"}
    assert answer(without) in {"supported", "refused"}


def test_a_proof_for_real_numbers_is_none_for_complex_ones():
    real = proof_of(sg.equal("sqrt(x**2)", "abs(x)"))
    complex_one = proof_of(sg.equal("exp(x)*exp(x)", "exp(2*x)", domain="complex"))
    program = json.loads(json.dumps(real["program"]).replace('"real"', '"complex"', 1))
    symbols = [[*s] for s in real["program"]["symbols"]]
    symbols[0][1] = "complex"
    steps = [[*s] for s in real["program"]["steps"]]
    for s in steps:
        s[4] = "complex" if s[0] == "symbol" else s[4]
    program = {"symbols": symbols, "steps": steps}
    assert check({**real, "program": program}).status == "supported"
    assert answer({**real, "program": program, "domain": "complex"}) == "refused"
    forged = {k: v for k, v in real.items() if k != "cases"}
    forged |= {"program": program, "domain": "complex", "sample": complex_one["sample"]}
    assert check({**forged, "real": {"cases": real["cases"], "sample": real["sample"]}}).status == "supported"
    assert check({**forged, "branches": complex_one["branches"]}).status == "supported"
