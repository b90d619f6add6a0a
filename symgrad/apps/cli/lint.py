"""The command `symgrad lint`: find code in a program or a function that may not do what its author intended."""

from __future__ import annotations

import json
import linecache
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

import symgrad
from symgrad.apps.cli.files import read_text
from symgrad.apps.cli.functions import FRAMEWORK, SPECS, output_of, python_function
from symgrad.apps.cli.main import main
from symgrad.apps.cli.options import (
    OUTPUT,
    emit,
    expression_of,
    format_option,
    list_option,
    names_in,
    time_option,
)
from symgrad.ir.listing import one_of, suggest
from symgrad.support.errors import SymgradError, UsageError

if TYPE_CHECKING:
    from symgrad.analysis.stop_gradient.finding import Finding
    from symgrad.interop.importers.code.frameworks import FrameworkName
    from symgrad.interop.importers.code.function_program import Arguments

# What is imported in functions here is for the start-up time of other commands.

_OTHER = re.compile(r"(?P<file>\S+\.(?:sg|txt))::(?P<name>\S*)")

_EXAMPLES = """
\b
symgrad lint model.sg --of loss --wrt w --noise u
symgrad lint train.py::loss --specs 'w : real[5]; x : real[n, 5]; u ~ Uniform(0.9, 1.1)[n]'
symgrad lint train.py::loss --specs 'w : real[5]' --format sarif -o found.sarif
"""


@main.command(epilog=_EXAMPLES)
@click.argument("source", metavar="FILE[::FUNCTION]")
@SPECS
@click.option("--of", "of", metavar="NAME", help="What is differentiated; by default what ends the program.")
@list_option(
    "--wrt",
    metavar="NAME[,NAME]",
    help="By what; by default every real input that is not random. What is named here has to receive a gradient.",
)
@list_option("--noise", metavar="NAME[,NAME]", help="Random inputs that the gradient is not to carry.")
@list_option("--frozen", metavar="NAME[,NAME]", help="What is to receive no gradient.")
@FRAMEWORK
@list_option("--ignore", metavar="CODE[,CODE]", help="Checks that are left out, by code or name.")
@time_option(5, "For proofs, about.")
@format_option("text", "markdown", "latex", "html", "json", "sarif", "github")
@OUTPUT
def lint(
    source: str,
    specs: str | None,
    of: str | None,
    wrt: str | None,
    noise: str | None,
    frozen: str | None,
    framework: FrameworkName | None,
    ignore: str | None,
    time_limit: float,
    form: str,
    output: Path | None,
) -> None:
    """Find what in a program may give another gradient, or value, than its author meant.

    A program is a program file, an expression, or - for standard input; or a function of JAX, torch, TensorFlow, Keras
    or NumPy in a file of Python's, FILE.py::FUNCTION. That file is imported, which runs its top level as any import
    does. Then the function is traced, and its text is read for what tracing cannot see, such as .item().

    '# symgrad: ignore[SG101]' on a line leaves out a finding there, '# symgrad: ignore' all of them.

    The exit code is 0 if there is nothing but notes, and 1 if there is an error or a warning.
    """
    ignored = _codes(ignore)
    options = _LintOptions(
        of, names_in(wrt, "--wrt"), names_in(noise, "--noise"), names_in(frozen, "--frozen"), time_limit
    )
    python = python_function(source, specs, framework)
    if python is not None:
        found = _of_file(*python, specs, framework, options)
        texts: dict[str, str] = {}
    else:
        found, texts = _of_program(source, options)
    from symgrad.analysis.stop_gradient.ignore_comments import unignored

    left = [f for f in unignored(found, texts) if f.code not in ignored and f.name not in ignored]
    report = _report(left, form)
    if report or output is not None:  # without findings, print no empty line
        emit(report, output)
    sys.exit(int(any(f.severity != "note" for f in left)))


class _LintOptions(NamedTuple):
    """Options of `lint`: the value, the variables, and the inputs that its gradient must not carry or reach."""

    of: str | None
    wrt: list[str] | None
    noise: list[str] | None
    frozen: list[str] | None
    seconds: float

    def found(self, y: symgrad.Expr) -> list[Finding]:
        """Return the findings in a program."""
        return list(symgrad.lint(y, self.wrt, self.noise, self.frozen, time_limit=self.seconds))


def _of_program(source: str, options: _LintOptions) -> tuple[list[Finding], dict[str, str]]:
    other = _OTHER.fullmatch(source)
    if other is not None:
        raise UsageError(
            f"'{source}' is no file", cure=f"symgrad lint {other['file']} --of {other['name'] or 'NAME'}"
        )
    text, name = read_text(source)
    linecache.checkcache(name)  # show places in the current file
    return options.found(expression_of(symgrad.parse(text, name), options.of)), {name: text}


def _of_file(
    file: str, function: str | None, specs: str | None, named: FrameworkName | None, options: _LintOptions
) -> list[Finding]:
    from symgrad.interop.importers.code.checks import source_findings
    from symgrad.interop.importers.code.frameworks import framework_of
    from symgrad.interop.importers.code.function_loader import load_function
    from symgrad.interop.importers.code.function_program import parse_arguments, trace_function
    from symgrad.support.progress import reports_progress

    with reports_progress("cli", "reading"), load_function(file, function) as found:
        framework = framework_of(found, named)
        arguments = parse_arguments(found, specs)
        sources = _sources(arguments, options)
        differentiated = framework != "numpy"
        try:
            program = trace_function(found, framework, arguments)
        except SymgradError as error:
            usage = isinstance(error, UsageError)
            lost = [] if usage else source_findings(found.function, sources, differentiated)
            if not lost:
                raise
            click.echo(f"symgrad: the text alone is checked: {error.text(command=True)}", err=True)
            return lost
        key, y = output_of(found, program, options.of)
        position = [0] if key == next(iter(program.returned), None) else []
        path = [int(part) for part in key.split("_")[:1] if part.isdecimal()]
        lost = source_findings(found.function, sources, differentiated, [key, *path, *position])
        return [*lost, *options.found(y)]


def _sources(arguments: Arguments, options: _LintOptions) -> list[str]:
    """Return the arguments by which the program is differentiated."""
    by = options.wrt
    if by is None:
        by = [n for n, e in arguments.inputs.items() if e.node.declaration.distribution is None]
    names = [n for n in by if n in arguments.inputs and n not in (options.frozen or ())]
    return [n for n in names if arguments.inputs[n].dtype == "real"]


def _codes(ignore: str | None) -> list[str]:
    """Return the codes or names of ignored checks."""
    found = names_in(ignore, "--ignore") or []
    known = [*(code for code, _ in _checks()), *(name for _, (name, _) in _checks())]
    for code in found:
        if code not in known:
            raise UsageError(
                f"no check is called '{code}'", expected=one_of(known), cure=suggest(code, known)
            )
    return found


def _checks() -> list[tuple[str, tuple[str, str]]]:
    """Return the code of every check with its name and its description."""
    from symgrad.analysis.stop_gradient.table import CHECKS
    from symgrad.interop.importers.code.checks import SOURCE_CHECKS

    graph = [(c.code, (c.name, c.says)) for c in CHECKS]
    return [*graph, *((c.code, (c.name, c.help)) for c in SOURCE_CHECKS.values())]


def _report(findings: Sequence[Finding], form: str) -> str:
    if form in ("markdown", "latex", "html"):
        from symgrad.printing.reports.lint import findings_report

        return findings_report(findings).written(form)
    from symgrad.printing.texts.findings import findings_github, findings_sarif, findings_text

    if form == "json":
        return json.dumps([f.json() for f in findings], indent=2, ensure_ascii=False)
    if form == "sarif":
        helps = {code: text for code, (_, text) in _checks()}
        log = findings_sarif(findings, helps, symgrad.__version__)
        return json.dumps(log, indent=2, ensure_ascii=False)
    return findings_github(findings) if form == "github" else findings_text(findings)
