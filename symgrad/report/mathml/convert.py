r"""Convert the LaTeX that symgrad prints to MathML Core.

    Row  ::= (Atom Scripts)*
    Atom ::= letter | number | sign | \symbol | { Row } | \left d Row \right d | \command Atom* | \begin{e} rows \end{e}

The parser keeps a stack instead of recursing, so that formulas may nest to any depth. Every character becomes a token
element with escaped text; unknown input is rejected and never passed on as markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape

from symgrad.report.mathml.markup import (
    ARGUMENTS,
    PASSED,
    WORDS,
    Atom,
    NotMathML,
    character,
    command,
    fenced,
    grouped,
    plain_text,
    row,
    script,
    symbol,
    table,
    word,
)
from symgrad.report.mathml.vocabulary import DELIMITERS, ENVIRONMENTS, SPACES


@dataclass(slots=True)
class _Frame:
    """An open construct: a row, a command that needs arguments, or a script that needs its content."""

    kind: str  # one of: row, group, left, env, command, script
    word: str = ""
    atoms: list[Atom] = field(default_factory=list[Atom])
    rows: list[list[str]] = field(default_factory=list[list[str]])
    needed: int = 0


def mathml(latex: str, *, display: bool = False, large: bool = False, annotated: bool = True) -> str:
    r"""Convert LaTeX to an element of MathML, with the LaTeX as its annotation.

    Args:
        latex: a formula, as symgrad prints it.
        display: whether it is a displayed formula.
        large: whether an inline formula has large fractions.
        annotated: whether to add the LaTeX.

    Raises:
        NotMathML: for unsupported LaTeX.

    Example:
        >>> mathml(r"\frac{x}{2}")
        '<math><semantics><mfrac><mi>x</mi><mn>2</mn></mfrac><annotation encoding="application/x-tex">...
    """
    body = _MathReader(latex).read()
    kind = ' display="block"' if display else ' displaystyle="true"' if large else ""
    if not annotated:
        return f"<math{kind}>{body}</math>"
    annotation = f'<annotation encoding="application/x-tex">{escape(latex, quote=False)}</annotation>'
    return f"<math{kind}><semantics>{body}{annotation}</semantics></math>"


# A command, a number, or one character.
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|[\s\S])|\d(?:\d|\.(?=\d))*|[\s\S]")


def _tokens(text: str) -> list[str]:
    tokens = _TOKEN.findall(text)
    if tokens and tokens[-1] == "\\":
        raise NotMathML("a backslash at the end")
    return tokens


class _MathReader:
    def __init__(self, latex: str) -> None:
        self.tokens = _tokens(latex)
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
        return row(self.stack[0].atoms)

    # -- the stack ---------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Check that no command or script lacks arguments."""
        if self.stack[-1].kind in ("command", "script"):
            raise NotMathML(f"{self.stack[-1].word} has too few arguments")

    def _give(self, atom: Atom) -> None:
        """Append an atom, and complete the commands for which it is the last argument."""
        while True:
            top = self.stack[-1]
            top.atoms.append(atom)
            if top.kind not in ("command", "script") or len(top.atoms) < top.needed:
                return
            self.stack.pop()
            atom = script(top.word, *top.atoms) if top.kind == "script" else command(top.word, top.atoms)

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
            self._give(grouped(self._close("group").atoms))
        elif token in "^_":
            self._scripts(token)
        elif token == "&":
            self._cell()
        elif token == "'":
            self._scripts("^")
            self._give(Atom("<mo>′</mo>"))
        else:
            self._give(character(token))

    def _scripts(self, mark: str) -> None:
        """Make the previous atom the base of a script; a second script joins the first."""
        top = self.stack[-1]
        if top.kind in ("command", "script"):
            raise NotMathML("a script where an argument is expected")
        while top.atoms and top.atoms[-1].kind == "space":
            top.atoms.pop()
        base = top.atoms.pop() if top.atoms else Atom("<mrow></mrow>")
        self._open("script", mark, needed=2).atoms.append(base)

    def _take_command(self, token: str) -> None:
        name = token[1:]
        if name == "\\":
            self._line()
        elif name in SPACES:
            if self.stack[-1].kind not in ("command", "script"):
                self._give(Atom(f'<mspace width="{SPACES[name]}"/>', "space"))
        elif name == "left":
            self._open("left", self._delimiter())
        elif name == "right":
            frame = self._close("left")
            self._give(fenced(frame.word, frame.atoms, self._delimiter()))
        elif name == "begin":
            self._begin(self._raw())
        elif name == "end":
            self._end(self._raw())
        elif name in ("text", "textrm", "mbox"):
            self._give(Atom(f"<mtext>{escape(self._raw().replace(' ', chr(160)))}</mtext>"))
        elif name in WORDS:
            self._give(word(name, self._word_text()))
        elif name in ARGUMENTS:
            self._argument_command(name)
        elif name not in PASSED:
            self._give(symbol(token))

    def _argument_command(self, name: str) -> None:
        if name == "sqrt" and self._next() == "[":
            self.at += 1
            degree = self._until("]")
            inner = _MathReader("")
            inner.tokens = degree
            self._open("command", "root", needed=2).atoms.append(Atom(inner.read()))
            return
        self._open("command", name, needed=ARGUMENTS[name])

    # -- text --------------------------------------------------------------------------------------------------------

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
        """Return the text in braces verbatim."""
        if self._next() != "{":
            raise NotMathML("{ is missing")
        self.at += 1
        return plain_text(self._until("}"))

    def _word_text(self) -> str:
        if self._next() == "*":  # operatorname* has its limits below
            self.at += 1
        token = self._next()
        if token == "{":
            return self._raw()
        self.at += 1
        return plain_text([token]) if token else ""

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
        top.rows[-1].append(row(top.atoms))
        top.atoms.clear()

    def _line(self) -> None:
        self._cell()
        self.stack[-1].rows.append([])

    def _end(self, name: str) -> None:
        frame = self._close("env")
        if frame.word != ("matrix" if name == "array" else name):
            raise NotMathML(f"the end of {name}")
        if frame.atoms or frame.rows[-1]:
            frame.rows[-1].append(row(frame.atoms))
        self._give(table(frame.word, [r for r in frame.rows if r]))
