"""Random array programs over named sizes, and values to try them at."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from symgrad.errors import SymgradError
from symgrad.ir.graph import Node, symbol
from symgrad.ir.sizes import Size, evaluate_size
from symgrad.ir.traverse import topological
from symgrad.ir.types import INT, REAL, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.contraction import contract, sum_over
from symgrad.ops.array.indexing import eye, gather, scatter_add
from symgrad.ops.array.layout import broadcast_to, concatenate, expand, reshape, slice_axes
from symgrad.ops.array.reductions import mean, norm
from symgrad.ops.array.scans import cumsum
from symgrad.ops.array.softmax import log_softmax, logsumexp, softmax
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import products
from symgrad.ops.scalar.arith import add, mul, neg, pow
from symgrad.ops.scalar.elementary import exp
from symgrad.ops.scalar.hyperbolic import tanh
from symgrad.ops.scalar.logic import gt, where


def array(name: str, *shape: Size) -> Node:
    return symbol(Declaration(name, REAL, shape))


s, t = array("s"), array("t")
x, y, u = array("x", "n"), array("y", "n"), array("u", "m")
A, B, C, S = array("A", "n", "m"), array("B", "n", "m"), array("C", "m", "k"), array("S", "n", "n")
ids = symbol(Declaration("ids", INT, ("k",)))
row, column, T = array("row", 1, "m"), array("column", "n", 1), array("T", "k", "n", "m")
three = array("three", 3, 3)
SYMBOLS = [s, t, x, y, u, A, B, C, S, row, column, T, three]
# Powers of two: means are exact, and no rounding decides a comparison.
SIZES = [
    {"n": n, "m": m, "k": k} for n, m, k in ((4, 2, 8), (1, 4, 2), (2, 1, 1), (0, 2, 2), (2, 0, 1), (4, 2, 0))
]

_NUMBERS = (2, -1, 3)


def _unary(draw: random.Random, v: Node) -> Node:
    rank = len(v.shape)
    axis = draw.randrange(rank) if rank else 0
    choices: list[Callable[[], Node]] = [
        lambda: neg(v),
        lambda: mul(build.as_node(draw.choice(_NUMBERS)), v),
        lambda: pow(v, build.as_node(2)),
        lambda: tanh(v),
        lambda: where(gt(v, build.as_node(0)), v, build.as_node(0)),
        lambda: mul(s, v),
    ]
    if rank:
        choices += [
            lambda: sum_over(v, [axis]),
            lambda: mean(v, params=((axis,),)),
            lambda: expand(v, [draw.randrange(rank + 1)]) if rank < 3 else v,
            lambda: softmax(v, params=((axis,),)),
            lambda: log_softmax(v, params=((axis,),)),
            lambda: logsumexp(v, params=((axis,),)),
            lambda: norm(v, params=((axis,),)),
            lambda: cumsum(v, params=(axis, draw.randrange(2))),
            lambda: slice_axes(
                v, [draw.choice([(None, None, 1), (1, None, 1), (None, None, -1)]) for _ in range(rank)]
            ),
            lambda: concatenate(v, v, params=(axis,)),
            lambda: reshape(v, params=((build.size_product(v.shape),),)),
            lambda: add(v, mul(build.as_node(-1), expand(mean(v, params=((axis,),)), [axis]))),
        ]
    if rank == 2:
        choices += [lambda: build.matrix_transpose(v), lambda: build.matrix_transpose(v)]
        if v.shape[0] == v.shape[1]:
            choices += [
                lambda: products.trace(v),
                lambda: products.diag(v),
                lambda: products.matmul(eye(params=v.shape), v),
            ]
    if rank == 1:
        choices += [
            lambda: products.outer(v, draw.choice([x, u])),
            lambda: broadcast_to(v, params=((draw.choice(["m", "n"]), *v.shape),)),
            lambda: products.diag(v),
        ]
    if v.shape[:1] == ("n",):
        choices += [
            lambda: gather(v, ids, params=((0,),)),
            lambda: scatter_add(gather(v, ids, params=((0,),)), ids, params=((0,), v.shape)),
        ]
    return draw.choice(choices)()


def _binary(draw: random.Random, v: Node, w: Node) -> Node:
    return draw.choice([add, mul, mul, products.matmul, products.matmul, _difference, _quotient])(v, w)


def _einsum(draw: random.Random, operands: Sequence[Node]) -> Node:
    """A contraction with labels at random: diagonals, repeated operands, sums over anything."""
    known: dict[Size, list[int]] = {}
    labels: list[list[int]] = []
    count = 0
    for v in operands:
        own: list[int] = []
        for size in v.shape:
            choices = known.setdefault(size, [])
            if not choices or draw.random() < 0.4:
                choices.append(count)
                count += 1
            own.append(draw.choice(choices))
        labels.append(own)
    used = sorted({k for own in labels for k in own})
    result = draw.sample(used, min(len(used), draw.randrange(3)))
    return contract(operands, labels, result)


def _difference(v: Node, w: Node) -> Node:
    return add(v, neg(w))


def _quotient(v: Node, w: Node) -> Node:
    return build.div(v, add(build.as_node(1), mul(w, w)))


def any_program(seed: int, size: int = 8) -> Node:
    """Return a random scalar program over the symbols; the same for the same seed."""
    draw = random.Random(seed)
    pool = list(SYMBOLS)
    made = 0
    while made < size:
        try:
            if draw.random() < 0.15:
                found = _einsum(draw, [draw.choice(pool) for _ in range(draw.randrange(1, 4))])
                pool.append(found)
                made += 1
                continue
            v = draw.choice(pool[-5:] if draw.random() < 0.6 else pool)
            found = _unary(draw, v) if draw.random() < 0.5 else _binary(draw, v, draw.choice(pool))
        except SymgradError:
            continue
        if len(found.shape) <= 3:
            pool.append(found)
            made += 1
    result = pool[-1]
    return (
        build.total(result)
        if draw.random() < 0.7
        else build.total(mul(result, exp(neg(mul(result, result)))))
    )


def values(seed: int, sizes: Mapping[str, int], wanted: Sequence[Node] = (*SYMBOLS, ids)) -> dict[Node, Any]:
    """Return small whole numbers for every symbol, between the ends of what is declared with ends."""
    draw = np.random.default_rng(seed)
    found: dict[Node, Any] = {}
    for v in wanted:
        shape = tuple(evaluate_size(k, sizes) for k in v.shape)
        if v.dtype == "int":
            high = v.declaration.domain.high
            above = max(sizes["n"], 1) if high is None else evaluate_size(cast("Size", high), sizes) + 1
            found[v] = draw.integers(0, above, shape) if above else np.zeros(shape, int)
        else:
            found[v] = draw.integers(-2, 3, shape).astype(float) if shape else float(draw.integers(-2, 3))
    return found


def _scalar_divisors(nodes: Sequence[Node]) -> list[Node]:
    """Return the scalars that something is divided by, even where it has no entries."""
    pending = [n.args[1] for n in nodes if n.op is build.div]
    pending += [n.args[0] for n in nodes if n.op is pow and n.args[1].is_number() and n.args[1].value < 0]
    found: list[Node] = []
    while pending:
        top = pending.pop()
        if not top.shape:
            found.append(top)
        elif top.op in (mul, build.div, pow, neg, broadcast_to, reshape):
            pending += top.args
    return found


def strictly(node: Node, at: Mapping[Node, Any]) -> tuple[Any, float] | None:
    """Return the value and the largest number on the way to it; None where some step on the way has no value."""
    order = [n for n in topological([node]) if n.dtype == "real"]
    everything = topological([node])
    domains = [n.op.domain(*n.args) for n in order if n.op.pointwise and n.op.domain is not None]
    try:
        if not all(np.all(c) for c in evaluate(domains, at)):
            return None
        if any(np.any(np.equal(v, 0)) for v in evaluate(_scalar_divisors(everything), at)):
            return None
        found = evaluate([*order, node], at)
        shapes = dict(zip(everything, map(np.shape, evaluate(everything, at)), strict=True))
    except SymgradError:
        return None
    if any(n.op is mean and any(shapes[n.args[0]][a] == 0 for a in n.params[0]) for n in order):
        return None  # NumPy's mean of nothing is NaN, but for an array that has no entries on another axis either
    if not all(np.all(np.isfinite(np.asarray(v, dtype=float))) for v in found):
        return None
    largest = max((float(np.max(np.abs(v), initial=0.0)) for v in found), default=0.0)
    return found[-1], largest
