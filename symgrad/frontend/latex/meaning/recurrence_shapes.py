r"""The shapes of first values in LaTeX: h_0 = 0 begins the vectors of h_t = \tanh(W h_{t-1} + b), or numbers."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from itertools import product
from typing import Any

from symgrad.frontend.expressions.recurrence_steps import StepRange
from symgrad.frontend.expressions.recurrences import StepDefinition
from symgrad.frontend.latex.meaning.formulas import FormulaRules
from symgrad.frontend.latex.syntax.tree import Tree
from symgrad.frontend.limits import FIRST_SHAPES
from symgrad.frontend.tokens.terms import Term
from symgrad.ir.notation.literals import size_text
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape, Size
from symgrad.ops.array.layout import full
from symgrad.support.errors import ShapeError

_STATE = (
    "spans",
    "derivatives",
    "readings",
    "firsts",
    "symbols",
    "defined",
    "name_spans",
    "numbers",
    "lowest",
)


class RecurrenceShapes(FormulaRules):
    """The rules for first values that are numbers.

    Attributes:
        lowest: the number of the lowest position of each array that a recurrence defines.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.lowest: dict[str, Size] = {}

    def give_shapes(self, steps: Sequence[StepDefinition], loop: StepRange) -> None:
        """Replace first values that are numbers by arrays where the steps need these.

        Of the shapes for which each step has the shape of the step before, those with the fewest axes are taken.
        """
        names = [str(s.name) for s in steps if s.subscript is not None]
        shapes = {
            n: broadcast_shapes([t.node.shape for _, t in self.starts[n].values()])
            for n in names
            if n in self.starts
        }
        numbers = [n for n in names if shapes.get(n) == ()]
        if not numbers or len(shapes) < len(names):
            return
        found: list[dict[str, Shape]] = []
        for some in self._possible_shapes(len(numbers)):
            chosen = dict(zip(numbers, some, strict=True))
            if found and _axes(chosen) > _axes(found[0]):
                break
            if self._fits(steps, loop, {**shapes, **chosen}):
                found.append(chosen)
        if len(found) != 1 and (found or self._can_be_read(steps, loop, shapes)):
            shown = " or ".join(_shape_text(f[numbers[0]]) for f in found)
            token, _ = next(iter(self.starts[numbers[0]].values()))
            raise self.refuse(
                f"the first value may have the shapes {shown}"
                if found
                else "no shape of the value fits the step",
                Tree(token.start_pos, token.end_pos),
                expected="one shape for which the step has the shape of the step before",
                cure=r"write zeros of a shape, such as \mathbf{0}_{n}",
                cls=ShapeError,
            )
        for name, shape in [*found[0].items()] if found else ():
            for position, (token, value) in self.starts[name].items() if shape else ():
                node = full(value.node, shape)
                self.starts[name][position] = token, Term(node, value.start, value.end)
                place = Tree(value.start, value.end)
                self.read_as(
                    place, f"an array of the shape {_shape_text(shape)}", r"\mathbf{0}_{n} of another size"
                )

    def _possible_shapes(self, count: int) -> Iterator[tuple[Shape, ...]]:
        """Yield shapes of known arrays and of their rows for a number of names, those with fewer axes first."""
        known = {node.shape for node in self.defined.values()}
        parts = {s[k:] for s in known for k in range(len(s))} | {
            s[k : k + 1] for s in known for k in range(len(s))
        }
        shapes = sorted({(), *(s for s in parts if len(s) < 3)}, key=lambda s: (len(s), str(s)))
        if len(shapes) ** count > FIRST_SHAPES:
            return ((shape,) * count for shape in shapes)
        return iter(sorted(product(shapes, repeat=count), key=lambda chosen: sum(map(len, chosen))))

    def _fits(self, steps: Sequence[StepDefinition], loop: StepRange, shapes: Mapping[str, Shape]) -> bool:
        with self._trial():
            found = self._values(steps, loop, shapes)
            return (
                self.error is None
                and found is not None
                and all(found[n].shape[1:] == s for n, s in shapes.items())
            )

    def _can_be_read(
        self, steps: Sequence[StepDefinition], loop: StepRange, shapes: Mapping[str, Shape]
    ) -> bool:
        with self._trial():
            return self._values(steps, loop, shapes) is not None and self.error is None

    @contextmanager
    def _trial(self) -> Generator[None]:
        """Read something, and forget that it was read."""
        before = {name: copy(getattr(self, name)) for name in _STATE}
        known = deepcopy(self.known)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)
            self.known, self.error = known, None


def _axes(shapes: Mapping[str, Shape]) -> int:
    return sum(map(len, shapes.values()))


def _shape_text(shape: Shape) -> str:
    return f"({', '.join(map(size_text, shape))})"
