"""Both modes against each other, against differences at high precision, and against the frozen copy."""

from __future__ import annotations

import itertools
import math
import operator
import random
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.autodiff.frozen import frozen_copy, unfreeze
from symgrad.autodiff.jvp import all_partials, push_forward
from symgrad.autodiff.trace import ZeroReason
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node, symbol, truth
from symgrad.ir.traverse import topological
from symgrad.ir.types import INT, Declaration
from symgrad.ir.values.evaluate import evaluate, evaluate_mp
from tests.graphs import inputs, random_graph

seeds = st.integers(0, 10**9)
points = st.lists(st.fractions(-2, 2, max_denominator=64), min_size=3, max_size=3)


def gradient(y, xs):
    return pull_back([y], [as_node(1)], xs)


def at(nodes, xs, point, digits=40):
    with mpmath.workdps(digits):
        values = {x: mpmath.mpf(p.numerator) / p.denominator for x, p in zip(xs, point, strict=True)}
        return evaluate_mp(mpmath.mp, nodes, values)


def close(a, b, tolerance=1e-12):
    return mpmath.isfinite(a) and abs(a - b) <= tolerance * (1 + abs(a) + abs(b))


@given(seeds, points)
@settings(max_examples=150, deadline=None)
def test_reverse_equals_forward(seed, point):
    xs = inputs()
    y = random_graph(seed, xs)
    reverse = gradient(y, xs).gradients
    forward = [push_forward([y], {x: as_node(1)})[0] for x in xs]
    a, b = at(reverse, xs, point), at(forward, xs, point)
    assume(all(mpmath.isfinite(v) for v in (*a, *b)))
    assert all(close(p, q) for p, q in zip(a, b, strict=True))


@given(seeds, points)
@settings(max_examples=150, deadline=None)
def test_gradient_equals_difference(seed, point):
    xs = inputs()
    y = random_graph(seed, xs)
    exact = at(gradient(y, xs).gradients, xs, point)
    assume(all(mpmath.isfinite(v) for v in exact))
    for i, derivative in enumerate(exact):
        shifted = []
        for h in (-1, 1):
            moved = list(point)
            moved[i] += h * type(point[i])(1, 10**20)
            shifted.append(at([y], xs, moved, 80)[0])
        slope = (shifted[1] - shifted[0]) * 10**20 / 2
        below, here, above = shifted[0], at([y], xs, point, 80)[0], shifted[1]
        # At a kink (a tie of maximum, a jump of where) the two sides part and there is no derivative to compare.
        assume(abs((above - here) - (here - below)) <= mpmath.mpf(10) ** -25 * (1 + abs(slope)))
        assert close(derivative, slope, 1e-9)


@given(seeds, points)
@settings(max_examples=80, deadline=None)
def test_second_order_is_symmetric_and_equals_grad_of_grad(seed, point):
    xs = inputs(2)
    y = random_graph(seed, xs, size=7)
    partials = all_partials(y, xs, 2)
    first = gradient(y, xs).gradients
    second = [gradient(g, xs).gradients for g in first]
    direct = [partials[0, 0], partials[0, 1], partials[1, 1]]
    values = at([*direct, *second[0], *second[1]], xs, point[:2])
    assume(all(mpmath.isfinite(v) for v in values))
    aa, ab, bb, s00, s01, s10, s11 = values
    assert close(aa, s00)
    assert close(ab, s01)
    assert close(ab, s10)
    assert close(bb, s11)


@given(seeds, points, st.integers(1, 3))
@settings(max_examples=120, deadline=None)
def test_stop_gradient_is_the_frozen_copy_at_every_order(seed, point, order):
    xs = inputs(2)
    y = random_graph(seed, xs, size=8, stops=0.35)
    (frozen,), twins = frozen_copy([y])
    assert not any("stops" in n.op.facts for n in topological([frozen]))
    stopped = topological([n for n in topological([y]) if "stops" in n.op.facts])
    assert set(twins) == {x for x in xs if x in stopped}
    direct = all_partials(y, xs, order)
    meant = all_partials(frozen, xs, order)
    keys = list(direct)
    on_diagonal = unfreeze([meant[k] for k in keys], twins)
    a, b = at([direct[k] for k in keys], xs, point[:2]), at(on_diagonal, xs, point[:2])
    for p, q in zip(a, b, strict=True):
        assert mpmath.isnan(p) == mpmath.isnan(q)
        if mpmath.isfinite(p):
            assert close(p, q, 1e-20)


@given(seeds, points)
@settings(max_examples=60, deadline=None)
def test_reverse_through_stops_equals_the_frozen_copy(seed, point):
    xs = inputs(2)
    y = random_graph(seed, xs, size=8, stops=0.35)
    (frozen,), twins = frozen_copy([y])
    a = at(gradient(y, xs).gradients, xs, point[:2])
    b = at(unfreeze(gradient(frozen, xs).gradients, twins), xs, point[:2])
    for p, q in zip(a, b, strict=True):
        assert (mpmath.isnan(p) and mpmath.isnan(q)) or close(p, q, 1e-20) or p == q


def test_kinds_of_nothing():
    x, other = inputs(2)
    n = symbol(Declaration("n", INT))
    stopped = OPS["stop_gradient"](x)
    assert gradient(OPS["mul"](stopped, other), [x]).nothing == (ZeroReason.STOPPED,)
    assert gradient(OPS["sin"](x), [other]).nothing == (ZeroReason.DISCONNECTED,)
    assert gradient(OPS["sign"](x), [x]).nothing == (ZeroReason.ZERO,)
    assert gradient(OPS["mul"](x, n), [n]).nothing == (ZeroReason.NO_TANGENT,)
    assert gradient(OPS["mul"](x, stopped), [x]).nothing == (None,)
    # A path that is open but flat is zero, even when another one is stopped.
    assert gradient(OPS["add"](OPS["sign"](x), stopped), [x]).nothing == (ZeroReason.ZERO,)


@pytest.mark.parametrize("count", [0, 9])
def test_a_whole_number_does_not_move(count):
    # By many symbols the first partials are pulled back.
    x, n = inputs(1)[0], symbol(Declaration("n", INT))
    partials = all_partials(OPS["mul"](x, n), [x, n, *inputs(1 + count)[1:]], 1)
    assert partials[0,] is n
    assert partials[1,].is_number(0)


def test_stop_gradients_argument_holds_nodes_constant():
    (a,) = inputs(1)
    b = 2 * a
    total = pull_back([a + b], [as_node(1)], [a, b])
    partial = pull_back([a + b], [as_node(1)], [a, b], stopped=[a, b])
    assert [g.value for g in total.gradients] == [3, 1]
    assert [g.value for g in partial.gradients] == [1, 1]


def test_gradient_by_an_intermediate_counts_it_as_a_symbol():
    (x,) = inputs(1)
    h = OPS["sin"](x)
    y = OPS["mul"](OPS["exp"](h), x)
    trace = gradient(y, [h])
    expected = OPS["exp"](h) * x
    values = evaluate([*trace.gradients, expected], {x: 0.3})
    assert float(values[0]) == pytest.approx(float(values[1]))
    assert all(step.target is h for step in trace.steps if step.node.op.name == "exp")


@pytest.mark.parametrize(
    ("build", "point", "expected"),
    [
        # The branch not taken has an infinite derivative; six frameworks answer NaN here.
        (lambda x: OPS["where"](OPS["gt"](x, as_node(0)), OPS["sqrt"](x), as_node(0)), 0.0, 0.0),
        (lambda x: OPS["where"](OPS["gt"](x, as_node(0)), OPS["log"](x), x), 0.0, 1.0),
        (
            lambda x: OPS["where"](OPS["le"](x, as_node(0)), as_node(0), OPS["sqrt"](x) * OPS["log"](x)),
            0.0,
            0.0,
        ),
        (lambda x: OPS["sqrt"](OPS["relu"](x)), -1.0, 0.0),
        (lambda x: OPS["log"](OPS["maximum"](x, as_node(0)) * x), -1.0, None),
        (lambda x: OPS["where"](OPS["gt"](x, as_node(0)), OPS["pow"](x, x), as_node(1)), 0.0, 0.0),
        (lambda x: OPS["where"](OPS["gt"](x, as_node(0)), 1 / x, OPS["sin"](x)) + 1 / (x - 1), 0.0, 0.0),
        # Under two choices, neither taken, the factor that stays has no value.
        (
            lambda x: (
                OPS["where"](OPS["gt"](x, as_node(1)), x * OPS["sqrt"](x), as_node(0))
                + OPS["where"](OPS["gt"](x, as_node(2)), x * OPS["sqrt"](x), as_node(0))
            ),
            -1.0,
            0.0,
        ),
    ],
)
def test_an_infinite_partial_never_meets_a_numeric_zero(build, point, expected):
    (x,) = inputs(1)
    y = build(x)
    reverse = gradient(y, [x]).gradients[0]
    forward = push_forward([y], {x: as_node(1)})[0]
    for derivative in (reverse, forward):
        value = float(evaluate([derivative], {x: point})[0])
        if expected is None:
            assert value != value
        else:
            assert value == expected


class Dual(NamedTuple):
    """A value with its derivative along one direction; None where it does not move at all."""

    value: Any
    slope: Any = None

    def through(self, value: Any, slope: Any) -> Dual:
        return Dual(value, None if self.slope is None else slope * self.slope)

    def joined(self, other: Dual, value: Any, by_this: Any, by_other: Any) -> Dual:
        parts = [f * d.slope for f, d in ((by_this, self), (by_other, other)) if d.slope is not None]
        return Dual(value, sum(parts) if parts else None)


def _dual(node: Node, at: dict[Node, Dual]) -> Any:
    """Forward differentiation of what is computed at a point: choices are made, what was not chosen does not exist."""
    done: dict[Node, Any] = dict(at)
    for n in topological([node], until=done):
        if n in done:
            continue
        args = [done[a] for a in n.args]
        match n.op.name:
            case "number":
                done[n] = n.value if isinstance(n.value, bool) else Dual(np.float64(n.value))
            case "where":
                done[n] = args[1] if args[0] else args[2]
            case "gt" | "le" | "ne":
                done[n] = getattr(operator, n.op.name)(args[0].value, args[1].value)
            case "not_":
                done[n] = not args[0]
            case "and_" | "or_":
                done[n] = all(args) if n.op.name == "and_" else any(args)
            case "add":
                done[n] = args[0].joined(args[1], args[0].value + args[1].value, 1, 1)
            case "mul":
                a, b = args
                done[n] = a.joined(b, a.value * b.value, b.value, a.value)
            case "div":
                a, b = args
                done[n] = a.joined(b, a.value / b.value, 1 / b.value, -a.value / b.value / b.value)
            case name:
                x = args[0].value
                function, slope = {
                    "sin": (np.sin, np.cos(x)),
                    "exp": (np.exp, np.exp(x)),
                    "log": (np.log, 1 / x),
                    "sqrt": (np.sqrt, 1 / np.sqrt(x) / 2),
                }[name]
                done[n] = args[0].through(function(x), slope)
    return done[node]


def _chosen(seed: int, xs: list[Node]) -> Node:
    """A random program of choices between what has poles, and functions of them."""
    rng = random.Random(seed)
    pool = [*xs, *xs]
    compared = [OPS[rng.choice(["gt", "le", "ne"])](x, as_node(rng.choice([0, 1]))) for x in xs]
    either, both = OPS["or_"](*compared), OPS["and_"](*compared)
    tests = [*compared, *compared, either, OPS["or_"](*compared[::-1]), both]
    tests += [OPS["not_"](test) for test in (compared[0], either, both)]

    def condition() -> Node:
        return rng.choice(tests)

    for _ in range(rng.randint(4, 10)):
        a, b = rng.choice(pool[-4:]), rng.choice(pool[-4:])
        match rng.randrange(10):
            case 9:
                one, other = (OPS["where"](test, a, as_node(0)) for test in compared)
                pool += [OPS["add"](one, other), a, OPS["sin"](a)]
            case 0 | 1 | 2:
                pool.append(OPS["where"](condition(), a, rng.choice([b, as_node(0), as_node(1)])))
            case 3:
                pool.append(OPS["where"](condition(), as_node(0), a))
            case 4:
                pool.append(OPS[rng.choice(["sqrt", "log", "sin", "exp"])](a))
            case 5:
                pool.append(OPS["div"](rng.choice([a, as_node(1)]), b))
            case 6:
                pool.append(OPS["mul"](a, b))
            case _:
                pool.append(OPS["add"](a, b))
    return OPS["add"](pool[-1], pool[-2])


@pytest.mark.parametrize("start", range(0, 2000, 100))
def test_choices_have_the_slope_of_what_was_chosen(start):
    xs = inputs(2)
    compared = 0
    for seed in range(start, start + 100):
        y = _chosen(seed, xs)
        reverse = gradient(y, xs).gradients
        forward = [push_forward([y], {x: as_node(1)})[0] for x in xs]
        for point in itertools.product((0.0, 1.0, -0.5), repeat=2):
            at = dict(zip(xs, point, strict=True))
            with np.errstate(all="ignore"):
                found = [float(v) for v in evaluate([*reverse, *forward], at)]
                duals = [
                    _dual(y, {v: Dual(np.float64(p), 1.0 if v is x else None) for v, p in at.items()})
                    for x in xs
                ]
            for i, (value, slope) in enumerate(duals):
                if math.isfinite(value) and (slope is None or abs(slope) < 1e9):
                    compared += 1
                    for got in (found[i], found[i + 2]):
                        assert got == pytest.approx(slope or 0.0, rel=1e-9, abs=1e-9), (seed, point, i)
    assert compared > 500


def test_guards_merge_when_both_branches_meet():
    (x,) = inputs(1)
    root = OPS["sqrt"](x)
    y = OPS["where"](OPS["gt"](x, as_node(1)), root * 2, root)
    g = gradient(y, [x]).gradients[0]
    assert float(evaluate([g], {x: 4.0})[0]) == 0.5
    assert float(evaluate([g], {x: 0.25})[0]) == 1.0


def test_conditions_carry_no_gradient_and_truth_values_fold():
    (x,) = inputs(1)
    y = OPS["where"](truth(True), x, OPS["exp"](x))
    assert float(evaluate(gradient(y, [x]).gradients, {x: 3.0})[0]) == 1.0


def test_a_chain_of_100_000_equations():
    (x,) = inputs(1)
    y = x
    for _ in range(50_000):
        y = OPS["add"](OPS["sin"](y), x)
    g = gradient(y, [x]).gradients[0]
    assert len(topological([g])) > 100_000
    assert float(evaluate([g], {x: 0.5})[0]) == pytest.approx(
        float(evaluate(push_forward([y], {x: as_node(1)}), {x: 0.5})[0]), rel=1e-9
    )


def test_every_step_of_the_trace_is_a_product_of_what_it_names():
    xs = inputs()
    y = random_graph(7, xs)
    trace = gradient(y, xs)
    assert trace.steps
    for step in trace.steps:
        assert step.target in step.node.args
        assert set(step.residuals) <= {step.node, *step.node.args}


@pytest.mark.parametrize(
    ("text", "by", "gradient"),
    [
        ("v : real[n]; c : real; y = sum(v + c)**2", "c", "2*n*(n*c + sum(v))"),
        ("A : real[n, m]; v : real[m]; y = sum(A - v)**3", "v", "full(m, -3*n*sum(A - v)**2)"),
        ("A : real[n, m]; v : real[m]; y = 5*sum(exp(v) + A)", "v", "5*n*exp(v)"),
    ],
)
def test_what_is_broadcast_gets_its_cotangent_as_often(text: str, by: str, gradient: str) -> None:
    program = sg.parse(text)
    names = {x.name: x for x in program.inputs if x.name}
    wanted = sg.parse(gradient, symbols=names).last
    assert sg.equal(sg.grad(program["y"], by), wanted).status == "proved"
