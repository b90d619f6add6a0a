"""Arrays of other libraries in calls: by protocol, without copies, with results of the same library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArrayTypeError, MissingInputError, ShapeError, UnsupportedError
from symgrad.ir.values.exchange import as_array
from tests.processes import printed

P = sg.parse("x : real\nu : real\nz = sin(x)*u\nw = x + u")
Q = sg.parse("X : real[n, 2]\nv : real[2]\ni : int\ns = sum((X@v)**2)*i")
ELEMENTWISE = sg.compile([P["z"], P["w"]], ["x", "u"])
ARRAYS = sg.compile([Q["s"], sg.grad(Q["s"], Q["v"])], ["X", "v", "i"])


class Interface:
    """An array that has `__array_interface__` alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


class Lent:
    """An array that has DLPack alone; it remembers whether it was asked."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.place, self.asked = array, device, 0

    def __dlpack__(self, **how: Any) -> Any:
        self.asked += 1
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place


class Spaced(Lent):
    """An array of a library that has the namespace of the array API."""

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __array__(self, *args: Any, **options: Any) -> np.ndarray:
        return self.array

    def __array_namespace__(self, **options: Any) -> Any:
        return Namespace


class Namespace:
    narrow = False

    @classmethod
    def from_dlpack(cls, array: Any) -> Spaced:
        found = np.from_dlpack(array)
        return Spaced(found.astype(np.float32) if cls.narrow and found.dtype == float else found)


class Strange(Spaced):
    """Of another library than Spaced."""


Strange.__module__ = "strange.arrays"


@pytest.mark.parametrize("kind", [Interface, Lent, Spaced])
def test_arrays_are_read_where_they_lie(kind: Any) -> None:
    base = np.linspace(0, 1, 5)
    assert np.shares_memory(as_array("x", kind(base)), base)


@pytest.mark.parametrize("kind", [Interface, Lent])
def test_protocols_without_a_library_give_numpys_arrays(kind: Any) -> None:
    x, X = np.linspace(0, 1, 5), np.arange(6.0).reshape(3, 2)
    for expected, found in zip(ELEMENTWISE(x, 2.0), ELEMENTWISE(kind(x), 2.0), strict=True):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)
    for expected, found in zip(ARRAYS(X, [1.0, 2.0], 3), ARRAYS(kind(X), [1.0, 2.0], 3), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(P["z"](x=kind(x), u=2.0), P["z"](x=x, u=2.0))


@pytest.mark.parametrize("layout", ["reversed", "strided", "fortran", "read-only", "empty", "no axes"])
def test_layouts(layout: str) -> None:
    base = np.arange(24.0).reshape(4, 6)
    array = {
        "reversed": base[::-1],
        "strided": base[::2, 1::3],
        "fortran": np.asfortranarray(base),
        "read-only": base.copy(),
        "empty": base[:0],
        "no axes": np.array(3.0),
    }[layout]
    if layout == "read-only":
        array.flags.writeable = False
    for expected, found in zip(ELEMENTWISE(array, 2.0), ELEMENTWISE(Spaced(array), 2.0), strict=True):
        assert type(found) is Spaced
        np.testing.assert_array_equal(found.array, expected)


def test_results_are_of_the_library() -> None:
    x = np.linspace(0, 1, 5)
    for call in (ELEMENTWISE, sg.compile([P["w"], P["z"]], ["x", "u"])):
        for _ in range(3):  # the first call, and the direct ones after it
            assert [type(r) for r in call(Spaced(x), 2.0)] == [Spaced, Spaced]
            assert [type(r) for r in call(x, Spaced(x))] == [Spaced, Spaced]
            assert [type(r) for r in call(u=Spaced(x), x=1)] == [Spaced, Spaced]
            assert [type(r) for r in call(x, 2.0)] == [np.ndarray, np.ndarray]
    found = sg.compile(P["z"])(Spaced(np.array(2.0)), 1)
    assert type(found) is Spaced
    assert found.array.shape == ()
    assert type(P["z"](Spaced(x), u=1)) is Spaced


def test_a_kernel_that_is_no_ufunc() -> None:
    x = np.linspace(0, 1, 7)
    names = [f"x{k}" for k in range(70)]
    many = sg.compile(sum(sg.symbols(" ".join(names))), names)
    found = many(*[Spaced(x)] * 70)
    assert type(found) is Spaced
    np.testing.assert_allclose(found.array, 70 * x, rtol=1e-14)


def test_results_stay_when_the_kernel_is_called_again() -> None:
    x = np.linspace(0, 1, 100_000)  # large results are used again when nobody holds them
    kept = [ELEMENTWISE(Spaced(x), float(k))[0] for k in range(6)]
    for k, found in enumerate(kept):
        np.testing.assert_array_equal(found.array, ELEMENTWISE(x, float(k))[0])


def test_results_never_share_what_may_only_be_read() -> None:
    x = np.ones(3)
    x.flags.writeable = False
    found = sg.symbols("x")(x=Spaced(x))
    assert not np.shares_memory(found.array, x)


def test_out_is_written_and_returned() -> None:
    x = np.linspace(0, 1, 5)
    expected = ELEMENTWISE(x, 2.0)
    for inputs in ((x, 2.0), (Spaced(x), 2.0)):
        for _ in range(3):
            outs = Spaced(np.empty(5)), Spaced(np.empty(5))
            found = ELEMENTWISE(*inputs, out=outs)
            assert found[0] is outs[0]
            assert found[1] is outs[1]
            np.testing.assert_array_equal(outs[0].array, expected[0])
            found = ELEMENTWISE(*inputs, out=(None, outs[1]))
            assert type(found[0]) is Spaced
            assert found[1] is outs[1]
    one, target = sg.compile(P["w"]), Spaced(np.empty(5))
    assert one(x, 1.0, out=target) is target
    np.testing.assert_array_equal(target.array, x + 1)
    own = np.empty(2)
    X = Spaced(np.ones((3, 2)))
    found = ARRAYS(X, np.ones(2), 1, out=(None, own))
    assert found[1] is own
    np.testing.assert_array_equal(own, ARRAYS(np.ones((3, 2)), np.ones(2), 1)[1])


def test_out_that_may_only_be_read() -> None:
    frozen = np.empty(3)
    frozen.flags.writeable = False
    with pytest.raises(ArrayTypeError, match=r"out= is a .*Spaced of dtype float64, which may only be read"):
        ELEMENTWISE(np.ones(3), 1.0, out=(Spaced(frozen), None))


def test_where_of_a_library() -> None:
    x, mask = np.ones(3), np.array([True, False, True])
    expected = ELEMENTWISE(x, 2.0, where=mask)
    found = ELEMENTWISE(Spaced(x), 2.0, where=Spaced(mask))
    np.testing.assert_array_equal(found[0].array, expected[0])
    np.testing.assert_array_equal(ELEMENTWISE(x, 2.0, where=Spaced(mask))[0], expected[0])


@pytest.mark.parametrize(("number", "name"), [(2, "CUDA"), (10, "ROCm"), (99, "a device of kind 99")])
def test_other_devices_are_refused_by_name(number: int, name: str) -> None:
    value = Lent(np.ones(3), (number, 0))
    for call in (lambda: ELEMENTWISE(value, 1.0), lambda: ARRAYS(np.ones((3, 2)), value, 1)):
        with pytest.raises(ArrayTypeError, match=f"is a .*Lent on {name}, and symgrad computes on the CPU"):
            call()
    with pytest.raises(ArrayTypeError, match=r"input 'u' is a .*Lent on"):
        P["z"](x=1.0, u=value)
    assert not value.asked


def test_the_memory_of_a_gpu_without_dlpack() -> None:
    class Cuda:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (0, False), "version": 3}  # noqa: RUF012

    with pytest.raises(ArrayTypeError, match="Cuda on CUDA"):
        ELEMENTWISE(Cuda(), 1.0)


def test_a_device_that_has_no_number() -> None:
    class Lost(Lent):
        def __dlpack_device__(self) -> tuple[int, int]:
            raise BufferError("spread over two devices\nmore")

    with pytest.raises(
        ArrayTypeError, match="Lost on no device that can be read: spread over two devices"
    ) as e:
        ELEMENTWISE(Lost(np.ones(3)), 1.0)
    assert "more" not in str(e.value)


def test_what_cannot_be_read_is_said() -> None:
    class Broken(Lent):
        def __dlpack__(self, **how: Any) -> Any:
            raise RuntimeError("no storage")

    with pytest.raises(ArrayTypeError, match="Broken, which NumPy cannot read: no storage"):
        ELEMENTWISE(Broken(np.ones(3)), 1.0)
    with pytest.raises(ArrayTypeError, match="which NumPy cannot read: no storage"):
        P["z"](x=Broken(np.ones(3)), u=1.0)


def test_numbers_that_numpy_does_not_have() -> None:
    with pytest.raises(ArrayTypeError, match="Interface, which NumPy has no numbers of"):
        ELEMENTWISE(Interface(np.zeros(3, "V2")), 1.0)


def test_two_libraries_in_one_call() -> None:
    x = np.ones(3)
    with pytest.raises(ArrayTypeError, match=r"arrays of .* and of strange in one call") as e:
        ELEMENTWISE(Spaced(x), Strange(x))
    assert "numpy.asarray" in str(e.value.cure)
    with pytest.raises(ArrayTypeError, match="in one call"):
        P["z"](x=Strange(x), u=Spaced(x))


def test_results_that_a_library_would_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Namespace, "narrow", True)
    with pytest.raises(ArrayTypeError, match="results are float64, which tests would round to float32") as e:
        ELEMENTWISE(Spaced(np.ones(3, np.float32)), 1.0)
    assert 'dtype="float32"' in str(e.value.cure)
    narrow = sg.compile(P["z"], dtype="float32")
    assert narrow(Spaced(np.ones(3, np.float32)), 1).dtype == np.float32


def test_errors_of_a_call_are_those_of_numpys_arrays() -> None:
    x = Spaced(np.ones(3))
    with pytest.raises(ShapeError, match="do not broadcast"):
        ELEMENTWISE(x, np.ones(2))
    with pytest.raises(ShapeError, match="input 'X' has shape"):
        ARRAYS(x, np.ones(2), 1)
    with pytest.raises(MissingInputError, match="no value for u"):
        ELEMENTWISE(x)
    with pytest.raises(ArrayTypeError, match=r"one of its values is 0\.5"):
        ARRAYS(np.ones((3, 2)), np.ones(2), Spaced(np.array(0.5)))
    with pytest.raises(ArrayTypeError, match="input 'x' is float64, but the kernel computes in float32"):
        sg.compile(P["z"], dtype="float32")(x, 1)
    with pytest.raises(ArrayTypeError, match="input 'x' is a formula"):
        ELEMENTWISE(P["z"], x)
    with pytest.raises(UnsupportedError, match="an expression is not an array"):
        P["z"](x=P["z"], u=1)


def test_sizes_by_name_beside_arrays_of_a_library() -> None:
    p = sg.parse("n : size\nx : real\ny = sum(x*ones(n))")
    assert p["y"](x=Spaced(np.array(2.0)), n=3).array == 6.0


def test_nothing_is_imported() -> None:
    code = (
        "import sys, numpy as np, symgrad as sg\nfrom tests.compiler.kernels.test_exchange import Spaced, ELEMENTWISE\n"
        "ELEMENTWISE(Spaced(np.ones(3)), 1.0)\n"
        "print([n for n in ('torch', 'jax', 'tensorflow', 'keras', 'pyarrow') if n in sys.modules])"
    )
    assert printed(code) == "[]\n"
