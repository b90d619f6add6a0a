"""Pictures inside a page: the drawing elements of an SVG document, without scripts, links and external content."""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

# fmt: off
_ELEMENTS = frozenset((
    "svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title", "desc",
    "defs", "clipPath",
))
_ATTRIBUTES = frozenset((
    "width", "height", "viewBox", "preserveAspectRatio", "class", "d", "x", "y", "dx", "dy", "x1", "y1", "x2", "y2",
    "cx", "cy", "r", "rx", "ry", "points", "transform", "fill", "fill-opacity", "fill-rule", "stroke",
    "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin",
    "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline",
    "textLength", "lengthAdjust",
))
# fmt: on
_PHONE = 520  # width in pixels of a picture that a phone scales to 70 %
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def safe_svg(svg: str, title: str, description: str) -> str:
    """Return a drawing as an element of a page, with its title and description; "" if it is not SVG.

    Only drawing elements and attributes are kept. A value with a call, such as ``url(...)``, is removed.

    Args:
        svg: an SVG document.
        title: the title.
        description: a text alternative.

    Example:
        >>> safe_svg('<svg><script>x</script><path d="M0 0" onclick="x"/></svg>', "a", "b")
        '<svg role="img" aria-label="a"><title>a</title><desc>b</desc><path d="M0 0"></path></svg>'
    """
    if "<!ENTITY" in svg:
        return ""
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError:
        return ""
    if _name(root) != "svg":
        return ""
    head = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    label = f'role="img" aria-label="{escape(title)}"'
    parts = [f"<svg {label}{_attributes(root)}>{head}"]
    pending: list[ElementTree.Element | str] = ["</svg>", *reversed(list(root))]
    while pending:
        top = pending.pop()
        if isinstance(top, str):
            parts.append(top)
            continue
        name, tail = _name(top), escape(top.tail or "", quote=False).strip("\n")
        if name not in _ELEMENTS or (name in ("title", "desc", "svg")):
            continue
        parts.append(f"<{name}{_attributes(top)}>{escape((top.text or '').strip(chr(10)), quote=False)}")
        pending += [f"</{name}>{tail}", *reversed(list(top))]
    return "".join(parts)


def _name(element: ElementTree.Element) -> str:
    tag = element.tag
    return tag.removeprefix("{http://www.w3.org/2000/svg}") if isinstance(tag, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]  (the tag of a comment is a function)


def _attributes(element: ElementTree.Element) -> str:
    safe: dict[str, str] = {}
    for name, value in element.attrib.items():
        calls = 8 if name == "transform" else 0  # largest number of transformations
        if name in _ATTRIBUTES and value.count("(") <= calls:
            safe[name] = value
    if element.attrib.get(_SPACE) == "preserve":
        safe["xml:space"] = "preserve"
    return "".join(f' {name}="{escape(value)}"' for name, value in safe.items())


def picture_class(svg: str) -> str:
    """Return the class of a picture's box: a phone scales a narrow picture down, and scrolls a wide one.

    Example:
        >>> picture_class('<svg width="468" height="99">'), picture_class('<svg width="688" height="99">')
        ('picture', 'picture wide')
    """
    found = re.match(r'<svg[^>]* width="(\d+)', svg)
    return "picture wide" if found is not None and int(found[1]) > _PHONE else "picture"


def portable_picture(picture: str) -> str:
    """Hide a picture from viewers that remove its style: without the style, its texts would be shown in a heap.

    The picture is hidden by its own attributes, and shown by the style of reports.

    Args:
        picture: an element of the page.
    """
    return (
        '<p class="sg-instead">The picture is shown once this page is trusted.</p>'
        f'<div class="sg-picture" hidden style="display:none">{picture}</div>'
    )
