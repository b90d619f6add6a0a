"""Graphs laid out by Graphviz, where it is installed, and by symgrad where it is not."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import symgrad as sg
from symgrad.printing.pictures.graphviz import place_by_dot

BOXES = ([80.0, 120.0, 60.0], [30.0, 40.0, 30.0], [(0, 1), (0, 2), (1, 2)])

# What `dot -Tplain` writes, by a program of the test's own: a place in inches for each box, an edge as its curve.
STAND_IN = """#!/bin/sh
cat > asked.txt
cat <<'END'
graph 1 4 5
node 0 1 4.5 1.1 0.4 "" solid box black lightgrey
node 1 2 2.5 1.6 0.5 "" solid box black lightgrey
node 2 1 0.5 0.8 0.4 "" solid box black lightgrey
edge 0 1 4 1 4.3 1 4 2 3 2 2.75 solid black
edge 0 2 4 1 4.3 1 3 1 1 1 0.7 solid black
edge 1 2 4 2 2.25 2 2 1 1 1 0.7 solid black
stop
END
"""


def dot_is(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    program = folder / "bin" / "dot"
    program.parent.mkdir()
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(program.parent), os.environ["PATH"]]))
    monkeypatch.chdir(folder)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script of a shell")
def test_places_are_those_that_dot_gives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dot_is(monkeypatch, tmp_path, STAND_IN)
    found = place_by_dot(*BOXES)
    assert found is not None
    assert found.centres == ((72.0, 36.0), (144.0, 180.0), (72.0, 324.0))
    assert (found.width, found.height) == (288.0, 360.0)
    assert found.routes[0].points[0] == pytest.approx((72.0, 50.4))
    assert "0 -> 1;" in (tmp_path / "asked.txt").read_text()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script of a shell")
@pytest.mark.parametrize(
    "script", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho node 0 a b\n", "#!/bin/sh\necho graph 1 1 1\n"]
)
def test_a_dot_that_fails_is_no_loss(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    ours = _report_without_dot(monkeypatch)
    dot_is(monkeypatch, tmp_path, script)
    assert place_by_dot(*BOXES) is None
    assert _report() == ours


def test_a_program_in_the_folder_is_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dot_is(monkeypatch, tmp_path, "#!/bin/sh\ntouch ran\n")
    monkeypatch.chdir(tmp_path / "bin")
    assert place_by_dot(*BOXES) is None
    assert not (tmp_path / "bin" / "ran").exists()


@pytest.mark.skipif(shutil.which("dot") is None, reason="there is no Graphviz")
def test_boxes_do_not_overlap_and_edges_lead_down() -> None:
    found = place_by_dot(*BOXES)
    assert found is not None
    widths, heights, edges = BOXES
    for a in range(3):
        for b in range(a):
            (xa, ya), (xb, yb) = found.centres[a], found.centres[b]
            assert abs(xa - xb) > (widths[a] + widths[b]) / 2 or abs(ya - yb) > (heights[a] + heights[b]) / 2
    for (source, target), route in zip(edges, found.routes, strict=True):
        assert route.points[0] == pytest.approx(
            (found.centres[source][0], found.centres[source][1] + heights[source] / 2), abs=1
        )
        assert route.points[-1] == pytest.approx(
            (found.centres[target][0], found.centres[target][1] - heights[target] / 2), abs=1
        )
    assert re.search(r'class="edge" d="M[\d. ]+ C ', _report())


def _report() -> str:
    p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)")
    return sg.explain(p["z"], "x").report().html()


def _report_without_dot(monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as without:
        without.setenv("PATH", "")
        return _report()
