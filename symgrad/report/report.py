"""A report: a title and blocks, and the forms it can be written in."""

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

__all__ = ["FORMS", "Report", "Reported", "called", "form_of_path"]

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
    """Return the form that the ending of a file's name stands for; None for one that stands for none.

    Example:
        >>> form_of_path("audit.html"), form_of_path("audit")
        ('html', None)
    """
    return _ENDINGS.get(Path(path).suffix.lower())


def called(path: str, *given: Any) -> Any:
    """Return what a function gives that stands above what calls it, and so is known by its name alone."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)(*given)


@dataclass(frozen=True, slots=True)
class Report:
    r"""What an answer says: a title and blocks, to be written as text, Markdown, LaTeX, HTML or JSON.

    Args:
        title: what it is about.
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
        """Return it as a document of LaTeX, for any of its engines."""
        return called("symgrad.report.writers.latex:report_latex", self)

    def html(self) -> str:
        """Return it as one page of HTML: no script, no network, light and dark, to be read on a phone or printed."""
        return called("symgrad.report.writers.html:report_html", self)

    def fragment(self) -> str:
        """Return it as a part of a page of HTML, as notebooks show it."""
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
        """Write it into a file, in the form that the ending of its name says: .txt, .md, .tex, .html or .json.

        Args:
            path: the file.

        Raises:
            UsageError: for another ending.
            FileError: if it cannot be written.
        """
        from symgrad.support.files import (
            write_atomically,  # for start-up time: every answer could be saved, few are
        )

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
        return _shown(self.text(), self)


class Reported:
    """What has a report: of it come its pages, and how notebooks show it.

    Attributes:
        told_by: the function that makes it, as ``"module:name"``. It reads answers, and so stands above them: it is
            known by its name alone, as what is public is in `symgrad.support.public_names`.
    """

    __slots__ = ()
    told_by: ClassVar[str]

    def __dir__(self) -> list[str]:
        """Leave out what is internal: completion is for users."""
        names = (n for n in super().__dir__() if n != "told_by")
        return [n for n in names if "(internal)" not in (getattr(type(self), n, None).__doc__ or "")]

    def report(self) -> Report:
        """Return what it says as a report, which can be written as text, Markdown, LaTeX, HTML or JSON."""
        return called(self.told_by, self)

    def html(self) -> str:
        """Return its report as one page of HTML that needs no network."""
        return self.report().html()

    def markdown(self) -> str:
        """Return its report as Markdown."""
        return self.report().markdown()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return _shown(str(self), self.report())


def _shown(text: str, report: Report) -> dict[str, str]:
    """Return what notebooks show, by kind: they take HTML where they can, and LaTeX where they are printed."""
    latex = called("symgrad.report.writers.latex:latex_fragment", report)
    return {"text/plain": text, "text/html": report.fragment(), "text/latex": latex}
