"""A derivation as a person writes it, a rule of calculus a line, in the names of its program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from symgrad.analysis.explain.limits import RULE_CHARACTERS
from symgrad.analysis.explain.naming import Naming, quotient_text
from symgrad.ir.graph import Node
from symgrad.pretty.calculus_rules import AppliedRule, applied_rules
from symgrad.pretty.limits import RULES_APPLIED

__all__ = ["RuleLine", "rule_lines"]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A line of a derivation by hand: one rule, and what it gives.

    Attributes:
        line: the line, of nodes.
        name: what the part that it differentiates is called; None for one without a name.
    """

    line: AppliedRule
    name: str | None
    naming: Naming = field(repr=False)

    @property
    def rule(self) -> str:
        """The rule that is applied, such as ``"product rule"``, ``"chain rule (sin)"``."""
        return self.line.rule

    @property
    def of(self) -> str:
        """What is differentiated: a part of the formula, or its name."""
        return self.name or self._whole(self.line.of)

    @property
    def by(self) -> str:
        """By what."""
        return self.naming.text(self.line.by, 30)

    @property
    def applied(self) -> str:
        """What the rule gives, with the derivatives of the lines above in their places."""
        return self._whole(self.line.applied)

    @property
    def derivative(self) -> str:
        """The same, simplified."""
        return self._whole(self.line.derivative)

    def _whole(self, node: Node) -> str:
        return self.naming.whole(node, RULE_CHARACTERS) or ""

    @property
    def slope(self) -> str:
        """The derivative that the line is about: ``dy/dx``, ``d(sin(3*x))/dx``."""
        return quotient_text(self.of, self.by)

    def __str__(self) -> str:
        return " = ".join(dict.fromkeys((self.slope, self.applied, self.derivative)))


def rule_lines(y: Node, wrt: Sequence[Node], naming: Naming) -> tuple[RuleLine, ...]:
    """Return the lines of a derivation by hand, for one variable after the other.

    Args:
        y: what is differentiated.
        wrt: by what.
        naming: names of parts.

    Returns:
        The lines; none if one of the derivatives cannot be told so, or there is too much to be read.
    """
    # Of what is differentiated the derivative is a formula in what it is made of.
    inner = replace(naming, names={n: name for n, name in naming.names.items() if n is not y or not n.args})
    lines: list[RuleLine] = []
    for x in wrt:
        found = applied_rules(y, x, naming.names, lambda n: inner.whole(n, RULE_CHARACTERS))
        if not found:
            return ()
        lines += [RuleLine(line, naming.names.get(line.of), inner) for line in found]
        if len(lines) > RULES_APPLIED:
            return ()
    return tuple(lines)
