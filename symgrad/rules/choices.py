"""Guards of choices: `where(r != 0, x/r, 0)*r` is `where(r != 0, x, 0)`, and `where(norm(x) != 0, x, 0)` is `x`.

Derivatives guard their divisors so. What stays guarded is what may be infinite or NaN where the guard is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.ir.graph import Node
from symgrad.ops.layout import full
from symgrad.ops.logic import and_, ne, where
from symgrad.ops.reductions import norm
from symgrad.rewrite.engine import undefined_somewhere
from symgrad.rewrite.trace import Step
from symgrad.rules.form import Form, short
from symgrad.rules.gathering import Gathering
from symgrad.rules.views import see_through, view, written

if TYPE_CHECKING:
    from symgrad.rules.normal import NormalForms

__all__ = ["Choices"]


class Choices:
    """Laws of choices between a product and zero."""

    def __init__(self, forms: NormalForms) -> None:
        self._forms = forms

    def step(self, node: Node) -> Step | None:
        """Drop a guard where the guarded product is zero anyway: a number times what is zero with the guard."""
        if node.op is not where or not node.args[2].is_number(0):
            return None
        condition, value, other = node.args
        if not self._forms.products.small(value):
            return None
        form = self._forms.products.form_of_factor(value)
        if form.powers or len(form.factors) != 1:
            return None
        ((base, e),) = form.factors.items()
        for guard, rest in _guards(condition):
            own = see_through(base) is guard
            if e > 0 and (own or self._vanishes(base, guard)):
                name = "guard-of-what-is-zero" if own else "guard-by-a-norm"
                after = value if rest is None else where(rest, value, other)
                notes = tuple(undefined_somewhere([guard], self._forms.known))
                soundness = "widens" if notes else "exact"
                return Step(name, node, full(after, node.shape), soundness, notes)
        return None

    def _vanishes(self, base: Node, guard: Node) -> bool:
        """Tell whether the entries of an array are among those whose norm is the guard."""
        length, along = view(guard)
        x, axes = view(base)
        if length.op is not norm:
            return False
        (given,), (reduced,) = length.args, length.params
        sums = self._forms.sums
        known = [given, sums.primitive(given)[1] if given.op.name == "add" else given]
        if x not in known and (x.op.name != "add" or sums.flipped(x) not in known):
            return False
        # Axes counted from the end, as broadcasting aligns them.
        mine = {a: k - len(axes) for k, a in enumerate(axes)}
        its = {a: k - len(along) for k, a in enumerate(along)}
        kept = [a for a in range(len(given.shape)) if a not in reduced]
        return all(mine.get(a) == its.get(q) for q, a in enumerate(kept))

    def absorb(self, gathering: Gathering) -> bool:
        """Cancel a divisor inside a guard with a factor beside the choice; tell whether there was one."""
        for base, e in gathering.factors.items():
            if base.op is not where or not base.args[2].is_number(0) or e.denominator != 1 or e < 1:
                continue
            condition, value, other = base.args
            if not self._forms.products.small(value):
                continue
            form = self._forms.products.form_of_factor(value)
            for guard, _ in _guards(condition):
                below, beside = form.factors.get(guard, 0), gathering.factors.get(guard, 0)
                many = min(-Fraction(below), Fraction(beside) / Fraction(e)).__floor__()
                if many < 1:
                    continue
                left = {**form.factors, guard: short(Fraction(below) + many)}
                inner = self._forms.products.write(
                    Form(form.coefficient, {b: k for b, k in left.items() if k != 0}, form.powers)
                )
                gathering.divide(guard, short(many * Fraction(e)))
                gathering.divide(base, e)
                made = where(condition, inner, other)
                step = self.step(made)
                gathering.laws["guarded-divisor"] = None
                gathering.fired = True
                if step is None:
                    gathering.include(made, e)
                else:
                    gathering.laws[step.rule] = None
                    gathering.notes.update(dict.fromkeys(step.notes))
                    gathering.take(step.after, e)
                return True
        return False


def _guards(condition: Node) -> Iterator[tuple[Node, Node | None]]:
    """Return what a condition says is not zero, each with the rest of the condition."""
    parts = [condition]
    while any(p.op is and_ for p in parts):
        parts = [q for p in parts for q in (p.args if p.op is and_ else (p,))]
    for i, part in enumerate(parts):
        core, axes = view(part)
        if core.op is not ne or not core.args[1].is_number(0):
            continue
        value = see_through(written(full(core.args[0], core.shape), axes, part.shape))
        rest: Node | None = None
        for other in (*parts[:i], *parts[i + 1 :]):
            rest = other if rest is None else and_(rest, other)
        yield value, rest
