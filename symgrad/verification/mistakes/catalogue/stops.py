"""Mistakes about stop_gradient and random inputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from symgrad.ir.graph import apply, as_node
from symgrad.ir.traverse import substitute
from symgrad.ops.array.layout import full
from symgrad.verification.mistakes.rule import MistakeTable, Site, Wrong, is_noise

mistake: MistakeTable[Site, Wrong] = MistakeTable()


@mistake("stop-gradient-ignored", ("stop_gradient",), 10, "differentiating through {0}")
def _ignored(s: Site) -> Iterator[Wrong]:
    yield Wrong(((s.node.args[0], s.bar),))


@mistake(
    "stop-gradient-too-strong",
    ("stop_gradient",),
    11,
    "taking {0} for zero: it holds back the gradient, not the value",
)
def _too_strong(s: Site) -> Iterator[Wrong]:
    (without,) = substitute([s.y], {s.node: full(as_node(0), s.node.shape)})
    yield Wrong(value=without)


def _noise_as(value: int, s: Site) -> Iterator[Wrong]:
    """Replace a random input by a number: everywhere, or in one equation."""
    for i, noise in enumerate(s.node.args):
        if is_noise(noise):
            number = full(as_node(value), noise.shape)
            args = tuple(number if k == i else a for k, a in enumerate(s.node.args))
            for table in ({noise: number}, {s.node: apply(s.node.op, args, s.node.params)}):
                yield Wrong(value=substitute([s.y], table)[0], words={"held": noise})


mistake("noise-treated-as-constant-one", (), 12, "taking the noise {held} for 1")(partial(_noise_as, 1))

mistake("noise-treated-as-zero", (), 30, "taking the noise {held} for 0")(partial(_noise_as, 0))
