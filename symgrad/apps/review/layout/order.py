"""The order in which statements are read: a name that is explained behind its use is defined before it."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.apps.review.layout.statements import ChainText


def order_definitions(
    order: Sequence[int], late: Sequence[tuple[int, int]], found: Sequence[ChainText]
) -> list[int]:
    r"""Return an order in which definitions stand before the statements that use their names.

    Args:
        order: of statements so far.
        late: for each definition that stands too late, the statement that first reads its name, and it.
        found: all statements, in the order of the document.

    Example:
        >>> from symgrad.apps.review.layout.passages import passages
        >>> from symgrad.apps.review.layout.statements import statements
        >>> page = "L = p**2\nL = p*p\np = w*x"
        >>> order_definitions(range(3), [(0, 2)], list(statements(page, passages(page, "text"))))
        [2, 0, 1]
    """
    ordered = list(order)
    for use, definition in late:
        to = ordered.index(use)
        while to and found[ordered[to]].continues:
            to -= 1
        at = ordered.index(definition)
        if at < to:
            continue
        end = at + 1
        while end < len(ordered) and found[ordered[end]].continues:
            end += 1
        between, group = ordered[to:at], ordered[at:end]
        declared = [k for k in between if any(r.kind == "declare" for r in found[k].relations)]
        ordered[to:end] = [*declared, *group, *(k for k in between if k not in declared)]
    return ordered
