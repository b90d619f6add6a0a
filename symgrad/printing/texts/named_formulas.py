"""Write formulas in the notation of their program, as LaTeX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from symgrad.ir.body import Body, StepNotation
from symgrad.ir.composite import form_of
from symgrad.ir.graph import Node, symbol
from symgrad.ir.listing import Listing
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.literals import ATOM, MUL
from symgrad.ir.notation.recurrence_names import RecurrenceNames
from symgrad.ir.notation.recurrences import CarryName, has_recurrences
from symgrad.ir.sizes import names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.pretty.forms.calls import Notation
from symgrad.pretty.named_formulas import NamedFormulas, NamedLines, lines_read
from symgrad.printing.latex.expressions import latex, latex_lines, word_call
from symgrad.printing.latex.glyphs import Glyphs
from symgrad.printing.latex.pieces import Written, latex_number, with_accent
from symgrad.printing.latex.recurrences import arrays_with_entries, recurrence_rows

_PART = re.compile(r"t\d+")
_LETTERS = "uwpqdfgrsvxyz"


def formulas_latex(found: NamedFormulas, beside: Iterable[str] = ()) -> str:
    r"""Return a formula as LaTeX; if it has new names, as an ``aligned`` environment that defines them."""
    first, *others = formula_rows(found, beside)
    return latex_rows([f"& {first}", *others]) if others else first


def named_latex(
    node: Node,
    spelling: Notation,
    beside: Iterable[str] = (),
    arrays: Mapping[Node, str] = {},
    steps: Mapping[Body, StepNotation] = {},
) -> str:
    """Return a formula over names as LaTeX, with numbers and calls as the program writes them."""
    spelled = spelled_latex(spelling, beside=beside)
    return latex(node, spelled=spelled, beside=beside, arrays=arrays, steps=steps)


def spelled_latex(
    spelling: Notation, names: Mapping[Node, Written] = {}, beside: Iterable[str] = ()
) -> dict[Node, Written]:
    """Return the nodes for `latex` that are not written as their formula: names, numbers, calls."""
    spelled = {
        symbol: latex_number(number.value, symbol.name) for symbol, number in spelling.literals.items()
    }
    spelled |= {n: latex_number(n.value, text) for n, text in spelling.numbers.items()} | {**names}
    for node in topological(spelling.calls):  # inner calls come first
        if node in spelling.calls:
            name, argument = spelling.calls[node]
            how = form_of(name, 1)
            if how is not None and how.latex is not None:
                inside = latex(argument, spelled=spelled, beside=beside)
                free = Glyphs(_names_in([argument]), beside).is_free(how.latex)
                spelled[node] = (how.latex.format(inside) if free else word_call(name, [inside])), ATOM
    return spelled


def _names_in(nodes: Iterable[Node]) -> list[str]:
    return [s.name for s in symbols_of(nodes)]


def formula_rows(found: NamedFormulas, beside: Iterable[str] = ()) -> list[str]:
    """Return formulas as LaTeX, and then an aligned row that defines each new name."""
    results, groups = row_groups(found, beside)
    below = [row for group in reversed(groups) for row in group.lines]
    where = [rf"\text{{where}} \quad {below[0]}", *below[1:]] if below else []
    return [*results, *where]


def row_groups(
    found: NamedFormulas,
    beside: Iterable[str] = (),
    names: Mapping[Node, str] = {},
    *,
    apart: bool = False,
) -> tuple[list[str], list[NamedLines]]:
    """Return formulas as LaTeX, and the aligned rows of all new names, each below those that it reads.

    Args:
        found: the formulas.
        beside: names that the formulas need not contain; nothing else looks like them.
        names: the LaTeX of new names.
        apart: whether values of steps that no step reads have rows of their own.
    """
    formulas = [*found.results, *(node for line in found.lines for node in line)]
    read = [*_names_in(formulas), *names_of(*(s.shape for s in symbols_of(formulas)))]
    read += [n for of, by in found.slopes.values() for n in (of, *by)]
    words = found.words
    parts = [name for notation in words.steps.values() for name in notation.parts]
    beside = [*beside, *read, *parts]
    arrays = _with_positions({n.name: body for n, body in words.bodies.items()}, words.steps)
    arrays += arrays_with_entries(topological(formulas))
    glyphs = Glyphs(read, beside, arrays)
    slopes = {
        name: (leibniz(glyphs.name(of), list(map(glyphs.name, by))), MUL)
        for name, (of, by) in found.slopes.items()
    }
    slopes |= {name: (text, ATOM) for name, text in names.items()}
    if has_recurrences(formulas):  # t_{1} looks like an entry of parts t_{1, t} of steps
        free = next((c for c in _LETTERS if not any(n.startswith(c) for n in beside)), "t")
        lines = [name for name, _ in found.lines if _PART.fullmatch(name.name)]
        slopes |= {name: (f"{free}_{{{name.name[1:]}}}", ATOM) for name in lines}
        # h_{1} looks like the value of h at 1
        own = (s for s in symbols_of(formulas) if s not in slopes and s not in found.spelling.literals)
        slopes |= {s: (glyphs.name(s.name), ATOM) for s in own}
        slopes |= {n: (with_accent(slopes[n][0]), ATOM) for n, _ in found.lines if n in slopes}
    spelled = spelled_latex(found.spelling, slopes, beside)

    def step(r: Node, more: Mapping[Node, Written]) -> tuple[list[str], str]:
        return latex_lines(r, None, {**spelled, **more}, beside, whole=True)

    def loop_rows(
        node: Node,
        names: Sequence[CarryName],
        own: Sequence[Node],
        called: RecurrenceNames,
        sums: Sequence[Node],
        rows_of: Mapping[str, Node],
    ) -> tuple[list[str], list[Node], list[str]]:
        def glyphs_with(parts: Iterable[str]) -> Glyphs:
            return Glyphs([*read, *(s.name for s in own), *parts], beside, arrays)

        def text(x: Node) -> str:
            return latex(x, spelled=spelled, beside=beside)

        bars = glyphs_with(())
        spelled.update((s, (with_accent(bars.name(s.name)), ATOM)) for s in own)
        letter = called.letter(node)
        rows, shown = recurrence_rows(
            node, names, glyphs_with, text, step, letter, called.taken, called, sums, rows_of, apart=apart
        )
        totals = [
            symbol(Declaration(f"sum {len(spelled) + k}", shape=s.shape[1:])) for k, s in enumerate(sums)
        ]
        spelled.update((total, (text, MUL)) for total, text in zip(totals, shown, strict=False))
        return rows, totals, shown[len(totals) :]

    def row(name: Node, body: Node) -> str:
        shown = spelled[name][0] if name in spelled else glyphs.name(name.name)
        return f"{shown} &= {latex(body, spelled=spelled, beside=beside)}"

    results, groups = lines_read(found.results, found.lines, found.known, loop_rows, row, found.words)
    return [latex(node, spelled=spelled, beside=beside) for node in results], groups


def _with_positions(assignments: Mapping[str, Node], steps: Mapping[Body, StepNotation]) -> list[str]:
    """Return the names of values and parts of steps, which are read at positions: h_{1}."""
    values = [name for name, node in assignments.items() if loop_of(node) is not None]
    return [*values, *(name for notation in steps.values() for name in notation.parts)]


def program_name(name: str, listing: Listing | None) -> str:
    r"""Return a name of a program as LaTeX; beside values of a recurrence h, a name h1 does not look like one of them.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("h1, g1 : real; h[0] = h1; h[t] = g1*h[t-1] for t in 1..9")
        >>> print(program_name("h1", p), program_name("g1", p))
        \mathtt{h1} g_{1}
    """
    arrays = [] if listing is None else _with_positions(listing.assignments, listing.steps)
    return Glyphs([name], (), arrays).name(name)


def latex_rows(rows: Sequence[str]) -> str:
    """Return rows as an ``aligned`` environment."""
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def leibniz(of: str, by: Sequence[str]) -> str:
    r"""Return a derivative in Leibniz's notation; the names are LaTeX.

    Example:
        >>> print(leibniz("A", ["T", "T", "P"]))
        \frac{\partial^{3} A}{\partial T^{2} \, \partial P}
    """
    power = f"^{{{len(by)}}}" if len(by) > 1 else ""
    below = r" \, ".join(
        rf"\partial {name}" + (f"^{{{k}}}" if k > 1 else "") for name, k in Counter(by).items()
    )
    return rf"\frac{{\partial{power} {of}}}{{{below}}}"
