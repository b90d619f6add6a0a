"""Where a formula has a value although what it stands for has none: said in the names of the program.

    undefined(f) ::= some op of f outside its domain        -- the record of the op states that domain
    gained(f, g) ::= what makes f undefined, and not g

A formula over names has a value where the lines of those names have theirs. Conditions are compared by their factors,
as polynomials; what is known to hold is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from symgrad.ir.graph import SIZE, Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.traverse import substitute, topological
from symgrad.ops.array.indexing import gather, scatter_add
from symgrad.ops.scalar.logic import CONVERSE
from symgrad.pretty.forms.positions import is_inside
from symgrad.pretty.forms.rational import rational_of
from symgrad.pretty.limits import CONDITIONS
from symgrad.rewrite.facts.definite_matrices import is_definite
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.memo import Answers, keeping
from symgrad.rewrite.pipeline import canonical

__all__ = ["Domains", "outside_of_choices"]


_OPPOSITE = {"gt": "where {} <= 0", "ge": "where {} < 0", "ne": "at {} = 0"}
_SINGULAR = "where {} is singular"
_OUT_OF_RANGE = "where {} is out of range"
_EMPTY = "where {} is empty"
_NOWHERE = "where {} has no value"
_EVERYWHERE = "everywhere, and it was nowhere"
_BELOW = frozenset({"lt", "le"})
_FACTORS = frozenset(("neg", "broadcast_to", "reshape", "abs", "sqrt"))


@dataclass(frozen=True, slots=True)
class _Condition:
    """A value is not zero (``ne``), positive (``gt``), not negative (``ge``), or what else has to be true.

    Otherwise the kind is what one says where it is not so. One that is ``spread`` has to hold in all entries for any of
    the result to have a value, as below a sum; else each entry has its own.
    """

    kind: str
    node: Node
    spread: bool = False


class Domains:
    """Compares where formulas over names have values.

    Args:
        bodies: what the names stand for.
        meaning: the same, over declared symbols.
        known: facts.
        written: puts a formula into the form in which it is shown.
    """

    def __init__(
        self,
        bodies: Mapping[Node, Node],
        meaning: Mapping[Node, Node],
        known: Conditions,
        written: Callable[[Node], Node],
    ) -> None:
        self.bodies = bodies
        self._meaning = meaning
        self._known = known
        self._written = written
        self._answers: Answers = {}  # about conditions, of which lines of one program have many in common

    def gained(self, before: Node, after: Sequence[Node]) -> list[str]:
        """Return where a formula has values although another, that stands for it, has none, a phrase each.

        Args:
            before: the derivative as it was built, over names.
            after: what is shown for it, and the lines that this reads.

        Returns:
            Phrases such as ``also defined at x + y = 0``.
        """
        with keeping(self._answers):
            lost_always, lost_sometimes = self._conditions([before])
            kept_always, kept_sometimes = self._conditions(after)
            found = [c for c in lost_always if not self._among(c, kept_always)]
            found += [c for c in lost_sometimes if not self._among(c, kept_always + kept_sometimes)]
            return list(dict.fromkeys(map(self._phrase, found)))

    def _conditions(self, nodes: Sequence[Node]) -> tuple[list[_Condition], list[_Condition]]:
        """Return what has to hold for values everywhere, and what only where a choice takes its branch."""
        every = self._with_bodies(nodes)
        outside = self._with_bodies(nodes, outside_of_choices)
        mixed = self._with_bodies([a for n in every if not n.op.pointwise for a in n.args])
        always: dict[_Condition, None] = {}
        sometimes: dict[_Condition, None] = {}
        for n in every:
            if n.op.pointwise:
                found = self._of(n) if n.op.domain is not None else ()
            else:
                found = () if n.op.array.total == "always" else self._of_array(n)
            for one in found:
                condition = replace(one, spread=one.spread or (n in mixed and one.node.shape != ()))
                (always if n in outside else sometimes).setdefault(condition)
        return list(always), [c for c in sometimes if c not in always]

    def _with_bodies(
        self, nodes: Sequence[Node], parts: Callable[[Sequence[Node]], Sequence[Node]] = topological
    ) -> dict[Node, None]:
        """Return the parts of nodes, and those of what the names in them stand for."""
        found: dict[Node, None] = {}
        pending = list(nodes)
        while pending:
            fresh = [n for n in parts(pending) if n not in found]
            found.update(dict.fromkeys(fresh))
            pending = [self.bodies[n] for n in fresh if n in self.bodies]
        return found

    def _of(self, node: Node) -> Iterator[_Condition]:
        """Yield the conditions under which an op has a value, for those arguments, but for what is known to hold."""
        known = self._known
        if node.op.name == "pow" and node.args[1].is_number():
            base, exponent = node.args[0], node.args[1].value
            if exponent < 0:
                yield from self._nonzero(base)
            if exponent.denominator != 1 and known.nonnegative(base) != "yes":
                yield _Condition("ge", canonical([base]).nodes[0])
            return
        assert node.op.domain is not None
        condition = node.op.domain(*node.args)
        name = condition.op.name
        if name in ("ne", *_OPPOSITE, *_BELOW):
            left, right = condition.args
            difference = right - left if name in _BELOW else left - right
            if name == "ne":
                yield from self._nonzero(difference)
                return
            condition, name = canonical([difference]).nodes[0], CONVERSE[name] if name in _BELOW else name
            if (known.positive if name == "gt" else known.nonnegative)(condition) != "yes":
                yield _Condition(name, condition)
        elif known.holds(condition) != "yes":
            yield _Condition(_NOWHERE, canonical([node]).nodes[0])

    def _of_array(self, node: Node) -> Iterator[_Condition]:
        """Yield the condition under which an op on arrays has a value."""
        if node.op in (gather, scatter_add):
            array, *indices = node.args
            axes: tuple[int, ...] = node.params[0]
            sizes: Shape = array.shape if node.op is gather else node.shape
            for axis, index in zip(axes, indices, strict=True):
                if not self.is_inside(index, sizes[axis]):
                    # Where what is out of range would stand is not known: then no entry has a value.
                    yield _Condition(_OUT_OF_RANGE, canonical([index]).nodes[0], node.op is scatter_add)
        elif node.op.array.total == "of regular":
            if is_definite(node.args[0], self._known):
                return
            yield _Condition(_SINGULAR, canonical([node.args[0]]).nodes[0])
        elif self._known.defined(node) != "yes":
            yield _Condition(_EMPTY, node.args[0])

    def is_inside(self, index: Node, size: Size) -> bool:
        """Tell whether positions are known to lie inside an axis, counted from its beginning."""
        whole = substitute([index], self._meaning)
        return any(is_inside(i, size, self._known) for i in (index, *whole))

    def _nonzero(self, node: Node) -> Iterator[_Condition]:
        """Yield the factors of a node that may be zero."""
        pending = [canonical([node]).nodes[0]]
        while pending:
            n = pending.pop()
            if n.is_number(0):
                yield _Condition(_EVERYWHERE, n)
                continue
            if self._known.nonzero(n) == "yes" or _of_sizes(n):
                continue
            name = n.op.name
            if name in ("mul", "div"):
                pending += n.args if name == "mul" else n.args[:1]
            elif name in _FACTORS or (name == "pow" and n.args[1].is_number()):
                pending.append(n.args[0])
            else:
                yield _Condition("ne", n)

    def _among(self, one: _Condition, others: Sequence[_Condition]) -> bool:
        return any(_same(one, other) for other in others) or any(
            self._implied(one, other) for other in others[:CONDITIONS]
        )

    def _implied(self, one: _Condition, by: _Condition) -> bool:
        """Tell whether a condition holds where another does: the same, or that of a factor of what is not zero."""
        if one.kind == by.kind == _EMPTY and one.node.shape == by.node.shape:
            return True
        if one.kind not in _OPPOSITE or (
            one.kind != by.kind and (one.kind, by.kind) not in (("ne", "gt"), ("ge", "gt"))
        ):
            return False
        if one.node.shape != by.node.shape or (one.spread and not by.spread):
            return False
        for left, right in ((one.node, by.node), tuple(substitute([one.node, by.node], self._meaning))):
            quotient = rational_of(right / left)
            if quotient is None or not quotient.below.is_constant():
                continue
            if one.kind == "ne":  # what is zero makes its multiples zero
                return True
            above, below = quotient.above, quotient.below
            if above.is_constant() and above.leading_coefficient() * below.leading_coefficient() > 0:
                return True
        return False

    def _phrase(self, condition: _Condition) -> str:
        text = expression_text(self._written(condition.node))
        return "also defined " + _OPPOSITE.get(condition.kind, condition.kind).format(text)


def _of_sizes(node: Node) -> bool:
    """Tell whether a number is one of entries: where there are none, nothing has a value."""
    leaves = [n for n in topological([node]) if not n.args]
    return all(n.is_number() or n.op is SIZE for n in leaves)


def _same(one: _Condition, other: _Condition) -> bool:
    return (one.kind, one.node) == (other.kind, other.node) and (other.spread or not one.spread)


def outside_of_choices(nodes: Sequence[Node]) -> list[Node]:
    """Return the parts of nodes that count whichever branches are taken."""
    seen = dict.fromkeys(nodes)
    pending = list(nodes)
    while pending:
        n = pending.pop()
        fresh = [a for a in (n.args[:1] if n.op.name == "where" else n.args) if a not in seen]
        seen.update(dict.fromkeys(fresh))
        pending += fresh
    return list(seen)
