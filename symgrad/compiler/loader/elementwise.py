"""A loaded kernel of an elementwise program: a NumPy ufunc again."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from symgrad.compiler.kernels.ufunc import MAX_ARGS, ufunc_from_loop
from symgrad.compiler.loader.base import Loaded

if TYPE_CHECKING:
    from symgrad.compiler.llvm.call_stubs.point_functions import PointFunctions
    from symgrad.compiler.loader.base import OwnedCode


@final
class LoadedKernel(Loaded):
    """A kernel of an elementwise program from a file: like `Kernel`, but without formulas.

    Args:
        code: the owner of the machine code.
        note: the metadata of the file.
    """

    __slots__ = ("_called", "_cell", "_direct", "_point_address", "_special")

    def __init__(self, code: OwnedCode, note: Mapping[str, Any]) -> None:
        super().__init__(code, note)
        loop, plan = self._addresses
        self._cell = (ctypes.c_int64 * 2)(plan, 0)
        self._point_address = code.address(note["functions"]["point"])
        self._special = any(s.shape or s.dtype == "int" for s in self.symbols)
        self._direct: Callable[..., Any] | None = None
        self._called = False
        if self.inputs and len(self.kinds) <= MAX_ARGS:
            doc = f"{self.name}({', '.join(self.inputs)})"
            kinds = [kind.name for kind in self.kinds]
            self._ufunc = ufunc_from_loop(
                loop, 0, kinds, len(self.inputs), name=self.name, doc=doc, code=code
            )

    def _computed(self, arrays: Sequence[Any], out: Any, where: Any) -> Any:
        if self._special:
            self._check(arrays)
        elif (where is True and out is not None) or (self._called and where is True):
            found = self._directly(arrays, out)
            if found is not None:
                return found
        self._called = True
        with np.errstate(all="ignore"):
            if out is None and where is not True:
                from symgrad.compiler.kernels.calls.plain import fresh_outputs  # for start-up time

                out = fresh_outputs(self.kinds, arrays, where)
            if self._ufunc is None:
                from symgrad.compiler.kernels.calls.plain import call_elements, loop_call  # for start-up time

                call = self._direct_function() or loop_call(self._addresses[0], ctypes.addressof(self._cell))
                return call_elements(call, self.kinds, arrays, out, where)
            return self._ufunc(*arrays) if out is None else self._ufunc(*arrays, out=out, where=where)

    def _check(self, arrays: Sequence[Any]) -> None:
        from symgrad.ir.values.inputs import check_domain, check_shapes, check_whole  # for start-up time

        for symbol, array in zip(self._known, arrays, strict=True):
            if symbol.dtype == "int":
                check_whole(symbol, array)
        sizes = check_shapes(self.symbols, arrays)
        for symbol, array in zip(self._known, arrays, strict=True):
            if symbol.has_ends:
                check_domain(symbol, array, sizes)

    def _directly(self, arrays: Sequence[Any], out: Any) -> Any:
        """Call without the ufunc; return None if the arguments are not plain arrays of the same shape."""
        call = self._direct_function() if self.inputs else None
        if call is None:
            return None
        if out is not None:
            return call(tuple(arrays), out)
        first = next((a for a in arrays if type(a) is np.ndarray and a.ndim), None)
        if first is None:
            return None
        new = tuple([np.empty(first.shape, kind) for kind in self.kinds[len(arrays) :]])
        return call(tuple(arrays), new, True)

    def _direct_function(self) -> Callable[..., Any] | None:
        if self._direct is None:
            from symgrad.compiler.kernels.calls.direct import (
                direct_call,  # a first call, perhaps the only one, does not wait for it
            )

            cell = ctypes.addressof(self._cell)
            self._direct = direct_call(self._addresses[0], cell, self.kinds, len(self.inputs))
        return self._direct

    def _point(self) -> PointFunctions:
        # for start-up time
        from symgrad.compiler.llvm.call_stubs.point_functions import NUMBERS, POINT, PointFunctions

        known = {POINT: self._addresses[0], NUMBERS: self._point_address}
        return PointFunctions(known, [kind.name for kind in self.kinds], len(self.inputs), self._code)
