r"""Where integrals, limits and values between bounds stand in a formula: ∫_0^1 x dx, \lim_{x \to 0}, [x²/2]_0^1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from symgrad.apps.review.layout.passages import FormulaNotation
from symgrad.apps.review.layout.statements import SideText
from symgrad.frontend.glyphs import SUBSCRIPTS, SUPERSCRIPTS
from symgrad.support.errors import ProgramSyntaxError

_LOWERED, _RAISED = f"{SUBSCRIPTS}₋", f"{SUPERSCRIPTS}⁻"
_SPELLED = str.maketrans(_LOWERED + _RAISED, "0123456789-" * 2)
_ARROW = r"(?:->|→|⇾|\\(?:to|rightarrow)(?![a-zA-Z])|\bto\b)"
_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_TYPED_BOUND = r"(?:\{[^{}]*\}|\((?:[^()]|\([^()]*\))*\)|[-−+]?(?:\d+(?:\.\d+)?π?|∞|[^\W\d_]\w*)(?:/\d+)?)"
_PAPER_BOUND = rf"(?:{_BRACED}|\\[a-zA-Z]+|[^\s\\{{}}])"


def _bounds(bound: str, *, both: bool) -> str:
    """Return a pattern of the bounds behind a sign, with or without the need for both."""
    below, above = rf"_\s*(?P<low>{bound})", rf"\^\s*(?P<high>{bound})"
    small = rf"(?P<sub>[{_LOWERED}]+)(?:\s*(?P<sup>[{_RAISED}]+)|\s*\^\s*(?P<raised>{bound}))"
    pattern = rf"\s*(?:{below}\s*{above}|\^\s*(?P<first>{bound})\s*_\s*(?P<second>{bound})|{small}"
    return pattern + (")" if both else rf"|_\s*(?P<only>{bound}))?")


_SIGN = {
    "symgrad": re.compile(r"∫|\bint(?=_|\s+from\b)"),
    "latex": re.compile(r"\\int(?![a-zA-Z])|∫"),
}
_MANY = re.compile(r"\\i{2,3}nt(?![a-zA-Z])|\\oint|[∬∭∮∯∏]")
_BOUNDS = {
    "symgrad": re.compile(_bounds(_TYPED_BOUND, both=False)),
    "latex": re.compile(r"(?:\s*\\(?:no)?limits)?" + _bounds(_PAPER_BOUND, both=False)),
}
_WORDS = re.compile(rf"\s+from\s+(?P<low>{_TYPED_BOUND})\s+to\s+(?P<high>{_TYPED_BOUND})\s+(?:of\s+)?")
_BEHIND = re.compile(
    rf"\s+from\s+(?P<low>{_TYPED_BOUND})\s+to\s+(?P<high>{_TYPED_BOUND})"
    rf"|\s*\(\s*(?P<second>{_TYPED_BOUND})\s*\.\.+\s*(?P<first>{_TYPED_BOUND})\s*\)"
)
_LIMIT_SIGN = {
    "symgrad": re.compile(
        rf"\blim\s*_?\s*(?P<open>[({{]?)\s*(?P<by>[^\W\d_]\w*)\s*{_ARROW}\s*"
        rf"(?P<at>[-−]?(?:∞|inf(?:inity)?\b|oo\b|\d+(?:\.\d+)?(?:/\d+)?π?|π(?:/\d+)?|[^\W\d_]\w*))\s*(?P<side>\^?[+-](?=[\s)}}]))?"
        r"\s*[)}]?\s*(?:of\s+)?"
    ),
    "latex": re.compile(
        rf"(?<![a-zA-Z\\])\\?lim(?![a-zA-Z])(?:\s*\\(?:no)?limits)?\s*_\s*\{{\s*(?P<by>\\?[a-zA-Z]+)\s*{_ARROW}\s*"
        r"(?P<at>(?:[^{}^]|\{[^{}]*\})+?)\s*(?P<side>\^\s*\{?\s*[+-]\s*\}?)?\s*\}"
    ),
}
_CLOSE = {
    "symgrad": re.compile(r"\]" + _bounds(_TYPED_BOUND, both=True)),
    "latex": re.compile(
        r"(?:(?:\\(?:right|[bB]igg?r?))?\s*(?:\]|\\rbrack|\||\\vert))" + _bounds(_PAPER_BOUND, both=True)
    ),
}
_DIFFERENTIAL = {
    "symgrad": re.compile(
        r"(?<![^\W\d_])d\s?(?P<by>[^\W\d_](?:_?\d)?)(?!\w)|(?<=[\w)\]])d(?P<glued>[a-zα-ω])(?!\w)"
    ),
    "latex": re.compile(
        r"(?:\\(?:mathrm|text|operatorname|rm)\s*\{\s*d\s*\}|\\dd(?![a-zA-Z])|\\mathrm\s+d|d)\s*"
        r"(?P<by>(?:\\[a-zA-Z]+|[a-zA-Z])(?:_\w|_\{\w+\})?)"
    ),
}
_COMMAND_END = re.compile(r"\\[a-zA-Z]*$")
_SPACE = re.compile(r"(?:\s|\\[,;:!\ ]|~|\\q?quad(?![a-zA-Z]))*")
_INFINITIES = ("∞", "inf", "infinity", "oo", r"\infty")


@dataclass(frozen=True, slots=True)
class OperatorText:
    """An integral, a limit, or values between bounds.

    Args:
        kind: which of them.
        start: the offset in its text at which it begins.
        end: likewise, where it ends.
        body: what is integrated, goes to a limit, or is evaluated.
        by: the variable, as it is written; empty for values between bounds.
        low: the lower bound, or where the variable goes; None where there is none.
        high: the upper bound.
        side: from where a limit is taken: ``"+"``, ``"-"`` or ``"+-"``.
    """

    kind: Literal["integral", "limit", "values"]
    start: int
    end: int
    body: SideText
    by: str
    low: SideText | None = None
    high: SideText | None = None
    side: str = "+-"


def infinity_of(text: str) -> int:
    """Return 1 for infinity, -1 for minus infinity, 0 for another bound."""
    bare = text.strip().strip("{}() ").replace("−", "-").replace("\\,", "")
    sign = -1 if bare.startswith("-") else 1
    return sign if bare.lstrip("+- ") in _INFINITIES else 0


def has_operators(text: SideText) -> bool:
    """Tell whether a formula has an integral, a limit, or values between bounds."""
    found = text.notation
    if any(p.search(text.text) for p in (_SIGN[found], _LIMIT_SIGN[found], _MANY)):
        return True
    return any(_opening(text.text, m.start(), found) is not None for m in _CLOSE[found].finditer(text.text))


def opens_operator(before: str, notation: FormulaNotation) -> bool:
    """Tell whether a text ends with the sign of an integral and its bounds, or a limit: what follows is its body."""
    end = len(before.rstrip())
    for m in _SIGN[notation].finditer(before):
        bounds = _WORDS.match(before, m.end()) or _BOUNDS[notation].match(before, m.end())
        if bounds is not None and bounds.end() >= end:
            return True
    return any(m.end() >= end for m in _LIMIT_SIGN[notation].finditer(before))


def last_operator(text: SideText) -> OperatorText | None:
    """Return the operator that begins last: it has no other one in it.

    Raises:
        ProgramSyntaxError: if it is not clear where it ends, or what it is over.

    Example:
        >>> found = last_operator(SideText(0, "x + ∫_0^1 2t dt - 1"))
        >>> found.body.text, found.by, found.low.text, found.high.text
        (' 2t   ', 't', '0', '1')
    """
    characters, found = text.text, text.notation
    many = _MANY.search(characters)
    if many is not None:
        raise ProgramSyntaxError(f"'{many[0]}' is not read", expected="integrals over one variable each")
    begins = [(m.start(), "integral", m) for m in _SIGN[found].finditer(characters)]
    begins += [(m.start(), "limit", m) for m in _LIMIT_SIGN[found].finditer(characters)]
    for m in _CLOSE[found].finditer(characters):
        opening = _opening(characters, m.start(), found)
        if opening is not None:
            begins.append((opening[0], "values", m))
    if not begins:
        return None
    start, kind, match = max(begins, key=lambda b: b[0])
    if kind == "values":
        opening = _opening(characters, match.start(), found)
        assert opening is not None
        low, high = _ends(text, match)
        body = _piece(text, opening[1], match.start())
        return OperatorText("values", start, match.end(), body, "", low, high)
    if kind == "limit":
        return _limit(text, match)
    return _integral(text, match, nested=len(begins) > 1)


def _piece(text: SideText, start: int, end: int) -> SideText:
    return SideText(text.start + start, text.text[start:end], text.notation)


def _ends(text: SideText, match: re.Match[str]) -> tuple[SideText | None, SideText | None]:
    """Return the bounds that a match has."""
    groups = {k: v for k, v in match.groupdict().items() if v is not None}
    if "only" in groups:
        raise ProgramSyntaxError("an integral over a region is not read", expected="two bounds, or none")
    low = next((k for k in ("low", "second", "sub") if k in groups), None)
    high = next((k for k in ("high", "first", "sup", "raised") if k in groups), None)
    if low is None or high is None:
        return None, None

    def side(name: str) -> SideText:
        inside = groups[name].translate(_SPELLED)
        outer = inside[:1] == "{" and inside[-1:] == "}"
        return SideText(
            text.start + match.start(name) + outer, inside[1:-1] if outer else inside, text.notation
        )

    return side(low), side(high)


def _opening(characters: str, close: int, notation: str) -> tuple[int, int] | None:
    """Return where the bracket begins that is closed at a place, and where what is in it begins."""
    depth = 0
    if notation == "latex" and re.match(r"(?:\\(?:right|[bB]igg?r?))?\s*(?:\||\\vert)", characters[close:]):
        left = characters.rfind(r"\left.", 0, close)
        return None if left < 0 or r"\right" in characters[left:close] else (left, left + 6)
    for k in range(close - 1, -1, -1):
        depth += (characters[k] in ")]}") - (characters[k] in "([{")
        if depth < 0:
            if characters[k] != "[":
                return None
            before = re.search(r"\\(?:left|[bB]igg?l?)\s*$", characters[:k])
            return (k if before is None else before.start()), k + 1
    return None


def _term_end(characters: str, start: int, *, all_terms: bool = False) -> int:
    """Return where the term ends that begins at a place: at a + or - outside of brackets, or a closing bracket."""
    depth, empty = 0, True
    for k in range(start, len(characters)):
        c = characters[k]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth < 0:
                return k
        elif (
            depth == 0
            and c in "+-−"
            and not empty
            and not all_terms
            and characters[:k].rstrip()[-1:] not in "^*/·_"
        ):
            return k
        empty = empty and c.isspace()
    return len(characters)


def _limit(text: SideText, match: re.Match[str]) -> OperatorText:
    characters, by = text.text, match["by"]
    end = _term_end(characters, match.end())
    whole = _term_end(characters, match.end(), all_terms=True)
    if re.search(rf"(?<![a-zA-Z\\]){re.escape(by)}(?![a-zA-Z])", characters[end:whole]):
        end = whole
    side = "" if match["side"] is None else match["side"].strip(" ^{}")
    at = SideText(text.start + match.start("at"), match["at"], text.notation)
    return OperatorText(
        "limit", match.start(), end, _piece(text, match.end(), end), by, at, None, side or "+-"
    )


def _differentials(characters: str, start: int, end: int, notation: str) -> list[re.Match[str]]:
    """Return the differentials in a part of a text, but for those in derivatives."""
    found: list[re.Match[str]] = []
    for m in _DIFFERENTIAL[notation].finditer(characters, start, end):
        before, behind = characters[start : m.start()], characters[m.end() : end].lstrip()
        if notation == "latex":
            if _COMMAND_END.search(before) and m[0][0] != "\\":
                continue
            if re.search(r"\\d?frac\s*\{\s*d[^{}]*\}\s*\{\s*$", before) or re.match(r"\}\s*\{\s*d", behind):
                continue
        elif re.match(r"/\s*d[^\W\d_]", behind) or re.search(r"d[^\W\d_]?\w*\s*/\s*$", before):
            continue
        found.append(m)
    return found


def _integral(text: SideText, match: re.Match[str], *, nested: bool) -> OperatorText:
    characters, notation = text.text, text.notation
    bounds = _WORDS.match(characters, match.end()) or _BOUNDS[notation].match(characters, match.end())
    assert bounds is not None
    low, high = _ends(text, bounds)
    first, last = bounds.end(), _term_end(characters, bounds.end(), all_terms=True)
    found = _differentials(characters, first, last, notation)
    outer = [m for m in found if _depth(characters, first, m.start()) == 0]
    if not found:
        raise ProgramSyntaxError(
            "the integral does not say over what", expected="dx behind what is integrated"
        )
    chosen = (outer or found)[0]
    by = chosen.groupdict().get("by") or chosen["glued"]
    space = _SPACE.match(characters, chosen.end())
    behind = chosen.end() if space is None else space.end()
    end, body = chosen.end(), list(characters)
    gap = chosen.end() - chosen.start()
    empty = not characters[first : chosen.start()].strip()
    if not outer:  # \frac{dx}{x}, (x dx)/(1 + x²)
        end = _term_end(characters, chosen.end())
        while end < len(characters) and characters[end] in ")]}" and _depth(characters, first, end) > 0:
            end = _term_end(characters, end + 1)
        alone = characters[: chosen.start()].rstrip()[-1:] in ("{", "(")
        body[chosen.start() : chosen.end()] = ("1" if alone else "").ljust(gap)
    elif characters[behind : behind + 1] == "/":
        if not empty and _term_end(characters, first) < chosen.start():
            raise ProgramSyntaxError(
                "the slash behind the differential may divide a part", expected="brackets"
            )
        end = _term_end(characters, behind + 1)
        body[chosen.start() : chosen.end()] = ("1" if empty else "").ljust(gap)
    elif empty and behind < len(characters) and characters[behind] not in "+-−)]}":  # \int dx f(x)
        end = _term_end(characters, behind)
        body[chosen.start() : chosen.end()] = " " * gap
    else:
        body[chosen.start() : chosen.end()] = ("1" if empty else "").ljust(gap)
        late = _BEHIND.match(characters, chosen.end()) if low is None else None
        if late is not None:
            (low, high), behind = _ends(text, late), late.end()
        inside = SideText(text.start + first, "".join(body[first:end]), notation)
        if late is not None:
            return OperatorText("integral", match.start(), behind, inside, by, low, high)
        rest = characters[behind : behind + 1]
        goes_on = nested and any(m.start() == behind for m in found)
        ends = "+-−)]},;:.=≈" if "\n" not in characters[chosen.end() : behind] else rest
        closed = characters.startswith(r"\right", behind)
        if rest and rest not in ends and not (goes_on or closed):
            raise ProgramSyntaxError(
                "it is not clear where the integral ends", expected="+, - or a bracket behind dx"
            )
    inside = SideText(text.start + first, "".join(body[first:end]), notation)
    return OperatorText("integral", match.start(), end, inside, by, low, high)


def _depth(characters: str, start: int, end: int) -> int:
    part = characters[start:end]
    return sum(map(part.count, "([{")) - sum(map(part.count, ")]}"))
