r"""Expressions as LaTeX, as a mathematician would write them.

Ops have their own templates (`Op.latex`). This module writes what depends on neighbours: signs and differences,
products by juxtaposition, \sin^{2}, parentheses, names. Choices and long expressions need the package amsmath.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count

from symgrad.ir.body import Body, StepNotation
from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.notation.lags import Lags, carry_names, named_arrays, with_lags
from symgrad.ir.notation.literals import ADD, ATOM, MUL, POW, is_spelling
from symgrad.ir.notation.recurrence_names import RecurrenceNames
from symgrad.ir.notation.recurrences import is_recurrence, search_of
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import topological, uses
from symgrad.pretty.forms.factor_out import factors_of
from symgrad.printing.latex.arrays import (
    ARRAY_FORMS,
    array_power,
    array_product,
    array_quotient,
    is_product,
    rows_in,
)
from symgrad.printing.latex.glyphs import Glyphs, Texts
from symgrad.printing.latex.pieces import (
    HADAMARD,
    OPEN,
    SIGNED,
    juxtapose,
    latex_number,
    with_accent,
    within,
)
from symgrad.printing.latex.pieces import Written as _Written
from symgrad.printing.latex.recurrences import (
    arrays_with_entries,
    ends_of_sum,
    recurrence_rows,
    sum_over_steps,
)
from symgrad.printing.limits import LATEX_CHARACTERS, LATEX_LINE_CHARACTERS, LATEX_REPEATED_CHARACTERS
from symgrad.support.traversal import walk

_CONSTANTS = {
    "pi": r"\pi",
    "E": "e",
    "EulerGamma": r"\gamma_{\mathrm{E}}",
    "Catalan": r"G_{\mathrm{Catalan}}",
    "GoldenRatio": r"\varphi_{\mathrm{golden}}",
}
_CONSTANT_WORDS = {name: rf"\operatorname{{{name}}}" for name in ("EulerGamma", "Catalan", "GoldenRatio")} | {
    "E": r"\exp\left(1\right)"
}
_FUNCTION = re.compile(r"(\\[a-zA-Z]+|\\operatorname\{\{\w+\}\})\\left\(\{0\}\\right\)")


def latex(
    node: Node,
    names: Mapping[Node, str] | None = None,
    spelled: Mapping[Node, _Written] | None = None,
    beside: Iterable[str] = (),
    arrays: Mapping[Node, str] = {},
    steps: Mapping[Body, StepNotation] = {},
) -> str:
    r"""Return a node as LaTeX.

    Args:
        node: the node.
        names: nodes that are written as a name, such as a program's variables; for a number, also another spelling.
        spelled: nodes with another text, each with the rank of the text.
        beside: names that the formula need not contain, such as all names of its program; nothing else looks like them.
        arrays: names of the values of recurrences, which are written in rows of their own.
        steps: how the program writes the steps of recurrences.

    Returns:
        One expression; if it is long, an ``aligned`` environment: first lines that define parts t_1, t_2, ..., then the
        expression.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.scalar.trig import sin
        >>> x = symbol(Declaration("x"))
        >>> print(latex(sin(x) ** 2 / (1 - x)))
        \frac{\sin^{2}\left(x\right)}{1 - x}
    """
    lines, result = latex_lines(node, names, spelled, beside, arrays, steps)
    if not lines:
        return result
    return " \\\\\n".join(
        [r"\begin{aligned}" + "\n" + lines[0], *lines[1:], f"& {result}\n" + r"\end{aligned}"]
    )


def latex_lines(
    node: Node,
    names: Mapping[Node, str] | None = None,
    spelled: Mapping[Node, _Written] | None = None,
    beside: Iterable[str] = (),
    arrays: Mapping[Node, str] = {},
    steps: Mapping[Body, StepNotation] = {},
    fresh: Iterator[str] | None = None,
    *,
    whole: bool = False,
) -> tuple[list[str], str]:
    """Return the rows that define parts of a node and its recurrences, and its LaTeX in terms of these.

    Args:
        node: the node.
        names: as for `latex`.
        spelled: as for `latex`.
        beside: as for `latex`.
        arrays: as for `latex`.
        steps: as for `latex`.
        fresh: new names for parts.
        whole: whether no part is written on a line of its own.
    """
    kept = {*(names or {}), *arrays, *(spelled or {})}
    _, lags = with_lags([node], kept)
    if lags:
        (node, *keys), lags = with_lags([node, *(names or {}), *(spelled or {})], kept)
        split = len(names or {})
        names = dict(zip(keys[:split], (names or {}).values(), strict=True))
        spelled = dict(zip(keys[split:], (spelled or {}).values(), strict=True))
    texts = names or {}
    named = {n: name for n, name in texts.items() if n.op is not NUMBER or name.isidentifier()}
    # Named nodes are not entered: their text may be exponentially longer than their graph.
    order = topological([node], until={n for n in (*named, *(spelled or {})) if n is not node})
    read = [named.get(n) or n.name for n in order if n in named or n.op is SYMBOL]
    sized = (n for n in order if n.shape or (n.params and not n.op.pointwise and n.op is not CONSTANT))
    sizes = sorted({name for n in sized for name in names_of(n.shape, *n.params)})
    loops = RecurrenceNames({*read, *sizes, *beside}, steps=steps)
    own = _named_recurrences(order, named, loops, arrays, lags)
    called = [name for names in own.values() for name in names]
    called += [name for n in own if n.params[-1] in steps for name in steps[n.params[-1]].parts]
    called += arrays_with_entries(own)
    glyphs = Glyphs([*read, *sizes, *called], beside, called)
    written = Texts(glyphs)
    numbers = (n for n in order if n in texts and is_spelling(n, texts[n]))
    written.update({n: latex_number(n.value, texts[n]) for n in numbers})
    for n, text in (spelled or {}).items():
        written[n] = text
        if n.op is not NUMBER:
            written.opaque.add(n)
    for n in order:
        if n in written:
            continue
        if n.op is SYMBOL or (n in named and n is not node):
            written[n] = (glyphs.name(named.get(n) or n.name), ATOM)
            written.opaque.add(n)
    short = whole or _expanded(order, written) <= LATEX_CHARACTERS
    used = uses([node])
    rows = {row for n in order for row in rows_in(n, written)}
    fresh = fresh_names(glyphs) if fresh is None else fresh
    lines: list[str] = []
    for n in order:
        if n in written:
            continue
        if n in own:
            some = lags.get(n, ())

            def step(
                r: Node,
                more: Mapping[Node, _Written],
                known: Mapping[Node, _Written] = {**written},
                *,
                whole: bool = False,
            ) -> tuple[list[str], str]:
                return latex_lines(r, None, {**known, **more}, beside, fresh=fresh, whole=whole)

            ends = ends_of_sum(n, order)
            letter = loops.letter(n)
            if ends:
                total = sum_over_steps(n, glyphs, lambda x: written[x][0], partial(step, whole=True), letter)
                written.update(dict.fromkeys(ends, (total, MUL)))
                written.opaque.update(ends)
                continue
            names_of_carries = carry_names(own[n], some)
            notation = steps.get(n.params[-1])
            # LaTeX is not read back with values of a search that need no first value.
            named_in_step = notation and notation.parts and (n.params[1] or search_of(n.params[-1]) is None)
            rows_of_steps, _ = recurrence_rows(
                n,
                names_of_carries,
                lambda parts: Glyphs([*read, *sizes, *called, *parts], beside, called),
                lambda x: written[x][0],
                partial(step, whole=True) if named_in_step else step,
                letter,
                loops.taken,
                loops if named_in_step else None,
            )
            lines += rows_of_steps
            for array, name in zip(named_arrays(n, some), own[n], strict=True):
                written[array] = (with_accent(glyphs.name(name)), ATOM)
                written.opaque.add(array)
            if n not in written:  # only parts of it are read
                written[n] = (rf"\left({', '.join(map(glyphs.name, own[n]))}\right)", ATOM)
                written.opaque.add(n)
            continue
        text, rank = _write(n, written)
        if (
            not short
            and n is not node
            and n.args
            and n not in rows
            and len(text) > (LATEX_REPEATED_CHARACTERS if used[n] > 1 else LATEX_LINE_CHARACTERS)
        ):
            name = next(fresh)
            lines.append(f"{name} &= {text}")
            text, rank = name, ATOM
            written.opaque.add(n)
        written[n] = (text, rank)
    return lines, written[node][0]


def _named_recurrences(
    order: Iterable[Node],
    named: Mapping[Node, str],
    loops: RecurrenceNames,
    arrays: Mapping[Node, str],
    lags: Mapping[Node, Sequence[Lags]],
) -> dict[Node, list[str]]:
    """Return the names of the carries of each recurrence."""
    called = dict(named)
    found: dict[Node, list[str]] = {}
    for node in order:
        if is_recurrence(node):
            new = loops.new(node, called)
            values = named_arrays(node, lags.get(node, ()))
            found[node] = [arrays.get(v) or name for v, name in zip(values, new, strict=True)]
            called.update(zip(values, found[node], strict=True))
            loops.add(node, carry_names(found[node], lags.get(node, ())))
    return found


def word_call(name: str, arguments: Sequence[str]) -> str:
    """Return a call of a function by its name in the program notation, for functions whose letter is a variable."""
    word = r"\exp" if name == "exp" else rf"\operatorname{{{name.replace('_', chr(92) + '_')}}}"
    return rf"{word}\left({', '.join(arguments)}\right)"


def fresh_names(glyphs: Glyphs) -> Iterator[str]:
    """Yield the names t_1, t_2, ... that are not taken."""
    taken = glyphs.texts()
    first = 1 + sum(1 for t in taken if t.startswith("t_{"))
    yield from (name for number in count(first) if (name := f"t_{{{number}}}") not in taken)


def _expanded(order: Iterable[Node], written: Texts) -> int:
    """Estimate the length of the last node's text without named parts; stop at the limit for one line."""
    lengths: dict[Node, int] = {}
    total = 0
    for node in order:
        own = len(written[node][0]) if node in written else len(_template(node)) + 12 * (node.op is NUMBER)
        arguments = 0 if node in written else sum(lengths[a] for a in node.args)
        total = lengths[node] = min(own + arguments, 10 * LATEX_CHARACTERS)
    return total


def _write(node: Node, written: Texts) -> _Written:
    op = node.op
    if op is NUMBER:
        value = node.value
        return (rf"\mathrm{{{value}}}", ATOM) if isinstance(value, bool) else latex_number(value)
    if op is CONSTANT:
        name = node.params[0]
        return _CONSTANTS[name] if written.glyphs.is_free(_CONSTANTS[name]) else _CONSTANT_WORDS[name], ATOM
    if op is SIZE:
        return written.glyphs.size(node.params[0]), ATOM
    if op.name in ARRAY_FORMS:
        return ARRAY_FORMS[op.name](node, written)
    template = _template(node)
    if not written.glyphs.is_free(template):
        return word_call(op.name, [*map(str, node.params), *(written[a][0] for a in node.args)]), ATOM
    if not op.pointwise:
        return template.format(*(written[a][0] for a in node.args)), op.precedence
    special = _SPECIAL.get(op.name)
    if special is not None:
        return special(node, written)
    if op.precedence == ATOM:
        arguments = [written[a][0] for a in node.args]
        rank = POW if template.endswith("^{{{0}}}") else ATOM
    else:  # an infix or prefix form of truth values or comparisons
        arguments = [within(written[a], op.precedence + 1) for a in node.args]
        rank = op.precedence
    return template.format(*arguments, **dict(zip(op.parameters, node.params, strict=True))), rank


def _sum(node: Node, written: Texts) -> _Written:
    left = within(written[node.args[0]], ADD)
    text, rank = written[node.args[1]]
    if rank == SIGNED:
        return f"{left} - {text[1:].lstrip()}", ADD
    return f"{left} + {within((text, rank), ADD)}", ADD


def _negative(node: Node, written: Texts) -> _Written:
    return "-" + within(written[node.args[0]], HADAMARD), SIGNED


def _product(node: Node, written: Texts) -> _Written:
    if node.shape:
        return array_product(node, written)
    left, right = (written[a] for a in node.args)
    rank = SIGNED if left[1] == SIGNED else MUL
    first, second = within(left, SIGNED), within(right, MUL)
    if is_product(left[1]):  # x' y z could be x' (y z)
        first = rf"\left({first}\right)"
    # Digits side by side would be read as one number, and a fraction after a digit as a mixed number.
    digits = second[0].isdigit() or (first[-1].isdigit() and second.startswith(r"\frac"))
    both = node.args[0].op is NUMBER and node.args[1].op is NUMBER
    return rf"{first} \cdot {second}" if digits or both else juxtapose([first, second]), rank


def _quotient(node: Node, written: Texts) -> _Written:
    found = array_quotient(node, written)
    if found is not None:
        return found
    sign, above_of, below_of = _parts(node, written.opaque)
    *front, last = above_of or [node]
    if last in written.opaque and written[last][0].startswith(
        r"\sum"
    ):  # a factor stands before a sum over steps
        factor = rf"\frac{{{_factors(front, written)}}}{{{_factors(below_of, written)}}}"
        return f"{sign}{factor} {written[last][0]}", SIGNED if sign else MUL
    lonely = above_of[0] if len(above_of) == 1 else None
    if _has_quotient(node, written.opaque):  # one fraction is written instead of nested ones
        text = rf"\frac{{{_factors(above_of, written)}}}{{{_factors(below_of, written)}}}"
        return f"{sign}{text}", SIGNED if sign else MUL
    (above, rank), (below, _) = (written[a] for a in node.args)
    if lonely is not None and lonely.op.name == "add" and lonely not in written.opaque and len(below_of) == 1:
        text = written[lonely][0]
        if (
            r"\frac" in text and not node.args[1].args
        ):  # a number or name that divides a sum of fractions is written before it
            return rf"{sign}\frac{{1}}{{{below}}} \left({text}\right)", SIGNED if sign else MUL
    if rank == SIGNED:  # the sign stands before the fraction
        return rf"-\frac{{{above[1:].lstrip()}}}{{{below}}}", SIGNED
    return rf"\frac{{{above}}}{{{below}}}", MUL


def _has_quotient(node: Node, opaque: Collection[Node]) -> bool:
    """Tell whether a quotient contains another quotient that is written as part of it."""

    def descend(top: Node) -> list[Node]:
        return [a for a in top.args if a.op.name in ("mul", "div", "neg") and a not in opaque and not a.shape]

    return any(n.op.name == "div" for n in walk(descend(node), descend))


def _parts(node: Node, opaque: Collection[Node]) -> tuple[str, list[Node], list[Node]]:
    """Return the sign of a quotient, and the factors of its numerator and denominator."""
    sign, above, below = factors_of(node, lambda top: top in opaque or top.shape)
    first = above[0] if above else None
    if first is not None and first.op is NUMBER and first.value == 1 and len(above) > 1:
        above = above[1:]
    return "-" if sign < 0 else "", above, below


def _factors(nodes: Sequence[Node], written: Texts) -> str:
    """Return factors side by side, with a dot before digits."""
    if not nodes:
        return "1"
    if len(nodes) == 1:
        return written[nodes[0]][0]
    text = within(written[nodes[0]], MUL)
    for node in nodes[1:]:
        second = within(written[node], MUL)
        text = rf"{text} \cdot {second}" if second[0].isdigit() else juxtapose([text, second])
    return text


def _power(node: Node, written: Texts) -> _Written:
    base, exponent = node.args
    text = written[exponent][0]
    function = None if base in written.opaque else _FUNCTION.fullmatch(_template(base))
    inside = written[base.args[0]][0] if function else ""
    # sin^2(x), but never sin^-1(x), which means the inverse; a named base has no function at which to write the power.
    if function and exponent.op is NUMBER and exponent.value >= 2 and exponent.dtype == "int":
        name = function[1].format()
        if written[base] == (rf"{name}\left({inside}\right)", ATOM):
            return rf"{name}^{{{text}}}\left({inside}\right)", POW
    return array_power(written[base], text, len(node.shape), written)


def _choice(node: Node, written: Texts) -> _Written:
    condition, value, other = node.args
    rest = written[other][0]
    start, end = r"\begin{cases} ", r" \end{cases}"
    if written[other][1] == OPEN and other.op.name == "where":
        rest = rest.removeprefix(start).removesuffix(end)
    else:
        rest = rf"{rest} & \text{{otherwise}}"
    return rf"{start}{written[value][0]} & \text{{if }} {written[condition][0]} \\ {rest}{end}", OPEN


def _infinite(node: Node, written: Texts) -> _Written:
    condition, value = (written[a][0] for a in node.args)
    return _template(node).format(condition, value), OPEN


_SPECIAL = {
    "add": _sum,
    "neg": _negative,
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "where": _choice,
    "where_minus_oo": _infinite,
    "where_plus_oo": _infinite,
}


def _template(node: Node) -> str:
    latex = node.op.latex
    return latex if isinstance(latex, str) else latex(node)
