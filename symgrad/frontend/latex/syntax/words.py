r"""Words of letters that stand side by side: KL, lse, loss."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

from symgrad.frontend.latex.syntax.tree import Bracket, Command, LatexLine, ProductTree, Scripted, Tree, Word
from symgrad.support.traversal import postorder


def join_words(line: LatexLine, words: Collection[str]) -> LatexLine:
    r"""Return a line in which letters side by side that spell a word become this word, as in ``\mathrm``.

    Args:
        line: the line.
        words: the words that are names.

    Example:
        >>> from symgrad.frontend.latex.document import latex_statements
        >>> from symgrad.support.source import Source
        >>> (line,) = latex_statements(Source("x - lse"))
        >>> join_words(line, {"lse"}).sides[0].terms[1].text
        'lse'
    """
    return _with_products(line, lambda tree: _joined(tree, words))


def rename_called(line: LatexLine, letter: str, name: str) -> LatexLine:
    r"""Return a line in which a command before brackets is another name: of \pi(x) + 2\pi the first.

    Args:
        line: the line.
        letter: the name of the command.
        name: the name that it gets.

    Example:
        >>> from symgrad.frontend.latex.document import latex_statements
        >>> from symgrad.support.source import Source
        >>> (line,) = latex_statements(Source(r"\pi(x) + \pi"))
        >>> [str(w.text) for w in rename_called(line, "pi", "varpi").sides[0].terms[0].factors[:1]]
        ['varpi']
    """

    def renamed(tree: ProductTree) -> Tree:
        factors = [*tree.factors]
        for k, (factor, after) in enumerate(pairwise(factors)):
            base = factor.base if isinstance(factor, Scripted) else factor
            if not (isinstance(base, Command) and base.name == letter and not tree.signs[k + 1]):
                continue
            if isinstance(after, Bracket) and after.kind == "(":
                word = Word(base.start, base.end, name)
                factors[k] = replace(factor, base=word) if isinstance(factor, Scripted) else word
        return replace(tree, factors=tuple(factors))

    return _with_products(line, renamed)


def _with_products(line: LatexLine, change: Callable[[ProductTree], Tree]) -> LatexLine:
    """Return a line with its products changed, the inner ones first."""
    done: dict[Tree, Tree] = {}
    for tree in postorder(line.sides, parts_of):
        whole = replace(tree, **{f.name: _replaced(getattr(tree, f.name), done) for f in fields(tree)})
        done[tree] = change(whole) if isinstance(whole, ProductTree) else whole
    return replace(line, sides=tuple(done[side] for side in line.sides))


def parts_of(tree: Tree) -> Iterator[Tree]:
    """Yield the trees of which a tree consists."""
    pending: list[Any] = [getattr(tree, f.name) for f in fields(tree)][::-1]
    while pending:
        value = pending.pop()
        if isinstance(value, Tree):
            yield value
        elif isinstance(value, tuple):
            pending += value[::-1]


def trees_in(roots: Iterable[Tree]) -> Iterator[Tree]:
    """Yield trees and all their parts, a tree before its parts; trees are not hashed, which would recurse."""
    pending = [*roots][::-1]
    while pending:
        tree = pending.pop()
        yield tree
        pending += [*parts_of(tree)][::-1]


def _replaced(value: Any, done: dict[Tree, Tree]) -> Any:
    if isinstance(value, Tree):
        return done[value]
    return tuple(_replaced(v, done) for v in value) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownVariableType]  (of any field)


def _joined(tree: ProductTree, words: Collection[str]) -> Tree:
    factors, signs, adjacent = [*tree.factors], [*tree.signs], [*tree.adjacent]
    for word in words:
        for k in range(len(factors) - len(word), -1, -1):
            run = factors[k : k + len(word)]
            if "".join(map(_letter, run)) != word or any(signs[k + 1 : k + len(word)]):
                continue
            if not all(adjacent[k + 1 : k + len(word)]) or any(isinstance(f, Scripted) for f in run[:-1]):
                continue
            last, start = run[-1], run[0].start
            end = last.base.end if isinstance(last, Scripted) else last.end
            joined: Tree = Word(start, end, word, "", upright=True)
            if isinstance(last, Scripted):
                joined = replace(last, start=start, base=joined)
            factors[k : k + len(word)] = [joined]
            del signs[k + 1 : k + len(word)], adjacent[k + 1 : k + len(word)]
    if len(factors) == 1 and not signs[0]:
        return factors[0]
    return replace(tree, factors=tuple(factors), signs=tuple(signs), adjacent=tuple(adjacent))


def _letter(tree: Tree) -> str:
    """Return a single letter, perhaps with scripts; a blank for any other tree."""
    base = tree.base if isinstance(tree, Scripted) else tree
    return base.text if isinstance(base, Word) and len(base.text) == 1 and not base.style else " "
