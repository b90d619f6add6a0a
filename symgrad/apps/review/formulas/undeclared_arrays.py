"""Names that a document uses as arrays, and may not declare: what it transposes, what stands in a norm or a trace."""

from __future__ import annotations

import re

__all__ = ["array_names"]

_LETTER = r"(?:\\?[a-zA-Z](?![a-zA-Z])|\\[a-zA-Z]+|[^\W\d_a-zA-Z])(?:_(?:\{\w+\}|\w))?"
_TOP = r"(?:\^\s*\{?\s*(?:\\top|\\intercal|⊤|\\(?:mathsf|mathrm|rm|text)\s*\{?\s*T\s*\}?)\s*\}?|ᵀ|⊤)"
_CAPITAL_T = r"(?:\^\s*\{?\s*T\s*\}?(?![\w])|\.T\b)"
_OWN_T = re.compile(r"(?<![\w\\^{])T(?!\w)|\\partial\s*T\b|dT\b")
_NORM = re.compile(
    r"(?:\\\||‖|\|\||\\lVert|\\left\\\|)(?P<inner>[^|‖]{1,80}?)(?:\\\||‖|\|\||\\rVert|\\right\\\|)"
)
_TRACE = re.compile(
    r"(?<![a-zA-Z])(?:tr|Tr|trace|\\mathrm\{tr\}|\\operatorname\{tr\})\s*(?:\\left)?[(\[](?P<inner>[^()]{1,80})"
)
_PRODUCT = re.compile(r"(?<![\\a-zA-Z])(?P<matrix>[A-Z])\s?(?P<vector>[a-zA-Z](?![a-zA-Z])|\\[a-z]+)")
_GROUP = re.compile(rf"\((?P<inner>[^()]{{1,60}})\)\s*(?:{_TOP}|{_CAPITAL_T})")
_COMMANDS = frozenset(
    ("left", "right", "frac", "sqrt", "log", "exp", "top", "partial", "nabla", "mathrm", "text", "big")
)


def array_names(text: str) -> frozenset[str]:
    r"""Return the names that are transposed somewhere, or stand as a product in a norm or a trace.

    Args:
        text: of a document.

    Example:
        >>> sorted(array_names(r"$f = u^\top M v$ and $g = \|Xw - y\|^2$"))
        ['X', 'u', 'w']
    """
    top = _TOP if _OWN_T.search(text) else f"(?:{_TOP}|{_CAPITAL_T})"
    found = [m[0] for m in re.finditer(rf"{_LETTER}(?=\s*{top})", text)]
    inner = [m["inner"] for m in _NORM.finditer(text)] + [m["inner"] for m in _TRACE.finditer(text)]
    for part in inner:
        found += [letter for m in _PRODUCT.finditer(part) for letter in (m["matrix"], m["vector"])]
    if top is not _TOP or _TOP in top:
        found += [letter for m in _GROUP.finditer(text) for letter in re.findall(_LETTER, m["inner"])]
    names = (name.lstrip("\\").replace("{", "").replace("}", "") for name in found)
    return frozenset(name for name in names if name not in _COMMANDS)
