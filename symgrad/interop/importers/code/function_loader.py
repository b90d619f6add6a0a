"""Load a function from a Python file: import the file, and find the function in it."""

from __future__ import annotations

import ast
import contextlib
import importlib
import linecache
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, cast

from symgrad.ir.listing import one_of, suggest
from symgrad.support.errors import (
    FileError,
    ProgramSyntaxError,
    SymgradError,
    UnsupportedError,
    UsageError,
    placed_error,
)
from symgrad.support.files import read_text
from symgrad.support.source import Location, Source, Span
from symgrad.support.user_code import last_user_place

_SIZE = 10_000_000  # largest number of bytes of a file


@dataclass(frozen=True)
class LoadedFunction:
    """A function in a file.

    Args:
        file: the path of the file.
        name: the name of the function, dotted for an attribute.
        function: the object with that name: a function, a module of torch, or a model.
        tree: the syntax tree of the file.
        module: the imported file.
    """

    file: str
    name: str
    function: Callable[..., Any]
    tree: ast.Module
    module: ModuleType

    def __str__(self) -> str:
        return f"{self.file}::{self.name}"

    def another(self, name: str) -> LoadedFunction:
        """Return another function of the same file.

        Raises:
            UsageError: if the file has no such function.
        """
        return replace(self, name=name, function=_function(self.module, self.tree, self.file, name))


@contextmanager
def load_function(file: str, name: str | None) -> Generator[LoadedFunction]:
    """Import a file and yield a function of it; its imports are searched for in its folder, as in Python.

    Output of the file during the import goes to standard error.

    Args:
        file: the path of the file.
        name: the name of the function, dotted for an attribute; None for the only function of the file.

    Raises:
        FileError: if the file cannot be read.
        ProgramSyntaxError: if the file is not Python.
        UsageError: if the file has no such function, or several and none is named.
        UnsupportedError: if the file cannot be imported.
    """
    text = read_text(Path(file), _SIZE)
    linecache.checkcache(file)  # places are shown in the current text of the file
    tree = _tree(text, file)
    name = name or _only(tree, file)
    with _imported(text, file) as module:
        yield LoadedFunction(file, name, _function(module, tree, file, name), tree, module)


def _tree(text: str, file: str) -> ast.Module:
    try:
        return ast.parse(text, file)
    except SyntaxError as error:
        source = Source(text, file)
        line = min(error.lineno or 1, text.count("\n") + 1)
        start = source.offset(line, max(error.offset or 1, 1))
        raise ProgramSyntaxError(
            f"this is not Python: {error.msg}", at=Location(source, Span(start, start + 1))
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProgramSyntaxError(f"{file} is not Python: {error}") from None


def _defined(tree: ast.Module) -> list[str]:
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [n.name for n in functions if not n.name.startswith("_")]


def _only(tree: ast.Module, file: str) -> str:
    names = _defined(tree)
    if len(names) != 1:
        raise UsageError(
            f"{file} defines {'several functions' if names else 'no function'}",
            expected=one_of(names) or "FILE::FUNCTION, a function or a model of the file",
            cure=f"name it: {file}::{names[0]}" if names else None,
        )
    return names[0]


def _function(module: ModuleType, tree: ast.Module, file: str, name: str) -> Callable[..., Any]:
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            known = _defined(tree)
            raise UsageError(
                f"{file} has no '{name}'",
                expected=one_of(known) or "the name of a function",
                cure=suggest(name, known),
            ) from None
    if isinstance(found, type):
        raise UsageError(
            f"'{name}' is a class",
            cure="name an object of this class, or a function that makes one and calls it",
        )
    if not callable(found):
        raise UsageError(f"'{name}' is a value of type {type(found).__name__}", expected="a function")
    return cast("Callable[..., Any]", found)


# ---------------------------------------------------------------------------------------------------------- importing


@contextmanager
def _imported(text: str, file: str) -> Generator[ModuleType]:
    """Run a file as a module; if it belongs to a package, run it inside the package."""
    path = Path(file).absolute()
    parts = [path.stem]
    root = path.parent
    while (root / "__init__.py").exists() and root != root.parent:
        parts.insert(0, root.name)
        root = root.parent
    package = ".".join(parts[:-1])
    name = ".".join(parts)
    while name in sys.modules:  # this avoids the name of a library
        name += "_"
    module = ModuleType(name)
    module.__file__, module.__package__ = str(path), package
    before = list(sys.path)
    sys.path.insert(0, str(root))
    sys.modules[name] = module
    try:
        with locate_errors(file, f"{file} cannot be imported"):
            if package:
                importlib.import_module(package)
            # Compile the file under the path that the user wrote, because messages show it.
            exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)
        yield module
    finally:
        sys.modules.pop(name, None)
        sys.path[:] = before


@contextmanager
def locate_errors(file: str, what: str) -> Generator[None]:
    """Add the line to exceptions in the user's code, and redirect its output to standard error.

    Args:
        file: the file of the code.
        what: the action that failed, as a sentence.

    Raises:
        SymgradError: the same error, with the line if it had none.
        UnsupportedError: for any other exception of the user's code.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except SystemExit as error:
        raise UnsupportedError(
            f"{what}: it ends the process",
            at=_location(file, error.__traceback__),
            cure="put the commands of a script after: if __name__ == '__main__':",
        ) from None
    except SymgradError as error:
        at = None if isinstance(error, FileError) else _location(file, error.__traceback__)
        if error.at is not None or at is None:
            raise
        raise placed_error(error, at) from error
    except Exception as error:
        at = _location(file, error.__traceback__)
        if at is None and not isinstance(error, SyntaxError):
            raise  # this is an error in symgrad itself
        said = next((line for line in str(error).splitlines() if line.strip()), "")
        missing = isinstance(error, ModuleNotFoundError)
        raise UnsupportedError(
            f"{what}: {type(error).__name__}{': ' if said else ''}{said}",
            at=at,
            cure=f"install it beside symgrad, whose Python is {sys.executable}" if missing else None,
        ) from error


def _location(file: str, traceback: TracebackType | None) -> Location | None:
    place = last_user_place(file, traceback)
    return None if place is None else place.location()
