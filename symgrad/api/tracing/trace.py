"""Run a function of NumPy on expressions."""

# The dtypes of the arrays of users are not known.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from types import FrameType
from typing import Any

import numpy as np

from symgrad.api.functions.constants import constant, uniform_value
from symgrad.api.functions.structures import leaves_of, structure_text
from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.convert import tracing
from symgrad.api.handles.expr import Expr
from symgrad.api.tracing.rebinding import Outside, Rebinding, same_arrays, same_values
from symgrad.api.tracing.replaced_functions import replacements
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import is_name
from symgrad.support.errors import InternalError, SymgradError, UnsupportedError, placed_error
from symgrad.support.source import Location
from symgrad.support.user_code import last_user_place
from symgrad.verification.mistakes.numbers import sampled_arrays

SMALL = 64
"""The largest number of different entries of an array that a formula contains as numbers; others are inputs."""

_AGREEMENT = 1e-9  # relative difference of values that are computed in the same order

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
        open, symbols, rolls, rolled, carried: its loops, see `steps.py`.
    """

    def __init__(self, function: Callable[..., Any], names: Iterable[str]) -> None:
        self._file = file_of(function)
        self._rebinding = Rebinding(self._file, replacements())
        self._function = self._rebinding.of(function)
        self._taken = set(names)
        self.arrays: dict[str, np.ndarray] = {}
        self.open: list[Any] = []
        self.symbols: set[Node] = set()
        self.rolls = True
        self.rolled = False
        self.carried: dict[Node, str] = {}

    def outside(self) -> Outside:
        """Return what the function reads besides its arguments, as it is now."""
        return self._rebinding.outside()

    def call(self, args: Iterable[Any], options: Mapping[str, Any]) -> Any:
        """Return what the function returns for expressions.

        Raises:
            SymgradError: for operations that expressions do not have, with the line of the user.
        """
        values = list(args)
        with errors_at_lines(self._file):
            repeated: Any = None
            try:
                repeated = self._run(values, options)
            except Exception:
                # A loop that was tried as a recurrence may fail in any way; written out, it shows its own error.
                if not self.rolled:
                    raise
            if not self.rolled:
                return repeated
            # Loops over Python's `range` were tried as recurrences. The function may count on state that no variable
            # shows, such as an iterator; so it must have the same values as with its loops written out.
            self.rolls, carried = False, dict(self.carried)
            plain = self._run(values, options)
            self.rolls = repeated is not None and _agree(repeated, plain)
            self.carried = carried if self.rolls else {}
            return repeated if self.rolls else plain

    def _run(self, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        self.open.clear()
        token = tracing.set(self)
        try:
            returned = self._function(*args, **options)
        finally:
            tracing.reset(token)
        if self.open:
            raise self.open[-1].refusal(
                "a loop is left by break or return",
                "np.where keeps the value in further steps, or sg.while_loop",
            )
        nodes = [leaf.node for leaf in leaves_of(returned) if isinstance(leaf, Expr)]
        if not self.symbols.isdisjoint(symbols_of(nodes)):
            raise UnsupportedError(
                "a value of one step of a loop is used after the loop",
                expected="values that the steps carry on",
                cure="bind the name before the loop, or sg.scan, which returns what each step computes",
            )
        return returned

    def check_again(self, args: Iterable[Any], options: Mapping[str, Any], returned: Any) -> None:
        """Call the function a second time.

        Raises:
            UnsupportedError: if it returns something else: it draws random numbers, or depends on earlier calls.
        """
        count = len(self.arrays)
        with errors_at_lines(self._file), redirect_stdout(StringIO()):
            again = self._run(list(args), options)
        same = structure_text(again) == structure_text(returned) and len(self.arrays) == count
        if not same or not all(map(_is_same, leaves_of(again), leaves_of(returned))):
            raise UnsupportedError(
                "the function returns something else when it is called again with the same arguments",
                expected="a function whose results follow from its arguments",
                cure="pass random numbers and counters as arguments",
            )

    def read(self, values: np.ndarray) -> Expr:
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


def _agree(a: Any, b: Any) -> bool:
    """Tell whether two results have the same structure, and the same values at a few points."""
    pairs = list(zip(leaves_of(a), leaves_of(b), strict=False))
    exprs = [(x.node, y.node) for x, y in pairs if isinstance(x, Expr) and isinstance(y, Expr)]
    if structure_text(a) != structure_text(b) or len(exprs) < len(pairs):
        return False
    try:
        points = sampled_arrays([n for pair in exprs for n in pair]).points
        return bool(points) and all(
            np.allclose(at(x), at(y), rtol=_AGREEMENT, atol=0) for at in points for x, y in exprs
        )
    except (InternalError, OverflowError):  # named sizes, and large arrays
        return False


def _is_same(a: Any, b: Any) -> bool:
    if same_values(a, b):
        return True
    return type(a) is type(b) and not isinstance(a, Expr | np.ndarray) and repr(a) == repr(b)


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
