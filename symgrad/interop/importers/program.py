"""Programs imported from functions of other frameworks, and the tools that all importers share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from symgrad.api.handles.expr import Expr
from symgrad.api.handles.program import Program
from symgrad.ir.graph import Node
from symgrad.ir.listing import Listing
from symgrad.ir.types import is_name
from symgrad.support.source import Place
from symgrad.support.traversal import walk


@dataclass(frozen=True)
class ImportNote:
    """A note about a line of the imported function.

    Args:
        what: the effect of the line, and how it is read.
        place: the line.
        cure: the recommended replacement.
    """

    what: str
    place: Place | None
    cure: str

    def __str__(self) -> str:
        line = "" if self.place is None else f"{self.place.told}\n  "
        return f"{line}{self.what}\n  try: {self.cure}"


class ImportedProgram(Program):
    """A function as a program: its outputs, inputs and intermediate values, by name.

    Attributes:
        parameters: the names of inputs that are parameters of a module, or trainable variables.
        values: the values that parameters and buffers have at the time of the import, by the names of their inputs.
        returned: the outputs by name: by the keys of the returned structure, otherwise by the variables, otherwise
            ``out``.
        findings: notes about lines such as ``.data``.
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
        """The line of the user's code that computes each named value."""
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
        """Allocate a valid name that is not used yet."""
        plain = re.sub(r"\W+", "_", name).strip("_") or "value"
        plain = plain if is_name(plain) else f"{plain}_" if is_name(f"{plain}_") else f"v_{plain}"
        candidates = chain([plain], (f"{plain}_{k}" for k in count(2)))
        unused = next(c for c in candidates if c not in self._names)
        self._names.add(unused)
        return unused


def mark_places(places: dict[Node, Place], value: Any, place: Place | None) -> None:
    """Record the place of an expression and of its new nodes; a node that has a place keeps it."""
    if not isinstance(value, Expr) or place is None or not place.file:
        return
    node = value.node
    if node.args and node not in places:
        new = list(walk([node], lambda n: [a for a in n.args if a.args and a not in places]))
        places.update(dict.fromkeys(new, place))
