"""Write a derivation by hand as text and as LaTeX: a line for each rule and its result."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgrad.analysis.explain.by_hand import RuleLine
from symgrad.analysis.explain.derivation import DerivationRecord
from symgrad.analysis.explain.naming import Naming
from symgrad.ir.graph import NUMBER, Node
from symgrad.ir.listing import Derivative
from symgrad.ir.notation.literals import MUL
from symgrad.printing.latex.expressions import latex
from symgrad.printing.latex.pieces import latex_name
from symgrad.printing.limits import PAGE_CHARACTERS
from symgrad.printing.texts.adjoints import Briefs
from symgrad.printing.texts.named_formulas import leibniz


@dataclass(frozen=True, slots=True)
class SpelledRule:
    """A line of a derivation by hand, as text and as LaTeX.

    Args:
        rule: the rule.
        texts: the derivative, the result of the rule, and the short form of the result.
        latexs: the same, as LaTeX.
        last: whether this is the requested derivative.
    """

    rule: str
    texts: tuple[str, ...]
    latexs: tuple[str, ...]
    last: bool


def spelled_rules(d: DerivationRecord, heads: Briefs) -> list[SpelledRule]:
    """Return the lines of a derivation by hand; the last lines end with the gradients as they are printed above.

    Args:
        d: the derivation.
        heads: the gradients as they are printed.
    """
    found: list[SpelledRule] = []
    wrt = list(d.wrt)
    for line in d.rules:
        of, by = line.line.of, line.line.by
        last = of is d.y
        texts, latexs = [line.slope, line.applied, line.derivative], _latexs(line)
        if last:
            k = wrt.index(by)
            brief = heads.gradients[k]
            if brief is None and d.naming.whole(d.values[k], PAGE_CHARACTERS) is not None:
                texts.append(d.naming.body(d.values[k], PAGE_CHARACTERS))
                latexs.append(latex(d.values[k], d.spelled))
            elif brief is not None and not heads.lines:
                texts.append(brief.text)
                latexs.append(brief.latex)
        forms = dict(zip(texts, latexs, strict=True))  # without repetitions
        found.append(SpelledRule(line.rule, tuple(forms), tuple(forms.values()), last))
    return found


def _latexs(line: RuleLine) -> list[str]:
    naming = line.naming

    def formula(node: Node) -> str:
        return formula_latex(naming, node, {**naming.numbers, **naming.names})

    of, by = line.line.of, line.line.by
    below = name_latex(naming, by) if by in naming.names else formula(by)
    if naming.is_call(of):
        slope = derivative_latex(naming, naming.derivatives[of], [below])
    elif line.name is not None:
        slope = leibniz(latex_name(line.name), [below])
    else:
        slope = rf"\frac{{\partial}}{{\partial {below}}}\left({formula(of)}\right)"
    return [slope, formula(line.line.applied), formula(line.line.derivative)]


def name_latex(naming: Naming, node: Node) -> str:
    """Return the name of a node as LaTeX; a derivative without a name of its own is a quotient."""
    if naming.is_call(node):
        return derivative_latex(naming, naming.derivatives[node])
    return latex_name(naming.names[node])


def derivative_latex(naming: Naming, of: Derivative, by: Sequence[str] = ()) -> str:
    """Return a derivative, or its derivative by further variables, as a quotient in LaTeX."""
    variables = [*(name_latex(naming, b) for b in of.by), *by]
    if naming.is_call(of.y):
        return derivative_latex(naming, naming.derivatives[of.y], variables)
    return leibniz(latex_name(naming.names[of.y]), variables)


def formula_latex(naming: Naming, node: Node, names: Mapping[Node, str]) -> str:
    """Return a node as LaTeX, with nodes inside it written as names."""
    inside = {n: text for n, text in names.items() if n is not node or n.op is NUMBER}
    derived = {n: (name_latex(naming, n), MUL) for n in inside if naming.is_call(n)}
    return latex(node, {n: text for n, text in inside.items() if n not in derived}, derived)


def rules_text(rules: Sequence[SpelledRule]) -> list[str]:
    """Return the lines as text, with the rules in a column on the left."""
    width = max(len(r.rule) for r in rules) + 4
    lines: list[str] = []
    for k, rule in enumerate(rules):
        head = f"  {rule.rule:<{width - 2}}"
        text = " = ".join(rule.texts)
        if width + len(text) <= PAGE_CHARACTERS:
            lines.append(head + text)
        else:
            first, *others = rule.texts
            margin = " " * (width + 2)
            lines += _wrapped(head, first, " " * (width + 4))
            for text in others:
                lines += _wrapped(f"{margin}= ", text, margin + "    ")
        if rule.last and k + 1 < len(rules):
            lines.append("")
    return lines


def _wrapped(head: str, text: str, hang: str) -> list[str]:
    return textwrap.wrap(
        text, PAGE_CHARACTERS, initial_indent=head, subsequent_indent=hang, break_on_hyphens=False
    )


def rule_rows(rule: SpelledRule) -> list[str]:
    """Return a line as rows of an ``align*``: one row for each form; the rule is at the end of the first row."""
    slope, first, *others = rule.latexs
    name = rule.rule.replace("_", r"\_")
    return [rf"{slope} &= {first} && \text{{{name}}}", *(f"&= {form}" for form in others)]
