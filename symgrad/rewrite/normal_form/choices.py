"""Remove redundant `where` guards, and factors that decide no comparison.

    where(r != 0, x/r, 0)*r    ->  where(r != 0, x, 0)
    where(norm(x) != 0, x, 0)  ->  x
    a**3 < 2*a**3              ->  a > 0

Derivatives guard their divisors in this way. A guard stays if the value may be infinite or NaN where the guard is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce

from symgrad.ir.graph import OPS, Node, apply, as_node
from symgrad.ops.array.layout import full
from symgrad.ops.array.reductions import norm
from symgrad.ops.scalar.arith import add
from symgrad.ops.scalar.logic import CONVERSE, and_, ne, where
from symgrad.rewrite.engine import undefined_somewhere
from symgrad.rewrite.normal_form.form import Form, short
from symgrad.rewrite.normal_form.protocols import AllForms, OpenProduct
from symgrad.rewrite.normal_form.views import see_through, view, write_view
from symgrad.rewrite.trace import Step
from symgrad.support.traversal import leaves, postorder


class Choices:
    """Laws of choices between a product and zero, and of comparisons of such products."""

    def __init__(self, forms: AllForms) -> None:
        self._forms = forms
        self._guarding: dict[Node, bool] = {}

    def step(self, node: Node) -> Step | None:
        """Return the step of a law of a choice or comparison; None if none applies."""
        return self._comparison_step(node) if node.op.name in CONVERSE else self._guard_step(node)

    def _guard_step(self, node: Node) -> Step | None:
        """Drop the guard of a number times a power, if the power is zero wherever the guard is zero."""
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

    def _comparison_step(self, node: Node) -> Step | None:
        """Compare two multiples of one product, or one multiple and zero, without coefficients and odd powers."""
        if not all(a.dtype != "bool" and self._forms.products.small(a) for a in node.args):
            return None
        forms = [self._forms.products.form_of_factor(a) for a in node.args if not a.is_number(0)]
        if not forms or any(f.factors != forms[0].factors or f.powers != forms[0].powers for f in forms):
            return None
        factors, powers = forms[0].factors, forms[0].powers
        coefficients = iter([f.coefficient for f in forms])
        left, right = (0 if a.is_number(0) else next(coefficients) for a in node.args)
        base, e = next(iter(factors.items()), (as_node(1), 1))
        odd = len(factors) == 1 and not powers and e > 1 and e.denominator == 1 and e.numerator % 2
        if not odd:
            base = self._forms.products.write(Form(1, factors, powers))
        # Where only signs would change, they stay where the user wrote them.
        signs = abs(left - right) == 1 or (base.op is add and left < right)
        if left == right or base.is_number() or (len(forms) == 1 and signs and not odd):
            return None
        name = node.op.name if left > right else CONVERSE[node.op.name]
        after = apply(OPS[name], (base, as_node(0)))
        if after is node or after.shape != node.shape:
            return None
        return Step("comparison-of-multiples", node, after, "exact")

    def _guards(self, condition: Node) -> Iterator[tuple[Node, int]]:
        """Yield the nodes that must be nonzero in a condition, each with the position of its conjunct."""
        if not self._has_guards(condition):
            return
        for i, part in enumerate(_conjuncts(condition)):
            if _guards_by(part):
                core, axes = view(part)
                yield see_through(write_view(full(core.args[0], core.shape), axes, part.shape)), i

    def _has_guards(self, condition: Node) -> bool:
        """Tell whether a condition has a guard, in linear time for conditions that extend each other."""
        known = self._guarding
        for node in postorder([condition], lambda n: n.args if n.op is and_ else (), until=known):
            known[node] = any(known[a] for a in node.args) if node.op is and_ else _guards_by(node)
        return known[condition]

    def _vanishes(self, base: Node, guard: Node) -> bool:
        """Tell whether the guard is a norm of the entries of an array."""
        length, along = view(guard)
        x, axes = view(base)
        if length.op is not norm:
            return False
        (normed,), (reduced,) = length.args, length.params
        sums = self._forms.sums
        known = [normed, sums.primitive(normed)[1] if normed.op.name == "add" else normed]
        if x not in known and (x.op.name != "add" or sums.flipped(x) not in known):
            return False
        # Axes counted from the end, as broadcasting aligns them.
        mine = {a: k - len(axes) for k, a in enumerate(axes)}
        its = {a: k - len(along) for k, a in enumerate(along)}
        remaining = [a for a in range(len(normed.shape)) if a not in reduced]
        return all(mine.get(a) == its.get(q) for q, a in enumerate(remaining))

    def absorb(self, product: OpenProduct) -> bool:
        """Cancel a divisor inside a guard with a factor outside the choice; tell whether there was one."""
        for base, e in product.factors.items():
            if base.op is not where or not base.args[2].is_number(0) or e.denominator != 1 or e < 1:
                continue
            condition, value, other = base.args
            if not self._forms.products.small(value):
                continue
            form = self._forms.products.form_of_factor(value)
            for guard, _ in self._guards(condition):
                inside, outside = form.factors.get(guard, 0), product.factors.get(guard, 0)
                times = min(-Fraction(inside), Fraction(outside) / Fraction(e)).__floor__()
                if times < 1:
                    continue
                left = {**form.factors, guard: short(Fraction(inside) + times)}
                inner = self._forms.products.write(
                    Form(form.coefficient, {b: k for b, k in left.items() if k != 0}, form.powers)
                )
                product.divide(guard, short(times * Fraction(e)))
                product.divide(base, e)
                choice = where(condition, inner, other)
                step = self.step(choice)
                product.laws["guarded-divisor"] = None
                product.fired = True
                if step is None:
                    product.include(choice, e)
                else:
                    product.laws[step.rule] = None
                    product.notes.update(dict.fromkeys(step.notes))
                    product.take(step.after, e)
                return True
        return False


def _conjuncts(condition: Node) -> list[Node]:
    return leaves(condition, lambda n: n.args if n.op is and_ else None)


def _without(condition: Node, position: int) -> Node | None:
    """Return a condition without one of its conjuncts; None if there is no other."""
    rest = [part for i, part in enumerate(_conjuncts(condition)) if i != position]
    return reduce(and_, rest) if rest else None


def _guards_by(part: Node) -> bool:
    core = view(part)[0]
    return core.op is ne and core.args[1].is_number(0)
