"""Whole programs: what is printed of them stands in tests/golden/programs, reads back, and is the gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner

import symgrad as sg
from symgrad.apps.cli.main import main
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate_mp
from symgrad.pretty.named_derivatives import name_derivatives
from symgrad.pretty.named_formulas import NamedFormulas
from symgrad.rewrite.pipeline import canonical
from tests.conftest import GOLDEN, compare_golden

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "examples" / "programs").glob("*.sg"))
TITLES = {"info_nce": "InfoNCE", "pbe": "PBE", "sabr": "SABR", "vae": "VAE"}
SHOWN = ("attention", "batch_norm", "gaussian_process", "planck", "vae")
"""Those on the page; the others are like them."""
PAGE = """## Programs and their derivatives

Five of twelve programs in `examples/programs/`, from physics, chemistry, finance, control and learning, each with its
derivatives. For all twelve, the tests compare the printed texts with stored ones, parse them again, and compare their
values with difference quotients in 80 digits.
"""
SIZES = {"n": 3, "m": 3, "d": 2, "k": 2}
# Points of positive inputs that are far from 1, as they are in the program's units.
POINTS: Mapping[str, Mapping[str, float]] = {
    "planck": {"nu": 5e13, "T": 1500.0},
    "peng_robinson": {"T": 250.0, "P": 2e6, "Z": 0.8},
    "pbe": {"n_up": 0.3, "n_dn": 0.1, "sigma_uu": 0.2, "sigma_ud": 0.05, "sigma_dd": 0.1},
    "sabr": {"F": 0.03, "K": 0.025, "tau": 2.0, "alpha": 0.04, "nu": 0.4, "beta": 0.5, "rho": -0.3},
    "hodgkin_huxley": {"V": -61.5, "I": 8.0, "m": 0.1, "h": 0.6, "n": 0.3},
}


def test_there_are_twelve() -> None:
    assert len(PROGRAMS) >= 12


def values_of(path: Path) -> list[str]:
    """Return the scalars of a program that no other line reads."""
    program = sg.parse(path.read_text(encoding="utf-8"))
    read = {n for name in program.names for n in topological(program[name].node.args)}
    return [n for n in program.names if not program[n].shape and program[n].node not in read]


VALUES = [(path, name) for path in PROGRAMS for name in values_of(path)]
named = pytest.mark.parametrize(("path", "name"), VALUES, ids=lambda v: v.stem if isinstance(v, Path) else v)


@cache
def in_words(path: Path, name: str) -> tuple[sg.Program, list[sg.Expr], NamedFormulas]:
    """Return a program, the inputs that it depends on, and its derivatives by these in words."""
    program = sg.parse(path.read_text(encoding="utf-8"))
    read = symbols_of([program[name].node])
    inputs = [x for x in program.inputs if x.node.declaration.distribution is None and x.node in read]
    gradients = [sg.grad(program[name], x) for x in inputs]
    slopes = [g.slope for g in gradients if g.slope is not None]
    assert len(slopes) == len(inputs)
    found = name_derivatives(gradients[0].listings[0], slopes)
    assert found is not None
    return program, inputs, found


@named
def test_what_is_printed(path: Path, name: str, golden: Callable[[str, str], None]) -> None:
    for form, ending in (("text", "txt"), ("latex", "tex")):
        done = CliRunner().invoke(main, ["derive", str(path), "--of", name, "--format", form])
        assert done.exit_code == 0, done.output
        assert "…" not in done.output
        golden(f"programs/{path.stem}.{name}.{ending}", done.stdout)


@named
def test_it_reads_back(path: Path, name: str) -> None:
    program, _, found = in_words(path, name)
    names = {str(x.name): x for x in program.inputs} | {n: program[n] for n in program.names}
    titles = [f"__{k} = " for k in range(len(found.results))]
    lines = found.text(titles).split("\n")
    for title, meaning in zip(titles, found.meaning, strict=True):
        (own,) = (line for line in lines if line.startswith(title))
        text = "\n".join([own.removeprefix(title), *lines[len(titles) :]])
        again = sg.parse(text, symbols=names).last
        assert canonical([again.node]).nodes[0] is canonical([meaning]).nodes[0], text


@named
def test_it_is_the_gradient(path: Path, name: str) -> None:
    """The judge is a difference quotient of the program in 80 digits."""
    program, inputs, found = in_words(path, name)
    mp = mpmath.MPContext()
    mp.dps = 80
    rng = np.random.default_rng(len(path.stem))
    point = {x.node: drawn(mp, x.node.declaration, POINTS.get(path.stem, {}), rng) for x in program.inputs}
    printed = evaluate_mp(mp, found.meaning, point)
    step = mp.mpf(10) ** -30
    for x, value in zip(inputs, printed, strict=True):
        way = direction(mp, x.node.declaration, np.shape(point[x.node]), rng)
        size = mp.mpf(float(np.max(np.abs(np.asarray(point[x.node], float)))))
        moved = [{**point, x.node: point[x.node] + way * (s * step * size)} for s in (1, -1)]
        above, below = (evaluate_mp(mp, [program[name].node], at)[0] for at in moved)
        expected = (above - below) / (2 * step * size)
        told = np.sum(np.asarray(value, object) * way)
        assert abs(told - expected) <= mp.mpf(10) ** -25 * (abs(expected) + mp.mpf(10) ** -25), x.name


def drawn(mp: Any, d: Declaration, at: Mapping[str, float], rng: np.random.Generator) -> Any:
    if not d.shape:
        return mp.mpf(at.get(d.name) or float(rng.uniform(0.3, 0.7)))
    values = rng.uniform(0.1, 0.9, [SIZES[str(size)] for size in d.shape])
    if d.symmetric:
        values = values @ values.T + np.eye(len(values))
    return np.vectorize(mp.mpf, otypes=[object])(values)


def direction(mp: Any, d: Declaration, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if not shape:
        return mp.mpf(1)
    values = rng.uniform(-1, 1, shape)
    return np.vectorize(mp.mpf, otypes=[object])(values + values.T if d.symmetric else values)


def test_the_page(request: pytest.FixtureRequest) -> None:
    """docs/gallery.md shows each program with what is printed of it."""
    part = [PAGE]
    for path in (path for path in PROGRAMS if path.stem in SHOWN):
        title = TITLES.get(path.stem, path.stem.replace("_", " ").capitalize())
        shown = [path.read_text(encoding="utf-8").rstrip()]
        for name in (n for p, n in VALUES if p == path):
            told = (GOLDEN / "programs" / f"{path.stem}.{name}.txt").read_text(encoding="utf-8").rstrip()
            shown.append(f"$ symgrad derive {path.name} --of {name}\n{told}")
        part += [f"### {title}\n", "```text\n" + "\n\n".join(shown) + "\n```\n"]
    page = ROOT / "docs" / "gallery.md"
    before, begin, rest = page.read_text(encoding="utf-8").partition("<!-- programs: begin -->\n")
    after = rest.partition("<!-- programs: end -->")[2]
    text = before + begin + "\n".join(part) + "<!-- programs: end -->" + after
    compare_golden(page, text, update=bool(request.config.getoption("--update-golden")))
