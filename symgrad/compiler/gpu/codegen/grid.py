"""Which points a thread computes, as LLVM is told: by functions that say where the thread stands among the others."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SINGLE_THREAD", "CUDA", "Axis", "Grid"]

_SPECIAL_REGISTERS = "llvm.nvvm.read.ptx.sreg."


@dataclass(frozen=True, slots=True)
class Axis:
    """The functions that say how threads are numbered along an axis: each returns an i32, and takes nothing.

    Args:
        thread: the number of a thread in its block.
        threads: how many a block has.
        block: the number of its block.
        blocks: how many there are.
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
    """How threads share the points of a call.

    Args:
        convention: what stands before the type of a function that is launched.
        space: what stands behind ``ptr`` for an array.
        along: the axis along which neighbours compute neighbouring points; None where there is one thread.
        across: the axis along which rows are shared; None where there are no rows.
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
"""Arrays lie in global memory."""

SINGLE_THREAD = Grid()
"""One thread, which computes all points."""
