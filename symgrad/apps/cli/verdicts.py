"""Commands that decide claims, derivations and gradient code, and that check proofs."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import symgrad
from symgrad.apps.cli.check_report import checked_lines
from symgrad.apps.cli.files import read_source, read_text, reading_options, write_text
from symgrad.apps.cli.functions import code_and_gradient
from symgrad.apps.cli.main import INTERRUPTED, main
from symgrad.apps.cli.options import (
    EXIT,
    OUTPUT,
    READINGS,
    emit,
    expression_of,
    format_option,
    list_option,
    names_in,
    targets,
    time_option,
)
from symgrad.frontend.limits import TEXT_CHARACTERS
from symgrad.support.errors import FileError, UsageError
from symgrad.support.files import read_text as read_file
from symgrad.support.progress import reports_progress

if TYPE_CHECKING:
    from symgrad.apps.review.layout.passages import DocumentForm
    from symgrad.verification.batch import Row
    from symgrad.verification.verdict import Verdict

# What is imported in functions here is for the start-up time of other commands.

TIME = time_option(10, "For one claim.")
PROOF = click.option(
    "--proof",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the proof, or the refutation, into this file.",
)

DOMAIN = click.option(
    "--domain",
    multiple=True,
    metavar="NAME=DOMAIN",
    help="The domain of a name: x=positive, 'x=real(0, 1)', z=complex. Repeatable. A domain alone is that of all.",
)

_DOCUMENTS = """
\b
symgrad review derivation.md
symgrad review paper.tex --format html -o paper.html
"""

_CODE = """
\b
symgrad verify-code layers.py::loss loss_grad --specs 'w : real[3]; x : real[5, 3]; y : real[5]' --wrt w
symgrad verify-code model.py::forward grads.py::backward --specs 'x : real[4, 2]; gamma, beta : real[2]'
"""

_EXAMPLES = """
\b
symgrad verify model.sg --of loss --wrt w --claim '2*X.T@(X@w - y)/n'
symgrad verify --batch claims.jsonl -o results.jsonl
"""


@main.command(epilog=_EXAMPLES)
@click.argument("source", required=False)
@click.option("--of", "of", metavar="NAME", help="What is differentiated; by default the last line.")
@list_option("--wrt", metavar="NAME", help="By what; by default the one real input that is not random.")
@click.option("--claim", metavar="TEXT", help="The derivative as someone wrote it, in the program's names.")
@DOMAIN
@TIME
@PROOF
@format_option("text", "markdown", "latex", "html", "json")
@click.option(
    "--batch",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Decide the rows of this file of JSON lines instead; ends with 0 when all have a line.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file; of a batch, a line a row.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="Of a batch: processes; by default one a processor."
)
@click.option(
    "--memory",
    type=click.IntRange(64),
    default=2048,
    show_default=True,
    metavar="MiB",
    help="Of a batch: what one process may take.",
)
@click.option("--replay", is_flag=True, help="Of a batch: have every proof checked.")
def verify(
    source: str | None,
    of: str | None,
    wrt: str | None,
    claim: str | None,
    domain: tuple[str, ...],
    time_limit: float,
    proof: Path | None,
    form: str,
    batch: Path | None,
    output: Path | None,
    jobs: int | None,
    memory: int,
    replay: bool,
) -> None:
    """Decide whether a claimed derivative is right.

    The exit code is the verdict: 0 proved, 5 refuted, 6 supported, 7 undecided.

    A batch has rows with id, program, of, wrt, claim, or with id, a, b; and perhaps domain, expect. Rows whose id is in
    the output file are skipped: the same command goes on where it was stopped.
    """
    if batch is not None:
        if source is not None or claim is not None or proof is not None or domain:
            raise UsageError(
                "--batch takes its claims from a file", cure="leave out SOURCE, --claim, --domain and --proof"
            )
        _batch(batch, output, jobs or os.cpu_count() or 1, time_limit, memory, replay)
        return
    if source is None or claim is None:
        raise UsageError(
            "there is no claim to verify", expected="SOURCE --wrt NAME --claim TEXT, or --batch FILE"
        )
    program = read_source(source)
    y = expression_of(program, of)
    by = targets(y, wrt)
    if len(by) != 1:
        names = ", ".join(str(w) for w in by)
        raise UsageError(f"a claim is about one derivative, not those by {names}", cure="name one with --wrt")
    finish(symgrad.verify(y, by[0], claim, domains(domain), time_limit), proof, form, output)


@main.command()
@click.argument("a")
@click.argument("b")
@DOMAIN
@TIME
@PROOF
@format_option("text", "markdown", "latex", "html", "json")
@OUTPUT
@click.option(
    "--values-only",
    is_flag=True,
    help="Compare values alone, also where stop_gradient makes gradients differ.",
)
def equal(
    a: str,
    b: str,
    domain: tuple[str, ...],
    time_limit: float,
    proof: Path | None,
    form: str,
    output: Path | None,
    values_only: bool,
) -> None:
    """Decide whether two formulas are equal wherever both are defined.

    With stop_gradient in one, their gradients count too.

    Each is an expression, or a program (a file, or - for standard input) that ends with one.

    The exit code is the verdict: 0 proved, 5 refuted, 6 supported, 7 undecided.
    """
    left, right = read_text(a)[0], read_text(b)[0]
    found = symgrad.equal(left, right, domains(domain), time_limit, values_only=values_only)
    finish(found, proof, form, output)


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--all", "whole", is_flag=True, help="Print every line of a long statement.")
@time_option(120, "For the file.")
@format_option("text", "markdown", "latex", "html", "json")
@OUTPUT
def check(file: Path, whole: bool, time_limit: float, form: str, output: Path | None) -> None:
    """Check a proof or a refutation that verify or equal wrote with --proof.

    This uses the checker alone, not what found the proof, and prints what the file claims. The exit code is what
    holds: 0 proved, 5 refuted, 6 neither; 2 if it is no proof file at all.
    """
    from symgrad.checker.check import check as replayed
    from symgrad.checker.file.reader import read_proof_file

    _require_seconds(time_limit)
    with reports_progress("proof", "checking the proof"):
        found = replayed(read_proof_file(file), time_limit)
    if form == "text":
        emit("\n".join(checked_lines(found, whole=whole)), output)
    else:
        from symgrad.printing.reports.proof import check_report

        emit(check_report(found, file.name).written(form), output)
    sys.exit(EXIT[found.status])


@main.command(epilog=_DOCUMENTS)
@click.argument("file")
@click.option(
    "--as",
    "document",
    type=click.Choice(["markdown", "latex", "text"]),
    help="What the document is; by default what its name or its text says.",
)
@time_option(10, "For one step.")
@READINGS
@format_option("text", "markdown", "latex", "html", "json")
@OUTPUT
def review(
    file: str,
    document: DocumentForm | None,
    time_limit: float,
    readings: Sequence[str],
    form: str,
    output: Path | None,
) -> None:
    """Check a hand derivation line by line, and name the first line that is wrong.

    FILE is a document in Markdown, LaTeX or plain text, or - for standard input. Words between formulas are left
    alone. To check a proof file there is 'symgrad check'.

    The exit code is that of the worst step: 0 proved, 5 refuted, 6 supported, 7 undecided or not understood.
    """
    text, name = read_text(file) if file == "-" else (_document(Path(file)), file)
    found = symgrad.review(text, name, document, time_limit, **reading_options(readings))
    if form == "json":
        emit(json.dumps(found.json(), indent=2, ensure_ascii=False), output)
    else:
        emit(found.text() if form == "text" else found.report().written(form), output)
    sys.exit(EXIT[found.status])


@main.command("verify-code", epilog=_CODE)
@click.argument("function", metavar="FILE.py::FUNCTION")
@click.argument("gradient", metavar="[FILE.py::]GRADIENT")
@list_option(
    "--specs",
    separator="\n",
    required=True,
    metavar="TEXT",
    help="What the arguments are, in program notation: 'w : real[5]; x : real[20, 5]; y : int[20]'.",
)
@list_option(
    "--wrt", metavar="NAME[,NAME]", help="By what GRADIENT differentiates; by default every real argument."
)
@click.option(
    "--dtype",
    type=click.Choice(["float64", "float32"]),
    default="float64",
    show_default=True,
    help="What real arguments come in: float32 is held to single precision.",
)
@time_option(60, "For all of it, about.")
@format_option("text", "json")
@OUTPUT
def verify_code(
    function: str,
    gradient: str,
    specs: str,
    wrt: str | None,
    dtype: Literal["float64", "float32"],
    time_limit: float,
    form: str,
    output: Path | None,
) -> None:
    """Decide whether GRADIENT computes the gradient of FUNCTION.

    This RUNS the code: each file is imported, which runs its top level as any import does, and both functions are
    called many times. Give it no file that you would not run.

    GRADIENT takes the arguments of FUNCTION, and then a cotangent for each array that FUNCTION returns; it returns the
    gradient by each name of --wrt. Without a file it is a function of the same file.

    The exit code is the worst verdict: 0 proved, 5 refuted, 6 supported, 7 undecided.
    """
    by = names_in(wrt, "--wrt")
    with code_and_gradient(function, gradient) as (f, grad_f), reports_progress("verdicts", "deciding"):
        found = symgrad.verify_code(f, grad_f, specs, wrt=by, time_limit=time_limit, dtype=dtype)
        # The report searches the mistakes lazily, by calling the code.
        report = json.dumps(found.to_json(), indent=2, ensure_ascii=False) if form == "json" else str(found)
    emit(report, output)
    sys.exit(EXIT[found.status])


def _require_seconds(time_limit: float) -> None:
    if not 0 < time_limit < float("inf"):
        raise UsageError(f"the time limit is {time_limit}", expected="a positive number of seconds")


def _document(path: Path) -> str:
    if path.is_dir():
        raise FileError(f"{path} is a folder", cure="name a document in it")
    return read_file(path, TEXT_CHARACTERS)


def domains(options: tuple[str, ...]) -> dict[str, str] | str | None:
    """Return the value of --domain: a domain for every name, or one for all."""
    if len(options) == 1 and "=" not in options[0]:
        return options[0]
    found = dict(map(_declared, options))
    if len(found) < len(options):
        raise UsageError("a name has two domains", cure="give --domain once for each name")
    return found


def _declared(pair: str) -> tuple[str, str]:
    name, equals, domain = (part.strip() for part in pair.partition("="))
    if not (equals and name and domain):
        raise UsageError(f"'{pair}' declares nothing", expected="NAME=DOMAIN, such as x=positive")
    return name, domain


def finish(verdict: Verdict, proof: Path | None, form: str, output: Path | None = None) -> None:
    """Print a verdict, or write it into a file, write its proof, and end with its exit code."""
    if form == "json":
        emit(json.dumps(verdict.to_json(), indent=2), output)
    else:
        emit(str(verdict) if form == "text" else verdict.report().written(form), output)
    if proof is not None:
        if verdict.proof is None:
            click.echo(f"there is no proof to write into {proof}", err=True)
        else:
            write_text(proof, verdict.proof.to_json() + "\n")
            click.echo(f"wrote {proof}", err=True)
    sys.exit(EXIT[verdict.status])


def _batch(
    claims: Path, output: Path | None, jobs: int, time_limit: float, memory: int, replay: bool
) -> None:
    from symgrad.api.claims.batch_rows import decide_claim
    from symgrad.verification.batch import Limits, finished_ids, read_rows

    if output is None or output.resolve() == claims.resolve():
        raise UsageError(
            "a batch needs a file for its results", expected="-o FILE, another than that of --batch"
        )
    _require_seconds(time_limit)
    rows = read_rows(claims)
    done = finished_ids(output)
    todo = [row for row in rows if row.id not in done]
    decide = partial(decide_claim, replay=replay)
    limits = Limits(time_limit, memory=memory)
    if replay:  # a proof may take as long to check as to find
        limits = replace(limits, margin=limits.margin + time_limit)
    counts: Counter[str] = Counter()
    try:
        _with_progress(todo, decide, output, jobs, limits, counts)
    except KeyboardInterrupt:
        click.echo(f"stopped; the same command goes on with the other {len(todo) - counts.total()}", err=True)
        sys.exit(INTERRUPTED)
    finally:
        skipped = f", {len(rows) - len(todo)} were there" if len(rows) > len(todo) else ""
        words = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
        words = words or ("nothing was done" if todo else "nothing to do")
        click.echo(f"{output}: {words}{skipped}", err=True)


def _with_progress(
    todo: list[Row], decide: Any, output: Path, jobs: int, limits: Any, counts: Counter[str]
) -> None:
    """Run the batch, and show the number of decided rows by status."""
    from symgrad.verification.batch import run_rows

    def summary() -> str:
        return " ".join(f"{status} {n}" for status, n in sorted(counts.items()))

    with reports_progress("verdicts", "deciding rows", len(todo)) as work:
        for line in run_rows(todo, decide, output, jobs=jobs, limits=limits):
            counts[line["status"]] += 1
            work.advance(summary)
