"""Explain an unexpected token: convert the state of the parser to an error with one cure."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from symgrad.frontend.tokens.foreign_syntax import formula_or_transpose, operand_before, power_of_call
from symgrad.frontend.tokens.lexer import Lexer
from symgrad.frontend.tokens.lexer_errors import FORBIDDEN
from symgrad.frontend.tokens.terms import Token, span_of
from symgrad.ir.graph import OPS
from symgrad.ir.types import DOMAINS
from symgrad.support.errors import ForbiddenSyntaxError, ProgramSyntaxError, SymgradError

_ENDS_OPERAND = frozenset({"NAME", "NUMBER", "RPAR", "RSQB", "TRANSPOSE", "TRUE", "FALSE"})
_BEGINS_OPERAND = frozenset({"NAME", "NUMBER", "LPAR", "TRUE", "FALSE"})


def syntax_error(lexer: Lexer, token: Token, expected: AbstractSet[str]) -> SymgradError:
    """Return the error for an unexpected token.

    Args:
        lexer: the lexer that returned the last token.
        token: the token.
        expected: the terminals that the grammar allows there.
    """
    text = lexer.source.text
    start, end = span_of(token)
    value = str(token)
    previous = (
        lexer.before_last if lexer.before_last is not None and lexer.before_last.type != "_NEWLINE" else None
    )
    before = str(previous) if previous is not None else None
    line_start = text.rfind("\n", 0, start) + 1

    def refuse(
        what: str,
        expected: str | None = None,
        cure: str | None = None,
        cls: type[SymgradError] = ProgramSyntaxError,
    ) -> SymgradError:
        return lexer.error(what, start, end, cls=cls, expected=expected, cure=cure)

    # A bracket that stays open joins the next line to this one, and the fault becomes visible only there.
    opened = lexer.brackets[:-1] if value in "([" and lexer.brackets else lexer.brackets
    if opened and opened[-1] < line_start and not text[line_start:start].strip():
        bracket = text[opened[-1]]
        return lexer.error(
            f"this '{bracket}' is never closed",
            opened[-1],
            cure=f"add the missing '{')' if bracket == '(' else ']'}'",
        )

    if "ELSE" in expected and "NUMBER" not in expected and _chooses(text, line_start, start):
        place = "the end of the line" if token.type == "_NEWLINE" else f"'{value}'"
        return refuse(f"'else' is missing before {place}", "a if condition else b", "add: else b")

    if token.type == "_NEWLINE":
        if before == "=":
            return refuse(
                "the line ends where a value is expected",
                expected="an expression",
                cure="write the value, or continue the line inside ( and )",
            )
        if "NUMBER" in expected and "NAME" in expected:
            return refuse(
                f"the line ends after '{before}', where a value is expected",
                expected="an expression",
                cure=f"write the value, or remove '{before}'",
            )
        if expected >= {"COLON"} and "NUMBER" not in expected:
            return refuse("the names of a declaration end without a domain", "x, y : real", "add: : real")
        return refuse("the line ends too early", _in_words(expected), "complete the line")

    if value == "[":
        return refuse(
            "lists are not part of formulas",
            cls=ForbiddenSyntaxError,
            expected="lists only as arguments and in subscripts",
            cure="write one value, or ( and )",
        )
    if token.type == "NONE":
        return refuse(
            "'None' is a word of Python, not of formulas", cls=ForbiddenSyntaxError, cure=FORBIDDEN["None"]
        )
    if token.type == "STRING":
        array = operand_before(text, start) if value[0] == "'" else None
        array = None if array in ("f", "r", "b", "u") else array  # the prefixes of strings in Python
        return refuse(
            "texts in quotes (and f-strings) are not part of formulas",
            cls=ForbiddenSyntaxError,
            expected="a text only as the subscripts of einsum",
            cure=formula_or_transpose(array),
        )

    between = "COMPARE" in expected  # an operand of an expression has just ended
    wants_operand = "NUMBER" in expected and "LPAR" in expected
    if value == "=":
        what, instead, cure = _equals(lexer, text[line_start:start])
        return refuse(what, instead, cure)
    if between and token.type in _BEGINS_OPERAND and previous is not None:
        if (
            value in DOMAINS
            and previous.type == "NAME"
            and not text[line_start : span_of(previous)[0]].strip()
        ):
            return refuse(
                f"':' is missing before the domain '{value}'", "x : real", f"write {before} : {value}"
            )
        power = power_of_call(text, start) if value == "(" else None
        if power is not None:
            return refuse(
                f"'(' follows '{before}' without an operator",
                expected="the power after the value: sin(x)**2",
                cure=f"write {power}",
            )
        begun = text[line_start:start].strip()
        if begun in DOMAINS and token.type == "NAME":
            return refuse(
                f"the domain '{before}' stands before the name", "x : real", f"write {value} : {before}"
            )
        if begun in ("let", "var", "const", "def"):
            return refuse(f"'{before}' begins no line", "x : real, or y = x**2", f"leave '{before}' out")
        if before == "T" and (raised := re.search(r"(\*\*|\^)\s*T\s*$", text[:start])):
            array = operand_before(text, raised.start()) or "x"
            return refuse(
                f"'{value}' follows 'T' without an operator",
                expected="x.T for a transpose",
                cure=f"write {array}.T@{value}",
            )
        right = "(...)" if value == "(" else value + ("(...)" if text.startswith("(", end) else "")
        if before in OPS and previous.type == "NAME":
            return refuse(
                f"the argument of '{before}' is not in parentheses",
                expected=f"{before}(x)",
                cure=f"write {before}({right})",
            )
        left = "(...)" if before in (")", "]", ".T") else before
        return refuse(
            f"'{value}' follows '{before}' without an operator",
            expected="an operator such as + or *",
            cure=f"write {left}*{right} for a product",
        )
    if value == ",":
        if not lexer.brackets:
            declared = re.search(r":\s*\w+[^,]*$", text[line_start:start])
            if declared and re.compile(r",\s*\w+\s*:").match(text, start):
                return refuse(
                    "a comma between two declarations",
                    expected="x, y : real for one domain, lines of their own for several",
                    cure="write ; for the comma",
                )
            thousands = re.compile(r"(?:,\d{3})+(?![\d,])").match(text, start) if previous else None
            if thousands and previous is not None and previous.type == "NUMBER":
                return refuse(
                    "a comma inside a number",
                    expected="digits without commas",
                    cure=f"write {before}{thousands[0].replace(',', '')}",
                )
            return refuse(
                "a comma outside brackets: one value is expected",
                expected="one expression",
                cure="write one line for each value",
            )
        if not wants_operand:
            return refuse(
                "a pair in parentheses is not a value",
                expected="one expression",
                cure="write a function before the parenthesis, or remove the comma",
            )
    if value == ":":
        return refuse(
            "':' stands only in declarations, after names, and in subscripts",
            expected="x, y : real, or x[1:]",
            cure="write a if c else b to choose",
        )
    if value == "if" and wants_operand:
        return refuse(
            "'if' stands after the value it chooses",
            expected="a if condition else b",
            cure="write y = a if condition else b",
        )
    if value == "else":
        return refuse("'else' without 'if'", "a if condition else b", "write a if condition else b")
    if wants_operand:
        if value == "|" or value == "&":
            inside = re.compile(r"\|([^|\n]+)\|").match(text, start)
            absolute = f"write abs({inside[1] if inside else 'x'}) for an absolute value"
            cure = absolute if value == "|" else "write the condition on its left"
        elif token.type == "FOR" and before is None:
            cure = "write the range behind what is computed: h[t] = ... for t in 1..T"
        elif before == "(" and value == ")":
            cure = "write a value between the parentheses"
        elif before is not None and value in (
            "*",
            "/",
            "//",
            "%",
            "@",
            "**",
            "<",
            ">",
            "<=",
            ">=",
            "==",
            "!=",
            "and",
            "or",
        ):
            cure = f"write a value before '{value}', or remove one operator"
        else:
            cure = f"write a value before '{value}'"
        after = f" after '{before}'" if before is not None else ""
        return refuse(
            f"'{value}' stands where a value is expected{after}", "a number, a name, a call or (", cure
        )
    if value == "not" and previous is not None and previous.type in _ENDS_OPERAND:
        return refuse("'not' stands between two values", "an operator such as and", "write x and not y")
    if value == "~" and previous is not None:
        return refuse(
            "'~' stands only after the names of random inputs", "u ~ Uniform(0, 1)", "write - or remove it"
        )
    if value in (">", ">=", "<", "<=") and re.search(r":\s*real\s*$", text[line_start:start]):
        rest = text[end:].partition("\n")[0].partition(";")[0].strip()
        kind = {(">", "0"): "positive", (">=", "0"): "nonnegative"}.get((value, rest))
        return refuse(
            "a domain is no comparison",
            expected="x : positive, x : nonnegative or x : real(low, high)",
            cure=f"write {kind or (f'real({rest}, oo)' if value[0] == '>' else f'real(-oo, {rest})')}",
        )
    return refuse(
        f"'{value}' has no place here", _in_words(expected), "remove it, or complete what stands before it"
    )


def _chooses(text: str, start: int, end: int) -> bool:
    words = re.findall(r"\w+", text[start:end])
    return words.count("if") > words.count("else")


def _equals(lexer: Lexer, head: str) -> tuple[str, str, str]:
    """Explain an '=' after the head of its line: return the fault, the expected syntax and the cure."""
    assign = "name = expression, or g(s, t) = expression"
    if lexer.brackets:
        return "'=' inside brackets does not compare", "==, <, <=, > or >=", "write == to compare"
    if re.search(r"(?<![=<>!])=(?!=)", head):
        return "a line has two '='", assign, "write == to compare, or one line for each name"
    if head.strip() in ("True", "False"):
        return f"'{head.strip()}' is a constant", "a name before '='", "choose another name"
    if "," in head:
        return "one name at a time is assigned", assign, "write one line for each name"
    if ":" in head or "~" in head:
        return "a declaration has no value", "x : real", "write either a domain or a value"
    return "only a name can be assigned", assign, "write name = ..., or == to compare"


_WORDS = {
    "_NEWLINE": "the end of the line",
    "NAME": "a name",
    "NUMBER": "a number",
    "COMPARE": "a comparison",
    "COLON": "':'",
    "TILDE": "'~'",
    "COMMA": "','",
    "RPAR": "')'",
    "LPAR": "'('",
    "LSQB": "'['",
    "RSQB": "']'",
    "IF": "'if'",
    "ELSE": "'else'",
    "EQUAL": "'='",
}


def _in_words(expected: AbstractSet[str]) -> str:
    words = [w for t, w in _WORDS.items() if t in expected]
    if "PLUS" in expected:
        words.append("an operator")
    return (
        ", ".join(words[:-1]) + (" or " if len(words) > 1 else "") + words[-1] if words else "an expression"
    )
