"""An index of known names suggests what looking at all of them does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from symgrad.ir.listing import Suggestions, suggest

NAMES = st.text("abcxXy1_", min_size=1, max_size=15)


@st.composite
def slipped(draw: st.DrawFn) -> tuple[list[str], str]:
    """Names, and one of them with slips of the pen."""
    known = draw(st.lists(NAMES, min_size=1, max_size=12))
    letters = list(draw(st.sampled_from(known)))
    for _ in range(draw(st.integers(0, 4))):
        k = draw(st.integers(0, len(letters)))
        slip = draw(st.sampled_from(["left out", "added", "turned around", "doubled"]))
        if slip == "added":
            letters.insert(k, draw(st.sampled_from("abcxXy1_")))
        elif k < len(letters):
            if slip == "left out":
                del letters[k]
            elif slip == "doubled":
                letters.insert(k, letters[k])
            else:
                letters[k : k + 2] = letters[k : k + 2][::-1]
    return known, "".join(letters)


@given(slipped())
def test_the_index_finds_what_a_search_finds(case: tuple[list[str], str]) -> None:
    known, name = case
    assert Suggestions(known).suggest(name) == suggest(name, known)


@given(st.lists(NAMES), NAMES)
def test_and_nothing_where_it_finds_nothing(known: list[str], name: str) -> None:
    assert Suggestions(known).suggest(name) == suggest(name, known)
