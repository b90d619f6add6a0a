"""Derivatives of a program over its names: one line for each named value, by the chain rule between names.

Forward mode gives the derivative of every name with respect to one input, `dA_dT`; reverse mode gives the derivative of
one output with respect to every name, `dloss_dP`. `symgrad.autodiff` computes each line: it differentiates one body
with respect to the names that the body reads.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.linearise import GuardedTangent, guarded, pass_through
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import SYMBOL, Node, as_node, symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.notation.lags import lags_of, loop_of, with_rows
from symgrad.ir.notation.recurrences import recurrence_of
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import div, mul, neg, pow
from symgrad.ops.scalar.elementary import exp
from symgrad.pretty.forms.factor_out import factors_of
from symgrad.pretty.limits import UNNAMED_CHARACTERS
from symgrad.pretty.named_program import NamedProgram, is_symmetric
from symgrad.pretty.shortest import ShortestForms
from symgrad.rewrite.pipeline import canonical
from symgrad.support.traversal import walk


@dataclass(slots=True)
class Lines:
    """New lines for derivatives, in addition to the lines of the program.

    Args:
        words: the program.
        forms: the object that searches for short forms.
        bodies: maps the symbols of new lines to their bodies, arguments first.
        slopes: for each new line, the value and the variables of the derivative, as names.
        taken: names that no new line may have.
    """

    words: NamedProgram
    forms: ShortestForms
    bodies: dict[Node, Node] = field(default_factory=dict[Node, Node])
    slopes: dict[Node, tuple[str, tuple[str, ...]]] = field(
        default_factory=dict[Node, tuple[str, tuple[str, ...]]]
    )
    taken: set[str] = field(default_factory=set[str])
    _slopes: dict[tuple[Node, Node], Node] = field(default_factory=dict[tuple[Node, Node], Node])
    _lines: dict[tuple[str, Node], Node] = field(default_factory=dict[tuple[str, Node], Node])

    def body(self, name: Node) -> Node | None:
        """Return the body of a named line; None for other nodes."""
        return self.bodies.get(name) or self.words.bodies.get(name)

    # -- forward ---------------------------------------------------------------------------------------------

    def pushed(self, y: Node, wrt: Node) -> Node:
        """Differentiate a node, written in names, with respect to a symbol or name, which counts as independent."""
        moving: dict[Node, Node] = {wrt: as_node(1)}
        for name in self._below(y):
            body = self.body(name)
            if name is wrt or body is None or not _reads(body, moving):
                continue
            known = self._slopes.get((name, wrt))
            if known is None:
                of, by = self.slopes.get(name, (name.name, ()))
                slope = self._slope(body, moving, name)
                known = self._slopes[name, wrt] = self._line(of, (*by, wrt.name), slope)
            if not known.is_number(0):
                moving[name] = known
        if y in moving:
            return moving[y]
        return self._slope(y, moving, None) if _reads(y, moving) else as_node(0)

    def _strong(self, derivative: Node) -> GuardedTangent:
        """Mark a derivative as a strong zero where a choice makes it zero: zero even times an undefined factor."""
        top = self.body(derivative) or derivative
        for n in walk([top], self._factors):
            guard = guarded(n).guard
            if guard is not None and guard.shape == top.shape:
                return GuardedTangent(guard, derivative, settled=True)
        return GuardedTangent(None, derivative)

    def _factors(self, n: Node) -> Iterable[Node]:
        """Return the factors whose zeros make a node zero, from right to left."""
        inner = self.body(n)
        if inner is not None:
            return [inner]
        return reversed(n.args) if n.op is mul else n.args[:1] if n.op in (neg, div) else ()

    def _below(self, y: Node) -> list[Node]:
        """Return the names that a node reads, directly or through other names, in the order of their lines."""

        def names(top: Node) -> list[Node]:
            return [n for n in topological([self.body(top) or top]) if self.body(n) is not None]

        wanted = set(walk([y], names))
        return [n for n in (*self.words.bodies, *self.bodies) if n in wanted]

    def _slope(self, body: Node, moving: dict[Node, Node], name: Node | None) -> Node:
        tangents = {n: full(t, n.shape) for n, t in moving.items()}
        strong = {n: self._strong(t) for n, t in tangents.items()}
        raw = full(push_forward([body], strong)[0], body.shape)
        if name is None:
            return self.forms.best([raw])
        return self.forms.best(
            [substitute([raw], {body: name})[0], raw, *self._by_factors(body, strong, name)]
        )

    def _by_factors(
        self, body: Node, tangents: Mapping[Node, Node | GuardedTangent], name: Node
    ) -> list[Node]:
        """Return the derivative of a product as the product times the sum of logarithmic derivatives f'/f.

        In a numerator, f'/f is used only for exponentials, nonzero names, and powers of these. Any other factor is
        replaced by its derivative: f'/f would divide by something by which the program does not divide, such as a
        logarithm.
        """
        sign, above, below = factors_of(body)
        factors = [*((f, 1) for f in above), *((f, -1) for f in below)]
        if len(factors) < 2:
            return []
        whole: list[Node] = []
        parts: list[Node] = []
        for k, (factor, times) in enumerate(factors):
            if not _reads(factor, tangents):
                continue
            rate = self._rate(factor, tangents)
            if rate is None and times < 0:
                rate = push_forward([factor], tangents)[0] / factor
            if rate is not None:
                whole.append(as_node(times) * rate)
            else:
                (slope,) = push_forward([factor], tangents)
                others = [f if t > 0 else 1 / f for f, t in factors[:k] + factors[k + 1 :]]
                parts.append(reduce(operator.mul, others, as_node(sign)) * slope)
        if not whole:
            return []
        return [reduce(operator.add, parts, name * reduce(operator.add, whole))]

    def _rate(self, factor: Node, tangents: Mapping[Node, Node | GuardedTangent]) -> Node | None:
        """Return f'/f for exponentials, nonzero names, and powers and products of these; None for others."""
        if not _reads(factor, tangents):
            return as_node(0)
        known = self.words.known.nonzero(factor) == "yes"
        if factor.op in (SYMBOL, exp) and known:
            return push_forward([factor], tangents)[0] / factor
        if factor.op is pow and not _reads(factor.args[1], tangents):
            inner = self._rate(factor.args[0], tangents)
            return None if inner is None else factor.args[1] * inner
        if factor.op in (mul, div):
            first, second = (self._rate(a, tangents) for a in factor.args)
            if first is not None and second is not None:
                return first + second if factor.op is mul else first - second
        return None

    # -- in reverse ------------------------------------------------------------------------------------------

    def pulled(self, y: Node, wrt: Sequence[Node]) -> list[Node]:
        """Differentiate a scalar, written in names, with respect to symbols and names, in reverse mode."""
        label = y.name if y in self.words.bodies else "out"

        def line(name: Node, built: Node, bar: Node) -> Node:
            if name not in wrt and self.is_divided(name, built):
                return built
            return bar if name is y or name in wrt else self._line(label, (name.name,), bar)

        return self.pulled_by(y, wrt, line)

    def is_divided(self, name: Node, built: Node) -> bool:
        """Tell whether the recurrence back reads the derivative by the values of a recurrence as it is built.

        Then the last value and the others are apart. That of a longer memory is an array, except for that of one row.
        """
        body = self.words.bodies.get(name)
        if body is None or loop_of(body) is None:
            return False
        return recurrence_of(body) is not None or built.op.name == "unslice"

    def pulled_by(self, y: Node, wrt: Sequence[Node], line: Callable[[Node, Node, Node], Node]) -> list[Node]:
        """Return the same derivatives, with a function that makes the lines.

        ``line`` is called with a name, its total derivative as built, and its short form; it returns the node that
        further lines read.
        """
        moving = set(wrt)
        for name, body in self.words.bodies.items():
            if _reads(body, moving):
                moving.add(name)
        bars: dict[Node, list[Node]] = {}
        found: dict[Node | None, Node] = {}
        self._pull({None: y}, {None: as_node(1)}, moving, bars)
        for name, body in reversed(self.words.bodies.items()):
            if name in found or name not in moving:  # a member of wrt may itself depend on other members
                continue
            here = [n for n in self._computed_with(name, body) if n in bars and n not in found]
            for n in here:
                found[n] = line(n, *self._gathered(n, bars[n]))
            if here:
                self._pull({n: self.words.bodies[n] for n in here}, found, moving, bars)
        return [
            found[w] if w in found else line(w, *self._gathered(w, bars.get(w, [as_node(0)]))) for w in wrt
        ]

    def _computed_with(self, name: Node, body: Node) -> list[Node]:
        """Return the names that one recurrence computes together, or only the name."""
        found = loop_of(body)
        return [name] if found is None else [n for n, b in self.words.bodies.items() if loop_of(b) is found]

    def _pull(
        self,
        bodies: Mapping[Node | None, Node],
        slopes: Mapping[Node | None, Node],
        moving: Collection[Node],
        bars: dict[Node, list[Node]],
    ) -> None:
        """Add the derivatives by what bodies read, given the derivatives by their names; None is the result itself."""
        for name, body in bodies.items():
            if body in moving and body in (*self.words.bodies, *moving):
                bars.setdefault(body, []).append(slopes[name])
        bodies = {n: b for n, b in bodies.items() if not (b in moving and b in (*self.words.bodies, *moving))}
        wanted = [s for s in symbols_of(bodies.values()) if s in moving and s.dtype == "real"]
        if not wanted:
            return
        seeds = [self._strong(slopes[name]) for name in bodies]
        (first, *others) = bodies.values()
        pulled = pull_back([first, *others], seeds, wanted)
        names = {body: name for name, body in bodies.items() if name is not None}
        lags = [(found, name) for body, name in names.items() if (found := lags_of(body)) is not None]
        for found, name in lags:
            names.update(found.rows(name))
        into_names = with_rows if lags else substitute
        for w, raw, nothing in zip(wanted, pulled.gradients, pulled.nothing, strict=True):
            if nothing is not None:
                continue  # an array of zeros
            # For scalars both modes agree, and forward mode keeps the common factors of several paths.
            if not w.shape and not first.shape and not others:
                raw = pass_through(GuardedTangent(None, _pushed(first, {w: as_node(1)})), seeds[0]).node()
            if not raw.is_number(0):
                bars.setdefault(w, []).append(into_names([raw], names)[0])

    def _gathered(self, name: Node, parts: list[Node]) -> tuple[Node, Node]:
        built = full(reduce(operator.add, parts), name.shape)
        return built, self.forms.best([self._without_zero_sums(built)])

    def _without_zero_sums(self, built: Node) -> Node:
        """Return a derivative without sums of another one that are zero, as behind `z - max(z)` in a softmax."""
        sums = [n for n in topological([built]) if n.op.name == "einsum" and len(n.args) == 1]
        sums = [n for n in sums if _reads(n, self.bodies)]
        if not sums:
            return built
        values = canonical(substitute(sums, self.bodies)).nodes
        zeros = {n: full(as_node(0), n.shape) for n in sums}
        table = {n: zeros[n] for n, value in zip(sums, values, strict=True) if value is zeros[n]}
        return substitute([built], table)[0]

    # -- lines -----------------------------------------------------------------------------------------------

    def _line(self, of: str, by: tuple[str, ...], body: Node) -> Node:
        """Name a derivative, such as `d2A_dT2`; return a short derivative itself.

        If the derivatives of one value with respect to several inputs are equal, they share a line: for instance if the
        inputs occur only in a sum. So do mixed derivatives in another order of the variables.
        """
        if self.forms.length(body) <= UNNAMED_CHARACTERS:
            return body
        known = self._lines.get((of, body))
        if known is not None:
            other = self.slopes[known][1]
            if other[:-1] == by[:-1] or sorted(other) == sorted(by):
                return known
        times = Counter(by)
        order = len(by) if len(by) > 1 else ""
        name = "_".join([f"d{order}{of}", *(f"d{w}{k if k > 1 else ''}" for w, k in times.items())])
        name = free_name(name, (*self.taken, *self.words.names))
        self.taken.add(name)
        made = symbol(Declaration(name, shape=body.shape, symmetric=is_symmetric(body)))
        self.bodies[made] = body
        self._lines[of, body] = made
        self.slopes[made] = of, by
        return made


def _pushed(body: Node, moving: dict[Node, Node]) -> Node:
    return full(push_forward([body], {n: full(t, n.shape) for n, t in moving.items()})[0], body.shape)


def _reads(body: Node, names: Collection[Node]) -> bool:
    return any(n in names for n in topological([body]))
