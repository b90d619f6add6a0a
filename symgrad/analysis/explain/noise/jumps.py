"""Jumps whose place a parameter moves: there the mean of the gradient is not the gradient of the mean.

The mean over u of y(u, t) is an integral. If y jumps at u = s(t), the derivative of this integral with respect to t has
a further term by Leibniz's rule: (y just below s - y just above s)*p(s)*ds/dt, where p is the density of u. No pullback
computes this term, because the derivative is zero on either side of a jump.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.analysis.explain.limits import JUMP_EQUATIONS, JUMP_SECONDS, JUMPS
from symgrad.analysis.explain.naming import Naming
from symgrad.analysis.explain.noise.dependence import Dependence
from symgrad.analysis.explain.noise.sample_points import as_floats, value_at
from symgrad.analysis.explain.noise.solving import change_of, tie_of
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.graph import OPS, Node, as_node, symbol, truth
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ir.types import REAL, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.layout import full, is_zero
from symgrad.ops.random.laws import density
from symgrad.rewrite.facts.point_masses import tied
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.support.source import Place
from symgrad.support.texts import join_texts

_CONDITIONS = {"lt": 1, "le": 1, "gt": -1, "ge": -1}
"""Comparisons, each with 1 if it holds where the left side is smaller, otherwise -1."""
_PIECES = frozenset({"abs", "maximum", "minimum", "relu", "where"})
_STEPS = frozenset({"ceil", "floor", "round"})
_POINTS = 6
_SHARP = 1e-6


@dataclass(frozen=True, slots=True)
class MovedJump:
    """A jump whose place parameters move: there the derivative of the mean has an additional term.

    Attributes:
        value: the value that jumps.
        random: the random input that crosses the jump.
        choice: the node that jumps: a condition, or an op such as ``floor``.
        where: the value of the random input at the jump; None if no formula is known.
        terms: for each parameter that moves the jump the missing term; None if no formula is known. If a term contains
            random inputs, its mean over them is missing.
    """

    value: str
    random: str
    choice: str
    where: str | None
    terms: Mapping[str, Any] = field(repr=False)
    _node: Node = field(repr=False)
    _naming: Naming = field(repr=False)

    @property
    def places(self) -> tuple[Place, ...]:
        """The line of code that makes the choice, if the program was read from other code."""
        return self._naming.lines([self._node])

    @property
    def headline(self) -> str:
        """The gradient and its missing term."""
        by, several = join_texts(list(self.terms)), len(self.terms) > 1
        what = f"the gradients by {by} miss" if several else f"the gradient by {by} misses"
        return f"{what} a term of the derivative of the mean over {self.random}"

    @property
    def reason(self) -> str:
        """The reason, in a sentence."""
        place = f" where {self.random} = {self.where}" if self.where is not None else ""
        by, several = join_texts(list(self.terms)), len(self.terms) > 1
        return (
            f"{self.value} jumps at {self.choice}{place}, and {by} move{'' if several else 's'} that point; on either "
            "side of a jump its derivative is 0, so no pullback sees it"
        )

    @property
    def additions(self) -> Mapping[str, str]:
        """For each parameter, the missing term as text; {} if no formula is known."""
        found: dict[str, str] = {}
        for name, term in self.terms.items():
            if term is not None:
                node = getattr(term, "node", term)
                text = self._naming.body(node, 300)
                random = [s.name for s in symbols_of([node]) if s.declaration.distribution is not None]
                found[name] = f"the mean over {join_texts(random)} of {text}" if random else text
        return found

    @property
    def advice(self) -> str:
        """The advice, in a sentence."""
        if not self.additions:
            return "no formula is known here; a smooth choice in its place has no such term"
        added = "; ".join(f"{text} to that by {name}" for name, text in self.additions.items())
        return f"add {added}"

    def __str__(self) -> str:
        return f"{self.headline}: {self.reason}; {self.advice}"


def moved_jumps(
    y: Node, wrt: Sequence[Node], sources: Sequence[Node], naming: Naming, *, possible: bool = False
) -> tuple[MovedJump, ...]:
    """Return the jumps of a value that a random input crosses at a place that parameters move.

    Args:
        y: a scalar.
        wrt: the parameters.
        sources: the random inputs.
        naming: names of nodes.
        possible: whether to include places at which the value is not known to jump.
    """
    drawn = [u for u in sources if u.dtype == "real"]
    stops = {n for n in topological([y]) if "stops" in n.op.facts}
    order = topological([y], until=stops)
    if not drawn or len(order) > JUMP_EQUATIONS:
        return ()
    held = set(topological([n.args[0] for n in stops]))
    depends = Dependence(order, [*drawn, *wrt])
    off = tied([y], drawn)
    found: list[MovedJump] = []
    looked = 0
    for node in order:
        if node in stops or node in off or not _jumps(node):
            continue
        crossing = [u for u in drawn if any(depends(a, u) for a in node.args)]
        moving = [w for w in wrt if w.dtype == "real" and _moves(node, w, depends)]
        if not crossing or not moving or looked == JUMPS:
            continue
        looked += 1
        jump = _Jump(y, node, order, tuple(moving), naming, node in held, off).record(
            crossing, possible=possible
        )
        found += [] if jump is None else [jump]
    return _once(found)


def _jumps(node: Node) -> bool:
    equation = node.op.name in {"eq", "ne"} and all(a.dtype != "bool" for a in node.args)
    return equation or node.op.name in _CONDITIONS or "piecewise-constant" in node.op.facts


def _has_pieces(node: Node) -> bool:
    picked = node.op.structure is not None and node.op.structure.entries == "picked"
    stepped = "piecewise-constant" in node.op.facts
    return picked or stepped or node.op.name in _PIECES or node.dtype == "bool"


def _moves(node: Node, w: Node, depends: Dependence) -> bool:
    """Tell whether a parameter moves an argument along derivative paths, which end at stop_gradients."""
    if not any(depends(a, w) for a in node.args):
        return False
    arguments = [a for a in node.args if a.dtype == "real"]
    return pull_back(arguments, [as_node(1)] * len(arguments), [w]).nothing[0] is None


def _once(found: Sequence[MovedJump]) -> tuple[MovedJump, ...]:
    """Remove duplicates: the same condition may be written in several ways."""
    keys = [(j.random, j.where or j.choice, tuple(j.terms.items())) for j in found]
    return tuple(dict(zip(reversed(keys), reversed(found), strict=True)).values())[::-1]


@dataclass(frozen=True, slots=True)
class _Jump:
    """A node that may jump, and the question about it."""

    y: Node
    node: Node
    order: Sequence[Node]
    wrt: tuple[Node, ...]
    naming: Naming
    held: bool
    tied: Mapping[Node, Node]

    def record(self, crossing: Sequence[Node], *, possible: bool) -> MovedJump | None:
        """Return the record of the jump; None if there is none, or if there may be none and not ``possible``."""
        gap = self._gap()
        for u in () if self.held else crossing:
            found = None if gap is None else self._with_formula(u, gap)
            if found is not None:
                at, terms = found
                return self._record(u, at, terms) if terms else None
        (u, *_) = crossing
        return self._record(u, None, dict.fromkeys(self.wrt)) if possible or self._certain(u) else None

    def _record(self, u: Node, at: Node | None, terms: Mapping[Node, Node | None]) -> MovedJump:
        if at is not None and at.op.name == "broadcast_to":
            (at,) = at.args
        text = self.naming.text
        where = None if at is None else text(at)
        named = {text(w): term for w, term in terms.items()}
        return MovedJump(
            text(self.y), u.name, self.naming.body(self.node), where, named, self.node, self.naming
        )

    def _gap(self) -> Node | None:
        """Return an expression that is zero at the jump, and grows towards the side on which the comparison fails."""
        name, args = self.node.op.name, self.node.args
        if name == "sign":
            return args[0]
        if name not in _CONDITIONS or any(a.dtype == "bool" for a in args):
            return None
        return (args[0] - args[1]) if _CONDITIONS[name] > 0 else (args[1] - args[0])

    # ------------------------------------------------------------------------------------------------ with a formula

    def _with_formula(self, u: Node, gap: Node) -> tuple[Node, dict[Node, Node | None]] | None:
        """Return the place of the jump and the missing terms ({} if there is no jump); None if no formula is found."""
        if self.node.shape and (self.node.shape != u.shape or not _pointwise(gap, u)):
            return None
        if not self.node.shape and u.shape:
            return None
        (slope,) = canonical(push_forward([gap], {u: full(as_node(1), u.shape)})).nodes
        depends = Dependence([gap], [u])
        if slope.is_number(0) or any(_has_pieces(n) and depends(n, u) for n in depends.order):
            return None
        if u not in topological([slope]):
            at: Node | None = -substitute([gap], {u: full(as_node(0), u.shape)})[0] / slope
        else:
            at = tie_of(*self.node.args[:2], u) if len(self.node.args) == 2 else None
        if at is None:
            return None
        (at,) = canonical([full(at, self.node.shape)]).nodes
        (slope,) = substitute([slope], {u: at})
        sides = self._sides(u, at)
        if sides is None:
            return None
        below, above = sides
        differ = _differ(below, above)
        if not differ:
            return None if differ is None else (at, {})
        rising = OPS["sign"](slope)
        likely = density(u, at)
        assert likely is not None
        seed = full((below - above) * rising * likely, at.shape)
        gradients = pull_back([at], [seed], self.wrt).gradients
        terms = canonical(gradients, drop_stops=True).nodes
        return at, {w: term for w, term in zip(self.wrt, terms, strict=True) if not is_zero(term)}

    def _sides(self, u: Node, at: Node) -> tuple[Node, Node] | None:
        """Return the values at the jump for a negative and a positive gap; for arrays, entry by entry."""
        low, high = (truth(True), truth(False)) if self.node.dtype == "bool" else (as_node(-1), as_node(1))
        if not self.node.shape:
            # The formula is wrong if another comparison ties at the same place.
            pair = [substitute([self.y], {**self.tied, self.node: v})[0] for v in (low, high)]
            if any(self._ties(n, u, at) for n in topological(pair)):
                return None
            first, second = (substitute([e], {u: at})[0] for e in pair)
            return first, second
        readers = [n for n in self.order if self.node in n.args]
        linear = ("where", "mul", "neg", "add")
        if any(n.op.name not in linear or n.shape != self.node.shape for n in readers):
            return None
        # Integers have no cotangent, so real symbols replace the nodes that read them.
        stands = [symbol(Declaration(f"__{k}", REAL, n.shape)) for k, n in enumerate(readers)]
        (replaced,) = substitute([self.y], dict(zip(readers, stands, strict=True)))
        weights = canonical(pull_back([replaced], [as_node(1)], stands).gradients).nodes
        for weight in weights:
            nodes = topological([weight])
            if not {self.node, *stands}.isdisjoint(nodes) or (u in nodes and not _pointwise(weight, u)):
                return None
        sums: list[Node] = []
        for value in (low, high):
            total: Node = as_node(0)
            for reader, weight in zip(readers, weights, strict=True):
                args = tuple(value if a is self.node else a for a in reader.args)
                total = total + weight * OPS[reader.op.name](*args)
            sums.append(substitute(substitute([total], self.tied), {u: at})[0])
        return sums[0], sums[1]

    def _ties(self, n: Node, u: Node, at: Node) -> bool:
        """Tell whether another choice may tie where this one does, for more than isolated values of the parameters."""
        if n is self.node or not _jumps(n) or u not in topological([n]):
            return False
        if n.op.name not in (*_CONDITIONS, "sign"):
            return True
        left, right = [*(substitute([a], {u: at})[0] for a in n.args), as_node(0)][:2]
        # Piecewise functions may tie in a whole region.
        in_pieces = any(_has_pieces(m) for m in topological([left, right]))
        return in_pieces or not _differ(left, right)

    # --------------------------------------------------------------------------------------------- without a formula

    def _certain(self, u: Node) -> bool:
        """If no formula was found, tell by evaluation whether the value certainly jumps."""
        symbols = symbols_of([self.y])
        if any(s.shape for s in symbols) or self.held:
            return False
        if self.node.op.name in _STEPS:
            return self._steps()
        if self.node.dtype != "bool" and self.node.op.name != "sign":
            return False
        for k in range(_POINTS):
            point = {s: as_floats(s, value_at(s, k)) for s in symbols}
            change = change_of(self.node, u, point)
            if change is None:
                continue
            crossed, *sides = change
            chosen = [truth(bool(v)) if self.node.dtype == "bool" else as_node(int(v)) for v in sides]
            pair = [substitute([self.y], {**self.tied, self.node: v})[0] for v in chosen]
            near = crossed + 0.01 * (1 + abs(crossed))
            here, beside = (
                [float(v) for v in evaluate(pair, {**point, u: np.float64(x)})] for x in (crossed, near)
            )
            scale = abs(here[0]) + abs(here[1]) + abs(beside[0] - beside[1])
            if np.isfinite(scale) and abs(here[0] - here[1]) > _SHARP * scale:
                return True
        return False

    def _steps(self) -> bool:
        """Tell whether the value changes if the step function takes its next value."""
        (moved,) = substitute([self.y], {self.node: self.node + 1})
        for k in range(_POINTS):
            point = {s: as_floats(s, value_at(s, k)) for s in symbols_of([self.y])}
            before, after = (float(v) for v in evaluate([self.y, moved], point))
            finite = np.isfinite(before) and np.isfinite(after)
            if finite and abs(before - after) > _SHARP * (1 + abs(before)):
                return True
        return False


def _pointwise(node: Node, u: Node) -> bool:
    """Tell whether each entry depends only on the same entry of a random input."""
    depends = Dependence([node], [u])
    return node.shape == u.shape and all(
        n.op.pointwise and n.shape == u.shape for n in depends.order if n is not u and depends(n, u)
    )


def _differ(a: Node, b: Node) -> bool | None:
    """Decide whether two values differ somewhere; None if it is unknown."""
    # This is a late import: few gradients have jumps.
    from symgrad.verification.decide import decide, equal

    gap = canonical([a - b], drop_stops=True).nodes[0]
    if gap.is_number():
        return not gap.is_number(0)
    try:
        status = decide(equal(a, b), JUMP_SECONDS).status
    except SymgradError:
        return None
    return True if status == "refuted" else False if status == "proved" else None


def overlooks_jumps(y: Node, wrt: Sequence[Node], sources: Sequence[Node]) -> bool:
    """Tell whether `moved_jumps` would skip jumps because of its limits."""
    drawn = [u for u in sources if u.dtype == "real"]
    order = topological([y])
    if not drawn:
        return False
    depends = Dependence(order, [*drawn, *wrt])
    off = tied([y], drawn)
    moving = [
        n
        for n in order
        if _jumps(n)
        and n not in off
        and any(depends(a, u) for a in n.args for u in drawn)
        and any(depends(a, w) for a in n.args for w in wrt)
    ]
    return len(moving) > JUMPS or (bool(moving) and len(order) > JUMP_EQUATIONS)
