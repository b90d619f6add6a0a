"""Functions that have no op: they are written in others, by whatever reads formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from symgrad.ir.graph import Node

__all__ = ["WRITTEN", "Written", "register_written"]


@dataclass(frozen=True, slots=True)
class Written:
    """How a function is written.

    Args:
        parameters: the names of its arguments.
        build: the formula.
        doc: the same as text.
    """

    parameters: tuple[str, ...]
    build: Callable[..., Node]
    doc: str


_forms: dict[str, tuple[Written, ...]] = {}

WRITTEN: Mapping[str, tuple[Written, ...]] = MappingProxyType(_forms)
"""By name, the forms that a function has: one for each number of arguments. `symgrad/ops/written.py` fills it."""


def register_written(forms: Mapping[str, tuple[Written, ...]]) -> None:
    """Add functions."""
    _forms.update(forms)
