"""Nested tuples, lists and dicts of values, as arguments and results of functions have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast


def _never(_: Any) -> bool:
    return False


def named_leaves(tree: Any, path: str = "", is_leaf: Callable[[Any], bool] = _never) -> list[tuple[str, Any]]:
    """Return the values in nested tuples, lists and dicts, each with its keys joined by ``_``.

    Args:
        tree: the structure; None has no values.
        path: the name of the whole.
        is_leaf: tells of a tuple, list or dict that it counts as one value.

    Example:
        >>> named_leaves({"W": 1, "b": (2, None, 3)}), named_leaves(4, "x")
        ([('W', 1), ('b_0', 2), ('b_2', 3)], [('x', 4)])
    """
    if tree is None:
        return []
    if is_leaf(tree) or not isinstance(tree, Mapping | tuple | list):
        return [(path, tree)]
    if isinstance(tree, Mapping):
        items = list(cast("Mapping[Any, Any]", tree).items())
    else:
        values = cast("Sequence[Any]", tree)
        items = list(zip(getattr(values, "_fields", range(len(values))), values, strict=True))
    return [leaf for k, v in items for leaf in named_leaves(v, f"{path}_{k}" if path else str(k), is_leaf)]


def leaves_of(tree: Any) -> list[Any]:
    """Return the values in nested tuples, lists and dicts."""
    return [leaf for _, leaf in named_leaves(tree)]


def rebuilt(tree: Any, leaves: Iterable[Any], is_leaf: Callable[[Any], bool] = _never) -> Any:
    """Return a structure with other values; ``is_leaf`` as for `named_leaves`."""
    rest = iter(leaves)

    def build(part: Any) -> Any:
        if part is None:
            return None
        if is_leaf(part):
            return next(rest)
        if isinstance(part, tuple | list):
            values = [build(value) for value in cast("Sequence[Any]", part)]
            kind = cast("Any", type(part))  # pyright: ignore[reportUnknownArgumentType]  (of tuples of anything)
            return kind(*values) if hasattr(kind, "_fields") else kind(values)  # a named tuple has fields
        if isinstance(part, Mapping):
            return {key: build(value) for key, value in cast("Mapping[Any, Any]", part).items()}
        return next(rest)

    return build(tree)


def structure_text(tree: Any) -> str:
    """Return a structure as text."""
    return repr(rebuilt(tree, ("*" for _ in leaves_of(tree))))
