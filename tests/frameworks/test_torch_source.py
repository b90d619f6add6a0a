"""Generated source in torch: values, gradients and second derivatives are symgrad's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.frameworks.runners import by_torch
from tests.frameworks.sources import CASES, all_wrong, at_hard_points


@pytest.mark.parametrize("kind", CASES)
def test_with_its_gradient(kind):
    assert not all_wrong("torch", by_torch, kind, 1)


@pytest.mark.parametrize("kind", ["random graphs", "array programs"])
def test_with_two_orders(kind):
    assert not all_wrong("torch", by_torch, kind, 2)


def test_plain_operations():
    assert not all_wrong("torch", by_torch, "random graphs", 0)
    assert not all_wrong("torch", by_torch, "whole programs", 0)


# Poles and ends of domains, where the framework's function has its own mind.
OWN_MIND = "asech lgamma digamma"


def test_hard_points():
    for name, points, mine, ours in at_hard_points("torch", torch.tensor):
        if name not in OWN_MIND.split():
            tiny = (np.abs(mine * 1.0) < 1e-200) & (np.abs(ours * 1.0) < 1e-200)  # flushed to zero
            same = np.isclose(mine, ours, rtol=1e-9, atol=0, equal_nan=True) | tiny
            assert np.all(same), (name, [p[~same] for p in points], mine[~same], ours[~same])
