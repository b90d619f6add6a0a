"""Whatever the text, the answer is a listing or a SymgradError that says where and what to do."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.errors import SymgradError
from symgrad.frontend.expressions.array_functions import ARRAYS
from symgrad.frontend.text import parse_program

PROGRAMS = [
    "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)",
    "a, b : positive\nX : real[n, 5]\n"
    "f = where(a < b <= 2, -a**2, log(a, b)) if a > 0 and not b > 1 else 3\nf + 1",
    "x**2 + sin(3*x)/cos(1e-3*x) # comment\n",
    "p : real(0, 1); q : real(-oo, 1/2)\nr = (p +\n q)*2 \\\n + 1\nPiecewise((p, p > q), (q, True))",
    "k : int\nc : bool\ny = (k if c else 2)**3\n",
    "polygamma(2, x) + maximum(a, b, c)*(x > 0)*~(y < 1)",
    "X : real[n, 5]; w : real[5]; y : real[n]\nr = X@w - y\nloss = mean(r**2)/n\n"
    "X.T@r + sum(X, axis=0, keepdims=True)[0]",
    "n : size\nX : real[n, 5]; ids : int[m]\n"
    "Y = einsum('ij,kj->ik', X[ids, ::-1], X[1:n - 1, None, 0:5][:, 0])\n"
    "concatenate((Y, zeros((m, 2))), axis=1)[..., [0, -1]]",
]
PIECES = [
    *"()[]{}+-*/=<>,:;~&|^@.!%$#'\"\\\n\t \0²π×−_0189eExy",
    "**", "//", ":=", "==", "lambda", "if", "else", "not", "and", "or", "for", "import", "pi", "True",
    "real", "Uniform",
    "sin(", "1e999999999", "9" * 50, "1e4000", "__import__('os')", "\ud800", "\ufeff", "é", "x y", "2x",
    "oo", "complex",
    "None", "[0]", "[1:]", "[:, None]", "...", "@", "axis=", "sum(", "(a, b)", "stack((", "'ij->ji'", ", axis=1", "n",
    "0x1F", "1_0", "..", ".T", ".real", "f(", "log()", "\r", "\x0c", "\u00a0", "((((((", "x = x\n",
    "x : real\n", "y", "z",
]  # fmt: skip


def mutate(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(text) + 1)
        choice = rng.random()
        if choice < 0.35:
            text = text[:place] + text[place + rng.randint(1, 4) :]
        elif choice < 0.9:
            text = text[:place] + rng.choice(PIECES) + text[place:]
        else:
            other = rng.randrange(len(text) + 1)
            text = text[:place] + text[min(place, other) : max(place, other)] + text[place:]
    return text


def check(text: str) -> bool:
    """Read a text; return whether it is a program, fail on anything but a complete error."""
    fault: SymgradError | None = None
    try:
        parse_program(text)
    except SymgradError as error:
        fault = error
    if fault is None:
        return True
    assert fault.at is not None, text
    assert 0 <= fault.at.span.start <= len(text), text
    assert fault.cure, text
    str(fault).encode("utf-8")
    return False


@pytest.mark.parametrize("seed", range(6))
def test_mutated_programs(seed: int) -> None:
    rng = random.Random(seed)
    good = sum(check(mutate(rng.choice(PROGRAMS), rng)) for _ in range(1000))
    assert 10 < good < 500  # the mutations reach both sides


@given(st.text(alphabet=st.sampled_from(sorted({*"xyT01.e+-*/@()[]<>=,:~&|^' \n"})), max_size=12))
def test_short_texts(text: str) -> None:
    check(text)


@given(st.text(max_size=20))
def test_any_text(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text", ["(" * 10**5, "-" * 10**5, "x" * 10**6, "\\\n" * 10**5, "#" * 10**6, "1" * 10**6, "\n" * 10**6]
)
def test_long_texts(text: str) -> None:
    check(text)


ARGUMENTS = [
    "X", "v", "s", "k", "ids", "c", "n", "2*n - 1", "0", "1", "-1", "-2", "7", "1/2", "None", "True", "pi", "()",
    "(0,)", "(1, 0)", "(0, -1)", "(n, 5)", "(X, X)", "[v, v]", "[0, 1]", "((1, None, 1),)", "((0, 1), (1, 0))",
    "'ij->ji'", "'i,i'", "'fro'", "(None,)", "((),)", "(s, k)", "X > 0", "1e30", "axis=0", "axis=None", "axis=(0, 1)",
    "keepdims=True", "shape=(n, 5)", "axes=(0,)", "axes=1", "ord=1", "ddof=1", "reverse=True",
]  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_any_arguments(name: str) -> None:
    rng = random.Random(name)
    declared = "X : real[n, 5]; v : real[n]; s : real; k : int; ids : int[m]; c : bool[n]\n"
    for _ in range(200):
        arguments = rng.choices(ARGUMENTS, k=rng.randint(0, 3))
        if rng.random() < 0.5:
            arguments.insert(0, rng.choice("Xv"))
        check(f"{declared}{name}({', '.join(arguments)})")
