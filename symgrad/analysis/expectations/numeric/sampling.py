"""Monte Carlo: seeded draws in blocks, evaluated by a compiled kernel, with intervals of 99 % confidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symgrad.analysis.expectations.assumptions import MomentOptions
from symgrad.ir.graph import Node
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.traverse import is_elementwise, symbols_of, topological
from symgrad.ir.values.evaluate import evaluate, sizes_of
from symgrad.ops.random.laws import drawn
from symgrad.support.progress import steps

_Z = 2.5758293035489004
"""The quantile of the normal distribution for a two-sided interval at the level 0.99."""

_BLOCK = 2**14
_ENTRIES = 2**22  # number of entries of an array of draws
_TOTAL = 2**27  # number of entries of all draws
_TOP = 80  # number of the largest draws, from which the tail is estimated


@dataclass(frozen=True, slots=True)
class Sampled:
    """An estimate.

    Args:
        value: the estimated moment.
        half: half the width of the interval.
        notes: doubts about the estimate.
    """

    value: Any
    half: Any
    notes: tuple[str, ...]


def sampled(
    outputs: Sequence[Node],
    sources: Sequence[Node],
    values: Mapping[Node, Any],
    options: MomentOptions,
    kind: Literal["expectation", "covariance"],
    sizes: Mapping[str, int] | None = None,
) -> Sampled:
    """Estimate the expectation of the first output, or the covariance of the first two, entry by entry.

    Args:
        outputs: one node, or two.
        sources: the random inputs.
        values: a number or array for every other symbol.
        options: the number of draws, and the seed.
        kind: the kind of moment.
        sizes: the values of named sizes that are not the length of an axis in ``values``.
    """
    known = sizes_of([*topological(outputs), *sources], values, sizes)
    symbols = [s for s in symbols_of(outputs) if s in values or s in sources]
    kernel = _kernel(outputs, symbols) if symbols else None
    shapes = {s: tuple(evaluate_size(x, known) for x in s.shape) for s in sources}
    entries = max([1, *(math.prod(s) for s in shapes.values()), *(_length(o, known) for o in outputs)])
    block = max(1, min(_BLOCK, _ENTRIES // entries))
    total = max(2 * block, min(options.samples, _TOTAL // entries))
    # Entrywise programs broadcast over the last axes, so the axis of the block comes before all others.
    elementwise = is_elementwise(outputs) and all(o.shape == outputs[0].shape for o in outputs)
    rank = max(len(n.shape) for n in topological(outputs)) if elementwise else 0
    shaped = elementwise and any(s.shape for s in symbols)
    generator = np.random.default_rng(options.seed)
    sums = _SampleSums()
    for _ in steps("moments", "drawing samples", range(-(-total // block))):
        draws = _draws(sources, shapes, values, known, block, generator)
        given = [_aligned(draws[s], rank) if s in draws else values[s] for s in symbols]
        found: Any = evaluate(outputs, values) if kernel is None else _called(kernel, given, shaped)
        arrays: list[Any] = list(found) if isinstance(found, tuple | list) else [found]  # pyright: ignore[reportUnknownArgumentType]  (of a kernel)
        whole = [_batched(f, o, known, block) for f, o in zip(arrays, outputs, strict=True)]
        sums.add(whole if kind == "covariance" else whole[:1])
    return sums.covariance() if kind == "covariance" else sums.expectation()


def _kernel(outputs: Sequence[Node], symbols: Sequence[Node]) -> Any:
    # Closed forms do not need llvmlite, which browsers do not have.
    from symgrad.compiler.kernels.compile import compile_nodes

    return compile_nodes(list(outputs), symbols)


def _called(kernel: Any, given: Sequence[Any], shaped: bool) -> Any:
    """Run a kernel on a block; the ufunc of an entrywise kernel does not check the declared shapes."""
    if not shaped:
        return kernel(*given)
    with np.errstate(all="ignore"):  # branches that are not taken may cause warnings
        return kernel.ufunc(*given)


def _aligned(draws: Any, rank: int) -> Any:
    """Insert axes of length 1 after the axis of the block."""
    missing = rank + 1 - draws.ndim
    return draws.reshape(draws.shape[0], *[1] * missing, *draws.shape[1:]) if missing > 0 else draws


def _length(node: Node, sizes: Mapping[str, int]) -> int:
    return math.prod(evaluate_size(x, sizes) for x in node.shape)


def _batched(found: Any, node: Node, sizes: Mapping[str, int], block: int) -> Any:
    return np.broadcast_to(found, (block, *[evaluate_size(x, sizes) for x in node.shape]))


def _draws(
    sources: Sequence[Node],
    shapes: Mapping[Node, tuple[int, ...]],
    values: Mapping[Node, Any],
    known: Mapping[str, int],
    block: int,
    generator: Any,
) -> dict[Node, Any]:
    """Return a block of draws of each input."""
    found: dict[Node, Any] = {}
    for s in sources:
        distribution = s.declaration.distribution
        assert distribution is not None
        formulas = list(distribution.formulas)
        given = dict(zip(formulas, evaluate(formulas, values, known), strict=True))
        if distribution.family.independent:
            draw = drawn(distribution, generator, (block, *shapes[s]), given)
        else:
            draw = np.stack([drawn(distribution, generator, shapes[s], given) for _ in range(block)])
        found[s] = np.asarray(draw, dtype=np.float64 if s.dtype == "real" else np.int64)
    return found


class _SampleSums:
    """Sums of powers of distances from the mean of the first block, for one output or two."""

    def __init__(self) -> None:
        self.count = 0
        self.centre: list[Any] = []
        self.power: Any = None
        self.tail: list[Any] = []
        self.lost = 0

    def add(self, outputs: list[Any]) -> None:
        """Add the values of a block."""
        if not self.centre:
            self.centre = [np.mean(o, axis=0) for o in outputs]
        infinite = [~np.isfinite(o).reshape(len(o), -1).all(axis=1) for o in outputs]
        self.lost += int(np.sum(np.any(infinite, axis=0)))
        x, y = outputs[0] - self.centre[0], outputs[-1] - self.centre[-1]
        sums = [(x**i * y**j).sum(axis=0) for i, j in _POWERS]
        self.power = sums if self.power is None else [a + b for a, b in zip(self.power, sums, strict=True)]
        self.count += len(x)
        if not self.tail:
            # The distances are from the median: if there is no expectation, the mean does not converge.
            sizes = [np.abs(o - np.median(o, axis=0)) for o in outputs]
            self.tail = [np.sort(d, axis=0)[-min(_TOP, len(d) // 10 or 1) :] for d in sizes]

    def _mean(self, i: int, j: int) -> Any:
        return self.power[_POWERS.index((i, j))] / self.count

    def expectation(self) -> Sampled:
        """Return the mean, with an interval computed from the variance."""
        moved = self._mean(1, 0)
        spread = np.maximum(self._mean(2, 0) - moved**2, 0) * self.count / (self.count - 1)
        notes = self._doubts(1, "expectation: there may be no interval")
        half = np.full(np.shape(moved), math.inf)[()] if notes else _Z * np.sqrt(spread / self.count)
        notes = notes or self._doubts(2, "variance: the interval may be too narrow by far")
        return Sampled(self.centre[0] + moved, half, notes)

    def covariance(self) -> Sampled:
        """Return the covariance, with an interval computed from the fourth moments."""
        a, b = self._mean(1, 0), self._mean(0, 1)
        value = self._mean(1, 1) - a * b
        # This is the variance of (x - a)*(y - b), multiplied out.
        square = (
            self._mean(2, 2)
            - 2 * b * self._mean(2, 1)
            - 2 * a * self._mean(1, 2)
            + b**2 * self._mean(2, 0)
            + a**2 * self._mean(0, 2)
            + 4 * a * b * self._mean(1, 1)
            - 3 * a**2 * b**2
        )
        half = _Z * np.sqrt(np.maximum(square - value**2, 0) / self.count)
        notes = self._doubts(2, "variance: there may be no interval")
        half = np.full(np.shape(half), math.inf)[()] if notes else half
        notes = notes or self._doubts(4, "fourth moment: the interval may be too narrow by far")
        return Sampled(value * self.count / (self.count - 1), half, notes)

    def _doubts(self, order: float, what: str) -> tuple[str, ...]:
        """Return a warning if Hill's estimator (1975) finds a heavy tail: x**-(a + 1) has moments only below a."""
        if self.lost:
            return (f"{self.lost} of {self.count} draws have no value",)
        lightest = math.inf
        for top in self.tail:
            with np.errstate(all="ignore"):
                a = 1 / np.mean(np.log(top[1:] / top[0]), axis=0)
            lightest = min(lightest, float(np.min(np.where(np.isfinite(a), a, math.inf))))
        return (f"the draws look as if there were no {what}",) if lightest <= order + 0.1 else ()


_POWERS = ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (2, 1), (1, 2), (2, 2))
