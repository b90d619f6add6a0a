"""A report: a title and blocks, with a method for each form of output."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from symgrad.support.errors import UsageError

if TYPE_CHECKING:
    from symgrad.report.blocks import Block

FORMS = ("text", "markdown", "latex", "html", "json")
"""The forms of a report."""

_ENDINGS = {
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
}


def form_of_path(path: str | Path) -> str | None:
    """Return the form of output for the ending of a file name; None for an unknown ending.

    Example:
        >>> form_of_path("audit.html"), form_of_path("audit")
        ('html', None)
    """
    return _ENDINGS.get(Path(path).suffix.lower())


def called(path: str, *args: Any) -> Any:
    """Call a function by its path ``"module:name"``.

    Used if the function's package itself depends on the caller's package.
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)(*args)


@dataclass(frozen=True, slots=True)
class Report:
    r"""The content of an answer: a title and blocks, to be written as text, Markdown, LaTeX, HTML or JSON.

    Args:
        title: the subject.
        blocks: headings, paragraphs, formulas, steps, tables, pictures, code, findings and banners, in their order.

    Example:
        >>> import symgrad as sg
        >>> r = sg.explain("x : real\ny = sin(x)", "x").report()
        >>> r.title
        'y, differentiated by x'
        >>> r.html().startswith("<!DOCTYPE html>")
        True
    """

    title: str
    blocks: tuple[Block, ...]

    def text(self, width: int = 100) -> str:
        """Return the report as plain text.

        Args:
            width: the columns of a line of prose; formulas and code are never broken.
        """
        return called("symgrad.report.writers.text:report_text", self, width)

    def markdown(self) -> str:
        """Return the report as Markdown, with formulas between dollars."""
        return called("symgrad.report.writers.markdown:report_markdown", self)

    def latex(self) -> str:
        """Return the report as a LaTeX document, for any TeX engine."""
        return called("symgrad.report.writers.latex:report_latex", self)

    def html(self) -> str:
        """Return the report as one HTML page: without script and network, for light and dark, for phones and print."""
        return called("symgrad.report.writers.html:report_html", self)

    def fragment(self) -> str:
        """Return the report as a part of an HTML page, for notebooks."""
        return called("symgrad.report.writers.html:report_fragment", self)

    def json(self) -> dict[str, Any]:
        """Return the report as a dictionary of plain values, with attribute names as keys.

        `report_schema` is its schema.
        """
        return called("symgrad.report.writers.plain:report_json", self)

    def written(self, form: str) -> str:
        """Return the report in one of its forms of output.

        Args:
            form: ``"text"``, ``"markdown"``, ``"latex"``, ``"html"`` or ``"json"``.

        Raises:
            UsageError: if there is no such form.
        """
        writers: dict[str, Callable[[], str]] = {
            "text": self.text,
            "markdown": self.markdown,
            "latex": self.latex,
            "html": self.html,
            "json": lambda: json.dumps(self.json(), indent=2, ensure_ascii=False) + "\n",
        }
        if form not in writers:
            raise UsageError(f"a report is not written as {form!r}", expected=", ".join(writers))
        return writers[form]()

    def save(self, path: str | Path) -> None:
        """Write the report to a file; the ending of the name determines the form: .txt, .md, .tex, .html or .json.

        Args:
            path: the path of the file.

        Raises:
            UsageError: if the name has another ending.
            FileError: if the file cannot be written.
        """
        from symgrad.support.files import write_atomically  # a late import, for a quick start

        form = form_of_path(path)
        if form is None:
            raise UsageError(
                f"'{Path(path).name}' does not say how to write a report",
                expected=f"a name that ends in {', '.join(_ENDINGS)}",
            )
        write_atomically(Path(path), self.written(form).encode())

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Report: {self.title}, {len(self.blocks)} blocks>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return _mimebundle(self.text(), self)


class Reported:
    """Base class of answers that have a report, with their pages and notebook display.

    Attributes:
        told_by: the function that makes the report, as ``"module:name"``. The module of this function imports the
            answers, so it is imported only on demand, by its name, like the public names in
            `symgrad.support.public_names`.
    """

    __slots__ = ()
    told_by: ClassVar[str]

    def __dir__(self) -> list[str]:
        """Leave internal names out of completion."""
        names = (n for n in super().__dir__() if n != "told_by")
        return [n for n in names if "(internal)" not in (getattr(type(self), n, None).__doc__ or "")]

    def report(self) -> Report:
        """Return the content as a report, which can be written as text, Markdown, LaTeX, HTML or JSON."""
        return called(self.told_by, self)

    def html(self) -> str:
        """Return the report as one page of HTML that needs no network."""
        return self.report().html()

    def markdown(self) -> str:
        """Return the report as Markdown."""
        return self.report().markdown()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return _mimebundle(str(self), self.report())


def _mimebundle(text: str, report: Report) -> dict[str, str]:
    """Return the display data for notebooks: they prefer HTML, and use LaTeX in print."""
    latex = called("symgrad.report.writers.latex:latex_fragment", report)
    return {"text/plain": text, "text/html": report.fragment(), "text/latex": latex}
