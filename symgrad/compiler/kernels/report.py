"""A kernel as a report: its formulas, inputs and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symgrad.ir.notation.printer import one_line
from symgrad.ops.array.layout import shape_text
from symgrad.report.blocks import Block, Code, Column, Heading, Literal, Paragraph, Prose, Table, prose
from symgrad.report.report import Report

if TYPE_CHECKING:
    from symgrad.compiler.kernels.kernel import Kernel


def kernel_report(kernel: Kernel) -> Report:
    """Return a kernel as a report."""
    subject = None if kernel.about is None else kernel.about(kernel)
    blocks: list[Block] = [] if subject is None else list(subject.blocks)
    if subject is None:  # the kernel was unpickled, or compiled from nodes
        texts = [one_line(n) or "a long formula" for n in kernel.outputs]
        blocks.append(Code("\n".join(texts), "symgrad", "What it computes, in the form that runs"))
    rows: list[tuple[Prose, ...]] = [
        (prose(Literal(s.name)), prose(Literal(str(s.declaration))), prose(str(kind)))
        for s, kind in zip(kernel.symbols, kernel.kinds, strict=False)  # then those of the outputs
    ]
    if rows:
        columns = (Column("input"), Column("declared"), Column("dtype"))
        blocks += [Heading("What it takes"), Table("Inputs, in the order of the call", columns, tuple(rows))]
    gives = ", ".join(shape_text(n.shape) if n.shape else "a number" for n in kernel.outputs)
    threads = f"{kernel.threads} threads" if kernel.threads > 1 else "one thread"
    accuracy = (
        "fast, where a form may lose a digit" if kernel.fast else "as accurate as the form that was chosen"
    )
    text = f"It returns {gives} in {kernel.dtype}, computed by {threads}, {accuracy}."
    blocks.append(Paragraph(prose(f"{text} {kernel.way}".rstrip())))
    return Report(f"Kernel {kernel.name}({', '.join(kernel.inputs)})", tuple(blocks))
