"""`custom_gradient`: a value with a user-defined pullback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from symgrad.api.derivatives.targets import Wrt, differentiable, targets_of
from symgrad.api.handles.expr import Expr, ExprLike, as_expr, build_expr, handle
from symgrad.autodiff.custom_gradients import NotLinearError, with_pullback
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ops.array.layout import full, shape_text
from symgrad.ops.control import stop_gradient
from symgrad.support.errors import NotDifferentiableError, ShapeError, UsageError

Pulled: TypeAlias = "ExprLike | Callable[[Expr], ExprLike] | None"


def custom_gradient(f: ExprLike, pullback: Mapping[Wrt, Pulled], cotangent: Expr | None = None) -> Expr:
    r"""Return an expression with the value of f and with derivatives from a pullback.

    ``pullback[x]`` maps the cotangent ``v`` of f, which has the shape of f, to the cotangent of x, which has the shape
    of x. Variables that are not keys of the pullback receive no gradient. Second derivatives differentiate the
    expressions of the pullback as written, like the custom gradients of TensorFlow, torch and JAX. These expressions
    must be linear in v: sums of products with v, quotients of such sums, choices, contractions, and functions that move
    entries. Since they are linear, forward mode works as well.

    Args:
        f: a scalar or an array.
        pullback: for each input or intermediate value (or its name): a function of v that returns an expression, an
            expression in ``cotangent``, or None for no gradient.
        cotangent: the input that stands for v in the expressions of the pullback; it is not needed if the pullback has
            functions.

    Returns:
        An Expr with the value of f, bit for bit.

    Raises:
        ShapeError: if an expression does not have the shape of its variable, or the cotangent does not have the shape
            of f.
        UsageError: if symgrad does not recognise that an expression is linear in v.
        NotDifferentiableError: for an int or bool, which have no derivative.

    Example:
        >>> import symgrad as sg
        >>> x, y = sg.symbols("x y")
        >>> z = sg.custom_gradient(sg.log(1 + sg.exp(x)), {x: lambda v: v*(1 - 1/(1 + sg.exp(x)))})
        >>> print(sg.grad(z*y, x))
        y*(1 - 1/(1 + exp(x)))
        >>> v = sg.symbols("v")
        >>> clipped = sg.custom_gradient(x, {x: sg.clip(x, -1, 1)*v}, cotangent=v)
        >>> float(clipped(x=3.0)), float(sg.grad(clipped**2, x)(x=3.0)), str(sg.grad(sg.grad(clipped, x), x)(x=0.5))
        (3.0, 6.0, '1.0')
    """
    value = differentiable(f)
    wrts = targets_of(value, list(pullback))
    if len(set(wrts)) != len(wrts):
        raise UsageError("the pullback names one value twice", expected="each once")
    v = _cotangent_symbol(value, cotangent, wrts)
    found: list[tuple[Expr, Expr]] = []
    for x, formula in zip(wrts, pullback.values(), strict=True):
        if formula is None:
            continue
        if x.dtype != "real":
            raise NotDifferentiableError(f"'{x}' is {x.dtype}: nothing is pulled back to it")
        found.append((x, _pull_back(formula, v, x)))
    exprs = [value, *(e for pair in found for e in pair)]
    return build_expr(lambda: _build(value, found, v.node), exprs)


def _cotangent_symbol(f: Expr, cotangent: Any, wrts: list[Expr]) -> Expr:
    """Return the caller's symbol for the cotangent after checks, or a new one."""
    if cotangent is None:
        names = {s.name for s in symbols_of([f.node, *(x.node for x in wrts)])}
        return handle(symbol(Declaration(free_name("cotangent", names), shape=f.shape)))
    v = as_expr(cotangent)
    if v.node.op is not SYMBOL or v.dtype != "real":
        raise UsageError(f"'{v}' as the cotangent", expected="a real input, such as sg.symbols('v')")
    if v.shape != f.shape:
        raise ShapeError(
            f"a cotangent of shape {shape_text(v.shape)} for a value of shape {shape_text(f.shape)}",
            expected="the shape of the value",
        )
    if v.node in topological([f.node]):
        raise UsageError(f"the value reads '{v}', which is to be its cotangent", cure="take another name")
    return v


def _pull_back(formula: Any, v: Expr, x: Expr) -> Expr:
    """Return the cotangent of x."""
    if callable(formula) and not isinstance(formula, Expr):
        formula = cast("Callable[[Expr], Any]", formula)(v)
    pulled = differentiable(formula, [v, x])
    if pulled.node.is_number(0):
        return handle(full(pulled.node, x.shape))
    if pulled.shape != x.shape:
        raise ShapeError(
            f"the pullback for '{x}' has shape {shape_text(pulled.shape)}",
            expected=f"that of '{x}', {shape_text(x.shape)}",
            cure="sum over the axes that it was repeated along" if len(pulled.shape) > len(x.shape) else None,
        )
    return pulled


def _build(f: Expr, found: list[tuple[Expr, Expr]], v: Node) -> Node:
    node = stop_gradient(f.node)
    for x, pulled in found:
        try:
            node = with_pullback(node, x.node, pulled.node, v)
        except NotLinearError as error:
            part = handle(error.part)
            reads = v in topological([error.part])
            raise UsageError(
                f"the pullback for '{x}' is not known to be linear in the cotangent: "
                + (f"it has '{part}'" if reads else f"'{part}' does not read it"),
                expected="a sum of products of the cotangent with other factors",
                cure="sg.with_gradient(forward=f, backward_of=g) has all derivatives of an expression g",
            ) from None
    return node
