"""Forged proof files: what the checker accepts must be so of the statement in the file."""

from __future__ import annotations

import json

import pytest

import symgrad as sg
from symgrad.checker.check import check
from symgrad.checker.clock import now
from symgrad.verification.decide import decide
from symgrad.verification.search.prove import _run
from tests.checker.checking import answer
from tests.verification.statements import equality

NUMBER_2 = ["number", [], [{"q": "2"}], [], "int"]
DOUBLED = {
    "symbols": [["x", "real", None, None, ["n"]]],
    "steps": [
        ["symbol", [], ["x"], ["n"], "real"],
        ["add", [0, 0], [], ["n"], "real"],
        NUMBER_2,
        ["mul", [0, 2], [], ["n"], "real"],
    ],
}
SAMPLE = {"point": {"x": ["1", "2"]}, "sizes": {}}
HEAD = {"format": 1, "kind": "equal"}
PROOF = {**HEAD, "status": "proved", "sizes": "all", "program": DOUBLED, "a": 1, "b": 3, "sample": SAMPLE}


def test_a_proof_for_all_sizes_refutes_nothing():
    assert check(PROOF).status == "proved"
    assert answer({**PROOF, "status": "apart"}) == "refused"
    apart = {k: v for k, v in PROOF.items() if k != "sizes"} | {"status": "apart", "cases": []}
    assert check(apart).status == "supported"


@pytest.mark.parametrize("n", [0, -1, True, "2"])
def test_lengths_of_a_witness_are_at_least_one(n):
    """n and maximum(n, 1) differ where no axis may be."""
    one = ["number", [], [{"q": "1"}], [], "int"]
    steps = [["size", [], ["n"], [], "int"], one, ["maximum", [0, 1], [], [], "int"]]
    witness = {
        "point": {}, "sizes": {"n": n}, "precision": 64, "index": [], "left": "0", "right": "1",
    }  # fmt: skip
    data = {**HEAD, "status": "refuted", "program": {"symbols": [], "steps": steps}, "a": 0, "b": 2}
    assert answer({**data, "witness": witness}) == "refused"
    assert check({**data, "witness": {**witness, "sizes": {"n": 1}}}).status == "supported"
    assert check({**data, "witness": {**witness, "sizes": {}}}).status == "supported"


def test_an_array_without_entries_is_no_sample():
    assert check({**PROOF, "sample": {"point": {"x": []}, "sizes": {}}}).status == "supported"


@pytest.mark.parametrize(
    "damage",
    [
        {"sample": {"point": [1], "sizes": {}}},
        {"sample": {"point": {"x": ["1"]}, "sizes": 3}},
        {"program": json.loads(json.dumps(DOUBLED).replace('"n"', '"n+"'))},
        {"a": "1"},
    ],
)
def test_what_cannot_be_read_proves_nothing(damage):
    assert answer({**PROOF, **damage}) in {"supported", "refused"}


@pytest.mark.parametrize(
    ("at", "step"),
    [
        (1, ["add", [0, 1], [], ["n"], "real"]),
        (1, ["add", [0, 3], [], ["n"], "real"]),
        (3, ["mul", [3, 2], [], ["n"], "real"]),
        (0, ["symbol", [], ["y"], ["n"], "real"]),
        (0, ["symbol", [], ["x"], ["m"], "real"]),
        (0, ["symbol", [], ["x"], ["n"], "int"]),
        (0, ["symbol", [], ["x", "x"], ["n"], "real"]),
        (2, ["number", [], ["2"], [], "int"]),
        (2, ["number", [], [2], [], "int"]),
        (2, ["number", [], [{"q": "2"}, {"q": "2"}], [], "int"]),
    ],
)
def test_a_step_is_made_of_what_is_there_before_it(at, step):
    steps = [*DOUBLED["steps"]]
    steps[at] = step
    found = check({**PROOF, "program": {**DOUBLED, "steps": steps}})
    assert found.status == "supported"
    assert f"does not hold: step {at} " in found.why


def test_a_second_proof_must_turn_the_angle_of_the_first():
    """Where the tangent of x/2 is infinite that of x/4 - pi/4 is not what is looked at."""
    s = equality("sin(x)**2 + cos(x)**2", "1")
    data = json.loads(decide(s, 10).proof.to_json())
    assert "turned" in data["cases"][0]
    found, _ = _run(
        s.equality.program, s.equality.a, s.equality.b, {}, now() + 10, {("turned", 0): 2, ("tan", 0): 2}
    )
    assert found.result == "proved"
    assert check(data).status == "proved"
    data["cases"][0]["turned"] = json.loads(json.dumps(dict(found.data)))
    assert check(data).status == "supported"


def test_a_number_apart_but_for_the_only_point():
    """Both sides are defined at x = 0 alone, and equal there: signs say nothing of it."""
    s = equality("sign(x)**2 + asin(1 + x**2)", "asin(1 + x**2)")
    found, _ = _run(s.equality.program, s.equality.a, s.equality.b, {}, now() + 10, {})
    assert found.number == 1
    assert found.excluded
    case = json.loads(json.dumps(dict(found.data)))
    sample = {"point": {"x": "0"}, "sizes": {}}
    assert (
        check({**s.source, **HEAD, "status": "apart", "cases": [case], "sample": sample}).status
        == "supported"
    )
    assert decide(s, 3).status == "supported"


X = ["symbol", [], ["x"], ["n"], "real"]


@pytest.mark.parametrize(
    ("steps", "a", "b"),
    [
        # x[1:] is said to be as long as x
        ([X, ["slice", [0], [[[1, None, 1]]], ["n"], "real"]], 1, 0),
        # five numbers are n numbers, if n is 5
        ([X, ["iota", [], [5], ["n"], "int"], ["iota", [], ["n"], ["n"], "int"]], 1, 2),
        # x has one entry
        ([X, ["einsum", [0], [[[0]], []], [], "real"], ["einsum", [0], [[[0]], [0]], [], "real"]], 1, 2),
        # 2 and 3 are truth values, and their product is 6
        (
            [NUMBER_2, ["number", [], [{"q": "3"}], [], "int"], ["and_", [0, 1], [], [], "bool"],
             ["mul", [0, 1], [], [], "int"]],
            2, 3,
        ),
    ],
)  # fmt: skip
def test_shapes_and_kinds_that_steps_only_claim_are_not_relied_on(steps, a, b):
    program = {"symbols": DOUBLED["symbols"], "steps": steps}
    for values in (["1"], ["1", "2"], ["1"] * 5):
        sample = {"point": {"x": values}, "sizes": {}}
        assert check({**PROOF, "program": program, "a": a, "b": b, "sample": sample}).status == "supported"


def test_an_entry_that_is_defined_is_a_sample():
    """A claim about arrays is one about each entry: it is enough that one is defined."""
    program = sg.parse("u : real[2]\na = sqrt(u)**2\nb = sqrt(u)*sqrt(u)")
    v = sg.equal(program["a"], program["b"])
    assert v.status == "proved"
    data = json.loads(v.proof.to_json())
    for values, status in ((["-1", "2"], "proved"), (["-1", "-2"], "supported")):
        assert check({**data, "sample": {"point": {"u": values}, "sizes": {}}}).status == status


HUGE = "1e999999999"


@pytest.mark.parametrize(
    "damage",
    [
        {"sample": {"point": {"x": [HUGE]}, "sizes": {}}},
        {"sample": {"point": {"x": [0.5]}, "sizes": {}}},
        {"program": json.loads(json.dumps(DOUBLED).replace('"2"', f'"{HUGE}"'))},
        {"program": {**DOUBLED, "symbols": [["x", "real", HUGE, None, ["n"]]]}},
        {"program": {**DOUBLED, "symbols": [*DOUBLED["symbols"], *DOUBLED["symbols"]]}},
        {"program": json.loads(json.dumps(DOUBLED).replace('"real"', '"complex"'))},
        {"domain": "other"},
        {"domain": "complex"},
    ],
)
def test_what_is_no_number_and_no_variable(damage):
    assert answer({**PROOF, **damage}) in {"supported", "refused"}


def _scalar(steps, *, a, b, kind="real"):
    """A proof of two steps of x."""
    program = {"symbols": [["x", kind, None, None, []]], "steps": [["symbol", [], ["x"], [], kind], *steps]}
    case = {"outcome": [], "capacity": 16, "scales": [], "answers": []}
    return {
        **HEAD, "status": "proved", "program": program, "a": a, "b": b, "cases": [case],
        "sample": {"point": {"x": "1"}, "sizes": {}},
    }  # fmt: skip


SQUARES = [["mul", [k, k], [], [], "real"] for k in range(60)]


@pytest.mark.parametrize(
    "steps",
    [
        [["number", [], [HUGE], [], "int"]],
        [["number", [], ["3"], [], "int"]],
        [["number", [], [{"q": "7" * 150_000}], [], "int"]],
        [["number", [], [{"q": 10**200_000}], [], "int"]],
        [["number", [], [{"q": "7" * 5_000}], [], "int"], *(["mul", [k, k], [], [], "int"] for k in range(1, 40))],
        SQUARES,
        [NUMBER_2, *(["pow", [1, k], [], [], "int"] for k in range(1, 30))],
        [["number", [], [{"q": "1/1000000007"}], [], "real"], ["pow", [0, 1], [], [], "real"]],
        [["number", [], [{"q": "9" * 4000}], [], "int"], ["pow", [0, 1], [], [], "real"]],
        [["polygamma", [0], [{"q": "9" * 50}], [], "real"]],
    ],
    ids=["exponent", "text", "digits", "int", "squares-of-numbers", "squares", "powers", "root", "power", "order"],
)  # fmt: skip
@pytest.mark.usefixtures("ends")
def test_numbers_without_end_end(steps):
    """What is read and computed exactly has a longest, long before the limit on time."""
    begun = now()
    last = len(steps)
    data = _scalar([*steps, ["add", [last, 0], [], [], "real"]], a=last, b=last + 1)
    assert answer(data) in {"refused", "supported"}
    assert now() - begun < 10


def test_deep_nests_are_no_crash():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    for damage in ({"sample": {"point": {"x": deep}, "sizes": {}}}, {"a": deep}, {"program": deep}):
        assert answer({**PROOF, **damage}) == "refused"
    program = {**DOUBLED, "steps": [*DOUBLED["steps"], ["mean", [0], [deep], [], "real"]]}
    assert answer({**PROOF, "program": program}) == "refused"
    text = json.loads(json.dumps(DOUBLED).replace('"n"', f'"{"(" * 5000}n{")" * 5000}"'))
    assert answer({**PROOF, "program": text}) == "refused"
    text = json.loads(json.dumps(DOUBLED).replace('"n"', f'"{"(" * 1500}n{")" * 1500}"'))
    assert check({**PROOF, "program": text}).status == "supported"


@pytest.mark.parametrize("order", [-1, 10**9, {"q": "1/2"}, "1", True])
def test_orders_that_no_function_has(order):
    symbols = [["p", "real", "0", None, []]]
    steps = [["symbol", [], ["p"], [], "real"], ["polygamma", [0], [order], [], "real"]]
    data = {
        **HEAD,
        "status": "proved",
        "program": {"symbols": symbols, "steps": steps},
        "a": 1,
        "b": 1,
        "cases": [],
    }
    sample = {"point": {"p": "1"}, "sizes": {}}
    begun = now()
    assert check({**data, "sample": sample}).status == "supported"
    assert now() - begun < 5


def test_factors_are_not_multiplied_out_if_their_degrees_do_not_fit():
    s = equality("(x**2 - 1)/(x - 1)", "x + 1")
    data = json.loads(decide(s, 10).proof.to_json())
    (answers,) = [case["answers"] for case in data["cases"]]
    place = next(k for k, a in enumerate(answers) if a)
    for e in (0, -1, 10**6):
        answers[place][0][1] = e
        assert answer(data) in {"supported", "refused"}


def test_there_is_no_derivative_by_an_integer():
    symbol = ["symbol", [], ["n"], [], "int"]
    steps = [symbol, ["mul", [0, 0], [], [], "int"], NUMBER_2, ["mul", [2, 0], [], [], "int"]]
    data = {"format": 1, "kind": "derivative", "wrt": "n", "a": 1, "b": 3, "status": "proved"}
    case = {"outcome": [], "capacity": 16, "scales": [], "answers": []}
    for kind, status in (("int", "supported"), ("real", "proved")):
        program = {"symbols": [["n", kind, None, None, []]], "steps": [[*symbol[:4], kind], *steps[1:]]}
        sample = {"point": {"n": "3"}, "sizes": {}}
        assert check({**data, "program": program, "cases": [case], "sample": sample}).status == status


@pytest.mark.parametrize("reverse", ["0", None, [0]])
def test_parameters_that_are_no_numbers(reverse):
    """A text would be true in one place and a length of 0 in another."""
    sums = [["cumsum", [0], [0, p], ["n"], "real"] for p in (reverse, 1)]
    program = {"symbols": DOUBLED["symbols"], "steps": [X, *sums]}
    assert check({**PROOF, "program": program, "a": 1, "b": 2}).status == "supported"
