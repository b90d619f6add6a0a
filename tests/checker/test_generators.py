"""Between which numbers the generators of a proof are, and what never vanishes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symgrad.checker.clock import now
from symgrad.checker.extension_field.field import FractionField
from symgrad.checker.extension_field.functions import Functions
from symgrad.verification.search.steps import Search


@pytest.fixture
def kernels() -> Functions:
    return Functions(FractionField(16, now() + 10), Search({}))


def test_a_kernel_may_take_the_values_that_bound_it(kernels):
    f = kernels.opaque("f", kernels.symbol("x", None, None)).num
    kernels.bounds[kernels.field.index(f)] = Fraction(0), Fraction(1)
    assert not kernels.never_zero(1 - f)
    assert not kernels.never_zero(f)
    assert kernels.never_zero(1 + f)


def test_a_variable_does_not_take_the_ends_of_its_domain(kernels):
    p, t = kernels.symbol("p", Fraction(0), None).num, kernels.symbol("t", Fraction(0), Fraction(1)).num
    x = kernels.symbol("x", None, None).num
    assert kernels.never_zero(p)
    assert kernels.never_zero(1 - t)
    assert kernels.never_zero(1 - t * t)
    assert kernels.never_zero(p + x**2)
    assert not kernels.never_zero(p * x**2)
    assert not kernels.never_zero(x**2)
    assert not kernels.never_zero(x)
    assert not kernels.never_zero(p - t)


def test_the_root_of_a_prime_is_not_where_it_is_bounded(kernels):
    root = kernels.sqrt(kernels.field.constant(2)).num
    assert kernels.never_zero(root - 1)
    assert kernels.never_zero(2 - root)


@pytest.mark.usefixtures("ends")
def test_ranges_of_high_powers_take_no_time(kernels):
    u = kernels.symbol("u", Fraction(1, 3), Fraction(2, 3)).num
    low, high = kernels.range(u**262_144)
    assert low is not None
    assert low >= 0
    assert high is None or high > 0
    assert kernels.range(-(u**262_145))[1] == 0
