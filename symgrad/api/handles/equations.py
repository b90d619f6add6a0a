"""List the equations of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from symgrad.api.handles.base import E, handle_on
from symgrad.api.handles.inputs import listings_of, number_texts
from symgrad.ir.graph import Node
from symgrad.ir.traverse import symbols_of, topological


@dataclass(frozen=True, slots=True)
class Equation(Generic[E]):
    """One equation of a graph.

    Attributes:
        name: the variable that the equation defines (a name of the program, or ``t1``, ``t2``, ...).
        op: the name of the operation.
        args: the arguments: names and numbers, as text.
        expr: the value as an Expr.
    """

    name: str
    op: str
    args: tuple[str, ...]
    expr: E

    def __str__(self) -> str:
        return f"{self.name} = {self.op}({', '.join(self.args)})"


def equations_of(kind: type[E], exprs: Sequence[E]) -> tuple[Equation[E], ...]:
    """Return the equations of several expressions together, under the names of their programs.

    Args:
        kind: the class of the handles on the values of the equations.
        exprs: the expressions.
    """
    from symgrad.ir.notation.printer import expression_text  # for start-up time

    roots = [e.node for e in exprs]
    names: dict[Node, str] = {}
    for listing in listings_of(exprs):
        names = {**listing.name_of(), **names}
    taken = {s.name for s in symbols_of(roots)} | set(names.values())
    counter = 0
    equations: list[Equation[E]] = []
    spelled = number_texts(exprs)
    for node in topological(roots):
        if not node.args:
            continue
        if node not in names:
            counter += 1
            while f"t{counter}" in taken:
                counter += 1
            names[node] = f"t{counter}"
        args = tuple(names[a] if a.args else expression_text(a, spelled) for a in node.args)
        equations.append(Equation(names[node], node.op.name, args, handle_on(kind, node)))
    return tuple(equations)
