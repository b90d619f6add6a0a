"""Names that nothing has."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

__all__ = ["free_name"]


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that nothing has: the one given, or with underscores behind it.

    Args:
        name: the name.
        taken: names that others have; Python's own words are taken, too.

    Example:
        >>> free_name("y_bar", {"y", "y_bar"}), free_name("lambda", ())
        ('y_bar_', 'lambda_')
    """
    names = set(taken)
    while name in names or keyword.iskeyword(name):
        name += "_"
    return name
