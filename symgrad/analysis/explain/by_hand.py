"""Derivations by hand: one rule of calculus for each line, in the names of the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from symgrad.analysis.explain.limits import RULE_CHARACTERS
from symgrad.analysis.explain.naming import Naming, quotient_text
from symgrad.ir.graph import Node
from symgrad.pretty.calculus_rules import AppliedRule, applied_rules
from symgrad.pretty.limits import RULES_APPLIED


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A line of a derivation by hand: one rule and its result.

    Attributes:
        line: the line, as nodes.
        name: the name of the differentiated part; None if it has none.
    """

    line: AppliedRule
    name: str | None
    naming: Naming = field(repr=False)

    @property
    def rule(self) -> str:
        """The name of the rule, such as ``"product rule"``, ``"chain rule (sin)"``."""
        return self.line.rule

    @property
    def of(self) -> str:
        """The differentiated part of the formula, or its name."""
        return self.name or self._text(self.line.of)

    @property
    def by(self) -> str:
        """The variable of the derivative."""
        return self.naming.text(self.line.by, 30)

    @property
    def applied(self) -> str:
        """The result of the rule; the derivatives from the lines above are inserted."""
        return self._text(self.line.applied)

    @property
    def derivative(self) -> str:
        """The result, simplified."""
        return self._text(self.line.derivative)

    def _text(self, node: Node) -> str:
        return self.naming.whole(node, RULE_CHARACTERS) or ""

    @property
    def slope(self) -> str:
        """The derivative on the left-hand side of the line: ``dy/dx``, ``d(sin(3*x))/dx``."""
        return quotient_text(self.of, self.by)

    def __str__(self) -> str:
        return " = ".join(dict.fromkeys((self.slope, self.applied, self.derivative)))


def rule_lines(
    y: Node, wrt: Sequence[Node], naming: Naming, slopes: Callable[[Node], Mapping[Node, Node]]
) -> tuple[RuleLine, ...]:
    """Return the lines of a derivation by hand, one variable after another.

    Args:
        y: the value to differentiate.
        wrt: the variables.
        naming: the names of parts.
        slopes: a function that returns the derivatives, by a variable, of parts that are derivatives themselves.

    Returns:
        The lines; none if a derivative does not follow from the rules, or if there are too many lines for a reader.
    """
    # The derivative of y is written in the parts of y, not in y itself.
    inner = replace(naming, names={n: name for n, name in naming.names.items() if n is not y or not n.args})
    lines: list[RuleLine] = []
    for x in wrt:
        found = applied_rules(y, x, naming.names, lambda n: inner.whole(n, RULE_CHARACTERS), slopes(x))
        if not found:
            return ()
        lines += [RuleLine(line, naming.names.get(line.of), inner) for line in found]
        if len(lines) > RULES_APPLIED:
            return ()
    return tuple(lines)
