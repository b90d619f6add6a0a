"""Options that commands share, the values and names they select, and the destination of output."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import click

import symgrad
from symgrad.api.derivatives.entries import target_named
from symgrad.apps.cli.files import write_text
from symgrad.report.report import form_of_path
from symgrad.support.errors import UsageError

EXIT = {"proved": 0, "refuted": 5, "supported": 6, "undecided": 7}
"""Exit codes of verdicts; 1 to 4 are errors, as in every command."""

F = TypeVar("F", bound=Callable[..., Any])


def list_option(*names: str, separator: str = ",", **settings: Any) -> Callable[[F], F]:
    """Return an option with a list as one text; repeated options are joined.

    Args:
        names: the names of the option, and of its argument: one text, or None without the option.
        separator: the separator of the list.
        settings: arguments of `click.option`.
    """

    def joined(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> str | None:
        return separator.join(texts) if texts else None

    return click.option(*names, multiple=True, callback=joined, **settings)


def refuse_repeated(command: click.Command, context: click.Context, words: Sequence[str]) -> None:
    """Refuse a repeated option if only the last one would take effect.

    Args:
        command: the command.
        context: the context of the group.
        words: the command line after the name of the command.

    Raises:
        UsageError: for a repeated option.
    """
    own = click.Context(command, parent=context, **command.context_settings)
    try:
        _, _, order = command.make_parser(own).parse_args(list(words))
    except click.ClickException:  # the command reports it with its usage
        return
    for option in dict.fromkeys(order):
        if not isinstance(option, click.Option) or option.multiple or option.count or option.is_eager:
            continue
        if order.count(option) > 1:
            name = max(option.opts, key=len)
            raise UsageError(f"{name} is repeated", expected=f"{name} once", cure=f"keep one {name}")


OF = click.option("--of", "of", metavar="NAME", help="What to work on; by default the last line.")


def program_options(command: F) -> F:
    """Add the argument SOURCE and the option --of."""
    return click.argument("source")(OF(command))


WRT = list_option(
    "--wrt",
    metavar="NAME[,NAME]",
    help="What to differentiate by; by default every real input that is not random.",
)
ORDER = click.option(
    "--order", type=click.IntRange(1, 8), default=1, show_default=True, help="All partials up to this order."
)
READINGS = click.option(
    "--read",
    "readings",
    multiple=True,
    metavar="OPTION=VALUE",
    help="How to read what is ambiguous in LaTeX, such as slash=product (repeatable).",
)
OUTPUT = click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file.")
DTYPE = click.option(
    "--dtype", type=click.Choice(["float64", "float32"]), default="float64", show_default=True
)


def time_option(seconds: float, text: str) -> Callable[[F], F]:
    """Return the option --time-limit, with its default."""
    return click.option(
        "--time-limit", type=float, default=seconds, show_default=True, metavar="SECONDS", help=text
    )


def format_option(*choices: str) -> Callable[[F], F]:
    """Return the option --format; by default the suffix of the output file selects the form."""
    default = "text, or what -o ends in"

    def added(command: F) -> F:
        @wraps(command)
        def chosen(*args: Any, form: str | None, **options: Any) -> Any:
            return command(*args, form=form or _form_of(options.get("output"), choices), **options)

        option = click.option(
            "--format", "form", type=click.Choice(choices), default=None, show_default=default
        )
        return cast("F", option(chosen))

    return added


def _form_of(output: Path | None, choices: Sequence[str]) -> str:
    found = None if output is None else form_of_path(output)
    return found if found is not None and found in choices else "text"


_OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")


def expression_of(program: symgrad.Program, of: str | None) -> symgrad.Expr:
    """Return the value that a command works on."""
    return program.last if of is None else program[of]


def targets(y: symgrad.Expr, wrt: str | None, cure: str = "name one with --wrt") -> list[symgrad.Expr]:
    """Return the variables of differentiation: the named ones, else every real input that is not random."""
    if wrt is not None:
        return [target_named(y, name) for name in names_in(wrt, "--wrt")]
    found = [i for i in y.inputs if i.dtype == "real" and i.node.declaration.distribution is None]
    if not found:
        raise UsageError("the program has no real input to differentiate by", cure=cure)
    return found


@overload
def names_in(text: str, option: str) -> list[str]: ...
@overload
def names_in(text: str | None, option: str) -> list[str] | None: ...
def names_in(text: str | None, option: str) -> list[str] | None:
    """Return the names that an option lists; None if the option is missing."""
    if text is None:
        return None
    names = [name.strip() for name in _OUTSIDE_BRACKETS.split(text) if name.strip()]
    if not names:
        raise UsageError(
            f"{option} names nothing", expected=f"{option} NAME[,NAME]", cure="name an input, or leave it out"
        )
    for name in names:
        if len(name.split()) > 1 and "[" not in name:
            listed = ",".join(part for each in names for part in each.split())
            raise UsageError(
                f"'{name}' is no name", expected=f"{option} NAME[,NAME]", cure=f"write {option} {listed}"
            )
    return names


def kernel_of(program: symgrad.Program, outputs: list[symgrad.Expr], dtype: str, name: str) -> symgrad.Kernel:
    """Return the kernel of a value and its derivatives; its inputs are those of the value."""
    read = {s.name for s in outputs[0].inputs}
    inputs = [i for i in program.inputs if i.name in read]
    return symgrad.compile(outputs, inputs, dtype=dtype, name=name)


def emit(text: str, output: Path | None) -> None:
    """Print a text, or write it into a file."""
    if output is None:
        click.echo(text)
    else:
        write_text(output, text if text.endswith("\n") else text + "\n")
        click.echo(f"wrote {output}")
