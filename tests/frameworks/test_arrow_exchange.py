"""Calls with Arrow's arrays: data alone, whose results are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

import symgrad as sg  # noqa: E402
from symgrad.errors import ArrayTypeError  # noqa: E402
from symgrad.ir.values.exchange import as_array  # noqa: E402

P = sg.parse("x : real\nu : real\nz = sin(x)*u")
Q = sg.parse("X : real[n, d]\nv : real[d]\nc : bool[n]\ns = sum(where(c, X@v, 0))")
KERNEL = sg.compile(P["z"])


def test_arrays_are_read_where_they_lie() -> None:
    x = pa.array(np.linspace(0, 1, 100))
    (_, data) = x.buffers()
    assert as_array("x", x).ctypes.data == data.address
    sliced = x[3:7]
    assert as_array("x", sliced).ctypes.data == data.address + 24
    found = KERNEL(sliced, 2.0)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, KERNEL(np.asarray(sliced), 2.0))


def test_chunks_tensors_conditions_and_buffers() -> None:
    assert KERNEL(pa.chunked_array([[0.0], [1.0, 2.0]]), 1.0).shape == (3,)
    X = np.arange(6.0).reshape(3, 2)
    tensor = pa.Tensor.from_numpy(X)
    assert np.shares_memory(as_array("X", tensor), X)
    conditions = pa.array([True, False, True])
    expected = Q["s"](X=X, v=[1.0, 2.0], c=[True, False, True])
    assert sg.compile(Q["s"], ["X", "v", "c"])(tensor, pa.array([1.0, 2.0]), conditions) == expected
    buffer = pa.array([1.0, 2.0]).buffers()[1]
    assert KERNEL(np.frombuffer(buffer), 1.0).shape == (2,)
    with pytest.raises(ArrayTypeError, match=r"a pyarrow\.Buffer: bytes, of no dtype") as e:
        KERNEL(buffer, 1.0)
    assert "numpy.frombuffer(x" in str(e.value.cure)


@pytest.mark.parametrize(
    "missing", [pa.array([1.0, None]), pa.chunked_array([[1.0], [None]]), pa.array([1, None])]
)
def test_missing_values_are_no_nan(missing: object) -> None:
    with pytest.raises(ArrayTypeError, match=r"with 1 null\(s\)") as e:
        KERNEL(missing, 1.0)
    assert "fill_null" in str(e.value.cure)


def test_what_is_no_number() -> None:
    with pytest.raises(ArrayTypeError, match="dtype is object"):
        KERNEL(pa.array(["a"]), 1.0)


def test_beside_another_library_data_is_data() -> None:
    torch = pytest.importorskip("torch")
    assert isinstance(KERNEL(pa.array([1.0, 2.0]), torch.ones(2, dtype=torch.float64)), torch.Tensor)
