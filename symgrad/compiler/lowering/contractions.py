"""Contract operands in pairs, in a cheap order (opt_einsum), with products of matrices laid out for BLAS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from symgrad.ir.graph import OPS, Node, apply, as_node, number, size_leaf
from symgrad.ir.sizes import Size, evaluate_size, names_of, size_product

_GUESS = 256
"""The value of a named size in cost estimates; most named sizes are batches."""


def estimate(size: Size) -> int:
    """Estimate a size as a number, to compare costs."""
    return max(evaluate_size(size, dict.fromkeys(names_of(size), _GUESS)), 1)


def op(name: str, *args: Node) -> Node:
    """Apply an op to nodes."""
    return apply(OPS[name], args)


_Labels = tuple[int, ...]

_Product = tuple[Node, Node, _Labels, _Labels, frozenset[int]]
"""Two operands, their axes, and the axes of the product."""

MatrixProducts = dict[_Product, tuple[Node, _Labels]]
"""The products of matrices of a program, with the order of their axes, by which common subexpressions are found."""


def is_product_of_matrices(labels: tuple[_Labels, ...], result: _Labels) -> bool:
    """Tell whether a contraction of two operands is a (batched) product of matrices."""
    if len(labels) != 2:
        return False
    a, b = map(set, labels)
    kept = set(result)
    return (
        all(len(own) == len(set(own)) for own in labels)
        and bool((a & b) - kept)
        and bool((a - b) & kept)
        and bool((b - a) & kept)
        and a ^ b <= kept
    )


def contraction(node: Node, args: tuple[Node, ...], products: MatrixProducts) -> Node:
    """Rewrite an einsum in the smaller set of ops that `normal_form.py` produces.

    Args:
        node: the einsum.
        args: its operands, in the smaller vocabulary.
        products: the products of matrices of the program so far.
    """
    labels, result = node.params
    operands, axes = _absorb(args, labels)
    sizes: dict[int, Size] = {}
    for own, old in zip(labels, node.args, strict=True):
        sizes.update(zip(own, old.shape, strict=True))
    found, kept = _contract(operands, axes, result, sizes, products)
    if kept != result:  # an operand that was broadcast along an axis has lost the axis
        spread = tuple(sizes[k] if k in kept else 1 for k in result)
        if found.shape != spread:
            found = apply(OPS["reshape"], (found,), (spread,))
        found = apply(OPS["broadcast_to"], (found,), (node.shape,))
    return found


def _absorb(args: Sequence[Node], labels: Sequence[_Labels]) -> tuple[list[Node], list[_Labels]]:
    """Absorb transposes and broadcasts of operands into the labels."""
    operands: list[Node] = []
    axes: list[_Labels] = []
    for x, own in zip(args, labels, strict=True):
        while True:
            if x.op.name == "broadcast_to":
                inner = x.args[0]
                lead = len(x.shape) - len(inner.shape)
                keep = [j for j, size in enumerate(inner.shape) if not (size == 1 and x.shape[j + lead] != 1)]
                own = tuple(own[j + lead] for j in keep)
                shape = tuple(inner.shape[j] for j in keep)
                x = inner if inner.shape == shape else apply(OPS["reshape"], (inner,), (shape,))
            elif x.op.name == "einsum" and len(x.args) == 1 and set(x.params[0][0]) == set(x.params[1]):
                names = dict(zip(x.params[1], own, strict=True))
                own = tuple(names[label] for label in x.params[0][0])
                x = x.args[0]
            else:
                break
        operands.append(x)
        axes.append(own)
    return operands, axes


def _contract(
    operands: list[Node],
    axes: list[_Labels],
    result: _Labels,
    sizes: dict[int, Size],
    products: MatrixProducts,
) -> tuple[Node, _Labels]:
    """Contract operands, in pairs if that is cheaper. Labels that no operand has are missing in the result."""
    present = set[int]().union(*axes)
    absent = [k for k in sizes if k not in present and k not in result]
    kept = tuple(k for k in result if k in present)
    if absent:  # a sum over an axis that no operand has is a factor
        operands = [*operands, size_leaf(size_product(sizes[k] for k in absent))]
        axes = [*axes, ()]
    factors = [x for x, own in zip(operands, axes, strict=True) if not own]
    arrays = [(x, own) for x, own in zip(operands, axes, strict=True) if own]
    for step in _path(arrays, kept, sizes):
        pair = [arrays[i] for i in step]
        arrays = [entry for i, entry in enumerate(arrays) if i not in step]
        needed = set(kept).union(*(own for _, own in arrays))
        out = (
            kept
            if not arrays
            else tuple(k for k in dict.fromkeys(k for _, own in pair for k in own) if k in needed)
        )
        arrays.append((_binary(pair, out, products), out))
    found = arrays[0][0] if arrays else as_node(1)
    for factor in factors:
        found = op("mul", factor, found) if not found.is_number(1) else factor
    return found, kept


def _path(
    arrays: list[tuple[Node, _Labels]], kept: _Labels, sizes: dict[int, Size]
) -> Iterable[tuple[int, ...]]:
    everything = set[int]().union(*(own for _, own in arrays))
    if len(arrays) <= 2 or any(set(own) == everything for _, own in arrays):
        # One loop nest over the largest operand multiplies all operands.
        return [tuple(range(len(arrays)))] if arrays else []
    planner: Any = import_module("opt_einsum")
    names = {k: chr(ord("a") + i) if i < 26 else chr(0x100 + i) for i, k in enumerate(sorted(everything))}
    spelled = ",".join("".join(names[k] for k in own) for _, own in arrays)
    spelled += "->" + "".join(names[k] for k in kept)
    shapes = [tuple(estimate(sizes[k]) for k in own) for _, own in arrays]
    path = planner.contract_path(spelled, *shapes, shapes=True, optimize="auto")[0]
    return [tuple(map(int, step)) for step in path]


def _binary(pair: list[tuple[Node, _Labels]], out: _Labels, products: MatrixProducts) -> Node:
    """Return one step of a contraction. Axes that only one operand has are summed before a product of matrices."""
    labels = tuple(own for _, own in pair)
    operands = [x for x, _ in pair]
    if len(pair) == 2:
        a, b = map(set, labels)
        if (a & b) - set(out) and (a - b) & set(out) and (b - a) & set(out):
            summed: list[_Labels] = []
            for i, other in enumerate((b, a)):
                own = labels[i]
                left = tuple(k for k in dict.fromkeys(own) if k in other or k in out)
                if left != own:
                    operands[i] = apply(OPS["einsum"], (operands[i],), ((own,), left))
                summed.append(left)
            labels = tuple(summed)
            return _known_product(operands, (labels[0], labels[1]), out, products)
    if len(operands) == 1 and labels[0] == out:
        return operands[0]
    return apply(OPS["einsum"], tuple(operands), (labels, out))


def _known_product(
    operands: list[Node], labels: tuple[_Labels, _Labels], out: _Labels, products: MatrixProducts
) -> Node:
    """Return a product of matrices; reuse an equal product, or its transpose."""
    keys: list[tuple[_Product, _Labels]] = []
    for i, j in ((0, 1), (1, 0)):
        names: dict[int, int] = {}
        for k in (*labels[i], *labels[j]):
            names.setdefault(k, len(names))
        spelled = tuple(names[k] for k in labels[i]), tuple(names[k] for k in labels[j])
        keys.append(
            (
                (operands[i], operands[j], *spelled, frozenset(names[k] for k in out)),
                tuple(names[k] for k in out),
            )
        )
    for key, wanted in keys:
        if key in products:
            found, had = products[key]
            return found if had == wanted else apply(OPS["einsum"], (found,), ((had,), wanted))
    product = laid_out(operands, labels, out)
    products[keys[0][0]] = product, keys[0][1]
    return product


def _groups(labels: tuple[_Labels, _Labels], out: _Labels) -> tuple[_Labels, _Labels, _Labels, _Labels]:
    """Return the batch axes, the axes of only the left and of only the right operand, and the contracted axes."""
    a, b = labels
    batch = tuple(k for k in out if k in a and k in b)
    left = tuple(k for k in out if k not in b)
    right = tuple(k for k in out if k not in a)
    return batch, left, right, tuple(k for k in a if k in b and k not in out)


def fits(labels: tuple[_Labels, _Labels], out: _Labels) -> bool:
    """Tell whether BLAS can read and write a product of matrices with these axes without copies."""
    _, left, right, summed = _groups(labels, out)
    return _fits(labels[0], left, summed) and _fits(labels[1], summed, right) and _fits(out, left, right)


def laid_out(factors: Sequence[Node], labels: tuple[_Labels, _Labels], out: _Labels) -> Node:
    """Return a product of matrices in layouts that BLAS can read and write: transpose operands and result if needed."""
    operands = list(factors)
    batch, left, right, summed = _groups(labels, out)
    if any(x.dtype == "int" for x in operands) and any(x.dtype == "real" for x in operands):
        operands = [op("div", x, number(1)) if x.dtype == "int" else x for x in operands]
    fitting: list[_Labels] = []
    for i, (rows, columns) in enumerate(((left, summed), (summed, right))):
        own = labels[i]
        if not _fits(own, rows, columns):
            own = (*batch, *rows, *columns)
            operands[i] = apply(OPS["einsum"], (operands[i],), ((labels[i],), own))
        fitting.append(own)
    stored = out if _fits(out, left, right) else (*batch, *left, *right)
    found = apply(OPS["einsum"], tuple(operands), (tuple(fitting), stored))
    return found if stored == out else apply(OPS["einsum"], (found,), ((stored,), out))


def _fits(own: _Labels, rows: _Labels, columns: _Labels) -> bool:
    """Tell whether the axes of rows and of columns are each adjacent and in order, and one of them is the last axis."""
    n, m = len(rows), len(columns)
    runs = [own[i : i + n] for i in range(len(own))], [own[i : i + m] for i in range(len(own))]
    return rows in runs[0] and columns in runs[1] and own[-1] in (rows[-1], columns[-1])
