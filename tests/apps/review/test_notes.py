"""What a review says beside each line, as a record and on a page: tones, spans, and the first step that is wrong."""

from __future__ import annotations

import pytest

import symgrad as sg
from symgrad.apps.review.report import review_report
from symgrad.report.blocks import Document, LineNote


def _notes(text: str) -> dict[int, LineNote]:
    (document,) = (b for b in review_report(sg.review(text)).blocks if isinstance(b, Document))
    return {note.line: note for note in document.notes}


@pytest.mark.parametrize(
    ("line", "tone"),
    [
        ("df/dx = 2*x", "good"),
        ("df/dx = x + x = 2*x", "good"),
        ("df/dx = 3*x", "bad"),
        ("df/dx = 2*x = 3*x", "bad"),
        ("df/dx = 2*x + ?", "open"),
        ("g = x**3", "plain"),
    ],
)
def test_a_line_has_the_tone_of_its_steps(line: str, tone: str) -> None:
    notes = _notes(f"f = x**2\n{line}\n")
    assert notes[1].tone == "plain"
    assert notes[2].tone == tone


def test_what_is_refuted_is_marked_where_it_stands() -> None:
    text = "f = x**2\ndf/dx = 2*x = 3*x = 4*x\n"
    note = _notes(text)[2]
    line = text.splitlines()[1]
    assert [line[a:b] for a, b in note.spans] == ["3*x", "4*x"]
    assert _notes("f = x**2\ndf/dx = 2*x\n")[2].spans == ()


def test_the_first_wrong_step_is_the_first_that_is_refuted() -> None:
    r = sg.review("f = x**2\ndf/dx = 2*x\ng = x**3\ndg/dx = x\ndf/dx = 7\n")
    assert r.first_wrong is not None
    assert (r.first_wrong.line, r.first_wrong.status) == (4, "refuted")
    assert sg.review("f = x**2\ndf/dx = 2*x\n").first_wrong is None
    assert sg.review("f = x**2\n").first_wrong is None


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (
            "f = sqrt(w**2)\nw : positive\nf = w",
            "proved",
        ),  # what is declared later is meant of what stands above
        ("f = sqrt(w**2)\nw : real\nf = w", "refuted"),
        ("f = abs(x)\ndf/dx = 1 for x > 0", "proved"),
        ("f = abs(x)\ndf/dx = 1 for x < 0", "refuted"),
        ("f = abs(x)\ndf/dx = 1", "refuted"),
        ("f = x*y\nd2f/dxdy = 1", "proved"),
        ("f = x**2*y\nf_xy = 2*x", "proved"),
        ("f = x**2*y\nf_x = 2*x*y", "proved"),
        ("f = x**2*y\nf_x = 2*x", "refuted"),
        ("f = e^x\ndf/dx = e^x", "proved"),
        ("f = e^(2x)\ndf/dx = 2e^(2x)", "proved"),
        ("f = 2 x y\ndf/dx = 2y", "proved"),
    ],
)
def test_each_line_is_judged_as_it_is_meant(text: str, status: str) -> None:
    assert [s.status for s in sg.review(text).steps if s.status is not None][-1] == status


def test_a_declaration_that_comes_late_does_not_reach_beyond_its_name() -> None:
    r = sg.review("f = sqrt(w**2) + sqrt(v**2)\nw : positive\nf = w + v\nf = w + abs(v)\n")
    assert [s.status for s in r.steps if s.status is not None] == ["refuted", "proved"]
