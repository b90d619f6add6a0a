r"""LaTeX, as symgrad prints it, as MathML Core.

    Row  ::= (Atom Scripts)*
    Atom ::= letter | number | sign | \symbol | { Row } | \left d Row \right d | \command Atom* | \begin{e} rows \end{e}

The reader has a stack instead of calls that nest, so that no formula is too deep. Every character becomes a token
element with its text escaped: what is not understood is refused, and never passed on as markup.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    row,
    script,
    symbol,
    table,
    word,
    words_of,
)
from symgrad.report.mathml.vocabulary import DELIMITERS, ENVIRONMENTS, SPACES

__all__ = ["NotMathML", "mathml"]


@dataclass(slots=True)
class _Frame:
    """What is open: a row, a command that waits for arguments, or scripts that wait for theirs."""

    kind: str  # row, group, left, env, command, script
    word: str = ""
    atoms: list[Atom] = field(default_factory=list[Atom])
    rows: list[list[str]] = field(default_factory=list[list[str]])
    needed: int = 0


def mathml(latex: str, *, display: bool = False, large: bool = False, annotated: bool = True) -> str:
    r"""Return LaTeX as an element of MathML, which keeps the LaTeX as its annotation.

    Args:
        latex: a formula, as symgrad prints it.
        display: whether it stands on a line of its own.
        large: whether its fractions are as large as there, beside words.
        annotated: whether it keeps the LaTeX.

    Raises:
        NotMathML: for LaTeX of another kind.

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
        return row(self.stack[0].atoms)

    # -- what is on the stack --------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """End scripts that have no base or argument to wait for."""
        if self.stack[-1].kind in ("command", "script"):
            raise NotMathML(f"{self.stack[-1].word} has too few arguments")

    def _give(self, atom: Atom) -> None:
        """Give an atom to what waits for it."""
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
            self._prime()
        else:
            self._give(character(token))

    def _scripts(self, mark: str) -> None:
        """Take the atom before as the base of a script; a second script joins the first."""
        top = self.stack[-1]
        if top.kind in ("command", "script"):
            raise NotMathML("a script where an argument is expected")
        while top.atoms and top.atoms[-1].kind == "space":
            top.atoms.pop()
        base = top.atoms.pop() if top.atoms else Atom("<mrow></mrow>")
        self._open("script", mark, needed=2).atoms.append(base)

    def _prime(self) -> None:
        self._scripts("^")
        self._give(Atom("<mo>′</mo>"))

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

    def _give_space(self, width: str) -> None:
        if self.stack[-1].kind not in ("command", "script"):
            self._give(Atom(f'<mspace width="{width}"/>', "space"))

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
        return words_of(self._until("}"))

    def _word_text(self) -> str:
        if self._next() == "*":  # operatorname*, whose limits stand below
            self.at += 1
        return self._raw() if self._next() == "{" else self._single()

    def _single(self) -> str:
        token = self._next()
        self.at += 1
        return words_of([token]) if token else ""

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
