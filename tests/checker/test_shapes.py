"""Shapes as the checker derives them: those of the graph for every op, and no others."""

from __future__ import annotations

import dataclasses
import math
import random
from fractions import Fraction
from itertools import product

import pytest

from symgrad.checker.balls.array_ops import ARRAY_OPS
from symgrad.checker.program.derivative import derivative_claim
from symgrad.checker.program.length_polynomials import (
    empty_axis_condition,
    length_polynomial,
    length_text,
    slice_length,
)
from symgrad.checker.program.length_values import length_value
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.checker.shapes import _RULES, check_shapes
from symgrad.errors import UsageError
from symgrad.frontend.text import parse_program
from symgrad.ir.shapes import slice_length as known_length
from symgrad.verification.statement import program_of
from tests.arrays import PROGRAMS, RECURRENCES
from tests.checker.test_derivative import ARRAY_FUNCTIONS, DECLARED, grad
from tests.graphs_arrays import SYMBOLS, random_arrays


def refused(program: ProofProgram) -> bool:
    try:
        check_shapes(program)
    except UsageError:
        return True
    return False


def others(program: ProofProgram):
    """Programs in which one step says another shape of itself, or another kind."""
    for i, step in enumerate(program.steps):
        if step.op == "symbol":
            continue
        shapes = [
            (*step.shape, 1),
            (*step.shape, "n"),
            step.shape[1:],
            ("q", *step.shape[1:]),
            step.shape[::-1],
        ]
        kind = "real" if step.kind == "bool" else "bool"
        for other in (
            *(dataclasses.replace(step, shape=s) for s in shapes),
            dataclasses.replace(step, kind=kind),
        ):
            if other != step:
                yield ProofProgram((*program.steps[:i], other, *program.steps[i + 1 :]), program.symbols)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in RECURRENCES])
def test_every_array_op(name):
    program, _ = program_of([PROGRAMS[name]()])
    check_shapes(program)
    assert all(refused(other) for other in others(program))


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    nodes = random_arrays(seed, 12, symbols=SYMBOLS)
    program, _ = program_of(nodes)
    check_shapes(program)
    rng = random.Random(seed)
    assert all(refused(other) for other in rng.sample(list(others(program)), 20))


@pytest.mark.parametrize("formula", ARRAY_FUNCTIONS)
def test_steps_of_derivatives(formula):
    listing = parse_program(f"{DECLARED}\ny = {formula}")
    y, x = listing.assignments["y"], listing.symbols["A"]
    program, (at, claim) = program_of([y, grad(y, x)], list(listing.symbols.values()))
    check_shapes(derivative_claim(program, at, "A", claim).program)


def test_every_array_op_has_a_rule():
    assert set(ARRAY_OPS) <= {*_RULES, "recurrence", "pack", "part"}


ENDS = (None, 0, 1, 2, 5, -1, -3)


@pytest.mark.parametrize("whole", ["n", "2*n + 1", 4, "max(n - 1, 0)"])
def test_lengths_of_slices(whole):
    for start, stop, step in product(ENDS, ENDS, (1, 2, 3, -1, -2)):
        found = slice_length(length_polynomial(whole), start, stop, step)
        if not isinstance(whole, str) or whole == "n":
            known = known_length(whole, (start, stop, step))
            assert found == length_polynomial(known if isinstance(known, int) else str(known))
        for n in (1, 2, 3, 7):
            entries = len(range(length_value(whole, {"n": n}))[slice(start, stop, step)])
            assert entries == _number(found, n)


def _number(form, n: int, m: int = 0) -> int:
    """A form at numbers for n and m."""

    def atom(a) -> int:
        if isinstance(a, str):
            return {"n": n, "m": m}[a]
        if a[0] == "ceil":
            return -(-_number(a[1], n, m) // a[2])
        return {"max": max, "min": min}[a[0]](_number(a[1], n, m), _number(a[2], n, m))

    total = 0
    for monomial, c in form:
        for a in monomial:
            c *= atom(a)
        total += c
    return total


NEVER_EMPTY = [
    "n", "n*m", "n + m - 1", "2*n - 1", "max(n, m - 5)", "max(m - 5, n)", "max(n - 3, 1)", "min(n, m)",
    "min(2*n - 1, m)", "min(max(n - 2, 1), m)", "max(min(n, m - 2), m)", "n*max(n - 2, m)", "m*min(n, m)", "ceil(n/2)",
    "ceil(max(n, m - 1)/3)", "max(n - 1, 0) + 1", "min(n, m)*ceil(m/2)",
]  # fmt: skip


def _random_length(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["n", "m", "n", "2*n", "1", "3"])
    a, b = (_random_length(rng, rng.randrange(depth)) for _ in range(2))
    return rng.choice(
        [
            f"max({a}, {b})",
            f"min({a}, {b})",
            f"max({a} - {b}, 0)",
            f"max({a} - {rng.randint(1, 4)}, 0)",
            f"({a})*({b})",
            f"{a} + {b}",
            f"ceil(({a})/{rng.randint(2, 3)})",
        ]
    )


def test_where_an_axis_has_no_entries() -> None:
    """As tried with small numbers; what is never empty is known to be so."""
    rng = random.Random(0)
    drawn = [_random_length(rng, rng.randint(1, 3)) for _ in range(400)]
    said = 0
    for text in [*NEVER_EMPTY, *drawn, *(f"max({a}*n - {b}, 0)" for a in (1, 2, 3) for b in range(9))]:
        found = empty_axis_condition(text)
        assert not (found and text in NEVER_EMPTY), text
        said += bool(found)
        for n, m in product(range(1, 7), repeat=2):
            names = {"n": n, "m": m, "max": max, "min": min, "ceil": math.ceil}
            assert (eval(text, names) < 1) == (found != "" and eval(found.replace(" = ", " == "), names)), (
                text
            )
    assert said > 100


def test_lengths_have_the_values_of_their_text() -> None:
    """Sums of a smaller and a larger of two lengths above all, which may be joined; at small numbers for the names."""
    rng = random.Random(0)
    joined = ["min(2, n) + max(n - 2, 0)", "m*min(2, n) + m*max(n - 2, 0)", "3*min(n, m) + 3*max(n, m)"]
    ends = ["min(n, m)", "max(n, m)", "min(2, n)", "max(n - 2, 0)", "min(2, m)", "max(m - 2, 0)", "max(2, n)"]
    signs = ["+", "-", "+ m*", "- m*", "+ n*", "+ 2*", "- 2*"]
    drawn = [
        " ".join(
            [
                "n*m +",
                rng.choice(ends),
                *(f"{rng.choice(signs)}{rng.choice(ends)}" for _ in range(rng.randint(1, 4))),
            ]
        )
        for _ in range(400)
    ]
    for text in [*joined, *drawn, *(_random_length(rng, 3) for _ in range(200))]:
        form = length_polynomial(text)
        assert length_polynomial(length_text(form)) == form, text
        for n, m in product(range(1, 6), repeat=2):
            names = {"n": n, "m": m, "max": max, "min": min, "ceil": math.ceil}
            assert _number(form, n, m) == eval(text, names), text
    assert [
        length_polynomial(text) == length_polynomial(other)
        for text, other in zip(joined, ["n", "m*n", "3*n + 3*m"], strict=True)
    ] == [True] * 3


@pytest.mark.parametrize("text", ["n/2", "n + n/2", "ceil(n)", "ceil(n/0)", "n**2", "f(n)", "", "n +"])
def test_what_is_no_length(text):
    with pytest.raises(UsageError):
        length_polynomial(text)


NUMBER = ProofStep("number", (), (2,), (), "int")
VECTOR = Symbol("x", "real", None, None, ("n",))
X = ProofStep("symbol", (), ("x",), ("n",))


@pytest.mark.parametrize(
    "step",
    [
        ProofStep("and_", (0, 0), (), ("n",), "bool"),
        ProofStep("where", (0, 0, 0), (), ("n",)),
        ProofStep("mean", (0,), ((0, 0),), ()),
        ProofStep("mean", (0,), ((1,),), ("n",)),
        ProofStep("cumsum", (0,), (1, 0), ("n",)),
        ProofStep("cumsum", (0,), (-1, 0), ("n",)),
        ProofStep("cumsum", (0,), ("0", 0), ("n",)),
        ProofStep("cumsum", (0,), (0, "1"), ("n",)),
        ProofStep("prod_except", (0,), (1,), ("n",)),
        ProofStep("prod_except", (0,), (None,), ("n",)),
        ProofStep("softmax", (0,), ((1,),), ("n",)),
        ProofStep("log_softmax", (0,), ((0, 0),), ("n",)),
        ProofStep("argmax", (0,), (1,), (), "int"),
        ProofStep("argmin", (0,), (-1,), (), "int"),
        ProofStep("norm", (0,), ((-1,),), ()),
        ProofStep("einsum", (0,), (((0,),), (0, 0)), ("n", "n")),
        ProofStep("einsum", (0, 0), (((0,),), (0,)), ("n",)),
        ProofStep("gather", (0,), ((),), ("n",)),
        ProofStep("slice", (0,), (((None, None, 0),),), ("n",)),
        ProofStep("inv", (0,), (), ("n",)),
        ProofStep("what", (0,), (), ("n",)),
        ProofStep("number", (), (2,), ("n",)),
        ProofStep("iota", (), ("n",), ("m",), "int"),
    ],
)
def test_arguments_that_do_not_fit(step):
    assert refused(ProofProgram((X, step), (VECTOR,)))


@pytest.mark.parametrize("shape", [("n", "m"), ("n", "n + 1"), (2, 3), ("k", "n", "m"), ("n", "n", "m")])
def test_functions_of_matrices_that_are_not_square(shape: tuple[str | int, ...]) -> None:
    x, y = (Symbol(name, "real", None, None, shape) for name in "xy")
    steps = [ProofStep("symbol", (), (s.name,), shape) for s in (x, y)]
    for op, of in [
        *((op, (0,)) for op in ("inv", "cholesky", "expm", "sinm", "cosm", "det", "logdet")),
        *((op, (0, 1)) for op in ("expm_frechet", "sinm_frechet", "cosm_frechet", "solve")),
    ]:
        for said in (
            shape,
            shape[:-2],
            shape[::-1],
            (*shape[:-1], shape[-2]),
            (*shape[:-2], shape[-1], shape[-1]),
        ):
            assert refused(ProofProgram((*steps, ProofStep(op, of, (), said)), (x, y))), (op, said)


_KNOWN = {"x": ("n",), "y": ("m",), "A": ("n", "n"), "B": ("n", "m"), "i": ("k",)}


@pytest.mark.parametrize(
    ("op", "of", "params", "said"),
    [
        ("add", "xy", (), ("n",)),
        ("add", "xy", (), ("m",)),
        ("mul", "Ay", (), ("n", "n")),
        ("reshape", "B", (("n",),), ("n",)),
        ("reshape", "x", (("m",),), ("m",)),
        ("broadcast_to", "x", (("m",),), ("m",)),
        ("broadcast_to", "A", (("n",),), ("n",)),
        ("unslice", "x", (((1, None, 1),), ("n",)), ("n",)),
        ("concatenate", "AB", (0,), ("2*n", "n")),
        ("concatenate", "Ax", (0,), ("2*n", "n")),
        ("gather", "Bii", ((1, 0),), ("k",)),
        ("gather", "Bi", ((0, 1),), ("k",)),
        ("scatter_add", "xi", ((0,), ("n",)), ("n",)),
        ("scatter_add", "Bi", ((0,), ("n", "m")), ("n", "m")),
        ("solve", "Ay", (), ("m",)),
        ("solve", "Ay", (), ("n",)),
        ("number", "x", (Fraction(2),), ()),
    ],
)
def test_shapes_that_do_not_fit_each_other(
    op: str, of: str, params: tuple[object, ...], said: tuple[str, ...]
) -> None:
    symbols = tuple(
        Symbol(s, "int" if s == "i" else "real", None, None, shape) for s, shape in _KNOWN.items()
    )
    steps = [ProofStep("symbol", (), (s.name,), s.shape, s.kind) for s in symbols]
    assert not refused(ProofProgram(tuple(steps), symbols))
    assert refused(
        ProofProgram((*steps, ProofStep(op, tuple(map([*_KNOWN].index, of)), params, said)), symbols)
    )
