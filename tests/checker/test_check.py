"""The checker: it accepts proofs as they were made, and refuses damaged ones."""

from __future__ import annotations

import copy
import json
import random

import pytest

from symgrad.checker.check import check
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.steps import program_from_json
from symgrad.errors import UsageError
from symgrad.verification.decide import decide
from symgrad.verification.search.refute import refute
from tests.checker.checking import answer
from tests.processes import printed
from tests.verification.statements import DERIVATIVES, FALSE, TRUE, derivative, equality


def proof_of(statement):
    verdict = decide(statement, 10)
    assert verdict.proof is not None
    return json.loads(verdict.proof.to_json())


def places(data, path=()):
    """Every leaf of a JSON value, as the path to it."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))
        else:
            yield (*path, key)


def changed(value, rng):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice([-1, 1, 7])
    if isinstance(value, str):
        return rng.choice([value + "1", "-" + value, "0", "x", "sin", "cos", "add"])
    return rng.choice([None, 0, "x"])


def damaged(data, rng):
    """A copy in which one leaf, or one element of a list, is another."""
    data = copy.deepcopy(data)
    path = rng.choice(list(places(data)))
    target = data
    for key in path[:-1]:
        target = target[key]
    if isinstance(target, list) and rng.random() < 0.3:
        del target[path[-1]]
    else:
        target[path[-1]] = changed(target[path[-1]], rng)
    return data


def holds(data):
    """Whether no point refutes the statement of a proof file."""
    program = program_from_json(data["program"])
    outcome = refute(Equality(program, data["a"], data["b"]))
    return outcome.witness is None


@pytest.mark.parametrize("row", range(0, len(TRUE), 3))
def test_a_damaged_proof_proves_nothing_false(row):
    """Whatever is changed: what is still accepted is a true statement, and most is refused."""
    data = proof_of(equality(*TRUE[row]))
    rng = random.Random(row)
    refused = 0
    for _ in range(60):
        bad = damaged(data, rng)
        try:
            found = check(bad)
        except UsageError:
            refused += 1
            continue
        if found.status == "proved":
            assert holds(bad), bad
        else:
            refused += 1
    assert refused >= 15


@pytest.mark.parametrize("row", range(0, len(DERIVATIVES), 3))
def test_a_proof_is_of_its_own_statement(row):
    """The proof of one derivative does not prove another claim."""
    y, wrt, claim, true = DERIVATIVES[row]
    if not true:
        return
    data = proof_of(derivative(y, wrt, claim))
    other = proof_of(derivative(y, wrt, f"2*({claim})"))
    assert (
        check({**data, "program": other["program"], "a": other["a"], "b": other["b"]}).status == "supported"
    )


@pytest.mark.parametrize(("a", "b"), FALSE[:4])
def test_a_refutation_needs_its_point(a, b):
    data = proof_of(equality(a, b))
    assert check(data).status == "refuted"
    if "witness" in data:
        moved = copy.deepcopy(data)
        moved["witness"]["precision"] = 2
        moved["witness"]["point"] = dict.fromkeys(moved["witness"]["point"], "1")
        assert check(moved).status in {"supported", "refuted"}
        for name in moved["witness"]["point"]:
            del moved["witness"]["point"][name]
            assert check(moved).status == "supported"
            break


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d["cases"].clear(),
        lambda d: d["cases"][0].update(answers=[]),
        lambda d: d["cases"][0].update(capacity=1),
        lambda d: d["cases"][0].update(scales=[["tan", 0, 0]]),
        lambda d: d["cases"][0]["answers"].append("x") or d["cases"][0]["answers"].pop(0),
        lambda d: d["cases"][0]["answers"].append(None) or d["cases"][0]["answers"].pop(0),
        lambda d: d.update(sample={"point": {}, "sizes": {}}),
        lambda d: d.update(sample=None),
        lambda d: d.update(status="apart"),
        lambda d: d.update(kind="else"),
        lambda d: d.update(a=10_000),
    ],
)
def test_damage_by_hand(damage):
    data = proof_of(equality("sin(3*x)", "3*sin(x) - 4*sin(x)**3"))
    assert check(data).status == "proved"
    damage(data)
    assert answer(data) in {"supported", "refused"}


@pytest.mark.parametrize("data", [None, [], {}, {"format": 0}, "text", {"format": 1}])
def test_what_is_no_proof_file(data):
    with pytest.raises(UsageError, match="this is not a proof file"):
        check(data)


def test_kinds_that_steps_only_claim_are_not_relied_on():
    """Only an integer exponent leaves -x and x a common domain."""
    data = proof_of(equality("(-x)**(2*n)", "x**(2*n)"))
    assert check(data).status == "proved"
    for symbol in data["program"]["symbols"]:
        symbol[1] = "real"
    assert check(data).status == "supported"


def test_a_point_outside_the_declared_domain_is_no_sample():
    data = proof_of(equality("sqrt(p)**2", "p"))
    assert check(data).status == "proved"
    data["sample"]["point"]["p"] = "-1"
    assert check(data).status == "supported"


def test_the_checker_knows_nothing_of_the_search_and_of_derivative_rules():
    """In a fresh process: only the checker's own modules, and those that it may use."""
    code = (
        "import sys, symgrad.checker.check; "
        "print([m for m in sys.modules if m.startswith('symgrad.') and not m.startswith('symgrad.checker') "
        "and not m.startswith('symgrad.support')])"
    )
    assert printed(code) == "[]\n"
