"""Errors of the lexer, each with its cure: words, characters and operators from other notations."""

from __future__ import annotations

import re
from unicodedata import normalize

from symgrad.frontend.glyphs import SUPERSCRIPTS
from symgrad.frontend.tokens.foreign_syntax import (
    argument_names,
    bracket_content,
    formula_or_transpose,
    name_here,
    operand_before,
    power_of_call,
    steps_over,
    sum_over,
)
from symgrad.frontend.tokens.lexer_state import LexerState
from symgrad.ir.exact import DIGITS
from symgrad.support.errors import (
    ForbiddenSyntaxError,
    NumberTooLargeError,
    SymgradError,
    UnsupportedError,
)

_OTHER_WORDS = """
    as assert async await break class continue del elif except finally global nonlocal pass raise try with yield
"""
FORBIDDEN = {
    "lambda": "as a name write lam; in place of a function, write its formula where it is used",
    "import": "all functions are known without importing them",
    "from": "all functions are known without importing them",
    "def": "write the formula as an assignment: y = ...",
    "return": "end the program with the expression alone on the last line",
    "for": "write each term, or use a loop in Python around symgrad",
    "while": "write each term, or use a loop in Python around symgrad",
    "in": "write a comparison such as 0 < x",
    "is": "write == to compare",
    "None": "leave it out",
    **dict.fromkeys(
        _OTHER_WORDS.split(),
        "choose another name",
    ),
}

_SYMBOLS = {
    "×": "write * for multiplication",
    "·": "write * for multiplication",
    "⋅": "write * for multiplication",
    "∗": "write * for multiplication",
    "÷": "write / for division",
    "⁄": "write / for division",
    "∕": "write / for division",
    "−": "write - (the ASCII hyphen)",
    "–": "write - (the ASCII hyphen)",
    "—": "write - (the ASCII hyphen)",
    "√": "write sqrt(...)",
    "∛": "write cbrt(...)",
    "∞": "write oo, in a declaration such as x : real(0, oo)",
    "≤": "write <=",
    "≥": "write >=",
    "≠": "write !=",
    "∧": "write and",
    "∨": "write or",
    "¬": "write not",
    "∑": "write the terms of the sum",
    "∂": "write d, or another name",
    "½": "write 1/2",
    "∼": "write ~",
    "$": "write the formula without dollar signs",
    "?": "write a if c else b to choose",
    "!": "write gamma(n + 1) for a factorial, or (not c) for a negation",
    "{": None,
    "}": None,
    ".": None,
}

_WRONG_OPERATORS = {
    "<<": "write x*2**n",
    ">>": "write floor(x/2**n)",
    "->": "write y = ... for a result",
    "=>": "write >=",
    "<>": "write !=",
    "&&": "write and",
    "||": "write or",
}

_DEFINES_STEPS = re.compile(r"[ \t]*\w+\[[^\n]*\][ \t]*=")


def check_name(lexer: LexerState, value: str, start: int, end: int) -> None:
    """Raise the error for a name that is a keyword of Python, or is not in plain letters."""
    if value in FORBIDDEN:
        text = lexer.source.text
        written: str | None = None
        if value == "for" and lexer.brackets:
            written = sum_over(text, start)
        elif value == "for" and _DEFINES_STEPS.match(text, text.rfind("\n", 0, start) + 1, start):
            raise lexer.error(
                "this is no range of a recurrence",
                start,
                end,
                expected="both ends, which are included: for t in 1..T",
                cure=f"write {steps_over(text, start)}",
            )
        raise lexer.error(
            f"'{value}' is a word of Python, not of formulas",
            start,
            end,
            cls=ForbiddenSyntaxError,
            cure=f"write {written}" if written else FORBIDDEN[value],
        )
    if value.startswith("__"):
        raise lexer.error(
            f"names that start with two underscores, such as '{value}', are Python's",
            start,
            end,
            cls=ForbiddenSyntaxError,
            cure="choose another name",
        )
    for i, character in enumerate(value):
        if character in SUPERSCRIPTS:
            raise superscript(lexer, start + i)
    if value == "π":
        raise lexer.error("'π' is written pi", start, end, cure="write pi")
    plain = normalize("NFKC", value)
    if plain != value or not value.isidentifier():
        raise lexer.error(
            f"the name {value!r} has characters that look like others",
            start,
            end,
            cure=f"write {plain}"
            if plain.isidentifier()
            else _SYMBOLS.get(value) or "use letters, digits and _",
        )


def superscript(lexer: LexerState, start: int) -> SymgradError:
    """Return the error for superscript digits, with the power to write."""
    text = lexer.source.text
    raised = re.compile(f"[{SUPERSCRIPTS}]+").match(text, start)
    end = raised.end() if raised else start + 1
    power = "".join(str(SUPERSCRIPTS.index(digit)) for digit in text[start:end])
    plain = f"{text[:start]}**{power}"
    cure = power_of_call(plain + text[end:], len(plain)) if text.startswith("(", end) else None
    if cure is None:
        raised_twice = text[:start].rstrip().endswith("**")
        cure = power if raised_twice else f"{operand_before(text, start) or ''}**{power}"
    return lexer.error("a raised digit is no power", start, cure=f"write {cure}")


def after_number(lexer: LexerState, value: str, start: int, end: int) -> SymgradError:
    """Return the error for a character directly after a number: 2x, 1.2.3, 3²."""
    text = lexer.source.text
    if text[end] in SUPERSCRIPTS:
        return superscript(lexer, end)
    if text[end] == ".":
        return lexer.error(f"'{value}.' is no number", start, end + 1, cure="write one decimal point")
    rest = re.compile(r"\w+").match(text, end)
    word = rest.group() if rest else text[end]
    stop = end + len(word)
    if value == "0" and word[0] in "xXbBoO" and word[1:].isalnum():
        return lexer.error("numbers are decimal", start, stop, cure="write the number in base ten")
    if word in ("j", "J"):
        return lexer.error(
            "complex numbers are not in this version",
            start,
            stop,
            cls=UnsupportedError,
            cure="write the real and the imaginary part as two real formulas",
        )
    return lexer.error(
        f"the multiplication in '{value}{word}' is not written",
        start,
        stop,
        cure=f"write {value}*{'pi' if word == 'π' else word}"
        if word[0] != "_"
        else "write _ only between digits",
    )


def check_size(lexer: LexerState, value: str, start: int, end: int) -> None:
    """Raise the error for a number with too many digits."""
    if _digits(value) > DIGITS:
        raise lexer.error(
            "this number is too long",
            start,
            end,
            cls=NumberTooLargeError,
            expected=f"at most {DIGITS:,} digits when written out in full",
            cure="use a symbol, or a power such as 10**n",
        )


def refusal_of(lexer: LexerState, match: re.Match[str]) -> SymgradError:
    """Return the error for a character or operator that the notation does not have."""
    start, end = match.span()
    value, text = match.group(), lexer.source.text
    if match.lastgroup == "wrong":
        return wrong_operator(lexer, value, start, end)
    if value in "'\"`":
        array = operand_before(text, start) if value == "'" else None
        return lexer.error(
            "texts in quotes (and f-strings) are not part of formulas",
            start,
            cls=ForbiddenSyntaxError,
            cure=formula_or_transpose(array),
        )
    if value == ".":
        return attribute(lexer, start)
    if value in "{}":
        return lexer.error(
            "sets and dictionaries are not part of formulas",
            start,
            cls=ForbiddenSyntaxError,
            cure="write ( and )",
        )
    if value == "\\" and lexer.source.text[start + 1 : start + 2].isalpha():
        return lexer.error(
            "this is LaTeX",
            start,
            cls=ForbiddenSyntaxError,
            expected="a formula as Python writes it",
            cure="write x/2 for \\frac{x}{2}, sqrt(x) for \\sqrt{x}, a*b for a \\cdot b",
        )
    if value == "\\":
        return lexer.error(
            "a backslash continues a line only as its last character",
            start,
            cure="remove what follows it, or the backslash",
        )
    if value in SUPERSCRIPTS:
        return superscript(lexer, start)
    cure = _SYMBOLS.get(value)
    if cure is None and value.isspace():
        return lexer.error(f"an unusual space, U+{ord(value):04X}", start, cure="write a space")
    if "\ud800" <= value <= "\udfff":  # a surrogate that stands for an undecodable byte
        return lexer.error(f"no character, U+{ord(value):04X}", start, cure="write the program in UTF-8")
    if cure is None and not value.isprintable():
        return lexer.error(f"a control character, U+{ord(value):04X}", start, cure="remove it")
    if cure is None:
        plain = normalize("NFKC", value)
        same = plain != value and plain.isascii() and plain.isprintable() and plain.strip()
        cure = f"write {plain.strip()}" if same else "remove it"
    return lexer.error(f"'{text[start]}' is not part of the notation", start, cure=cure)


def wrong_operator(lexer: LexerState, value: str, start: int, end: int) -> SymgradError:
    """Return the error for an operator of another language."""
    if value == ":=":
        return lexer.error(
            "':=' inside a formula is not allowed",
            start,
            end,
            cls=ForbiddenSyntaxError,
            cure="assign on a line of its own: name = ...",
        )
    text = lexer.source.text
    norm = re.compile(r"\|\|([^|\n]+)\|\|").match(text, start)
    if norm and operand_before(text[:start].rstrip(), len(text[:start].rstrip())) is None:
        return lexer.error(
            "'||' is not an operator of the notation", start, end, cure=f"write norm({norm[1]})"
        )
    cure = _WRONG_OPERATORS.get(value, f"write a new name: y = x {value[:-1]} ...")
    return lexer.error(f"'{value}' is not an operator of the notation", start, end, cure=cure)


_MODULES = """
    np numpy math sp sympy jnp jax torch tf scipy special linalg F norm
"""
_LIBRARIES = frozenset(_MODULES.split())
_FUNCTIONS = """
    sum mean var std prod max min argmax argmin cumsum dot trace squeeze reshape swapaxes take round clip
"""
_METHODS = {
    **{name: f"write {name}(x)" for name in _FUNCTIONS.split()},
    "transpose": "write x.T, or transpose(x, (1, 0, 2))",
    "shape": "use the name of the size: with X : real[n, 5], the name n is a number",
    "size": "use the name of the size: with X : real[n, 5], the name n is a number",
    "ndim": "the number of axes is in the declaration",
    "flatten": "write reshape(x, (-1,))",
    "ravel": "write reshape(x, (-1,))",
    "copy": "leave it out",
    "astype": "leave it out",
    "dtype": "leave it out",
    "diagonal": "write diag(x)",
    "mT": "write swapaxes(x, -1, -2)",
}


def attribute(lexer: LexerState, start: int) -> SymgradError:
    """Return the error for a dot after a name, with the function to write."""
    word = re.compile(r"\s*(\w*)").match(lexer.source.text, start + 1)
    name = word.group(1) if word else ""
    end = word.end() if word and name else start + 1
    before = str(lexer.last) if lexer.last is not None and lexer.last.type == "NAME" else None
    text = lexer.source.text
    opens = text.startswith("(", end)
    arguments = (bracket_content(text, end) if opens else None) or ""
    if name and (before in _LIBRARIES or (before == "norm" and name_here(name))):
        plain, given = name_here(name) or name, argument_names(arguments)
        cure = f"write {plain}" + (f"({given})" if given != arguments else "") + f", without {before}."
    elif name in _METHODS:
        return lexer.error(
            f"'.{name}' is an attribute of arrays in Python; here '.T' is the only one",
            start,
            end,
            cls=UnsupportedError,
            cure=_as_function(text, start, name, arguments, opens=opens) or _METHODS[name],
        )
    else:
        cure = "write a function call such as sin(x), or a plain name"
    what = f"attributes such as '.{name}' are not part of formulas" if name else "a dot stands alone"
    return lexer.error(what, start, end, cls=ForbiddenSyntaxError, cure=cure)


def _as_function(text: str, start: int, name: str, arguments: str, *, opens: bool) -> str | None:
    """Return the cure for the method whose dot is at a place, given the surrounding tokens."""
    array = operand_before(text, start)
    if name not in _FUNCTIONS.split() or array is None or not opens:
        return None
    given = argument_names(arguments).strip()
    return f"write {name}({array}{', ' if given else ''}{given})"


def _digits(value: str) -> int:
    """Return an upper bound of the number of digits of a number literal without its exponent."""
    mantissa, _, exponent = value.lower().partition("e")
    digits = len(mantissa)
    if len(exponent) > 18:
        return 10**18
    return digits + abs(int(exponent)) if exponent else digits
