"""Verdicts about complex numbers: typical questions, and that careless laws are never proved."""

from __future__ import annotations

import random

import pytest

import symgrad as sg
from symgrad.checker.clock import now
from symgrad.checker.complex.balls import ball, evaluate
from symgrad.checker.complex.gaussian import Gaussian
from symgrad.checker.complex.principal_branches import complex_statement, retype_symbols
from symgrad.errors import SymgradError, UsageError
from symgrad.frontend.text import parse_program
from symgrad.verification.complex_domain import search_branches
from symgrad.verification.points.complex_points import complex_points
from symgrad.verification.statement import program_of

INTEGER = {"z": "complex", "w": "complex", "n": "int"}
POSITIVE = {"z": "complex", "x": "positive"}


@pytest.mark.parametrize(
    ("a", "b", "domain"),
    [
        ("exp(z + w)", "exp(z)*exp(w)", "complex"),
        ("sin(z)**2 + cos(z)**2", "1", "complex"),
        ("sqrt(z)**2", "z", "complex"),
        ("exp(log(z))", "z", "complex"),
        ("exp(sqrt(-1)*z)", "cos(z) + sqrt(-1)*sin(z)", "complex"),
        ("exp(sqrt(-1)*pi)", "-1", "complex"),
        ("z**w*z**(1/2)", "z**(w + 1/2)", "complex"),
        ("sqrt(sqrt(z))", "z**(1/4)", "complex"),
        ("sqrt(4*z)", "2*sqrt(z)", "complex"),
        ("log(pi*exp(1)*z/3)", "log(pi) + 1 + log(z) - log(3)", "complex"),
        ("cos(z + pi/2)", "-sin(z)", "complex"),
        ("sin(asin(z))", "z", "complex"),
        ("cosh(acosh(z))", "z", "complex"),
        ("tan(atan(z))", "z", "complex"),
        ("asin(z) + acos(z)", "pi/2", "complex"),
        ("asinh(z)", "log(z + sqrt(z**2 + 1))", "complex"),
        ("atanh(z)", "(log(1 + z) - log(1 - z))/2", "complex"),
        ("tanh(z)", "(exp(2*z) - 1)/(exp(2*z) + 1)", "complex"),
        ("sigmoid(z) + sigmoid(-z)", "1", "complex"),
        ("sqrt(1 - z**2)", "sqrt(1 - z)*sqrt(1 + z)", "complex"),
        ("log((z - 1)/(z + 1))", "log(z - 1) - log(z + 1)", "complex"),
        ("log((2*z - 1)*(5 - 3*z))", "log(2*z - 1) + log(5 - 3*z)", "complex"),
        ("asin(-z)", "-asin(z)", "complex"),
        ("acos(-z)", "pi - acos(z)", "complex"),
        ("asinh(sqrt(-1)*z)", "sqrt(-1)*asin(z)", "complex"),
        ("2**z*2**w", "2**(z + w)", "complex"),
        ("(-8)**(1/3)", "1 + sqrt(-3)", "complex"),
        ("log(z)*cos(pi/12)", "log(z)*(sqrt(6) + sqrt(2))/4", "complex"),
        ("sqrt(z)*cos(pi/5)", "sqrt(z)*(1 + sqrt(5))/4", "complex"),
        ("exp(sqrt(-1)*pi/4)*sqrt(z)*2**(3/4)", "sqrt(z)*(1 + sqrt(-1))*2**(1/4)", "complex"),
        ("log(z)*sin(pi/7)*sin(2*pi/7)*sin(3*pi/7)", "log(z)*sqrt(7)/8", "complex"),
        # By the identity theorem
        ("gamma(z + 1)", "z*gamma(z)", "complex"),
        ("digamma(z + 2)", "digamma(z) + 1/z + 1/(z + 1)", "complex"),
        ("erf(-z)", "-erf(z)", "complex"),
        ("sin(z + pi/12)", "sin(z)*cos(pi/12) + cos(z)*(sqrt(6) - sqrt(2))/4", "complex"),
        # With other variables that are real
        ("sqrt(x*z)", "sqrt(x)*sqrt(z)", POSITIVE),
        ("x**z*x**(-z)", "1", POSITIVE),
        ("(z*w)**n", "z**n*w**n", INTEGER),
        ("(z**w)**n", "z**(w*n)", INTEGER),
        ("(z/w)**n", "z**n/w**n", INTEGER),
        ("(z/w**2)**n", "z**n*w**(-2*n)", INTEGER),
        ("(exp(z)/w)**n", "exp(n*z)/w**n", INTEGER),
        ("(z**2/w)**n*w**n", "z**(2*n)", INTEGER),
        ("((z + 1)/(w - 1))**n", "(z + 1)**n/(w - 1)**n", INTEGER),
        ("(1/(3*sqrt(z)))**(2*n)", "9**(-n)*z**(-n)", {"z": "complex", "n": "int"}),
        ("exp(n*z)", "exp(z)**n", {"z": "complex", "n": "int"}),
    ],
)
def test_what_holds_for_complex_numbers_is_proved(a, b, domain):
    verdict = sg.equal(a, b, domain=domain)
    assert verdict.status == "proved", verdict


@pytest.mark.parametrize(
    ("a", "b", "domain"),
    [
        ("sqrt(z**2)", "z", "complex"),
        ("log(z**2)", "2*log(z)", "complex"),
        ("log(exp(z))", "z", "complex"),
        ("log(z*w)", "log(z) + log(w)", "complex"),
        ("sqrt(z)*sqrt(w)", "sqrt(z*w)", "complex"),
        ("(z**a)**b", "z**(a*b)", "complex"),
        ("(z**2)**a", "z**(2*a)", "complex"),
        ("(-z)**a", "(-1)**a*z**a", "complex"),
        ("exp(n*z)", "exp(z)**n", "complex"),
        ("atan(1/z)", "pi/2 - atan(z)", "complex"),
        ("asin(sin(z))", "z", "complex"),
        ("acosh(z)", "log(z + sqrt(z**2 - 1))", "complex"),
        ("abs(z)**2", "z**2", "complex"),
        ("sqrt(abs(z)**2)", "z", "complex"),
        ("sqrt(x*z)", "sqrt(x)*sqrt(z)", {"x": "real", "z": "complex"}),
        ("log(z**2 + 1)", "log(z - sqrt(-1)) + log(z + sqrt(-1))", "complex"),
        ("sqrt(z**2 - 1)", "sqrt(z - 1)*sqrt(z + 1)", "complex"),
        ("acosh(-z)", "acosh(z)", "complex"),
    ],
)
def test_what_fails_for_complex_numbers_is_refuted(a, b, domain):
    verdict = sg.equal(a, b, domain=domain)
    assert verdict.status == "refuted", verdict
    assert verdict.witness is not None
    assert all(isinstance(z, Gaussian) for z in verdict.witness.values())
    assert verdict.why == "the two sides differ"


@pytest.mark.parametrize(("a", "b"), [
    ("log(1/z)", "-log(z)"),
    ("sqrt(1/z)", "1/sqrt(z)"),
    ("log((z + 1)/(z - 1))", "log(z + 1) - log(z - 1)"),
    ("log((1 + z)/(1 - z))", "log(1 + z) - log(1 - z)"),
    ("log((1 - z)/(1 + z))", "log(1 - z) - log(1 + z)"),
])  # fmt: skip
def test_what_fails_on_a_cut_alone_is_said_to(a, b):
    verdict = sg.equal(a, b, domain="complex")
    assert verdict.status == "refuted"
    assert verdict.why == "the two sides differ, at points on branch cuts"
    assert verdict.witness is not None
    assert verdict.witness["z"].imag == 0


@pytest.mark.parametrize(
    ("y", "claim", "status", "excluded"),
    [
        ("z**z", "z**z*(log(z) + 1)", "proved", ("z is on the branch cut of z ** z",)),
        ("log(z)", "1/z", "proved", ("z is on a branch cut of log",)),
        ("log(z)", "1/abs(z)", "refuted", ()),
        ("sqrt(z)", "1/(2*sqrt(z))", "proved", ("z is on a branch cut of sqrt",)),
        ("asin(z)", "1/sqrt(1 - z**2)", "proved", ("z is on a branch cut of asin",)),
        ("asin(z)", "1/(sqrt(1 - z)*sqrt(1 + z))", "proved", ("z is on a branch cut of asin",)),
        ("acosh(z)", "1/sqrt(z**2 - 1)", "refuted", ()),
        ("acosh(z)", "1/(sqrt(z - 1)*sqrt(z + 1))", "proved", ("z is on a branch cut of acosh",)),
        ("asec(z)", "1/(z**2*sqrt(1 - 1/z**2))", "proved", ("z is on a branch cut of asec",)),
        ("asec(z)", "1/(z*sqrt(z**2 - 1))", "refuted", ()),
        ("atan(z)", "1/(1 + z**2)", "proved", ("z is on a branch cut of atan",)),
        ("sin(z)*exp(z**2)", "exp(z**2)*(cos(z) + 2*z*sin(z))", "proved", ()),
        ("z**3", "3*z**2", "proved", ()),
        ("sqrt(z**2)", "1", "refuted", ()),
        ("gamma(z)", "gamma(z)*digamma(z)", "proved", ()),
        ("erf(z)", "2/sqrt(pi)*exp(-z**2)", "proved", ()),
        ("2**z", "log(2)*2**z", "proved", ()),
        ("stop_gradient(log(z))*z", "log(z)", "proved", ()),
        ("Si(z)", "sin(z)/z", "proved", ("z = 0",)),
        ("LambertW(z)", "1/(z + exp(LambertW(z)))", "supported", ()),
        ("erfcx(z)", "2*z*erfcx(z) - 2/sqrt(pi)", "proved", ()),
        ("ellipe(z)", "(ellipe(z) - ellipk(z))/(2*z)", "proved", ("z is on a branch cut of ellipe", "z = 0")),
        ("jv(2, z)", "(jv(1, z) - jv(3, z))/2", "proved", ()),
        ("jv(1/2, z)", "(jv(-1/2, z) - jv(3/2, z))/2", "proved", ("z is on a branch cut of jv",)),
    ],
)
def test_derivatives(y, claim, status, excluded):
    verdict = sg.verify(y, "z", claim, domain="complex")
    assert (verdict.status, verdict.excluded) == (status, excluded), verdict


@pytest.mark.parametrize(
    "exponent", ["n", "-n", "n + m", "2*n", "n*m - 3", "x", "x/2", "n/2", "n + 1/2", "n*x", "n - x"]
)
def test_powers_have_a_cut_unless_the_exponent_is_always_an_integer(exponent):
    p = sg.parse(f"z, x : real\nn, m : int\ny = z**({exponent})\nclaim = ({exponent})*z**({exponent} - 1)")
    verdict = sg.verify(p["y"], p["z"], p["claim"], domain={"z": "complex"})
    assert verdict.status == "proved"
    whole = "x" not in exponent and "/" not in exponent
    assert [e.split(" **")[0] for e in verdict.excluded] == [
        "z = 0" if whole else "z is on the branch cut of z"
    ]


def test_by_an_intermediate_value_and_with_noise():
    p = sg.parse("z : real\nu ~ Uniform(0.9, 1.1)\nh = z**2\ny = sqrt(h)*u")
    assert sg.verify(p["y"], p["h"], "u/(2*sqrt(h))", domain="complex").status == "proved"
    assert sg.verify(p["y"], p["z"], "u", domain="complex").status == "refuted"
    assert sg.verify(p["y"], p["z"], "u*z/sqrt(z**2)", domain="complex").status == "proved"


def test_nowhere_and_never_certain():
    assert sg.verify("log(z - z - 1)", "z", "0", domain="complex").status == "undecided"
    assert sg.equal("1/(z - z)", "z", domain="complex").status == "undecided"
    verdict = sg.equal("gamma(z)*gamma(1 - z)", "pi/sin(pi*z)", domain="complex")
    assert verdict.status == "supported"
    assert verdict.points >= 40
    assert verdict.digits is not None


def test_a_set_that_is_not_thin_is_not_left_out():
    """Where sqrt(z**2) is z, on a half of the plane, the base of these powers is zero."""
    base = "(sqrt(z**2) - z)"
    assert sg.equal(f"{base}**w*{base}**(1 - w)", base, domain="complex").status == "supported"
    base = "((z**2)**a - z**(2*a))"
    assert sg.equal(f"{base}**w*{base}**(1 - w)", base, domain="complex").status == "supported"
    thin = sg.equal("(1 + sqrt(z))**w*(1 + sqrt(z))", "(1 + sqrt(z))**(w + 1)", domain="complex")
    assert (thin.status, thin.excluded) == ("proved", ("1 + sqrt(z) = 0",))


def test_what_is_no_question_about_complex_numbers_is_said():
    for a, b in [("z**2 >= 0", "z**2 >= 0"), ("maximum(z, w)", "z"), ("where(z == 0, 1, z)", "z")]:
        with pytest.raises(UsageError, match="not a function of complex numbers"):
            sg.equal(a, b, domain="complex")
    with pytest.raises(UsageError, match="no complex derivative"):
        sg.verify("abs(z)", "z", "sign(z)", domain="complex")
    p = sg.parse("X : real[n]\ny = sum(X**2)")
    with pytest.raises(UsageError, match="not arrays"):
        sg.verify(p["y"], p["X"], "2*X", domain="complex")
    with pytest.raises(UsageError, match="takes no real values"):
        sg.verify("n**2", "n", "2*n", domain={"n": "int"})
    with pytest.raises(SymgradError, match="there is a domain for 'q'"):
        sg.equal("z", "z", domain={"q": "complex"})


def test_a_witness_is_data():
    verdict = sg.equal("sqrt(z**2)", "z", domain="complex")
    assert verdict.witness is not None
    z = verdict.witness["z"]
    assert abs((complex(z) ** 2) ** 0.5 - complex(z)) > 0.1
    assert verdict.to_json()["witness"]["z"] == {"re": str(z.real), "im": str(z.imag)}
    assert f"z = {z}" in str(verdict)


# ----------------------------------------------------------------------------------------------------------- soundness

LAWS = [
    ("log(({a})*({b}))", "log({a}) + log({b})"),
    ("log(1/({a}))", "-log({a})"),
    ("log(({a})**2)", "2*log({a})"),
    ("log(exp({a}))", "{a}"),
    ("log(3*({a}))", "log(3) + log({a})"),
    ("exp(log({a}))", "{a}"),
    ("sqrt(({a})*({b}))", "sqrt({a})*sqrt({b})"),
    ("sqrt(({a})**2)", "{a}"),
    ("sqrt({a})**2", "{a}"),
    ("sqrt(1/({a}))", "1/sqrt({a})"),
    ("sqrt(({a})**3)", "({a})*sqrt({a})"),
    ("(({a})**({b}))**2", "({a})**(2*({b}))"),
    ("(({a})**2)**({b})", "({a})**(2*({b}))"),
    ("(({a})*2)**({b})", "({a})**({b})*2**({b})"),
    ("(({a})*({b}))**(1/3)", "({a})**(1/3)*({b})**(1/3)"),
    ("({a})**(1/3)*({a})**(1/2)", "({a})**(5/6)"),
    ("(({a})**(1/3))**(1/2)", "({a})**(1/6)"),
    ("(({a})**(1/2))**3", "({a})**(3/2)"),
    ("(({a})**(3/2))**(1/3)", "sqrt({a})"),
    ("(({a})**n)**({b})", "({a})**(n*({b}))"),
    ("(({a})**({b}))**n", "({a})**(n*({b}))"),
    ("asin(sin({a}))", "{a}"),
    ("sin(asin({a}))", "{a}"),
    ("acosh({a})", "log({a} + sqrt(({a})**2 - 1))"),
    ("asinh({a})", "-asinh(-({a}))"),
    ("atan({a})", "asin(({a})/sqrt(1 + ({a})**2))"),
    ("atan(1/({a}))", "pi/2 - atan({a})"),
    ("atanh({a})", "log((1 + {a})/(1 - ({a})))/2"),
    ("cosh(acosh({a})/2)", "sqrt((1 + {a})/2)"),
    ("exp({a})*exp({b})", "exp({a} + {b})"),
    ("cos(2*({a}))", "2*cos({a})**2 - 1"),
    ("log(sqrt({a}))", "log({a})/2"),
    ("log(({a})**(3/2))", "3*log({a})/2"),
    ("log(1/sqrt({a}))", "-log({a})/2"),
    ("log(1 - ({a})**2)", "log(1 - {a}) + log(1 + {a})"),
    ("log(({a})**2 - 1)", "log({a} - 1) + log(1 + {a})"),
    ("log(({a} - 1)/({a} + 1))", "log({a} - 1) - log(1 + {a})"),
    ("log(({a} + 1)/({a} - 1))", "log({a} + 1) - log({a} - 1)"),
    ("log((1 + {a})/(1 - ({a})))", "log({a} + 1) - log(1 - ({a}))"),
    ("sqrt((2*({a}) - 1)*(1 - 3*({a})))", "sqrt(2*({a}) - 1)*sqrt(1 - 3*({a}))"),
    ("sqrt((2*({a}) - 1)*(3 - ({a})))", "sqrt(2*({a}) - 1)*sqrt(3 - ({a}))"),
    ("asin(-({a}))", "-asin({a})"),
    ("acosh(-({a}))", "acosh({a})"),
    ("log({a} + sqrt(({a})**2 - 1))", "-log({a} - sqrt(({a})**2 - 1))"),
    ("log({a} + sqrt(({a})**2 + 1))", "-log(sqrt(({a})**2 + 1) - ({a}))"),
]  # fmt: skip
AROUND = ["{}", "sqrt({})", "exp({})", "1/({})", "({})**w", "({})*log(z)"]
INNER = ["z", "w", "-z", "2*z", "sqrt(-1)*z", "sqrt(z)", "exp(z)", "1/z", "z**2", "z**n", "x*z", "-1", "1 + z",
         "sqrt(-1)", "-x", "z*w", "log(z)", "1/sqrt(z)", "z**(1/3)", "-sqrt(z)", "x**w", "exp(1)", "pi/3"]  # fmt: skip


def named(a, b):
    listing = parse_program(f"z, w : real\nx : positive\nn : int\nleft = {a}\nright = {b}")
    program, (i, j) = program_of([listing.assignments["left"], listing.assignments["right"]])
    return complex_statement(retype_symbols(program, ["z", "w"]), i, j)


@pytest.mark.parametrize("block", range(6))
def test_careless_laws_are_never_proved(block):
    """Laws of which many hold on a part of the plane, of random formulas: what is proved holds at every point tried."""
    rng = random.Random(block)
    proved = 0
    for _ in range(40):
        law, around = rng.choice(LAWS), rng.choice(AROUND)
        parts = {"a": rng.choice(INNER), "b": rng.choice(INNER)}
        a, b = (around.format(side.format(**parts)) for side in law)
        s = named(a, b)
        found = search_branches(s, now() + 5)
        if isinstance(found, str):
            continue
        proved += 1
        for _, point in zip(range(70), complex_points(s.program), strict=False):
            left, right = evaluate(s.program, point, precision=128, wanted=[s.a, s.b])
            same = left is None or right is None or ball(left).overlaps(ball(right))
            assert same or is_left_out(found[1], point), (a, b, point, found[1])
    assert proved >= 8


def is_left_out(excluded, point):
    """Whether a condition such as "z = 0" holds at a point."""
    for condition in excluded:
        s = named(condition.removesuffix(" = 0"), "0")
        (value,) = evaluate(s.program, point, precision=128, wanted=[s.a])
        if value is None or ball(value).overlaps(0):
            return True
    return False
