"""The table of docs/frameworks.md says what works where: every cell is tried."""

from __future__ import annotations

import re
import warnings

import pytest

from tests.docs.markdown import ROOT
from tests.frameworks.cells import COLUMNS, NOT_TRIED, ROWS, row

PAGE = ROOT / "docs" / "frameworks.md"
TABLE = re.compile(r"(?<=<!-- cells -->\n).*?(?=\n<!-- end of cells -->)", re.DOTALL)


def told() -> dict[str, list[str]]:
    """The rows of the table in the page, by their titles."""
    found = TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines()]
    return {line[0]: line[1:] for line in lines[2:]}


def test_the_table_has_a_row_for_each_form() -> None:
    assert list(told()) == list(ROWS)
    assert all(len(cells) == len(COLUMNS) for cells in told().values())


@pytest.mark.parametrize("title", ROWS, ids=lambda title: re.sub(r"\W+", "-", title).strip("-"))
def test_cells(title: str, request: pytest.FixtureRequest) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of frameworks, about themselves
        found = row(title)
    if request.config.getoption("--update-golden"):
        cells = told()
        cells[title] = found or cells.get(title) or [NOT_TRIED] * len(COLUMNS)
        write({t: cells.get(t, [NOT_TRIED] * len(COLUMNS)) for t in ROWS})
    if found is None:
        pytest.skip("it is not made yet, or its framework is not installed")
    assert told()[title] == found, "--update-golden rewrites the table"


def write(cells: dict[str, list[str]]) -> None:
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    lines += [f"| {title} | " + " | ".join(texts) + " |" for title, texts in cells.items()]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda _: "\n".join(lines), text), encoding="utf-8", newline="\n")
