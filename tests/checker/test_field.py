"""Fractions of generators against Python's at random points: sums, products, quotients, and what is zero."""

from __future__ import annotations

import operator
import random
from fractions import Fraction

import pytest

from symgrad.checker.clock import now
from symgrad.checker.extension_field.extension import ExtensionField
from symgrad.checker.extension_field.field import FractionField, GiveUp
from symgrad.checker.extension_field.generators import to_fraction
from symgrad.checker.numbers import rational
from symgrad.verification.search.steps import Search

ROOT = Fraction(3, 2)  # k**2 is its square


OPERATIONS = {
    operator.add: lambda k, a, b: k.field.add(a, b),
    operator.sub: lambda k, a, b: k.field.sub(a, b),
    operator.mul: lambda k, a, b: k.field.mul(a, b),
    operator.truediv: lambda k, a, b: k.div(a, b),
}


@pytest.fixture
def kernels() -> ExtensionField:
    field = FractionField(5, now() + 20)
    for name in "xyz":
        field.generator(name)
    k = field.generator("k")
    field.add_relation(k, 2, k * k - rational(ROOT**2))
    return ExtensionField(field, Search({}))


def value_of(field, h, point):
    total = Fraction(0)
    for exponents, c in h.terms():
        term = to_fraction(c)
        for position, e in enumerate(exponents):
            term *= point[position] ** int(e)
        total += term
    return total


def value(field, a, point):
    found = value_of(field, a.num, point)
    for i, e in a.den:
        assert e > 0
        found /= value_of(field, field.factors[i], point) ** e
    return found


@pytest.mark.parametrize("seed", range(8))
def test_random_fractions(kernels, seed):
    rng, F = random.Random(seed), kernels.field
    gens = [F.ring.gen(F.capacity - 1 - k) for k in range(4)]
    points = []
    for _ in range(3):
        point = [Fraction(rng.randrange(1, 999), 997) for _ in range(F.capacity)]
        point[F.index(gens[3])] = ROOT
        points.append(point)
    known = [(F.poly(g), [p[F.index(g)] for p in points]) for g in gens]
    known.append((F.constant(Fraction(2, 3)), [Fraction(2, 3)] * 3))
    for _ in range(30):
        (a, at_a), (b, at_b) = rng.sample(known, 2)
        if len(a.num) + len(b.num) > 40:
            continue
        op = rng.choice(list(OPERATIONS))
        if op is operator.truediv and (F.is_zero(b) or 0 in at_b or len(b.num) > 6):
            continue
        made = OPERATIONS[op](kernels, a, b)
        wanted = [op(x, y) for x, y in zip(at_a, at_b, strict=True)]
        assert [value(F, made, p) for p in points] == wanted
        known.append((made, wanted))
        assert F.is_zero(F.sub(made, made))
        two = F.sub(F.add(made, F.constant(2)), made)
        assert F.is_zero(F.sub(two, F.constant(2)))
        polynomials = [made.num, *(F.factors[i] for i, _ in made.den)]
        free = not any(h.degrees()[F.index(gens[3])] for h in polynomials)
        assert F.number(two) == 2 or not free  # without a relation it is in lowest terms
        if 0 not in wanted and not F.is_zero(made) and len(made.num) <= 6:
            one = F.mul(made, kernels.inverse(made))
            assert F.is_zero(F.sub(one, F.constant(1)))
            assert F.number(one) == 1 or not free
            assert value(F, kernels.integer_power(made, -2), points[0]) == wanted[0] ** -2
        for other, at in known[:-1]:
            if F.equal(made, other):
                assert at == wanted


@pytest.mark.parametrize("op", OPERATIONS.values(), ids=[op.__name__ for op in OPERATIONS])
def test_every_operation_ends_at_the_time_limit(kernels, op):
    """Also sums, of which a program may have many and nothing else."""
    F = kernels.field
    x, y = (F.poly(F.ring.gen(F.capacity - 1 - k)) for k in range(2))
    over = kernels.div(x, F.add(y, F.constant(1)))
    for a, b in [(x, y), (over, over), (over, y)]:
        op(kernels, a, b)
        F.budget.deadline = now() - 1
        with pytest.raises(GiveUp, match="time limit"):
            op(kernels, a, b)
        F.budget.deadline += 100


def test_a_relation_makes_zero(kernels):
    F = kernels.field
    x, k = F.poly(F.ring.gen(F.capacity - 1)), F.poly(F.ring.gen(F.capacity - 4))
    left = F.mul(F.add(x, k), F.sub(x, k))
    right = F.sub(F.mul(x, x), F.constant(ROOT**2))
    assert F.equal(left, right)
    assert F.is_zero(F.sub(left, right))
    assert not F.equal(left, F.mul(x, x))
    assert F.number(F.mul(k, k)) == rational(ROOT**2)
