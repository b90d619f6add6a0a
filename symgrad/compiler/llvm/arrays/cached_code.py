"""Machine code of array programs from one process to the next: the code, what a caller must know of it, and the graph.

What checks the inputs of a kernel is found in its graph, so that is kept with the code: it is a thousand bytes, and is
read a hundred times as quickly as it was arranged. Who reads it has made sure that this user wrote it
(`symgrad/compiler/llvm/engine/disk_cache.py`); it is no safer than the code beside it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import NamedTuple

from symgrad.compiler.llvm.arrays.array_loop import register_driver
from symgrad.compiler.llvm.arrays.symbol_names import RUN, SCRATCH, STOPPED
from symgrad.compiler.llvm.engine import blas, scipy_functions
from symgrad.compiler.llvm.engine.jit import Engine, ObjectCode
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.traverse import flatten, rebuild, symbols_of

__all__ = ["ArrayFacts", "CachedArrayCode", "serialize_array_code"]


class ArrayFacts(NamedTuple):
    """What a caller must know of the code of an array program: as in `ArrayModule`."""

    names: tuple[str, ...]
    lengths: tuple[Size, ...]
    arrays: tuple[Shape, ...]
    computed: tuple[Size, ...]
    read: tuple[bool, ...]


def serialize_array_code(outputs: Sequence[Node], facts: ArrayFacts, code: ObjectCode) -> bytes:
    """Return all that `CachedArrayCode` is made of.

    Args:
        outputs: what the program computes, as it was lowered.
        facts: what a caller must know of the code.
        code: its machine code.
    """
    return pickle.dumps((flatten([*outputs]), tuple(facts), code.to_bytes()), protocol=5)


class CachedArrayCode:
    """Machine code of an array program that another process compiled; it is in memory as long as this object lives.

    Args:
        kept: what `serialize_array_code` returned.
        inputs: the symbols in the order of the arguments.
        written: writes the LLVM module of outputs, when it is asked for.

    Attributes:
        outputs: what it computes.
        names, lengths, arrays, computed, read: as in `ArrayModule`.
        kinds, shapes, run, scratch, needs: as in `ArrayCode`.

    Raises:
        KernelError: if the C library lacks a function that it calls.
        ValueError: if it is something else.
    """

    __slots__ = (
        "__weakref__",
        "_engine",
        "_ir",
        "_written",
        "arrays",
        "computed",
        "kinds",
        "lengths",
        "names",
        "needs",
        "outputs",
        "read",
        "run",
        "scratch",
        "shapes",
    )

    def __init__(self, kept: bytes, inputs: Sequence[Node], written: Callable[[Sequence[Node]], str]) -> None:
        try:
            graph, found, content = pickle.loads(kept)
            facts = ArrayFacts(*found)
            self.outputs: tuple[Node, ...] = tuple(rebuild(graph))
            code = ObjectCode.from_bytes(content)
        except Exception as error:
            raise ValueError(f"this is no array program: {error}") from error
        if not set(symbols_of(self.outputs)) <= set(inputs):
            raise ValueError("this is another array program")
        self.names, self.lengths, self.arrays, self.computed, self.read = facts
        arguments = (*inputs, *self.outputs)
        self.kinds: tuple[str, ...] = tuple(n.dtype for n in arguments)
        self.shapes: tuple[Shape, ...] = tuple(n.shape for n in arguments)
        self.needs = code.needs
        _register_symbols(code.needs)
        self._engine = Engine.of(code)
        self.run = self._engine.address(RUN)
        self.scratch = self._engine.address(SCRATCH)
        self._written = written
        self._ir: str | None = None

    @property
    def llvm_ir(self) -> str:
        """The LLVM module, as text."""
        if self._ir is None:
            self._ir = self._written(self.outputs)
        return self._ir


def _register_symbols(needs: tuple[str, ...]) -> None:
    """Make known to LLVM what whoever wrote the code had made known."""
    if STOPPED in needs:
        register_driver()
    if any(name.startswith("symgrad.") for name in needs):
        from symgrad.compiler.llvm.arrays.library.matrix_products import (  # most programs have none
            product_name,
            register_product,
        )

        for real in (FLOAT64, FLOAT32):
            if product_name(real) in needs:
                register_product(real)
    blas.register_symbols(needs)
    scipy_functions.register_symbols(needs)
