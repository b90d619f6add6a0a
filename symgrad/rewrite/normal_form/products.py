"""The normal form of products: a rational coefficient times powers of distinct bases.

    c * b1**e1 * b2**e2 * ...    c rational, e rational or a graph, b no product nor (for integer e) a power

`Products` finds the form of a node (`rewrite/normal_form/gathering.py` collects it) and writes a form as one
quotient: `-2*x*sqrt(u)/(3*y)`. With u positive, take

    6*x*sqrt(u)*y/(9*u*x**3*exp(y))

A `Gathering` walks down from the quotient, with the exponent -1 in the denominator. Numbers multiply the coefficient,
6/9; roots are exponents, u**(1/2 - 1); exp is a power of E whose exponent is a graph; the powers of x in numerator and
denominator meet by the law `product-of-powers`, x**(1 - 3):

    >>> from symgrad.frontend.text import parse_program
    >>> from symgrad.rewrite.facts.inference import Conditions
    >>> from symgrad.rewrite.normaliser import NormalForms
    >>> from symgrad.rewrite.normal_form.order import Order
    >>> from symgrad.rewrite.pipeline import CANONICAL
    >>> from symgrad.ir.notation.printer import expression_text as text
    >>> z = parse_program("x, y : real; u : positive; z = 6*x*sqrt(u)*y/(9*u*x**3*exp(y))")["z"]
    >>> forms = NormalForms(CANONICAL, Conditions(), Order())
    >>> found = Gathering(forms)
    >>> found.walk(z)
    >>> print(found.coefficient, {text(b): str(e) for b, e in found.factors.items()}, list(found.laws))
    2/3 {'x': '-2', 'u': '-1/2', 'y': '1'} ['product-of-powers', 'power-of-an-exponential']
    >>> {text(b): text(e) for b, e in found.powers.items()}
    {'E()': '-y'}

The result is written in the order of factors, negative exponents in the denominator:

    >>> text(forms.products.write(found.form()))
    '2*y*exp(-y)/(3*sqrt(u)*x**2)'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from math import prod
from typing import TypeAlias

from symgrad.ir.graph import CONSTANT, Node, apply, number
from symgrad.ir.traverse import topological, with_args
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import add, div, mul, neg, pow
from symgrad.ops.scalar.elementary import exp, sqrt
from symgrad.rewrite.normal_form.form import HALF, E, Exponent, Form, is_long, odd_sums, short
from symgrad.rewrite.normal_form.gathering import Gathering
from symgrad.rewrite.normal_form.order import FactorKey
from symgrad.rewrite.normal_form.protocols import AllForms
from symgrad.rewrite.trace import Step
from symgrad.support.traversal import postorder

_Key: TypeAlias = tuple[int, int, frozenset[tuple[Node, Exponent]], frozenset[tuple[Node, Node]]]

_NONE: frozenset[tuple[Node, Node]] = frozenset()

_OPS = frozenset([mul, div, neg])
_FEW = 16  # largest number of factors of a flattened product with several users


def _operands(node: Node) -> tuple[Node, ...]:
    return node.args if node.op in _OPS else ()


class Products:
    """Converts nodes to forms, and forms to nodes."""

    def __init__(self, forms: AllForms) -> None:
        self._forms = forms
        self._known_forms: dict[Node, Form] = {}
        self._known_factors: dict[Node, Form] = {}
        self._walked: dict[Node, Gathering] = {}
        self._counts: dict[Node, int] = {}  # number of factors
        self._written: dict[_Key, Node] = {}
        self._collected: dict[tuple[_Key, tuple[Node, ...]], Node] = {}

    def small(self, node: Node) -> bool:
        """Tell whether a product in normal form has few enough factors to be flattened into another one."""
        counts = self._counts
        if node not in counts:
            for n in postorder([node], _operands, until=counts):
                counts[n] = min(sum([counts[a] for a in n.args]), _FEW + 1) if n.op in _OPS else 1
        return counts[node] <= _FEW

    def form(self, node: Node) -> Form:
        """Return the form of a node in normal form."""
        found = self._known_forms.get(node)
        if found is None:
            gathering = self._walk(node)
            found = self._known_forms[node] = Form(1, {node: 1}, {}) if gathering.stays else gathering.form()
        return found

    def _walk(self, node: Node) -> Gathering:
        """Return the factors of a product, which callers must not change."""
        found = self._walked.get(node)
        if found is None:
            found = Gathering(self._forms)
            found.walk(node)
            if self.small(node):  # the factors of a larger product depend on the round
                self._walked[node] = found
        return found

    def form_of_factor(self, node: Node) -> Form:
        """Return the form of a node as the base of a power; a node in normal form that is a power stays one."""
        found = self._known_factors.get(node)
        if found is None:
            if node.op.name in {"mul", "div", "neg"} and self.small(node):
                found = self.form(node)
            else:
                gathering = Gathering(self._forms)
                gathering.take(node, 1)
                found = Form(1, {node: 1}, {}) if gathering.stays else gathering.form()
            self._known_factors[node] = found
        return found

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a product, quotient, power or negation of normal arguments."""
        walked = self._walk(node)
        # The result depends on the form, and on the order and spelling of its sums.
        sums = (*walked.sums, *[b for b in walked.factors if b.op is add])
        key = None if walked.powers else (_key(walked), sums)
        if key is not None and self._collected.get(key) is node:
            return None
        gathering = walked.copy()
        gathering.settle()
        if gathering.stays or is_long(gathering.coefficient):
            return None
        after = full(self._lone_sum(gathering) or self.write_signed(gathering.form()), node.shape)
        if after.op is add and gathering.coefficient != 1:
            gathering.laws["distribute-a-number"] = None
        if key is not None and not gathering.fired and gathering.factors == walked.factors:
            self._collected[key] = after
        if after is node:
            return None
        if not gathering.fired:
            self._forms.settled.add(after)
        return Step(
            "collect-factors", node, after, gathering.soundness, tuple(gathering.notes), tuple(gathering.laws)
        )

    def _lone_sum(self, gathering: Gathering) -> Node | None:
        """Return a number times one sum as written, unless another form has fewer multiplications; otherwise None."""
        if len(gathering.sums) != 1:
            return None
        form = gathering.form()
        if len(form.factors) != 1 or form.powers or form.coefficient == 1:
            return None
        ((base, e),) = form.factors.items()
        if base.op is not add or e != 1:
            return None
        node = gathering.sums[0]
        scale = short(Fraction(form.coefficient) / self._forms.sums.primitive(node)[0])
        return node if scale == 1 else self._forms.sums.times(node, scale)

    def write_signed(self, form: Form) -> Node:
        """Write a form; a minus sign enters a sum with as many minus as plus signs, a factor -1 enters a single sum."""
        if form.coefficient.numerator >= 0:
            return self.write(form)
        sums = odd_sums(form)
        if sums and form.coefficient == -1 and form.factors == {sums[0]: 1} and not form.powers:
            return self._forms.sums.times(sums[0], -1)
        for base in sums:
            flipped = self._forms.sums.flipped(base)
            # sqrt(b - a) keeps its sum, so a - b may be another factor; these stay two factors.
            if flipped is not None and flipped not in form.factors:
                factors = {flipped if b is base else b: k for b, k in form.factors.items()}
                return self.write(Form(-form.coefficient, factors, form.powers), ordered_as={flipped: base})
        return self.write(form)

    def sorted(self, factors: Iterable[Node]) -> list[Node]:
        found = list(factors)
        return sorted(found, key=self._forms.order.factor) if len(found) > 1 else found

    def write(self, form: Form, *, ordered_as: dict[Node, Node] | None = None) -> Node:
        """Write a form as one quotient of two products, with the sign in front."""
        if ordered_as:
            return self._write(form, ordered_as)
        key = _key(form)
        found = self._written.get(key)
        if found is None:
            found = self._written[key] = self._write(form, {})
        return found

    def _write(self, form: Form, alias: dict[Node, Node]) -> Node:
        form = _roots_joined(form)
        factors, powers = form.factors, form.powers
        above: list[Node] = []
        below: list[Node] = []
        radicals: dict[Exponent, int] = {}

        def key(base: Node) -> tuple[bool, FactorKey]:
            return (base in powers, self._forms.order.factor(alias.get(base, base)))

        for base in sorted({*factors, *powers}, key=key) if alias or powers else self.sorted(factors):
            e = factors.get(base)
            if e is not None:
                if base is E:
                    above.append(exp(number(e)))
                elif e <= 0:
                    below.append(_power(base, -e))
                elif e.denominator != 1 and base.is_number():
                    radicals[e] = radicals.get(e, 1) * int(base.value)
                else:
                    above.append(_power(base, e))
            if base in powers:
                exponent = powers[base]
                if base is E:
                    above.append(exp(exponent))
                elif self._forms.reads_negative(exponent) and self._forms.known.positive(base) == "yes":
                    below.append(pow(base, self._forms.negated(exponent)))
                else:
                    above.append(pow(base, exponent))
        if radicals:
            roots = [_power(number(n), e) for e, n in sorted(radicals.items())]
            leading = sum(1 for n in above if n.op is CONSTANT)
            above[leading:leading] = roots
        top, bottom = _split(abs(form.coefficient), bool(above), bool(below))
        if top != 1 or not above:
            above.insert(0, number(top))
        denominators = ([number(bottom)] if bottom != 1 else []) + below
        result = div(product_of(above), product_of(denominators)) if denominators else product_of(above)
        if form.coefficient.numerator < 0:
            return number(-top) if result.is_number() else neg(result)
        return result


def _key(form: Form | Gathering) -> _Key:
    # Numerator and denominator: the hash of a Fraction is slow.
    c = form.coefficient
    powers = frozenset(form.powers.items()) if form.powers else _NONE
    return (c.numerator, c.denominator, frozenset(form.factors.items()), powers)


def spell_signs(outputs: Sequence[Node], spelled: dict[Node, Node] | None = None) -> list[Node]:
    """Move a minus sign in front of a product to its first factor, unless the product is subtracted.

    The normal form has -(x*y), both as a term and by itself. The program notation parses -x*y as a product whose first
    factor is -x.

    Args:
        outputs: the nodes.
        spelled: the results for nodes of earlier calls; new results are added.
    """
    spelled = {} if spelled is None else spelled
    for node in topological(outputs, until=spelled):
        if node in spelled:
            continue
        args = [spelled[a] for a in node.args]
        if node.op is add and node.args[1].op is neg:
            # The sign of a later term of a sum is a subtraction.
            args[1] = neg(spelled[node.args[1].args[0]])
        rebuilt = with_args(node, args)
        spelled[node] = _sign_inside(rebuilt) if node.op is neg else rebuilt
    return [spelled[o] for o in outputs]


def _sign_inside(negation: Node) -> Node:
    spine: list[Node] = []
    first = negation.args[0]
    while first.op is mul or first.op is div:
        spine.append(first)
        first = first.args[0]
    result = number(-first.value) if first.is_number() and spine else neg(first)
    for node in reversed(spine):
        result = apply(node.op, (result, node.args[1]))
    return result


def _roots_joined(form: Form) -> Form:
    """Write sqrt(2)*sqrt(pi) as sqrt(2*pi), and sqrt(2)/(2*sqrt(pi)) as 1/sqrt(2*pi)."""
    factors = form.factors
    constants = [b for b, e in factors.items() if b.op is CONSTANT and b is not E and abs(e) == HALF]
    if len(constants) != 1:
        return form
    numbers = [b for b, e in factors.items() if b.is_number() and e == HALF]
    if not numbers:
        return form
    n, e = prod(int(b.value) for b in numbers), factors[constants[0]]
    if e < 0 and Fraction(form.coefficient).denominator % n:
        return form
    rest = {b: k for b, k in factors.items() if b is not constants[0] and b not in numbers}
    coefficient = form.coefficient if e > 0 else short(form.coefficient * n)
    return Form(coefficient, {mul(number(n), constants[0]): e, **rest}, form.powers)


def _split(size: Exponent, has_above: bool, has_below: bool) -> tuple[Exponent, int]:
    """Write a coefficient as top/bottom: x/2, 2*x/3, x/10, but 0.9*x."""
    p, q = size.numerator, size.denominator
    if q == 1 or (not has_above and not has_below):
        return short(size), 1
    decimal = 10 ** q.bit_length() % q == 0
    power_of_two = q & (q - 1) == 0
    if not decimal or power_of_two or (p == 1 and q <= 10):
        return p, q
    return size, 1


def product_of(factors: Sequence[Node]) -> Node:
    """Return the product of at least one factor, unsimplified."""
    return reduce(mul, factors)


def _power(base: Node, e: Exponent) -> Node:
    if e == 1:
        return base
    return sqrt(base) if e == HALF else pow(base, number(e))
