"""Claims of proofs by induction: rows and entries have the values of the arrays, and no forged proof is accepted."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.checker.balls.programs import evaluate
from symgrad.checker.balls.scalar_ops import ball
from symgrad.checker.check import check
from symgrad.checker.clock import now
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.induction.claims import Induction
from symgrad.checker.induction.entries import entry_claims
from symgrad.checker.induction.rows import RowBuilder
from symgrad.checker.induction.ties import outcome_claims, tie_claims
from symgrad.checker.induction.variables import ProgramBuilder
from symgrad.checker.program.equality import Equality
from symgrad.checker.program.length_polynomials import Size, length_polynomial
from symgrad.checker.program.steps import ProofProgram, program_from_json, program_to_json
from symgrad.checker.samples import _sample_points, differs_at_samples
from symgrad.checker.shapes import check_shapes
from symgrad.checker.witness import disjoint
from symgrad.errors import UsageError
from symgrad.verification.search.induction import prove_equality, replay_data
from symgrad.verification.statement import program_of
from tests.checker.checking import answer

STEPS = 3
DECLARED = f"""x : real[{STEPS}, 2]; y : real[{STEPS + 2}, 2]; z : real[2]; A : real[2, 2]; k : int[{STEPS}]
E : real[{STEPS}, {STEPS}, 2]; Q : real[2, {STEPS}]; j : int
"""
ROWS = [
    "x + z",
    "x*y[1:4]",
    "tanh(x@A.T) + sum(x)",
    "y[:3] - y[2:]",
    "(y[1:] + 1)[1:]",
    "concatenate((z[None, :], x))[1:]",
    "concatenate((z[None, :], x))[:3]",
    "concatenate((x, y))[1:4] + concatenate((x[1:], y))[:3]",
    "concatenate((full(3, z[0]), z))[:3] + z[1]",
    "concatenate((full((3, 2), z[0]), y))[:3]",
    "concatenate((full((1, 2), z[0]), x))[1:]",
    "concatenate((x, 2*x), axis=1)",
    "sum(x, axis=1)",
    "max(y[1:4], axis=1) + mean(x, axis=1)",
    "softmax(x, axis=1)",
    "cumsum(x, axis=1)",
    "einsum('ij,kj->ik', x, A)",
    "einsum('ij,ij->i', x, x)",
    "einsum('ij,ik->ijk', x, y[2:])",
    "x[:, None, :]*A",
    "where(x > 0, x, -y[:3])",
    "z[k]",
    "x[:, 1]",
    "one_hot(k, 4)",
    f"one_hot(1, {STEPS + 1})[1:]",
    f"arange({STEPS + 1})[1:]*x[:, 0]",
    "x[::-1]",
    "y[::2]",
    "y[::2]*x",
    "einsum('iij->ij', E)",
    "einsum('ijk->ik', E)",
    f"arange({STEPS + 2})[2:]*x[:, 0]",
    "Q[j]",
    "cumsum(x, axis=0)",
    "inv(einsum('ij,ik->ijk', x, x) + eye(2))",
    "reshape(x, (3, 2, 1))",
    "pad(x[:, 0], (1, 2))[1:4]",
    "pad(x[:, 0], (3, 1))[:3]",
    "pad(x[:, 0], (1, 1))[:3]",
]


def points(program: ProofProgram) -> Iterator[dict[str, Any]]:
    """Yield a few points; the positions in k are in range."""
    for point, _ in list(_sample_points(program))[:3]:
        yield point | {name: at for name, at in {"k": [1, 0, 1], "j": 1}.items() if name in point}


def value(program: ProofProgram, at: int, point: dict[str, Any]) -> Any:
    (found,) = evaluate(program, point, precision=200, wanted=[at])
    return found


def read_rows(builder: RowBuilder) -> Iterator[tuple[int, int, int, Size]]:
    """Yield the variables that stand for rows, each with the array, the axis and the first row."""
    seen: set[int] = set()
    for (at, axis, start), row in builder._rows.items():  # the array of a variable comes before what reads it
        step = builder.into.steps[row]
        if step.op == "symbol" and step.params[0].startswith("row ") and row not in seen:
            seen.add(row)
            yield row, at, axis, start


@pytest.mark.parametrize("formula", ROWS)
def test_rows_have_the_values_of_their_arrays(formula: str) -> None:
    node = sg.parse(f"{DECLARED}{formula}").last.node
    program, (at,) = program_of([node])
    into = ProgramBuilder(program.symbols)
    places = [into.step(s) for s in program.steps]
    assert places == list(range(len(places)))
    rows = RowBuilder(into, STEPS, lambda _at, _start: None)
    row = rows.row(at)
    equality = into.equality(row, row)
    claim, a = equality.program, equality.a
    check_shapes(claim)
    assert into.shape(row) == program.steps[at].shape[1:]
    renamed = {s.params: t.params for s, t in _matching(into, row, claim, a)}
    for point in points(program):
        whole = value(program, at, point)
        for k in range(STEPS):
            known = dict(point)
            for symbol, array, axis, start in read_rows(rows):
                first = dict(start).get((), 0)
                entries = np.take(value(program, array, point), first + k, axis=axis)
                (name,) = renamed.get(into.steps[symbol].params, ("",))
                known[name] = _exact(entries)
            for s in claim.symbols:
                if s.name.startswith("position "):
                    known[s.name] = k
            found = value(claim, a, known)
            assert np.all(np.array(np.frompyfunc(_near, 2, 1)(found, whole[k]), dtype=bool)), (formula, k)


def _matching(into: ProgramBuilder, row: int, claim: ProofProgram, a: int) -> Iterator[tuple[Any, Any]]:
    pending = [(row, a)]
    while pending:
        x, y = pending.pop()
        yield into.steps[x], claim.steps[y]
        pending += zip(into.steps[x].args, claim.steps[y].args, strict=True)


def _exact(x: Any) -> Any:
    """Return the midpoints of balls as fractions."""
    if isinstance(x, np.ndarray):
        return [_exact(v) for v in x]
    if isinstance(x, bool):
        return x
    ball = x.mid().fmpq() if hasattr(x, "mid") else x
    return Fraction(int(ball.p), int(ball.q))


def _near(x: Any, y: Any) -> bool:
    return x == y if isinstance(x, bool) else not disjoint(x, y) or bool(abs(ball(x) - ball(y)) < 1e-40)


ENTRIES = [
    "x@A + z",
    "x[1:]*x[:2]",
    "concatenate((x, y))[2:5]",
    "einsum('ij,kj->ik', x, A)",
    "one_hot(1, 3)[:, None]*x",
    "reshape(where(x > 0, x, 0), 6)",
    "x[2] + y[0] - 2*z",
    "eye(2)@A + arange(2)",
    "h[3] = z[0]\nh[t-1] = z[1]*h[t] + x[t-1, 0] for t in 3..1\nh",
    "h[0] = z; g[0] = 1\nh[t] = x[t-1]*h[t-1] + g[t-1]; g[t] = h[t-1]@z for t in 1..3\nconcatenate((h[1:, 1], g))",
]


@pytest.mark.parametrize("formula", ENTRIES)
def test_entries_have_the_values_of_their_arrays(formula: str) -> None:
    program, (at,) = program_of([sg.parse(f"{DECLARED}{formula}").last.node])
    claims = entry_claims(program, at, at)
    for point in points(program):
        whole = np.ravel(value(program, at, point))
        assert len(claims) == len(whole)
        for claim, wanted in zip(claims, whole, strict=True):
            known = {s.name: _entry(point, s.name) for s in claim.program.symbols}
            assert _near(value(claim.program, claim.a, known), wanted)


def _entry(point: dict[str, Any], name: str) -> Any:
    """Return an entry of an array: its variable is named after it, as x[0, 1] 7."""
    array, _, rest = name.partition("[")
    index = json.loads(f"[{rest.rpartition(']')[0]}]") if rest else []
    found = point[array]
    for k in index:
        found = found[k]
    return found


# ------------------------------------------------------------------------------------------------------- forged proofs

SIDES = [
    ("h[0] = a\nh[t] = b*h[t-1] + 2*x[t-1] for t in 1..T\n", "h[T]"),
    ("h[0] = a; g[0] = 1\nh[t] = h[t-1]*b + x[t-1]*2; g[t] = h[t-1] + 3 for t in 1..T\n", "sum(h[1:]*g[:T])"),
    ("h[T] = a\nh[t-1] = b*(h[t] + 2*x[t-1]) for t in T..1\n", "h[0] + sum(h)"),
    ("h[0] = a\nh[t] = h[t-1]**2 + 3 for t in 1..4\n", "h[4]"),
]

REWRITTEN = {
    "b*h[t-1] + 2*x[t-1]": "x[t-1] + h[t-1]*b + x[t-1]",
    "h[t-1]*b + x[t-1]*2": "2*(x[t-1] + h[t-1]*b/2)",
    "b*(h[t] + 2*x[t-1])": "h[t]*b + b*x[t-1]*2",
    "h[t-1]**2 + 3": "1 + h[t-1]*h[t-1] + 2",
}


def proof(lines: str, last: str) -> dict[str, Any]:
    """Return the proof that the value of a program is that of one whose sums are written in another order."""
    head = "T : size; a, b : real; x : real[T]\n"
    other = lines
    for written, equal in REWRITTEN.items():
        other = other.replace(written, equal)
    assert other != lines
    sides = [sg.parse(f"{head}{text}y = {last}")["y"] for text in (lines, other)]
    verdict = sg.equal(sides[0], sides[1])
    assert verdict.status == "proved"
    assert verdict.proof is not None
    return json.loads(json.dumps(verdict.proof.data))


def places(data: Any, key: str) -> Iterator[Any]:
    """Yield the objects that have a key, at any depth."""
    if isinstance(data, dict):
        if key in data:
            yield data
        for item in data.values():
            yield from places(item, key)
    if isinstance(data, list):
        for item in data:
            yield from places(item, key)


@pytest.mark.parametrize(("lines", "last"), SIDES)
def test_a_proof_of_another_statement_is_not_accepted(lines: str, last: str) -> None:
    data = proof(lines, last)
    assert check(data).status == "proved"
    steps = [s["program"]["steps"] for s in places(data, "program")]
    changed = 0
    for number, several in enumerate(steps):
        for k, (op, *_rest) in enumerate(several):
            if op == "number" and number:  # in the formulas of a step; one of both sides
                forged = copy.deepcopy(data)
                row = [s["program"]["steps"] for s in places(forged, "program")][number][k]
                row[2] = [{"q": "17"}]
                assert answer(forged) != "proved"
                changed += 1
    assert changed


@pytest.mark.parametrize(("lines", "last"), SIDES[:3])
def test_a_proof_by_induction_needs_all_of_its_parts(lines: str, last: str) -> None:
    data = proof(lines, last)
    assert data["induction"]["same"]
    without = copy.deepcopy(data)
    without["induction"]["proofs"].pop()
    assert answer(without) == "supported"
    alone = copy.deepcopy(data)
    alone["induction"]["same"] = []
    alone["induction"]["proofs"] = alone["induction"]["proofs"][-1:]
    assert answer(alone) == "supported"
    turned = copy.deepcopy(data)
    turned["induction"]["same"] = [pair[::-1] for pair in turned["induction"]["same"]]
    assert answer(turned) == "supported"


def test_a_sum_of_more_terms_than_steps_has_its_first_terms_too() -> None:
    lines = "T : size; a, b : real\nh[0] = a\nh[t] = b*h[t-1] for t in 1..T\n"
    whole, later = (sg.parse(f"{lines}{total}").last.node for total in ("sum(h)", "sum(h[1:])"))
    program, (left, right) = program_of([whole, later])
    induction = Induction(program)
    for found in induction.recurrences():
        induction.keep(found)
    (at,) = induction.known
    step, rest = induction.side_claims(left, right, at)
    assert not differs_at_samples(step)
    assert differs_at_samples(rest)


TIES = [
    ("where(u > v, u, v)", ["v"]),
    ("where(2*u == 3 and v >= 1, u, v)", ["where(v >= 1, 3/2, v)", "where(2*u == 3, u, 1)"]),
    ("abs(2*u - v)", ["0"]),
    ("where(abs(u - v) < 1, u, 0)", ["v", "0", "0"]),
    ("u + v", []),
    ("where(n == 7/2, u, 0) + where(w > -1, v, 0)", []),  # no such integer, and no such point
]


@pytest.mark.parametrize(("formula", "there"), TIES)
def test_claims_about_ties_have_numbers_for_a_variable(formula: str, there: list[str]) -> None:
    lines = "u, v : real; n : int; w : positive\n"
    program, (at, *wanted) = program_of([sg.parse(f"{lines}{f}").last.node for f in (formula, *there)])
    found = tie_claims(Equality(program, at, at))
    assert len(found) == len(wanted)
    for claim, other in zip(found, wanted, strict=True):
        for point in points(program):
            assert _near(value(claim.program, claim.a, point), value(program, other, point))


@pytest.mark.parametrize(
    "formula",
    ["where(u**2 > v**2, u, v)", "floor(u)", "u**v", "sum(where(x > 0, x, 0))", "where(b == c, u, v)"],
)
def test_ties_without_a_linear_equation_have_no_claims(formula: str) -> None:
    node = sg.parse(f"u, v : real; x : real[2]; b, c : bool\n{formula}").last.node
    program, (at,) = program_of([node])
    with pytest.raises(GiveUp):
        tie_claims(Equality(program, at, at))


def test_both_outcomes_of_a_comparison_decide_choices() -> None:
    lines = "u, v : real\nwhere(where(u > v, 0, 1) != 0, u, v)"
    program, (at,) = program_of([sg.parse(lines).last.node])
    claims = outcome_claims(Equality(program, at, at))
    assert [[s.params for s in c.program.steps] for c in claims] == [[("v",)], [("u",)]]
    assert not outcome_claims(claims[0])


@pytest.mark.parametrize("last", ["log(h[T])", "1/h[T]", "where(h[T] > 0, h[T], 1)", "sqrt(h[T]**2)"])
def test_a_last_value_is_a_sum_of_gains_only_where_any_value_will_do(last: str) -> None:
    lines = f"T : size; a : real\nh[0] = a\nh[t] = h[t-1] + a for t in 1..T\n{last} + sum(h[1:])"
    program, (at,) = program_of([sg.parse(lines).last.node])
    induction = Induction(program)
    for found in induction.recurrences():
        induction.keep(found)
    (recurrence,) = induction.known
    whole, alone = (induction.side_claims(at, at, recurrence, pairs) for pairs in ((), [[[recurrence, 0]]]))
    assert whole == alone


def test_points_that_a_step_may_reach_are_not_excluded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search takes such a proof here, and the checker does not."""
    monkeypatch.setattr("symgrad.verification.search.induction.needs_ties", lambda *_: False)
    lines = "T : size; a : real\nh[0] = pi\nh[t] = {} for t in 1..T\ny = h[T]"
    steps = "where(h[t-1] == pi, 7, h[t-1] + a)", "h[t-1] + a"
    sides = [sg.parse(lines.format(step))["y"].node for step in steps]
    program, (left, right) = program_of(sides)
    found = prove_equality(Equality(program, left, right), now() + 20)
    assert found.proved
    assert found.excluded
    head = {
        "format": 1,
        "status": "proved",
        "kind": "equal",
        "program": program_to_json(program),
        "a": left,
        "b": right,
    }
    sample = {"point": {"a": "1/2"}, "sizes": {"T": 2}}
    data = json.loads(json.dumps({**head, **replay_data(found), "sample": sample}))
    assert answer(data) == "supported"


@pytest.mark.parametrize(
    "other",
    [
        "k[T] = a\nk[t-1] = b*k[t] for t in T..1",
        "k[0] = a\nk[t] = b*k[t-1] for t in 1..T+1",
        "k[0] = a*ones(2)\nk[t] = b*k[t-1] for t in 1..T",
        "k[0] = a; g[0] = a\nk[t] = b*k[t-1]; g[t] = g[t-1]*a for t in 1..T",
    ],
)
def test_recurrences_that_are_not_alike_have_no_claims(other: str) -> None:
    lines = f"T : size; a, b : real\nh[0] = a\nh[t] = b*h[t-1] for t in 1..T\n{other}\nsum(h) + sum(k)"
    program, _ = program_of([sg.parse(lines).last.node])
    induction = Induction(program)
    for found in induction.recurrences():
        for known in list(induction.known):
            with pytest.raises(UsageError):
                induction.identify(found, known)
        induction.keep(found)
    assert len(induction.known) == 2


@pytest.mark.parametrize(
    ("key", "wrong"),
    [("carries", 2), ("rows", 0), ("results", [0]), ("results", [99]), ("carries", 0), ("results", [])],
)
def test_a_body_that_does_not_fit_is_refused(key: str, wrong: Any) -> None:
    data = proof(*SIDES[0])
    for body in places(data, "carries"):
        body[key] = wrong
    assert answer(data) in ("supported", "refused")


def test_the_variables_of_a_body_have_no_domains() -> None:
    """A body whose value before the step is positive would claim nothing of negative ones."""
    program, _ = program_of(
        [sg.parse("a : real\nh[0] = a\nh[t] = sqrt(h[t-1]**2) for t in 1..9\nh[9]").last.node]
    )
    data = program_to_json(program)
    for body in places(data, "carries"):
        body["program"]["symbols"][0][2] = "0"
    with pytest.raises(UsageError):
        check_shapes(program_from_json(data))


def test_the_statement_of_a_proof_has_the_lines_of_its_recurrences() -> None:
    statement = check(proof(*SIDES[0])).statement
    assert statement is not None
    assert list(statement.definitions) == [
        "s3[0] = a",
        "s3[t] = (b*(s3[t-1])) + (2*(x[t-1])) for t in 1..T",
        "s6[0] = a",
        "s6[t] = ((x[t-1]) + ((s6[t-1])*b)) + (x[t-1]) for t in 1..T",
    ]
    assert length_polynomial("T")
