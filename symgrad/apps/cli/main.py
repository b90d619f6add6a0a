"""Commands: thin wrappers that read the arguments, call the public functions and print."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click
import numpy as np

import symgrad
from symgrad.apps.cli.files import read_latex_source, read_source, reading_options, write_arrays, write_text
from symgrad.apps.cli.options import (
    DTYPE,
    ORDER,
    OUTPUT,
    READINGS,
    WRT,
    emit,
    expression_of,
    format_option,
    kernel_of,
    list_option,
    program_options,
    refuse_repeated,
    targets,
)
from symgrad.printing.progress import show_usually
from symgrad.support.errors import FileError, NumberTooLargeError, SymgradError, UsageError
from symgrad.support.files import make_folder, reason

# What is imported in functions here is for the start-up time of other commands.

_EXIT = """
\b
Exit codes: 0 done; 1 the program or a value is wrong; 2 the command line is wrong;
3 a file cannot be read or written; 4 a fault in symgrad; 130 interrupted. A verdict: 0 proved,
5 refuted, 6 supported, 7 undecided.
"""


INTERRUPTED = 130  # 128 + SIGINT, as in shells
_BROKEN_PIPE = 141  # 128 + SIGPIPE


class _Commands(click.Group):
    """Turns exceptions of commands into a message on standard error and the documented exit code."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            refuse_repeated(command, ctx, rest)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            ctx.color = False
        for stream in (sys.stdout, sys.stderr):
            # Escape characters that the encoding does not have: \\u03c3.
            if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
                stream.reconfigure(errors="backslashreplace")
        show_usually(command=True)
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except SymgradError as error:
            _end(
                error.text(command=True),
                3 if isinstance(error, FileError) else 2 if isinstance(error, UsageError) else 1,
            )
        except KeyboardInterrupt:
            _end("interrupted", INTERRUPTED)
        except MemoryError:
            _end("there is not enough memory for this", 1)
        except BrokenPipeError:
            _quiet()
            sys.exit(_BROKEN_PIPE)
        except OSError as error:
            _quiet()
            _end(f"{error.filename or 'standard output'}: {reason(error)}", 3)
        except Exception:  # noqa: BLE001  the last line of defence: a fault of ours is reported as one, with its own exit code
            click.echo(traceback.format_exc(), err=True)
            _end("this is a fault in symgrad; please report it with the program", 4)


def _end(message: str, code: int) -> NoReturn:
    click.echo(f"symgrad: {message}", err=True)
    sys.exit(code)


def _quiet() -> None:
    """Discard the remaining output: at exit Python would report that it cannot be written."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EXIT,
)
@click.version_option(symgrad.__version__, prog_name="symgrad")
def main() -> None:
    """Exact gradients as formulas, the reason for every term, verdicts on claims, and native kernels.

    SOURCE is a program file, an expression such as 'sqrt(x**2*u)', or - for standard input.
    """


@main.command()
@program_options
@WRT
@ORDER
@click.option("--stable", is_flag=True, help="In forms that lose fewer digits in floating point.")
@click.option("--expand", is_flag=True, help="Over inputs alone, without the names of the program.")
@click.option("--standalone", is_flag=True, help="With --format latex: a whole document.")
@click.option(
    "--latex", is_flag=True, help="SOURCE is a formula in LaTeX; how it was read goes to standard error."
)
@list_option(
    "--declare",
    separator="\n",
    metavar="TEXT",
    help="With --latex: declarations before it, such as 'X : real[n, d]; w : real[d]'. Repeatable.",
)
@READINGS
@format_option("text", "markdown", "latex", "html", "json")
@OUTPUT
def derive(
    source: str,
    of: str | None,
    wrt: str | None,
    order: int,
    stable: bool,
    expand: bool,
    standalone: bool,
    latex: bool,
    declare: str | None,
    readings: Sequence[str],
    form: str,
    output: Path | None,
) -> None:
    """Print the gradient as a formula."""
    from symgrad.apps.cli.report import derive_report, latex_document
    from symgrad.support.progress import reports_progress

    if standalone and form != "latex":
        raise UsageError("--standalone is a document of LaTeX", cure="add --format latex")
    if declare is not None and not latex:
        raise UsageError(
            "--declare belongs to a formula in LaTeX", cure="add --latex, or write the declarations first"
        )
    if readings and not latex:
        raise UsageError("--read says how LaTeX is read", cure="add --latex")
    program = read_latex_source(source, declare, reading_options(readings)) if latex else read_source(source)
    y = expression_of(program, of)
    with reports_progress("cli", "deriving"):
        report = derive_report(y, targets(y, wrt), order, form, stable=stable, expand=expand)
    emit(latex_document(report) if standalone else report, output)


@main.command()
@program_options
@WRT
@click.option("--steps", is_flag=True, help="Every pullback with its rule, also where names say it shorter.")
@click.option("--hide-last", is_flag=True, help="The derivation without its last line, as an exercise.")
@click.option(
    "--answer", metavar="FORMULA", help="Tell whether this is the last line; ends as a verdict does."
)
@click.option("--next-step", is_flag=True, help="The line that comes after those of --so-far, with its rule.")
@click.option(
    "--so-far", metavar="FILE", help="The lines of a derivation that are there; - for standard input."
)
@format_option("text", "markdown", "latex", "html", "json")
@click.option("--picture", type=click.Path(path_type=Path), help="Also draw the graph into this .svg file.")
@OUTPUT
def explain(
    source: str,
    of: str | None,
    wrt: str | None,
    steps: bool,
    hide_last: bool,
    answer: str | None,
    next_step: bool,
    so_far: str | None,
    form: str,
    picture: Path | None,
    output: Path | None,
) -> None:
    """Derive step by step, and tell for every random input whether it enters the gradient, and how."""
    from symgrad.apps.cli.lessons import Exercise
    from symgrad.apps.cli.report import explain_report
    from symgrad.support.progress import reports_progress

    exercise = Exercise.from_options(source, form, so_far, answer, hide_last=hide_last, next_step=next_step)
    program = read_source(source)
    y = expression_of(program, of)
    with reports_progress("cli", "explaining"):
        derivation = symgrad.explain(y, targets(y, wrt))
    if exercise is not None:
        with reports_progress("cli", "comparing"):
            report, code = exercise.report(derivation)
        emit(report, output)
        sys.exit(code)
    if picture is not None:
        if picture.suffix != ".svg":
            raise UsageError(f"cannot draw '{picture.name}'", expected="a file name that ends in .svg")
        write_text(picture, derivation.svg())
    with reports_progress("cli", "explaining"):
        report = explain_report(derivation, form, steps=steps)
    emit(report, output)


@main.command("compile")
@program_options
@WRT
@ORDER
@click.option("--no-gradient", is_flag=True, help="Compile the values alone.")
@DTYPE
@click.option("--name", help="Name of the functions; by default that of the file.")
@click.option(
    "--cpu",
    default="host",
    metavar="NAME",
    show_default=True,
    help="For machine code: host, baseline (every machine of its kind), or LLVM's name of a processor.",
)
@click.option("--triple", metavar="NAME", help="Another kind of machine, by LLVM's name: aarch64-linux-gnu.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="k.c (C99), k.o (object) or k.so (shared library), each with its header k.h; k.ll or k.bc (LLVM), "
    "k.s (assembly), k.py (NumPy), k.ptx (NVIDIA's GPUs), k.wasm (WebAssembly).",
)
def compile_(
    source: str,
    of: str | None,
    wrt: str | None,
    order: int,
    no_gradient: bool,
    dtype: str,
    name: str | None,
    cpu: str,
    triple: str | None,
    output: Path,
) -> None:
    """Compile values and gradients to source or native code in a file."""
    from symgrad.apps.cli.report import partials
    from symgrad.compiler.kernels.artefacts.artefact import check_path

    check_path(output, cpu, triple)
    program = read_source(source)
    y = expression_of(program, of)
    found = {} if no_gradient else partials(y, targets(y, wrt, _VALUE_ALONE), order)
    kernel = kernel_of(program, [y, *found.values()], dtype, "kernel")
    names = [of or y.name or "value", *("_".join(["d", *(w.name or "" for w in key)]) for key in found)]
    make_folder(output.parent)
    for path in kernel.save(output, name=name, outputs=names, cpu=cpu, triple=triple):
        click.echo(f"wrote {path}")


@main.command()
@program_options
@WRT
@click.argument("values", nargs=-1, metavar="[NAME=VALUE]...")
@ORDER
@click.option("--no-gradient", is_flag=True, help="Compute the values alone.")
@DTYPE
@format_option("text", "json")
@OUTPUT
def run(
    source: str,
    of: str | None,
    wrt: str | None,
    values: tuple[str, ...],
    order: int,
    no_gradient: bool,
    dtype: str,
    form: str,
    output: Path | None,
) -> None:
    """Compute values and gradients with the compiled kernel.

    A VALUE is a number, numbers separated by commas, nested lists, a .npy file, an array of a .npz file, or a
    column of a .csv file: x=2, x=-2,-1,1, 'X=[[1, 2], [3, 4]]', x=points.npy, x=arrays.npz:x, x=table.csv:height.
    With -o, results go to a .npy (one array), .npz or .csv file.
    """
    from symgrad.apps.cli.inputs.values import read_values
    from symgrad.apps.cli.report import arrays_report, partials, run_report

    program = read_source(source)
    y = expression_of(program, of)
    found = {} if no_gradient else partials(y, targets(y, wrt, _VALUE_ALONE), order)
    kernel = kernel_of(program, [y, *found.values()], dtype, "kernel")
    inputs = read_values(values, program.inputs)
    real = {i.name for i in program.inputs if i.dtype == "real"}
    known = {n: _in(dtype, n, v) if n in real else v for n, v in inputs.items() if n in kernel.inputs}
    results: Any = kernel(**known)
    name = of or y.name or "value"
    names = [name, *(_column_name(name, key) for key in found)]
    arrays = dict(zip(names, results if found else (results,), strict=True))
    if output is not None:
        write_arrays(output, arrays)
        click.echo(f"wrote {output}")
        return
    if form == "text" and (y.shape or kernel.ufunc.signature is not None):
        nothing = dict(zip(names, [None, *(g.nothing for g in found.values())], strict=True))
        click.echo(arrays_report(arrays, nothing))
    else:
        click.echo(run_report(known, arrays, form))


@main.command()
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("symgrad-demo"),
    show_default=True,
    help="Where the picture goes.",
)
@click.option("--seed", type=int, default=2, show_default=True, help="Of the draws of the noise.")
def demo(directory: Path, seed: int) -> None:
    """Answer the question symgrad was made for, from formula to kernel to picture."""
    from symgrad.apps.cli.demo import run_demo

    run_demo(directory, seed)


@main.command()
@click.option("--clear", is_flag=True, help="Remove all of it, and nothing else.")
def cache(clear: bool) -> None:
    """Say where machine code is kept on disk from one process to the next, and how much there is."""
    from symgrad.api.kernels.disk_cache import cache_usage
    from symgrad.compiler.llvm.engine import disk_cache as store

    try:
        where = store.directory()
        if where is None:
            click.echo(
                f"nothing is kept: {store.ENVIRONMENT_VARIABLE} is empty, or there is no directory for it"
            )
        elif clear:
            click.echo(f"removed {store.clear()} files from {where}")
        else:
            size, kinds = cache_usage()
            count = sum(kinds.values())
            click.echo(
                f"{where}\n{count} files, {size / 2**20:.1f} of at most {store.MAX_TOTAL_BYTES / 2**20:.0f} MiB"
            )
            for kind, number in kinds.items() if count else ():
                click.echo(f"  {number:5d} {kind}")
    except (OSError, RuntimeError, ValueError) as error:
        raise FileError(
            f"the directory of kept code cannot be used: {reason(error)}",
            cure=f"name a directory of yours alone with {store.ENVIRONMENT_VARIABLE}, or remove it by hand",
        ) from None


_VALUE_ALONE = "name one with --wrt, or leave the gradient out with --no-gradient"


def _in(dtype: str, name: str, value: Any) -> Any:
    """Convert numbers to the precision of the kernel."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        return array
    with np.errstate(all="ignore"):
        found = array.astype(dtype)
    lost = array[np.isinf(found) & np.isfinite(array)]
    if lost.size:
        raise NumberTooLargeError(
            f"'{name}' is {lost.flat[0]}, which is too large for {dtype}",
            expected=f"numbers up to {np.finfo(dtype).max:.2g}, or inf",
            cure="compute in float64" if dtype == "float32" else None,
        )
    return found


def _column_name(name: str, key: tuple[symgrad.Expr, ...]) -> str:
    power = str(len(key)) if len(key) > 1 else ""
    return "_".join([f"d{power}{name}", *(f"d{w.name or w}" for w in key)])
