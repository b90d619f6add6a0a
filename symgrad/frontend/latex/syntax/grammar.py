r"""The parser: operators by precedence, from tokens to trees. It knows no names, so factors side by side stay a list.

loosest   \vee \veebar   \wedge   \neg   = < \le ...   + -   (side by side) \cdot \times \odot /   ^ _ ' !   tightest
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from symgrad.frontend.latex.syntax.brackets import BracketRules
from symgrad.frontend.latex.syntax.lexer import LatexToken
from symgrad.frontend.latex.syntax.trampoline import Steps, run_trampoline
from symgrad.frontend.latex.syntax.tree import (
    STEP_ENDS,
    Chain,
    LatexLine,
    Logic,
    Negation,
    ProductTree,
    SumTree,
    Tree,
)
from symgrad.frontend.latex.syntax.vocabulary import OPERATORS, RELATIONS
from symgrad.support.source import Source

_LOGIC = (("or_", ("vee", "lor")), ("xor", ("veebar", "oplus")), ("and_", ("wedge", "land")))
_BETWEEN_STATEMENTS = (
    "where",
    "with",
    "and",
    "so",
    "then",
    "hence",
    "thus",
    "given",
    "for",
    "for all",
    "let",
    "if",
    "or",
    *STEP_ENDS,
)
_EXPLAINING = ("where", "with", "given")
"""Words before definitions of names that stand in the formulas above."""


def statements(source: Source, tokens: Sequence[LatexToken]) -> list[LatexLine]:
    r"""Return the lines of a text.

    Raises:
        ProgramSyntaxError: at the first unexpected token; the message tells what was expected.

    Example:
        >>> from symgrad.frontend.latex.syntax.lexer import split_rows, tokenize
        >>> source = Source(r"y &= x^2 \\ z &= \frac{y}{2}")
        >>> [len(s.sides) for s in statements(source, split_rows(source, tokenize(source)))]
        [2, 2]
    """
    return run_trampoline(LatexParser(source, tokens).document())


def _is_relation(token: LatexToken) -> bool:
    return token.kind in ("sign", "command") and token.text in RELATIONS


class LatexParser(BracketRules):
    """The state while one text is parsed.

    Args:
        source: the text.
        tokens: the result of `split_rows`.
    """

    # ------------------------------------------------------------------------------------------------------ statements

    def document(self) -> Steps[list[LatexLine]]:
        """Read all lines."""
        found: list[LatexLine] = []
        explains = False
        while True:
            explains, word = self._between(explains)
            token = self.peek()
            if token is None:
                return found
            line = yield self._statement()
            found.append(replace(line, explains=explains and line.relations[:1] == ("=",), word=word))
            after = self.peek()
            if after is not None and not (after.kind == "row" or self._ends_statement(after)):
                raise self.misplaced(after)

    def _between(self, explains: bool) -> tuple[bool, str]:
        """Skip everything between lines: ends of rows, punctuation, words of prose.

        Args:
            explains: whether the line before is a definition of a name above it.

        Returns:
            Whether the next line is one, and the word before it that ends the steps of a search.
        """
        last = ""
        while (token := self.peek()) is not None:
            if token.kind == "row" or (token.kind == "sign" and token.text in ".,;"):
                explains &= token.text != "."
                self.take()
            elif (found := self.prose()) is not None:
                word, end = found
                word = word.strip(" ,.:").lower()
                if word not in _BETWEEN_STATEMENTS:
                    break
                last = word if word in STEP_ENDS else ""
                explains = word in _EXPLAINING or (explains and word in ("and", *STEP_ENDS))
                self.at = end
            else:
                break
        return explains, last

    def _ends_statement(self, token: LatexToken) -> bool:
        if token.kind == "sign" and token.text in ".,;":
            return True
        found = self.prose()
        return found is not None and found[0].strip(" ,.:").lower() in _BETWEEN_STATEMENTS

    def _statement(self) -> Steps[LatexLine]:
        tree = yield self.expression()
        if isinstance(tree, Chain):
            return LatexLine(tree.sides, tree.relations, tree.start, tree.end)
        return LatexLine((tree,), (), tree.start, tree.end)

    # ------------------------------------------------------------------------------------------------------- operators

    def expression(self, level: int = 0) -> Steps[Tree]:
        """Read conditions that are joined by one of the signs of a level, and everything that binds more tightly."""
        if level == len(_LOGIC):
            return (yield self._opposite())
        name, signs = _LOGIC[level]
        parts: list[Tree] = [(yield self.expression(level + 1))]
        while self._accept_command(signs):
            self.skip_rows()
            parts.append((yield self.expression(level + 1)))
        return parts[0] if len(parts) == 1 else Logic(parts[0].start, parts[-1].end, name, tuple(parts))

    def _opposite(self) -> Steps[Tree]:
        denials: list[LatexToken] = []
        while (token := self._accept_command(("neg", "lnot"))) is not None:
            denials.append(token)
        tree = yield self._comparison()
        for token in reversed(denials):
            tree = Negation(token.start, tree.end, tree)
        return tree

    def _comparison(self) -> Steps[Tree]:
        sides: list[Tree] = [(yield self._sum())]
        relations: list[str] = []
        while (relation := self._relation()) is not None:
            self.skip_rows()
            relations.append(relation)
            sides.append((yield self._sum()))
        return (
            sides[0]
            if not relations
            else Chain(sides[0].start, sides[-1].end, tuple(sides), tuple(relations))
        )

    def _relation(self) -> str | None:
        """Take a relation; it may also be at the beginning of the next row."""
        token = self._past_rows(_is_relation)
        if token is None:
            return self._named_equal()
        self.take()
        after = self.peek()
        if token.text in "<>" and after is not None and after.kind == "sign" and after.text == "=":
            self.take()
            return f"{token.text}="
        return RELATIONS[token.text]

    def _named_equal(self) -> str | None:
        """Take := and relations with a script above them."""
        token, after = self.peek(), self.peek(1)
        if token is None or after is None:
            return None
        if token.kind == after.kind == "sign" and token.text == ":" and after.text == "=":
            self.at += 2
            return "="
        if token.kind == "command" and token.text in ("stackrel", "overset") and after.text == "{":
            self.take()
            self.skip_group()
            inner = self.group_tokens()
            if len(inner) == 1 and inner[0].text in RELATIONS:
                return RELATIONS[inner[0].text]
            raise self.refuse(
                "a sign with something above it", token, expected="a relation such as = below it"
            )
        return None

    def _past_rows(self, wanted: Callable[[LatexToken], bool]) -> LatexToken | None:
        """Return the next token, perhaps after ends of rows, if it is wanted; the ends of rows are then taken."""
        i = self.at
        while i < len(self.tokens) and self.tokens[i].kind == "row" and not self.in_cells:
            i += 1
        if i == len(self.tokens) or not wanted(self.tokens[i]):
            return None
        self.at = i
        return self.tokens[i]

    def _sum(self) -> Steps[Tree]:
        terms: list[Tree] = []
        signs: list[str] = []
        start = self.here().start
        while True:
            sign = "+"
            while (token := self.peek()) is not None and token.kind == "sign" and token.text in "+-":
                self.take()
                sign = sign if token.text == "+" else "-" if sign == "+" else "+"
                self.skip_rows()
            terms.append((yield self.product()))
            signs.append(sign)
            if self._continues() is None:
                break
        if len(terms) == 1 and signs == ["+"] and terms[0].start == start:
            return terms[0]
        return SumTree(start, terms[-1].end, tuple(terms), tuple(signs))

    def _continues(self) -> LatexToken | None:
        r"""Return the + or - that continues a sum; a - at the beginning of a row does so if the row is indented."""
        row = self.peek()

        def goes_on(token: LatexToken) -> bool:
            if token.kind != "sign" or token.text not in "+-":
                return False
            return (
                token.text == "+" or row is None or row.kind != "row" or row.text in ("indented", "newline")
            )

        return self._past_rows(goes_on)

    def product(self) -> Steps[Tree]:
        """Read factors side by side or with signs between them."""
        factors: list[Tree] = []
        signs: list[str] = []
        adjacent: list[bool] = []
        sign = ""
        while True:
            token = self.peek()
            if token is not None and factors and self._begins_sign(token):
                if sign:
                    raise self.misplaced(token)
                sign = self._operator(token)
                self.skip_rows()
                continue
            if token is None or not self.begins_atom(token):
                if sign or not factors:
                    if token is not None and sign and token.kind == "sign" and token.text in "+-":
                        factors.append((yield self._signed()))
                        signs.append(sign)
                        adjacent.append(False)
                        break
                    raise self.missing_operand(token)
                break
            before = self.tokens[self.at - 1] if self.at else None
            adjacent.append(before is not None and not token.spaced and before.end == token.start)
            factors.append((yield self.atom()))
            signs.append(sign)
            sign = ""
        start, end = factors[0].start, factors[-1].end
        tree = factors[0]
        if len(factors) > 1:
            tree = ProductTree(start, end, tuple(factors), tuple(signs), tuple(adjacent))
        if self.is_value_bar():
            bar = self.take()
            tree = yield self.evaluated(start, tree, self.delimiter(bar) if bar.kind == "command" else bar)
        return tree

    def _signed(self) -> Steps[Tree]:
        r"""Read a factor that has a sign: a \cdot -b."""
        token = self.take()
        body = yield self.product()
        return SumTree(token.start, body.end, (body,), (token.text,))

    def _begins_sign(self, token: LatexToken) -> bool:
        if token.kind == "command":
            return token.text in OPERATORS
        return token.kind == "sign" and token.text in "/*"

    def _operator(self, token: LatexToken) -> str:
        self.take()
        if token.kind == "sign":
            return "/" if token.text == "/" else "cdot"
        if not OPERATORS[token.text]:
            raise self.refused(token)
        return OPERATORS[token.text]

    # -------------------------------------------------------------------------------------------------------- brackets

    # ------------------------------------------------------------------------------------------------------ rows, cells
