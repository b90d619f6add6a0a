"""The search of the stable phase: rewrite rules give other forms, and the form with fewer wrong bits is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.ir.graph import Node
from symgrad.ir.traverse import all_pointwise, topological, with_args
from symgrad.rewrite.choice.alternatives import Alternatives
from symgrad.rewrite.choice.float_faults import FINE
from symgrad.rewrite.choice.samples import Sample, searchable
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.rules.stable import STABLE
from symgrad.rewrite.trace import Step, Trace
from symgrad.support.progress import steps

_DEPTH = 3  # largest depth of replacements inside replacements
_TRIED = 120  # largest number of forms that are compared in one call
_FORMS = 10  # largest number of forms of one node
_ROUNDS = 4  # largest number of replacements of one node, one after the other

# At every point, the new form may have at most this many wrong bits more than the old form, or than one ulp counts for,
# whichever is more. If a form gains much on average, a few more roundings are allowed.
_ALLOWED = 0.5
_ONE_ULP = 1.0
_ROUNDINGS = 1.5
_CANCELS = 2.5  # above this number of wrong bits digits have cancelled, and the exact number is partly chance
# The new form must have fewer wrong bits: by this many on average, or at one point.
_ON_AVERAGE = 0.25
_AT_ONE_POINT = 2.0
_BAD = 4.0  # other forms of a whole output are tried only if it has more wrong bits than this
_FEWEST = 8  # smallest number of points at which forms are compared


def stabilise(
    outputs: Sequence[Node],
    known: Conditions,
    sample: Sample,
    others: Sequence[Callable[[], Sequence[Node]]] = (),
) -> tuple[list[Node], Trace]:
    """Return nodes in forms that lose fewer digits, and the steps that led there.

    Args:
        outputs: the nodes.
        known: facts about them.
        sample: points at which forms are compared.
        others: functions that return further forms of all outputs, the simplest first; called if the current forms lose
            digits.
    """
    trace = Trace()
    search = _FormSearch(known, sample)
    chosen = search.forms_of(outputs)
    for make in others:
        if not any(search.loses(n, _BAD) for n in chosen):
            break
        more = list(make())
        if searchable(more) is None:
            chosen = [b if search.replaces(a, b) else a for a, b in zip(chosen, more, strict=True)]
    if others and not all_pointwise(topological(chosen)):
        chosen = _with_best_parts(chosen, known, others)
    alive = set(topological(chosen))
    trace.steps = [s for s in search.steps if s.after in alive or search.done.get(s.after) in alive]
    trace.rounds = 1
    if search.tried >= _TRIED:
        trace.stopped = "budget"
    return chosen, trace


def _with_best_parts(
    chosen: list[Node], known: Conditions, others: Sequence[Callable[[], Sequence[Node]]]
) -> list[Node]:
    """Return array programs, or the form of them whose elementwise parts lose fewer digits."""
    for make in others:
        if not Sample(chosen, known).faults_of_parts(chosen):
            break
        more = list(make())
        if searchable(more) is None:
            sample = Sample([*chosen, *more], known)
            chosen = min(chosen, more, key=sample.faults_of_parts)
    return chosen


class _FormSearch:
    def __init__(self, known: Conditions, sample: Sample) -> None:
        self._alternatives = Alternatives(STABLE, known)
        self.sample = sample
        self.done: dict[Node, Node] = {}
        self.steps: list[Step] = []
        self.tried = 0

    def loses(self, node: Node, more_than: float) -> bool:
        """Tell whether a form has more than `more_than` wrong bits at some point."""
        return node.op.pointwise and self.sample.exceeds(node, more_than)

    def forms_of(self, outputs: Sequence[Node]) -> list[Node]:
        """Return forms of outputs that are no worse as a whole: in the old form, errors of parts may have cancelled.

        If too few values of the whole output are known, the choices for its parts stay.
        """
        after = self.run(outputs, 0)
        return [b if a is b or self._stands(a, b) else a for a, b in zip(outputs, after, strict=True)]

    def _stands(self, before: Node, after: Node) -> bool:
        usable = self.sample.agree(before, after)
        if usable is None or usable.sum() < _FEWEST:
            return usable is not None
        return self.on_the_whole(self.compare(before, after))

    def run(self, outputs: Sequence[Node], depth: int) -> list[Node]:
        """Return nodes with every part in its best form, innermost first."""
        order = topological(outputs, until=self.done)
        for node in order if depth else steps("rules", "looking for stable forms", order):
            if node in self.done:
                continue
            rebuilt = with_args(node, [self.done[a] for a in node.args])
            if rebuilt is not node:
                self.sample.takes(rebuilt, node)
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
        """Return the best form that one row produces, if it has fewer wrong bits than `best`; otherwise None."""
        found: tuple[Node, Step] | None = None
        least = 0.0
        seen = {best}
        for start in starts:
            for step in self._alternatives.of(start):
                if len(seen) > _FORMS or self.tried >= _TRIED:
                    return found
                if step.after in seen:
                    continue
                if not self.loses(best, FINE):
                    return None
                seen.add(step.after)
                self.tried += 1
                held = len(self.steps)
                form = self.run([step.after], depth + 1)[0]
                change = None if form is best else self.compare(best, form)
                if change is not None and change.gain > least and self.no_worse(change):
                    found = form, Step(step.rule, start, form, step.soundness, step.notes)
                    least = change.gain
                    continue
                del self.steps[held:]
        return found

    def compare(self, before: Node, after: Node) -> _Change | None:
        """Return the wrong bits of two forms at known points; None if the forms differ or few values are known."""
        usable = self.sample.agree(before, after)
        if usable is None or usable.sum() < _FEWEST:
            return None
        old, new = self.sample.errors(before, before), self.sample.errors(after, before)
        return _Change(before, np.flatnonzero(usable), old[usable], new[usable])

    def replaces(self, best: Node, form: Node) -> bool:
        """Tell whether a form is better at some points, worse at none, and defined wherever the other form is."""
        if form is best or not self.loses(best, _BAD):
            return False
        defined = zip(self.sample.exact(best), self.sample.exact(form), strict=True)
        if any(b is None and a is not None for a, b in defined):
            return False
        change = self.compare(best, form)
        return change is not None and self.on_the_whole(change) and change.gain > 0

    def on_the_whole(self, change: _Change | None) -> bool:
        """Tell whether a form of an output is no worse than the old one; errors of parts may add up by chance."""
        if change is None or not change.mean >= 0:
            return False
        return self._within(change, _by_chance(np.maximum(change.old, _CANCELS)))

    def no_worse(self, change: _Change) -> bool:
        """Tell whether a form is nowhere worse than chance allows: half a bit, or more where digits cancel."""
        noise = _ONE_ULP + min(max(change.mean, 0.0) / 2, _ROUNDINGS)
        chance = change.old > _CANCELS
        allowed = _by_chance(change.old)
        allowed[~chance] = np.maximum(change.old[~chance], noise) + _ALLOWED
        return change.mean >= -_ALLOWED and self._within(change, allowed)

    def _within(self, change: _Change, allowed: Any) -> bool:
        """Tell whether no error is larger than allowed.

        Errors that every form has because inputs are rounded do not count.
        """
        over = change.new > allowed
        if not over.any():
            return True
        inherent = self.sample.inherent(change.target, change.points[over].tolist())
        return bool((change.new[over] <= inherent + _ALLOWED).all())


def _by_chance(bits: Any) -> Any:
    """Return the number of wrong bits that may be due to chance: it is larger if more digits have cancelled."""
    return 1.2 * bits + 1.5


class _Change:
    """Two forms of one value, compared.

    Args:
        target: the first form.
        points: the points at which both have the same value.
        old, new: the numbers of wrong bits at these points.
    """

    __slots__ = ("new", "old", "points", "target")

    def __init__(self, target: Node, points: Any, old: Any, new: Any) -> None:
        self.target, self.points, self.old, self.new = target, points, old, new

    @property
    def mean(self) -> float:
        """The number of bits that the second form gains on average."""
        return float((self.old - self.new).mean())

    @property
    def gain(self) -> float:
        """The number of bits gained on average; 0 if it is too small to justify a change."""
        mean = self.mean
        worth = mean >= _ON_AVERAGE or float((self.old - self.new).max()) >= _AT_ONE_POINT
        return mean if mean > 0 and worth else 0.0
