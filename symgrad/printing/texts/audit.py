"""Write a noise audit as text, and formulas with decimals."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symgrad.analysis.explain.derivation import DerivationRecord
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.ir.graph import SIZE, SYMBOL, Node, apply, as_node
from symgrad.ir.notation.printer import str_text
from symgrad.ir.traverse import topological
from symgrad.ir.values.evaluate import evaluate_mp, mp_context
from symgrad.printing.texts.derivation import path_text, title_text
from symgrad.rewrite.pipeline import canonical

_WIDTH = 100
_READ = 200  # largest formula that is written in decimals, in equations


@dataclass(frozen=True, slots=True)
class Averaged:
    """The moments of gradients over some random inputs, ready to be printed.

    Args:
        verdict: the verdict on the random input; None for all of them together.
        rows: pairs of a label and a formula, for each gradient.
        notes: conditions under which the moments exist.
    """

    verdict: NoiseVerdict | None
    rows: Sequence[tuple[str, Sequence[str]]]
    notes: Sequence[str]


def audit_text(
    derivation: DerivationRecord, against: str, gradients: Sequence[str], sections: Sequence[Averaged]
) -> str:
    """Return an audit as text of at most 100 columns; only formulas may be longer.

    Args:
        derivation: the derivation of the gradients.
        against: the reference for the gradients.
        gradients: the formulas of the gradients.
        sections: the moments for each random input, and for all together.
    """
    naming = derivation.naming
    by = [naming.text(w) for w in derivation.wrt]
    y = naming.text(derivation.y)
    lines = [f"Audit of {title_text(derivation)}"]
    several = len(by) > 1
    for name, text in zip(by, (_indented(g) for g in gradients), strict=True):
        lines.append(f"  d{y}/d{name} = {text}" if naming.names.get(derivation.y) else f"  by {name}: {text}")
    for cut in derivation.cuts:
        lines += textwrap.wrap(str(cut), _WIDTH, subsequent_indent="  ", break_long_words=False)
    if not sections:
        lines.append("No random input: the gradient has neither bias nor variance.")
    for section in sections:
        lines.append("")
        if section.verdict is None:
            lines.append("All random inputs together")
        else:
            lines += textwrap.wrap(
                f"{section.verdict}", _WIDTH, subsequent_indent="  ", break_long_words=False
            )
            if section.verdict.path:
                lines.append(f"  path: {path_text(section.verdict.path)}")
            read = derivation.noise_lines(section.verdict.name)
            for sentence in () if read is None else read.sentences:
                lines += textwrap.wrap(
                    f"lines: {sentence}", _WIDTH, initial_indent="  ", subsequent_indent="    "
                )
        labels = [f"{label} by {name}" if several else label for label, _ in section.rows for name in by]
        texts = [text for _, each in section.rows for text in each]
        width = max(map(len, labels))
        lines += [
            f"  {label.ljust(width)}  {_indented(text)}" for label, text in zip(labels, texts, strict=True)
        ]
        for note in section.notes:
            lines += textwrap.wrap(note, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    if sections:
        lines += ["", f"reference: {AGAINST[against]}"]
    return "\n".join(lines)


def _indented(text: str) -> str:
    """Return a formula, whose further lines are indented more than its label."""
    return text.replace("\n", "\n    ")


AGAINST = {
    "noise at its mean": "the gradient with each random input at its mean",
    "expected value": "the gradient of the mean",
}


def with_decimals(text: str, node: Node) -> str:
    """Return a formula with a decimal approximation if it contains constants such as sqrt(110).

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> with_decimals("x*(sqrt(110) - 3*sqrt(10))", parse_program("x : real; y = x*(sqrt(110) - 3*sqrt(10))")["y"])
        'x*(sqrt(110) - 3*sqrt(10)), about 1.00126*x'
    """
    order = topological([node])
    free = {n for n in order if not n.shape}
    for n in order:
        if n.op is SYMBOL or n.op is SIZE or any(a not in free for a in n.args):
            free.discard(n)
    if (
        "\n" in text
        or len(order) > _READ
        or not any(n.args and n.dtype == "real" and not _is_plain(n) for n in free)
    ):
        return text
    about = str_text(canonical([_in_decimals(order, free)]).nodes[0])
    return text if len(about) >= len(text) else f"{text}, about {about}"


def _in_decimals(order: Sequence[Node], free: set[Node]) -> Node:
    """Return a node whose constants are decimals with six digits, multiplied to one decimal in each product.

    Args:
        order: the graph of the node, arguments first.
        free: the nodes in it that are constant.
    """
    mp = mp_context(30)
    numbers = [n for n in order if (n in free and n.dtype == "real") or n.is_number()]
    values = dict(zip(numbers, evaluate_mp(mp, numbers, {}), strict=True))
    factored: dict[Node, tuple[Any, Node | None]] = {}  # a number, and the factor that it multiplies
    for n in order:
        if n in values and mp.isfinite(values[n]):
            factored[n] = mp.mpf(values[n]), None
            continue
        parts = [factored[a] for a in n.args]
        match n.op.name, parts:
            case "neg", [(c, rest)]:
                factored[n] = -c, rest
            case "mul", [(c, a), (d, b)]:
                factored[n] = c * d, a if b is None else b if a is None else a * b
            case "div", [(c, a), (d, b)] if d != 0:
                factored[n] = c / d, a if b is None else (as_node(1) if a is None else a) / b
            case _:
                exponent = n.op.name == "pow"
                args = [_product(c, rest, mp, exact=exponent and k == 1) for k, (c, rest) in enumerate(parts)]
                factored[n] = mp.mpf(1), apply(n.op, tuple(args), n.params) if n.args else n
    return _product(*factored[order[-1]], mp)


def _product(c: Any, rest: Node | None, mp: Any, *, exact: bool = False) -> Node:
    long = Fraction(str(mp.nstr(c, 28)))
    fraction = long.limit_denominator(1000)
    if not exact and (abs(fraction - long) > abs(long) / 10**20 or abs(fraction.numerator) > 10**9):
        fraction = Fraction(str(mp.nstr(c, 6)))
    factor = as_node(fraction)
    return factor if rest is None else rest if fraction == 1 else factor * rest


def _is_plain(n: Node) -> bool:
    """Tell whether a number is readable as written: a quotient, or a number with a sign."""
    return n.op.name in ("neg", "div") and all(a.is_number() for a in n.args)
