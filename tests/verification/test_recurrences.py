"""Verdicts on recurrences: proofs by induction on the steps, and refutations at small numbers of steps."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from textwrap import dedent

import pytest

import symgrad as sg
from symgrad import Verdict
from symgrad.checker.check import check
from symgrad.checker.clock import now
from symgrad.checker.file.reader import read_proof
from symgrad.errors import SymgradError
from symgrad.verification.decide import derivative_is
from symgrad.verification.search.induction import prove_equality
from tests.recurrences import RECURRENCES


def replayed(verdict: Verdict) -> str:
    """Return what the checker finds of the proof in a verdict, written to a file and read again."""
    assert verdict.proof is not None
    return check(read_proof(json.dumps(verdict.proof.data).encode())).status


DECLARED = "a, b : real\nx : real[T]\n"
LINES = (
    DECLARED
    + """
h[0] = a
h[t] = tanh(b*h[t-1] + x[t-1]) for t in 1..T
k[0] = a
k[t] = tanh(x[t-1] + h[t-1]*b) for t in 1..T
m[0] = a
m[t] = (exp(2*(b*m[t-1] + x[t-1])) - 1)/(exp(2*(b*m[t-1] + x[t-1])) + 1) for t in 1..T
w[0] = a
w[t] = tanh(b*w[t-1] + 2*x[t-1]) for t in 1..T
y = h[T]**2
"""
)
# The other side of y = ..., the status, and for how many steps it is refuted.
CLAIMS = [
    ("k[T]*h[T]", "proved", ""),  # k reads the values of h
    ("m[T]**2", "proved", ""),
    ("(h[T] - m[T])*y + y", "proved", ""),
    ("m[T]**2 + 1", "refuted", "T = 1"),
    ("w[T]**2", "refuted", "T = 1"),
    ("h[T]**2 + x[T-1]*(h[T] - w[T])", "refuted", "T = 1"),
]


@pytest.mark.parametrize(("other", "status", "length"), CLAIMS)
def test_claims_of_equality(other: str, status: str, length: str) -> None:
    p = sg.parse(f"{LINES}\nz = {other}")
    verdict = sg.equal(p["y"], p["z"])
    assert verdict.status == status
    assert length in verdict.why
    assert not verdict.excluded
    assert replayed(verdict) == status


@pytest.mark.parametrize(
    ("lines", "one", "other"),
    [
        ("h[0] = a; g[0] = b\nh[t] = b*h[t-1] + x[t-1]; g[t] = h[t-1] for t in 1..T", "g[1:]", "h[:T]"),
        ("h[T] = a; g[T] = b\nh[t-1] = b*h[t] + x[t-1]; g[t-1] = h[t] for t in T..1", "g[:T]", "h[1:]"),
    ],
)
def test_a_value_that_is_another_one_a_step_before(lines: str, one: str, other: str) -> None:
    left, right = (sg.parse(f"{DECLARED}{lines}\nsum({part}*x)").last for part in (one, other))
    verdict = sg.equal(left, right)
    assert verdict.status == "proved"
    assert replayed(verdict) == "proved"


BACKWARD = """
h[0] = a
h[t] = tanh(b*h[t-1] + x[t-1]) for t in 1..T
c[T] = 2*h[T]
c[t-1] = b*c[t]*(1 - h[t]**2) for t in T..1
sum(c[1:]*(1 - h[1:]**2)*h[:T])
"""
MISTAKES = [
    ("b*c[t]*(1", "b**2*c[t]*(1"),
    ("1 - h[t]**2) for", "1 - h[t-1]**2) for"),
    ("2*h[T]", "h[T]"),
    ("*h[:T])", "*h[1:])"),
    ("c[1:]*(1", "c[:T]*(1"),
    ("b*c[t]*(1 - h[t]**2)", "b*c[t]*(1 + h[t]**2)"),
]


def test_a_backward_recurrence_is_proved() -> None:
    y = sg.parse(LINES)["y"]
    verdict = sg.verify(y, "b", sg.parse(DECLARED + BACKWARD).last)
    assert verdict.status == "proved"
    assert "by parts" in verdict.why
    own = sg.parse(f"{LINES}\n{sg.grad(y, 'b')}").last
    assert sg.verify(y, "b", own).status == "proved"


@pytest.mark.parametrize(("right", "wrong"), MISTAKES)
def test_mistakes_in_a_backward_recurrence_are_refuted(right: str, wrong: str) -> None:
    assert right in BACKWARD
    claim = sg.parse(DECLARED + BACKWARD.replace(right, wrong)).last
    verdict = sg.verify(sg.parse(LINES)["y"], "b", claim)
    assert verdict.status == "refuted"
    assert verdict.witness is not None


def test_a_range_that_may_be_empty() -> None:
    lines = "x : real[T]\na : real\ns[0] = x[0]\ns[t] = a*x[t] + s[t-1] for t in 1..T - 1\n"
    y = sg.parse(f"{lines}y = sum((s[:T - 1] - x[1:])**2)")["y"]
    gradient = sg.grad(y, "a")
    again = sg.parse(f"{lines}{gradient}").last
    assert sg.equal(again, gradient).status in ("proved", "supported")
    assert sg.equal(again, gradient * 2).status == "refuted"


def test_a_given_number_of_steps() -> None:
    squares = "a : real\nh[0] = a\nh[t] = h[t-1]**2 for t in 1..{0}\ny = h[{0}]"
    assert sg.equal(sg.parse(squares.format(3))["y"], "a**8").status == "proved"
    assert sg.equal(sg.parse(squares.format(3))["y"], "a**6").status == "refuted"
    long = [sg.parse(squares.format(40) + extra)["y"] for extra in ("", "\nz = 1")]
    assert sg.equal(long[0], long[1]).status == "proved"
    other = sg.parse("a : real\nh[0] = a\nh[t] = h[t-1]*h[t-1]*1 for t in 1..40\ny = h[40]")["y"]
    assert sg.equal(long[0], other).status == "proved"


def test_many_steps_are_proved_without_values_that_are_too_many() -> None:
    lines = (
        "a, b : real\ng[0] = 1; h[0] = a\ng[t] = h[t-1]; h[t] = b*h[t-1] + g[t-1] for t in 1..{0}\ny = h[{0}]"
    )
    few, many = (sg.parse(lines.format(n))["y"] for n in (1000, 10**6))
    assert sg.verify(few, "b", sg.grad(few, "b")).status == "proved"
    assert sg.verify(many, "b", 2 * sg.grad(many, "b")).status == "undecided"


def test_different_first_values_are_not_equal() -> None:
    lines = "a, b : real\nh[0] = {0}\nh[t] = b*h[t-1] for t in 1..40\ny = h[40]"
    verdict = sg.equal(sg.parse(lines.format("a"))["y"], sg.parse(lines.format("a + 1"))["y"])
    assert verdict.status == "refuted"


def test_stopped_gradients_are_compared_too() -> None:
    lines = "T : size\na : real\nh[0] = a\nh[t] = {0}*a for t in 1..T\ny = h[T]"
    one, other = (sg.parse(lines.format(step))["y"] for step in ("h[t-1]", "stop_gradient(h[t-1])"))
    found = sg.equal(one, other)
    assert found.status == "refuted"
    assert "gradients by a differ" in found.why
    assert sg.equal(one, other, values_only=True).status == "proved"
    turned = sg.parse(lines.format("2*stop_gradient(h[t-1])/2"))["y"]
    assert sg.equal(other, turned).status == "proved"


COMPARED = {"Gauss and Seidel's iteration", "descent on data"}
"""Recurrences whose steps the checker cannot differentiate far enough: by a matrix of a system, by data."""


@pytest.mark.parametrize("name", sorted(RECURRENCES))
def test_printed_gradients_are_proved_and_others_refuted(name: str) -> None:
    """The checker differentiates the steps itself; only few proofs compare with symgrad's own derivative."""
    program = dedent(RECURRENCES[name])
    y = sg.parse(program)["y"]
    for x in y.inputs:
        text = str(sg.grad(y, x))
        read = sg.parse(text if " : " in text.splitlines()[0] else f"{program}\n{text}").last
        verdict = sg.verify(y, x, read)
        assert verdict.status == "proved"
        assert verdict.note is None or name in COMPARED
        assert replayed(verdict) == "proved"
    wrong = sg.verify(y, y.inputs[0], 2 * sg.grad(y, y.inputs[0]))
    assert wrong.status == "refuted"
    assert replayed(wrong) == "refuted"


@pytest.mark.parametrize(
    ("start", "step", "other"),
    [
        ("pi", "where(abs(h[t-1] - pi) <= 0, 7, h[t-1] + 1)", "h[t-1] + 1"),
        ("sqrt(2)", "where((h[t-1]**2 - 2)**2 <= 0, 7, h[t-1] + 1)", "h[t-1] + 1"),
        ("a*zeros(2)", "where(h[t-1]*h[t-1] <= 0, h[t-1] + 2, h[t-1] + 1)", "h[t-1] + 1"),
        ("pi", "where(h[t-1] == pi, 7, h[t-1] + 1)", "h[t-1] + 1"),
        ("1", "where(a > 0, h[t-1], 2)", "where(a >= 0, h[t-1], 2)"),
        ("1", "where(h[t-1] == a, 2, h[t-1])", "h[t-1]"),
        ("1", "where(2*h[t-1] == a, a, h[t-1])", "1"),
        ("pi", "where(h[t-1] != pi, h[t-1] + 1, 7)", "h[t-1] + 1"),
        ("pi", "h[t-1] + where(sign(h[t-1] - pi)**2 > 0, 0, 1)", "h[t-1]"),
    ],
)
def test_a_step_whose_proof_excludes_the_values_that_there_are_is_not_proved(
    start: str, step: str, other: str
) -> None:
    """Both sides of a step agree but at one point, and that is the first value."""
    p = sg.parse(f"T : size; a : real\nh[0] = {start}\nh[t] = {step} for t in 1..T\ny = sum(h[T])")
    q = sg.parse(f"T : size; a : real\nh[0] = {start}\nh[t] = {other} for t in 1..T\ny = sum(h[T])")
    assert sg.equal(p["y"], q["y"]).status in ("undecided", "supported", "refuted")


def test_a_step_that_has_no_value_at_a_point_is_proved_without_it() -> None:
    lines = "T : size; a : real\nh[0] = a\nh[t] = {} for t in 1..T\ny = h[T]"
    left, right = (sg.parse(lines.format(step))["y"] for step in ("h[t-1]**2/h[t-1] + 1", "h[t-1] + 1"))
    found = sg.equal(left, right)
    assert found.status == "proved"
    assert found.left_out == ("a step has no value",)


def mutants(text: str) -> Iterator[str]:
    """Yield formulas of which one number, operator or position is another one."""
    other = {"*": "+", "+": "-", "-": "+", "/": "*", "[t]": "[t-1]", "[k]": "[k-1]"}
    for m in re.finditer(r"(?<![\w.])\d+(?![\w.])|(?<!\*)\*(?!\*)|[-+/]|\[[tk]\]", text):
        yield text[: m.start()] + other.get(m[0], f"{m[0]}1") + text[m.end() :]


@pytest.mark.parametrize(
    "name", ["Clenshaw's scheme", "exponential smoothing", "autoregression", "first passage"]
)
def test_no_gradient_with_a_mistake_is_proved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not by the search alone, without values at points."""
    program = dedent(RECURRENCES[name])
    y = sg.parse(program)["y"]
    tried = 0
    for x in y.inputs:
        for text in mutants(str(sg.grad(y, x))):
            try:
                claim = sg.parse(f"{program}\n{text}").last
                equality = derivative_is(y.node, x.node, claim.node).equality
            except SymgradError:  # a position outside of an array, or another shape
                continue
            with monkeypatch.context() as without_points:
                without_points.setattr(
                    "symgrad.verification.search.induction.differs_at_samples", lambda _: False
                )
                found = prove_equality(equality, now() + 5)
            assert not found.proved or sg.verify(y, x, claim).status == "proved", text
            tried += 1
    assert tried >= 10


def test_random_recurrences_are_equal_where_that_is_proved() -> None:
    """Pairs of programs that differ in one place: no pair with other values is proved."""
    steps = [
        "a*h[t-1] + b",
        "b + h[t-1]*a",
        "a*h[t-1] + b*t",
        "a*(h[t-1] + b)",
        "a*h[t-1] + b*h[t-1]",
        "h[t-1] + b",
    ]
    starts = ["a", "b", "a + 0", "0"]
    last = ["h[T]", "sum(h)", "sum(h[1:])", "h[0] + sum(h[1:])", "h[T]*h[0]", "sum(h[:T]*h[1:])"]
    texts = [
        f"T : size; a, b : real\nh[0] = {start}\nh[t] = {step} for t in 1..T\ny = {end}"
        for start in starts
        for step in steps
        for end in last
    ]
    numbers = [text.replace("T : size; ", "").replace("T", "3") for text in texts]
    values = [float(sg.parse(text)["y"](a=0.717, b=0.377)) for text in numbers]
    rng = random.Random(7)
    proved = 0
    for number in range(120):
        i, j = rng.sample(range(len(texts)), 2)
        if number % 2:
            j = rng.choice([k for k, v in enumerate(values) if abs(v - values[i]) < 1e-12])
        found = sg.equal(sg.parse(texts[i])["y"], sg.parse(texts[j])["y"])
        alike = abs(values[i] - values[j]) < 1e-12
        assert found.status in (("proved", "supported") if alike else ("refuted",)), (texts[i], texts[j])
        proved += found.status == "proved"
    assert proved > 40


@pytest.mark.parametrize("name", ["recurrent network", "GARCH", "leapfrog", "hidden Markov model", "rating"])
def test_the_printed_gradient_is_a_claim(name: str) -> None:
    """The text of a gradient, with the lines below "where", is read as a claim and proved."""
    y = sg.parse(dedent(RECURRENCES[name]))["y"]
    for symbol in y.inputs:
        assert sg.verify(y, symbol, str(sg.grad(y, symbol))).status == "proved"


def test_a_claim_with_a_wrong_line_is_refuted() -> None:
    y = sg.parse(f"{DECLARED}h[0] = a\nh[t] = tanh(b*h[t-1] + x[t-1]) for t in 1..T\ny = h[T]**2")["y"]
    right = str(sg.grad(y, "b"))
    wrong = right.replace("2*h[T]", "h[T]")
    assert wrong != right
    assert sg.verify(y, "b", right).status == "proved"
    assert sg.verify(y, "b", wrong).status == "refuted"


@pytest.mark.parametrize("ends", [(0, "n"), (0, 5), (1, "n"), (2, 5)])
@pytest.mark.parametrize(
    "step",
    [
        lambda p, i, s: s + p["a"] * p["x"][i] ** 2,
        lambda p, i, s: s * p["x"][i] + p["a"],
        lambda p, i, s: s + i * p["a"] * p["x"][i],
        lambda p, i, s: s + sg.sin(s) * p["x"][p["k"][i]],
    ],
)
def test_loops_that_read_entries_at_their_number(
    ends: tuple[int, int | str], step: Callable[[sg.Program, sg.Expr, sg.Expr], sg.Expr]
) -> None:
    p = sg.parse("x : real[n]; a : real; k : int[n]\nu = sum(x) + a")
    y = sg.fori_loop(*ends, lambda i, s: step(p, i, s), 1)
    for wrt in [symbol for symbol in y.inputs if symbol.dtype == "real"]:
        right = sg.grad(y, wrt)
        for claim, status in ((right, "proved"), (2 * right, "refuted")):
            verdict = sg.verify(y, wrt, claim)
            assert verdict.status == status
            assert replayed(verdict) == status


SUM = "T : size; a : real; x : real[T]\nh[0] = 0\nh[t] = h[t-1] + a*x[t-1] for t in 1..T\ny = h[T]"


@pytest.mark.parametrize(
    ("program", "claim", "steps"),
    [
        (SUM, "sum(x[:minimum(T, 12)])", 13),
        (SUM, "sum(x[maximum(T - 12, 0):])", 13),
        (SUM, "sum(x[:minimum(T, 12) + 5])", 18),
        (SUM, "sum(where(arange(T)/2 < 12, x, 0))", 25),
        ("T : size; a, b : real\nh[0] = a\nh[t] = b*h[t-1] for t in 1..T\ny = h[maximum(T - 12, 0)]", "1", 13),
        ("T : size; a : real\nh[0] = 0\nh[t] = minimum(h[t-1] + 1, 12) for t in 1..T\ny = a*h[T]", "T", 13),
        ("T : size; a : real\nh[0] = a\nh[t] = where(t > 25, 2, 1)*h[t-1] for t in 1..T\ny = h[T]", "1", 26),
    ],
)  # fmt: skip
def test_sizes_beside_the_numbers_of_a_claim_are_tried(program: str, claim: str, steps: int) -> None:
    found = sg.verify(sg.parse(program)["y"], "a", claim)
    assert found.why == f"the two sides differ for T = {steps}"


def test_a_claim_whose_rows_are_counted_in_another_way_is_compared_with_the_derivative() -> None:
    """The claim has max(T - 1, 0) + 1 rows, and x has T, so the claim is about T - 1 = 0, 1, ... instead."""
    loss = sg.parse("""
    x : real[T]; a : real
    s[0] = x[0]
    s[t] = a*x[t] + (1 - a)*s[t-1] for t in 1..T - 1
    y = sum((s[:T - 1] - x[1:])**2)
    """)["y"]
    claim = """
    x_bar
    where
      x_bar[0] = s_bar[0]
      x_bar[t] = s_bar[t]*a + 2*(x[t] - s[t-1]) for t in 1..T - 1
      s_bar[T - 1] = 0
      s_bar[t-1] = 2*(s[t-1] - x[t]) + s_bar[t]*(1 - a) for t in T - 1..1
    """
    assert sg.verify(loss, "x", claim).status == "proved"
    assert sg.verify(loss, "x", claim.replace("s_bar[t]*a +", "s_bar[t]*a -")).status == "refuted"
