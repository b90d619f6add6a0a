"""Generated source in TensorFlow: values, gradients and second derivatives are symgrad's."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tests.frameworks.runners import by_tensorflow
from tests.frameworks.sources import CASES, all_wrong, assert_like_ours_at_hard_points


@pytest.mark.parametrize("kind", CASES)
def test_with_its_gradient(kind):
    assert not all_wrong("tensorflow", by_tensorflow, kind, 1)


@pytest.mark.parametrize("kind", ["random graphs", "array programs"])
def test_with_two_orders(kind):
    assert not all_wrong("tensorflow", by_tensorflow, kind, 2)


def test_plain_operations():
    assert not all_wrong("tensorflow", by_tensorflow, "random graphs", 0)
    assert not all_wrong("tensorflow", by_tensorflow, "recurrences", 0)
    assert not all_wrong("tensorflow", by_tensorflow, "whole programs", 0)


def test_hard_points():
    assert_like_ours_at_hard_points(
        "tensorflow", tf.constant, "asech", "lgamma", "dawsn", "erfinv", "fresnels", "fresnelc", "hypot"
    )
