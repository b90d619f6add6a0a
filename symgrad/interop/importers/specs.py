"""Specs of the arguments of an imported function: texts, shapes, and nested structures of these."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, cast

from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.expr import Expr
from symgrad.ir.sizes import Shape, size_max
from symgrad.ir.types import DOMAINS, is_name
from symgrad.support.errors import UsageError

_TEXT = re.compile(r"\s*(?P<domain>\w+\s*(?:\([^)]*\))?)\s*(?:\[(?P<shape>[^\]]*)\])?\s*")


def argument_names(function: Callable[..., Any], count: int, by_name: Iterable[str] = ()) -> list[str]:
    """Return the names of the first arguments of a function, one for each spec; ``by_name`` have specs by name.

    Raises:
        UsageError: if there are too few or too many specs.

    Example:
        >>> argument_names(lambda x, *more: x, 3)
        ['x', 'more0', 'more1']
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    parameters = [p for p in parameters if p.name != "self"]
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    named = [p.name for p in plain]
    required = [p.name for p in plain if p.default is p.empty and p.name not in by_name]
    several = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    if parameters and (count < len(required) or (count > len(named) and several is None)):
        raise UsageError(
            f"{count} specs for the arguments {', '.join(named) or 'of no name'}",
            expected="one for each argument",
        )
    return [*named[:count], *(f"{several or 'x'}{k}" for k in range(count - len(named)))]


def parse_spec(name: str, said: str) -> Expr:
    """Parse the declaration of an input.

    Raises:
        UsageError: if the text, the domain or a size is invalid.

    Example:
        >>> parse_spec("x", "Normal(0, 1)[3]").shape, parse_spec("x", "real[n, 3]").shape, parse_spec("x", "int").shape
        ((3,), ('n', 3), ())
    """
    parts = _TEXT.fullmatch(said)
    if parts is None:
        raise UsageError(
            f"{said!r} does not say what '{name}' is", expected="such as 'real[3, 5]' or 'Normal(0, 1)[8]'"
        )
    sizes = [s.strip() for s in (parts["shape"] or "").split(",") if s.strip()]
    return array_input(name, tuple(int(s) if s.isdecimal() else s for s in sizes), parts["domain"].strip())


def shape_matches(found: Shape, told: Shape) -> bool:
    """Tell whether a shape matches a framework's shape, which omits that sizes are not negative.

    Example:
        >>> from symgrad.ir.sizes import size_max, size_sum
        >>> less = size_sum(["n", -1])
        >>> shape_matches((size_max(less, 0), 3), (less, 3)), shape_matches(("n",), (less,))
        (True, False)
    """
    return len(found) == len(told) and all(
        a == b or a == size_max(b, 0) for a, b in zip(found, told, strict=True)
    )


def is_shape(spec: Any) -> bool:
    """Tell whether a spec is a tuple of sizes: numbers, or names that are not names of domains.

    Example:
        >>> is_shape(("n", 3)), is_shape(("real", "int")), is_shape([3])
        (True, False, False)
    """
    return type(spec) is tuple and all(
        (isinstance(n, int) and not isinstance(n, bool))
        or (isinstance(n, str) and is_name(n) and n not in DOMAINS)
        for n in cast("tuple[Any, ...]", spec)
    )


def is_leaf(spec: Any) -> bool:
    """Tell whether a spec is for one argument; a tuple of sizes is a shape."""
    return is_shape(spec) or not isinstance(spec, dict | list | tuple)


def flatten(structure: Any, path: tuple[Any, ...] = ()) -> Iterable[tuple[tuple[Any, ...], Any]]:
    """Yield the leaves of dicts, lists and tuples with their paths; the order in dicts is that of TensorFlow."""
    if structure is None:
        return
    if isinstance(structure, dict):
        found = cast("dict[Any, Any]", structure)
        items: list[tuple[Any, Any]] = [(k, found[k]) for k in sorted(found)]
    elif isinstance(structure, list | tuple) and not is_leaf(structure):
        items = list(enumerate(cast("list[Any]", structure)))
    else:
        yield path, structure
        return
    for key, value in items:
        yield from flatten(value, (*path, key))


def repack(structure: Any, leaves: Any) -> Any:
    """Return a structure in which the leaves are replaced."""
    if isinstance(structure, dict):
        found = cast("dict[Any, Any]", structure)
        made = {k: repack(found[k], leaves) for k in sorted(found)}
        return {k: made[k] for k in found}
    if isinstance(structure, list | tuple) and not is_leaf(structure):
        return type(cast("Any", structure))([repack(v, leaves) for v in cast("list[Any]", structure)])
    return next(leaves)
