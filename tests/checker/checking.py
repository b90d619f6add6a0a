"""Asking the checker about files that may be no proofs."""

from __future__ import annotations

from symgrad.checker.check import check
from symgrad.errors import UsageError

__all__ = ["answer"]


def answer(data) -> str:
    """What the checker says; "refused" if the file has not the structure of a proof."""
    try:
        return check(data).status
    except UsageError:
        return "refused"
