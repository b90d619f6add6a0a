"""Check the parameters of a distribution that are formulas: their shapes, and the conditions on them.

`Distribution` itself checks numbers. A condition on formulas that never holds is an error; an undecided one is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symgrad.ir.graph import OPS, SIZE, SYMBOL, Node, as_node, symbol
from symgrad.ir.notation.printer import one_line
from symgrad.ir.shapes import broadcast_shapes
from symgrad.ir.sizes import Shape
from symgrad.ir.traverse import topological
from symgrad.ir.types import Declaration, Distribution, DistributionFamily, is_exact
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.layout import shape_text
from symgrad.ops.numpy.calls import expand_dims, identity, total
from symgrad.ops.random.laws import standard_form
from symgrad.rewrite.facts.inference import Conditions
from symgrad.support.errors import DeclarationError, ShapeError, SymgradError

_SIGNS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_ROUNDING = 1e-6
"""The tolerance of a sum of probabilities in decimals; three times 0.333 is outside."""


def declared(declaration: Declaration) -> Declaration:
    """Return a declaration after checking the parameters of its distribution.

    Raises:
        DeclarationError, ShapeError: if the parameters are invalid for the distribution.
    """
    if declaration.distribution is not None:
        found = misfit(declaration.distribution, declaration.shape)
        if found is not None:
            raise found[1]
    return declaration


def misfit(distribution: Distribution, shape: Shape) -> tuple[int, SymgradError] | None:
    """Return the position of an invalid parameter of a distribution, and the error; None if all are valid.

    Args:
        distribution: the distribution.
        shape: the shape of a draw.
    """
    names = distribution.family.parameters
    for i, parameter in enumerate(distribution.parameters):
        what = f"{names[i]} of {distribution.name}"
        error = _unfit(what, parameter, distribution, shape)
        if error is not None:
            return i, error
    return _refuted(distribution)


def _unfit(what: str, parameter: Any, distribution: Distribution, shape: Shape) -> SymgradError | None:
    """Return the error in the kind or the shape of a parameter; None if it is valid."""
    family = distribution.family
    if not is_exact(parameter):
        read = (n for n in topological([parameter]) if n.op is SYMBOL)
        random = next((n.name for n in read if n.declaration.distribution is not None), None)
        if random is not None:
            return DeclarationError(
                f"{what} reads the random input '{random}'",
                expected="random inputs that do not depend on one another",
                cure=_by_independent_draws(distribution, random),
            )
        if parameter.dtype == "bool":
            return DeclarationError(f"{what} is a truth value", expected="a number or a formula")
    if family.sizes:
        return _no_positions(what, parameter, shape)
    own: Shape = () if is_exact(parameter) else parameter.shape
    if family.vectors:
        if not own:
            return ShapeError(
                f"{what} is one number",
                expected="a vector of probabilities, which add up to 1",
                cure=f"write {distribution.name}([0.2, 0.3, 0.5]), or declare p : real(0, 1)[k]",
            )
        own = own[:-1]
    try:
        fits = broadcast_shapes([own, shape]) == shape
    except ShapeError:
        fits = False
    if fits:
        return None
    whole = (*shape, *parameter.shape[-1:]) if family.vectors else shape
    return ShapeError(
        f"{what} has the shape {shape_text(parameter.shape)}, and what is drawn {shape_text(shape)}",
        expected=f"a shape that broadcasts to {shape_text(whole)}",
        cure=f"draw an array of that shape: ~ {distribution}[{', '.join(map(str, own))}]"
        if own and not shape
        else "correct one of the shapes",
    )


def _no_positions(what: str, parameter: Any, shape: Shape) -> SymgradError | None:
    """Return the error in a draw of distinct positions; None if it is valid."""
    if not (isinstance(parameter, int) or (isinstance(parameter, Node) and parameter.op is SIZE)):
        return DeclarationError(
            f"{what} is no size",
            expected="a whole number, or the name of a size",
            cure="declare the size, n : size, or an array that has it",
        )
    if len(shape) != 1:
        return ShapeError(
            f"{len(shape) or 'no'} axes of different positions"
            if len(shape)
            else "one position is drawn alone",
            expected="one axis, along which they differ",
            cure="write idx ~ Permutation(n)[m]: the first m entries of a permutation of n",
        )
    if isinstance(parameter, int) and isinstance(shape[0], int) and shape[0] > parameter:
        return ShapeError(
            f"{shape[0]} different positions are drawn out of {parameter}",
            expected=f"at most {parameter}",
            cure=f"draw fewer, or with replacement: Categorical(full({parameter}, 1/{parameter}))",
        )
    return None


def conditions_on(drawn: Node) -> list[Node]:
    """Return the conditions on a random input that its declared interval does not imply, as comparisons of nodes.

    No draw violates these conditions. They exclude invalid parameters, values beyond ends that are formulas, and equal
    entries of a draw without replacement. Conditions that provably hold are left out.
    """
    distribution = drawn.declaration.distribution
    if distribution is None:
        return []
    family = distribution.family
    of = dict(zip(family.parameters, map(as_node, distribution.parameters), strict=True))
    found = [OPS[_SIGNS[sign]](a, b) for a, sign, b in _compared(family, of)] if distribution.formulas else []
    known = Conditions()
    found = [c for c in found if known.holds(c) != "yes" and any(n.op is SYMBOL for n in topological([c]))]
    ends = family.support
    if distribution.formulas and not callable(ends):
        found += [OPS["le"](of[ends[0]], drawn), OPS["le"](drawn, of[ends[1]])]
    if not family.independent:
        gaps = expand_dims(drawn, 1) - expand_dims(drawn, 0)
        found.append(OPS["lt"](as_node(0), gaps**2 + identity(drawn.shape[0])))
    return found


def _compared(family: DistributionFamily, of: Mapping[str, Node]) -> list[tuple[Node, str, Node]]:
    def side(text: str) -> Node:
        return of[text] if text in of else as_node(int(text))

    return [(side(left), sign, side(right)) for left, sign, right in family.comparisons()]


def _refuted(distribution: Distribution) -> tuple[int, SymgradError] | None:
    """Return the error for a condition on formulas that never holds, and the position of its parameter.

    Otherwise return None.
    """
    family = distribution.family
    nodes = [as_node(p) for p in distribution.parameters]
    of = dict(zip(family.parameters, nodes, strict=True))
    known = Conditions()
    for a, sign, b in _compared(family, of):
        formulas = [
            i for i, p in enumerate(distribution.parameters) if not is_exact(p) and nodes[i] in (a, b)
        ]
        if formulas and _never(OPS[_SIGNS[sign]](a, b), known):
            i = formulas[0]
            shown = one_line(nodes[i])
            name = family.parameters[i]
            return i, DeclarationError(
                f"{name} of {distribution.name}{f', {shown},' if shown else ''} is never as required",
                expected=family.requires,
                cure=f"correct {name}, or the declared domains that it is computed from",
            )
    if family.vectors:
        whole = _value(total(nodes[0], -1))
        if whole is not None and np.any(np.abs(whole - 1) > _ROUNDING):
            return 0, DeclarationError(
                f"the probabilities of {distribution.name} add up to {float(np.ravel(whole)[0]):g}",
                expected="1",
                cure="divide them by their sum",
            )
    return None


def _never(condition: Node, known: Conditions) -> bool:
    if known.holds(condition) == "no":
        return True
    value = _value(condition)
    return value is not None and not np.all(value)


def _value(node: Node) -> Any:
    """Return the value of a node that depends only on numbers; None for other nodes."""
    if any(n.op in (SYMBOL, SIZE) for n in topological([node])) or any(
        isinstance(s, str) for s in node.shape
    ):
        return None
    try:
        return evaluate([node], {})[0]
    except SymgradError:
        return None


def _by_independent_draws(distribution: Distribution, random: str) -> str:
    """Return the cure for a draw that depends on another draw: the same distribution from independent draws."""
    name = distribution.name
    if name == "Bernoulli":
        p = one_line(distribution.parameters[0]) or "p"
        return f"declare t ~ Uniform(0, 1), and write where(t < {p}, 1, 0)"

    form = standard_form(symbol(Declaration("z", distribution=distribution)), "eps")
    if form is None or form.draw.declaration.formulas:
        return f"declare what depends on '{random}' as an input of its own, and give it draws"
    text = one_line(form.value) or "its formula"
    return f"declare {form.draw.declaration}, and write {text}"
