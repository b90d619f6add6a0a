"""Sums over data as Dask graphs: the blocks and the tree are those of a single process, so the bits are the same."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from symgrad.api.kernels.over_data import Data, OverData, Part, add_parts, rows_of
from symgrad.api.missing_framework import not_installed
from symgrad.support.errors import UsageError

_FAN_IN = 8
"""The number of parts that one task adds. It is a power of two: then so many neighbours are a whole branch of the
tree."""


@final
class LazyTotal:
    """A function like an OverData, but it returns the loss and its gradient as a Delayed; `to_dask` creates it.

    Attributes:
        total: the OverData.
    """

    __slots__ = ("total",)

    def __init__(self, total: OverData) -> None:
        self.total = total

    def __call__(self, data: Data, count: int | None = None, /, **parameters: Any) -> Any:
        """Return the loss and its gradient as a Delayed, without reading or computing anything.

        Args:
            data: the data, as for the OverData, or Dask arrays by name. A task receives the file name of a complete
                `numpy.memmap`, or a function itself, or only its rows of an array in memory.
            count: the number of rows; not needed with arrays.
            parameters: the values of the other inputs, by name; they may be Delayed.

        Raises:
            MissingInputError, ShapeError, UsageError: as for the OverData.
        """
        total = self.total
        rows = total.count(data, count)
        total.check(parameters)
        given = data if not isinstance(data, Mapping) else {n: _by_name(data[n]) for n in total.data}
        delayed = _delayed()
        # Each kernel is one task, whose result the other tasks read: a worker compiles it once.
        sends, values = delayed(total, traverse=False), delayed(parameters)
        call = delayed(_block, pure=False)
        parts: list[Any] = [
            call(sends, _recipe(total, given, first, last), first, last, values)
            for first, last in total.blocks(rows)
        ]
        add = delayed(add_parts, pure=False)
        while len(parts) > 1:
            parts = [add(parts[k : k + _FAN_IN]) for k in range(0, len(parts), _FAN_IN)]
        return delayed(_finished, pure=False)(sends, parts[0], rows)

    def __repr__(self) -> str:
        return f"LazyTotal({self.total!r})"


def to_dask(total: OverData) -> LazyTotal:
    """Return a sum over data as a function that builds its Dask graph, with the same bits.

    The graph has a task for each block, and a tree of additions, as in a single process. Any scheduler of Dask runs it,
    with its own progress bar.

    Args:
        total: the result of `over_data`.

    Raises:
        UsageError: if Dask is not installed, or ``total`` is something else.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> p = sg.parse("x : real[n]; m : real; loss = mean((x - m)**2)")
        >>> total = sg.over_data(p["loss"], "m", "n", rows=100)
        >>> x = np.linspace(0, 1, 1000)
        >>> lazy = sg.to_dask(total)({"x": x}, m=0.25)
        >>> lazy.compute(scheduler="threads") == total({"x": x}, m=0.25)
        True
    """
    if not isinstance(cast("Any", total), OverData):
        raise UsageError(
            f"a value of type {type(total).__name__}",
            expected="what sg.over_data returns",
            cure="arrays of Dask are arguments of kernels: kernel(x)",
        )
    _delayed()
    return LazyTotal(total)


def _delayed() -> Callable[..., Any]:
    try:
        return cast("Any", import_module("dask.delayed")).delayed
    except ImportError as error:
        raise not_installed("dask", error) from error


@final
class _File:
    """A whole memory map, represented by the name of its file: it is opened where rows are read."""

    __slots__ = ("how",)

    def __init__(self, array: np.memmap[Any, Any]) -> None:
        order = "C" if array.flags.c_contiguous else "F"
        self.how = str(Path(str(array.filename)).resolve()), array.dtype, array.shape, array.offset, order

    def rows(self, axis: int, first: int, last: int) -> np.ndarray:
        path, dtype, shape, offset, order = self.how
        opened = np.memmap(path, dtype, "r", offset, shape, cast("Any", order))
        return np.array(rows_of(opened, axis, first, last))  # afterwards the map is closed again


def _by_name(array: Any) -> Any:
    """Replace a complete memory map by its file name; return anything else unchanged."""
    if type(array) is not np.memmap:
        return array
    found = cast("Any", array)
    whole = isinstance(found.base, mmap.mmap) and found.filename is not None and found.flags.forc
    return _File(found) if whole else found


def _recipe(total: OverData, data: Any, first: int, last: int) -> Any:
    """Return the source of the rows of a task: a function, a file, or the rows."""
    if not isinstance(data, Mapping):
        return data
    found = cast("Mapping[str, Any]", data)
    return {
        name: found[name] if isinstance(found[name], _File) else rows_of(found[name], axis, first, last)
        for name, axis in total.data.items()
    }


def _block(total: OverData, recipe: Any, first: int, last: int, parameters: Mapping[str, Any]) -> Part:
    if not isinstance(recipe, Mapping):
        return total.part(total.read(recipe, first, last), parameters)
    found = cast("Mapping[str, Any]", recipe)
    rows = {
        name: found[name].rows(axis, first, last) if isinstance(found[name], _File) else found[name]
        for name, axis in total.data.items()
    }
    return total.part(rows, parameters)


def _finished(total: OverData, part: Part, rows: int) -> tuple[Any, Any]:
    return total.finished(part, rows)
