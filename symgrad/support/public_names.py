"""The public names of the package, each with its module.

The package looks up its attributes here, and messages look up their suggestions, without importing other modules.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, cast


def names_in(stub: str) -> dict[str, str]:
    """Return the names of a stub with their modules, from lines `from module import name as name`.

    Args:
        stub: a file in the folder of the package.

    Example:
        >>> names_in("results.pyi")["Minimum"]
        'symgrad.api.training.minimize'
    """
    # The loader reads the file, since the package may be in an archive.
    loader: Any = getattr(__spec__, "loader", None)
    text: str = loader.get_data(os.path.join(os.path.dirname(os.path.dirname(__file__)), stub)).decode()  # noqa: PTH118, PTH120  (pathlib takes longer than all else here)
    lines = (line.split() for line in text.splitlines())
    return {words[3]: words[1] for words in lines if words[:1] == ["from"]}


_NAMES = names_in("__init__.pyi")

PUBLIC = {name: module for name, module in _NAMES.items() if module != "symgrad"}
"""The names of the package with their modules, which are imported at the first use of a name."""

MODULES = tuple(name for name, module in _NAMES.items() if module == "symgrad")
"""The public modules."""

_MODULES_OF_CLASSES = ("errors", "results")
_LISTED = tuple(f"symgrad.{name}" for name in MODULES if name not in _MODULES_OF_CLASSES)
_SPELT = tuple(f"symgrad.api.functions.{room}" for room in ("elementary", "arrays", "matrices", "layout"))


def public(name: str) -> Any:
    """Return the object of a name of the package.

    Functions of the public modules are also attributes of the package, as are functions under their names in SymPy and
    C (`sg.erf`, `sg.asin`). These attributes are not listed, since each function has one listed name.

    Raises:
        AttributeError: if the package has no such name.

    Example:
        >>> public("symbols")("x")
        Expr(x)
        >>> public("lgamma") is public("gammaln")
        True
    """
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    for module in map(import_module, (*_LISTED, *_SPELT)):
        if _is_public(module, name):
            return getattr(module, name)
    raise AttributeError(name)


def _is_public(module: Any, name: str) -> bool:
    """Tell whether a module lists a name, or defines its function if it has no list."""
    if hasattr(module, "__all__"):
        return name in module.__all__
    members = cast("dict[str, Any]", vars(module))
    return not name.startswith("_") and getattr(members.get(name), "__module__", "") == module.__name__


def public_name(name: str) -> str | None:
    """Return the qualified form of a listed name; None if there is no such name.

    Example:
        >>> public_name("grad"), public_name("erf"), public_name("curl")
        ('grad', 'special.erf', None)
    """
    if name in PUBLIC:
        return name
    modules = (m for m in _LISTED if name in import_module(m).__all__)
    return next((f"{module.removeprefix('symgrad.')}.{name}" for module in modules), None)


def class_name(name: str) -> str | None:
    """Return the qualified name of a class that is public in a module only; None if there is no such class.

    Example:
        >>> class_name("Minimum"), class_name("ShapeError"), class_name("minimum")
        ('results.Minimum', 'errors.ShapeError', None)
    """
    return next(
        (f"{m}.{name}" for m in _MODULES_OF_CLASSES if name in import_module(f"symgrad.{m}").__all__), None
    )
