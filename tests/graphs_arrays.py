"""Random array programs: every op that is not elementwise, over sizes that are names and numbers, 0 and 1 too.

`random_arrays` draws the nodes, `random_values` what to evaluate them at. A draw of sizes may make a program that
has no value (an index into an axis without entries, the largest of no numbers): `evaluate` then raises a SymgradError,
and so should everything else that computes it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.ir.graph import OPS, Node, as_node, number, symbol
from symgrad.ir.sizes import Size, evaluate_size, size_product, size_sum
from symgrad.ir.types import BOOL, INT, POSITIVE, REAL, Declaration, Domain
from symgrad.ops.array.contraction import contract
from symgrad.ops.numpy import calls as build
from symgrad.ops.numpy import matrices, products, subscripts
from symgrad.ops.scalar.elementary import exp
from symgrad.ops.scalar.hyperbolic import tanh
from symgrad.ops.scalar.logic import gt, where

__all__ = ["MOVES", "SYMBOLS", "random_arrays", "random_sizes", "random_values"]


def _symbol(name: str, *shape: Size, domain: Domain = REAL) -> Node:
    return symbol(Declaration(name, domain, shape))


SYMBOLS: Sequence[Node] = (
    _symbol("X", "n", "m"),
    _symbol("Y", "n", "m"),
    _symbol("A", "n", "n"),
    _symbol("B", 3, 2),
    _symbol("C", 2, 3),
    _symbol("T", 2, "n", "m"),
    _symbol("R", 2, 3, 2),
    _symbol("O", "n", 1),
    _symbol("E", 1, 3, 1),
    _symbol("Z", 0, 3),
    _symbol("v", "m"),
    _symbol("w", "n"),
    _symbol("p", 3, domain=POSITIVE),
    _symbol("q", 2),
    _symbol("s"),
    _symbol("c", "n", domain=BOOL),
    _symbol("ids", "b", domain=INT),
    _symbol("rows", 2, 1, domain=INT),
    _symbol("k", domain=INT),
)

Draw = Callable[[random.Random, Callable[[], Node], Callable[[], Node]], Node]
"""A random step: it gets the generator, a draw of any array, and a draw of an array of whole numbers."""


def _axes(rng: random.Random, x: Node) -> Any:
    rank = len(x.shape)
    kind = rng.random()
    if kind < 0.35 or not rank:
        return None
    if kind < 0.75:
        return rng.randrange(-rank, rank)
    return tuple(rng.sample(range(rank), rng.randint(0, rank)))


def _one_axis(rng: random.Random, x: Node) -> int:
    return rng.randrange(-len(x.shape), len(x.shape)) if x.shape else 0


def _triple(rng: random.Random, size: Size) -> tuple[Size | None, Size | None, int]:
    # Where a size is a name, ends that are numbers or the size less a number both occur.
    ends: list[Any] = [None, None, None, 0, 1, 2, -1, -2, size, 5]
    return rng.choice(ends[:-2]), rng.choice(ends), rng.choice([1, 1, 1, 2, -1, -2])


def _key(rng: random.Random, x: Node, whole: Callable[[], Node]) -> Any:
    key: list[Any] = []
    for size in x.shape:
        kind = rng.random()
        if kind < 0.15:
            key.append(None)
        if kind < 0.4:
            key.append(slice(*_triple(rng, size)))
        elif kind < 0.6:
            key.append(rng.choice([0, 0, -1, 1]))
        elif kind < 0.75:
            key.append(whole())
        elif kind < 0.8:
            key.append([rng.choice([0, -1, 1]) for _ in range(rng.randint(1, 3))])
        else:
            key.append(slice(None))
    if rng.random() < 0.3:
        del key[rng.randint(0, len(key)) :]
        key.append(rng.choice([None, Ellipsis]))
    return tuple(key)


def _shape_of_as_many(rng: random.Random, x: Node) -> tuple[Size, ...]:
    sizes = [s for s in x.shape if s != 1]
    if rng.random() < 0.4:
        rng.shuffle(sizes)
    if len(sizes) > 1 and rng.random() < 0.4:
        sizes[:2] = [size_product(sizes[:2])]
    for _ in range(rng.randint(0, 2)):
        sizes.insert(rng.randint(0, len(sizes)), 1)
    return tuple(sizes)


def _contraction(rng: random.Random, array: Callable[[], Node], _: Callable[[], Node]) -> Node:
    args = [x for x in (array() for _ in range(rng.randint(1, 3))) if x.shape]
    labels: dict[Size, list[int]] = {}
    own: list[list[int]] = []
    count = 0
    for x in args:
        row: list[int] = []
        for size in x.shape:
            known = labels.setdefault(size, [])
            if not known or rng.random() < 0.3:
                known.append(count)
                count += 1
            row.append(rng.choice(known))
        own.append(row)
    used = list(dict.fromkeys(label for row in own for label in row))
    return contract(args, own, rng.sample(used, rng.randint(0, len(used))))


def _joined(rng: random.Random, array: Callable[[], Node], _: Callable[[], Node]) -> Node:
    x = array()
    others = [y for y in (array() for _ in range(8)) if len(y.shape) == len(x.shape)]
    return build.join([x, *others[: rng.randint(0, 2)], x], _one_axis(rng, x))


def _stacked(rng: random.Random, array: Callable[[], Node], _: Callable[[], Node]) -> Node:
    x = array()
    others = [y for y in (array() for _ in range(8)) if y.shape == x.shape]
    return build.stack([x, *others[: rng.randint(0, 2)]], rng.randint(0, len(x.shape)))


def _raw_gather(rng: random.Random, array: Callable[[], Node], whole: Callable[[], Node]) -> Node:
    x = array()
    axes = tuple(sorted(rng.sample(range(len(x.shape)), rng.randint(1, len(x.shape)))))
    positions = [whole() if rng.random() < 0.8 else number(rng.choice([0, -1])) for _ in axes]
    return OPS["gather"](x, *positions, params=(axes,))


def _scattered(rng: random.Random, array: Callable[[], Node], whole: Callable[[], Node]) -> Node:
    x = array()
    rank = len(x.shape)
    axes = tuple(sorted(rng.sample(range(rank), rng.randint(1, rank))))
    positions = [whole() for _ in axes]
    return OPS["scatter_add"](
        OPS["gather"](x, *positions, params=(axes,)), *positions, params=(axes, x.shape)
    )


def _unsliced(rng: random.Random, array: Callable[[], Node], _: Callable[[], Node]) -> Node:
    x = array()
    triples = tuple(_triple(rng, size) for size in x.shape)
    return OPS["unslice"](OPS["slice"](x, params=(triples,)), params=(triples, x.shape))


def _reduced(name: str) -> Draw:
    def draw(rng: random.Random, array: Callable[[], Node], _: Callable[[], Node]) -> Node:
        x = array()
        return build.reduce_axes(name, x, _axes(rng, x), rng.random() < 0.4)

    return draw


def _of_one(make: Callable[[random.Random, Node], Node]) -> Draw:
    return lambda rng, array, _: make(rng, array())


def _of_two(make: Callable[[Node, Node], Node]) -> Draw:
    return lambda rng, array, _: make(array(), array())


def _regular(x: Node) -> Node:
    """A matrix, or a stack of them, that is far from singular: tanh keeps its numbers small."""
    small = tanh(x)
    turned = build.swapaxes(small, -1, -2)
    return products.matmul(small, turned) + build.identity(x.shape[-2])


MOVES: Mapping[str, Draw] = {
    "add": _of_two(lambda a, b: OPS["add"](a, b)),
    "mul": _of_two(lambda a, b: OPS["mul"](a, b)),
    "neg": _of_one(lambda rng, x: OPS["neg"](x)),
    "square": _of_one(lambda rng, x: OPS["pow"](x, as_node(2))),
    "exp": _of_one(lambda rng, x: exp(OPS["neg"](OPS["pow"](x, as_node(2))))),
    "where": _of_two(lambda a, b: where(gt(a, as_node(0)), b, a)),
    "matmul": _of_two(products.matmul),
    "matmul of transposes": _of_two(lambda a, b: products.matmul(a, build.matrix_transpose(b))),
    "transpose": _of_one(lambda rng, x: build.permute(x)),
    "permute": _of_one(lambda rng, x: build.permute(x, rng.sample(range(len(x.shape)), len(x.shape)))),
    "contraction": _contraction,
    "outer": _of_two(products.outer),
    "tensordot": _of_two(lambda a, b: products.tensordot(a, b, 1)),
    "inner": _of_two(products.inner),
    "trace": _of_one(lambda rng, x: products.trace(x)),
    "diag": _of_one(lambda rng, x: products.diag(x)),
    "inv": _of_one(lambda rng, x: matrices.inv(_regular(x))),
    "inv of what may be singular": _of_one(lambda rng, x: matrices.inv(x)),
    "det": _of_one(lambda rng, x: matrices.det(_regular(x))),
    "logdet": _of_one(lambda rng, x: matrices.logdet(_regular(x))),
    "expm": _of_one(lambda rng, x: matrices.expm(tanh(x))),
    "sinm": _of_one(lambda rng, x: matrices.sinm(tanh(x))),
    "cosm": _of_one(lambda rng, x: matrices.cosm(tanh(x))),
    "expm_frechet": _of_two(lambda a, b: matrices.expm_frechet(tanh(a), b)),
    "cholesky": _of_one(lambda rng, x: matrices.cholesky(_regular(x))),
    "solve": _of_two(lambda a, b: matrices.solve(_regular(a), b)),
    "matrix_power": _of_one(lambda rng, x: matrices.matrix_power(tanh(x), rng.randint(0, 5))),
    "kron": _of_two(lambda a, b: matrices.kron(a, tanh(b))),
    "sum": _of_one(lambda rng, x: build.total(x, _axes(rng, x), rng.random() < 0.4)),
    **{name: _reduced(name) for name in ("mean", "prod", "max", "min", "logsumexp")},
    "softmax": _of_one(lambda rng, x: build.over_axes("softmax", x, _axes(rng, x))),
    "log_softmax": _of_one(lambda rng, x: build.over_axes("log_softmax", x, _axes(rng, x))),
    "norm": _of_one(lambda rng, x: build.vector_norm(x, None, _axes(rng, x), rng.random() < 0.4)),
    "var": _of_one(lambda rng, x: build.var(x, _axes(rng, x))),
    "argmax": _of_one(
        lambda rng, x: build.argument_position("argmax", x, rng.choice([None, _one_axis(rng, x)]))
    ),
    "cumsum": _of_one(lambda rng, x: build.cumulative_sum(x, _one_axis(rng, x), rng.random() < 0.5)),
    "prod_except": _of_one(
        lambda rng, x: OPS["prod_except"](x, params=(build.axis_of(_one_axis(rng, x), len(x.shape)),))
    ),
    "reshape": _of_one(lambda rng, x: build.reshaped(x, _shape_of_as_many(rng, x))),
    "flatten": _of_one(lambda rng, x: build.reshaped(x, -1)),
    "expand_dims": _of_one(lambda rng, x: build.expand_dims(x, rng.randint(0, len(x.shape)))),
    "squeeze": _of_one(lambda rng, x: build.squeeze_axes(x)),
    "broadcast_to": _of_one(lambda rng, x: build.broadcast(x, (rng.choice([2, "n"]), *x.shape))),
    "flip": _of_one(lambda rng, x: build.flip(x, _axes(rng, x))),
    "slice": _of_one(lambda rng, x: OPS["slice"](x, params=(tuple(_triple(rng, size) for size in x.shape),))),
    "subscript": lambda rng, array, whole: subscripts.index(x := array(), _key(rng, x, whole)),
    "unslice": _unsliced,
    "concatenate": _joined,
    "stack": _stacked,
    "take": lambda rng, array, whole: subscripts.take(x := array(), whole(), _one_axis(rng, x)),
    "take_along_axis": lambda rng, array, whole: subscripts.take_along_axis(
        x := array(), whole(), _one_axis(rng, x)
    ),
    "gather": _raw_gather,
    "scatter_add": _scattered,
    "one_hot": lambda rng, array, whole: build.onehot(whole(), rng.choice([3, "n", size_sum(["n", 1])])),
    "eye": lambda rng, array, whole: build.identity(rng.choice(["n", 3]), rng.choice([None, "m", 2])),
    "arange": lambda rng, array, whole: build.arange(rng.choice(["n", 3, size_product([2, "m"])])),
    "full": lambda rng, array, whole: build.full_array(
        tuple(rng.choice(["n", "m", 2, 1, 0]) for _ in range(rng.randint(0, 3))),
        as_node(rng.choice([0, 1, 2])),
    ),
}


def random_arrays(
    seed: int, size: int = 10, moves: Sequence[str] = tuple(MOVES), symbols: Sequence[Node] = SYMBOLS
) -> list[Node]:
    """Return random nodes, each made of symbols and earlier ones; the same for the same seed.

    Args:
        seed: of the generator.
        size: how many steps.
        moves: names of MOVES to draw from.
        symbols: the arrays to start from.
    """
    rng = random.Random(seed)
    made: list[Node] = []

    def array() -> Node:
        return rng.choice(made[-4:] if made and rng.random() < 0.5 else symbols)

    def whole() -> Node:
        found = [
            n for n in (*symbols, *made) if n.dtype == "int" and not any(a.dtype == "bool" for a in n.args)
        ]
        positions = [n for n in found if n.op.name in ("symbol", "argmax", "slice", "reshape")]
        return rng.choice(positions)

    while len(made) < size:
        try:
            node = MOVES[rng.choice(moves)](rng, array, whole)
        except (SymgradError, ValueError):
            continue  # shapes that do not fit, an axis that is not there
        if len(node.shape) <= 5:
            made.append(node)
    return made


def random_sizes(rng: np.random.Generator) -> dict[str, int]:
    """Return values for the named sizes, 0 and 1 among them."""
    return {name: int(rng.choice([0, 1, 2, 3, 4], p=[0.1, 0.2, 0.3, 0.2, 0.2])) for name in ("n", "m", "b")}


def random_values(
    rng: np.random.Generator, sizes: Mapping[str, int], symbols: Sequence[Node] = SYMBOLS
) -> dict[Node, Any]:
    """Return an array for every symbol; whole numbers are positions in an axis that has an entry."""
    values: dict[Node, Any] = {}
    for node in symbols:
        shape = tuple(evaluate_size(s, sizes) for s in node.shape)
        if node.dtype == "bool":
            values[node] = rng.random(shape) < 0.5
        elif node.dtype == "int":
            values[node] = rng.integers(-1, 1, shape)
        elif node.declaration.domain is POSITIVE:
            values[node] = rng.uniform(0.5, 2.0, shape)
        else:
            values[node] = rng.normal(size=shape)
    return values
