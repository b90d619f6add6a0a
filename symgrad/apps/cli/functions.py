"""Arguments of commands that read a program, or a function in a Python file."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import symgrad
from symgrad.apps.cli.files import read_source
from symgrad.apps.cli.options import expression_of, list_option
from symgrad.ir.listing import one_of
from symgrad.support.errors import UsageError

if TYPE_CHECKING:
    from symgrad.interop.importers.code.frameworks import FrameworkName
    from symgrad.interop.importers.code.function_loader import LoadedFunction
    from symgrad.interop.importers.program import ImportedProgram

# What is imported in functions here is for start-up time: programs need no framework.

SPECS = list_option(
    "--specs",
    separator="\n",
    metavar="TEXT",
    help="What the arguments of a function are, in program notation: 'x : real[n, 5]; rate = 0.1'. Repeatable.",
)
FRAMEWORK = click.option(
    "--framework",
    type=click.Choice(["jax", "torch", "tensorflow", "keras", "numpy"]),
    help="What a function is written in; by default what its code names.",
)

_PYTHON = re.compile(r"(?P<file>.+?\.py)(?:::(?P<function>[\w.]*))?")


def python_function(
    source: str, specs: str | None, framework: FrameworkName | None
) -> tuple[str, str | None] | None:
    """Return the file and the function that ``FILE.py::FUNCTION`` names, None for a program.

    Raises:
        UsageError: for options of functions with a program.
    """
    found = _PYTHON.fullmatch(source)
    if found is not None:
        return found["file"], found["function"] or None
    if specs is not None or framework is not None:
        raise _for_functions("--framework" if specs is None else "--specs")
    return None


def names_function(source: str) -> bool:
    """Tell whether a source is a function in a Python file."""
    return _PYTHON.fullmatch(source) is not None


def require_function(sources: Sequence[str]) -> None:
    """Refuse options about functions unless one of the sources is a function.

    Raises:
        UsageError: if there is none.
    """
    if not any(map(names_function, sources)):
        raise _for_functions("--specs, or --framework,")


def _for_functions(option: str) -> UsageError:
    return UsageError(f"{option} is for functions in files of Python's", expected="FILE.py::FUNCTION")


@contextmanager
def code_and_gradient(code: str, gradient: str) -> Generator[tuple[Callable[..., Any], Callable[..., Any]]]:
    """Load a function and its gradient code, each ``FILE.py::FUNCTION``; the second may be a name in the same file.

    Raises:
        UsageError: if an argument names no function in a Python file.
    """
    from symgrad.interop.importers.code.function_loader import load_function

    first = _PYTHON.fullmatch(code)
    if first is None:
        raise UsageError(f"'{code}' is no function in a file", expected="FILE.py::FUNCTION")
    second = _PYTHON.fullmatch(gradient)
    if second is None and not all(part.isidentifier() for part in gradient.split(".")):
        raise UsageError(
            f"'{gradient}' is no function in a file",
            expected="FILE.py::FUNCTION, or a name in the first file",
        )
    if second is not None and not second["function"]:
        raise UsageError(f"'{gradient}' names no function", expected=f"{second['file']}::FUNCTION")
    if not first["function"]:
        raise UsageError(f"'{code}' names no function", expected=f"{first['file']}::FUNCTION")
    name = gradient if second is None else second["function"]
    with load_function(first["file"], first["function"]) as found:
        # Import a file once: a second import would create other classes.
        if second is None or Path(second["file"]).absolute() == Path(first["file"]).absolute():
            yield found.function, found.another(name).function
            return
        with load_function(second["file"], name) as other:
            yield found.function, other.function


def read_expression(
    source: str, of: str | None, specs: str | None, framework: FrameworkName | None
) -> symgrad.Expr:
    """Return the value that a command works on: an output of a program, or of a function in a Python file."""
    python = python_function(source, specs, framework)
    if python is None:
        return expression_of(read_source(source), of)
    from symgrad.interop.importers.code.frameworks import framework_of
    from symgrad.interop.importers.code.function_loader import load_function
    from symgrad.interop.importers.code.function_program import parse_arguments, trace_function

    with load_function(*python) as found:
        program = trace_function(found, framework_of(found, framework), parse_arguments(found, specs))
        return output_of(found, program, of)[1]


def output_of(found: LoadedFunction, program: ImportedProgram, of: str | None) -> tuple[str, symgrad.Expr]:
    """Choose the output to differentiate: the only one, or the first real scalar."""
    if of is not None:
        keys = [key for key, e in program.returned.items() if of in (key, e.name)]
        return (keys[0], program.returned[keys[0]]) if keys else ("", program[of])
    real = {key: e for key, e in program.returned.items() if e.dtype == "real"}
    scalars = [key for key, e in real.items() if not e.shape]
    several = list(real) if len(real) == 1 else scalars
    if not several:
        names = [str(e.name) for e in program.returned.values()]
        raise UsageError(
            f"{found} returns {'several arrays' if real else 'no real number'}",
            expected=one_of(names),
            cure=f"name what is differentiated: --of {names[0]}" if real and names else None,
        )
    return several[0], real[several[0]]
