"""The phases of rewriting, canonical and stable, with their entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from threading import Lock

from symgrad.ir.body import bodies_in
from symgrad.ir.garbage_collection import gc_paused
from symgrad.ir.graph import Node
from symgrad.ir.traverse import topological
from symgrad.ops.control import as_computed, stop_gradient, values_of_steps, with_slope
from symgrad.ops.scalar.arith import div, mul, pow
from symgrad.ops.scalar.elementary import sqrt
from symgrad.ops.scalar.logic import where
from symgrad.rewrite.engine import Round, rewrite
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.matrices import in_matrix_notation
from symgrad.rewrite.memo import remembered
from symgrad.rewrite.normal_form.order import Order
from symgrad.rewrite.normal_form.products import spell_signs
from symgrad.rewrite.normaliser import NormalForms
from symgrad.rewrite.rule import RuleSet
from symgrad.rewrite.rules.canonical import CANONICAL, DROP_STOPS
from symgrad.rewrite.trace import UNDEFINED, ZERO, Note, Step, Trace
from symgrad.support.logs import debug, info
from symgrad.support.traversal import walk

_CACHED_NODES = 50_000
"""The largest number of nodes whose normal forms `CanonicalForms` caches."""

_CACHED_GRAPH = 10_000
"""The largest graph whose canonical form is cached: the steps to a form take several times its memory."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Canonical:
    """Nodes in canonical form, and the steps to them.

    Args:
        nodes: the canonical nodes, in the order of the inputs.
        trace: every application of a rule, and the reason why the rewriting stopped.
        required: notes of the trace that do not apply to the result, because the result still has the same requirement.
    """

    nodes: list[Node]
    trace: Trace
    required: frozenset[Note] = frozenset()

    @property
    def widened(self) -> list[tuple[Step, Note]]:
        """Notes on the points that the domain gained, each with its step."""
        return [(s, note) for s in self.trace.widening for note in s.notes if note not in self.required]

    @property
    def notes(self) -> list[str]:
        """Sentences on where the result is defined although the input is not, each once."""
        return _sentences(self.widened)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Stable:
    """Nodes in forms that lose fewer digits, and the steps to them.

    Args:
        nodes: the forms, in the order of the inputs, and equal to the inputs in exact arithmetic.
        trace: every replacement.
    """

    nodes: list[Node]
    trace: Trace

    @property
    def notes(self) -> list[str]:
        """Sentences on where the result is defined although the input is not, each once."""
        return _sentences((s, note) for s in self.trace.widening for note in s.notes)


def _sentences(widened: Iterable[tuple[Step, Note]]) -> list[str]:
    from symgrad.ir.notation.printer import (
        expression_text,
    )  # a late import, for a quick start: only a note needs it

    found: dict[str, None] = {}
    for step, note in widened:
        before, after = expression_text(step.before), expression_text(step.after)
        found[f"{before} -> {after}: {note.text.replace('{}', expression_text(note.node))}"] = None
    return list(found)


def canonical(
    outputs: Sequence[Node], *, drop_stops: bool = False, rules: RuleSet | None = None
) -> Canonical:
    """Bring nodes to canonical form, as a person would write them.

    Wherever a node has a value, its form has the same value.

    Args:
        outputs: nodes of any shapes; shared nodes are rewritten once and stay shared.
        drop_stops: whether to read ``stop_gradient(e)`` as ``e``, and ``with_slope`` as its value. This is right for a
            formula that is only evaluated, but wrong for a formula that is differentiated again.
        rules: the rows to apply; by default the rows of the phase.

    Returns:
        The nodes, the trace, and notes on domains that grew.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.scalar.arith import add, mul
        >>> x = symbol(Declaration("x"))
        >>> canonical([add(mul(x, x), mul(x, x))]).nodes[0] is 2 * x**2
        True
    """
    order = topological(outputs)
    # Without stops both have the same result.
    inside = (n for body in bodies_in(order) for n in topological(body.results))
    drop_stops = drop_stops and any(n.op is stop_gradient or n.op is with_slope for n in (*order, *inside))
    if rules is not None or len(order) > _CACHED_GRAPH:
        return _canonical(outputs, drop_stops, rules)
    return remembered(
        outputs, ("values" if drop_stops else "canonical"), lambda: _canonical(outputs, drop_stops, None)
    )


@gc_paused()
def _canonical(outputs: Sequence[Node], drop_stops: bool, rules: RuleSet | None) -> Canonical:
    if drop_stops:
        outputs = values_of_steps(as_computed(outputs))
    rules = rules or (DROP_STOPS if drop_stops else CANONICAL)
    known = Conditions()
    forms = NormalForms(rules, known, Order())
    nodes, trace = rewrite(outputs, rules, forms.begin, known=known)
    say = info if trace.steps else debug
    say(
        "rules",
        "canonical form: %d rewrites in %d rounds%s",
        len(trace.steps),
        trace.rounds,
        ", and no more of them are tried" if trace.stopped == "budget" else "",
    )
    required = (
        frozenset[Note].intersection(*(frozenset(_requirements(n)) for n in nodes))
        if trace.widening
        else frozenset[Note]()
    )
    nodes = in_matrix_notation(nodes, lambda: forms.begin(Round(rules, known, 0)))
    forms.forget()
    return Canonical(spell_signs(nodes), trace, required)


class CanonicalForms:
    """Canonical forms of many nodes with common subexpressions; the forms are cached.

    The forms are those of `canonical`, without a trace. The cache lives as long as the object.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> x = symbol(Declaration("x"))
        >>> forms = CanonicalForms()
        >>> [forms.of([(x + x) * k])[0] is 2 * k * x for k in (2, 3)]
        [True, True]
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._start()

    def _start(self) -> None:
        self._known = Conditions()
        self._forms = NormalForms(CANONICAL, self._known, Order())
        self._normal: dict[Node, Node] = {}
        self._written: dict[Node, Node] = {}
        self._spelled: dict[Node, Node] = {}

    def of(self, nodes: Sequence[Node]) -> list[Node]:
        """Return nodes in canonical form."""
        if not self._lock.acquire(blocking=False):  # the caches serve one thread at a time
            return canonical(nodes).nodes
        try:
            with gc_paused():
                if len(self._normal) > _CACHED_NODES:
                    self._forms.forget()
                    self._start()
                found, _ = rewrite(
                    nodes, CANONICAL, self._forms.begin, known=self._known, normal=self._normal
                )
                found = in_matrix_notation(
                    found, lambda: self._forms.begin(Round(CANONICAL, self._known, 0)), self._written
                )
                return spell_signs(found, self._spelled)
        finally:
            self._lock.release()

    def __del__(self) -> None:
        self._forms.forget()


def stable(outputs: Sequence[Node], others: Sequence[Callable[[], Sequence[Node]]] = ()) -> Stable:
    """Replace expressions that lose digits in floating point by equal expressions that lose fewer.

    Args:
        outputs: nodes of any shapes; graphs of more than 1000 equations (160 with arrays) stay unchanged.
        others: functions that return further forms of all outputs, equal in exact arithmetic; they are called if digits
            are lost.

    Returns:
        The nodes, the trace, and notes on domains that grew.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.ops.scalar.elementary import exp, expm1
        >>> x = symbol(Declaration("x"))
        >>> stable([exp(x) - 1]).nodes[0] is expm1(x)
        True
    """
    return _stable(outputs, others) if others else remembered(outputs, "stable", lambda: _stable(outputs))


def fewest_faults(forms: Iterable[Sequence[Node]], *, alone: bool = True) -> tuple[Sequence[Node], bool]:
    """Return the form of scalars that loses digits at the fewest sample points, and whether it loses digits at all.

    Unlike `stable` this does not search for more forms, and takes linear time: about thirty microseconds per equation.
    It skips a form that has no value at a point where an earlier form has one.

    Args:
        forms: forms that are equal in exact arithmetic, in order of preference. The search ends at the first form
            without a fault. If there are too many inputs to sample the rounding of each, it ends at once.
        alone: whether to sample a form even if it has no alternative.
    """
    from symgrad.rewrite.choice.samples import (
        Sample,
        measurable,
    )  # late imports, for a quick start: most programs need neither

    rest = iter(forms)
    best = next(rest)
    if not measurable(best):
        return best, False
    if not alone:
        # It takes less time to compute another form than to sample digits.
        other = next((form for form in rest if form != best), None)
        if other is None:
            return best, False
        rest = chain([other], rest)
    sample = Sample(best, Conditions())
    lost = sample.loses_digits(best)
    if not lost:
        return best, False
    fewest: int | None = None  # faults are counted if there is another form to compare with
    for form in rest:
        if form == best or not sample.has_values_of(form, best):
            continue
        fewest = sample.faults(best) if fewest is None else fewest
        faults = sample.faults(form)
        if faults < fewest:
            best, fewest = form, faults
        if not faults:
            break
    return best, fewest != 0


def _stable(outputs: Sequence[Node], others: Sequence[Callable[[], Sequence[Node]]] = ()) -> Stable:
    from symgrad.rewrite.choice.samples import (
        Sample,
        searchable,
    )  # late imports, for a quick start: most programs need neither

    nodes, trace = list(outputs), Trace()
    too_large = searchable(nodes)
    if too_large is not None:
        trace.stopped = "budget"
        info("rules", "stable forms are not looked for: %s", too_large)
        return Stable(nodes, trace)
    known = Conditions()
    sample = Sample(nodes, known)
    if not sample.seems_fine(nodes, [make() for make in others[:1]]):
        from symgrad.rewrite.choice.stabilise import stabilise  # a late import, for a quick start

        nodes, trace = stabilise(nodes, known, sample, others)
        info("rules", "stable forms: digits may be lost, %d rewrites keep more of them", len(trace.steps))
    return Stable(nodes, trace)


def _requirements(output: Node) -> Iterator[Note]:
    """Yield the requirements for an output to have a value: subexpressions have values, and divisors are not zero."""
    choices = [n for n in topological([output]) if n.op is where]
    for node in topological([output], until=choices):
        yield Note(UNDEFINED, node)
        for divisor in walk(node.args[1:] if node.op is div else (), zeros_of):
            yield Note(ZERO, divisor)


def zeros_of(divisor: Node) -> tuple[Node, ...]:
    """Return the nodes whose zeros are zeros of a divisor."""
    if divisor.op is mul:
        return divisor.args
    is_power = divisor.op is sqrt or (divisor.op is pow and divisor.args[1].is_number())
    return divisor.args[:1] if is_power else ()
