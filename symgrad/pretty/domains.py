"""Compare the domains of a formula and its form; describe the difference in the names of the program.

    undefined(f) ::= some op of f outside its domain        -- the record of the op states that domain
    gained(f, g) ::= the reasons that make f undefined, and not g

A formula over names is defined where the lines of these names are defined. Conditions are compared by their factors, as
polynomials; conditions that are known to hold are omitted.
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
from symgrad.pretty.limits import CONDITIONS
from symgrad.rewrite.facts.definite_matrices import is_definite
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.memo import Answers, keeping
from symgrad.rewrite.pipeline import canonical
from symgrad.rewrite.rational.read import rational_of
from symgrad.support.traversal import walk

_OPPOSITE = {"gt": "where {} <= 0", "ge": "where {} < 0", "ne": "at {} = 0"}
_SINGULAR = "where {} is singular"
_INDEFINITE = "where {} is not positive definite"
_OUT_OF_RANGE = "where {} is out of range"
_EMPTY = "where {} is empty"
_NOWHERE = "where {} has no value"
_EVERYWHERE = "everywhere, and it was nowhere"
_BELOW = frozenset({"lt", "le"})
_FACTORS = frozenset(("neg", "broadcast_to", "reshape", "abs", "sqrt"))


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition: a value is nonzero (``ne``), positive (``gt``), nonnegative (``ge``), or another requirement.

    For another requirement, the kind is the phrase that describes its failure. A ``spread`` condition must hold in all
    entries if the result is to have any value, as in a sum; otherwise each entry has its own condition.
    """

    kind: str
    node: Node
    spread: bool = False


class Domains:
    """A comparison of the domains of formulas over names.

    Args:
        bodies: the bodies of the names.
        meaning: the same bodies, over declared symbols.
        known: facts about values.
        written: a function that converts a formula to its printed form.
        numbers: the spellings of numbers.
    """

    def __init__(
        self,
        bodies: Mapping[Node, Node],
        meaning: Mapping[Node, Node],
        known: Conditions,
        written: Callable[[Node], Node],
        numbers: Mapping[Node, str] = {},
    ) -> None:
        self.bodies = bodies
        self._meaning = meaning
        self._known = known
        self._written = written
        self._numbers = numbers
        self._answers: Answers = {}  # a cache: lines of the same program share many conditions

    def gained(self, before: Node, after: Sequence[Node]) -> list[str]:
        """Return the phrases for points at which a form is defined although the formula is not.

        Args:
            before: the derivative as built, over names.
            after: its printed form, and the lines that this form reads.

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
        """Return the conditions that hold everywhere, and the conditions that matter only in a branch of a choice."""
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
        """Return the parts of nodes, and the parts of the bodies of names in them."""
        found: dict[Node, None] = {}
        pending = list(nodes)
        while pending:
            fresh = [n for n in parts(pending) if n not in found]
            found.update(dict.fromkeys(fresh))
            pending = [self.bodies[n] for n in fresh if n in self.bodies]
        return found

    def _of(self, node: Node) -> Iterator[_Condition]:
        """Yield the conditions for an op at its arguments, except the conditions that are known to hold."""
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
        """Yield the condition for an op on arrays."""
        if node.op in (gather, scatter_add):
            array, *indices = node.args
            axes: tuple[int, ...] = node.params[0]
            sizes: Shape = array.shape if node.op is gather else node.shape
            for axis, index in zip(axes, indices, strict=True):
                if not self.is_inside(index, sizes[axis]):
                    # It is unknown which entry is out of range, so no entry counts as defined.
                    yield _Condition(_OUT_OF_RANGE, canonical([index]).nodes[0], node.op is scatter_add)
        elif node.op.array.total == "of regular":
            if is_definite(node.args[0], self._known):
                return
            yield _Condition(_SINGULAR, canonical([node.args[0]]).nodes[0])
        elif node.op.array.total == "of definite":
            yield _Condition(_INDEFINITE, canonical([node.args[0]]).nodes[0])
        elif self._known.defined(node) != "yes":
            yield _Condition(_EMPTY, node.args[0])

    def is_inside(self, index: Node, size: Size) -> bool:
        """Tell whether indices are known to lie inside an axis, counted from its beginning."""
        whole = substitute([index], self._meaning)
        return any(is_inside(i, size, self._known) for i in (index, *whole))

    def _nonzero(self, node: Node) -> Iterator[_Condition]:
        """Yield the condition for each factor of a node that may be zero."""
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
        """Tell whether a condition follows from another condition: from the same one, or from the one of a multiple."""
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
            if one.kind == "ne":  # if a factor is zero, its multiples are zero
                return True
            above, below = quotient.above, quotient.below
            if above.is_constant() and above.leading_coefficient() * below.leading_coefficient() > 0:
                return True
        return False

    def _phrase(self, condition: _Condition) -> str:
        text = expression_text(self._written(condition.node), self._numbers)
        return "also defined " + _OPPOSITE.get(condition.kind, condition.kind).format(text)


def _of_sizes(node: Node) -> bool:
    """Tell whether a number is computed from sizes; if such a number is zero, the array is empty."""
    leaves = [n for n in topological([node]) if not n.args]
    return all(n.is_number() or n.op is SIZE for n in leaves)


def _same(one: _Condition, other: _Condition) -> bool:
    return (one.kind, one.node) == (other.kind, other.node) and (other.spread or not one.spread)


def outside_of_choices(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes that are evaluated whichever branches are chosen."""
    return list(walk(nodes, lambda n: n.args[:1] if n.op.name == "where" else n.args))
