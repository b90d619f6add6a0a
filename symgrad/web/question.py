"""A question as it is worked on: what several parts of its answer need is found once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import symgrad
from symgrad.api.derivatives.entries import target_named
from symgrad.api.explaining.explain import Derivation
from symgrad.errors import UsageError
from symgrad.web.limits import TARGETS

__all__ = ["PageQuestion"]


class PageQuestion:
    """A program, and what is asked about it.

    Args:
        data: as `symgrad.web.answers.checked` returns it.
    """

    NAME = "program"
    """What messages call the text."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def said(self, field: str) -> str:
        """Return a field without spaces around it, empty if it was left out."""
        return str(self._data.get(field, "")).strip()

    @cached_property
    def program(self) -> symgrad.Program:
        """The program."""
        text = str(self._data["program"])
        if not text.strip():
            raise UsageError("there is no program yet", cure="type a formula, such as sqrt(x**2 + 1)")
        return symgrad.parse(text, self.NAME)

    @cached_property
    def y(self) -> symgrad.Expr:
        """What is differentiated."""
        name = self.said("of")
        return self.program[name] if name else self.program.last

    @cached_property
    def wrt(self) -> list[symgrad.Expr]:
        """By what: the names that were given, else every real input that is not random."""
        names = [n.strip() for n in self.said("wrt").split(",") if n.strip()]
        if names:
            found = [target_named(self.y, name) for name in names]
        else:
            found = [
                i for i in self.y.inputs if i.dtype == "real" and i.node.declaration.distribution is None
            ]
        if not found:
            raise UsageError(
                "the program has no real input to differentiate by",
                cure="declare one, x : real, or say by what",
            )
        if len(found) > TARGETS:
            raise UsageError(
                f"{len(found)} inputs are too many to show", cure="say by which, at most " + str(TARGETS)
            )
        return found

    @cached_property
    def gradients(self) -> list[symgrad.Expr]:
        """The derivatives: gradients of a number, Jacobians of an array."""
        if self.y.shape:
            return [symgrad.jacobian(self.y, w) for w in self.wrt]
        return list(symgrad.grad(self.y, list(self.wrt)))

    @cached_property
    def derivation(self) -> Derivation:
        """How the gradients come about."""
        return symgrad.explain(self.y, list(self.wrt))

    @property
    def name(self) -> str:
        """What the formula is called in source code."""
        name = self.y.name or "f"
        return name if name.isidentifier() else "f"
