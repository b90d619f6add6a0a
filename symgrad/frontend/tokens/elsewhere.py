"""What other notations write, said in this one with the text at hand, so that a cure can be copied."""

from __future__ import annotations

import re

from symgrad.frontend.limits import SPELLING_CHARACTERS
from symgrad.ir.graph import OPS
from symgrad.ir.written import WRITTEN

__all__ = [
    "ARGUMENTS",
    "argument_names",
    "bracket_content",
    "formula_or_transpose",
    "operand_before",
    "power_of_call",
    "name_here",
    "sum_over",
]

ARGUMENTS = {
    "dim": "axis",
    "dims": "axis",
    "keepdim": "keepdims",
    "keep_dims": "keepdims",
    "correction": "ddof",
}
"""Arguments of torch's and TensorFlow's reductions, by their names in NumPy."""

_NAMES = {
    "Phi": "ndtr",
    "normcdf": "ndtr",
    "norm_cdf": "ndtr",
    "cdf": "ndtr",
    "clamp": "clip",
    "cosec": "csc",
    "tr": "trace",
    "ld": "log2",
    "logarithm": "log",
    "reduce_sum": "sum",
    "reduce_mean": "mean",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_prod": "prod",
    "reduce_logsumexp": "logsumexp",
    "norm2": "norm",
    "cat": "concatenate",
}
_OPENS = {")": "(", "]": "["}


def name_here(name: str) -> str | None:
    """Return what a function of another library, with the same arguments, is called here."""
    return _NAMES.get(name)


def bracket_content(text: str, start: int) -> str | None:
    """Return what stands between the bracket at a place and the one that closes it, if it is short.

    Example:
        >>> bracket_content("sin^2(a*(b + 1)) + 1", 5)
        'a*(b + 1)'
    """
    depth = 0
    for i in range(start, min(len(text), start + SPELLING_CHARACTERS)):
        depth += (text[i] in "([") - (text[i] in ")]")
        if text[i] in ")]" and not depth:
            return text[start + 1 : i]
        if text[i] == "\n":
            return None
    return None


def formula_or_transpose(array: str | None) -> str:
    """Return the cure for a quotation mark: behind an operand it is the transpose of other notations."""
    return "write the formula itself" if array is None else f"write {array}.T for the transpose"


def operand_before(text: str, end: int) -> str | None:
    """Return the name, number, call or bracket that ends at a place, if it is short.

    Example:
        >>> operand_before("1 + f(x - 1)^2", 12), operand_before("a*xs.mean()", 4)
        ('f(x - 1)', 'xs')
    """
    start = end
    while start > max(0, end - SPELLING_CHARACTERS):
        last = text[start - 1]
        if last in ")]":
            depth, i = 0, start - 1
            while i >= max(0, end - SPELLING_CHARACTERS):
                depth += (text[i] in ")]") - (text[i] in "([")
                if not depth:
                    break
                i -= 1
            if depth or i < 0 or text[i] != _OPENS[last]:
                return None
            start = i
        elif last.isalnum() or last == "_" or text[start - 2 : start] == ".T":
            while start and (text[start - 1].isalnum() or text[start - 1] in "_."):
                start -= 1
            break
        else:
            break
    return text[start:end] or None


def power_of_call(text: str, start: int) -> str | None:
    """Return sin(x)**2 for the sin^2(x) or sin**2(x) whose argument begins at a place; None for what is none.

    Example:
        >>> power_of_call("1 + sin^2(3*x)", 9)
        'sin(3*x)**2'
    """
    head = re.search(r"([A-Za-z_]\w*)\s*(?:\*\*|\^)\s*(-?\d+)\s*$", text[:start])
    inside = bracket_content(text, start)
    if head is None or inside is None or not (head[1] in OPS or head[1] in WRITTEN):
        return None
    name, power = head.groups()
    if power == "-1":
        inverse = {
            "sin": "asin",
            "cos": "acos",
            "tan": "atan",
            "sinh": "asinh",
            "cosh": "acosh",
            "tanh": "atanh",
        }
        return f"{inverse[name]}({inside})" if name in inverse else f"1/{name}({inside})"
    return f"{name}({inside})**{power}" if power[0] != "-" else f"{name}({inside})**({power})"


def argument_names(arguments: str) -> str:
    """Return arguments of a call with torch's names of them as NumPy's.

    Example:
        >>> argument_names("x, dim=1, keepdim=True")
        'x, axis=1, keepdims=True'
    """
    return re.sub(r"\b(\w+)(?=\s*=[^=])", lambda m: ARGUMENTS.get(m[1], m[1]), arguments)


def sum_over(text: str, start: int) -> str | None:
    """Return sum(x[i], i) for the sum(x[i] for i in range(n)) whose "for" stands at a place; None for other loops.

    Example:
        >>> sum_over("y = sum(x[i]*i for i in range(n))", 15)
        'sum(x[i]*i, i)'
    """
    head = re.search(r"\bsum\(([^\n]*?)\s*$", text[:start])
    index = re.match(r"for\s+(\w+)\s+in\b", text[start : start + SPELLING_CHARACTERS])
    if head is None or index is None or head[1].count("(") != head[1].count(")"):
        return None
    return f"sum({head[1]}, {index[1]})"
