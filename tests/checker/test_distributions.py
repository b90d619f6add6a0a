"""The values that distributions take, by SciPy; and parameters that are none."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import pytest
from scipy import stats

from symgrad.checker.balls.programs import in_domain
from symgrad.checker.file.schema_validation import load_schema
from symgrad.checker.program.distributions import support
from symgrad.checker.program.steps import ProofDistribution, program_from_json, program_to_json
from symgrad.errors import UsageError
from symgrad.frontend.text import parse_program
from symgrad.verification.statement import program_of

LAWS = {
    "Uniform": lambda a, b: stats.uniform(a, b - a),
    "Normal": stats.norm,
    "LogNormal": lambda _, s: stats.lognorm(s),
    "Exponential": lambda r: stats.expon(scale=1 / r if r else 0),
    "Gamma": lambda a, b: stats.gamma(a, scale=1 / b if b else 0),
    "Beta": stats.beta,
    "Laplace": stats.laplace,
    "Cauchy": stats.cauchy,
    "Bernoulli": stats.bernoulli,
    "Poisson": lambda r: stats.poisson(r or -1),  # not that of zeros alone
}
ONE = ("Exponential", "Bernoulli", "Poisson")
VALUES = [Fraction(-1), Fraction(0), Fraction(1, 4), Fraction(1), Fraction(2)]


def test_files_may_name_each_of_them():
    drawn = load_schema()["$defs"]["drawn"]["properties"]["drawn"]
    assert set(drawn["prefixItems"][0]["enum"]) == set(LAWS)


@pytest.mark.parametrize("family", LAWS)
def test_supports(family):
    met = set()
    for parameters in product(VALUES, repeat=1 if family in ONE else 2):
        law = LAWS[family](*map(float, parameters))
        low, high = law.support()
        if not low <= high:  # SciPy's NaN for what are no parameters
            met.add(None)
            with pytest.raises(UsageError, match=family):
                support(ProofDistribution(family, parameters))
            continue
        kind, first, last = support(ProofDistribution(family, parameters))
        met.add(kind)
        discrete = family in ("Bernoulli", "Poisson")
        assert kind == ("int" if discrete else "real")
        ends = (low - 1, high + 1) if discrete else (low, high)  # the ends are outside
        if family == "Bernoulli":
            p = parameters[0]
            ends = (-1 if p < 1 else 0, 2 if p > 0 else 1)
        infinite = float("inf")
        assert ends == (-infinite if first is None else first, infinite if last is None else last)
    assert len(met) == 2


@pytest.mark.parametrize("family", LAWS)
def test_random_inputs_of_a_program_have_these_supports(family):
    tried = 0
    for parameters in product(VALUES, repeat=1 if family in ONE else 2):
        try:
            wanted = support(ProofDistribution(family, parameters))
        except UsageError:
            continue
        tried += 1
        declared = parse_program(f"u ~ {family}({', '.join(map(str, parameters))})\ny = u")
        program, _ = program_of([declared["y"]])
        (symbol,) = program.symbols
        assert (symbol.kind, symbol.low, symbol.high) == wanted
        assert program_from_json(json.loads(json.dumps(program_to_json(program)))) == program
    assert tried > 2


@pytest.mark.parametrize(
    ("domain", "points", "others"),
    [
        ("positive", ["1/1000", "7"], ["0", "-1/1000"]),
        ("nonnegative", ["1/1000", "7"], ["-1/1000", "-1/2"]),
        ("real(-1, 1/2)", ["-999/1000", "0", "499/1000"], ["-1001/1000", "501/1000", "-3/2"]),
        ("int", ["-3", "0"], ["1/2"]),
        ("real", ["-7", "1/3"], []),
    ],
)
def test_variables_of_a_program_are_in_their_domains(domain, points, others):
    """At what ends an interval nothing is claimed."""
    program, _ = program_of([parse_program(f"x : {domain}\ny = x")["y"]])
    assert all(in_domain(program, {"x": Fraction(p)}) for p in points)
    assert not any(in_domain(program, {"x": Fraction(p)}) for p in others)


def test_what_is_no_distribution():
    for drawn in (
        ProofDistribution("Normal", (Fraction(1),)),
        ProofDistribution("Levy", (Fraction(0), Fraction(1))),
        ProofDistribution("Beta", ()),
    ):
        with pytest.raises(UsageError):
            support(drawn)
