"""Join texts into phrases."""

from __future__ import annotations

from collections.abc import Sequence


def join_texts(texts: Sequence[str], most: int = 3) -> str:
    """Join texts into a phrase: "a", "a and b", "a, b and c", "a, b, c and 4 more"."""
    if len(texts) > most:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    if len(texts) <= 1:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"
