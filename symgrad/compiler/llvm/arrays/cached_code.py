"""Cached machine code of array programs: the code, its interface, and the lowered graph.

The checks of inputs are derived from the graph, so the graph is cached with the code. It has about a thousand bytes,
and reading it takes a hundredth of the time of lowering. The pickle of the graph is as trustworthy as the machine code
beside it: the disk cache (`symgrad/compiler/llvm/engine/disk_cache.py`) has verified that this user wrote both.
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from symgrad.compiler.llvm.arrays.array_loop import ArrayLoop, register_driver
from symgrad.compiler.llvm.arrays.symbol_names import RUN, SCRATCH, STOPPED
from symgrad.compiler.llvm.engine import blas, scipy_functions
from symgrad.compiler.llvm.engine.jit import Engine, ObjectCode
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.traverse import flatten, rebuild, symbols_of

T = TypeVar("T")

_SCRATCH = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class ArrayFacts(NamedTuple):
    """The sizes and arrays of an array program.

    Args:
        names: the size names, in order of first appearance in the shapes of the inputs.
        lengths: computed lengths of axes that would be negative for some sizes.
        arrays: the shapes of all arrays, in memory or not.
        computed: the sizes that the code computes from named sizes.
        read: for every input, whether the code reads its entries, and not only its shape.
    """

    names: tuple[str, ...]
    lengths: tuple[Size, ...]
    arrays: tuple[Shape, ...]
    computed: tuple[Size, ...]
    read: tuple[bool, ...]


def serialize_program(outputs: Sequence[Node], nodes: Iterable[Node], *rest: object) -> bytes:
    """Return the outputs of a program, further nodes and other data as bytes, for `load_program`."""
    return pickle.dumps((len(outputs), flatten([*outputs, *nodes]), rest), protocol=5)


def load_program(
    kept: bytes, inputs: Sequence[Node], read: Callable[..., T]
) -> tuple[tuple[Node, ...], tuple[Node, ...], T]:
    """Return the outputs and the further nodes that `serialize_program` was called with, and the result of a function.

    Args:
        kept: the bytes.
        inputs: the symbols in the order of the arguments.
        read: is called with the other data, which it may refuse by any error.

    Raises:
        ValueError: if the bytes are not those of a program with these inputs.
    """
    try:
        count, graph, rest = pickle.loads(kept)
        nodes, found = tuple(rebuild(graph)), read(*rest)
    except Exception as error:
        raise ValueError(f"this is no array program: {error}") from error
    if not set(symbols_of(nodes[:count])) <= set(inputs):
        raise ValueError("this is another array program")
    return nodes[:count], nodes[count:], found


class RunnableArrays:
    """Machine code of an array program in memory; the code lives as long as this object.

    Attributes:
        names, lengths, arrays, computed, read: as in `ArrayFacts`.
        kinds: real, int (int64) or bool (one byte) for every argument, inputs first.
        shapes: the shape of every argument.
        run: the address of the function.
        scratch: the address of the function that computes the size of its scratch memory.
        needs: the functions that the module calls but does not define.
    """

    __slots__ = (
        "__weakref__",
        "_engine",
        "_written",
        "arrays",
        "computed",
        "kinds",
        "lengths",
        "names",
        "needs",
        "read",
        "run",
        "scratch",
        "shapes",
    )

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        facts: ArrayFacts,
        engine: Engine,
        needs: tuple[str, ...],
        written: Callable[[], str],
    ) -> None:
        arguments = (*inputs, *outputs)
        self.kinds: tuple[str, ...] = tuple(n.dtype for n in arguments)
        self.shapes: tuple[Shape, ...] = tuple(n.shape for n in arguments)
        self.names, self.lengths, self.arrays, self.computed, self.read = facts
        self.needs = needs
        self._engine = engine
        self.run = engine.address(RUN)
        self.scratch = engine.address(SCRATCH)
        self._written = written

    def loop_of(
        self, sizes: Sequence[Size], axes: Sequence[Sequence[int]], itemsizes: Sequence[int], nin: int
    ) -> ArrayLoop:
        """Return the loop around the code, for the arguments of `ArrayLoop`."""
        return ArrayLoop(self, sizes, axes, itemsizes, nin)

    def scratch_bytes(self, sizes: Sequence[int]) -> int:
        """Return the bytes of scratch memory of a call, negative if they exceed 2**63."""
        table = (ctypes.c_int64 * max(len(sizes), 1))(*sizes)
        return int(_SCRATCH(self.scratch)(ctypes.addressof(table)))

    @property
    def llvm_ir(self) -> str:
        """The LLVM module, as text."""
        return self._written()


class CachedArrayCode(RunnableArrays):
    """Machine code of an array program that another process compiled; the code lives as long as this object.

    Args:
        kept: the result of `serialize_program` for the outputs of the lowered program, the facts and the code.
        inputs: the symbols in the order of the arguments.
        written: a function that writes the LLVM module of outputs, called on demand.

    Attributes:
        outputs: the outputs of the lowered program.

    Raises:
        KernelError: if the C library lacks a function that it calls.
        ValueError: if the data are not the code of an array program with these inputs.
    """

    __slots__ = ("outputs",)

    def __init__(self, kept: bytes, inputs: Sequence[Node], written: Callable[[Sequence[Node]], str]) -> None:
        outputs, _, (facts, code) = load_program(kept, inputs, _facts_and_code)
        self.outputs: tuple[Node, ...] = outputs
        _register_symbols(code.needs)
        super().__init__(
            inputs, self.outputs, facts, Engine.of(code), code.needs, cache(partial(written, self.outputs))
        )


def _facts_and_code(facts: Sequence[Any], code: bytes) -> tuple[ArrayFacts, ObjectCode]:
    return ArrayFacts(*facts), ObjectCode.from_bytes(code)


def _register_symbols(needs: tuple[str, ...]) -> None:
    """Register the symbols that were registered in the process that compiled the code."""
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
