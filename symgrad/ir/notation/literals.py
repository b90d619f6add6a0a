"""Pieces of the notation: the precedence of operators, the parts of a text, numbers, sizes and shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from symgrad.ir.exact import DIGITS, decimal_digits
from symgrad.ir.graph import NUMBER, Node
from symgrad.ir.sizes import Size, SizeAtom, polynomial_text
from symgrad.ir.traverse import topological
from symgrad.ir.types import Number

# Python's precedence, with the loosest first. An operand of a comparison may not be a comparison, since a < b < c is
# a chain.
ANY, OR, AND, NOT, COMPARE, ADD, MUL, NEG, POW, ATOM = range(10)

INFIX: Mapping[str, tuple[str, int, int, int]] = {
    "add": (" + ", ADD, ADD, MUL),
    "mul": ("*", MUL, MUL, NEG),
    "div": ("/", MUL, MUL, NEG),
    "pow": ("**", POW, ATOM, NEG),
    "lt": (" < ", COMPARE, ADD, ADD),
    "le": (" <= ", COMPARE, ADD, ADD),
    "gt": (" > ", COMPARE, ADD, ADD),
    "ge": (" >= ", COMPARE, ADD, ADD),
    "eq": (" == ", COMPARE, ADD, ADD),
    "ne": (" != ", COMPARE, ADD, ADD),
    "and_": (" and ", AND, AND, NOT),
    "or_": (" or ", OR, OR, AND),
}
"""The sign of each op, its precedence, and the precedences that operands must have to be written without
parentheses."""

# An operand: the node, the precedence that it needs, and whether a literal number always gets parentheses.
Operand: TypeAlias = tuple[Node, int, bool]
Part: TypeAlias = "str | Operand"


def separated(items: Iterable[Node | str]) -> list[Part]:
    """Return nodes and texts as parts, separated by commas."""
    parts: list[Part] = []
    for item in items:
        parts += [", ", item if isinstance(item, str) else (item, ANY, False)]
    return parts[1:]


def number_text(value: Number, *, decimal: bool = False) -> str:
    """Return the shortest exact spelling of a number that the reader accepts.

    Args:
        value: the number.
        decimal: whether to prefer a decimal to a quotient of small numbers: 0.5 to 1/2.

    Example:
        >>> from fractions import Fraction
        >>> [number_text(v) for v in (2, Fraction(1, 3), Fraction(9, 10), Fraction(31091, 10**6), 10**30)]
        ['2', '1/3', '0.9', '0.031091', '1e30']
    """
    if value < 0:
        return "-" + number_text(-value, decimal=decimal)
    found = decimal_digits(value)
    short = not decimal and value.denominator <= 12 and value.denominator not in (1, 10)
    text = None if found is None or short else _decimal(*found)
    if text is None or _positional_length(text) > DIGITS:
        return f"{value.numerator}/{value.denominator}"
    return text


def is_spelling(node: Node, text: str) -> bool:
    """Tell whether a text is another spelling of a number, and not its name."""
    return node.op is NUMBER and text.lstrip("-")[0] in ".0123456789"


def _decimal(digits: str, places: int) -> str:
    if not places:
        mantissa = digits.rstrip("0")
        zeros = len(digits) - len(mantissa)
        return digits if zeros < 7 else f"{mantissa}e{zeros}"
    if places - len(digits) < 6:
        digits = digits.rjust(places + 1, "0")
        return f"{digits[:-places]}.{digits[-places:]}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e-{places - len(digits) + 1}"


def _positional_length(text: str) -> int:
    """Return the number of characters of a number without an exponent, as the reader counts them."""
    mantissa, _, exponent = text.partition("e")
    return len(mantissa) + abs(int(exponent or 0))


def significant_digits(value: Number) -> int | None:
    """Return the number of significant digits of a positive decimal; None for any other number.

    Example:
        >>> from fractions import Fraction
        >>> [significant_digits(v) for v in (Fraction("6.62607015e-34"), 1200, Fraction(1, 8), Fraction(1, 3))]
        [9, 2, 3, None]
    """
    found = decimal_digits(value)
    return None if found is None else len(found[0].strip("0"))


def decimals_in(nodes: Iterable[Node]) -> dict[Number, str]:
    """Return the fractions in formulas that are decimals, each with its text, for programs whose numbers are floats.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> decimals_in([parse_program("x : real; y = 461.5*x + 1/3")["y"]])
        {Fraction(923, 2): '461.5'}
    """
    numbers = [n.value for n in topological(nodes) if n.op is NUMBER and n.dtype == "real"]
    texts = {abs(v): number_text(abs(v), decimal=True) for v in numbers}
    return {value: text for value, text in texts.items() if "/" not in text}


def size_text(size: Size) -> str:
    """Return a size as an expression over names of sizes.

    Example:
        >>> from symgrad.ir.sizes import size_sum
        >>> from symgrad.ir.shapes import slice_length
        >>> size_text(size_sum(["n", "n", -1])), size_text(slice_length("n", (1, None, 2)))
        ('2*n - 1', 'ceil((maximum(n - 1, 0))/2)')
    """
    if isinstance(size, int | str):
        return str(size)
    return polynomial_text(size, _atom_text)


def _atom_text(atom: SizeAtom) -> str:
    a, b = size_text(atom.a), size_text(atom.b)
    if atom.op == "ceildiv":
        return f"ceil({a}/{b})" if isinstance(atom.a, str) else f"ceil(({a})/{b})"
    return f"{'maximum' if atom.op == 'max' else 'minimum'}({a}, {b})"


def tuple_text(items: Iterable[Size | None]) -> str:
    """Return sizes, axes or the ends of a slice as a tuple.

    Example:
        >>> tuple_text(("n", 5)), tuple_text(("n",)), tuple_text((None, 3, 1))
        ('(n, 5)', '(n,)', '(None, 3, 1)')
    """
    texts = ["None" if item is None else size_text(item) for item in items]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
