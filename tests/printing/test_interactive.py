"""Graphs that one looks into: what the boxes tell, and what the script does with them in a browser."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import MissingInputError, UsageError
from symgrad.printing.pictures.interactive import Graph

NOISY = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)"
SPACE = "{http://www.w3.org/2000/svg}"


def told(graph: Graph, name: str) -> dict[str, str]:
    """What a box tells below its equation."""
    return dict(line.split(": ", 1) for line in graph.notes[name].splitlines()[1:])


def test_boxes_tell_values_and_gradients() -> None:
    p = sg.parse(NOISY)
    graph = p["z"].graph(x=2.0, u=1.05)
    assert told(graph, "z") == {"value": "2.04939", "gradient": "1"}
    slope = float(sg.grad(p["z"], "y")(x=2.0, u=1.05))
    assert told(graph, "y") == {"value": "4", "gradient": f"{slope:.6g}"}
    assert told(graph, "u") == {"value": "1.05", "gradient": "0 (stopped)"}
    assert graph.notes["z"].startswith("z = sqrt(stop_gradient(y*u - y) + y)\n")


def test_arrays_tell_their_shape_and_first_entries() -> None:
    p = sg.parse("X : real[n, d]; w : real[d]\nr = X@w\nloss = sum(r**2)")
    values = {"X": np.arange(8.0).reshape(2, 4), "w": np.ones(4)}
    graph = p["loss"].graph(values)
    assert told(graph, "X")["value"] == "(2, 4): 0, 1, 2, 3, 4, 5, ..."
    assert told(graph, "r") == {"value": "(2,): 6, 22", "gradient": "(2,): 12, 44"}
    # The formula of an array has no gradient.
    assert "gradient" not in p["r"].graph(values).notes["w"]


def test_whole_numbers_and_conditions_have_no_gradient() -> None:
    graph = sg.parse("k : int\nx : real\ny = where(k > 2, x, 1/x)")["y"].graph(k=3, x=2.0)
    assert told(graph, "k > 2") == {"value": "True"}
    assert told(graph, "1/x") == {"value": "0.5", "gradient": "0"}


def test_without_a_point_boxes_tell_equations() -> None:
    graph = sg.parse(NOISY)["z"].graph()
    assert graph.notes["y"] == "y = x**2"
    # What reads no input has its value anywhere.
    assert told(sg.parse("2 + 3*pi").last.graph(), "2 + 3*pi") == {"value": "11.4248", "gradient": "1"}


def test_of_a_large_graph_a_part_is_drawn() -> None:
    lines = ["x : real", "h0 = x", *(f"h{k + 1} = sin(h{k}*x + {k})" for k in range(150))]
    graph = sg.parse("\n".join(lines))["h150"].graph(x=1.0)
    assert len(graph.notes) == graph.svg().count("<title>") - 1 == 200
    assert "200 of" in graph.svg()


def test_a_derivation_points_out_the_noise() -> None:
    graph = sg.explain(NOISY, "x").graph(x=2.0, u=1.05)
    assert "path of the noise" in graph.svg()
    assert graph.notes == sg.parse(NOISY)["z"].graph(x=2.0, u=1.05).notes


def test_a_value_that_is_missing_is_told() -> None:
    with pytest.raises(MissingInputError, match="no value for u"):
        sg.parse(NOISY)["z"].graph(x=2.0)


def test_the_picture_is_xml_and_every_text_is_escaped() -> None:
    x = sg.symbols("x")
    graph = Graph("</title><script>alert(1)</script>", sg.sin(x).graph(x=1.0).svg(), {})
    assert "<script>alert" not in graph.html()
    svg = sg.parse("x : real\ny = where(x < 1, x, 2)")["y"].graph().svg()
    root = ElementTree.fromstring(svg)
    titles = [g.findtext(f"{SPACE}title") for g in root.iter(f"{SPACE}g") if g.get("class") == "node"]
    assert "x < 1" in titles
    assert "x &lt; 1" in svg
    assert not list(root.iter(f"{SPACE}script"))


def test_it_is_saved_as_a_page_or_a_picture(tmp_path: Path) -> None:
    graph = sg.parse(NOISY)["z"].graph(x=2.0, u=1.0)
    graph.save(tmp_path / "z.svg")
    graph.save(tmp_path / "z.html")
    ElementTree.parse(tmp_path / "z.svg")
    page = (tmp_path / "z.html").read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in page
    with pytest.raises(UsageError, match="does not say how to write"):
        graph.save(tmp_path / "z.png")
    assert set(graph._repr_mimebundle_()) == {"text/plain", "text/html", "image/svg+xml"}


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

# Folds y*u - y, asks what is told there, unfolds it by a key, and says what was seen.
_PLAY = """
<script>
var box = function (text) {
  return Array.from(document.querySelectorAll("g.node")).find(function (g) {
    return g.getAttribute("aria-label").split("\\n")[0] === text;
  });
};
var seen = function () {
  var all = Array.from(document.querySelectorAll("g.node"));
  return all.filter(function (g) { return g.style.display !== "none"; }).length;
};
var said = [seen()];
var it = box("stop_gradient(y*u - y)");
it.dispatchEvent(new MouseEvent("click", { bubbles: true }));
said.push(seen(), it.getAttribute("aria-expanded"), box("x : real").style.display === "none");
it.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
said.push(seen());
it.dispatchEvent(new FocusEvent("focus"));
said.push(document.querySelector(".told").textContent.split("\\n")[1]);
document.title = "said: " + JSON.stringify(said);
</script>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_boxes_fold_and_tell_in_a_browser(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    page = sg.parse(NOISY)["z"].graph(x=2.0, u=1.05).html()
    (tmp_path / "graph.html").write_text(page.replace("</body>", f"{_PLAY}</body>"), encoding="utf-8")
    done = subprocess.run(
        [
            *(
                CHROMIUM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={tmp_path / 'profile'}",
            ),
            *("--virtual-time-budget=3000", "--dump-dom", (tmp_path / "graph.html").as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found = re.search(r"<title>said: (.*?)</title>", done.stdout)
    assert found is not None, done.stderr[-2000:]
    assert done.stdout.count('tabindex="0"') == 9  # the boxes, and what scrolls
    # Of 8 boxes y*u - y, y*u and u go: x and y are read elsewhere.
    assert html.unescape(found[1]) == '[8,5,"false",false,8,"value: 0.2"]'
