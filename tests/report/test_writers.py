"""Reports in every form: what is said is in each of them, and nothing that is said is read as markup."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt

from symgrad.errors import UsageError
from symgrad.report.blocks import (
    Banner,
    Block,
    Code,
    Column,
    Document,
    Figure,
    FindingBlock,
    Heading,
    Items,
    LineNote,
    Literal,
    MathLines,
    Maths,
    Paragraph,
    StepItem,
    Steps,
    Table,
    prose,
    ticked,
)
from symgrad.report.report import FORMS, Report, form_of_path
from symgrad.report.writers.drawing import safe_svg
from symgrad.report.writers.plain import report_schema

HALF = Maths("x/2", r"\frac{x}{2}")


def every_block(text: str) -> tuple[Block, ...]:
    """One of each block, in which everything is a text."""
    words = prose(text, HALF, Literal(text))
    broken = Maths(text, text)
    return (
        Banner(text, "bad", words),
        Heading(text),
        Paragraph(words),
        Paragraph(words, soft=True),
        Heading(text, 2),
        MathLines((HALF, Maths("y = 1", "y &= 1")), text),
        MathLines((broken,), text),
        Items((words, words)),
        Steps(
            text, (StepItem(text, broken, words, (Items((words,)),), (StepItem(text, HALF),)), StepItem(text))
        ),
        Steps(text, (StepItem(text, HALF, words),), folded=True, left=3),
        Table(text, (Column(text), Column(text, number=True)), ((words, words), (words, prose(broken)))),
        Figure('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0 L1 1"/></svg>', text, text),
        Code(text, text, text),
        Document(text, (LineNote(1, text, "bad", ((0, 2),), (text,)),), text),
        FindingBlock(words, "warn", text, text.replace("\n", " "), 0, 3, (words,)),
    )


def report(text: str) -> Report:
    return Report(text, every_block(text))


class Page(HTMLParser):
    """Which tags a page has, with their attributes; and that they are balanced."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style></script><script>alert(1)</script>",
    "<!--<svg onload=alert(1)>",
    "&lt;script&gt;&#60;b&#62;",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "![x](http://example.org/x.png)",
    "<http://example.org>",
    "`</code><script>alert(1)</script>`",
    "``` \n<script>alert(1)</script>\n```",
    "# heading\n- list\n> quote\n| a | b |\n|---|---|",
    "$$\\href{javascript:alert(1)}{x}$$",
    "\\input{/etc/passwd}",
    "\\write18{touch /tmp/x}\\immediate",
    "}\\end{document}\\input{/etc/passwd}",
    "\\catcode`\\^^M=13 ^^5cinput",
    "\\begin{verbatim}\\end{verbatim}",
    "100% $ & # _ { } ~ ^ \\",
    "\x1b[31mred\x1b]8;;http://x\x07",
    "\x00\x08\u202e\u2028",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "<math><annotation-xml encoding='text/html'><script>alert(1)</script></annotation-xml></math>",
    "x" * 3000,
    "",
]

# fmt: off
TAGS = frozenset((
    "html", "head", "meta", "title", "style", "body", "main", "div", "h1", "h2", "h3", "h4", "h5", "h6", "p",
    "ul", "ol", "li", "details", "summary", "pre", "code", "span", "strong", "mark", "table", "caption",
    "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "desc", "path", "rect", "circle",
    "polygon", "text", "g", "math", "semantics", "annotation", "mrow", "mi", "mn", "mo", "mtext", "mspace",
    "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr",
    "mtd",
))
# fmt: on


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_is_markup_in_a_page(text: str) -> None:
    quiet, page = Page(report("quiet").html()), Page(report(text).html())
    assert {tag for tag, _ in page.tags} <= TAGS
    for tag, attributes in page.tags:
        assert not [
            name
            for name in attributes
            if name.startswith("on") or name in ("href", "src", "srcdoc", "action")
        ], tag
    # A text changes no tag, but in formulas that are none it stands as code; what is empty may be left out.
    if text and "\n" not in text:
        assert [t for t, _ in page.tags if t in ("script", "img", "iframe", "a", "style")] == [
            t for t, _ in quiet.tags if t in ("script", "img", "iframe", "a", "style")
        ]
    Page(report(text).fragment())


def shown_markdown(found: Report) -> str:
    """A report's Markdown as a renderer shows it that passes HTML on and knows no formulas."""
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(found.markdown())


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_is_markup_in_markdown(text: str) -> None:
    page = Page(shown_markdown(report(text)))
    tags = {tag for tag, _ in page.tags}
    assert tags <= {
        *(
            "h1",
            "h2",
            "h3",
            "p",
            "strong",
            "em",
            "ul",
            "ol",
            "li",
            "code",
            "pre",
            "blockquote",
            "table",
            "thead",
        ),
        *("tbody", "tr", "th", "td", "br"),
    }
    if text.strip() and text.isprintable():
        assert text in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_steers_a_terminal(text: str) -> None:
    shown = report(text).text()
    assert all(c.isprintable() or c == "\n" for c in shown)


# What a document of LaTeX may hold: the commands of its head and of formulas.
# fmt: off
_ALLOWED = frozenset((
    "documentclass", "usepackage", "definecolor", "setlength", "parindent", "parskip", "baselineskip",
    "emergencystretch", "newcommand", "fitted", "sbox", "ifdim", "wd", "linewidth", "resizebox", "usebox",
    "else", "fi", "shown", "par", "smallskip", "hspace", "displaystyle", "banner", "medskip", "color", "rule",
    "textbf", "begin", "end", "section", "subsection", "subsubsection", "frac", "texttt", "item", "small",
    "ttfamily", "raggedright", "noindent", "enspace", "hline", "emph", "textbackslash", "textasciicircum",
    "textasciitilde", "textless", "textgreater", "textbar", "textquotedbl", "textasciigrave", "textquotesingle",
    "ensuremath", "ldots",
))
# fmt: on


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_is_a_command_in_latex(text: str) -> None:
    document = report(text).latex()
    assert set(re.findall(r"\\([a-zA-Z]+)", document)) <= _ALLOWED
    assert document.count(r"\end{document}") == 1
    assert "^^" not in document


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX")
def test_documents_of_latex_compile(tmp_path: Path) -> None:
    for k, text in enumerate(t for t in HOSTILE if len(t) < 100):
        path = tmp_path / f"r{k}.tex"
        path.write_text(report(text or "nothing").latex(), encoding="utf-8")
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", path.name],
            cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (text, done.stdout[-800:])


@pytest.mark.parametrize("text", HOSTILE)
def test_json_fits_its_schema(text: str) -> None:
    jsonschema.Draft202012Validator.check_schema(report_schema())
    found = json.loads(json.dumps(report(text).json()))
    jsonschema.Draft202012Validator(report_schema()).validate(found)
    assert found["title"] == text


def test_the_schema_refuses_what_is_no_report() -> None:
    validator = jsonschema.Draft202012Validator(report_schema())
    found = report("x").json()
    assert validator.is_valid(found)
    assert not validator.is_valid({**found, "more": 1})
    assert not validator.is_valid({**found, "blocks": [{"block": "Script", "text": "x"}]})
    assert not validator.is_valid({**found, "blocks": [{"block": "Heading", "text": "x"}]})


def test_what_is_said_is_in_every_form() -> None:
    r = Report("Audit", (Banner("u enters", "warn", ticked("it reads `z`")), MathLines((HALF,))))
    for form in FORMS:
        written = r.written(form)
        assert "u enters" in written, form
        assert "it reads" in written, form
    assert "$$\n\\frac{x}{2}\n$$" in r.markdown()
    assert "  x/2" in r.text().splitlines()
    with pytest.raises(UsageError, match="not written as 'pdf'"):
        r.written("pdf")


def test_a_file_has_the_form_that_its_name_says(tmp_path: Path) -> None:
    r = report("x")
    for ending, start in (
        (".html", "<!DOCTYPE html>"),
        (".md", "# x"),
        (".tex", r"\documentclass"),
        (".txt", "x\n"),
        (".json", "{"),
    ):
        path = tmp_path / f"r{ending}"
        r.save(path)
        assert path.read_text(encoding="utf-8").startswith(start)
    with pytest.raises(UsageError, match="does not say how"):
        r.save(tmp_path / "r.pdf")
    assert form_of_path("R.HTML") == "html"


def test_a_page_needs_nothing_and_tells_its_parts() -> None:
    page = Page(report("x").html())
    by_tag: dict[str, list[dict[str, str | None]]] = {}
    for tag, attributes in page.tags:
        by_tag.setdefault(tag, []).append(attributes)
    assert by_tag["html"] == [{"lang": "en"}]
    assert len(by_tag["title"]) == 2  # of the page, and of the picture
    assert all("scope" in a for a in by_tag["th"])
    assert all(a.get("role") == "img" and a.get("aria-label") for a in by_tag["svg"])
    levels = [int(t[1]) for t, _ in page.tags if re.fullmatch("h[1-6]", t)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert levels.count(1) == 1


def test_paper_unfolds_and_phones_scroll_in_boxes() -> None:
    page = report("x").html()
    assert "@media print" in page
    assert "details::details-content" in page
    assert "color-scheme: light dark" in page
    assert "light-dark(#1b1f24, #e6e9ee)" in page
    wide = [a for t, a in Page(page).tags if t == "div" and "scroll" in (a.get("class") or "")]
    assert wide
    assert all(a.get("tabindex") == "0" and a.get("aria-label") for a in wide)


@pytest.mark.parametrize(
    "svg",
    [
        "<svg><script>alert(1)</script></svg>",
        '<svg onload="alert(1)"><path onclick="x" d="M0 0"/></svg>',
        '<svg><a href="javascript:alert(1)"><text>x</text></a></svg>',
        "<svg><foreignObject><body/></foreignObject></svg>",
        '<svg><path fill="url(http://example.org)" style="background:url(x)"/></svg>',
        '<svg><use href="#x"/><image href="http://example.org/x.png"/></svg>',
        '<svg><animate attributeName="href" values="javascript:alert(1)"/></svg>',
        '<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>',
        "<html><script>alert(1)</script></html>",
        "<svg><style>@import 'http://example.org'</style></svg>",
        "<svg",
        "",
    ],
)
def test_of_a_picture_only_what_draws_is_kept(svg: str) -> None:
    kept = safe_svg(svg, "t", "d")
    for part in (
        "script",
        "onload",
        "onclick",
        "href",
        "http",
        "foreignObject",
        "style",
        "animate",
        "aaaa",
        "url(",
    ):
        assert part not in kept
