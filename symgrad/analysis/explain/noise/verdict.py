"""Decide whether a random input enters a gradient: the verdict, its path, its evidence and its sentence.

A gradient is made of coefficients, which pullbacks compute from forward values. A random input u enters the gradient
exactly if, with all other inputs fixed, two draws of u give different gradients. Then a pullback must read a value that
depends on u along *value* edges; stop_gradient cuts derivative edges, but no value edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from symgrad.analysis.explain.limits import PROVABLE_EQUATIONS, SIMPLIFIED_EQUATIONS
from symgrad.analysis.explain.naming import Naming, rule_of
from symgrad.analysis.explain.noise.cancellation import TwoDraws, compare_draws
from symgrad.analysis.explain.noise.dependence import Dependence, Paths, blocking_stops
from symgrad.analysis.explain.noise.downstream import CleanValue, clean_values
from symgrad.analysis.explain.noise.evidence import Evidence, NoiseWitness
from symgrad.analysis.explain.noise.influence import influence_of
from symgrad.analysis.explain.noise.sample_points import only_value
from symgrad.analysis.explain.noise.witness import find_evidence
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.trace import BackwardTrace
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ops.array.layout import is_zero
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from symgrad.support.source import Place
from symgrad.support.texts import join_texts


class GradientValues(Protocol):
    """The interface of the gradients, which `GradientForms` implements."""

    raw: tuple[Node, ...]

    @property
    def values(self) -> tuple[Node, ...]: ...

    @property
    def faithful(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class ResidualUse:
    """One pullback that reads a value which depends on the random input.

    Attributes:
        rule: the op of the pullback.
        number: the number of the step, as in `Derivation.steps`.
        node: the forward value that the pullback reads.
        matters: whether changing only this value changes the gradient at the witness; None if there is no witness, or
            if this is not evaluated because the array program is large.
    """

    rule: str
    number: int
    node: Node = field(repr=False)
    matters: bool | None
    _paths: Paths = field(repr=False)
    _naming: Naming = field(repr=False)

    @property
    def residual(self) -> str:
        """The forward value that the pullback reads, by name or as an expression."""
        return self._naming.text(self.node)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The shortest path along value edges from the residual to the random input.

        A difference a - b counts as one equation, not as a sign and a sum.
        """
        first, *rest = self._paths.path(self.node)
        return (first, *(n for n in rest if n.op.name != "neg" or n in self._naming.names))

    @property
    def path(self) -> tuple[str, ...]:
        """That path, as names and expressions."""
        return tuple(self._naming.text(n) for n in self.nodes)

    @property
    def places(self) -> tuple[Place, ...]:
        """The lines of code that compute the nodes of the path, if the program was read from other code."""
        return self._naming.lines(self.nodes)

    @property
    def crosses_stop(self) -> bool:
        """Whether the path passes through a stop_gradient."""
        return any("stops" in n.op.facts for n in self.nodes)

    @property
    def sentence(self) -> str:
        """The residual, and the reason why it depends on the random input."""
        what = "the condition" if self.node.dtype == "bool" else "the forward value"
        text = f"the pullback of {self.rule} reads {what} {self.residual}"
        between = self.nodes[1:-1]
        if len(self.nodes) > 1:
            text += f", which depends on {self._naming.text(self.nodes[-1])}"
        if between:
            named = [n for n in between if n in self._naming.names]
            text += f" through {self._naming.text(named[-1] if named else between[-1])}"
        if self.crosses_stop:
            text += "; stop_gradient cuts derivative edges, not value edges"
        return text


@dataclass(frozen=True, slots=True)
class NoiseVerdict:
    """The verdict whether a random input enters the gradient.

    Attributes:
        name: the name of the random input.
        enters: True, False, or None for undecided.
        reason: the reason, in one sentence.
        how: the kind of evidence.
        path: the path along value edges from the value that the pullback reads to the random input; () if no pullback
            reads such a value.
        residual: the value that the pullback reads; None if no pullback reads such a value.
        rule: the op of that pullback.
        witness: two draws that give different gradients, if that is the evidence.
        all_paths: every pullback that reads the random input, from the output to the inputs.
        clean: named values below the place where the random input enters, whose own derivatives have no noise.
    """

    name: str
    enters: bool | None
    reason: str
    how: str
    witness: NoiseWitness | None
    all_paths: tuple[ResidualUse, ...] = field(repr=False)
    clean: tuple[CleanValue, ...] = field(repr=False)
    _chosen: ResidualUse | None = field(repr=False)

    @property
    def places(self) -> tuple[Place, ...]:
        """The lines of code that compute the nodes of `path`, if the program was read from other code."""
        return () if self._chosen is None else self._chosen.places

    @property
    def path(self) -> tuple[str, ...]:
        return () if self._chosen is None else self._chosen.path

    @property
    def path_nodes(self) -> tuple[Node, ...]:
        """The nodes of `path`."""
        return () if self._chosen is None else self._chosen.nodes

    @property
    def residual(self) -> str | None:
        return None if self._chosen is None else self._chosen.residual

    @property
    def rule(self) -> str | None:
        return None if self._chosen is None else self._chosen.rule

    @property
    def headline(self) -> str:
        """The verdict without its reason."""
        word = {True: "enters", False: "does not enter", None: "may or may not enter"}[self.enters]
        return f"{self.name} {word} the gradient"

    def __str__(self) -> str:
        return f"{self.headline}: {self.reason}"


def judge(
    y: Node,
    trace: BackwardTrace,
    forms: GradientValues,
    sources: Sequence[Node],
    naming: Naming,
    *,
    quick: bool = False,
) -> dict[str, NoiseVerdict]:
    """Return the verdict on every random input.

    Args:
        y: the differentiated value.
        trace: its backward pass.
        forms: its gradients.
        sources: the random inputs.
        naming: names for the sentences.
        quick: whether to skip the proof, the search between kinks, and clean values, which are slow for large programs.
    """
    coefficients = [s.coefficient for s in trace.steps]
    depends = Dependence([y, *trace.gradients, *coefficients, *sources], sources)
    return {s.name: _NoiseQuery(y, trace, forms, s, naming, depends, quick).answer() for s in sources}


@dataclass(frozen=True, slots=True)
class _NoiseQuery:
    """The decision about one random input; cheap kinds of evidence are tried before expensive ones."""

    y: Node
    trace: BackwardTrace
    forms: GradientValues
    source: Node
    naming: Naming
    depends: Dependence
    quick: bool

    def answer(self) -> NoiseVerdict:
        reading = [i for i, s in enumerate(self.trace.steps) if self.depends(s.coefficient, self.source)]
        if not any(self.depends(g, self.source) for g in self.trace.gradients):
            reason = self._cancels(reading) if reading else self._unread()
            return self._verdict(False, "absent from the gradient", reason, reading)
        if (only := only_value(self.source)) is not None:
            return self._verdict(False, "it has one value", f"{self.source.name} is always {only}", reading)
        evidence = self._evidence(straddle=False)
        if evidence is not None:
            return self._verdict(True, "two draws give different gradients", "", reading, evidence)
        if self.quick:
            return self._open(reading)
        draws = TwoDraws(None)
        if self._simplifies():
            how = ""
            if self.source not in topological(self.forms.values):
                how = "absent from the canonical gradient"
            elif _constant_in(self.forms.values, self.source):
                how = "the derivative of the gradient by it is zero"
            elif (draws := compare_draws(self.forms.values, self.source)).same:
                how = "any two draws are proved to give the same gradient"
            if how:
                return self._verdict(False, how, self._cancels(reading), reading)
        evidence = self._evidence(
            straddle=True
        )  # points across ties; the engine found no proof that noise is absent
        if evidence is not None or draws.same is False:
            how = "two draws give different gradients"
            return self._verdict(True, how, "", reading, evidence, draws.witness)
        return self._open(reading)

    def _simplifies(self) -> bool:
        """Tell whether a property of the simplified gradients also holds for the raw gradients."""
        small = len(topological(self.forms.raw)) <= SIMPLIFIED_EQUATIONS
        return small and self.forms.faithful and self._compares_numbers()

    def _open(self, reading: Sequence[int]) -> NoiseVerdict:
        reason = (
            f"{self._who_reads(reading)}; no two draws were found that give different gradients, and no proof "
            "that it cancels"
        )
        return self._verdict(None, "neither a witness nor a proof", reason, reading)

    def _evidence(self, *, straddle: bool) -> Evidence | None:
        coefficients = [s.coefficient for s in self.trace.steps]
        return find_evidence(self.y, self.trace.gradients, coefficients, self.source, straddle=straddle)

    def _compares_numbers(self) -> bool:
        """Tell whether no condition in the gradient compares a value that the random input may make undefined.

        A kernel evaluates a comparison with NaN to false. So such a condition may change with a draw, although its
        simplified form does not.
        """
        known = Conditions()
        conditions = [
            n for n in topological(self.forms.raw) if n.dtype == "bool" and self.depends(n, self.source)
        ]
        return all(a.dtype == "bool" or known.defined(a) == "yes" for n in conditions for a in n.args)

    def _verdict(
        self,
        enters: bool | None,
        how: str,
        reason: str,
        reading: Sequence[int],
        evidence: Evidence | None = None,
        witness: NoiseWitness | None = None,
    ) -> NoiseVerdict:
        readings = _readings(self.trace, reading, self.source, self.naming, self.depends, evidence)
        likely = next((r for r in readings if r.matters is not False), None)
        chosen = next((r for r in readings if r.matters), likely or (readings[0] if readings else None))
        if enters:
            reason = f"{self.source.name} is read by the gradient" if chosen is None else chosen.sentence
        witness = witness if evidence is None else evidence.witness
        clean = self._clean(readings) if enters and not self.quick else ()
        return NoiseVerdict(self.source.name, enters, reason, how, witness, readings, clean, chosen)

    def _clean(self, readings: Sequence[ResidualUse]) -> tuple[CleanValue, ...]:
        noisy: dict[int, list[Node]] = {}
        for r in readings:
            if r.matters is not False:
                noisy.setdefault(r.number - 1, []).append(r.node)
        return clean_values(self.y, self.trace, noisy, self.source, self.naming)

    def _unread(self) -> str:
        """Return the reason why no pullback reads a value that depends on the random input."""
        u, name = self.source.name, self.naming.text(self.y)
        by = join_texts([self.naming.text(w) for w in self.trace.wrt])
        if not self.depends(self.y, self.source):
            return f"{name} does not depend on {u}"
        if not self.trace.steps:
            return f"{u} reaches {name}, but no derivative path leads from {name} to {by}"
        outside, stops = blocking_stops(self.y, self.source)
        if outside:
            return (
                f"{u} enters {name} beside the derivative path from {name} to {by}: no pullback on that path reads a "
                f"value that depends on {u}"
            )
        edges = "edge is" if len(stops) == 1 else "edges are"
        inside = join_texts([self.naming.body(s) for s in stops])
        return (
            f"{u} reaches {name} only inside {inside}, whose derivative {edges} "
            f"cut, and no pullback on the remaining derivative path reads a value that depends on {u}"
        )

    def _who_reads(self, reading: Sequence[int]) -> str:
        rules = list(dict.fromkeys(rule_of(self.trace.steps[i].node) for i in reading))
        if not rules:
            return f"{self.source.name} is read by the gradient"
        return f"{self.source.name} is read by the pullback{'s' if len(rules) > 1 else ''} of {join_texts(rules)}"

    def _cancels(self, reading: Sequence[int]) -> str:
        return f"{self._who_reads(reading)} but cancels: the gradient does not depend on it"


def _readings(
    trace: BackwardTrace,
    reading: Sequence[int],
    source: Node,
    naming: Naming,
    depends: Dependence,
    evidence: Evidence | None,
) -> tuple[ResidualUse, ...]:
    paths = live = Paths(depends.order, source)
    influence: Mapping[int, bool] = {}
    if evidence is not None:
        # A value that changes with the draw has an argument that changes, and so on down to u; no path leads through
        # 0*u.
        live = Paths(depends.order, source, {n for n in evidence.first if evidence.differs(n)})
        influence = influence_of(trace, reading, evidence)
    found: list[ResidualUse] = []
    for i in reading:
        step = trace.steps[i]
        for node in sorted((r for r in step.residuals if r in paths), key=paths.distance):
            matters: bool | None = None
            if evidence is not None and (i in influence or node not in live):
                matters = node in live and influence[i]
            found.append(
                ResidualUse(rule_of(step.node), i + 1, node, matters, live if node in live else paths, naming)
            )
    return tuple(found)


def _constant_in(values: Sequence[Node], source: Node) -> bool:
    """Tell whether the gradients are proved to be constant in a continuous random input.

    A zero derivative proves this only for a continuous function on a connected domain: every node must be defined
    everywhere, and no node that depends on the input may jump.
    """
    depends = Dependence(values, [source])
    if source.dtype != "real" or len(depends.order) > PROVABLE_EQUATIONS:
        return False
    for node in depends.order:
        if node is source or not depends(node, source):
            continue
        continuous = not node.op.kinks or "continuous" in node.op.facts
        if node.op.name == "pow":
            continuous = not depends(node.args[1], source)
        if node.dtype != "real" or not continuous:
            return False
    known = Conditions()
    if any(known.defined(v) != "yes" for v in values):
        return False
    # For an array, the direction must be free: along ones, u[0] - u[1] would look constant.
    direction = symbol(Declaration("__direction", REAL, source.shape)) if source.shape else as_node(1)
    slopes = push_forward(values, {source: direction})
    return all(is_zero(s) for s in canonical(slopes, drop_stops=True).nodes)
