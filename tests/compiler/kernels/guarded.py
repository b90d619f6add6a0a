"""Run kernels on arrays that touch pages which nobody may read or write; a slip ends the process.

Started by test_guard_pages.py in a process of its own: python -m tests.compiler.kernels.guarded WHAT
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.ops.array import cholesky, linalg
from symgrad.ops.array.contraction import sum_over
from tests.compiler.kernels.formulas import EXACT, flag, op, same_bits, u, x
from tests.compiler.kernels.programs import PROGRAMS, X, array, draw, ids, op_with, r, y

_PROT_NONE = 0


class Pages:
    """Pages between two that must not be touched."""

    def __init__(self, size: int) -> None:
        inside = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        self.map = mmap.mmap(-1, inside + 2 * mmap.PAGESIZE)
        self.bytes = np.frombuffer(self.map, np.uint8)
        start = self.bytes.ctypes.data
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for guard in (start, start + mmap.PAGESIZE + inside):
            if protect(guard, mmap.PAGESIZE, _PROT_NONE):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.inside = self.bytes[mmap.PAGESIZE : mmap.PAGESIZE + inside]

    def array(self, like: np.ndarray, at_end: bool, layout: str) -> np.ndarray:
        """An array of this shape whose last (or first) byte is the last (or first) inside."""
        strides = {
            "C": like.strides,
            "F": np.empty(like.shape, like.dtype, order="F").strides,
            "reversed": tuple(-s for s in like.strides),
            "wide": tuple(2 * s for s in like.strides),
        }[layout]
        reach = [(length - 1) * s for length, s in zip(like.shape, strides, strict=True) if length]
        low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + like.itemsize
        if like.size == 0:
            low = high = 0
        first = (len(self.inside) - high if at_end else 0) - (0 if at_end else low)
        made = np.ndarray(like.shape, like.dtype, buffer=self.inside, offset=first, strides=strides)
        made[...] = like
        return made


def placements(arrays: list[np.ndarray], layouts: tuple[str, ...]) -> Iterator[list[np.ndarray]]:
    """The arrays at the ends and at the beginnings of their pages, in every layout."""
    pages = [Pages(4 * a.nbytes) for a in arrays]
    for at_end in (True, False):
        for layout in layouts:
            yield [p.array(a, at_end, layout) for p, a in zip(pages, arrays, strict=True)]


def run(kernel: Kernel, given: list[Any], layouts: tuple[str, ...]) -> None:
    expected = [np.asarray(e) for e in as_tuple(kernel(*given))]
    arrays = [np.asarray(g) for g in given] + [np.zeros_like(e) for e in expected]
    for placed in placements(arrays, layouts):
        outs = tuple(placed[len(given) :])
        kernel(*placed[: len(given)], out=outs)
        for out, e in zip(outs, expected, strict=True):
            if not same_bits(out, e):
                raise SystemExit(f"{kernel} gave {out}, not {e}")


def elementwise() -> None:
    rng = np.random.default_rng(0)
    for dtype in ("float64", "float32"):
        for name, nodes, _ in EXACT:
            kernel = compile_nodes(nodes, [x, u], dtype=dtype, name=name.replace(" ", "_"))
            for n in (0, 1, 7, 8, 9, 100):
                run(kernel, [rng.normal(size=n).astype(dtype) for _ in "xu"], ("C", "reversed", "wide"))
        kernel = compile_nodes([op("where", flag, x, u), op("exp", x)], [flag, x, u], dtype=dtype)
        for n in (1, 8, 33):
            given = [rng.random(n) < 0.5, *(rng.normal(size=n).astype(dtype) for _ in "xu")]
            run(kernel, given, ("C", "reversed", "wide"))


def arrays() -> None:
    rng = np.random.default_rng(0)
    for dtype in ("float64", "float32"):
        for program in PROGRAMS:
            kernel = compile_nodes(program.outputs, program.inputs, dtype=dtype, name=program.name)
            for n, m in ((1, 1), (4, 3), (17, 9), (64, 65)):
                for batch in ((), (3,)):
                    given = [draw(s, {"n": n, "m": m}, batch, rng, dtype) for s in program.inputs]
                    run(kernel, given, ("C", "F", "reversed", "wide"))


def entries() -> None:
    """Small arrays, whose loop moves tiles of points and entries."""
    rng = np.random.default_rng(0)
    for dtype in ("float64", "float32"):
        for count in (1, 2, 3, 5, 8, 9, 16):
            v, c = array("v", count), array("c")
            outputs = [op("exp", v), op("mul", v, c), sum_over(v, (0,))]
            kernel = compile_nodes(outputs, [v, c], dtype=dtype)
            for n in (1, 7, 8, 16, 33):
                given = [rng.normal(size=(n, *shape)).astype(dtype) for shape in ((count,), ())]
                run(kernel, given, ("C", "F", "reversed", "wide"))


def factors() -> None:
    """Matrices that LAPACK reads and writes."""
    rng = np.random.default_rng(0)
    matrices, sides = array("S", "n", "n"), array("B", "n", "m")
    outputs = [
        linalg.inv(matrices),
        linalg.det(matrices),
        linalg.logdet(matrices),
        linalg.solve(matrices, sides),
        cholesky.cholesky(matrices),
        linalg.solve(cholesky.triangle(matrices, lower=True), sides),
    ]
    for dtype in ("float64", "float32"):
        kernel = compile_nodes(outputs, [matrices, sides], dtype=dtype)
        for n, m in ((0, 2), (1, 1), (2, 0), (4, 3), (17, 9), (40, 65)):
            for batch in ((), (3,)):
                given = [rng.normal(size=(*batch, n, k)).astype(dtype) for k in (n, m)]
                run(kernel, given, ("C", "F", "reversed"))


def positions() -> None:
    """Positions that no check has seen: memory outside the arrays stays untouched."""
    rows = op_with("gather", ((0,),), X, ids)
    both = op_with("gather", ((0, 1),), X, ids, ids + 1)
    added = op_with("scatter_add", ((0,), ("n",)), r, ids) + y
    hot = op_with("one_hot", (7,), ids)
    total = op_with("gather", ((0,),), op_with("cumsum", (0, 0), y), ids)
    for dtype in ("float64", "float32"):
        kernel = compile_nodes([rows, both, added, hot, total], [X, y, r, ids], dtype=dtype)
        near = [-8, -7, -6, -1, 0, 1, 5, 6, 7, 8, 2**31, -(2**31), 2**32, 2**53 + 1]
        far = [s * 2**k + d for k in (29, 60, 61, 62) for s in (1, -1) for d in (-1, 0, 1)]
        for wild in (near, far, [2**63 - 1, -(2**63), *range(-70, 70, 9)]):
            m = len(wild)
            given = [np.ones((6, 5), dtype), np.ones(6, dtype), np.ones(m, dtype), np.array(wild, np.int64)]
            results = [np.asarray(f) for f in kernel.ufunc(*given)]
            arrays = given + [np.zeros_like(f) for f in results]
            for placed in placements(arrays, ("C", "F")):
                kernel.ufunc(*placed[:4], out=tuple(placed[4:]))
                for found, expected in zip(placed[4:], results, strict=True):
                    if not same_bits(found, expected):
                        raise SystemExit(f"{found} is not {expected}")
            inside = (given[3] >= -6) & (given[3] < 6)
            if not np.array_equal(np.isnan(results[0][:, 0]), ~inside):
                raise SystemExit("a position outside reads as NaN")
            if results[2].sum() != 6 + inside.sum():
                raise SystemExit("a position outside adds nothing")


def overrun() -> None:
    """The guards are what they should be: a read past the end is fatal."""
    data = Pages(64).array(np.zeros(8), True, "C")
    print(ctypes.c_double.from_address(data.ctypes.data + data.nbytes).value)


if __name__ == "__main__":
    what = (elementwise, arrays, entries, factors, positions, overrun)
    {f.__name__: f for f in what}[sys.argv[1]]()
    print("done")
