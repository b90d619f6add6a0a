"""Diagnose a refuted claim: find the known mistakes that lead to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from symgrad.api.claims.claim_nodes import as_symbol
from symgrad.api.claims.domains import redeclare
from symgrad.api.handles.equation_sides import SideLike, side_nodes, side_sources
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import names_in
from symgrad.frontend.text import parse_program
from symgrad.ir.graph import Node, size_leaf
from symgrad.ir.size_substitution import resized, size_names
from symgrad.ir.sizes import Size
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import SymgradError
from symgrad.support.source import Location

if TYPE_CHECKING:
    from symgrad.ir.listing import Listing
    from symgrad.verification.diagnosis import Diagnosis
    from symgrad.verification.verdict import Verdict


def with_mistakes(
    verdict: Verdict,
    value: Expr,
    target: Expr,
    claim: Expr | str,
    domain: Mapping[str, str] | str | None,
) -> Verdict:
    """Return the verdict. For a refutation the mistakes are searched on first access.

    Args:
        verdict: the verdict on the claim.
        value: the function.
        target: the variable.
        claim: the claimed derivative, or its text in the names of the program.
        domain: as for `verify`.
    """
    if verdict.status != "refuted" or verdict.diagnoses.all():
        return verdict
    witness = verdict.witness
    proved = [region.where for region in verdict.regions if region.status == "proved"]

    def find() -> list[Diagnosis]:
        from symgrad.verification.mistakes.diagnoses import (
            WrongClaim,
            diagnose,
        )  # for start-up time: few claims need it

        read = _ClaimReader(value, target, claim, domain)
        question = WrongClaim(
            build=read.build,
            y=value.node,
            claim=read.claim_node(),
            symbols=symbols_of([value.node, target.node]),
            locate=read.locate,
            names={node: name for name, node in {**names_in(target), **names_in(value)}.items()},
            witness=witness,
            proved=proved,
            corrected=read.corrected,
        )
        return diagnose(question)

    return replace(verdict, diagnoses=verdict.diagnoses.with_more(find))


def with_mistakes_of_algebra(
    verdict: Verdict, arguments: tuple[SideLike, SideLike], sides: Sequence[Node]
) -> Verdict:
    """Return the verdict. For a refutation the wrong rewriting is searched on first access.

    Args:
        verdict: the verdict on the equation.
        arguments: its sides as passed by the caller.
        sides: their nodes, in the domains of the claim.
    """
    of_values = verdict if verdict.of_values is None else verdict.of_values
    if of_values.status != "refuted" or of_values.witness is None:
        return verdict

    def find() -> list[Diagnosis]:
        from symgrad.verification.mistakes.diagnoses import (
            WrongRewriting,
            diagnose_rewriting,
        )  # for start-up time: few claims need it

        listings, names = side_sources(*arguments)

        def locate(node: Node, in_claim: bool) -> Location | None:
            return next((at for one in listings[in_claim] if (at := one.location(node)) is not None), None)

        question = WrongRewriting(
            sides=side_nodes(*arguments),
            build=lambda sizes: resized(sides, sizes),
            locate=locate,
            names=names,
            witness=of_values.witness,
        )
        return diagnose_rewriting(question)

    return replace(verdict, diagnoses=verdict.diagnoses.with_more(find))


class _ClaimReader:
    """A claim about a derivative that can be read at given lengths of its named sizes."""

    def __init__(
        self, value: Expr, target: Expr, claim: Expr | str, domain: Mapping[str, str] | str | None
    ) -> None:
        self.value = value
        self.target = target
        self.claim = claim
        self.domain = domain
        self.known = {**names_in(target), **names_in(value)}
        self.listings: list[Listing] = []  # of the claim for all sizes, and for those for which it was built

    def build(self, sizes: Mapping[str, int]) -> tuple[Node, Node, Node]:
        """Return the function, the variable, and the claim.

        Raises:
            SymgradError: if one of them has no value at these lengths.
        """
        y, wrt, *known = resized([self.value.node, self.target.node, *self.known.values()], sizes)
        to = self._parse_claim(sizes, known)
        nodes, _ = redeclare(as_symbol(y, wrt, to, self.target.name), self.domain, sizes)
        return nodes[0], nodes[1], nodes[2]

    def _parse_claim(self, sizes: Mapping[str, Size], nodes: list[Node]) -> Node:
        if not isinstance(self.claim, str):
            return resized([self.claim.node], sizes)[0]
        lengths = size_names([self.value.node, self.target.node, *self.known.values()])
        known = {n: size_leaf(sizes.get(n, n)) for n in lengths} | dict(zip(self.known, nodes, strict=True))
        listing = parse_program(self.claim, "the claim", known)
        assert listing.result is not None
        self.listings.append(listing)
        return listing.result

    def claim_node(self) -> Node | None:
        """Return the claim for all sizes; None if it has no value for some sizes."""
        try:
            return self._parse_claim({}, list(self.known.values()))
        except SymgradError:
            return None

    def locate(self, node: Node, in_claim: bool) -> Location | None:
        """Return the location of a node in the claim or in the program."""
        listings = self.listings if in_claim else self.value.listings
        return next((at for one in listings if (at := one.location(node)) is not None), None)

    def corrected(self) -> str | None:
        """Return the correct derivative of a scalar as text."""
        from symgrad.api.derivatives.differentiate import grad  # that module imports this package

        if self.value.node.shape:
            return None
        try:
            return str(grad(self.value, self.target))
        except SymgradError:
            return None
