"""Grids of threads: the intrinsics by which a thread finds its position, which decides the points it computes."""

from __future__ import annotations

from dataclasses import dataclass

_SPECIAL_REGISTERS = "llvm.nvvm.read.ptx.sreg."


@dataclass(frozen=True, slots=True)
class Axis:
    """The functions that return the position of a thread along an axis: each returns an i32 and has no argument.

    Args:
        thread: the index of a thread in its block.
        threads: the number of threads of a block.
        block: the index of the block.
        blocks: the number of blocks.
    """

    thread: str
    threads: str
    block: str
    blocks: str

    @property
    def functions(self) -> tuple[str, ...]:
        return self.thread, self.threads, self.block, self.blocks


@dataclass(frozen=True, slots=True)
class Grid:
    """The rules by which the threads of a grid share the points of a call.

    Args:
        convention: LLVM's calling convention of entry functions.
        space: LLVM's address space of arrays, the suffix of ``ptr``.
        along: the axis whose neighbouring threads compute neighbouring points; None for one thread.
        across: the axis that shares the rows; None without rows.
    """

    convention: str = ""
    space: str = ""
    along: Axis | None = None
    across: Axis | None = None

    @property
    def pointer(self) -> str:
        return f"ptr{self.space}"


def _axis(letter: str) -> Axis:
    return Axis(
        *(f"{_SPECIAL_REGISTERS}{register}.{letter}" for register in ("tid", "ntid", "ctaid", "nctaid"))
    )


CUDA = Grid("ptx_kernel ", " addrspace(1)", _axis("x"), _axis("y"))
"""A grid of CUDA; arrays are in global memory."""

SINGLE_THREAD = Grid()
"""One thread that computes all points."""
