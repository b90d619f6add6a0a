"""The table of torch's operations: functions of expressions, whose parameters have the names in torch's schema."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from symgrad.api.functions.elementary import where
from symgrad.api.handles.expr import Expr
from symgrad.support.errors import UnsupportedError

TABLE: dict[str, Callable[..., Any]] = {}
"""The rules, by the name in `torch.ops.aten`, without overload.

Two parameters are not arguments of the operation: ``_out`` is the shape of torch's result, and ``_kind`` its kind
(real, int or bool).
"""

ALIASES: set[str] = set()
"""Operations whose results share the memory of their first argument."""

PUTS: dict[str, Callable[..., Any]] = {}
"""For an alias op: the value that its first argument has after ``_new`` is written to its result."""


class RefusedError(UnsupportedError):
    """A known operation is called in a way that is not supported."""


def aten(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule of operations."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            assert name not in TABLE, name
            TABLE[name] = function
        return function

    return register


def aten_rows(rules: Mapping[str, Callable[..., Any]]) -> None:
    """Register rules by the names of their operations, with spaces between several names of one rule."""
    for names, rule in rules.items():
        aten(*names.split())(rule)


def alias(
    *names: str, put: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register operations that give views."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        ALIASES.update(names)
        if put is not None:
            PUTS.update(dict.fromkeys(names, put))
        return aten(*names)(function)

    return register


# Arguments that do not affect values; the reader checks dtypes separately.
_IGNORED = """
    benchmark copy cudnn_enable cudnn_enabled deterministic device dtype enable_gqa generator half_to_float implicit
    layout memory_format momentum non_blocking out path pin_memory requires_grad sorted sparse
    stable
"""
_NO_MEANING = frozenset(_IGNORED.split())


def bind_arguments(
    function: Callable[..., Any], given: dict[str, Any], defaults: dict[str, Any], more: dict[str, Any]
) -> dict[str, Any]:
    """Return those arguments of a call that a rule takes.

    Raises:
        RefusedError: if an argument that the rule does not take differs from its default.
    """
    names = inspect.signature(function).parameters
    chosen = {n: v for n, v in given.items() if n in names}
    for n, v in given.items():
        if n not in names and n not in _NO_MEANING and "_out" not in names and not _same(v, defaults.get(n)):
            raise RefusedError(f"{n}={v!r}", expected=f"{n}={defaults.get(n)!r}")
    if given.get("enable_gqa"):
        raise RefusedError("enable_gqa=True", cure="repeat the heads of keys and values")
    return chosen | {n: v for n, v in more.items() if n in names}


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, Expr) or isinstance(default, Expr):
        return value is default
    return bool(value == default) or (value in ([], None) and default in ([], None))


def as_number(e: Any) -> Any:
    """Convert truth values to 0 and 1; return other values unchanged."""
    if isinstance(e, bool):
        return int(e)
    return where(e, 1, 0) if isinstance(e, Expr) and e.dtype == "bool" else e


def as_items(value: Any) -> list[Any] | None:
    """Return the items of a list or tuple; None for any other value."""
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else None


def integer_size(size: Any) -> int:
    """Return a size as a number.

    Raises:
        RefusedError: if the size is named.
    """
    if not isinstance(size, int):
        raise RefusedError(f"of the size {size}", cure="import it with numbers as sizes")
    return size


def kind_of(dtype: Any) -> str:
    """Return the kind of a dtype of torch: real, int or bool."""
    if dtype.is_complex:
        raise UnsupportedError(
            f"a tensor of dtype {dtype}", expected="real numbers, whole numbers or truth values"
        )
    return "real" if dtype.is_floating_point else "bool" if str(dtype) == "torch.bool" else "int"
