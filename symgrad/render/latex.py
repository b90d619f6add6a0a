r"""Expressions as LaTeX, as a mathematician would write them.

Ops bring their templates (`Op.latex`); what depends on the neighbours is decided here: signs and differences, products
by juxtaposition, \sin^{2}, parentheses, names. Needs amsmath for choices and for expressions of several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from symgrad.ir.graph import CONSTANT, NUMBER, SYMBOL, Node
from symgrad.ir.op import Op
from symgrad.ir.printer import number_text
from symgrad.ir.traverse import topological, uses
from symgrad.ir.types import Number
from symgrad.ops.record import ADD, ATOM, MUL, POW

__all__ = ["latex", "latex_name"]

ONE_LINE = 2_000  # characters of an expression that is written whole
_LINE = 400  # characters of a line once there are several
_SMALL = 30  # characters of a shared part that is repeated rather than named

# Ranks of written forms, loosest first. A signed term stands between a sum and a product: -x y needs no parentheses.
_OPEN = 0  # choices
_SIGNED = (ADD + MUL) / 2

_Written = tuple[str, float]

# fmt: off
_GREEK = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
    "varepsilon", "vartheta", "varphi", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma",
    "Upsilon", "Phi", "Psi", "Omega",
))
# fmt: on
_CONSTANTS = {
    "pi": r"\pi",
    "E": "e",
    "EulerGamma": r"\gamma_{\mathrm{E}}",
    "Catalan": r"G_{\mathrm{Catalan}}",
    "GoldenRatio": r"\varphi_{\mathrm{golden}}",
}
_FUNCTION = re.compile(r"(\\[a-zA-Z]+|\\operatorname\{\{\w+\}\})\\left\(\{0\}\\right\)")


def latex_name(name: str) -> str:
    r"""Return a variable's name as LaTeX: Greek letters, subscripts, upright words.

    Example:
        >>> [latex_name(n) for n in ("x", "alpha_1", "z_inner", "w12", "loss", "x_i_j")]
        ['x', '\\alpha_{1}', 'z_{\\mathrm{inner}}', 'w_{12}', '\\mathrm{loss}', 'x_{i, j}']
    """
    head, *subscripts = [part for part in name.split("_") if part] or [r"\_"]
    digits = re.fullmatch(r"(.*?\D)(\d+)", head)
    if digits:
        head, subscripts = digits[1], [digits[2], *subscripts]
    text = _letter(head)
    return f"{text}_{{{', '.join(map(_letter, subscripts))}}}" if subscripts else text


def _letter(part: str) -> str:
    if part in _GREEK:
        return "\\" + part
    return part if len(part) == 1 or part.isdigit() or part == r"\_" else rf"\mathrm{{{part}}}"


def latex(node: Node, names: Mapping[Node, str] | None = None) -> str:
    r"""Return a node as LaTeX.

    Args:
        node: the node.
        names: nodes that are written as a name (a program's variable names, say).

    Returns:
        One expression, or, where that would be long, an ``aligned`` environment: lines that define parts t_1, t_2, ...,
        then the expression.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.trig import sin
        >>> x = symbol(Declaration("x"))
        >>> print(latex(sin(x) ** 2 / (1 - x)))
        \frac{\sin^{2}\left(x\right)}{1 - x}
    """
    order = topological([node])
    taken: set[str] = set()
    written: dict[Node, _Written] = {}
    given = dict(names or {})
    for n in order:
        if n in given or n.op is SYMBOL:
            name = given.get(n, n.name if n.op is SYMBOL else "")
            text = latex_name(name)
            if (
                text in taken or text == _CONSTANTS["E"]
            ):  # x1 and x_1 look alike, and so do a symbol e and the constant
                text = rf"\mathtt{{{name.replace('_', chr(92) + '_')}}}"
            taken.add(text)
            if n is not node or n.op is SYMBOL:
                written[n] = (text, ATOM)
    short = _expanded(order, written) <= ONE_LINE
    count = uses([node])
    lines: list[str] = []
    for n in order:
        if n in written:
            continue
        text, rank = _write(n, written)
        if not short and n is not node and n.args and len(text) > (_SMALL if count[n] > 1 else _LINE):
            name = _fresh(taken)
            lines.append(f"{name} &= {text}")
            text, rank = name, ATOM
        written[n] = (text, rank)
    result = written[node][0]
    if not lines:
        return result
    return " \\\\\n".join(
        [r"\begin{aligned}" + "\n" + lines[0], *lines[1:], f"& {result}\n" + r"\end{aligned}"]
    )


def _fresh(taken: set[str]) -> str:
    number = len(taken) - sum(1 for t in taken if not t.startswith("t_{")) + 1
    while (name := f"t_{{{number}}}") in taken:
        number += 1
    taken.add(name)
    return name


def _expanded(order: Iterable[Node], written: Mapping[Node, _Written]) -> int:
    """The length of the last node's text with nothing named, about, capped beyond what is written whole."""
    lengths: dict[Node, int] = {}
    total = 0
    for node in order:
        own = len(written[node][0]) if node in written else len(node.op.latex) + 12 * (node.op is NUMBER)
        arguments = 0 if node in written else sum(lengths[a] for a in node.args)
        total = lengths[node] = min(own + arguments, 10 * ONE_LINE)
    return total


def _write(node: Node, written: Mapping[Node, _Written]) -> _Written:
    op = node.op
    if op is NUMBER:
        value = node.value
        return (rf"\mathrm{{{value}}}", ATOM) if isinstance(value, bool) else _number(value)
    if op is CONSTANT:
        return _CONSTANTS[node.params[0]], ATOM
    special = _SPECIAL.get(op.name)
    if special is not None:
        return special(node, written)
    if op.precedence == ATOM:
        arguments = [written[a][0] for a in node.args]
        rank = POW if _is_power(op) else ATOM
    else:  # an infix or prefix form of truth values or comparisons
        arguments = [_within(written[a], op.precedence + 1) for a in node.args]
        rank = op.precedence
    return op.latex.format(*arguments, **dict(zip(op.parameters, node.params, strict=True))), rank


def _within(part: _Written, rank: float) -> str:
    text, own = part
    return text if own >= rank else rf"\left({text}\right)"


def _number(value: Number) -> _Written:
    text = number_text(abs(value))
    rank: float = ATOM
    if "/" in text:
        text, rank = rf"\frac{{{text.replace('/', '}{')}}}", MUL
    elif "e" in text:
        mantissa, exponent = text.split("e")
        power = f"10^{{{exponent}}}"
        text, rank = (power, POW) if mantissa == "1" else (rf"{mantissa} \cdot {power}", MUL)
    return (f"-{text}", _SIGNED) if value < 0 else (text, rank)


def _sum(node: Node, written: Mapping[Node, _Written]) -> _Written:
    left = _within(written[node.args[0]], ADD)
    text, rank = written[node.args[1]]
    if rank == _SIGNED:
        return f"{left} - {text[1:].lstrip()}", ADD
    return f"{left} + {_within((text, rank), ADD)}", ADD


def _negative(node: Node, written: Mapping[Node, _Written]) -> _Written:
    return "-" + _within(written[node.args[0]], MUL), _SIGNED


def _product(node: Node, written: Mapping[Node, _Written]) -> _Written:
    left, right = (written[a] for a in node.args)
    rank = _SIGNED if left[1] == _SIGNED else MUL
    first, second = _within(left, _SIGNED), _within(right, MUL)
    # Digits side by side would read as one number, a fraction after a digit as a mixed one.
    digits = second[0].isdigit() or (first[-1].isdigit() and second.startswith(r"\frac"))
    both = node.args[0].op is NUMBER and node.args[1].op is NUMBER
    return f"{first} {chr(92) + 'cdot ' if digits or both else ''}{second}", rank


def _quotient(node: Node, written: Mapping[Node, _Written]) -> _Written:
    (above, rank), (below, _) = (written[a] for a in node.args)
    if rank == _SIGNED:  # the sign stands before the fraction, as by hand
        return rf"-\frac{{{above[1:].lstrip()}}}{{{below}}}", _SIGNED
    return rf"\frac{{{above}}}{{{below}}}", MUL


def _power(node: Node, written: Mapping[Node, _Written]) -> _Written:
    base, exponent = node.args
    text = written[exponent][0]
    function = _FUNCTION.fullmatch(base.op.latex)
    inside = written[base.args[0]][0] if function else ""
    # sin^2(x), but never sin^-1(x), which is another function; a named base is a name.
    if function and exponent.op is NUMBER and exponent.value >= 2 and exponent.dtype == "int":
        name = function[1].format()
        if written[base] == (rf"{name}\left({inside}\right)", ATOM):
            return rf"{name}^{{{text}}}\left({inside}\right)", POW
    return f"{_within(written[base], ATOM)}^{{{text}}}", POW


def _choice(node: Node, written: Mapping[Node, _Written]) -> _Written:
    condition, value, other = node.args
    rest = written[other][0]
    start, end = r"\begin{cases} ", r" \end{cases}"
    if written[other][1] == _OPEN and other.op.name == "where":
        rest = rest.removeprefix(start).removesuffix(end)
    else:
        rest = rf"{rest} & \text{{otherwise}}"
    return rf"{start}{written[value][0]} & \text{{if }} {written[condition][0]} \\ {rest}{end}", _OPEN


_SPECIAL = {
    "add": _sum,
    "neg": _negative,
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "where": _choice,
}


@cache
def _is_power(op: Op) -> bool:
    return op.latex.endswith("^{{{0}}}")
