"""Commands about programs with stop_gradient: `effective` and `equivalent`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import symgrad
from symgrad.apps.cli.files import read_text
from symgrad.apps.cli.functions import FRAMEWORK, SPECS, names_function, read_expression, require_function
from symgrad.apps.cli.main import main
from symgrad.apps.cli.options import OF, OUTPUT, WRT, emit, format_option, names_in, targets
from symgrad.apps.cli.verdicts import DOMAIN, PROOF, TIME, domains, finish
from symgrad.support.errors import UsageError
from symgrad.support.progress import reports_progress

if TYPE_CHECKING:
    from symgrad.api.derivatives.effective import Effective
    from symgrad.interop.importers.code.frameworks import FrameworkName

# What is imported in functions here is for the start-up time of other commands.


@main.command()
@click.argument("p", metavar="P|FILE.py::FUNCTION")
@click.argument("q", metavar="Q|FILE.py::FUNCTION")
@SPECS
@WRT
@click.option(
    "--order", default="1", show_default=True, metavar="N|all", help="Up to which order derivatives count."
)
@FRAMEWORK
@DOMAIN
@TIME
@PROOF
@format_option("text", "markdown", "latex", "html", "json")
@OUTPUT
def equivalent(
    p: str,
    q: str,
    specs: str | None,
    wrt: str | None,
    order: str,
    framework: FrameworkName | None,
    domain: tuple[str, ...],
    time_limit: float,
    proof: Path | None,
    form: str,
    output: Path | None,
) -> None:
    """Decide whether two programs agree in value and in derivatives, each as its stop_gradients make them.

    Each is an expression, or a program (a file, or - for standard input) that ends with one; or a function of JAX,
    torch, TensorFlow, Keras or NumPy in a file of Python's, FILE.py::FUNCTION, which is imported and traced: --specs
    says what the arguments are, of both.

    The exit code is the verdict: 0 proved, 5 refuted, 6 supported, 7 undecided.
    """
    if specs is not None or framework is not None:
        require_function((p, q))
    with reports_progress("cli", "reading"):
        left, right = (
            read_expression(side, None, specs, framework) if names_function(side) else read_text(side)[0]
            for side in (p, q)
        )
    by = names_in(wrt, "--wrt")
    found = symgrad.equivalent(left, right, by, _order(order), domains(domain), time_limit)
    finish(found, proof, form, output)


def _order(text: str) -> int | Literal["all"]:
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"--order is '{text}'", expected="a positive integer, or 'all'")
    return int(text)


@main.command()
@click.argument("source", metavar="SOURCE|FILE.py::FUNCTION")
@SPECS
@OF
@WRT
@click.option(
    "--order",
    type=click.IntRange(1, 8),
    default=1,
    show_default=True,
    help="All derivatives up to this order.",
)
@FRAMEWORK
@format_option("text", "markdown", "latex", "html", "json")
@OUTPUT
def effective(
    source: str,
    specs: str | None,
    of: str | None,
    wrt: str | None,
    order: int,
    framework: FrameworkName | None,
    form: str,
    output: Path | None,
) -> None:
    """Print what a program with stop_gradient really computes, forward and backward, as plain formulas.

    A program is a program file, an expression, or - for standard input; or a function of JAX, torch, TensorFlow, Keras
    or NumPy in a file of Python's, FILE.py::FUNCTION. That file is imported, and the function traced.
    """
    with reports_progress("cli", "reading"):
        y = read_expression(source, of, specs, framework)
    with reports_progress("cli", "deriving"):
        report = _report(symgrad.effective(y, targets(y, wrt), order), y, form)
    emit(report, output)


def _report(found: Effective, y: symgrad.Expr, form: str) -> str:
    if form == "text":
        return str(found)
    if form == "json":
        return json.dumps(_data(found, y), indent=2, ensure_ascii=False)
    return _latex(found, y) if form == "latex" else found.report().written(form)


def _data(found: Effective, y: symgrad.Expr) -> dict[str, Any]:
    """Return the attributes of the result, by name."""
    backward = found.backward
    return {
        "of": y.name or str(y),
        "value": _both(found.value),
        "cotangent": backward.cotangent.name,
        "backward": [
            {"wrt": w.name or str(w), **_both(e)} for w, e in zip(backward.wrt, backward(), strict=True)
        ],
        "derivatives": [{"wrt": list(key), **_both(e)} for key, e in found.derivatives.items() if key],
    }


def _both(e: symgrad.Expr) -> dict[str, str]:
    return {"formula": e.text(expand=True), "latex": e.latex(expand=True)}


def _latex(found: Effective, y: symgrad.Expr) -> str:
    """Return rows for the value and the derivatives; for an array, rows of the backward function instead."""
    from symgrad.api.handles.formatting import latex_many, leibniz_of

    exprs = [found.value]
    wrt = found.backward.wrt
    if y.shape and found.order == 1:
        exprs += found.backward()
        titles = [leibniz_of(y, ()), *(rf"\bar{{{w.latex(expand=True)}}}" for w in wrt)]
    else:
        by = {str(w.name or w): w for w in wrt}
        exprs += [e for key, e in found.derivatives.items() if key]
        titles = [leibniz_of(y, [by[n] for n in key]) for key in found.derivatives]
    return latex_many(exprs, titles, expand=True)
