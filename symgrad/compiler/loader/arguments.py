"""The arguments of a loaded kernel: the attributes of symbols that calls read, from the metadata of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


class KnownDomain:
    """The ends of the domain of an input, with its text."""

    __slots__ = ("high", "kind", "low", "text")

    def __init__(self, plain: Mapping[str, Any] | None) -> None:
        self.kind: str = plain["kind"] if plain else "real"
        self.low, self.high = (_end(plain[way]) if plain else None for way in ("low", "high"))
        self.text: str = plain["text"] if plain else "real"

    def __str__(self) -> str:
        return self.text


class KnownArgument:
    """An input or an output of a kernel, with the attributes of a symbol and of its declaration.

    Args:
        plain: its metadata.

    Attributes:
        declaration: the argument itself, since it also has the attributes of a declaration.
    """

    __slots__ = ("_domain", "declaration", "distribution", "dtype", "name", "shape", "symmetric", "text")

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self.name: str = plain["name"]
        self.dtype: str = plain["dtype"]
        self.shape: tuple[Any, ...] = tuple(map(_size, plain["shape"]))
        self.text: str = plain.get("declared", self.name)
        self.symmetric: bool = plain.get("symmetric", False)
        self.distribution = None
        self.declaration = self
        self._domain = plain.get("domain")

    @property
    def domain(self) -> KnownDomain:
        """The domain of the argument, if calls check it."""
        return KnownDomain(self._domain)

    @property
    def op(self) -> Any:
        """The op of inputs."""
        from symgrad.ir.graph import SYMBOL  # few kernels check positions, for which calls ask this

        return SYMBOL

    def is_number(self) -> bool:
        """Return False: an input is no number of the formula."""
        return False

    def __str__(self) -> str:
        return self.text


def _size(plain: Any) -> Any:
    if isinstance(plain, int | str):
        return plain
    from symgrad.compiler.kernels.artefacts.plain_sizes import as_size  # few shapes have computed sizes

    return as_size(plain)


def _end(plain: Any) -> Any:
    if isinstance(plain, dict):
        from fractions import Fraction  # for start-up time

        parts = cast("dict[str, int]", plain)
        return Fraction(parts["numerator"], parts["denominator"])
    return None if plain is None else _size(plain)
