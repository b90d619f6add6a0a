"""Calls with tensors: what comes back, what is shared, what is refused and how it is told."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArrayTypeError, ComplexInputError
from symgrad.ir.values.exchange import as_array

torch: Any = import_module("torch")

P = sg.parse("x : real\nu : real\nz = sin(x)*u\nb = x > u")
Q = sg.parse("X : real[n, d]\nv : real[d]\ni : int[n]\nc : bool\ns = sum(where(c, (X@v)[i]**2, 0))")
Z = [P["z"], sg.grad(P["z"], P["x"])]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (0,), (2, 3)])
def test_torch_in_torch_out(dtype: str, shape: tuple[int, ...]) -> None:
    kernel = sg.compile(Z, ["x", "u"], dtype=dtype)
    x = torch.linspace(0, 1, max(int(np.prod(shape)), 1), dtype=getattr(torch, dtype))[: int(np.prod(shape))]
    x = x.reshape(shape)
    expected = torch.sin(x) * 2, torch.cos(x) * 2
    for _ in range(3):
        for found, wanted in zip(kernel(x, 2), expected, strict=True):
            assert found.dtype == x.dtype
            torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)


def test_views_of_tensors_are_not_copied() -> None:
    x = torch.arange(12.0, dtype=torch.float64).reshape(3, 4)
    for tensor in (x, x.T, x[1:, ::2], x[0, 0], torch.nn.Parameter(x).detach()):
        seen = as_array("x", tensor)
        np.testing.assert_array_equal(seen, np.asarray(tensor))
        assert not seen.ndim or np.shares_memory(seen, x.numpy())


def test_results_are_not_copied() -> None:
    from symgrad.ir.values.exchange import library_of

    library = library_of([torch.ones(1)])
    result = np.ones(1000)
    assert library is not None
    assert library.give(result, None).data_ptr() == result.ctypes.data


def test_array_programs_with_whole_numbers_and_conditions() -> None:
    kernel = sg.compile([Q["s"], sg.grad(Q["s"], Q["X"])], ["X", "v", "i", "c"])
    X, v = torch.rand(3, 2, dtype=torch.float64), torch.rand(2, dtype=torch.float64)
    i, c = torch.tensor([2, 0, 2]), torch.tensor(True)
    value, slope = kernel(X, v, i, c)
    Y = X.clone().requires_grad_()
    wanted = ((Y @ v)[i] ** 2).sum()
    torch.testing.assert_close(value, wanted.detach())
    torch.testing.assert_close(slope, torch.autograd.grad(wanted, Y)[0])
    torch.testing.assert_close(Q["s"](X=X, v=v, i=i, c=c), value)
    assert kernel(X.float(), v, i.int(), True)[0].dtype == torch.float64  # narrower numbers are exact


def test_results_that_are_conditions() -> None:
    assert sg.compile(P["b"])(torch.tensor([1.0, 3.0]), 2.0).tolist() == [False, True]


def test_a_tensor_whose_gradient_is_waited_for_is_refused() -> None:
    x = torch.ones(3, requires_grad=True)
    kernel = sg.compile(P["z"])
    for call in (lambda: kernel(x, 1.0), lambda: P["z"](x=x, u=1), lambda: kernel(torch.nn.Parameter(x), 1)):
        with pytest.raises(ArrayTypeError, match="that requires grad") as e:
            call()
        assert "sg.to_torch" in str(e.value.cure)
        assert "x.detach()" in str(e.value.cure)
    with torch.no_grad():
        assert kernel(x, 1.0).requires_grad is False
    assert kernel(x.detach(), 1.0).requires_grad is False


@pytest.mark.parametrize(
    ("tensor", "says", "cure"),
    [
        (torch.ones(3, dtype=torch.bfloat16), "of dtype bfloat16", "x.float()"),
        (torch.ones(3, device="meta"), "on no device that can be read", "give x values"),
        (torch.eye(3).to_sparse(), "cannot read", "x.to_dense()"),
        (torch._neg_view(torch.ones(3)), "cannot read", "resolve_neg"),
    ],
)
def test_what_cannot_be_read(tensor: Any, says: str, cure: str) -> None:
    for call in (lambda: sg.compile(P["z"])(tensor, 1.0), lambda: P["z"](x=tensor, u=1.0)):
        with pytest.raises(ArrayTypeError, match=says) as e:
            call()
        assert cure in str(e.value.cure)


def test_complex_numbers() -> None:
    with pytest.raises(ComplexInputError, match="'x' is complex"):
        sg.compile(P["z"])(torch.ones(3, dtype=torch.complex64), 1.0)


def test_cuda_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cuda(torch.Tensor):
        device = torch.device("cuda:1")

        def __dlpack_device__(self):
            return (2, 1)

    tensor = torch.ones(3).as_subclass(Cuda)
    with pytest.raises(ArrayTypeError, match="on cuda:1, and symgrad computes on the CPU"):
        sg.compile(P["z"])(tensor, 1.0)


def test_transformations_of_torch_are_told_what_there_is_for_them() -> None:
    kernel = sg.compile(P["z"])
    with pytest.raises(ArrayTypeError, match="in a function that torch transforms") as e:
        torch.func.vmap(lambda x: kernel(x, 1.0))(torch.ones(2, 3))
    assert "sg.to_torch" in str(e.value.cure)
    with pytest.raises(ArrayTypeError, match="that requires grad"):
        torch.func.grad(lambda x: kernel(x, 1.0).sum())(torch.ones(3))


def test_out_is_a_tensor() -> None:
    kernel, x = sg.compile(P["z"]), torch.linspace(0, 1, 5, dtype=torch.float64)
    out = torch.empty(5, dtype=torch.float64)
    for inputs in ((x, 2.0), (x.numpy(), 2.0)):
        assert kernel(*inputs, out=out) is out
        torch.testing.assert_close(out, torch.sin(x) * 2)
    assert kernel(x, 2.0, out=x) is x  # in place
    torch.testing.assert_close(x, out)


def test_a_result_is_never_written_to_again() -> None:
    kernel, x = sg.compile(Z, ["x", "u"]), torch.linspace(0, 1, 50_000, dtype=torch.float64)
    kept = [kernel(x, float(k)) for k in range(5)]
    for k, (value, _) in enumerate(kept):
        torch.testing.assert_close(value, torch.sin(x) * k)
