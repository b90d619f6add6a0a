"""Loops over expressions: scan, fori_loop and while_loop, with the arguments of `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from symgrad.api.functions.sizes import size_of
from symgrad.api.functions.structures import leaves_of, rebuilt, structure_text
from symgrad.api.handles.construction import make
from symgrad.api.handles.convert import node_of
from symgrad.api.handles.expr import Expr
from symgrad.autodiff.batch import batch
from symgrad.autodiff.recurrences import recur
from symgrad.frontend.indices import IndexRange, with_rows
from symgrad.ir.body import bound_symbol
from symgrad.ir.graph import OPS, Node, as_node, size_node
from symgrad.ir.sizes import Size, size_max, size_product, size_sum
from symgrad.ir.traverse import substitute
from symgrad.ops.array.indexing import iota
from symgrad.ops.array.layout import slice_rows
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.numpy.subscripts import index
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.logic import gt
from symgrad.support.errors import ShapeError, UsageError

_TRACES = 1_000_000
"""Numbers above the heights of all bodies, for the symbols of loops that are being built."""

_count = count()


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | str | None = None,
    *,
    reverse: bool = False,
) -> tuple[Any, Any]:
    r"""Carry values through steps, one for each row of arrays: `jax.lax.scan`.

    The derivatives of the result, of any order, are loops as well. In programs such a loop is written
    ``h[t] = ... for t in 1..T``.

    Args:
        f: the step, ``f(carry, x) -> (carry, y)``. It is called once, with expressions.
        init: the first carry: an expression (also a condition), a number, or a tuple, list or dict of these.
        xs: arrays whose first axis is that of the steps, in any such structure; None for none.
        length: the number of steps, a number or the name of a size; it is needed without ``xs``.
        reverse: whether the steps run from the last row to the first.

    Returns:
        The last carry, and what the steps return as ``y``, with the steps along a new first axis.

    Raises:
        ShapeError: if a carry changes its shape, or arrays have first axes of different lengths.
        UsageError: if the structure of the carry changes, or nothing says how many steps there are.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : real[T]; a : real")
        >>> last, all_values = sg.scan(lambda h, x: (p["a"] * h + x, h), 1, p["x"])
        >>> float(last(x=[1.0, 2.0], a=3.0)), all_values(x=[1.0, 2.0], a=3.0)
        (14.0, array([1., 4.]))
    """
    rows = [_expr(x) for x in leaves_of(xs)]
    steps = _length(rows, length)
    starts = [_expr(c) for c in leaves_of(init)]
    given = [*starts, *rows]
    trace = _TRACES + next(_count)
    carries = [bound_symbol("carry", k, trace, c.shape) for k, c in enumerate(starts)]
    read = [bound_symbol("row", k, trace, x.shape[1:], x.node.dtype) for k, x in enumerate(rows)]
    found = f(
        rebuilt(init, (Expr(_as_kind(c, s)) for c, s in zip(carries, starts, strict=True))),
        rebuilt(xs, (Expr(_as_kind(r, x)) for r, x in zip(read, rows, strict=True))),
    )
    if not isinstance(found, tuple) or len(found) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]  (users may return anything)
        raise UsageError(
            "the step of a scan returns a carry and an output",
            expected="f(carry, x) -> (carry, y)",
            cure="return a tuple of two; None as y for no output",
        )
    carry, out = found
    if structure_text(carry) != structure_text(init):
        raise UsageError(
            "the step returns a carry of another structure",
            expected=f"the structure of the first carry: {structure_text(init)}",
            cure="return as many values in the same tuples, lists or dicts",
        )
    results, outputs = [_expr(r) for r in leaves_of(carry)], [_expr(y) for y in leaves_of(out)]
    for k, (result, start) in enumerate(zip(results, carries, strict=True)):
        if result.shape != start.shape:
            raise ShapeError(
                f"value {k} of the carry has the shape {start.shape}, and the shape {result.shape} after a step",
                expected="the same shape in all steps",
                cure="give it this shape at the start, or reshape it in the step",
            )
    of = [*given, *results, *outputs]
    table = dict(zip(read, (x.node for x in rows), strict=True))
    formulas = [e.node for e in (*results, *outputs)]
    for row, array in zip(read, rows, strict=True):
        first = _first_position(array.node)
        if first is not None:
            last = size_sum([first, steps, -1])
            others = [s for s in (*carries, *table) if s is not row]
            positions = IndexRange("the step", first, last, steps)
            formulas = with_rows(formulas, row, positions, others, table, trace)
    updates, seen = formulas[: len(results)], formulas[len(results) :]
    # A loop is built once for all its results; without a carry the steps are independent of each other.
    values: list[Node] = []
    if carries:
        values = recur([s.node for s in starts], carries, updates, table, steps, reverse=reverse)
    end: Size = 0 if reverse else steps
    ends = [
        make(Expr, lambda v=v, s=s: _as_kind(_entry(v, end), s), of)
        for v, s in zip(values, starts, strict=True)
    ]
    before, after = ((1, None), (None, steps)) if reverse else ((None, steps), (1, None))
    stacks = {c: slice_rows(v, *before) for c, v in zip(carries, values, strict=True)}
    stacks.update(table)
    # What an output reads of the new carry is not computed again.
    new = [bound_symbol("value", k, trace, c.shape) for k, c in enumerate(carries)]
    stacks.update((n, slice_rows(v, *after)) for n, v in zip(new, values, strict=True))
    computed = {
        r: n if r.dtype != "bool" else gt(n, as_node(0)) for r, n in zip(updates, new, strict=True) if r.args
    }
    stacked = batch(substitute(seen, computed), stacks, (steps,))
    ys = [make(Expr, lambda s=s: s, of) for s in stacked]
    return rebuilt(init, ends), rebuilt(out, ys)


def fori_loop(lower: int | str, upper: int | str, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    r"""Repeat a step for whole numbers from ``lower`` to before ``upper``: `jax.lax.fori_loop`.

    Args:
        lower: the first number, a number or the name of a size.
        upper: the number after the last one.
        body_fun: the step, ``body_fun(i, value) -> value``. It is called once, with expressions.
        init_val: the first value: an expression, a number, or a tuple, list or dict of these.

    Returns:
        The value after the last step.

    Raises:
        ShapeError: if a value changes its shape.
        UsageError: if its structure changes, or ``upper`` is smaller than ``lower``.

    Example:
        >>> import symgrad as sg
        >>> x = sg.symbols("x")
        >>> y = sg.fori_loop(0, 10, lambda i, z: z - (z**2 - x) / (2 * z), x)
        >>> round(float(y(x=2.0)), 12), round(float(sg.grad(y, x)(x=2.0)), 12)
        (1.414213562373, 0.353553390593)
    """
    first, end = size_of(lower), size_of(upper)
    length = size_sum([end, size_product([-1, first])])
    if isinstance(length, int) and length < 0:
        raise UsageError(
            f"a loop from {lower} to before {upper}", expected="lower <= upper", cure="exchange the two ends"
        )
    length = size_max(length, 0)
    numbers = add(iota(params=(length,)), size_node(first)) if first != 0 else iota(params=(length,))
    last, _ = scan(lambda value, i: (body_fun(i, value), None), init_val, Expr(numbers), length)  # type: ignore[arg-type]
    return last


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, *, bound: int | str
) -> Any:
    r"""Repeat a step while a condition holds, at most ``bound`` times: `jax.lax.while_loop`, with derivatives.

    After the condition has failed the value stays. The derivative is that of the steps that were made; at values where
    their number changes it jumps.

    Args:
        cond_fun: the condition, a function of the value.
        body_fun: the step, ``body_fun(value) -> value``. Both are called once, with expressions.
        init_val: the first value: an expression, a number, or a tuple, list or dict of these.
        bound: the largest number of steps, a number or the name of a size.

    Returns:
        The value after the last step.

    Raises:
        ShapeError: if a value changes its shape.
        UsageError: if its structure changes.

    Example:
        >>> import symgrad as sg
        >>> a = sg.symbols("a")
        >>> root = sg.while_loop(lambda z: abs(z * z - a) > 1e-12, lambda z: (z + a / z) / 2, a, bound=50)
        >>> round(float(root(a=2.0)), 12)
        1.414213562373
    """

    def step(value: Any, _: Any) -> tuple[Any, None]:
        goes_on = _expr(cond_fun(value))
        new = [_expr(v) for v in leaves_of(body_fun(value))]
        old = [_expr(v) for v in leaves_of(value)]
        kept = [
            make(Expr, lambda n=n, o=o: OPS["where"](goes_on.node, n.node, o.node), [goes_on, n, o])
            for n, o in zip(new, old, strict=True)
        ]
        return rebuilt(value, kept), None

    last, _ = scan(step, init_val, None, bound)
    return last


def _entry(values: Node, position: Size) -> Node:
    return index(values, position if isinstance(position, int) else size_node(position))


def _as_kind(value: Node, like: Expr) -> Node:
    """Return a value that a recurrence has as 1 or 0 as the condition that it is."""
    return gt(value, as_node(0)) if like.node.dtype == "bool" else value


def _first_position(array: Node) -> Size | None:
    """Return the first of consecutive whole numbers; None for other arrays."""
    first = as_node(0)
    if array.op is add and iota in (array.args[0].op, array.args[1].op):
        array, first = array.args if array.args[0].op is iota else array.args[::-1]
    return as_size(first) if array.op is iota else None


def _expr(value: Any) -> Expr:
    return value if isinstance(value, Expr) else make(Expr, lambda: node_of(value), [value])


def _length(rows: Sequence[Expr], length: int | str | None) -> Size:
    if not rows and length is None:
        raise UsageError(
            "nothing says how many steps there are", expected="xs or length", cure="pass length=..."
        )
    found: dict[Size, None] = {} if length is None else {size_of(length): None}
    for x in rows:
        if not x.shape:
            raise ShapeError(
                "a number among xs has no rows",
                expected="arrays with a first axis",
                cure="read it in the step itself",
            )
        found[x.shape[0]] = None
    if len(found) > 1:
        raise ShapeError(
            f"the steps have the lengths {' and '.join(map(str, found))}",
            expected="first axes of one length",
            cure="check the arrays in xs, and length",
        )
    return next(iter(found))
