"""The normal form of products: a rational coefficient times powers of distinct bases.

    c * b1**e1 * b2**e2 * ...        c rational, e rational or a graph, b neither a product nor (for integer e) a power

`Gathering` takes factors in, one law of the table at a time, and notes where the domain grows; `Products` finds the form of a node and writes a form down as one
quotient: `-2*x*sqrt(u)/(3*y)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from symgrad.ir.graph import CONSTANT, Node, apply, constant, number
from symgrad.ir.traverse import topological
from symgrad.ops.arith import add, div, fold_power, mul, neg, pow
from symgrad.ops.elementary import exp, sqrt
from symgrad.ops.rounding import abs as abs_
from symgrad.rewrite.engine import undefined_somewhere
from symgrad.rewrite.trace import Note, Soundness, Step
from symgrad.rules.order import FactorKey

if TYPE_CHECKING:
    from symgrad.rules.normal import NormalForms

__all__ = ["Exponent", "Form", "Gathering", "Products", "is_long", "short", "spell_signs"]

Exponent: TypeAlias = "int | Fraction"

_FEW = 16  # factors: a product with more stays one factor where it is used several times
_TRIAL = 1000  # prime factors of radicands are looked for up to here
_HALF = Fraction(1, 2)
_E = constant("E")
_MORE = "also defined for some more values of {}"


def short(value: Exponent) -> Exponent:
    """Return an integer as an int."""
    return value.numerator if value.denominator == 1 else value


_LONGEST = (
    512  # bits of a number that folding may produce: longer ones help nobody, and leave the range of floats
)


def is_long(value: Exponent) -> bool:
    """Tell whether an exact number is too long to be written in place of what it was computed from."""
    return value.numerator.bit_length() > _LONGEST or value.denominator.bit_length() > _LONGEST


@dataclass(frozen=True, slots=True)
class Form:
    """A product: coefficient, rational powers, symbolic powers (base to exponent)."""

    coefficient: Exponent
    factors: dict[Node, Exponent]
    powers: dict[Node, Node]


class Gathering:
    """Collects the factors of one product, and what that did to the domain."""

    def __init__(self, forms: NormalForms) -> None:
        self._forms = forms
        self._known = forms.known
        self.coefficient: Exponent = 1
        self.factors: dict[Node, Exponent] = {}
        self.powers: dict[Node, Node] = {}
        self.laws: dict[str, None] = {}
        self.notes: dict[Note, None] = {}
        self.fired = False  # a rule brought in nodes that have no normal form yet
        self.undefined = False  # a division by the number zero: leave it to the reader
        self._below = (
            False  # what is taken in stands below a fraction bar, if perhaps below two: it is not zero
        )
        self._inverse: set[Node] = set()
        self._fractional: set[Node] = set()

    def form(self) -> Form:
        """Return what was gathered."""
        return Form(self.coefficient, self.factors, self.powers)

    def walk(self, root: Node, exponent: int = 1) -> None:
        """Take in a product as written, down to its factors, which are in normal form."""
        pending = [(root, exponent, False)]
        while pending:
            node, e, self._below = pending.pop()
            name = node.op.name
            if name == "mul" and self._forms.opens(node, root):
                pending += [(node.args[1], e, self._below), (node.args[0], e, self._below)]
            elif name == "div" and self._forms.opens(node, root):
                pending += [(node.args[1], -e, True), (node.args[0], e, self._below)]
            elif name == "neg" and self._forms.opens(node, root):
                self.coefficient = -self.coefficient
                pending.append((node.args[0], e, self._below))
            elif node is root and name in {"pow", "sqrt"}:
                self._root_power(node, e)
            else:
                self.take(node, e)
        self._below = False

    def walk_new(self, node: Node) -> None:
        """Take in what a rule has put together: its factors are in normal form only once the next visit has seen them."""
        self.fired = True
        pending = [(node, 1)]
        while pending:
            top, e = pending.pop()
            name = top.op.name
            if name in {"mul", "div"}:
                pending += [(top.args[1], e if name == "mul" else -e), (top.args[0], e)]
            elif name == "neg":
                self.coefficient = -self.coefficient
                pending.append((top.args[0], e))
            elif name == "pow" and top.args[1].is_number():
                self.include(top.args[0], short(Fraction(top.args[1].value) * e))
            else:
                self.take(top, e)

    def take(self, node: Node, e: Exponent) -> None:
        """Take in a power of a factor in normal form, e being an integer unless the node is positive."""
        name = node.op.name
        if name == "sqrt":
            self.include(node.args[0], short(_HALF * e))
        elif name == "exp":
            self._include_power(_E, node.args[0], e)
        elif name == "pow":
            if node.args[1].is_number():
                self.include(node.args[0], short(Fraction(node.args[1].value) * e))
            else:
                self._include_power(node.args[0], node.args[1], e)
        elif name in {"mul", "div", "neg"} and self._forms.products.small(node):
            self.raise_to(self._forms.products.form(node), e)
        elif name == "add":
            content, primitive = self._forms.sums.primitive(node)
            if content < 0 and e.denominator != 1:
                content, primitive = 1, node
            if content != 1:
                self.laws["content-of-a-sum"] = None
                self.include(number(content), e)
            self.include(primitive, e)
        else:
            self.include(node, e)

    def include(self, base: Node, e: Exponent) -> None:
        """Multiply by base**e, where the base is no product."""
        if base.is_number():
            self._include_number(base.value, e)
            return
        old = self.factors.get(base)
        if old is not None:
            self.laws["product-of-powers"] = None
            self.factors[base] = short(old + e)
        else:
            self.factors[base] = e
        if e < 0 or self._below:
            self._inverse.add(base)
        if e.denominator != 1:
            self._fractional.add(base)

    def _include_power(self, base: Node, exponent: Node, e: Exponent) -> None:
        """Multiply by base**(e*exponent)."""
        if base is _E and exponent.is_number():
            self.factors[_E] = short(self.factors.get(_E, 0) + Fraction(exponent.value) * e)
            return
        if base is not _E and (e < 0 or self._below) and self._known.positive(base) != "yes":
            if e < 0:
                # At x = 0, 1/x**a is undefined for every a but 0, x**(-a) only for a > 0: a sign may not enter an exponent.
                self.include(pow(base, exponent), e)
                return
            self.notes[Note(_MORE, base)] = None
        if e != 1:
            exponent = neg(exponent) if e == -1 else mul(number(e), exponent)
            self.fired = True
        old = self.powers.get(base)
        if old is not None:
            exponent = add(old, exponent)
            self.fired = True
        self.powers[base] = exponent

    def _include_number(self, value: Exponent, e: Exponent) -> None:
        if value == 1 or (e == 1 and not self._below):
            self.coefficient = short(self.coefficient * value)
            return
        if value == 0 and (e < 0 or self._below):
            self.undefined = True
            return
        if e.denominator == 1:
            power = fold_power(number(value), number(e))
            if power is not None and power.is_number():
                self.coefficient = short(self.coefficient * power.value)
                return
            self.factors[number(value)] = short(self.factors.get(number(value), 0) + e)
            return
        if value < 0:
            self.undefined = True
            return
        self.laws["root-of-a-number"] = None
        for prime, count in _prime_powers(Fraction(value)):
            total = Fraction(self.factors.pop(number(prime), 0)) + e * count
            whole = total.__floor__()
            self.coefficient = short(Fraction(self.coefficient) * Fraction(prime) ** whole)
            if total != whole:
                self.factors[number(prime)] = total - whole

    def _root_power(self, node: Node, e: int) -> None:
        """The node is a power that is to be brought into normal form itself."""
        base = node.args[0]
        exponent = number(_HALF) if node.op is sqrt else node.args[1]
        if not exponent.is_number():
            if base is _E:
                self._include_power(_E, exponent, e)
            elif base.op is exp:
                self.laws["power-of-an-exponential"] = None
                self._include_power(_E, mul(base.args[0], exponent), e)
                self.fired = True
            else:
                self._include_power(base, exponent, e)
            return
        q = short(Fraction(exponent.value) * e)
        if q == 0:
            self.laws["power-zero"] = None
            self.notes.update(dict.fromkeys(undefined_somewhere([base], self._known)))
        elif base.op.name in {"mul", "div", "neg", "add"} and self._forms.products.small(base):
            self.raise_to(self._forms.products.form(base), q)
        else:
            self.raise_to(self._forms.products.form_of_factor(base), q)

    def raise_to(self, form: Form, q: Exponent) -> None:
        """Multiply by a whole product to a power: (a*b)**q and (a**p)**q, as far as that never narrows the domain."""
        if q == 1:
            self.coefficient = short(self.coefficient * form.coefficient)
            for base, e in form.factors.items():
                self.include(base, e)
            for base, e in form.powers.items():
                self._include_power(base, e, 1)
            return
        if len(form.factors) + len(form.powers) + (form.coefficient != 1) > 1:
            self.laws["power-of-a-product"] = None
        if q.denominator == 1:
            self._include_number(form.coefficient, q)
            for base, e in form.factors.items():
                self._include_composed(base, e, q)
            for base, e in form.powers.items():
                self._include_power(base, e, q)
                if base is not _E and self._known.positive(base) != "yes":
                    self.notes[Note(_MORE, base)] = None
            return
        self._root_of_product(form, q)

    def _root_of_product(self, form: Form, q: Exponent) -> None:
        """A fractional power: positive factors come out always, nonnegative ones unless something of unknown sign stays inside.

        (a*b)**q with a >= 0: at a = 0 the left side is 0 for any b, while a**q*b**q is undefined for b < 0. For q < 0 there is no value at a = 0
        on either side, so there a nonnegative factor is as good as a positive one.
        """
        outside: list[tuple[Node, Exponent]] = []
        nonnegative: list[tuple[Node, Exponent]] = []
        inside: dict[Node, Exponent] = {}
        for base, e in form.factors.items():
            facts = self._known.facts(base)
            even = e.denominator == 1 and e.numerator % 2 == 0
            at_least_zero = even or e.denominator != 1 or facts.nonnegative
            if at_least_zero and (q < 0 or e < 0 or facts.nonzero):
                outside.append((base, e))
            elif at_least_zero:
                nonnegative.append((base, e))
            else:
                inside[base] = e
        powers: dict[Node, Node] = {}
        for base, exponent in form.powers.items():
            if base is _E or self._known.positive(base) == "yes":
                self._include_power(base, exponent, q)
            else:
                powers[base] = exponent
        coefficient = Fraction(form.coefficient)
        if inside or powers or coefficient < 0:
            inside.update(nonnegative)
        else:
            outside += nonnegative
        if coefficient == 0:
            self._include_number(coefficient, q)
            return
        if not inside and not powers and coefficient < 0:
            self.undefined = True
            return
        # sqrt(4*x + 4) = 2*sqrt(x + 1), but sqrt(1/2 - x) has nothing to gain.
        stays = any(base.op is add for base in inside) and not _is_power(abs(coefficient), q)
        if not stays:
            self._include_number(abs(coefficient), q)
            coefficient = Fraction(-1 if coefficient < 0 else 1)
        for base, e in outside:
            self._include_composed(base, e, q)
        if inside or powers:
            self.include(self._forms.products.write_signed(Form(short(coefficient), inside, powers)), q)

    def _include_composed(self, base: Node, p: Exponent, q: Exponent) -> None:
        """(base**p)**q."""
        if p != 1:
            self.laws["power-of-a-power"] = None
        if p < 0:
            self._inverse.add(base)
        if p.denominator != 1:
            self._fractional.add(base)
        even = p.denominator == 1 and p.numerator % 2 == 0
        if even and q.denominator != 1 and self._known.nonnegative(base) != "yes":
            self.laws["root-of-an-even-power"] = None
            self.include(abs_(base), short(p * q))
            if p < 0:
                self._inverse.add(abs_(base))
            self.fired = True
        else:
            self.include(base, short(p * q))

    def settle(self) -> None:
        """Bring what was gathered to the normal form: note where the domain grew, open powers that became whole, apply the rules for products."""
        for _ in range(200):
            self._open_composites()
            if self.coefficient == 0 or not self._forms.products.apply_one_rule(self):
                break
            self.fired = True
        for base in [b for b in self.powers if b in self.factors and not b.is_number()]:
            if base is _E or self.factors[base].denominator == 1:
                self.powers[base] = add(self.powers[base], number(self.factors.pop(base)))
                self.laws["product-of-powers"] = None
                self.fired = True
                if base is not _E and self._known.positive(base) != "yes":
                    self.notes[Note(_MORE, base)] = None
        for base, e in list(self.factors.items()):
            facts = self._known.facts(base)
            if base in self._inverse and e >= 0 and not facts.nonzero:
                self.notes[Note("also defined at {} = 0", base)] = None
            if base in self._fractional and e.denominator == 1 and not facts.nonnegative:
                self.notes[Note("also defined for {} < 0", base)] = None
            if e == 0:
                del self.factors[base]
                self.notes.update(dict.fromkeys(undefined_somewhere([base], self._known)))
        if self.coefficient == 0 and (self.factors or self.powers):
            self.laws["zero-times"] = None
            self.notes.update(dict.fromkeys(undefined_somewhere([*self.factors, *self.powers], self._known)))
            for base, e in self.factors.items():
                if e < 0 and not self._known.facts(base).nonzero:
                    self.notes[Note("also defined at {} = 0", base)] = None
                if e.denominator != 1 and not self._known.facts(base).nonnegative:
                    self.notes[Note("also defined for {} < 0", base)] = None
            for base in self.powers:
                if base is not _E and self._known.positive(base) != "yes":
                    self.notes[Note(_MORE, base)] = None
            self.factors, self.powers = {}, {}

    def _open_composites(self) -> None:
        """A base that is itself a product or a power is opened as soon as its exponent is an integer."""
        for base, e in list(self.factors.items()):
            if e != 0 and e.denominator == 1 and base.op.name in {"mul", "div", "neg", "pow", "sqrt"}:
                if not self._forms.products.small(base) or (base.op is pow and not base.args[1].is_number()):
                    continue
                del self.factors[base]
                if base in self._fractional and self._known.nonnegative(base) != "yes":
                    self.notes[Note("also defined for {} < 0", base)] = None
                if base in self._inverse and e > 0 and self._known.nonzero(base) != "yes":
                    self.notes[Note("also defined at {} = 0", base)] = None
                self.raise_to(self._forms.products.form_of_factor(base), e)

    @property
    def soundness(self) -> Soundness:
        return "widens" if self.notes else "exact"


def _is_power(value: Fraction, q: Exponent) -> bool:
    """Tell whether value**q is rational."""
    return all((count * q).denominator == 1 for _, count in _prime_powers(value))


def _prime_powers(value: Fraction) -> list[tuple[int, int]]:
    """Prime factors with exponents; what has no small factor counts as one."""
    found: list[tuple[int, int]] = []
    for n, sign in ((value.numerator, 1), (value.denominator, -1)):
        p = 2
        while p * p <= n and p < _TRIAL:
            count = 0
            while n % p == 0:
                n //= p
                count += 1
            if count:
                found.append((p, sign * count))
            p += 1 if p == 2 else 2
        if n > 1:
            found.append((n, sign))
    return found


class Products:
    """Forms of nodes, and nodes of forms."""

    def __init__(self, forms: NormalForms) -> None:
        self._forms = forms
        self._known_forms: dict[Node, Form] = {}

    def small(self, node: Node) -> bool:
        """Tell whether a product in normal form has few enough factors to be copied into another."""
        pending, seen = [node], 0
        while pending:
            top = pending.pop()
            if top.op.name in {"mul", "div", "neg"}:
                pending.extend(top.args)
            else:
                seen += 1
            # Whatever is pending holds a factor at least, so a long chain is told in a few steps, however it nests.
            if seen + len(pending) > _FEW:
                return False
        return True

    def form(self, node: Node) -> Form:
        """Return the form of a node in normal form."""
        found = self._known_forms.get(node)
        if found is None:
            gathering = Gathering(self._forms)
            gathering.walk(node)
            found = self._known_forms[node] = (
                Form(1, {node: 1}, {}) if gathering.undefined else gathering.form()
            )
        return found

    def form_of_factor(self, node: Node) -> Form:
        """Return the form of a node that is to be raised to a power, without bringing a power into normal form again."""
        if node.op.name in {"mul", "div", "neg"} and self.small(node):
            return self.form(node)
        gathering = Gathering(self._forms)
        gathering.take(node, 1)
        return Form(1, {node: 1}, {}) if gathering.undefined else gathering.form()

    def apply_one_rule(self, gathering: Gathering) -> bool:
        """Apply the first rule for products that matches, and tell whether one did."""
        return self._forms.rules_for_products.apply(gathering)

    def collect(self, node: Node) -> Step | None:
        """Return the step that collects a product, quotient, power or negation whose arguments are in normal form."""
        gathering = Gathering(self._forms)
        gathering.walk(node)
        gathering.settle()
        if gathering.undefined or is_long(gathering.coefficient):
            return None
        after = self.write_signed(gathering.form())
        if after is node:
            return None
        if not gathering.fired:
            self._forms.settled.add(after)
        return Step(
            "collect-factors", node, after, gathering.soundness, tuple(gathering.notes), tuple(gathering.laws)
        )

    def write_signed(self, form: Form) -> Node:
        """Write a form down; a minus sign goes into a sum that reads as well either way, and a number into a lone sum that gets no longer."""
        sums = [b for b, e in form.factors.items() if b.op is add and e.denominator == 1 and e.numerator % 2]
        if sums and form.coefficient != 1 and form.factors == {sums[0]: 1} and not form.powers:
            scaled = self._forms.sums.scaled(sums[0], form.coefficient)
            if scaled is not None:
                return scaled
        if form.coefficient < 0:
            for base in sums:
                flipped = self._forms.sums.flipped(base)
                if flipped is not None:
                    factors = {flipped if b is base else b: k for b, k in form.factors.items()}
                    return self.write(
                        Form(-form.coefficient, factors, form.powers), ordered_as={flipped: base}
                    )
        return self.write(form)

    def sorted(self, factors: Iterable[Node]) -> list[Node]:
        return sorted(factors, key=self._forms.order.factor)

    def write(self, form: Form, *, ordered_as: dict[Node, Node] | None = None) -> Node:
        """Write a form down as one quotient of two products, the sign in front."""
        alias = ordered_as or {}
        above: list[Node] = []
        below: list[Node] = []
        radicals: dict[Exponent, int] = {}
        bases = {*form.factors, *form.powers}

        def key(base: Node) -> tuple[bool, FactorKey]:
            return (base in form.powers, self._forms.order.factor(alias.get(base, base)))

        for base in sorted(bases, key=key):
            if base in form.factors and not base.is_number():
                e = form.factors[base]
                if base is _E:
                    above.append(exp(number(e)))
                else:
                    (above if e > 0 else below).append(_power(base, e if e > 0 else -e))
            elif base in form.factors:
                e, value = form.factors[base], base.value
                if e.denominator != 1 and e > 0:
                    radicals[e] = radicals.get(e, 1) * int(value)
                else:
                    (above if e > 0 else below).append(_power(base, e if e > 0 else -e))
            if base in form.powers:
                exponent = form.powers[base]
                if base is _E:
                    above.append(exp(exponent))
                elif self._forms.reads_negative(exponent) and self._forms.known.positive(base) == "yes":
                    below.append(pow(base, self._forms.negated(exponent)))
                else:
                    above.append(pow(base, exponent))
        roots = [_power(number(n), e) for e, n in sorted(radicals.items())]
        leading = sum(1 for n in above if n.op is CONSTANT)
        above[leading:leading] = roots
        size = Fraction(form.coefficient).__abs__()
        top, bottom = _split(size, bool(above), bool(below))
        if top != 1 or not above:
            above.insert(0, number(top))
        denominators = ([number(bottom)] if bottom != 1 else []) + below
        result = div(_chain(above), _chain(denominators)) if denominators else _chain(above)
        if form.coefficient < 0:
            return number(-top) if result.is_number() else neg(result)
        return result


def spell_signs(outputs: Sequence[Node]) -> list[Node]:
    """Move a minus sign in front of a product to its first factor, unless the product is subtracted from something.

    The normal form has -(x*y), as a term and alone; the program notation reads -x*y as a product whose first factor is -x.
    """
    spelled: dict[Node, Node] = {}
    for node in topological(outputs):
        args = [spelled[a] for a in node.args]
        if node.op is add and node.args[1].op is neg:
            # As a later term of a sum the sign is a subtraction.
            args[1] = neg(spelled[node.args[1].args[0]])
        rebuilt = node if tuple(args) == node.args else apply(node.op, tuple(args), node.params)
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


def _split(size: Fraction, has_above: bool, has_below: bool) -> tuple[Exponent, int]:
    """Write a coefficient as top/bottom: x/2, 2*x/3, x/10, but 0.9*x."""
    p, q = size.numerator, size.denominator
    if q == 1 or (not has_above and not has_below):
        return short(size), 1
    rest = q
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    power_of_two = q & (q - 1) == 0
    if rest != 1 or power_of_two or (p == 1 and q <= 10):
        return p, q
    return size, 1


def _chain(factors: list[Node]) -> Node:
    result = factors[0]
    for factor in factors[1:]:
        result = mul(result, factor)
    return result


def _power(base: Node, e: Exponent) -> Node:
    if e == 1:
        return base
    return sqrt(base) if e == _HALF else pow(base, number(e))
