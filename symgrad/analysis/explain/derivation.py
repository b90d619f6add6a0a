"""The derivation of a gradient, as one record: every rule that was applied, and the verdict on every random input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from symgrad.analysis.explain.by_hand import RuleLine, rule_lines
from symgrad.analysis.explain.forms import GradientForms
from symgrad.analysis.explain.naming import Naming, naming_of, rule_of
from symgrad.analysis.explain.noise.jumps import MovedJump, moved_jumps
from symgrad.analysis.explain.noise.lines import NoiseLines, noise_lines
from symgrad.analysis.explain.noise.verdict import NoiseVerdict, judge
from symgrad.analysis.explain.removable_singularities.search import Gap
from symgrad.analysis.explain.step_gradients import StepCut, step_cuts
from symgrad.analysis.explain.zero_reason import ends_of, why_nothing
from symgrad.autodiff.trace import BackwardTrace, Pullback, ZeroReason, placeholder
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import SYMBOL, Node, as_node
from symgrad.ir.listing import Derivative, Listing, suggest
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ops.array.layout import shape_text
from symgrad.pretty.adjoints import Adjoint
from symgrad.pretty.named_derivatives import adjoints, name_derivatives
from symgrad.pretty.named_formulas import NamedFormulas
from symgrad.support.errors import (
    NotDifferentiableError,
    NotInProgramError,
    NotScalarError,
    UsageError,
    name_one,
)
from symgrad.support.source import Place
from symgrad.support.texts import join_texts


@dataclass(frozen=True, slots=True)
class DerivationStep:
    """One pullback of the backward pass.

    Its texts are properties, which are computed on demand: a derivation can have 100,000 steps.

    Attributes:
        number: its position, counted from 1, from the output to the inputs.
        step: the record of the backward pass.
    """

    number: int
    step: Pullback
    naming: Naming = field(repr=False)

    @property
    def rule(self) -> str:
        """The op whose rule was applied; for a contraction, its kind: matmul, dot, sum, transpose, trace, ..."""
        return rule_of(self.step.node)

    @property
    def place(self) -> Place | None:
        """The line of code that computes the equation, if the program was read from other code."""
        return self.naming.places.get(self.step.node)

    @property
    def linear(self) -> bool:
        """Whether the rule only passes the cotangent on (sums, signs, moves of entries)."""
        node = self.step.node
        return "linear" in node.op.facts or (node.op.name == "einsum" and len(node.args) == 1)

    @property
    def is_map(self) -> bool:
        """Whether the derivative is a linear map, which `partial` writes out, and not an entrywise factor."""
        return not self.step.node.op.pointwise

    @property
    def is_loop(self) -> bool:
        """Whether the equation is a recurrence, whose derivative is the recurrence back that `produced` reads."""
        return is_recurrence(self.step.node)

    @property
    def stretches(self) -> bool:
        """Whether the equation broadcasts the argument, so that the pullback sums over axes."""
        return self.step.node.op.pointwise and self.step.target.shape != self.step.node.shape

    @property
    def shape(self) -> str:
        """The shape of the equation."""
        return shape_text(self.step.node.shape)

    @property
    def target_shape(self) -> str:
        """The shape of the argument that receives the contribution."""
        return shape_text(self.step.target.shape)

    @property
    def cotangent(self) -> str:
        """The name of the equation's cotangent in `partial`, if `partial` is a map."""
        return self.naming.cotangent(self.step.node)

    @property
    def equation(self) -> str:
        """The forward equation."""
        node, naming = self.step.node, self.naming
        body = naming.body(node)
        if naming.recurrence_lines(node):
            return body
        return f"{naming.names[node]} = {body}" if node in naming.names and node.args else body

    @property
    def target(self) -> str:
        """The argument that receives the contribution."""
        return self.naming.text(self.step.target)

    @property
    def reads(self) -> tuple[str, ...]:
        """The forward values that the pullback reads (residuals)."""
        return tuple(self.naming.text(r) for r in self.step.residuals if not r.is_number())

    @property
    def partial(self) -> str:
        """The local partial derivative of the equation with respect to the argument.

        For a linear map: h_bar -> W.T@h_bar. For a recurrence this is the recurrence back, which `produced` reads.
        """
        if self.is_loop:
            return f"the recurrence back from {self.cotangent}"
        if not self.is_map:
            return self.naming.text(self.step.coefficient)
        known = {placeholder(self.step.node): self.cotangent}
        return f"{self.cotangent} -> {self.naming.body(self.step.coefficient, known=known)}"

    @property
    def incoming(self) -> str:
        """The incoming cotangent."""
        return self.naming.text(self.step.cotangent)

    @property
    def produced(self) -> str:
        """The contribution to the cotangent of the argument."""
        return self.naming.text(self.step.contribution)


@dataclass(frozen=True, slots=True)
class DerivationRecord:
    """The derivation of a gradient, with the random inputs that enter it.

    Attributes:
        y: the differentiated value.
        wrt: the inputs of the gradient.
        gradient: the gradients from the backward pass.
        steps: the pullbacks, from the output to the inputs.
        noise: for each random input, whether it enters the gradient, with path and evidence.
        jumps: jumps that a random input crosses, at a place that moves with ``wrt``: there the gradient misses a term
            of the derivative of the mean.
        nothing: for each of ``wrt``, the kind of reason for a zero gradient, or None.
        nothing_reasons: for each of ``wrt``, this reason as a sentence, or None.
        nothing_places: for each of ``wrt``, the lines at which the derivative ends.
        naming: the names of nodes.
        forms: the gradients, which are simplified on demand.
        listing: the program.
        value_naming: the names of nodes of ``y`` alone.
    """

    y: Node
    wrt: tuple[Node, ...]
    gradient: tuple[Node, ...]
    steps: tuple[DerivationStep, ...] = field(repr=False)
    noise: Mapping[str, NoiseVerdict]
    jumps: tuple[MovedJump, ...]
    nothing: tuple[ZeroReason | None, ...]
    nothing_reasons: tuple[str | None, ...]
    nothing_places: tuple[tuple[Place, ...], ...]
    naming: Naming = field(repr=False)
    forms: GradientForms = field(repr=False)
    listing: Listing | None = field(repr=False)
    value_naming: Naming = field(repr=False)

    @property
    def spelled(self) -> Mapping[Node, str]:
        """How the program spells numbers."""
        return {} if self.listing is None else self.listing.spellings

    @property
    def adjoints(self) -> tuple[Adjoint, ...]:
        """The backward pass in the names of the program, one line per named value; empty without names."""
        wrt = [w for w, nothing in zip(self.wrt, self.nothing, strict=True) if nothing is None]
        if self.listing is None or not wrt:
            return ()
        return adjoints(self.listing, self.y, wrt, self._parts)

    @property
    def cuts(self) -> tuple[StepCut, ...]:
        """What stop_gradients cut in the steps of recurrences."""
        if not any(n in self.naming.recurrences for n in topological([self.y])):
            return ()
        return tuple(step_cuts(self.y, self.value_naming, self.listing))

    def noise_lines(self, name: str) -> NoiseLines | None:
        """Return the lines that read a random input; None without recurrences."""
        if self.listing is None or not self.definitions([self.y]):
            return None
        source = next(s for s in symbols_of([self.y, *self.listing.symbols.values()]) if s.name == name)
        return noise_lines(self.y, source, self.adjoints, self.value_naming, self.listing)

    def named_slopes(self, *by: Node) -> NamedFormulas | None:
        """Return gradients in the names of the program; None if its names do not suffice."""
        return self._named([self._slope(self.y, w) for w in by])

    @property
    def called(self) -> NamedFormulas | None:
        """The value in the names of the program, if it is a derivative without a name of its own."""
        return self._named([self.naming.derivatives[self.y]]) if self.naming.is_call(self.y) else None

    def _slope(self, node: Node, by: Node) -> Derivative:
        """Return the derivative of a node; of a derivative without a name, the derivative of higher order."""
        of = self.naming.derivatives[node] if self.naming.is_call(node) else Derivative(node, ())
        return Derivative(of.y, (*of.by, by))

    def _named(self, slopes: Sequence[Derivative]) -> NamedFormulas | None:
        return None if self.listing is None else name_derivatives(self.listing, slopes, self._parts)

    @property
    def _parts(self) -> dict[Node, Derivative]:
        return {n: d for n, d in self.naming.derivatives.items() if d.is_simple}

    def definitions(self, nodes: Sequence[Node]) -> list[Sequence[str]]:
        """Return the lines of each recurrence in formulas, in evaluation order."""
        return [self.naming.recurrences[n] for n in topological(nodes) if n in self.naming.recurrences]

    @property
    def definitions_back(self) -> list[Sequence[str]]:
        """The lines of each recurrence of the backward pass as it was recorded."""
        known = self.definitions([self.y])
        return [lines for lines in self.naming.recurrences.values() if lines not in known]

    @property
    def told_by_names(self) -> bool:
        """Whether the adjoints show more than the gradients, namely the adjoint of a named intermediate value."""
        ends = {self.naming.text(n) for n in (self.y, *self.wrt)}
        return any(a.of is not None and a.of not in ends for a in self.adjoints)

    @property
    def rules(self) -> tuple[RuleLine, ...]:
        """The derivation by hand: one rule of calculus for each line, for one of ``wrt`` after the other.

        It is empty if rules alone do not explain the gradient: with random inputs, stopped or missing gradients, or
        arrays.
        """
        if self.noise or any(self.nothing):
            return ()
        return rule_lines(self.y, self.wrt, self.naming, self._slopes_inside)

    def _slopes_inside(self, x: Node) -> dict[Node, Node]:
        """Return the derivatives, by a scalar, of the derivatives of scalars inside ``y``."""
        inside = [
            n
            for n in topological([self.y], until=self.naming.derivatives)
            if n in self.naming.derivatives and n is not self.y and not n.shape
        ]
        found = self._named([self._slope(n, x) for n in inside]) if inside and not x.shape else None
        return {} if found is None else dict(zip(inside, found.meaning, strict=True))

    @property
    def canonical(self) -> tuple[Node, ...]:
        """The simplified gradients, still with stop_gradient, so that they can be differentiated again."""
        return self.forms.with_stops

    @property
    def values(self) -> tuple[Node, ...]:
        """The gradients simplified as values: stop_gradient(e) is e."""
        return self.forms.values

    @property
    def gaps(self) -> tuple[tuple[Node | None, Gap], ...]:
        """Points at which the value (for None), or the gradient with respect to a node, is 0/0 and has a limit."""
        found = zip((None, *self.wrt), (self.forms.gaps, *self.forms.gaps_of_gradients), strict=True)
        return tuple((by, gap) for by, gaps in found for gap in gaps)

    @property
    def notes(self) -> tuple[str, ...]:
        """How simplification extends the domain."""
        return self.forms.notes


def explain(
    y: Node,
    wrt: Sequence[Node],
    listing: Listing | None = None,
    parts: Mapping[Node, Derivative] = {},
) -> DerivationRecord:
    r"""Differentiate a scalar, and record how the gradient is computed.

    Args:
        y: a scalar node, shape ().
        wrt: symbols or intermediate nodes with respect to which to differentiate; an intermediate node counts as a
            symbol.
        listing: the program; it has names, and the random inputs that do not reach ``y``.
        parts: further derivatives that ``y`` is or contains, in addition to those of the program.

    Returns:
        The derivation: steps, gradients and the verdict on every random input.

    Raises:
        NotScalarError: if ``y`` is not a scalar.
        NotDifferentiableError: if ``y`` is a truth value.
        NotInProgramError: if one of ``wrt`` occurs neither in the program nor in ``y``.
        UsageError: if ``wrt`` is empty.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> p = parse_program("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
        >>> d = explain(p["z"], [p["x"]], p)
        >>> d.noise["u"].enters, d.noise["u"].path
        (True, ('z', 'x**2*u', 'u'))
        >>> d.noise["u"].reason
        'the pullback of sqrt reads the forward value z, which depends on u through x**2*u'
    """
    naming = naming_of(y, listing, {**({} if listing is None else listing.derivatives), **parts})
    _check(y, wrt, listing, naming)
    trace, forms = _backward(y, wrt, naming)
    value_naming = naming
    if naming.recurrences:
        naming = naming.with_recurrences(
            [y, *trace.gradients, *(s.contribution for s in trace.steps)], listing
        )
    random = _random_inputs(y, wrt, listing)
    if naming.recurrences and (listing is None or listing.source is None):
        listing = _with_recurrences(y, listing, naming)
    return DerivationRecord(
        y=y,
        wrt=tuple(wrt),
        gradient=trace.gradients,
        steps=tuple(DerivationStep(i, step, naming) for i, step in enumerate(trace.steps, 1)),
        noise=judge(y, trace, forms, random, naming),
        jumps=moved_jumps(y, wrt, random, naming),
        nothing=trace.nothing,
        nothing_reasons=tuple(why_nothing(trace, i, naming) for i in range(len(wrt))),
        nothing_places=tuple(naming.lines(ends_of(trace, i)) for i in range(len(wrt))),
        naming=naming,
        forms=forms,
        listing=listing,
        value_naming=value_naming,
    )


def _with_recurrences(y: Node, listing: Listing | None, naming: Naming) -> Listing:
    """Return a program without text in which the values of recurrences have names."""
    order = topological([y])
    named = {naming.names[n]: n for n in order if n in naming.names and loop_of(n) is not None}
    listing = Listing({s.name: s for s in symbols_of([y])}, {}) if listing is None else listing
    known = set(listing.assignments.values())
    added = {name: n for name, n in named.items() if n not in known and name not in listing}
    return replace(listing, assignments={**added, **listing.assignments})


def noise_in(
    y: Node, wrt: Sequence[Node], sources: Sequence[Node], naming: Naming, *, quick: bool = False
) -> dict[str, NoiseVerdict]:
    """Return the verdicts on random inputs, as `explain` does in ``noise``.

    Args:
        y: a scalar node.
        wrt: the inputs with respect to which the gradient is taken.
        sources: the random inputs.
        naming: the names for the sentences.
        quick: whether to skip what is slow; see `judge`.
    """
    trace, forms = _backward(y, wrt, naming)
    return judge(y, trace, forms, sources, naming, quick=quick)


def _backward(y: Node, wrt: Sequence[Node], naming: Naming) -> tuple[BackwardTrace, GradientForms]:
    whole = pull_back([y], [as_node(1)], wrt)
    trace = _without_dead_ends(whole)
    return trace, GradientForms(y, trace.wrt, trace.gradients, naming, whole.answers)


def _check(y: Node, wrt: Sequence[Node], listing: Listing | None, naming: Naming) -> None:
    if y.shape != ():
        raise NotScalarError(
            f"'{naming.text(y)}' has shape {shape_text(y.shape)}",
            expected="a scalar",
            cure="take a scalar: its sum, sum(y), or one of its entries, y[0]",
        )
    if y.dtype == "bool":
        raise NotDifferentiableError(
            f"'{naming.text(y)}' is a truth value", cure="differentiate a number, such as where(c, x, y)"
        )
    if not wrt:
        raise UsageError("there is nothing to differentiate by", cure=name_one("wrt", "x"))
    program = [] if listing is None else [*listing.symbols.values(), *listing.assignments.values()]
    known = set(topological([y, *program]))
    for node in wrt:
        # Without a program, an unknown symbol is just a symbol on which y does not depend.
        if node not in known and (listing is not None or node.op is not SYMBOL):
            name = naming.text(node)
            names = list(dict.fromkeys(naming.names.values()))
            raise NotInProgramError(
                f"'{name}' does not occur in the program",
                expected="one of " + join_texts(names, 8) if names else None,
                cure=suggest(name, names),
            )


def _without_dead_ends(trace: BackwardTrace) -> BackwardTrace:
    """Remove the steps whose contributions never arrive at wrt, because all later partial derivatives vanish."""
    arriving = set(trace.wrt)
    live: list[Pullback] = []
    for step in reversed(trace.steps):
        if step.target in arriving:
            arriving.add(step.node)
            live.append(step)
    return replace(trace, steps=tuple(reversed(live)))


def _random_inputs(y: Node, wrt: Sequence[Node], listing: Listing | None) -> list[Node]:
    declared = [] if listing is None else list(listing.symbols.values())
    reached = dict.fromkeys([*declared, *symbols_of([y, *wrt])])
    return [s for s in reached if s.declaration.distribution is not None]
