"""The magics of IPython: `%%symgrad` for cells in program notation, `%symgrad` for the commands of the command line."""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUntypedFunctionDecorator=false
# IPython is partly untyped.

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any, cast

import click
from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display
from IPython.utils.generics import complete_object

import symgrad
from symgrad.api.noise.audit import audit
from symgrad.api.reports.gradients import program_report
from symgrad.apps.cli import main
from symgrad.apps.cli.options import expression_of, targets
from symgrad.apps.notebook.cells import bindings, error_report, read_cell
from symgrad.printing.progress import show_usually
from symgrad.report.report import Reported
from symgrad.support.errors import SymgradError, UsageError

_NAME = re.compile(r"[^\W\d]\w*")
_FAILED = (1, 2, 3, 4, 130)
"""Exit codes of failed commands; the others are verdicts."""


class StoppedError(Exception):
    """Ends a cell; IPython shows these lines instead of a traceback.

    Args:
        lines: the message.
    """

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self._lines = lines

    def _render_traceback_(self) -> list[str]:
        return self._lines


@magics_class
class Magic(Magics):
    """`%symgrad` and `%%symgrad`."""

    @no_var_expand
    @magic_arguments("symgrad")
    @argument("-o", "--output", metavar="NAME", help="Bind the program to this name.")
    @argument("--of", metavar="NAME", help="What to work on; by default the last line.")
    @argument(
        "--wrt",
        metavar="NAMES",
        help="Show the gradient by these: x,y. For what follows: what to differentiate by.",
    )
    @argument("--explain", action="store_true", help="Show the derivation, and whether noise enters it.")
    @argument("--audit", action="store_true", help="Show what noise makes of the gradient.")
    @argument("--lint", action="store_true", help="Show what may not be meant.")
    @argument("--review", action="store_true", help="Check the cell as a derivation, line by line.")
    @argument("-q", "--quiet", action="store_true", help="Define the names, and show nothing.")
    @line_cell_magic
    def symgrad(self, line: str, cell: str | None = None) -> None:
        """Read a cell in program notation, or run a command of the command line.

        `%%symgrad` defines the names of the cell as formulas (`Expr`); names that earlier cells defined can be used.
        With no option it shows the program; with `--review` the cell is a derivation, of which each line is checked.

        `%symgrad derive 'x**2'` runs `symgrad derive`. A program that is bound to a name is given by this name, and so
        are formulas: `%symgrad explain p --wrt x`, `%symgrad derive 'log(y)*x'`. `%symgrad --help` lists the commands.
        """
        if cell is None:
            self._command(line)
            return
        try:
            self._cell(line, cell)
        except SymgradError as error:
            raise self._stop(error) from None

    # -- cells ----------------------------------------------------------------------------------------------

    def _cell(self, line: str, cell: str) -> None:
        options = parse_argstring(self.symgrad, line)
        if options.output is not None and not options.output.isidentifier():
            raise UsageError(f"'{options.output}' is no name", expected="-o NAME")
        if options.review:
            display(symgrad.review(cell, f"In [{self._shell.execution_count}]"))
            return
        namespace = self._namespace
        program = read_cell(cell, f"In [{self._shell.execution_count}]", namespace)
        found: dict[str, Any] = {**bindings(program)}
        if options.output is not None:
            found[options.output] = program
        shown = [] if options.quiet else _answers(program, options)
        # Define the names last: a cell with a mistake defines none.
        namespace.update(found)
        for answer in shown:
            display(answer)

    def _stop(self, error: SymgradError) -> StoppedError:
        """Return the exception that ends the cell; in a notebook, display the message before."""
        text = str(error)
        if getattr(self._shell, "kernel", None) is None:
            return StoppedError([f"{type(error).__name__}: {text}"])
        bundle = {"text/plain": text, "text/html": error_report(error).fragment()}
        display(bundle, raw=True)
        place = "" if error.at is None else f", line {error.at.line}, column {error.at.column}"
        return StoppedError([f"{type(error).__name__}{place}"])

    # -- commands -------------------------------------------------------------------------------------------

    def _command(self, line: str) -> None:
        stderr = io.StringIO()
        code = 0
        try:
            arguments = [self._argument(k, text) for k, text in enumerate(shlex.split(line))]
        except ValueError as error:  # a quote that is not closed
            raise StoppedError([f"symgrad: {error}"]) from None
        try:
            with contextlib.redirect_stderr(stderr):
                main.main(arguments or ["--help"], "symgrad", standalone_mode=False)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except click.exceptions.Exit as end:
            code = end.exit_code
        except click.ClickException as error:
            raise StoppedError([f"symgrad: {error.format_message()}"]) from None
        finally:
            show_usually()
        message = stderr.getvalue().strip()
        if code in _FAILED and message:
            raise StoppedError(message.splitlines())
        if message:
            print(message, file=sys.stderr)  # noqa: T201  (as the command does)

    def _argument(self, k: int, text: str) -> str:
        """Replace the name of a program by its text, and names of formulas by their definitions."""
        value = self._namespace.get(text)
        if isinstance(value, symgrad.Program):
            return str(value)
        named = any(isinstance(self._namespace.get(n), symgrad.Expr) for n in _NAME.findall(text))
        if k != 1 or not named or Path(text).exists():  # the program is the first argument of a command
            return text
        try:
            lines = str(read_cell(text, "", self._namespace)).splitlines()
        except SymgradError:  # the command reports it
            return text
        if len(lines) > 1 and lines[-2].startswith(
            f"{text} ="
        ):  # the definition has the name, which the output uses
            lines.pop()
        return "\n".join(lines)

    # -- IPython --------------------------------------------------------------------------------------------

    @property
    def _shell(self) -> InteractiveShell:
        shell = self.shell or get_ipython()
        assert shell is not None
        return shell

    @property
    def _namespace(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self._shell.user_ns)


def _answers(program: symgrad.Program, options: Any) -> list[Any]:
    """Return the outputs that the options of a cell request; without options, the program."""
    if not (options.wrt or options.explain or options.audit or options.lint):
        return [program_report(program, text=False) if options.of is None else program[options.of]]
    found: list[Any] = []
    y = expression_of(program, options.of)
    if options.wrt or options.explain or options.audit:
        wrt = targets(y, options.wrt)
        if options.wrt and not (options.explain or options.audit):
            found.append(symgrad.derivatives(y, wrt))
        if options.explain:
            found.append(symgrad.explain(y, wrt))
        if options.audit:
            found += [audit(y, w) for w in wrt]
    if options.lint:
        found.append(symgrad.lint(program))
    return found


def _completions(answer: Reported, _: list[str]) -> list[str]:
    return dir(answer)


def load(shell: Any) -> None:
    """Register the magics, and a completion for results that omits internal names."""
    shell.register_magics(Magic)
    complete_object.register(Reported, _completions)
    show_usually()


def unload(shell: Any) -> None:
    """Unregister the magics."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("symgrad", None)
