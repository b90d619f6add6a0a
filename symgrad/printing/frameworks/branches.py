"""Guard choices between forms for frameworks, which differentiate both branches of a choice.

A framework multiplies the derivative of the other branch by zero, which is NaN if that derivative overflows. So each
branch reads its variable only where it is chosen, and elsewhere a number at which it is harmless.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction

import numpy as np

from symgrad.autodiff.jvp import Pushforward
from symgrad.ir.graph import SYMBOL, Node, as_node, number, symbol
from symgrad.ir.traverse import substitute, topological, with_args
from symgrad.ir.types import Declaration
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.logic import and_, where
from symgrad.rewrite.choice.digit_losses import evaluated

_STEPS = (Fraction(0), *(Fraction(k, 4) for k in (4, -4, 1, -1, 12, -12)))
"""The distances from the numbers of a condition to the numbers that are tried."""


def guard_branches(form: Node, kept: Collection[Node]) -> Node:
    """Return a form with guarded choices; its value is the same.

    Args:
        form: the form.
        kept: the choices that stay as they are.

    Example:
        >>> from symgrad.ir.notation.printer import expression_text
        >>> from symgrad.ops.scalar.elementary import exp
        >>> from symgrad.ops.scalar.logic import lt
        >>> x = symbol(Declaration("x"))
        >>> expression_text(guard_branches(where(lt(x, number(3)), exp(x), x), ()))
        'where(x < 3, exp(where(x < 3, x, 3)), where(x < 3, 3, x))'
    """
    done: dict[Node, Node] = {}
    for n in topological([form]):
        made = with_args(n, [done[a] for a in n.args])
        done[n] = made if n.op is not where or n in kept else _guarded(made)
    return done[form]


def _guarded(choice: Node) -> Node:
    condition, yes, no = choice.args
    variable = next((v for v in _variables(condition) if _is_only_variable(v, yes, no)), None)
    if variable is None:
        return choice
    numbers = [Fraction(n.value) for n in topological([condition]) if n.is_number() and n.dtype != "bool"]
    places = [s * k + step for s in (1, -1) for k in numbers for step in _STEPS]
    branches = [yes, no]
    for k, branch in enumerate(branches):
        place = _finite_place(branch, variable, places)
        if place is not None:
            inside = [variable, number(place)] if k == 0 else [number(place), variable]
            branches[k] = substitute([branch], {variable: where(condition, *inside)})[0]
    return where(condition, *branches)


def _variables(condition: Node) -> Iterator[Node]:
    """Yield the variables on which a condition of the kind a < number, or abs(a - b) < number, may depend."""
    while condition.op is and_:
        condition = condition.args[0]
    if not condition.args:
        return
    found = condition.args[0]
    if found.op.name == "abs":
        found = found.args[0]
    yield found
    if found.op is add:
        yield from (a for a in found.args if not a.is_number())


def _is_only_variable(variable: Node, *branches: Node) -> bool:
    return all(n is variable or n.op is not SYMBOL for n in topological(branches, until=[variable]))


def _finite_place(branch: Node, variable: Node, places: list[Fraction]) -> Fraction | None:
    """Return the first place at which a formula and its derivative have values; None if it has no variable."""
    argument = symbol(Declaration("__argument"))
    (formula,) = substitute([branch], {variable: argument})
    if formula is branch:
        return None
    slope = Pushforward({argument: as_node(1)})([formula])
    rows = evaluated([formula, *slope], {argument: np.array([float(p) for p in places])})
    return next((p for p, *values in zip(places, *rows, strict=True) if np.isfinite(values).all()), None)
