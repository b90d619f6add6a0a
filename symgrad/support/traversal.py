"""Iterative traversals of graphs: preorder, postorder, and the operands of a nested operation.

The function ``descend`` returns the children of a vertex, so that a traversal may stop anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
U = TypeVar("U")


def walk(roots: Iterable[T], descend: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """Yield the vertices reachable from roots in preorder, each once: depth first, from left to right.

    Args:
        roots: the first vertices.
        descend: a function that returns the children of a vertex; the traversal calls it after yielding the vertex.

    Example:
        >>> list(walk([12], lambda n: [d for d in (2, 3) if n % d == 0 and d < n]))
        [12, 2, 3]
    """
    seen: set[T] = set()
    pending = list(roots)[::-1]
    while pending:
        top = pending.pop()
        if top not in seen:
            seen.add(top)
            yield top
            pending += list(descend(top))[::-1]


def postorder(
    roots: Iterable[T], descend: Callable[[T], Iterable[T]], *, until: Collection[T] = ()
) -> list[T]:
    """Return the vertices reachable from roots in postorder, each once, from left to right.

    Args:
        roots: the first vertices.
        descend: a function that returns the children of a vertex.
        until: vertices to skip, such as those of an earlier call; the traversal does not pass through them.

    Example:
        >>> postorder([12], lambda n: [n // d for d in (2, 3) if n % d == 0])
        [1, 3, 2, 6, 4, 12]
    """
    order: list[T] = []
    entered: set[T] = set()
    for root in roots:
        if root in entered or root in until:
            continue
        entered.add(root)
        path = [(root, iter(descend(root)))]
        while path:
            top, rest = path[-1]
            for child in rest:
                if child not in entered and child not in until:
                    entered.add(child)
                    path.append((child, iter(descend(child))))
                    break
            else:
                order.append(top)
                path.pop()
    return order


def leaves(root: U, descend: Callable[[U], Iterable[U] | None]) -> list[U]:
    """Flatten a nested operation: return its operands from left to right, with repetitions.

    Args:
        root: the operation.
        descend: a function that returns the operands of an operation, or None for an operand.

    Example:
        >>> leaves((1, (2, (1, 3))), lambda n: n if isinstance(n, tuple) else None)
        [1, 2, 1, 3]
    """
    found: list[U] = []
    pending = [root]
    while pending:
        top = pending.pop()
        inner = descend(top)
        if inner is None:
            found.append(top)
        else:
            pending += list(inner)[::-1]
    return found
