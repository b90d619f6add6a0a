"""Derivatives of higher order as people type them, d^2f/dx^2 and ∂²f/∂x∂y, in one word above and one below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class _TypedQuotient(NamedTuple):
    """A word that stands for some characters."""

    start: int
    end: int
    word: str


_POWER = r"(?:\s*(?:\^|\*\*)\s*\{?\s*([2-9])(?:\s*\})?|([2-9²³]))"
_ABOVE = re.compile(rf"(?<![\w.])([d∂]){_POWER}[ ]*([^\W\d²³](?:(?![²³])\w)*)?(?=\s*/)")
_OPENS = re.compile(r"\s*/\s*")
_ONE = re.compile(
    r"[d∂]([^\W\d²³](?:(?![²³])\w)*?)(?:\s*(?:\^|\*\*)\s*\{?\s*([2-9])(?:\s*\})?|([2-9²³]))?(?![\w²³])"
)
_TWO = re.compile(r"[d∂]([^\W\d_])(?:(?:\^|\*\*)\{?([2-9])\}?|([2-9²³]))?\s*\*?\s*(?=[d∂]|\)|$|\W)")
_DIGITS = {"²": "2", "³": "3"}


def typed_quotients(text: str) -> Iterator[_TypedQuotient]:
    """Yield what stands above and below in derivatives of higher order, each as one word.

    Args:
        text: a formula.

    Example:
        >>> [q.word for q in typed_quotients("d^2f/dx^2 + d2f/(dx dy) + ∂²f/∂x∂y")]
        ['d2f', 'dx2', 'd2f', 'dxdy', '∂2f', '∂xdy']
    """
    for above in _ABOVE.finditer(text):
        sign, order = above[1], _DIGITS.get(above[2] or above[3], above[2] or above[3])
        opens = _OPENS.match(text, above.end())
        assert opens is not None
        below = _below(text, opens.end(), int(order))
        if below is not None:
            yield _TypedQuotient(above.start(), above.end(), f"{sign}{order}{above[4] or ''}")
            yield below._replace(word=sign + below.word[1:])


def _below(text: str, start: int, order: int) -> _TypedQuotient | None:
    """Return by what a derivative of an order is; None where that does not fit."""
    one = _ONE.match(text, start)
    if one is not None and int(_digit(one[2] or one[3])) == order:
        return _TypedQuotient(start, one.end(), f"d{one[1]}{order}")
    bracketed = text.startswith("(", start)
    at, word, left = start + bracketed, "", order
    while left > 0 and (match := _TWO.match(text, at)) is not None:
        digit = _digit(match[2] or match[3])
        word += f"d{match[1]}{'' if digit == '1' else digit}"
        left -= int(digit)
        end, at = at + len(match[0].rstrip(" *")), match.end()
        if left == 0 and (not bracketed or text.startswith(")", at)):
            return _TypedQuotient(start, at + 1 if bracketed else end, word)
    return None


def _digit(found: str | None) -> str:
    return "1" if found is None else _DIGITS.get(found, found)
