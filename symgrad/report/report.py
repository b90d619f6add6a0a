"""A report: a title and blocks, with a method for each form."""

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
    """Return the form for the ending of a file name; None for an unknown ending.

    Example:
        >>> form_of_path("audit.html"), form_of_path("audit")
        ('html', None)
    """
    return _ENDINGS.get(Path(path).suffix.lower())


def called(path: str, *args: Any) -> Any:
    """Call a function by its path ``"module:name"``; used for functions of packages that depend on the caller's."""
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
        """Return it as plain text.

        Args:
            width: columns of a line of prose; formulas and code are never broken.
        """
        return called("symgrad.report.writers.text:report_text", self, width)

    def markdown(self) -> str:
        """Return it as Markdown, with formulas between dollars."""
        return called("symgrad.report.writers.markdown:report_markdown", self)

    def latex(self) -> str:
        """Return it as a LaTeX document, for any engine."""
        return called("symgrad.report.writers.latex:report_latex", self)

    def html(self) -> str:
        """Return it as one HTML page: no script, no network, light and dark, readable on a phone and in print."""
        return called("symgrad.report.writers.html:report_html", self)

    def fragment(self) -> str:
        """Return it as a part of an HTML page, as notebooks show it."""
        return called("symgrad.report.writers.html:report_fragment", self)

    def json(self) -> dict[str, Any]:
        """Return it as a dictionary of plain values, keyed by attribute names; `report_schema` is its schema."""
        return called("symgrad.report.writers.plain:report_json", self)

    def written(self, form: str) -> str:
        """Return it in one of its forms.

        Args:
            form: ``"text"``, ``"markdown"``, ``"latex"``, ``"html"`` or ``"json"``.

        Raises:
            UsageError: for another form.
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
        """Write it to a file, in the form of the file name's ending: .txt, .md, .tex, .html or .json.

        Args:
            path: the file.

        Raises:
            UsageError: for another ending.
            FileError: if it cannot be written.
        """
        from symgrad.support.files import write_atomically  # saves start-up time

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
        told_by: the function that makes the report, as ``"module:name"``. It depends on the answers, so that it is
            imported by name on demand, like the public names in `symgrad.support.public_names`.
    """

    __slots__ = ()
    told_by: ClassVar[str]

    def __dir__(self) -> list[str]:
        """Omit internal names from completion."""
        names = (n for n in super().__dir__() if n != "told_by")
        return [n for n in names if "(internal)" not in (getattr(type(self), n, None).__doc__ or "")]

    def report(self) -> Report:
        """Return its content as a report, which can be written as text, Markdown, LaTeX, HTML or JSON."""
        return called(self.told_by, self)

    def html(self) -> str:
        """Return its report as one page of HTML that needs no network."""
        return self.report().html()

    def markdown(self) -> str:
        """Return its report as Markdown."""
        return self.report().markdown()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return _mimebundle(str(self), self.report())


def _mimebundle(text: str, report: Report) -> dict[str, str]:
    """Return the display data for notebooks: they prefer HTML, and use LaTeX in print."""
    latex = called("symgrad.report.writers.latex:latex_fragment", report)
    return {"text/plain": text, "text/html": report.fragment(), "text/latex": latex}
