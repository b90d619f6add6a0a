"""Loaded kernels of array programs: generalised ufuncs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import addressof, c_int64
from typing import TYPE_CHECKING, Any, final

from symgrad.compiler.kernels.artefacts.plain_sizes import as_size
from symgrad.compiler.kernels.calls.guards import Position, check_filled, check_position
from symgrad.compiler.kernels.calls.plain import (
    call_batch,
    copy_shared,
    refuse_masked,
    refuse_where,
)
from symgrad.compiler.kernels.shapes import Shapes
from symgrad.compiler.kernels.signature import signature_of
from symgrad.compiler.kernels.ufunc import ufunc_of_arrays
from symgrad.compiler.llvm.arrays.array_loop import ArrayLoop
from symgrad.compiler.llvm.entries.entry_loop import EntryLoop
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.loader.base import Loaded, as_tuple
from symgrad.ir.bounds import check_arrays, check_lengths, check_products, out_of_memory
from symgrad.ir.graph import SYMBOL
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.values.inputs import check_domain, check_symmetric

if TYPE_CHECKING:
    from symgrad.compiler.loader.base import OwnedCode


class _LoadedProgram:
    """The program that the loop runs; see `RunnableProgram`."""

    def __init__(self, plain: Mapping[str, Any], addresses: tuple[int, int]) -> None:
        self.names: tuple[str, ...] = tuple(plain["names"])
        self.run, self.scratch = addresses
        self.lengths: tuple[Size, ...] = tuple(map(as_size, plain["lengths"]))
        self.read: tuple[bool, ...] = tuple(plain["read"])
        self.needs: tuple[str, ...] = ()


class _Index:
    """An input that is an array of positions, for `check_position`."""

    op = SYMBOL

    def __init__(self, name: str) -> None:
        self.name = name

    def is_number(self) -> bool:
        return False


@final
class LoadedArrayKernel(Loaded):
    """A kernel of an array program from a file: an `ArrayKernel` without formulas.

    Positions that the program computes are not checked: a position out of range reads NaN.

    Args:
        code: the owner of the machine code.
        note: the metadata of the file.

    Attributes:
        signature: the shapes of its arguments in NumPy's notation, such as ``(n,5),(5)->()``.
        sizes: the names of sizes, in order of appearance.
    """

    __slots__ = (
        "_arrays",
        "_cell",
        "_checks",
        "_computed_sizes",
        "_core",
        "_loop",
        "_positions",
        "_shapes",
        "signature",
        "sizes",
    )

    def __init__(self, code: OwnedCode, note: Mapping[str, Any]) -> None:
        super().__init__(code, note)
        plain = note["array"]
        nodes = (*self.symbols, *self.outputs)
        nin = len(self.inputs)
        found = signature_of([n.shape for n in nodes[:nin]], [n.shape for n in nodes[nin:]])
        program = _LoadedProgram(plain, self._addresses)
        self.signature, self.sizes, self._core = found.text, program.names, found.sizes
        if plain["scalar"]:
            self._cell = (c_int64 * 2)(self._addresses[1], 0)
            real = float_type(self.dtype)
            loop = EntryLoop(addressof(self._cell), [n.shape for n in nodes], nin, real, self._cell)
        else:
            loop = ArrayLoop(program, found.sizes, found.axes, [kind.itemsize for kind in self.kinds], nin)
        self._loop = loop
        self._shapes = Shapes(self.symbols, self.outputs)
        self._arrays: tuple[Shape, ...] = tuple(tuple(map(as_size, shape)) for shape in plain["arrays"])
        self._computed_sizes: tuple[Any, ...] = tuple(map(as_size, plain["computed"]))
        checked = plain["checked"]
        self._checks = (
            tuple(map(as_size, checked["lengths"])),
            tuple((name, as_size(size)) for name, size in checked["filled"]),
            tuple(checked["bounded"]),
        )
        self._positions: list[tuple[int, Position]] = []
        for k, size in checked["positions"]:
            index: Any = _Index(self.inputs[int(k)])
            self._positions.append((k, Position(index, as_size(size))))
        kinds = [kind.name for kind in self.kinds]
        self._ufunc = ufunc_of_arrays(loop, found, kinds, self.name, self.inputs, (loop, code))

    def _computed(self, arrays: Sequence[Any], out: Any, where: Any) -> Any:
        refuse_where(where)
        self._check(arrays)
        if out is not None:
            arrays = copy_shared(arrays, as_tuple(out))
        try:
            if self._ufunc is None:
                nodes = (*self.symbols, *self.outputs)
                return call_batch(self._loop, self._shapes, self._core, nodes, self.kinds, arrays, out)
            return self._ufunc(*arrays) if out is None else self._ufunc(*arrays, out=out)
        except MemoryError:
            check_arrays(self._arrays, self._shapes.fit(arrays).sizes)
            raise out_of_memory(f"a call of kernel '{self.name}'") from None

    def _check(self, arrays: Sequence[Any]) -> None:
        for name, array in zip(self.inputs, arrays, strict=True):
            refuse_masked(name, array)
        fit = self._shapes.fit(arrays)
        lengths, filled, bounded = self._checks
        check_lengths(lengths, fit.sizes)
        check_arrays(self._arrays, fit.sizes)
        check_products(self._computed_sizes, fit.sizes)
        check_filled(filled, fit.sizes)
        for k in bounded:
            check_domain(self._known[k], arrays[k], fit.sizes)
        for k, position in self._positions:
            check_position(position, arrays[k], fit.sizes)
        for symbol, array in zip(self._known, arrays, strict=True):
            if symbol.symmetric:
                check_symmetric(symbol, array)
