"""Programs as sums of products of noisy parts, each node once: what linearity and independence are applied to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction

from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import topological
from symgrad.moments.given import Given, Undecided
from symgrad.moments.monomials import (
    ONE,
    Monomial,
    Terms,
    above,
    below,
    is_indicator,
    node_of,
    opposite,
    ordered,
    plus,
    power,
    power_of,
    product,
    raised,
    scaled,
)
from symgrad.rewrite.condition import Conditions
from symgrad.rules.pipeline import canonical

__all__ = ["Expansion"]

_0, _1 = as_node(0), as_node(1)
_HALF = as_node(Fraction(1, 2))
_HIGHEST = 12  # power of a sum that is multiplied out
_REGIONS = 3  # thresholds of one argument
_WAVES = 4  # terms of an angle


class Expansion:
    """The terms of nodes, remembered.

    Args:
        sources: the random inputs; all else counts as known.
        given: what is known of nodes.
        most: terms that a product may have.
    """

    def __init__(self, sources: Collection[Node], given: Given, most: int) -> None:
        self.sources = {s: 1 << i for i, s in enumerate(sources)}
        self.given = given
        self.most = most
        self._mask: dict[Node, int] = dict(self.sources)
        self._terms: dict[Node, Terms] = {}

    def mask(self, node: Node) -> int:
        """Return a bit for each random input that a node's value depends on."""
        known = self._mask
        if node not in known:
            for n in topological([node], until=known):
                if n not in known:
                    bits = 0
                    for a in n.args:
                        bits |= known[a]
                    known[n] = bits
        return known[node]

    def of(self, node: Node) -> Node | None:
        """Return the only random input that a node depends on; None if there are none or several."""
        mask = self.mask(node)
        return next((s for s, bit in self.sources.items() if bit == mask), None)

    def __call__(self, node: Node) -> Terms:
        """Return the terms of a node; a node that has too many is an atom."""
        known = self._terms
        pending = [node]
        while pending:
            top = pending[-1]
            if top in known:
                pending.pop()
                continue
            if not self.mask(top):
                known[top] = {ONE: top} if not top.is_number(0) else {}
                continue
            missing = [a for a in top.args if a not in known and a.dtype != "bool"]
            missing += [a for c in _conditions(top) for a in c.args if a not in known]
            if missing:
                pending += missing
                continue
            known[top] = self._expanded(top)
        return known[node]

    def _expanded(self, node: Node) -> Terms:
        if node in self.sources:
            return {((node, _1),): _1}
        rule = _RULES.get(node.op.name)
        if rule is not None:
            try:
                return rule(self, node)
            except Undecided:
                pass
        return {((node, _1),): _1}

    # ------------------------------------------------------------------------------------------------- regions

    def regions(self, terms: Terms) -> Iterator[tuple[Terms, Terms]]:
        """Yield the indicator of every region in which a sum has no indicator, and the sum there."""
        sides = {a for m in terms for a, _ in m if is_indicator(a)}
        edges = ordered((a, _1) for a in sides if opposite(a) not in sides or a.args[0].op.name == "lt")
        if len(edges) > _REGIONS:
            raise Undecided
        places: list[tuple[Terms, frozenset[Node]]] = [({ONE: _1}, frozenset())]
        for edge, _ in edges:
            places = [
                (product(t, {((side, _1),): _1}, self.most), held | {side})
                for t, held in places
                for side in (edge, opposite(edge))
            ]
        for where, held in places:
            here: Terms = {}
            for m, c in terms.items():
                if all(not is_indicator(a) or a in held for a, _ in m):
                    plus(here, self._signed(tuple(f for f in m if not is_indicator(f[0])), c, held))
            yield where, here

    def _signed(self, m: Monomial, c: Node, held: frozenset[Node]) -> Terms:
        """Write a product with the sizes of those inputs whose sign is known in a region."""
        factors: list[tuple[Node, Node]] = []
        for atom, e in m:
            sides = [s.args[0] for s in held if s.args[0].args[0] is atom and _is_whole(e)]
            if any(s.op.name == "ge" and self.nonnegative(s.args[1]) for s in sides):
                factors.append((OPS["abs"](atom), e))
            elif any(s.op.name == "lt" and self.nonnegative(-s.args[1]) for s in sides):
                factors.append((OPS["abs"](atom), e))
                c = c if _is_even(e) else -c
            else:
                factors.append((atom, e))
        return {ordered(factors): c}

    def by_region(self, terms: Terms, function: Callable[[Terms], Terms]) -> Terms:
        """Apply a function to a sum, region by region."""
        if not any(is_indicator(a) for m in terms for a, _ in m):
            return function(terms)
        found: Terms = {}
        for where, here in self.regions(terms):
            plus(found, product(where, function(here), self.most))
        return found

    # ------------------------------------------------------------------------------------------------- what is known

    def positive(self, node: Node) -> bool:
        return self.given.known.positive(node) == "yes"

    def nonnegative(self, node: Node) -> bool:
        return self.given.known.nonnegative(node) == "yes"

    def is_continuous(self, node: Node) -> bool:
        """Tell whether each single value of a random input has probability 0."""
        return node in self.sources and node.dtype == "real"

    def affine(self, terms: Terms) -> tuple[Node, Node, Node] | None:
        """Return u, c0 and c1 of a sum that is c0 + c1*u."""
        noisy = [m for m in terms if m]
        if len(noisy) != 1 or len(noisy[0]) != 1:
            return None
        ((atom, exponent),) = noisy[0]
        if atom not in self.sources or not exponent.is_number(1):
            return None
        return atom, terms.get(ONE, _0), terms[noisy[0]]

    def factored(self, terms: Terms) -> tuple[Node, Monomial]:
        """Write a sum as a coefficient times a monomial: what its terms have in common, times c0 + u or the rest.

        Raises:
            Undecided: if it is zero.
        """
        if not terms:
            raise Undecided
        if len(terms) == 1:
            ((m, c),) = terms.items()
            return c, m
        common = dict(next(iter(terms)))
        for m in terms:
            powers = dict(m)
            common = {
                a: e if e is powers[a] or e.value <= powers[a].value else powers[a]
                for a, e in common.items()
                if a in powers and (e is powers[a] or (e.is_number() and powers[a].is_number()))
            }
        rest: Terms = {}
        for m, c in terms.items():
            less = [(a, e - common[a] if a in common else e) for a, e in m]
            plus(rest, {tuple(f for f in less if not f[1].is_number(0)): c})
        affine = self.affine(rest)
        scale = _1
        if affine is not None:
            u, c0, c1 = affine
            sign = 1 if self.positive(c1) else -1 if self.positive(-c1) else 0
            if sign:
                scale = sign * c1
                base = _simple(c0 / scale + sign * u)
                if self.given.known.negative(base) == "yes":
                    scale, base = -scale, _simple(-base)
            else:
                base = c0 + c1 * u
        else:
            base = _sum(rest)
        return scale, ordered([*common.items(), (_simple(base), _1)])

    # ------------------------------------------------------------------------------------------------- rules

    def power(self, terms: Terms, exponent: Node) -> Terms:
        """Return a sum, free of indicators, to a power free of noise."""
        n = exponent.value if exponent.is_number() else None
        if isinstance(n, int) and 0 <= n <= _HIGHEST:
            return power(terms, n, self.most)
        c, m = self.factored(terms)
        if isinstance(n, int):
            return {raised(m, exponent): power_of(c, exponent)}
        out: list[tuple[Node, Node]] = []
        rest: list[tuple[Node, Node]] = []
        for atom, e in m:
            if self.nonnegative(atom):
                out.append((atom, e * exponent))
            elif e.is_number() and isinstance(e.value, int) and e.value % 2 == 0:
                out.append((OPS["abs"](atom), e * exponent))
            else:
                rest.append((atom, e))
        if rest and not self.positive(c):
            return {ordered([*out, (_simple(c * node_of(tuple(rest))), exponent)]): _1}
        if rest:
            out.append((_simple(node_of(tuple(rest))), exponent))
        return {ordered(out): power_of(c, exponent)}

    def exp(self, terms: Terms) -> Terms:
        """Return exp of a sum free of indicators: a product."""
        factors: list[tuple[Node, Node]] = []
        c = _1
        for m, k in terms.items():
            if not m:
                c = OPS["exp"](k)
            elif len(m) == 1 and m[0][0].op.name == "log" and m[0][1].is_number(1):
                factors.append((m[0][0].args[0], k))
            else:
                factors.append((OPS["exp"](node_of(m)), k))
        found: Terms = {ONE: c}
        for factor in factors:
            found = product(found, {(factor,): _1}, self.most)
        return found

    def log(self, terms: Terms) -> Terms:
        """Return log of a sum free of indicators."""
        c, m = self.factored(terms)
        found: Terms = {} if c.is_number(1) else {ONE: OPS["log"](c)}
        for atom, e in m:
            if atom.op.name == "exp":
                plus(found, scaled(self(atom.args[0]), e))
            elif self.nonnegative(atom):
                plus(found, {((OPS["log"](atom), _1),): e})
            else:
                raise Undecided
        return found

    def wave(self, terms: Terms, name: str) -> Terms:
        """Return the cosine or sine of a sum free of indicators, by the theorems of addition."""
        if len(terms) > _WAVES:
            raise Undecided
        cosine: Terms = {ONE: _1}
        sine: Terms = {}
        for m, c in terms.items():
            if m:
                angle = c * node_of(m)
                ca: Terms = {((OPS["cos"](angle), _1),): _1}
                sa: Terms = {((OPS["sin"](angle), _1),): _1}
            else:
                ca, sa = {ONE: OPS["cos"](c)}, {ONE: OPS["sin"](c)}
            cosine, sine = (
                plus(product(cosine, ca, self.most), scaled(product(sine, sa, self.most), as_node(-1))),
                plus(product(sine, ca, self.most), product(cosine, sa, self.most)),
            )
        return cosine if name == "cos" else sine

    def negative_part(self, terms: Terms) -> Terms:
        """Return the indicator of where a sum is below zero, but for sets of probability 0.

        Raises:
            Undecided: if no threshold of one random input says so.
        """
        node = _sum(terms)
        if self.given.known.nonnegative(node) == "yes":
            return {}
        if self.given.known.negative(node) == "yes":
            return {ONE: _1}
        noisy = [m for m in terms if m]
        if len(noisy) == 1 and ONE not in terms:
            return self._of_product(*self.factored(terms))
        affine = self._threshold(terms, noisy)
        if affine is None:
            raise Undecided
        u, c0, c1 = affine
        if self.positive(c1):
            return {((below(u, _simple(-c0 / c1)), _1),): _1}
        if self.positive(-c1):
            return {((above(u, _simple(-c0 / c1)), _1),): _1}
        none = OPS["eq"](c1, _0)
        r = _simple(-c0 / OPS["where"](none, _1, c1))
        found = {((below(u, r), _1),): _if(OPS["gt"](c1, _0)), ((above(u, r), _1),): _if(OPS["lt"](c1, _0))}
        return plus(found, {ONE: OPS["where"](none, _if(OPS["lt"](c0, _0)), _0)})

    def _threshold(self, terms: Terms, noisy: list[Monomial]) -> tuple[Node, Node, Node] | None:
        """Return u, c0 and c1 with the sign of c0 + c1*u that of a sum: u itself, or what increases with it."""
        if len(noisy) != 1 or len(noisy[0]) != 1:
            return None
        ((atom, e),) = noisy[0]
        c0, c1 = terms.get(ONE, _0), terms[noisy[0]]
        if e.is_number(1) and self.is_continuous(atom):
            return atom, c0, c1
        # The sign of c1*(r - f(u)) is that of c1*(f^-1(r) - u), for f that increases; r is where f takes values.
        if not (self.positive(c1) or self.positive(-c1)):
            return None
        r = _simple(-c0 / c1)
        if self.is_continuous(atom) and self.nonnegative(atom) and e.is_number() and e.value > 0:
            root = power_of(OPS["maximum"](r, _0), as_node(1 / Fraction(e.value)))
            return atom, -c1 * root, c1
        if not atom.args or not e.is_number(1) or not self.is_continuous(atom.args[0]):
            return None
        if atom.op.name == "log":
            return atom.args[0], -c1 * OPS["exp"](r), c1
        if atom.op.name == "exp" and self.positive(r):
            return atom.args[0], -c1 * OPS["log"](r), c1
        return None

    def _of_product(self, c: Node, m: Monomial) -> Terms:
        """Where a product is below zero: where c > 0 and its noisy part is, or the other way round."""
        odd: list[Node] = []
        for atom, e in m:
            even = e.is_number() and isinstance(e.value, int) and e.value % 2 == 0
            if even or self.nonnegative(atom):
                continue
            if not e.is_number() or not isinstance(e.value, int):
                raise Undecided
            odd.append(atom)
        if len(odd) > 1:
            raise Undecided
        less = {ONE: _if(OPS["lt"](c, _0))}
        if not odd:
            return less
        if self.is_continuous(odd[0]):
            minus: Terms = {((below(odd[0], _0), _1),): _1}
        else:
            parts = self(odd[0])
            if ((odd[0], _1),) in parts or len(parts) == 1:
                raise Undecided
            minus = self.negative_part(parts)
        return plus(scaled(minus, _if(OPS["gt"](c, _0))), scaled(_other(minus), less[ONE]))

    def absolute(self, terms: Terms) -> Terms:
        """Return the absolute value of a sum free of indicators."""
        if not terms:
            return {}
        if len(terms) == 1:
            ((m, c),) = terms.items()
            if all(self.nonnegative(a) or _is_even(e) for a, e in m):
                return {m: _size(c)}
            size: Terms = {m: _size(c)}
            minus = self._of_product(_1, m)
        else:
            size = terms
            minus = self.negative_part(terms)
        return product(size, _signs(minus), self.most)

    def sign(self, terms: Terms) -> Terms:
        """Return the sign of a sum free of indicators, but for sets of probability 0."""
        if not terms:
            return {}
        if len(terms) == 1:
            ((m, c),) = terms.items()
            minus = self._of_product(_1, m)
            return scaled(_signs(minus), OPS["sign"](c))
        affine = self.affine(terms)
        if affine is None or not (self.positive(affine[2]) or self.positive(-affine[2])):
            raise Undecided
        return _signs(self.negative_part(terms))

    def choice(self, condition: Node, a: Terms, b: Terms) -> Terms:
        """Return what holds where a condition holds, and elsewhere."""
        name = condition.op.name
        if not self.mask(condition):
            found = {m: OPS["where"](condition, c, _0) for m, c in a.items()}
            return plus(found, {m: OPS["where"](condition, _0, c) for m, c in b.items()})
        if name == "not_":
            return self.choice(condition.args[0], b, a)
        if name in {"and_", "or_"}:
            first, second = condition.args
            inner = self.choice(second, a, b)
            return self.choice(first, inner, b) if name == "and_" else self.choice(first, a, inner)
        if name in {"gt", "ge", "lt", "le"}:
            left, right = condition.args if name in {"lt", "le"} else reversed(condition.args)
            if left.dtype == right.dtype == "int":  # the ends of a region have a probability of their own
                raise Undecided
            difference = plus(dict(self(left)), scaled(self(right), as_node(-1)))
            if any(is_indicator(atom) for m in difference for atom, _ in m):
                raise Undecided
            strict = name in {"lt", "gt"}
            yes = self._less(difference, strict)
            no = _other(yes)
            return plus(product(yes, a, self.most), product(no, b, self.most))
        raise Undecided

    def _less(self, difference: Terms, strict: bool) -> Terms:
        if strict:
            return self.negative_part(difference)
        return _other(self.negative_part(scaled(difference, as_node(-1))))


def _is_whole(e: Node) -> bool:
    return e.is_number() and isinstance(e.value, int)


def _is_even(e: Node) -> bool:
    return e.is_number() and isinstance(e.value, int) and e.value % 2 == 0


def _if(condition: Node) -> Node:
    known = Conditions().holds(condition)
    return _1 if known == "yes" else _0 if known == "no" else OPS["where"](condition, _1, _0)


def _size(c: Node) -> Node:
    return as_node(abs(c.value)) if c.is_number() else OPS["abs"](c)


def _other(region: Terms) -> Terms:
    """Return the indicator of where another one is 0."""
    if len(region) == 1:
        ((m, c),) = region.items()
        if len(m) == 1 and is_indicator(m[0][0]) and c.is_number(1):
            return {((opposite(m[0][0]), _1),): _1}
    return plus({ONE: _1}, scaled(region, as_node(-1)))


def _signs(minus: Terms) -> Terms:
    """Return 1, and -1 where an indicator is 1."""
    return plus(dict(_other(minus)), scaled(minus, as_node(-1)))


def _simple(node: Node) -> Node:
    return canonical([node]).nodes[0]


def _sum(terms: Terms) -> Node:
    total = _0
    for m, c in terms.items():
        total = total + c * node_of(m)
    return total


def _conditions(node: Node) -> Iterator[Node]:
    pending = [a for a in node.args if a.dtype == "bool"]
    while pending:
        c = pending.pop()
        if c.op.name in {"and_", "or_", "not_"}:
            pending += c.args
        elif c.op.name in {"lt", "le", "gt", "ge"} and all(a.dtype != "bool" for a in c.args):
            yield c


def _add(x: Expansion, node: Node) -> Terms:
    return plus(dict(x(node.args[0])), x(node.args[1]))


def _mul(x: Expansion, node: Node) -> Terms:
    return product(x(node.args[0]), x(node.args[1]), x.most)


def _div(x: Expansion, node: Node) -> Terms:
    if not x.mask(node.args[1]):
        return {m: c / node.args[1] for m, c in x(node.args[0]).items()}
    return product(x(node.args[0]), _whole_power(x, node.args[1], -1), x.most)


def _whole_power(x: Expansion, node: Node, exponent: int) -> Terms:
    """Return a power of a product as the powers of its factors: sums that are divided by are not multiplied out."""
    found: Terms = {ONE: _1}
    pending = [(node, exponent)]
    while pending:
        n, e = pending.pop()
        name, args = n.op.name, n.args
        if not x.mask(n):
            found = scaled(found, power_of(n, as_node(e)))
        elif name == "mul":
            pending += [(a, e) for a in args]
        elif name == "div":
            pending += [(args[0], e), (args[1], -e)]
        elif name in {"neg", "stop_gradient"}:
            found = scaled(found, as_node((-1) ** e)) if name == "neg" else found
            pending.append((args[0], e))
        elif name == "pow" and _is_whole(args[1]):
            pending.append((args[0], e * int(args[1].value)))
        else:
            of_region = _powers(x, as_node(e))
            found = product(found, x.by_region(x(n), of_region), x.most)
    return found


def _powers(x: Expansion, exponent: Node) -> Callable[[Terms], Terms]:
    return lambda terms: x.power(terms, exponent)


def _pow(x: Expansion, node: Node) -> Terms:
    base, exponent = node.args
    if _is_whole(exponent):
        return _whole_power(x, base, int(exponent.value))
    if not x.mask(exponent):
        return x.by_region(x(base), _powers(x, exponent))
    if x.mask(base):
        raise Undecided
    if x.positive(base):
        return x.by_region(scaled(x(exponent), OPS["log"](base)), x.exp)
    terms = x(exponent)
    noisy = [m for m in terms if m]
    if len(noisy) != 1 or noisy[0] != ((exponent, _1),):
        raise Undecided
    return {((node, _1),): _1}


def _unary(method: Callable[[Expansion, Terms], Terms]) -> Callable[[Expansion, Node], Terms]:
    return lambda x, node: x.by_region(x(node.args[0]), lambda t: method(x, t))


def _written(make: Callable[[Node], Node]) -> Callable[[Expansion, Node], Terms]:
    """The rule of a function that others express."""
    return lambda x, node: dict(x(make(node)))


def _where(x: Expansion, node: Node) -> Terms:
    condition, a, b = node.args
    return x.choice(condition, x(a), x(b))


def _maximum(x: Expansion, node: Node) -> Terms:
    a, b = (x(arg) for arg in node.args)
    difference = plus(dict(a), scaled(b, as_node(-1)))
    if len(difference) == 1 and ONE not in difference:
        # relu(x*u) is (x*u + abs(x)*abs(u))/2, whatever the sign of x.
        half = as_node(Fraction(1 if node.op.name == "maximum" else -1, 2))
        size = scaled(x.by_region(difference, x.absolute), half)
        return plus(plus(scaled(a, _HALF), scaled(b, _HALF)), size)
    minus = x.by_region(difference, x.negative_part)
    if node.op.name == "minimum":
        a, b = b, a
    return plus(product(minus, b, x.most), product(_other(minus), a, x.most))


def _exp(u: Node) -> Node:
    return OPS["exp"](u)


def _log(u: Node) -> Node:
    return OPS["log"](u)


_LOG2, _LOG10 = _log(as_node(2)), _log(as_node(10))

_RULES: Mapping[str, Callable[[Expansion, Node], Terms]] = {
    "add": _add,
    "neg": lambda x, node: scaled(x(node.args[0]), as_node(-1)),
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "sqrt": _unary(lambda x, t: x.power(t, _HALF)),
    "exp": _unary(Expansion.exp),
    "log": _unary(Expansion.log),
    "cos": _unary(lambda x, t: x.wave(t, "cos")),
    "sin": _unary(lambda x, t: x.wave(t, "sin")),
    "abs": _unary(Expansion.absolute),
    "sign": _unary(Expansion.sign),
    "where": _where,
    "maximum": _maximum,
    "minimum": _maximum,
    "stop_gradient": lambda x, node: dict(x(node.args[0])),
    "exp2": _written(lambda n: _exp(_LOG2 * n.args[0])),
    "expm1": _written(lambda n: _exp(n.args[0]) - 1),
    "log1p": _written(lambda n: _log(1 + n.args[0])),
    "log2": _written(lambda n: _log(n.args[0]) / _LOG2),
    "log10": _written(lambda n: _log(n.args[0]) / _LOG10),
    "sinh": _written(lambda n: (_exp(n.args[0]) - _exp(-n.args[0])) / 2),
    "cosh": _written(lambda n: (_exp(n.args[0]) + _exp(-n.args[0])) / 2),
    "relu": _written(lambda n: OPS["maximum"](n.args[0], _0)),
    "clip": _written(lambda n: OPS["minimum"](OPS["maximum"](n.args[0], n.args[1]), n.args[2])),
}
