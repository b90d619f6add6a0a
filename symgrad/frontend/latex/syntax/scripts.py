r"""Scripts below, above and after a letter: subscripts, exponents, primes, marks."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.frontend.latex.syntax.atoms import AtomRules
from symgrad.frontend.latex.syntax.cursor import SIGN_WORDS
from symgrad.frontend.latex.syntax.lexer import LatexToken
from symgrad.frontend.latex.syntax.trampoline import Steps
from symgrad.frontend.latex.syntax.tree import Accent, Command, Factorial, Scripted, Tree
from symgrad.frontend.latex.syntax.vocabulary import STYLES

_MARKS = frozenset(("star", "ast", "dagger", "perp", "parallel", "bot"))


class MarkRules(AtomRules):
    """The rules for scripts."""

    def scripts(self, base: Tree) -> Steps[Tree]:
        below: tuple[Tree, ...] | None = None
        above: Tree | None = None
        below_text = above_text = ""
        primes = 0
        has_below = has_above = False
        while (token := self.peek()) is not None and token.kind == "sign" and token.text in "_^'!":
            if token.text == "!":
                if self.is_sign("=", 1):
                    break
                self.take()
                base = self._scripted(base, below, above, primes, below_text, above_text)
                base = Factorial(base.start, token.end, base)
                below, above, primes, below_text, above_text = None, None, 0, "", ""
                has_below = has_above = False
                continue
            self.take()
            if token.text == "'":
                primes += 1
                continue
            if has_below if token.text == "_" else has_above:
                which = "subscripts" if token.text == "_" else "superscripts"
                raise self.refuse(
                    f"two {which} at one place",
                    token,
                    expected="one, or braces around the base of the second",
                    cure="write {x^a}^b for a power of a power, or (x^a)^b"
                    if token.text == "^"
                    else "write both in one pair of braces, x_{a, b}",
                )
            inside = self._script_tokens(token)
            if token.text == "_":
                has_below, below_text = True, self.name_text(inside)
                below = yield self._below(token, inside)
            else:
                has_above, above_text = True, self.name_text(inside)
                above = yield self._above(token, inside)
        return self._scripted(base, below, above, primes, below_text, above_text)

    def _scripted(
        self, base: Tree, below: tuple[Tree, ...] | None, above: Tree | None, primes: int, *texts: str
    ) -> Tree:
        if below is None and above is None and not primes and not any(texts):
            return base
        return Scripted(base.start, self.tokens[self.at - 1].end, base, below, above, primes, *texts)

    def _script_tokens(self, sign: LatexToken) -> list[LatexToken]:
        """Return the tokens of the next script, which are not taken."""
        token = self.peek()
        if token is None or token.kind in ("row", "end") or (token.kind == "sign" and token.text in "}&)]^_"):
            which = "subscript" if sign.text == "_" else "exponent"
            raise self.refuse(
                f"'{sign.text}' lacks its {which}", sign, f"x{sign.text}{{...}}", "add it in braces"
            )
        if token.kind == "sign" and token.text == "{":
            inside, _ = self._group_at(self.at)
            if not inside:
                which = "subscript" if sign.text == "_" else "exponent"
                raise self.refuse(
                    f"the {which} is empty", token, "a value", f"write it, or remove '{sign.text}'"
                )
            return inside
        if token.kind == "number" and len(token.text) > 1:
            return [LatexToken("number", token.text[0], token.start, token.start + 1)]
        if token.kind == "command" and token.text in STYLES and self.is_sign("{", 1):
            return self._group_at(self.at + 1)[0]
        return [token]

    def _below(self, sign: LatexToken, inside: Sequence[LatexToken]) -> Steps[tuple[Tree, ...] | None]:
        """Read a subscript; None if it can only be a part of the name, such as t|t-1 or +."""
        odd = inside[0].text in ("<", ">") or any(t.text in ("|", "mid") for t in inside)
        lone = len(inside) == 1 and (inside[0].text in ("+", "-") or inside[0].text in _MARKS)
        words = any(t.text in ("text", "mbox") for t in inside)
        if odd or lone or words:
            self.group_tokens()
            return None
        if not self.is_sign("{"):
            return ((yield self.argument(sign, "subscript")),)
        self.take()
        cells, self.in_cells = self.in_cells, False
        items: list[Tree] = [(yield self.item())]
        while self.is_sign(",") or self.is_sign(";"):
            self.take()
            items.append((yield self.item()))
        relation = self.peek()
        if relation is not None and not self.is_sign("}"):
            raise self.misplaced(relation)
        self.in_cells = cells
        self.expect_brace()
        return tuple(items)

    def _above(self, sign: LatexToken, inside: Sequence[LatexToken]) -> Steps[Tree | None]:
        r"""Read a superscript: a value, or a mark such as \top, * and +."""
        if len(inside) == 1 and (inside[0].text in ("+", "-", "*", "leftarrow") or inside[0].text in _MARKS):
            self.group_tokens()
            token = inside[0]
            return Command(token.start, token.end, SIGN_WORDS.get(token.text, token.text))
        if (
            inside[0].kind == "command"
            and inside[0].text in ("circ", "odot")
            and self.is_sign("{")
            and len(inside) > 1
        ):
            self.take()
            ring = self.take()
            body = yield self.expression()
            self.expect_brace()
            return Accent(ring.start, body.end, "circ", body)
        if len(inside) == 1 and inside[0].text == "circ":
            raise self.refuse("degrees are not read", inside[0], "an angle in radians", r"write x \pi/180")
        if len(inside) == 1 and inside[0].text in ("H", "dagger") and inside[0].kind == "command":
            raise self.refused(inside[0])
        if not self.is_sign("{"):
            if (token := self.peek()) is not None and token.kind == "sign" and token.text == "'":
                raise self.misplaced(token)
            return (yield self.argument(sign, "exponent"))
        if inside[0].kind == "sign" and inside[0].text == "'":
            count = sum(t.text == "'" for t in inside)
            self.group_tokens()
            return Command(inside[0].start, inside[-1].end, "prime" * count)
        self.take()
        cells, self.in_cells = self.in_cells, False
        tree = yield self.expression()
        if self.is_sign(","):
            raise self.refuse("an exponent of several values", self.here(), "one value", "write one exponent")
        self.in_cells = cells
        self.expect_brace()
        return tree
