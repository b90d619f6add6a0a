"""Search for stop_gradients after which the gradient is the gradient without noise, or prove that there are none.

Sets of edges are tried in the order of their size. Exact points refute nearly all of them, in floats with a bound on
rounding. The engine of verdicts proves or refutes the rest. If more than three edges are needed, there is only one
candidate: the smallest cut that leaves exactly the paths without noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from symgrad.analysis.explain.naming import Naming
from symgrad.analysis.explain.noise.dependence import Dependence
from symgrad.analysis.stop_gradient.placements.cut_filter import Cut, CutFilter
from symgrad.analysis.stop_gradient.placements.impossible import CutRegion, Refusal, noisy_region, refuse
from symgrad.analysis.stop_gradient.placements.paths import PathGraph, ValueEdge
from symgrad.analysis.stop_gradient.placements.rewriting import outer_forms, replaced, stopped, with_fixed
from symgrad.analysis.stop_gradient.placements.sample_points import CutProblem, points_of
from symgrad.analysis.stop_gradient.placements.verdicts import same_gradient, why_none
from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import now
from symgrad.ir.graph import SYMBOL, Node, as_node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.layout import full
from symgrad.ops.control import straight_through, without_stops
from symgrad.rewrite.pipeline import canonical
from symgrad.support.texts import join_texts
from symgrad.verification.gradients.value_and_gradient import combine_verdicts
from symgrad.verification.verdict import Verdict

_EXHAUSTED = 3  # up to this size, all sets are tried
_PROOFS = 4  # number of sets of one size that the engine examines
_FORMS = 4  # number of values for which a straight-through form is tried
_FEW_PLACES, _MOST_PLACES = 6, 13
"""The number of places at which the noise enters if all their subsets are tried: before the search by size, and after
it."""

_SEARCHED = 2.5  # seconds for the sets of one size
_TOGETHER = 3.0  # seconds for the sets of all sizes, with and without the program's own stop_gradients
_WORTHWHILE = 0.5  # another search starts only if it has this many seconds
_PROOF_SHARE = 0.4  # share of the remaining time for one proof


@dataclass(frozen=True, slots=True)
class StraightThroughForm:
    """A value that is replaced by itself, but with the derivatives of its noise-free form.

    Attributes:
        value: the value.
        calm: the noise-free form of the value.
        nodes: maps nodes of the program to nodes of the new program.
        verdict: a verdict on the gradient of the new program.
    """

    value: Node
    calm: Node
    nodes: Mapping[Node, Node] = field(repr=False)
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class PlacementOutcome:
    """The result of the search in a program.

    Attributes:
        possible: whether some set of stop_gradients gives the reference; None if this is neither proved nor refuted.
        cut: the edges to stop, if a set was found.
        nodes: maps nodes of the program to nodes of the repaired program.
        removed: stop_gradients of the program that the repair must remove.
        verdict: a verdict on the gradient; if no set was found, on the gradient of the outer form.
        minimal: ``"proved"`` if no smaller set will do, or in words how much is known about smaller sets.
        reason: why no set will do, or which question is open.
        outer: the outer form, if no set was found.
        tried: for each size, the number of sets that were refuted or proved; edges in series count once.
        points: the number of exact points.
    """

    possible: bool | None
    cut: tuple[ValueEdge, ...] = ()
    nodes: Mapping[Node, Node] = field(default_factory=dict[Node, Node], repr=False)
    removed: tuple[Node, ...] = ()
    verdict: Verdict | None = None
    minimal: str = ""
    reason: str = ""
    outer: StraightThroughForm | None = None
    tried: Mapping[int, int] = field(default_factory=dict[int, int])
    points: int = 0


def place(
    y: Node, wrt: Sequence[Node], fixed: Mapping[Node, Node], naming: Naming, time_limit: float
) -> PlacementOutcome:
    """Find the smallest set of stop_gradients that turns a gradient into the one without noise, or prove there is none.

    Args:
        y: the value.
        wrt: the inputs of the gradient; values computed from noise may be among them, and then count as inputs.
        fixed: the value at which each noise is fixed.
        naming: the names for the reason.
        time_limit: the time limit in seconds.
    """
    search = _Search(y, wrt, fixed, naming, now() + time_limit)
    found = _place(search)
    names = [name for v, name in naming.names.items() if loop_of(v) in search.loops]
    if not search.loops or (found.possible and len(found.cut) < 2):  # one is fewest, also with edges of steps
        return found
    inside = f"edges inside of the steps{f' of {join_texts(names)}' if names else ''} are not tried"
    if found.possible is False:
        return replace(found, possible=None, reason=f"{found.reason}; but {inside}, where one may do")
    return replace(found, minimal=f"the fewest outside of steps; {inside}") if found.cut else found


def _place(search: _Search) -> PlacementOutcome:
    """Return the result of the search outside of the steps of recurrences."""
    found = search.run()
    if found.possible or found.cut:
        return found
    again = search.with_stops_removed()
    if again is not None and again.possible:
        return again
    if again is not None and found.possible is False:
        found = replace(found, reason=f"{found.reason}. To take out its own stop_gradients does not help")
    outer = search.outer()
    return replace(found, outer=outer, verdict=outer.verdict if outer else None)


class _Search:
    """The search in one program.

    Args:
        y: the value, as in `place`.
        wrt: the inputs, as in `place`.
        fixed: the values of noise, as in `place`.
        naming: the names, as in `place`.
        deadline: on the clock of `symgrad.checker.clock`.
        reference: the paths of the program with fixed noise, if another search has found them. That program may have
            other stop_gradients.
        seconds: the seconds that remain for all searches, in a list that the searches share.
    """

    def __init__(
        self,
        y: Node,
        wrt: Sequence[Node],
        fixed: Mapping[Node, Node],
        naming: Naming,
        deadline: float,
        reference: PathGraph | None = None,
        seconds: list[float] | None = None,
    ) -> None:
        self.seconds = [_TOGETHER] if seconds is None else seconds
        self.y, self.wrt, self.fixed = y, tuple(wrt), dict(fixed)
        self.naming, self.deadline = naming, deadline
        depends = Dependence([y, *wrt], [*fixed])
        held = tuple(w for w in wrt if w.args and any(depends(w, u) for u in fixed))
        self.calm = with_fixed(y, {**fixed, **{h: h for h in held}})
        graph = PathGraph(y, wrt)
        if reference is None:
            reference = PathGraph(self.calm[y], [self.calm.get(w, w) for w in wrt])
        self.problem = CutProblem(graph, reference, tuple(fixed), held)
        self.graph = graph
        self.loops = [n for n in graph.order if is_recurrence(n)]
        coefficients = [e.step.coefficient for e in graph.edges if e.step is not None]
        reads = Dependence(coefficients, [*fixed])
        self.noisy = [
            e.step is not None and any(reads(e.step.coefficient, u) for u in fixed) for e in graph.edges
        ]
        self.points = points_of(self.problem)
        self.cut_filter = CutFilter(graph, self.points)
        self.doubtful = False
        """Whether a size had more unrefuted sets than the engine examined."""

    def remaining(self) -> float:
        """Return the remaining seconds."""
        return max(self.deadline - now(), 0.05)

    # ------------------------------------------------------------------------------------------------ the search

    def run(self) -> PlacementOutcome:
        """Return the smallest set that gives the reference gradient, or the reason why there is none.

        The sizes go up to the size of the smallest cut of the noisy paths, if no point refutes that cut.
        """
        if not self.graph.edges or not self.points:
            return self._without_search()
        cut = tuple(self.graph.smallest_cut(self.noisy))
        candidate = cut if self.cut_filter.remaining([cut]) else None
        exhausted = -1  # all sets up to this size are refuted
        for size in range(_EXHAUSTED + 1 if candidate is None else min(len(cut), _EXHAUSTED + 1)):
            cuts = self._of_size(size)
            if cuts is None:
                break
            if (outcome := self._best(cuts, size, exhausted)) is not None:
                return outcome
            exhausted = size
            if size == 0 and candidate is None and (refused := self._refused(_FEW_PLACES)) is not None:
                return refused
        if candidate is not None and (outcome := self._best([candidate], len(cut), exhausted)) is not None:
            return outcome
        return self._refused(_MOST_PLACES) or self._any_size(exhausted) or self._open(exhausted)

    def _of_size(self, size: int) -> list[Cut] | None:
        start = now()
        cuts = self.cut_filter.of_size(size, start + min(_SEARCHED, self.seconds[0], 0.5 * self.remaining()))
        self.seconds[0] = max(self.seconds[0] - (now() - start), 0)
        return cuts

    @cached_property
    def _regions(self) -> list[CutRegion]:
        """The regions in which the noise enters; the smallest comes first, the last is the whole program."""
        whole = noisy_region(self.graph, [True] * len(self.noisy))
        # A noise value that reads other inputs changes with them, so that all edges may be noisy.
        alone = all(u.op is SYMBOL for u in self.fixed)
        return [noisy_region(self.graph, self.noisy), whole] if alone else [whole]

    def _refused(self, most: int) -> PlacementOutcome | None:
        """Return the proof that no set will do, found in a region with at most ``most`` places."""
        for region in self._regions:
            if len(region.places) <= most:
                refusal = refuse(self.graph, self.points, region)
                if isinstance(refusal, Refusal):
                    return self._outcome(
                        False, reason=why_none(self.problem, self.noisy, refusal, self.naming)
                    )
        return None

    def _any_size(self, exhausted: int) -> PlacementOutcome | None:
        """Return a set of any size, if the program is small enough to try all sets."""
        region = self._regions[-1]
        left = refuse(self.graph, self.points, region) if len(region.places) <= _MOST_PLACES else []
        if isinstance(left, Refusal):
            return None
        for size in range(exhausted + 1, len(region.places) + 1):
            outcome = self._best([c for c in left if len(c) == size], size, size - 1)
            if outcome is not None:
                return outcome
        return None

    def _best(self, cuts: Sequence[Cut], size: int, exhausted: int) -> PlacementOutcome | None:
        """Return the first set that the engine proves, or otherwise the first that it supports.

        The result is None if it refutes all.
        """
        ordered = sorted(cuts, key=self._rank)
        minimal = self._minimal(size, exhausted)
        self.doubtful |= len(ordered) > _PROOFS
        supported: PlacementOutcome | None = None
        for cut in ordered[:_PROOFS]:
            edges = self._readable(cut)
            nodes = stopped(self.y, edges)
            verdict = self._decided(nodes[self.y], [nodes.get(w, w) for w in self.wrt])
            if verdict.status == "proved":
                return self._outcome(True, cut=edges, nodes=nodes, verdict=verdict, minimal=minimal)
            if verdict.status != "refuted" and supported is None:
                reason = f"no proof that the gradients are equal: {verdict.why}"
                supported = self._outcome(
                    None, cut=edges, nodes=nodes, verdict=verdict, minimal=minimal, reason=reason
                )
        return supported

    def _minimal(self, size: int, exhausted: int) -> str:
        if exhausted >= size - 1 and not self.doubtful:
            return "proved"
        tried = "not all smaller sets were refuted"
        if exhausted > 0 and not self.doubtful:
            tried = f"all sets of up to {exhausted} edges were refuted"
        return f"the smallest set that leaves exactly the paths without noise; {tried}"

    def _rank(self, cut: Cut) -> tuple[int, ...]:
        """Order sets of the same size: named values first, then edges near the output."""
        edges = self._readable(cut)
        return (sum(e.target not in self.naming.names for e in edges), *sorted(cut))

    def _readable(self, cut: Cut) -> tuple[ValueEdge, ...]:
        """Replace each edge by the most readable edge that is in series with it."""
        of = {k: series for series in self.graph.classes for k in series}
        edges: list[int] = []
        for k in sorted(cut):
            inner = [e for e in of[k] if e] or [k]
            named = [e for e in inner if (t := self.graph.edges[e].target) in self.naming.names and t.args]
            edges.append((named or inner)[0])
        return tuple(self.graph.edges[k] for k in sorted(edges))

    def _without_search(self) -> PlacementOutcome:
        """Return the outcome for a program that has no paths, or for which there are no points."""
        verdict = self._decided(self.y, self.wrt)
        if verdict.status == "proved":
            return self._outcome(True, nodes={}, verdict=verdict, minimal="proved")
        why = "the program could not be computed at an exact point" if self.graph.edges else "nothing to cut"
        return self._outcome(None, reason=f"{why}, so no placement was tried")

    def _open(self, exhausted: int) -> PlacementOutcome:
        places = len(self.cut_filter.places)
        what = f"no set of up to {exhausted} edges will do" if exhausted > 0 else "few sets were tried"
        return self._outcome(
            None,
            reason=f"{what}, and larger ones of the {places} places were not all tried: nothing is proved",
        )

    def _outcome(self, possible: bool | None, **parts: object) -> PlacementOutcome:
        return PlacementOutcome(possible, tried=dict(self.cut_filter.tried), points=len(self.points), **parts)  # pyright: ignore[reportArgumentType]  (its own fields)

    # ------------------------------------------------------------------------------------------------ verdicts

    def _decided(self, y: Node, wrt: Sequence[Node]) -> Verdict:
        """Decide whether another program has the reference gradient; its value is the same by construction."""
        reference = self.problem.calm
        limit = max(_PROOF_SHARE * self.remaining(), 0.5)
        free = {h: self._fresh_symbol(self.naming.names.get(h, "h"), h.shape) for h in self.problem.held}
        seed = self._fresh_symbol("v", y.shape) if y.shape else as_node(1)
        gradients: dict[str, Verdict] = {}
        for w, mine, theirs in zip(self.wrt, wrt, reference.wrt, strict=True):
            ours = full(pull_back([y], [seed], [mine]).gradients[0], w.shape)
            right = full(pull_back([reference.y], [seed], [theirs]).gradients[0], w.shape)
            a, b = substitute([ours, right], {**free, **({mine: free[w]} if w in free else {})})
            gradients[self.naming.text(w)] = same_gradient(a, b, limit / len(self.wrt))
        return combine_verdicts(Verdict("proved", "the value is the same"), gradients)

    def _fresh_symbol(self, name: str, shape: Shape) -> Node:
        fresh = free_name(name, {s.name for s in symbols_of([self.y])})
        return symbol(Declaration(fresh, REAL, shape))

    # ------------------------------------------------------------------------------------------------ other repairs

    def with_stops_removed(self) -> PlacementOutcome | None:
        """Search again without some of the program's own stop_gradients, as few as possible.

        Return None if a placement is then neither found nor proved impossible.
        """
        stops = [n for n in topological([self.y]) if "stops" in n.op.facts]
        if not stops or not self.points or self.remaining() < _WORTHWHILE:
            return None
        found = self._without(stops).run()
        if found.possible is not True:
            return found if found.possible is False else None
        for stop in list(stops):
            fewer = [s for s in stops if s is not stop]
            if fewer and self.remaining() > _WORTHWHILE:
                without = self._without(fewer).run()
                if without.possible is True:
                    stops, found = fewer, without
        made = without_stops([self.y], stops)
        return replace(found, nodes={n: found.nodes.get(m, m) for n, m in made.items()}, removed=tuple(stops))

    def _without(self, stops: Sequence[Node]) -> _Search:
        made = without_stops([self.y], set(stops))
        names = {made[n]: name for n, name in self.naming.names.items() if n in made}
        return _Search(
            made[self.y],
            [made.get(w, w) for w in self.wrt],
            {made.get(u, u): f for u, f in self.fixed.items()},
            replace(self.naming, names={**self.naming.names, **names}),
            self.deadline,
            self.problem.calm,
            self.seconds,
        )

    def outer(self) -> StraightThroughForm | None:
        """Return the smallest value whose outer form is proved to give the reference gradient.

        The result is None if there is none.
        """
        if not self.points or not self.graph.edges:
            return None
        smallest = outer_forms(self.problem, self.calm, self.points)[:_FORMS]
        for value in dict.fromkeys([*smallest, self.y]):  # the form of the output is right by construction
            raw = self.calm[value]
            for calm in dict.fromkeys([self._simpler(raw), raw]):
                nodes = replaced(self.y, value, straight_through(value, calm))
                verdict = self._decided(nodes[self.y], [nodes.get(w, w) for w in self.wrt])
                if verdict.status == "proved":
                    return StraightThroughForm(value, calm, nodes, verdict)
        return None

    def _simpler(self, calm: Node) -> Node:
        """Write a noise-free form with the named values below it, and simplify it."""
        below = topological([calm])
        named = [n for n in below if n.args and n in self.naming.names and n is not calm]
        stand = {
            n: symbol(Declaration(f"__{i}", REAL, n.shape)) for i, n in enumerate(named) if n.dtype == "real"
        }
        form = canonical(substitute([calm], stand)).nodes[0]
        return substitute([form], {s: n for n, s in stand.items()})[0]
