"""What a kind of case is, and which kinds there are."""

from __future__ import annotations

import pkgutil
import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from symgrad.errors import SymgradError

__all__ = ["Kind", "kind", "kinds", "refused"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of case.

    Args:
        name: of the kind, as in ``--only``.
        check: draws a case and checks it; an AssertionError, or any other exception, is a failure.
        seconds: a case that takes longer hangs.
    """

    name: str
    check: Callable[[random.Random], None]
    seconds: float

    def run(self, seed: int) -> None:
        """Run the case of a seed: the same one in every process."""
        self.check(random.Random(f"{self.name} {seed}"))


_kinds: dict[str, Kind] = {}


def kind(
    name: str, *, seconds: float = 30.0
) -> Callable[[Callable[[random.Random], None]], Callable[..., None]]:
    """Register a function that draws and checks one case."""

    def register(check: Callable[[random.Random], None]) -> Callable[..., None]:
        assert name not in _kinds, f"two kinds are called {name}"
        _kinds[name] = Kind(name, check, seconds)
        return check

    return register


def kinds() -> dict[str, Kind]:
    """Return all kinds by name."""
    package = import_module("tests.fuzz.kinds")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_kinds.items()))


def refused(error: SymgradError) -> None:
    """Check that an error is one that a user can act on: it says what failed, and it prints."""
    assert error.what
    assert len(str(error).encode("utf-8")) < 20_000, "an error is read by people"
