"""Describe where a proof does not hold, in terms of the program: `an entry of v is 0`, `K is singular`.

A proof describes an excluded place by a normal form in the inputs. At this place some part of the claim is zero, or not
positive. The description uses the shortest part whose normal form gives the same condition. A condition is dropped if
its part is known never to be zero at such a place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from symgrad.checker.clock import is_late, now
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.canonical_labels import Form
from symgrad.checker.index_form.forms.form_conditions import (
    singular_condition,
    tie_condition,
    zero_conditions,
)
from symgrad.checker.index_form.forms.functions import content
from symgrad.checker.index_form.forms.terms import FormAlgebra
from symgrad.checker.index_form.proofs import LAWS, normal_forms
from symgrad.checker.limits import FORM_TERMS
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.contraction import einsum
from symgrad.ops.scalar.arith import pow
from symgrad.pretty.domains import outside_of_choices
from symgrad.pretty.forms.quotients import forms_of
from symgrad.rewrite.facts.definite_matrices import is_definite
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from symgrad.rewrite.rational.read import rational_of
from symgrad.support.errors import SymgradError
from symgrad.support.traversal import leaves
from symgrad.verification.limits import LEFT_OUT_EQUATIONS, LEFT_OUT_PARTS, LEFT_OUT_SECONDS
from symgrad.verification.reporting.definedness import restrict_domain
from symgrad.verification.search.singularities import ZeroSet, simpler
from symgrad.verification.softmax_masks import MASKS
from symgrad.verification.statement import program_of

_CONDITION = 4e-3  # seconds to describe one condition
_ENTRIES = {"=": "is 0", "<=": "is 0 or negative", "<": "is negative"}
_BARS = re.compile(r"\|([^|]+)\|")
_PASSED = frozenset(("neg", "abs", "sqrt", "broadcast_to", "reshape"))


def describe_conditions(
    conditions: Sequence[str], sides: Sequence[Node], names: Mapping[Node, str]
) -> tuple[str, ...]:
    """Return the conditions that a proof excludes, in terms of the program.

    Args:
        conditions: the conditions, as the proof writes them.
        sides: the sides of the claim.
        names: the names of values.

    Returns:
        Conditions that together cover the excluded points at which both sides have a value; they may be empty.
    """
    if not conditions:
        return ()
    certain = outside_of_choices(sides)
    parts = [
        n for n in certain if n.dtype != "bool" and n.op not in (NUMBER, SIZE) and n.op.name not in MASKS
    ]
    if any(n.shape or n.op is SIZE for n in topological(sides)):
        compared = {n.args[0] - n.args[1]: n.args for n in certain if n.shape and (0, 1) in n.op.switches}
        writer = _ConditionWriter(Conditions(), names, compared)
        table = _of_arrays([*parts[:LEFT_OUT_PARTS], *compared], writer, set(conditions))
        texts = dict.fromkeys(text for c in conditions for text in table.get(c, (c,)))
    else:
        writer = _ConditionWriter(Conditions(), names)
        texts = dict.fromkeys(_of_numbers(conditions, parts[:LEFT_OUT_PARTS], writer, restrict_domain(sides)))
    return tuple(text for text in texts if not any(text in covers for covers in map(_covered, texts)))


def _covered(text: str) -> tuple[str, ...]:
    """Return the conditions that imply another condition, so that they need not be listed next to it."""
    for either, others in ((" <= 0", (" = 0", " < 0")), (" is 0 or negative", (" is 0", " is negative"))):
        if text.endswith(either):
            return tuple(text.removesuffix(either) + other for other in others)
    return ()


class _ConditionWriter:
    """Describe where a part is zero, or not positive.

    Args:
        known: facts about the program.
        names: the names of values, and the spellings of numbers.
        compared: the two sides of each comparison, by their difference.
    """

    def __init__(
        self, known: Conditions, names: Mapping[Node, str], compared: Mapping[Node, Sequence[Node]] = {}
    ) -> None:
        self.known = known
        self._names = names
        self.numbers = {n: text for n, text in names.items() if n.op is NUMBER}
        self._compared = compared

    def text(self, node: Node) -> str | None:
        """Return the formula of a part; None if the formula is long."""
        if len(topological([node], until=self._names)) > LEFT_OUT_EQUATIONS:
            return None
        text = expression_text(node, self._names)
        return text if len(text) <= LEFT_OUT_EQUATIONS else None

    def describe(self, node: Node, relation: str) -> tuple[str, ...] | None:
        """Describe where a part is zero (``=``), negative (``<``) or either (``<=``), factor by factor.

        The result is None if this is long.
        """
        known = self.known
        if node in self._compared:
            texts = [self.text(n) for n in self._compared[node]]
            is_number = self._compared[node][1].is_number()
            same = "an entry of {} is {}" if is_number else "an entry of {} equals that of {}"
            return None if relation != "=" or None in texts else (same.format(*texts),)
        if (known.positive if relation == "<=" else known.nonnegative)(node) == "yes" and relation != "=":
            return ()
        if relation == "<=" and known.nonnegative(node) == "yes":
            relation = "="
        parts = self.factors(node) if relation == "=" else [node]
        texts = [self.text(n) for n in parts]
        found = [self._phrase(n, t, relation) for n, t in zip(parts, texts, strict=True) if t is not None]
        return tuple(found) if len(found) == len(parts) else None

    def _phrase(self, node: Node, text: str, relation: str) -> str:
        squared = _squared(node)
        inside = None if squared is None or node in self._names else self.text(squared)
        if inside is not None and relation == "=":
            return f"all entries of {inside} are 0"
        return f"an entry of {text} {_ENTRIES[relation]}" if node.shape else f"{text} {relation} 0"

    def factors(self, node: Node) -> list[Node]:
        """Return parts such that one of them is zero wherever a part is; leave out those that are never zero."""

        def descend(n: Node) -> Sequence[Node] | None:
            if self.known.nonzero(n) == "yes" or (n.op is SIZE and isinstance(n.params[0], str)):
                return ()  # a proof takes named sizes to be at least 1
            if n in self._names:
                return None
            if n.op.name == "mul":
                return n.args
            is_power = n.op is pow and n.args[1].is_number() and n.args[1].value > 0
            return n.args[:1] if is_power or n.op.name == "div" or n.op.name in _PASSED else None

        return leaves(node, descend)


def _squared(node: Node) -> Node | None:
    """Return v if a number is the sum of squares sum(v**2)."""
    if node.op is not einsum or node.shape:
        return None
    labels, _ = node.params
    first, *others = node.args
    if others == [first] and labels[0] == labels[1]:
        return first
    is_square = not others and first.op is pow and first.args[1].is_number(2)
    return first.args[0] if is_square and len(set(labels[0])) == len(labels[0]) else None


# -- arrays -----------------------------------------------------------------------------------------------------------


def _of_arrays(
    parts: Sequence[Node], writer: _ConditionWriter, wanted: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Describe each wanted condition that stems from a part of the claim."""
    t = FormAlgebra(FORM_TERMS, LAWS, deadline=now() + LEFT_OUT_SECONDS)
    options: dict[str, list[tuple[bool, tuple[str, ...]]]] = {}  # inputs first
    try:
        program, at = program_of(parts)
        forms = normal_forms(t, program, at)
        for node, i in zip(parts, at, strict=True):
            for condition, texts in _conditions(t, node, forms[i], writer, wanted):
                if texts is not None and not condition.endswith("..."):
                    options.setdefault(condition, []).append((node.op is not SYMBOL, texts))
    except GiveUp:
        pass
    return {
        c: min(found, key=lambda o: (bool(o[1]), o[0], sum(map(len, o[1]))))[1]
        for c, found in options.items()
    }


def _conditions(
    t: FormAlgebra, node: Node, form: Form, writer: _ConditionWriter, wanted: Collection[str]
) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield the wanted conditions of a part, each with its description."""
    for shown in (form, content(t, form)[2]) if form else ():
        for relation in _ENTRIES:
            found = list(zero_conditions(t, shown, f"{relation} 0"))
            if len(found) == 1 and found[0] in wanted:
                yield found[0], writer.describe(node, relation)
    if form and writer.known.nonnegative(node) == "yes":
        for relation in _ENTRIES:  # of a square
            found = list(zero_conditions(t, content(t, t.multiply(form, form))[2], f"{relation} 0"))
            if len(found) == 1 and found[0] in wanted:
                yield found[0], () if relation == "<" else writer.describe(node, "=")
    text = writer.text(node) if node.shape else None
    if text is None:
        return
    for kind in ("max", "min"):
        yield tie_condition(t, form, kind), (f"two entries of {text} tie for its {kind}",)
    if len(node.shape) == 2 and node.shape[0] == node.shape[1] and node.shape[0] != 1:
        never = is_definite(node, writer.known)
        yield singular_condition(t, form, "a0", "a1"), () if never else (f"{text} is singular",)


# -- numbers ----------------------------------------------------------------------------------------------------------


def _of_numbers(
    conditions: Sequence[str], parts: Sequence[Node], writer: _ConditionWriter, inside: Mapping[Node, Node]
) -> list[str]:
    """Describe conditions that are formulas of numbers.

    Args:
        conditions: the conditions that the proof excludes.
        parts: values of the claim.
        writer: the object that writes descriptions.
        inside: variables restricted to the domains in which both sides may have a value.
    """
    symbols = {s.name: s for s in symbols_of(parts)}
    forms = dict(zip(parts, canonical(parts).nodes, strict=True))
    deadline = now() + LEFT_OUT_SECONDS
    described: list[str] = []
    places: dict[ZeroSet, str] = {}
    for condition in conditions:
        place = None if "|" in condition or is_late(deadline, _CONDITION) else _read(condition, symbols)
        if place is None:
            late = is_late(deadline)
            described += (condition,) if late else _of_root(condition, symbols, forms, writer, inside)
        elif not _is_nowhere(place, writer, inside):
            places[place] = condition
    for place in simpler(list(places), writer.factors):
        own = " and ".join(f"{expression_text(n, writer.numbers)} = 0" for n in place)
        texts = [_zeros(n, forms, writer) for n in place] if not is_late(deadline, _CONDITION) else [None]
        if len(texts) == 1:
            described += (own,) if texts[0] is None else texts[0]
        else:
            single = [s[0] for s in texts if s and len(s) == 1]
            described.append(" and ".join(single) if len(single) == len(texts) else own)
    return described


def _is_nowhere(place: ZeroSet, writer: _ConditionWriter, inside: Mapping[Node, Node]) -> bool:
    """Tell whether a factor of a zero set vanishes nowhere in the restricted domains."""
    return any(writer.known.nonzero(n) == "yes" for n in substitute(list(place), inside))


def _read(condition: str, symbols: Mapping[str, Node]) -> ZeroSet | None:
    """Return the nodes that a condition sets equal to 0; None for another kind of condition."""
    texts = condition.split(" and ")
    if not all(t.endswith(" = 0") for t in texts):
        return None
    try:
        return tuple(canonical([parse_expression(t.removesuffix(" = 0"), symbols)]).nodes[0] for t in texts)
    except SymgradError:
        return None


def _of_root(
    condition: str,
    symbols: Mapping[str, Node],
    forms: Mapping[Node, Node],
    writer: _ConditionWriter,
    inside: Mapping[Node, Node],
) -> tuple[str, ...]:
    """Describe a condition with a root of u: a part with that root is defined only for u >= 0, where |u| = u."""
    for bars in (r"(\1)", r"abs(\1)"):
        place = _read(_BARS.sub(bars, condition), symbols)
        if place is None or place[1:]:
            continue
        if _is_nowhere(place, writer, inside):
            return ()
        parts = writer.factors(place[0])
        found = [_of_part(f, forms, writer) for f in parts]
        if bars != r"(\1)":
            found = [s or writer.text(f) for s, f in zip(found, parts, strict=True)]
        if None not in found:
            return tuple(f"{t} = 0" for t in found)
    return (condition,)


def _zeros(node: Node, forms: Mapping[Node, Node], writer: _ConditionWriter) -> tuple[str, ...] | None:
    """Describe where a node is zero, factor by factor; None if the description is long."""
    texts = [_of_part(f, forms, writer) or writer.text(f) for f in writer.factors(node)]
    return None if None in texts else tuple(f"{t} = 0" for t in texts)


def _of_part(factor: Node, forms: Mapping[Node, Node], writer: _ConditionWriter) -> str | None:
    """Return the shortest text of a part that is zero exactly where a factor is.

    Args:
        factor: the factor.
        forms: the canonical forms of the parts.
        writer: the object that describes parts.
    """
    if factor.op is SYMBOL:
        return writer.text(factor)
    reads = set(symbols_of([factor]))
    texts: list[str | None] = []
    for part, form in forms.items():
        if set(symbols_of([form])) == reads:
            # tan(x)*cos(x) is not zero where cos(x) is zero, although the quotient 1/tan(x) is never 0: test both ways.
            both = ((factor, form), (form, factor))
            if form is factor or all(_never_zero(a / b, writer.known) for a, b in both):
                texts.append(writer.text(part))
    return min((t for t in reversed(texts) if t is not None), key=len, default=None)


def _never_zero(node: Node, known: Conditions) -> bool:
    quotient = rational_of(node)
    return quotient is not None and any(known.nonzero(f) == "yes" for f in forms_of(quotient))
