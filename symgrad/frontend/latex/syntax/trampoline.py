"""Functions that call each other to any depth without Python's stack: generators that yield the calls they wait for."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Steps: TypeAlias = Generator[Any, Any, T]
"""A function that returns a T: a generator that yields calls, which are generators of the same kind, and receives their
results."""


def run_trampoline(steps: Steps[T]) -> T:
    """Run a generator, and the generators that it yields, to the result.

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
