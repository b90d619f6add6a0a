"""Where a proof says nothing, in words of the program: `an entry of v is 0`, `K is singular`.

A proof names such a place by its normal form, over inputs alone. The same places are those where a part of the claim is
zero, or not positive: a part whose normal form gives that very condition stands for it, the shortest in the names of
the program. What is known of that part tells whether there is such a place at all; if there is none, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from symgrad.checker.clock import is_late, now
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.forms.form_conditions import (
    singular_condition,
    tie_condition,
    zero_conditions,
)
from symgrad.checker.index_form.forms.functions import content
from symgrad.checker.index_form.forms.terms import Form, FormAlgebra
from symgrad.checker.index_form.proofs import LAWS, WORK_BUDGET, normal_forms
from symgrad.frontend.text import parse_expression
from symgrad.ir.graph import NUMBER, SIZE, SYMBOL, Node
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.traverse import substitute, symbols_of, topological
from symgrad.ops.array.contraction import einsum
from symgrad.ops.scalar.arith import pow
from symgrad.pretty.domains import outside_of_choices
from symgrad.pretty.forms.rational import rational_of
from symgrad.rewrite.facts.definite_matrices import is_definite
from symgrad.rewrite.facts.inference import Conditions
from symgrad.rewrite.pipeline import canonical
from symgrad.support.errors import SymgradError
from symgrad.verification.limits import LEFT_OUT_EQUATIONS, LEFT_OUT_PARTS, LEFT_OUT_SECONDS
from symgrad.verification.reporting.definedness import restrict_domain
from symgrad.verification.search.singularities import ZeroSet, simpler
from symgrad.verification.softmax_masks import MASKS
from symgrad.verification.statement import program_of

__all__ = ["describe_conditions"]


_CONDITION = 4e-3  # seconds to say one
_ENTRIES = {"=": "is 0", "<=": "is 0 or negative", "<": "is negative"}
_BARS = re.compile(r"\|([^|]+)\|")
_PASSED = frozenset(("neg", "abs", "sqrt", "broadcast_to", "reshape"))


def describe_conditions(
    conditions: Sequence[str], sides: Sequence[Node], names: Mapping[Node, str]
) -> tuple[str, ...]:
    """Return conditions under which a proof says nothing in words of the program.

    Args:
        conditions: as the proof has them.
        sides: what it is about.
        names: values that have a name.

    Returns:
        Conditions, of which one holds wherever one of those given does and both sides have a value; perhaps none.
    """
    if not conditions:
        return ()
    certain = outside_of_choices(sides)
    parts = [
        n for n in certain if n.dtype != "bool" and n.op not in (NUMBER, SIZE) and n.op.name not in MASKS
    ]
    if any(n.shape or n.op is SIZE for n in topological(sides)):
        compared = {n.args[0] - n.args[1]: n.args for n in certain if n.shape and (0, 1) in n.op.switches}
        speaker = _Speaker(Conditions(), names, compared)
        table = _of_arrays([*parts[:LEFT_OUT_PARTS], *compared], speaker, set(conditions))
        told = dict.fromkeys(text for c in conditions for text in table.get(c, (c,)))
    else:
        speaker = _Speaker(Conditions(), names)
        told = dict.fromkeys(_of_numbers(conditions, parts[:LEFT_OUT_PARTS], speaker, restrict_domain(sides)))
    return tuple(text for text in told if not any(text in covers for covers in map(_covered, told)))


def _covered(text: str) -> tuple[str, ...]:
    """Return what needs not be said beside a condition."""
    for either, others in ((" <= 0", (" = 0", " < 0")), (" is 0 or negative", (" is 0", " is negative"))):
        if text.endswith(either):
            return tuple(text.removesuffix(either) + other for other in others)
    return ()


class _Speaker:
    """Says where a part is zero, or not positive.

    Args:
        known: facts.
        names: values that have a name.
        compared: differences of what is compared, with that.
    """

    def __init__(
        self, known: Conditions, names: Mapping[Node, str], compared: Mapping[Node, Sequence[Node]] = {}
    ) -> None:
        self.known = known
        self._names = names
        self._compared = compared

    def text(self, node: Node) -> str | None:
        """Return a part in words, None if it is long."""
        if len(topological([node], until=self._names)) > LEFT_OUT_EQUATIONS:
            return None
        text = expression_text(node, self._names)
        return text if len(text) <= LEFT_OUT_EQUATIONS else None

    def said(self, node: Node, relation: str) -> tuple[str, ...] | None:
        """Return where a part is zero (``=``), negative (``<``) or either, factor by factor; None if that is long."""
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
        parts = list(self.factors(node)) if relation == "=" else [node]
        texts = [self.text(n) for n in parts]
        found = [self._phrase(n, t, relation) for n, t in zip(parts, texts, strict=True) if t is not None]
        return tuple(found) if len(found) == len(parts) else None

    def _phrase(self, node: Node, text: str, relation: str) -> str:
        squared = _squared(node)
        inside = None if squared is None or node in self._names else self.text(squared)
        if inside is not None and relation == "=":
            return f"all entries of {inside} are 0"
        return f"an entry of {text} {_ENTRIES[relation]}" if node.shape else f"{text} {relation} 0"

    def factors(self, node: Node) -> Iterator[Node]:
        """Yield parts of which one is zero where a part is, but for those that never are."""
        pending = [node]
        while pending:
            n = pending.pop()
            if self.known.nonzero(n) == "yes" or (n.op is SIZE and isinstance(n.params[0], str)):
                continue  # in a proof sizes with a name are at least 1
            if n in self._names:
                yield n
            elif n.op.name in ("mul", "div"):
                pending += reversed(n.args[: 2 if n.op.name == "mul" else 1])
            elif n.op.name in _PASSED or (n.op is pow and n.args[1].is_number() and n.args[1].value > 0):
                pending.append(n.args[0])
            else:
                yield n


def _squared(node: Node) -> Node | None:
    """Return that of whose squares a number is the sum."""
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
    parts: Sequence[Node], speaker: _Speaker, wanted: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return for each wanted condition that parts of a claim have what is said for it."""
    t = FormAlgebra(WORK_BUDGET, LAWS, deadline=now() + LEFT_OUT_SECONDS)
    options: dict[str, list[tuple[bool, tuple[str, ...]]]] = {}  # inputs first
    try:
        program, at = program_of(parts)
        forms = normal_forms(t, program, at)
        for node, i in zip(parts, at, strict=True):
            for condition, said in _conditions(t, node, forms[i], speaker, wanted):
                if said is not None and not condition.endswith("..."):
                    options.setdefault(condition, []).append((node.op is not SYMBOL, said))
    except GiveUp:
        pass
    return {
        c: min(found, key=lambda o: (bool(o[1]), o[0], sum(map(len, o[1]))))[1]
        for c, found in options.items()
    }


def _conditions(
    t: FormAlgebra, node: Node, form: Form, speaker: _Speaker, wanted: Collection[str]
) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield the wanted conditions of a part with what is said for each."""
    for shown in (form, content(t, form)[2]) if form else ():
        for relation in _ENTRIES:
            found = list(zero_conditions(t, shown, f"{relation} 0"))
            if len(found) == 1 and found[0] in wanted:
                yield found[0], speaker.said(node, relation)
    if form and speaker.known.nonnegative(node) == "yes":
        for relation in ("=", "<="):
            found = list(zero_conditions(t, content(t, t.multiply(form, form))[2], f"{relation} 0"))
            if len(found) == 1 and found[0] in wanted:
                yield found[0], speaker.said(node, "=")
    text = speaker.text(node) if node.shape else None
    if text is None:
        return
    for kind in ("max", "min"):
        yield tie_condition(t, form, kind), (f"two entries of {text} tie for its {kind}",)
    if len(node.shape) == 2 and node.shape[0] == node.shape[1] and node.shape[0] != 1:
        never = is_definite(node, speaker.known)
        yield singular_condition(t, form, "a0", "a1"), () if never else (f"{text} is singular",)


# -- numbers ----------------------------------------------------------------------------------------------------------


def _of_numbers(
    conditions: Sequence[str], parts: Sequence[Node], speaker: _Speaker, inside: Mapping[Node, Node]
) -> list[str]:
    """Return what is said for conditions that are formulas of numbers.

    Args:
        conditions: what the proof leaves out.
        parts: values of the claim.
        speaker: says them.
        inside: variables of the domains in which both sides may have a value.
    """
    symbols = {s.name: s for s in symbols_of(parts)}
    forms = dict(zip(parts, canonical(parts).nodes, strict=True))
    deadline = now() + LEFT_OUT_SECONDS
    told: list[str] = []
    places: dict[ZeroSet, str] = {}
    for condition in conditions:
        place = None if "|" in condition or is_late(deadline, _CONDITION) else _read(condition, symbols)
        if place is None:
            told += (
                _of_root(condition, symbols, forms, speaker, inside)
                if not is_late(deadline)
                else (condition,)
            )
        elif not _is_nowhere(place, speaker, inside):
            places[place] = condition
    for place in simpler(list(places), speaker.factors):
        own = places.get(place, " and ".join(f"{expression_text(n)} = 0" for n in place))
        said = [_zeros(n, forms, speaker) for n in place] if not is_late(deadline, _CONDITION) else [None]
        if len(said) == 1:
            told += (own,) if said[0] is None else said[0]
        else:
            told.append(
                " and ".join(s[0] for s in said if s) if all(s and len(s) == 1 for s in said) else own
            )
    return told


def _is_nowhere(place: ZeroSet, speaker: _Speaker, inside: Mapping[Node, Node]) -> bool:
    """Tell whether something of what vanishes together vanishes nowhere in smaller domains."""
    return any(speaker.known.nonzero(n) == "yes" for n in substitute(list(place), inside))


def _read(condition: str, symbols: Mapping[str, Node]) -> ZeroSet | None:
    """What vanishes where a condition holds, all of it; None for another condition."""
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
    speaker: _Speaker,
    inside: Mapping[Node, Node],
) -> tuple[str, ...]:
    """Say a condition with a root of u: a part with it has a value only where u is not negative, and is that of |u|."""
    for bars in (r"(\1)", r"abs(\1)"):
        place = _read(_BARS.sub(bars, condition), symbols)
        if place is None or place[1:]:
            continue
        if _is_nowhere(place, speaker, inside):
            return ()
        parts = list(speaker.factors(place[0]))
        said = [_of_part(f, forms, speaker) for f in parts]
        if bars != r"(\1)":
            said = [s or speaker.text(f) for s, f in zip(said, parts, strict=True)]
        texts = [t for t in said if t is not None]
        if len(texts) == len(said):
            return tuple(f"{t} = 0" for t in texts)
    return (condition,)


def _zeros(node: Node, forms: Mapping[Node, Node], speaker: _Speaker) -> tuple[str, ...] | None:
    """Say where a node is zero, factor by factor; None if that is long."""
    texts = [_of_part(f, forms, speaker) or speaker.text(f) for f in speaker.factors(node)]
    return None if None in texts else tuple(f"{t} = 0" for t in texts)


def _of_part(factor: Node, forms: Mapping[Node, Node], speaker: _Speaker) -> str | None:
    """Return the shortest text of a part that is zero where a factor is; parts come with their canonical forms."""
    if factor.op is SYMBOL:
        return speaker.text(factor)
    reads = set(symbols_of([factor]))
    texts: list[str | None] = []
    for part, form in forms.items():
        if set(symbols_of([form])) == reads:
            # Zero together: tan(x)*cos(x) is not where cos(x) is, though their quotient 1/tan(x) is never 0.
            both = ((factor, form), (form, factor))
            if form is factor or all(_never_zero(a / b, speaker.known) for a, b in both):
                texts.append(speaker.text(part))
    return min((t for t in reversed(texts) if t is not None), key=len, default=None)


def _never_zero(node: Node, known: Conditions) -> bool:
    quotient = rational_of(node)
    return quotient is not None and any(known.nonzero(f) == "yes" for f in quotient.forms())
