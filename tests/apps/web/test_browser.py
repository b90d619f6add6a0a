"""The page as somebody uses it, in a Chromium without a window."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.web.browser import AXE, Browser, Page, browser_path
from tests.apps.web.serving import Address

pytest.importorskip("starlette")
PATH = browser_path()
pytestmark = pytest.mark.skipif(PATH is None, reason="there is no Chromium")

NOISE = "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nz = sqrt(stop_gradient(y*u - y) + y)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    assert PATH is not None
    found = Browser(PATH, tmp_path_factory.mktemp("browser"))
    try:
        yield found
    finally:
        found.close()


@pytest.fixture(autouse=True)
def closed(browser: Browser) -> Generator[None]:
    """Close the pages of a test, in which scripts raised nothing, and the policy refused nothing."""
    yield
    browser.close_pages()
    complaints = browser.complaints()
    browser.events.clear()
    assert complaints == []


def opened(browser: Browser, page: Address, fragment: str = "", **how: Any) -> Page:
    found = browser.page(f"http://{page[0]}:{page[1]}/{fragment}", **how)
    answered(found)
    found.value("document.getElementById('options').open = true")
    return found


def answered(page: Page) -> None:
    page.until("/^answered/.test(document.getElementById('status').textContent)")
    page.until("!document.querySelector('.old')")


def asked(page: Page, **fields: str) -> None:
    """Type into fields, and wait for the answer."""
    page.value("document.getElementById('status').textContent = 'typing'")
    for name, text in fields.items():
        page.type(f"#{name}", text)
    answered(page)


def chosen(page: Page, title: str) -> None:
    """Press the button of an example, and wait for the answer."""
    page.value("document.getElementById('status').textContent = 'typing'")
    page.value(f"[...document.querySelectorAll('.chip')].find(c => c.textContent === {title!r}).click()")
    answered(page)


def test_it_opens_on_calculus_with_five_chips(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    assert shown.value("document.querySelectorAll('.chip').length") == 5
    assert "x**2*cos(x) + 2*x*sin(x)" in shown.text("#part-gradient")
    empty = ["review", "claim", "noise", "moments"]
    assert (
        shown.value(f"{empty}.map(n => document.getElementById('part-' + n).checkVisibility())")
        == [False] * 4
    )
    assert not shown.value("document.getElementById('part-assembly').checkVisibility()")


def test_a_derivation_with_a_slip_shows_its_verdict_first(browser: Browser, page: Address) -> None:
    shown = opened(browser, page, width=390)
    chosen(shown, "A derivation with a slip")
    assert shown.text("#part-review mark") == "sin(3x) + x cos(3x)"
    assert shown.value("document.querySelectorAll('#part-review .finding.bad').length") == 1
    tops = (
        "['review', 'understood'].map(n => document.getElementById('part-' + n).getBoundingClientRect().top)"
    )
    review, understood = shown.value(tops)
    assert review < understood
    assert not shown.value("document.getElementById('part-plot').checkVisibility()")
    asked(shown, program="x**2")
    assert not shown.value("document.getElementById('part-review').checkVisibility()")


DROP = r"""
(() => {
  const dataTransfer = new DataTransfer();
  const text = "Let $f(x) = x^2$. % $f(x) = 1$\nThen $f'(x) = 3x$.";
  dataTransfer.items.add(new File([text], "a.tex"));
  document.getElementById("program").dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
})()
"""


def test_a_file_is_dropped(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    shown.value("document.getElementById('status').textContent = 'typing'")
    shown.value(DROP)
    answered(shown)
    assert shown.text("#part-review mark") == "3x"
    assert shown.value("document.querySelectorAll('#part-review .finding').length") == 1


def test_a_plot_is_read_and_moved(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    asked(shown, program="a*x^2", wrt="x")
    shown.value("document.getElementById('status').textContent = 'typing'")
    shown.type("#values input", "3")
    answered(shown)
    shown.value(
        "(() => { const svg = document.querySelector('.plot svg'), box = svg.getBoundingClientRect();"
        "svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.right, clientY: box.top + 9})) })()"
    )
    assert shown.text(".here") == "x = 3,  f = 27,  df/dx = 18"
    shown.value("document.getElementById('status').textContent = 'typing'")
    shown.value("document.getElementById('zoom-in').click()")
    answered(shown)
    assert shown.value("document.getElementById('range').value") == "-1.5, 1.5"


def test_a_wrong_gradient_is_refuted_with_its_point_and_a_right_one_proved(
    browser: Browser, page: Address
) -> None:
    shown = opened(browser, page)
    asked(shown, program="x : real\ny = x*sin(3*x)", of="", wrt="x", claim="sin(3*x) + x*cos(3*x)")
    verdict = shown.text("#part-claim")
    assert "refuted" in verdict
    assert "A point at which it fails" in verdict
    assert shown.value("document.querySelectorAll('#part-claim .banner.bad').length") == 1
    assert shown.value("document.querySelectorAll('#part-claim math').length") > 0
    assert "forgot-inner-derivative" in verdict
    asked(shown, claim="sin(3*x) + 3*x*cos(3*x)")
    assert "proved" in shown.text("#part-claim")
    assert "dy/dx = 3*x*cos(3*x) + sin(3*x)" in shown.text("#part-gradient")
    asked(shown, claim=r"\frac{dy}{dx} = \sin 3x + 3x\cos 3x")
    assert "proved" in shown.text("#part-claim")
    asked(shown, claim="dy/dx = sin(3*x")
    assert "the claim, line 1, column 12" in shown.text("#part-claim")
    asked(shown, claim="")
    assert shown.value("document.getElementById('part-claim').hidden")


def test_noise_is_shown_with_its_path(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    asked(shown, program=NOISE, wrt="x")
    assert "u enters the gradient" in shown.text("#part-noise")
    assert "<- u" in shown.text("#part-noise")
    assert shown.value("document.querySelectorAll('#part-plot .curve').length") == 2


def test_an_example_is_typed_over(browser: Browser, page: Address) -> None:
    """What was found: the example's input stayed in its field, and was missed in every part of the answer."""
    shown = opened(browser, page)
    chosen(shown, "A loss with noise")
    asked(shown, program="sin(t)*exp(t)")
    shown.until("document.getElementById('wrt').value === ''")
    shown.until("document.getElementById('part-gradient').textContent.includes('cos(t)*exp(t)')")
    answered(shown)
    assert shown.value("document.getElementById('trouble').hidden")
    asked(shown, wrt="x")
    assert shown.text("#trouble").startswith("in the field “by”: 'x' is not")
    assert shown.value("[...document.querySelectorAll('.part .error')].length") == 0
    assert shown.value("document.getElementById('wrt').value") == "x"


def test_a_link_opens_what_was_typed(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    asked(shown, program="a, b : positive\nf = a**b", wrt="b", claim="f*log(a)")
    shown.value("document.querySelector('#part-latex summary').click()")
    shown.until("document.querySelector('#part-latex pre')")
    shown.until("location.hash.length > 20")
    link = shown.value("location.hash")
    again = opened(browser, page, link)
    fields = "['program', 'wrt', 'claim'].map(n => document.getElementById(n).value)"
    assert again.value(fields) == ["a, b : positive\nf = a**b", "b", "f*log(a)"]
    assert again.value("document.getElementById('part-latex').open")
    for part in ("gradient", "claim", "latex", "derivation"):
        assert again.text(f"#part-{part}") == shown.text(f"#part-{part}")


@pytest.mark.parametrize(
    "fragment",
    ["#1AAAA", "#1" + "A" * 3000, "#x", "#1%00", "#" + "1" * 70_000, "#__proto__", "#1qlYqzy_KSVGyUqoFAA"],
)
def test_a_link_that_is_none_opens_an_example(browser: Browser, page: Address, fragment: str) -> None:
    assert "d/dx f = " in opened(browser, page, fragment).text("#part-gradient")


BOMB = """
(async () => {
  const { packed, unpacked } = await import("./link.js");
  const fine = await unpacked("#" + await packed({ program: "<b>\\u{1f600}" }));
  const far = await packed({ program: "x".repeat(60000) });
  const bomb = "1" + far.slice(1); // a small link that unpacks to much
  const raw = new Blob(["[" + "0,".repeat(2000000) + "0]"]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(raw).arrayBuffer());
  const text = "1" + btoa(Array.from(bytes, b => String.fromCharCode(b)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_");
  return [fine.program, bomb.length < 1000, text.length < 20000, await unpacked("#" + text)];
})()
"""


def test_a_small_link_that_unpacks_to_much_is_none(browser: Browser, page: Address) -> None:
    assert opened(browser, page).value(BOMB) == ["<b>\U0001f600", True, True, None]


def test_an_error_is_said_below_the_program(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    asked(shown, program="x : real\ny = x +* 2")
    assert "line 2, column 8" in shown.text("#trouble")
    assert shown.value("document.getElementById('program').getAttribute('aria-invalid')") == "true"
    asked(shown, program="x : real\ny = x + 2")
    assert shown.value("document.getElementById('trouble').hidden")


def test_markup_stays_text(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    markup = "<img src=x onerror=window.hit=1><script>window.hit=1</script>"
    asked(shown, program=f"x : real # {markup}\ny = where(x < 1, x, x**2)", claim=f"x # {markup}", of="")
    asked(shown, program=markup, wrt=markup)
    assert shown.value("window.hit ?? 0") == 0
    script = """
      (async () => {
        const { shown } = await import("./show.js");
        const bad = '<img src=x onerror="window.hit=1"><svg><script>window.hit=1</scr' +
          'ipt><a href="javascript:1">x</a><path d="M0 0" onload="window.hit=1"/></svg>' +
          '<iframe src="/"></iframe><p style="color:red" onclick="1">text</p>';
        const [made] = shown([{ kind: "html", html: bad }, { kind: "constructor" }, { kind: "__proto__" }]);
        document.body.append(made);
        return made.innerHTML;
      })()
    """
    assert shown.value(script) == '<svg><path d="M0 0"></path></svg><p>text</p>'
    assert shown.value("window.hit ?? 0") == 0
    refused = browser.complaints()  # before they are taken out, the policy refuses them, too
    assert all("Content Security Policy" in said for said in refused)
    browser.events.clear()


def test_keys_alone_reach_everything(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    reached: set[str] = set()
    for _ in range(60):
        shown.press("Tab", 9)
        reached.add(
            shown.value("document.activeElement.id || document.activeElement.textContent.slice(0, 30)")
        )
    for name in (
        "example",
        "program",
        "of",
        "wrt",
        "claim",
        "copy-link",
        "Graph",
        "LaTeX",
        "Source code",
        "range",
    ):
        assert name in reached, name


def test_the_last_question_wins(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    shown.value("document.getElementById('program').value = ''")
    shown.type("#wrt", "")
    for k in range(2, 9):
        shown.type("#program", f"x**{k}")
    asked(shown, program="x**9")
    assert "d/dx f = 9*x**8" in shown.text("#part-gradient")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
class TestEveryScreen:
    def everything(self, browser: Browser, page: Address, width: int, dark: bool) -> Page:
        shown = opened(browser, page, width=width, dark=dark)
        asked(shown, program=NOISE, wrt="x", claim="2*x")
        for part in ("graph", "latex", "source", "assembly", "moments"):
            shown.value(f"document.querySelector('#part-{part} summary').click()")
        shown.until(
            "document.querySelector('#part-assembly td') && document.querySelector('#part-graph svg')"
        )
        return shown

    def test_it_fits(self, browser: Browser, page: Address, width: int, dark: bool, tmp_path: Path) -> None:
        shown = self.everything(browser, page, width, dark)
        assert shown.value("document.documentElement.scrollWidth") <= width
        shown.screenshot(tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 10_000

    @pytest.mark.skipif(AXE is None, reason="SYMGRAD_AXE does not say where axe-core is: make access")
    def test_it_keeps_nobody_out(self, browser: Browser, page: Address, width: int, dark: bool) -> None:
        assert self.everything(browser, page, width, dark).barriers() == []


@pytest.mark.skipif(AXE is None, reason="SYMGRAD_AXE does not say where axe-core is: make access")
def test_axe_finds_what_keeps_people_out(browser: Browser, page: Address) -> None:
    shown = opened(browser, page)
    shown.value("document.querySelectorAll('label').forEach(label => label.remove())")
    assert "label" in [rule for _, rule, _ in shown.barriers()]
