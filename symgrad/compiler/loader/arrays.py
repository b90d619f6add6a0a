"""Loaded kernels of array programs: generalised ufuncs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from ctypes import addressof, c_int64
from typing import Any, NamedTuple, cast, final

from symgrad.compiler.kernels.artefacts.plain_sizes import as_size
from symgrad.compiler.kernels.calls.array_calls import ArrayCalls
from symgrad.compiler.kernels.calls.guards import Guards, Position
from symgrad.compiler.llvm.arrays.cached_code import ArrayFacts, RunnableArrays
from symgrad.compiler.llvm.arrays.symbol_names import RUN, SCRATCH
from symgrad.compiler.llvm.entries.entry_code import EntryCode
from symgrad.compiler.llvm.text.types import FloatType
from symgrad.compiler.loader.base import Loaded, OwnedCode


class _Functions(NamedTuple):
    """The functions of a program, by the names that they have in modules; and the owner of their code."""

    addresses: Mapping[str, int]
    owner: OwnedCode

    def address(self, name: str) -> int:
        return self.addresses[name]


class _Equations(NamedTuple):
    """The equations of the entries of small arrays; see `EntryCode`."""

    words: Any
    real: FloatType
    owner: OwnedCode

    @property
    def cell(self) -> int:
        return addressof(self.words)


@final
class LoadedArrayKernel(ArrayCalls, Loaded):
    """A kernel of an array program from a file: an `ArrayKernel` without formulas.

    Positions that the program computes are not checked: a position out of range reads NaN.

    Args:
        code: the owner of the machine code.
        note: the metadata of the file.

    Attributes:
        signature: the shapes of its arguments in NumPy's notation, such as ``(n,5),(5)->()``.
        sizes: the names of sizes, in order of appearance.
    """

    __slots__ = ArrayCalls._STATE

    def __init__(self, code: OwnedCode, note: Mapping[str, Any]) -> None:
        Loaded.__init__(self, code, note)
        plain, checked = note["array"], note["array"]["checked"]
        arrays = tuple(tuple(map(as_size, shape)) for shape in plain["arrays"])
        first, second = self._addresses
        if plain["scalar"]:
            equations: Any = _Equations((c_int64 * 2)(second, 0), self._real, code)
            program = EntryCode(equations, self.symbols, self.outputs, arrays)
        else:
            facts = ArrayFacts(
                tuple(plain["names"]),
                tuple(map(as_size, plain["lengths"])),
                arrays,
                tuple(map(as_size, plain["computed"])),
                tuple(plain["read"]),
            )
            functions: Any = _Functions({RUN: first, SCRATCH: second}, code)
            program = RunnableArrays(self.symbols, self.outputs, facts, functions, (), str)
        guards = Guards(
            tuple(map(as_size, checked["lengths"])),
            tuple((name, as_size(size)) for name, size in checked["filled"]),
            tuple(Position(self.symbols[int(k)], as_size(size)) for k, size in checked["positions"]),
            tuple(checked["bounded"]),
        )
        self._prepare(program, (*self.symbols, *cast("Any", self.outputs)), guards, math.inf)
