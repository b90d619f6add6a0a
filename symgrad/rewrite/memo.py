"""Cache the results of passes over graphs.

`print`, `explain` and `compile` run the same passes on one gradient, so the results are cached in one weak table. A
result lives as long as an object that registers its own dictionary (`keeping`) while the pass runs, such as a
derivative. Nodes hold no results, because a result refers to its nodes, and neither would be freed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from symgrad.ir.graph import Node

_ANSWERS = 256
"""Number of the latest results that one object holds: explaining a gradient computes some hundred results, and uses few
of them again."""

Answers: TypeAlias = "dict[Hashable, Any]"
"""Results by their keys."""

T = TypeVar("T")

_answers: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
_keeper: ContextVar[Answers | None] = ContextVar("keeper", default=None)


@contextmanager
def keeping(answers: Answers) -> Generator[None, None, None]:
    """Keep the results of passes within the block in a dictionary."""
    outer = _keeper.set(answers)
    try:
        yield
    finally:
        _keeper.reset(outer)


def remembered(nodes: Sequence[Node], question: Hashable, find: Callable[[], T]) -> T:
    """Return the result of a pass over nodes, from the cache if possible.

    Args:
        nodes: the nodes.
        question: the pass, and the options that its result depends on.
        find: computes the result, which must allow weak references, and must not be changed.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> x = symbol(Declaration("x"))
        >>> mine = {}
        >>> with keeping(mine):
        ...     found = [remembered([x], "names", lambda: print("looking") or {n.name for n in [x]}) for _ in "ab"]
        looking
        >>> found, len(mine)
        ([{'x'}, {'x'}], 1)
    """
    key = (question, *nodes)
    found = _answers.get(key)
    if found is None:
        found = _answers.setdefault(key, find())  # another thread may have computed the result first
    held = _keeper.get()
    if held is not None and key not in held:
        held[key] = found
        for oldest in list(held)[:-_ANSWERS]:
            held.pop(oldest, None)  # another thread may have changed the table
    return found
