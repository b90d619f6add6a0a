"""Let the functions that differentiate expressions also differentiate functions of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from symgrad.api.handles.expr import Expr
from symgrad.report.report import Reported


class NumericFunction(Protocol):
    """A function, which has a name: expressions can be called, too, and are no functions."""

    __name__: str

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Return a number, or arrays."""
        ...


P = ParamSpec("P")
R = TypeVar("R")


def or_of_functions(verb: Callable[P, R], *, with_value: bool) -> Callable[P, R]:
    """Let a function of (y, wrt) take a function of NumPy and positions of arguments instead."""

    @wraps(verb)
    def apply(*args: Any, **options: Any) -> Any:
        by_name = "wrt" in options or any(isinstance(a, Expr | str | list) for a in args[1:])
        if not args or by_name or not callable(args[0]) or isinstance(args[0], Reported):
            return cast("Callable[..., Any]", verb)(*args, **options)
        from symgrad.api.tracing.gradient_functions import (
            GradientFunction,  # a late import: it imports the module of this verb, and most programs are formulas
        )

        return GradientFunction(*args, **options, verb=verb, with_value=with_value)

    return cast("Callable[P, R]", apply)
