"""What stop_gradient holds back, and noise."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.graph import SYMBOL, Node, apply, as_node
from symgrad.ir.traverse import substitute
from symgrad.ops.array.layout import full
from symgrad.verification.mistakes.rule import MalRule, Site, Wrong

__all__ = ["ROWS"]


def _ignored(s: Site) -> Iterator[Wrong]:
    yield Wrong(((s.node.args[0], s.bar),))


def _too_strong(s: Site) -> Iterator[Wrong]:
    (without,) = substitute([s.y], {s.node: full(as_node(0), s.node.shape)})
    yield Wrong(value=without)


def _one_for(s: Site, i: int, value: int) -> Iterator[Wrong]:
    noise = s.node.args[i]
    number = full(as_node(value), noise.shape)
    yield Wrong(value=substitute([s.y], {noise: number})[0], words={"held": noise})
    args = tuple(number if k == i else a for k, a in enumerate(s.node.args))
    one = apply(s.node.op, args, s.node.params)
    yield Wrong(value=substitute([s.y], {s.node: one})[0], words={"held": noise})


def _noises(s: Site) -> Iterator[tuple[int, Node]]:
    for i, arg in enumerate(s.node.args):
        if arg.op is SYMBOL and arg.declaration.distribution is not None:
            yield i, arg


def _as_one(s: Site) -> Iterator[Wrong]:
    for i, _ in _noises(s):
        yield from _one_for(s, i, 1)


def _as_zero(s: Site) -> Iterator[Wrong]:
    for i, _ in _noises(s):
        yield from _one_for(s, i, 0)


ROWS = (
    MalRule(
        kind="stop-gradient-ignored",
        says="this is what one gets by differentiating through {0}",
        ops=("stop_gradient",),
        distort=_ignored,
        rank=10,
    ),
    MalRule(
        kind="stop-gradient-too-strong",
        says="this is what one gets by taking {0} for zero: it holds back the gradient, not the value",
        ops=("stop_gradient",),
        distort=_too_strong,
        rank=11,
    ),
    MalRule(
        kind="noise-treated-as-constant-one",
        says="this is what one gets by taking the noise {held} for 1",
        distort=_as_one,
        rank=12,
    ),
    MalRule(
        kind="noise-treated-as-zero",
        says="this is what one gets by taking the noise {held} for 0",
        distort=_as_zero,
        rank=30,
    ),
)
