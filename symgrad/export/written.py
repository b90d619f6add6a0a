"""A program as text that reads back as the same program, and programs with their noise fixed."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.api.handles.expr import Expr
from symgrad.errors import DomainError, UsageError
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.traverse import substitute, symbols_of
from symgrad.ops.array.layout import full
from symgrad.reasons.noise.draws import mean_of
from symgrad.render.python_text import free_name
from symgrad.spell.printer import program_text

__all__ = ["at_means", "text_of"]


def text_of(exprs: Sequence[Expr], inputs: Sequence[Node]) -> tuple[str, list[str]]:
    r"""Return a program that computes expressions, and the names that they have in it.

    Args:
        exprs: what is computed.
        inputs: what is declared first, in this order.

    Example:
        >>> import symgrad as sg
        >>> p = sg.parse("x : positive; h = sin(x); y = h*(h + 1)")
        >>> text, names = text_of([p["y"], p["h"] + 1], [p["x"].node])
        >>> print(text, names, sep="\n")
        x : positive
        h = sin(x)
        y_ = h + 1
        y = h*y_
        ['y', 'y_']
    """
    known = {
        n: t
        for e in reversed(exprs)
        for listing in e.listings
        for n, t in listing.name_of().items()
        if n.args
    }
    nodes = [e.node for e in exprs]
    taken = {s.name for s in symbols_of([*inputs, *nodes])} | {str(size) for s in inputs for size in s.shape}
    names: dict[Node, str] = {}
    texts: list[str] = []
    for node in nodes:
        if node in known and node not in names and known[node] not in taken:
            names[node] = known[node]
        elif node not in names or node.op is SYMBOL:
            names[node] = free_name("y", {*taken, *known.values()})
        taken.add(names[node])
        texts.append(names[node])
    rest = {n: t for n, t in known.items() if n not in names and t not in taken}
    outputs = dict(zip(texts, nodes, strict=True))
    return program_text(outputs, rest, declared=inputs), texts


def at_means(outputs: Sequence[Node], noise: Sequence[Node]) -> tuple[Node, ...]:
    """Return outputs where random inputs are their means.

    Raises:
        UsageError: where they have no value there, such as a position that is half a number.
    """
    table: dict[Node, Node] = {}
    for s in noise:
        mean = mean_of(s)
        assert mean is not None, s
        table[s] = full(mean, s.shape)
    try:
        return tuple(substitute(list(outputs), table))
    except DomainError as error:
        raise UsageError(
            f"the noise cannot be fixed at its mean: {error.what}",
            expected="noise that takes its mean as a value",
            cure="list it among the inputs, and pass what it is to be",
        ) from None
