"""Find the inputs of a call: symbols that are read, and symbols that only provide sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import index
from typing import Any

from symgrad.api.handles.base import Handle
from symgrad.ir.bounds import MOST_ENTRIES
from symgrad.ir.graph import SIZE, SYMBOL, Node
from symgrad.ir.listing import Listing, spellings_of
from symgrad.ir.sizes import extent_text, names_of
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.values.bound_sizes import size_sources
from symgrad.support.errors import ArrayTypeError, MissingInputError, ShapeError


def ordered_symbols(exprs: Iterable[Handle]) -> list[Node]:
    """Return the symbols that expressions read: declared symbols in program order, then all others by first use."""
    exprs = list(exprs)
    return _ordered(exprs, symbols_of([e.node for e in exprs]))


def inputs_of(exprs: Iterable[Handle], offered: Collection[str] = ()) -> list[Node]:
    """Return the symbols that are needed to compute expressions, in the order of `ordered_symbols`.

    A size that no symbol of the formula has comes from the first known symbol with an axis of that size. So the
    gradient of sum(X), an array of ones, needs X.

    Args:
        exprs: the expressions to compute.
        offered: names to prefer among several such symbols.
    """
    exprs = list(exprs)
    needed = symbols_of([e.node for e in exprs])
    missing = unbound_sizes([e.node for e in exprs], needed)
    for candidate in sorted(known_symbols(exprs), key=lambda s: s.name not in offered):
        found = [size for size in missing if size in size_sources([candidate.shape])]
        if found and all(s.name != candidate.name for s in needed):
            needed.append(candidate)
            missing = [size for size in missing if size not in found]
    return _ordered(exprs, needed)


def known_symbols(exprs: Iterable[Handle]) -> list[Node]:
    """Return the symbols of the origins of expressions: their programs, and the differentiated formulas."""
    exprs = list(exprs)
    found = dict.fromkeys(s for listing in listings_of(exprs) for s in listing.symbols.values())
    found.update(dict.fromkeys(n for n in topological(union(e.sources for e in exprs)) if n.op is SYMBOL))
    return list(found)


def listings_of(exprs: Iterable[Handle]) -> tuple[Listing, ...]:
    """Return the programs of expressions, each once."""
    return tuple({id(listing): listing for e in exprs for listing in e.listings}.values())


def program_names(exprs: Iterable[Handle]) -> list[str]:
    """Return the names in the programs of expressions, in their order."""
    return [name for listing in listings_of(exprs) for name in listing.names]


def number_texts(exprs: Iterable[Handle]) -> Mapping[Node, str]:
    """Return how the programs of expressions spell numbers; the first program takes precedence."""
    return spellings_of(listings_of(exprs))


def union(parts: Iterable[tuple[Node, ...]]) -> tuple[Node, ...]:
    """Return the nodes of several tuples, each once; the same tuple object if the nonempty ones are equal."""
    distinct: list[tuple[Node, ...]] = []
    for part in parts:
        if part and (not distinct or part != distinct[-1]):
            distinct.append(part)
    return distinct[0] if len(distinct) == 1 else tuple(dict.fromkeys(n for part in distinct for n in part))


def unbound_sizes(outputs: Sequence[Node], inputs: Iterable[Node]) -> list[str]:
    """Return the names of sizes that the outputs need and no input has in its shape."""
    bound = size_sources([s.shape for s in inputs])
    found: dict[str, None] = {}
    for node in topological(outputs):
        if node.op is SIZE or (node.params and not node.op.pointwise):
            found.update(dict.fromkeys(names_of(node.params)))
    return [name for name in found if name not in bound]


def sizes_by_name(
    exprs: Sequence[Handle], inputs: Sequence[Node], values: Mapping[str, Any]
) -> dict[str, int]:
    """Return sizes that are passed as numbers. A size is required if no input has it in its shape, else optional.

    Raises:
        MissingInputError: if a size that no input has is missing.
        ArrayTypeError: if a size is not a whole number.
        ShapeError: if a size is negative, or larger than any array.
    """
    unbound = unbound_sizes([e.node for e in exprs], inputs)
    shapes = [s.shape for s in (*inputs, *known_symbols(exprs))]
    names = dict.fromkeys([*unbound, *names_of(*shapes)])
    names |= dict.fromkeys(n for s in inputs for n in s.declaration.domain.sizes)
    found: dict[str, int] = {}
    for name in names:
        if name in values:
            found[name] = _length(name, values[name])
        elif name in unbound:
            raise MissingInputError(
                f"no value for the size {name}, which no input has in its shape", cure=f"pass {name}=..."
            )
    return found


def _length(name: str, value: Any) -> int:
    try:
        length = index(value)
    except TypeError:
        raise ArrayTypeError(f"the size {name} is {value!r}", expected="a whole number") from None
    if not 0 <= length <= MOST_ENTRIES:
        raise ShapeError(f"the size {name} is {extent_text(length)}", expected="a length from 0 to 2**60 - 1")
    return length


def _ordered(exprs: Sequence[Handle], symbols: Sequence[Node]) -> list[Node]:
    declared = [s for listing in listings_of(exprs) for s in listing.symbols.values()]
    rank = {s: i for i, s in enumerate(dict.fromkeys([*declared, *symbols]))}
    return sorted(symbols, key=rank.__getitem__)
