"""Sizes, and graphs, in which names of sizes are replaced: by numbers, or by what is computed from other names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from symgrad.ir.graph import CONSTANT, NUMBER, SIZE, SYMBOL, Node, apply, size_leaf
from symgrad.ir.sizes import (
    Extent,
    Size,
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

__all__ = ["domain_with", "never_equal", "resized", "size_names", "size_with"]


def size_with(size: Size, names: Mapping[str, Size]) -> Size:
    """Return a size with other sizes in the place of names.

    Example:
        >>> print(size_with(size_max(size_sum(["n", -1]), 0), {"n": size_sum(["m", 1])}))
        m
    """
    if isinstance(size, int):
        return size
    if isinstance(size, str):
        return names.get(size, size)
    made = {"max": size_max, "min": size_min, "ceildiv": size_ceildiv}
    total: list[Size] = []
    for monomial, c in size.terms:
        factors: list[Size] = [c]
        for atom in monomial:
            if isinstance(atom, str):
                factors.append(names.get(atom, atom))
            else:
                factors.append(made[atom.op](size_with(atom.a, names), cast("Any", size_with(atom.b, names))))
        total.append(size_product(factors))
    return size_sum(total)


def never_equal(a: Size, b: Size) -> bool:
    """Tell whether two sizes differ whatever numbers from 1 on the names are; False for "not known".

    Example:
        >>> never_equal(size_sum(["n", "m"]), "n"), never_equal(size_product(["n", "n"]), "n")
        (True, False)
    """
    gap = size_sum([a, size_product([-1, b])])
    gap = size_with(gap, {name: size_sum([name, 1]) for name in names_of(gap)})  # names count from 0 now
    return nonnegative(size_sum([gap, -1])) or nonnegative(size_sum([size_product([-1, gap]), -1]))


def resized(outputs: Iterable[Node], sizes: Mapping[str, Size]) -> list[Node]:
    """Return nodes with other sizes in the place of names, everything else as it was written.

    Raises:
        ShapeError: if shapes do not fit with these sizes; other errors of making a node.

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
            # Not deeper than once: no parameter reads a random input.
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
    """Return a domain with other sizes in the place of names."""
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
    return size_with(value, sizes) if isinstance(value, str | Extent) else value
