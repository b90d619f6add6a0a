"""Substitute sizes for names of sizes, in sizes and in graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node, apply, size_leaf
from symgrad.ir.sizes import (
    Extent,
    Size,
    SizeAtom,
    SizedParameter,
    names_of,
    nonnegative,
    size_ceildiv,
    size_max,
    size_min,
    size_product,
    size_sum,
)
from symgrad.ir.traverse import drawn_anew, formulas_of, topological
from symgrad.ir.types import Domain


def size_with(size: Size, names: Mapping[str, Size]) -> Size:
    """Return a size with other sizes substituted for names.

    Example:
        >>> print(size_with(size_max(size_sum(["n", -1]), 0), {"n": size_sum(["m", 1])}))
        m
    """
    if isinstance(size, int):
        return size
    if isinstance(size, str):
        return names.get(size, size)
    return size_sum(
        size_product([c, *(_atom_with(atom, names) for atom in monomial)]) for monomial, c in size.terms
    )


def _atom_with(atom: str | SizeAtom, names: Mapping[str, Size]) -> Size:
    if isinstance(atom, str):
        return names.get(atom, atom)
    combine = {"max": size_max, "min": size_min, "ceildiv": size_ceildiv}[atom.op]
    return combine(size_with(atom.a, names), cast("Any", size_with(atom.b, names)))


def never_equal(a: Size, b: Size) -> bool:
    """Tell whether two sizes provably differ for all values of the names that are at least 1.

    Example:
        >>> never_equal(size_sum(["n", "m"]), "n"), never_equal(size_product(["n", "n"]), "n")
        (True, False)
    """
    gap = size_sum([a, size_product([-1, b])])
    gap = size_with(gap, {name: size_sum([name, 1]) for name in names_of(gap)})  # now the names are from 0 on
    return nonnegative(size_sum([gap, -1])) or nonnegative(size_sum([size_product([-1, gap]), -1]))


def resized(outputs: Iterable[Node], sizes: Mapping[str, Size]) -> list[Node]:
    """Return nodes with other sizes substituted for names, otherwise unchanged.

    Raises:
        ShapeError: if shapes do not fit with these sizes; `symgrad.ir.graph.apply` may raise other errors.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import REAL, Declaration
        >>> (x,) = resized([symbol(Declaration("x", REAL, shape=("n",)))], {"n": 3})
        >>> print(x.declaration)
        x : real[3]
    """
    outputs = list(outputs)
    if not sizes:
        return outputs
    done: dict[Node, Node] = {}
    for node in topological(outputs):
        if node.op is SYMBOL:
            declared = node.declaration
            shape = tuple(size_with(s, sizes) for s in node.shape)
            domain = domain_with(declared.domain, sizes)
            # This recurses only once, since no parameter depends on a random input.
            done[node] = drawn_anew(node, lambda p: resized(p, sizes), domain=domain, shape=shape)
        elif node.op is SIZE:
            done[node] = size_leaf(size_with(node.params[0], sizes))
        elif node.op in (NUMBER, CONSTANT):
            done[node] = node
        else:
            params = node.params if node.op.pointwise else _static(node.params, sizes)
            done[node] = apply(node.op, tuple(done[a] for a in node.args), params)
    return [done[o] for o in outputs]


def domain_with(domain: Domain, sizes: Mapping[str, Size]) -> Domain:
    """Return a domain with other sizes substituted for names."""
    low, high = (
        size_with(end, sizes) if isinstance(end, str | Extent) else end for end in (domain.low, domain.high)
    )
    return replace(domain, low=low, high=high)


def size_names(outputs: Iterable[Node]) -> list[str]:
    """Return the names of sizes that nodes depend on, sorted."""
    found: set[str] = set()
    outputs = list(outputs)
    for node in topological([*formulas_of(outputs), *outputs]):
        found.update(names_of(node.shape, node.params if node.op is SIZE else ()))
        if node.op is SYMBOL:
            found.update(node.declaration.values.sizes)
    return sorted(found)


def _static(value: Any, sizes: Mapping[str, Size]) -> Any:
    if isinstance(value, tuple):
        return tuple(_static(v, sizes) for v in cast("tuple[Any, ...]", value))
    if isinstance(value, SizedParameter):
        return value.with_sizes(sizes)
    return size_with(value, sizes) if isinstance(value, str | Extent) else value
