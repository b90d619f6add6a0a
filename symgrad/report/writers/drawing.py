"""Pictures inside a page: of an SVG document what draws, and nothing that runs, loads or links."""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

__all__ = ["picture_class", "portable_picture", "safe_svg"]

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
_PHONE = 520  # pixels of a picture that a phone shows at seven tenths
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def safe_svg(svg: str, title: str, description: str) -> str:
    """Return a drawing as an element of a page, with its title and description; nothing if it is no SVG.

    Only elements and attributes that draw are kept. A value that calls something, such as ``url(...)``, is left out.

    Args:
        svg: an SVG document.
        title: what it shows.
        description: the same in a sentence.

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
    return tag.removeprefix("{http://www.w3.org/2000/svg}") if isinstance(tag, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]  (a comment has a function)


def _attributes(element: ElementTree.Element) -> str:
    kept = {
        k: v
        for k, v in element.attrib.items()
        if k in _ATTRIBUTES and "(" not in v.replace("(", "", _calls(k))
    }
    if element.attrib.get(_SPACE) == "preserve":
        kept["xml:space"] = "preserve"
    return "".join(f' {k}="{escape(v)}"' for k, v in kept.items())


def _calls(attribute: str) -> int:
    """Return how many parentheses the value of an attribute may open: those of a few transformations."""
    return 8 if attribute == "transform" else 0


def picture_class(svg: str) -> str:
    """Return the class of the box of a picture: a phone shows one that is not wide as a whole, with words to be read.

    Example:
        >>> picture_class('<svg width="468" height="99">'), picture_class('<svg width="688" height="99">')
        ('picture', 'picture wide')
    """
    found = re.match(r'<svg[^>]* width="(\d+)', svg)
    return "picture wide" if found is not None and int(found[1]) > _PHONE else "picture"


def portable_picture(picture: str) -> str:
    """Return a picture for a part of a page whose reader may take markup away, which would leave its texts in a heap.

    It is hidden by its own attributes, and shown by the style that such a part brings along.

    Args:
        picture: an element of the page.
    """
    return (
        '<p class="sg-instead">The picture is shown once this page is trusted.</p>'
        f'<div class="sg-picture" hidden style="display:none">{picture}</div>'
    )
