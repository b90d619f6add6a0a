"""Functions that differentiate expressions: `grad`, `gradients`, `vjp`, `jvp`, `derivatives`, ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, overload

from symgrad.api.derivatives.derivative_table import DerivativeList
from symgrad.api.derivatives.distribution_check import differentiation_targets
from symgrad.api.derivatives.entries import by_entries
from symgrad.api.derivatives.of_functions import NumericFunction, or_of_functions
from symgrad.api.derivatives.partials import Derivatives
from symgrad.api.derivatives.targets import (
    Wrt,
    Wrts,
    as_list,
    differentiable,
    differentiables,
    directional_slopes,
    one_per_expression,
    origins_of,
    prints_in_names,
    scalar_to_differentiate,
    slope_of,
    targets_of,
    weighted_slope,
)
from symgrad.api.handles.construction import parts_of
from symgrad.api.handles.convert import seed_of
from symgrad.api.handles.expr import Expr, Operand, apply_op
from symgrad.api.handles.formula_arguments import Formula, Formulas
from symgrad.api.handles.inputs import listings_of
from symgrad.autodiff.jvp import all_partials, push_forward
from symgrad.autodiff.vjp import pull_back
from symgrad.autodiff.zeros import unmoved
from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ir.listing import Derivative
from symgrad.ir.traverse import topological
from symgrad.ops.array.layout import full, shape_text
from symgrad.support.errors import NotScalarError, ShapeError, UsageError


@overload
def grad(y: Formula, wrt: Wrt, *, expand: bool = False) -> Expr: ...
@overload
def grad(y: Formula, wrt: Wrts, *, expand: bool = False) -> DerivativeList: ...
@overload
def grad(y: NumericFunction, argnum: int | tuple[int, ...] = 0) -> Callable[..., Any]: ...
@partial(or_of_functions, with_value=False)
@by_entries
def grad(y: Formula, wrt: Wrt | Wrts, *, expand: bool = False) -> Any:
    r"""Return the gradient of a scalar expression, or of a function of NumPy.

    Args:
        y: a scalar; or a function of arrays: ``grad(f, argnum=0)`` is a function, as for `value_and_grad`.
        wrt: an input or intermediate expression (or its name in the program of ``y``), or a list of them. Each result
            is the total derivative. ``x[3]`` or ``x[1:4]`` of an input x stands for these entries wherever x is read,
            unless this subscript has a name in the program.
        expand: whether the result, and everything derived from it, prints in terms of the inputs only. Otherwise it
            prints in the names of the program if that is shorter. The value is the same in both cases.

    Returns:
        An Expr of the shape of ``wrt``, or a list of them for a list. `Expr.nothing` distinguishes zero, disconnected,
        stopped and no tangent.

    Raises:
        NotScalarError: if ``y`` is not a scalar.
        NotInProgramError: if ``wrt`` does not occur in the program of ``y``.

    Example:
        >>> import symgrad as sg
        >>> x, u = sg.symbols("x u")
        >>> g = sg.grad(sg.sin(x)*u, x)
        >>> print(g)
        u*cos(x)
        >>> sg.grad(sg.stop_gradient(x)*u, x).nothing
        'stopped'
        >>> w = sg.tensor("w", (5,))
        >>> print(sg.grad(sg.sum(w**2), w[3]))
        2*w[3]
        >>> p = sg.parse("x : real\ns = sin(x)\ny = s**2")
        >>> print(sg.grad(p["y"], "x"), sg.grad(p["y"], "x", expand=True), sep="; ")
        2*s*cos(x); 2*cos(x)*sin(x)
    """
    cure = (
        "jacobian(y, x) has every entry; gradients(ys, xs) sums over them; vjp(y, xs, cotangent) weighs them"
    )
    expr = scalar_to_differentiate(y, "grad", cure)
    if (
        expr.node.op is SYMBOL
        and isinstance(wrt, Expr)
        and wrt.node.args
        and expr.node in topological([wrt.node])
    ):
        raise UsageError(
            f"'{expr}' does not depend on '{wrt}', which is made of it",
            expected="grad(y, x): first the function, then the variable",
            cure=f"grad(y, '{expr}')",
        )
    return _gradients([expr], wrt, [as_node(1)], (), named=not expand)


@by_entries
def gradients(
    ys: Formula | Formulas,
    xs: Wrt | Wrts,
    grad_ys: Any = None,
    stop_gradients: Wrt | Wrts | None = None,
) -> DerivativeList:
    """Return the sum over all ys of their gradients, with TensorFlow's meaning of ``tf.gradients``.

    Every entry of every y counts: the gradient of an array is the gradient of the sum of its entries, and has the shape
    of x. So the product of two such results is not the chain rule, since the axes of the intermediate value are summed
    away. Use `vjp` or `jacobian` for the chain rule.

    Args:
        ys: one or more expressions; all their entries are summed.
        xs: inputs or intermediate expressions.
        grad_ys: a cotangent for each of ys (an Expr, array or number; None stands for ones).
        stop_gradients: expressions to hold constant in every derivative. They receive a gradient, but pass none on to
            their inputs.

    Returns:
        One Expr for each of xs; zero where TensorFlow returns None, with the reason in `Expr.nothing`.

    Raises:
        NotInProgramError: if one of xs does not occur in the program of ys.
        UsageError: if grad_ys and ys differ in length.

    Example:
        >>> import symgrad as sg
        >>> a = sg.symbols("a"); b = 2*a
        >>> [str(g) for g in sg.gradients(a + b, [a, b])]
        ['3', '1']
        >>> [str(g) for g in sg.gradients(a + b, [a, b], stop_gradients=[a, b])]
        ['1', '1']
    """
    outputs = differentiables(ys)
    if grad_ys is None:
        seeds = [as_node(1)] * len(outputs)
    else:
        cotangents = one_per_expression(
            grad_ys, not isinstance(ys, list | tuple), len(outputs), "grad_ys", "ys"
        )
        seeds = [as_node(1) if c is None else seed_of(c) for c in cotangents]
    stopped = [e.node for e in targets_of(outputs, [] if stop_gradients is None else stop_gradients)]
    return _gradients(outputs, list(as_list(xs)), seeds, stopped)


@overload
def value_and_grad(y: Formula, wrt: Wrt) -> tuple[Expr, Expr]: ...
@overload
def value_and_grad(y: Formula, wrt: Wrts) -> tuple[Expr, DerivativeList]: ...
@overload
def value_and_grad(
    y: NumericFunction, argnum: int | tuple[int, ...] = 0
) -> Callable[..., tuple[Any, Any]]: ...
@partial(or_of_functions, with_value=True)
def value_and_grad(y: Formula, wrt: Wrt | Wrts) -> Any:
    """Return an expression and its gradient, as one shared graph; or a function of NumPy with its gradient.

    ``value_and_grad(f, argnum=0)`` is a function of the arguments of f, an ordinary function that is written with NumPy
    and `scipy.special`. A call with arguments of new shapes runs f on expressions (see `from_numpy`) and compiles the
    value and the gradient; further calls compute. Arrays are inputs, and so are the numbers to differentiate by; other
    values of Python are constants. If a global or a variable of an enclosing function that f reads has changed, f is
    run again; attributes of objects are read once.

    Args:
        y: a scalar expression; or a function that returns a number.
        wrt: as for `grad`; for a function ``argnum``, the position of the argument to differentiate by, or a tuple of
            positions. Such an argument is a number, an array, or a list, tuple or dict of these.

    Returns:
        The value and the gradient; for a function, a function that returns both. The gradient has the structure of the
        argument, with a tuple of gradients for a tuple of positions.

    Raises:
        NotScalarError: if y is an array, or a call of the function returns one.
        UnsupportedError: when it is called, for what expressions do not have, with the line in the function.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> value, slope = sg.value_and_grad(sg.exp(2*x), x)
        >>> print(value, slope)
        exp(2*x) 2*exp(2*x)
        >>> import numpy as np
        >>> def loss(params, X):
        ...     return np.mean((X @ params["w"] + params["b"])**2)
        >>> value, gradient = sg.value_and_grad(loss)({"w": np.ones(2), "b": 1.0}, np.eye(2))
        >>> print(value, gradient["w"], gradient["b"])
        4.0 [2. 2.] 4.0
    """
    value = differentiable(y)
    return value, grad(value, wrt)


@overload
def vjp(y: Formula | Formulas, xs: Wrt, cotangent: Any = None) -> Expr: ...
@overload
def vjp(y: Formula | Formulas, xs: Wrts, cotangent: Any = None) -> DerivativeList: ...
@by_entries
def vjp(y: Formula | Formulas, xs: Wrt | Wrts, cotangent: Any = None) -> Any:
    """Pull back a cotangent: return the vector-Jacobian product.

    Args:
        y: an expression, or a list of them.
        xs: inputs or intermediate expressions; one or a list.
        cotangent: an Expr or array of the shape of y, or a number for all its entries; for a list of y, a list of such
            cotangents.

    Returns:
        A list with an Expr of the shape of x for each x of xs; a single Expr if xs is not a list.

    Raises:
        ShapeError: if the cotangent has another shape than y.
        UsageError: if there is no cotangent.

    Example:
        >>> import symgrad as sg
        >>> x, v = sg.symbols("x v")
        >>> print(sg.vjp(x**3, x, v))
        3*v*x**2
        >>> import numpy as np
        >>> w = sg.tensor("w", (2,))
        >>> sg.vjp(w**2, w, np.array([1.0, 0.5]))(w=[3.0, 4.0])
        array([6., 4.])
    """
    if cotangent is None:
        raise UsageError(
            "vjp takes one cotangent", expected="cotangent=", cure="gradients(ys, xs) takes ones"
        )
    result = gradients(y, xs, grad_ys=cotangent)
    return result if isinstance(xs, list | tuple) else result[0]


@overload
def jvp(y: Formula, xs: Wrt | Wrts, tangents: Any) -> Expr: ...
@overload
def jvp(y: Formulas, xs: Wrt | Wrts, tangents: Any) -> DerivativeList: ...
@by_entries
def jvp(y: Formula | Formulas, xs: Wrt | Wrts, tangents: Any) -> Any:
    """Push tangents forward: return the Jacobian-vector product.

    Args:
        y: an expression, or a list of them.
        xs: the inputs or intermediate expressions that vary; they count as independent symbols.
        tangents: for each of xs an Expr or array of its shape, or a number for all entries. The tangent of an int is
            ignored, since an int has no tangent.

    Returns:
        The tangent of y, of the shape of y; a list if y is a list.

    Raises:
        ShapeError: if a tangent has another shape than its variable.

    Example:
        >>> import symgrad as sg
        >>> x, y, dx = sg.symbols("x y dx")
        >>> print(sg.jvp(x*y, [x, y], [dx, 0]))
        dx*y
    """
    outputs = differentiables(y)
    moving = [e.node for e in differentiation_targets(outputs, xs)]
    values = one_per_expression(tangents, not isinstance(xs, list | tuple), len(moving), "tangents", "xs")
    directions = {t: seed_of(v) for t, v in zip(moving, values, strict=True)}
    for target, direction in directions.items():
        if target.shape != direction.shape and not direction.is_number():
            raise ShapeError(
                f"a tangent of shape {shape_text(direction.shape)} for an input of shape {shape_text(target.shape)}",
                expected="the shape of the input, or a number for all its entries",
            )
    nodes = push_forward(
        [e.node for e in outputs], {t: v for t, v in directions.items() if t.dtype == "real"}
    )
    listings, origins = listings_of(outputs), origins_of(outputs)
    still = [e.node for e, tangent in zip(outputs, nodes, strict=True) if tangent.is_number(0)]
    named, slopes = prints_in_names(outputs), directional_slopes(outputs, directions)
    reasons = dict(
        zip(still, unmoved(still, [t for t, v in directions.items() if not v.is_number(0)]), strict=True)
    )
    sources = (*moving, *directions.values())
    pushed = [
        Expr(
            full(tangent, e.shape),
            listings=listings,
            nothing=str(reasons[e.node]) if tangent.is_number(0) else None,
            origins=origins,
            sources=sources,
            slope=None if tangent.is_number(0) else slope,
            in_names=named and not tangent.is_number(0),
            parts=parts,
        )
        for e, tangent, (slope, parts) in zip(outputs, nodes, slopes, strict=True)
    ]
    return DerivativeList(pushed) if isinstance(y, list | tuple) else pushed[0]


@by_entries
def derivatives(y: Formula, wrt: Wrt | Wrts, order: int = 1, *, expand: bool = False) -> Derivatives:
    r"""Return all distinct partial derivatives up to an order, in one shared graph.

    Args:
        y: a scalar expression.
        wrt: inputs or intermediate expressions; they count as independent symbols, so mixed partials commute.
        order: the highest order, at least 0; at most 1 if a variable is an array.
        expand: as for `grad`.

    Returns:
        A mapping: ``()`` is mapped to y, ``(a,)`` to dy/da with the shape of a, ``(a, b)`` to the mixed second partial,
        and so on.

    Raises:
        NotScalarError: if ``y`` is an array, or for higher derivatives with respect to arrays.
        NotInProgramError: if one of ``wrt`` does not occur in the program of ``y``.

    Example:
        >>> import symgrad as sg
        >>> a, b = sg.symbols("a b")
        >>> ds = sg.derivatives(a**2*b, [a, b], order=2)
        >>> len(ds), str(ds[a, b]), str(ds[b, a])
        (6, '2*a', '2*a')
        >>> p = sg.parse("X : real[n, d]; y : real[n]; w : real[d]; c : real\nr = X@w + c - y\nloss = sum(r**2)")
        >>> print(sg.derivatives(p["loss"], ["w", "c"]))
        dloss/dw = 2*X.T@r
        dloss/dc = 2*sum(r)
    """
    cure = "jacobian(y, x) has every entry; sg.sum(y) and sg.mean(y) are scalars"
    expr = scalar_to_differentiate(y, "derivatives", cure)
    if isinstance(order, bool) or not isinstance(order, int) or order < 0:  # pyright: ignore[reportUnnecessaryIsInstance]  (users may pass anything)
        raise UsageError(
            f"order {order!r}",
            expected="a whole number, at least 0",
            cure="derivatives(y, ['x', 'z'], order=2)",
        )
    exprs = differentiation_targets(expr, wrt)
    by = [e.node for e in exprs]
    for e in exprs:
        if e.shape and order > 1:
            raise NotScalarError(
                f"derivatives of order {order} with respect to '{e}' of shape {shape_text(e.shape)}",
                expected="order=1, or scalars, each with one partial",
                cure="hessian(y, x) has the second derivatives by every two entries; jacobian of one has the third",
            )
    if len(set(by)) != len(by):
        raise UsageError(
            "wrt names one input twice", cure="name each once: the orders are counted by symgrad"
        )
    # Names of programs denote total derivatives; these are partial ones if one variable depends on another.
    independent = not any(n in by for e in by for n in topological(e.args))
    of = slope_of(expr) if independent and not expand else None
    partials = {
        index: expr
        if not index
        else Expr(
            node,
            listings=expr.listings,
            origins=(expr.node,),
            sources=tuple(by),
            slope=Derivative(of.y, (*of.by, *(by[i] for i in index))) if of else None,
            parts=parts_of([expr]),
        )
        for index, node in all_partials(expr.node, by, order).items()
    }
    return Derivatives(exprs, partials)


def stop_gradient(x: Operand) -> Expr:
    """Return x, which counts as a constant for differentiation, at every order.

    Args:
        x: an expression or number.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> print(sg.grad(sg.stop_gradient(x)*x, x))
        stop_gradient(x)
    """
    return apply_op("stop_gradient", x)


def _cotangent_like(output: Expr) -> str | None:
    if all(isinstance(size, int | str) for size in output.shape):
        return None
    return "compute it as the value is: sg.tensor('s', ('n',))[1:] has the shape of x[1:] for n entries in x"


def _gradients(
    outputs: Sequence[Expr],
    wrt: Any,
    seeds: Sequence[Node],
    stopped: Sequence[Node],
    *,
    named: bool = True,
) -> Any:
    variables = differentiation_targets(outputs, wrt, stopped)
    by = [e.node for e in variables]
    for output, seed in zip(outputs, seeds, strict=True):
        if seed.shape != output.shape and not seed.is_number():
            raise ShapeError(
                f"a cotangent of shape {shape_text(seed.shape)} for a value of shape {shape_text(output.shape)}",
                expected="the shape of the value, or a number for all its entries",
                cure=_cotangent_like(output),
            )
    trace = pull_back([e.node for e in outputs], seeds, by, stopped)
    listings, origins, sources = listings_of(outputs), origins_of(outputs), (*by, *seeds)
    # Only the derivative of one scalar, such as a sum of scalars times cotangents, has a slope for printing in names.
    single = len(outputs) == 1 and seeds[0].is_number(1)
    y = weighted_slope(outputs, seeds, by) if named and not stopped else None
    names = named and prints_in_names(outputs)
    parts = parts_of(outputs)
    found = [
        Expr(
            g,
            listings=listings,
            traces=(trace,),
            nothing=None if n is None else str(n),
            origins=origins,
            sources=sources,
            slope=None if y is None or n is not None else Derivative(y.y, (*y.by, w)),
            in_names=names and n is None,
            parts=parts,
        )
        for g, n, w in zip(trace.gradients, trace.nothing, by, strict=True)
    ]
    if not isinstance(wrt, list | tuple):
        return found[0]
    titled = outputs[0] if single and not outputs[0].shape else None
    return DerivativeList(found, [(titled, [w]) for w in variables])
