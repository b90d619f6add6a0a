"""Repairs of gradients that are zero: values keep their bits in a kernel, gradients are as said, texts read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.analysis.stop_gradient.finding import Finding

SIZES = {"n": 4, "k": 3}
SLOW = 60.0  # seconds, on a busy machine


def found(text: str, code: str, **asked: Any) -> Finding:
    return next(f for f in sg.lint(text, time_limit=SLOW, **asked) if f.code == code)


def drawn(e: sg.Expr, seed: int) -> dict[str, Any]:
    """Return values for the inputs of a program; those called p or s are positive."""
    draw = np.random.default_rng(seed)
    point: dict[str, Any] = {}
    for i in e.inputs:
        value = 2 * draw.standard_normal([SIZES[s] if isinstance(s, str) else int(str(s)) for s in i.shape])
        point[str(i.name)] = np.abs(value) if str(i.name) in ("p", "s") else value
    return point


def at(e: sg.Expr, point: Mapping[str, Any]) -> Any:
    return np.asarray(e(**{str(i.name): point[str(i.name)] for i in e.inputs}))


def bits(e: sg.Expr, inputs: list[Any], point: Mapping[str, Any]) -> bytes:
    kernel = sg.compile(e, inputs=inputs)
    return np.asarray(kernel(*(point[str(i.name)] for i in inputs)), dtype=float).tobytes()


def check_value(text: str, finding: Finding) -> None:
    """The value is the same bit for bit as compiled, what is said is proved, and the text of the repair reads back."""
    program, repaired = sg.parse(text).last, finding.repaired
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"
    inputs = list(program.inputs)
    for seed in range(5):
        point = drawn(program, seed)
        assert bits(program, inputs, point) == bits(repaired, inputs, point)
    declared = "\n".join(line for line in text.splitlines() if " : " in line.partition("=")[0] or "~" in line)
    again = sg.parse(f"{declared}\nrepaired = {repaired}").last
    assert again.shape == program.shape
    assert again.same(repaired)
    assert finding.json()["repaired"] == str(repaired)


def moved(e: sg.Expr, name: str, point: dict[str, Any], step: float = 1e-6) -> Any:
    """Return the central difference of a value by each entry of an input."""
    slopes = np.zeros(np.shape(point[name]))
    for index in np.ndindex(*slopes.shape):
        sides: list[float] = []
        for sign in (1, -1):
            other = np.array(point[name])
            other[index] += sign * step
            sides.append(float(at(e, {**point, name: other})))
        slopes[index] = (sides[0] - sides[1]) / (2 * step)
    return slopes


STOPPED = [
    "a, x : real\ny = stop_gradient(a)*x",
    "a, x : real\ny = x*stop_gradient(sin(stop_gradient(a)*x))",
    "a, x : real[n]\ny = sum(stop_gradient(a*x)*x) + norm(stop_gradient(a))",
    "a : real[n, k]; x : real[k]\ny = sum(exp(stop_gradient(a)@x/9))",
    "a : real\nu ~ Normal(0, 1)\nh = stop_gradient(a*u)\ny = h**2 + stop_gradient(u)*h",
]


@pytest.mark.parametrize("text", STOPPED)
def test_without_its_stops_the_gradient_is_that_of_the_value(text: str) -> None:
    """By differences of the value of the program as it is, which no stop_gradient changes."""
    finding = found(text, "SG203", wrt="a")
    check_value(text, finding)
    program = sg.parse(text).last
    for seed in range(3):
        point = drawn(program, seed)
        assert not np.any(at(sg.grad(program, "a"), point))
        assert at(sg.grad(finding.repaired, "a"), point) == pytest.approx(
            moved(program, "a", point), rel=1e-5, abs=1e-6
        )


_BOTH = "a, x, t : real\ny = stop_gradient(a*x)*x*t"
_ALONE = "a, x : real\ny = stop_gradient(a)*x"


def test_what_else_changes_is_said() -> None:
    both = found(_BOTH, "SG203", wrt=["a", "t"])
    assert both.verdict is not None
    assert "and so is that by x" in both.verdict.why
    alone = found(_ALONE, "SG203", wrt=["a", "x"])
    assert alone.verdict is not None
    assert "no other one changes" in alone.verdict.why
    assert alone.cure is not None
    assert alone.cure.endswith("write a for stop_gradient(a)")
    point = {"a": 0.7, "x": -1.3, "t": 0.4}
    for finding, text, changes in ((both, _BOTH, True), (alone, _ALONE, False)):
        old, new = (at(sg.grad(e, "x"), point) for e in (sg.parse(text).last, finding.repaired))
        assert bool(old != new) is changes


STEPS = [
    ("b, x : real\ny = sin(floor(b*x)/5)", "sin((b*x + stop_gradient(floor(b*x) - b*x))/5)"),
    ("b : real\ny = exp(ceil(b)/9)*b**0", "exp((b + stop_gradient(ceil(b) - b))/9)*b**0"),
    ("b, x : real[n]\ny = sum(round(b)**2*x)", "sum((b + stop_gradient(round(b) - b))**2*x)"),
    ("b : real[n]\ny = mean(floor(round(3*b)/2)**2) + sum(sign(b))",
     "mean((round3 + stop_gradient(floor(round(3*b)/2) - round3))**2) + sum(sign(b))"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rounding"), STEPS)
def test_steps_pass_the_gradient_on(text: str, rounding: str) -> None:
    """The gradient is that of the usual form, ``x + stop_gradient(f(x) - x)``, whose value rounds."""
    finding = found(text, "SG204", wrt="b")
    check_value(text, finding)
    inner = "((3*b + stop_gradient(round(3*b) - 3*b))/2)"
    usual = sg.parse(f"{text.partition(chr(10))[0]}\ny = {rounding.replace('round3', inner)}").last
    for seed in range(3):
        point = drawn(sg.parse(text).last, seed)
        gradient = at(sg.grad(finding.repaired, "b"), point)
        assert np.any(gradient)
        assert gradient == pytest.approx(at(sg.grad(usual, "b"), point), rel=1e-6, abs=1e-9)


CUTS = [
    ("p : positive\ny = log(maximum(p, 0.5))", "maximum(p, 0.5)", "p"),
    ("x : real\ny = clip(2*x, -1, 2)**2", "clip(2*x, -1, 2)", "2*x"),
    ("p : positive[n]; t : real[n]\ny = -sum(t*log(maximum(p, 0.5)))", "maximum(p, 0.5)", "p"),
    ("x : real; t : real[n]\ny = sum(t*sqrt(maximum(x, floor(t**2) + 1)))", "maximum(x, floor(t**2) + 1)",
     "broadcast_to(x, (n,))"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cut", "inner"), CUTS)
def test_what_is_cut_off_gets_the_gradient_of_what_is_cut(text: str, cut: str, inner: str) -> None:
    finding = found(text, "SG304")
    check_value(text, finding)
    program = sg.parse(text).last
    usual = sg.parse(text.replace(cut, f"({inner} + stop_gradient({cut} - {inner}))")).last
    name = "p" if text.startswith("p") else "x"
    seen = False
    for seed in range(6):
        point = drawn(program, seed)
        gradient = at(sg.grad(finding.repaired, name), point)
        assert gradient == pytest.approx(at(sg.grad(usual, name), point), rel=1e-6, abs=1e-9)
        old = at(sg.grad(program, name), point)
        # Another one only where it is cut off, where the old one is zero.
        seen = seen or bool(np.any(old != gradient))
        if "broadcast" not in inner:
            assert np.all((old == 0) | np.isclose(old, gradient))
    assert seen


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("x : real\ny = where(x > 0, x**2, stop_gradient(x))", "where(x > 0, x**2, x)"),
        (
            "x : real\ny = where(x > 0, x**2, floor(2*x))",
            "where(x > 0, x**2, stop_gradient(floor(2*x)) - (stop_gradient(2*x) - 2*x))",
        ),
    ],
)
def test_a_branch_without_a_gradient(text: str, repaired: str) -> None:
    finding = found(text, "SG304")
    check_value(text, finding)
    assert str(finding.repaired) == repaired
    old, new = (sg.grad(e, "x") for e in (sg.parse(text).last, finding.repaired))
    assert [float(old(x=v)) == float(new(x=v)) for v in (-1.3, 0.4, 2.0)] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "code", "asked"),
    [
        ("b : real\ny = sign(b)", "SG204", {"wrt": "b"}),  # no number near b
        ("b : real\ny = 1/floor(1/b)", "SG204", {"wrt": "b"}),  # has a value at 0, where 1/b has none
        ("x, c : real\ny = sin(minimum(x, c)) + c", "SG304", {}),  # c has a gradient to lose
        ("x : real\ny = minimum(exp(x), 3)", "SG304", {}),  # exp(x) overflows where it is cut off
        ("a, x : real\ny = x*stop_gradient(floor(a))", "SG203", {"wrt": "a"}),  # zero without it, too
        ("a, x : real\ny = x*(stop_gradient(a) - stop_gradient(a))", "SG203", {"wrt": "a"}),  # cancels
        ("x : real\ny = sin(x)**2 + cos(x)**2", "SG305", {}),  # no sample
    ],
)
def test_no_repair_is_offered_where_none_is_one(text: str, code: str, asked: dict[str, Any]) -> None:
    finding = found(text, code, ignore="SG101", **asked)
    assert finding.repaired is None
    assert finding.cure


@pytest.mark.parametrize(
    "text", ["x : real[n, k]\ny = sin(x)", "a : real[n, k]; x : real[k]\ny = clip(a@x, 0, 1)"]
)
def test_the_sum_is_what_one_gets_the_gradient_of(text: str) -> None:
    finding = found(text, "SG201")
    program = sg.parse(text).last
    assert finding.repaired.shape == ()
    assert finding.verdict is not None
    assert finding.verdict.status == "proved"
    point = drawn(program, 3)
    assert float(at(finding.repaired, point)) == pytest.approx(float(np.sum(at(program, point))))
    names = [str(i.name) for i in program.inputs]
    for a, b in zip(sg.gradients(program, names), sg.grad(finding.repaired, names), strict=True):
        assert np.array_equal(at(a, point), at(b, point))
    declared = text.partition("\n")[0]
    assert sg.parse(f"{declared}\nr = {finding.repaired}").last.same(finding.repaired)


@pytest.mark.parametrize("shape", ["", "[n]"])
def test_the_sample_as_data_gives_the_score(shape: str) -> None:
    logp = "-((z - mu)/s)**2/2 - log(s)"
    text = (
        f"mu : real{shape}; s : positive{shape}\neps ~ Normal(0, 1){shape}\nz = mu + s*eps\n"
        f"logp = {f'sum({logp})' if shape else logp}"
    )
    finding = found(text, "SG305")
    check_value(text, finding)
    point = drawn(sg.parse(text).last, 1)
    assert at(sg.grad(finding.repaired, "mu"), point) == pytest.approx(point["eps"] / point["s"])
    assert at(sg.grad(finding.repaired, "s"), point) == pytest.approx((point["eps"] ** 2 - 1) / point["s"])
    assert finding.verdict is not None
    assert "by mu and s are those with z as data" in finding.verdict.why


_PARTS = ("a", "a*x", "sin(a)", "x + a**2", "floor(3*a)", "x")
_WRAPS = (
    "stop_gradient({0})",
    "({0})*x",
    "round(2*({0}))/2",
    "tanh({0}) + x",
    "clip({0}, -1, 1)",
    "ceil({0})",
)


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from(_PARTS), min_size=1, max_size=2),
    st.lists(st.sampled_from(_WRAPS), min_size=2, max_size=5),
)
def test_any_repair_keeps_the_value(parts: list[str], wraps: list[str]) -> None:
    """And something arrives where nothing did."""
    body = " + ".join(parts)
    for wrap in wraps:
        body = wrap.format(body)
    program = sg.parse(f"a, x : real\nz = {body} + 0*a*x").last
    for finding in sg.lint(program, wrt=["a", "x"], time_limit=2):
        if finding.repaired is None or finding.code not in ("SG203", "SG204", "SG304"):
            continue
        for seed in range(4):
            point = drawn(program, seed)
            assert at(finding.repaired, point).tobytes() == at(program, point).tobytes(), finding
        if finding.code != "SG304":
            assert str(sg.grad(finding.repaired, finding.message.split(" by ")[1][0]).canonical()) != "0"
