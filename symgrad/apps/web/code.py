"""The parts of an answer with code: source in six languages, and the assembly of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import symgrad
from symgrad.analysis.explain.naming import Naming
from symgrad.api.handles.output import numpy_text
from symgrad.apps.web.blocks import Block, code, listing, text
from symgrad.apps.web.limits import CODE_LINES
from symgrad.apps.web.question import PageQuestion
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import one_of
from symgrad.printing.frameworks.pasted import FRAMEWORKS
from symgrad.support.errors import InternalError, UsageError

# What is imported in functions here needs llvmlite, which is not available in a browser.


def _framework(framework: str) -> Callable[[PageQuestion], str]:
    def written(question: PageQuestion) -> str:
        return question.y.framework_source(framework, question.name, gradient=True)

    return written


def _numpy(question: PageQuestion) -> str:
    return numpy_text([question.y, *question.gradients], question.name, expand=False, single=False)


def _c(question: PageQuestion) -> str:
    from symgrad.compiler.kernels.artefacts.artefact import c_text

    return c_text(_kernel(question), question.name, _outputs(question))


LANGUAGES: dict[str, Callable[[PageQuestion], str]] = {
    "numpy": _numpy,
    **{framework: _framework(framework) for framework in FRAMEWORKS},
    "c": _c,
}
"""For each language, the source code of the value with its gradient."""


def source(question: PageQuestion) -> list[Block]:
    """Return the formula with its gradient as source code."""
    language = question.said("language") or "numpy"
    if language not in LANGUAGES:
        raise UsageError(f"there is no source in '{language}'", expected=one_of(LANGUAGES))
    return [code(LANGUAGES[language](question), language)]


def _kernel(question: PageQuestion) -> symgrad.Kernel:
    return symgrad.compile([question.y, *question.gradients], name=question.name, effort="high")


def _outputs(question: PageQuestion) -> list[str]:
    name = question.name
    return [name, *(f"d{name}_d{w.name or k}" for k, w in enumerate(question.wrt))]


def assembly(question: PageQuestion) -> list[Block]:
    """Return the machine code of value and gradient, each instruction with its origin."""
    from symgrad.compiler.kernels.artefacts.annotated import assembly_lines

    program = question.program.listing
    naming = question.derivation.record.naming if not question.y.shape else Naming(program.name_of())
    lines = assembly_lines(_kernel(question))
    rows: list[dict[str, Any]] = []
    for line in lines[:CODE_LINES]:
        places = [place for node in line.nodes if (place := program.location(node)) is not None]
        what = "; ".join(_equation(node, naming) for node in line.nodes)
        rows.append({"text": line.text, "lines": sorted({place.line for place in places}), "what": what})
    left = len(lines) - CODE_LINES
    return [listing(rows), *([text(f"{left:,} more lines are not shown.")] if left > 0 else [])]


def _equation(node: Node, naming: Naming) -> str:
    """Return an equation as text; for an op that exists only in kernels, its call."""
    name = naming.names.get(node)
    if node.op is SYMBOL and name is not None:
        return name
    try:
        body = naming.body(node, 60)
    except InternalError:
        body = f"{node.op.name}({', '.join(naming.names.get(a, '...') for a in node.args)})"
    return body if name is None else f"{name} = {body}"
