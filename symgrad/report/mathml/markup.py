"""The elements of MathML for formulas, with all text escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from symgrad.report.mathml.vocabulary import (
    DELIMITERS,
    ENVIRONMENTS,
    ESCAPES,
    FUNCTIONS,
    LARGE,
    LETTERS,
    OPERATORS,
    RELATIONS,
)

_APPLY = "<mo>&#x2061;</mo>"  # function application: an invisible character that is read aloud
_THIN = '<mspace width="0.1667em"/>'
_NAMED = ("fn", "limit")
_BESIDE = ("ord", "group", "fenced")
_WIDE = frozenset(
    ("sum", "prod", "bigcup", "bigcap", "bigwedge", "bigvee", "max", "min", "lim", "sup", "inf")
)
_ACCENTS = {"hat": "^", "widehat": "^", "tilde": "~", "widetilde": "~", "dot": "˙", "ddot": "¨", "vec": "→"}
_BARS = {"overline": ("mover", "‾"), "bar": ("mover", "‾"), "underline": ("munder", "_")}
WORDS = frozenset(
    ("mathrm", "mathtt", "mathbf", "mathit", "mathsf", "mathbb", "mathcal", "boldsymbol", "operatorname")
)
PASSED = frozenset(
    ("mathrel", "mathbin", "mathord", "mathop", "displaystyle", "textstyle", "limits", "nolimits")
)
ARGUMENTS = {
    "frac": 2,
    "dfrac": 2,
    "tfrac": 2,
    "binom": 2,
    "overset": 2,
    "underset": 2,
    "sqrt": 1,
    "root": 2,
} | dict.fromkeys((*_ACCENTS, *_BARS), 1)


class NotMathML(ValueError):
    """LaTeX outside the subset that symgrad prints."""


class Atom(NamedTuple):
    """An item of a row.

    Args:
        base: the markup of the item, without scripts.
        kind: its class for spacing: ord, sign, rel, operator, open, fn, limit, wide, group, fenced, space.
        below: the markup of its subscript.
        above: the markup of its superscript.
        tall: whether delimiters around it must grow.
    """

    base: str
    kind: str = "ord"
    below: str = ""
    above: str = ""
    tall: bool = False

    @property
    def markup(self) -> str:
        """The markup with scripts; the scripts of operators with limits are below and above."""
        if not self.below and not self.above:
            return self.base
        limits = self.kind in ("wide", "limit")
        tags = ("munder", "mover", "munderover") if limits else ("msub", "msup", "msubsup")
        tag = tags[2 if self.below and self.above else 0 if self.below else 1]
        return f"<{tag}>{self.base}{self.below}{self.above}</{tag}>"


def row(atoms: Sequence[Atom]) -> str:
    """Join atoms into one element: a sign without a left operand is a prefix, and functions are applied.

    A thin space separates the name of a function from a factor before it, as in TeX.
    """
    parts: list[str] = []
    before = "open"
    for k, atom in enumerate(atoms):
        markup = atom.markup
        if atom.kind == "sign" and before in ("open", "rel", "sign", "operator", "wide"):
            markup = markup.replace("<mo>", '<mo form="prefix">', 1)
        if atom.kind in _NAMED and before in _BESIDE and atoms[k - 1].kind != "space":
            parts.append(_THIN)
        parts.append(markup)
        after = next((a for a in atoms[k + 1 :] if a.kind != "space"), None)
        if atom.kind in _NAMED and after is not None and after.kind in (*_BESIDE, *_NAMED):
            parts.append(_APPLY)
        if atom.kind != "space":
            before = atom.kind
    return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"


def character(c: str) -> Atom:
    """Return the atom of a character, or of the digits of a number."""
    if c[0].isdecimal():
        return Atom(f"<mn>{c}</mn>")
    if c in "+-±":
        return Atom(f"<mo>{'−' if c == '-' else c}</mo>", "sign")
    if c in "=<>:":
        return Atom(f"<mo>{escape(c)}</mo>", "rel")
    if c in "([":
        return Atom(f'<mo stretchy="false">{c}</mo>', "open")
    if c in ")]|":
        return Atom(f'<mo stretchy="false">{c}</mo>')
    if c in ",;":
        return Atom(f"<mo>{c}</mo>", "operator")
    if c in "*/!~.":
        return Atom(f"<mo>{c}</mo>" if c != "~" else '<mspace width="0.25em"/>', "operator")
    if unicodedata.category(c)[0] in "LMN":
        return Atom(f"<mi>{c}</mi>")
    if unicodedata.category(c)[0] in "SP" and c not in '$#%"`@':
        return Atom(f"<mo>{escape(c)}</mo>", "operator")
    raise NotMathML(f"the character {c!r}")


def symbol(token: str) -> Atom:
    """Return the atom of a command without arguments."""
    name = token[1:]
    if name in LETTERS:
        upright = ' mathvariant="normal"' if name in ("partial", "nabla", "infty", "top", "bot") else ""
        return Atom(f"<mi{upright}>{LETTERS[name]}</mi>")
    if name in OPERATORS:
        return Atom(f"<mo>{OPERATORS[name]}</mo>", "operator")
    if name in RELATIONS:
        return Atom(f"<mo>{escape(RELATIONS[name])}</mo>", "rel")
    if name in ("neg", "lnot"):
        return Atom('<mo form="prefix">¬</mo>', "operator")
    if name in LARGE:
        return Atom(f"<mo>{LARGE[name]}</mo>", "wide" if name in _WIDE else "ord", tall=True)
    if name in FUNCTIONS:
        return _function(name)
    if token in DELIMITERS:
        return Atom(f'<mo stretchy="false">{escape(DELIMITERS[token])}</mo>')
    if name in ESCAPES:
        return Atom(f"<mi>{escape(name)}</mi>")
    raise NotMathML(f"the command {token}")


def _function(name: str) -> Atom:
    return Atom(f"<mi>{escape(name)}</mi>", "limit" if name in _WIDE else "fn")


_BOLD = {"0": 0x1D7CE, "A": 0x1D400, "a": 0x1D41A}
_CALLIGRAPHIC = {"A": 0x1D49C, "a": 0x1D4B6}
_DOUBLE = {"0": 0x1D7D8, "A": 0x1D538, "a": 0x1D552}
_RANGES = {"mathbf": _BOLD, "boldsymbol": _BOLD, "mathbb": _DOUBLE, "mathcal": _CALLIGRAPHIC}
_NUMBER_SETS = dict(zip("RCNZQ", "ℝℂℕℤℚ", strict=True))  # these letters are outside the range of the others


def word(style: str, text: str) -> Atom:
    """Return a name in a style; MathML Core has only an upright style, so other characters stand for styled letters."""
    if style == "operatorname":
        return _function(text)
    if style == "mathtt":
        return Atom(f'<mi class="sg-tt">{escape(text)}</mi>')
    if style in _RANGES:
        text = "".join(_styled(c, _RANGES[style]) for c in text)
    elif style == "mathit" and len(text) > 1:
        return Atom(f'<mi class="sg-it">{escape(text)}</mi>')
    upright = ' mathvariant="normal"' if len(text) == 1 and style in ("mathrm", "mathsf") else ""
    return Atom(f"<mi{upright}>{escape(text)}</mi>" if not text.isdecimal() else f"<mn>{text}</mn>")


def _styled(c: str, ranges: dict[str, int]) -> str:
    if ranges is _DOUBLE and c in _NUMBER_SETS:
        return _NUMBER_SETS[c]
    first = "0" if c.isdecimal() else "A" if c.isupper() else "a"
    return chr(ranges[first] + ord(c) - ord(first)) if c.isascii() and c.isalnum() and first in ranges else c


def plain_text(tokens: Sequence[str]) -> str:
    """Return tokens as plain words, with escapes resolved."""
    words: list[str] = []
    for token in tokens:
        if token in "{}":
            continue
        if token == "$":
            raise NotMathML("a formula among words")
        if token[0] == "\\":
            if token[1:] not in ESCAPES:
                raise NotMathML(f"the command {token} among words")
            token = token[1:]
        words.append(token)
    return "".join(words)


def _tall(atoms: Sequence[Atom]) -> bool:
    return any(a.tall for a in atoms)


def grouped(atoms: Sequence[Atom]) -> Atom:
    """Group the atoms in braces into one atom."""
    return Atom(row(atoms), "group", tall=_tall(atoms))


def fenced(left: str, atoms: Sequence[Atom], right: str) -> Atom:
    """Enclose atoms in delimiters, which grow if necessary: stretchy delimiters get more space."""
    grown = "true" if _tall(atoms) else "false"
    opening = f'<mo form="prefix" stretchy="{grown}">{escape(left)}</mo>' if left else ""
    closing = f'<mo form="postfix" stretchy="{grown}">{escape(right)}</mo>' if right else ""
    return Atom(f"<mrow>{opening}{row(atoms)}{closing}</mrow>", "fenced", tall=_tall(atoms))


def command(name: str, atoms: Sequence[Atom]) -> Atom:
    """Return the atom of a command with arguments."""
    first, *others = (a.markup for a in atoms)
    if name in ("frac", "dfrac", "tfrac"):
        return Atom(f"<mfrac>{first}{others[0]}</mfrac>", tall=True)
    if name == "binom":
        return Atom(f'<mrow><mo>(</mo><mfrac linethickness="0">{first}{others[0]}</mfrac><mo>)</mo></mrow>')
    if name in ("overset", "underset"):
        tag = "mover" if name == "overset" else "munder"
        return Atom(f"<{tag}>{others[0]}{first}</{tag}>", atoms[1].kind)
    if name == "sqrt":
        return Atom(f"<msqrt>{first}</msqrt>", tall=_tall(atoms))
    if name == "root":
        return Atom(f"<mroot>{others[0]}{first}</mroot>")
    if name in _BARS:
        tag, bar = _BARS[name]
        return Atom(f'<{tag} class="sg-bar">{first}<mo stretchy="true">{bar}</mo></{tag}>', tall=_tall(atoms))
    return Atom(f'<mover accent="true">{first}<mo stretchy="false">{_ACCENTS[name]}</mo></mover>')


def script(mark: str, base: Atom, added: Atom) -> Atom:
    """Add a script to a base."""
    if base.above if mark == "^" else base.below:
        raise NotMathML("two scripts at one place")
    return base._replace(above=added.markup) if mark == "^" else base._replace(below=added.markup)


def table(name: str, rows: Sequence[Sequence[str]]) -> Atom:
    """Return the atom of an environment with rows."""
    style, left, right = ENVIRONMENTS[name]
    cells = "".join(f"<mtr>{''.join(f'<mtd>{c}</mtd>' for c in row)}</mtr>" for row in rows)
    shown = ' displaystyle="true"' if style == "sg-aligned" else ""
    table = f"<mtable{f' class={chr(34)}{style}{chr(34)}' if style else ''}{shown}>{cells}</mtable>"
    atom = Atom(table, tall=True)
    return fenced(left, [atom], right) if left or right else atom
