"""Arrays of enormous sizes, judged by exact whole numbers; positions inside and outside of axes, judged by NumPy."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import ArrayTypeError, IndexRangeError, OutOfMemoryError, ShapeError, SymgradError
from tests.compiler.kernels.guarded import Pages
from tests.fuzz.kind import kind, refused

MOST = 2**60 - 1  # entries of an array
SMALL, LARGE = 2**12, 2**30  # what is computed in no time, and what no case has the memory for


# ------------------------------------------------------------------------------------------------ enormous sizes


@dataclass(frozen=True)
class Array:
    """An array that is nowhere: its text, its shape, and its entries as a function of their places.

    Args:
        most: the most entries of an array on the way to it.
        short: whether a size, or what one is computed from, is no length of an array.
    """

    text: str
    shape: tuple[int, ...]
    at: Callable[..., float]
    most: int = 0
    short: bool = True

    @property
    def entries(self) -> int:
        return prod(max(s, 1) for s in self.shape)


@dataclass(frozen=True)
class Size:
    text: str
    value: int
    parts: int  # the largest number on the way to it


def _near(rng: random.Random) -> int:
    power = rng.choice([31, 32, 33, 53, 58, 59, 60, 61, 62, 63, 64, 65, 128])
    return 2**power + rng.choice([-1, 0, 0, 1])


class Case:
    """The sizes of a case, and random arrays of them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        lengths = [0, 1, 2, 3, 5, 2**31, 2**32 + 1, 2**33, 2**40, 2**59, MOST]
        self.sizes = {"n": rng.choice(lengths), "m": rng.choice(lengths[:8])}

    def size(self) -> Size:
        rng = self.rng
        name = rng.choice("nm")
        value = self.sizes[name]
        if rng.random() < 0.25:
            number = rng.choice([0, 1, 2, 3, 4])
            return Size(str(number), number, number)
        match rng.randrange(6):
            case 0:
                number = _near(rng)
                return Size(str(number), number, number)
            case 1:
                factors = [rng.choice("nm") for _ in range(rng.choice([2, 2, 3, 4]))]
                values = [self.sizes[f] for f in factors]
                return Size("*".join(factors), prod(values), prod(max(v, 1) for v in values))
            case 2:
                more = rng.choice([1, 2, _near(rng)])
                return Size(f"{name} + {more}", value + more, value + more)
            case 3:
                times = rng.choice([2, 3, _near(rng)])
                return Size(f"{times}*{name}", times * value, times * max(value, 1))
            case _:
                return Size(name, value, value)

    def base(self) -> Array:
        rng = self.rng
        s, t = self.size(), self.size()
        parts = max(s.parts, t.parts)
        one = ((s.value,), s.parts <= MOST)
        two = ((s.value, t.value), parts <= MOST)
        n = self.sizes["n"]
        found = {
            "zeros({s})": (one, lambda i: 0.0),
            "ones(({s}, {t}))": (two, lambda i, j: 1.0),
            "arange({s})": (one, float),
            "eye({s}, {t})": (two, lambda i, j: float(i == j)),
            "one_hot(c, {s})": (one, lambda i: float(i == 1)),
            "v": (((n,), True), lambda i: 2.5),
            "broadcast_to(x, ({s}, {t}))": (two, lambda i, j: 1.5),
            "full({s}, x)": (one, lambda i: 1.5),
        }
        text = rng.choice([*found])
        (shape, short), at = found[text]
        made = Array(text.format(s=s.text, t=t.text), shape, at, 0, short)
        return replace(made, most=made.entries)

    def more(self, a: Array) -> Array:
        """Return an array that is made of another."""
        rng, at, shape = self.rng, a.at, a.shape
        n = self.sizes["n"]
        choice = rng.randrange(10)
        if choice == 0:
            made = replace(a, text=f"({a.text} + x)", at=lambda *i: at(*i) + 1.5)
        elif choice == 1:
            made = replace(a, text=f"(({a.text})*2)", at=lambda *i: at(*i) * 2)
        elif choice == 2 and len(shape) == 2:
            made = replace(a, text=f"({a.text}).T", shape=shape[::-1], at=lambda i, j: at(j, i))
        elif choice == 3 and len(shape) == 2:
            columns = shape[1]
            text = f"reshape({a.text}, ({rng.choice(['-1', str(prod(shape))])},))"
            if text.endswith("(-1,))") or all(s.isdigit() for s in a.text.replace("(", " ").split()):
                made = replace(a, text=text, shape=(prod(shape),), at=lambda i: at(i // columns, i % columns))
            else:
                made = a
        elif choice == 4 and len(shape) == 1:
            length = shape[0]
            made = replace(
                a,
                text=f"concatenate(({a.text}, arange(3)))",
                shape=(length + 3,),
                at=lambda i: at(i) if i < length else float(i - length),
            )
        elif choice == 5 and len(shape) == 1:
            made = replace(a, text=f"outer({a.text}, v)", shape=(*shape, n), at=lambda i, j: at(i) * 2.5)
        elif choice == 6 and len(shape) == 1:
            made = replace(a, text=f"kron({a.text}, v)", shape=(shape[0] * n,), at=lambda i: at(i // n) * 2.5)
        elif choice == 7:
            made = replace(a, text=f"stack(({a.text}, {a.text}))", shape=(2, *shape), at=lambda _, *i: at(*i))
            if len(made.shape) > 2:
                return a
        else:
            made = self.part(a)
        # An axis that is long is one even where another is empty.
        return replace(made, most=max(a.most, made.entries, *made.shape, n if choice in (5, 6) else 0))

    def part(self, a: Array) -> Array:
        """Return a slice along the first axis."""
        rng, at, length = self.rng, a.at, a.shape[0]

        def end() -> tuple[str, int | None]:
            if rng.random() < 0.3:
                return "", None
            if rng.random() < 0.3:
                name = rng.choice("nm")
                return name, self.sizes[name]
            value = rng.choice([0, 1, 2, 5, _near(rng)]) * rng.choice([1, 1, -1])
            return str(value), value

        (first, start), (last, stop) = end(), end()
        step = rng.choice([1, 1, 2, 3, _near(rng)]) * rng.choice([1, 1, -1])
        begin, finish, step_ = slice(start, stop, step).indices(length)
        count = max(0, -((begin - finish) // step_))
        return replace(
            a,
            text=f"({a.text})[{first}:{last}:{step}]",
            shape=(count, *a.shape[1:]),
            at=lambda i, *rest: at(begin + i * step_, *rest),
        )


@contextmanager
def _little_memory() -> Iterator[bool]:
    """Let this process have a gibibyte more, if that can be; tell whether it can."""
    if sys.platform != "linux":
        yield False
        return
    import resource
    from pathlib import Path

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    allowed = used + 2**30
    resource.setrlimit(resource.RLIMIT_AS, (allowed if before[0] < 0 else min(allowed, before[0]), before[1]))
    try:
        yield True
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _answer(answer: Callable[[], Any]) -> Any:
    """Return a value, or the error of symgrad's that is there instead."""
    try:
        return answer()
    except SymgradError as error:
        refused(error)
        return error


def _place(rng: random.Random, length: int) -> int:
    choices = [0, -1, 1, length - 1, length, -length, -length - 1, length // 2, _near(rng), -_near(rng)]
    return rng.choice(choices)


@kind("sizes-near-2**31-and-2**63")
def sizes_near_powers(rng: random.Random) -> None:
    case = Case(rng)
    a = case.base()
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        if a.most <= MOST:
            a = case.more(a)
    expected: Any
    if rng.random() < 0.6:
        at = [_place(rng, length) for length in a.shape]
        y = f"({a.text})[{', '.join(map(str, at))}]"
        inside = all(-s <= i < s for i, s in zip(at, a.shape, strict=True))
        whole = tuple(i % s for i, s in zip(at, a.shape, strict=True)) if inside else ()
        expected = a.at(*whole) if inside and a.most <= MOST else IndexRangeError
        read = 1
    else:
        how = rng.choice(["", "sum", "max"])
        y = f"{how}({a.text})" if how else a.text
        read = prod(a.shape)
        known = read <= SMALL and a.most <= MOST
        entries = np.array([a.at(*i) for i in np.ndindex(a.shape if read else (0,))]) if known else None
        expected = entries
        if how and entries is not None:
            expected = (
                (np.sum if how == "sum" else np.max)(entries) if entries.size or how == "sum" else ShapeError
            )
        elif entries is not None:
            expected = entries.reshape(a.shape)
    _judge(rng, y, case, a, expected, read)


def _judge(rng: random.Random, y: str, case: Case, a: Array, expected: Any, read: int) -> None:
    too_large = a.most > MOST

    def check(answer: Callable[[], Any]) -> bool:
        """Tell whether there is a value to go on with."""
        found = _answer(answer)
        if isinstance(found, SymgradError):
            known = (
                (ShapeError,) * (too_large or not a.short)
                + (OutOfMemoryError,) * (a.most > SMALL)
                + ((expected,) if isinstance(expected, type) else ())
            )
            assert isinstance(found, known), f"{y} with {case.sizes}: {found}"
            return False
        if isinstance(found, sg.Expr | type(kernel)):
            return True
        assert not too_large, f"{y} with {case.sizes} is {found}"
        assert not isinstance(expected, type), f"{y} with {case.sizes} is {found}, not {expected}"
        assert expected is not None or read < LARGE, f"{y} with {case.sizes} took no memory"
        assert expected is None or np.array_equal(found, expected), (
            f"{y} with {case.sizes} is {found}, not {expected}"
        )
        return True

    kernel: Any = None
    expr: Any = None

    def parsed() -> Any:
        nonlocal expr
        expr = sg.parse(f"x : real; v : real[n]; w : real[m]; c : int; y = {y}")["y"]
        return expr

    if not check(parsed):
        return
    expr.numpy_source()
    assert len(str(expr)) < 10_000
    n, m = case.sizes["n"], case.sizes["m"]
    given = {"x": 1.5, "v": np.broadcast_to(2.5, (n,)), "w": np.broadcast_to(1.0, (m,)), "c": 1}
    # What is neither small nor beyond all memory takes its time; so do loops over what is nowhere in memory.
    with _little_memory() as little:
        calls = a.most <= SMALL or a.most >= (LARGE if little else 2**50)
        calls = calls and (read <= SMALL or not y.startswith(("sum", "max")) or too_large)
        if calls:
            check(lambda: expr(**given))
        if rng.random() < 0.3:

            def compiled() -> Any:
                nonlocal kernel
                kernel = sg.compile(expr, ["x", "v", "w", "c"])
                return kernel

            if check(compiled) and calls:
                check(lambda: kernel(**given))


# ---------------------------------------------------------------------------------------- positions past the ends

_DECLARED = "v, z : real[n]; X : real[n, m]; ids : int[k]; P : int[n, l]; c : int; s : real[k]"

_READS: dict[str, Callable[[Any, int], Any]] = {
    "v[ids]": lambda a, C: a.v[a.ids],
    "v[ids + C]": lambda a, C: a.v[a.ids + C],
    "v[ids*C]": lambda a, C: a.v[a.ids * C],
    "v[C - ids]": lambda a, C: a.v[C - a.ids],
    "v[P]": lambda a, C: a.v[a.P],
    "v[P.T + C]": lambda a, C: a.v[a.P.T + C],
    "v[c]": lambda a, C: a.v[a.c],
    "v[c + C]": lambda a, C: a.v[a.c + C],
    "v[C]": lambda a, C: a.v[C],
    "v[n - C]": lambda a, C: a.v[len(a.v) - C],
    "v[-m]": lambda a, C: a.v[-a.X.shape[1]],
    "v[[0, C]]": lambda a, C: a.v[[0, C]],
    "X[ids]": lambda a, C: a.X[a.ids],
    "X[:, ids]": lambda a, C: a.X[:, a.ids],
    "X[ids, ids]": lambda a, C: a.X[a.ids, a.ids],
    "X[ids, C]": lambda a, C: a.X[a.ids, C],
    "X[c, ids]": lambda a, C: a.X[a.c, a.ids],
    "X[ids][:, ids]": lambda a, C: a.X[a.ids][:, a.ids],
    "X[ids, None, ids + C]": lambda a, C: a.X[a.ids, None, a.ids + C],
    "X[C]": lambda a, C: a.X[C],
    "X[::-1][ids]": lambda a, C: a.X[::-1][a.ids],
    "X.T[ids]*2": lambda a, C: a.X.T[a.ids] * 2,
    "take(X, ids)": lambda a, C: np.take(a.X, a.ids),
    "take(X, ids, axis=1)": lambda a, C: np.take(a.X, a.ids, axis=1),
    "take_along_axis(X, P, 1)": lambda a, C: np.take_along_axis(a.X, a.P, 1),
    "take_along_axis(X, argmax(X, axis=1, keepdims=True), 1)": lambda a, C: np.take_along_axis(
        a.X, np.argmax(a.X, axis=1, keepdims=True), 1
    ),
    "v[argmax(z)]": lambda a, C: a.v[np.argmax(a.z)],
    "v[argmin(z) + C]": lambda a, C: a.v[np.argmin(a.z) + C],
    "z[argmax(X, axis=1)]": lambda a, C: a.z[np.argmax(a.X, axis=1)],
    "z[argmin(X, axis=0)]": lambda a, C: a.z[np.argmin(a.X, axis=0)],
    "v[argmax(X)]": lambda a, C: a.v[np.argmax(a.X)],
    "X[argmax(X, axis=0), arange(m)]": lambda a, C: a.X[np.argmax(a.X, axis=0), np.arange(a.X.shape[1])],
    "v[arange(m)]": lambda a, C: a.v[np.arange(a.X.shape[1])],
    "concatenate((v, z))[ids]": lambda a, C: np.concatenate([a.v, a.z])[a.ids],
    "reshape(X, (-1,))[ids]": lambda a, C: a.X.reshape(-1)[a.ids],
    "cumsum(v)[ids]": lambda a, C: np.cumsum(a.v)[a.ids],
    "v[k:]": lambda a, C: a.v[len(a.ids) :],
    "v[:k]": lambda a, C: a.v[: len(a.ids)],
    "v[k::2]": lambda a, C: a.v[len(a.ids) :: 2],
    "v[k::-1]": lambda a, C: a.v[len(a.ids) :: -1],
    "v[:k:-2]": lambda a, C: a.v[: len(a.ids) : -2],
    "v[k:l]": lambda a, C: a.v[len(a.ids) : a.P.shape[1]],
    "v[-3:k]": lambda a, C: a.v[-3 : len(a.ids)],
    "v[::2][ids]": lambda a, C: a.v[::2][a.ids],
    "v[k:][ids]": lambda a, C: a.v[len(a.ids) :][a.ids],
    "X[k:, :l]": lambda a, C: a.X[len(a.ids) :, : a.P.shape[1]],
    "X[::-3, l::-1]": lambda a, C: a.X[::-3, a.P.shape[1] :: -1],
    "sum(X[:, ids], axis=0)": lambda a, C: np.sum(a.X[:, a.ids], axis=0),
    "one_hot(ids, n)": lambda a, C: np.equal.outer(a.ids, np.arange(len(a.v))).astype(int),
    "one_hot(ids + C, 3)": lambda a, C: np.equal.outer(a.ids + C, np.arange(3)).astype(int),
    "scatter_add(s, ids, axes=0, shape=(n,))": lambda a, C: _added(a.s, a.ids, len(a.v)),
    "scatter_add(s, ids + C, axes=0, shape=(m,))": lambda a, C: _added(a.s, a.ids + C, a.X.shape[1]),
    "scatter_add(X[ids], ids, axes=0, shape=(n, m))": lambda a, C: _added(a.X[a.ids], a.ids, len(a.v)),
    "by v: sum(v[ids + C]*s)": lambda a, C: _added(a.s, a.ids + C, len(a.v)),
    "by X: sum(X[ids, ids]*s)": lambda a, C: _added_both(a.s, a.ids, a.X.shape),
}


def _added(values: np.ndarray, where: np.ndarray, length: int) -> np.ndarray:
    found = np.zeros((length, *values.shape[1:]))
    np.add.at(found, where, values)
    return found


def _added_both(values: np.ndarray, where: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(shape)
    np.add.at(found, (where, where), values)
    return found


@lru_cache(400)
def _reading(y: str) -> tuple[Any, Any]:
    """Return an expression and its kernel."""
    by, _, text = y.rpartition("by ")[2].rpartition(": ") if y.startswith("by ") else ("", "", y)
    program = sg.parse(f"{_DECLARED}; y = {text}")
    expr = sg.grad(program["y"], program[by]) if by else program["y"]
    return expr, sg.compile(expr)


def _positions(rng: random.Random, shape: tuple[int, ...], length: int) -> np.ndarray:
    """Whole numbers for an axis: mostly inside, some a little outside or far away, of any dtype."""
    found = np.empty(shape, object)
    wild = rng.random() < 0.3
    far = [2**31, -(2**31), 2**32 - 1, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63)]
    for i in np.ndindex(shape):
        found[i] = rng.randint(-length, max(length - 1, 0))
        if wild and rng.random() < 0.4:
            found[i] = rng.choice([length, -length - 1, length + 1, rng.randint(-70, 70), rng.choice(far)])
    kinds = ["int64", "int64", "int64", "int8", "int16", "int32", "uint8", "uint32", "uint64", "float64"]
    kind_ = np.dtype(rng.choice(kinds))
    exact = found.astype(np.int64)
    cast = exact.astype(kind_)
    # Negative ones are large as unsigned ones; else values stay what they are.
    return cast if kind_.kind == "u" or (cast.astype(object) == found).all() else exact


def _guarded(rng: random.Random, array: np.ndarray) -> np.ndarray:
    """The array beside pages that nobody may read or write."""
    if sys.platform == "win32":
        return array
    layout = rng.choice(["C", "C", "F", "reversed", "wide"])
    return Pages(4 * array.nbytes).array(array, rng.random() < 0.5, layout)


@kind("positions-past-the-ends")
def positions_past_the_ends(rng: random.Random) -> None:
    template = rng.choice([*_READS])
    constant = rng.choice([0, 1, 2, -1, -2, 3, -7, 2**31, 2**62]) if "C" in template else 0
    y = template.replace("C", f"({constant})" if constant < 0 else str(constant))
    n, m, k, width = (rng.choice([0, 1, 2, 3, 3, 5, 8, 9, 17]) for _ in range(4))
    draw = np.random.default_rng(rng.randrange(2**32))
    near = rng.choice([n, n, n, m])
    given = {
        "v": draw.normal(size=n).round(3),
        "z": draw.normal(size=n).round(3),
        "X": draw.normal(size=(n, m)).round(3),
        "ids": _positions(rng, (k,), near),
        "P": _positions(rng, (n, width), rng.choice([n, m])),
        "c": _positions(rng, (), near)[()],
        "s": draw.normal(size=k).round(3),
    }
    if rng.random() < 0.1 and given["X"].size:
        given["X"].flat[rng.randrange(given["X"].size)] = np.nan
    try:
        expr, kernel = _reading(y)
    except IndexRangeError:  # the position is outside for all sizes, also for these
        refused = _reference(_READS[template], constant, given, ())
        assert isinstance(refused, tuple), (y, refused)
        assert IndexRangeError in refused, (y, refused)
        return
    expected = _reference(_READS[template], constant, given, kernel.inputs)
    given = {name: given[name] for name in kernel.inputs}
    placed = {name: _guarded(rng, np.asarray(value)) for name, value in given.items()}

    def check(answer: Callable[[], Any]) -> None:
        found = _answer(answer)
        if isinstance(found, SymgradError):
            # Where nothing is read, NumPy does not always look.
            nothing = not isinstance(expected, tuple) and not expected.size
            right = (IndexRangeError,) if nothing else expected if isinstance(expected, tuple) else ()
            assert isinstance(found, right), (y, found, given)
            return
        assert not isinstance(expected, tuple), (y, found, given)
        assert found.shape == expected.shape, (y, found, expected)
        assert np.allclose(found, expected, rtol=1e-14, atol=1e-13, equal_nan=True), (y, found, expected)

    check(lambda: kernel(**placed))
    if not isinstance(expected, tuple):
        shape = np.shape(expected)
        out = _guarded(rng, np.zeros(shape, kernel.kinds[-1]))
        check(lambda: kernel(**placed, out=out))
    check(lambda: np.asarray(expr(**placed)))
    if all(value.dtype == kind_ for value, kind_ in zip(placed.values(), kernel.kinds, strict=False)):
        found = kernel.ufunc(*placed.values())  # without checks: any value, and nothing outside is touched
        if not isinstance(expected, tuple):
            check(lambda: found)


def _reference(
    read: Callable[[Any, int], Any], constant: int, given: dict[str, Any], inputs: Sequence[str]
) -> Any:
    """Return NumPy's value, or the errors that are right."""
    exact = {name: np.asarray(value) for name, value in given.items()}
    whole = ("ids", "P", "c")
    if any(
        name in inputs and exact[name].size and max(map(int, exact[name].ravel())) >= 2**63 for name in whole
    ):
        return (ArrayTypeError, IndexRangeError, ShapeError)
    for name in whole:
        values = exact[name].astype(np.int64)
        # Sums and products of what is far away do not wrap around: to NumPy it is a little nearer, and still outside.
        exact[name] = np.clip(values, -(2**40), 2**40)
    try:
        return np.asarray(read(SimpleNamespace(**exact), constant if abs(constant) < 2**40 else 2**20))
    except IndexError:
        return (IndexRangeError,)
    except ValueError as error:
        if "empty sequence" in str(error):
            return (ShapeError,)
        raise
