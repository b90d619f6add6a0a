"""The shortest form of a single expression, without names of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.pretty.domains import Domains
from symgrad.pretty.forms.cost import Measure
from symgrad.pretty.limits import FORM_CHARACTERS
from symgrad.pretty.named_program import NamedProgram
from symgrad.pretty.shortest import ShortestForms
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.memo import remembered

_ROUNDS = 4
"""The number of repeated simplifications."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Simplified:
    """A form of an expression.

    Args:
        node: the form.
        notes: where the form is defined although the expression is not.
    """

    node: Node
    notes: tuple[str, ...]


def simplified(node: Node) -> Simplified:
    """Return the candidate form of a node that is easiest to read."""
    return remembered([node], "simplified", lambda: _simplified(node))


def simplest(node: Node) -> Node:
    """Simplify a node repeatedly; return a long one unchanged."""
    if len(topological([node])) > FORM_CHARACTERS or Measure().length(node) > FORM_CHARACTERS:
        return node
    for _ in range(_ROUNDS):
        node, before = simplified(node).node, node
        if node is before:
            break
    return node


def _simplified(node: Node) -> Simplified:
    forms = ShortestForms(NamedProgram())
    found = forms.best([node])
    if forms.cost(found) >= forms.cost(node):
        return Simplified(node, ())
    return Simplified(found, domain_gains(node, found))


def domain_gains(node: Node, form: Node, numbers: Mapping[Node, str] = {}) -> tuple[str, ...]:
    """Return the phrases for points at which a form is defined although the node is not.

    Args:
        node: the node.
        form: the form.
        numbers: the spellings of numbers.
    """
    forms = ShortestForms(NamedProgram())
    domains = Domains({}, {}, Conditions(), lambda n: forms.best([n]), numbers)
    return tuple(domains.gained(node, [form]))
