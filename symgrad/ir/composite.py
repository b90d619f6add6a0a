"""Functions without an op of their own: parsers and importers replace a call by a formula over ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from symgrad.ir.graph import Node, symbol
from symgrad.ir.traverse import EXACT, fold, with_args
from symgrad.ir.types import Declaration


@dataclass(frozen=True, slots=True)
class CompositeFunction:
    """A function as a formula over ops.

    Args:
        variables: symbols for the arguments of the function.
        formula: the formula over these symbols.
        doc: the formula as text.
        latex: the LaTeX of a call, with {0} for its argument; None to print the formula instead.
    """

    variables: tuple[Node, ...]
    formula: Node
    doc: str
    latex: str | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments of the function."""
        return tuple(v.name for v in self.variables)

    def build(self, *args: Node) -> Node:
        """Return the formula with arguments substituted, unsimplified except for arithmetic on numbers."""
        values = dict(zip(self.variables, args, strict=True))
        return fold([self.formula], _applied, values)[self.formula]


def _applied(node: Node, args: list[Node]) -> Node:
    # The operators of nodes would fold 0/0 to 0.
    folds = node.op.name in EXACT and not (node.op.name == "div" and args[1].is_number(0))
    return EXACT[node.op.name](*args) if folds and all(a.is_number() for a in args) else with_args(node, args)


def define_function(
    doc: str, names: str, formula: Callable[..., Node], latex: str | None = None
) -> CompositeFunction:
    """Return a function from its formula, which is evaluated once on symbols for the arguments."""
    variables = tuple(symbol(Declaration(name)) for name in names.split())
    return CompositeFunction(variables, formula(*variables), doc, latex)


_forms: dict[str, tuple[CompositeFunction, ...]] = {}

WRITTEN: Mapping[str, tuple[CompositeFunction, ...]] = MappingProxyType(_forms)
"""For each function, by name, its forms for the possible numbers of arguments. `symgrad/ops/composites.py` adds
them."""


def register_written(forms: Mapping[str, tuple[CompositeFunction, ...]]) -> None:
    """Add functions."""
    _forms.update(forms)


def form_of(name: str, count: int) -> CompositeFunction | None:
    """Return the form of a function for a given number of arguments, or None if there is none."""
    return next((how for how in WRITTEN.get(name, ()) if len(how.parameters) == count), None)
