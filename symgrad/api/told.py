"""Formulas that are shown together: in the names of their program, with one set of new ones."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.expr import Expr

__all__ = ["together"]


def together(exprs: Sequence[Expr]) -> tuple[list[str], list[str]]:
    """Return the texts of expressions, and the lines below that say what new names in them stand for.

    Derivatives of one program are in its names where that is shorter; what else there is stands as it does by itself.
    """
    plain = [e.plain_text() for e in exprs]
    places = [k for k, e in enumerate(exprs) if e.slope is not None]
    listings = {id(p): p for e in exprs for p in e.listings}
    if not places or len(listings) != 1:
        return plain, []
    from symgrad.words.said import said

    (listing,) = listings.values()
    found = said(listing, [exprs[k].slope for k in places])  # pyright: ignore[reportArgumentType]
    if found is None or len(found) >= sum(len(plain[k]) for k in places):
        return plain, []
    titles = found.text([""] * len(places)).split("\n")
    for k, text in zip(places, titles, strict=False):
        plain[k] = text
    return plain, titles[len(places) :]
