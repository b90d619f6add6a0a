"""Formulas as papers write them are read as they are meant, or refused with a message that says what to do."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from tests.frontend.latex.table import Row, rows

TOPICS = ("learning", "statistics", "physics", "matrices", "calculus")
READ = [row for topic in TOPICS for row in rows(topic)]
REFUSED = rows("refused")


def meant(row: Row) -> sg.Expr:
    """Return what a row says that its formula means."""
    if row.declarations is None:
        return sg.parse(row.meaning).last
    return sg.parse(f"{row.declarations}\n{row.meaning}").last


def test_the_table_is_as_long_as_promised() -> None:
    assert len(READ) + len(REFUSED) >= 300
    assert len(REFUSED) >= 60
    assert len({(row.latex, row.declarations) for row in READ + REFUSED}) == len(READ) + len(REFUSED)


@pytest.mark.parametrize("row", READ, ids=lambda row: row.latex)
def test_read_as_meant(row: Row) -> None:
    found = sg.read_latex(row.latex, row.declarations).expr
    wanted = meant(row)
    assert found.shape == wanted.shape
    if found.node is wanted.node:
        return
    verdict = sg.equal(found, wanted)
    assert verdict.status in ("proved", "supported"), f"{found}  is not  {wanted}: {verdict}"


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.latex)
def test_refused_with_a_message(row: Row) -> None:
    with pytest.raises(SymgradError) as caught:
        sg.parse_latex(row.latex, row.declarations)
    said = str(caught.value)
    for words in row.meaning.split(";"):
        assert words.strip() in said
    assert caught.value.cure, said
    assert caught.value.at is not None or not row.latex, said
