"""docs/errors.md shows every error class with a program that raises it and a cure; test_snippets runs them."""

from __future__ import annotations

import re

import pytest

from symgrad import errors
from tests.docs.markdown import ROOT, blocks

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0].strip(): part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
# A base is raised through its subclasses alone, and nobody can write a program that breaks symgrad's own promises.
BASES = {"SymgradError", "EvaluationError", "InternalError"}


def test_every_class_has_a_section() -> None:
    assert set(SECTIONS) == set(errors.__all__)


@pytest.mark.parametrize("name", sorted(set(errors.__all__) - BASES))
def test_section_shows_error_and_cure(name: str) -> None:
    section = SECTIONS.get(name, "")
    programs = [block for block in blocks(section) if block.language == "python"]
    raising = [block for block in programs if f"symgrad.errors.{name}:" in block.text]
    assert raising, f"no program that raises {name}"
    after_cure = section.partition("Cure: ")[2]
    assert [line for line in after_cure.splitlines() if line.startswith((">>> ", "```python"))]
