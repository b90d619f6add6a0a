"""What a caller without Python must know of a kernel: its inner loop, and what has to be checked before."""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.compiler.kernels.calls.guards import NO_GUARDS, Guards
from symgrad.ir.sizes import Size

__all__ = ["Native"]


@dataclass(frozen=True, slots=True)
class Native:
    """An inner loop as NumPy calls it, ``loop(char **args, intp *dimensions, intp *steps, void *data)``.

    It may run in any thread, several at once, without the interpreter's lock; the kernel must live as long.

    Args:
        loop: its address.
        data: the address that it is passed.
        told: whether it returns an i32: 0, 1 where memory is exhausted, 2 where an axis would have a negative length.
        stopped: address of an ``i32 ()`` that tells, after a call, whether it ended early because Ctrl-C came; 0 where
            it never asks.
        sizes: the core dimensions, whose lengths stand in `dimensions` behind the length of the loop.
        axes: for every argument the core dimension of each of its last axes.
        arrays: shapes of all arrays that are computed with, which must not be too large.
        computed: sizes that the code counts with.
        guards: what must be checked before.
        symmetric: inputs (by number) that are declared symmetric, which is to be checked too.
    """

    loop: int
    data: int
    told: bool
    stopped: int
    sizes: tuple[Size, ...]
    axes: tuple[tuple[int, ...], ...]
    arrays: tuple[tuple[Size, ...], ...] = ()
    computed: tuple[Size, ...] = ()
    guards: Guards = NO_GUARDS
    symmetric: tuple[int, ...] = ()
