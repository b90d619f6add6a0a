"""Properties of a random input: its ends, mean, variance, density and standard form, and draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.ir.graph import SYMBOL, Node, as_node, size_node, symbol
from symgrad.ir.sizes import Extent
from symgrad.ir.types import Declaration, Distribution
from symgrad.ops.random.family import FAMILIES, Family


def _read(source: Node) -> tuple[Family, list[Node]] | None:
    """Return the record of the family of a random input, and its parameters; None for any other input."""
    distribution = source.declaration.distribution if source.op is SYMBOL else None
    if distribution is None:
        return None
    return FAMILIES[distribution.name], [as_node(p) for p in distribution.parameters]


def _of(function: Any, arguments: Sequence[Any]) -> Any:
    """Call a function of a record, whose number of arguments depends on the family."""
    return function(*arguments)


def mean(source: Node) -> Node | None:
    r"""Return the mean of each entry of a random input, in the shape of the input or a shape that broadcasts to it.

    Returns:
        None for an input that is not random, and for a distribution without a mean.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("s : positive\nu ~ LogNormal(-s**2/2, s)\nw ~ Cauchy(0, s)")
        >>> print(str_text(mean(p["u"])), mean(p["w"]))
        exp(-s**2/2 + 1/2*s**2) None
    """
    found = _read(source)
    return None if found is None or found[0].mean is None else _of(found[0].mean, found[1])


def variance(source: Node) -> Node | None:
    """Return the variance of each entry of a random input; see `mean`."""
    found = _read(source)
    return None if found is None or found[0].variance is None else _of(found[0].variance, found[1])


def density(source: Node, value: Node) -> Node | None:
    r"""Return the density of a random input at a value, or the probability of an integer.

    Args:
        source: the random input.
        value: the value; an array has the density of each entry.

    Returns:
        None for an input that is not random.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("t : real\nu ~ Exponential(2)")
        >>> str_text(density(p["u"], p["t"]))
        'where(0 < t, 2*exp(-2*t), 0)'
    """
    found = _read(source)
    return None if found is None else _of(found[0].density, (value, *found[1]))


def ends(source: Node) -> tuple[Node | None, Node | None] | None:
    r"""Return the ends of the support of a random input, with None for no end; ends may depend on parameters.

    Args:
        source: the random input.

    Returns:
        None for an input that is not random.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("a : real\nu ~ Uniform(a, a + 1)\nv ~ Exponential(2)")
        >>> [str_text(end) for end in ends(p["u"])], ends(p["v"])
        (['a', 'a + 1'], (<0>, None))
    """
    distribution = source.declaration.distribution if source.op is SYMBOL else None
    if distribution is None:
        return None
    support = distribution.family.support
    if not callable(support):
        low, high = (distribution.family.parameters.index(name) for name in support)
        return as_node(distribution.parameters[low]), as_node(distribution.parameters[high])
    domain = distribution.support
    low, high = (
        size_node(end) if isinstance(end, str | Extent) else None if end is None else as_node(end)
        for end in (domain.low, domain.high)
    )
    return low, high


@dataclass(frozen=True, slots=True)
class Standard:
    """A random input as a transformation of a draw from a standard distribution.

    Attributes:
        draw: the standard random input.
        value: the random input, as a transformation of the draw.
    """

    draw: Node
    value: Node


def standard_form(source: Node, name: str) -> Standard | None:
    r"""Return a random input as a smooth function of its parameters and of a standard draw.

    Args:
        source: the random input.
        name: the name of the standard draw.

    Returns:
        None if there is no such function, as for integers.

    Example:
        >>> from symgrad.frontend.text import parse_program
        >>> from symgrad.ir.notation.printer import str_text
        >>> p = parse_program("m, s : positive\nz ~ Normal(m, s)")
        >>> made = standard_form(p["z"], "eps")
        >>> print(made.draw.declaration, "|", str_text(made.value))
        eps ~ Normal(0, 1) | m + s*eps
    """
    found = _read(source)
    if found is None or found[0].standard is None:
        return None
    family, parameters = found
    of, standard = _of(family.standard, parameters)
    made = tuple(p.value if p.is_number() else p for p in standard)
    draw = symbol(Declaration(name, shape=source.shape, distribution=Distribution(of, made)))
    return Standard(draw, _of(family.transform, (draw, *parameters)))


def drawn(
    distribution: Distribution,
    generator: Any,
    shape: int | tuple[int, ...],
    values: Mapping[Node, Any] = {},
) -> Any:
    """Return draws from a distribution.

    Args:
        distribution: the distribution.
        generator: a ``numpy.random.Generator``.
        shape: the shape of the array of draws.
        values: the values of the parameters that are formulas.

    Raises:
        ShapeError: if more distinct positions are drawn than there are.

    Example:
        >>> import numpy as np
        >>> sorted(int(k) for k in drawn(Distribution("Permutation", (3,)), np.random.default_rng(0), 3))
        [0, 1, 2]
    """
    parameters = [np.asarray(values[p] if isinstance(p, Node) else float(p)) for p in distribution.parameters]
    return _of(FAMILIES[distribution.name].draw, (generator, shape, *parameters))
