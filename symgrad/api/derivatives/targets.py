"""Check the arguments of functions that differentiate: the outputs, and the variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, TypeAlias, cast

from symgrad.api.handles.construction import parts_of
from symgrad.api.handles.expr import Expr, handle
from symgrad.api.handles.formula_arguments import formula, formulas
from symgrad.api.handles.inputs import listings_of
from symgrad.api.limits import PRINTED_TANGENTS
from symgrad.autodiff.jvp import Pushforward
from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ir.listing import Derivative, one_of, suggest
from symgrad.ir.traverse import topological
from symgrad.ops.array.layout import shape_text
from symgrad.support.errors import Cure, NotDifferentiableError, NotInProgramError, NotScalarError, UsageError

Wrt: TypeAlias = "Expr | str"
Wrts: TypeAlias = "Sequence[Expr | str]"


def as_list(value: Any) -> Sequence[Any]:
    """Return a list or tuple unchanged; put any other value into a list."""
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]


def differentiable(y: Any, beside: Sequence[Expr] = ()) -> Expr:
    """Return the expression to differentiate, read by `formula`.

    Raises:
        NotDifferentiableError: if it is a truth value.
    """
    return _refuse_truth_value(formula(y, beside))


def differentiables(ys: Any) -> list[Expr]:
    """Return the expressions to differentiate, one or several, read by `formulas`.

    Raises:
        NotDifferentiableError: if one is a truth value.
        UsageError: if there are no expressions.
    """
    found = [_refuse_truth_value(e) for e in formulas(as_list(ys))]
    if not found:
        raise UsageError("there is nothing to differentiate", expected="at least one expression")
    return found


def scalar_to_differentiate(y: Any, verb: str, cure: str | None = None, beside: Sequence[Expr] = ()) -> Expr:
    """Return the scalar to differentiate, read by `formula`.

    Raises:
        NotDifferentiableError: if it is a truth value.
        NotScalarError: if it is an array.
    """
    expr = differentiable(y, beside)
    if expr.shape:
        raise NotScalarError(f"{verb} needs a scalar, got shape {shape_text(expr.shape)}", cure=cure)
    return expr


def _refuse_truth_value(expr: Expr) -> Expr:
    if expr.dtype == "bool":
        raise NotDifferentiableError(
            f"'{expr}' is a truth value", cure="differentiate a number, such as where(c, x, y)"
        )
    return expr


def origins_of(exprs: Sequence[Expr]) -> tuple[Node, ...]:
    """Return the origins of a derivative of expressions: their nodes and their own origins."""
    return tuple(dict.fromkeys([*(e.node for e in exprs), *(o for e in exprs for o in e.origins)]))


def prints_in_names(outputs: Sequence[Expr]) -> bool:
    """Tell whether derivatives of expressions print in the names of the program; all the expressions must print so."""
    return all(e.in_names or e.slope is not None or not e.derived for e in outputs)


def slope_of(y: Expr) -> Derivative | None:
    """Return a scalar as a derivative of order 0, a derivative as itself, None for anything else."""
    if y.derived:
        return y.slope
    return None if y.shape else Derivative(y.node, ())


def record_of(y: Expr) -> Derivative | None:
    """Return an expression as a derivative of some order; None for products of derivatives, such as those of `jvp`."""
    known = y.slope or y.in_names
    return known if isinstance(known, Derivative) else None if y.derived else Derivative(y.node, ())


def weighted_slope(ys: Sequence[Expr], seeds: Sequence[Node], by: Sequence[Node]) -> Derivative | None:
    """Return the sum of scalars times their cotangents, like `slope_of`; None if a cotangent varies with a variable."""
    if len(ys) == 1 and seeds[0].is_number(1):
        return slope_of(ys[0])
    if any(y.shape or slope_of(y) is None for y in ys) or not set(by).isdisjoint(topological(seeds)):
        return None
    return Derivative(reduce(add, (seed * y.node for y, seed in zip(ys, seeds, strict=True))), ())


def directional_slopes(
    ys: Sequence[Expr], directions: Mapping[Node, Node]
) -> list[tuple[Derivative | None, dict[Node, Derivative]]]:
    """Return sums of derivatives times tangents as formulas for printing, and the derivatives in each.

    Args:
        ys: the differentiated expressions.
        directions: the tangent of each variable; there is no such formula for arrays, and for many variables.
    """
    moving = [x for x, v in directions.items() if x.dtype == "real" and not v.is_number(0)]
    scalar = not any(n.shape for pair in directions.items() for n in pair)
    inner = {n for x in moving for n in topological(x.args)}
    if not 0 < len(moving) <= PRINTED_TANGENTS or not scalar or not inner.isdisjoint(moving):
        return [(None, {}) for _ in ys]
    nodes = [y.node for y in ys]
    rows = [Pushforward({other: as_node(int(other is x)) for other in moving})(nodes) for x in moving]
    return [
        _directional_slope(y, directions, dict(zip(moving, column, strict=True)))
        for y, column in zip(ys, zip(*rows, strict=True), strict=True)
    ]


def _directional_slope(
    y: Expr, directions: Mapping[Node, Node], by: Mapping[Node, Node]
) -> tuple[Derivative | None, dict[Node, Derivative]]:
    if slope_of(y) is None or len(y.listings) != 1:
        return None, {}
    parts = parts_of([y]) | slopes_by(y, by)
    total = reduce(add, (partial * directions[x] for x, partial in by.items()))
    return parts.get(total, Derivative(total, ())), parts


def slopes_by(y: Expr, partials: Mapping[Node, Node]) -> dict[Node, Derivative]:
    """Return what derivatives of an expression by variables are, as `Handle.parts` has it."""
    of = slope_of(y)
    return {} if of is None else {g: Derivative(of.y, (*of.by, x)) for x, g in partials.items() if g.args}


def one_per_expression(given: Any, single: bool, count: int, what: str, of: str) -> list[Any]:
    """Return one value per expression; for a single expression, a list is the array of its entries.

    Args:
        given: the argument: a value, or a list or tuple of values.
        single: whether the caller passed one expression instead of a list.
        count: the number of expressions.
        what: the noun for the values in a message.
        of: the noun for the expressions.

    Raises:
        UsageError: for another number of values.
    """
    values = list(as_list(given))
    if single and len(values) != 1:
        return [given]
    if len(values) != count:
        raise UsageError(f"{len(values)} {what} for {count} {of}", expected="one for each, in their order")
    return values


def targets_of(outputs: Expr | Sequence[Expr], wrt: Any) -> list[Expr]:
    """Return the variables of differentiation from Exprs or names, one or many, checked against the programs.

    Raises:
        NotInProgramError: if a variable does not occur in the programs.
        UsageError: if a variable is not an input or intermediate value.
    """
    outputs = [outputs] if isinstance(outputs, Expr) else outputs
    known: dict[str, Expr] = {}
    found: list[Expr] = []
    for item in as_list(wrt):
        if isinstance(item, str) and not known:
            known = names_of(outputs)
        expr = _resolved(item, known)
        node = expr.node
        if node.is_number() or node.op.name == "constant" or (node.dtype == "bool" and node.args):
            raise UsageError(
                f"cannot differentiate with respect to '{expr}'", expected="an input or an intermediate value"
            )
        found.append(expr)
    programs = listings_of(outputs)
    if programs:
        roots = [e.node for e in outputs]
        for listing in programs:
            roots += [*listing.symbols.values(), *listing.assignments.values()]
        reached = set(topological(roots))
        for expr in found:
            if expr.node not in reached:
                whole = next((s for s in expr.inputs if s.node in reached), None)
                own = next((s for s in reached if s.op is SYMBOL and s.name == expr.name), None)
                if own is not None and expr.node.op is SYMBOL:
                    raise NotInProgramError(
                        f"'{expr}' is declared '{expr.node.declaration}', and in the formula '{own.declaration}'",
                        expected="one meaning for one name",
                        cure=f"differentiate with respect to the input of the formula, '{own.name}'",
                    )
                raise NotInProgramError(
                    f"'{handle(expr.node)}' does not occur in the program",
                    expected=one_of(dict.fromkeys(n for p in programs for n in p.names)),
                    cure="pass the program's own expression, p[name]"
                    if whole is None or whole is expr
                    else f"differentiate with respect to {whole.name!r}, or give the value a name in the program",
                )
    return found


def names_of(outputs: Sequence[Expr]) -> dict[str, Expr]:
    """Return the expressions that the names of the programs stand for, then the inputs of the outputs, by name."""
    known: dict[str, Expr] = {}
    for y in outputs:
        for listing in y.listings:
            for name in listing.names:
                known.setdefault(name, Expr(listing[name], listings=y.listings))
    for y in outputs:
        for symbol in y.inputs:
            known.setdefault(str(symbol.name), symbol)
    return known


def _resolved(wrt: Any, known: Mapping[str, Expr]) -> Expr:
    if isinstance(wrt, Expr):
        return wrt
    if not isinstance(wrt, str):
        raise UsageError(
            f"cannot differentiate with respect to a value of type {type(wrt).__name__}",
            expected="an Expr or a name, or a list of them",
            cure=_kinds_of_targets(wrt),
        )
    if wrt not in known:
        raise NotInProgramError(
            f"'{wrt}' is not in the program",
            expected=one_of(known) if known else None,
            cure=suggest_target(wrt, known),
        )
    return known[wrt]


def _kinds_of_targets(wrt: Any) -> str:
    """Return the cure for a target that is neither a name nor an expression."""
    if isinstance(wrt, set | dict | frozenset):
        return "a list has an order: [x, y], or its names, ['x', 'y']"
    return "name the input, and give its value to the result: sg.grad(y, 'x')(x=2.0)"


def suggest_target(wrt: str, known: Mapping[str, Expr]) -> str | None:
    """Suggest a target for an unknown name: the closest name, else the inputs of the program."""
    parts = wrt.replace(",", " ").split()
    if len(parts) > 1 and all(part in known for part in parts):
        return Cure(f"give a list: {parts}", command=f"--wrt {','.join(parts)}")
    name = wrt.partition("[")[0].strip()
    begun = [n for n in known if name and n.lower().startswith(name.lower())]
    close = suggest(name, known) or (f"did you mean '{begun[0]}'?" if begun else None)
    real = [name for name, e in known.items() if e.dtype == "real" and not e.node.args]
    return close or (f"one of its inputs, such as '{real[0]}'" if real else None)
