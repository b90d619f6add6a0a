"""Functions that have no op: they are written in others, by whatever reads formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from symgrad.ir.graph import Node, Op, apply, symbol
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration

__all__ = ["WRITTEN", "CompositeFunction", "form_of", "register_written", "define_function"]


@dataclass(frozen=True, slots=True)
class CompositeFunction:
    """How a function is written.

    Args:
        variables: symbols that stand for its arguments.
        formula: over these.
        doc: the same as text.
        latex: how a call is set, with {0} for its argument; None where the formula is what people write.
    """

    variables: tuple[Node, ...]
    formula: Node
    doc: str
    latex: str | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its arguments."""
        return tuple(v.name for v in self.variables)

    def build(self, *args: Node) -> Node:
        """Return the formula of arguments, as written: they are put in its place, and nothing is simplified by them.

        Numbers alone are added and multiplied, which loses no domain.
        """
        made: dict[Node, Node] = dict(zip(self.variables, args, strict=True))
        for node in topological([self.formula]):
            if node not in made:
                made[node] = (
                    _applied(node.op, tuple(made[a] for a in node.args), node.params) if node.args else node
                )
        return made[self.formula]


def _applied(op: Op, args: tuple[Node, ...], params: tuple[Any, ...]) -> Node:
    if all(a.is_number() for a in args):
        match op.name, args:
            case "add", (a, b):
                return a + b
            case "mul", (a, b):
                return a * b
            case "div", (a, b) if b.value:
                return a / b
            case "pow", (a, b):
                return a**b
            case "neg", (a,):
                return -a
            case _:
                pass
    return apply(op, args, params)


def define_function(
    doc: str, names: str, formula: Callable[..., Node], latex: str | None = None
) -> CompositeFunction:
    """Return a function from its formula, of symbols for the arguments: it is made once, and never sees others."""
    variables = tuple(symbol(Declaration(name)) for name in names.split())
    return CompositeFunction(variables, formula(*variables), doc, latex)


_forms: dict[str, tuple[CompositeFunction, ...]] = {}

WRITTEN: Mapping[str, tuple[CompositeFunction, ...]] = MappingProxyType(_forms)
"""By name, the forms that a function has: one for each number of arguments. `symgrad/ops/composites.py` fills it."""


def register_written(forms: Mapping[str, tuple[CompositeFunction, ...]]) -> None:
    """Add functions."""
    _forms.update(forms)


def form_of(name: str, count: int) -> CompositeFunction | None:
    """Return how a function of so many arguments is written, or None if there is no such form."""
    return next((how for how in WRITTEN.get(name, ()) if len(how.parameters) == count), None)
