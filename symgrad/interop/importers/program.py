"""Programs that were read from functions of other frameworks, and what all importers build them with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.program import Program
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.types import is_name
from symgrad.support.source import Place

__all__ = ["ImportNote", "ImportedProgram", "UniqueNames", "mark_places"]


@dataclass(frozen=True)
class ImportNote:
    """What a reader of the program should know about a line.

    Args:
        what: what it does, and what it was read as.
        place: the line.
        cure: what to write instead.
    """

    what: str
    place: Place | None
    cure: str

    def __str__(self) -> str:
        line = "" if self.place is None else f"{self.place.told}\n  "
        return f"{line}{self.what}\n  try: {self.cure}"


class ImportedProgram(Program):
    """A function as a program: what it returns, its inputs and its intermediate values, by name.

    Attributes:
        parameters: the names of inputs that are parameters: of a module, or variables that train.
        values: what the function held when it was read, by the names of the inputs that it is: parameters, buffers.
        returned: what the function returns, by name: keys of its structure, else variables, else ``out``.
        findings: lines that a reader should know about, such as ``.data``.
    """

    parameters: tuple[str, ...]
    values: Mapping[str, Any]
    returned: Mapping[str, Expr]
    findings: tuple[ImportNote, ...]

    def __init__(
        self,
        listing: Listing,
        returned: Sequence[tuple[str, str]] = (),
        parameters: Sequence[str] = (),
        values: Mapping[str, Any] | None = None,
        findings: Sequence[ImportNote] = (),
    ) -> None:
        super().__init__(listing)
        self.returned = {key: self[name] for key, name in returned}
        self.parameters, self.values = tuple(parameters), dict(values or {})
        self.findings = tuple(findings)

    @property
    def places(self) -> Mapping[str, Place]:
        """Of each value that has a name, the line of the user's that computes it."""
        known = self.listing.places
        return {name: known[node] for name, node in self.listing.assignments.items() if node in known}

    def __reduce__(self) -> tuple[Any, ...]:
        returned = [(key, e.name) for key, e in self.returned.items()]
        return (ImportedProgram, (self.listing, returned, self.parameters, self.values, self.findings))


class UniqueNames:
    """An allocator of unique names for a program.

    Example:
        >>> names = UniqueNames(["x"])
        >>> names.free("x"), names.free("fc1.weight"), names.free("lambda"), names.free("1")
        ('x_2', 'fc1_weight', 'lambda_', 'v_1')
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = set(names)

    def free(self, name: str) -> str:
        """Return a legal name that nothing has, and take it."""
        plain = re.sub(r"\W+", "_", name).strip("_") or "value"
        plain = plain if is_name(plain) else f"{plain}_" if is_name(f"{plain}_") else f"v_{plain}"
        made, k = plain, 1
        while made in self._names:
            k += 1
            made = f"{plain}_{k}"
        self._names.add(made)
        return made


def mark_places(places: dict[Node, Place], value: Any, place: Place | None) -> None:
    """Record the place of an expression and of its new nodes; nodes with a place keep it."""
    if not isinstance(value, Expr) or place is None or not place.file:
        return
    pending = [value.node]
    while pending:
        node = pending.pop()
        if node.args and node not in places:
            places[node] = place
            pending.extend(node.args)
