"""Documents drawn with their truth: no right line is wrong, and no wrong line is proved."""

from __future__ import annotations

import random

import pytest

import symgrad as sg
from tests.apps.review.documents import drawn_document


@pytest.mark.parametrize("first", range(0, 300, 20))
def test_nothing_false_is_said_of_drawn_documents(first: int) -> None:
    right = proved = 0
    for seed in range(first, first + 20):
        document = drawn_document(random.Random(f"documents {seed}"))
        steps = sg.review(document.text).steps
        for line, is_right in document.truth.items():
            found = {s.status for s in steps if s.line == line}
            assert ("refuted" if is_right else "proved") not in found, (seed, line, document.text)
            right += is_right
            proved += is_right and "proved" in found
    assert proved >= 0.8 * right
