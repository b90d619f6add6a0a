"""Reports as somebody opens them, in a Chromium without a window: they fit, open at once and keep nobody out."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

import symgrad as sg
from tests.apps.web.browser import AXE, Browser, browser_path

PATH = browser_path()
pytestmark = pytest.mark.skipif(PATH is None, reason="there is no Chromium")

NOISY = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)"
WRONG = "# A slip\n\n```symgrad\nx : real\ny = x*sin(3*x)\ndy/dx = sin(3*x) + x*cos(3*x)\n```\n"
PAGES: dict[str, Callable[[], str]] = {
    "derivation": lambda: sg.explain(NOISY, "x").html(),
    "audit": lambda: sg.audit(NOISY, "x").html(),
    "refuted": lambda: sg.verify("x : real\ny = x*sin(3*x)", "x", "sin(3*x) + x*cos(3*x)").html(),
    "findings": lambda: sg.lint(NOISY).html(),
    "review": lambda: sg.review(WRONG).html(),
    "kernel": lambda: sg.compile(sg.parse("x : real\ny = (1 - cos(x))/x**2")["y"]).report().html(),
    "graph": lambda: sg.explain(NOISY, "x").graph(x=2.0, u=1.05).html(),
    "graph with long equations": lambda: (
        sg.parse("a : real\ny = exp(sin(a)) + a + sin(a) + cos(a) + tan(a) + a**2 + a**3 + a**4 + a**5")["y"]
        .graph(a=1.0)
        .html()
    ),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    assert PATH is not None
    found = Browser(PATH, tmp_path_factory.mktemp("browser"))
    try:
        yield found
    finally:
        found.close()


@pytest.mark.parametrize("name", PAGES)
def test_it_fits_is_quiet_and_keeps_nobody_out(browser: Browser, name: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(PAGES[name](), encoding="utf-8")
    for width in (390, 1280):
        for dark in (False, True):
            page = browser.page(path.as_uri(), width, dark=dark)
            assert page.value("document.documentElement.scrollWidth") <= width
            assert not browser.complaints()
            if AXE is not None:
                page.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
                assert page.barriers() == []
            browser.close_pages()


MEETING = """
(() => {
  const svg = document.querySelector("figure svg, .picture svg"), page = svg.getBoundingClientRect();
  const boxes = Array.from(svg.querySelectorAll("text"), (t) => [t.textContent, t.getBoundingClientRect()]);
  const out = boxes.filter(([, b]) => b.left < page.left || b.right > page.right).map(([text]) => text);
  const met = boxes.flatMap(([one, a], k) => boxes.slice(k + 1)
    .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1)
    .map(([two]) => one + " and " + two));
  return [boxes.length, out, met];
})()
"""


@pytest.mark.parametrize("domain", ["real", "positive"])
def test_labels_of_a_plot_neither_meet_nor_leave_it(browser: Browser, domain: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    kernel = sg.compile(sg.parse(f"x : {domain}\ny = (1 - cos(x))/x**2")["y"])
    path.write_text(kernel.report().html(), encoding="utf-8")
    count, *trouble = browser.page(path.as_uri()).value(MEETING)
    browser.close_pages()
    assert count > 8
    assert trouble == [[], []]


@pytest.mark.parametrize(("program", "fits"), [("x : real\ny = sin(x**2)*exp(-x)", True), (NOISY, False)])
def test_a_picture_that_can_be_read_so_is_as_wide_as_a_phone(
    browser: Browser, program: str, fits: bool, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(sg.explain(program, "x").html(), encoding="utf-8")
    page = browser.page(path.as_uri(), 390)
    box = "Array.from(document.querySelectorAll('.picture')).at(-1)"  # the graph
    assert page.value(f"{box}.scrollWidth <= {box}.clientWidth") == fits
    browser.close_pages()


OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def test_one_of_300_equations_opens_within_a_second(browser: Browser, tmp_path: Path) -> None:
    lines = ["x : real", "u ~ Uniform(0.9, 1.1)", "a0 = x*u"]
    lines += [f"a{i} = sin(a{i - 1})*x + {i}" for i in range(1, 101)]
    path = tmp_path / "report.html"
    path.write_text(sg.explain("\n".join(lines), "x").html(), encoding="utf-8")
    took: list[float] = []
    for _ in range(3):  # of a machine that does other things, too, the quickest
        page = browser.page(path.as_uri())
        page.until(f"{OPENED} > 0")
        took.append(page.value(OPENED))
        browser.close_pages()
    assert min(took) < 1000.0
