"""The parts of an answer about what is typed: how it was understood, and the verdict on a derivation."""

from __future__ import annotations

import re

import symgrad
from symgrad.api.reports.maths import program_blocks
from symgrad.apps.review.formatting import details
from symgrad.apps.review.review import Review
from symgrad.apps.review.steps import ReviewStep
from symgrad.apps.web.blocks import Block, fold, html
from symgrad.apps.web.question import PageQuestion
from symgrad.report.blocks import Banner, FindingBlock, Items, MathLines, Maths, Paragraph, prose, ticked
from symgrad.report.blocks import Block as ReportBlock
from symgrad.support.errors import SymgradError

_SLOPE = re.compile(r"(?P<over>[d∂]) ?(?P<of>\w+) ?/ ?[d∂] ?(?P<by>\w+)")
_RIGHT = "the right line: "
_PREFIX = re.compile(r"^(?:the mistake|refuted): ")
_NAMED = re.compile(r" \([a-z]+(?:-[a-z]+)+\)$")


def understood(question: PageQuestion) -> list[Block]:
    """Return the kind of the text, its formulas typeset, and how what is ambiguous was read."""
    box = question.box
    program = box.program
    outputs = [*program.outputs.values(), *([] if program.result is None else [program.result])]
    blocks = [_shortened_block(block, question.name) for block in program_blocks(program.listing, outputs)]
    read = [] if box.review is None else [a.text for a in box.review.assumptions if " : " not in a.text]
    blocks += [Paragraph(prose(ticked("; ".join(read))), soft=True)] if read else []
    noise = any(i.node.declaration.distribution is not None for i in program.inputs)
    return [{"kind": "box", "what": box.kind, "noise": noise}, *([html(blocks)] if blocks else [])]


def _shortened_block(block: ReportBlock, name: str) -> ReportBlock:
    """Return declarations on one line, and formulas, the one without a name under this."""
    if isinstance(block, Items):
        return Paragraph(tuple(word for item in block.items for word in (*item, "   "))[:-1])
    if isinstance(block, MathLines):
        rows = (
            Maths(f"{name} = {r.text}", f"{name} &= {r.latex[1:]}") if r.latex.startswith("& ") else r
            for r in block.rows
        )
        return MathLines(tuple(rows), block.label)
    return block


def review(question: PageQuestion) -> list[Block]:
    """Return the verdict on a derivation, then a card for each wrong line; the other lines are folded."""
    found = question.box.review
    if question.box.kind != "derivation" or found is None:
        return []
    report = found.report().blocks
    (banner,) = [block for block in report if isinstance(block, Banner)]
    wrong = [_finding(question, found, step) for step in found.steps if step.status == "refuted"]
    left = [
        _finding(question, found, step)
        for step in found.steps
        if step.status in ("undecided", "supported") or step.kind == "not understood"
    ]
    whole = [block for block in report if not isinstance(block, (Banner, Paragraph))]
    open_lines = [fold("lines that are not decided", [html(left)])] if left and wrong else []
    shown = [
        Banner(_word(found), banner.tone, () if wrong else banner.said),
        *wrong,
        *([] if wrong else left),
    ]
    return [html(shown), *open_lines, fold("every line, with its verdict", [html(whole)])]


def _word(found: Review) -> str:
    wrong = sum(step.status == "refuted" for step in found.steps)
    if wrong:
        return "✗ one line is wrong" if wrong == 1 else f"✗ {wrong} lines are wrong"
    return (
        "✓ every step is proved"
        if found.status == "proved"
        else "nothing wrong was found, but not all is proved"
    )


def _finding(question: PageQuestion, found: Review, step: ReviewStep) -> FindingBlock:
    """Return a line with its part marked, the mistake in a sentence, and the right line typeset."""
    line, start = found.source.line(step.line), step.column - 1
    wrong = step.status == "refuted"
    word = "wrong" if wrong else step.kind if step.verdict is None else "not decided"
    told = [text.strip() for text in details(step) if not text.startswith(_RIGHT)]
    # The mistake stands first, the numbers that show it below.
    told.sort(key=lambda text: not text.startswith("the mistake: "))
    said = [prose(ticked(_sentence(text))) for text in told]
    if step.corrected is not None:
        said.insert(
            1 if len(said) > 1 else 0, prose("The right line: ", _right_line(question, step.corrected))
        )
    title = prose(f"✗ Line {step.line} is wrong" if wrong else f"Line {step.line}: {word}")
    end = min(start + step.span.end - step.span.start, len(line))
    return FindingBlock(title, "bad" if wrong else "open", "", line, start, end, tuple(said))


def _sentence(text: str) -> str:
    """Return what is told of a step as a sentence, without its prefix and the name of the mistake.

    Example:
        >>> _sentence("the mistake: the term `x` is lost (missing-term)")
        'The term `x` is lost.'
    """
    text = _NAMED.sub("", _PREFIX.sub("", text))
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", ":")) else ".")


def _right_line(question: PageQuestion, corrected: str) -> Maths:
    left, equals, right = corrected.rpartition(" = ")
    try:
        latex = right if "\\" in right else _latex_of(question, right)
    except SymgradError:  # it has a name that documents have and programs do not
        latex = rf"\text{{{right}}}"
    return Maths(corrected, f"{_side_latex(left)} = {latex}" if equals else latex)


def _latex_of(question: PageQuestion, text: str) -> str:
    program = question.program
    return symgrad.parse(text, "the right line", {name: program[name] for name in program}).last.latex()


def _side_latex(text: str) -> str:
    r"""Return a left side in LaTeX.

    Example:
        >>> _side_latex("dy/dx"), _side_latex("f'(x)")
        ('\\frac{d y}{d x}', "f'(x)")
    """
    found = _SLOPE.fullmatch(text.strip())
    if found is None:
        return text.strip()
    over = r"\partial" if found["over"] == "∂" else "d"
    return rf"\frac{{{over} {found['of']}}}{{{over} {found['by']}}}"
