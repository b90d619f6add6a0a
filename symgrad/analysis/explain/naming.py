"""Names of a program's nodes, and short expressions for nodes without a name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from symgrad.analysis.explain.limits import NAMED_PARTS, REPEATED_CHARACTERS
from symgrad.ir.graph import NUMBER, Node, as_node
from symgrad.ir.listing import Derivative, Listing
from symgrad.ir.notation.contractions import spell
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.printer import derivative_texts, expression_text
from symgrad.ir.notation.recurrence_definitions import recurrence_definitions
from symgrad.ir.notation.recurrences import is_recurrence, joined_lines
from symgrad.ir.traverse import topological
from symgrad.pretty.forms.numbers import Literals
from symgrad.support.source import Place

ELLIPSIS = "…"

_DEPTHS = (60, 30, 20, 14, 10, 7, 5, 4, 3, 2, 1)


@dataclass(frozen=True, slots=True)
class Naming:
    """Names for nodes, and bounded texts for the others.

    The text of a shared graph can be exponentially longer than the graph. So every text has a width, and an ellipsis
    replaces the parts that are nested too deeply.

    Args:
        names: the names of nodes.
        numbers: the spelling of numbers in the program.
        places: the lines of code that compute nodes, if the program was read from other code.
        derivatives: the nodes that are derivatives of named values; one without a name of its own is named
            ``grad(f, x)``.
        recurrences: the lines of each recurrence whose values have names.
    """

    names: Mapping[Node, str] = field(repr=False)
    numbers: Mapping[Node, str] = field(repr=False, default_factory=dict[Node, str])
    places: Mapping[Node, Place] = field(repr=False, default_factory=dict[Node, Place])
    derivatives: Mapping[Node, Derivative] = field(repr=False, default_factory=dict[Node, Derivative])
    recurrences: Mapping[Node, Sequence[str]] = field(repr=False, default_factory=dict[Node, Sequence[str]])

    def with_recurrences(self, nodes: Sequence[Node], listing: Listing | None = None) -> Naming:
        """Return a naming that has names for the values of the recurrences in formulas, too, and their lines.

        Args:
            nodes: the formulas.
            listing: the program, which has names within steps.
        """
        found = recurrence_definitions(
            nodes, self.names, listing.steps if listing is not None else {}, self.numbers
        )
        if not found.lines:
            return self
        return replace(
            self, names={**found.names, **self.names}, recurrences={**found.lines, **self.recurrences}
        )

    def recurrence_lines(self, node: Node) -> Sequence[str]:
        """Return the lines of the recurrence that is a node or computes a named array, if they are known."""
        loop = node if is_recurrence(node) else loop_of(node) if node in self.names else None
        return () if loop is None else self.recurrences.get(loop, ())

    def lines(self, nodes: Iterable[Node]) -> tuple[Place, ...]:
        """Return the lines of code that compute nodes, each once, in the order of the nodes."""
        lines: dict[tuple[str, int], Place] = {}
        for place in (self.places[n] for n in nodes if n in self.places):
            lines.setdefault((place.file, place.line), place)
        return tuple(lines.values())

    def text(self, node: Node, width: int = 60) -> str:
        """Return the name of a node, or its expression in about ``width`` characters."""
        return self.names[node] if node in self.names else self.body(node, width)

    def is_call(self, node: Node) -> bool:
        """Tell whether a node is a derivative without a name of its own."""
        return node in self.derivatives and not self.names.get(node, "y").isidentifier()

    def definition(self, node: Node, width: int) -> str:
        """Return the line that defines a named node: a derivative as a call, other nodes as `body` writes them."""
        if lines := self.recurrence_lines(node):
            return "\n".join(lines)
        called = node in self.derivatives and not self.is_call(node)
        text = derivative_texts(self.derivatives, self.names)[node] if called else self.body(node, width)
        return f"{self.names[node]} = {text}"

    def body(self, node: Node, width: int = 60, known: Mapping[Node, str] | None = None) -> str:
        """Return the expression that computes a node from the names of its arguments.

        Args:
            node: the node.
            width: the approximate length of the text.
            known: names of further nodes.
        """
        if known and node in known:
            return known[node]
        if self.recurrence_lines(node):
            return joined_lines(self.recurrences[node]) if is_recurrence(node) else self.names[node]
        if self.recurrences:
            named = replace(self, names={**self.names, **(known or {})}).with_recurrences([node])
            lines = [
                line for n, some in named.recurrences.items() if n not in self.recurrences for line in some
            ]
            if lines:
                return f"{named.body(node, width)} where {joined_lines(lines)}"
        return expression_text(node, {**self.numbers, **self.abbreviated(node, width), **(known or {})})

    def whole(self, node: Node, width: int) -> str | None:
        """Return the full expression that computes a node; None if it is longer than ``width``."""
        names = {n: name for n, name in self.names.items() if n is not node}
        size: dict[Node, int] = {}
        for n in topological([node], until=names):
            size[n] = 1 if n in names else min(1 + sum(size[a] for a in n.args), width + 1)
        if size[node] > width:
            return None
        text = expression_text(node, {**self.numbers, **names})
        return text if len(text) <= width else None

    def with_parts(
        self, shown: Iterable[Node], taken: Collection[str], width: int = 60
    ) -> tuple[Naming, dict[Node, str]]:
        """Give long parts the names t1, t2, ..., inner parts first, until formulas can be printed in full.

        Args:
            shown: the formulas; for a formula that has a name, its definition is printed.
            taken: names that are not available.
            width: the approximate length of a text.

        Returns:
            The extended naming and the new names; the old naming and no names if too many would be needed.
        """
        roots = [a for n in shown for a in ((n,) if n not in self.names else n.args)]
        known = {**self.numbers, **self.names}
        free = (name for k in count(1) if (name := f"t{k}") not in taken)
        new: dict[Node, str] = {}
        length: dict[Node, int] = {}
        for node in topological(roots, until=self.names):
            if node in known or not node.args:
                continue
            while (size := len(expression_text(node, known))) > width:
                inner = [_unsigned(a) for a in node.args]
                longest = max(inner, key=lambda a: 0 if a in known else length.get(a, 0))
                if longest in known or length.get(longest, 0) <= REPEATED_CHARACTERS:
                    break
                known[longest] = new[longest] = next(free)
            length[node] = size
            if len(new) > NAMED_PARTS:
                return self, {}
        return replace(self, names={**self.names, **new}), new

    def cotangent(self, node: Node) -> str:
        """Return the name of a node's cotangent."""
        name = self.names.get(node, "")
        return f"{name}_bar" if name.isidentifier() else "bar"

    def abbreviated(self, node: Node, width: int) -> dict[Node, str]:
        """Return names and ellipses that shorten a node's text to about ``width`` characters."""
        if not node.args:
            return {}
        for depth in _DEPTHS:
            cut = self._cut(node, depth, width)
            if cut is not None and (
                depth == 1 or len(expression_text(node, {**self.numbers, **cut})) <= width
            ):
                return cut
        return {}

    def _cut(self, root: Node, depth: int, most: int) -> dict[Node, str] | None:
        """Return names at which printing stops at a given depth; None if more than ``most`` nodes would be printed."""
        cut: dict[Node, str] = {}
        seen, layer = {root}, [root]
        for level in range(depth + 1):
            below: list[Node] = []
            for node in layer:  # the list grows here, because a sign does not count as a level
                if node in self.names and node is not root:
                    cut[node] = self.names[node]
                elif node.args and level == depth and node.op.name != "neg":
                    cut[node] = ELLIPSIS
                else:
                    fresh = [a for a in dict.fromkeys(node.args) if a not in seen]
                    seen.update(fresh)
                    (layer if node.op.name == "neg" else below).extend(fresh)
            if len(seen) > most and depth > 1:
                return None
            layer = below
        printed: dict[Node, int] = {}
        for node in topological([root], until=cut):
            printed[node] = 1 if node in cut else 1 + sum(printed[a] for a in node.args)
        return cut if printed[root] <= most or depth == 1 else None


def naming_of(y: Node, listing: Listing | None, derivatives: Mapping[Node, Derivative] = {}) -> Naming:
    """Return the names of a program's nodes, and of derivatives of them, for texts about a value."""
    names = {} if listing is None else listing.name_of()
    # A short number such as 1 occurs in many places that have nothing to do with a constant of this value.
    literals = Literals() if listing is None else Literals.of(listing)
    named = {n: t for n, t in names.items() if not n.is_number() or n is y or literals.is_long(n)}
    negated = {as_node(-n.value): f"-{t}" for n, t in named.items() if n.op is NUMBER and n.dtype != "bool"}
    slopes: dict[Node, Derivative] = {}
    for n, slope in derivatives.items():
        if n.args and slope.by and all(m in named or m in slopes for m in (slope.y, *slope.by)):
            slopes[n] = slope
    places = listing.places if listing is not None else dict[Node, Place]()
    found = Naming(
        {**derivative_texts(slopes, named), **named}, {**literals.spellings, **negated}, places, slopes
    )
    return found.with_recurrences([y], listing)


def _unsigned(node: Node) -> Node:
    while node.op.name == "neg":
        (node,) = node.args
    return node


def quotient_text(top: str, by: str) -> str:
    """Return dz/dx as text, with brackets around expressions."""
    return "/".join(f"d{t}" if t.isidentifier() else f"d({t})" for t in (top, by))


def rule_of(node: Node) -> str:
    """Return the name of an equation's rule: its op, or the kind of contraction."""
    if node.op.name in ("where_minus_oo", "where_plus_oo"):
        return "where"
    if node.op.name != "einsum":
        return node.op.name
    match spell(node).form:
        case "product":
            return "matmul" if node.shape else "dot"
        case "permute":
            return "transpose"
        case "diagonal" | "diag":
            return "diag"
        case "elementwise" | "index":
            return "einsum"
        case form:
            return form
