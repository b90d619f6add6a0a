r"""Formulas for untrusted parts of a page, whose viewer may remove markup: TeX and MathML, one of them visible.

Notebook viewers remove different parts:

    nothing          the style hides the TeX and shows the MathML
    the style        the MathML stays hidden by its own attributes, and the page's MathJax sets the TeX (JupyterLab)
    all attributes   the TeX is set, followed by the text of the MathML, whose tags are gone as well (GitHub)

So the MathML also contains its layout as text that no browser displays: ``(a + b)/2`` for a fraction. Browsers display
only the first child of ``semantics``.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from html import escape

from symgrad.report.mathml.convert import mathml

_SCRIPTS = {"msub": "_", "msup": "^", "msubsup": "_^", "munder": "_", "mover": "^", "munderover": "_^"}
_TOKENS = frozenset(("mi", "mn", "mo", "mtext"))
_TIGHT = _TOKENS | {"msub", "msup", "msubsup", "msqrt"}  # elements that bind more tightly than a division


def portable_formula(latex: str, *, display: bool = False, large: bool = False) -> str:
    r"""Return LaTeX as TeX between dollars, followed by hidden MathML, which can be read as text.

    Args:
        latex: a formula, as symgrad prints it.
        display: whether it is a displayed formula.
        large: whether an inline formula has large fractions.

    Raises:
        NotMathML: for unsupported LaTeX.

    Example:
        >>> import re
        >>> shown = portable_formula(r"\frac{x + 1}{2}")
        >>> re.sub("<.*?>", "", shown)
        '$\\frac{x + 1}{2}$(x+1)/2'
    """
    formula = ElementTree.fromstring(mathml(latex, display=display, large=large, annotated=False))
    for element in list(formula.iter()):
        _mark(element)
    shown = ElementTree.tostring(formula, encoding="unicode", short_empty_elements=False)
    dollars = "$$" if display else "$"
    style = r"\displaystyle " if large else ""
    tex = f"{dollars}{style}{escape(latex, quote=False)}{dollars}"
    return f'<span class="sg-instead">{tex}</span><span class="sg-mathml" hidden style="display:none">{shown}</span>'


def _mark(element: ElementTree.Element) -> None:
    """Add the layout of an element as text; accents and bars are already letters."""
    parts = list(element)
    if element.tag in _SCRIPTS and not element.get("accent") and element.get("class") != "sg-bar":
        base, *scripts = parts
        pairs = zip(_SCRIPTS[element.tag], scripts, strict=True)
        element[:] = [base, *(_row(_silent(mark), *_grouped(script)) for mark, script in pairs)]
    elif element.tag == "mfrac":
        upper, lower = parts
        element[:] = [_row(*_grouped(upper, _TIGHT), _silent("/")), _row(*_grouped(lower, _TIGHT))]
    elif element.tag == "mroot":
        inner, degree = parts
        element[:] = [_row(*_grouped(inner), _silent("^(1/")), _row(degree, _silent(")"))]
    elif element.tag == "msqrt":
        element[:] = [_silent("√("), *parts, _silent(")")]
    elif element.tag == "mtr":
        for part in parts:
            part.append(_silent(" " if part is not parts[-1] else "; "))


def _silent(text: str) -> ElementTree.Element:
    """Return an element whose text no browser displays."""
    found = ElementTree.Element("semantics")
    ElementTree.SubElement(found, "mrow")
    ElementTree.SubElement(found, "annotation").text = text
    return found


def _row(*parts: ElementTree.Element) -> ElementTree.Element:
    row = ElementTree.Element("mrow")
    row.extend(parts)
    return row


def _grouped(
    element: ElementTree.Element, alone: frozenset[str] = _TOKENS
) -> tuple[ElementTree.Element, ...]:
    """Return an element, inside hidden parentheses unless its tag needs none."""
    if element.tag in alone or (element.tag == "mrow" and not len(element)):
        return (element,)
    return (_silent("("), element, _silent(")"))
