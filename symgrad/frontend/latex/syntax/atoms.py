r"""The forms that bind most tightly: letters, numbers, groups, fractions, roots, accents, words, with their scripts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from symgrad.frontend.latex.syntax.cursor import LOGICAL, Cursor
from symgrad.frontend.latex.syntax.lexer import LatexToken
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import (
    Accent,
    Bracket,
    Command,
    Fraction,
    NumberTree,
    Root,
    Scripted,
    Tree,
    Word,
)
from symgrad.frontend.latex.syntax.vocabulary import (
    ACCENTS,
    BIG,
    BRACKETS,
    CONSTANTS,
    FUNCTIONS,
    GREEK,
    OPERATORS,
    RELATIONS,
    SIZES,
    STYLES,
)

_FRACTIONS = frozenset(("frac", "tfrac", "dfrac", "cfrac", "nicefrac", "sfrac"))
_BINOMIALS = frozenset(("binom", "tbinom", "dbinom"))
_WRAPPERS = """
    boxed mathop mathbin mathrel mathord ensuremath underbrace overbrace cancel smash
"""
_TRANSPARENT = frozenset(_WRAPPERS.split())
_PLAIN = frozenset(("nabla", "partial", "infty", "ldots", "dots", "cdots", "top", "emptyset", "intercal"))


class AtomRules(Cursor, ABC):
    """The rules for atoms, over a list of tokens."""

    @abstractmethod
    def scripts(self, base: Tree) -> Steps[Tree]:
        """Read the scripts below and above a factor."""

    @abstractmethod
    def expression(self, level: int = 0) -> Steps[Tree]:
        """Read an expression."""

    @abstractmethod
    def item(self) -> Steps[Tree]:
        """Read an item between commas."""

    @abstractmethod
    def bracket(self) -> Steps[Tree]:
        """Read the content of brackets."""

    @abstractmethod
    def cases(self, environment: LatexToken) -> Steps[Tree]:
        r"""Read cases after their \begin."""

    @abstractmethod
    def matrix(self, environment: LatexToken) -> Steps[Tree]:
        r"""Read a matrix after its \begin."""

    @abstractmethod
    def closes(self, token: LatexToken) -> bool:
        """Tell whether a token closes the innermost bracket."""

    # ---------------------------------------------------------------------------------------------------------- tokens

    # ----------------------------------------------------------------------------------------------------------- atoms

    def begins_expression(self, token: LatexToken) -> bool:
        """Tell whether a token may begin an expression."""
        return self.begins_atom(token) or (token.kind == "sign" and token.text in "+-")

    def begins_atom(self, token: LatexToken) -> bool:
        """Tell whether a token begins a factor."""
        if token.kind in ("letter", "number", "begin"):
            return True
        if token.kind in ("sign", "fence"):
            if token.text == "|" and (self.is_sign("_", 1) or self._separates()):
                return False
            return (token.text in BRACKETS or token.text == "{") and not self.closes(token)
        if token.kind != "command":
            return False
        name = token.text
        if name in OPERATORS or name in RELATIONS or name in LOGICAL:
            return False
        if name in SIZES:
            after = self.peek(1)
            value = after is not None and after.text == "|" and self.is_sign("_", 2)
            return after is not None and after.text in BRACKETS and not self.closes(after) and not value
        if name in ("text", "textrm", "mbox", "mathrm"):
            return self.prose() is None
        return name not in ("stackrel", "overset", "end")

    def _separates(self) -> bool:
        """Tell whether a bar stands alone in its bracket, as in p(x | y), and so opens nothing."""
        depth = 0
        for token in self.tokens[self.at + 1 :]:
            if token.kind == "row" or (token.kind == "sign" and token.text == "&"):
                break
            if token.kind in ("sign", "fence"):
                if token.text in "([{⟨⌊⌈":
                    depth += 1
                elif token.text in ")]}⟩⌋⌉":
                    depth -= 1
                elif token.text == "|" and not depth:
                    return False
            if depth < 0:
                return True
        return False

    def atom(self) -> Steps[Tree]:
        """Read a factor with its scripts."""
        base = yield self._base()
        return (yield self.scripts(base))

    def _base(self) -> Steps[Tree]:
        token = self.here()
        if token.kind == "number":
            self.take()
            return NumberTree(token.start, token.end, token.text)
        if token.kind == "letter":
            self.take()
            return Word(token.start, token.end, token.text)
        if token.kind == "begin":
            self.take()
            return (yield (self.cases(token) if token.text.endswith("cases") else self.matrix(token)))
        if token.kind == "command" and token.text not in SIZES and token.text != "left":
            return (yield self._command(self.take()))
        if token.kind == "sign" and token.text == "{":
            return (yield self._braced())
        return (yield self.bracket())

    def _braced(self) -> Steps[Tree]:
        """Read a group in braces, which only the typesetter sees."""
        first = self.take()
        if self.is_sign("}"):
            if self.is_sign("_", 1) or self.is_sign("^", 1):
                raise self.refuse("an index stands before its name", first, cure="write it after the name")
            self.take()
            if (token := self.peek()) is None or not self.begins_atom(token):
                raise self.missing_operand(token)
            return (yield self._base())
        cells, self.in_cells = self.in_cells, False
        tree = yield self.expression()
        self.in_cells = cells
        self.expect_brace()
        if isinstance(tree, Word | NumberTree | Bracket | Command):
            return tree
        return Bracket(first.start, self.tokens[self.at - 1].end, "{}", (tree,))

    def expect_brace(self) -> None:
        if not self.is_sign("}"):
            token = self.peek()
            raise self.misplaced(token) if token is not None else self.missing_operand(token)
        self.take()

    def argument(self, of: LatexToken, what: str) -> Steps[Tree]:
        """Read the argument of a command as TeX does: a group or one token; a token of a number is one digit."""
        self.skip_rows()
        token = self.peek()
        if (
            token is None
            or token.kind in ("row", "end")
            or (token.kind == "sign" and token.text in "}&,)]^_")
        ):
            raise self.refuse(
                f"\\{of.text} lacks its {what}" if of.kind == "command" else f"'{of.text}' lacks its {what}",
                of,
                expected=rf"\{of.text}{{...}}{{...}}" if of.text in _FRACTIONS else f"a {what} in braces",
                cure="add it in braces",
            )
        if token.kind == "sign" and token.text == "{":
            if self.is_sign("}", 1):
                raise self.refuse(
                    f"the {what} of \\{of.text} is empty" if of.kind == "command" else f"the {what} is empty",
                    token,
                    expected="an expression between the braces",
                    cure="write it, or remove the command",
                )
            return (yield self._braced())
        if token.kind == "number" and len(token.text) > 1:
            return self._digit(token)
        if not self.begins_atom(token):
            raise self.missing_operand(token)
        return (yield self._base())

    def _digit(self, token: LatexToken) -> NumberTree:
        r"""Take the first digit of a number: x^12 is x^1 followed by 2, \frac12 is one half."""
        place = token.start + 1
        self.tokens[self.at] = LatexToken("number", token.text[1:], place, token.end)
        if token.text[0] == "." or token.text[1] == ".":
            self.at += 1
            return NumberTree(token.start, token.end, token.text)
        return NumberTree(token.start, place, token.text[0])

    def _command(self, token: LatexToken) -> Steps[Tree]:
        name = token.text
        if name in FUNCTIONS or BIG.get(name) or name in CONSTANTS or name in _PLAIN:
            return Command(token.start, token.end, name)
        if name in GREEK:
            return Word(token.start, token.end, name)
        if name in ACCENTS:
            body = self._unwrapped((yield self.argument(token, "letter")))
            end = self.tokens[self.at - 1].end
            if not isinstance(body, Scripted):
                return Accent(token.start, end, ACCENTS[name], body)
            letter = Accent(token.start, end, ACCENTS[name], body.base)  # \hat{y_i} is read as \hat{y}_i
            return replace(body, start=token.start, end=end, base=letter)
        if name in STYLES:
            return (yield self._styled(token))
        if name in _FRACTIONS or name in _BINOMIALS:
            above = yield self.argument(token, "numerator")
            below = yield self.argument(token, "denominator")
            end = self.tokens[self.at - 1].end
            return Fraction(token.start, end, above, below, name in _BINOMIALS)
        if name == "sqrt":
            degree: Tree | None = None
            if self.is_sign("["):
                self.take()
                degree = yield self.expression()
                if not self.is_sign("]"):
                    raise self.refuse("the degree of the root is not closed", token, "']'", "add ']'")
                self.take()
            body = yield self.argument(token, "argument")
            return Root(token.start, self.tokens[self.at - 1].end, body, degree)
        if name in _TRANSPARENT:
            body = yield self.argument(token, "argument")
            if name in ("underbrace", "overbrace") and (self.is_sign("_") or self.is_sign("^")):
                self.take()
                self.skip_group()
            return Bracket(token.start, body.end, "{}", (body,))
        raise self.refused(token)

    def _unwrapped(self, tree: Tree) -> Tree:
        """Return the content of braces."""
        return tree.items[0] if isinstance(tree, Bracket) and tree.kind == "{}" else tree

    def _styled(self, token: LatexToken) -> Steps[Tree]:
        """Read a letter or word in a special alphabet; a formula in bold is just the formula."""
        style = STYLES[token.text]
        if not self.is_sign("{"):
            body = yield self.argument(token, "letter")
            return (
                Word(token.start, body.end, body.text, style, body.upright)
                if isinstance(body, Word)
                else body
            )
        inside, end = self._group_at(self.at)
        word = self._spelled(inside)
        plain = all(t.kind in ("letter", "number") or (t.kind == "sign" and t.text in "-{}") for t in inside)
        start, stop = token.start, self.tokens[end - 1].end
        if not inside:
            raise self.refuse(f"\\{token.text} holds nothing", token, "a letter or a word", "write it")
        if style == "typewriter":  # the name itself, which other names look like
            self.at = end
            named = self.source.text[inside[0].start : inside[-1].end].replace("\\_", "_")
            return Word(start, stop, named, style, upright=True)
        if plain and (style == "operator" or (style == "upright" and len(word) > 1)):
            self.at = end
            return Word(start, stop, word, style, upright=True)
        if plain and len(word) == 1:
            self.at = end
            return Word(start, stop, word, style)
        if plain and style in ("italic", "sans"):
            self.at = end
            return Word(start, stop, word, style, upright=True)
        body = yield self._braced()
        return Word(start, stop, body.text, style) if isinstance(body, Word) else body

    def delimiter(self, size: LatexToken) -> LatexToken:
        r"""Take the bracket after \left, \right or a size."""
        token = self.peek()
        if token is None or token.kind not in ("sign", "fence"):
            raise self.refuse(
                f"\\{size.text} stands before no bracket",
                size,
                expected=rf"a bracket, as in \{size.text}" + (")" if "r" in size.text[-5:] else "("),
                cure="add the bracket, or remove the command",
            )
        return self.take()

    # --------------------------------------------------------------------------------------------------------- scripts
