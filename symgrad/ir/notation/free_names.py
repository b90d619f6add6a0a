"""Names that are not taken."""

from __future__ import annotations

import keyword
from collections.abc import Iterable


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken: the name itself, or with underscores appended.

    Args:
        name: the name.
        taken: other names; Python's keywords are taken, too.

    Example:
        >>> free_name("y_bar", {"y", "y_bar"}), free_name("lambda", ())
        ('y_bar_', 'lambda_')
    """
    names = set(taken)
    while name in names or keyword.iskeyword(name):
        name += "_"
    return name
