r"""The order in which lines are read: what is explained below a formula, y = a x where a = 2, is read before it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from symgrad.frontend.latex.meaning.names import entry_name, without_power
from symgrad.frontend.latex.syntax.tree import Bracket, LatexLine, ProductTree, Tree
from symgrad.frontend.latex.syntax.words import trees_in
from symgrad.support.traversal import postorder


def reading_order(
    lines: Sequence[LatexLine], key_of: Callable[[Tree], Hashable | None]
) -> Iterator[LatexLine]:
    r"""Yield lines so that explanations precede the formulas above them; all others keep their order.

    Args:
        lines: the lines.
        key_of: a function that returns what identifies a name or a derivative; None for other trees.

    Example:
        >>> from symgrad.frontend.latex.document import latex_statements
        >>> from symgrad.frontend.latex.meaning.names import spelled_name
        >>> from symgrad.support.source import Source
        >>> source = Source(r"y = a b^2 \text{ where } b = \sin(a), a = 3")
        >>> [source.text[line.start : line.end] for line in reading_order(latex_statements(source), spelled_name)]
        ['a = 3', 'b = \\sin(a)', 'y = a b^2']
    """
    for block in _blocks(lines):
        explained = [k for k, line in enumerate(block) if line.explains]
        if not explained:
            yield from block
            continue
        own = [{*_defined(line, key_of)} for line in block]
        definition = {key: k for k in reversed(range(len(block))) for key in own[k]}
        needs = [
            [
                definition[key]
                for tree in trees_in(line.sides)
                for key in {
                    key_of(part) for part in (tree, without_power(tree), *(entry_name(tree) or ())[:1])
                }
                if key in definition and key not in mine
            ]
            for line, mine in zip(block, own, strict=True)
        ]
        places = [[at for at in needs[k] if at < k or block[at].explains] for k in range(len(block))]
        yield from (block[k] for k in postorder([*explained, *range(len(block))], places.__getitem__))


def _blocks(lines: Sequence[LatexLine]) -> Iterator[Sequence[LatexLine]]:
    """Yield formulas with the explanations that follow them."""
    start = 0
    for k in range(1, len(lines) + 1):
        if k == len(lines) or (lines[k - 1].explains and not lines[k].explains):
            yield lines[start:k]
            start = k


def _defined(line: LatexLine, key_of: Callable[[Tree], Hashable | None]) -> Iterator[Hashable]:
    """Yield what a line defines: a name, a function, a derivative; h_i = ... defines h and perhaps h_i."""
    for left in line.defined:
        if isinstance(left, ProductTree) and len(left.factors) == 2 and isinstance(left.factors[1], Bracket):
            left = left.factors[0]
        found = entry_name(left)
        trees = [left] if found is None else [left, found[0]]
        yield from (key for tree in trees if (key := key_of(tree)) is not None)
