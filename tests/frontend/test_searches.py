"""Searches in programs: z[k] = ... until a condition holds, at most 50."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg

START = "a : positive\nz[0] = a\n"
NEWTON = "(z[k-1] + a/z[k-1])/2"


def search(line: str, start: str = START) -> sg.Program:
    return sg.parse(f"{start}{line}\ny = z[-1]")


def test_the_values_stay_once_the_condition_holds() -> None:
    p = search("z[k] = z[k-1]/2 until z[k] < 0.3, at most 5")
    assert p["z"](a=1.0).tolist() == [1.0, 0.5, 0.25, 0.25, 0.25, 0.25]
    assert p["z"](a=0.1).tolist() == [0.1] * 6  # it holds before the first step
    assert float(p["y"](a=1000.0)) == 1000 / 32  # it never holds: the last value


def test_the_letter_is_that_of_the_left_side() -> None:
    """The condition is about the last value that it reads, wherever the steps are counted from."""
    wanted = search(f"z[k] = {NEWTON} until abs(z[k]**2 - a) < 1e-12, at most 50")["y"].node
    ahead = NEWTON.replace("k-1", "j")
    for condition in ("z[j]", "z[j+1]"):
        line = f"z[j+1] = {ahead} until abs({condition}**2 - a) < 1e-12, at most 50"
        assert search(line)["y"].node is wanted


def test_it_is_a_while_loop() -> None:
    a = sg.parse("a : positive")["a"]
    loop = sg.while_loop(lambda z: ~(abs(z**2 - a) < 1e-12), lambda z: (z + a / z) / 2, a, bound=50)
    y = search(f"z[k] = {NEWTON} until not not abs(z[k]**2 - a) < 1e-12, at most 50")["y"]
    assert y.node is loop.node
    inner = search(f"z[k] = {NEWTON} until abs(z[k]**2 - a) < 1e-12, at most 50")["y"]
    for x in (0.5, 2.0, 1e6):
        values = [float(e(a=x)) for f in (y, inner) for e in (f, sg.grad(f, a))]
        assert values[:2] == values[2:]
        np.testing.assert_allclose(values[:2], [x**0.5, 0.5 * x**-0.5], rtol=1e-12)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("z[k] = z[k-1]/2 until z[k] < 1, at most 5", "z[k] = z[k-1]/2 until z[k] < 1, at most 5"),
        ("z[k+1] = z[k]/2 until not z[k] > 1, at most N", "z[k] = z[k-1]/2 until not z[k] > 1, at most N"),
        (
            "z[k] = k*z[k-1] until k > 3 or z[k] > 9, at most N - 1",
            "z[k] = k*z[k-1] until k > 3 or z[k] > 9, at most N - 1",
        ),
        (
            "z[k] = z[k-1] + x[k-1] until z[k] > x[k], at most N - 1",
            "z[k] = z[k-1] + x[k-1] until z[k] > x[k], at most N - 1",
        ),
        (
            "s = z[k-1]/2; z[k] = s*s until z[k] < a, at most 5",
            "s = z[k-1]/2; z[k] = s*s until z[k] < a, at most 5",
        ),
        # Every value must stay: this is no search.
        ("z[k] = where(z[k-1] < 1, a, z[k-1]/2) for k in 1..5", None),
        ("z[k] = where(not z[k-1] < 1, z[k-1], z[k-1]/2) for k in 1..5", None),
        ("z[k] = where(x[k-1] < 1, z[k-1], z[k-1]/2) for k in 1..N", None),
    ],
)
def test_it_is_printed_as_it_is_written(line: str, shown: str | None) -> None:
    p = search(line, "N : size; x : real[N]\n" + START)
    text = str(p)
    assert (shown in text.splitlines()) if shown is not None else "until" not in text
    assert sg.parse(text)["y"].node is p["y"].node
    assert sg.parse(p["y"].text(expand=True)).last.node is p["y"].node
    assert (r"\text{until }" in p["y"].latex()) == (shown is not None and "not" not in shown)


def test_a_loop_made_in_python_is_printed_as_a_search() -> None:
    a = sg.parse("a : real")["a"]
    loop = sg.while_loop(lambda z: z > a, lambda z: z / 2, 9, bound="N")
    text = loop.text(expand=True)
    assert "h[t] = h[t-1]/2 until not h[t] > a, at most N" in text
    assert sg.parse(text).last.node is loop.node
    assert r"\text{while } h_{t} > a" in loop.latex()


def test_several_values_stay_together() -> None:
    p = search("z[k] = z[k-1]/2; d[k] = z[k] - z[k-1] until abs(d[k]) < 0.3, at most 5", START + "d[0] = 1\n")
    assert "z[k] = z[k-1]/2; d[k] = z[k] - z[k-1] until abs(d[k]) < 0.3, at most 5" in str(p).splitlines()
    assert p["d"](a=1.0).tolist() == [1.0, -0.5, -0.25, -0.25, -0.25, -0.25]
    assert p["z"](a=1.0).tolist() == [1.0, 0.5, 0.25, 0.25, 0.25, 0.25]


def test_a_search_with_a_longer_memory() -> None:
    """The secant method."""
    line = "f = z[k]**2 - a; z[k+1] = z[k] - f/(f - z[k-1]**2 + a)*(z[k] - z[k-1]) until abs(z[k]**2 - a) < 1e-12"
    p = search(line + ", at most 50", START + "z[1] = 1\n")
    assert p["z"].shape == (52,)
    assert "z[k] = z[k-1] - f/(f - z[k-2]**2 + a)*(z[k-1] - z[k-2]) until abs(z[k]**2 - a) < 1e-12" in str(p)
    values = p["z"](a=2.0)
    steps = [2.0, 1.0]
    while abs(steps[-1] ** 2 - 2) >= 1e-12:
        f = steps[-1] ** 2 - 2
        steps.append(steps[-1] - f / (f - steps[-2] ** 2 + 2) * (steps[-1] - steps[-2]))
    np.testing.assert_allclose(values[: len(steps)], steps, rtol=1e-12)
    assert set(values[len(steps) :]) == {values[len(steps) - 1]}
    np.testing.assert_allclose(sg.grad(p["y"], "a")(a=2.0), 0.5 * 2**-0.5, rtol=1e-9)


def test_a_condition_without_a_value_does_not_hold() -> None:
    """A search that leaves the domain of its condition returns no value, not the one before."""
    p = search("z[k] = z[k-1] - 1 + 0*log(z[k-1]) until log(z[k]) > 9, at most 5")
    assert np.isnan(p["y"](a=2.5))


def test_a_newton_iteration_from_text_to_c(tmp_path: Path) -> None:
    p = search("z[k] = z[k-1] - (z[k-1]**2 - a)/(2*z[k-1]) until abs(z[k]**2 - a) < 1e-12, at most 50")
    y = p["y"]
    slope = sg.grad(y, "a")
    wanted = [2**0.5, 0.5 * 2**-0.5]
    kernel = sg.compile([y, slope])
    np.testing.assert_allclose(kernel(2.0), wanted, rtol=1e-12)
    space: dict[str, Any] = {}
    for e, value in zip((y, slope), wanted, strict=True):
        exec(e.numpy_source(), space)
        np.testing.assert_allclose(space["f"](2.0), value, rtol=1e-12)
    files = kernel.save(tmp_path / "newton.c", outputs=["y", "da"])
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    library = tmp_path / "newton.so"
    subprocess.run([compiler, "-shared", "-fPIC", files[0], "-o", library, "-lm"], check=True)
    found = [(ctypes.c_double * 1)() for _ in wanted]
    assert ctypes.CDLL(str(library)).newton((ctypes.c_double * 1)(2.0), *found) == 0
    np.testing.assert_allclose([f[0] for f in found], wanted, rtol=1e-12)


def test_claims_about_searches() -> None:
    lines = "a, b : real\n" + "\n".join(
        f"{name}[0] = a\n{name}[k] = {step} until {name}[k] > {end}, at most 4"
        for name, step, end in [
            ("z", "(z[k-1] + b)**2", 9),
            ("w", "w[k-1]**2 + 2*w[k-1]*b + b**2", 9),
            ("v", "(v[k-1] + b)**2", 8),
        ]
    )
    p = sg.parse(lines)
    assert sg.equal(p["z"][4], p["w"][4]).status in ("proved", "undecided", "supported")
    assert sg.equal(p["z"][4], p["v"][4]).status == "refuted"
    long = sg.parse(lines.replace("most 4", "most 40"))
    assert sg.equal(long["z"][40], long["z"][40]).status == "proved"
    assert sg.equal(long["z"][40], long["v"][40]).status in ("undecided", "refuted")


def test_until_is_still_a_name() -> None:
    assert float(sg.parse("until = 3\ny = until + 1")["y"]()) == 4.0


def test_a_statement_after_the_steps_is_kept() -> None:
    for clause in ("for k in 1..5", "until z[k] < 0.3, at most 5"):
        assert float(sg.parse(f"z[0] = 1; z[k] = z[k-1]/2 {clause}; y = 4*z[1]")["y"]()) == 2.0
