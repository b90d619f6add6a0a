"""Write a derivation as text and LaTeX, and draw its graph. All functions depend only on the record."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from symgrad.analysis.explain.derivation import DerivationRecord, DerivationStep
from symgrad.analysis.explain.naming import ELLIPSIS, quotient_text
from symgrad.analysis.explain.noise.jumps import MovedJump
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.analysis.explain.removable_singularities.search import Gap
from symgrad.autodiff.trace import placeholder
from symgrad.ir.graph import Node
from symgrad.ir.notation.printer import one_line
from symgrad.ir.traverse import symbols_of
from symgrad.printing.latex.definitions import recurrence_maths
from symgrad.printing.latex.expressions import latex
from symgrad.printing.latex.pieces import latex_name
from symgrad.printing.limits import (
    CELL_CHARACTERS,
    GRADIENT_CHARACTERS,
    PAGE_CHARACTERS,
    PATH_NODES,
    STEPS_TOLD,
)
from symgrad.printing.pictures.picture import Highlight
from symgrad.printing.pictures.svg import graph_svg
from symgrad.printing.texts.adjoints import Briefs, adjoint_rows, adjoint_text, briefs, program_line
from symgrad.printing.texts.named_formulas import program_name
from symgrad.printing.texts.rules import formula_latex, name_latex, rule_rows, rules_text, spelled_rules

_COTANGENT = "COTANGENT"  # placeholder of the cotangent in a text, until it is written with a bar


def title_text(d: DerivationRecord) -> str:
    """Return the title: the function and its variables."""
    return f"{d.naming.text(d.y)}, differentiated by {', '.join(d.naming.text(w) for w in d.wrt)}"


def gradient_text(d: DerivationRecord, index: int) -> str:
    """Return a gradient as a value, abbreviated if it is too long to read."""
    value = d.values[index]
    text = one_line(value, d.spelled)
    fits = text is not None and len(text) <= GRADIENT_CHARACTERS
    return text if text is not None and fits else d.naming.body(value, GRADIENT_CHARACTERS)


def path_text(path: tuple[str, ...]) -> str:
    """Return a value path, from the value that a pullback reads to the random input."""
    if len(path) > PATH_NODES:
        half = PATH_NODES // 2
        path = (*path[:half], f"({len(path) - 2 * half} more)", *path[-half:])
    return " <- ".join(path)


# -- text -------------------------------------------------------------------------------------------------------------


def derivation_text(d: DerivationRecord, *, steps: bool = False) -> str:
    r"""Return a derivation as text of at most 100 columns.

    Args:
        d: the derivation.
        steps: whether to list every pullback with its rule, even if names of the program or rules of calculus suffice.

    Example:
        >>> from symgrad.analysis.explain.derivation import explain
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real\nu ~ Uniform(0.9, 1.1)\ns = sin(x)\nz = exp(s*u)")
        >>> print(derivation_text(explain(p["z"], [p["x"]], p)))
        z, differentiated by x
        <BLANKLINE>
          z = exp(s*u)
          dz/dx = u*z*cos(x)
        <BLANKLINE>
        from the output back
        <BLANKLINE>
          z_bar = 1
          s_bar = u*z
          x_bar = u*z*cos(x)
        <BLANKLINE>
        u enters the gradient
        <BLANKLINE>
          ...
    """
    lines = [title_text(d), ""]
    inputs = symbols_of([d.y, *d.wrt])
    if any(s.shape for s in inputs):
        lines += [*_wrapped("  ", ", ".join(str(s.declaration) for s in inputs)), ""]
    called = d.called
    if called is not None:
        lines += _wrapped("  ", called.text([f"{d.naming.text(d.y)} = "]))
    for definition in d.definitions([d.y]):
        lines += [row for line in definition for row in program_line(line, PAGE_CHARACTERS)]
    if called is None and d.y in d.naming.names and d.y.args:
        lines += _wrapped("  ", d.naming.definition(d.y, GRADIENT_CHARACTERS))
    adjoints = d.adjoints if d.told_by_names and not steps else ()
    heads = briefs(d, adjoints)
    for i, w in enumerate(d.wrt):
        short = heads.gradients[i]
        lines += _wrapped(
            "  ", f"{slope_text(d, w)} = {gradient_text(d, i) if short is None else short.text}"
        )
        lines += [f"    {note}" for note in (short and short.notes) or ()]
        if d.nothing[i] is not None:
            lines += _wrapped("    ", f"{d.nothing[i]}: {d.nothing_reasons[i]}")
            lines += [part for place in d.nothing_places[i] for part in _wrapped("    ", place.told)]
    for line in heads.lines:
        lines += _wrapped("  ", line)
    if d.notes and any(b is None or b.notes is None for b in heads.gradients):
        lines += ["", "simplifying made the gradient defined in more places", ""]
        for note in d.notes:
            lines += _wrapped("  ", note)
    if adjoints:
        lines += ["", "from the output back", ""]
        lines += [line for a in adjoints for line in adjoint_text(a, PAGE_CHARACTERS)]
    elif rules := [] if steps else spelled_rules(d, heads):
        lines += ["", "by the rules, from the inside out", "", *rules_text(rules)]
    elif d.steps:
        d, parts = _with_parts(d, heads)
        defined = [f"{name} = {d.naming.body(node)}" for node, name in parts.items()]
        defined += [line for lines_back in d.definitions_back for line in lines_back]
        lines += ["", f"from the output back{', where' if defined else ''}"]
        lines += (
            ["", *(row for line in defined for row in program_line(line, PAGE_CHARACTERS))] if defined else []
        )
        for step in d.steps[:STEPS_TOLD]:
            lines += ["", *_step_lines(step, len(str(min(len(d.steps), STEPS_TOLD))))]
        if len(d.steps) > STEPS_TOLD:
            lines += ["", f"  {ELLIPSIS} {len(d.steps) - STEPS_TOLD} more steps"]
    for cut in d.cuts:
        lines += ["", *_wrapped("", cut.headline), "", *_labelled([("reason", cut.reason)])]
    for verdict in d.noise.values():
        read = d.noise_lines(verdict.name)
        lines += ["", verdict.headline, "", *_verdict_lines(verdict, () if read is None else read.sentences)]
    for w, gap in d.gaps:
        lines += ["", f"{gap_title(d, w)} {gap.what} where {gap.where}", "", *_labelled(gap_rows(d, w, gap))]
    for jump in d.jumps:
        lines += ["", *_wrapped("", jump.headline), "", *_jump_lines(jump)]
    return "\n".join(lines)


def _with_parts(d: DerivationRecord, heads: Briefs) -> tuple[DerivationRecord, dict[Node, str]]:
    """Return a derivation whose steps have names for long parts, and these names."""
    taken = {s.name for s in symbols_of([d.y, *d.wrt, *d.gradient])} | set(d.naming.names.values())
    taken |= {line.split(" = ")[0].strip() for line in heads.lines}
    steps = d.steps[:STEPS_TOLD]
    shown: list[Node] = []
    for step in (s.step for s in steps):
        shown += (step.node, step.target, *step.residuals, step.cotangent, step.contribution)
    factors = [
        s.step.coefficient for s in steps if not s.is_map
    ]  # the coefficient of a linear map contains the cotangent
    naming, parts = d.naming.with_parts([*shown, *factors], taken)
    return replace(d, naming=naming, steps=tuple(replace(s, naming=naming) for s in d.steps)), parts


def _wrapped(label: str, text: str) -> list[str]:
    """Return text in lines after a label; if there is no label, indent the further lines."""
    hang = " " * (len(label) + (0 if label.strip() else 4))
    return [
        line
        for part in text.split("\n")
        for line in textwrap.wrap(
            part, PAGE_CHARACTERS, initial_indent=label, subsequent_indent=hang, break_on_hyphens=False
        )
    ]


def slope_text(d: DerivationRecord, w: Node) -> str:
    """Return dz/dx, with brackets around unnamed formulas."""
    return quotient_text(d.naming.text(d.y, 30), d.naming.text(w, 30))


def _step_lines(step: DerivationStep, digits: int) -> list[str]:
    head, margin = f"  {step.number:>{digits}}  ", " " * (digits + 4)
    target = step.target + shape_suffix(step.target_shape)
    if step.linear:
        summed = ", summed" if step.stretches else ""
        sign = "" if step.partial == "1" else f" {'through' if step.is_map else 'times'} {step.partial}"
        passed = (
            f"{step.equation}{shape_suffix(step.shape)}  passes {step.incoming}{sign} on to {target}{summed}"
        )
        return _wrapped(f"{head}{step.rule:<9} ", passed)
    kind, by = ("map", "") if step.is_map else ("partial", f"  by {step.target}")
    rows = [
        (head + f"{step.rule:<9} ", step.equation + shape_suffix(step.shape)),
        (f"{margin}{'line':<10}", "" if step.place is None else step.place.told),
        (f"{margin}{'reads':<10}", ", ".join(step.reads)),
        (f"{margin}{kind:<10}", "" if step.is_loop else step.partial + by),
        (f"{margin}{'receives':<10}", step.incoming),
        (f"{margin}{'passes':<10}", f"{step.produced}  to {target}"),
    ]
    return [line for label, text in rows if text for line in _wrapped(label, text)]


def shape_suffix(shape: str) -> str:
    """Return the suffix for a shape; an empty text for a number."""
    return "" if shape == "()" else f" : {shape}"


def _verdict_lines(verdict: NoiseVerdict, read: Sequence[str]) -> list[str]:
    rows = [("reason", verdict.reason), *(("lines", sentence) for sentence in read)]
    if verdict.path:
        rows.append(("path", path_text(verdict.path)))
    rows += [("line", place.told) for place in verdict.places]
    rows.append(("witness", str(verdict.witness)) if verdict.witness else ("evidence", verdict.how))
    rows += [("clean", str(c)) for c in verdict.clean]
    rows += [("cure", cure) for cure in dict.fromkeys(c.cure for c in verdict.clean) if cure is not None]
    return _labelled(rows)


def _labelled(rows: Sequence[tuple[str, str]]) -> list[str]:
    return [line for label, text in rows for line in _wrapped(f"  {label:<10}", text)]


def gap_title(d: DerivationRecord, w: Node | None) -> str:
    """Return the name of a value or gradient that is undefined somewhere."""
    return d.naming.text(d.y) if w is None else slope_text(d, w)


def gap_rows(d: DerivationRecord, w: Node | None, gap: Gap) -> list[tuple[str, str]]:
    """Return the facts about a point at which there is no value, each with a label."""
    rows = gap.rows(d.naming)
    if w is not None and any(g.form is not None for g in d.forms.gaps):
        rows = [row for row in rows if row[0] not in ("write", "reason")]
        rows.append(("write", f"the gradient of {d.naming.text(d.y)} in its form above"))
    return rows


def _jump_lines(jump: MovedJump) -> list[str]:
    several = len(jump.additions) > 1
    added = [("add", f"by {name}: {text}" if several else text) for name, text in jump.additions.items()]
    lines = [("line", place.told) for place in jump.places]
    rows = [("reason", jump.reason), *lines, *(added or [("advice", jump.advice)])]
    return _labelled(rows)


# -- LaTeX ------------------------------------------------------------------------------------------------------------


def derivation_latex(d: DerivationRecord, *, steps: bool = False) -> str:
    """Return a derivation as a LaTeX ``align*`` environment (needs amsmath): the gradients, then a row for every line.

    A line is the adjoint of a named value, which is written with a bar. With ``steps``, or if no value has a name, a
    line is a step: the rule, the forward equation, and the contribution of its pullback to the cotangent (with a bar)
    of the argument.
    """
    adjoints = d.adjoints if d.told_by_names and not steps else ()
    heads = briefs(d, adjoints)
    found = [
        latex(v, d.spelled) if b is None else b.latex for v, b in zip(d.values, heads.gradients, strict=True)
    ]
    rows = [rf"{slope_latex(d, w)} &= {text}" for w, text in zip(d.wrt, found, strict=True)]
    rows += heads.rows
    if adjoints:
        return _aligned([*rows, *adjoint_rows(adjoints, d.listing)])
    if rules := [] if steps else spelled_rules(d, heads):
        return _aligned([*rows, *(row for r in rules for row in rule_rows(r))])
    d, parts = _with_parts(d, heads)
    rows += [f"{latex_name(name)} &= {cell_latex(d, node, whole=True)}" for node, name in parts.items()]
    rows = [f"&& {row}" for row in rows]
    for step in d.steps[:STEPS_TOLD]:
        node, target = step.step.node, step.step.target
        rule = step.rule.replace("_", r"\_")
        equation = f"&{cell_latex(d, node, whole=True)}"
        if node in d.naming.names and node.args and not step.is_loop:
            equation = f"{name_latex(d.naming, node)} &= {cell_latex(d, node, whole=True)}"
        if step.is_map and not step.is_loop:
            added = _mapped(d, step)
        elif step.is_loop or step.stretches or step.step.produced.guard is not None:
            added = _within(d, step.step.contribution)
        else:
            factors = [n for n in (step.step.cotangent, step.step.coefficient) if not n.is_number(1)]
            sign = r" \odot " if all(n.shape for n in factors) else r" \cdot "
            added = sign.join(_within(d, n) for n in factors) or "1"
        bar = rf"\overline{{{cell_latex(d, target)}}}"
        rows.append(rf"({step.number})\ \text{{{rule}}} && {equation} && {bar} &\mathrel{{+}}= {added}")
    if len(d.steps) > STEPS_TOLD:
        rows.append(rf"\ldots && &\text{{{len(d.steps) - STEPS_TOLD} more steps}}")
    return _aligned(rows)


def _aligned(rows: list[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def _mapped(d: DerivationRecord, step: DerivationStep) -> str:
    """Return the result of a linear map of the cotangent of its equation; this cotangent is written with a bar."""
    node, coefficient = step.step.node, step.step.coefficient
    known = {
        **d.naming.numbers,
        **d.naming.abbreviated(coefficient, CELL_CHARACTERS),
        placeholder(node): _COTANGENT,
    }
    cotangent = latex_name(_COTANGENT)
    text = (
        formula_latex(d.naming, coefficient, known).replace(ELLIPSIS, r"\ldots ")
        if coefficient.args
        else cotangent
    )
    return text.replace(cotangent, rf"\overline{{{cell_latex(d, node)}}}")


def slope_latex(d: DerivationRecord, w: Node) -> str:
    """Return the derivative with respect to a value as LaTeX."""
    names = d.naming.names
    top, by = (
        program_name(names[n], d.listing) if names.get(n, "").isidentifier() else cell_latex(d, n)
        for n in (d.y, w)
    )
    return rf"\frac{{\partial {top}}}{{\partial {by}}}"


def cell_latex(d: DerivationRecord, node: Node, *, whole: bool = False, width: int = CELL_CHARACTERS) -> str:
    """Return a node as LaTeX: its name, or its expression, in which long parts are elided."""
    if whole and d.naming.recurrence_lines(node):
        rows = recurrence_maths([node], {**d.naming.numbers, **d.naming.names}, d.listing)
        return (
            rf"\begin{{aligned}}{rows[node].latex}\end{{aligned}}"
            if node in rows
            else name_latex(d.naming, node)
        )
    if node in d.naming.names and not (whole and node.args):
        return name_latex(d.naming, node)
    return formula_latex(d.naming, node, {**d.naming.numbers, **d.naming.abbreviated(node, width)}).replace(
        ELLIPSIS, r"\ldots "
    )


def _within(d: DerivationRecord, node: Node) -> str:
    text = cell_latex(d, node)
    sum_or_sign = node.op.name in ("add", "neg") and node not in d.naming.names
    return rf"\left({text}\right)" if sum_or_sign or text.startswith("-") else text


# -- picture ----------------------------------------------------------------------------------------------------------


def derivation_highlight(d: DerivationRecord, noise: str | None = None) -> Highlight:
    """Return the highlights of a picture: the paths of the noise, the derivative, the verdicts."""
    shown = [v for v in d.noise.values() if noise in (None, v.name)]
    followed = [v for v in shown if v.enters is not False and v.path]
    return Highlight(
        paths=[v.path_nodes for v in followed],
        read_by={v.path_nodes[0]: v.rule for v in followed if v.rule is not None},
        derivative=frozenset((s.step.node, s.step.target) for s in d.steps),
        wrt=d.wrt,
        captions=[f"{v}." for v in shown],
    )


def derivation_svg(d: DerivationRecord, noise: str | None = None, *, by_dot: bool = False) -> str:
    """Draw the graph, with the paths of the noise and of the derivative highlighted.

    Args:
        d: the derivation.
        noise: the random input to follow; by default all random inputs.
        by_dot: whether to lay out the picture with Graphviz, if it is installed.
    """
    highlight, title = derivation_highlight(d, noise), title_text(d)
    names, numbers = d.naming.names, d.naming.numbers
    return graph_svg([d.y], names, highlight=highlight, title=title, by_dot=by_dot, numbers=numbers)
