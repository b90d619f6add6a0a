"""The parts of names in typeset formulas: a letter and its subscripts. Names with equal parts look alike."""

from __future__ import annotations

import re
import unicodedata

_DIGITS = re.compile(r"(.*?\D)(\d+)")


def name_parts(name: str, *, spell: bool = True) -> tuple[str, ...]:
    """Return the letter of a name, then its subscripts.

    Args:
        name: the name.
        spell: whether to spell Greek letters out.

    Example:
        >>> name_parts("w12"), name_parts("z_inner"), name_parts("α_1")
        (('w', '12'), ('z', 'inner'), ('alpha', '1'))
    """
    head, *rest = [part for part in name.split("_") if part] or ["_"]
    digits = _DIGITS.fullmatch(head)
    parts = (digits[1], digits[2], *rest) if digits else (head, *rest)
    return tuple(letter_name(part) or part for part in parts) if spell else parts


def letter_name(letter: str) -> str | None:
    """Return the name of a Greek letter; None for any other text.

    Example:
        >>> letter_name("λ"), letter_name("Ω"), letter_name("a")
        ('lambda', 'Omega', None)
    """
    words = unicodedata.name(letter, "").replace("LAMDA", "LAMBDA").split() if len(letter) == 1 else []
    if len(words) != 4 or words[0] != "GREEK" or words[2] != "LETTER":
        return None
    return words[3].lower() if words[1] == "SMALL" else words[3].capitalize()
