"""The input and the output of a check: a program with the intent of its author, and the fault that the check found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from symgrad.analysis.explain.naming import Naming
from symgrad.analysis.stop_gradient.checks.naive import FRAMEWORKS
from symgrad.analysis.stop_gradient.checks.points import Batch, Points
from symgrad.analysis.stop_gradient.edges import Edges
from symgrad.analysis.stop_gradient.finding import Severity
from symgrad.autodiff.trace import BackwardTrace
from symgrad.autodiff.vjp import pull_back
from symgrad.checker.clock import now
from symgrad.compiler.forms.output import Output
from symgrad.compiler.forms.pipeline import arrange
from symgrad.ir.graph import OPS, SYMBOL, Node, as_node, symbol
from symgrad.ir.listing import Derivative, Listing
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import NONNEGATIVE, POSITIVE, REAL, Declaration
from symgrad.ops.control import as_computed
from symgrad.ops.numpy.calls import total
from symgrad.ops.scalar.logic import NEGATION
from symgrad.ops.user_ops import opaque_in
from symgrad.pretty.simplify import simplified
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.memo import keeping
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.support.source import Place, Source, Span
from symgrad.verification.decide import decide, equal
from symgrad.verification.gradients.orders import decide_all_orders, decide_orders
from symgrad.verification.verdict import Verdict

_SHARP, _SMALL = 1e-9, 1e-6
_CLOSE = 1e-6  # relative to the exact value, or to 1
_WRITTEN = 100  # number of characters of an expression in a suggested line
_LONGEST = 400  # number of characters of an expression that has no parts to name
_LARGEST = 400
"""Equations of the largest program that the engine compares."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The result of a check: a `Finding` without the columns of the table of checks.

    Args:
        node: the equation at fault, from which place and text follow; None for the whole program.
        message: the fault, in one sentence.
        reason: the cause of the fault.
        repaired: the whole program after the repair.
        cure: the repair in words, or as a line of code.
        verdict: a verdict on the repair.
        also: further equations whose lines belong to the finding.
        severity: the severity, if it is not that of the check; otherwise None.
    """

    node: Node | None
    message: str
    reason: str
    repaired: Node | None = None
    cure: str | None = None
    verdict: Verdict | None = None
    also: tuple[Node, ...] = ()
    severity: Severity | None = None


@dataclass(frozen=True, eq=False)
class LintQuery:
    """A program, and how its author intends to differentiate it.

    Args:
        y: the value to differentiate.
        wrt: inputs, or intermediate values that count as inputs.
        named: whether the user named them.
        noise: random inputs that the gradient must not depend on.
        frozen: values that must not receive a gradient.
        variables: the variables of an optimiser.
        listing: the program with its names and places.
        naming: the names of nodes.
        end: the deadline, on the clock of `symgrad.checker.clock`.
        frameworks: the frameworks whose backward passes are simulated.
    """

    y: Node
    wrt: tuple[Node, ...]
    named: bool
    noise: tuple[Node, ...]
    frozen: tuple[Node, ...]
    variables: tuple[Node, ...]
    listing: Listing | None
    naming: Naming = field(repr=False)
    end: float
    frameworks: tuple[str, ...] = FRAMEWORKS

    @cached_property
    def order(self) -> list[Node]:
        """The equations of the program, arguments first."""
        return topological([self.y])

    @cached_property
    def scalar(self) -> Node:
        """The number whose gradient is computed: for an array, the sum of its entries, each times its cotangent."""
        return self.as_number(self.y)

    @cached_property
    def cotangent(self) -> Node:
        """A symbol for the cotangent of an array."""
        taken = {s.name for s in symbols_of([self.y, *self.wrt])}
        name = free_name(f"{self.naming.names.get(self.y, 'y')}_bar", taken)
        return symbol(Declaration(name, REAL, shape=self.y.shape))

    def as_number(self, y: Node) -> Node:
        """Contract a program that has the shape of this one with the cotangent; return a number unchanged."""
        return total(y * self.cotangent) if y.shape else y

    @cached_property
    def trace(self) -> BackwardTrace:
        """The backward pass."""
        return pull_back([self.scalar], [as_node(1)], self.wrt)

    @cached_property
    def _kernel_gradients(self) -> Sequence[Node]:
        """The gradients in the forms in which a kernel of symgrad computes them."""
        outputs = [
            Output(
                g, (self.scalar,), (self.trace,), Derivative(self.scalar, (w,)), lambda n: simplified(n).node
            )
            for g, w in zip(self.trace.gradients, self.wrt, strict=True)
        ]
        with keeping(self.trace.answers):
            return arrange(outputs, low=True).nodes

    def kernel_text(self, point: Batch, exact: Sequence[Any] | None = None) -> str:
        """Say what gradients a kernel of symgrad computes at a point.

        Args:
            point: the point, without an axis for points or with one of length 1.
            exact: the exact gradient with respect to each of wrt, or None where it is unknown.
        """
        found = self.points.evaluate(self._kernel_gradients, point)
        gradients = [np.ravel(np.asarray(g, dtype=float)) for g in found or [np.nan]]
        entries = np.concatenate(gradients)
        if np.isnan(entries).any():
            return "symgrad's gradient is NaN, too"
        if np.isinf(entries).any():
            return "symgrad's gradient is infinite"
        if exact is None:
            return f"symgrad's gradient is {'finite' if entries.any() else '0'}"
        right = (g is None or is_close(own, g) for own, g in zip(gradients, exact, strict=True))
        return f"symgrad's gradient is {'right' if all(right) else 'wrong, too'}"

    @cached_property
    def points(self) -> Points:
        """The points at which the program and its gradients are evaluated."""
        return Points(self.scalar, min(self.end, now() + 0.2 * self.remaining))

    @cached_property
    def edges(self) -> Edges:
        """The derivative edges of the program."""
        return Edges(self.y, self.wrt)

    @property
    def remaining(self) -> float:
        """The remaining seconds."""
        return max(self.end - now(), 0.0)

    def text(self, node: Node) -> str:
        """Return the name of a node, or a short expression."""
        return self.naming.text(node)

    def body(self, node: Node) -> str:
        """Return the expression that computes a node."""
        return self.naming.body(node)

    def code_text(self, form: str, *parts: Node | str, common: Node | None = None) -> str | None:
        """Return a line of code with expressions in full; long expressions get names that the line defines.

        Args:
            form: the line, with a placeholder ``{}`` for each part.
            parts: expressions, or their texts; for a named value, its definition is written.
            common: an expression that occurs in the parts several times; it gets the first name.

        Returns:
            The line; None if it would need too many names.
        """
        shown = [p for p in parts if not isinstance(p, str)]
        taken = {s.name for s in symbols_of([self.y, *shown])} | set(self.naming.names.values())
        naming, own = self.naming, dict[Node, str]()
        is_long = any(naming.whole(n, _WRITTEN) is None for n in shown)
        if is_long and common is not None and common.args and common not in naming.names:
            own = {common: free_name("t", taken)}
            naming = replace(naming, names={**naming.names, **own})
        naming, new = naming.with_parts([*shown, *own], {*taken, *own.values()}, _WRITTEN)
        new = {n: name for n in topological(shown) if (name := {**new, **own}.get(n)) is not None}
        texts = {n: naming.whole(n, _LONGEST) for n in (*shown, *new)}
        if None in texts.values():
            return None
        line = form.format(*(p if isinstance(p, str) else texts[p] for p in parts))
        return "; ".join([*(f"{name} = {texts[n]}" for n, name in new.items()), line])

    def places(self, nodes: Sequence[Node]) -> tuple[Place, ...]:
        """Return the lines that compute nodes, in the Python code or in the program's own text."""
        found: dict[tuple[str, int], Place] = {}
        for n in nodes:
            place = self._place(n)
            if place is not None:
                found.setdefault((place.file, place.line), place)
        return tuple(found.values())

    def _place(self, node: Node) -> Place | None:
        if self.listing is None:
            return None
        if node.op is SYMBOL and node.name in self.listing.name_spans and self.listing.source is not None:
            return _at(self.listing.source, self.listing.name_spans[node.name])
        if node in self.listing.places:
            return self.listing.places[node]
        source, span = self.listing.source, self.listing.spans.get(node)
        return None if source is None or span is None else _at(source, span)

    # ------------------------------------------------------------------------------------------------------- verdicts

    def decidable(self, *programs: Node) -> bool:
        """Tell whether programs are short enough for the engine, and have no opaque operation."""
        return _is_decidable([self.y, *programs])

    def same(self, other: Node, seconds: float, order: int | None = None) -> Verdict | None:
        """Decide whether this program and another one have equal values and derivatives; return None if unknown.

        Args:
            other: the other program.
            seconds: the time limit.
            order: the highest order of derivatives; None for all orders.
        """
        if not self.decidable(other):
            return None
        sides, inputs = self._by_inputs([self.y, other])
        seconds = min(seconds, self.remaining)
        if not inputs or seconds <= 0:
            return None
        try:
            if order is None:
                return decide_all_orders(sides[0], sides[1], inputs, None, seconds)
            return decide_orders(sides[0], sides[1], inputs, order, None, seconds)
        except SymgradError:
            return None

    def same_but_for(self, old: Node, new: Node, seconds: float) -> Verdict | None:
        """Decide whether replacing one value keeps the program's value and gradients; return None if unknown.

        If the program is too long, compare only the two values, as functions of the inputs that they share, with no
        assumption on these inputs: if the values are equal, so are the programs, because all other nodes are the same.

        Args:
            old: the value.
            new: its replacement.
            seconds: the time limit.
        """
        (repaired,) = substitute([self.y], {old: new})
        if self.decidable(repaired):
            return self.same(repaired, seconds, order=1)
        parts = self._by_shared([old, new])
        inputs = [s for s in symbols_of(parts) if s.dtype == "real"]
        seconds = min(seconds, self.remaining)
        if not _is_decidable(parts) or not inputs or seconds <= 0:
            return None
        try:
            verdict = decide_orders(parts[0], parts[1], inputs, 1, None, seconds)
        except SymgradError:
            return None
        if verdict.status != "proved":
            return None  # the values may still agree on the range of the shared inputs
        why = f"of {self.body(old)} and {self.body(new)}, whatever they read, {verdict.why}; the rest is the same"
        return replace(verdict, why=why)

    def _by_shared(self, sides: Sequence[Node]) -> list[Node]:
        """Return two values as functions of the largest intermediate values that both of them read."""
        below = [set(topological(s.args)) for s in sides]
        shared = {n for n in below[0] & below[1] if n.args and n.dtype == "real"}
        return substitute(sides, self.stand_ins([n for n in topological(sides, until=shared) if n in shared]))

    def stand_ins(self, values: Sequence[Node]) -> dict[Node, Node]:
        """Return symbols for values, with the names of the values, and with their signs if these are known."""
        known = Conditions()
        taken = {s.name for s in symbols_of([self.y, *self.wrt, *values])}
        made: dict[Node, Node] = {}
        for n in values:
            name = self.naming.names.get(n, "v")
            while name in taken:
                name += "_"
            taken.add(name)
            sign = POSITIVE if known.positive(n) == "yes" else REAL
            sign = NONNEGATIVE if sign is REAL and known.nonnegative(n) == "yes" else sign
            made[n] = symbol(Declaration(name, sign, shape=n.shape))
        return made

    def equal(self, a: Node, b: Node, seconds: float) -> Verdict | None:
        """Decide whether two values are equal; return None if unknown."""
        seconds = min(seconds, self.remaining)
        sides = canonical(as_computed([a, b]), drop_stops=True).nodes
        if not _is_decidable(sides) or seconds <= 0:
            return None
        try:
            return decide(equal(sides[0], sides[1]), seconds)
        except SymgradError:
            return None

    def keeps_bits(self, other: Node) -> bool:
        """Tell whether another program has the same bits wherever this program has a finite value."""
        for _, values in self.points.values([self.y, other]):
            old, new = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values))
            same = (old == new) & (np.signbit(old) == np.signbit(new))
            if not np.all(same | ~np.isfinite(old)):
                return False
        return True

    def seems_zero(self, gradient: Node, parts: Sequence[Node] = ()) -> bool:
        """Tell by numbers whether a gradient may be zero: it is small compared with its summands."""
        seen = False
        for _, values in self.points.values([gradient, *parts], rough=True):
            sizes = [np.abs(np.asarray(v, dtype=float)) for v in values]
            fine = [float(np.max(s[np.isfinite(s)], initial=0.0)) for s in sizes]
            seen = seen or bool(np.any(np.isfinite(sizes[0])))
            if fine[0] > _SHARP * (_SMALL + max(fine[1:], default=0.0)):
                return False
        return seen

    def _by_inputs(self, sides: Sequence[Node]) -> tuple[list[Node], list[Node]]:
        """Replace the intermediate values among wrt by inputs in programs; return the programs and the inputs."""
        taken = {s.name for s in symbols_of([*sides, *self.wrt])}
        inputs: dict[Node, Node] = {}
        for w in self.wrt:
            if w.dtype != "real":
                continue
            if w.op is SYMBOL:
                inputs[w] = w
                continue
            name = free_name(self.naming.names.get(w, "v"), taken)
            taken.add(name)
            inputs[w] = symbol(Declaration(name, REAL, shape=w.shape))
        return substitute(list(sides), inputs), list(inputs.values())


def _is_decidable(values: Sequence[Node]) -> bool:
    return len(topological(values)) <= _LARGEST and not opaque_in(values)


def _at(source: Source, span: Span) -> Place:
    line, column = source.line_column(span.start)
    return Place(source.name, line, column - 1, column - 1 + span.end - span.start, source.line(line).strip())


def is_close(value: Any, exact: Any) -> bool:
    """Tell whether floats are close to exact numbers."""
    floats = np.ravel(np.asarray(value, dtype=float))
    numbers = np.ravel(np.asarray(exact, dtype=object)).astype(float)
    return bool(np.all(np.abs(floats - numbers) <= _CLOSE * (1 + np.abs(numbers))))


def negated(condition: Node) -> Node:
    """Return the negation of a condition: the opposite comparison, if there is one."""
    other = NEGATION.get(condition.op.name)
    if other is not None:
        return OPS[other](*condition.args)
    return condition.args[0] if condition.op.name == "not_" else OPS["not_"](condition)
