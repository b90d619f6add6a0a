"""The source code of functions, and the scope of the names in it."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from symgrad.interop.importers.code.frameworks import code_of, library_of, unwrap
from symgrad.support.source import Place
from symgrad.support.user_code import of_user

UNKNOWN = object()
"""An unknown value outside a function."""


@lru_cache(maxsize=64)
def _tree(file: str, text: str) -> ast.Module | None:
    try:
        return ast.parse(text, file)
    except (SyntaxError, ValueError, RecursionError):
        return None


Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def definition(function: Any) -> tuple[Function, str] | None:
    """Return the syntax tree of a function of the user, and its file."""
    code = code_of(function)
    if code is None or not of_user(code.co_filename):
        return None
    file = code.co_filename
    tree = _tree(file, "".join(linecache.getlines(file)))
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            return node, file
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node, file
    return None


def arguments(node: Function) -> list[ast.arg]:
    """Return the parameters of a function in order."""
    a = node.args
    rest = [b for b in (a.vararg, a.kwarg) if b is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *rest]


@dataclass(frozen=True, slots=True)
class CodeScope:
    """The scope of a function's free names, and the place of its source.

    Args:
        file: the file of the source.
        outside: the values of its free names.
        owner: for a method, the name of the parameter for the object; None for a function.
        differentiated: whether arrays belong to a framework that differentiates, and not to NumPy.
        depth: the depth of nested calls.
        running: the functions that are being interpreted, by identity.
    """

    file: str
    outside: dict[str, Any]
    owner: str | None
    differentiated: bool
    depth: int = 0
    running: frozenset[int] = field(default_factory=frozenset[int])

    def object(self, node: ast.expr, inside: Collection[str]) -> Any:
        """Return the object that a dotted name stands for; `UNKNOWN` if a name in it is local to the function."""
        if isinstance(node, ast.Name) and node.id not in inside:
            return self.outside.get(node.id, getattr(builtins, node.id, UNKNOWN))
        if isinstance(node, ast.Attribute) and dotted(node) not in inside:
            base = self.object(node.value, inside)
            try:
                return UNKNOWN if base is UNKNOWN else getattr(base, node.attr)
            except Exception:  # noqa: BLE001  (a property of the user's may raise anything)
                return UNKNOWN
        return UNKNOWN

    def library(self, func: ast.expr, inside: Collection[str]) -> tuple[str, str]:
        """Return the library of a function, and its name in this library; empty texts for other functions."""
        if isinstance(func, ast.Attribute):
            base = self.object(func.value, inside)
            return (library_of(base), func.attr) if inspect.ismodule(base) else ("", "")
        found = self.object(func, inside)
        return ("", "") if found is UNKNOWN else (library_of(found), str(getattr(found, "__name__", "")))

    def imports(self, node: ast.Import | ast.ImportFrom) -> None:
        """Bind the names of an import inside a function, if the module is already loaded."""
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                module = None if node.level else sys.modules.get(node.module or "")
                found = getattr(module, alias.name, None)
            else:
                found = sys.modules.get(alias.name if alias.asname else alias.name.partition(".")[0])
            if found is not None:
                self.outside[alias.asname or alias.name.partition(".")[0]] = found

    def place(self, node: ast.expr) -> Place:
        """Return the place of an expression, up to the end of its first line."""
        lines = linecache.getlines(self.file)
        first = lines[node.lineno - 1].encode() if node.lineno <= len(lines) else b""
        start = len(
            first[: node.col_offset].decode(errors="replace")
        )  # the parser counts bytes, not characters
        end = None
        if node.end_lineno == node.lineno and node.end_col_offset is not None:
            end = len(first[: node.end_col_offset].decode(errors="replace"))
        return Place.of(self.file, node.lineno, start, end)


def scope_of(function: Any, file: str, differentiated: bool, around: CodeScope | None = None) -> CodeScope:
    """Return the scope of a function; ``around`` is the scope of its caller."""
    bare = unwrap(function)
    owner = getattr(bare, "__self__", None)
    bare = getattr(bare, "__func__", bare)
    names: dict[str, Any] = dict(getattr(bare, "__globals__", {}))
    code = getattr(bare, "__code__", None)
    cells: tuple[Any, ...] = getattr(bare, "__closure__", None) or ()
    for name, cell in zip(getattr(code, "co_freevars", ()), cells, strict=False):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # the name is not bound yet
            continue
    bound = None
    if owner is not None and code is not None and code.co_argcount:
        bound = str(code.co_varnames[0])
        names[bound] = owner
    depth, running = (0, frozenset[int]()) if around is None else (around.depth, around.running)
    return CodeScope(file, names, bound, differentiated, depth, running)


def bracketed(node: ast.expr) -> str:
    """Return the text of an expression, in parentheses if it needs them as an operand."""
    text = ast.unparse(node)
    single = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
    return text if single else f"({text})"


def dotted(node: ast.expr) -> str | None:
    """Return ``a.b.c`` for names and attributes; None for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


def is_false(arguments: Sequence[ast.expr]) -> bool:
    """Tell whether one of the arguments is the literal False."""
    return any(isinstance(a, ast.Constant) and a.value is False for a in arguments)


def captured(pattern: ast.pattern) -> Iterator[str]:
    """Yield the names that a pattern binds."""
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
            yield node.name


def is_trainable(value: Any) -> bool:
    """Tell whether a value is trainable, or has trainable parts: a parameter, a module, or a variable."""
    if isinstance(value, type):
        return False
    try:
        if getattr(value, "requires_grad", None) is True or getattr(value, "trainable", None) is True:
            return True
        if callable(getattr(value, "parameters", None)) and callable(getattr(value, "named_modules", None)):
            return any(p.requires_grad for p in value.parameters())
        return bool(getattr(value, "trainable_variables", None))
    except Exception:  # noqa: BLE001  (an object of the user's may raise anything)
        return False
