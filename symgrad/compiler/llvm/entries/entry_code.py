"""Machine code of a program of small arrays, whose entries are scalar equations."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.compiler.llvm.elementwise.code import ElementwiseCode
from symgrad.compiler.llvm.entries.entry_loop import EntryLoop
from symgrad.ir.graph import Node
from symgrad.ir.sizes import Shape, Size


class EntryCode:
    """Machine code of the entries of small arrays, as `RunnableArrays` is that of other programs.

    Args:
        equations: the code of the equations of all entries.
        inputs: the symbols of the arrays, in the order of the arguments.
        outputs: the arrays to compute.
        arrays: the shapes of all arrays of the program.

    Attributes:
        equations: the code of the equations.
        kinds, shapes, names, lengths, arrays, computed, read: as in `RunnableArrays`.
    """

    __slots__ = ("__weakref__", "arrays", "equations", "kinds", "read", "shapes")

    names: tuple[str, ...] = ()
    lengths: tuple[Size, ...] = ()
    computed: tuple[Size, ...] = ()

    def __init__(
        self,
        equations: ElementwiseCode,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        arrays: Sequence[Shape],
    ) -> None:
        arguments = (*inputs, *outputs)
        self.equations = equations
        self.kinds: tuple[str, ...] = tuple(n.dtype for n in arguments)
        self.shapes: tuple[Shape, ...] = tuple(n.shape for n in arguments)
        self.arrays = tuple(arrays)
        self.read = (True,) * len(inputs)

    @property
    def needs(self) -> tuple[str, ...]:
        """The functions that the module calls but does not define."""
        return self.equations.module.needs

    @property
    def llvm_ir(self) -> str:
        """The LLVM module, as text."""
        return self.equations.module.ir

    def loop_of(self, *_signature: object) -> EntryLoop:
        """Return the loop around the code."""
        return EntryLoop(
            self.equations.cell, self.shapes, len(self.read), self.equations.real, self.equations
        )

    def scratch_bytes(self, _sizes: Sequence[int]) -> int:
        """Return 0: the memory of a call does not depend on sizes."""
        return 0
