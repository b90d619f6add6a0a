"""NVIDIA's driver: the few functions of its C library that a launch needs. Every installation has this library."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

from symgrad.support.errors import KernelError


class Driver(Protocol):
    """The operations of a GPU that a kernel needs. Streams are CUDA's handles."""

    def device_of(self, address: int) -> int:
        """Return the number of the device that owns an address."""
        ...

    def processors(self, device: int) -> int:
        """Return the number of multiprocessors of a device."""
        ...

    def load(self, device: int, ptx: str, names: Sequence[str]) -> list[int]:
        """Load functions of PTX on a device, and return their handles."""
        ...

    def launch(
        self,
        device: int,
        function: int,
        blocks: tuple[int, int],
        threads: tuple[int, int],
        stream: int,
        given: Sequence[int],
    ) -> None:
        """Launch a function with arguments of 64 bits."""
        ...

    def wait(self, device: int, stream: int, other: int) -> None:
        """Make later work of a stream wait for earlier work of another."""
        ...

    def finish(self, device: int, stream: int) -> None:
        """Wait until a stream has finished all its work."""
        ...


_SUCCESS = 0
_DEVICE_OF_POINTER = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_PROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
_DISABLE_TIMING = 2  # CU_EVENT_DISABLE_TIMING
_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER and its size
_LOG_SIZE = 8192


class CudaDriver:
    """The driver's C library, used in the primary context of each device, which all libraries share.

    Args:
        library: the library of ctypes, or an object with the same functions.

    Raises:
        KernelError: if there is no device.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._contexts: dict[int, ctypes.c_void_p] = {}
        self._counts: dict[int, int] = {}
        count = ctypes.c_int()
        code = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
        if code != _SUCCESS or count.value == 0:
            why = self._error_text(code) if code != _SUCCESS else "it counts none"
            raise KernelError(
                f"the CUDA driver finds no GPU: {why}",
                expected="an NVIDIA GPU that this process may use (CUDA_VISIBLE_DEVICES)",
                cure='compile without target="cuda", and call the kernel with arrays in the memory of the host',
            )

    def device_of(self, address: int) -> int:
        found = ctypes.c_int()
        self._call("cuPointerGetAttribute", ctypes.byref(found), _DEVICE_OF_POINTER, ctypes.c_uint64(address))
        return found.value

    def processors(self, device: int) -> int:
        if device not in self._counts:
            found = ctypes.c_int()
            self._call("cuDeviceGetAttribute", ctypes.byref(found), _PROCESSORS, device)
            self._counts[device] = found.value
        return self._counts[device]

    def load(self, device: int, ptx: str, names: Sequence[str]) -> list[int]:
        self._enter(device)
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(_LOG_SIZE)
        options = (ctypes.c_int * 2)(_ERROR_LOG, _ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), _LOG_SIZE)
        code = self._library.cuModuleLoadDataEx(
            ctypes.byref(module), ctypes.c_char_p(ptx.encode()), 2, options, values
        )
        if code != _SUCCESS:
            written = log.value.decode(errors="replace").strip()
            raise KernelError(
                f"the CUDA driver does not take the kernel's code: {written or self._error_text(code)}",
                expected="a driver as new as the code: ptx(cpu=) says for which processors it is",
                cure="update the driver",
            )
        found: list[int] = []
        for name in names:
            function = ctypes.c_void_p()
            self._call("cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(name.encode()))
            found.append(function.value or 0)
        return found

    def launch(
        self,
        device: int,
        function: int,
        blocks: tuple[int, int],
        threads: tuple[int, int],
        stream: int,
        given: Sequence[int],
    ) -> None:
        self._enter(device)
        # Two's complement: signed numbers keep their bits.
        values = (ctypes.c_uint64 * len(given))(*(value & (2**64 - 1) for value in given))
        begin = ctypes.addressof(values)
        places = (ctypes.c_void_p * len(given))(*(begin + 8 * k for k in range(len(given))))
        handle, call = ctypes.c_void_p(stream), ctypes.c_void_p(function)
        shared = 0  # bytes of shared memory of a block
        self._call("cuLaunchKernel", call, *blocks, 1, *threads, 1, shared, handle, places, None)

    def wait(self, device: int, stream: int, other: int) -> None:
        self._enter(device)
        event = ctypes.c_void_p()
        self._call("cuEventCreate", ctypes.byref(event), _DISABLE_TIMING)
        try:
            self._call("cuEventRecord", event, ctypes.c_void_p(other))
            self._call("cuStreamWaitEvent", ctypes.c_void_p(stream), event, 0)
        finally:
            self._call("cuEventDestroy_v2", event)  # deferred by the driver until the event completes

    def finish(self, device: int, stream: int) -> None:
        self._enter(device)
        self._call("cuStreamSynchronize", ctypes.c_void_p(stream))

    def _enter(self, device: int) -> None:
        if device not in self._contexts:
            context = ctypes.c_void_p()
            self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self._contexts[device] = context
        self._call("cuCtxSetCurrent", self._contexts[device])

    def _call(self, name: str, *given: Any) -> None:
        code = getattr(self._library, name)(*given)
        if code != _SUCCESS:
            raise KernelError(
                f"{name} of the CUDA driver failed: {self._error_text(code)}",
                expected="arrays and a stream of this process, on one device",
            )

    def _error_text(self, code: int) -> str:
        text = ctypes.c_char_p()
        self._library.cuGetErrorString(code, ctypes.byref(text))
        return text.value.decode() if text.value else f"error {code}"


@cache
def driver() -> Driver:
    """Return the driver of this machine.

    Raises:
        KernelError: if there is no driver, or no GPU.
    """
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise KernelError(
            f"there is no CUDA driver on this machine: {error}",
            expected="an NVIDIA GPU with its driver",
            cure='compile without target="cuda", or write the kernel with save("k.ptx") and launch it elsewhere',
        ) from None
    return CudaDriver(library)
