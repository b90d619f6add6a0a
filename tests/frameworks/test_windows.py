"""Windows against NumPy's, convolutions against sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import ShapeError, UnsupportedError
from symgrad.interop.importers.windows import convolved, dilated, padded, windows

RNG = np.random.default_rng(5)


def reference(x, w, strides, padding, dilations, groups):
    x = np.pad(x, [(0, 0), (0, 0), *padding])
    features, per = w.shape[0] // groups, w.shape[1]
    space = [
        (x.shape[2 + k] - (w.shape[2 + k] - 1) * dilations[k] - 1) // strides[k] + 1
        for k in range(len(strides))
    ]
    out = np.zeros((x.shape[0], w.shape[0], *space))
    for o in range(w.shape[0]):
        g = o // features
        for position in np.ndindex(*space):
            for place in np.ndindex(*w.shape[2:]):
                at = tuple(
                    p * s + q * d for p, s, q, d in zip(position, strides, place, dilations, strict=True)
                )
                seen = x[(slice(None), slice(g * per, (g + 1) * per), *at)]
                out[(slice(None), o, *position)] += seen @ w[(o, slice(None), *place)]
    return out


@given(st.data())
def test_convolutions_of_every_kind(data):
    rank = data.draw(st.integers(1, 2))
    groups = data.draw(st.sampled_from([1, 2, 3]))
    pick = lambda low, high: [data.draw(st.integers(low, high)) for _ in range(rank)]  # noqa: E731
    lengths, strides, dilations = pick(1, 3), pick(1, 3), pick(1, 2)
    padding = list(zip(pick(0, 2), pick(0, 2), strict=True))
    sizes = [n + (k - 1) * d for n, k, d in zip(pick(1, 4), lengths, dilations, strict=True)]
    x = RNG.normal(size=(2, 2 * groups, *sizes))
    w = RNG.normal(size=(groups * data.draw(st.integers(1, 2)), 2, *lengths))
    y = convolved(sg.tensor("x", x.shape), sg.tensor("w", w.shape), strides, padding, dilations, groups)
    expected = reference(x, w, strides, padding, dilations, groups)
    assert y.shape == expected.shape
    np.testing.assert_allclose(y(x=x, w=w), expected, rtol=1e-12, atol=1e-12)


def test_gradients_of_a_convolution_are_its_difference_quotients():
    shapes = {"x": (1, 2, 4, 3), "w": (2, 2, 2, 2)}
    x, w = (sg.tensor(name, shape) for name, shape in shapes.items())
    y = sg.sum(sg.sin(convolved(x, w, [2, 1], [(1, 0), (0, 1)])))
    values = {name: RNG.normal(size=shape) for name, shape in shapes.items()}
    for name, gradient in zip(values, sg.grad(y, [x, w]), strict=True):
        found = gradient(**values)
        for place in np.ndindex(*values[name].shape):
            moved = []
            for step in (1e-6, -1e-6):
                other = values[name].copy()
                other[place] += step
                moved.append(y(**values | {name: other}))
            assert found[place] == pytest.approx((moved[0] - moved[1]) / 2e-6, abs=1e-8)


def test_windows_are_numpys():
    x = RNG.normal(size=(2, 7))
    seen = windows(sg.tensor("x", (2, 7)), [1], [3], [1], [1])
    np.testing.assert_array_equal(seen(x=x), np.lib.stride_tricks.sliding_window_view(x, 3, axis=1))


def test_padding_takes_entries_away_too():
    x = np.arange(5.0)
    assert padded(sg.tensor("x", (5,)), [0], [(-1, 2)], 7)(x=x).tolist() == [1, 2, 3, 4, 7, 7]
    assert padded(sg.tensor("x", (5,)), [0], [(1, -2)])(x=x).tolist() == [0, 0, 1, 2]


def test_zeros_between_entries():
    assert dilated(sg.tensor("x", (3,)), [0], [3])(x=[1.0, 2.0, 3.0]).tolist() == [1, 0, 0, 2, 0, 0, 3]
    assert dilated(sg.tensor("x", (1, 2)), [0, 1], [2, 2])(x=[[1.0, 2.0]]).tolist() == [[1, 0, 2]]


def test_a_window_longer_than_its_axis_is_refused():
    with pytest.raises(ShapeError, match="a window over 3 entries of an axis of 2"):
        windows(sg.tensor("x", (2,)), [0], [2], [1], [2])


def test_a_named_size_is_refused():
    with pytest.raises(UnsupportedError, match="windows over an axis of n entries"):
        windows(sg.tensor("x", ("n",)), [0], [2], [1], [1])
