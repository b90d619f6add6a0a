"""Array programs with NumPy's own way to say them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, size_node, symbol
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.types import BOOL, INT, REAL, Declaration, Domain
from symgrad.ops.array.contraction import contract, sum_over
from symgrad.ops.array.layout import concatenate, slice_axes
from tests.compiler.kernels.formulas import op


def array(name: str, *shape: int | str, domain: Domain = REAL) -> Node:
    return symbol(Declaration(name, domain, shape))


X, W, w = array("X", "n", 5), array("W", 5, 3), array("w", 5)
y, z, r = array("y", "n"), array("z", "m"), array("r", "m")
a = symbol(Declaration("a"))
ids = array("ids", "m", domain=INT)
mask = array("mask", "n", domain=BOOL)


def matmul(p: Node, q: Node) -> Node:
    k, n = len(p.shape) - 1, len(q.shape) - 1
    return contract([p, q], [range(k + 1), range(k, k + n + 1)], [*range(k), *range(k + 1, k + n + 1)])


def mean(p: Node) -> Node:
    return op_with("mean", (tuple(range(len(p.shape))),), p)


def op_with(name: str, params: tuple[Any, ...], *args: Node) -> Node:
    from symgrad.ir.graph import OPS

    return OPS[name](*args, params=params)


@dataclass(frozen=True)
class Program:
    """Outputs, inputs, and the same in NumPy on arrays of the declared shapes."""

    name: str
    outputs: list[Node]
    inputs: list[Node]
    reference: Callable[..., tuple[Any, ...]]


PROGRAMS = [
    Program("linear", [matmul(X, w)], [X, w], lambda X, w: (X @ w,)),
    Program("layer", [matmul(X, W)], [X, W], lambda X, W: (X @ W,)),
    Program(
        "loss",
        [mean((matmul(X, w) - y) ** 2), matmul(X, w) - y],
        [X, w, y],
        lambda X, w, y: (np.mean((X @ w - y) ** 2), X @ w - y),
    ),
    Program("outer", [contract([y, z], [[0], [1]], [0, 1])], [y, z], lambda y, z: (np.outer(y, z),)),
    Program("transpose", [contract([X], [[0, 1]], [1, 0])], [X], lambda X: (X.T,)),
    Program("sums", [sum_over(X, [0]), sum_over(X, [1])], [X], lambda X: (X.sum(0), X.sum(1))),
    Program(
        "joined",
        [concatenate(y, z, params=(0,)), slice_axes(y, [(1, None, 1)])],
        [y, z],
        lambda y, z: (np.concatenate([y, z]), y[1:]),
    ),
    Program("size", [y * size_node("n")], [y], lambda y: (y * len(y),)),
    Program("picked", [op_with("gather", ((0,),), y, ids)], [y, ids], lambda y, ids: (y[ids],)),
    Program(
        "masked",
        [op("where", mask, y, -y), op("logical_not", mask), matmul(X, w)],
        [mask, y, X, w],
        lambda mask, y, X, w: (np.where(mask, y, -y), ~mask, X @ w),
    ),
    Program("shapes", [y * a, a * a], [y, a], lambda y, a: (y * a, a * a)),
    Program("identity", [op_with("eye", (3, 3)) * a], [a], lambda a: (a * np.eye(3),)),
]


def draw(
    node: Node, sizes: dict[str, int], batch: tuple[int, ...], rng: np.random.Generator, dtype: Any
) -> Any:
    """Values for an input, without rounding in sums and products: small multiples of 1/4."""
    shape = (*batch, *(evaluate_size(s, sizes) for s in node.shape))
    if node.dtype == "bool":
        return rng.random(shape) < 0.5
    if node.dtype == "int":
        return rng.integers(-sizes["n"], sizes["n"], shape)
    return (rng.integers(-20, 20, shape) / 4).astype(dtype)


def batched(reference: Callable[..., tuple[Any, ...]], inputs: list[Node], arrays: list[Any]) -> list[Any]:
    """Apply a reference to every element of a batch."""
    batch = np.broadcast_shapes(
        *(v.shape[: v.ndim - len(s.shape)] for s, v in zip(inputs, arrays, strict=True))
    )
    whole = [
        np.broadcast_to(v, batch + v.shape[v.ndim - len(s.shape) :])
        for s, v in zip(inputs, arrays, strict=True)
    ]
    found = [reference(*(v[i] for v in whole)) for i in np.ndindex(batch)]
    return [
        np.array([f[k] for f in found]).reshape(batch + np.shape(found[0][k])) for k in range(len(found[0]))
    ]
