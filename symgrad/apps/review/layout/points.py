"""Points and times that words give: at (3, 4), after 2 seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = r"[-+−]?\s*(?:\d+(?:\.\d+)?(?:\s*/\s*\d+)?|\\frac\s*\{?\d+\}?\s*\{?\d+\}?)"
_POINT = (
    rf"\b(?:(?:at|in|through|for)\s+(?:the\s+|this\s+|our\s+)?(?:point\s+)?|point\s+)[A-Z]?\s*\$?\s*(?:\\left)?\(\s*(?P<values>{_NUMBER}"
    rf"(?:\s*,\s*{_NUMBER})+)\s*(?:\\right)?\)\s*\$?"
)
_BEFORE = re.compile(rf"{_POINT}[^.;()=\n]*$", re.IGNORECASE)
_BEHIND = re.compile(rf"[\s,$]*{_POINT}", re.IGNORECASE)
_WORDS = "one two three four five six seven eight nine ten"
_COUNTS = {word: str(k) for k, word in enumerate(_WORDS.split(), 1)}
_TIME = re.compile(
    rf"\b(?:after|at time|at|in)\s+(?:exactly\s+|about\s+)?(?P<value>\d+(?:\.\d+)?|{'|'.join(_COUNTS)})\s*\$?\s*"
    r"(?:seconds?|secs?|s|minutes?|mins?|hours?|h|days?|weeks?|months?|years?)\b[^.;=\n]*$",
    re.IGNORECASE,
)


def point_near(before: str, behind: str) -> Sequence[str]:
    """Return the coordinates of the point that words beside an equation give; none for none.

    Args:
        before: the text before the equation.
        behind: the text behind it, up to the end of its line.

    Example:
        >>> point_near("At the point (3, -4), ", ""), point_near("", " at (1/2, 2)."), point_near("(3, 4) ", "")
        (['3', '-4'], ['1/2', '2'], [])
    >>> point_near("", ", point P(3, 4)")
    ['3', '4']
    """
    match = _BEFORE.search(before) or _BEHIND.match(behind)
    return [] if match is None else [v.replace(" ", "") for v in match["values"].split(",")]


def time_near(before: str) -> str | None:
    """Return the number of units of time after which words before an equation say that it holds; None for none.

    Example:
        >>> time_near("After 2 seconds the speed is "), time_near("after one hour, "), time_near("after 2 steps ")
        ('2', '1', None)
    """
    match = _TIME.search(before)
    return None if match is None else _COUNTS.get(match["value"].lower(), match["value"])
