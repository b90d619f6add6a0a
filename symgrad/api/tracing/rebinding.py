"""Copy the functions of the user with replacements for functions that accept no expressions.

NumPy's protocols cover most functions, but not those that make arrays (``np.array([a, b])``) and those that SciPy
writes in Python. A copy has the same code, in which the names of these functions are bound to replacements; the
original is unchanged.
"""

# The dtypes of the arrays of users are not known.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from symgrad.api.functions.structures import leaves_of, structure_text
from symgrad.api.handles.expr import Expr
from symgrad.support.user_code import of_user


class Replacements:
    """What replaces functions in the code of the user.

    Args:
        table: pairs of a function, and what replaces it.
        modules: modules whose attributes are replaced likewise, such as NumPy.
        builtins: what replaces builtins of Python, by name.
    """

    def __init__(
        self,
        table: Sequence[tuple[Any, Any]],
        modules: Sequence[ModuleType],
        builtins: Mapping[str, Any] = {},
    ) -> None:
        self.builtins = builtins
        self._table = {
            id(old): (old, new) for old, new in table
        }  # an object that is alive keeps its identity
        self._modules = {id(m): _ModuleView(m, self) for m in modules}

    def of(self, value: Any) -> Any:
        """Return the replacement of a value; the value itself if it has none."""
        if isinstance(value, ModuleType):
            return self._modules.get(id(value), value)
        return self._table[id(value)][1] if id(value) in self._table else value


class _ModuleView(ModuleType):
    """A module, except for the functions that are replaced."""

    def __init__(self, module: ModuleType, replacements: Replacements) -> None:
        super().__init__(module.__name__)
        self._module, self._replacements = module, replacements

    def __getattr__(self, name: str) -> Any:
        return self._replacements.of(getattr(self._module, name))


class Rebinding:
    """The copies of functions, one each, because functions call each other.

    Args:
        file: the file of the function; its functions count as the user's, even if it does not exist.
        replacements: what is replaced.
    """

    def __init__(self, file: str, replacements: Replacements) -> None:
        self._file = file
        self._replacements = replacements
        self._made: dict[int, Any] = {}
        self._globals: dict[int, dict[str, Any]] = {}
        self._kept: list[FunctionType] = []  # an object that is alive keeps its identity

    def of(self, value: Any) -> Any:
        """Return the replacement or the copy of a value; the value itself if it has none."""
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, MethodType):
            return MethodType(self.of(value.__func__), value.__self__)
        if isinstance(value, functools.partial):
            found = cast("functools.partial[Any]", value)
            return functools.partial(self.of(found.func), *found.args, **found.keywords)
        return self._replacements.of(value)

    def outside(self) -> Outside:
        """Return what the copied functions read besides their arguments, as it is now."""
        return Outside(self._kept)

    def _function(self, function: FunctionType) -> Any:
        file = function.__code__.co_filename
        if file != self._file and not of_user(file):
            return self._replacements.of(function)
        if id(function) in self._made:
            return self._made[id(function)]
        self._kept.append(function)
        cells = tuple(CellType() for _ in function.__closure__ or ())
        made = FunctionType(
            function.__code__,
            self._outside(function.__globals__),
            function.__name__,
            function.__defaults__,
            cells or None,
        )
        self._made[id(function)] = made
        made.__kwdefaults__ = function.__kwdefaults__
        made.__dict__.update(function.__dict__)
        for cell, own in zip(cells, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.of(own.cell_contents)
            except ValueError:  # not bound yet
                continue
        return made

    def _outside(self, names: dict[str, Any]) -> dict[str, Any]:
        if id(names) not in self._globals:
            found = self._globals[id(names)] = {}
            found |= self._replacements.builtins
            found.update({name: self.of(value) for name, value in names.items()})
        return self._globals[id(names)]


class Outside:
    """Globals and variables of enclosing functions that functions read, with their present values.

    Attributes of objects are not among them.
    """

    def __init__(self, functions: Sequence[FunctionType]) -> None:
        self._read = [(find, _frozen(find())) for f in functions for find in _readers(f)]

    def changed(self) -> bool:
        """Tell whether one of them has another value now."""
        return any(not _same(find(), frozen) for find, frozen in self._read)


def _readers(function: FunctionType) -> Iterator[Callable[[], Any]]:
    names = function.__globals__
    for name in dict.fromkeys(n for code in _codes(function.__code__) for n in code.co_names):
        if name in names and not isinstance(names[name], ModuleType):
            yield functools.partial(names.get, name)
    for cell in function.__closure__ or ():
        yield functools.partial(_content, cell)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _frozen(value: Any) -> tuple[str, list[Any]]:
    if not isinstance(value, Mapping | list | tuple | np.ndarray):
        return "", [value]
    leaves = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves_of(value)]
    return structure_text(value), leaves


def _same(value: Any, frozen: tuple[str, list[Any]]) -> bool:
    text, before = frozen
    if not text:
        return value is before[0] or same_values(value, before[0])
    leaves = leaves_of(value)
    return (
        len(leaves) == len(before) and structure_text(value) == text and all(map(same_values, leaves, before))
    )


def same_values(a: Any, b: Any) -> bool:
    """Tell whether two values are one formula, equal arrays, equal numbers of one type, or one object."""
    if isinstance(a, Expr) and isinstance(b, Expr):
        return a.node is b.node
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return same_arrays(a, b)
    return a is b or (isinstance(a, bool | int | float) and type(a) is type(b) and repr(a) == repr(b))


def same_arrays(a: np.ndarray, b: np.ndarray) -> bool:
    """Tell whether two arrays have the same dtype, shape and entries."""
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
