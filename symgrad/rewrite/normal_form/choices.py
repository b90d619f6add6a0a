"""Guards of choices: `where(r != 0, x/r, 0)*r` is `where(r != 0, x, 0)`, and `where(norm(x) != 0, x, 0)` is `x`.

Derivatives guard their divisors so. What stays guarded is what may be infinite or NaN where the guard is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symgrad.ir.graph import Node
from symgrad.ops.array.layout import full
from symgrad.ops.array.reductions import norm
from symgrad.ops.scalar.logic import and_, ne, where
from symgrad.rewrite.engine import undefined_somewhere
from symgrad.rewrite.normal_form.form import Form, short
from symgrad.rewrite.normal_form.interfaces import AllForms, OpenProduct
from symgrad.rewrite.normal_form.views import see_through, view, written
from symgrad.rewrite.trace import Step

__all__ = ["Choices"]


class Choices:
    """Laws of choices between a product and zero."""

    def __init__(self, forms: AllForms) -> None:
        self._forms = forms
        self._guarding: dict[Node, bool] = {}

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
        if e <= 0:
            return None
        for guard, part in self._guards(condition):
            own = see_through(base) is guard
            if own or self._vanishes(base, guard):
                name = "guard-of-what-is-zero" if own else "guard-by-a-norm"
                rest = _without(condition, part)
                after = value if rest is None else where(rest, value, other)
                notes = tuple(undefined_somewhere([guard], self._forms.known))
                soundness = "widens" if notes else "exact"
                return Step(name, node, full(after, node.shape), soundness, notes)
        return None

    def _guards(self, condition: Node) -> Iterator[tuple[Node, int]]:
        """Return what a condition says is not zero, each with the position of the part that says so."""
        if not self._has_guards(condition):
            return
        for i, part in enumerate(_parts(condition)):
            if _guards_by(part):
                core, axes = view(part)
                yield see_through(written(full(core.args[0], core.shape), axes, part.shape)), i

    def _has_guards(self, condition: Node) -> bool:
        """Tell whether a condition says of anything that it is not zero; long ones extend each other."""
        known = self._guarding
        stack = [condition]
        while stack:
            node = stack[-1]
            new = [a for a in node.args if a not in known] if node.op is and_ else []
            if new:
                stack.extend(new)
                continue
            known[node] = any(known[a] for a in node.args) if node.op is and_ else _guards_by(node)
            stack.pop()
        return known[condition]

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

    def absorb(self, product: OpenProduct) -> bool:
        """Cancel a divisor inside a guard with a factor beside the choice; tell whether there was one."""
        for base, e in product.factors.items():
            if base.op is not where or not base.args[2].is_number(0) or e.denominator != 1 or e < 1:
                continue
            condition, value, other = base.args
            if not self._forms.products.small(value):
                continue
            form = self._forms.products.form_of_factor(value)
            for guard, _ in self._guards(condition):
                below, beside = form.factors.get(guard, 0), product.factors.get(guard, 0)
                many = min(-Fraction(below), Fraction(beside) / Fraction(e)).__floor__()
                if many < 1:
                    continue
                left = {**form.factors, guard: short(Fraction(below) + many)}
                inner = self._forms.products.write(
                    Form(form.coefficient, {b: k for b, k in left.items() if k != 0}, form.powers)
                )
                product.divide(guard, short(many * Fraction(e)))
                product.divide(base, e)
                made = where(condition, inner, other)
                step = self.step(made)
                product.laws["guarded-divisor"] = None
                product.fired = True
                if step is None:
                    product.include(made, e)
                else:
                    product.laws[step.rule] = None
                    product.notes.update(dict.fromkeys(step.notes))
                    product.take(step.after, e)
                return True
        return False


def _parts(condition: Node) -> list[Node]:
    """Return what holds together where a condition holds."""
    parts: list[Node] = []
    stack = [condition]
    while stack:
        part = stack.pop()
        if part.op is and_:
            stack.extend(reversed(part.args))
        else:
            parts.append(part)
    return parts


def _without(condition: Node, position: int) -> Node | None:
    """Return a condition without one of its parts; None if there is no other."""
    rest: Node | None = None
    for i, part in enumerate(_parts(condition)):
        if i != position:
            rest = part if rest is None else and_(rest, part)
    return rest


def _guards_by(part: Node) -> bool:
    core = view(part)[0]
    return core.op is ne and core.args[1].is_number(0)
