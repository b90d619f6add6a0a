"""`implicit`: check the arguments, and define unknowns as functions of the other inputs of equations."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, overload

from symgrad.api.derivatives.implicit_function import Implicit
from symgrad.api.derivatives.targets import Wrt, Wrts, as_list, one_per_expression
from symgrad.api.handles.expr import Expr, Operand, as_expr, handle
from symgrad.api.handles.formula_arguments import Formula, Formulas, formulas
from symgrad.api.handles.inputs import inputs_of
from symgrad.api.training.optimisers import number_in
from symgrad.ir.body import bodies_in
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.size_substitution import size_names
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ops.array.layout import shape_text
from symgrad.ops.scalar.logic import eq
from symgrad.support.errors import (
    NotDifferentiableError,
    NotInProgramError,
    NotScalarError,
    UnsupportedError,
    UsageError,
)


@overload
def implicit(
    equations: Formula,
    unknowns: Wrt,
    start: Operand | None = None,
    *,
    bracket: tuple[Operand, Operand] | None = None,
    atol: float = 0.0,
) -> Implicit: ...
@overload
def implicit(
    equations: Formulas, unknowns: Wrts, start: Sequence[Operand] | None = None, *, atol: float = 0.0
) -> Implicit: ...
def implicit(
    equations: Any,
    unknowns: Any = None,
    start: Any = None,
    *,
    bracket: Any = None,
    atol: float = 0.0,
) -> Implicit:
    """Define unknowns as the functions of all other inputs that make equations zero.

    Newton's method finds the values for all points of an array at once, in NumPy, with a kernel of the equations and
    their Jacobian. A step is halved until the residual becomes smaller; with a bracket, the interval is bisected if a
    step leaves it. The search ends if the next step is below two units in the last place. It also ends if rounding
    keeps the residual from shrinking and the step is below 1.5e-8 of the value. The final value is a solution if
    Newton's steps from both sides lead to it; otherwise an error is raised. At a double zero there is no derivative.

    Args:
        equations: an expression to set to zero, or an equation such as ``x**2 == c``; or a list of these. All must be
            scalars of scalar inputs.
        unknowns: the input to solve for; for a list of equations, a list of as many inputs.
        start: the start of the search: a number or a formula of the other inputs; for a list of unknowns, one for each.
            If there are several solutions, the start decides which one is found.
        bracket: for one unknown, two numbers or formulas at which the equation has different signs; the solution is
            between them.
        atol: the search also ends if Newton's step is shorter than this. Set it if the solution is 0 and rounding
            leaves a remainder.

    Returns:
        An Implicit: call it with values of the inputs to get the unknowns; ``.grad`` returns derivatives, and
        ``.evaluate`` their values.

    Raises:
        NotScalarError: if an equation is an array.
        NotInProgramError: for an unknown that no equation reads.
        UsageError: if equations, unknowns and starts do not match.
        UnsupportedError: for arrays among the inputs, and for equations with stop_gradient.

    Example:
        >>> import symgrad as sg
        >>> E, M, e = sg.symbols("E M e")
        >>> kepler = sg.implicit(E - e*sg.sin(E) - M, E, start=M)
        >>> print(kepler)
        E with E - e*sin(E) - M = 0
          dE_de = sin(E)/(1 - e*cos(E))
          dE_dM = 1/(1 - e*cos(E))
        >>> kepler(M=1.0, e=0.1).round(9)
        np.float64(1.088597752)
    """
    exprs = [_difference(f) for f in formulas(as_list(equations))]
    if unknowns is None:
        read = [str(s.name) for s in inputs_of(exprs)]
        raise UsageError(
            "implicit does not know what to solve for",
            expected=one_of(read),
            cure=f"implicit(equation, {read[0] if read else 'x'}, start=1.0)",
        )
    for f in exprs:
        if f.shape:
            raise NotScalarError(
                f"an equation has shape {shape_text(f.shape)}", expected="scalars, one for each unknown"
            )
    if not exprs:
        raise UsageError("there are no equations", expected="at least one")
    found = _unknowns(exprs, unknowns)
    if len(found) != len(exprs):
        raise UsageError(f"{len(exprs)} equations for {len(found)} unknowns", expected="as many of both")
    nodes = topological([f.node for f in exprs])
    array = next((s for s in symbols_of(nodes) if s.shape), None)
    if array is not None:
        raise UnsupportedError(
            f"an equation has the array '{array.name}' in it", expected="scalars, and arrays made of scalars"
        )
    sizes = size_names(nodes)
    if sizes:
        raise UnsupportedError(
            f"an equation has the size {sizes[0]} in it",
            expected="scalars, and arrays and loops of known lengths",
            cure=f"write a number for {sizes[0]}",
        )
    for node in (*nodes, *(n for body in bodies_in(nodes) for n in topological(body.results))):
        if "stops" in node.op.facts:
            raise UnsupportedError(
                "an equation with stop_gradient in it: the solution follows the whole equation",
                cure="write stop_gradient around the unknown where it is used, in the formula of the solution",
            )
    starts, ends = _starts(start, len(found)), _ends(bracket, len(found))
    if ends is None and any(s is None for s in starts):
        raise UsageError("there is no start", expected="start= or bracket=", cure="start=1.0")
    own = {z.node for z in found}
    for e in (*starts, *(ends or ())):
        if e is not None and (e.shape or own & set(topological([e.node]))):
            raise UsageError(
                f"the start '{e}'",
                expected="a number, or a scalar formula of the inputs that are no unknowns",
            )
    return Implicit(exprs, found, starts, ends, number_in("atol", atol))


def _difference(equation: Expr) -> Expr:
    """Return the residual of an equation: the formula itself, or left - right of ``left == right``."""
    node = equation.node
    if node.op is eq and all(side.dtype != "bool" for side in node.args):
        left, right = (Expr(side, listings=equation.listings, traces=equation.traces) for side in node.args)
        return left if right.node.is_number(0) else left - right
    if equation.dtype == "bool":
        raise NotDifferentiableError(
            f"'{equation}' is a condition",
            expected="an expression that is to be zero, or an equation with ==",
            cure="write x**2 - c, or x**2 == c",
        )
    return equation


def _unknowns(exprs: Sequence[Expr], unknowns: Any) -> list[Expr]:
    """Return the unknowns as inputs of the equations."""
    read = {str(s.name): handle(s) for s in inputs_of(exprs)}
    found: list[Expr] = []
    for item in as_list(unknowns):
        name = item if isinstance(item, str) else str(as_expr(item))
        if name not in read:
            raise NotInProgramError(
                f"no equation reads an input '{name}'", expected=one_of(read), cure=suggest(name, read)
            )
        if read[name].dtype != "real":
            raise UsageError(
                f"cannot solve for '{name}', which is {read[name].dtype}", expected="a real input"
            )
        found.append(read[name])
    if len({z.node for z in found}) != len(found):
        raise UsageError("unknowns names one input twice", expected="every input once")
    return found


def _starts(start: Any, count: int) -> list[Expr | None]:
    if start is None:
        return [None] * count
    return [_number(v) for v in one_per_expression(start, False, count, "starts", "unknowns")]


def _ends(bracket: Any, count: int) -> tuple[Expr, Expr] | None:
    if bracket is None:
        return None
    values = list(as_list(bracket))
    if len(values) != 2 or count != 1:
        raise UsageError(
            f"a bracket of {len(values)} ends for {count} unknowns", expected="two ends for one unknown"
        )
    return _number(values[0]), _number(values[1])


def _number(value: Any) -> Expr:
    if isinstance(value, float) and not isfinite(value):
        raise UsageError(f"a search from {value}", expected="a finite number")
    found = as_expr(value)
    if found.dtype == "bool":
        raise NotDifferentiableError(f"'{found}' is a truth value", expected="a number")
    return found
