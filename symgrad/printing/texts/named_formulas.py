"""Write formulas in the notation of their program, as LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from symgrad.ir.composite import form_of
from symgrad.ir.graph import Node
from symgrad.ir.notation.literals import ATOM, MUL
from symgrad.ir.traverse import symbols_of, topological
from symgrad.pretty.forms.calls import Notation
from symgrad.pretty.named_formulas import NamedFormulas
from symgrad.printing.latex.expressions import latex, texts_of_names
from symgrad.printing.latex.pieces import (
    Written,
    called_letters,
    function_latex_by_name,
    latex_name,
    latex_number,
)


def formulas_latex(found: NamedFormulas, beside: Iterable[str] = ()) -> str:
    r"""Return a formula as LaTeX; if it has new names, as an ``aligned`` environment that defines them."""
    first, *others = formula_rows(found, beside)
    return latex_rows([f"& {first}", *others]) if others else first


def named_latex(node: Node, spelling: Notation, beside: Iterable[str] = ()) -> str:
    """Return a formula over names as LaTeX, with numbers and calls as the program writes them.

    Args:
        node: the formula.
        spelling: the notation of the program.
        beside: all names of the program, as for `latex`.
    """
    beside = list(beside)
    return latex(node, spelled=spelled_latex(spelling, beside=beside), beside=beside)


def spelled_latex(
    spelling: Notation, names: Mapping[Node, Written] = {}, beside: Sequence[str] = ()
) -> dict[Node, Written]:
    """Return the nodes for `latex` that are not written as their formula: names, numbers, calls."""
    spelled = {
        symbol: latex_number(number.value, symbol.name) for symbol, number in spelling.literals.items()
    }
    spelled |= names
    for node in topological(spelling.calls):  # inner calls come first
        if node in spelling.calls:
            name, argument = spelling.calls[node]
            how = form_of(name, 1)
            if how is not None and how.latex is not None:
                names_here = dict.fromkeys([*beside, *(s.name for s in symbols_of([argument]))])
                clashes = called_letters(how.latex) & texts_of_names(tuple(names_here))[1]
                template = function_latex_by_name(name, 1) if clashes else how.latex
                spelled[node] = template.format(latex(argument, spelled=spelled, beside=beside)), ATOM
    return spelled


def formula_rows(found: NamedFormulas, beside: Iterable[str] = ()) -> list[str]:
    """Return formulas as LaTeX, and then an aligned row that defines each new name.

    Args:
        found: the formulas.
        beside: all names of the program, as for `latex`.
    """
    beside = list(beside)
    slopes = {
        name: (leibniz(latex_name(of), list(map(latex_name, by))), MUL)
        for name, (of, by) in found.slopes.items()
    }
    spelled = spelled_latex(found.spelling, slopes, beside)
    rows = [latex(node, spelled=spelled, beside=beside) for node in found.results]
    for k, (name, body) in enumerate(found.lines):
        start = r"\text{where} \quad " if not k else ""
        shown = spelled[name][0] if name in spelled else latex_name(name.name)
        rows.append(f"{start}{shown} &= {latex(body, spelled=spelled, beside=beside)}")
    return rows


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
