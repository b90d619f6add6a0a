"""What was found out about a graph, remembered as long as somebody holds it.

A pass that is asked again about the same nodes, as `print`, `explain` and `compile` ask about one gradient, answers
what it answered before. There is one weak table of answers. Whoever asks for something that lives, such as a
derivative, says so (`keeping`), and what is answered meanwhile lives as long. Nodes hold no answers: what they are made
of would else be held by what is made of it, and nothing be freed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from symgrad.ir.graph import Node

__all__ = ["Answers", "keeping", "remembered"]

_ANSWERS = 256
"""Held for one thing, the last: explaining a gradient asks for some hundred, of which few are asked for again."""

Answers: TypeAlias = "dict[Hashable, Any]"
"""Answers by what was asked."""

T = TypeVar("T")

_answers: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
_keeper: ContextVar[Answers | None] = ContextVar("keeper", default=None)


@contextmanager
def keeping(answers: Answers) -> Generator[None, None, None]:
    """Hold in a dictionary what passes answer within the block."""
    outer = _keeper.set(answers)
    try:
        yield
    finally:
        _keeper.reset(outer)


def remembered(nodes: Sequence[Node], question: Hashable, find: Callable[[], T]) -> T:
    """Return what a pass finds about nodes: not looked for again while the answer is held.

    Args:
        nodes: what is asked about.
        question: which pass asks, and what else its answer depends on.
        find: looks for the answer, which can be referred to weakly, and which nobody may change.

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
        found = _answers.setdefault(key, find())  # another thread may have been first
    held = _keeper.get()
    if held is not None and key not in held:
        held[key] = found
        for oldest in list(held)[:-_ANSWERS]:
            held.pop(oldest, None)  # another thread may have been here
    return found
