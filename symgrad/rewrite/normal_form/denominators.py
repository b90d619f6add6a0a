"""Bring terms over powers of one sum to the highest power, if that leaves fewer terms.

    v/(k + x) - v*x/(k + x)**2  ->  k*v/(k + x)**2

The quotient rule produces such differences. The left side is longer. For x much larger than k it subtracts two nearly
equal numbers and loses most digits; the right side loses none.
"""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.exact import HIGHEST
from symgrad.ir.graph import Node
from symgrad.ops.scalar.arith import add, pow
from symgrad.ops.scalar.elementary import exp
from symgrad.rewrite.normal_form.form import E, Exponent, Form, Sum, short
from symgrad.rewrite.normal_form.gathering import Gathering
from symgrad.rewrite.normal_form.protocols import AllForms

_FEW = 8  # largest number of terms of a sum
_TERMS = 64  # largest number of terms of a numerator while it is expanded


class Denominators:
    """Brings terms of a sum over one denominator without changing the domain."""

    def __init__(self, forms: AllForms) -> None:
        self._forms = forms

    def merge(self, total: Sum, laws: dict[str, None]) -> bool:
        """Merge terms while that shortens the sum, and tell whether any were merged."""
        fired = False
        while 2 <= len(total.terms) <= _FEW and self._merge_one(total):
            laws["common-denominator"] = None
            fired = True
        return fired

    def _merge_one(self, total: Sum) -> bool:
        over: dict[tuple[Node, Exponent], dict[Node, Form]] = {}
        for term in total.terms:
            form = self._form(term)
            for base, e in form.factors.items():
                if base.op is add and e < 0 and self._forms.sums.small(base):
                    over.setdefault((base, e % 1), {})[term] = form
        return any(
            len(group) > 1 and self._merge_group(total, base, group) for (base, _), group in over.items()
        )

    def _merge_group(self, total: Sum, base: Node, group: dict[Node, Form]) -> bool:
        highest = min(form.factors[base] for form in group.values())
        before: set[tuple[object, ...]] = set()
        numerator = Sum(0, {})
        for term, form in group.items():
            factors = {b: e for b, e in form.factors.items() if b is not base}
            rest = Form(short(form.coefficient * total.terms[term]), factors, form.powers)
            before.update(self._demands(rest))
            lifted = self._lifted(rest, base, int(form.factors[base] - highest))
            if lifted is None:
                return False
            for part in lifted:
                self._forms.sums.include(numerator, part)
        if not 0 < len(numerator) < len(group):
            return False
        # The denominator keeps the conditions of its own terms; no other condition may be lost.
        after = [*numerator.terms, *self._forms.sums.of(base).terms]
        if not before <= {demand for term in after for demand in self._demands(self._form(term))}:
            return False
        merged = self._quotient(numerator, base, highest)
        if merged is None:
            return False
        for term in group:
            del total.terms[term]
        self._forms.sums.include(total, merged)
        return True

    def _form(self, term: Node) -> Form:
        return self._forms.products.form_of_factor(term)

    def _lifted(self, rest: Form, base: Node, times: int) -> list[Form] | None:
        """Write rest*base**times as a sum of products; return None if that is long."""
        if times > HIGHEST:
            return None
        found = self._forms.sums.of(base)
        terms = [self._form(t)._replace(coefficient=c) for t, c in found.terms.items()]
        if found.constant != 0:
            terms.append(Form(found.constant, {}, {}))
        lifted = [rest]
        for _ in range(times):
            if len(lifted) * len(terms) > _TERMS:
                return None
            products = [self._product(a, b) for a in lifted for b in terms]
            lifted = [p for p in products if p is not None]
            if len(lifted) < len(products):
                return None
        return lifted

    def _product(self, a: Form, b: Form) -> Form | None:
        found = Gathering(self._forms)
        found.raise_to(a, 1)
        found.raise_to(b, 1)
        found.settle()
        if found.powers and found.fired:
            # Collect the sums of exponents, so that like products get one form.
            product, found = found.form(), Gathering(self._forms)
            found.raise_to(Form(product.coefficient, product.factors, {}), 1)
            for base, exponent in product.powers.items():
                exponent = self._forms.sums.plain(exponent)
                found.take(exp(exponent) if base is E else pow(base, exponent), 1)
            found.settle()
        return None if found.stays or found.coefficient == 0 else found.form()

    def _quotient(self, numerator: Sum, base: Node, highest: Exponent) -> Form | None:
        above = self._forms.sums.write(numerator)
        if not self._forms.products.small(above):
            return None
        found = Gathering(self._forms)
        found.take(above, 1)
        found.include(base, highest)
        found.settle()
        return None if found.stays or found.notes else found.form()

    def _demands(self, form: Form) -> Iterator[tuple[object, ...]]:
        """Yield the conditions for a product to have a value that the declarations do not imply."""
        known = self._forms.known
        for base, e in form.factors.items():
            if known.defined(base) != "yes":
                yield ("defined", base)
            if e < 0 and known.nonzero(base) != "yes":
                yield ("nonzero", base)
            if e.denominator != 1 and known.nonnegative(base) != "yes":
                yield ("nonnegative", base)
        for base, exponent in form.powers.items():
            for part in (base, exponent):
                if known.defined(part) != "yes":
                    yield ("defined", part)
            if base is not E and known.positive(base) != "yes":
                yield ("power", base, exponent)
