"""Find losses of gradients that tracing cannot see: values that leave the graph, and still flow into the result."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.analysis.stop_gradient.finding import Finding
from symgrad.interop.importers.code.dataflow import return_flow
from symgrad.interop.importers.code.flow_facts import Break, Kind
from symgrad.verification.verdict import names_text

_LONG = 100  # number of characters of code that a message quotes


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """A check of the source of a function.

    Args:
        code: the code of its findings.
        name: the name of the check in words.
        lost: what happens to the value, as the end of a sentence.
        cure: the recommendation if there is no replacement.
        help: the description of the check.
    """

    code: str
    name: str
    lost: str
    cure: str
    help: str


SOURCE_CHECKS: dict[Kind, SourceCheck] = {
    "number": SourceCheck(
        "SG501",
        "plain-number",
        "makes a plain number, which carries no gradient",
        "leave it an array, and write the framework's own function for what follows",
        "float(), int(), .item(), .tolist() and functions of math give Python's numbers. What is computed from one has "
        "no gradient by what the number came from, and a function that is compiled keeps the number of its first call.",
    ),
    "data": SourceCheck(
        "SG502",
        "data-attribute",
        "takes the value out of the graph, without a gradient",
        "write .detach() where that is meant",
        ".data of a tensor has its value and no gradient, like .detach(), but without the check that the value "
        "was not changed in place before the backward pass.",
    ),
    "array": SourceCheck(
        "SG503",
        "numpy-array",
        "makes an array of NumPy, which carries no gradient",
        "write the framework's own function",
        ".numpy(), numpy.asarray() and every other function of NumPy give arrays that no framework differentiates.",
    ),
    "copy": SourceCheck(
        "SG504",
        "copied-tensor",
        "makes a new tensor of the value, without its gradient",
        "torch.stack joins tensors, and keeps their gradients",
        "torch.tensor() copies values into a new leaf of the graph. To join tensors use torch.stack or torch.cat; to "
        "copy one, .clone().",
    ),
    "no_grad": SourceCheck(
        "SG505",
        "no-grad",
        "is computed without a gradient",
        "leave it out; or write .detach() at the one value that is meant, which says so",
        "What is computed under torch.no_grad(), torch.inference_mode(), torch.set_grad_enabled(False) or "
        "tape.stop_recording() is a constant to what follows, also its part in the loss.",
    ),
    "in_place": SourceCheck(
        "SG506",
        "detached-in-place",
        "cuts the value off its gradient, here and wherever else it is used",
        "write .detach() where the value is read without one",
        ".detach_() and requires_grad = False change the tensor itself: every later use has no gradient.",
    ),
}
"""The checks, by the kind of break."""


def source_findings(
    function: Any,
    sources: Collection[str],
    differentiated: bool = True,
    chosen: Sequence[str | int] = (),
) -> list[Finding]:
    """Find values in the source of a function that lose their gradient on the way into the result.

    Only flow into the result counts: a value that is printed, logged, compared, or read for its shape does not.

    Args:
        function: a function of a framework or of NumPy; it may also be a module or a model.
        sources: the names of the arguments with respect to which the gradient is taken.
        differentiated: whether its arrays belong to a framework that differentiates, and not to NumPy.
        chosen: positions or keys of the result to follow; the first one that exists counts. By default, the first value
            with a gradient is followed.

    Example:
        >>> def loss(w, x):
        ...     scale = float(w[0])
        ...     print(float(x[0]))
        ...     return (w*x).sum()*scale
        >>> [f.code for f in source_findings(loss, ["w", "x"])]  # a doctest has no file whose text could be read
        []
    """
    flow = return_flow(function, sources, differentiated, chosen)
    left = bool(flow.sources)
    found = [_finding(b.kind, b, left) for b in flow.breaks]
    return sorted(found, key=lambda f: (f.places[0].file, f.places[0].line, f.places[0].start, f.code))


def _finding(kind: Kind, b: Break, left: bool) -> Finding:
    check = SOURCE_CHECKS[kind]
    cure = check.cure
    if b.replacement is not None:
        cure = f"write {b.replacement}" + (f"; {check.cure}" if kind == "data" else "")
    reason = f"the value comes from {names_text(sorted(b.sources))}, and flows into what is returned"
    if not left:
        reason += ", which has no gradient left"
    return Finding(
        code=check.code,
        name=check.name,
        severity="warning" if left else "error",
        message=f"{_shortened(b.text)} {check.lost}",
        reason=reason,
        equation=b.text,
        places=(b.place,),
        cure=cure,
        replacement=b.replacement,
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}..."
