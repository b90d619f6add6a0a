"""Classify contractions: a matrix product, a trace, a sum, an outer product, ..., or index notation.

LaTeX, NumPy source and explanations share this spelling of an einsum node. The spelling may reorder operands: A B' v is
the same product for any order of the operands of the node. (Program text must parse to the same node: see
`ir/notation/arrays.py`.)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from symgrad.ir.graph import Node
from symgrad.ir.shapes import Triple
from symgrad.ir.sizes import Extent, Shape

ContractionForm = Literal[
    "product", "outer", "trace", "sum", "permute", "diagonal", "diag", "elementwise", "index"
]

Labels = tuple[int, ...]

Item: TypeAlias = "Triple | int | None"
"""One subscript: a slice, a position, or a new axis."""

_WHOLE: Triple = (None, None, 1)

_LETTERS = "ijklmnpqrstuvwxyzabcdefghoABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Factor(NamedTuple):
    """One operand of a product.

    Attributes:
        operand: the position of the operand among the arguments of the node.
        transposed: whether the operand is transposed (only matrices are).
    """

    operand: int
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class ContractionSpelling:
    """The spelling of a contraction.

    Attributes:
        form: its class:

            - ``product``: a chain of matrix products, ``parts[0]``. A vector can be the first factor, as a row, or the
              last factor, as a column, as in NumPy's ``@``.
            - ``outer``: the outer product of two columns. ``parts`` are two chains, each of which ends in a vector; the
              result is the first part times the transpose of the second part.
            - ``trace``: the trace of the chain in ``parts``; for one operand of any rank, over its first two axes.
            - ``sum``: the sum of the operand over ``axes``.
            - ``permute``: the operand with its axes in the order ``axes``, as in ``numpy.transpose``.
            - ``diagonal``: the diagonal of the operand, a square matrix.
            - ``diag``: the matrix that has the first operand, a vector, on its diagonal; the second is an identity.
            - ``elementwise``: the product of all operands entry by entry, summed over ``axes``. ``parts[0]`` are the
              operands in order; ``places`` are the axes of each operand, which is repeated along all other axes.
            - ``index``: none of the above; it can only be written in index notation.
        parts: chains of factors.
        axes: axes of an operand or of the result; see ``form``.
        places: for ``elementwise``, the axes of the product that each operand has.
        labels: for each operand its index letters.
        result: the index letters of the result.
    """

    form: ContractionForm
    parts: tuple[tuple[Factor, ...], ...]
    labels: tuple[str, ...]
    result: str
    axes: tuple[int, ...] = ()
    places: tuple[tuple[int, ...], ...] = ()

    @property
    def subscripts(self) -> str:
        """The subscripts of ``numpy.einsum``."""
        return f"{','.join(self.labels)}->{self.result}"

    @property
    def summed(self) -> str:
        """The index letters that are summed over, in order of appearance."""
        return "".join(dict.fromkeys(c for own in self.labels for c in own if c not in self.result))


def spell(node: Node) -> ContractionSpelling:
    """Return the spelling of an einsum node.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import REAL, Declaration
        >>> from symgrad.ops.numpy.products import matmul
        >>> X, w = symbol(Declaration("X", REAL, ("n", 5))), symbol(Declaration("w", REAL, (5,)))
        >>> s = spell(matmul(X, w))
        >>> s.form, s.subscripts
        ('product', 'ij,j->i')
    """
    labels, result = node.params
    last = node.args[-1]
    square = last.op.name == "eye" and last.params[0] == last.params[1]
    return spell_labels(labels, result, identity=len(node.args) == 2 and square)


@lru_cache(maxsize=4096)
def spell_labels(
    labels: tuple[Labels, ...], result: Labels, *, identity: bool = False
) -> ContractionSpelling:
    """Return the spelling of a contraction with these labels.

    Args:
        labels: the labels of each operand, numbered by first occurrence.
        result: the labels of the result.
        identity: whether there are two operands and the second is a square identity matrix.
    """
    count = 1 + max((label for own in labels for label in own), default=-1)
    # NumPy's einsum accepts only these letters; text that is only for readers may have others.
    letters = _LETTERS if count <= len(_LETTERS) else "".join(map(chr, range(0x100, 0x100 + count)))
    texts = tuple("".join(letters[label] for label in own) for own in labels)
    out = "".join(letters[label] for label in result)

    def build(
        form: ContractionForm, parts: Sequence[Sequence[Factor]] = (), **rest: Any
    ) -> ContractionSpelling:
        return ContractionSpelling(form, tuple(map(tuple, parts)), texts, out, **rest)

    whole = [Factor(i) for i in range(len(labels))]
    if len(labels) == 1:
        return _single(labels[0], result, build)
    if identity and labels == ((0,), (0, 1)) and result == (0, 1):
        return build("diag", [whole[:1]])
    if _is_matmul(labels, result):
        return build("product", [whole])
    places = _elementwise(labels, result)
    chains = _chains(labels, result)
    if chains is not None:
        is_trace = not result and len(labels[chains[0][0].operand]) == 2
        if not (is_trace and places):  # sum(A*B), rather than the trace of A B'
            return build("trace" if is_trace else "outer" if len(chains) == 2 else "product", chains)
    if places is not None:
        axes, rows = places
        return build("elementwise", [whole], axes=axes, places=rows)
    return build("index", [whole])


def _single(own: Labels, result: Labels, build: Any) -> ContractionSpelling:
    whole = [[Factor(0)]]
    if len(set(own)) == len(own):
        if len(result) == len(own):
            return build("permute", whole, axes=tuple(own.index(label) for label in result))
        if result == tuple(label for label in own if label in result):
            axes = tuple(i for i, label in enumerate(own) if label not in result)
            return build("sum", whole, axes=axes)
    elif own == (0, 0, *range(1, len(own) - 1)):
        if result == own[2:]:
            return build("trace", whole)
        if result == own[1:] == (0,):
            return build("diagonal", whole)
    return build("index", whole)


def _is_matmul(labels: tuple[Labels, ...], result: Labels) -> bool:
    """Tell whether this is ``a @ b``, batch axes included."""
    if len(labels) != 2:
        return False
    a, b = map(len, labels)
    if not a or not b:
        return False
    batch = max(a, b) - 2
    lead = [max(n - 2, 0) for n in (a, b)]
    row, middle, column = ["row"] * (a > 1), "middle", ["column"] * (b > 1)
    left: list[Any] = [*range(batch - lead[0], batch), *row, middle]
    right: list[Any] = [*range(batch - lead[1], batch), *([middle] if b > 1 else []), *(column or [middle])]
    names: dict[Any, int] = {}
    for label in [*left, *right]:
        names.setdefault(label, len(names))
    wanted = [*range(max(batch, 0)), *row, *column]
    return labels == (
        tuple(names[label] for label in left),
        tuple(names[label] for label in right),
    ) and result == tuple(names[label] for label in wanted)


def _chains(labels: tuple[Labels, ...], result: Labels) -> list[list[Factor]] | None:
    """Return the chains of matrix products of a contraction; None for any other contraction.

    If every label occurs twice, counting both operands and result, then the operands are edges of a graph on the labels
    that consists of paths (and of cycles, which are traces).
    """
    places = [*(label for own in labels for label in own), *result]
    if any(len(own) not in (1, 2) or len(set(own)) != len(own) for own in labels) or len(result) > 2:
        return None
    if any(places.count(label) != 2 for label in places):
        return None
    left = list(range(len(labels)))

    def walk(label: int) -> list[Factor]:
        chain: list[Factor] = []
        while (found := next((k for k in left if label in labels[k]), None)) is not None:
            left.remove(found)
            own = labels[found]
            chain.append(Factor(found, len(own) == 2 and own[1] == label))
            if len(own) == 1:
                break
            label = own[0] if own[1] == label else own[1]
            if label in result:
                break
        return chain

    if result:
        chains = [walk(result[0])]
        if len(result) == 2 and len(labels[chains[0][-1].operand]) == 1:
            chains.append(walk(result[1]))
    else:
        start = next((k for k in left if len(labels[k]) == 1), None)
        if start is None:
            chains = [walk(labels[0][0])]
        else:
            left.remove(start)
            chains = [[Factor(start), *walk(labels[start][0])]]
    return None if left else chains


def _elementwise(
    labels: tuple[Labels, ...], result: Labels
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]] | None:
    """Return the summed axes and the places of operands, if one operand has all labels, in the order of all others.

    Return None otherwise.
    """
    full = max(labels, key=len)
    if len(set(full)) != len(full) or result != tuple(label for label in full if label in result):
        return None
    places: list[tuple[int, ...]] = []
    for own in labels:
        if not set(own) <= set(full):
            return None
        rows = tuple(full.index(label) for label in own)
        if list(rows) != sorted(set(rows)):
            return None
        places.append(rows)
    return tuple(i for i, label in enumerate(full) if label not in result), tuple(places)


def subscript(node: Node, named: Collection[Node] = ()) -> tuple[Node, tuple[Item, ...]] | None:
    """Return a slice, or a reshape that adds and drops axes of length 1, as a subscript ``x[...]``.

    Args:
        node: a slice or a reshape.
        named: nodes with a name; a reshape of a named slice is a subscript of the name.

    Returns:
        x and the items: for each, (start, stop, step) for a slice, an int that drops an axis, or None for a new axis.
        None if the node is not a subscript.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import REAL, Declaration
        >>> from symgrad.ops.numpy.subscripts import index
        >>> x = symbol(Declaration("x", REAL, (3, "n")))
        >>> subscript(index(x, (0, slice(1, None), None)))[1]
        (0, (1, None, 1), None)
    """
    inner = node.args[0] if node.op.name == "reshape" else node
    sliced = inner.op.name == "slice" and (inner is node or inner not in named)
    base = inner.args[0] if sliced else inner
    triples: tuple[Triple, ...] = inner.params[0] if sliced else (_WHOLE,) * len(inner.shape)
    long = [size for size in inner.shape if size != 1]
    if long != [size for size in node.shape if size != 1]:
        return None
    items: list[Item] = []
    before, after = _units(inner.shape), _units(node.shape)
    rest = iter(triples)
    for k, (mine, wanted) in enumerate(zip(before, after, strict=True)):
        group = [next(rest) for _ in range(mine)]
        # If there are several axes of length 1, those that a slice has shortened are dropped first.
        dropped = sorted(range(mine), key=lambda i: group[i] == _WHOLE)[: max(mine - wanted, 0)]
        for i, triple in enumerate(group):
            start, _, step = triple
            if i in dropped and (step < 0 or isinstance(start, str | Extent)):
                return None
            items.append((start or 0) if i in dropped and not isinstance(start, str | Extent) else triple)
        items += [None] * (wanted - mine)
        if k < len(long):
            items.append(next(rest))
    return base, tuple(items)


def _units(shape: Shape) -> list[int]:
    """Return the number of axes of length 1 before each axis of another length, and after the last one."""
    counts = [0]
    for size in shape:
        if size == 1:
            counts[-1] += 1
        else:
            counts.append(0)
    return counts
