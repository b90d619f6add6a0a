"""What stop_gradient inside of a recurrence cuts.

A gradient passes from the values of a step to those of the step before along derivative edges. If all of them end at
stop_gradients, also only where a condition holds, backpropagation through time is truncated there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from symgrad.analysis.explain.naming import Naming
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.notation.recurrence_definitions import recurrence_definitions
from symgrad.ir.notation.recurrence_names import NamedStep
from symgrad.ir.traverse import fold, topological, with_args
from symgrad.pretty.forms.step_sources import passes
from symgrad.support.texts import join_texts


@dataclass(frozen=True, slots=True)
class StepCut:
    """A place in the steps of a recurrence through which no gradient passes to values of the step before.

    Attributes:
        values: the values of the step before: ``("h[t-1]",)``.
        complete: whether nothing passes to these values.
        where: the condition on a step with which nothing passes; None if that is so in every step.
        inside: the stop_gradients that contain the values.
        through: the formulas through which a gradient passes to the values.
        flat: whether the values are also read where the derivative is zero.
        whole: whether these are all values that a step gives to the next.
        letter: the name of the position.
        back: whether the steps run from the last position to the first.
    """

    values: tuple[str, ...]
    complete: bool
    where: str | None
    inside: tuple[str, ...]
    through: tuple[str, ...]
    flat: bool
    whole: bool
    letter: str
    back: bool = field(repr=False)

    @property
    def headline(self) -> str:
        """What passes to the step before, without the reason."""
        before = f"{self.letter}{'+' if self.back else '-'}1"
        to = f"step {before}" if self.whole else join_texts(self.values)
        if not self.complete:
            return (
                f"a gradient passes from step {self.letter} to {to} only through {join_texts(self.through)}"
            )
        text = f"no gradient passes from step {self.letter} to {to}"
        return text if self.where is None else f"at the steps where {self.where}, {text}"

    @property
    def reason(self) -> str:
        """The stop_gradients."""
        verb = "stands" if len(self.values) == 1 else "stand"
        edge = "edge is" if len(self.inside) == 1 else "edges are"
        kind = "also" if not self.complete else "there" if self.where is not None else "only"
        kind = "" if self.flat else f"{kind} "
        text = f"{join_texts(self.values)} {verb} {kind}inside {join_texts(self.inside)}, whose derivative {edge} cut"
        return f"{text}, and where the derivative is zero" if self.flat else text

    def __str__(self) -> str:
        return f"{self.headline}: {self.reason}"


def step_cuts(y: Node, naming: Naming, listing: Listing | None) -> Iterator[StepCut]:
    """Yield what stop_gradients cut in the steps of the recurrences in a value."""
    found = recurrence_definitions(
        [y], naming.names, listing.steps if listing is not None else {}, naming.numbers
    )
    for node, step in found.steps():
        yield from _cuts(step, found.called.letter(node), bool(node.params[1]), naming)


def _cuts(step: NamedStep, letter: str, back: bool, naming: Naming) -> Iterator[StepCut]:
    """Yield the cuts in a step; values that are cut in the same way are told together."""
    values = [step.whole[left] for left in step.values.values()]
    order = topological(values)
    stops = [n for n in order if "stops" in n.op.facts]
    read = [b for b in step.before.values() if b in {*order}]
    groups: dict[tuple[bool, str | None], list[Node]] = {}
    formulas: dict[str | None, Sequence[Node]] = {None: values}
    for b in read:
        if not any(b in topological([s]) for s in stops):
            continue
        if not any(passes(v, b) for v in values):
            groups.setdefault((True, None), []).append(b)
            continue
        condition = _condition(values, b)
        if condition is not None:
            formulas[condition[0]] = condition[1]
        groups.setdefault((condition is not None, condition and condition[0]), []).append(b)
    for (complete, where), cut in groups.items():
        inside = _outermost(stops, cut)
        through = [] if complete else _readers(order, stops, cut)
        if complete or through:
            yield StepCut(
                tuple(b.name for b in cut),
                complete,
                where,
                tuple(naming.text(s) for s in inside),
                tuple(naming.text(n) for n in through),
                complete and _is_read_outside(formulas[where], cut),
                complete and len(cut) == len(read) and step.before.keys() == step.values.keys(),
                letter,
                back,
            )


def _condition(values: Sequence[Node], before: Node) -> tuple[str, Sequence[Node]] | None:
    """Return a condition with which no gradient passes to a value of the step before, and the formulas where it holds.

    The result is None if no such condition is known.
    """
    choices = [n for n in topological(values) if n.op.name == "where" and not n.args[0].shape]
    for condition in dict.fromkeys(n.args[0] for n in choices):
        for holds in (True, False):
            found = _where(values, condition, holds)
            if not any(passes(v, before) for v in found):
                text = expression_text(condition)
                return text if holds else f"not ({text})", found
    return None


def _where(values: Sequence[Node], condition: Node, holds: bool) -> list[Node]:
    """Return formulas for steps in which a condition holds, or does not."""

    def select(node: Node, args: list[Node]) -> Node:
        if node.op.name == "where" and node.args[0] is condition:
            return args[1 if holds else 2]
        return with_args(node, args)

    done = fold(values, select)
    return [done[v] for v in values]


def _is_read_outside(formulas: Sequence[Node], values: Collection[Node]) -> bool:
    """Tell whether formulas read values outside of stop_gradients and conditions."""
    ends = {n for n in topological(formulas) if "stops" in n.op.facts or n.dtype == "bool"}
    return not set(values).isdisjoint(topological(formulas, until=ends))


def _outermost(stops: Sequence[Node], values: Collection[Node]) -> list[Node]:
    """Return the stop_gradients that contain values, without those inside of others."""
    around = [s for s in stops if not set(values).isdisjoint(topological([s]))]
    inner = {n for s in around for n in topological(s.args)}
    return [s for s in around if s not in inner]


def _readers(order: Sequence[Node], stops: Sequence[Node], values: Collection[Node]) -> list[Node]:
    """Return the formulas outside of stop_gradients that read values."""
    frozen = {n for s in stops for n in topological([s])}
    return [
        n
        for n in order
        if n.dtype == "real"
        and n not in stops
        and any(a in values for a in n.args)
        and (n not in frozen or any(n in m.args for m in order if m not in frozen))
    ]
