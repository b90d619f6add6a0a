"""Related rates: inputs that move with a time that no formula reads, dV/dt = 4*pi*r**2*dr/dt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symgrad.api.derivatives.differentiate import jvp
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.formulas.calculus import derivative, reparametrised
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.ir.graph import SYMBOL, Node, number, symbol
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ir.types import Declaration
from symgrad.support.errors import UnknownNameError


def rate_variables(names: DocumentNames, nodes: Sequence[Node]) -> list[Node]:
    """Return by what inputs of formulas move that no formula reads."""
    by = [x for s in symbols_of(nodes) if (x := names.followed.get(s.name)) is not None]
    found = [symbol(Declaration(name)) for name in dict.fromkeys(by) if name not in names.values]
    return [x for x in found if any(names.moved_by(n, x) for n in nodes)]


def rate(names: DocumentNames, node: Node, x: Node) -> Node:
    """Return the derivative of a value by what its inputs move with: dV/dt is dV/dr times the symbol dr/dt.

    Others are held fixed, which is noted.
    """
    rates = {s: symbol(Declaration(f"d{s.name}_d{x.name}", shape=s.shape)) for s in names.moved_by(node, x)}
    _note_fixed(names, node, rates, "rates")
    return _along(node, rates)


def _along(node: Node, rates: Mapping[Node, Node]) -> Node:
    """Return the derivative of a value whose inputs move at rates."""
    return jvp(Expr(node), [Expr(s) for s in rates], [Expr(r) for r in rates.values()]).canonical().node


def _note_fixed(names: DocumentNames, node: Node, moved: Mapping[Node, Node], where: str) -> None:
    held = [s.name for s in inputs_of(node) if s not in moved]
    if held:
        names.assume(f"{', '.join(held)} held fixed in {where}", names.line, stated=False)


def derivative_at_constant(names: DocumentNames, y: Node, x: Node, constant: Sequence[str]) -> Node | None:
    """Return a derivative that names what is constant, where other inputs follow equations above: (∂p/∂V)_T.

    Args:
        names: of the document.
        y: an input, or a formula.
        x: the input that it is by, or a formula of the first.
        constant: the names that are constant.

    Returns:
        It; None for a partial derivative like any other, as that of F(V, T) by V at constant T.

    Raises:
        UnknownNameError: for an input that no equation above relates to x.
    """
    if constant and y.op is SYMBOL and y is not x and y not in names.implied:
        if x.op is not SYMBOL and y in symbols_of([x]) and not (x.shape or y.shape):
            return (1 / derivative(Expr(x), (Expr(y),))).canonical().node  # V of p = n R T/V, by p
        found = _along_a_law(names, y, x)
        if found is None:
            raise UnknownNameError(
                f"{y.name} is an input here, and no equation above relates it to {names.expr(x)}",
                expected=f"a formula for {y.name}",
            )
        return found
    if {s.name for s in inputs_of(y)}.issuperset(constant):
        return None
    return total_derivative(names, y, x, constant)


def _along_a_law(names: DocumentNames, y: Node, x: Node) -> Node | None:
    """Return the derivative of an input by another one along an equation that relates them, all others constant.

    It is that of an implicit function, -F_x/F_y for F = 0: of p by V along p V = n R T. None without such an equation.
    """
    laws = [(c.left, c.right) for c in names.conditions if not c.asked]
    laws += [(e.curve.left, e.curve.right) for e in names.implied.values() if e.curve is not None]
    for left, right in laws:
        if {x, y} <= set(symbols_of([left, right])) and left.shape == right.shape == ():
            law = Expr(left) - Expr(right)
            by_x, by_y = (derivative(law, (Expr(s),)) for s in (x, y))
            return (-by_x / by_y).canonical().node
    return None


def total_derivative(names: DocumentNames, node: Node, x: Node, constant: Sequence[str] = ()) -> Node | None:
    """Return the derivative of a formula by an input that others follow along equations above.

    Args:
        names: of the document.
        node: the formula.
        x: the input.
        constant: the names that do not follow it.

    Returns:
        It; None where no equation relates another input of the formula to it.
    """
    if x.op is not SYMBOL:
        return None
    others = [s for s in inputs_of(node) if s is not x and s.name not in constant]
    rates = {s: r for s in others if (r := _along_a_law(names, s, x)) is not None}
    if len(rates) > 1:  # n and R of p V = n R T are constants, if nothing is differentiated by them
        rates = {s: r for s, r in rates.items() if s.name in names.variables}
    return _along(node, {x: number(1), **rates}) if rates else None


def curve_parameter(names: DocumentNames, y: Node, x: Node, *, partial: bool = False) -> Node | None:
    """Return the input that a derivative by a computed value goes through, as `reparametrised` does.

    Other inputs of both are held fixed, which is noted.

    Raises:
        UnsupportedError: if several inputs may be meant.
    """
    found = reparametrised(y, x, None if partial else names.variables)
    if found is not None:
        _note_fixed(
            names,
            y,
            {s: s for s in inputs_of(y) if s is found or s not in inputs_of(x)},
            "derivatives along a curve",
        )
    return found


def time_derivative(names: DocumentNames, node: Node) -> Node | None:
    """Return the derivative by time of a formula of x, x_dot: of each name whose dotted one the document has.

    Returns:
        It; None where no input has a dotted name. Other inputs are held fixed, which is noted.
    """
    rates: dict[Node, Node] = {}
    for s in inputs_of(node):
        dotted = next((n for n in _dotted(s.name) if n in names.values or "_dot" in s.name), None)
        if dotted is not None:
            known = names.values.get(dotted)
            rates[s] = names.undeclared(dotted, names.line) if known is None else known
    if not rates:
        return None
    _note_fixed(names, node, rates, "time")
    return _along(node, rates)


def _dotted(name: str) -> tuple[str, ...]:
    """Return the names that the time derivative of a name may have: theta_dot, x_dot_1 or x_1_dot; x_ddot of x_dot."""
    if "_dot" in name:
        return (name.replace("_dot", "_ddot", 1),)
    head, _, rest = name.partition("_")
    return (f"{name}_dot", f"{head}_dot_{rest}")


def ambiguous_partial(names: DocumentNames, y: Node, x: Node) -> str | None:
    """Return a name that a partial derivative may hold fixed or not: L in dE/dI of E = L**2/(2*I) with L = I*omega.

    That is a formula of x which a formula reads beside x, and by which the document has derivatives, too.
    """
    for name in sorted(names.variables):
        value = names.values.get(name)
        if value is None or value is y or not value.args or value.shape or x.shape or y.shape:
            continue  # in arrays derivatives are total, as where they are pulled back
        if x not in symbols_of([value]):
            continue
        held = symbol(Declaration("__held_", shape=value.shape))
        (written,) = substitute([y], {value: held})
        if {held, x} <= set(symbols_of([written])):
            return name
    return None
