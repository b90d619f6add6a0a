"""The list of modules has each one with the purpose that its docstring states."""

from __future__ import annotations

from tests.docs.markdown import ROOT
from tools.module_index import PACKAGE, listing, modules, purpose


def test_every_module_is_listed_once_with_its_purpose() -> None:
    found = list(modules(PACKAGE))
    assert sorted(found) == sorted(PACKAGE.rglob("*.py"))
    assert [path.relative_to(ROOT).as_posix() for path in found if not purpose(path)] == []
    assert len([line for line in listing([PACKAGE]).splitlines() if line]) == len(found)


def test_a_part_is_listed_below_its_package() -> None:
    text = listing([PACKAGE / "checker"])
    assert text.startswith("symgrad/checker/: ")
    assert "\n  check.py: " in text
