"""Spelling helpers for records: what all pointwise ops share is said once, everything else must be given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from symgrad.ir.graph import Node, pointwise_shape
from symgrad.ir.op import Fact, Kink, Lane, Op, Partial, register
from symgrad.ir.types import Kind

__all__ = ["ADD", "AND", "ATOM", "COMPARE", "MUL", "NEG", "NOT", "OR", "POW", "facts", "pointwise"]

# Precedence of printed forms, loosest first: those of Python.
OR, AND, NOT, COMPARE, ADD, MUL, NEG, POW, ATOM = range(1, 10)


def facts(*names: Fact) -> frozenset[Fact]:
    """Return a set of facts, spell-checked by the type checker."""
    return frozenset(names)


def pointwise(
    name: str,
    *,
    aliases: tuple[str, ...],
    doc: str,
    gives: Kind | Literal["same"],
    cas: str | None,
    domain: Callable[..., Node] | None,
    evaluate: Callable[..., Any],
    reference: Callable[..., Any],
    partials: tuple[Partial, ...],
    kinks: tuple[Kink, ...],
    lower: Callable[..., Lane],
    latex: str,
    facts: frozenset[Fact],
    samples: tuple[tuple[Any, ...], ...],
    takes: tuple[Literal["number", "bool"], ...] | None = None,
    parameters: tuple[str, ...] = (),
    precedence: int = ATOM,
) -> Op:
    """Register an op that acts elementwise with broadcasting; by default all its arguments are numbers."""
    return register(
        Op(
            name=name,
            aliases=aliases,
            doc=doc,
            parameters=parameters,
            takes=takes if takes is not None else ("number",) * len(partials),
            gives=gives,
            shape=pointwise_shape,
            cas=cas,
            domain=domain,
            evaluate=evaluate,
            reference=reference,
            partials=partials,
            kinks=kinks,
            lower=lower,
            latex=latex,
            precedence=precedence,
            facts=facts,
            samples=samples,
        )
    )
