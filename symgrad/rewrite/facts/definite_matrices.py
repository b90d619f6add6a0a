"""Recognise definite matrices: M with x@M@x > 0 for every nonzero x, so M is not singular.

    definite     ::= eye(n) | diag(positive) | expm(symmetric) | inv(definite)
                   | positive*definite | definite + definite | definite + semidefinite
    semidefinite ::= A@A.T | A.T@A | diag(nonnegative) | nonnegative*semidefinite | semidefinite + semidefinite

The matrices need not be symmetric.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, TypeAlias

from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import fold
from symgrad.rewrite.facts.inference import Conditions

_Form: TypeAlias = Literal["definite", "semidefinite"] | None


def is_definite(node: Node, known: Conditions) -> bool:
    """Tell whether x@M@x is provably positive for every nonzero x, wherever the matrix M has a value.

    Args:
        node: the matrix.
        known: facts about numbers and entries.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("X : real[n, d]; c : positive; A = X.T@X; M = A + c*eye(d)")
        >>> is_definite(p["M"], Conditions()), is_definite(p["A"], Conditions())
        (True, False)
    """
    return fold([node], partial(_form, known))[node] == "definite"


def _form(known: Conditions, node: Node, args: Sequence[_Form]) -> _Form:
    if len(node.shape) != 2 or node.shape[0] != node.shape[1]:
        return None
    match node.op.name:
        case "eye":
            return "definite"
        case "expm":
            (s,) = node.args
            return "definite" if s.op is SYMBOL and s.declaration.symmetric else None
        case "inv":
            return args[0] if args[0] == "definite" else None
        case "add":
            if any(a.shape != node.shape for a in node.args) or None in args:
                return None
            return "definite" if "definite" in args else "semidefinite"
        case "mul" | "div":
            return _scaled(node, args, known)
        case "einsum":
            return _contracted(node, known)
        case _:
            return None


def _scaled(node: Node, args: Sequence[_Form], known: Conditions) -> _Form:
    for at, by in ((0, 1), (1, 0)):
        form, factor = args[at], node.args[by]
        if form is not None and factor.shape == () and not (node.op.name == "div" and at == 1):
            return _times(form, factor, known)
    return None


def _times(form: _Form, factor: Node, known: Conditions) -> _Form:
    if known.positive(factor) == "yes":
        return form
    return "semidefinite" if known.nonnegative(factor) == "yes" else None


def _contracted(node: Node, known: Conditions) -> _Form:
    """Return the form of a product of a matrix and its transpose, or of a diagonal matrix."""
    labels, (i, j) = node.params
    if len(node.args) != 2 or i == j:
        return None
    first, second = node.args
    if first is second:
        swapped = tuple({i: j, j: i}.get(n, n) for n in labels[0])
        once = all(len(set(own)) == len(own) and (i in own) != (j in own) for own in labels)
        return "semidefinite" if swapped == labels[1] and once else None
    for w, e, own in ((first, second, labels), (second, first, labels[::-1])):
        if e.op.name == "eye" and set(own[1]) == {i, j} and own[0] in ((i,), (j,)):
            return _times("definite", w, known)
    return None
