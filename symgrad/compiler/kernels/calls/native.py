"""The interface of a kernel for callers without Python: its inner loop, and the checks before a call."""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.compiler.kernels.calls.guards import NO_GUARDS, Guards
from symgrad.ir.sizes import Size


@dataclass(frozen=True, slots=True)
class Native:
    """An inner loop as NumPy calls it, ``loop(char **args, intp *dimensions, intp *steps, void *data)``.

    It may run in several threads at once, without the GIL. The kernel must live as long as the loop is used.

    Args:
        loop: the address of the loop.
        data: the address for ``data``.
        told: whether the loop returns an i32: 0, or 1 if memory is exhausted, or 2 if an axis would have a negative
            length.
        stopped: address of an ``i32 ()`` that tells, after a call, whether Ctrl-C ended it early; 0 if it never checks.
        sizes: the core dimensions, whose lengths follow the length of the loop in ``dimensions``.
        axes: for every argument, the core dimension of each of its last axes.
        arrays: shapes of all arrays of the computation, which must not be too large.
        computed: sizes that the code computes, which must not overflow.
        guards: the checks before a call.
        symmetric: the indices of the inputs that are declared symmetric, which must be checked too.
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
