"""Where the values of a backward recurrence come from: the lines of the program that read the value of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from symgrad.autodiff.recurrences import StepArrays
from symgrad.autodiff.vjp import pull_back
from symgrad.ir.body import Body, StepNotation
from symgrad.ir.graph import Node, as_node
from symgrad.ir.notation.lags import loop_of
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.notation.recurrence_names import RecurrenceNames
from symgrad.ir.notation.recurrences import recurrence_of
from symgrad.ir.traverse import topological
from symgrad.ops.array.layout import full
from symgrad.support.texts import join_texts


class StepSources:
    """The lines of a program from which the values of backward recurrences come.

    Args:
        names: the names of the program, with their symbols.
        bodies: what these symbols stand for.
        steps: how the program writes the steps of recurrences.
        y: the value that is differentiated, over names.
        direct: for values of recurrences, by name, the derivative by all of them without what steps pass on.
    """

    def __init__(
        self,
        names: Mapping[str, Node],
        bodies: Mapping[Node, Node],
        steps: Mapping[Body, StepNotation],
        y: Node,
        direct: Mapping[str, Node],
    ) -> None:
        self._names, self._bodies, self._y, self._direct = names, bodies, y, direct
        self._called = RecurrenceNames({*names}, [(n.name, body) for n, body in bodies.items()], steps)

    def notes(self, bars: Sequence[Node], of: Sequence[str | None]) -> Iterator[str]:
        """Yield a sentence on each value of a backward recurrence.

        Args:
            bars: the symbols of the values.
            of: the names of the values whose adjoints they are; None for others.
        """
        for bar, name in zip(bars, of, strict=True):
            values = self._bodies.get(self._names[name]) if name is not None and name in self._names else None
            found = None if values is None else recurrence_of(values)
            if name is None or values is None or found is None:
                continue
            step = self._called.step_of(name, expression_text, self._called.letter(found[0]))
            if step is None:
                continue  # the positions of a longer memory are not those of the program
            before, now = step.before[name], step.values[name]
            outside = self._readers_outside(name)
            direct = full(self._direct.get(name, as_node(0)), values.shape)
            _, added, apart = StepArrays(found[0]).divided(direct)
            readers = [left for left, f in step.lines.items() if passes(f, before)] + (
                outside if added else []
            )
            place = f"{bar.name}{before.name.removeprefix(name)}"
            if readers:
                yield f"{place} comes from {join_texts(readers, len(readers))}"
            if apart and outside:
                own, lines = f"{bar.name}{now.removeprefix(name)}", join_texts(outside, len(outside))
                yield f"{own} comes from later steps; the term from {lines} stands beside it"

    def _readers_outside(self, name: str) -> list[str]:
        """Return the lines that read the values of a name, but are no steps."""
        array, bodies = self._names[name], self._bodies
        own = loop_of(bodies[array])
        lines = {n.name: b for n, b in bodies.items() if own is None or loop_of(b) is not own}
        if self._y not in bodies:
            lines["the result"] = self._y
        return [left for left, b in lines.items() if array in topological([b])]


def passes(formula: Node, value: Node) -> bool:
    """Tell whether a derivative edge leads from a formula to a value."""
    if formula is value:
        return True
    if formula.dtype != "real":
        return False
    return pull_back([formula], [full(as_node(1), formula.shape)], [value]).nothing[0] is None
