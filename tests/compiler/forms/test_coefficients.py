"""Numbers are taken out of products and sums: the same values, the same domain, fewer equations."""

from __future__ import annotations

import pickle
import random
from fractions import Fraction

import numpy as np
import pytest

import symgrad as sg
from symgrad.api.handles.output import arrange_nodes
from symgrad.compiler.forms.coefficients import gathered
from symgrad.ir.graph import as_node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.scalar.arith import add, div, mul


def random_program(seed):
    """Products, quotients and sums with many numbers and signs, and a few functions between."""
    rng = random.Random(seed)
    x, y, z = sg.symbols("x y z")
    pool = [x, y, z]
    for _ in range(60):
        a, b = rng.choice(pool), rng.choice(pool)
        c = rng.choice([2, -1, -3, 0.5, 7, -0.125])
        pool.append(
            rng.choice(
                [
                    lambda a, b, c: c * a * b,
                    lambda a, b, c: -(b * (c * a)),
                    lambda a, b, c: a + c * b,
                    lambda a, b, c: c * b - a,
                    lambda a, b, c: c * a / (b * b + 1),
                    lambda a, b, c: c / (1 + a * a),
                    lambda a, b, c: a / c,
                    lambda a, b, c: c - a,
                    lambda a, b, c: sg.tanh(c * a),
                    lambda a, b, c: sg.where(a > b, c * a, -b),
                    lambda a, b, c: sg.sqrt(a * b),
                    lambda a, b, c: 0 * a + b,
                ]
            )(a, b, c)
        )
    return [x, y, z], pool[-4:]


def texts(exprs):
    return [expression_text(n) for n in gathered([e.node for e in exprs])]


def check_values_and_domain(rewritten, seed):
    """Rewrite a random program, and compare it with itself at random points."""
    inputs, outputs = random_program(seed)
    nodes = [o.node for o in outputs]
    found = rewritten(nodes)
    values = np.random.default_rng(seed).normal(size=(3, 40))
    point = dict(zip([i.node for i in inputs], values, strict=True))
    with np.errstate(all="ignore"):
        before, after = evaluate(nodes, point), evaluate(found, point)
    for a, b in zip(before, after, strict=True):
        a, b = np.broadcast_arrays(a, b)
        assert np.array_equal(np.isnan(a), np.isnan(b))
        # A sum that cancels keeps the rounding errors of its terms: tanh bounds them, whatever it is that cancels.
        np.testing.assert_allclose(np.tanh(b), np.tanh(a), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_values_and_domains_stay(seed):
    check_values_and_domain(gathered, seed)


def test_products_that_differ_in_a_number_become_one():
    a, b = sg.symbols("a b")
    found = gathered([(2 * a * b).node, (-(b * a)).node, (b * (3 * a)).node, (a * b / 4).node])
    assert [expression_text(n) for n in found] == ["2*(a*b)", "-(a*b)", "3*(a*b)", "1/4*(a*b)"]
    assert sum(1 for n in topological(found) if n.args and expression_text(n) == "a*b") == 1


def test_the_number_of_a_sum_comes_out():
    a, b = sg.symbols("a b")
    sums = [2 * a - 6 * b, 12 * b - 4 * a, (b - a) * 5, a - b]
    assert texts(sums) == ["2*(a + -3*b)", "-4*(a + -3*b)", "-5*(a - b)", "a - b"]


def test_a_number_stops_at_a_term_without_one():
    a, b, c = sg.symbols("a b c")
    sums = [2 * (a * b) + c, 2 * (b * a) + c + a]
    assert texts(sums) == ["c + 2*(a*b)", "a + (c + 2*(a*b))"]


def test_products_and_sums_are_the_same_in_any_order():
    a, b, c, d = sg.symbols("a b c d")
    assert texts([a * b * c, 2 * (a * (c * b))]) == ["a*b*c", "2*(a*b*c)"]
    assert texts([a + 2 * b + c * d, 6 * b + (3 * d * c + 3 * a)]) == ["a + 2*b + c*d", "3*(a + 2*b + c*d)"]


def test_like_terms_become_one():
    a, b, c = sg.symbols("a b c")
    assert texts([a * b * c + 2 * (c * (b * a))]) == ["3*(a*b*c)"]
    # Those that cancel may be infinite: their difference has no value there.
    assert texts([a * b * c - 2 * (c * (b * a))]) == ["a*b*c + -2*(a*b*c)"]


def test_quotients_by_the_same_are_one_division():
    a, b, c = sg.symbols("a b c")
    assert texts([a / c, b / c, a / c * b]) == ["a*(1/c)", "1/c*b", "a*(1/c)*b"]
    assert texts([a / c, 2 * (a / c)]) == ["a/c", "2*(a/c)"]


def test_the_numbers_of_a_quotient_come_out():
    a, b = sg.symbols("a b")
    assert texts([2 / a, 3 / a]) == ["2*(1/a)", "3*(1/a)"]
    assert texts([2 / (a * b), -3 / (b * a)]) == ["2*(1/(a*b))", "-3*(1/(a*b))"]
    assert texts([2 / (3 * a), b / (5 * a), 1 / a]) == ["2/3*(1/a)", "1/5*(b/a)", "1/a"]
    assert texts([(2 * a) / (4 * b), a / b, (6 * a) / 4]) == ["1/2*(a/b)", "a/b", "3/2*a"]
    # A quotient of numbers, that nobody computed, among those.
    sevenths = div(as_node(3), as_node(7))
    nodes = [
        (2 / a).node,
        (3 / a).node,
        mul(a.node, sevenths),
        add(sevenths, (b / a).node),
        div(sevenths, b.node),
    ]
    found = gathered(nodes)
    assert found != nodes
    x, y = np.array([0.3, -7.0, 1e200]), np.array([2.0, 1e-200, -5.0])
    values = evaluate(found, {a.node: x, b.node: y})
    for value, expected in zip(values, [2 / x, 3 / x, 3 / 7 * x, 3 / 7 + y / x, 3 / 7 / y], strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-15)


def test_what_takes_no_fewer_operations_stays():
    a, b = sg.symbols("a b")
    node = (a * (b + b) + b).node
    assert gathered([node]) == [node]


def test_what_is_kept_stays_as_it_is():
    a, b = sg.symbols("a b")
    kept = (2 * b * a).node
    (found,) = gathered([(sg.sin(2 * b * a) * 3).node], [kept])
    assert kept in topological([found])


def test_products_that_are_kept_are_found_again():
    a, b, c = sg.symbols("a b c")
    kept = [(b * a).node, (c * (b * a)).node, (2 * c).node]
    found = gathered([*kept, (3 * (a * b) + sg.sin(a * c * b)).node, (sg.cos(c * 2) * b).node], kept)
    made = [n for n in topological(found) if n.op.name == "mul" and n not in kept]
    assert [expression_text(n) for n in made] == ["3*(b*a)", "b*cos(2*c)"]


def test_truth_values_and_integers_are_left_alone():
    p = sg.parse("n : int\nx : real\nc : bool\ny = where(c, 2*n, n)*x*2")
    (found,) = gathered([p["y"].node])
    assert found.dtype == "real"
    values = {p["n"].node: 3, p["x"].node: 0.5, p["c"].node: True}
    assert evaluate([found], values)[0] == 6.0


def test_long_products_of_numbers_do_not_overflow():
    x = sg.symbols("x")
    y = x
    for _ in range(300):
        y = sg.sin(y * 1e10) * 1e10
    (found,) = gathered([y.node])
    large = [n.value for n in topological([found]) if n.is_number()]
    assert max(large) < 1e31


@pytest.mark.parametrize("seed", range(20))
def test_numbers_that_are_too_long_to_be_taken_out_stay_where_they_are(seed):
    """All terms are positive, so that no digit is lost, and what is wrong in one shows in all that follow."""
    rng = random.Random(seed)
    inputs = sg.symbols("x y z")
    pool = list(inputs)
    for _ in range(30):
        a, b = rng.choice(pool[-6:]), rng.choice(pool)
        c = rng.choice([2**30, 2**38 + 1, 10**9, 3**20, Fraction(1, 2**35), Fraction(7, 10**10)])
        d = Fraction(rng.randrange(1, 2**45), rng.randrange(1, 2**45))
        # The root keeps numbers near one.
        pool.append(
            sg.sqrt(
                rng.choice(
                    [c * a * b, c * a * (d * b), c * (a + d * b), c * (b + c * a), c * a / (d * b), d / a]
                )
            )
        )
    x, y, _ = inputs
    worth_it = [k * x * y for k in range(2, 200)]
    nodes = [o.node for o in [*pool, *worth_it]]
    values = np.random.default_rng(seed).uniform(0.5, 2, (3, 20))
    point = dict(zip([i.node for i in inputs], values, strict=True))
    found = gathered(nodes)
    assert found != nodes
    for a, b in zip(evaluate(found, point), evaluate(nodes, point), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


LARGE = "x : real\ny : real\nz = " + " + ".join(f"sin({k}*x*y + {k})*exp(-x**2/{k})" for k in range(1, 60))


def large_kernel():
    p = sg.parse(LARGE)
    return p, [p["z"], *sg.grad(p["z"], [p["x"], p["y"]])]


def test_in_large_derivatives_what_the_user_wrote_has_the_bits_of_numpy():
    p, outputs = large_kernel()
    found = arrange_nodes(outputs)
    nodes, fusable = found.nodes, found.fusable
    assert len(topological(nodes)) > 400
    assert fusable
    assert fusable.isdisjoint(topological([p["z"].node]))
    x, y = np.random.default_rng(3).uniform(-1, 1, (2, 1000))
    alone = sg.compile(p["z"], inputs=p.inputs)(x, y)
    together, by_x, by_y = sg.compile(outputs, inputs=p.inputs)(x, y)
    assert np.array_equal(alone, together)
    exact = evaluate([o.node for o in outputs[1:]], {p["x"].node: x, p["y"].node: y})
    for found, expected in zip((by_x, by_y), exact, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-10)


def test_a_large_kernel_has_the_same_bits_everywhere_and_as_a_pickle():
    p, outputs = large_kernel()
    k = sg.compile(outputs, inputs=p.inputs)
    x, y = np.random.default_rng(3).uniform(-1, 1, (2, 37))
    whole = k(x, y)
    for i in range(37):
        assert [v[i] for v in whole] == [float(v) for v in k(x[i], y[i])]
    again = pickle.loads(pickle.dumps(k))
    assert again.fusable == k.fusable
    assert again.llvm_ir == k.llvm_ir
