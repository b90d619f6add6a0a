"""Which lines of a program with recurrences, and of its backward pass, read a random input or values that it moves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from symgrad.analysis.explain.naming import Naming
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.printer import expression_text
from symgrad.ir.notation.recurrence_definitions import recurrence_definitions
from symgrad.ir.traverse import topological
from symgrad.pretty.adjoints import Adjoint
from symgrad.support.texts import join_texts

_ROWS = frozenset(("gather", "slice", "reshape"))


@dataclass(frozen=True, slots=True)
class NoiseLines:
    """The lines that read a random input, or values that depend on it.

    Attributes:
        steps: for each line of a step that reads the random input itself: the left side, what it reads, and the range
            of the steps.
        gradient: for each line of the backward pass that reads values of the program with noise: the left side, and
            what it reads.
    """

    steps: tuple[tuple[str, tuple[str, ...], str], ...]
    gradient: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The lines of the steps, and those of the backward pass."""
        found = [f"{left} reads {join_texts(reads)} for {span}" for left, reads, span in self.steps]
        if self.gradient:
            lines = [f"{left} reads {join_texts(reads)}" for left, reads in self.gradient]
            found.append(f"in the backward pass {'; '.join(lines)}")
        return tuple(found)


def noise_lines(
    y: Node, source: Node, adjoints: Sequence[Adjoint], naming: Naming, listing: Listing
) -> NoiseLines:
    """Return the lines that read a random input.

    Args:
        y: the differentiated value.
        source: the random input.
        adjoints: the backward pass in the names of the program.
        naming: the names of values.
        listing: the program.
    """
    noisy = {name for name, node in listing.assignments.items() if source in topological([node])} | {
        source.name
    }
    gradient: dict[str, tuple[str, ...]] = {}
    for group in adjoints[0].whole.groups() if adjoints else ():
        for left, formulas in group.formulas.items():
            reads = tuple(dict.fromkeys(_reads(formulas, noisy)))
            if reads:
                gradient[left] = reads
    return NoiseLines(tuple(step_lines(y, source, naming, listing)), tuple(gradient.items()))


def step_lines(
    y: Node, source: Node, naming: Naming, listing: Listing
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the lines of steps that read a random input: left side, what it reads, and the range of the steps."""
    found = recurrence_definitions([y], naming.names, listing.steps, naming.numbers)
    for _, step in found.steps():
        for left, formula in step.lines.items():
            reads = tuple(dict.fromkeys(_reads([formula], {source.name})))
            if reads:
                yield left, reads, step.span


def _reads(formulas: Sequence[Node], names: Collection[str]) -> Iterator[str]:
    """Yield the values with some names that formulas read, as they are written: x[t-1], x[:T], x."""
    order = topological(formulas)
    users: dict[Node, list[Node]] = {n: [] for n in order}
    for n in order:
        for a in n.args:
            users[a].append(n)
    for n in order:
        if n.op is not SYMBOL or n.name.partition("[")[0] not in names:
            continue
        rows = [m for m in users[n] if m.op.name in _ROWS and m.args[0] is n]
        for m in rows:
            ends = [k for k in users[m] if k.op.name == "reshape"]
            yield from map(expression_text, ends or [m])
        if len(rows) < len(users[n]) or n in formulas:
            yield n.name
