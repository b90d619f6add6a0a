"""Parse the specs of the arguments of a function under test: declarations, or sample arrays."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, cast

import numpy as np

from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.expr import Expr, handle
from symgrad.api.handles.program import Program, parse
from symgrad.interop.importers.specs import argument_names, is_shape, parse_spec
from symgrad.ir.graph import SYMBOL
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.size_substitution import resized
from symgrad.ir.sizes import names_of
from symgrad.support.errors import UsageError


@dataclass(frozen=True, slots=True)
class DeclaredArguments:
    """The arguments of a function, in the order of its parameters.

    Args:
        inputs: the declared inputs, by name.
        samples: sample values that replace a declaration, by name.
    """

    inputs: Mapping[str, Expr]
    samples: Mapping[str, Any]

    @property
    def sizes(self) -> dict[str, int]:
        """Distinct numbers for the names of sizes, so that no two axes can be confused."""
        names = names_of(*(e.shape for e in self.inputs.values()))
        taken = {n for e in self.inputs.values() for n in e.shape if isinstance(n, int)}
        free = (n for n in count(3) if n not in taken)
        return dict(zip(names, free, strict=False))

    def with_sizes(self, sizes: Mapping[str, int]) -> DeclaredArguments:
        """Return the same arguments with numbers for the names of sizes."""
        nodes = resized([e.node for e in self.inputs.values()], sizes)
        return DeclaredArguments(dict(zip(self.inputs, map(handle, nodes), strict=True)), self.samples)


def parse_arguments(f: Any, specs: Any) -> DeclaredArguments:
    """Return the arguments of a function that specs declare.

    Args:
        f: a function; or a program or an expression, whose inputs are its arguments.
        specs: see `verify_code`; None for a program.

    Raises:
        UsageError: for an argument without spec, a spec without argument, and an invalid spec.
    """
    if isinstance(f, (Program, Expr)):
        if specs is not None:
            raise UsageError("a program declares its inputs itself", cure="leave specs out")
        return DeclaredArguments({e.name or "": e for e in f.inputs}, {})
    if not callable(f):
        raise UsageError(
            f"a value of type {type(f).__name__} is no function", expected="a function, a program or an Expr"
        )
    if specs is None:
        raise UsageError(
            "no spec says what the arguments are", cure="specs='x : real[5]', or a sample array for each"
        )
    if isinstance(specs, str):
        specs = _of_program(specs)
    if isinstance(specs, Mapping):
        by_name = {str(name): spec for name, spec in cast("Mapping[Any, Any]", specs).items()}
        return _declared({name: by_name[name] for name in _ordered(f, list(by_name))})
    if is_shape(specs) or not isinstance(specs, list | tuple):
        specs = [specs]
    listed = list(cast("Sequence[Any]", specs))
    names = argument_names(signature_function(f), len(listed))
    return _declared(dict(zip(names, listed, strict=True)))


def signature_function(f: Any) -> Callable[..., Any]:
    """Return a function with the signature of the code; a `torch.autograd.Function` has that of its forward pass."""
    forward = getattr(f, "forward", None) if inspect.isclass(f) else None
    if forward is None:
        return f
    names = [n for n in inspect.signature(forward).parameters if n != "ctx"]

    def call(*values: Any) -> Any:
        return cast("Any", f).apply(*values)

    return with_signature(call, f.__name__, names)


def with_signature(function: Callable[..., Any], name: str, parameters: Sequence[str]) -> Callable[..., Any]:
    """Return a function of ``*args`` with an explicit name and signature."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    result: Any = function
    result.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in parameters])
    result.__name__ = name
    return result


def positional_parameters(function: Any) -> tuple[list[str], int, float] | None:
    """Return the names of the positional parameters of a function, the least and the largest number of arguments.

    It is None if the function has no signature.
    """
    found = _signature(function)
    if found is None:
        return None
    plain = _positional(found)
    several = any(p.kind is p.VAR_POSITIONAL for p in found)
    least = sum(p.default is p.empty for p in plain)
    return [p.name for p in plain], least, math.inf if several else len(plain)


def _signature(function: Any) -> list[inspect.Parameter] | None:
    """Return the parameters of a function, None if they are not known."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _positional(parameters: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _of_program(text: str) -> dict[str, Any]:
    program = parse(text, "<specs>")
    if program.outputs or program.result is not None:
        name = next(iter(program.outputs), program.result)
        raise UsageError(f"'{name}' says nothing of an argument", expected="name : domain")
    return {e.name or "": e for e in program.inputs}


def _ordered(f: Any, names: Sequence[str]) -> list[str]:
    """Return names in the order of the function's parameters."""
    plain = _positional(_signature(signature_function(f)) or ())
    if not plain:
        return list(names)
    known = [p.name for p in plain]
    unknown = [n for n in names if n not in known]
    if unknown:
        raise UsageError(
            f"the function takes no '{unknown[0]}'",
            expected=one_of(known),
            cure=suggest(unknown[0], [n for n in known if n not in names]),
        )
    missing = [p.name for p in plain if p.default is p.empty and p.name not in names]
    if missing:
        raise UsageError(f"no spec says what '{missing[0]}' is", cure=f"add {missing[0]} : real")
    order = [n for n in known if n in names]
    if order != known[: len(order)]:
        left = next(n for n in known if n not in names)
        raise UsageError(
            f"'{left}' stands before arguments that have specs, and has none",
            cure=f"add {left} : real, or give a function that takes the others alone",
        )
    return order


def _declared(specs: Mapping[str, Any]) -> DeclaredArguments:
    inputs: dict[str, Expr] = {}
    samples: dict[str, Any] = {}
    for name, spec in specs.items():
        if isinstance(spec, str):
            inputs[name] = parse_spec(name, spec)
        elif isinstance(spec, Expr):
            if spec.node.op is not SYMBOL:
                raise UsageError(f"'{spec}' does not say what '{name}' is", expected="an input")
            inputs[name] = spec
        elif is_shape(spec):
            inputs[name] = array_input(name, spec)
        else:
            samples[name] = sample = _sample(name, spec)
            kind = {"f": "real", "i": "int", "u": "int", "b": "bool"}[sample.dtype.kind]
            inputs[name] = array_input(name, sample.shape, kind)
    return DeclaredArguments(inputs, samples)


def _sample(name: str, value: Any) -> Any:
    if hasattr(value, "detach"):  # a tensor of torch's
        value = value.detach()
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"what is given for '{name}' is no array: {error}") from None
    if array.dtype.kind not in "fiub":
        raise UsageError(
            f"a value of type {type(value).__name__} does not say what '{name}' is",
            expected="a text such as 'real[3, 5]', a tuple of sizes, or an array of numbers",
            cure="what is no number, bind before: lambda x: f(x, mode='same')",
        )
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        raise UsageError(f"the sample for '{name}' has entries that are no finite numbers")
    return array
