r"""LaTeX, as symgrad prints it, as MathML Core.

    Row  ::= (Atom Scripts)*
    Atom ::= letter | number | sign | \symbol | { Row } | \left d Row \right d | \command Atom* | \begin{e} rows \end{e}

The reader has a stack instead of calls that nest, so that no formula is too deep. Every character becomes a token
element with its text escaped: what is not understood is refused, and never passed on as markup.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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
    SPACES,
)

__all__ = ["NotMathML", "mathml"]

_APPLY = "<mo>&#x2061;</mo>"  # a function is applied: nothing to see, but it is read aloud
_WIDE = frozenset(
    ("sum", "prod", "bigcup", "bigcap", "bigwedge", "bigvee", "max", "min", "lim", "sup", "inf")
)
_ACCENTS = {"hat": "^", "widehat": "^", "tilde": "~", "widetilde": "~", "dot": "˙", "ddot": "¨", "vec": "→"}
_BARS = {"overline": ("mover", "‾"), "bar": ("mover", "‾"), "underline": ("munder", "_")}
_WORDS = frozenset(
    ("mathrm", "mathtt", "mathbf", "mathit", "mathsf", "mathbb", "mathcal", "boldsymbol", "operatorname")
)
_PASSED = frozenset(
    ("mathrel", "mathbin", "mathord", "mathop", "displaystyle", "textstyle", "limits", "nolimits")
)
_ARGUMENTS = {
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
    """LaTeX that is not in the part of it that symgrad prints."""


class _Atom(NamedTuple):
    """What stands at one place of a row.

    Args:
        base: its markup, without scripts.
        kind: what it is for its neighbours: ord, sign, rel, operator, open, fn, limit, wide, group, fenced, space.
        below: the markup of its subscript.
        above: that of its superscript.
        tall: whether delimiters around it have to grow.
    """

    base: str
    kind: str = "ord"
    below: str = ""
    above: str = ""
    tall: bool = False

    @property
    def markup(self) -> str:
        """It with its scripts, which stand below and above what has limits."""
        parts = [self.base, self.below, self.above]
        tags = (
            ("munder", "mover", "munderover")
            if self.kind in ("wide", "limit")
            else ("msub", "msup", "msubsup")
        )
        if not self.below and not self.above:
            return self.base
        tag = tags[2 if self.below and self.above else 0 if self.below else 1]
        return f"<{tag}>{''.join(parts)}</{tag}>"


@dataclass(slots=True)
class _Frame:
    """What is open: a row, a command that waits for arguments, or scripts that wait for theirs."""

    kind: str  # row, group, left, env, command, script
    word: str = ""
    atoms: list[_Atom] = field(default_factory=list[_Atom])
    rows: list[list[str]] = field(default_factory=list[list[str]])
    needed: int = 0


def mathml(latex: str, *, display: bool = False, large: bool = False) -> str:
    r"""Return LaTeX as an element of MathML, which keeps the LaTeX as its annotation.

    Args:
        latex: a formula, as symgrad prints it.
        display: whether it stands on a line of its own.
        large: whether its fractions are as large as there, beside words.

    Raises:
        NotMathML: for LaTeX of another kind.

    Example:
        >>> mathml(r"\frac{x}{2}")
        '<math><semantics><mfrac><mi>x</mi><mn>2</mn></mfrac><annotation encoding="application/x-tex">...
    """
    body = _MathReader(latex).read()
    kind = ' display="block"' if display else ' displaystyle="true"' if large else ""
    annotation = f'<annotation encoding="application/x-tex">{escape(latex, quote=False)}</annotation>'
    return f"<math{kind}><semantics>{body}{annotation}</semantics></math>"


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = at + 1
        if text[at] == "\\":
            if end == len(text):
                raise NotMathML("a backslash at the end")
            end += 1
            if text[at + 1].isascii() and text[at + 1].isalpha():
                while end < len(text) and text[end].isascii() and text[end].isalpha():
                    end += 1
        elif text[at].isdecimal():
            while end < len(text) and (
                text[end].isdecimal() or (text[end] == "." and text[end + 1 : end + 2].isdecimal())
            ):
                end += 1
        yield text[at:end]
        at = end


class _MathReader:
    def __init__(self, latex: str) -> None:
        self.tokens = list(_tokens(latex))
        self.at = 0
        self.stack = [_Frame("row")]

    def read(self) -> str:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            self._take(token)
        self._settle()
        if len(self.stack) > 1:
            raise NotMathML(f"{self.stack[-1].kind} is not closed")
        return _row(self.stack[0].atoms)

    # -- what is on the stack --------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """End scripts that have no base or argument to wait for."""
        if self.stack[-1].kind in ("command", "script"):
            raise NotMathML(f"{self.stack[-1].word} has too few arguments")

    def _give(self, atom: _Atom) -> None:
        """Give an atom to what waits for it."""
        while True:
            top = self.stack[-1]
            top.atoms.append(atom)
            if top.kind not in ("command", "script") or len(top.atoms) < top.needed:
                return
            self.stack.pop()
            atom = _script(top) if top.kind == "script" else _command(top.word, top.atoms)

    def _open(self, kind: str, word: str = "", needed: int = 0) -> _Frame:
        frame = _Frame(kind, word, needed=needed)
        self.stack.append(frame)
        return frame

    def _close(self, kind: str) -> _Frame:
        self._settle()
        if self.stack[-1].kind != kind:
            raise NotMathML(f"{kind} is closed, but {self.stack[-1].kind} is open")
        return self.stack.pop()

    # -- tokens ----------------------------------------------------------------------------------------------------

    def _take(self, token: str) -> None:
        if token.isspace():
            return
        if token[0] == "\\" and len(token) > 1:
            self._take_command(token)
        elif token == "{":
            self._open("group")
        elif token == "}":
            self._give(_grouped(self._close("group").atoms))
        elif token in "^_":
            self._scripts(token)
        elif token == "&":
            self._cell()
        elif token == "'":
            self._prime()
        else:
            self._give(_character(token))

    def _scripts(self, mark: str) -> None:
        """Take the atom before as the base of a script; a second script joins the first."""
        top = self.stack[-1]
        if top.kind in ("command", "script"):
            raise NotMathML("a script where an argument is expected")
        while top.atoms and top.atoms[-1].kind == "space":
            top.atoms.pop()
        base = top.atoms.pop() if top.atoms else _Atom("<mrow></mrow>")
        self._open("script", mark, needed=2).atoms.append(base)

    def _prime(self) -> None:
        self._scripts("^")
        self._give(_Atom("<mo>′</mo>"))

    def _take_command(self, token: str) -> None:
        name = token[1:]
        if name == "\\":
            self._line()
        elif name in SPACES:
            self._give_space(SPACES[name])
        elif name == "left":
            self._open("left", self._delimiter())
        elif name == "right":
            frame = self._close("left")
            self._give(_fenced(frame.word, frame.atoms, self._delimiter()))
        elif name == "begin":
            self._begin(self._raw())
        elif name == "end":
            self._end(self._raw())
        elif name in ("text", "textrm", "mbox"):
            self._give(_Atom(f"<mtext>{escape(self._raw().replace(' ', chr(160)))}</mtext>"))
        elif name in _WORDS:
            self._give(_word(name, self._word_text()))
        elif name in _ARGUMENTS:
            self._argument_command(name)
        elif name not in _PASSED:
            self._give(_symbol(token))

    def _argument_command(self, name: str) -> None:
        if name == "sqrt" and self._next() == "[":
            self.at += 1
            degree = self._until("]")
            inner = _MathReader("")
            inner.tokens = degree
            self._open("command", "root", needed=2).atoms.append(_Atom(inner.read()))
            return
        self._open("command", name, needed=_ARGUMENTS[name])

    def _give_space(self, width: str) -> None:
        if self.stack[-1].kind not in ("command", "script"):
            self._give(_Atom(f'<mspace width="{width}"/>', "space"))

    # -- stretches of text -----------------------------------------------------------------------------------------

    def _next(self) -> str:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _until(self, end: str) -> list[str]:
        depth, start = 0, self.at
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token == end and not depth:
                return self.tokens[start : self.at - 1]
            depth += (token == "{") - (token == "}")
        raise NotMathML(f"{end} is missing")

    def _raw(self) -> str:
        """Return the text in braces, as it stands."""
        if self._next() != "{":
            raise NotMathML("{ is missing")
        self.at += 1
        return _said(self._until("}"))

    def _word_text(self) -> str:
        if self._next() == "*":  # operatorname*, whose limits stand below
            self.at += 1
        return self._raw() if self._next() == "{" else self._single()

    def _single(self) -> str:
        token = self._next()
        self.at += 1
        return _said([token]) if token else ""

    def _delimiter(self) -> str:
        token = self._next()
        self.at += 1
        if token == ".":
            return ""
        if token not in DELIMITERS:
            raise NotMathML(f"{token} is no delimiter")
        return DELIMITERS[token]

    # -- rows and columns ------------------------------------------------------------------------------------------

    def _begin(self, name: str) -> None:
        if name == "array":
            self._raw()
            name = "matrix"
        if name not in ENVIRONMENTS:
            raise NotMathML(f"the environment {name}")
        self._open("env", name).rows.append([])

    def _cell(self) -> None:
        self._settle()
        top = self.stack[-1]
        if top.kind != "env":
            raise NotMathML("& outside of rows and columns")
        top.rows[-1].append(_row(top.atoms))
        top.atoms.clear()

    def _line(self) -> None:
        self._cell()
        self.stack[-1].rows.append([])

    def _end(self, name: str) -> None:
        frame = self._close("env")
        if frame.word != ("matrix" if name == "array" else name):
            raise NotMathML(f"the end of {name}")
        if frame.atoms or frame.rows[-1]:
            frame.rows[-1].append(_row(frame.atoms))
        self._give(_table(frame.word, [r for r in frame.rows if r]))


# -- markup -----------------------------------------------------------------------------------------------------------


def _row(atoms: Sequence[_Atom]) -> str:
    """Return atoms as one element: signs that have nothing before them are prefixes, functions are applied."""
    parts: list[str] = []
    before = "open"
    for k, atom in enumerate(atoms):
        markup = atom.markup
        if atom.kind == "sign" and before in ("open", "rel", "sign", "operator", "wide"):
            markup = markup.replace("<mo>", '<mo form="prefix">', 1)
        parts.append(markup)
        after = next((a for a in atoms[k + 1 :] if a.kind != "space"), None)
        if (
            atom.kind in ("fn", "limit")
            and after is not None
            and after.kind in ("ord", "group", "fenced", "fn", "limit")
        ):
            parts.append(_APPLY)
        if atom.kind != "space":
            before = atom.kind
    return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"


def _character(c: str) -> _Atom:
    if c[0].isdecimal():
        return _Atom(f"<mn>{c}</mn>")
    if c in "+-±":
        return _Atom(f"<mo>{'−' if c == '-' else c}</mo>", "sign")
    if c in "=<>:":
        return _Atom(f"<mo>{escape(c)}</mo>", "rel")
    if c in "([":
        return _Atom(f'<mo stretchy="false">{c}</mo>', "open")
    if c in ")]|":
        return _Atom(f'<mo stretchy="false">{c}</mo>')
    if c in ",;":
        return _Atom(f"<mo>{c}</mo>", "operator")
    if c in "*/!~.":
        return _Atom(f"<mo>{c}</mo>" if c != "~" else '<mspace width="0.25em"/>', "operator")
    if unicodedata.category(c)[0] in "LMN":
        return _Atom(f"<mi>{c}</mi>")
    if unicodedata.category(c)[0] in "SP" and c not in '$#%"`@':
        return _Atom(f"<mo>{escape(c)}</mo>", "operator")
    raise NotMathML(f"the character {c!r}")


def _symbol(token: str) -> _Atom:
    name = token[1:]
    if name in LETTERS:
        upright = ' mathvariant="normal"' if name in ("partial", "nabla", "infty", "top", "bot") else ""
        return _Atom(f"<mi{upright}>{LETTERS[name]}</mi>")
    if name in OPERATORS:
        return _Atom(f"<mo>{OPERATORS[name]}</mo>", "operator")
    if name in RELATIONS:
        return _Atom(f"<mo>{escape(RELATIONS[name])}</mo>", "rel")
    if name in ("neg", "lnot"):
        return _Atom('<mo form="prefix">¬</mo>', "operator")
    if name in LARGE:
        return _Atom(f"<mo>{LARGE[name]}</mo>", "wide" if name in _WIDE else "ord", tall=True)
    if name in FUNCTIONS:
        return _function(name)
    if token in DELIMITERS:
        return _Atom(f'<mo stretchy="false">{escape(DELIMITERS[token])}</mo>')
    if name in ESCAPES:
        return _Atom(f"<mi>{escape(name)}</mi>")
    raise NotMathML(f"the command {token}")


def _function(name: str) -> _Atom:
    return _Atom(f"<mi>{escape(name)}</mi>", "limit" if name in _WIDE else "fn")


_BOLD = {"0": 0x1D7CE, "A": 0x1D400, "a": 0x1D41A}
_CALLIGRAPHIC = {"A": 0x1D49C, "a": 0x1D4B6}
_DOUBLE = {"0": 0x1D7D8, "A": 0x1D538, "a": 0x1D552}
_RANGES = {"mathbf": _BOLD, "boldsymbol": _BOLD, "mathbb": _DOUBLE, "mathcal": _CALLIGRAPHIC}
_ELSEWHERE = {
    "ℝ": (_DOUBLE, "R"),
    "ℂ": (_DOUBLE, "C"),
    "ℕ": (_DOUBLE, "N"),
    "ℤ": (_DOUBLE, "Z"),
    "ℚ": (_DOUBLE, "Q"),
}


def _word(style: str, text: str) -> _Atom:
    """Return a name in a style; MathML Core has no other one than upright, so that letters stand for styles."""
    if style == "operatorname":
        return _function(text)
    if style == "mathtt":
        return _Atom(f'<mi class="sg-tt">{escape(text)}</mi>')
    if style in _RANGES:
        text = "".join(_styled(c, _RANGES[style]) for c in text)
    elif style == "mathit" and len(text) > 1:
        return _Atom(f'<mi class="sg-it">{escape(text)}</mi>')
    upright = ' mathvariant="normal"' if len(text) == 1 and style in ("mathrm", "mathsf") else ""
    return _Atom(f"<mi{upright}>{escape(text)}</mi>" if not text.isdecimal() else f"<mn>{text}</mn>")


def _styled(c: str, ranges: dict[str, int]) -> str:
    for found, (table, letter) in _ELSEWHERE.items():
        if table is ranges and letter == c:
            return found
    first = "0" if c.isdecimal() else "A" if c.isupper() else "a"
    return chr(ranges[first] + ord(c) - ord(first)) if c.isascii() and c.isalnum() and first in ranges else c


def _said(tokens: Sequence[str]) -> str:
    """Return what tokens write as words: escapes are what they escape."""
    said: list[str] = []
    for token in tokens:
        if token in "{}$":
            continue
        if token[0] == "\\":
            if token[1:] not in ESCAPES:
                raise NotMathML(f"the command {token} among words")
            token = token[1:]
        said.append(token)
    return "".join(said)


def _tall(atoms: Sequence[_Atom]) -> bool:
    return any(a.tall for a in atoms)


def _grouped(atoms: Sequence[_Atom]) -> _Atom:
    return _Atom(_row(atoms), "group", tall=_tall(atoms))


def _fenced(left: str, atoms: Sequence[_Atom], right: str) -> _Atom:
    """Return atoms between delimiters, which grow where that is needed: those that may are set with more space."""
    grown = "true" if _tall(atoms) else "false"
    opening = f'<mo form="prefix" stretchy="{grown}">{escape(left)}</mo>' if left else ""
    closing = f'<mo form="postfix" stretchy="{grown}">{escape(right)}</mo>' if right else ""
    return _Atom(f"<mrow>{opening}{_row(atoms)}{closing}</mrow>", "fenced", tall=_tall(atoms))


def _command(name: str, atoms: Sequence[_Atom]) -> _Atom:
    first, *others = (a.markup for a in atoms)
    if name in ("frac", "dfrac", "tfrac"):
        return _Atom(f"<mfrac>{first}{others[0]}</mfrac>", tall=True)
    if name == "binom":
        return _Atom(f'<mrow><mo>(</mo><mfrac linethickness="0">{first}{others[0]}</mfrac><mo>)</mo></mrow>')
    if name in ("overset", "underset"):
        tag = "mover" if name == "overset" else "munder"
        return _Atom(f"<{tag}>{others[0]}{first}</{tag}>", atoms[1].kind)
    if name == "sqrt":
        return _Atom(f"<msqrt>{first}</msqrt>", tall=_tall(atoms))
    if name == "root":
        return _Atom(f"<mroot>{others[0]}{first}</mroot>")
    if name in _BARS:
        tag, bar = _BARS[name]
        return _Atom(
            f'<{tag} class="sg-bar">{first}<mo stretchy="true">{bar}</mo></{tag}>', tall=_tall(atoms)
        )
    return _Atom(f'<mover accent="true">{first}<mo stretchy="false">{_ACCENTS[name]}</mo></mover>')


def _script(frame: _Frame) -> _Atom:
    """Return a base with one script more."""
    base, script = frame.atoms
    if base.above if frame.word == "^" else base.below:
        raise NotMathML("two scripts at one place")
    return base._replace(above=script.markup) if frame.word == "^" else base._replace(below=script.markup)


def _table(name: str, rows: Sequence[Sequence[str]]) -> _Atom:
    style, left, right = ENVIRONMENTS[name]
    cells = "".join(f"<mtr>{''.join(f'<mtd>{c}</mtd>' for c in row)}</mtr>" for row in rows)
    shown = ' displaystyle="true"' if style == "sg-aligned" else ""
    table = f"<mtable{f' class={chr(34)}{style}{chr(34)}' if style else ''}{shown}>{cells}</mtable>"
    atom = _Atom(table, tall=True)
    return _fenced(left, [atom], right) if left or right else atom
