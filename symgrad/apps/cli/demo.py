"""The demonstration: how noise enters a gradient, and how to keep it out, from formula to kernel.

The program is an example; all printed formulas, numbers, sentences and paths are computed from its graph.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from time import perf_counter

import click
import numpy as np

import symgrad
from symgrad.api.explaining.explain import Derivation
from symgrad.apps.cli.files import write_text
from symgrad.ir.graph import Node
from symgrad.ops.random.laws import drawn

PROGRAM = """\
x  : real
u  ~ Uniform(0.9, 1.1)
y  = x**2
yu = y*u
z       = sqrt(yu)                                       # the gradient carries the noise u
z_inner = sqrt(stop_gradient(yu - y) + y)                # the trick everybody tries first
z_outer = stop_gradient(z - sqrt(y)) + sqrt(y)           # stop_gradient around the root
z_exact = stop_gradient(z) - (stop_gradient(sqrt(y)) - sqrt(y))   # the same, bit for bit
"""

_DERIVATION = """\
x : real
u ~ Uniform(0.9, 1.1)
y = x**2
z = sqrt(stop_gradient(y*u - y) + y)
dz/dy = 1/(2*sqrt(stop_gradient(y*u - y) + y))
      = 1/(2*sqrt(y*u))
dz/dx = dz/dy*dy/dx
      = x/sqrt(y*u)
"""
_HOPED = ("= 1/(2*sqrt(y*u))", "= 1/(2*sqrt(y))")  # the right line, and the common mistake

_POINTS = np.array([-2.0, -1.0, 1.0])
_DRAWS = 3
_MANY = 100_000
_MOMENTS = ("mean", "bias", "variance")


def run_demo(directory: Path, seed: int) -> None:
    """Print values, gradients, reasons and kernel results for every output, and draw the graph of one."""
    program = symgrad.parse(PROGRAM, "demo")
    x = program["x"]
    _title("The program: how does u get into the gradient, and how does one keep it out?")
    click.echo(PROGRAM)
    draws = draw(program["u"].node, _DRAWS, seed)
    kernels: dict[str, symgrad.Kernel] = {}
    derivations: dict[str, Derivation] = {}
    names = [name for name in program.outputs if name not in ("y", "yu")]
    for name in names:
        z = program[name]
        derivation = derivations[name] = symgrad.explain(z, x)
        started = perf_counter()
        kernel = kernels[name] = symgrad.compile([z, symgrad.grad(z, x)], [x, program["u"]], name=name)
        elapsed = perf_counter() - started
        _title(name)
        click.echo(f"  value     {_written(name)}")
        (gradient,), (value,) = derivation.gradient, derivation.values
        click.echo(f"  gradient  {gradient}")
        if not value.same(gradient):
            click.echo(f"            {value}    as a value, where stop_gradient(e) is e")
        for note in derivation.notes:
            click.echo(f"            # {note}")
        click.echo(f"  kernel    {elapsed * 1e3:.0f} ms to compile; its numbers:\n")
        _table(kernel, name, draws)
        for noise, verdict in derivation.noise.items():
            word = {True: "enters", False: "does not enter", None: "may enter"}[verdict.enters]
            click.echo("\n" + click.style(f"  {noise} {word} the gradient:", bold=True))
            click.echo(fill(f"{verdict.reason}.", 100, initial_indent="    ", subsequent_indent="    "))
            if verdict.enters:
                click.echo(f"    path: {' <- '.join(verdict.path)}")
        click.echo("\n  against the gradient without noise:")
        for label, texts in symgrad.audit(z, x).question.texts():
            if label in _MOMENTS:
                click.echo(f"    {label:<8}  {texts[0]}")
        click.echo()
    _bits(kernels, program, seed)
    for title, text in (
        ("The derivation of z_inner by hand, checked line by line", _DERIVATION),
        ("The same with the mistake that the trick rests on", _DERIVATION.replace(*_HOPED)),
    ):
        _title(title)
        click.echo(f"{symgrad.review(text, 'derivation')}\n")
    picture = directory / "z_inner.svg"
    write_text(picture, derivations["z_inner"].svg())
    click.echo(f"The picture of z_inner, with the path of the noise: {picture}")


def draw(random_input: Node, count: int, seed: int) -> np.ndarray:
    """Draw values of a random input from NumPy's Philox generator with an explicit key."""
    distribution = random_input.declaration.distribution
    assert distribution is not None
    return drawn(distribution, np.random.Generator(np.random.Philox(key=seed)), count)


def _written(name: str) -> str:
    """Return the right-hand side of a definition, as written in the program."""
    line = next(row for row in PROGRAM.splitlines() if row.split("=")[0].strip() == name)
    return line.split("=", 1)[1].split("#")[0].strip()


def _table(kernel: symgrad.Kernel, name: str, draws: np.ndarray) -> None:
    values, slopes = kernel(_POINTS[:, None], draws)
    heads = [f"u = {u:.4f}" for u in draws]
    click.echo("    " + " " * 8 + "".join(f"{h:>24}" for h in heads))
    click.echo("    " + " " * 8 + "".join(f"{name:>14}{'d/dx':>10}" for _ in heads))
    for point, row, slope in zip(_POINTS, values, slopes, strict=True):
        cells = "".join(f"{v:14.6f}{s:10.6f}" for v, s in zip(row, slope, strict=True))
        click.echo(f"    x = {point:<4g}{cells}")


def _bits(kernels: dict[str, symgrad.Kernel], program: symgrad.Program, seed: int) -> None:
    """Compare the values of the outputs with those of z, bit by bit, for the declared noise and for a wide range."""
    _title(f"Is the value still that of z, bit for bit? {_MANY:,} random points")
    generator = np.random.Generator(np.random.Philox(key=seed + 1))
    x = generator.normal(size=_MANY) * 10.0 ** generator.integers(-8, 9, _MANY)
    x[:2] = 0.0, -0.0
    noises = {
        str(program["u"].node.declaration): draw(program["u"].node, _MANY, seed + 2),
        "u over twelve decades": 10.0 ** generator.uniform(-6, 6, _MANY),
    }
    for label, u in noises.items():
        click.echo(f"  {label}")
        expected = kernels["z"](x, u)[0].view(np.int64)
        for name, kernel in kernels.items():
            if name != "z":
                share = np.count_nonzero(kernel(x, u)[0].view(np.int64) != expected) / _MANY
                click.echo(
                    f"    {name}: {f'other bits at {share:.0%} of them' if share else 'the same bits everywhere'}"
                )
    click.echo()


def _title(text: str) -> None:
    click.echo(click.style(text, bold=True, fg="cyan"))
    click.echo(click.style("-" * len(text), fg="cyan"))
