r"""Parts between two ends: brackets of all sizes, cases, matrices."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.frontend.latex.syntax.lexer import LatexToken
from symgrad.frontend.latex.syntax.scripts import MarkRules
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import Bracket, Cases, Chain, Evaluated, MatrixTree, Slice, Tree
from symgrad.frontend.latex.syntax.vocabulary import BRACKETS, SIZES
from symgrad.frontend.limits import NESTING
from symgrad.support.errors import NestingError, ProgramSyntaxError
from symgrad.support.source import Source

_OTHERWISE = ("otherwise", "else", "o.w.", "elsewhere")


class BracketRules(MarkRules):
    """The rules for brackets and rows."""

    def __init__(self, source: Source, tokens: Sequence[LatexToken]) -> None:
        super().__init__(source, tokens)
        self._closers: list[str] = []

    def closes(self, token: LatexToken) -> bool:
        """Tell whether a token closes the innermost bracket; if a bar may open or close, it closes."""
        return bool(self._closers) and token.kind in ("sign", "fence") and token.text == self._closers[-1]

    def bracket(self) -> Steps[Tree]:
        r"""Read the content of brackets: ( ), \left( \right), \bigl| \bigr|, \lVert \rVert."""
        first = self.take()
        opening = first
        sized = first.kind == "command"
        if sized:
            opening = self.delimiter(first)
        left = first.kind == "command" and first.text == "left"
        if opening.text == "." and left:
            return (yield self._value_at_bar(first))
        if opening.text not in BRACKETS:
            raise self.refuse(
                f"'{opening.text}' opens no bracket",
                opening,
                expected=r"one of ( [ \{ | \| \langle \lfloor \lceil",
                cure="remove it, or write the bracket that opens",
            )
        closing = BRACKETS[opening.text]
        self._closers.append(
            "\0" if left else closing
        )  # \left needs \right: a bar inside belongs to another pair
        if len(self._closers) > NESTING:
            raise self.refuse(
                f"nested deeper than {NESTING:,} levels",
                opening,
                cure="give an inner part a name, on a line of its own",
                cls=NestingError,
            )
        cells, self.in_cells = self.in_cells, False
        items: list[Tree] = []
        separators: list[str] = []
        while True:
            token = self.peek()
            if not items and token is not None and self._is_end(token, left):
                raise self.refuse(
                    f"there is nothing between '{opening.text}' and '{closing}'",
                    opening,
                    expected="an expression",
                    cure="write a value between the brackets",
                )
            items.append((yield self.item()))
            token = self.peek()
            if token is None:
                raise self._unclosed(opening, left)
            if self._is_end(token, left):
                break
            if token.kind in ("sign", "fence") and token.text in (",", ";", "|", "mid"):
                separators.append("|" if token.text == "mid" else token.text)
                self.take()
                continue
            raise self._wrong_end(token, opening, left)
        self._closers.pop()
        self.in_cells = cells
        last = self.take()
        if last.kind == "command":
            end = self.delimiter(last)
            if end.text != closing and not (end.text in ")]" and opening.text in "(["):
                raise self.refuse(
                    f"'{opening.text}' is closed by '{end.text}'",
                    end,
                    expected=f"'{closing}'",
                    cure="use the same kind of bracket at both ends",
                )
            last = end
        return Bracket(first.start, last.end, opening.text, tuple(items), tuple(separators))

    def _value_at_bar(self, first: LatexToken) -> Steps[Tree]:
        r"""Read \left. f \right|_{x = 1}."""
        self._closers.append("\0")
        body = yield self.expression()
        self._closers.pop()
        token = self.peek()
        if token is None or token.kind != "command" or token.text != "right":
            raise self.refuse(
                r"\left. opens nothing",
                first,
                expected=r"a bar with a value below it at its end, \right|_{x=1}",
                cure=r"write the bar, or a bracket after \left",
            )
        self.take()
        bar = self.delimiter(token)
        return (yield self.evaluated(first.start, body, bar))

    def is_value_bar(self) -> bool:
        r"""Tell whether the next token is a bar with a subscript: f'(x)|_{x = 1}."""
        token = self.peek()
        sized = token is not None and token.kind == "command" and token.text in SIZES
        bar, below = self.peek(int(sized)), self.peek(1 + sized)
        return (
            bar is not None
            and below is not None
            and bar.text == "|"
            and below.kind == "sign"
            and below.text == "_"
            and not self.closes(bar)
        )

    def evaluated(self, start: int, body: Tree, bar: LatexToken) -> Steps[Tree]:
        """Read the values in the subscript of a bar."""
        points: list[Chain] = []
        if self.is_sign("_") and self.is_sign("{", 1):
            self.at += 2
            while True:
                point = yield self.expression()
                if not isinstance(point, Chain) or point.relations != ("=",):
                    break
                points.append(point)
                if not self.is_sign(","):
                    self.expect_brace()
                    return Evaluated(start, self.tokens[self.at - 1].end, body, tuple(points))
                self.take()
        raise self.refuse(
            "a bar does not say the value of which name it is at",
            bar,
            expected="|_{x = 1}",
            cure="write the name and its value below the bar",
        )

    def _is_end(self, token: LatexToken, left: bool) -> bool:
        if left:
            return token.kind == "command" and token.text == "right"
        if token.kind == "command" and token.text in SIZES:
            after = self.peek(1)
            return after is not None and self.closes(after)
        return self.closes(token)

    def _wrong_end(self, token: LatexToken, opening: LatexToken, left: bool) -> ProgramSyntaxError:
        if token.kind in ("sign", "fence") and token.text in ")]}⟩⌋⌉":
            return self.refuse(
                f"'{opening.text}' is closed by '{token.text}'",
                token,
                expected=r"\right" if left else f"'{BRACKETS[opening.text]}'",
                cure="use the same kind of bracket at both ends",
            )
        if token.kind == "row" or (token.kind == "command" and token.text == "right"):
            return self._unclosed(opening, left)
        return self.misplaced(token)

    def _unclosed(self, opening: LatexToken, left: bool) -> ProgramSyntaxError:
        closing = BRACKETS[opening.text]
        return self.refuse(
            f"this '{opening.text}' is never closed",
            opening,
            expected=f"a '{closing}'" + (r" behind \right" if left else ""),
            cure=rf"add \right{closing}" if left else f"add the missing '{closing}'",
        )

    def item(self) -> Steps[Tree]:
        """Read an item between commas: an expression, or a section such as 1:n of a subscript."""
        start = self.here()
        if (start.kind == "sign" and start.text == "*") or (start.kind == "command" and start.text == "ast"):
            self.take()
            return Slice(start.start, start.end, (), star=True)
        parts: list[Tree | None] = []
        colons = 0
        part: Tree | None = None
        while True:
            token = self.peek()
            if token is not None and token.kind == "sign" and token.text == ":":
                self.take()
                parts.append(part)
                part = None
                colons += 1
                continue
            if token is None or part is not None or (colons and not self.begins_expression(token)):
                break
            part = yield self.expression()
        if not colons:
            if part is None:
                raise self.missing_operand(self.peek())
            return part
        end = part.end if part is not None else self.tokens[self.at - 1].end
        return Slice(start.start, end, (*parts, part))

    def cases(self, environment: LatexToken) -> Steps[Tree]:
        """Read the rows of cases: each has a value, and the condition under which it holds."""
        rows = yield self._cells(environment, condition=True)
        found: list[tuple[Tree, Tree | None]] = []
        for row in rows:
            if len(row) > 2:
                raise self.refuse(
                    "a row of cases has more than a value and a condition",
                    environment,
                    expected=r"value & \text{if } condition",
                    cure="write one & in each row",
                )
            found.append((row[0], row[1] if len(row) == 2 else None))
        return Cases(environment.start, self.tokens[self.at - 1].end, tuple(found))

    def matrix(self, environment: LatexToken) -> Steps[Tree]:
        """Read the rows of a matrix."""
        rows = yield self._cells(environment, condition=False)
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise self.refuse(
                f"the rows of a matrix have {' and '.join(map(str, sorted(widths)))} entries",
                environment,
                expected="rows of the same length",
                cure="add or remove an &",
            )
        end = self.tokens[self.at - 1].end
        return MatrixTree(environment.start, end, tuple(rows), bars=environment.text == "vmatrix")

    def _cells(self, environment: LatexToken, *, condition: bool) -> Steps[list[tuple[Tree, ...]]]:
        outer, self.in_cells = self.in_cells, True
        rows: list[tuple[Tree, ...]] = []
        row: list[Tree] = []
        while True:
            token = self.peek()
            if token is None:
                raise self.refuse(f"\\begin{{{environment.text}}} is never ended", environment)
            if token.kind == "end":
                break
            if token.kind == "row":
                self.take()
                if row:
                    rows.append(tuple(row))
                row = []
                continue
            if token.kind == "sign" and token.text in "&,;.":
                self.take()
                continue
            if condition and row and self._otherwise():
                continue
            row.append((yield self.expression()))
            after = self.peek()
            if after is not None and not (
                after.kind in ("row", "end")
                or (after.kind == "sign" and after.text in "&,;.")
                or (condition and self.prose() is not None)
            ):
                raise self.misplaced(after)
        self.take()
        if row:
            rows.append(tuple(row))
        self.in_cells = outer
        if not rows:
            raise self.refuse(
                f"\\begin{{{environment.text}}} has no rows",
                environment,
                expected="at least one row",
                cure="write what it holds",
            )
        return rows

    def _otherwise(self) -> bool:
        """Skip the words before a condition; tell whether there were any."""
        found = self.prose()
        if found is None:
            return False
        word, end = found
        plain = word.strip(" ,.:").lower()
        if plain not in ("if", "for", "when", "where", "in case", "and", "", *_OTHERWISE):
            return False
        self.at = end
        return True
