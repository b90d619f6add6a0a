"""Collect one product: split nodes into factors, and apply the laws of products to them."""

from __future__ import annotations

from fractions import Fraction

from symgrad.ir.graph import CONSTANT, Node, number
from symgrad.ops.array.layout import full
from symgrad.ops.scalar.arith import add, mul, pow
from symgrad.ops.scalar.elementary import exp, sqrt
from symgrad.ops.scalar.rounding import abs as abs_
from symgrad.rewrite.engine import undefined_somewhere
from symgrad.rewrite.normal_form.factors import MORE, NEGATIVE, Factors
from symgrad.rewrite.normal_form.form import HALF, E, Exponent, Form, short
from symgrad.rewrite.normal_form.primes import is_power
from symgrad.rewrite.normal_form.protocols import AllForms
from symgrad.rewrite.normal_form.views import Map, see_through, view, write_view
from symgrad.rewrite.trace import ZERO, Note

_PRODUCTS = frozenset({"mul", "div", "neg", "pow", "sqrt"})
_COMPOSITE = _PRODUCTS | {"exp", "add"}


def is_numeric_product(node: Node) -> bool:
    """Tell whether a node is a number times a constant, such as 2*pi."""
    return node.op is mul and node.args[0].is_number() and node.args[1].op is CONSTANT


class Gathering(Factors):
    """Collects the factors of one product, and notes where the domain grows.

    Args:
        forms: the normal forms of nodes.

    Attributes:
        sums: the sums among the factors, as written.
    """

    def __init__(self, forms: AllForms) -> None:
        super().__init__(forms.known)
        self._forms = forms
        self.sums: list[Node] = []

    def copy(self) -> Gathering:
        """Return an independent copy."""
        other = Gathering(self._forms)
        other.coefficient, other.fired, other.stays = self.coefficient, self.fired, self.stays
        other.factors, other.powers = self.factors.copy(), self.powers.copy()
        other.laws, other.notes = self.laws.copy(), self.notes.copy()
        other.sums = self.sums.copy()
        other._inverse, other._fractional = self._inverse.copy(), self._fractional.copy()
        return other

    def walk(self, root: Node, exponent: int = 1) -> None:
        """Multiply by a power of a product whose factors are in normal form."""
        pending = [(root, exponent, False)]
        while pending:
            node, e, self._below = pending.pop()
            name = node.op.name
            if name not in _PRODUCTS:
                self.take(node, e)
            elif name in {"pow", "sqrt"}:
                (self._root_power if node is root else self.take)(node, e)
            elif not self._forms.opens(node, root):
                self.take(node, e)
            elif name == "mul":
                pending += [(node.args[1], e, self._below), (node.args[0], e, self._below)]
            elif name == "div":
                pending += [(node.args[1], -e, True), (node.args[0], e, self._below)]
            else:
                self.coefficient = -self.coefficient
                pending.append((node.args[0], e, self._below))
        self._below = False

    def walk_new(self, node: Node, exponent: int = 1) -> None:
        """Multiply by a power of the result of a rule; its factors reach their normal form at the next visit."""
        self.fired = True
        pending = [(node, exponent)]
        while pending:
            top, e = pending.pop()
            name = top.op.name
            if name in {"mul", "div"}:
                pending += [(top.args[1], e if name == "mul" else -e), (top.args[0], e)]
            elif name == "neg":
                self.coefficient = -self.coefficient if e % 2 else self.coefficient
                pending.append((top.args[0], e))
            elif name == "pow" and top.args[1].is_number():
                self.include(top.args[0], short(Fraction(top.args[1].value) * e))
            else:
                self.take(top, e)

    def take(self, node: Node, e: Exponent) -> None:
        """Multiply by a power of a factor in normal form; e is an integer unless the node is positive."""
        if node.shape and not node.op.pointwise:
            shown, node = node, see_through(node)
            if shown is not node:
                self.laws["elementwise-on-broadcasts"] = None
            if self.takes_view(node, e):
                return
        name = node.op.name
        if name not in _COMPOSITE:
            self.include(node, e)
        elif name == "sqrt" and is_numeric_product(node.args[0]):
            self.raise_to(Form(node.args[0].args[0].value, {node.args[0].args[1]: 1}, {}), short(HALF * e))
        elif name == "sqrt":
            self.include(node.args[0], short(HALF * e))
        elif name == "exp":
            self._include_power(E, node.args[0], e)
        elif name == "pow":
            if node.args[1].is_number():
                self.include(node.args[0], short(Fraction(node.args[1].value) * e))
            else:
                self._include_power(node.args[0], node.args[1], e)
        elif name in {"mul", "div", "neg"} and self._forms.products.small(node):
            self.raise_to(self._forms.products.form(node), e)
        elif name == "add":
            self.sums.append(node)
            content, primitive = self._forms.sums.primitive(node)
            if content < 0 and e.denominator != 1:
                content, primitive = 1, node
            if content != 1:
                self.laws["content-of-a-sum"] = None
                self.include(number(content), e)
            self.include(primitive, e)
        else:
            self.include(node, e)

    def takes_view(self, node: Node, e: Exponent) -> bool:
        """Multiply by a power of a view of a product, as a product of views; tell whether the node is such a view."""
        core, axes = view(node)
        if core is node:
            return False
        if core.op is add:
            return self._takes_view_of_sum(core, axes, node, e)
        if core.op.name not in _PRODUCTS or not self._forms.products.small(core):
            return False

        def shown(factor: Node) -> Node:
            outer = write_view(full(factor, core.shape), axes, node.shape)
            return see_through(write_view(*view(outer), node.shape))

        form = self._forms.products.form_of_factor(core)
        powers = [(exp(p) if b is E else pow(b, p), 1) for b, p in form.powers.items()]
        factors = [(shown(b), k) for b, k in (*form.factors.items(), *powers)]
        if len(dict(factors)) == len(factors):
            self.laws["product-of-views"] = None
            self.raise_to(Form(form.coefficient, dict(factors), {}), e)
            return True
        # Factors of shapes (1,) and () can have equal views; each factor counts.
        if e.denominator != 1:
            return False
        self.laws["product-of-views"] = None
        self.include(number(form.coefficient), e)
        for base, k in factors:
            self.raise_to(Form(1, {base: k}, {}), e)
        return True

    def _takes_view_of_sum(self, total: Node, axes: Map, shown: Node, e: Exponent) -> bool:
        content, primitive = self._forms.sums.primitive(total)
        if content == 1 or e.denominator != 1:
            return False
        self.laws["content-of-a-sum"] = None
        self.include(number(content), e)
        self.include(write_view(primitive, axes, shown.shape), e)
        return True

    def _root_power(self, node: Node, e: int) -> None:
        """Multiply by a power that is not in normal form yet."""
        base = node.args[0]
        exponent = number(HALF) if node.op is sqrt else node.args[1]
        if not exponent.is_number():
            if base is E:
                self._include_power(E, exponent, e)
            elif base.op is exp:
                self.laws["power-of-an-exponential"] = None
                self._include_power(E, mul(base.args[0], exponent), e)
                self.fired = True
            else:
                self._include_power(base, exponent, e)
            return
        q = short(Fraction(exponent.value) * e)
        if q == 0:
            self.laws["power-zero"] = None
            self.notes.update(dict.fromkeys(undefined_somewhere([base], self._known)))
        elif base.op is add and q.denominator != 1:
            # sqrt(4*x + 4) = 2*sqrt(x + 1), but sqrt(1/2 - x) gains nothing.
            content, primitive = self._forms.sums.primitive(base)
            if content > 0 and content != 1 and is_power(Fraction(content), q):
                self.laws["content-of-a-sum"] = None
                self._include_number(content, q)
                base = primitive
            self.include(base, q)
        elif base.op.name in {"mul", "div", "neg", "add"} and self._forms.products.small(base):
            self.raise_to(self._forms.products.form(base), q)
        else:
            self.raise_to(self._forms.products.form_of_factor(base), q)

    def raise_to(self, form: Form, q: Exponent) -> None:
        """Multiply by a product to a power, (a*b)**q and (a**p)**q, without ever narrowing the domain."""
        if q == 1:
            self._scale(form.coefficient)
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
                if base is not E and self._known.positive(base) != "yes":
                    self.notes[Note(MORE, base)] = None
            return
        self._root_of_product(form, q)

    def _root_of_product(self, form: Form, q: Exponent) -> None:
        """Multiply by a product to a fractional power; positive factors leave the root.

        Nonnegative factors leave the root unless a factor of unknown sign stays inside: at a = 0, (a*b)**q is 0 for any
        b, but a**q*b**q is undefined for b < 0. For q < 0 neither side has a value at a = 0, so a nonnegative factor
        counts as positive.
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
            if base is E or self._known.positive(base) == "yes":
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
            self.stays = True
            return
        if not any(base.op is add for base in inside) or is_power(abs(coefficient), q):
            self._include_number(abs(coefficient), q)
            coefficient = Fraction(-1 if coefficient < 0 else 1)
        for base, e in outside:
            self._include_composed(base, e, q)
        if inside or powers:
            self.include(self._forms.products.write_signed(Form(short(coefficient), inside, powers)), q)

    def _include_composed(self, base: Node, p: Exponent, q: Exponent) -> None:
        """Multiply by (base**p)**q."""
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
        """Finish the normal form: open integer powers, apply the rules, record where the domain grows."""
        for _ in range(200):
            if self.stays:
                return
            self._open_composites()
            if self.coefficient == 0 or not self._forms.apply_to_product(self):
                break
            self.fired = True
        for base in [b for b in self.powers if b in self.factors and not b.is_number()]:
            if base is E or self.factors[base].denominator == 1:
                self.powers[base] = add(self.powers[base], number(self.factors.pop(base)))
                self.fired = True
                if base is not E:
                    self.laws["product-of-powers"] = None
                    if self._known.positive(base) != "yes":
                        self.notes[Note(MORE, base)] = None
        for base, e in list(self.factors.items()):
            self._note_growth(base, e)
            if e == 0:
                del self.factors[base]
                self.notes.update(dict.fromkeys(undefined_somewhere([base], self._known)))
        if self.coefficient == 0 and (self.factors or self.powers):
            self.laws["zero-times"] = None
            dropped = [*self.factors, *self.powers, *self.powers.values()]
            self.notes.update(dict.fromkeys(undefined_somewhere(dropped, self._known)))
            for base, e in self.factors.items():
                if e < 0 and not self._known.facts(base).nonzero:
                    self.notes[Note(ZERO, base)] = None
                if e.denominator != 1 and not self._known.facts(base).nonnegative:
                    self.notes[Note(NEGATIVE, base)] = None
            for base in self.powers:
                if base is not E and self._known.positive(base) != "yes":
                    self.notes[Note(MORE, base)] = None
            self.factors, self.powers = {}, {}

    def _open_composites(self) -> None:
        """Open each base that is a product or a power if its exponent is an integer."""
        for base, e in list(self.factors.items()):
            if e != 0 and e.denominator == 1 and base.op.name in {"mul", "div", "neg", "pow", "sqrt"}:
                if not self._forms.products.small(base) or (base.op is pow and not base.args[1].is_number()):
                    continue
                del self.factors[base]
                if base in self._fractional and self._known.nonnegative(base) != "yes":
                    self.notes[Note(NEGATIVE, base)] = None
                if base in self._inverse and e > 0 and self._known.nonzero(base) != "yes":
                    self.notes[Note(ZERO, base)] = None
                self.raise_to(self._forms.products.form_of_factor(base), e)
