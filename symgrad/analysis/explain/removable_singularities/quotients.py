"""Quotients of polynomials in lowest terms; the coefficients of series are often much shorter in this form."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from symgrad.analysis.explain.limits import QUOTIENT_ATOMS, QUOTIENT_DEGREE, QUOTIENT_EQUATIONS
from symgrad.checker.numbers import flint
from symgrad.ir.graph import Node, as_node
from symgrad.ir.traverse import topological


def in_lowest_terms(node: Node) -> Node:
    r"""Return a formula as a quotient of polynomials in its non-rational subexpressions, without common factors.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("r : real\ny = 1/2 + (1 - r**2)/(2*(r - 1))")
        >>> str_text(in_lowest_terms(p["y"]))
        '-1/2*r'
    """
    found = _quotient(node)
    if found is None:
        return node
    top, bottom, atoms = found
    return _node_of(top, atoms) / _node_of(bottom, atoms) if bottom != 1 else _node_of(top, atoms)


def cancelled(node: Node) -> Node:
    r"""Return a formula as a quotient of polynomials without common factors, both in factored form.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("x : real\ny = (x**2 - 1)*(x + 2)**3/(x - 1)")
        >>> str_text(cancelled(p["y"]))
        '(x + 1)*(x + 2)**3'
    """
    found = _quotient(node)
    if found is None:
        return node
    top, bottom, atoms = found
    above, below = _product_of(top, atoms), _product_of(bottom, atoms)
    return above if below.is_number(1) else above / below


def coefficients(node: Node, v: Node) -> tuple[Node, list[list[Node]]] | None:
    r"""Factor a numerator; return the atom that contains v, and the coefficients of each factor in powers of the atom.

    Return None if more than one atom contains v, as in x + exp(x).

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("a, x : real\ny = exp(x)**2 - (1 + a)*exp(x) + a")
        >>> atom, factors = coefficients(p["y"], p["x"])
        >>> str_text(atom), sorted([str_text(c) for c in f] for f in factors)
        ('exp(x)', [['-1', '1'], ['a', '-1']])
    """
    found = _quotient(node)
    if found is None:
        return None
    top, _, atoms = found
    with_v = [k for k, a in enumerate(atoms) if v in topological([a])]
    if len(with_v) != 1:
        return None
    factors: list[list[Node]] = []
    for factor, _ in top.factor()[1]:
        parts: dict[int, dict[tuple[int, ...], Any]] = {}
        for exponents, c in factor.to_dict().items():
            power = int(exponents[with_v[0]])
            rest = tuple(0 if k == with_v[0] else int(e) for k, e in enumerate(exponents))
            parts.setdefault(power, {})[rest] = c
        if max(parts):
            factors.append([_sum_of(parts.get(k, {}), atoms) for k in range(max(parts) + 1)])
    return atoms[with_v[0]], factors


def _quotient(node: Node) -> tuple[Any, Any, list[Node]] | None:
    """Return a formula as numerator and denominator in lowest terms, and the atoms, which are the variables of both."""
    order = topological([node])
    if len(order) > QUOTIENT_EQUATIONS:
        return None
    atoms = _atoms(node)
    if not 0 < len(atoms) <= QUOTIENT_ATOMS:
        return None
    ctx = flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(atoms))], "lex")
    values: dict[Node, tuple[Any, Any]] = {
        a: (g, ctx.constant(1)) for a, g in zip(atoms, ctx.gens(), strict=True)
    }
    for n in order:
        if n not in values and _is_rational(n):
            found = _value(ctx, n, [values.get(a) for a in n.args])
            if found is None:
                return None
            values[n] = found
    return *values[node], atoms


def _is_rational(n: Node) -> bool:
    if n.shape or n.dtype == "bool":
        return False
    if n.op.name == "pow":
        e = n.args[1]
        return e.is_number() and e.value.denominator == 1 and abs(e.value) <= QUOTIENT_DEGREE
    return n.is_number() or n.op.name in ("add", "neg", "mul", "div")


def _atoms(node: Node) -> list[Node]:
    """Return the non-rational subexpressions that the rational part of a formula contains."""
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
    if bottom == 0 or max([*top.degrees(), *bottom.degrees()], default=0) > QUOTIENT_DEGREE:
        return None
    common = top.gcd(bottom)
    top, bottom = top / common, bottom / common
    lead = bottom.leading_coefficient()
    return top / lead, bottom / lead


def _node_of(p: Any, atoms: list[Node]) -> Node:
    return _sum_of(p.to_dict(), atoms)


def _product_of(p: Any, atoms: list[Node]) -> Node:
    if p == 0:
        return as_node(0)
    front, factors = p.factor()
    total = as_node(Fraction(int(front.p), int(front.q)))
    for factor, power in sorted(factors, key=lambda f: (f[0].total_degree(), str(f[0]))):
        total = total * _node_of(factor, atoms) ** int(power)
    return total


def _sum_of(terms: Mapping[tuple[Any, ...], Any], atoms: list[Node]) -> Node:
    total: Node | None = None
    for exponents, c in terms.items():
        term = as_node(Fraction(int(c.p), int(c.q)))
        for a, e in zip(atoms, exponents, strict=True):
            if int(e):
                term = term * a ** int(e)
        total = term if total is None else total + term
    return as_node(0) if total is None else total
