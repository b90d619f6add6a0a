"""Draw graphs as standalone SVG, without any outside program.

The picture has its own background and dark text, so that it looks the same in light and dark viewers. The colours are
those of Okabe and Ito, which colour-blind readers can distinguish; every meaning also has a shape (a band, a backward
arrow, dashes).
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from html import escape

from symgrad.ir.graph import Node
from symgrad.printing.limits import BOXES
from symgrad.printing.pictures.graphviz import place_by_dot
from symgrad.printing.pictures.layout import Route, place
from symgrad.printing.pictures.picture import Box, Edge, Highlight, Picture, picture

_MONO = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
_SANS = "'DejaVu Sans', 'Segoe UI', Helvetica, Arial, sans-serif"
_MONO_ADVANCE = (
    0.602  # width of a letter in em, for DejaVu Sans Mono and Menlo; textLength adjusts other fonts
)
_SANS_ADVANCE = 0.58  # average width of a letter in em

_INK, _SOFT, _RULE, _PAPER = "#1b1f24", "#5b6470", "#c9ced6", "#ffffff"
NOISE, _NOISE_TINT = "#d55e00", "#fde9da"  # vermillion
FLOW, _FLOW_TINT = "#0072b2", "#dcecf7"  # blue
_EDGE = "#8a929d"
_FILL = {"input": "#f3f5f7", "random": _NOISE_TINT, "op": _PAPER, "stop": "#f3f5f7"}

_MARGIN = 24.0
_TITLE, _NAME, _TEXT, _SMALL = 15.0, 13.0, 12.0, 11.0
_LINE = 16.0
_PAD_X, _PAD_Y = 12.0, 8.0
_NARROWEST = 46.0
_BEND = 0.55  # distance of the control points of an edge from its ends


def graph_svg(
    outputs: Sequence[Node],
    names: Mapping[Node, str],
    *,
    highlight: Highlight | None = None,
    title: str = "",
    limit: int = BOXES,
    noted: Callable[[Sequence[Node]], Sequence[str]] | None = None,
    by_dot: bool = False,
    numbers: Mapping[Node, str] = {},
) -> str:
    r"""Return a picture of a graph: inputs at the top, outputs at the bottom, a box per equation, an arrow per value.

    Args:
        outputs: the graph.
        names: names of nodes.
        highlight: the highlights, and the sentences below the picture.
        title: a line above the picture.
        limit: the largest number of boxes; of a larger graph only the neighbourhood of the highlighted
            paths is drawn, and the caption says so.
        noted: a function that returns a text for each drawn node; the text appears when a reader points at the box.
        by_dot: whether to lay out the picture with Graphviz, if it is installed; the project's own layout is the same
            on every machine.
        numbers: the spellings of numbers.

    Returns:
        A standalone SVG document.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real\ny = sin(x)")
        >>> graph_svg([p["y"]], p.name_of()).startswith("<svg ")
        True
    """
    highlight = Highlight() if highlight is None else highlight
    shown = picture(outputs, names, highlight, limit, numbers)
    notes = None if noted is None else noted(shown.nodes)
    return picture_svg(shown, _captions(highlight, shown), _legend(shown), title, notes, by_dot=by_dot)


def picture_svg(
    shown: Picture,
    captions: Sequence[str],
    legend: Sequence[tuple[str, str]],
    title: str = "",
    notes: Sequence[str] | None = None,
    *,
    by_dot: bool = False,
) -> str:
    """Return a picture as SVG.

    Args:
        shown: boxes and edges.
        captions: sentences below the picture.
        legend: pairs (mark, meaning) that are printed above the captions; the mark of an arrow is "value".
        title: a line above the picture.
        notes: a text for each box; the text appears when a reader points at the box. If there are notes, boxes and
            edges are groups: a box has its number, an edge the numbers of its ends.
        by_dot: whether to lay out the picture with Graphviz, if it is installed.

    Returns:
        A standalone SVG document.

    Example:
        >>> from symgrad.printing.pictures.picture import Box, Edge, Picture
        >>> boxes = [Box("op", name, None, None, None, False, False, False) for name in ("above", "below")]
        >>> shown = Picture(tuple(boxes), (Edge(0, 1, cut=False, noisy=False, derivative=False),), len(boxes))
        >>> picture_svg(shown, ["Two boxes."], [("value", "an arrow")]).count('class="box"')
        2
    """
    sizes = [_size(box) for box in shown.boxes]
    graph = [w for w, _ in sizes], [h for _, h in sizes], [(e.source, e.target) for e in shown.edges]
    layout = (place_by_dot(*graph) if by_dot else None) or place(*graph)
    legend_width = sum(_entry_width(meaning) for _, meaning in legend)
    width = max(layout.width, 420.0, min(legend_width, 640.0), _text_width(title, _TITLE, _SANS_ADVANCE))
    head = _MARGIN + (34.0 if title else 0.0)
    offset = (_MARGIN + (width - layout.width) / 2, head)
    foot, foot_height = _footer(legend, captions, width, head + layout.height + 26)
    page_width, page_height = width + 2 * _MARGIN, head + layout.height + 26 + foot_height + _MARGIN
    body: list[str] = []
    for band in (True, False):  # bands come first, so that all lines are drawn over all bands
        for edge, route in zip(shown.edges, layout.routes, strict=True):
            elements = _edge(edge, route, band=band)
            ends = f'class="flow" data-from="{edge.source}" data-to="{edge.target}"'
            body += elements if notes is None or not elements else [f"<g {ends}>", *elements, "</g>"]
    for i, (box, (w, h), (x, y)) in enumerate(zip(shown.boxes, sizes, layout.centres, strict=True)):
        elements = _box(box, x - w / 2, y - h / 2, w, h)
        if notes is not None:
            # Titles may have several lines, but texts may not.
            text = "\n".join(_escape(line) for line in notes[i].split("\n"))
            elements = [f'<g class="node" data-number="{i}"><title>{text}</title>', *elements, "</g>"]
        body += elements
    label = title or "computation graph"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(page_width)}" height="{_n(page_height)}" '
        f'viewBox="0 0 {_n(page_width)} {_n(page_height)}" role="img" aria-label="{_escape(label)}">',
        f"<title>{_escape(label)}</title>",
        f"<desc>{_escape(' '.join(captions) or label)}</desc>",
        f'<rect width="100%" height="100%" rx="10" fill="{_PAPER}"/>',
        f'<rect x="0.5" y="0.5" width="{_n(page_width - 1)}" height="{_n(page_height - 1)}" rx="10" '
        f'fill="none" stroke="{_RULE}"/>',
    ]
    if title:
        lines.append(_sans(title, _MARGIN, _MARGIN + 12, _TITLE, weight="600"))
    lines += [f'<g transform="translate({_n(offset[0])} {_n(offset[1])})">', *body, "</g>", *foot, "</svg>"]
    return "\n".join(lines) + "\n"


# -- text -------------------------------------------------------------------------------------------------------------


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _escape(text: str) -> str:
    # XML forbids control characters, even escaped ones.
    return escape("".join(c if c.isprintable() or c == " " else "\N{REPLACEMENT CHARACTER}" for c in text))


def _text_width(text: str, size: float, advance: float) -> float:
    columns = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    return columns * size * advance


def _sans(text: str, x: float, y: float, size: float, *, fill: str = _INK, weight: str = "400") -> str:
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-family="{_SANS}" font-size="{_n(size)}" font-weight="{weight}" '
        f'fill="{fill}">{_escape(text)}</text>'
    )


def _mono(text: str, x: float, y: float, size: float, *, fill: str, weight: str) -> str:
    # textLength keeps the text inside its box in every font.
    length = _text_width(text, size, _MONO_ADVANCE)
    return (
        f'<text x="{_n(x - length / 2)}" y="{_n(y)}" font-family="{_MONO}" font-size="{_n(size)}" '
        f'font-weight="{weight}" fill="{fill}" textLength="{_n(length)}" lengthAdjust="spacingAndGlyphs" '
        f'xml:space="preserve">{_escape(text)}</text>'
    )


# -- boxes ------------------------------------------------------------------------------------------------------------


def _lines(box: Box) -> list[tuple[str, float, str, str]]:
    """Return text, size, colour and weight of each line of a box."""
    lines: list[tuple[str, float, str, str]] = []
    if box.name is not None:
        lines.append((box.name, _NAME, _INK, "700"))
    if box.text is not None:
        lines.append((box.text, _TEXT, _SOFT if box.name is not None else _INK, "400"))
    if box.shape is not None:
        lines.append((box.shape, _SMALL, _SOFT, "400"))
    if box.remark is not None:
        lines.append((box.remark, _SMALL, "#a84a00", "400"))
    if box.wrt:
        lines.append(("differentiated by", _SMALL, FLOW, "400"))
    return lines


def _size(box: Box) -> tuple[float, float]:
    lines = _lines(box)
    widest = max(_text_width(text, size, _MONO_ADVANCE) for text, size, _, _ in lines)
    room = 18.0 if box.kind == "stop" else 0.0  # width for the scissors
    return max(_NARROWEST, widest + 2 * _PAD_X + room), len(lines) * _LINE + 2 * _PAD_Y


def _box(box: Box, x: float, y: float, w: float, h: float) -> list[str]:
    radius = h / 2 if box.kind in ("input", "random") else 6.0
    fill = _FLOW_TINT if box.wrt else _FILL[box.kind]
    stroke = (
        NOISE if box.noisy or box.kind == "random" else FLOW if box.wrt else _INK if box.output else "#79818c"
    )
    thick = 2.2 if box.noisy else 1.8 if box.output or box.wrt or box.kind == "random" else 1.1
    dashes = ' stroke-dasharray="6 3"' if box.kind == "stop" else ""
    shapes = [
        f'<rect class="box" x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" rx="{_n(radius)}" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="{thick}"{dashes}/>'
    ]
    if box.output:
        shapes.append(
            f'<rect x="{_n(x + 3.5)}" y="{_n(y + 3.5)}" width="{_n(w - 7)}" height="{_n(h - 7)}" rx="3.5" fill="none" '
            f'stroke="{stroke}" stroke-width="0.8"/>'
        )
    middle = x + w / 2
    if box.kind == "stop":
        shapes.append(_scissors(x + 15, y + h / 2))
        middle += 9
    for i, (text, size, colour, weight) in enumerate(_lines(box)):
        shapes.append(_mono(text, middle, y + _PAD_Y + (i + 0.75) * _LINE, size, fill=colour, weight=weight))
    return shapes


def _scissors(x: float, y: float, scale: float = 1.0) -> str:
    """Draw scissors as a path, since few fonts have the glyph."""
    return (
        f'<g transform="translate({_n(x)} {_n(y)}) scale({_n(scale)})" fill="none" stroke="{_INK}" '
        'stroke-width="1.3" stroke-linecap="round"><circle cx="-4" cy="-3.2" r="2.2"/>'
        '<circle cx="-4" cy="3.2" r="2.2"/>'
        '<path d="M-2.2 -1.9 L6 3.6 M-2.2 1.9 L6 -3.6"/></g>'
    )


# -- edges ------------------------------------------------------------------------------------------------------------


def _arrow(x: float, y: float, colour: str, size: float, *, down: bool) -> str:
    """Draw an arrowhead with its tip at a place; edges meet boxes vertically, so no arrowhead needs rotation."""
    back = y - size if down else y + size
    points = f"{_n(x)},{_n(y)} {_n(x - 0.42 * size)},{_n(back)} {_n(x + 0.42 * size)},{_n(back)}"
    return f'<polygon points="{points}" fill="{colour}"/>'


def _path(route: Route) -> str:
    (x, y), *rest = route.points
    parts = [f"M{_n(x)} {_n(y)}"]
    if route.cubic:
        return " ".join([*parts, "C", *(f"{_n(to_x)} {_n(to_y)}" for to_x, to_y in rest)])
    for i, (to_x, to_y) in enumerate(rest):
        if i % 2 == 0:
            if abs(to_y - y) > 0.05:
                parts.append(f"L{_n(to_x)} {_n(to_y)}")
        elif abs(to_x - x) < 0.05:
            parts.append(f"L{_n(to_x)} {_n(to_y)}")
        else:
            bend = (to_y - y) * _BEND
            parts.append(f"C{_n(x)} {_n(y + bend)} {_n(to_x)} {_n(to_y - bend)} {_n(to_x)} {_n(to_y)}")
        x, y = to_x, to_y
    return " ".join(parts)


def _edge(edge: Edge, route: Route, *, band: bool) -> list[str]:
    if band:
        if not edge.noisy:
            return []
        return [
            f'<path class="noise" d="{_path(route)}" fill="none" stroke="{NOISE}" stroke-opacity="0.3" '
            'stroke-width="9"/>'
        ]
    start, end = route.points[0], route.points[-1]
    dashes = ' stroke-dasharray="6 4"' if edge.cut else ' stroke-dasharray="1 5"' if edge.skipped else ""
    colour, thick = (FLOW, 2.2) if edge.derivative else (NOISE, 2.2) if edge.noisy else (_EDGE, 1.3)
    parts = [
        f'<path class="edge" d="{_path(route)}" fill="none" stroke="{colour}" stroke-width="{thick}"{dashes}/>'
    ]
    # If a derivative flows back, its arrow is at the source of the edge. A value flows down every edge; an edge of the
    # noise keeps its arrow.
    if edge.derivative:
        parts.append(_arrow(*start, FLOW, 11, down=False))
    if edge.noisy:
        parts.append(_arrow(*end, NOISE, 11, down=True))
    elif not edge.derivative:
        parts.append(_arrow(*end, _EDGE, 8, down=True))
    return parts


# -- below the picture ------------------------------------------------------------------------------------------------


def _legend(shown: Picture) -> list[tuple[str, str]]:
    """Return the (mark, meaning) pairs that occur in the picture."""
    boxes, edges = shown.boxes, shown.edges
    marks = [
        ("value", "value edge", True),
        ("noise", "path of the noise", any(b.noisy for b in boxes)),
        ("flow", "derivative, flows back", any(e.derivative for e in edges)),
        ("cut", "stop_gradient: value passes, derivative is cut", any(e.cut for e in edges)),
        ("random", "random input", any(b.kind == "random" for b in boxes)),
        ("output", "output", any(b.output for b in boxes)),
    ]
    return [(mark, meaning) for mark, meaning, occurs in marks if occurs]


_SAMPLE = 40.0  # width of the drawing before a text of the legend


def _entry_width(meaning: str) -> float:
    return _SAMPLE + _text_width(meaning, _SMALL, _SANS_ADVANCE) + 18


def _tip(x: float, y: float, colour: str, size: float) -> str:
    """Draw an arrowhead of the legend; it points to the right, or for a negative size to the left."""
    half = 0.42 * abs(size)
    points = f"{_n(x)},{_n(y)} {_n(x - size)},{_n(y - half)} {_n(x - size)},{_n(y + half)}"
    return f'<polygon points="{points}" fill="{colour}"/>'


def _sample(mark: str, x: float, y: float) -> str:
    line = f'd="M{_n(x)} {_n(y)} h30" fill="none"'
    match mark:
        case "noise":
            return (
                f'<path {line} stroke="{NOISE}" stroke-opacity="0.3" stroke-width="9" stroke-linecap="round"/>'
                f'<path {line} stroke="{NOISE}" stroke-width="2.2"/>{_tip(x + 31, y, NOISE, 11)}'
            )
        case "flow":
            return f'<path {line} stroke="{FLOW}" stroke-width="2.2"/>{_tip(x - 1, y, FLOW, -11)}'
        case "cut":
            dashed = f'<path {line} stroke="{_EDGE}" stroke-width="1.3" stroke-dasharray="6 4"/>'
            return dashed + _scissors(x + 15, y, 0.9)
        case "random":
            return (
                f'<rect x="{_n(x)}" y="{_n(y - 6)}" width="30" height="12" rx="6" fill="{_NOISE_TINT}" '
                f'stroke="{NOISE}" stroke-width="1.8"/>'
            )
        case "output":
            return (
                f'<rect x="{_n(x)}" y="{_n(y - 7)}" width="30" height="14" rx="4" fill="none" stroke="{_INK}" '
                f'stroke-width="1.8"/><rect x="{_n(x + 3)}" y="{_n(y - 4)}" width="24" height="8" rx="2" fill="none" '
                f'stroke="{_INK}" stroke-width="0.8"/>'
            )
        case _:
            return f'<path {line} stroke="{_EDGE}" stroke-width="1.3"/>{_tip(x + 31, y, _EDGE, 8)}'


def _captions(highlight: Highlight, shown: Picture) -> list[str]:
    captions = list(highlight.captions)
    if len(shown.boxes) < shown.total:
        around = "the neighbourhood of the path" if highlight.paths else "the part nearest to the output"
        captions.append(f"{len(shown.boxes)} of {shown.total} equations are drawn: {around}.")
    captions += [
        f"Dotted: {e.skipped} equations of the path are not drawn." for e in shown.edges if e.skipped
    ]
    return captions


def _footer(
    legend: Sequence[tuple[str, str]], captions: Sequence[str], width: float, top: float
) -> tuple[list[str], float]:
    """Return the legend and the wrapped captions, and their height."""
    parts = [f'<path d="M{_n(_MARGIN)} {_n(top)} h{_n(width)}" stroke="{_RULE}"/>']
    x, y = 0.0, top + 20
    for mark, meaning in legend:
        if x > 0 and x + _entry_width(meaning) - 18 > width:
            x, y = 0.0, y + 20
        parts.append(_sample(mark, _MARGIN + x, y))
        parts.append(_sans(meaning, _MARGIN + x + _SAMPLE, y + 4, _SMALL, fill=_SOFT))
        x += _entry_width(meaning)
    y += 8
    columns = int(width / (_TEXT * _SANS_ADVANCE))
    for caption in captions:
        y += 6
        for line in textwrap.wrap(caption, columns):
            y += 18
            parts.append(_sans(line, _MARGIN, y, _TEXT))
    return parts, y - top
