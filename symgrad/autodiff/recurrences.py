"""Recurrences: h[t] = F(h[t-1], x[t-1], w) for t in 1..T, and their derivatives, which are recurrences as well.

A node of a recurrence is the array of all values h[0], ..., h[T] along a first axis. Several carries are parts of one
row, flattened and side by side; a single carry keeps its shape. A reversed recurrence runs from T to 1 and computes
h[t-1] from h[t] and x[t-1].

For a cotangent g[t] of each h[t], reverse mode is the recurrence

    a[T] = g[T],    a[t-1] = g[t-1] + vjp(F, h[t-1])(a[t])    for t in T..1

and the cotangents of what the steps read follow from all a[t] at once: w_bar = sum(vjp(F, w)(a[t]), t=1..T). Forward
mode is the recurrence h_dot[t] = jvp(F)(h_dot[t-1], x_dot[t-1], w_dot). Both are differentiated by the same rules.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from symgrad.autodiff.batch import batch
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.rows.formulas import Rows, is_position, row_at, sum_rows
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.body import (
    Body,
    bound_symbol,
    carry_values,
    closed,
    divide,
    pack_values,
    run_steps,
    unpack_values,
)
from symgrad.ir.graph import NUMBER, Node, Op, as_node, indicator, symbol
from symgrad.ir.notation.recurrence_definitions import write_inside
from symgrad.ir.op import Loop
from symgrad.ir.sizes import Shape, Size, size_product, size_sum
from symgrad.ir.traverse import fold, signed_terms, substitute, topological, with_args
from symgrad.ir.values.evaluate import evaluate, evaluate_mp
from symgrad.ops import LOADERS, op_named
from symgrad.ops.array.contraction import transpose
from symgrad.ops.array.indexing import one_hot, scatter_add
from symgrad.ops.array.layout import (
    WHOLE,
    broadcast_to,
    full,
    is_zero,
    shaped,
    slice_rows,
    unslice,
)
from symgrad.ops.numpy.lengths import as_size
from symgrad.ops.record import facts, joint
from symgrad.ops.scalar.arith import add, div, mul, neg

_ZERO = as_node(0)


def recur(
    starts: Sequence[Node],
    carries: Sequence[Node],
    results: Sequence[Node],
    rows: Mapping[Node, Node],
    length: Size,
    *,
    reverse: bool = False,
) -> list[Node]:
    """Return all values of the carries of a recurrence: for each an array with a first axis of ``length + 1``.

    Carries whose value no step changes are not among those of the recurrence.

    Args:
        starts: the first values of the carries; of a reversed recurrence the last ones.
        carries: the symbols that stand for the values of the step before in the formulas of one step.
        results: the formulas of one step: the new values of the carries, which broadcast to the shapes of these.
        rows: the symbols that stand for a row, each with its array, whose first axis has the ``length``.
        length: the number of steps.
        reverse: whether the steps run from the last row to the first.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> h, x = symbol(Declaration("h")), symbol(Declaration("x", shape=(4,)))
        >>> (values,) = recur([as_node(1)], [h], [h / 2], {}, 4)
        >>> values.shape, evaluate([values], {})[0].tolist()
        ((5,), [1.0, 0.5, 0.25, 0.125, 0.0625])
    """
    real = [r if r.dtype == "real" else div(_number(r), as_node(1)) for r in results]
    new = [full(r, c.shape) for r, c in zip(real, carries, strict=True)]
    first = {c: full(_number(s), c.shape) for s, c in zip(starts, carries, strict=True)}
    same = {
        c: first[c]
        for r, n, c in zip(results, new, carries, strict=True)
        if full(r, c.shape) is first[c] or _is_either_way(n, c)
    }
    values = {c: full(s, (size_sum([length, 1]), *c.shape)) for c, s in same.items()}
    moving = [c for c in carries if c not in same]
    if moving:
        changing = [r for c, r in zip(carries, new, strict=True) if c not in same]
        body, used, operands = closed(substitute(changing, same), moving, list(rows))
        read = [_number(x) for k, x in enumerate(rows.values()) if k in used]
        given = [*(first[c] for c in moving), *read, *operands]
        node = recurrence(*given, params=(length, int(reverse), body))
        values |= dict(zip(moving, carry_values(node), strict=True))
    return [values[c] for c in carries]


def _is_either_way(result: Node, carry: Node) -> bool:
    """Tell whether a result is a carry, whatever the conditions in it are."""
    while result.op.name == "where" and result.args[1] is result.args[2]:
        result = result.args[1]
    return result is carry


def _number(x: Node) -> Node:
    """Return a value; a condition is 1 or 0."""
    if x.dtype != "bool":
        return x
    return as_node(int(bool(x.value))) if x.op is NUMBER else indicator(x)


class StepArrays:
    """A recurrence with the arrays that its steps read and write.

    Args:
        node: the node.
        reverse: whether the arrays belong to steps back; by default as the node's.
    """

    def __init__(self, node: Node, *, reverse: bool | None = None) -> None:
        self.node = node
        self.length, back, self.body = node.params
        self.reverse = back if reverse is None else int(reverse)
        self.starts, self.rows, self.operands = divide(node)
        self.shape = node.shape
        self.values = carry_values(node)

    def before(self, values: Node) -> Node:
        """Return the values that the steps read, one row for each step."""
        return slice_rows(values, 1, None) if self.reverse else slice_rows(values, None, self.length)

    def after(self, values: Node) -> Node:
        """Return the values that the steps compute, one row for each step."""
        return slice_rows(values, None, self.length) if self.reverse else slice_rows(values, 1, None)

    def end(self, values: Node) -> Node:
        """Return the values after the last step."""
        return row_at(values, 0 if self.reverse else self.length)

    def first(self, values: Node) -> Node:
        """Return the values before the first step."""
        return row_at(values, self.length if self.reverse else 0)

    def divided(self, values: Node) -> tuple[Node, Node | None, Node | None]:
        """Return values in three parts, whose sum they are; None for zeros.

        These are the values after the last step; others with one row for each step, that it reads; and others with one
        row for each step, that it computes.
        """
        ends, read, computed = list[Node](), list[Node](), list[Node]()
        for sign, term in signed_terms(values):
            for parts, part in zip((ends, read, computed), self._divided(term), strict=True):
                if part is not None:
                    parts.append(part if sign > 0 else neg(part))
        end = full(reduce(add, ends) if ends else _ZERO, values.shape[1:])
        return end, reduce(add, read) if read else None, reduce(add, computed) if computed else None

    def _divided(self, term: Node) -> tuple[Node | None, Node | None, Node | None]:
        last = 0 if self.reverse else self.length
        if term.op is mul and any(not a.shape for a in term.args):
            factor, inner = term.args if not term.args[0].shape else term.args[::-1]
            end, read, computed = self._divided(inner)
            return end and factor * end, read and factor * read, computed and factor * computed
        if is_zero(term):
            return None, None, None
        scattered, count = term.op is scatter_add and term.params[0] == (0,), term.shape[0]
        if (scattered or term.op is one_hot) and is_position(as_size(term.args[-1]), last, count):
            return term.args[0] if scattered else as_node(1), None, None
        if term.op is unslice and term.params[0][0] == WHOLE:  # zeros around parts of all rows
            (_, *triples), (_, *shape) = term.params
            end, *others = self.divided(term.args[0])
            rows = [x and unslice(x, params=((WHOLE, *triples), (x.shape[0], *shape))) for x in others]
            return unslice(end, params=(tuple(triples), tuple(shape))), rows[0], rows[1]
        if term.op is unslice and all(t == WHOLE for t in term.params[0][1:]):
            start, stop, step = term.params[0][0]
            begin, end = (0 if start is None else start), (count if stop is None else stop)
            if (begin, end, step) == (last, size_sum([last, 1]), 1):
                return shaped(term.args[0], term.shape[1:]), None, None
            if step == 1 and (begin, end) in ((0, self.length), (1, count)):
                return (None, term.args[0], None) if begin == self.reverse else (None, None, term.args[0])
        return self.end(term), self.before(term), None

    def step_rows(self, values: Sequence[Node]) -> dict[Node, Node]:
        """Return what varies from step to step: the bound symbols, each with one row for each step.

        Args:
            values: all values of each carry.
        """
        before = {c: self.before(v) for c, v in zip(self.body.carries, values, strict=True)}
        return {**before, **dict(zip(self.body.rows, self.rows, strict=True))}

    def constants(self) -> dict[Node, Node]:
        """Return the bound symbols of what is the same in all steps, each with its value."""
        return dict(zip(self.body.operands, self.operands, strict=True))

    def symbols(self, role: str) -> list[Node]:
        """Return new bound symbols with the shapes of the carries."""
        return [bound_symbol(role, k, self.body.height, c.shape) for k, c in enumerate(self.body.carries)]

    def parts(self, whole: Node) -> list[Node]:
        """Return the parts of an array of the shape of the node that belong to the carries."""
        shapes = [c.shape for c in self.body.carries]
        terms = [
            [neg(p) if sign < 0 else p for p in unpack_values(full(term, self.shape), shapes, 1)]
            for sign, term in signed_terms(whole)
        ]
        return [
            reduce(operator.add, (p for p in some if not is_zero(p)), _ZERO)
            for some in zip(*terms, strict=True)
        ]


def with_steps(
    nodes: Sequence[Node],
    change: Callable[[StepArrays, Sequence[Node], dict[Node, Node]], tuple[Sequence[Node], dict[Node, Node]]],
    start: Callable[[Node], Node] = lambda start: start,
) -> list[Node]:
    """Return formulas with other formulas for the steps and the first values of their recurrences.

    Args:
        nodes: the formulas.
        change: a function of a recurrence, the formulas of a step, and the arrays of its rows; it returns formulas
            with equal values, and the arrays of the rows that these read.
        start: a function of a first value that returns another formula for it.
    """
    if not any(node.op is recurrence for node in topological(nodes)):
        return list(nodes)

    def rebuilt(node: Node, args: list[Node]) -> Node:
        node = with_args(node, args)
        if node.op.name == "part":
            return unpack_values(node.args[0], node.params[1], node.params[2])[int(node.params[0])]
        if node.op is not recurrence:
            return node
        steps = StepArrays(node)
        results = substitute(steps.body.results, steps.constants())
        results, rows = change(steps, results, dict(zip(steps.body.rows, steps.rows, strict=True)))
        starts = [start(s) for s in steps.starts]
        found = recur(starts, steps.body.carries, results, rows, steps.length, reverse=bool(steps.reverse))
        return pack_values(found, 1)

    done = fold(nodes, rebuilt)
    return [done[n] for n in nodes]


def _reached(body: Body, first: Container[int], forward: bool) -> list[int]:
    """Return the carries whose dual is not 0 in all steps.

    Args:
        body: the formulas of a step.
        first: the carries to whose dual something else is added than duals of other carries.
        forward: whether duals go from the carries that a formula reads to its result, or the other way.
    """
    reads = [{*topological([r])} for r in body.results]
    found = [k for k in range(len(reads)) if k in first]
    for k in found:  # which grows
        found += [
            j
            for j, carry in enumerate(body.carries)
            if j not in found and (body.carries[k] in reads[j] if forward else carry in reads[k])
        ]
    return sorted(found)


def _pull(node: Node, cotangent: Node, wanted: Sequence[bool]) -> Sequence[Node | None]:
    steps = StepArrays(node)
    body, constants = steps.body, steps.constants()
    count = len(body.carries)
    rows = Rows(steps.length, body.height, steps.step_rows(steps.values))
    divided = [
        steps.divided(full(part, (node.shape[0], *carry.shape)))
        for carry, part in zip(body.carries, steps.parts(cotangent), strict=True)
    ]
    given = {
        k
        for k, (end, *others) in enumerate(divided)
        if not is_zero(end) or any(o is not None for o in others)
    }
    moving = _reached(body, given, forward=False)
    symbols = steps.symbols("cotangent")
    asked = {k: symbols[k] for k in moving}  # a[t]
    read = [s for s, w in zip((*body.rows, *body.operands), wanted[count:], strict=True) if w]
    # The values of the steps are known, so nothing is computed again.
    now = steps.symbols("value")
    computed = {r: s for r, s in zip(body.results, now, strict=True) if r.args}
    outputs = [body.results[k] for k in moving]
    sources = [*(body.carries[k] for k in moving), *read]
    found = pull_back(outputs, list(asked.values()), sources).gradients if moving else [_ZERO] * len(read)
    pulled = substitute(substitute(found, computed), constants)
    rows.arrays |= {s: steps.after(v) for s, v in zip(now, steps.values, strict=True)}
    added = {k: rows.of(earlier) for k in moving if (earlier := divided[k][1]) is not None}
    # What is added to a[t] where it is read, as a row and as an array.
    whole = {asked[k]: (rows.of(values), values) for k in moving if (values := divided[k][2]) is not None}
    formulas = substitute(pulled[: len(moving)], {a: add(a, row) for a, (row, _) in whole.items()})
    results = [add(added[k], f) if k in added else f for k, f in zip(moving, formulas, strict=True)]
    starts = [divided[k][0] for k in moving]
    back = recur(starts, list(asked.values()), results, rows.arrays, steps.length, reverse=not steps.reverse)
    stacks, same = dict(rows.arrays), dict[Node, Node]()
    for a, values in zip(asked.values(), back, strict=True):
        constant = None if a in whole else _same_in_all(values)
        if constant is not None:
            same[a] = constant
        else:
            after = steps.after(values)
            stacks[a] = add(after, whole[a][1]) if a in whole else after
    inner = batch(substitute(pulled[len(moving) :], same), stacks, (steps.length,))
    of = dict(zip(read, inner, strict=True))
    at = dict(zip(moving, back, strict=True))
    first = [steps.first(at[k]) if w and k in at else None for k, w in enumerate(wanted[:count])]
    rest = [sum_rows(of[s]) if s in of else None for s in body.operands]
    return [*first, *(of.get(s) for s in body.rows), *rest]


def _same_in_all(values: Node) -> Node | None:
    """Return the row of an array whose rows are all the same, as `recur` makes it; None for other arrays."""
    if values.op is not broadcast_to or len(values.args[0].shape) == len(values.shape):
        return None
    return full(values.args[0], values.shape[1:])


def _push(node: Node, tangents: Sequence[Node | None]) -> Node:
    steps = StepArrays(node)
    body = steps.body
    count = len(body.carries)
    starts, after = tangents[:count], tangents[count + len(body.rows) :]
    rows: dict[Node, Node] = {}
    directions: dict[Node, Node] = {}
    for k, (row, tangent) in enumerate(zip(body.rows, tangents[count:], strict=False)):
        if tangent is not None:
            directions[row] = bound_symbol("row tangent", k, body.height, row.shape)
            rows[directions[row]] = full(tangent, steps.rows[k].shape)
    constants = steps.constants()
    for k, (operand, tangent) in enumerate(zip(body.operands, after, strict=True)):
        if tangent is not None:
            directions[operand] = bound_symbol("operand tangent", k, body.height, operand.shape)
            constants[directions[operand]] = full(tangent, operand.shape)
    varying = [not directions.keys().isdisjoint(topological([r])) for r in body.results]
    given = {k for k, start in enumerate(starts) if varying[k] or (start is not None and not is_zero(start))}
    moving = _reached(body, given, forward=True)
    symbols = steps.symbols("tangent")
    directions |= {body.carries[k]: symbols[k] for k in moving}
    pushed = substitute(push_forward([body.results[k] for k in moving], directions), constants)
    found = recur(
        [_ZERO if (s := starts[k]) is None else s for k in moving],
        [symbols[k] for k in moving],
        pushed,
        {**steps.step_rows(steps.values), **rows},
        steps.length,
        reverse=bool(steps.reverse),
    )
    at = dict(zip(moving, found, strict=True))
    zeros = (full(_ZERO, v.shape) for v in steps.values)
    return pack_values([at.get(k, zero) for k, zero in enumerate(zeros)], 1)


def _batch(node: Node, stacks: Sequence[Node | None], lead: Shape) -> Node:
    steps = StepArrays(node)
    body, depth = steps.body, len(lead)
    wide = {
        c: symbol(replace(c.declaration, name=f"stack of {c.name}", shape=(*lead, *c.shape)))
        for c in body.carries
    }
    rows: dict[Node, Node] = {}
    for row, array, stack in zip(body.rows, steps.rows, stacks[len(body.carries) :], strict=False):
        if stack is None:
            rows[row] = array
        else:
            wide[row] = symbol(
                replace(row.declaration, name=f"stack of {row.name}", shape=(*lead, *row.shape))
            )
            axes = range(len(stack.shape))
            rows[wide[row]] = transpose(stack, [depth, *(a for a in axes if a != depth)])
    constants = steps.constants()
    for operand, stack in zip(body.operands, stacks[len(body.carries) + len(body.rows) :], strict=True):
        if stack is not None:
            wide[operand] = stack
            del constants[operand]
    results = substitute(batch(body.results, wide, lead), constants)
    starts = [
        full(s, (*lead, *s.shape)) if stack is None else stack
        for s, stack in zip(steps.starts, stacks, strict=False)
    ]
    found = recur(
        starts, [wide[c] for c in body.carries], results, rows, steps.length, reverse=bool(steps.reverse)
    )
    # The axis of the steps comes after those of the stack.
    moved = [transpose(f, [*range(1, depth + 1), 0, *range(depth + 1, len(f.shape))]) for f in found]
    return pack_values(moved, depth + 1)


def _shape(shapes: tuple[Shape, ...], length: Size, _reverse: int, body: Body) -> Shape:
    count = len(body.carries)
    one = shapes[0] if count == 1 else (size_sum(size_product(s) for s in shapes[:count]),)
    return (size_sum([length, 1]), *one)


def _evaluate(length: int, reverse: int, body: Body, *given: Any) -> Any:
    return run_steps(length, reverse, body, given, evaluate, float)


def _reference(mp: Any, length: int, reverse: int, body: Body, *given: Any) -> Any:
    return run_steps(
        length, reverse, body, given, lambda nodes, values: evaluate_mp(mp, nodes, values), object
    )


def _rows(_node: Node, _places: Sequence[int | None]) -> None:
    return None  # a value depends on all rows before it


def loaded(name: str, identity: str | None) -> Op:
    """Return the op by its name. Pickles refer to this function, so loading a pickle registers the op."""
    return op_named(name, identity)


recurrence: Op = joint(
    "recurrence",
    doc="all values of h[t] = F(h[t-1], x[t-1], w) for t in 1..T",
    gives="real",
    variadic=True,
    parameters=("length", "reverse", "body"),
    shape=_shape,
    evaluate=_evaluate,
    reference=_reference,
    push=_push,
    pull=_pull,
    batch=_batch,
    rows=_rows,
    entries="computed",
    total="of regular",
    native=Loop(),
    written=write_inside,
    source=None,
    facts=facts(),
)
LOADERS["recurrence"] = loaded
