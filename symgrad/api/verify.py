"""`equal` and `verify`: is this formula equal to that one?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symgrad.api.expr import Expr, as_expr
from symgrad.api.program import parse
from symgrad.api.targets import differentiable, targets_of
from symgrad.errors import ShapeError, UsageError
from symgrad.frontend.text import parse_expression, parse_program
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import REAL, Declaration

if TYPE_CHECKING:
    from symgrad.verify.verdict import Verdict

__all__ = ["equal", "verify"]

_COMPLEX = "complex"


def equal(
    a: Expr | str, b: Expr | str, domain: Mapping[str, str] | str | None = None, time_limit: float = 10
) -> Verdict:
    """Decide whether two formulas are equal wherever both are defined.

    Args:
        a: an Expr, or text; names that are not declared in the other one are real.
        b: likewise, of the same shape.
        domain: for names, the domains that count instead of the declared ones, as in programs: ``"positive"``,
            ``"real(0, 1)"``; or ``"complex"``. Text instead of a mapping is the domain of all real variables that are
            not random. If a variable is complex, all values are complex numbers, and functions their principal
            branches.
        time_limit: seconds.

    Returns:
        A `Verdict`: read its ``status``.

    Raises:
        UsageError, ShapeError: if these are no two formulas of one shape; the errors of `parse` for text.

    Example:
        >>> import symgrad as sg
        >>> sg.equal("(x + 1)**2", "x**2 + 2*x + 1").status
        'proved'
        >>> v = sg.equal("sqrt(x**2)", "x")
        >>> v.status, v.witness["x"] < 0
        ('refuted', True)
        >>> sg.equal("sqrt(x**2)", "x", domain={"x": "positive"}).status
        'proved'
        >>> sg.equal("sqrt(x)**2", "x", domain="complex").status
        'proved'
    """
    from symgrad.verify.decide import decide
    from symgrad.verify.decide import equal as statement

    seconds = _seconds(time_limit)
    first, second = _pair(a, b)
    if first.shape != second.shape:
        raise ShapeError(
            f"the two sides have the shapes {_shape(first)} and {_shape(second)}",
            expected="one shape",
            cure="compare parts of them",
        )
    (first, second), complexes = _within([first, second], domain)
    if complexes is not None:
        from symgrad.verify.complex_domain import decide_complex

        return decide_complex(first, second, complexes, seconds)
    return decide(statement(first, second), seconds)


def verify(
    y: Expr | str,
    wrt: Expr | str,
    claim: Expr | str,
    domain: Mapping[str, str] | str | None = None,
    time_limit: float = 10,
) -> Verdict:
    r"""Decide whether a claimed derivative is right.

    What `stop_gradient` holds back counts as a frozen copy: in the claim its value appears plainly.

    Args:
        y: what is differentiated; or the text of a bare expression.
        wrt: a name of its program or an Expr, an input or an intermediate value.
        claim: the derivative as someone wrote it: an Expr, or text in the names of the program. Its shape is that of
            ``wrt``; if y is an array, the shape of y and then that (the Jacobian).
        domain: as for `equal`. With a complex variable the derivative is a complex one: of holomorphic functions, off
            their branch cuts.
        time_limit: seconds.

    Returns:
        A `Verdict`: read its ``status``. A claim whose shapes cannot be right is refuted without a witness.

    Raises:
        UsageError, NotInProgramError, NotDifferentiableError: if there is nothing to decide; the errors
            of `parse` for text.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : real\ny = sqrt(x**2)")
        >>> sg.verify(p["y"], p["x"], "x/abs(x)").status
        'proved'
        >>> print(sg.verify(p["y"], "x", "1"))  # doctest: +ELLIPSIS
        refuted: the two sides differ
          at x = -...
          proved where x > 0
          refuted where x < 0
        >>> print(sg.verify("log(z)", "z", "1/z", domain="complex"))
        proved: ...
          not claimed where z is on a branch cut of log
    """
    from symgrad.verify.decide import decide, derivative_is

    seconds = _seconds(time_limit)
    value = differentiable(_as_expr(y))
    (target,) = targets_of(value, [wrt])
    try:
        claimed = _claim(claim, value, target)
    except ShapeError as error:
        return _cannot_be_evaluated(str(error))
    of, by, to = _by_symbol(value.node, target.node, claimed)
    wanted = (*of.shape, *by.shape)
    if to.shape != wanted:
        hint = "; if the derivative of sum(y) or sum(v*y) is meant, verify that" if of.shape else ""
        return _cannot_be_evaluated(
            f"the claim has the shape {_shape(to)}, the derivative of a value of shape {_shape(of)} by '{target}' of "
            f"shape {_shape(by)} has {_shape_text(wanted)}{hint}"
        )
    (of, by, to), complexes = _within([of, by, to], domain)
    if by.dtype != "real":
        raise UsageError(
            f"'{target}' takes no real values: there is no derivative by it", cure="leave it real"
        )
    if complexes is not None:
        from symgrad.verify.complex_domain import decide_complex

        return decide_complex(of, to, complexes, seconds, wrt=by)
    return decide(derivative_is(of, by, to), seconds)


def _cannot_be_evaluated(why: str) -> Verdict:
    """The verdict on a claim whose shapes alone are wrong: there is no point at which it could hold."""
    from symgrad.verify.verdict import Verdict

    return Verdict("refuted", f"the shapes disagree, at every point: {why}")


def _shape(node: Node) -> str:
    return _shape_text(node.shape)


def _shape_text(shape: Shape) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _seconds(limit: float) -> float:
    if not isinstance(limit, (int, float)) or not 0 < limit < math.inf:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"time_limit is {limit!r}", expected="a positive number of seconds")
    return float(limit)


def _as_expr(value: Any) -> Any:
    """Text as the expression that it ends with."""
    return parse(value).last if isinstance(value, str) else value


def _names(expr: Expr) -> dict[str, Node]:
    """The names of its programs and inputs, with their nodes."""
    found = {s.name: s for s in symbols_of([expr.node])}
    for listing in expr.listings:
        found.update({name: listing[name] for name in listing.names})
    return found


def _pair(a: Expr | str, b: Expr | str) -> tuple[Node, Node]:
    if isinstance(a, str) and isinstance(b, str):
        first = parse(a).last
        known = _names(first)
        other = parse(b, "the second side").last
        shared = {s.name: known[s.name] for s in symbols_of([other.node]) if s.name in known}
        second = substitute(
            [other.node], {s: shared[s.name] for s in symbols_of([other.node]) if s.name in shared}
        )[0]
        return first.node, second
    if isinstance(a, str):
        b = as_expr(b)
        return parse_expression(a, _names(b), "the first side"), b.node
    a = as_expr(a)
    return a.node, parse_expression(b, _names(a), "the second side") if isinstance(b, str) else as_expr(
        b
    ).node


def _claim(claim: Expr | str, y: Expr, wrt: Expr) -> Node:
    if not isinstance(claim, str):
        return as_expr(claim).node
    return parse_expression(claim, {**_names(wrt), **_names(y)}, "the claim")


def _by_symbol(y: Node, wrt: Node, claim: Node) -> tuple[Node, Node, Node]:
    """Put a symbol in the place of an intermediate value, to differentiate by."""
    if wrt.op is SYMBOL:
        return y, wrt, claim
    taken = {s.name for s in symbols_of([y, claim])}
    name = next(n for n in (f"h{k}" for k in range(len(taken) + 1)) if n not in taken)
    stand_in = symbol(Declaration(name, REAL, shape=wrt.shape))
    of, to = substitute([y, claim], {wrt: stand_in})
    return of, stand_in, to


def _within(nodes: list[Node], domain: Mapping[str, str] | str | None) -> tuple[list[Node], list[str] | None]:
    """Declare names anew; return also which are complex, None if the numbers are real."""
    if not domain:
        return nodes, None
    symbols = {s.name: s for s in symbols_of(nodes)}
    if isinstance(domain, str):
        if domain.strip() != _COMPLEX:
            parse_program(f"x : {domain}", "the domain")
        plain = [n for n, s in symbols.items() if s.dtype == "real" and s.declaration.distribution is None]
        texts, is_complex = dict.fromkeys(plain, domain.strip()), domain.strip() == _COMPLEX
    else:
        texts = {name: text.strip() for name, text in domain.items()}
        is_complex = _COMPLEX in texts.values()
    unknown = next((name for name in texts if name not in symbols), None)
    if unknown is not None:
        raise UsageError(
            f"the domain is of '{unknown}', which neither side reads", expected="one of " + ", ".join(symbols)
        )
    declared = {
        symbols[name]: parse_program(f"{name} : {text}", "the domain")[name]
        for name, text in texts.items()
        if text != _COMPLEX
    }
    complexes = [name for name, text in texts.items() if text == _COMPLEX]
    return (substitute(nodes, declared) if declared else nodes), complexes if is_complex else None
