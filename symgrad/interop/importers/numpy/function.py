"""Import functions of NumPy and SciPy as programs, by calling them with expressions."""

# The dtypes of the arrays of users are not known.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, cast

import numpy as np

from symgrad.api.functions.structures import leaves_of, named_leaves, rebuilt
from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.api.tracing.trace import KINDS, Traced, file_of
from symgrad.interop.importers.program import ImportedProgram, UniqueNames, mark_places
from symgrad.interop.importers.specs import argument_names, is_shape, parse_spec
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing, one_of, suggest
from symgrad.ir.notation.literals import decimals_in
from symgrad.ir.traverse import topological
from symgrad.support.errors import SymgradError, UnsupportedError, UsageError
from symgrad.support.source import Place
from symgrad.support.user_code import last_user_place, of_user


def from_numpy(function: Callable[..., Any], /, *specs: Any, **named: Any) -> ImportedProgram:
    """Import a function that is written with NumPy and `scipy.special` as a program.

    The function is called with expressions in place of arrays; nothing is computed. Values have the names of their
    variables, and their lines. It is called twice, and must return the same. Arrays that it reads besides its
    arguments are constants; those of more than 64 different entries are inputs, whose values are `values`.

    Args:
        function: a function of arrays, or of dicts, lists and tuples of arrays.
        specs: for each argument a text such as ``"real[n, 5]"``, ``"positive"``, ``"int[8]"`` or ``"Normal(0, 1)[8]"``;
            a tuple of sizes, integers or names; an array for its shape and dtype; or a list, dict or tuple of these,
            whose keys are appended to the name of the argument: ``params_W1``. Any other value is passed unchanged.
        named: the same by the names of the arguments.

    Returns:
        An ImportedProgram. Its last names are the outputs, and a single unnamed output has the name of the function.

    Raises:
        UnsupportedError: for functions that expressions do not have, writes into arrays, and functions that return
            something else in every call; with the line, and what to write instead.
        TruthValueError: for ``if`` on a value, with the line.
        UsageError: if a spec is missing or invalid.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> def loss(w, X, y):
        ...     r = X @ w - y
        ...     return np.sum(np.log(np.cosh(r)))
        >>> p = sg.from_numpy(loss, "real[5]", X="real[n, 5]", y="real[n]")
        >>> print(p)
        w : real[5]
        X : real[n, 5]
        y : real[n]
        r = X@w - y
        loss = sum(log(cosh(r)))
        >>> print(sg.grad(p["loss"], "w"))
        X.T@tanh(r)
    """
    if not callable(cast("Any", function)):
        raise UsageError(
            f"a value of type {type(function).__name__} is no function", expected="a function of NumPy"
        )
    known = _parameters(function)
    missing = [
        n for n in list(known)[len(specs) :] if known[n].default is inspect.Parameter.empty and n not in named
    ]
    if missing:
        raise UsageError(f"no spec says what '{missing[0]}' is", cure=f'add {missing[0]}="real"')
    first = argument_names(function, len(specs), named)
    by_name = {**dict(zip(first, specs, strict=True)), **named}
    for name in named:
        if name in first or (known and name not in known):
            free = [n for n in known if n not in by_name]
            raise UsageError(
                f"the function takes no further '{name}'", expected=one_of(free), cure=suggest(name, free)
            )
    inputs: dict[str, Expr] = {}
    order = [n for n in known if n in by_name]
    values = {n: _declared(n, by_name[n], inputs) for n in [*order, *(n for n in by_name if n not in order)]}
    return _program(function, inputs, [values[n] for n in first], {n: values[n] for n in named})


def read_function(function: Callable[..., Any], inputs: Mapping[str, Expr]) -> ImportedProgram:
    """Import a function whose arguments are declared already: see `from_numpy`.

    Args:
        function: the function.
        inputs: the arguments, by name, in the order of the function.
    """
    return _program(function, inputs, list(inputs.values()), {})


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {n: p for n, p in found.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def _declared(name: str, spec: Any, inputs: dict[str, Expr]) -> Any:
    """Return an argument in which expressions stand for the declared arrays, which are added to the inputs."""
    leaves = [_input(n, leaf, inputs) for n, leaf in named_leaves(spec, name, is_shape)]
    return rebuilt(spec, leaves, is_shape)


def _input(name: str, spec: Any, inputs: dict[str, Expr]) -> Any:
    if isinstance(spec, str):
        e = parse_spec(name, spec)
    elif isinstance(spec, Expr) and spec.node.op is SYMBOL:
        e = spec
    elif is_shape(spec):
        e = array_input(name, cast("Any", spec))
    elif isinstance(spec, np.ndarray | np.generic) and spec.dtype.kind in KINDS:
        e = array_input(name, spec.shape, KINDS[spec.dtype.kind])
    else:
        return spec
    if str(e.name) in inputs:
        raise UsageError(f"two inputs are called '{e.name}'", cure="name the keys otherwise")
    inputs[str(e.name)] = e
    return e


def _program(
    function: Callable[..., Any], inputs: Mapping[str, Expr], args: Sequence[Any], options: Mapping[str, Any]
) -> ImportedProgram:
    file = file_of(function)
    traced = Traced(function, inputs)
    watch = _LineWatcher(file, traced)
    try:
        returned = watch.running(lambda: traced.call(args, options))
        traced.check_again(args, options, returned)
    except TypeError as error:
        named = next((n for e in inputs.values() for n in e.shape if not isinstance(n, int)), None)
        if named is None or "str" not in str(error):
            raise
        place = last_user_place(file, error.__traceback__)
        raise UnsupportedError(
            f"the number of the size {named}, which is known only in a call",
            at=None if place is None else place.location(),
            expected="a function that is the same for all sizes; its loops over a size are recurrences",
            cure=f"for a loop sg.range(x.shape[0]), in formulas sg.size({str(named)!r}); "
            "or declare a number for this size",
        ) from error
    name = getattr(function, "__name__", "out")
    name = name if name.isidentifier() else "out"
    outputs = {key or "out": _expr(value, name) for key, value in named_leaves(returned)}
    if not outputs:
        raise UnsupportedError(f"{name} returns nothing", expected="a number or an array")
    arrays = traced.arrays
    read = {n: array_input(n, v.shape, KINDS[v.dtype.kind]) for n, v in arrays.items()}
    taken = UniqueNames([*inputs, *read])
    finals = {e.node for e in outputs.values()}
    assignments: dict[str, Node] = {}
    parts = set(topological(list(finals))) if traced.symbols else set[Node]()
    loops = set(traced.carried.values())
    own = {n: called for n, called in watch.names.items() if n not in traced.carried and called not in loops}
    for node, called in traced.carried.items():
        if (node.op.name == "recurrence" and node in parts) or (
            node.op.name == "part" and node.args[0] in parts
        ):
            assignments[taken.free(called)] = node
    for node, called in own.items():
        if node not in finals and node.op is not SYMBOL and (node in parts or not traced.symbols):
            assignments[taken.free(called)] = node
    keys: list[tuple[str, str]] = []
    for key, e in outputs.items():
        plain = name if len(outputs) == 1 else f"{name}_{key}"
        full = taken.free(own.get(e.node, plain) if e.node.op is not SYMBOL else plain)
        assignments[full] = e.node
        keys.append((key, full))
    symbols = {n: e.node for n, e in (*inputs.items(), *read.items())}
    listing = Listing(symbols, assignments, places=watch.places, decimals=decimals_in(assignments.values()))
    return ImportedProgram(listing, keys, values=arrays)


def _expr(value: Any, name: str) -> Expr:
    try:
        return as_expr(value)
    except SymgradError as error:
        raise UnsupportedError(
            f"{name} returns a value of type {type(value).__name__}", expected="a number or an array"
        ) from error


class _LineWatcher:
    """Traces the lines of the user's code: the values of variables, and the lines that compute them."""

    def __init__(self, file: str, traced: Traced) -> None:
        self._file, self._traced = file, traced
        self.names: dict[Node, str] = {}
        self.places: dict[Node, Place] = {}
        self._lines: dict[FrameType, int] = {}

    def running(self, call: Callable[[], Any]) -> Any:
        """Call a function of the user."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return call()
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, *_: Any) -> Any:
        file = frame.f_code.co_filename
        if file != self._file and not of_user(file):
            return None
        if frame.f_code.co_flags & inspect.CO_GENERATOR:  # frames of these functions continue after others
            return None
        return self._step

    def _step(self, frame: FrameType, event: str, value: Any) -> Any:
        line = self._lines.get(frame, frame.f_lineno)
        place = Place.of(frame.f_code.co_filename, line)
        for name, bound in frame.f_locals.items():
            if isinstance(bound, Expr):
                if (
                    not name.startswith("_") and not self._traced.open
                ):  # in a loop, values are of no certain step
                    self.names.setdefault(bound.node, name)
                mark_places(self.places, bound, place)
        if event == "return":
            self._lines.pop(frame, None)
            for leaf in leaves_of(value):
                mark_places(self.places, leaf, place)
        else:
            self._lines[frame] = frame.f_lineno
        return self._step
