"""Values kept times a number: the same values, fewer operations, and what is kept stays."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.forms.coefficients import gathered
from symgrad.compiler.forms.scales import rescaled
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate
from tests.compiler.forms.test_coefficients import check_values_and_domain


def texts(*exprs: sg.Expr, kept: tuple[sg.Expr, ...] = ()) -> list[str]:
    return [expression_text(n) for n in rescaled([e.node for e in exprs], [e.node for e in kept])]


@pytest.mark.parametrize("seed", range(60))
def test_values_and_domains_stay(seed: int) -> None:
    check_values_and_domain(lambda nodes: rescaled(gathered(nodes)), seed)


def test_a_sum_takes_the_number_that_its_readers_multiply_by() -> None:
    a, b, c, d = sg.symbols("a b c d")
    x = a + 2 * b
    assert texts(c * d + 3 * (x * c), a * d - 3 * (x * d)) == [
        "c*d + (3*a + 6*b)*c",
        "a*d - (3*a + 6*b)*d",
    ]
    # Here its own terms would need as many products.
    alone = c * d + 3 * (x * c)
    assert texts(alone) == [str(alone)]


def test_a_factor_of_many_products_is_multiplied_once() -> None:
    a, b, c, d = sg.symbols("a b c d")
    e = sg.sin(a)
    sums = [b + 3 * (e * c), c + 3 * (e * d), d + 3 * (e * b), e]
    assert texts(*sums) == ["b + 3*sin(a)*c", "c + 3*sin(a)*d", "d + 3*sin(a)*b", "sin(a)"]


def test_choices_pass_numbers_on() -> None:
    p = sg.parse(
        "a : real\nb : real\nc : real\nx = where(a < b, 2*a, 2*sin(b))\ny = b + 1/2*(x*c)\nz = c + 1/2*(x*b)"
    )
    assert texts(p["y"], p["z"]) == ["b + where(a < b, a, sin(b))*c", "c + where(a < b, a, sin(b))*b"]


def test_what_is_kept_stays() -> None:
    a, b, c, d = sg.symbols("a b c d")
    x = a + 2 * b
    y, z = c * d + 3 * (x * c), a * d - 3 * (x * d)
    found = rescaled([y.node, z.node], [x.node])
    assert x.node in topological(found)


def test_nothing_is_kept_far_from_its_value() -> None:
    a, b, c, d = sg.symbols("a b c d")
    x = a + 2 * b

    def numbered(n: int) -> list[Node]:
        nodes = [(c * d + n * (x * c)).node, (a * d - n * (x * d)).node]
        return nodes if rescaled(nodes) == nodes else []

    assert numbered(3000)
    assert not numbered(300)


def test_derivatives_take_fewer_operations() -> None:
    text = "x : positive\ny : positive\nf = x**(1/3)*log1p(3*y/(7 + x*y))*(1 + 0.3*x + 0.7*y**2)*exp(-2*x*y)"
    p = sg.parse(text)
    nodes = [e.node for e in sg.derivatives(p["f"], ("x", "y"), order=3).values()]
    taken = gathered(nodes, [p["f"].node])
    found = rescaled(taken, [p["f"].node])
    numbers = [
        sum(n.op.name == "mul" and n.args[0].is_number() for n in topological(made))
        for made in (taken, found)
    ]
    assert numbers[1] < numbers[0]
    at = np.random.default_rng(1).uniform(0.5, 2, (2, 50))
    point = {p["x"].node: at[0], p["y"].node: at[1]}
    for a, b in zip(evaluate(nodes, point), evaluate(found, point), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-10)


def test_numbers_that_no_float_holds_are_compared_as_well() -> None:
    a, b, c, d = sg.symbols("a b c d")
    tiny, huge = Fraction(1, 10**400), 10**400
    for number in (tiny, huge, Fraction("6.62607015e-34"), Fraction(3, 10**14)):
        x = a + number * b
        y = [x * c + d, x * d - number * c, number * x + number * a]
        assert texts(*y) == [str(e) for e in y]  # no value may be kept times so much


def test_along_a_chain_of_decimals_numbers_do_not_grow_without_end() -> None:
    a, b = sg.symbols("a b")
    e = a
    outputs = []
    for k in range(300):
        e = Fraction(f"0.{377 + 2 * k}1") * e + Fraction(f"0.{491 + 2 * k}3") * b * a
        outputs.append(e * b)
    found = rescaled(gathered([o.node for o in outputs]))
    numbers = [n.value for n in topological(found) if n.is_number()]
    assert max(v.numerator.bit_length() + v.denominator.bit_length() for v in map(Fraction, numbers)) < 600
