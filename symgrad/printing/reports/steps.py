"""Write a derivation as a report: the gradients, the backward pass, the noise, the graph, every step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symgrad.analysis.explain.derivation import DerivationRecord, DerivationStep
from symgrad.analysis.explain.noise.jumps import MovedJump
from symgrad.analysis.explain.noise.verdict import NoiseVerdict
from symgrad.analysis.explain.removable_singularities.search import Gap
from symgrad.ir.graph import Node
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.traverse import symbols_of
from symgrad.printing.latex.definitions import recurrence_maths
from symgrad.printing.latex.expressions import latex
from symgrad.printing.limits import GRADIENT_CHARACTERS, STEPS_ON_PAGE
from symgrad.printing.pictures.numeric import slope_figure
from symgrad.printing.texts.adjoints import Briefs, adjoint_rows, briefs
from symgrad.printing.texts.derivation import (
    cell_latex,
    derivation_svg,
    gap_rows,
    gap_title,
    gradient_text,
    path_text,
    shape_suffix,
    slope_latex,
    slope_text,
    title_text,
)
from symgrad.printing.texts.named_formulas import formula_rows
from symgrad.printing.texts.rules import (
    SpelledRule,
    derivative_latex,
    name_latex,
    rule_rows,
    spelled_rules,
)
from symgrad.report.blocks import (
    Banner,
    Block,
    Figure,
    Heading,
    Items,
    Literal,
    MathLines,
    Maths,
    Paragraph,
    Prose,
    StepItem,
    Steps,
    Tone,
    prose,
)
from symgrad.report.report import Report
from symgrad.support.source import Place
from symgrad.support.traversal import postorder

_LINES = 40  # longest program that is printed in full above its gradient


def derivation_report(d: DerivationRecord) -> Report:
    r"""Return a derivation as a report.

    Example:
        >>> from symgrad.analysis.explain.derivation import explain
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real\ny = sin(x)")
        >>> print(derivation_report(explain(p["y"], [p["x"]], p)).title)
        y, differentiated by x
    """
    heads = briefs(d, ())
    blocks: list[Block] = [*_gradients(d, heads)]
    if d.noise:
        blocks.append(Heading("Noise"))
        for v in d.noise.values():
            blocks += [*noise_blocks(v), *_lines_read(d, v)]
        for jump in d.jumps:
            blocks += _jump(jump)
    blocks += cut_blocks(d)
    if d.gaps:
        blocks.append(Heading("Points without a value"))
        for w, gap in d.gaps:
            blocks += _gap(d, w, gap)
    if d.told_by_names:
        blocks.append(Heading("Backward pass, from the output back"))
        blocks += _adjoints(d)
    rules = [] if d.told_by_names else spelled_rules(d, heads)
    if rules:
        blocks += [Heading("By the rules, from the inside out"), *_by_rules(rules)]
    if len(d.wrt) == 1:
        names = d.naming.text(d.y, 30), slope_text(d, d.wrt[0])
        figure = slope_figure(d.y, d.values[0], names)
        blocks += [Heading("Value and gradient"), figure] if figure is not None else []
    blocks += [Heading("Graph"), _picture(d)]
    if d.steps:
        blocks += [
            Heading("Steps, from the output back"),
            steps_block(d, folded=d.told_by_names or bool(rules)),
        ]
    return Report(title_text(d), tuple(blocks))


def _gradients(d: DerivationRecord, heads: Briefs) -> Iterator[Block]:
    rows: list[Maths] = []
    arrays = [s for s in symbols_of([d.y, *d.wrt]) if s.shape]
    if arrays:
        inputs = [prose(Literal(str(s.declaration))) for s in arrays]
        yield Items(tuple(inputs))
    slopes = d.naming.derivatives
    order = postorder([d.y], lambda n: (slopes[n].y, *slopes[n].by) if n in slopes else n.args)
    named = [n for n in order if n in d.naming.names and n.args and not d.naming.is_call(n)]
    loops = recurrence_maths([d.y], {**d.naming.numbers, **d.value_naming.names}, d.listing)
    for n in named if len(named) <= _LINES else named[-1:]:
        loop = n if n in loops else loop_of(n)
        if loop is not None and loop in loops:
            rows += [loops[loop]] * (loops[loop] not in rows)
            continue
        shown = (
            derivative_latex(d.naming, slopes[n])
            if n in slopes
            else cell_latex(d, n, whole=True, width=GRADIENT_CHARACTERS)
        )
        text = d.naming.definition(n, GRADIENT_CHARACTERS)
        rows.append(Maths(text, f"{name_latex(d.naming, n)} &= {shown}"))
    if d.called is not None:
        head, *maths = formula_rows(d.called)
        texts = d.called.text([f"{d.naming.text(d.y)} = "]).split("\n")
        rows += _rows(texts, [f"{name_latex(d.naming, d.y)} &= {head}", *maths])
    notes: list[Prose] = []
    for i, w in enumerate(d.wrt):
        short = heads.gradients[i]
        text = f"{slope_text(d, w)} = {gradient_text(d, i) if short is None else short.text}"
        shown = latex(d.values[i], d.spelled) if short is None else short.latex
        rows.append(Maths(text, f"{slope_latex(d, w)} &= {shown}"))
        notes += [prose(note) for note in (short and short.notes) or ()]
        if d.nothing[i] is not None:
            notes.append(prose(Literal(slope_text(d, w)), f" is {d.nothing[i]}: {d.nothing_reasons[i]}"))
            notes += place_items(d.nothing_places[i])
    rows += _rows(heads.lines, heads.rows)
    yield MathLines(tuple(rows), "the gradient")
    if notes:
        yield Items(tuple(notes))
    if d.notes and any(b is None or b.notes is None for b in heads.gradients):
        yield Paragraph(prose("Simplifying made the gradient defined in more places:"))
        yield Items(tuple(prose(n) for n in d.notes))


def _rows(texts: Sequence[str], rows: Sequence[str]) -> list[Maths]:
    lines = [text.strip() for text in texts if text != "where"]
    if len(lines) != len(rows):  # a recurrence has more rows than lines
        return [Maths("\n".join(lines), " \\\\\n".join(rows))] if lines else []
    return [Maths(text, row) for text, row in zip(lines, rows, strict=True)]


def _by_rules(rules: Sequence[SpelledRule]) -> Iterator[Block]:
    """Yield the lines of derivations by hand."""
    rows: list[Maths] = []
    for r in rules:
        slope, first, *others = r.texts
        texts = [f"{r.rule}: {slope} = {first}", *(f"  = {text}" for text in others)]
        rows += [Maths(text, row) for text, row in zip(texts, rule_rows(r), strict=True)]
        if r.last:
            yield MathLines(tuple(rows), "the derivation, rule by rule")
            rows = []


def place_items(places: Sequence[Place]) -> list[Prose]:
    """Return items for the lines of a program that was traced from other code."""
    return [prose("line: ", Literal(place.told)) for place in places]


def _adjoints(d: DerivationRecord) -> Iterator[Block]:
    rows = [
        Maths(str(a), row) for a, row in zip(d.adjoints, adjoint_rows(d.adjoints, d.listing), strict=True)
    ]
    yield MathLines(tuple(rows), "the backward pass")
    notes = [prose(Literal(a.name), f": {note}") for a in d.adjoints for note in a.notes]
    if notes:
        yield Items(tuple(notes))


_TONES: dict[bool | None, Tone] = {True: "warn", False: "good", None: "open"}


def noise_blocks(v: NoiseVerdict) -> Iterator[Block]:
    """Return the effect of a random input on a gradient."""
    yield Banner(v.headline, _TONES[v.enters], prose(f"{v.reason}."))
    items: list[Prose] = []
    if v.path:
        items.append(prose("Path: ", Literal(path_text(v.path))))
    items += place_items(v.places)
    evidence = f"Witness: {v.witness}." if v.witness is not None else f"Evidence: {v.how}."
    items.append(prose(evidence))
    items += [prose(f"{c}.") for c in v.clean]
    cures = dict.fromkeys(c.cure for c in v.clean if c.cure is not None)
    items += [prose(f"To remove it: {cure}.") for cure in cures]
    yield Items(tuple(items))


def _lines_read(d: DerivationRecord, v: NoiseVerdict) -> Iterator[Block]:
    """Yield the lines of steps that read a random input."""
    read = d.noise_lines(v.name)
    if read is not None and read.sentences:
        yield Items(tuple(prose(f"{sentence}.") for sentence in read.sentences))


def cut_blocks(d: DerivationRecord) -> Iterator[Block]:
    """Yield what stop_gradients cut in the steps of recurrences."""
    for cut in d.cuts:
        yield Banner(cut.headline, "warn", prose(f"{cut.reason}."))


def _jump(j: MovedJump) -> Iterator[Block]:
    yield Banner(j.headline, "warn", prose(f"{j.reason}."))
    items = place_items(j.places)
    items += [prose(f"Add to that by {name}: ", Literal(text)) for name, text in j.additions.items()]
    yield Items(tuple(items or [prose(f"{j.advice}.")]))


def _gap(d: DerivationRecord, w: Node | None, gap: Gap) -> Iterator[Block]:
    yield Banner(f"{gap_title(d, w)} {gap.what} where {gap.where}", "warn")
    yield Items(tuple(prose(f"{label.capitalize()}: ", Literal(text)) for label, text in gap_rows(d, w, gap)))


def _picture(d: DerivationRecord) -> Figure:
    captions = [f"{v}." for v in d.noise.values()]
    return Figure(
        derivation_svg(d, by_dot=True),
        f"The graph of {title_text(d)}",
        " ".join(captions) or "Inputs above, the output below; every arrow is a value that is read.",
    )


def steps_block(d: DerivationRecord, *, folded: bool = False) -> Steps:
    """Return every pullback as a step, with the values that it reads and the contribution that it passes on."""
    shown = d.steps[:STEPS_ON_PAGE]
    return Steps(
        "Every pullback with its rule",
        tuple(_step(d, s) for s in shown),
        folded=folded,
        left=len(d.steps) - len(shown),
    )


def _step(d: DerivationRecord, s: DerivationStep) -> StepItem:
    node = s.step.node
    equation = cell_latex(d, node, whole=True)
    if node in d.naming.names and node.args and not s.is_loop:
        equation = f"{name_latex(d.naming, node)} = {equation}"
    items = [
        prose(f"{label} ", Literal(text))
        for label, text in (
            ("shape", s.shape if s.shape != "()" else ""),
            ("line", "" if s.place is None else s.place.told),
            ("reads", ", ".join(s.reads)),
            ("map" if s.is_map else "partial", "" if s.is_loop else s.partial),
            ("receives", s.incoming),
            ("passes", f"{s.produced}  to {s.target}{shape_suffix(s.target_shape)}"),
        )
        if text
    ]
    return StepItem(s.rule, Maths(s.equation, equation), (), (Items(tuple(items)),))
