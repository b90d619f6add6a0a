"""The parts of an answer with formulas and reasons: gradient, verdict, derivation, noise, graph, LaTeX."""

from __future__ import annotations

import symgrad
from symgrad.api.handles.formatting import format_many, latex_many, leibniz_of, title
from symgrad.apps.web.blocks import Block, code, fold, html, text, verdict_block
from symgrad.apps.web.limits import VALUE_CHARACTERS, VERDICT_SECONDS
from symgrad.apps.web.question import PageQuestion, decide_claim
from symgrad.ir.traverse import topological
from symgrad.report.blocks import Banner, Heading, MathLines, Maths, Paragraph, Table, prose
from symgrad.report.blocks import Block as ReportBlock
from symgrad.report.report import Report
from symgrad.verification.reporting.report import SAVED


def gradient(question: PageQuestion) -> list[Block]:
    """Return the derivatives as formulas, with notes on their domains."""
    exprs = question.gradients
    formulas, below, notes = format_many(exprs)
    lines: list[str] = []
    named = "" if question.y.name else f" {question.name}"  # d/dx f
    for w, g, formula, about in zip(question.wrt, exprs, formulas, notes, strict=True):
        lines.append(f"{title(question.y, [w])}{named} = {formula}")
        if g.nothing is not None:
            lines[-1] += f"    # {g.nothing}"
        lines += [f"    # {note}" for note in about]
    names = [leibniz_of(question.y, [w]) + named for w in question.wrt]
    written = "\n".join([*lines, *below])
    formula = Maths(written, latex_many(exprs, names))
    return [html([MathLines((formula,), "the gradient"), *_as_values(question)]), code(written, "as text")]


def _as_values(question: PageQuestion) -> list[ReportBlock]:
    """Return the numbers of derivatives that contain stop_gradient, where their formulas differ."""
    if question.y.shape or not any(n.op.name == "stop_gradient" for n in topological([question.y.node])):
        return []
    d = question.derivation
    shown = [
        Maths(f"{title(question.y, [w])} = {text}", f"{leibniz_of(question.y, [w])} &= {value.latex()}")
        for w, value, kept in zip(question.wrt, d.values, d.gradient, strict=True)
        if not value.same(kept) and len(text := str(value)) <= VALUE_CHARACTERS
    ]
    if not shown:
        return []
    about = "As a number, where stop_gradient(e) is e; what is above can be differentiated again:"
    return [Paragraph(prose(about), soft=True), MathLines(tuple(shown), "the gradient as a number")]


def verdict(question: PageQuestion) -> list[Block]:
    """Return the verdict on the claim, nothing without a claim."""
    claim = question.said("claim")
    if not claim:
        return []
    found, readings = decide_claim(question, claim, VERDICT_SECONDS)
    report = found.report().blocks
    # The page shows the program already: repeat only the claim of the question.
    lines = [MathLines(b.rows[-1:], "the claim") for b in report if isinstance(b, MathLines)][:1]
    begin = next(k for k, b in enumerate(report) if isinstance(b, Banner))
    rest = [b for b in report[begin:] if not (isinstance(b, Paragraph) and SAVED in b.words)]
    blocks = [verdict_block(found.status, str(found), [*lines, *rest])]
    blocks += [text(f"Read so: {reading}") for reading in readings]
    if found.proof is not None:
        blocks.append(fold("the proof, for symgrad check", [code(found.proof.to_json())]))
    return blocks


def derivation(question: PageQuestion) -> list[Block]:
    """Return the derivation of the gradient, from the output back, each step with its rule."""
    sections = _sections(question.derivation.report())
    found = [block for title in (*_GAPS, *_BACKWARD) for block in sections.get(title, ())]
    return [html(found)] if found else []


def noise(question: PageQuestion) -> list[Block]:
    """Return whether each random input enters the gradient, and by which path."""
    found = _sections(question.derivation.report()).get(_NOISE)
    return [html(found)] if found else []


def graph(question: PageQuestion) -> list[Block]:
    """Return a picture of the graph, with the paths of noise and of derivatives."""
    return [html(_sections(question.derivation.report())[_GRAPH])]


_NOISE, _GRAPH = "Noise", "Graph"
_GAPS = ("Points without a value",)
_BACKWARD = (
    "Backward pass, from the output back",
    "By the rules, from the inside out",
    "Steps, from the output back",
)
"""Headings of the report of a derivation."""


def _sections(report: Report) -> dict[str, list[ReportBlock]]:
    """Return the blocks below each heading of a report."""
    found: dict[str, list[ReportBlock]] = {"": []}
    for block in report.blocks:
        if isinstance(block, Heading):
            found[block.text] = []
        else:
            found[next(reversed(found))].append(block)
    return found


def moments(question: PageQuestion) -> list[Block]:
    """Return mean, variance and bias of the gradient over the random inputs."""
    if not question.derivation.noise:
        return []
    found = _sections(symgrad.audit(question.y, list(question.wrt)).report())
    shown = {
        title: [b for b in blocks if isinstance(b, (Table, Paragraph))] for title, blocks in found.items()
    }
    left_out = {"", _GRAPH, *_BACKWARD}  # shown by other parts
    return [html(shown[title]) for title in shown if title not in left_out and shown[title]]


def latex(question: PageQuestion) -> list[Block]:
    """Return the derivatives, and the derivation, as LaTeX."""
    names = [leibniz_of(question.y, [w]) for w in question.wrt]
    blocks = [code(latex_many(question.gradients, names), "the gradient")]
    if not question.y.shape:
        blocks.append(code(question.derivation.latex(), "the derivation"))
    return blocks
