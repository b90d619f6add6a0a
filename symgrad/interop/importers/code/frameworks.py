"""Detect the framework of a function from the names in its code."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any, Literal, TypeAlias, cast, get_args

from symgrad.interop.importers.code.function_loader import LoadedFunction
from symgrad.support.errors import UnsupportedError, UsageError
from symgrad.support.user_code import of_user

FrameworkName: TypeAlias = Literal["jax", "torch", "tensorflow", "keras", "numpy"]

_LIBRARIES: dict[str, FrameworkName] = {
    **{name: cast("FrameworkName", name) for name in get_args(FrameworkName)},
    "jaxlib": "jax",
    "flax": "jax",
    "optax": "jax",
    "equinox": "jax",
    "tensorflow_probability": "tensorflow",
    "tf_keras": "keras",
    "scipy": "numpy",
}


def framework_of(found: LoadedFunction, named: FrameworkName | None = None) -> FrameworkName:
    """Return the framework of a function, and of the user's functions that it calls.

    If the code names no framework (it may only call methods), the framework is the one that the file imports.

    Raises:
        UsageError: if there is more than one framework.
        UnsupportedError: if Keras runs on another backend than TensorFlow.
    """
    used: set[FrameworkName] = {named} if named else libraries_of(found.function) or _imports(found.tree)
    if len(used) > 1:
        used.discard("numpy")
    if used == {"keras", "tensorflow"}:
        used = {"keras"}
    if len(used) > 1:
        raise UsageError(
            f"{found} uses {' and '.join(sorted(used))}",
            expected="one framework",
            cure=f"--framework {min(used)}",
        )
    plainly: FrameworkName = "numpy"
    framework = min(used) if used else plainly
    if framework == "keras":
        backend = cast("Any", sys.modules.get("keras"))
        name = backend.config.backend() if backend is not None else "tensorflow"
        if name != "tensorflow":
            raise UnsupportedError(
                f"{found} uses Keras on {name}",
                expected="Keras on TensorFlow",
                cure="set KERAS_BACKEND=tensorflow",
            )
    return framework


def library_of(value: Any) -> str:
    """Return the import name of the library of a value.

    Example:
        >>> import numpy as np
        >>> library_of(np), library_of(np.sin), library_of(np.linalg.inv), library_of(3)
        ('numpy', 'numpy', 'numpy', 'builtins')
    """
    name = value.__name__ if isinstance(value, ModuleType) else _module(value)
    return name.partition(".")[0]


def _module(value: Any) -> str:
    own = getattr(value, "__module__", None) if callable(value) else None
    return own if isinstance(own, str) else type(value).__module__


def unwrap(function: Any) -> Any:
    """Return the Python function inside an object of a framework or a decorator."""
    while isinstance(function, functools.partial):
        function = cast("Any", function).func
    for name in ("forward", "call", "__call__"):
        method = getattr(function, name, None)
        if (
            not inspect.isroutine(function)
            and inspect.ismethod(method)
            and of_user(method.__code__.co_filename)
        ):
            function = method
            break
    return inspect.unwrap(getattr(function, "python_function", function))


def code_of(function: Any) -> CodeType | None:
    """Return the code object of a function or of a framework's object; None if there is none."""
    return getattr(unwrap(function), "__code__", None)


def libraries_of(function: Any) -> set[FrameworkName]:
    """Return the frameworks that are named in the code of a function, and of the user's functions that it calls."""
    found: set[FrameworkName] = set()
    seen: set[int] = set()
    pending: list[Any] = [function]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        libraries = [library_of(value)]
        if not isinstance(value, ModuleType) and not inspect.isroutine(value):
            libraries += [c.__module__.partition(".")[0] for c in type(value).__mro__]
        found |= {_LIBRARIES[name] for name in libraries if name in _LIBRARIES}
        code = None if isinstance(value, ModuleType) else code_of(value)
        if code is not None and of_user(code.co_filename):
            names, values = _named(unwrap(value), code)
            found |= {_LIBRARIES[name] for name in names if name in _LIBRARIES}
            pending += values
    return found


def _named(function: Any, code: CodeType) -> tuple[list[str], list[Any]]:
    """Return the names that a function imports, and the values of its globals and closure."""
    outside: dict[str, Any] = getattr(function, "__globals__", {})
    names = [name for inner in _codes(code) for name in inner.co_names]
    values = [outside[name] for name in names if name in outside]
    for cell in getattr(function, "__closure__", None) or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # the name is not bound yet
            continue
    return [name.partition(".")[0] for name in names if name not in outside], values


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value)


def _imports(tree: ast.Module) -> set[FrameworkName]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return {_LIBRARIES[name] for name in names if name in _LIBRARIES}
