"""Functions that call each other to any depth without Python's stack: generators that yield what they wait for."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

__all__ = ["Steps", "run_trampoline"]

T = TypeVar("T")

Steps: TypeAlias = Generator[Any, Any, T]
"""What returns a T after it was handed the results of what it yields, which are such generators again."""


def run_trampoline(steps: Steps[T]) -> T:
    """Run a generator, and those that it yields, to its result.

    Example:
        >>> def total(n):
        ...     return n + (yield total(n - 1)) if n else 0
        >>> run_trampoline(total(10_000))
        50005000
    """
    pending: list[Steps[Any]] = [steps]
    value: Any = None
    while pending:
        try:
            inner = pending[-1].send(value)
        except StopIteration as end:
            pending.pop()
            value = end.value
        else:
            pending.append(inner)
            value = None
    return value
