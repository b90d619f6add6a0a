"""Minimise a loss with SciPy, using its compiled value and derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from symgrad.api.derivatives.targets import Wrt, Wrts, scalar_to_differentiate
from symgrad.api.handles.expr import Expr
from symgrad.api.handles.formula_arguments import Formula
from symgrad.api.handles.inputs import inputs_of, known_symbols
from symgrad.api.training.batches import check_scalar
from symgrad.api.training.flat_loss import FlatLoss
from symgrad.api.training.scipy_methods import choose_method, method_name
from symgrad.api.training.search import search_minimum
from symgrad.api.training.stationary_points import Established
from symgrad.api.training.variables import all_in_domain, has_end, variables_of
from symgrad.ir.graph import Node
from symgrad.ir.listing import suggest
from symgrad.ir.notation.short_value import short_value
from symgrad.ir.values.inputs import bind
from symgrad.report.report import Reported
from symgrad.support.errors import MissingInputError, UsageError


@dataclass(frozen=True, slots=True)
class Minimum(Reported):
    """The end of a search for a minimum.

    Attributes:
        solution: the value of each variable by name, in its declared shape; ``m["w"]`` is the value of w.
        value: the loss at the solution.
        success: whether the solution may be a minimum: ``established`` has one of the first three values below.
        message: SciPy's reason for stopping, the classification, and any variable that left its domain.
        established: ``minimum`` (the gradient is zero, every curvature positive), ``no lower value`` (no lower value
            was found near it: at a kink, in a flat valley, or with too many variables to compute every curvature),
            ``stationary`` (with constraints: SciPy's own test, which ignores curvature), ``saddle`` or ``maximum`` (the
            loss falls along a direction of negative curvature), ``nothing`` (the loss still falls, the search was
            stopped, or a variable is outside its domain).
        scipy: SciPy's own result; its ``x`` has all variables at the final point, one after the other.
    """

    told_by: ClassVar[str] = "symgrad.api.reports.minima:minimum_report"

    solution: Mapping[str, Any]
    value: float
    success: bool
    message: str
    established: Established
    scipy: Any = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        """Return the value of a variable by name."""
        return self.solution[name]

    def __str__(self) -> str:
        head = f"{_HEADS[self.established]}: {self.message.rstrip('.')}, loss {self.value:.6g}"
        return "\n".join([head, *(f"  {name} = {short_value(v)}" for name, v in self.solution.items())])


_HEADS: Mapping[Established, str] = {
    "minimum": "a minimum",
    "no lower value": "perhaps a minimum",
    "stationary": "perhaps a minimum",
    "saddle": "a saddle point, no minimum",
    "maximum": "a maximum, no minimum",
    "nothing": "no minimum",
}
"""The names of the classifications of the end of a search."""


def minimize(
    loss: Formula,
    over: Wrt | Wrts,
    start: Mapping[str, Any],
    data: Mapping[str, Any] | None = None,
    method: str | None = None,
    **options: Any,
) -> Minimum:
    """Minimise a scalar over some of its inputs with ``scipy.optimize.minimize``.

    SciPy receives one compiled kernel for the value and the gradient. The methods Newton-CG, trust-ncg, trust-krylov
    and trust-constr also receive a kernel for Hessian-vector products; dogleg and trust-exact receive a kernel for the
    Hessian. All kernels come from the same graph. Nelder-Mead, Powell, COBYLA and COBYQA use only values.

    SciPy's search minimises the loss divided by the size of its gradient at the start. So its tolerances are relative,
    and the unit of the loss does not matter. Exact second derivatives classify the point at which the search stops.
    Newton's steps follow until the classification is known, and from a saddle point or a maximum the search continues
    along negative curvature. If you set ``tol`` (or a tolerance in ``options``), it applies to the divided loss, and no
    further steps follow; ``maxiter`` or a callback ends the whole search.

    Declared domains become bounds if the method takes bounds (Nelder-Mead, Powell, COBYLA, COBYQA, L-BFGS-B, TNC,
    SLSQP, trust-constr). If there are bounds, L-BFGS-B is the default. SciPy's bounds are closed, but all domains
    except ``nonnegative`` are open. So a bound lies inside the domain by 2.2e-16 (times the distance from the end of
    the domain to the start, if that is less than 1). Other methods search without bounds; if they end outside a domain,
    ``success`` is False and ``message`` names the variable.

    Args:
        loss: a scalar expression.
        over: the real inputs to minimise over, or their names; one input or several.
        start: the start of the search: a value of the declared shape for each of these inputs, by name.
        data: the values of all other inputs that the loss needs, by name.
        method: a method of SciPy. The default is BFGS; it is L-BFGS-B with bounds or for more than 1,000 variables
            (BFGS stores a square matrix), and SLSQP with constraints.
        options: SciPy's ``tol``, ``options``, ``callback`` and ``constraints``; callbacks and constraints get all
            variables as one vector.

    Returns:
        A Minimum: ``.solution`` by name in the declared shapes, ``.value``, ``.success``, ``.message``,
        ``.established``, ``.scipy``.

    Raises:
        NotScalarError: if the loss is an array.
        MissingInputError: if an input has no value or two values, or a name is not an input of the loss.
        ShapeError: if a value does not have the declared shape.
        UsageError: if there is nothing to minimise over, if start or data is not a dictionary, if a start lies outside
            its domain, or if the method is unknown or needs more memory than the machine has.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> a, b = sg.symbols("a b")
        >>> m = sg.minimize((1 - a)**2 + b*(a**2 - 2)**2, over=a, start={"a": 1.0}, data={"b": 0.0})
        >>> bool(m.success), round(float(m["a"]), 6)
        (True, 1.0)
    """
    expr = scalar_to_differentiate(loss, "minimize", "minimise its sum or mean over all axes")
    variables = variables_of(expr, over)
    for word, table in cast("dict[str, Any]", {"start": start, "data": {} if data is None else data}).items():
        if not isinstance(table, Mapping):
            raise UsageError(
                f"{word} is of type {type(table).__name__}",
                expected="a dictionary of values by name",
                cure=f"pass {word}={{{variables[0].name!r}: ...}}" if word == "start" else None,
            )
    name = method_name(method, options)
    inputs = _inputs(expr, variables)
    values = _values(expr, variables, inputs, start, data or {})
    problem = FlatLoss(expr, variables, inputs, values)
    count = sum(value.size for value in problem.start)
    if not count:
        raise UsageError(
            f"there is nothing to minimise over: {', '.join(str(v.name) for v in variables)} has no entries",
            cure="start from an array that is not empty",
        )
    bounds = any(has_end(v.node.declaration.domain) for v in variables)
    name = choose_method(name, count, bounds=bounds, constraints=bool(options.get("constraints")))
    return _minimum(problem, name, options)


def _inputs(loss: Expr, variables: Sequence[Expr]) -> list[Node]:
    """Return the variables, then the other inputs of the loss."""
    first = [v.node for v in variables]
    needed = inputs_of([loss])
    absent = [v for v in first if v not in needed]
    if absent:
        raise UsageError(
            f"the loss does not depend on {', '.join(v.name for v in absent)}",
            expected="inputs among " + ", ".join(s.name for s in needed),
        )
    return [*first, *(s for s in needed if s not in first)]


def _values(
    loss: Expr,
    variables: Sequence[Expr],
    inputs: Sequence[Node],
    start: Mapping[str, Any],
    data: Mapping[str, Any],
) -> dict[Node, Any]:
    names = [str(v.name) for v in variables]
    others = [s.name for s in inputs[len(names) :]]
    for name in start:
        if name in data:
            raise MissingInputError(
                f"'{name}' is in start and in data", expected="start for what varies, data for what does not"
            )
        if name not in names:
            raise MissingInputError(
                f"start has '{name}', which is not minimised over",
                expected="a start for " + ", ".join(names),
                cure=f"give it in data={{{name!r}: ...}}" if name in others else suggest(name, names),
            )
    known = {s.name for s in known_symbols([loss])}
    for name in data:
        if name in names:
            raise MissingInputError(
                f"data has '{name}', which is minimised over", cure=f"give it in start={{{name!r}: ...}}"
            )
        if name not in others and name not in known:
            raise MissingInputError(
                f"data has '{name}', which is no input of the loss",
                expected="data for " + ", ".join(others) if others else "no data",
                cure=suggest(name, others),
            )
    absent = [n for n in names if n not in start]
    missing = [n for n in others if n not in data]
    if absent or missing:
        raise MissingInputError(
            f"no start for {', '.join(absent)}" if absent else f"no data for {', '.join(missing)}",
            cure=f"pass start={{{absent[0]!r}: ...}}"
            if absent
            else f"pass data={{{missing[0]!r}: ...}}, or start if it is to be found",
        )
    everything = {**start, **{n: v for n, v in data.items() if n in others}}
    values = bind(inputs, (), everything, together=False, starts=[v.node for v in variables])
    for s, value in values.items():
        check_scalar(s, value)
    for v in variables:
        if not all_in_domain(v.node.declaration.domain, values[v.node]):
            raise UsageError(
                f"the start of '{v.name}' lies outside its domain, {v.node.declaration.domain}",
                cure="start inside",
            )
    return values


def _minimum(problem: FlatLoss, method: str, options: Mapping[str, Any]) -> Minimum:
    domains = [v.node.declaration.domain for v in problem.variables]
    found = search_minimum(problem, domains, method, options)
    solution = {
        str(v.name): part[()] for v, part in zip(problem.variables, problem.split(found.place.x), strict=True)
    }
    outside = [
        n for (n, value), d in zip(solution.items(), domains, strict=True) if not all_in_domain(d, value)
    ]
    message, established = found.message, found.place.established
    if outside:
        message += f" Outside its domain: {', '.join(outside)}; a method that takes bounds keeps it inside."
        established = "nothing"
    success = established in ("minimum", "no lower value", "stationary")
    return Minimum(solution, found.place.value, success, message, established, found.scipy)
