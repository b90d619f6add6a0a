"""Find the values of named sizes in the shapes of arrays: with x : real[T + 1], an x of 4 rows makes T equal to 3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symgrad.ir.sizes import Extent, Shape, evaluate_size, names_of
from symgrad.support.errors import ShapeError

if TYPE_CHECKING:
    from symgrad.ir.graph import Node


class SizeSource(NamedTuple):
    """Where the value of a named size is found: the length of an axis is factor*name + constant."""

    array: int
    axis: int
    factor: int = 1
    constant: int = 0

    def solve(self, length: Any) -> Any:
        """Return the value of the name if the axis has a given length; not exact if there is none."""
        return (length - self.constant) // self.factor

    def source(self, length: str) -> str:
        """Return the Python expression for the value of the name, given the one for the length of the axis."""
        text = (
            f"{length} {'-' if self.constant > 0 else '+'} {abs(self.constant)}" if self.constant else length
        )
        return text if self.factor == 1 else f"{f'({text})' if self.constant else text}//{self.factor}"


def size_sources(shapes: Sequence[Shape]) -> dict[str, SizeSource]:
    """Return where each named size is found: in the first axis that has it as its length, else in one that computes it.

    Example:
        >>> from symgrad.ir.sizes import size_product, size_sum
        >>> size_sources([(size_sum([size_product([2, "T"]), 1]), "n"), ("n",)])
        {'n': SizeSource(array=0, axis=1, factor=1, constant=0), 'T': SizeSource(array=0, axis=0, factor=2, constant=1)}
    """
    places = [(k, axis, size) for k, shape in enumerate(shapes) for axis, size in enumerate(shape)]
    found: dict[str, SizeSource] = {}
    for k, axis, size in places:
        if isinstance(size, str):
            found.setdefault(size, SizeSource(k, axis))
    for k, axis, size in places:
        if isinstance(size, Extent):
            terms = dict(size.terms)
            constant = terms.pop((), 0)
            (monomial, factor), *others = terms.items()
            if not others and len(monomial) == 1 and isinstance(monomial[0], str) and factor > 0:
                found.setdefault(monomial[0], SizeSource(k, axis, factor, constant))
    return found


def lengths_of_names(shapes: Sequence[Shape], lengths: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return the values of the named sizes that axes of known length have; a length of None is not known.

    Args:
        shapes: the declared shapes.
        lengths: for each, the lengths of its axes.
    """
    declared = [
        tuple(0 if n is None else size for size, n in zip(shape, own, strict=True))
        for shape, own in zip(shapes, lengths, strict=True)
    ]
    return {name: s.solve(lengths[s.array][s.axis]) for name, s in size_sources(declared).items()}


def bind_sizes(
    arrays: Iterable[tuple[Node, tuple[int, ...]]], given: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the value of every named size.

    Args:
        arrays: nodes with the shapes of their values, which have as many axes.
        given: sizes by name.

    Raises:
        ShapeError: if no value of a name, or none that others have too, fits; the error names the arrays.
    """
    pairs = list(arrays)
    sources = size_sources([node.shape for node, _ in pairs])
    sizes = dict(given or {})
    for name, source in sources.items():
        if name not in sizes:
            sizes[name] = max(source.solve(pairs[source.array][1][source.axis]), 0)
    for node, shape in pairs:
        for size, found in zip(node.shape, shape, strict=True):
            if isinstance(size, int) or (
                isinstance(size, Extent) and not all(n in sizes for n in names_of(size))
            ):
                continue
            if evaluate_size(size, sizes) != found:
                raise _mismatch(size, found, node, shape, pairs, sizes)
    return sizes


def _mismatch(
    size: str | Extent,
    found: int,
    node: Node,
    shape: tuple[int, ...],
    pairs: Sequence[tuple[Node, tuple[int, ...]]],
    sizes: Mapping[str, int],
) -> ShapeError:
    """Return the error for an axis that does not have the length that other axes imply."""
    sources = size_sources([other.shape for other, _ in pairs])
    names = names_of(size)
    owners = {name: pairs[source.array] for name, source in sources.items() if name in names}
    places = {
        name: f"{sizes[name]} in {called(owners[name][0])} of shape {owners[name][1]}"
        if name in owners and sources[name].solve(owners[name][1][sources[name].axis]) == sizes[name]
        else f"{sizes[name]} as given"
        for name in names
    }
    whose = f"input {called(node)}" if node.op.name == "symbol" else called(node)
    own = isinstance(size, Extent) and all(owners.get(name, (None,))[0] is node for name in names)
    if size in places:
        what = f"size {size} is {places[str(size)]} and {found} in {called(node)} of shape {shape}"
    elif own:
        what = f"{whose} has shape {shape}, and {size} is not {found} for any size {names[0]}"
    else:
        since = " and ".join(f"{name} is {place}" for name, place in places.items())
        what = f"{whose} has shape {shape}, and {size} is {evaluate_size(size, sizes)}, since {since}"
    nodes = dict.fromkeys([*(owner for owner, _ in owners.values()), node])
    return ShapeError(what, expected=" and ".join(map(declared, nodes)))


def called(node: Node) -> str:
    """Return how messages refer to a node."""
    return f"'{node.name}'" if node.op.name == "symbol" else f"the value of {node!r}"


def declared(node: Node) -> str:
    """Return what was declared of a node."""
    return str(node.declaration) if node.op.name == "symbol" else f"the shape {node.shape}"
