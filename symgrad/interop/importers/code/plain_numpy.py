"""Import functions of plain NumPy as programs, by calling them with expressions."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, cast

from symgrad.api.handles.expr import Expr, as_expr
from symgrad.interop.importers.code.frameworks import code_of
from symgrad.interop.importers.code.function_loader import last_user_location
from symgrad.interop.importers.names import of_user
from symgrad.interop.importers.program import ImportedProgram, UniqueNames, mark_places
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.literals import decimals_in
from symgrad.support.errors import SymgradError, UnsupportedError
from symgrad.support.source import Place


def from_plain(function: Callable[..., Any], inputs: Mapping[str, Expr]) -> ImportedProgram:
    """Import a function that uses only NumPy or operators, as a program with the names and lines of its variables.

    Args:
        function: the function.
        inputs: the arguments, by name.

    Raises:
        UnsupportedError: if the function returns anything except numbers and arrays, or computes with a size that has
            a name as with a number.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> def loss(w, x):
        ...     h = np.tanh(x @ w)
        ...     return (h**2).sum()
        >>> p = from_plain(loss, {"w": sg.tensor("w", (3,)), "x": sg.tensor("x", ("n", 3))})
        >>> print(p)
        w : real[3]
        x : real[n, 3]
        h = tanh(x@w)
        loss = sum(h**2)
    """
    code = code_of(function)
    watch = _PlainWatch("" if code is None else code.co_filename)
    try:
        returned = watch.running(lambda: function(*inputs.values()))
    except TypeError as error:
        named = next((n for e in inputs.values() for n in e.shape if not isinstance(n, int)), None)
        if named is None or "str" not in str(error):
            raise
        place = last_user_location("" if code is None else code.co_filename, error.__traceback__)
        raise UnsupportedError(
            f"the number of the size {named}, which is known only in a call",
            at=None if place is None else place.location(),
            expected="a function that is the same for all sizes; its loops over a size are recurrences",
            cure=f"for a loop sg.fori_loop(0, {str(named)!r}, lambda t, h: ..., h), in formulas "
            f"sg.size({str(named)!r}); or declare a number for this size",
        ) from error
    name = getattr(function, "__name__", "out")
    name = name if name.isidentifier() else "out"
    outputs = {key or "out": _expr(value, name) for key, value in _leaves(returned, "")}
    if not outputs:
        raise UnsupportedError(f"{name} returns nothing", expected="a number or an array")
    taken = UniqueNames(inputs)
    finals = {e.node for e in outputs.values()}
    assignments: dict[str, Node] = {}
    for node, called in watch.names.items():
        if node not in finals and node.op is not SYMBOL:
            assignments[taken.free(called)] = node
    keys: list[tuple[str, str]] = []
    for key, e in outputs.items():
        plain = name if len(outputs) == 1 else f"{name}_{key}"
        full = taken.free(watch.names.get(e.node, plain) if e.node.op is not SYMBOL else plain)
        assignments[full] = e.node
        keys.append((key, full))
    symbols = {n: e.node for n, e in inputs.items()}
    listing = Listing(symbols, assignments, places=watch.places, decimals=decimals_in(assignments.values()))
    return ImportedProgram(listing, keys)


def _leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    """Return the leaves of a returned structure, by their keys."""
    if value is None:
        return []
    if isinstance(value, dict):
        items = [(str(k), v) for k, v in cast("dict[Any, Any]", value).items()]
    elif isinstance(value, list | tuple):
        items = [(str(k), v) for k, v in enumerate(cast("list[Any]", value))]
    else:
        return [(path, value)]
    return [leaf for key, v in items for leaf in _leaves(v, f"{path}_{key}" if path else key)]


def _expr(value: Any, name: str) -> Expr:
    try:
        return as_expr(value)
    except SymgradError as error:
        raise UnsupportedError(
            f"{name} returns a value of type {type(value).__name__}", expected="a number or an array"
        ) from error


class _PlainWatch:
    """Traces the lines of the user's code: the values of variables, and the lines that compute them."""

    def __init__(self, file: str) -> None:
        self._file = file
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
                if not name.startswith("_"):
                    self.names.setdefault(bound.node, name)
                mark_places(self.places, bound, place)
        if event == "return":
            self._lines.pop(frame, None)
            for _, leaf in _leaves(value, ""):
                mark_places(self.places, leaf, place)
        else:
            self._lines[frame] = frame.f_lineno
        return self._step
