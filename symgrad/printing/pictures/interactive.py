"""Embed pictures of graphs in pages: their boxes show values and fold, by means of SVG and one small script."""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from symgrad.report.writers.drawing import picture_class, portable_picture
from symgrad.report.writers.style import PAGE, PART
from symgrad.support.errors import UsageError
from symgrad.support.files import write_atomically

_OWN = """
.sg-graph .node { cursor: default; }
.sg-graph .node[aria-expanded] { cursor: pointer; }
.sg-graph .node:focus { outline: none; }
.sg-graph .node:focus-visible > .box, .sg-graph .node:hover > .box { stroke: var(--flow); stroke-width: 3; }
.sg-graph .node.folded > .box { stroke: var(--open); stroke-width: 3; stroke-dasharray: 2 3; }
.sg-graph .told { min-height: 6.6em; white-space: pre-wrap; overflow-wrap: anywhere; }
""".strip()


class Graph:
    r"""A picture of a formula, for notebooks and pages.

    If a reader points at a box, or moves the keyboard focus to it, its equation appears, and at a point also its value
    and the derivative of the formula with respect to it. A click on a box folds the boxes that only this box reads. The
    picture needs no server; without scripts it stays a picture, with the same texts as titles.

    Attributes:
        title: the title of the picture.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : real\ny = sin(x**2)")
        >>> g = p["y"].graph(x=2.0)
        >>> print(g.notes["x**2"])
        x**2
        value: 4
        gradient: -0.653644
        >>> g.save("y.html")  # doctest: +SKIP
    """

    def __init__(self, title: str, svg: str, notes: Mapping[str, str]) -> None:
        self.title = title
        self._svg = svg
        self._notes = dict(notes)

    @property
    def notes(self) -> Mapping[str, str]:
        """The texts of the boxes, by name or formula."""
        return self._notes

    def svg(self) -> str:
        """Return the picture as a standalone SVG document, with the texts of the boxes as titles."""
        return self._svg

    def html(self) -> str:
        """Return a page that needs no network; its only script is the script of the boxes."""
        return graph_page(self._svg, self.title)

    def fragment(self) -> str:
        """Return a part of a page of HTML, for notebooks."""
        return graph_fragment(self._svg)

    def save(self, path: str | Path) -> None:
        """Write the picture into a file whose name ends in .html or .svg.

        Raises:
            UsageError: if the name has another ending.
            FileError: if the file cannot be written.
        """
        writers = {".html": self.html, ".svg": self.svg}
        written = writers.get(Path(path).suffix.lower())
        if written is None:
            raise UsageError(
                f"'{Path(path).name}' does not say how to write a graph",
                expected=f"a name that ends in {' or '.join(writers)}",
            )
        write_atomically(Path(path), written().encode())

    def __repr__(self) -> str:
        return f"<Graph of {self.title}: {len(self._notes)} boxes>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "image/svg+xml": self._svg, "text/html": self.fragment()}


def graph_fragment(svg: str) -> str:
    """Return a picture with notes as a part of a page.

    The picture is complete without the script, which some viewers remove. The script reads only the picture.

    Args:
        svg: a picture of `graph_svg` whose boxes have notes; its texts are escaped.

    Example:
        >>> graph_fragment("<svg></svg>").count("<script>")
        1
    """
    scrolled = (
        f'<div class="scroll {picture_class(svg)}" tabindex="0" role="group" aria-label="graph">{svg}</div>'
    )
    name = "sg-graph-" + hashlib.sha256(svg.encode()).hexdigest()[:12]
    return (
        f'<div class="sg sg-graph" id="{name}" lang="en"><style>{PART}\n{_OWN}</style>\n'
        f"{portable_picture(scrolled)}\n"
        f'<script>{_script()}("{name}");</script></div>\n'
    )


def graph_page(svg: str, title: str) -> str:
    """Return a picture with notes as a page that needs no network."""
    allowed = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{allowed}">',
            f"<title>{escape(title)}</title><style>{PAGE}</style></head>",
            f'<body class="sg"><main>{graph_fragment(svg)}</main></body></html>',
            "",
        ]
    )


@cache
def _script() -> str:
    # pkgutil reads it, because the package may be in an archive.
    return (pkgutil.get_data(__name__, "graph.js") or b"").decode().strip()
