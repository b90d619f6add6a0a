r"""Convert letters with accents and scripts to names: \hat{y}_{t+1} is y_hat_t_plus_1, unless a declared name fits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symgrad.frontend.latex.syntax.tree import Accent, Bracket, NumberTree, Scripted, Tree, Word
from symgrad.frontend.tokens.lexer import KEYWORDS
from symgrad.frontend.tokens.lexer_errors import FORBIDDEN
from symgrad.ir.notation.name_parts import name_parts

_LAMBDAS = ("lam", "lamda", "lambd", "lmbda")


def writable(name: str) -> str:
    """Return a name as the program notation can write it: keywords of Python get an underscore.

    Example:
        >>> writable("lambda"), writable("mu")
        ('lambda_', 'mu')
    """
    return f"{name}_" if name in FORBIDDEN or name in KEYWORDS else name


class KnownNames:
    """Known names, which are found by their looks.

    Args:
        names: the names.
        verbatim: the names that the text writes in typewriter letters, because other names look like them.
        spell: whether a name with a Greek letter looks like one that spells it.
    """

    def __init__(self, names: Iterable[str], verbatim: Iterable[str] = (), *, spell: bool = True) -> None:
        self._spell = spell
        self._verbatim = frozenset(verbatim)
        self._exact: set[str] = set()
        self._by_key: dict[tuple[str, ...], str] = {}
        self._by_letters: dict[str, str] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Add a name; of several names that look alike, the first one is found."""
        self._exact.add(name)
        if name in self._verbatim:
            return
        key = name_parts(name, spell=self._spell)
        self._by_key.setdefault(key, name)
        self._by_letters.setdefault("".join(key), name)

    def find(self, spelled: str, *, exact: bool = False) -> str | None:
        """Return the known name that looks like a spelling.

        Example:
            >>> KnownNames(["w12", "z_inner"]).find("w_12"), KnownNames(["w12"]).find("v")
            ('w12', None)
        """
        if exact:
            return spelled if spelled in self._exact else None
        key = name_parts(spelled, spell=self._spell)
        found = self._by_key.get(key)
        if found is None and len(key) > 1:
            found = self._by_letters.get("".join(key))
        if found is None and key[:1] == (
            "lambda",
        ):  # a keyword of Python, which programs spell with an underscore
            return next((n for head in _LAMBDAS if (n := self._by_key.get((head, *key[1:])))), None)
        return found if found is not None or not spelled.startswith("var") else self.find(spelled[3:])


def base_of(tree: Tree) -> Word | None:
    r"""Return the letter below the accents of a name: y for \hat{\mathbf{y}}; None if the tree is not a name."""
    if isinstance(tree, Scripted):
        tree = tree.base
    while not isinstance(tree, Word):
        if isinstance(tree, Accent):
            tree = tree.body
        elif isinstance(tree, Bracket) and tree.kind == "{}":
            tree = tree.items[0]
        else:
            return None
    return tree


def spelled_name(tree: Tree, *, apart: bool = False) -> str | None:
    r"""Return the name that a letter with accents and scripts spells; None if the tree is not a name.

    Args:
        tree: a letter, perhaps with accents, a subscript, and a mark or a number in parentheses above.
        apart: whether letters of different alphabets are different names.

    Example:
        >>> spelled_name(Accent(0, 7, "hat", Word(5, 6, "y")))
        'y_hat'
    """
    parts: list[str] = []
    if isinstance(tree, Scripted):
        if (tree.below is not None or tree.above is not None) and not (tree.below_text or tree.above_text):
            return None
        parts = [tree.below_text, tree.above_text, *["prime"] * tree.primes]
        tree = tree.base
    while True:
        if isinstance(tree, Accent):
            parts.insert(0, tree.mark)
            tree = tree.body
        elif isinstance(tree, Bracket) and tree.kind == "{}":
            tree = tree.items[0]
        elif isinstance(tree, Word):
            style = (
                tree.style
                if apart and tree.style in ("bold", "script", "blackboard", "fraktur", "sans")
                else ""
            )
            return writable("_".join(p for p in (tree.text.replace("-", "_"), style, *parts) if p))
        else:
            return None


def entry_name(tree: Tree) -> tuple[Scripted | Tree, Tree] | None:
    r"""Return the name of an array and the last part of its subscript: h_1 and t for h_{1, t}; None for other trees."""
    if not isinstance(tree, Scripted) or not tree.below or tree.primes:
        return None
    *first, last = tree.below
    if not first:
        return tree.base, last
    if not all(isinstance(part, Word | NumberTree) for part in first):
        return None
    text = "_".join(part.text for part in first if isinstance(part, Word | NumberTree))
    return Scripted(tree.start, first[-1].end, tree.base, (*first,), None, 0, text), last


def without_power(tree: Tree) -> Tree:
    """Return a letter with its subscript, without what stands above it."""
    return replace(tree, above=None, above_text="") if isinstance(tree, Scripted) else tree
