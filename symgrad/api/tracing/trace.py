"""Run a function of NumPy on expressions."""

# The dtypes of the arrays of users are not known.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from symgrad.api.functions.constants import constant, uniform_value
from symgrad.api.functions.structures import leaves_of, structure_text
from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.convert import array_reader
from symgrad.api.handles.expr import Expr
from symgrad.api.tracing.rebinding import Outside, Rebinding, same_arrays
from symgrad.api.tracing.replaced_functions import replacements
from symgrad.ir.types import is_name
from symgrad.support.errors import SymgradError, UnsupportedError, placed_error
from symgrad.support.source import Location
from symgrad.support.user_code import last_user_place

SMALL = 64
"""The largest number of different entries of an array that a formula contains as numbers; others are inputs."""

KINDS: Mapping[str, str] = {"f": "real", "i": "int", "u": "int", "b": "bool"}


def file_of(function: Any) -> str:
    """Return the file of the code of a function; empty if it has none."""
    plain = inspect.unwrap(getattr(function, "func", function))
    code = getattr(plain, "__code__", None) or getattr(type(plain).__call__, "__code__", None)
    return "" if code is None else code.co_filename


class Traced:
    """A function that is called with expressions, and the arrays of numbers that it reads besides.

    Args:
        function: the function.
        names: the names of the arguments, which the arrays may not have.

    Attributes:
        arrays: the arrays that are too large for a formula, by the names of their inputs.
    """

    def __init__(self, function: Callable[..., Any], names: Iterable[str]) -> None:
        self._file = file_of(function)
        self._rebinding = Rebinding(self._file, replacements())
        self._function = self._rebinding.of(function)
        self._taken = set(names)
        self.arrays: dict[str, np.ndarray] = {}

    def outside(self) -> Outside:
        """Return what the function reads besides its arguments, as it is now."""
        return self._rebinding.outside()

    def call(self, args: Iterable[Any], options: Mapping[str, Any]) -> Any:
        """Return what the function returns for expressions.

        Raises:
            SymgradError: for operations that expressions do not have, with the line of the user.
        """
        with errors_at_lines(self._file):
            token = array_reader.set(self._read)
            try:
                return self._function(*args, **options)
            finally:
                array_reader.reset(token)

    def check_again(self, args: Iterable[Any], options: Mapping[str, Any], returned: Any) -> None:
        """Call the function a second time.

        Raises:
            UnsupportedError: if it returns something else: it draws random numbers, or depends on earlier calls.
        """
        count = len(self.arrays)
        again = self.call(args, options)
        same = structure_text(again) == structure_text(returned) and len(self.arrays) == count
        if not same or not all(map(_is_same, leaves_of(again), leaves_of(returned))):
            raise UnsupportedError(
                "the function returns something else when it is called again with the same arguments",
                expected="a function whose results follow from its arguments",
                cure="pass random numbers and counters as arguments",
            )

    def _read(self, values: np.ndarray) -> Expr:
        """Return an array of numbers among the expressions: as a formula, or as an input."""
        if values.dtype.kind not in KINDS:
            raise UnsupportedError(f"an array of dtype {values.dtype}", expected="an array of real numbers")
        finite = values.dtype.kind != "f" or bool(np.isfinite(values).all())
        if finite and (values.size <= SMALL or uniform_value(values) is not None):
            return constant(values, decimal=True)
        name = next((n for n, known in self.arrays.items() if same_arrays(known, values)), None)
        if name is None:
            name = self._free(_variable_of(values))
            self.arrays[name] = values.copy()
        return array_input(name, values.shape, KINDS[values.dtype.kind])

    def _free(self, name: str) -> str:
        plain, count = name, 1
        while name in self._taken:
            count += 1
            name = f"{plain}_{count}"
        self._taken.add(name)
        return name


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, Expr) and isinstance(b, Expr):
        return a.node is b.node
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return same_arrays(a, b)
    return type(a) is type(b) and (a is b or repr(a) == repr(b))


def _variable_of(values: np.ndarray) -> str:
    """Return the name of a variable of the calling functions that stands for an array."""
    frame: FrameType | None = sys._getframe()  # pyright: ignore[reportPrivateUsage]  (the only way to the callers)
    while frame is not None:
        for names in (frame.f_locals, frame.f_globals):
            if not frame.f_globals.get("__name__", "").startswith("symgrad."):
                found = next((n for n, v in names.items() if v is values and is_name(n)), None)
                if found is not None and not found.startswith("_"):
                    return found
        frame = frame.f_back
    return "data"


@contextmanager
def errors_at_lines(file: str) -> Generator[None]:
    """Add the line of the user to errors of expressions.

    Args:
        file: the file of the function.

    Raises:
        SymgradError: the same error, with the line if it had none.
        UnsupportedError: for an error of NumPy that an expression has caused.
    """
    try:
        yield
    except SymgradError as error:
        at = _location(file, error)
        if error.at is not None or at is None:
            raise
        raise placed_error(error, at) from error
    except (TypeError, ValueError) as error:
        cause = _symgrad_error(error)
        if cause is None and "Expr" not in str(error):
            raise
        raise UnsupportedError(
            f"NumPy takes no expression here: {str(error).splitlines()[0]}",
            at=_location(file, error),
            expected="arrays that are made of the values in one step",
            cure="np.stack or np.concatenate of a list of the values in place of writes into an array",
        ) from error


def _symgrad_error(error: BaseException) -> SymgradError | None:
    found = error.__cause__ or error.__context__
    while found is not None and not isinstance(found, SymgradError):
        found = found.__cause__ or found.__context__
    return found


def _location(file: str, error: BaseException) -> Location | None:
    place = last_user_place(file, error.__traceback__)
    return None if place is None else place.location()
