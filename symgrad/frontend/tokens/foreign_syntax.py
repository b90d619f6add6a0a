"""Translate syntax of other notations into this one, for the text at hand, so that the cure can be copied."""

from __future__ import annotations

import re

from symgrad.frontend.limits import SPELLING_CHARACTERS
from symgrad.ir.composite import WRITTEN
from symgrad.ir.graph import OPS

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
_WRITTEN_TERMS = 8
"""The number of terms of a sum over known numbers that a cure writes out."""

_OPENS = {")": "(", "]": "["}


def name_here(name: str) -> str | None:
    """Return the name that a function of another library has here, if it takes the same arguments."""
    return _NAMES.get(name)


def bracket_content(text: str, start: int) -> str | None:
    """Return the text between the bracket at a place and its closing bracket, if it is short.

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
    """Return the cure for a quotation mark: after an operand it is a transpose in other notations."""
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
    """Return sin(x)**2 for sin^2(x) or sin**2(x), if the argument begins at a place; None for other texts.

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
    """Return arguments of a call in which torch's names for them are replaced by NumPy's.

    Example:
        >>> argument_names("x, dim=1, keepdim=True")
        'x, axis=1, keepdims=True'
    """
    return re.sub(r"\b(\w+)(?=\s*=[^=])", lambda m: ARGUMENTS.get(m[1], m[1]), arguments)


def sum_over(text: str, start: int) -> str | None:
    """Translate a sum over a loop whose "for" is at a place; return None for other loops.

    A range is that of an index, with both ends included. In a loop over an array, the array replaces the name of its
    entries; a sum over at most eight numbers with another step is written out.

    Example:
        >>> sum_over("y = sum(x[i]*i for i in range(n))", 15), sum_over("sum(v**2 for v in x)", 9)
        ('sum(x[i]*i, i=0..n-1)', 'sum(x**2)')
        >>> sum_over("sum(sin(k*t) for k in range(3, 0, -1))", 13)
        '(sin(3*t) + sin(2*t) + sin(1*t))'
    """
    head = re.search(r"\bsum\(([^\n]*?)\s*$", text[:start])
    loop = re.match(
        r"for\s+(\w+)\s+in\s+(?:(\w+\.\.\w+)|(\w+))\s*(?:\(([^()\n]*)\)\s*)?\)",
        text[start : start + SPELLING_CHARACTERS],
    )
    if head is None or loop is None or head[1].count("(") != head[1].count(")"):
        return None
    body, (index, ends, over, limits) = head[1], loop.groups()
    if ends is not None:
        return f"sum({body}, {index}={ends})"
    if over != "range":
        return _replaced(body, index, over, "sum({})") if limits is None and over.isidentifier() else None
    parts = [part.strip() for part in (limits or "").split(",")]
    if len(parts) == 3 and all(re.fullmatch(r"-?\d{1,9}", part) for part in parts) and parts[2] != "0":
        values = range(*map(int, parts))
        terms = [
            re.sub(rf"\b{index}\b", str(k) if k >= 0 else f"({k})", body) for k in values[:_WRITTEN_TERMS]
        ]
        return f"({' + '.join(terms)})" if 0 < len(values) <= _WRITTEN_TERMS else None
    if len(parts) > 2 or not all(re.fullmatch(r"\w+", part) for part in parts):
        return None
    first, last = ("0", *parts)[-2:]
    return f"sum({body}, {index}={first}..{_moved(last, -1)})"


def steps_over(text: str, start: int) -> str:
    """Translate the range of a recurrence whose "for" is at a place; a range that cannot be read becomes 1..T.

    Example:
        >>> steps_over("h[t] = h[t-1] for t in range(1, T + 1)", 14), steps_over("h[t] = h[t-1] for t=1:T", 14)
        ('for t in 1..T', 'for t in 1..T')
        >>> steps_over("h[t] = h[t+1] for t in range(T-1, -1, -1)", 14)
        'for t in T-1..0'
    """
    loop = re.match(r"for\s+(\w+)\s*(?:in\b|=)?\s*([^\n;]*)", text[start : start + SPELLING_CHARACTERS])
    letter, rest = loop.groups() if loop is not None else ("t", "")
    rest = rest.replace(" ", "").rstrip(":")
    ends = re.fullmatch(r"range\((?:([^(),]+),)?([^(),]+?)(,-1)?\)", rest)
    if ends is not None:
        first, last = ends[1] or "0", _moved(ends[2], 1 if ends[3] else -1)
    else:
        found = re.fullmatch(r"([^.:]+)(?:\.\.+|:|to)([^.:]+)", rest)
        first, last = found.groups() if found is not None else ("1", "T")
    return f"for {letter} in {first}..{last}"


def _moved(position: str, by: int) -> str:
    """Return a position, written as a number or a name, one further or one before."""
    if re.fullmatch(r"-?\d{1,9}", position):
        return str(int(position) + by)
    there = "+1" if by < 0 else "-1"
    return position.removesuffix(there) if position.endswith(there) else f"{position}{by:+d}"


def _replaced(body: str, index: str, values: str, form: str) -> str | None:
    """Return a formula with an array in place of an index; None if a subscript would then be an array."""
    return None if "[" in body else form.format(re.sub(rf"\b{index}\b", values, body))
