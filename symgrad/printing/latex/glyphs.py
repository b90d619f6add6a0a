r"""Glyphs of names, sizes and functions: no two of them look alike in one formula.

A name that looks like another one is written in typewriter letters; a function or constant that looks like a name is
written as a word: \sigma\left(x\right), but \operatorname{sigmoid}\left(x\right) next to a variable \sigma.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from symgrad.ir.graph import Node
from symgrad.ir.notation.name_parts import name_parts
from symgrad.ir.sizes import Shape, Size
from symgrad.ir.types import NAME
from symgrad.printing.latex.pieces import Written, latex_name

_SIZE_FUNCTIONS = {"max": r"\max", "min": r"\min", "ceil": r"\operatorname{ceil}"}
_INDICES = "ijklmnpqrstuvwabcdefgh"
_WORDS = re.compile(r"\\(?:operatorname|text|begin|end)\{\{.*?\}\}|\{\w+\}")
_LETTERS = re.compile(r"(\\?)([a-zA-Z]+)([_^]?)")
_SYMBOLS = frozenset(("sigma", "Gamma", "gamma", "Phi", "psi", "varphi", "zeta"))
"""Greek letters that are functions or constants."""
_ACCENTS = ("bar", "dot")
"""Subscripts that are written as accents, and never look like positions."""
_NUMBERS = (("e",), ("pi",))
"""Letters that are numbers in every formula, and so never the text of a name that the formula reads."""


@cache
def _letters(template: str) -> tuple[tuple[str, bool], ...]:
    """Return the letters that a template uses for a function, and whether each has scripts."""
    found = _LETTERS.findall(_WORDS.sub("", template))
    return tuple((word, bool(script)) for sign, word, script in found if (word in _SYMBOLS) or not sign)


class _NameLooks(NamedTuple):
    """The first of the names that look alike, by their parts; the letters of names but numbers; the parts joined."""

    first: dict[tuple[str, ...], str]
    letters: frozenset[str]
    joined: frozenset[str]


@lru_cache(maxsize=64)
def _looks(names: tuple[str, ...]) -> _NameLooks:
    first = {name_parts(name): name for name in reversed(names)}
    return _NameLooks(
        first, frozenset(parts[0] for parts in first if parts not in _NUMBERS), frozenset(map("".join, first))
    )


class Glyphs:
    r"""The glyphs of the names in a formula.

    Args:
        read: the names in the formula, variables and sizes.
        beside: all names that a reader of the formula knows, in the order in which it finds them.
        arrays: names of arrays whose entries the formula defines: h_0 is the first value of h, and no name h0.

    Example:
        >>> glyphs = Glyphs(["x1", "x_1", "sigma"])
        >>> glyphs.name("x1"), glyphs.name("x_1"), glyphs.is_free(r"\sigma\left({0}\right)")
        ('x_{1}', '\\mathtt{x\\_1}', False)
    """

    def __init__(self, read: Iterable[str], beside: Iterable[str] = (), arrays: Iterable[str] = ()) -> None:
        names = tuple(dict.fromkeys(read))
        known = _looks(tuple(beside))
        own = _looks(tuple(n for n in names if name_parts(n) not in known.first))
        self._layers = known, own
        self._numbers = {parts for parts in map(name_parts, names) if parts in _NUMBERS}
        entries = set(map(name_parts, arrays))
        self._texts: dict[str, str] = {}
        for n in names:
            parts = name_parts(n)
            entry = parts[:-1] in entries and parts[-1] not in _ACCENTS
            own = self._looks_like(parts) == n and not entry
            self._texts[n] = latex_name(n) if own else _verbatim(n)

    def _looks_like(self, parts: tuple[str, ...]) -> str | None:
        """Return the name that is printed as a letter with subscripts."""
        known, own = self._layers
        return None if parts in self._numbers else known.first.get(parts) or own.first.get(parts)

    def texts(self) -> set[str]:
        """Return the texts that stand for names."""
        return {
            *self._texts.values(),
            *(latex_name(n) for looks in self._layers for n in looks.first.values()),
        }

    def name(self, name: str) -> str:
        """Return the glyph of a name."""
        return self._texts.get(name) or latex_name(name)

    def is_free(self, template: str) -> bool:
        """Tell whether no name looks like a letter of a function or constant."""
        return not any(
            self._looks_like((letter,))
            or (scripted and any(letter in looks.letters for looks in self._layers))
            for letter, scripted in _letters(template)
        )

    def looks_like_name(self, text: str) -> bool:
        """Tell whether a letter with scripts that is an entry or a power looks like a name."""
        plain = re.sub(r"\\(?:mathrm|left|right)", "", text).replace("+", "plus").replace("-", "minus")
        plain = re.sub(r"[\W_]", "", plain)
        return any(plain in looks.joined for looks in self._layers)

    def indices(self, letters: str, inside: str = "") -> dict[int, str]:
        """Return a table that replaces index letters that are names, or indices inside, by other letters."""
        replaced = {c for c in letters if self._looks_like((c,)) or c in inside}
        free = (c for c in _INDICES if c not in letters + inside and not self._looks_like((c,)))
        return str.maketrans(dict(zip(sorted(replaced), free, strict=False)))

    def size(self, size: Size) -> str:
        r"""Return the size of an axis.

        Example:
            >>> from symgrad.ir.sizes import size_sum
            >>> glyphs = Glyphs(["n_rows", "n"])
            >>> glyphs.size("n_rows"), glyphs.size(size_sum(["n", 1]))
            ('n_{\\mathrm{rows}}', 'n + 1')
        """
        if isinstance(size, int):
            return str(size)
        if isinstance(size, str):
            return self.name(size)
        text = re.sub(NAME, lambda m: _SIZE_FUNCTIONS.get(m[0]) or self.name(m[0]), str(size))
        return text.replace("*", " ")

    def shape(self, shape: Shape) -> str:
        r"""Return a shape.

        Example:
            >>> from symgrad.ir.sizes import size_sum
            >>> Glyphs(["n"]).shape(("n", 5)), Glyphs(["n"]).shape((size_sum(["n", 1]), 5))
            ('n \\times 5', '\\left(n + 1\\right) \\times 5')
        """
        texts = list(map(self.size, shape))
        if len(texts) > 1:
            texts = [rf"\left({t}\right)" if " " in t else t for t in texts]
        return r" \times ".join(texts) or "1"


def _verbatim(name: str) -> str:
    return rf"\mathtt{{{name.replace('_', chr(92) + '_')}}}"


class Texts(dict[Node, Written]):
    """The text of each node so far; ``opaque`` nodes are written as names."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self.opaque: set[Node] = set()
        self.glyphs = glyphs
