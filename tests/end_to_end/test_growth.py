"""Work grows with the number of operands, inputs and outputs, and not with its square.

Counted are the lines of Python that run, the same on every machine; what takes the square of the number on purpose
(the matrix of all second derivatives) is not here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import count
from typing import Any

import pytest

import symgrad as sg
from symgrad.ir.traverse import topological

Thunk = Callable[[], Any]
_fresh = count()  # names that no other case has, so that nothing is known of its nodes


def lines_run(call: Thunk) -> int:
    """How many lines of Python a call runs."""
    counted = 0

    def trace(_frame: Any, event: str, _arg: Any) -> Any:
        nonlocal counted
        counted += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return counted


def scalars(n: int) -> list[sg.Expr]:
    case = next(_fresh)
    return [sg.symbols(f"x{case}_{i}") for i in range(n)]


def arrays(n: int, size: Any = 3) -> list[sg.Expr]:
    case = next(_fresh)
    return [sg.tensor(f"a{case}_{i}", (size,)) for i in range(n)]


def folded(function: Callable[[Any, Any], Any], xs: Sequence[Any]) -> Any:
    return reduce(function, xs)


# What is large: an expression and its inputs.
PROGRAMS: dict[str, Callable[[int], tuple[Any, list[sg.Expr]]]] = {
    "concatenate": lambda n: (lambda a: (sg.sum(sg.arrays.concatenate(a) ** 2), a))(arrays(n)),
    "concatenate, named": lambda n: (lambda a: (sg.sum(sg.arrays.concatenate(a) ** 2), a))(arrays(n, "n")),
    "stack": lambda n: (lambda a: (sg.sum(sg.arrays.stack(a) ** 2), a))(scalars(n)),
    "sum": lambda n: (lambda a: (folded(lambda p, q: p + sg.sin(q) * q, a), a))(scalars(n)),
    "sum of arrays": lambda n: (lambda a: (sg.sum(folded(lambda p, q: p + q, a) ** 2), a))(arrays(n)),
    "product": lambda n: (lambda a: (folded(lambda p, q: p * sg.sin(q), a), a))(scalars(n)),
    "max": lambda n: (lambda a: (folded(lambda p, q: sg.maximum(p, q * q), a), a))(scalars(n)),
    "where": lambda n: (lambda a: (folded(lambda p, q: sg.where(q > 0, q * q, p), a), a))(scalars(n)),
    "and": lambda n: (
        lambda a: (sg.where(folded(sg.arrays.logical_and, [x > 0 for x in a]), a[0] ** 2, a[1]), a)
    )(scalars(n)),
}
VERBS: dict[str, Callable[[Any, list[sg.Expr]], Any]] = {
    "grad": sg.grad,
    "canonical gradient": lambda y, a: sg.grad(y, a)[1].canonical(),
    "jvp": lambda y, a: sg.jvp(y, a, [1] * len(a)),
    "derivatives": lambda y, a: sg.derivatives(y, a) if not a[0].shape else None,
    "jacobian": sg.jacobian,
    "str": lambda y, a: str(y),
    "latex": lambda y, a: y.latex(),
    "numpy": lambda y, a: y.numpy_source(),
    "canonical": lambda y, a: y.canonical(),
    "compile": lambda y, a: sg.compile(y),
    "compile all": lambda y, a: sg.compile([y, *sg.grad(y, a)]),
}
# Of every program what is not the same for all: canonical forms and code of a chain are those of chains.
SEVERAL = ("grad", "jvp", "derivatives", "jacobian", "str", "latex", "numpy", "canonical gradient")
WHOLE = ("canonical", "compile", "compile all")
CHOSEN = [(p, v) for p in PROGRAMS for v in SEVERAL] + [
    (p, v) for p in ("concatenate", "stack", "sum of arrays", "where", "max") for v in WHOLE
]


def grows_linearly(make: Callable[[int], Thunk], n: int) -> None:
    make(3)()  # what is imported and read once
    few, many = lines_run(make(n)), lines_run(make(2 * n))
    assert many < 2.3 * few + 1_000, f"{few:,} lines for {n}, {many:,} for {2 * n}"


@pytest.mark.parametrize(("program", "verb"), CHOSEN)
def test_many_operands(program: str, verb: str) -> None:
    # Long texts are programs, whose parts have names, and large derivatives keep their form: both sides are large.
    n = {"str": 250, "numpy": 250, "latex": 500, "compile all": 150}.get(verb, 40)

    def make(n: int) -> Thunk:
        y, a = PROGRAMS[program](n)
        return lambda: VERBS[verb](y, a)

    grows_linearly(make, n)


def outputs(n: int) -> tuple[list[sg.Expr], list[sg.Expr]]:
    a = scalars(n)
    return [sg.sin(x) * y for x, y in zip(a, [*a[1:], a[0]], strict=True)], a


def chain(n: int) -> tuple[list[sg.Expr], list[sg.Expr]]:
    a = scalars(n)
    steps = [a[0]]
    for x in a[1:]:
        steps.append(sg.sin(steps[-1]) * x)
    return steps, a


def text(n: int, shape: str = "") -> str:
    case = next(_fresh)
    names = [f"x{case}_{i}" for i in range(n)]
    lines = [f"{name} : real{shape}" for name in names]
    lines += [
        f"q{i} = sin({a})*{b}" for i, (a, b) in enumerate(zip(names, [*names[1:], names[0]], strict=True))
    ]
    return "\n".join([*lines, "z = " + " + ".join(f"q{i}" for i in range(n))])


def named(y: Any, a: Sequence[sg.Expr]) -> list[Any]:
    return sg.grad(y, [str(x.name) for x in a])


def added(ys: Sequence[Any]) -> Any:
    return sum(ys)


MANY: dict[str, Callable[[Any, list[sg.Expr]], Any]] = {
    "gradients": sg.gradients,
    "vjp": lambda ys, a: sg.vjp(ys, a, [2] * len(ys)),
    "vjp by one": lambda ys, a: sg.vjp(ys, a[-1], [2] * len(ys)),
    "jvp": lambda ys, a: sg.jvp(ys, a, [1] * len(a)),
    "jvp by one": lambda ys, a: sg.jvp(ys, a[-1], 1),
    "jacobian by one": lambda ys, a: sg.jacobian(ys, a[-1]),
    "jacobian of one": lambda ys, a: sg.jacobian(ys[-1], a),
    "hvp": lambda ys, a: sg.hvp(sum(ys), a, [1] * len(a)),
    "by names": lambda ys, a: named(sum(ys), a),
    "compile": lambda ys, a: sg.compile(ys),
    "call": lambda ys, a: added(ys)(**{str(x.name): 1.0 for x in a}),
    "subs": lambda ys, a: added(ys).subs({x: x + 1 for x in a}),
    "explain": lambda ys, a: sg.explain(sum(ys), a),
    "equations": lambda ys, a: added(ys).equations,
    "sympy": lambda ys, a: sg.from_sympy(added(ys).sympy()),
    "sums of gradients": lambda ys, a: sum(g**2 for g in sg.grad(sum(ys), a)),
}


@pytest.mark.parametrize("verb", MANY)
@pytest.mark.parametrize("program", [outputs, chain])
def test_many_outputs_and_inputs(program: Any, verb: str) -> None:
    def make(n: int) -> Thunk:
        ys, a = program(n)
        return lambda: MANY[verb](ys, a)

    grows_linearly(make, 50)


@pytest.mark.parametrize("shape", ["", "[n, 3]"])
def test_programs_with_many_declarations(shape: str) -> None:
    grows_linearly(lambda n: (lambda t: lambda: sg.parse(t))(text(n, shape)), 60)
    grows_linearly(lambda n: (lambda p: lambda: str(p))(sg.parse(text(n, shape))), 60)
    grows_linearly(
        lambda n: (lambda p: lambda: sg.grad(sg.sum(p["z"]), p.inputs))(sg.parse(text(n, shape))), 60
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_graphs_of_derivatives_grow_linearly(program: str) -> None:
    def size(n: int) -> int:
        y, a = PROGRAMS[program](n)
        return sum(1 + len(e.args) for e in topological([g.node for g in sg.grad(y, a)]))

    assert size(200) < 2.1 * size(100)


def test_the_square_of_outputs_is_all_that_a_square_matrix_takes() -> None:
    def make(n: int) -> Thunk:
        ys, a = outputs(n)
        return lambda: (sg.jacobian(ys, a), sg.hessian(sum(ys), a), sg.derivatives(sum(ys), a, order=2))

    make(3)()
    few, many = lines_run(make(12)), lines_run(make(24))
    assert many < 4.2 * few
