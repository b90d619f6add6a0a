r"""Random inputs of a document, X \sim \mathcal{N}(\mu, \sigma^2), and moments over them, E[X^2], Var(X)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from symgrad.analysis.expectations.expectation import expectation, variance
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.apps.review.formulas.typed_tokens import argument_spans
from symgrad.apps.review.layout.prose import FAMILIES
from symgrad.apps.review.layout.statements import SideText
from symgrad.ir.graph import OPS, Node
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import DISTRIBUTIONS
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import UnsupportedError

MomentKind: TypeAlias = Literal["expectation", "variance"]
MOMENTS: dict[str, MomentKind] = {"E": "expectation", "𝔼": "expectation", "Var": "variance", "V": "variance"}
"""Letters of the moments, where nothing else has their name."""

_HEAD = re.compile(
    r"\s*(?:\\(?:mathcal|mathrm|operatorname|text|textrm|mathsf)\s*\{\s*(?P<set>[a-zA-Z]+)\s*\}|(?P<plain>[a-zA-Z]+))"
    r"\s*(?:\\left|\\[bB]igg?l?)?\s*(?P<open>[(\[])(?P<inside>.*?)(?:\\right|\\[bB]igg?r?)?\s*[)\]]\s*",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class DistributionText:
    """A distribution as a document writes it.

    Args:
        family: its name in programs.
        parameters: its parameters, each at its place in the document.
        by_variance: whether the second one is the variance, as in N(mu, sigma^2).
    """

    family: str
    parameters: tuple[SideText, ...]
    by_variance: bool


def distribution_of(side: SideText) -> DistributionText | None:
    r"""Return the distribution that a side is; None for anything else.

    Example:
        >>> found = distribution_of(SideText(0, r"\mathcal{N}(\mu, \sigma^2)", "latex"))
        >>> found.family, [p.text for p in found.parameters], found.by_variance
        ('Normal', ['\\mu', ' \\sigma^2'], True)
    """
    match = _HEAD.fullmatch(side.text)
    head = None if match is None else match["set"] or match["plain"]
    if match is None or head not in FAMILIES:
        return None
    inside, start = match["inside"], side.start + match.start("inside")
    texts = tuple(
        SideText(start + part.start, inside[part.start : part.end], side.notation)
        for part in argument_spans(inside)
    )
    if not all(t.text.strip() for t in texts):
        return None
    return DistributionText(FAMILIES[head], texts, head == "N")


def is_program_distribution(side: SideText) -> bool:
    """Tell whether a side begins with a distribution of programs, such as Normal, and not with N."""
    return side.text.split("(")[0].strip() in DISTRIBUTIONS


def scale_of(variance_node: Node) -> Node:
    """Return the standard deviation of a normal distribution by its variance: sigma of sigma**2, whatever its sign."""
    square = variance_node.op is OPS["pow"] and variance_node.args[1].is_number(2)
    return variance_node.args[0] if square else canonical([OPS["sqrt"](variance_node)]).nodes[0]


def moment(names: DocumentNames, kind: MomentKind, node: Node) -> Node:
    """Return the expectation or the variance of a formula over its random inputs.

    Raises:
        UnsupportedError: if it reads none, or has no closed form.
    """
    over = [s for s in symbols_of([node]) if s.declaration.distribution is not None]
    if not over:
        raise UnsupportedError(
            f"this is the {kind} of a formula without random inputs",
            expected="a formula of what is declared random",
            cure="declare above which distribution a name of it has",
        )
    (found,) = _METHODS[kind]([node], over)
    if found.formula is None:
        raise UnsupportedError(
            f"the {kind} over {_listed(over)} has no closed form" if found.how != "none" else found.reason,
            cure="write it for a formula that has one",
        )
    if len(over) > 1:
        names.assume(f"{_listed(over)} are independent", names.line, stated=False)
    for note in found.notes:
        names.assume(note, names.line, stated=False)
    return found.formula


_METHODS = {"expectation": expectation, "variance": variance}


def _listed(symbols: Sequence[Node]) -> str:
    return ", ".join(s.name for s in symbols)
