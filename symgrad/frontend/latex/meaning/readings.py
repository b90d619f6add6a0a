r"""How ambiguous places in LaTeX were read: a record for each place, with the option that reads it in another way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from symgrad.ir.listing import suggest
from symgrad.support.errors import Cure, UsageError
from symgrad.support.source import Location, Source, Span


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A place that can be read in several ways.

    Args:
        span: its place in the text.
        what: the text there.
        meaning: how the place was read, in the program notation if it has a form there.
        option: the option that reads the place in another way, such as ``arguments="factor"``; or a declaration, if
            that decides.
    """

    span: Span
    what: str
    meaning: str
    option: str

    def __str__(self) -> str:
        return self.text()

    def text(self, *, command: bool = False) -> str:
        """Return how the place was read, and the option that reads it in another way.

        Args:
            command: whether to show an option of the command line, and not an argument in Python.

        Example:
            >>> Ambiguity(Span(0, 3), "w^T", "a transpose", 'transpose="never"').text(command=True)
            'w^T is read as a transpose; otherwise: --read transpose=never'
        """
        option = self.option
        if command:
            names = "|".join(CHOICES)
            option = re.sub(rf"\b({names})=([\"']?)(\w+)\2", r"--read \1=\3", option)
        return f"{self.what} is read as {self.meaning}; otherwise: {option}"

    def location(self, source: Source) -> Location:
        """Return the place in the form in which messages point at it."""
        return Location(source, self.span)


class ReadingOptions(TypedDict, total=False):
    r"""How to read what is ambiguous; the first value of each option is the default.

    Attributes:
        arguments: the argument of a function without brackets: ``"product"``, \sin x y is sin(x*y), or ``"factor"``,
            sin(x)*y.
        letters: letters side by side: ``"product"``, xy is x*y, or ``"name"``.
        slash: ``"left"``, a/b c is (a/b)*c, ``"product"``, a/(b*c), or ``"letters"``: below the slash stand the letters
            that follow it without a blank, and in an exponent all; ``"papers"`` too, but 1/2 m v^2 is (1/2)*m*v^2.
        calls: a bracket after a name that nothing defines: ``"refused"``, or ``"product"``.
        e: the letter e: ``"number"``, or ``"name"``.
        d: the d in \frac{dy}{dx}: ``"derivative"``, or ``"name"``.
        prime: a prime: ``"derivative"``, or ``"name"``: x' is x_prime.
        transpose: the exponent T: ``"shape"``, the transpose if the base is an array, ``"always"``, or ``"never"``.
        subscript: the subscript of an array: ``"entry"``, or ``"name"``.
        first: the number of the first entry of an array, 0 or 1. Sums with limits count from their lower limit.
        bars: |x|: ``"abs"``; or ``"norm"``, the norm of a vector and the determinant of a matrix.
        log: the base of \log: ``"e"``, 2 or 10.
        inverse: \sin^{-1} x: ``"function"``, arcsin, or ``"reciprocal"``, 1/sin(x).
        sigma: \sigma before a bracket: ``"function"``, or ``"name"``.
        styles: \mathbf{x} and x: ``"same"``, or ``"apart"``: x_bold and x.
    """

    arguments: str
    letters: str
    slash: str
    calls: str
    e: str
    d: str
    prime: str
    transpose: str
    subscript: str
    first: int
    bars: str
    log: str | int
    inverse: str
    sigma: str
    styles: str


CHOICES: Mapping[str, tuple[str | int, ...]] = {
    "arguments": ("product", "factor"),
    "letters": ("product", "name"),
    "slash": ("left", "papers", "letters", "product"),
    "calls": ("refused", "product"),
    "e": ("number", "name"),
    "d": ("derivative", "name"),
    "prime": ("derivative", "name"),
    "transpose": ("shape", "always", "never"),
    "subscript": ("entry", "name"),
    "first": (0, 1),
    "bars": ("abs", "norm"),
    "log": ("e", 2, 10),
    "inverse": ("function", "reciprocal"),
    "sigma": ("function", "name"),
    "styles": ("same", "apart"),
}
"""The values of each option, the default first."""


def checked_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options with their values.

    Raises:
        UsageError: if there is no such option, or the option does not have this value.

    Example:
        >>> checked_options({"slash": "product"})["slash"], checked_options({})["slash"]
        ('product', 'left')
    """
    for name, value in given.items():
        if name not in CHOICES:
            raise UsageError(
                f"there is no option '{name}' of reading LaTeX",
                expected="one of " + ", ".join(CHOICES),
                cure=suggest(name, CHOICES),
            )
        if value not in CHOICES[name]:
            known = [repr(v) for v in CHOICES[name]]
            raise UsageError(
                f"the option {name} is {value!r}",
                expected=" or ".join(known),
                cure=Cure(
                    f"write {name}={known[-1]}, or leave it out",
                    command=f"write --read {name}={CHOICES[name][-1]}, or leave it out",
                ),
            )
    return {name: given.get(name, values[0]) for name, values in CHOICES.items()}
