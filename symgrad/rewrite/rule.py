"""Rules as data: name, pattern, replacement, condition, soundness, reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from symgrad.ir.graph import SYMBOL, Node
from symgrad.rewrite.pattern import metavariables
from symgrad.rewrite.trace import Soundness
from symgrad.support.errors import UsageError

How: TypeAlias = Literal["matched", "collected"]

_KEBAB = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """One rewrite rule.

    Args:
        name: unique, kebab-case.
        pattern: the left side, a graph over metavariables.
        replacement: the right side, over the same metavariables.
        condition: a truth-valued graph over these metavariables; the rule applies if the condition provably holds. None
            means that it always applies.
        soundness: "exact" (same value, same domain), or "widens" (same value on the domain of the left side, and a
            larger domain).
        exact_when: the condition under which a rule that widens is exact.
        note: for a rule that is not exact, the added points, in terms of a metavariable: "also defined at {a} = 0".
        witness: for a rule that is not exact, a point at which the sides differ.
        why: the reason or the source of the identity, in one line.
        how: "matched" by the engine, or "collected": a law that the normal form of sums and products applies to any
            number of operands at once. Both kinds are tested in the same way.
        whole: for a left side that is a product, whether it must use the whole powers of its bases: if so,
            sin(a)/cos(a) does not match in sin(a)/cos(a)**2.
        unread: metavariables of a branch that is never taken, so that their domain does not matter.

    Raises:
        UsageError: for an invalid rule (see `_refuse`).
    """

    name: str
    pattern: Node
    replacement: Node
    why: str
    condition: Node | None = None
    soundness: Soundness = "exact"
    exact_when: Node | None = None
    note: str | None = None
    witness: Mapping[str, int | Fraction] | None = None
    how: How = "matched"
    whole: bool = False
    unread: tuple[Node, ...] = ()

    def __post_init__(self) -> None:
        problem = _refuse(self)
        if problem is not None:
            raise UsageError(f"rule {self.name}: {problem}")

    @property
    def dropped(self) -> list[Node]:
        """The metavariables of the left side that the right side does not have."""
        used = {*metavariables(self.replacement), *self.unread}
        return [v for v in metavariables(self.pattern) if v not in used]


def _refuse(rule: Rule) -> str | None:
    """Return the fault of a rule; None if the rule is valid."""
    bound = metavariables(rule.pattern)
    if not rule.name or not set(rule.name) <= _KEBAB:
        return "the name is not kebab-case"
    if not rule.why:
        return "the reason is missing"
    if rule.pattern.op is SYMBOL:
        return "the left side is a bare variable, which matches everything"
    for side in (rule.replacement, rule.condition, rule.exact_when):
        unbound = [v.name for v in metavariables(side) if v not in bound] if side is not None else []
        if unbound:
            return f"'{unbound[0]}' is not bound by the left side"
    if (rule.pattern.dtype == "bool") != (rule.replacement.dtype == "bool"):
        return "the sides differ in kind"
    if rule.pattern.shape != rule.replacement.shape:
        return "the sides differ in shape"
    for side in (rule.condition, rule.exact_when):
        if side is not None and side.dtype != "bool":
            return "a condition is a truth value"
    if rule.soundness == "exact":
        return "an exact rule has no witness" if rule.witness is not None or rule.note is not None else None
    if rule.witness is None or rule.note is None:
        return "a rule that is not exact needs a note and a witness point where the sides part"
    if set(rule.witness) != {v.name for v in bound}:
        return "the witness must give a value to each variable of the left side"
    return None


class RuleSet:
    """Rules with unique names, indexed by the op at the top of their left sides.

    Raises:
        UsageError: if two rules have the same name.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.by_name: dict[str, Rule] = {}
        self._by_head: dict[str, list[Rule]] = {}
        for rule in rules:
            if rule.name in self.by_name:
                raise UsageError(f"two rules are called {rule.name}", cure="rename one of them")
            self.by_name[rule.name] = rule
            if rule.how == "matched":
                self._by_head.setdefault(rule.pattern.op.name, []).append(rule)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def headed(self, op_name: str) -> list[Rule]:
        """Return the matched rules whose left side has this op at the top, in the order of the table."""
        return self._by_head.get(op_name, [])
