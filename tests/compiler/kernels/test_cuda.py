"""Kernels for GPUs, called: with a stand-in for the driver that computes here, and on a GPU where there is one."""

from __future__ import annotations

import copy
import ctypes
import pickle
import sys
import types
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.gpu.launch.cuda_kernel import CudaKernel
from symgrad.compiler.gpu.launch.driver import CudaDriver, driver
from symgrad.compiler.gpu.launch.launch_geometry import grid_size, split_launches
from symgrad.errors import (
    ArrayTypeError,
    KernelError,
    MissingInputError,
    ShapeError,
    UnsupportedError,
    UsageError,
)
from tests.compiler.kernels.c_libraries import as_c_has_it
from tests.compiler.kernels.formulas import same_bits
from tests.compiler.kernels.grids import Emulated

TEXT = "x : real\nb : bool\nu : real\nz = where(b, exp(-x**2)*sin(u), x/u)"


class GpuArray:
    """An array of a library on a GPU, as far as its interface tells: in this machine's memory."""

    def __init__(self, array: np.ndarray, stream: int | None = None) -> None:
        self.array = array
        self.device = self
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, not array.flags.writeable),
            "strides": None if array.flags.c_contiguous else array.strides,
            "version": 3,
            "stream": stream,
        }

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class Recording:
    """A driver that computes on this machine what is launched, with few threads, and notes it."""

    def __init__(self, emulated: Emulated) -> None:
        self._emulated = emulated
        self.launched: list[tuple[str, tuple[int, int], tuple[int, int], int]] = []
        self.waits: list[tuple[int, int]] = []
        self.loaded = 0
        self.names: list[str] = []

    def device_of(self, address: int) -> int:
        assert address
        return 3

    def processors(self, device: int) -> int:
        assert device == 3
        return 2

    def load(self, device: int, ptx: str, names: Sequence[str]) -> list[int]:
        assert all(f".entry {name}(" in ptx for name in names)
        self.loaded += 1
        self.names = list(names)
        return list(range(len(names)))

    def launch(
        self, device: int, function: int, blocks: Any, threads: Any, stream: int, given: Sequence[int]
    ) -> None:
        name = self.names[function].replace("kernel", "k")
        self.launched.append((name, blocks, threads, stream))
        assert threads[0] * threads[1] <= 1024
        arguments = [ctypes.c_int64(g - 2**64 if g >= 2**63 else g) for g in given]
        # Any grid gives the same: a small one is quicker here.
        self._emulated.launch(name, (min(blocks[0], 2), min(blocks[1], 2)), 3, arguments)

    def wait(self, device: int, stream: int, other: int) -> None:
        self.waits.append((stream, other))

    def finish(self, device: int, stream: int) -> None:
        raise AssertionError("no library of these is waited for")


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library with the functions that results need."""
    there: Any = types.ModuleType("cupy")
    there.empty = lambda shape, kind: GpuArray(np.full(shape, 7, kind))
    there.cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=44))
    monkeypatch.setitem(sys.modules, "cupy", there)
    monkeypatch.setattr(GpuArray, "__module__", "cupy.core")


def made(text: str = TEXT, **how: Any) -> tuple[CudaKernel, Any, Recording]:
    p = sg.parse(text)
    outputs = [p["z"], sg.grad(p["z"], p["x"])]
    cpu = sg.compile(outputs, **how)
    kernel: Any = sg.compile(outputs, target="cuda", **how)
    gpu = Recording(Emulated(cpu, neighbours=16 // cpu.dtype.itemsize))
    kernel._gpu = gpu
    return kernel, cpu, gpu


def check(found: Any, cpu: Any, arrays: Sequence[Any], shape: tuple[int, ...]) -> None:
    flat = [np.broadcast_to(np.asarray(a, k), shape).ravel() for a, k in zip(arrays, cpu.kinds, strict=False)]
    for a, w in zip(found, as_c_has_it(cpu, fused=True, arrays=flat), strict=True):
        assert a.array.shape == shape
        assert same_bits(a.array.ravel(), w)


def data(shape: tuple[int, ...], dtype: str = "float64") -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=shape).astype(dtype)
    return [x, x > 0.2, rng.uniform(0.5, 1.5, shape).astype(dtype)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_call_on_whole_arrays_is_one_launch(dtype: str, cupy: None) -> None:
    kernel, cpu, gpu = made(dtype=dtype)
    arrays = data((3, 4, 5), dtype)
    for _ in range(2):
        check(kernel(*map(GpuArray, arrays)), cpu, arrays, (3, 4, 5))
    assert gpu.launched == [("k", (1, 1), (64, 1), 44)] * 2
    assert gpu.loaded == 1
    named = kernel(*map(GpuArray, arrays[:2]), u=GpuArray(arrays[2]))
    check(named, cpu, arrays, (3, 4, 5))


def test_layouts_numbers_and_broadcasting(cupy: None) -> None:
    kernel, cpu, gpu = made()
    x, b, u = data((6, 7))
    cases: list[tuple[list[Any], tuple[int, ...], int]] = [
        ([x.T.copy().T, b, u], (6, 7), 1),
        ([x[::2, ::-1], b[::2], u[::-2]], (3, 7), 1),
        ([x, b, 0.75], (6, 7), 1),
        ([x, True, u[:1]], (6, 7), 1),
        ([x[:, :1], b[:1], 2], (6, 7), 1),
        ([x[0], b, u], (6, 7), 1),
        ([np.array(0.5), b, u], (6, 7), 1),
        ([x[:, None, :1], b[:, :, None][:, :3], u[0, :4]], (6, 3, 4), 3),
        ([x[:2, None, :5, None], b[0, :3, None, None], u[0, :4]], (2, 3, 5, 4), 2 * 3),
    ]
    for given, shape, count in cases:
        gpu.launched.clear()
        found = kernel(*(GpuArray(a) if isinstance(a, np.ndarray) else a for a in given))
        check(found, cpu, given, shape)
        assert [name for name, *_ in gpu.launched] == ["k_strided"] * len(gpu.launched)
        assert len(gpu.launched) <= count
    assert not kernel(GpuArray(x[:0]), GpuArray(b[:0]), 1.0)[0].array.size


def test_aligned_arrays_are_read_several_elements_at_a_time(cupy: None) -> None:
    kernel, cpu, gpu = made("x : real\nu : real\nz = sqrt(x**2*u)")
    room = np.zeros(64)
    begin = -room.ctypes.data % 16 // 8
    x, u = room[begin : begin + 20], room[begin + 22 : begin + 42]
    x[:], u[:] = np.linspace(1, 2, 20), np.linspace(0.5, 1.5, 20)
    outs = [np.zeros(24), np.zeros(24)]
    outs = [o[(p := -o.ctypes.data % 16 // 8) : p + 20] for o in outs]
    found = kernel(GpuArray(x), GpuArray(u), out=tuple(map(GpuArray, outs)))
    check(found, cpu, (x, u), (20,))
    check(
        kernel(GpuArray(x[1:]), GpuArray(u[1:]), out=tuple(GpuArray(o[1:]) for o in outs)),
        cpu,
        (x[1:], u[1:]),
        (19,),
    )
    assert [name for name, *_ in gpu.launched] == ["k_aligned", "k"]


def test_out_and_streams(cupy: None) -> None:
    kernel, cpu, gpu = made()
    arrays = data((40,))
    x = arrays[0].copy()
    out = GpuArray(x)
    given = [out, GpuArray(arrays[1], stream=5), GpuArray(arrays[2], stream=44)]
    found = kernel(*given, out=(None, out))
    assert found[1] is out
    check(found, cpu, arrays, (40,))
    assert gpu.waits == [(44, 5)]
    for stream, handle in (
        (9, 9),
        (types.SimpleNamespace(cuda_stream=11), 11),
        (types.SimpleNamespace(ptr=12), 12),
        (types.SimpleNamespace(handle=ctypes.c_void_p(13)), 13),
        (types.SimpleNamespace(__cuda_stream__=lambda: (0, 14)), 14),
    ):
        kernel(*map(GpuArray, arrays), stream=stream)
        assert gpu.launched[-1][-1] == handle


def test_what_is_refused(cupy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, _, gpu = made()
    x, b, u = data((6,))
    gx, gb, gu = map(GpuArray, (x, b, u))
    of_x = np.ones(6)
    of_x.flags.writeable = False

    class Elsewhere(GpuArray):
        __module__ = "torch"

    calls: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: kernel(x, gb, gu), ArrayTypeError, "'x' is a numpy.ndarray, which is not in the memory of a GPU"),
        (lambda: kernel([1.0], gb, gu), ArrayTypeError, "input 'x' is a list"),
        (lambda: kernel(GpuArray(x.astype("float32")), gb, gu), ArrayTypeError, "input 'x' is float32, but the kernel"),
        (lambda: kernel(gx, gu, gu), ArrayTypeError, "input 'b' is float64, but it is bool"),
        (lambda: kernel(gx, 0.5, gu), ArrayTypeError, "input 'b' is float64"),
        (lambda: kernel(gx, gb, 1j), ArrayTypeError, "input 'u' is a complex"),
        (lambda: kernel(gx, gb), MissingInputError, "no value for u"),
        (lambda: kernel(gx, gb, GpuArray(u[:4])), ShapeError, "the shapes do not broadcast"),
        (lambda: kernel(gx, gb, gu, out=gx), UsageError, "out has 1 arrays for 2 outputs"),
        (lambda: kernel(gx, gb, gu, out=(GpuArray(x[:5]), None)), ShapeError, "out has shape"),
        (lambda: kernel(gx, gb, gu, out=(GpuArray(of_x), None)), ArrayTypeError, "'out' may only be read"),
        (lambda: kernel(1.0, True, 2.0), KernelError, "numbers alone do not tell on which GPU"),
        (lambda: kernel(gx, gb, gu, stream="main"), ArrayTypeError, "stream= is a str"),
        (lambda: kernel(Elsewhere(x), gb, gu), ArrayTypeError, "arrays of torch and of cupy in one call"),
    ]  # fmt: skip
    for call, error, message in calls:
        with pytest.raises(error, match=message):
            call()
    assert not gpu.launched


def test_without_a_driver(monkeypatch: pytest.MonkeyPatch, cupy: None) -> None:
    def none(name: str) -> Any:
        raise OSError(f"{name}: cannot open shared object file")

    kernel: Any = sg.compile(sg.symbols("x") ** 2, target="cuda")
    driver.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", none)
    with pytest.raises(KernelError, match="there is no CUDA driver on this machine"):
        kernel(GpuArray(np.ones(3)))


class Library:
    """The driver's C functions, which note how they are called; those in ``fails`` return an error."""

    def __init__(self, **fails: int) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.launched: list[int] = []
        self._fails = fails

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*given: Any) -> int:
            self.calls.append((name, given))
            if name == "cuGetErrorString":
                given[1]._obj.value = b"as the driver says"
            elif name == "cuDeviceGetCount":
                given[0]._obj.value = 1 - self._fails.get("devices", 0)
            elif name in ("cuPointerGetAttribute", "cuDeviceGetAttribute"):
                given[0]._obj.value = 17
            elif name in (
                "cuModuleLoadDataEx",
                "cuModuleGetFunction",
                "cuDevicePrimaryCtxRetain",
                "cuEventCreate",
            ):
                given[0]._obj.value = 99
            elif name == "cuLaunchKernel":
                self.launched = [ctypes.c_int64.from_address(p).value for p in given[9]]
            return self._fails.get(name, 0)

        return call

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def test_the_driver_is_called_as_its_interface_says() -> None:
    library = Library()
    gpu = CudaDriver(library)
    assert gpu.device_of(1234) == 17
    assert (gpu.processors(0), gpu.processors(0)) == (17, 17)
    assert gpu.load(0, ".version 6.3", ["k", "k_strided"]) == [99, 99]
    gpu.launch(0, 99, (5, 2), (32, 8), 7, [2**40, -3, 2**64 - 1])
    name, given = library.calls[-1]
    assert name == "cuLaunchKernel"
    assert given[1:8] == (5, 2, 1, 32, 8, 1, 0)
    assert (given[0].value, given[8].value, given[10]) == (99, 7, None)
    assert library.launched == [2**40, -3, -1]
    gpu.wait(0, 7, 8)
    gpu.finish(0, 7)
    assert library.names.count("cuDevicePrimaryCtxRetain") == 1
    wanted = [
        "cuEventRecord",
        "cuStreamWaitEvent",
        "cuEventDestroy_v2",
        "cuCtxSetCurrent",
        "cuStreamSynchronize",
    ]
    assert library.names[-5:] == wanted


def test_errors_of_the_driver() -> None:
    for fails, message in (
        ({"cuInit": 100}, "finds no GPU: as the driver says"),
        ({"devices": 1}, "it counts none"),
    ):
        with pytest.raises(KernelError, match=message):
            CudaDriver(Library(**fails))
    gpu = CudaDriver(Library(cuModuleLoadDataEx=218, cuLaunchKernel=1))
    with pytest.raises(KernelError, match="does not take the kernel's code: as the driver says"):
        gpu.load(0, "", ["k"])
    with pytest.raises(KernelError, match="cuLaunchKernel of the CUDA driver failed: as the driver says"):
        gpu.launch(0, 1, (1, 1), (1, 1), 0, [1])


def test_launches_compute_every_point_once() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        shape = tuple(int(n) for n in rng.integers(1, 5, size=rng.integers(0, 5)))
        whole = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
        if shape:
            whole = whole.transpose(rng.permutation(len(shape)))
        steps = tuple(s // whole.itemsize for s in whole.strides)
        found: list[int] = []
        for one in split_launches(whole.shape, [steps]):
            found += [
                one.offsets[0] + i * one.along[0] + j * one.across[0]
                for j in range(one.rows)
                for i in range(one.points)
            ]
        assert sorted(found) == list(range(whole.size))
    for points, rows in ((1, 1), (3, 10**6), (10**9, 1), (255, 3), (257, 70_000)):
        blocks, threads = grid_size(points, rows, 100)
        assert 1 <= threads[0] * threads[1] <= 256
        assert blocks[0] >= 1 <= blocks[1] <= 65_535


def test_it_is_written_copied_and_told(tmp_path: Path) -> None:
    x = sg.symbols("x")
    kernel = sg.compile([x**2, x + 1], target="cuda")
    assert repr(kernel) == "<CudaKernel kernel(x) -> 2 outputs, float64>"
    (path,) = kernel.save(tmp_path / "square.ptx", outputs=["y", "z"], cpu="sm_90")
    assert "__global__ void square(const double *x, int64_t n, double *y, double *z);" in path.read_text()
    assert (
        path.read_text()
        == sg.compile([x**2, x + 1])
        .save(tmp_path / "square.ptx", outputs=["y", "z"], cpu="sm_90")[0]
        .read_text()
    )
    assert pickle.loads(pickle.dumps(kernel)).ptx() == copy.copy(kernel).ptx() == kernel.ptx()
    with pytest.raises(UsageError, match="the kernel is for a GPU"):
        kernel.save(tmp_path / "k.o")
    with pytest.raises(UsageError, match="target='gpu'"):
        sg.compile(x, target="gpu")  # type: ignore[call-overload]
    X = sg.tensor("X", ("n", "m"))
    with pytest.raises(UnsupportedError, match="computes with arrays as wholes"):
        sg.compile(sg.sum(X, axis=0), [X], target="cuda")
    with pytest.raises(UnsupportedError, match="tgamma"):
        sg.compile(sg.parse("x : real\ny = gamma(x)")["y"], target="cuda")


def _on_hardware() -> str:
    """Why no GPU can be tried; empty if one can."""
    try:
        driver.cache_clear()
        driver()
    except KernelError as error:
        return str(error).splitlines()[0]
    return "" if find_spec("cupy") or find_spec("torch") else "neither CuPy nor torch is installed"


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_on_a_gpu(library: str, dtype: str) -> None:
    why = _on_hardware()
    if why:
        pytest.skip(why)
    there: Any = pytest.importorskip(library)
    p = sg.parse(TEXT)
    outputs = [p["z"], sg.grad(p["z"], p["x"])]
    cpu, kernel = sg.compile(outputs, dtype=dtype), sg.compile(outputs, target="cuda", dtype=dtype)
    arrays = data((1000, 37), dtype)
    to: Any = there.asarray if library == "cupy" else lambda a: there.as_tensor(a, device="cuda")
    back: Any = there.asnumpy if library == "cupy" else lambda a: a.cpu().numpy()
    found = kernel(*map(to, arrays))
    flat = [a.ravel() for a in arrays]
    for a, w in zip(found, as_c_has_it(cpu, fused=True, arrays=flat), strict=True):
        assert same_bits(back(a).ravel(), w)
    found = kernel(to(arrays[0])[:, ::2], to(arrays[1])[:, ::2], 0.75)
    flat = [arrays[0][:, ::2].ravel(), arrays[1][:, ::2].ravel(), np.full(19_000, 0.75, dtype)]
    for a, w in zip(found, as_c_has_it(cpu, fused=True, arrays=flat), strict=True):
        assert same_bits(back(a).ravel(), w)
