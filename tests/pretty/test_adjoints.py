"""Backward passes in the names of a program: each line by itself is the gradient by its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from tests.pretty.test_closed_forms import SIZES, draw

PROGRAMS = Path(__file__).parents[2] / "examples" / "programs"
OUTPUTS = {
    "attention": ["loss"],
    "batch_norm": ["loss"],
    "cart_pole": ["xacc", "acc"],
    "gaussian_process": ["nll"],
    "hodgkin_huxley": ["dV", "dm", "dh", "dn"],
    "info_nce": ["loss"],
    "kalman": ["nll"],
    "pbe": ["energy"],
    "peng_robinson": ["lnphi"],
    "planck": ["B"],
    "sabr": ["sigma"],
    "vae": ["loss"],
}


def statements(text: str) -> list[str]:
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return [part.strip() for line in lines if line for part in line.split(";")]


def with_input(text: str, name: str, shape: tuple[Any, ...]) -> str:
    """Return a program in which a name of a line is an input instead."""
    declared = f"{name} : real[{', '.join(map(str, shape))}]" if shape else f"{name} : real"
    return "\n".join(declared if re.match(rf"{name}\s*=", s) else s for s in statements(text))


def numbers(nodes: list[Node], values: dict[str, Any]) -> list[Any]:
    return evaluate(nodes, {s: values[s.name] for s in symbols_of(nodes)}, SIZES)


def check(text: str, of: str, seed: int, *, differences: bool = True) -> int:
    """Compare every line with the gradient by its name where that is an input, and with differences of values."""
    program = sg.parse(text)
    found = sg.explain(program[of]).adjoints
    rng = np.random.default_rng(seed)
    listing = program[of].listings[0]
    values: dict[str, Any] = {s.name: draw(s.declaration, rng) for s in listing.symbols.values()}
    for name, node in listing.assignments.items():
        values[name] = numbers([node], values)[0]
    known = {name: sg.tensor(name, node.shape) for name, node in listing.assignments.items()}
    known.update((name, program[name]) for name in listing.symbols)
    back = sg.parse("\n".join(map(str, found)), symbols=known)
    compared = 0
    for line in found:
        values[line.name] = numbers([back[line.name].node], values)[0]
        if line.of is None:
            continue
        shape = program[line.of].shape
        other = sg.parse(with_input(text, line.of, shape))
        if line.of == of:
            assert np.all(values[line.name] == 1)
            continue
        exact = numbers([sg.grad(other[of], line.of).node], values)[0]
        if not np.all(np.isfinite(exact)):
            continue
        scale = max(1.0, float(np.max(np.abs(exact), initial=0)))
        assert np.shape(values[line.name]) == np.shape(exact), str(line)
        assert np.max(np.abs(values[line.name] - exact), initial=0) <= 1e-8 * scale, str(line)
        if line.alone is not None:
            short = sg.parse(expression_text(line.alone), symbols=known).last
            assert np.max(np.abs(numbers([short.node], values)[0] - exact), initial=0) <= 1e-8 * scale, str(
                line
            )
        if differences:
            way = rng.normal(size=np.shape(exact))
            step = 1e-5 * max(1.0, float(np.max(np.abs(values[line.of]), initial=0)))
            slopes: list[float] = []
            for h in (step, step / 4):
                ends = [{**values, line.of: values[line.of] + s * h * way} for s in (1, -1)]
                up, down = (numbers([other[of].node], at)[0] for at in ends)
                slopes.append((up - down) / (2 * h))
            expected = float(np.sum(exact * way))
            size = max(scale, abs(expected))
            if abs(slopes[0] - slopes[1]) <= 1e-5 * size:  # else a pole is near
                compared += 1
                assert abs(slopes[1] - expected) <= 1e-4 * size, str(line)
    assert compared or not differences
    return len(found)


def test_every_program_is_there() -> None:
    assert sorted(OUTPUTS) == sorted(p.stem for p in PROGRAMS.glob("*.sg"))


@pytest.mark.parametrize(("name", "of"), [(name, of) for name, all_ in OUTPUTS.items() for of in all_])
def test_lines_of_the_examples_are_gradients(name: str, of: str) -> None:
    text = (PROGRAMS / f"{name}.sg").read_text(encoding="utf-8")
    for seed in range(3):
        assert check(text, of, seed) > 2
    assert "…" not in "".join(map(str, sg.explain(sg.parse(text)[of]).adjoints))


SCALAR = (
    "sin({a})*{b}",
    "{a}*{b} + {a}",
    "exp(-{a}**2)",
    "{a} - {b}",
    "log(1 + {a}**2)",
    "{a}/(2 + {b}**2)",
    "sqrt(1 + {a}**2)*{b}",
    "0.5*{a}",
    "sigmoid({a})",
    "where({a} > {b}, {a}, 2*{b})",
    "stop_gradient({a}) + {b}",
    "-{a}",
)
ARRAYS = (
    *SCALAR,
    "W@{a}",
    "W.T@({a}*{b})",
    "{a} - mean({a})",
    "softmax({a})",
    "{a}*sum({b})",
    "cumsum({a})",
    "{a}/sqrt(1 + sum({a}**2))",
    "outer({a}, {b})@{a}",
)


@st.composite
def programs(draw: st.DrawFn, *, arrays: bool) -> str:
    lines = ["x, y : real[n]; W : real[n, n]" if arrays else "x, y : real"]
    names = ["x", "y"]
    for k in range(draw(st.integers(2, 7))):
        form = draw(st.sampled_from(ARRAYS if arrays else SCALAR))
        a, b = (draw(st.sampled_from(names[-4:])) for _ in "ab")
        lines.append(f"v{k} = {form.format(a=a, b=b)}")
        names.append(f"v{k}")
    a, b = names[-1], draw(st.sampled_from(names))
    lines.append(f"loss = sum({a}*{b}) + sum({a}**2)" if arrays else f"loss = {a}*{b} + {a}**2")
    return "\n".join(lines)


@settings(max_examples=60, deadline=None)
@given(programs(arrays=False), st.integers(0, 1000))
def test_lines_of_random_programs_are_gradients(text: str, seed: int) -> None:
    assert check(text, "loss", seed, differences="stop_gradient" not in text and "where" not in text) >= 1


@settings(max_examples=40, deadline=None)
@given(programs(arrays=True), st.integers(0, 1000))
def test_lines_of_random_array_programs_are_gradients(text: str, seed: int) -> None:
    assert check(text, "loss", seed, differences="stop_gradient" not in text and "where" not in text) >= 1


def test_a_bar_that_the_program_has_is_another_name() -> None:
    p = sg.parse("x, s_bar : real\ns = sin(x)\ny = s*s*s_bar + exp(s)")
    found = {a.of: a for a in sg.explain(p["y"], "x").adjoints}
    assert found["s"].name == "s_bar_"
    assert str(found["s"]) == "s_bar_ = 2*s*s_bar + exp(s)"


def test_what_cancels_is_noted() -> None:
    p = sg.parse("x, b : real\ns = x**2\ny = s*b/b")
    assert {a.of: (str(a), a.notes) for a in sg.explain(p["y"], "x").adjoints}["s"] == (
        "s_bar = 1",
        ("also defined at b = 0",),
    )


def test_no_names_no_lines() -> None:
    x = sg.symbols("x")
    assert sg.explain(sg.sin(x) ** 2, x).adjoints == ()
    with pytest.raises(SymgradError):
        sg.explain(sg.parse("x : real\ny = x")["y"], "z")
