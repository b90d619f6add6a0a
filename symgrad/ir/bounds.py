"""The limits of arrays: their number of entries, and the memory of the machine.

Sizes in formulas are arbitrary integers. An array has at most `MOST_ENTRIES` entries: this many float64 numbers have
less than 2**63 bytes, so lengths, counts, strides and bytes fit into the 64-bit integers of NumPy and of compiled code.
Shapes are checked when a formula is built, as far as they are known, and again in every call.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from math import prod
from pathlib import Path

from symgrad.ir.sizes import (
    Extent,
    Shape,
    Size,
    SizeAtom,
    evaluate_size,
    extent_text,
    names_of,
    nonnegative,
    parts_of,
)
from symgrad.support.errors import OutOfMemoryError, ShapeError

MOST_ENTRIES = 2**60 - 1
"""The most entries of an array."""

LARGEST = 2**63 - 1
"""The largest integer of compiled code."""

_EXPECTED = "at most 2**60 - 1 entries in an array, as many float64 numbers as NumPy can count the bytes of"
_CURE = "choose smaller sizes; what is the same along an axis can be an axis of length 1, which broadcasts"

_SWAP_AT_WILL = 16
"""The assumed ratio of the memory of a process to main memory on systems that extend their swap space."""

# The memory limit of a container, in version 2 and in version 1 of control groups.
_CONTAINERS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_axes(shape: Shape) -> None:
    """Raise an error for an axis that is too long for all values of its names.

    Raises:
        ShapeError: if there is one; the error names the axis.
    """
    for size in shape:
        if isinstance(size, str):
            continue
        least = [size] if isinstance(size, int) else [c for _, c in size.terms] if nonnegative(size) else []
        if any(c > MOST_ENTRIES for c in least) or not _countable(size):
            raise ShapeError(
                f"an axis of length {extent_text(size)} is too long", expected=_EXPECTED, cure=_CURE
            )


def _countable(size: Size | SizeAtom) -> bool:
    """Tell whether the numbers in a size are integers of compiled code."""
    if isinstance(size, int):
        return abs(size) <= LARGEST
    if isinstance(size, SizeAtom):
        return _countable(size.a) and _countable(size.b)
    return isinstance(size, str) or all(
        abs(c) <= LARGEST and all(map(_countable, monomial)) for monomial, c in size.terms
    )


def check_lengths(lengths: Iterable[Size], sizes: Mapping[str, int]) -> None:
    """Raise an error for a length that is negative for the sizes of a call, or longer than any array.

    Raises:
        ShapeError: if there is one; the error names the length.
    """
    for length in lengths:
        value = evaluate_size(length, sizes)
        if value < 0:
            raise ShapeError(
                f"an axis of length {length} is {value} long{_where([length], sizes)}",
                expected="a length of at least 0",
                cure="pass larger arrays",
            )
        _check_count(value, (length,), sizes)


def check_arrays(shapes: Iterable[Shape], sizes: Mapping[str, int]) -> None:
    """Raise an error for an array with a negative length, or with too many entries, for the sizes of a call.

    As in NumPy, the other axes of an empty array have the same limit. Shapes with unknown sizes pass.

    Raises:
        ShapeError: if there is one; the error names the first such array.
    """
    for shape in dict.fromkeys(shapes):
        if not all(n in sizes for n in names_of(*shape)):
            continue
        check_lengths([size for size in shape if isinstance(size, Extent)], sizes)
        _check_count(prod(max(evaluate_size(size, sizes), 1) for size in shape), shape, sizes)


def check_products(sizes: Iterable[Size], values: Mapping[str, int]) -> None:
    """Raise an error for a term of a size that does not fit an integer of compiled code, even if the size is small.

    Raises:
        ShapeError: if there is one; the error names the first product of sizes that is too large.
    """
    for size in sizes:
        for monomial, c in size.terms if isinstance(size, Extent) else ():
            part = Extent(((monomial, c),))
            value = evaluate_size(part, values)
            if abs(value) > LARGEST:
                raise ShapeError(
                    f"{part} is {extent_text(value)}{_where([part], values)}",
                    expected="sizes, and products of them, below 2**63",
                    cure="choose smaller sizes",
                )
        check_products(parts_of(size), values)


def _check_count(count: int, shape: Shape, sizes: Mapping[str, int]) -> None:
    if count > MOST_ENTRIES:
        text = ", ".join(map(extent_text, shape)) + "," * (len(shape) == 1)
        raise ShapeError(
            f"an array of shape ({text}) has {extent_text(count)} entries{_where(shape, sizes)}",
            expected=_EXPECTED,
            cure=_CURE,
        )


def _where(shape: Iterable[Size], sizes: Mapping[str, int]) -> str:
    names = names_of(*shape)
    values = ", ".join(f"{name} = {extent_text(sizes[name])}" for name in names)
    return f" for {values}" if values else ""


def bytes_text(count: int) -> str:
    """Return a number of bytes as text.

    Example:
        >>> bytes_text(1000), bytes_text(2**34), bytes_text(2**63)
        ('1,000 bytes', '16.0 GiB', '8.0 EiB')
    """
    if count < 2**20:
        return f"{count:,} bytes"
    power = min((count.bit_length() - 1) // 10, 6)
    return f"{count / 2 ** (10 * power):,.1f} {'KMGTPE'[power - 1]}iB"


def out_of_memory(what: str, needed: int | None = None) -> OutOfMemoryError:
    """Return the error for a computation that exceeds memory.

    Args:
        what: the value that does not fit.
        needed: the bytes of this value, if known.
    """
    limit = machine_memory()
    takes = "" if needed is None else f", which takes {bytes_text(needed)}{' or more' * (needed == LARGEST)}"
    return OutOfMemoryError(
        f"there is not enough memory for {what}{takes}",
        expected=f"less than this process can have (at most {bytes_text(limit)} on this machine)"
        if limit < sys.maxsize
        else "less than this process can have",
        cure="compute it in parts, or sum over an axis in the formula instead of keeping it",
    )


@cache
def machine_memory() -> int:
    """Return about the most bytes that a process can have on this machine; larger computations do not begin.

    The limit is needed because a system may promise more memory than it has, and kill a process that uses it.
    """
    memory = main_memory()
    if memory is None or sys.platform == "win32":
        return sys.maxsize  # unknown, or Windows, which does not overcommit
    if sys.platform != "linux":
        return _SWAP_AT_WILL * memory
    return memory + sum(
        1024 * int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("SwapTotal:")
    )


def main_memory() -> int | None:
    """Return the bytes of memory of the machine, the container or the process, whichever are least; None if unknown."""
    known: list[int] = []
    if sys.platform == "win32":
        status = (
            ctypes.c_uint64 * 8
        )()  # two 32-bit fields, the first of which is the length, then the physical memory
        ctypes.cast(status, ctypes.POINTER(ctypes.c_uint32))[0] = ctypes.sizeof(status)
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
            known.append(int(status[1]))
    else:
        import resource  # Windows has none

        with suppress(OSError, ValueError):
            known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            known.append(limit)
        for path in _CONTAINERS:
            known += [int(line) for line in _lines(path) if line.strip().isdigit()]  # or "max"
    return min((k for k in known if k > 0), default=None)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
