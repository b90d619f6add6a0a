"""Override derivatives: the value of f with the gradient of g, or a noisy value with the gradient at fixed noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from symgrad.api.derivatives.targets import Wrt, Wrts, differentiable, differentiables, targets_of
from symgrad.api.handles.expr import Expr, Operand, as_expr, build_expr, handle
from symgrad.api.handles.formula_arguments import Formula
from symgrad.ir.graph import SYMBOL, Node, apply
from symgrad.ir.listing import one_of
from symgrad.ir.traverse import substitute, topological, with_args
from symgrad.ops.array.layout import full, shape_text
from symgrad.ops.control import straight_through
from symgrad.ops.random.laws import mean as mean_of
from symgrad.support.errors import DomainError, NotInProgramError, ShapeError, UsageError


def with_gradient(forward: Formula, backward_of: Formula) -> Expr:
    r"""Return an expression with the value of f and the derivatives of g, at every order.

    The expression is ``stop_gradient(f) - (stop_gradient(g) - g)``. The difference in parentheses is exactly zero
    wherever g is finite, so the value is f bit for bit, including signed zeros and infinities. Where g is infinite or
    NaN, the value is NaN, and there is no derivative.

    Args:
        forward: f, which gives the value.
        backward_of: g, which gives the derivatives and has the shape of f. A number stands for all entries.

    Returns:
        An ordinary Expr of the shape of f, to differentiate, explain, compile and compare.

    Raises:
        ShapeError: if the shapes differ.
        NotDifferentiableError: if one of them is a truth value.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> y = sg.with_gradient(forward=sg.round(x), backward_of=sg.sin(x))
        >>> print(y)
        stop_gradient(round(x)) - (stop_gradient(sin(x)) - sin(x))
        >>> float(y(x=2.7)), str(sg.grad(y, x)), str(sg.grad(sg.grad(y, x), x))
        (3.0, 'cos(x)', '-sin(x)')
    """
    f, g = differentiables([forward, backward_of])
    if f.shape != g.shape and not (f.node.is_number() or g.node.is_number()):
        raise ShapeError(
            f"a value of shape {shape_text(f.shape)} with the gradient of one of shape {shape_text(g.shape)}",
            expected="one shape",
            cure="sg.arrays.broadcast_to(e, shape) repeats entries",
        )
    shape = f.shape or g.shape
    return build_expr(lambda: straight_through(full(f.node, shape), full(g.node, shape)), [f, g])


def ignore_noise(
    y: Formula,
    noise: Wrt | Wrts,
    at: Literal["mean"] | Operand | Mapping[Any, Operand] = "mean",
    local: Literal["clean", "noisy"] = "clean",
) -> Expr:
    r"""Return y with its noisy value, and with the gradient as if the noise were fixed.

    Let ``c`` be y with the noise fixed. ``local="clean"`` gives ``with_gradient(y, c)``: every local derivative is
    taken at the values without noise, and the whole gradient is the gradient of c.

    ``local="noisy"`` changes as little as possible. In each operation v = op(a, e), where e depends only on noise and
    numbers, the local derivative becomes the derivative of op(a, e0), where e0 is e with the noise fixed; all values a
    stay noisy. An operation that does not read noise directly keeps its local derivative, at the noisy value. So a
    layer that adds or multiplies noise passes on the same gradient as without noise; later layers are differentiated at
    the noisy values.

    Args:
        y: an expression.
        noise: the inputs (or intermediate values) that are noise, one or a list, or their names.
        at: the value of the fixed noise: ``"mean"`` for the mean of the declared distribution, a number or Expr for all
            noise inputs, or a mapping from each noise input to its value.
        local: where local derivatives are taken.

    Returns:
        An Expr whose value is y, bit for bit, wherever the expression that gives the gradient is finite (see
        `with_gradient`).

    Raises:
        NotInProgramError: if y does not read the noise.
        UsageError: for noise without a declared distribution and without a value in ``at``, or if y has no value at the
            fixed noise (such as a position between two entries).
        ShapeError: if a value in ``at`` has another shape than the noise.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nh = x**2\ny = sin(h*u)")
        >>> clean = sg.ignore_noise(p["y"], noise=["u"])
        >>> noisy = sg.ignore_noise(p["y"], noise=["u"], local="noisy")
        >>> for y in (clean, noisy):
        ...     print(sg.explain(y, "x").values[0])
        2*x*cos(x**2)
        2*x*cos(u*x**2)
        >>> bool(clean(x=1.5, u=0.97) == p["y"](x=1.5, u=0.97) == noisy(x=1.5, u=0.97))
        True
    """
    expr = differentiable(y)
    if local not in ("clean", "noisy"):
        raise UsageError(f"local={local!r}", expected="'clean' or 'noisy'")
    found = targets_of(expr, noise)
    below = set(topological([expr.node]))
    if not found:
        raise UsageError("no noise is named", expected="an input such as u, or a list of them")
    for e in found:
        if e.node not in below:
            raise NotInProgramError(
                f"the expression does not read '{e}'", expected=one_of(str(s) for s in expr.inputs)
            )
    fixed = fixed_at(found, at)
    table = {e.node: f.node for e, f in zip(found, fixed, strict=True)}

    def build() -> Node:
        try:
            if local == "clean":
                return straight_through(expr.node, substitute([expr.node], table)[0])
            return _noisy(expr.node, table)
        except DomainError as error:
            raise outside_domain(error, list(zip(found, fixed, strict=True))) from None

    return build_expr(build, [expr, *fixed])


def outside_domain(error: DomainError, fixed: Sequence[tuple[Expr, Expr]]) -> UsageError:
    """Return the error for noise that is fixed outside its domain, such as a position at 1/2."""
    where = ", ".join(f"{e} = {f}" for e, f in fixed)
    return UsageError(
        f"the noise cannot be fixed at {where}: {error.what}",
        expected="values that it takes",
        cure=f"say which: at={{{str(fixed[0][0])!r}: 1}}",
    )


def fixed_at(noise: Sequence[Expr], at: Any) -> list[Expr]:
    """Return the value at which each noise input is fixed, with the shape of the input."""
    values: list[Any]
    if isinstance(at, Mapping):
        table = cast("Mapping[Any, Any]", at)
        by: dict[str | Node, Any] = {
            k if isinstance(k, str) else as_expr(k).node: v for k, v in table.items()
        }
        known = {*(e.node for e in noise), *(e.name for e in noise)}
        for k in by:
            if k not in known:
                raise UsageError(
                    f"a value for '{k if isinstance(k, str) else handle(k)}', which is not among the noise",
                    expected=one_of(str(e) for e in noise),
                )
        values = [by.get(e.node, by.get(str(e.name), "mean")) for e in noise]
    else:
        values = [at] * len(noise)
    return [_fixed_value(e, value) for e, value in zip(noise, values, strict=True)]


def _fixed_value(noise: Expr, value: Any) -> Expr:
    if isinstance(value, str):
        if value != "mean":
            raise UsageError(f"at={value!r}", expected="'mean', or a number, or an expression")
        mean = mean_of(noise.node) if noise.node.op is SYMBOL else None
        if mean is None:
            distribution = noise.node.declaration.distribution if noise.node.op is SYMBOL else None
            raise UsageError(
                f"'{noise}' has no declared distribution, and so no mean"
                if distribution is None
                else f"'{noise}' is drawn from {distribution}, which has no mean",
                expected="a random input, such as u ~ Normal(0, 1)",
                cure=f'say what to fix it at: at={{"{noise}": 0}}',
            )
        value = handle(mean)
    fixed = differentiable(value) if noise.dtype != "bool" else as_expr(value)
    if fixed.shape != noise.shape and fixed.shape:
        raise ShapeError(
            f"'{noise}' of shape {shape_text(noise.shape)} fixed at a value of shape {shape_text(fixed.shape)}",
            expected="the shape of the noise, or a number for all its entries",
        )
    return build_expr(lambda: full(fixed.node, noise.shape), [fixed, noise])


def _noisy(y: Node, table: Mapping[Node, Node]) -> Node:
    """Replace each operation v = op(a, e) on noise e by the value of v with the derivatives of op(a, fixed e)."""
    order = topological([y], until=table)
    pure = _of_noise_alone(order, table)
    fixed: dict[Node, Node] = dict(table)  # the fixed values of nodes that depend only on noise
    result: dict[Node, Node] = {}
    for n in order:
        if n in pure:
            result[n] = n
            if n not in fixed:
                fixed[n] = apply(n.op, tuple(fixed.get(a, a) for a in n.args), n.params)
            continue
        result[n] = with_args(n, [result[a] for a in n.args])
        if n.dtype == "real" and any(a in pure for a in n.args):
            clean = apply(n.op, tuple(fixed.get(a, result[a]) for a in n.args), n.params)
            result[n] = straight_through(result[n], clean)
    return result[y]


def _of_noise_alone(order: Sequence[Node], noise: Mapping[Node, Node]) -> set[Node]:
    """Return the nodes that depend on noise and on no other input."""
    pure: set[Node] = set(noise)
    other: set[Node] = set()
    for n in order:
        if n in pure:
            continue
        if n.op is SYMBOL or any(a in other for a in n.args):
            other.add(n)
        elif any(a in pure for a in n.args):
            pure.add(n)
    return pure
