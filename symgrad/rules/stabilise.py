"""The search of the stable phase: forms by the rows, chosen by how many bits are wrong at sample points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import Node, apply
from symgrad.ir.traverse import topological
from symgrad.rewrite.condition import Conditions
from symgrad.rewrite.trace import Step, Trace
from symgrad.rules.alternatives import Alternatives
from symgrad.rules.samples import Sample
from symgrad.rules.stable import STABLE

__all__ = ["stabilise"]

_LARGEST = 160  # equations
_DEPTH = 3  # of replacements inside replacements
_TRIED = 80  # forms compared in one call
_FORMS = 10  # of one node
_ROUNDS = 4  # of replacements of one node

# A form may have at no point more wrong bits than the other, or than an ulp makes, by more than this. The roundings of a
# form that gains much may add up to two ulps.
_ALLOWED = 0.5
_ONE_ULP = 1.0
_NOISE = 1.6
_MUCH = 1.0
# It has to have fewer: so many on average, or so many at one point.
_ON_AVERAGE = 0.25
_AT_ONE_POINT = 2.0
_FEWEST = 8  # points at which forms are compared, at least


def stabilise(outputs: Sequence[Node], known: Conditions) -> tuple[list[Node], Trace]:
    """Return nodes in forms that lose fewer digits, and the steps that led there."""
    nodes = list(outputs)
    trace = Trace()
    if len(topological(nodes)) > _LARGEST:
        trace.stopped = "budget"
        return nodes, trace
    search = _Search(nodes, known)
    after = search.run(nodes, 0)
    # Errors of parts that used to cancel may no longer do so: what counts is the whole.
    kept = [
        b if a is b or search.no_worse(search.compare(a, b)) else a for a, b in zip(nodes, after, strict=True)
    ]
    alive = set(topological(kept))
    trace.steps = [s for s in search.steps if s.after in alive or search.done.get(s.after) in alive]
    trace.rounds = 1
    if search.tried >= _TRIED:
        trace.stopped = "budget"
    return kept, trace


class _Search:
    def __init__(self, outputs: Sequence[Node], known: Conditions) -> None:
        self._outputs = outputs
        self._alternatives = Alternatives(STABLE, known)
        self._sample: Sample | None = None
        self._known = known
        self.done: dict[Node, Node] = {}
        self.steps: list[Step] = []
        self.tried = 0

    @property
    def sample(self) -> Sample:
        if self._sample is None:
            self._sample = Sample(self._outputs, self._known)
        return self._sample

    def run(self, outputs: Sequence[Node], depth: int) -> list[Node]:
        """Return nodes with every part in its best form, innermost first."""
        for node in topological(outputs, until=self.done):
            if node in self.done:
                continue
            args = tuple(self.done[a] for a in node.args)
            rebuilt = node if args == node.args else apply(node.op, args, node.params)
            self.done[node] = self._best(node, rebuilt, depth)
        return [self.done[o] for o in outputs]

    def _best(self, written: Node, rebuilt: Node, depth: int) -> Node:
        best = rebuilt
        if rebuilt.dtype != "real" or not rebuilt.op.pointwise or depth > _DEPTH:
            return best
        starts = [written, rebuilt] if rebuilt is not written else [rebuilt]
        for _ in range(_ROUNDS):
            better = self._better(starts, best, depth)
            if better is None:
                return best
            self.steps.append(better[1])
            best = better[0]
            starts = [best]
        return best

    def _better(self, starts: Sequence[Node], best: Node, depth: int) -> tuple[Node, Step] | None:
        """Return the form of those a row away that has the fewest wrong bits, if that is fewer."""
        found: tuple[Node, Step] | None = None
        least = 0.0
        seen = {best}
        for start in starts:
            for step in self._alternatives.of(start):
                if len(seen) > _FORMS or self.tried >= _TRIED:
                    return found
                if step.after in seen:
                    continue
                seen.add(step.after)
                self.tried += 1
                held = len(self.steps)
                form = self.run([step.after], depth + 1)[0]
                change = self.compare(best, form) if form is not best else None
                if change is not None and self.no_worse(change):
                    gain = _gain(change)
                    if gain > least:
                        found, least = (form, Step(step.rule, start, form, step.soundness, step.notes)), gain
                        continue
                del self.steps[held:]
        return found

    def compare(self, before: Node, after: Node) -> tuple[Any, Any] | None:
        """Return the wrong bits of two forms of one value where it is known, None if they are not equal."""
        usable = self.sample.agree(before, after)
        if usable is None or usable.sum() < _FEWEST:
            return None
        return self.sample.errors(before, before)[usable], self.sample.errors(after, before)[usable]

    @staticmethod
    def no_worse(change: tuple[Any, Any] | None) -> bool:
        if change is None:
            return False
        before, after = change
        noise = _NOISE if float((before - after).mean()) >= _MUCH else _ONE_ULP
        return bool(np.all(after <= np.maximum(before, noise) + _ALLOWED))


def _gain(change: tuple[Any, Any]) -> float:
    """Return how many bits a form gains on average, 0 if too few to bother."""
    before, after = change
    gained = before - after
    mean = float(gained.mean())
    return mean if mean > 0 and (mean >= _ON_AVERAGE or gained.max() >= _AT_ONE_POINT) else 0.0


