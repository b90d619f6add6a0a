"""Quotients of polynomials in lowest terms: coefficients of series are often much shorter so."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological
from symgrad.proof.balls import flint

__all__ = ["in_lowest_terms"]

_LARGEST = 400  # equations
_ATOMS = 12
_DEGREE = 40


def in_lowest_terms(node: Node) -> Node:
    r"""Return a formula as a quotient of polynomials without common factors, in what is not rational in it.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.printer import str_text
        >>> p = parse_program("r : real\ny = 1/2 + (1 - r**2)/(2*(r - 1))")
        >>> str_text(in_lowest_terms(p["y"]))
        '-1/2*r'
    """
    order = topological([node])
    if len(order) > _LARGEST:
        return node
    atoms = _atoms(node)
    if not 0 < len(atoms) <= _ATOMS:
        return node
    ctx = flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(atoms))], "lex")
    values: dict[Node, tuple[Any, Any]] = {
        a: (g, ctx.constant(1)) for a, g in zip(atoms, ctx.gens(), strict=True)
    }
    for n in order:
        if n not in values and _is_rational(n):
            found = _value(ctx, n, [values.get(a) for a in n.args])
            if found is None:
                return node
            values[n] = found
    top, bottom = values[node]
    return _written(top, atoms) / _written(bottom, atoms) if bottom != 1 else _written(top, atoms)


def _is_rational(n: Node) -> bool:
    if n.shape or n.dtype == "bool":
        return False
    if n.op.name == "pow":
        e = n.args[1]
        return e.is_number() and e.value.denominator == 1 and abs(e.value) <= _DEGREE
    return n.is_number() or n.op.name in ("add", "neg", "mul", "div")


def _atoms(node: Node) -> list[Node]:
    """What is not rational, and is read by what is."""
    found: dict[Node, None] = {}
    pending, seen = [node], {node}
    while pending:
        n = pending.pop()
        if not _is_rational(n):
            found[n] = None
            continue
        for a in n.args[: 1 if n.op.name == "pow" else None]:
            if a not in seen:
                seen.add(a)
                pending.append(a)
    return list(found)


def _value(ctx: Any, n: Node, args: list[tuple[Any, Any] | None]) -> tuple[Any, Any] | None:
    one = ctx.constant(1)
    if n.is_number():
        f = Fraction(n.value)
        return ctx.constant(flint.fmpq(f.numerator, f.denominator)), one
    if args[0] is None or (len(args) > 1 and n.op.name != "pow" and args[1] is None):
        return None
    a, b = args[0]
    name = n.op.name
    if name == "neg":
        return -a, b
    if name == "pow":
        e = int(n.args[1].value)
        return _reduced(*((a**e, b**e) if e >= 0 else (b**-e, a**-e)))
    assert args[1] is not None
    c, d = args[1]
    if name == "add":
        return _reduced(a * d + c * b, b * d)
    return _reduced(a * c, b * d) if name == "mul" else _reduced(a * d, b * c)


def _reduced(top: Any, bottom: Any) -> tuple[Any, Any] | None:
    if bottom == 0:
        return None
    if max([*top.degrees(), *bottom.degrees()], default=0) > _DEGREE:
        return None
    common = top.gcd(bottom)
    top, bottom = top / common, bottom / common
    lead = bottom.leading_coefficient()
    return top / lead, bottom / lead


def _written(p: Any, atoms: list[Node]) -> Node:
    total: Node | None = None
    for exponents, c in p.to_dict().items():
        term = as_node(Fraction(int(c.p), int(c.q)))
        for a, e in zip(atoms, exponents, strict=True):
            if int(e):
                term = term * a ** int(e)
        total = term if total is None else total + term
    return as_node(0) if total is None else total
