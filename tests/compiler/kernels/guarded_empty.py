"""Call kernels on arrays of which some are empty, in every place, layout and way; a slip ends the process.

Started by test_empty_arrays.py in a process of its own: python -m tests.compiler.kernels.guarded_empty FOLDER
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import symgrad as sg
from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.compiler.kernels.calls.threads import cores
from symgrad.errors import ArrayTypeError, UnsupportedError
from symgrad.runtime import load
from tests.compiler.kernels.guarded import Pages

LENGTHS = (0, 3)
BATCHES = ((), (0,), (2,), (2, 0))
LAYOUTS = ("C", "F", "wide", "reversed", "broadcast")
ROOM = 4096


class Case(NamedTuple):
    """A program, and what NumPy says that it computes of one element of a batch."""

    name: str
    text: str
    outputs: str
    sizes: int
    values: Callable[..., list[Any]]


CASES = (
    Case("doubled", "X : real[n, m]\na = 2*X + X[::-1]", "a", 2, lambda x: [2 * x + x[::-1]]),
    Case("summed", "X : real[n, m]\na = 2*X\nb = sum(X)", "a b", 2, lambda x: [2 * x, x.sum()]),
    Case(
        "reduced",
        "X : real[n, m]\na = 2*X\nb = sum(X, axis=0)\nc = sum(X, axis=1)",
        "a b c",
        2,
        lambda x: [2 * x, x.sum(0), x.sum(1)],
    ),
    Case("vector", "X : real[n]\na = 2*X\nb = sum(X)", "a b", 1, lambda x: [2 * x, x.sum()]),
    Case(
        "cube",
        "X : real[n, m, k]\na = 2*X\nb = sum(X, axis=1)\nc = X > 1",
        "a b c",
        3,
        lambda x: [2 * x, x.sum(1), x > 1],
    ),
    Case(
        "product",
        "X : real[n, m]\nY : real[m, k]\na = 2*X\nb = X@Y\nc = sum(Y)",
        "a b c",
        3,
        lambda x, y: [2 * x, x @ y, y.sum()],
    ),
    Case(
        "columns",
        "X : real[n, 3]\nw : real[3]\na = w + 1\nb = 2*X",
        "a b",
        1,
        lambda x, w: [w + 1, 2 * x],
    ),
)

POINTWISE = (
    Case("one", "X : real\na = 2*X", "a", 2, lambda x: [2 * x]),
    Case("two", "X : real\na = 2*X\nb = X > 1", "a b", 2, lambda x: [2 * x, x > 1]),
    Case("three", "X : real\na = 2*X\nb = X**2\nc = -X", "a b c", 2, lambda x: [2 * x, x * x, -x]),
)


def shapes_of(case: Case, lengths: Sequence[int]) -> list[tuple[int, ...]]:
    """The shapes of the inputs, without a batch."""
    if case.name == "product":
        n, m, k = lengths
        return [(n, m), (m, k)]
    return [(*lengths, 3), (3,)] if case.name == "columns" else [tuple(lengths)]


def placed(pages: Pages, like: np.ndarray, layout: str, *, at_end: bool) -> np.ndarray:
    """An array with these values at an end of the pages."""
    if layout != "broadcast":
        return pages.array(like, at_end, layout)
    # One element for all along the first axis that has more than one, and for an empty array no step at all.
    axis = next((d for d, length in enumerate(like.shape) if length > 1), None)
    if like.size == 0:
        at = len(pages.inside) if at_end else 0
        return np.ndarray(like.shape, like.dtype, pages.inside, at, (0,) * like.ndim)
    if axis is None:
        return pages.array(like, at_end, "C")
    one = pages.array(like.take([0], axis), at_end, "C")
    return np.broadcast_to(one, like.shape)


def beside(array: np.ndarray, pages: Pages) -> np.ndarray:
    """An array of the same shape that overlaps another by all but one element, where there is room."""
    first = array.__array_interface__["data"][0] - pages.inside.ctypes.data
    low = first + sum(min(0, (n - 1) * s) for n, s in zip(array.shape, array.strides, strict=True) if n)
    shift = -array.itemsize if low >= array.itemsize else array.itemsize
    if array.size == 0:
        shift = 0
    return np.ndarray(array.shape, array.dtype, pages.inside, first + shift, array.strides)


def targets(
    given: Sequence[np.ndarray], pages: Sequence[Pages], expected: Sequence[np.ndarray], layout: str
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Arrays for the outputs: none, separate, the inputs, what overlaps them, and what begins where they do."""
    apart = [Pages(ROOM) for _ in expected]

    def separate(k: int) -> np.ndarray:
        # No array of results repeats an element; one that has none may say so.
        how = "C" if layout == "broadcast" and expected[k].size else layout
        return placed(apart[k], expected[k], how, at_end=True)

    def same(k: int, *, moved: bool = False) -> np.ndarray:
        for array, where in zip(given, pages, strict=True):
            fits = (array.shape, array.dtype) == (expected[k].shape, expected[k].dtype)
            if fits and (array.size == 0 or 0 not in array.strides):
                return beside(array, where) if moved else array
        return separate(k)

    def start(k: int) -> np.ndarray:
        """Begin where the first input does, at its first element or the last that fits in."""
        like, inside = expected[k], pages[0].inside
        first = given[0].__array_interface__["data"][0] - inside.ctypes.data
        return np.ndarray(like.shape, like.dtype, inside, min(first, len(inside) - like.nbytes))

    count = range(len(expected))
    yield "separate", tuple(map(separate, count))
    yield "input", tuple(map(same, count))
    yield "input backwards", tuple([same(k)[..., ::-1] if expected[k].ndim else same(k) for k in count])
    yield "partly", tuple([same(k, moved=True) for k in count])
    for k in count:
        yield "input, none", tuple([same(k) if j == k else None for j in count])
        # One alone, as outputs that overlap each other have no values of their own.
        yield "same start", tuple([start(k) if j == k else separate(j) for j in count])
    yield "none", (None,) * len(expected)


def check(name: str, found: Any, expected: Sequence[np.ndarray], outs: Sequence[Any]) -> None:
    for value, wanted, out in zip(as_tuple(found), expected, outs, strict=True):
        right = np.shape(value) == wanted.shape and np.array_equal(value, wanted)
        if not right or (out is not None and not np.array_equal(out, wanted)):
            raise SystemExit(f"{name}: found {value!r}, expected {wanted!r}")


def expected_of(case: Case, given: Sequence[np.ndarray], batch: tuple[int, ...]) -> list[np.ndarray]:
    """What NumPy computes, one element of the batch after the other."""
    like = [np.asarray(v) for v in case.values(*(np.zeros(g.shape[len(batch) :]) for g in given))]
    found = [np.zeros(batch + v.shape, v.dtype) for v in like]
    for place in np.ndindex(*batch):
        for array, value in zip(found, case.values(*(g[place] for g in given)), strict=True):
            array[place] = value
    return found


def ways(outputs: Sequence[sg.Expr], name: str, folder: Path) -> dict[str, Callable[..., Any]]:
    """The kernel in every way in which it is called."""
    kernel: Any = sg.compile(outputs, name=name)
    (saved, *_) = kernel.save(folder / f"{name}.o")
    loaded, again = sg.load(saved), load(saved)
    return {
        "call": kernel,
        "threads": sg.compile(outputs, name=name, threads=min(2, cores())),
        "ufunc": kernel.ufunc,
        "plainly": kernel._call_plainly,
        "loaded": loaded,
        "loaded ufunc": loaded.ufunc,
        "runtime": again,
    }


def at_pages(
    pages: Sequence[Pages], like: Sequence[np.ndarray], layout: str, *, at_end: bool
) -> list[np.ndarray]:
    return [placed(p, a, layout, at_end=at_end) for p, a in zip(pages, like, strict=True)]


def calls(case: Case, called: dict[str, Callable[..., Any]], *, pointwise: bool) -> int:
    """Make all calls of a case, and return how many there were."""
    count = 0
    several = len(case.outputs.split()) > 1
    for lengths in itertools.product(LENGTHS, repeat=case.sizes):
        for batch, layout, at_end in itertools.product(BATCHES, LAYOUTS, (True, False)):
            shapes = [batch + s for s in shapes_of(case, lengths)]
            if not any(0 in s for s in shapes):
                continue  # test_guard_pages.py
            like = [np.arange(1.0, 1 + np.prod(s, dtype=int)).reshape(s) for s in shapes]
            for way, call in called.items():
                pages = [Pages(ROOM) for _ in like]
                given = at_pages(pages, like, layout, at_end=at_end)
                expected = expected_of(case, [np.array(g) for g in given], () if pointwise else batch)
                for what, outs in targets(given, pages, expected, layout):
                    at_pages(pages, like, layout, at_end=at_end)  # as an earlier call may have written there
                    name = f"{case.name}{shapes} {layout} {way} out: {what}"
                    check(name, call(*given, out=outs if several else outs[0]), expected, outs)
                    count += 1
    return count


def scalars(kernel: Any, error: type[Exception]) -> None:
    """Numbers are what `scalar` takes: empty arrays are refused."""
    try:
        kernel.scalar(np.zeros((0, 3)))
    except error:
        return
    raise SystemExit(f"{kernel} has taken an empty array for a number")


def main(folder: Path) -> None:
    counts: Counter[str] = Counter()
    for pointwise, cases in ((False, CASES), (True, POINTWISE)):
        for case in cases:
            p = sg.parse(case.text)
            called = ways([p[name] for name in case.outputs.split()], case.name, folder)
            counts[case.name] = calls(case, called, pointwise=pointwise)
            for way in ("call", "loaded"):
                scalars(called[way], ArrayTypeError if pointwise else UnsupportedError)
    print(*(f"{name} {count}" for name, count in counts.items()), sep="\n", file=sys.stderr)
    print("done")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
