"""Names are made of words that stand in a list: tools/names.txt."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

_PLAIN = 2_500
"""Words without a meaning, at most: those of the day on which the list began. A new word has one."""


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parents[1] / "tools" / "names.py"))


@pytest.fixture(scope="module")
def found(names: dict[str, Any]) -> Counter[str]:
    return names["words"]()


def test_every_word_of_a_name_is_in_the_list(names: dict[str, Any], found: Counter[str]) -> None:
    """A new word gets a line in tools/names.txt that says what it means."""
    meanings, plain, avoided = names["listed"]()
    assert sorted(set(found) - set(meanings) - plain - set(avoided)) == []


def test_words_without_a_meaning_become_no_more(names: dict[str, Any]) -> None:
    meanings, plain, _ = names["listed"]()
    assert len(plain) <= _PLAIN
    assert all(len(meaning) > 5 for meaning in meanings.values())


def test_no_new_name_has_a_word_to_avoid(names: dict[str, Any], found: Counter[str]) -> None:
    """Participles as nouns say nothing: a name is a noun of the field, or a verb."""
    _, _, avoided = names["listed"]()
    assert {word: n for word, n in found.items() if n > avoided.get(word, n)} == {}
    assert {word for word, n in avoided.items() if found[word] < n} == set(), "lower the count"
