"""Odd arguments of all kinds: a kernel does what it does without direct calls."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError

X, U = sg.symbols("x u")
SHAPES = [(1,), (3,), (8,), (600,), (2, 3), (0,), (0, 4), (4, 0), (1, 1), (3, 1), (1, 3), (2, 2, 2), ()]


class Array(np.ndarray):
    pass


class Float(float):
    pass


def unaligned(a: Any) -> Any:
    memory = np.frombuffer(bytearray(a.nbytes + 8), np.uint8)[3 : 3 + a.nbytes].view(a.dtype).reshape(a.shape)
    memory[...] = a
    return memory


def frozen(a: Any) -> Any:
    a.flags.writeable = False
    return a


def spread(a: Any) -> Any:
    wide = np.zeros((*a.shape, 2), a.dtype)
    wide[..., 0] = a
    return wide[..., 0]


def with_metadata(a: Any) -> Any:
    return a.astype(np.dtype(a.dtype, metadata={"unit": "m"}))


FORMS: list[Callable[[Any], Any]] = [
    *[lambda a: a] * 10,
    np.asfortranarray,
    np.ma.masked_array,
    frozen,
    spread,
    unaligned,
    with_metadata,
    lambda a: a[::-1] if a.ndim else a,
    lambda a: a.view(Array),
    lambda a: np.broadcast_to(a.dtype.type(1.5), a.shape),
    lambda a: a.astype(a.dtype.newbyteorder()),
    lambda a: a.astype(object),
    lambda a: a.astype(bool),
    lambda a: a.astype(np.float16),
    lambda a: a.astype(np.int64),
    lambda a: a.astype(complex),
    lambda a: a.tolist(),
]


def numbers() -> list[Any]:
    return [
        *(1.5, 2, True, None, "1", 1j, 10**400, math.nan, Float(1.25), np.float64(2.5), np.float32(1.5)),
        *(
            np.array(2.0),
            np.array([2.0]),
            [1.0, 2.0],
            (),
            {},
            np.longdouble(1.5),
            np.bool_(True),
            np.int64(3),
        ),
    ]


class Case:
    """One call, made anew as often as it is asked for: two calls cannot share what they write to."""

    def __init__(self, kernel: Any, seed: int) -> None:
        self.kernel = kernel
        self.seed = seed

    def arguments(self) -> tuple[list[Any], Any]:
        rng, kernel = random.Random(self.seed), self.kernel
        shape = rng.choice(SHAPES)
        kinds, count = kernel.kinds, len(kernel.inputs)

        def argument(kind: Any, others: list[Any]) -> Any:
            drawn = shape if rng.random() < 0.9 else rng.choice(SHAPES)
            if rng.random() < 0.2:
                return rng.choice(others)
            values = np.random.default_rng(self.seed).uniform(0.5, 2, drawn)
            return rng.choice(FORMS)(np.asarray(values, kind))

        given = [argument(kind, numbers()) for kind in kinds[:count]]
        if rng.random() < 0.5:
            return given, None
        outs = [argument(kind, [None, None, 1.0, *given]) for kind in kinds[count:]]
        if rng.random() < 0.3:
            memory = np.random.default_rng(self.seed).uniform(0.5, 2, 40).astype(kinds[0])
            first, other, length = rng.randrange(20), rng.randrange(20), rng.randrange(1, 20)
            given = [memory[first : first + length], *[np.ones(length, kinds[1])] * (count - 1)]
            outs = [np.zeros(length, kind) for kind in kinds[count:]]
            outs[-1] = memory[other : other + length]
        if rng.random() < 0.05:
            outs.append(outs[0])
        return given, rng.choice([tuple(outs), tuple(outs), tuple(outs), outs[0], outs])

    def outcome(self) -> Any:
        """Everything that can be seen of a call, as text."""
        given, out = self.arguments()
        outs: list[Any] = [
            o for o in (out if isinstance(out, tuple | list) else [out]) if isinstance(o, np.ndarray)
        ]
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                found = self.kernel(*given) if out is None else self.kernel(*given, out=out)
        except (SymgradError, MemoryError, ValueError, TypeError, OverflowError) as error:
            return type(error), str(error), [self.seen(o) for o in outs]
        found = found if type(found) is tuple else [found]
        same = [[f is o for o in outs] for f in found]
        texts = [str(w.message) for w in warned]
        return type(found), [self.seen(f) for f in found], same, [self.seen(o) for o in outs], texts

    @staticmethod
    def seen(value: Any) -> Any:
        dtype = value.dtype
        content = repr(value) if dtype.hasobject else np.ascontiguousarray(value).tobytes()
        return type(value), value.shape, dtype, content


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("outputs", [[X * 2 + U], [sg.sqrt(X**2 * U), X * U], [X > U, X * U]])
def test_odd_arguments(dtype: str, outputs: list[Any]) -> None:
    kernel: Any = sg.compile(outputs, inputs=[X, U], dtype=dtype)
    plain: Any = sg.compile(outputs, inputs=[X, U], dtype=dtype)
    plain._plain = False
    ones = np.ones(2, dtype)
    for _ in range(2):
        kernel(ones, ones)
    values = 0
    for seed in range(400):
        expected = Case(plain, seed).outcome()
        assert Case(kernel, seed).outcome() == expected, seed
        assert not (isinstance(expected[0], type) and expected[0] in (TypeError, ValueError)), expected
        values += len(expected) > 3
    assert plain._direct is None
    assert values > 100


def test_arrays_that_are_changed_while_they_are_read() -> None:
    """NumPy refuses to resize what a call holds."""
    import threading

    kernel = sg.compile([sg.sin(X) * U, X * U], inputs=[X, U])
    x, u = np.ones(60_000), np.ones(60_000)
    kernel(x, u)
    done = False

    def change() -> None:
        for k in range(10**9):
            if done:
                break
            try:
                for a in (x, u):
                    a.resize([(60_000,), (700, 100), (300, 200)][k % 3])
            except ValueError:
                continue

    other = threading.Thread(target=change)
    other.start()
    try:
        for _ in range(200):
            try:
                found = kernel(x, u)[1]
            except SymgradError:  # the one has its new shape and the other not yet
                continue
            assert found.size in (60_000, 70_000)
            assert found.ravel()[0] == 1
    finally:
        done = True
        other.join()
