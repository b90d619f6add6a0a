"""A kernel as a report: its program, its outputs as formulas, and their rounding error in bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.api.handles.expr import Expr, handle
from symgrad.api.reports.digits import digit_notes
from symgrad.api.reports.maths import expression, listing_of, program_blocks
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.printing.pictures.numeric import accuracy_figure, sole_variable
from symgrad.report.about import Subject
from symgrad.report.blocks import Block, Heading, Items, MathLines, Maths, prose


def kernel_subject(exprs: Sequence[Expr], kernel: Kernel, segments: Sequence[int] = ()) -> Subject:
    """Return the subject of a kernel.

    Args:
        exprs: the compiled expressions.
        kernel: their kernel.
        segments: the numbers of steps after which values of recurrences are kept; the others are computed again.
    """
    listing = listing_of(exprs)
    plain = [e for e in exprs if not e.has_derivatives]
    blocks: list[Block] = program_blocks(listing, plain) if plain else []
    rows = [Maths(f.text, f"& {f.latex}") for f in (expression(e) for e in exprs if e.has_derivatives)]
    if rows:
        blocks += [Heading("Derivatives"), MathLines(tuple(rows), "the derivatives")]
    notes = [
        f"output {k + 1}: {note}" if len(exprs) > 1 else note
        for k, e in enumerate(exprs)
        if e.derived
        for note in digit_notes(e, kernel.outputs[k])
    ]
    notes += [
        f"values of a recurrence are kept after every {n:,} steps, and computed again on the way back"
        for n in dict.fromkeys(segments)
    ]
    if notes:
        blocks.append(Items(tuple(map(prose, notes))))
    for k, e in enumerate(exprs):
        figure = _accuracy(e, k, kernel)
        if figure is not None:
            title = "Accuracy" if len(exprs) == 1 else f"Accuracy of output {k + 1}"
            blocks += [Heading(title), figure]
    return Subject(kernel.name, tuple(blocks))


def _accuracy(e: Expr, k: int, kernel: Kernel) -> Any:
    x = sole_variable([e.node])
    if x is None or kernel.inputs != (x.name,):
        return None

    def compiled(at: Any) -> Any:
        found: Any = kernel(at)
        return found if len(kernel.outputs) == 1 else found[k]

    naive = handle(e.node)

    return accuracy_figure(
        e.node,
        {"as it stands": lambda at: naive(**{x.name: at}).astype(kernel.dtype), "the kernel": compiled},
        kernel.dtype.type,
    )
