"""Graphs in the language of Graphviz, for those who have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.ir.graph import Node
from symgrad.render.limits import BOXES
from symgrad.render.pictures.picture import Box, Edge, Highlight, picture
from symgrad.render.pictures.svg import FLOW, NOISE

__all__ = ["graph_dot"]


def graph_dot(
    outputs: Sequence[Node],
    names: Mapping[Node, str],
    *,
    highlight: Highlight | None = None,
    limit: int = BOXES,
) -> str:
    r"""Return the picture that `graph_svg` draws as a Graphviz program.

    Args:
        outputs: the graph.
        names: the nodes that have a name.
        highlight: what to point out.
        limit: the largest number of boxes; see `graph_svg`.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real\ny = sin(x)")
        >>> print(graph_dot([p["y"]], p.name_of()))
        digraph {
          rankdir=TB; node [fontname="monospace", shape=box]; edge [color=gray50];
          n0 [label="x : real", style="rounded"];
          n1 [label="y\nsin(x)", peripheries=2];
          n0 -> n1;
        }
    """
    shown = picture(outputs, names, Highlight() if highlight is None else highlight, limit)
    lines = ["digraph {", '  rankdir=TB; node [fontname="monospace", shape=box]; edge [color=gray50];']
    lines += [f"  n{i} [{', '.join(_box(box))}];" for i, box in enumerate(shown.boxes)]
    for edge in shown.edges:
        style = _edge(edge)
        lines.append(f"  n{edge.source} -> n{edge.target}{f' [{style}]' if style else ''};")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _box(box: Box) -> list[str]:
    lines = [
        t for t in (box.name, box.text, box.shape, box.remark, "differentiated by" if box.wrt else None) if t
    ]
    attributes = [f"label={_quoted(chr(10).join(lines))}"]
    if box.kind == "stop":
        attributes.append('style="dashed"')
    if box.kind in ("input", "random"):
        attributes.append('style="rounded"')
    if box.noisy or box.kind == "random":
        attributes.append(f'color="{NOISE}"')
    elif box.wrt:
        attributes.append(f'color="{FLOW}"')
    if box.output:
        attributes.append("peripheries=2")
    return attributes


def _edge(edge: Edge) -> str:
    attributes: list[str] = []
    if edge.noisy:
        attributes += [f'color="{NOISE}"', "penwidth=3"]
    elif edge.derivative:
        attributes += [f'color="{FLOW}"', "penwidth=2", "dir=back"]
    if edge.cut or edge.skipped:
        attributes.append("style=dashed" if edge.cut else "style=dotted")
    return ", ".join(attributes)
