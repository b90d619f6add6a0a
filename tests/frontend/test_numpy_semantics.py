"""A program means what NumPy makes of the same text: equal values, and an error where NumPy has one."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from symgrad.errors import IndexRangeError, SymgradError
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import Node, symbol
from symgrad.ir.sizes import Size, evaluate_size
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ir.values.evaluate import evaluate

SEEDS = st.integers(0, 2**32)

REALS: Mapping[str, tuple[Size, ...]] = {
    "X": (3, 2), "A": (3, 3), "B": (2, 3), "T": (2, 3, 2), "Q": (4, 2, 3), "R": (1, 3), "C": (3, 1), "Z": (0, 3),
    "v": (3,), "w": (2,), "e": (1,), "z": (0,), "s": (), "L": (2, 1, 3, 2),
}  # fmt: skip
NAMED: Mapping[str, tuple[Size, ...]] = {
    "X": ("n", "m"), "A": ("n", "n"), "B": ("m", "n"), "T": (2, "n", "m"), "R": (1, "n"), "C": ("n", 1), "v": ("n",),
    "w": ("m",), "e": (1,), "s": (), "D": (2, 3),
}  # fmt: skip
INTS: Mapping[str, tuple[Size, ...]] = {"i": (2,), "j": (2, 1), "k": (), "h": (0,)}
SIZES = {"n": 5, "m": 7}


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return np.linalg.norm(x, ord, axis, keepdims)


class NoReferenceError(Exception):
    """SciPy has no answer, and symgrad's follows from its definition."""


def _filled(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, axis: Any = None, **rest: Any) -> Any:
        if np.size(x) == 0 or np.ndim(x) == 0 or axis == ():
            raise NoReferenceError
        return function(x, axis=axis, **rest)

    return call


def _one_hot(ids: Any, depth: int) -> Any:
    return np.equal(np.expand_dims(ids, -1), np.arange(depth)).astype(int)


_NUMPY = """
    sum mean var std prod max min argmax argmin cumsum matmul dot tensordot inner outer trace diag einsum
    transpose swapaxes moveaxis reshape expand_dims squeeze broadcast_to flip concatenate stack zeros ones full eye
    arange take take_along_axis where sin tanh abs maximum zeros_like
"""
NAMESPACE: Mapping[str, Any] = {
    **{name: getattr(np, name) for name in _NUMPY.split()},
    "norm": _norm,
    **{name: _filled(getattr(special, name)) for name in ("softmax", "log_softmax", "logsumexp")},
    "one_hot": _one_hot,
}


class Texts:
    """Random expressions, each of earlier ones, over arrays of these shapes."""

    def __init__(self, seed: int, shapes: Mapping[str, tuple[Size, ...]]) -> None:
        self.rng = random.Random(seed)
        self.exact = list(shapes)  # what may be compared: rounding does not decide which entry is the largest
        self.pool = list(shapes)
        self.named = "n" in shapes["X"]
        # A size that is computed from names and happens to be 1 stays.
        self.whole_squeeze = [] if self.named else ["", ""]

    def operand(self) -> str:
        return self.rng.choice(self.pool[-5:] if self.rng.random() < 0.4 else self.pool)

    def index(self) -> str:
        return self.rng.choice(["i", "j", "k", "[0, -1]", "[1]", "h", "0", "argmax(v)", "i[:, None]", "j[0]"])

    def size(self) -> str:
        return self.rng.choice(
            ["n", "m", "n - 1", "2*m", "n*m", "1"] if self.named else ["0", "1", "2", "3", "6"]
        )

    def shape(self) -> str:
        sizes = [self.size() for _ in range(self.rng.randint(0, 3))]
        return self.rng.choice([f"({', '.join(sizes)}{',' * (len(sizes) == 1)})", self.size()])

    def end(self) -> str:
        more = ["n - 1", "n"] if self.named else ["3"]
        return self.rng.choice(["", "", "", "0", "1", "2", "-1", "-2", "9", "-9", *more])

    def slice(self) -> str:
        step = self.rng.choice(["", "", "", ":", ":2", ":-1", ":-2", ":1"])
        return f"{self.end()}:{self.end()}{step}"

    def key(self) -> str:
        items = [
            "None",
            "...",
            ":",
            ":",
            self.slice(),
            self.slice(),
            "0",
            "-1",
            "1",
            self.index(),
            self.index(),
        ]
        chosen = self.rng.choices(items, k=self.rng.randint(1, 4))
        return ", ".join(chosen) + self.rng.choice(["", "", "", ","])

    def axis(self) -> str:
        return self.rng.choice(["None", "0", "1", "-1", "2", "(0, 1)", "(-1, 0)", "(1,)", "()", "(0, 2)"])

    def one_axis(self) -> str:
        return self.rng.choice(["0", "1", "-1", "-2", "2"])

    def reduction(self) -> str:
        arguments = [self.operand()]
        if self.rng.random() < 0.7:
            arguments.append(self.rng.choice(["", "axis="]) + self.axis())
        if self.rng.random() < 0.4:
            arguments.append("keepdims=True")
        name = self.rng.choice(
            ["sum", "sum", "mean", "var", "std", "prod", "max", "min", "norm", "logsumexp"]
        )
        if name == "norm" and len(arguments) > 1 and not arguments[1].startswith("keep"):
            arguments[1] = f"axis={self.one_axis()}"
        return f"{name}({', '.join(arguments)})"

    def draw(self) -> str:
        a, b, c = self.operand(), self.operand(), self.operand()
        rng = self.rng
        moves: Sequence[Callable[[], str]] = [
            lambda: f"({a} {rng.choice('+-*')} {b})",
            lambda: f"{rng.choice(['sin', 'tanh', 'abs', '-'])}({a})",
            lambda: f"maximum({a}, {b})",
            lambda: f"where({rng.choice(self.exact)} > 0, {a}, {b})",
            lambda: f"({a}@{b})",
            lambda: f"({a}.T@{b})",
            lambda: f"({a}@{b}.T)",
            lambda: f"({a}@{b}@{c})",
            lambda: f"{rng.choice(['matmul', 'dot', 'inner', 'outer'])}({a}, {b})",
            lambda: (
                f"tensordot({a}, {b}, {rng.choice(['0', '1', '2', '([0], [1])', '([0, 1], [1, 0])', '(0, 0)'])})"
            ),
            lambda: f"{a}.T",
            lambda: f"{rng.choice(['trace', 'diag'])}({rng.choice([a, 'A', 'A.T', 'v', 'w'])})",
            lambda: f"einsum({rng.choice(EINSUMS)!r}, {a}, {b})",
            lambda: (
                f"einsum({rng.choice(['ij->ji', 'ii', 'ii->i', 'ij->', '...i->i...', 'i...', 'ji'])!r}, {a})"
            ),
            lambda: (
                f"transpose({a}, {rng.choice(['(1, 0)', '(1, 0, 2)', '(-1, 0, 1)', '(0, 0)', 'None', '(0,)'])})"
            ),
            lambda: f"swapaxes({a}, {self.one_axis()}, {self.one_axis()})",
            lambda: f"moveaxis({a}, {self.one_axis()}, {self.one_axis()})",
            lambda: (
                f"reshape({a}, {rng.choice([self.shape(), '-1', '(-1, 1)', '(2, -1)', '(-1, 3)', '(1, -1, 1)'])})"
            ),
            lambda: f"expand_dims({a}, {rng.choice([self.one_axis(), '(0, 1)', '(0, -1)'])})",
            lambda: (
                f"squeeze({a}{rng.choice([*self.whole_squeeze, ', axis=' + self.one_axis(), ', axis=(0,)'])})"
            ),
            lambda: f"broadcast_to({a}, {self.shape()})",
            lambda: f"flip({a}{rng.choice(['', ', axis=' + self.axis()])})",
            lambda: f"concatenate(({a}, {b}){rng.choice(['', ', axis=' + self.one_axis()])})",
            lambda: f"concatenate([{a}, {a}, {b}], {self.one_axis()})",
            lambda: f"stack(({a}, {rng.choice([a, b])}){rng.choice(['', ', axis=' + self.one_axis()])})",
            lambda: rng.choice(
                [f"zeros({self.shape()})", f"full({self.shape()}, 2)", f"ones({self.shape()})"]
            ),
            lambda: rng.choice(
                [f"eye({self.size()})", f"eye({self.size()}, {self.size()})", f"arange({self.size()})"]
            ),
            lambda: f"take({a}, {self.index()}{rng.choice(['', ', axis=' + self.one_axis()])})",
            lambda: (
                f"take_along_axis({a}, {rng.choice(['i', 'j', 'argmax(A, axis=1, keepdims=True)'])}, {self.one_axis()})"
            ),
            lambda: f"one_hot({rng.choice('ijkh')}, {self.size()})",
            lambda: f"cumsum({a}{rng.choice(['', ', axis=' + self.one_axis()])})",
            lambda: (
                f"{rng.choice(['softmax', 'log_softmax'])}({a}, axis={rng.choice(['0', '1', '-1', 'None', '(0, 1)'])})"
            ),
            lambda: (
                f"{rng.choice(['argmax', 'argmin'])}({rng.choice(self.exact)}, {rng.choice(['None', '0', '-1', '1'])})"
            ),
            self.reduction,
            self.reduction,
        ]
        if rng.random() < 0.3:
            return f"{a}[{self.key()}]"
        return rng.choice(moves)()


_EINSUMS = """
    ij,jk->ik ij,jk ij,kj->ik i,j->ij ij,ij-> ij,j ij,i->j ...i,i i,i ij,ij->ij bij,bjk->bik
    ...ij,...jk->...ik ij,ji ii,i->i i,j ij,k->kij ...,... ij,jj->i
"""
EINSUMS = _EINSUMS.split()

# NumPy has diagonals of matrices that are not square, and takes 0 and -1 for axes of a scalar.
REFUSED = ("a square matrix", "no axis: it is a scalar", "axes of equal length")


def _values(shapes: Mapping[str, tuple[Size, ...]], seed: int) -> tuple[dict[str, Node], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    names: dict[str, Node] = {}
    values: dict[str, Any] = {}
    for own, domain in ((shapes, REAL), (INTS, INT)):
        for name, shape in own.items():
            names[name] = symbol(Declaration(name, domain, shape))
            actual = tuple(evaluate_size(size, SIZES) for size in shape)
            values[name] = rng.normal(size=actual) if domain is REAL else rng.integers(-2, 2, actual)
    return names, values


def _both(text: str, names: Mapping[str, Node], values: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return what NumPy and symgrad make of a text: a value or an error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = eval(text, {"__builtins__": {}, **NAMESPACE, **SIZES}, dict(values))
        except (ValueError, TypeError, IndexError, np.exceptions.AxisError) as error:
            expected = error
        except NoReferenceError:
            return None, None
    try:
        node = parse_expression(text, names)
        (found,) = evaluate([node], {names[name]: value for name, value in values.items()})
        assert tuple(evaluate_size(size, SIZES) for size in node.shape) == np.shape(found), text
    except SymgradError as error:
        found = error
    return expected, found


def _check(text: str, expected: Any, found: Any) -> bool:
    """Compare; return whether there is a value."""
    if expected is None:
        return False
    if isinstance(expected, Exception):
        assert isinstance(found, SymgradError), f"{text}: {expected!r}, and symgrad gives {found!r}"
        return False
    if isinstance(found, IndexRangeError) and np.size(expected) == 0:
        return False  # NumPy does not look at positions where it takes no entry
    assert not isinstance(found, SymgradError), f"{text}: {found}"
    assert np.shape(found) == np.shape(expected), text
    np.testing.assert_allclose(
        np.asarray(found, float), np.asarray(expected, float), rtol=1e-7, atol=1e-9, err_msg=text
    )
    return True


def _finite(value: Any) -> bool:
    return (
        bool(np.all(np.abs(np.asarray(value, float)) < 1e4)) and np.ndim(value) < 5 and np.size(value) < 500
    )


@given(SEEDS)
def test_numbers_as_sizes(seed: int) -> None:
    texts = Texts(seed, REALS)
    names, values = _values(REALS, seed)
    for _ in range(30):
        text = texts.draw()
        expected, found = _both(text, names, values)
        if isinstance(found, SymgradError) and found.expected in REFUSED:
            continue
        if _check(text, expected, found) and len(text) < 80 and _finite(expected):
            texts.pool.append(text)


@given(SEEDS)
def test_names_as_sizes(seed: int) -> None:
    texts = Texts(seed, NAMED)
    names, values = _values(NAMED, seed)
    for _ in range(20):
        text = texts.draw()
        expected, found = _both(text, names, values)
        # Whether n - 1 is 4 is not known when a program is read, so that symgrad refuses more.
        if isinstance(found, SymgradError):
            continue
        if _check(text, expected, found) and len(text) < 80 and _finite(expected):
            texts.pool.append(text)


@pytest.mark.parametrize("shapes", [REALS, NAMED], ids=["numbers", "names"])
def test_most_texts_have_values(shapes: Mapping[str, tuple[Size, ...]]) -> None:
    # Texts that fail on both sides prove little.
    texts = Texts(7, shapes)
    names, values = _values(shapes, 7)
    drawn = [_both(texts.draw(), names, values) for _ in range(300)]
    assert sum(not isinstance(found, SymgradError) for _, found in drawn) > 100
