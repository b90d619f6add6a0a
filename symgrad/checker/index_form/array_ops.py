"""Array ops in index form: contractions, reductions, layout, gather and scatter, linear algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, permutations
from typing import TypeAlias

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.elementwise_ops import StepCall, indexed_axes, prepend_axes
from symgrad.checker.index_form.forms.axis_products import product_along_axes, product_except
from symgrad.checker.index_form.forms.canonical_labels import Form
from symgrad.checker.index_form.forms.functions import exp, log, magnitude, opaque, power
from symgrad.checker.index_form.forms.position_maps import affine, order_map, position_map, slice_map
from symgrad.checker.index_form.forms.product_rules import Dependency, delta
from symgrad.checker.index_form.forms.terms import FormAlgebra
from symgrad.checker.index_form.index_arrays import index_map, is_in_bounds
from symgrad.checker.index_form.inverses import cholesky_factor, determinant, inverse
from symgrad.checker.index_form.matrix_functions import MATRIX_FUNCTIONS, divided_difference, matrix_function

Axes: TypeAlias = "list[tuple[str, str]]"
"""Indices, each with its length."""


# -------------------------------------------------------------------------------------------------------- contraction


def _einsum(call: StepCall) -> Form:
    t = call.t
    labels, result = call.step.params
    kept = {f"l{label}": f"a{k}" for k, label in enumerate(result)}
    lengths: dict[str, str] = {}
    parts: list[Form] = []
    for form, shape, own in zip(call.args, call.shapes, labels, strict=True):
        names = [kept.get(f"l{label}", f"l{label}") for label in own]
        if any(lengths.setdefault(i, n) != n for i, n in zip(names, shape, strict=True)):
            raise GiveUp("a contraction of axes of different lengths")
        parts.append(t.rename(form, {f"a{k}": names[k] for k in indexed_axes(shape)}))
    summed = {i: n for i, n in lengths.items() if i not in kept.values() and n != "1"}
    return t.sum_over(t.multiply(*parts), summed)


# --------------------------------------------------------------------------------------------------------- reductions


def _reduced_lengths(call: StepCall, axis: Sequence[int]) -> dict[str, str]:
    return {f"a{k}": call.shapes[0][k] for k in axis if call.shapes[0][k] != "1"}


def _renumber_axes(call: StepCall, form: Form, axis: Sequence[int]) -> Form:
    """Renumber the axes that remain after a reduction."""
    left = [k for k in range(len(call.shapes[0])) if k not in axis]
    return call.t.rename(form, {f"a{k}": f"a{i}" for i, k in enumerate(left)})


def _sum(call: StepCall, form: Form, axis: Sequence[int]) -> Form:
    return _renumber_axes(call, call.t.sum_over(form, _reduced_lengths(call, axis)), axis)


def _mean(call: StepCall) -> Form:
    t, (axis,) = call.t, call.step.params
    sizes = [power(t, t.size(n), -1) for n in _reduced_lengths(call, axis).values()]
    return t.multiply(_sum(call, call.args[0], axis), *sizes)


def _norm(call: StepCall) -> Form:
    t, (axis,) = call.t, call.step.params
    total = _sum(call, t.multiply(call.args[0], call.args[0]), axis)
    return power(t, total, Fraction(1, 2))


def _logsumexp(call: StepCall) -> Form:
    (axis,) = call.step.params
    return log(call.t, _sum(call, exp(call.t, call.args[0]), axis))


def _sum_of_exponentials(call: StepCall) -> Form:
    """Return the sum of the exponentials along the axes, broadcast to every entry."""
    (axis,) = call.step.params
    return call.t.sum_over(exp(call.t, call.args[0]), _reduced_lengths(call, axis))


def _softmax(call: StepCall) -> Form:
    t = call.t
    return t.multiply(exp(t, call.args[0]), power(t, _sum_of_exponentials(call), -1))


def _opaque_reduction(call: StepCall) -> Form:
    """Return an opaque reduction: a function of all entries along the axes."""
    t, op, (axis,) = call.t, call.step.op, call.step.params
    axis = tuple(range(len(call.shapes[0]))) if axis is None else (axis,) if isinstance(axis, int) else axis
    reduced = _reduced_lengths(call, axis)
    marks = {index: f"$m{k}" for k, index in enumerate(reduced)}
    form, lengths = t.rename(call.args[0], marks), tuple(reduced.values())
    if op == "prod" and lengths:
        form = product_along_axes(t, form, lengths)
    elif lengths or op not in ("max", "min", "prod"):
        form = opaque(t, op, form, lengths, {m: m for m in marks.values()})
    return _renumber_axes(call, form, axis)


def _prod_except(call: StepCall) -> Form:
    t = call.t
    axis: int = call.step.params[0]
    length = call.shapes[0][axis]
    if length == "1":
        return t.number(1)
    return product_except(t, t.rename(call.args[0], {f"a{axis}": "$m0"}), [length], [f"a{axis}"])


def _prefix_sum(call: StepCall, x: Form, axis: int, reverse: int) -> Form:
    t, length = call.t, call.shapes[0][axis]
    if length == "1":
        return x
    source, target = "s", f"a{axis}"
    triangle = order_map(t, target, source, length) if reverse else order_map(t, source, target, length)
    return t.sum_over(t.multiply(t.rename(x, {target: source}), triangle), {source: length})


# ------------------------------------------------------------------------------------------------------------- layout


def _reshape(call: StepCall) -> Form:
    """Reshape separately each run of axes that has equally many entries before and after.

    A run whose lengths do not change is a product of deltas; any other run is a bijective position map.
    """
    t = call.t
    before = [(f"s{k}", n) for k, n in enumerate(call.shapes[0]) if n != "1"]
    after = [(f"a{k}", n) for k, n in enumerate(call.shape) if n != "1"]
    form = t.rename(call.args[0], {f"a{k}": f"s{k}" for k in indexed_axes(call.shapes[0])})
    links: list[Form] = []
    for old, new in _split_runs(t, before, after):
        if [n for _, n in old] == [n for _, n in new]:
            links.extend(delta(t, i, j, n) for (i, n), (j, _) in zip(old, new, strict=True))
            continue
        first, second = (old, new) if [n for _, n in old] < [n for _, n in new] else (new, old)
        one = tuple(range(len(first)))
        two = tuple(range(len(first), len(first) + len(second)))
        links.append(
            position_map(t, ("reshape", len(one)), [*first, *second], ((one, two, True), (two, one, True)))
        )
    return t.sum_over(t.multiply(form, *links), dict(before))


def _split_runs(t: FormAlgebra, before: Axes, after: Axes) -> list[tuple[Axes, Axes]]:
    """Split two lists of axes into the shortest runs with the same number of entries."""
    runs: list[tuple[Axes, Axes]] = []
    left, right = list(before), list(after)
    while left or right:
        cut = next(
            (
                (i, j)
                for i in range(1, len(left) + 1)
                for j in range(1, len(right) + 1)
                if _entries(t, left[:i]) == _entries(t, right[:j])
            ),
            (len(left), len(right)),
        )
        runs.append((left[: cut[0]], right[: cut[1]]))
        left, right = left[cut[0] :], right[cut[1] :]
    return runs


def _entries(t: FormAlgebra, run: Axes) -> Form:
    return t.multiply(*(t.size(n) for _, n in run))


def _slices(call: StepCall, whole: Sequence[str], part: Sequence[str], into: bool) -> Form:
    """Contract with the map from positions of a slice to positions of the axis.

    If ``into``, contract in the reverse direction.
    """
    t, triples, form = call.t, call.step.params[0], call.args[0]
    source = part if into else whole
    form = t.rename(form, {f"a{k}": f"s{k}" for k in indexed_axes(source)})
    links: list[Form] = []
    for k, (triple, long, short) in enumerate(zip(triples, whole, part, strict=True)):
        inner, outer = (f"s{k}", f"a{k}") if into else (f"a{k}", f"s{k}")
        if long != "1" or short != "1":
            links.append(slice_map(t, triple, (inner, short), (outer, long)))
    bound = {f"s{k}": source[k] for k in indexed_axes(source)}
    return t.sum_over(t.multiply(form, *links), bound)


def _concatenate(call: StepCall) -> Form:
    t = call.t
    axis: int = call.step.params[0]
    if len(call.args) == 1:
        return call.args[0]
    if call.shape[axis] == "1":
        raise GiveUp("joining arrays without entries")
    ends = accumulate((s[axis] for s in call.shapes), "{} + {}".format, initial="0")
    parts: list[Form] = []
    for form, shape, start in zip(call.args, call.shapes, ends, strict=False):
        place = (f"a{axis}", call.shape[axis])
        link = affine(t, t.size(start), 1, ("s", shape[axis]), place)
        moved = t.multiply(t.rename(form, {f"a{axis}": "s"}), link)
        parts.append(t.sum_over(moved, {"s": shape[axis]} if shape[axis] != "1" else {}))
    return t.add(*parts)


# ---------------------------------------------------------------------------------------------------------- positions


def _index_maps(
    call: StepCall, indices: Sequence[int], axis: Sequence[int], whole: Sequence[str], rank: int
) -> list[Form]:
    """Return for each index array its index map from the positions "b0", ... to the axis "s{k}"."""
    t = call.t
    links: list[Form] = []
    for arg, k in zip(indices, axis, strict=True):
        form = prepend_axes(t, call.args[arg], call.shapes[arg], rank)
        form = t.rename(form, {f"a{i}": f"b{i}" for i in range(rank)})
        if whole[k] != "1":
            links.append(index_map(t, form, f"s{k}", whole[k], wrapped=True))
    return links


def _gather(call: StepCall) -> Form:
    t = call.t
    axis: tuple[int, ...] = call.step.params[0]
    whole = call.shapes[0]
    indices = range(1, len(call.args))
    rank = max(len(call.shapes[i]) for i in indices)
    form = t.rename(call.args[0], {f"a{k}": f"s{k}" for k in indexed_axes(whole)})
    links = _index_maps(call, indices, axis, whole, rank)
    found = t.sum_over(t.multiply(form, *links), {f"s{k}": whole[k] for k in axis if whole[k] != "1"})
    return t.rename(found, _gathered_axes(whole, axis, rank))


def _gathered_axes(whole: Sequence[str], axis: Sequence[int], rank: int) -> dict[str, str]:
    """Map "b0", ... and the axes that are not indexed to the axes of the gathered array."""
    kept = [k for k in range(len(whole)) if k not in axis]
    first = axis[0]
    order = [
        *(f"s{k}" for k in kept[:first]),
        *(f"b{i}" for i in range(rank)),
        *(f"s{k}" for k in kept[first:]),
    ]
    return {name: f"a{i}" for i, name in enumerate(order)}


def _scatter_add(call: StepCall) -> Form:
    t, (axis, _) = call.t, call.step.params
    whole = call.shape
    indices = range(1, len(call.args))
    rank = max(len(call.shapes[i]) for i in indices)
    back = {a: name for name, a in _gathered_axes(whole, axis, rank).items()}
    form = t.rename(call.args[0], back)
    lengths = {back[f"a{k}"]: n for k, n in enumerate(call.shapes[0]) if n != "1"}
    links = _index_maps(call, indices, axis, whole, rank)
    found = t.sum_over(t.multiply(form, *links), {i: n for i, n in lengths.items() if i.startswith("b")})
    return t.rename(found, {f"s{k}": f"a{k}" for k in indexed_axes(whole)})


def _one_hot(call: StepCall) -> Form:
    t, (index,), depth = call.t, call.args, call.shape[-1]
    if depth != "1":
        return index_map(t, index, f"a{len(call.shapes[0])}", depth, wrapped=False)
    if not is_in_bounds(t, index, depth):
        raise GiveUp("one_hot of depth 1")
    return t.number(1)


def _iota(call: StepCall) -> Form:
    t, (length,) = call.t, call.shape
    return t.atom(t.head("iota", (length,), arity=1), ("a0",)) if length != "1" else {}


def _eye(call: StepCall) -> Form:
    t, (rows, columns) = call.t, call.shape
    if rows == columns:
        return delta(t, "a0", "a1", rows) if rows != "1" else t.number(1)
    ends = [(f"a{k}", n) for k, n in enumerate(call.shape) if n != "1"]
    ways: tuple[Dependency, ...] = (
        (((0,), (1,), False), ((1,), (0,), False)) if len(ends) == 2 else (((), (0,), True),)
    )
    return position_map(t, "eye", ends, ways)


# ----------------------------------------------------------------------------------------------------------- matrices


def _matrix_axes(shape: Sequence[str]) -> tuple[str, str]:
    """Return the row and the column index of a stack of matrices."""
    return f"a{len(shape) - 2}", f"a{len(shape) - 1}"


def _of_matrix(call: StepCall, invert: bool) -> Form:
    length = call.shapes[0][-1]
    if length == "1":
        return power(call.t, call.args[0], -1) if invert else call.args[0]
    function = inverse if invert else determinant
    return function(call.t, call.args[0], *_matrix_axes(call.shapes[0]), length)


def _solve(call: StepCall) -> Form:
    t = call.t
    vector = len(call.shapes[1]) == 1
    matrix, right = call.shapes
    rank = max(len(matrix), len(right) + vector)
    length = matrix[-1]
    inverted = prepend_axes(t, _of_matrix(call, True), matrix, rank)
    row, middle = f"a{rank - 2}", f"a{rank - 1}"
    inverted = t.rename(inverted, {middle: "m"})
    side = call.args[1]
    side = t.rename(side, {"a0": row}) if vector else prepend_axes(t, side, right, rank)
    side = t.rename(side, {row: "m"})
    found = t.multiply(inverted, side)
    return t.sum_over(found, {"m": length}) if length != "1" else found


def _cholesky(call: StepCall) -> Form:
    length = call.shape[-1]
    if length == "1":
        return power(call.t, call.args[0], Fraction(1, 2))
    return cholesky_factor(call.t, call.args[0], *_matrix_axes(call.shape), length)


def _matrix_function(call: StepCall) -> Form:
    t, name, length = call.t, call.step.op, call.shape[-1]
    row, column = _matrix_axes(call.shape)
    if length != "1":
        return matrix_function(t, name, call.args[0], row, column, length)
    return exp(t, call.args[0]) if name == "expm" else opaque(t, name[:3], call.args[0])


def _frechet(call: StepCall) -> Form:
    """Return the derivative of a function of a matrix in directions, which come in each order."""
    t, name, length = call.t, call.step.op.removesuffix("_frechet"), call.shape[-1]
    row, column = _matrix_axes(call.shape)
    x, *directions = call.args
    if length == "1":
        side = 1
        for _ in directions:
            name, turn = MATRIX_FUNCTIONS[name]
            side *= turn
        value = exp(t, x) if name == "expm" else opaque(t, name[:3], x)
        return t.scale(t.multiply(value, *directions), side)
    ends = [(f"i{k}", f"j{k}") for k in range(len(directions))]
    path = (row, *(i for pair in ends for i in pair), column)
    pairs = tuple(zip(path[::2], path[1::2], strict=True))
    rows = divided_difference(t, name, t.rename(x, {row: "i", column: "j"}), "i", "j", pairs, length)
    terms: list[Form] = []
    for order in permutations(directions):
        turned = (t.rename(e, {row: i, column: j}) for e, (i, j) in zip(order, ends, strict=True))
        terms.append(t.sum_over(t.multiply(rows, *turned), {i: length for pair in ends for i in pair}))
    return t.add(*terms)


ARRAY_OPS: Mapping[str, Callable[[StepCall], Form]] = {
    "argmax": _opaque_reduction,
    "argmin": _opaque_reduction,
    "broadcast_to": lambda call: prepend_axes(call.t, call.args[0], call.shapes[0], len(call.shape)),
    "cholesky": _cholesky,
    "concatenate": _concatenate,
    "cumsum": lambda call: _prefix_sum(call, call.args[0], *call.step.params),
    "det": lambda call: _of_matrix(call, False),
    "einsum": _einsum,
    "eye": _eye,
    "gather": _gather,
    "inv": lambda call: _of_matrix(call, True),
    "iota": _iota,
    "log_softmax": lambda c: c.t.subtract(c.args[0], log(c.t, _sum_of_exponentials(c))),
    "logcumsumexp": lambda c: log(c.t, _prefix_sum(c, exp(c.t, c.args[0]), c.step.params[0], 0)),
    # log|det| equals log(det) where that is defined.
    "logdet": lambda call: log(call.t, magnitude(call.t, _of_matrix(call, False))),
    "logsumexp": _logsumexp,
    "max": _opaque_reduction,
    "mean": _mean,
    "min": _opaque_reduction,
    "norm": _norm,
    "one_hot": _one_hot,
    "prod": _opaque_reduction,
    "prod_except": _prod_except,
    "reshape": _reshape,
    "scatter_add": _scatter_add,
    "slice": lambda call: _slices(call, call.shapes[0], call.shape, False),
    "softmax": _softmax,
    "solve": _solve,
    "unslice": lambda call: _slices(call, call.shape, call.shapes[0], True),
    **dict.fromkeys(MATRIX_FUNCTIONS, _matrix_function),
    **{f"{name}_frechet": _frechet for name in MATRIX_FUNCTIONS},
}
