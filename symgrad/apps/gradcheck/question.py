"""The arguments of `verify_code`, parsed: the function as a program if it can be read, and the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from symgrad.api.derivatives.targets import as_list
from symgrad.api.functions.arrays import sum as sum_of
from symgrad.api.handles.expr import Expr, handle
from symgrad.api.handles.program import Program
from symgrad.apps.gradcheck.arguments import (
    DeclaredArguments,
    parse_arguments,
    positional_parameters,
    signature_function,
)
from symgrad.apps.gradcheck.gradient_code import GradientCode, first_line, own_derivative, primal
from symgrad.apps.gradcheck.unrolled.tracing import unrolled_outputs
from symgrad.interop.importers.jax.function import from_jax
from symgrad.interop.importers.numpy.function import read_function
from symgrad.interop.importers.program import ImportedProgram, UniqueNames
from symgrad.interop.importers.torch.function import from_torch
from symgrad.ir.graph import SYMBOL, symbol
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.size_substitution import resized
from symgrad.ir.traverse import substitute
from symgrad.ir.types import Declaration
from symgrad.support.errors import SymgradError, UnsupportedError, UsageError


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """A function, and code that is to compute its gradient.

    Args:
        f: the function of the user.
        backward: the gradient code.
        arguments: the arguments of both.
        cotangents: the further arguments of the code: one for each output of f, by name; none if f is one number.
        loss: the number whose gradient the code is to compute: the outputs times the cotangents; None if f cannot be
            read.
        unread: the reason why f cannot be read.
        wrt: the names of the arguments by which the code differentiates, in its order.
        fixed: the numbers that replace names of sizes.
        grad_f, specs: the arguments of the user.
    """

    f: Any
    backward: GradientCode
    arguments: DeclaredArguments
    cotangents: Mapping[str, Expr]
    loss: Expr | None
    unread: str | None
    wrt: tuple[str, ...]
    fixed: Mapping[str, int]
    grad_f: Any
    specs: Any

    def again(self, sizes: Mapping[str, int]) -> CodeQuestion:
        """Return the same question with other numbers for the names of sizes.

        Raises:
            UsageError: if f cannot be read for these sizes.
        """
        found = parse_question(self.f, self.grad_f, self.specs, self.wrt, sizes)
        if found.loss is None:
            raise UsageError("f cannot be read for these sizes", cure="choose others")
        return found

    @property
    def inputs(self) -> dict[str, Expr]:
        """The arguments of the code, by name."""
        return {**self.arguments.inputs, **self.cotangents}


def parse_question(
    f: Any, grad_f: Any, specs: Any, wrt: Any, sizes: Mapping[str, int] | None = None
) -> CodeQuestion:
    """Parse the arguments of `verify_code`; replace named sizes by numbers, if there are any.

    Raises:
        UsageError: if the arguments are invalid.
    """
    if not callable(grad_f):
        raise UsageError(
            f"a value of type {type(grad_f).__name__} is no gradient code",
            expected="a function of arrays that returns arrays",
            cure="sg.verify(y, 'x', formula) decides formulas" if isinstance(grad_f, str | Expr) else None,
        )
    arguments = parse_arguments(f, specs)
    if sizes:
        arguments = arguments.with_sizes(sizes)
    names = _wrt(arguments, wrt)
    outputs, unread = _outputs(f, arguments)
    if (
        sizes and isinstance(f, Program | Expr) and outputs is not None
    ):  # functions are called with the numbers
        outputs = list(map(handle, resized([e.node for e in outputs], sizes)))
    shapes = None if outputs is None else [e.shape for e in outputs]
    taken = _cotangent_names(grad_f, arguments, shapes)
    backward, fixed = GradientCode.of(grad_f), sizes or {}
    if outputs is None:
        if taken is None:
            raise UsageError(
                f"grad_f takes a cotangent, and f cannot be read: {unread}", cure="give f as a number"
            )
        return CodeQuestion(f, backward, arguments, {}, None, unread, names, fixed, grad_f, specs)
    cotangents = {
        n: handle(symbol(Declaration(n, shape=e.shape))) for n, e in zip(taken or [], outputs, strict=False)
    }
    loss = outputs[0]
    if cotangents:
        loss = reduce(add, [sum_of(c * e) for c, e in zip(cotangents.values(), outputs, strict=True)])
    return CodeQuestion(f, backward, arguments, cotangents, loss, None, names, fixed, grad_f, specs)


def _wrt(arguments: DeclaredArguments, wrt: Any) -> tuple[str, ...]:
    real = [n for n, e in arguments.inputs.items() if e.dtype == "real"]
    if wrt is None:
        wrt = [n for n in real if arguments.inputs[n].node.declaration.distribution is None]
        if not wrt:
            raise UsageError("no argument is real: there is nothing to differentiate by")
        return tuple(wrt)
    listed = as_list(wrt)
    names = [w if isinstance(w, str) else str(getattr(w, "name", w)) for w in listed]
    for name in names:
        if name not in real:
            raise UsageError(f"'{name}' is no real argument", expected=one_of(real), cure=suggest(name, real))
    if not names:
        raise UsageError("there is nothing to differentiate by", cure="name at least one: wrt=['x']")
    return tuple(names)


def _cotangent_names(
    grad_f: Any, arguments: DeclaredArguments, shapes: Sequence[Any] | None
) -> list[str] | None:
    """Return the names of the cotangents that the code takes: none, or one for each output."""
    count = len(arguments.inputs)
    outputs = 1 if shapes is None else len(shapes)
    number = shapes is None or (outputs == 1 and not shapes[0])
    taken = UniqueNames(arguments.inputs)
    own = own_derivative(grad_f) is not None
    found = None if own else positional_parameters(grad_f)
    names, least, most = found or ([], 0, float("inf"))
    if own or found is None:
        wanted = 0 if number else outputs
    elif number and least <= count <= most:
        wanted = 0
    elif least <= count + outputs <= most:
        wanted = outputs
    elif least <= count <= most:
        shown = ", ".join(str(s) for s in shapes or ())
        raise UsageError(
            f"f returns {'arrays of the shapes' if outputs > 1 else 'an array of shape'} {shown}, and grad_f takes "
            "no cotangent",
            expected="the arguments of f and then a cotangent for each output, as the backward pass of a layer",
            cure="or give a number for f: lambda x: f(x).sum()",
        )
    else:
        raise UsageError(
            f"grad_f takes {least if least == most else f'{least} to {most}'} arguments",
            expected=f"those of f, {', '.join(arguments.inputs)}, and then perhaps a cotangent for each output",
        )
    if wanted and shapes is None:
        return None
    made = [names[count + k] if len(names) > count + k else f"out{k or ''}_bar" for k in range(wanted)]
    return [taken.free(n) for n in made]


# ------------------------------------------------------------------------------------------------ f as a program


def _outputs(f: Any, arguments: DeclaredArguments) -> tuple[list[Expr] | None, str | None]:
    """Return the real outputs of a function over its arguments; or the reason why it cannot be read."""
    if isinstance(f, Program):
        return [f.last], None
    if isinstance(f, Expr):
        return [f], None
    try:
        outputs = list(_read(f, arguments).returned.values())
    except Exception as error:  # noqa: BLE001  the user's function is run, and may raise anything
        reason = reason_of(error)
        try:
            outputs = unrolled_outputs(plain_numpy(f), arguments.inputs)
        except Exception as second:  # noqa: BLE001  likewise
            return None, reason if reason == reason_of(second) else f"{reason}; {reason_of(second)}"
    real = [e for e in outputs if e.dtype == "real"]
    if not real:
        raise UsageError("f returns no real number", expected="a number, or arrays of them")
    return real, None


def plain_numpy(f: Any) -> Callable[..., Any]:
    """Return the function to call for code of plain NumPy.

    Raises:
        UnsupportedError: for other code.
    """
    if isinstance(f, Program | Expr) or not callable(f):
        raise UnsupportedError("it is no function")
    function, libraries = primal(f)
    if libraries - {"numpy"}:
        raise UnsupportedError(f"it is of {min(libraries - {'numpy'})}")
    return signature_function(function)


def _read(f: Any, arguments: DeclaredArguments) -> ImportedProgram:
    function, libraries = primal(f)
    exprs = list(arguments.inputs.values())
    if "jax" in libraries:
        program = from_jax(function, *exprs)
    elif "torch" in libraries:
        program = from_torch(function, *exprs)
    elif libraries & {"tensorflow", "keras"}:
        raise UnsupportedError("functions of TensorFlow are called with its own tensors")
    else:
        program = read_function(signature_function(function), arguments.inputs)
        if program.values:
            raise UnsupportedError("the function reads large arrays", cure="pass them as arguments")
        return program
    # Importers name inputs after the parameters of the function: rename them to the arguments.
    found = [s for n, s in program.listing.symbols.items() if n not in program.values]
    own = [e.node for e in exprs]
    if len(found) != len(own):
        raise UnsupportedError("the function holds parameters of its own", cure="pass them as arguments")
    outputs = [e.node for e in program.returned.values()]
    table = {a: b for a, b in zip(found, own, strict=True) if a is not b and a.op is SYMBOL}
    if table:
        renamed = map(handle, substitute(outputs, table))
        program.returned = dict(zip(program.returned, renamed, strict=True))
    return program


def reason_of(error: BaseException) -> str:
    """Return the first line of the message of an error, with its type unless it is an error of symgrad."""
    message = first_line(error)
    if isinstance(error, SymgradError):
        return message
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
