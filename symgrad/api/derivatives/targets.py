"""Check the arguments of derivative verbs: the outputs, and the variables to differentiate by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from symgrad.api.handles.expr import Expr, handle
from symgrad.api.handles.formula_arguments import formula, formulas
from symgrad.api.handles.inputs import listings_of
from symgrad.autodiff.trace import Derivative
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.traverse import topological
from symgrad.support.errors import Cure, NotDifferentiableError, NotInProgramError, UsageError

__all__ = [
    "Wrt",
    "Wrts",
    "differentiable",
    "differentiables",
    "prints_in_names",
    "as_list",
    "names_of",
    "one_per_expression",
    "origins_of",
    "suggest_target",
    "targets",
    "targets_of",
]

Wrt: TypeAlias = "Expr | str"
Wrts: TypeAlias = "Sequence[Expr | str]"


def as_list(value: Any) -> Sequence[Any]:
    """Return a list or tuple as it is, anything else as a list of one."""
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]


def differentiable(y: Any, beside: Sequence[Expr] = ()) -> Expr:
    """Return the expression to differentiate, read by `formula`.

    Raises:
        NotDifferentiableError: if it is a truth value.
    """
    return _no_truth_value(formula(y, beside))


def differentiables(ys: Any) -> list[Expr]:
    """Return one or several formulas that are to be differentiated as Exprs, as `formulas` reads them.

    Raises:
        NotDifferentiableError: if one is a truth value.
    """
    return [_no_truth_value(e) for e in formulas(as_list(ys))]


def _no_truth_value(expr: Expr) -> Expr:
    if expr.dtype == "bool":
        raise NotDifferentiableError(
            f"'{expr}' is a truth value", cure="differentiate a number, such as where(c, x, y)"
        )
    return expr


def origins_of(exprs: Sequence[Expr]) -> tuple[Node, ...]:
    """Return what derivatives of expressions are derivatives of: these, and what they are themselves derivatives of."""
    return tuple(dict.fromkeys([*(e.node for e in exprs), *(o for e in exprs for o in e.origins)]))


def prints_in_names(outputs: Sequence[Expr]) -> bool:
    """Tell whether results derived from expressions are printed in names: yes, unless one of these is not."""
    return all(e.in_names or e.slope is not None or not e.derived for e in outputs)


def slope_of(y: Expr) -> Derivative | None:
    """Return a scalar as what derivatives are of: if it is one itself, those of what it is one of; None for others."""
    if y.slope is not None:
        return y.slope
    return Derivative(y.node, ()) if not y.shape and not y.derived else None


def one_per_expression(given: Any, single: bool, count: int, what: str, of: str) -> list[Any]:
    """Return one value per expression; for a single expression, a list is the array of its entries.

    Args:
        given: one value, or a list or tuple of them.
        single: whether the expression that it is given for was no list.
        count: how many values there are to be.
        what: what they are called in a message.
        of: what they are given for.

    Raises:
        UsageError: for another number of values.
    """
    values = list(as_list(given))
    if single and len(values) != 1:
        return [given]
    if len(values) != count:
        raise UsageError(f"{len(values)} {what} for {count} {of}", expected="one for each, in their order")
    return values


def targets(outputs: Sequence[Expr], wrt: Any) -> list[Node]:
    """Return the nodes to differentiate by: see `targets_of`."""
    return [e.node for e in targets_of(outputs, wrt)]


def targets_of(outputs: Expr | Sequence[Expr], wrt: Any) -> list[Expr]:
    """Return what one differentiates by, from Exprs or names, one or many, checked against the outputs' programs.

    Raises:
        NotInProgramError: for what does not occur there.
        UsageError: for what is no input or intermediate value.
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
                f"cannot differentiate by '{expr}'", expected="an input or an intermediate value"
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
                        cure=f"differentiate by the formula's own, '{own.name}'",
                    )
                raise NotInProgramError(
                    f"'{handle(expr.node)}' does not occur in the program",
                    expected=one_of(dict.fromkeys(n for p in programs for n in p.names)),
                    cure="pass the program's own expression, p[name]"
                    if whole is None or whole is expr
                    else f"differentiate by {whole.name!r}, or name it in a line and read that name",
                )
    return found


def names_of(outputs: Sequence[Expr]) -> dict[str, Expr]:
    """Return what the names of programs stand for, and the inputs of expressions that have none."""
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
            f"cannot differentiate by a value of type {type(wrt).__name__}",
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
