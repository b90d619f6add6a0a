"""Exact arithmetic: numbers of many digits through every verb, and domains that nothing folds away."""

from __future__ import annotations

import json
import math
import pickle
import random
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from click.testing import CliRunner

import symgrad as sg
import symgrad.ops  # fills the table of written functions
from symgrad.apps.cli.main import main as command_line
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.check import check
from symgrad.errors import NumberTooLargeError, SymgradError
from symgrad.ir.composite import WRITTEN, CompositeFunction
from symgrad.verification.statement import program_of
from tests.fuzz.formulas import POINTS, Real, UndefinedError, functions, random_formula
from tests.fuzz.kind import kind, refused
from tests.rewrite.rules.strict import MP, Unclear, same, strictly

# --------------------------------------------------------------------------------------------------- many digits

_FUNCTIONS = """
sqrt cbrt exp log log2 sin tan sinh tanh abs sign floor round gamma lgamma digamma erf erfinv expm1 log1p sigmoid
softplus relu atan acosh LambertW airyai Si li ellipk dawsn spence factorial harmonic
"""
_OF_TWO = "maximum minimum Mod atan2 hypot jv kv expint uppergamma lowergamma polylog zeta beta binomial rf"


def _digits(rng: random.Random) -> str:
    length = rng.choice([20, 40, 100, 309, 700, 2_000, 3_999, 5_000])
    return rng.choice("123456789") + "".join(rng.choices("0123456789", k=length - 1))


def _absurd(rng: random.Random) -> str:
    """Return a number that no float has."""
    ten = rng.choice([25, 200, 309, 400, 3_999, 4_000, 999_999, 10**12])
    return rng.choice(
        [
            _digits(rng),
            f"0.{_digits(rng)}",
            f"{_digits(rng)}.{_digits(rng)}",
            f"{rng.choice(['1', '7.5', '123'])}e{rng.choice(['', '-'])}{ten}",
            f"{rng.randint(2, 12)}**{rng.randint(2, 12)}**{rng.randint(2, 12)}",
            f"10**{ten}",
            f"({_digits(rng)}/{_digits(rng)})",
            f"1/{rng.randint(3, 10**9)}**{rng.randint(1, 10**6)}",
            f"{10**9 + rng.randint(1, 99)}",
            f"({rng.randint(3, 10**6)}**2*{rng.randint(3, 10**6)})",
            f"3.{_digits(rng)}",
        ]
    )


def _formula(rng: random.Random) -> str:
    x = rng.choice(["x", "x", "abs(x)", "(x + 1)", "(x + y)", "sin(x)", f"({_absurd(rng)}*x)"])
    n = _absurd(rng)
    sign = rng.choice(["", "-"])
    form = rng.choice(
        [
            "{x}**({s}{n})",
            "{x}**({n}/2)",
            "({n}*{x})**({s}{m})",
            "({n}*{x})**({s}1/2)",
            "({n}*{x})**({m}/3)",
            "{x}*{n} + {x}*{m}",
            "{x}/{n} - {s}{m}*{x}",
            "({x} + {n})**{s}{k}",
            "({n})**{x}",
            "{f}({n}*{x})",
            "{f}({n})*{x}",
            "{g}({n}, {x})",
            "{g}({x}, {n})",
            "where({x} > {n}, {m}, {s}{x})",
            "clip({x}, {s}{n}, {m})",
            "(({x}**({n}))**({m}))**(1/2)",
            "({x}**2)**(1/({n}))",
            "exp({n}*log({x}))",
            "1/({x} + 1)**{k} - {x}/({x} + 1)**({s}{n})",
            "polygamma({k}{d}, {x})",
            "sqrt({n})*{x} - sqrt({m})*{x}",
            "abs(x)**({n})*sign(x)**{k}*x**({m})",
        ]
    )
    return form.format(
        x=x,
        n=n,
        m=_absurd(rng) if rng.random() < 0.5 else str(rng.randint(2, 9)),
        s=sign,
        f=rng.choice(_FUNCTIONS.split()),
        g=rng.choice(_OF_TWO.split()),
        k=rng.choice([2, 3, 50, 1_000, 10**6, 10**9]),
        d="0" * rng.choice([0, 0, 3, 20]),
    )


def _program(rng: random.Random) -> str:
    """Return a program: a formula, powers of powers that are written out in steps, or an array's."""
    kind = rng.random()
    if kind < 0.7:
        domain = rng.choice(["real", "real", "positive", f"real(0, {_absurd(rng)})", "int"])
        return f"x : {domain}\ny : real\nz = {_formula(rng)}"
    if kind < 0.85:
        step = rng.choice(
            ["t{k}*t{k}", "t{k}**3", "t{k}*{n}", "t{k}/{n}", "t{k} + x/{n}", "sqrt(t{k}*{n})", "t{k}**{n}"]
        )
        lines = ["x : real", f"t0 = {_formula(rng).replace('y', 'x')}"]
        count = rng.choice([5, 20, 60])
        lines += [f"t{k + 1} = " + step.format(k=k, n=_absurd(rng)[:400]) for k in range(count)]
        return "\n".join(lines)
    form = rng.choice(
        [
            "sum(x)**({n})",
            "(4*sum(x)**2 + 1)**(-{n}/2)",
            "sum({n}*x)",
            "sum(x**({n}))",
            "norm(x)*{n}",
            "sum(x[{n}:])",
        ]
    )
    return "x : real[n]\nz = " + form.format(n=_absurd(rng))


def _real(program: sg.Program) -> Any:
    return next((x for x in program.inputs if x.dtype == "real"), program.inputs[0])


def _verdict(v: sg.Verdict) -> None:
    json.dumps(v.to_json())
    assert str(v)
    if v.proof is not None:
        assert check(json.loads(v.proof.to_json())).status == v.status


def _read_back(program: sg.Program) -> None:
    text = str(program.last)
    names = {x.name: x for x in program.inputs if x.name}
    assert str(sg.parse(text, symbols=names).last) == text if "\n" not in text else sg.parse(text)
    assert pickle.loads(pickle.dumps(program.last)).same(program.last)


def _values(program: sg.Program) -> dict[str, Any]:
    return {str(x.name): np.ones(3) if x.shape else 1 if x.dtype == "int" else 0.5 for x in program.inputs}


def _from_sympy(program: sg.Program) -> None:
    domains = {str(x.name): x.node.declaration.domain for x in program.inputs}
    assert sg.from_sympy(program.last.sympy(), domains=domains).shape == ()


_CHEAP: list[Callable[[sg.Program], Any]] = [
    _read_back,
    lambda p: str(p.last.canonical()),
    lambda p: p.last.domain_notes,
    lambda p: str(p.last.stable()),
    lambda p: str(sg.grad(p.last, _real(p))),
    lambda p: p.last.latex(),
    lambda p: p.last.numpy_source(),
    _from_sympy,
    lambda p: p.last(**_values(p)),
]
_DEAR: list[Callable[[sg.Program], Any]] = [
    lambda p: str(sg.grad(p.last, _real(p)).stable()),
    lambda p: [str(e) for e in sg.derivatives(p.last, [_real(p)], order=3).values()],
    lambda p: sg.compile([p.last, sg.grad(p.last, _real(p))], p.inputs)(**_values(p)),
    lambda p: str(sg.explain(p.last, _real(p))),
    lambda p: _verdict(sg.equal(p.last, p.last * 1, time_limit=1)),
    lambda p: _verdict(sg.equal(p.last, p.last.canonical(), time_limit=1)),
    lambda p: _verdict(sg.equal(p.last, 2 * _real(p), time_limit=1)),
    lambda p: _verdict(sg.verify(p.last, _real(p), sg.grad(p.last, _real(p)), time_limit=1)),
]
_COMMANDS = (
    "derive",
    "derive --order 2",
    "derive --format json",
    "derive --stable --format latex",
    "explain",
    "equal",
)


def _command(rng: random.Random, text: str) -> None:
    name, *options = rng.choice(_COMMANDS).split()
    arguments = [name, text, "x", "--time-limit", "1"] if name == "equal" else [name, text, *options]
    code = CliRunner().invoke(command_line, arguments).exit_code
    assert code in ({0, 1, 2, 5, 6, 7} if name == "equal" else {0, 1, 2}), f"symgrad {name} exits with {code}"


def _damaged(rng: random.Random, program: sg.Program) -> None:
    """Check a proof with absurd numbers in it: it may hold or not, and the checker ends."""
    x = _real(program)
    if x.shape:
        return
    proof = sg.equal(
        x + rng.randint(2, 99), rng.choice([x * 2, x + rng.randint(2, 99) - x]), time_limit=1
    ).proof
    if proof is None:
        return

    def spoilt(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: spoilt(v) for k, v in value.items()}
        if isinstance(value, list):
            return [spoilt(v) for v in value]
        absurd = (_absurd(rng), "1e999999999", 10**400, -(10**400), "9" * 50_000, "1/0", True, None)
        numeric = isinstance(value, int) or (
            isinstance(value, str) and value.lstrip("-").replace("/", "").isdigit()
        )
        return rng.choice(absurd) if numeric and rng.random() < 0.15 else value

    data = json.loads(proof.to_json())
    check({"format": data["format"], **{k: spoilt(v) for k, v in data.items() if k != "format"}})


@kind("exponents-of-many-digits", seconds=20)
def exponents_of_many_digits(rng: random.Random) -> None:
    """Every verb ends, with an answer or an error that a user can act on."""
    text = _program(rng)
    verbs = rng.sample(_CHEAP, 3)
    if rng.random() < 0.1:
        verbs = [rng.choice([*_DEAR, lambda p: _command(rng, text), lambda p: _damaged(rng, p)])]
    for verb in verbs:
        try:
            verb(sg.parse(text))
        except SymgradError as error:
            refused(error)


# ------------------------------------------------------------------------------------------------------- foldings

_CONSTANTS = ("0", "1", "-1", "2", "1/2")


@kind("foldings")
def foldings(rng: random.Random) -> None:
    """A written function with constants among its arguments, against the formula that the documentation says it is."""
    name = rng.choice(sorted(WRITTEN))
    form: CompositeFunction = rng.choice(WRITTEN[name])
    arguments = [rng.choice([*_CONSTANTS, "x", "x", "y"]) for _ in form.parameters]
    names = {n: sg.symbols(n) for n in ("x", "y")}
    call = sg.parse(f"{name}({', '.join(arguments)})", symbols=names).last
    canonical, notes = call.canonical(), call.domain_notes
    program, (at,) = program_of([call.node], [x.node for x in names.values()])
    for point in rng.sample(list(product(POINTS, POINTS)), 3):
        given = dict(zip("xy", point, strict=True))
        values = [Real(given.get(a) if a in given else Fraction(a)) for a in arguments]
        expected: Any = None
        with suppress(UndefinedError, ZeroDivisionError, ValueError):
            doc = re.sub(r"[0-9]+\.[0-9]+", r'number("\g<0>")', form.doc)
            found = eval(doc, functions(), dict(zip(form.parameters, values, strict=True)))
            expected = (found if isinstance(found, Real) else Real(found)).value
        if expected is not None and not MP.isfinite(expected):
            continue
        what = f"{call} at {given}"
        with suppress(Unclear):
            found = strictly(call.node, {names[n].node: v for n, v in given.items()})
            assert same(found, expected), f"{what}: {found} and {expected}"
        with suppress(Unclear):
            found = strictly(canonical.node, {names[n].node: v for n, v in given.items()})
            wider = found is not None and expected is None and notes
            assert wider or same(found, expected), (
                f"{what}: {canonical} is {found}, not {expected}, notes {notes}"
            )
        (ball,) = evaluate(program, given, precision=128, wanted=[at])
        assert ball is None or expected is not None, f"{what}: a ball where there is no value"
        try:
            value = float(call(**{str(x.name): float(given[str(x.name)]) for x in call.inputs}))
        except NumberTooLargeError as error:  # a pole among the constants
            refused(error)
            continue
        if expected is not None and math.isfinite(value) and 1e-9 < abs(expected) < 1e9:
            assert abs(value - expected) < 1e-6 * (1 + abs(expected)), f"{what}: {value}"


# --------------------------------------------------------------------------------------------------------- domains


@kind("rewritings-keep-domains")
def rewritings_keep_domains(rng: random.Random) -> None:
    """Canonical and stable forms have the value wherever the formula has one, and say where they have one beyond."""
    names = ["x", "y"][: rng.choice([1, 1, 2])]
    domains = [rng.choice(["real", "real", "real", "positive", "int"]) for _ in names]
    lines = [f"{n} : {d}" for n, d in zip(names, domains, strict=True)]
    program = sg.parse("\n".join([*lines, f"z = {random_formula(rng, rng.choice([2, 2, 3, 4]), names)}"]))
    forms = [(program.last.canonical(), program.last.domain_notes)]
    if rng.random() < 0.2:
        forms.append((program.last.stable(), program.last.stable_notes))
    for _ in range(6):
        point = {program[n].node: _within(rng.choice(POINTS), d) for n, d in zip(names, domains, strict=True)}
        for form, notes in forms:
            with suppress(Unclear):
                value, other = strictly(program.last.node, point), strictly(form.node, point)
                what = f"{program.last} -> {form} at {point}: {value} and {other}"
                if value is None:
                    assert other is None or notes, f"{what}, and nothing says so"
                else:
                    assert same(value, other), what


def _within(value: Fraction, domain: str) -> Fraction:
    return (
        abs(value) or Fraction(1)
        if domain == "positive"
        else Fraction(int(value))
        if domain == "int"
        else value
    )


_TWINS = (
    "{e} + 0/x;{e}*x/x;{e} + 0*log(x);{e} + 0*sqrt(x);{e} + 0*({f});exp(log({e}));sqrt({e})**2;({e}**(1/2))**2;"
    "{e}*cos(x)/cos(x);{e} + Mod(0, x);{e} + Mod(x, 0);Mod({e}, 0);{e}*x**0;{e}*({f})**0;maximum({e}, {e});"
    "minimum({e}, {e} + 0/x);{e} + log(x) - log(x);where(x == 0, 5, {e});where(x != 1, {e}, 5);"
    "where({f} > 0, {e}, {e});{e} + 1 - sign(x)**2;{e} + 1 - abs(sign(x));{e} + where(x == 1, 1, 0);"
    "{e} + where(x == 0, 1/x, 0);{e}*(x/x) + where(x == 0, 1, 0);{e} + Mod(x, 1);{e} + floor(x) - x;{e} + 0**x;"
    "{e} + 0**abs(x);{e}*1**x;{e}*(x**2)**(1/2)/abs(x);{e}*sqrt(x)*sqrt(x)/x;{e} + gammainc(0, x);{e} + 0*gamma(x);"
    "{e} + binomial(0, x);{e}*beta(1, x)*x;{e} + atan2(0, x);{e} + asin(2)*0;{e} + erf2(x, x);{e} + Li(1)*0;"
    "{e} + harmonic(0)*x;{e} + sign(0*x);{e} + acosh(cosh(x)) - abs(x);{e}**3/{e}**2;({e}**2 - 1)/({e} - 1) - 1;"
    "{e} + abs(x)/x - sign(x);{e} + ceil(x) - floor(x) - 1;{e} + rf(x, 0) - 1;{e} + ff(x, 0) - 1;"
    "{e}*zeta(0, x)/(1/2 - x);{e};{e} + 1/100;{e} - atan(x) - atan(1/x) + pi/2;{e} + catalan(0) - 1;cbrt({e})**3;"
    "cbrt({e}**3);({e}**3)**(1/3);log(exp({e}));tan(atan({e}));atan(tan({e}));abs({e})*sign({e});{e}**x*{e}**x"
)


@kind("equal-of-twins")
def equal_of_twins(rng: random.Random) -> None:
    """Verdicts on a formula and another with a changed domain, or with other values at single points."""
    e, f = f"({random_formula(rng, rng.choice([0, 1, 1, 2]), 'x')})", random_formula(rng, 1, "x")
    sides = [e, rng.choice(_TWINS.split(";")).format(e=e, f=f)]
    rng.shuffle(sides)
    domain = rng.choice(["real", "real", "real", "positive", "int"])
    x = sg.symbols("x", domain=domain)
    a, b = (sg.parse(side, symbols={"x": x}).last for side in sides)
    verdict = sg.equal(a, b, time_limit=1)
    points = [_within(p, domain) for p in POINTS]
    if verdict.status == "refuted" and verdict.witness is not None:
        points = [Fraction(verdict.witness.get("x", Fraction(1, 2)))]
    for point in points:
        try:
            left, right = strictly(a.node, {x.node: point}), strictly(b.node, {x.node: point})
        except Unclear:
            continue
        what = f"{verdict.status}: {sides[0]} = {sides[1]} at {point}: {left} and {right}"
        if verdict.status == "refuted":
            assert left is not None, what
            assert right is not None, what
            assert not same(left, right), what
        elif verdict.status == "proved" and left is not None and right is not None:
            # What a proof leaves out it lists; that is found by points, unless they are hard to hit.
            assert same(left, right), f"{what}, left out {verdict.excluded}"
