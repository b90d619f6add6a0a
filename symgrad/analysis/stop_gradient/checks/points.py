"""Points at which programs are evaluated: generic ones, and those where a subexpression vanishes, clips or overflows.

For a program with only scalars, all points form one batch. Programs with arrays are evaluated at one point at a time,
with small sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from symgrad.analysis.explain.noise.sample_points import domain_of, hash_of, place_in
from symgrad.analysis.explain.removable_singularities.zeros import maybe_zeros
from symgrad.checker.clock import is_late
from symgrad.ir.graph import SIZE, Node
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import reads_arrays, symbols_of, topological
from symgrad.ir.values.evaluate import evaluate
from symgrad.support.errors import SymgradError

Batch: TypeAlias = "dict[Node, Any]"

_PLAIN = 4
_SPECIAL = (0, 1, -1, 1000, -1000, 50, -50)
_BESIDE = (
    (1, 0),
    (Fraction(1, 2), 0),
    (Fraction(3, 2), 0),
    (1, Fraction(1, 1000)),
    (1, Fraction(-1, 1000)),
    (1, 1),
    (1, -1),
)
"""Factors and summands that move a point away from a zero."""
_ROUGH = 64  # number of points with full mantissas
_SYMBOLS = 12  # number of inputs that vary one at a time
_SOLVED = 40  # number of subexpressions whose zeros are searched for
_POINTS = 400
_SOLUTION = 5e-4  # seconds for one zero
_ALONE = 3  # number of arrays that are 0 while other inputs are not
_FILLED = (0, 1, -1, 1000, -1000)
_END = Fraction(1, 1000)  # distance from an end of a domain, relative to its length
_ENTRIES = 4_000  # largest number of entries of all arrays of a point
_VANISH = frozenset({"acos", "asin", "clip", "ge", "gt", "le", "lt", "maximum", "minimum", "relu"})
_ARGUMENTS = frozenset({"log", "log10", "log2", "pow", "sqrt", "cbrt", "abs", "atanh"})


class Points:
    """Values for the inputs of a program.

    Args:
        y: the program.
        end: the deadline for zeros, on the clock of `symgrad.checker.clock`.
    """

    def __init__(self, y: Node, end: float) -> None:
        self._order = topological([y])
        self.symbols = symbols_of([y])
        self.vector = not reads_arrays([y])
        """Whether all points form one batch."""
        names = names_of(*((n.shape, n.params if n.op is SIZE else ()) for n in self._order))
        self._sizes = {name: 3 + i % 3 for i, name in enumerate(names)}
        self._end = end
        self._feasible = sum(int(np.prod(self._shape(s))) for s in self.symbols) <= _ENTRIES

    @cached_property
    def batches(self) -> list[Batch]:
        """The points; for scalars they are one batch."""
        if not self.vector:
            return self._of_arrays()
        rows = list(self._rows())
        return [{s: np.array([row[s] for row in rows]) for s in self.symbols}]

    def plain(self) -> list[Batch]:
        """Return generic points."""
        if self.vector:
            rows = [{s: self._plain(s, k) for s in self.symbols} for k in range(_PLAIN)]
            return [{s: np.array([row[s] for row in rows]) for s in self.symbols}]
        return self._of_arrays()[:_PLAIN]

    def rough(self) -> list[Batch]:
        """Return points with full mantissas, which make rounding visible."""
        random = np.random.default_rng(0)

        def filled(s: Node, shape: tuple[int, ...]) -> Any:
            if s.dtype != "real":
                return self._filled(s, 0, None) if not self.vector else np.full(shape, self._plain(s, 0))
            low, high = domain_of(s).span
            t = random.uniform(0.01, 0.99, shape)
            if low is not None and high is not None:
                return float(low) + (float(high) - float(low)) * t
            if low is not None or high is not None:
                return float(low) + t / (1 - t) if low is not None else float(high or 0) - t / (1 - t)
            return 3 * random.standard_normal(shape)

        if self.vector:
            return [{s: filled(s, (_ROUGH,)) for s in self.symbols}]
        times = _PLAIN if self._feasible else 0
        return [{s: filled(s, self._shape(s)) for s in self.symbols} for _ in range(times)]

    def direction(self, w: Node, batch: Batch) -> Any:
        """Return a direction for the tangent of an input or an intermediate value."""
        shape = (self.count(batch),) if self.vector else self._shape(w)
        return np.random.default_rng(1).uniform(0.5, 1.5, shape)

    def evaluate(self, nodes: Sequence[Node], batch: Batch) -> list[Any] | None:
        """Return the values of nodes at points; None if they cannot be computed."""
        try:
            return evaluate(nodes, batch, self._sizes)
        except (SymgradError, ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
            return None

    def values(self, nodes: Sequence[Node], *, rough: bool = False) -> Iterator[tuple[Batch, list[Any]]]:
        """Yield the batches at which nodes can be computed, with their values."""
        for batch in self.rough() if rough else self.batches:
            found = self.evaluate(nodes, batch)
            if found is not None:
                yield batch, found

    def count(self, batch: Batch) -> int:
        """Return the number of points in a batch."""
        return len(next(iter(batch.values()))) if self.vector and batch else 1

    def point(self, batch: Batch, index: int) -> dict[str, Any]:
        """Return one point of a batch, with values by the names of the inputs."""
        return {s.name: v[index] if self.vector else v for s, v in batch.items()}

    def _rows(self) -> Iterator[dict[Node, Any]]:
        plain = [{s: self._plain(s, k) for s in self.symbols} for k in range(_PLAIN)]
        yield from plain
        moved = [s for s in self.symbols if s.dtype == "real"]
        for s in moved[:_SYMBOLS]:
            for t in _SPECIAL:
                if _takes(s, t):
                    yield {**plain[1], s: float(t)}
        labels = [s for s in self.symbols if s.dtype == "int" and None not in domain_of(s).span]
        for row in _pairs([*moved, *labels], _SPECIAL):
            yield {**plain[0], **{s: float(t) if s in moved else int(t) for s, t in row.items()}}
        yield from self._solved(plain)

    def _solved(self, plain: Sequence[Mapping[Node, Any]]) -> Iterator[dict[Node, Any]]:
        """Yield points at and near zeros of function arguments, and ties of choices."""
        made = 0
        real = [s for s in self.symbols if s.dtype == "real"]
        for f in list(dict.fromkeys(self._vanishing()))[:_SOLVED]:
            below = topological([f])
            for v in [s for s in real if s in below][:3]:
                for at in maybe_zeros(f, v):
                    if is_late(self._end, _SOLUTION) or made > _POINTS:
                        return
                    value = self.evaluate([at], {s: plain[0][s] for s in self.symbols})
                    if value is None or not np.isfinite(value[0]):
                        continue
                    for times, step in _BESIDE:
                        moved = float(value[0]) * float(times) + float(step)
                        if _takes(v, Fraction(moved)):
                            made += 1
                            yield {**plain[0], v: moved}
                            if (times, step) == (1, 0):
                                yield {**plain[0], **{s: 0.0 for s in real if _takes(s, 0)}, v: moved}

    def _vanishing(self) -> Iterator[Node]:
        for n in self._order:
            name = n.op.name
            if name in _ARGUMENTS or name in _VANISH:
                yield n.args[0]
            if name in _VANISH:
                yield from (n.args[0] - a for a in n.args[1:] if not a.is_number(0))
            if name == "div" and not n.args[1].is_number():
                yield n.args[1]

    def _of_arrays(self) -> list[Batch]:
        if not self._feasible:
            return []
        found = [{s: self._filled(s, k, None) for s in self.symbols} for k in range(_PLAIN)]
        moved = [s for s in self.symbols if s.dtype == "real"]
        rows = [*_pairs(moved, _FILLED)]
        found += [{s: self._filled(s, 0, (row.get(s),)) for s in self.symbols} for row in rows]
        found += [
            {s: self._filled(s, 1, v) for s in self.symbols}
            for v in ((0, None, 1, -1, 1000), (1000, None, -1000))
        ]
        found += [{s: self._filled(s, 1, (t, None, -t)) for s in self.symbols} for t in (50, 5)]
        found.append({s: self._unit(s) if s in moved else self._filled(s, 0, None) for s in self.symbols})
        found += [{s: self._filled(s, 1, v) for s, v in self._opposite(t)} for t in (1000, 5)]
        found += [{s: self._filled(s, 1, (None, t)) for s in self.symbols} for t in self._ends()]
        found += [{**found[1], s: self._filled(s, 0, (0,))} for s in moved[:_ALONE]]
        return found

    def _opposite(self, t: float) -> Iterator[tuple[Node, Sequence[Any]]]:
        """Give every other input the opposite sign, so that products of two inputs are negative."""
        for k, s in enumerate(self.symbols):
            yield s, (-t, None, t) if k % 2 else (t, None, -t)

    def _shape(self, s: Node) -> tuple[int, ...]:
        return tuple(evaluate_size(size, self._sizes) for size in s.shape)

    def _unit(self, s: Node) -> Any:
        """Return a unit vector or an identity matrix; a number is 1."""
        shape = self._shape(s)
        places = np.indices(shape)
        ones = places[0] == (places[1] if len(shape) > 1 else 0) if shape else np.True_
        return np.where(ones, float(_level(s, 1)), float(_level(s, 0)))

    def _ends(self) -> list[float]:
        """Return numbers inside the ranges of clips."""
        bounds = [a.value for n in self._order if n.op.name in _VANISH for a in n.args if a.is_number()]
        return [float(b) / 2 for b in dict.fromkeys(bounds) if b][:4]

    def _filled(self, s: Node, k: int, values: Sequence[Any] | None) -> Any:
        def entry(i: int) -> Any:
            t = values[i % len(values)] if values else None
            return float(t) if t is not None and s.dtype == "real" and _takes(s, t) else self._plain(s, k, i)

        shape = self._shape(s)
        if not shape:
            return entry(0)
        array = np.array([entry(i) for i in range(int(np.prod(shape)))]).reshape(shape)
        if s.declaration.symmetric:
            array = np.tril(array) + np.tril(array, -1).T
        return array

    def _plain(self, s: Node, k: int, i: int = 0) -> Any:
        t = Fraction(3 + hash_of(s.name, k, i) % 9_497, 9_503)
        if s.dtype == "int" and s.shape and not s.declaration.domain.sizes:
            return int(t * 2)  # it is most often a position
        value = place_in(domain_of(s), t)
        return value if isinstance(value, bool) else int(value) if s.dtype == "int" else float(value)


def _pairs(inputs: Sequence[Node], levels: Sequence[int]) -> Iterator[dict[Node, Any]]:
    """Yield levels of inputs, moved into their domains: any two of the first inputs take all pairs of levels.

    This is an orthogonal array. The number n of levels must be prime; any two of the first n + 1 inputs take all pairs.
    The first n rows give the same level to the first n inputs.
    """
    n = len(levels)
    for b in range(n if len(inputs) > 1 else 1):
        for a in range(n):
            columns = (b if k % (n + 1) == n else (a + k % (n + 1) * b) % n for k in range(len(inputs)))
            yield {s: _level(s, levels[c]) for s, c in zip(inputs, columns, strict=True)}


def _level(s: Node, value: int) -> Any:
    """Return a value, or a value of the domain of an input near the end that it reaches or exceeds."""
    if _takes(s, value):
        return value
    low, high = domain_of(s).span
    step = Fraction(1, 3) if low is None or high is None else _END
    return place_in(domain_of(s), 1 - step if high is not None and value >= high else step)


def _takes(s: Node, value: Any) -> bool:
    """Tell whether a value lies in the domain of an input."""
    domain = domain_of(s)
    ends = domain.span
    return domain.admits(value) or (domain.closed and value in ends)


def real_variables(args: Sequence[Node]) -> list[Node]:
    """Return the real arguments that are not numbers, each once."""
    return list(dict.fromkeys(a for a in args if a.dtype == "real" and not a.is_number()))


def point_text(point: Mapping[str, Any]) -> str:
    """Return a point as text for a sentence; for an array, a few entries."""

    def value_text(v: Any) -> str:
        if np.ndim(v) == 0:
            return str(bool(v)) if np.asarray(v).dtype == bool else f"{v:.6g}"
        if np.size(v) > 1 and np.all(v == np.ravel(v)[0]):
            return f"{value_text(np.ravel(v)[0])} (every entry)"
        text = np.array2string(np.asarray(v), precision=4, separator=", ", threshold=6, edgeitems=2)
        return " ".join(text.split())

    return ", ".join(f"{name} = {value_text(v)}" for name, v in point.items())
