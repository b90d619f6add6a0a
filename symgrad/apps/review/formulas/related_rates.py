"""Related rates: inputs that move with a time that no formula reads, dV/dt = 4*pi*r**2*dr/dt."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.derivatives.differentiate import jvp
from symgrad.api.handles.expr import Expr
from symgrad.apps.review.formulas.calculus import derivative
from symgrad.apps.review.formulas.names import DocumentNames
from symgrad.frontend.latex.meaning.inputs import inputs_of
from symgrad.ir.graph import SYMBOL, Node, number, symbol
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Declaration
from symgrad.support.errors import UnknownNameError

__all__ = ["along_a_law", "names_of_inputs", "rate", "rate_variables", "time_derivative", "total_derivative"]


def rate_variables(names: DocumentNames, nodes: Sequence[Node]) -> list[Node]:
    """Return by what inputs of formulas move that no formula reads."""
    by = [x for s in symbols_of(nodes) if (x := names.followed.get(s.name)) is not None]
    found = [symbol(Declaration(name)) for name in dict.fromkeys(by) if name not in names.values]
    return [x for x in found if any(names.moved_by(n, x) for n in nodes)]


def rate(names: DocumentNames, node: Node, x: Node) -> Node:
    """Return the derivative of a value by what its inputs move with: dV/dt is dV/dr times the symbol dr/dt.

    Others are held fixed, which is noted.
    """
    moved = names.moved_by(node, x)
    held = [s.name for s in inputs_of(node) if s not in moved]
    if held:
        names.assume(f"{', '.join(held)} held fixed in rates", names.line, stated=False)
    rates = [symbol(Declaration(f"d{s.name}_d{x.name}", shape=s.shape)) for s in moved]
    return jvp(Expr(node), [Expr(s) for s in moved], [Expr(r) for r in rates]).canonical().node


def names_of_inputs(node: Node) -> set[str]:
    """Return the names of the inputs of a formula."""
    return {s.name for s in inputs_of(node)}


def along_a_law(names: DocumentNames, y: Node, x: Node) -> Node:
    """Return the derivative of an input by another one along an equation that relates them, all others constant.

    It is that of an implicit function, -F_x/F_y for F = 0: of p by V along p V = n R T.

    Raises:
        UnknownNameError: if no equation above relates the two.
    """
    laws = [(c.left, c.right) for c in names.conditions if not c.asked]
    laws += [(e.curve.left, e.curve.right) for e in names.implied.values() if e.curve is not None]
    for left, right in laws:
        if {x, y} <= set(symbols_of([left, right])) and left.shape == right.shape == ():
            law = Expr(left) - Expr(right)
            by_x, by_y = (derivative(law, (Expr(s),)) for s in (x, y))
            return (-by_x / by_y).canonical().node
    raise UnknownNameError(
        f"{y.name} is an input here, and no equation above relates it to {x.name}",
        expected=f"a formula for {y.name}",
    )


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
    rates: dict[Node, Node] = {}
    for s in inputs_of(node) if x.op is SYMBOL else ():
        if s is not x and s.name not in constant:
            try:
                rates[s] = along_a_law(names, s, x)
            except UnknownNameError:
                continue
    if len(rates) > 1:  # n and R of p V = n R T are constants, if nothing is differentiated by them
        rates = {s: r for s, r in rates.items() if s.name in names.variables}
    if not rates:
        return None
    moved = {x: number(1), **rates}
    return jvp(Expr(node), [Expr(s) for s in moved], [Expr(r) for r in moved.values()]).canonical().node


def time_derivative(names: DocumentNames, node: Node) -> Node | None:
    """Return the derivative by time of a formula of x, x_dot: of each name whose dotted one the document has.

    Returns:
        It; None where no input has a dotted name. Other inputs are held fixed, which is noted.
    """
    rates: dict[Node, Node] = {}
    for s in inputs_of(node):
        dotted = next((n for n in _dotted(s.name) if n in names.values or "_dot" in s.name), None)
        if dotted is not None:
            rates[s] = (
                names.values[dotted] if dotted in names.values else names.undeclared(dotted, names.line)
            )
    if not rates:
        return None
    held = [s.name for s in inputs_of(node) if s not in rates]
    if held:
        names.assume(f"{', '.join(held)} held fixed in time", names.line, stated=False)
    return jvp(Expr(node), [Expr(s) for s in rates], [Expr(r) for r in rates.values()]).canonical().node


def _dotted(name: str) -> tuple[str, ...]:
    """Return the names that the time derivative of a name may have: theta_dot, x_dot_1 or x_1_dot; x_ddot of x_dot."""
    if "_dot" in name:
        return (name.replace("_dot", "_ddot", 1),)
    head, _, rest = name.partition("_")
    return (f"{name}_dot", f"{head}_dot_{rest}")
