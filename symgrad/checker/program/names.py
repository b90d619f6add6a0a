"""Valid names, and text of a proof file for a terminal: characters that could mislead a reader are escaped."""

from __future__ import annotations

import re
import unicodedata
from keyword import iskeyword

from symgrad.checker.limits import NAME_LETTERS

_CONSTANTS = frozenset({"pi", "π"})
_LETTERS_AND_DIGITS = re.compile(
    r"[^\W\d][\w\u0300-\u036f]*"
)  # identifiers of newer Unicode versions may contain joiners
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Nd", "No"})
_BLANK = frozenset("\u115f\u1160\u3164\uffa0")  # letters that are invisible
_FORWARD = frozenset({"L", "EN", "ES", "ET", "CS", "ON", "WS"})


def is_name(text: str) -> bool:
    r"""Tell whether the notation of programs can declare a name.

    Example:
        >>> [is_name(t) for t in ("x", "x_1", "σ", "5", "pi", "lambda", "__x", "x\n", "x" * 2000)]
        [True, True, True, False, False, False, False, False, False]
    """
    if len(text) > NAME_LETTERS or not (text.isidentifier() and _LETTERS_AND_DIGITS.fullmatch(text)):
        return False
    if unicodedata.normalize("NFKC", text) != text:
        return False
    return not (iskeyword(text) or text.startswith("__") or text in _CONSTANTS)


def terminal_text(text: str, most: int | None = None) -> str:
    r"""Return a text for a terminal, with escapes for control, invisible and right-to-left characters.

    Args:
        text: any text of a file.
        most: the number of characters after which the text is truncated with dots.

    Example:
        >>> print(*map(terminal_text, ["x\x1b[2J", "a\u202eb", "\u05d0", "σ²"]), terminal_text("aaaa", 2))
        x\x1b[2J a\u202eb \u05d0 σ² aa...
    """
    cut = text if most is None or len(text) <= most else text[:most]
    # This is the fast path for nearly all text.
    plain = cut if cut.isascii() and cut.isprintable() else "".join(map(_character, cut))
    return plain if cut is text else f"{plain}..."


def _character(c: str) -> str:
    if " " <= c <= "~":
        return c
    kind = unicodedata.category(c)
    visible = (kind in _LETTERS or kind[0] in "SP") and c not in _BLANK
    if visible and unicodedata.bidirectional(c) in _FORWARD:
        return c
    return c.encode("unicode_escape").decode("ascii")
