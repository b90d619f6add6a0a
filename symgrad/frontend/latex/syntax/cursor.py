r"""The position of the parser among the tokens, and its messages about an unexpected token."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.frontend.latex.syntax.lexer import LatexToken, latex_error
from symgrad.frontend.latex.syntax.vocabulary import (
    ACCENTS,
    BIG,
    FUNCTIONS,
    GREEK,
    OPERATORS,
    REFUSED,
    RELATIONS,
    STYLES,
)
from symgrad.ir.listing import suggest
from symgrad.support.errors import ProgramSyntaxError
from symgrad.support.source import Source

SIGN_WORDS = {
    "+": "plus", "-": "minus", "*": "star", "star": "star", "ast": "star", "dagger": "dagger", "circ": "circ",
    "perp": "perp", "parallel": "parallel", "infty": "infty", "'": "prime", "<": "below", ">": "above",
    "|": "given", "mid": "given", "/": "over", "=": "is", "top": "top", "bot": "bot", "cdot": "dot",
    "ldots": "dots", "dots": "dots", "!": "", ".": "", "~": "",
}  # fmt: skip

_PROSE = frozenset(
    (
        "if", "for", "when", "where", "with", "and", "otherwise", "else", "o.w.", "elsewhere", "so", "then", "hence",
        "thus", "given", "let", "or", "in case", "all", "for all", "until", "while", "at most",
    )
)  # fmt: skip

LOGICAL = frozenset(("vee", "lor", "wedge", "land", "veebar", "neg", "lnot", "right", "rightarrow", "mid"))


class Cursor:
    """A position in a list of tokens.

    Args:
        source: the text.
        tokens: the result of `split_rows`.

    Attributes:
        at: the number of tokens that are taken.
        in_cells: whether rows and cells of a matrix or of cases end an expression.
    """

    def __init__(self, source: Source, tokens: Sequence[LatexToken]) -> None:
        self.source = source
        self.tokens = list(tokens)
        self.at = 0
        self.in_cells = False

    def peek(self, ahead: int = 0) -> LatexToken | None:
        """Return a token that is not taken yet."""
        i = self.at + ahead
        return self.tokens[i] if i < len(self.tokens) else None

    def take(self) -> LatexToken:
        """Take the next token."""
        token = self.tokens[self.at]
        self.at += 1
        return token

    def here(self) -> LatexToken:
        """Return the next token, or a token for the end of the text."""
        end = len(self.source.text)
        return self.peek() or LatexToken("end", "", end, end)

    def skip_rows(self) -> None:
        """Skip the ends of rows if an expression cannot end here."""
        while not self.in_cells and (token := self.peek()) is not None and token.kind == "row":
            self.at += 1

    def _accept_command(self, names: Sequence[str]) -> LatexToken | None:
        token = self.peek()
        if token is not None and token.kind == "command" and token.text in names:
            return self.take()
        return None

    def is_sign(self, text: str, ahead: int = 0) -> bool:
        """Tell whether a sign is next."""
        token = self.peek(ahead)
        return token is not None and token.kind == "sign" and token.text == text

    def refuse(
        self,
        what: str,
        token: LatexToken,
        expected: str | None = None,
        cure: str = "write it out, or see docs/latex.md for the supported commands",
        *,
        cls: type[ProgramSyntaxError] = ProgramSyntaxError,
    ) -> ProgramSyntaxError:
        """Return an error that points at a token."""
        return latex_error(self.source, what, token.start, token.end, expected=expected, cure=cure, cls=cls)

    def said(self, token: LatexToken) -> str:
        """Return a token as messages quote it."""
        if token.kind == "row":
            return "the end of the line"
        return f"'{self.source.text[token.start : token.end]}'"

    def misplaced(self, token: LatexToken) -> ProgramSyntaxError:
        """Return the error for an unexpected token."""
        if (token.kind == "sign" and token.text in ")]}") or token.kind == "fence":
            return self.refuse(
                f"{self.said(token)} closes nothing",
                token,
                expected="an operator, or the end",
                cure="remove it, or open a bracket before",
            )
        if token.kind == "command" and token.text == "right":
            return self.refuse(
                r"\right without \left", token, r"\left before it", r"remove \right, or add \left"
            )
        if token.kind == "end":
            return self.refuse(f"\\end{{{token.text}}} is in the middle of an expression", token)
        return self.refuse(
            f"{self.said(token)} has no place here",
            token,
            expected="an operator, a relation or the end",
            cure="remove it, or complete what stands before it",
        )

    def missing_operand(self, token: LatexToken | None) -> ProgramSyntaxError:
        """Return the error for an operator without its operand, or an empty place."""
        if token is None or token.kind in ("row", "end"):
            end = self.here()
            return self.refuse(
                "the formula ends where a value is expected",
                end,
                expected="a number, a name, a function or a bracket",
                cure="write the value, or remove the operator before",
            )
        if token.kind == "command" and token.text not in OPERATORS and token.text not in RELATIONS:
            return self.refused(token)
        return self.refuse(
            f"{self.said(token)} stands where a value is expected",
            token,
            expected="a number, a name, a function or a bracket",
            cure=f"write a value before {self.said(token)}",
        )

    def refused(self, token: LatexToken) -> ProgramSyntaxError:
        """Return the error for a command that is not supported here."""
        if token.text in REFUSED:
            what, cure = REFUSED[token.text]
            return self.refuse(f"{what}: \\{token.text}", token, cure=cure)
        if token.text in ("right", "rangle"):
            return self.misplaced(token)
        if token.text in LOGICAL or token.text in STYLES:
            return self.refuse(
                f"\\{token.text} stands where a value is expected",
                token,
                expected="a number, a name, a function or a bracket",
                cure="write a value before it",
            )
        known = (
            *FUNCTIONS,
            *GREEK,
            *ACCENTS,
            *STYLES,
            *OPERATORS,
            *BIG,
            "frac",
            "binom",
            "sqrt",
            "left",
            "right",
            "nabla",
        )
        meant = suggest(token.text, known)
        return self.refuse(
            f"unknown command \\{token.text}",
            token,
            expected="a command for a letter, a function, a sign or a bracket",
            cure=meant.replace("'", "'\\", 1)
            if meant
            else rf"define it: \newcommand{{\{token.text}}}{{...}}",
        )

    def prose(self) -> tuple[str, int] | None:
        r"""Return the words of a \text{...} that joins formulas, and where the tokens continue.

        The result is None if none is next.
        """
        token = self.peek()
        if token is None or token.kind != "command" or token.text not in ("text", "textrm", "mbox", "mathrm"):
            return None
        if not self.is_sign("{", 1):
            return None
        inside, end = self._group_at(self.at + 1)
        word = self._spelled(inside, spaces=True)
        plain = word.strip(" ,.:").lower()
        return (word, end) if plain in _PROSE or plain.split()[:1] in (["if"], ["for"], ["when"]) else None

    def _group_at(self, i: int) -> tuple[list[LatexToken], int]:
        """Return the tokens in the braces that open at a position, and where the tokens continue."""
        depth, first = 0, i
        while i < len(self.tokens):
            if self.tokens[i].kind == "sign":
                depth += (self.tokens[i].text == "{") - (self.tokens[i].text == "}")
            i += 1
            if not depth:
                break
        return self.tokens[first + 1 : i - 1], i

    def group_tokens(self) -> list[LatexToken]:
        """Take a group in braces, or one token, and return its tokens."""
        self.skip_rows()
        if not self.is_sign("{"):
            return [self.take()] if self.peek() is not None else []
        inside, self.at = self._group_at(self.at)
        return inside

    def skip_group(self) -> None:
        """Skip a group in braces or one token."""
        self.group_tokens()

    def _spelled(self, tokens: Sequence[LatexToken], *, spaces: bool = False) -> str:
        """Return tokens as a word."""
        found = ""
        for token in tokens:
            if token.kind == "command" and token.text in STYLES:
                continue
            if token.kind == "sign" and token.text in "{}":
                continue
            found += (" " if spaces and token.spaced else "") + token.text
        return found

    def name_text(self, tokens: Sequence[LatexToken]) -> str:
        """Return tokens as part of a name: t + 1 as t_plus_1; an empty text if they cannot be one."""
        found = ""
        apart = False
        for token in tokens:
            text = token.text
            if (token.kind == "command" and text in STYLES) or (token.kind == "sign" and text in "{}()[]"):
                continue
            if token.kind in ("letter", "number"):
                found += f"_{text}" if apart and found else text
                apart = False
            elif token.kind == "command" and (text in GREEK or text in FUNCTIONS or text in BIG):
                found += f"_{text}" if found else text
                apart = True
            elif token.kind == "sign" and text in ",;":
                apart = True
            elif text in SIGN_WORDS:
                found += "_" * bool(found) + SIGN_WORDS[text]
                apart = True
            else:
                return ""
        return found.strip("_")
