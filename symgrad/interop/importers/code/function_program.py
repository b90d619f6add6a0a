"""Turn a function of a file into a program: parse the specs of its arguments, and call its importer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.program import Program, parse
from symgrad.interop.importers.code.frameworks import FrameworkName, code_of
from symgrad.interop.importers.code.function_loader import LoadedFunction, locate_errors
from symgrad.interop.importers.jax.function import from_jax
from symgrad.interop.importers.numpy.function import read_function
from symgrad.interop.importers.program import ImportedProgram
from symgrad.interop.importers.tensorflow.function import from_tensorflow
from symgrad.interop.importers.torch.function import from_torch
from symgrad.ir.listing import Listing, one_of, suggest
from symgrad.support.errors import UsageError


class Arguments:
    """The parsed specs of the arguments of a function.

    Args:
        inputs: the arguments that are inputs of the program.
        constants: the arguments that are numbers.
    """

    def __init__(self, inputs: Mapping[str, Expr], constants: Mapping[str, float]) -> None:
        self.inputs, self.constants = dict(inputs), dict(constants)


def parse_arguments(found: LoadedFunction, specs: str | None) -> Arguments:
    """Parse the declarations of the arguments of a function.

    Args:
        found: the function.
        specs: declarations, such as ``"x : real[n, 5]; u ~ Uniform(0.9, 1.1); rate = 0.1"``.

    Raises:
        UsageError: if an argument has no declaration, or a name is not an argument.
        ProgramSyntaxError: if the text is invalid.
    """
    program = parse(specs, "<specs>") if specs and specs.strip() else Program(Listing({}, {}))
    constants = {name: _number(name, e) for name, e in program.outputs.items()}
    if program.result is not None:
        raise UsageError(f"'{program.result}' says nothing of an argument", expected="name : domain")
    declared = {e.name or "": e for e in program.inputs}
    taken = _parameters(found.function)
    missing = [
        p.name for p in taken if _is_required(p) and p.name not in declared and p.name not in constants
    ]
    unknown = [n for n in (*declared, *constants) if n not in {p.name for p in taken}]
    if unknown:
        known = [p.name for p in taken]
        raise UsageError(
            f"{found} takes no '{unknown[0]}'",
            expected=one_of(known) or "no argument at all",
            cure=suggest(unknown[0], [n for n in known if n not in declared]),
        )
    if "self" in missing:
        raise UsageError(
            f"{found} is a method without an object", cure="name the method of an object: FILE::object.method"
        )
    if missing:
        example = "; ".join(f"{name} : real" for name in missing)
        said = "no spec says what they are" if len(missing) > 1 else "no spec says what it is"
        raise UsageError(
            f"{found} takes {', '.join(missing)}, and {said}",
            cure=f"--specs '{example}', with its shape in brackets, such as real[n, 5], where it is an array",
        )
    order = [p.name for p in taken]
    return Arguments({n: declared[n] for n in order if n in declared}, constants)


def _number(name: str, e: Expr) -> float:
    if e.inputs or e.shape:
        raise UsageError(f"'{name}' is no number", expected="name = number, or name : domain")
    value = float(e)
    return int(value) if value.is_integer() and "." not in str(e) else value


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    target: Any = function
    for name in ("forward", "call"):  # the __call__ of this class takes anything
        if not inspect.isroutine(function) and inspect.ismethod(getattr(function, name, None)):
            target = getattr(function, name)
    try:
        found = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _is_required(p: inspect.Parameter) -> bool:
    return p.default is p.empty


def trace_function(found: LoadedFunction, framework: FrameworkName, arguments: Arguments) -> ImportedProgram:
    """Import a function with the importer for its framework.

    Raises:
        UnsupportedError: for unsupported operations, and for exceptions that the function raises.
    """
    function = _with_constants(found.function, arguments)
    specs = list(arguments.inputs.values())
    code = code_of(found.function)
    with locate_errors(found.file if code is None else code.co_filename, f"{found} cannot be traced"):
        if framework == "jax":
            return from_jax(function, *specs)
        if framework == "torch":
            return from_torch(function, *specs)
        if framework in ("tensorflow", "keras"):
            return from_tensorflow(function, *specs)
        return read_function(function, arguments.inputs)


def _with_constants(function: Callable[..., Any], arguments: Arguments) -> Callable[..., Any]:
    """Return a function of the inputs only, in their order."""
    parameters = _parameters(function)
    positional = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    if positional[: len(arguments.inputs)] == list(arguments.inputs) and not arguments.constants:
        return function

    @functools.wraps(function)
    def call(*values: Any) -> Any:
        given = {**arguments.constants, **dict(zip(arguments.inputs, values, strict=True))}
        first = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in given]
        return function(*(given.pop(name) for name in first), **given)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    call.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in arguments.inputs])  # type: ignore[attr-defined]
    return call
