"""Functions that a program defines: a call is the body with the arguments in their places."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import symgrad as sg
from symgrad.errors import (
    CycleError,
    NestingError,
    ProgramSyntaxError,
    RedefinitionError,
    ShapeError,
    SymgradError,
    UnknownFunctionError,
    UnknownNameError,
)


@pytest.mark.parametrize(
    ("program", "same"),
    [
        ("x : real\ng(t) = t**2 + 1\ny = g(x)", "x : real\ny = x**2 + 1"),
        (
            "x : real\ng(t) = t**2 + 1; y = g(g(x)) + g(-2)",
            "x : real\ny = ((x**2 + 1)**2 + 1) + ((-2)**2 + 1)",
        ),
        ("x, a : real\ng(s, t) = s - a*t\ny = g(x + 1, g(a, x))", "x, a : real\ny = (x + 1) - a*(a - a*x)"),
        ("x : real\na = x**2\ng(x) = x + a\ny = g(3)", "x : real\na = x**2\ny = 3 + a"),
        ("x : real\ng(t) = -t**2\nh(u) = g(u) - g(2*u)\ny = h(x)", "x : real\ny = (-x**2) - (-(2*x)**2)"),
        ("x : real\ng(t) = (t +\n  1)*2 # a comment\ny = g(x)", "x : real\ny = (x + 1)*2"),
        (
            "X : real[n, 5]; w : real[5]\nact(z) = z*sigmoid(z)\nsq(v, k) = sum(v**2, axis=k)\ny = sq(act(X@w), 0)",
            "X : real[n, 5]; w : real[5]\ny = sum(((X@w)*sigmoid(X@w))**2, axis=0)",
        ),
        ("X : real[n, m]\nfirst(A) = A.T[0] + n\ny = first(X)", "X : real[n, m]\ny = X.T[0] + n"),
        ("x : real\ng(t,) = t\ny = g(x)", None),
        ("x : real\ng(t) = t if t > 0 else gamma(t)\ny = g(x)", "x : real\ny = x if x > 0 else gamma(x)"),
        ("x : real\ny = x\ng(t) = t\ng(y) == 3", None),
    ],
)
def test_a_call_is_the_body(program: str, same: str | None) -> None:
    if same is None:
        with_error = program.startswith("x : real\ng(t,)")
        if with_error:
            with pytest.raises(ProgramSyntaxError):
                sg.parse(program)
        else:
            assert str(sg.parse(program).last) == "x == 3"
        return
    p, q = sg.parse(program), sg.parse(same)
    assert p.names == q.names
    assert p["y"].same(q["y"])


@pytest.mark.parametrize(
    ("text", "error", "line", "column", "message"),
    [
        ("x : real\ng(t) = t*g(t - 1)\ny = g(x)", CycleError, 2, 10, "'g' is defined by itself"),
        ("x : real\ng(t) = g + t", CycleError, 2, 8, "'g' is defined by itself"),
        (
            "x : real\ng(t) = h(t)\nh(t) = g(t)\ny = g(x)",
            UnknownNameError,
            2,
            8,
            "before its definition in line 3",
        ),
        ("x : real\ny = g(x)\ng(t) = t", UnknownNameError, 2, 5, "before its definition in line 3"),
        ("x : real\ng(t) = t*q\ny = x", UnknownNameError, 2, 10, "unknown name 'q'"),
        ("x : real\ng(t) = nosuch(t)\ny = x", UnknownFunctionError, 2, 8, "unknown function 'nosuch'"),
        ("x : real\ng(t) = t +\ny = g(x)", ProgramSyntaxError, 2, 11, "the line ends after"),
        ("x : real\ng(t) = (t\ny = g(x)", ProgramSyntaxError, 2, 8, "never closed"),
        ("x : real\ng(t) = t t", ProgramSyntaxError, 2, 10, "without an operator"),
        ("x : real\nsin(t) = t", RedefinitionError, 2, 1, "'sin' is a function already"),
        ("x : real\nsum(t) = t", RedefinitionError, 2, 1, "'sum' is a function already"),
        ("x : real\nbeta(t) = t", RedefinitionError, 2, 1, "'beta' is a function already"),
        ("x : real\ng(t, t) = t", RedefinitionError, 2, 6, "'t' is a parameter already"),
        ("x : real\ng(pi) = 1", RedefinitionError, 2, 3, "'pi' is a constant"),
        (
            "x : real\ng(t) = t\ng(t) = 2*t",
            RedefinitionError,
            3,
            1,
            "'g' is already defined in line 2, column 1",
        ),
        ("x : real\ng(t) = t\ng = 3", RedefinitionError, 3, 1, "'g' is already defined in line 2, column 1"),
        ("g : real\ng(t) = t", RedefinitionError, 2, 1, "'g' is already declared in line 1, column 1"),
        ("x : real\ng(t) = t\ny = g(x, x)", ProgramSyntaxError, 3, 5, "g takes 1 argument, got 2"),
        (
            "x : real\ng(s, t) = t\ny = g(x, t=x)",
            ProgramSyntaxError,
            3,
            5,
            "g takes 2 arguments, by position",
        ),
        ("x : real\ng(2) = t", ProgramSyntaxError, 2, 6, "only a name can be assigned"),
        ("g(t) = t**2", ProgramSyntaxError, 1, 1, "defines functions and nothing else"),
        ("g(t) = t**2\ng(x)", UnknownNameError, 2, 3, "unknown name 'x'"),
        ("x : real\nx\ng(t) = t", ProgramSyntaxError, 2, 1, "before the last line"),
        (
            "X : real[n, 3]; A : real[2, 2]\nf(t) = t@A\nz = f(X)",
            ShapeError,
            2,
            8,
            r"3 is not 2; in f\(t\), called in line 3, column 5",
        ),
    ],
)
def test_errors_have_their_place(
    text: str, error: type[SymgradError], line: int, column: int, message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        sg.parse(text)
    at = caught.value.at
    assert at is not None
    assert at.source.line_column(at.span.start) == (line, column)


def test_what_would_be_too_long_is_refused_soon() -> None:
    doubled = "x : real\nf0(t) = t*t\n" + "".join(f"f{k}(t) = f{k - 1}(f{k - 1}(t))\n" for k in range(1, 40))
    with pytest.raises(NestingError, match="longer than 131,072 tokens"):
        sg.parse(f"{doubled}y = f39(x)")
    chain = "x : real\nf0(t) = t*t\n" + "".join(f"f{k}(t) = f{k - 1}(t)\n" for k in range(1, 80))
    assert str(sg.parse(f"{chain}y = f49(x)")["y"]) == "x*x"
    with pytest.raises(NestingError, match="more than 50 deep"):
        sg.parse(f"{chain}y = f79(x)")


def _by_python(bodies: list[str], k: int, s: float, t: float, values: dict[str, float]) -> float:
    names: dict[str, Any] = {"s": s, "t": t, **values, "sin": math.sin}
    if k:
        names[f"f{k - 1}"] = lambda a, b: _by_python(bodies, k - 1, a, b, values)
    return float(eval(bodies[k], names))


def test_random_programs_are_what_substitution_by_hand_gives() -> None:
    rng = random.Random(11)
    for _ in range(100):
        lines, bodies = ["x, y : real"], list[str]()
        for k in range(4):
            inner = (
                "" if not k else f" - f{k - 1}({rng.choice('st')}*{rng.choice('st')}, {rng.choice('sty')})"
            )
            body = f"{rng.choice('st')}**2 + {rng.choice(['s*t', 'sin(t)', '-s', 'x'])}{inner}"
            bodies.append(body)
            lines.append(f"f{k}(s, t) = {body}")
        p = sg.parse("\n".join([*lines, "z = f3(x + 1, y)"]))

        values = {"x": 0.5, "y": -1.25}
        found = p["z"](**{str(i.name): values[str(i.name)] for i in p["z"].inputs})
        assert float(found) == pytest.approx(_by_python(bodies, 3, 1.5, -1.25, values), rel=1e-12)
