"""Generated source in JAX: values, gradients and second derivatives are symgrad's."""

from __future__ import annotations

import jax
import pytest

from tests.frameworks.runners import by_jax
from tests.frameworks.sources import CASES, all_wrong, assert_like_ours_at_hard_points


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("kind", CASES)
def test_with_its_gradient(kind):
    assert not all_wrong("jax", by_jax, kind, 1)


@pytest.mark.parametrize("kind", ["random graphs"])
def test_with_two_orders(kind):
    assert not all_wrong("jax", by_jax, kind, 2)


def test_plain_operations():
    assert not all_wrong("jax", by_jax, "random graphs", 0)
    assert not all_wrong("jax", by_jax, "recurrences", 0)
    assert not all_wrong("jax", by_jax, "whole programs", 0)


def test_hard_points():
    assert_like_ours_at_hard_points("jax", jax.numpy.asarray, "asech", "lgamma")
