"""The factors of a term that depend on one random input, in the normal form that the rules of the families expect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce

from symgrad.analysis.expectations.assumptions import Assumptions, Undecided
from symgrad.analysis.expectations.families.complexes import Complex, Value
from symgrad.analysis.expectations.terms.monomials import Monomial, is_indicator
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.traverse import signed_terms, topological
from symgrad.rewrite.pipeline import canonical

_0, _1 = as_node(0), as_node(1)
_MOST_WAVES = 8


@dataclass(frozen=True, slots=True)
class FamilyFactor:
    """u**power * abs(u)**size * exp(rate*u + square*u**2) * log(u)**logs * base**u, inside low <= u < high.

    Args:
        u: the random input.
        power: the exponent of u.
        size: the exponent of abs(u).
        rate: the rate of exp; complex if the real or imaginary part of the expectation is wanted.
        square: the coefficient of u**2 in exp.
        logs: the exponent of log(u), a nonnegative integer.
        base: the base of a power with the exponent u.
        shifted: powers of v = c0 + c1*u: c0, c1, the exponent of v, and the exponent of log(v).
        low: lower ends of the region; the largest one counts.
        high: upper ends of the region; the smallest one counts.
        waves: cosines and sines, each with its frequency.
    """

    u: Node
    power: Node = _0
    size: Node = _0
    rate: Value = _0
    square: Node = _0
    logs: int = 0
    base: Node = _1
    shifted: tuple[tuple[Node, Node, Node, int], ...] = ()
    low: tuple[Node, ...] = ()
    high: tuple[Node, ...] = ()
    waves: tuple[tuple[str, Node], ...] = field(default=())

    @property
    def real_rate(self) -> Node:
        """The rate, if the factor has no waves."""
        if isinstance(self.rate, Complex):
            raise Undecided
        return self.rate

    @property
    def zero(self) -> Value:
        """The empty sum, with the type of the rate."""
        return Complex(_0, _0) if isinstance(self.rate, Complex) else _0

    @property
    def is_truncated(self) -> bool:
        return bool(self.low or self.high)

    def only(self, *names: str) -> None:
        """Check that a factor has no other parts than the given ones.

        Raises:
            Undecided: if it has another part.
        """
        plain = FamilyFactor(self.u)
        for name in ("power", "size", "rate", "square", "logs", "base", "shifted", "low", "high"):
            if name not in names and getattr(self, name) != getattr(plain, name):
                raise Undecided


def integer_exponent(node: Node, most: int = 40) -> int:
    """Return an exponent that is a nonnegative integer.

    Raises:
        Undecided: if it is not one.
    """
    if not node.is_number() or not isinstance(node.value, int) or not 0 <= node.value <= most:
        raise Undecided
    return node.value


def slope(node: Node, u: Node) -> Node:
    """Return c for a product c*u.

    Raises:
        Undecided: if it is not such a product.
    """
    c, pending, met = _1, [node], 0
    while pending:
        n = pending.pop()
        if n is u:
            met += 1
        elif n.op.name == "mul":
            pending += n.args
        elif n.op.name == "neg":
            c, pending = -c, [*pending, n.args[0]]
        elif n.op.name == "div" and u not in topological([n.args[1]]):
            c, pending = c / n.args[1], [*pending, n.args[0]]
        elif u in topological([n]):
            raise Undecided
        else:
            c = n * c
    if met != 1:
        raise Undecided
    return c


def factor_of(u: Node, monomial: Monomial) -> FamilyFactor:
    """Collect the atoms of a term in one random input.

    Raises:
        Undecided: if an atom does not fit into a factor.
    """
    f = FamilyFactor(u)
    for atom, e in monomial:
        f = _with(f, u, atom, e)
    return replace(f, power=_folded(f.power), size=_folded(f.size))


def _folded(node: Node) -> Node:
    return node if node.is_number() else canonical([node]).nodes[0]


def _with(f: FamilyFactor, u: Node, atom: Node, e: Node) -> FamilyFactor:
    name, args = atom.op.name, atom.args
    if atom is u:
        return replace(f, power=f.power + e)
    if is_indicator(atom) and args[0].args[0] is u:
        c = args[0].args[1]
        return replace(f, high=(*f.high, c)) if args[0].op.name == "lt" else replace(f, low=(*f.low, c))
    if name == "abs" and args[0] is u:
        if e.is_number() and isinstance(e.value, int) and e.value % 2 == 0:
            return replace(f, power=f.power + e)
        return replace(f, size=f.size + e)
    if name == "exp" and args[0] is u:
        return replace(f, rate=f.rate + e)
    if name == "exp" and args[0].op.name == "pow" and args[0].args[0] is u and args[0].args[1].is_number(2):
        return replace(f, square=f.square + e)
    if name == "log" and args[0] is u:
        return replace(f, logs=f.logs + integer_exponent(e, 6))
    if name in {"cos", "sin"}:
        return replace(f, waves=(*f.waves, *[(name, slope(args[0], u))] * integer_exponent(e, _MOST_WAVES)))
    if name == "pow" and args[1] is u:
        return replace(f, base=f.base * args[0] ** e)
    line = _line(args[0] if name == "log" else atom, u)
    if line is None:
        raise Undecided
    powers = {(c0, c1): (p, logs) for c0, c1, p, logs in f.shifted}
    p, logs = powers.get(line, (_0, 0))
    powers[line] = (p, logs + integer_exponent(e, 6)) if name == "log" else (p + e, logs)
    return replace(f, shifted=tuple([(*key, *value) for key, value in powers.items()]))


def _line(node: Node, u: Node) -> tuple[Node, Node] | None:
    """Return c0 and c1 for a node c0 + c1*u."""
    c0, c1 = _0, _0
    for s, n in reversed(signed_terms(node)):
        if u not in topological([n]):
            c0 = c0 + s * n
        else:
            try:
                c1 = c1 + s * slope(n, u)
            except Undecided:
                return None
    return _folded(c0), _folded(c1)


def oriented(f: FamilyFactor, given: Assumptions) -> tuple[int, FamilyFactor]:
    """Return a sign and a factor; a power of abs(u) becomes a power of u if the region determines the sign of u."""
    integer_power = f.power.is_number() and isinstance(f.power.value, int)
    if not f.is_truncated or (f.size.is_number(0) and integer_power):
        return 1, f
    sign = 1
    if not any(given.is_proved(OPS["ge"](low, _0)) for low in f.low):
        if not any(given.is_proved(OPS["le"](high, _0)) for high in f.high):
            return 1, f
        sign = -1
    total = _folded(f.power + f.size)
    if not integer_power:  # defined for u > 0 only
        return (1, replace(f, power=_0, size=total)) if sign > 0 else (1, f)
    if total.is_number() and isinstance(total.value, int):  # u**p*abs(u)**q = sign**q*u**(p + q)
        return sign ** int(total.value - f.power.value), replace(f, power=total, size=_0)
    return sign ** int(f.power.value), replace(f, power=_0, size=total)


def in_waves(f: FamilyFactor) -> Iterator[tuple[Node, FamilyFactor, str]]:
    """Split a factor into expectations with one complex rate each: yield a coefficient, a factor, and the part to take.

    Products of cosines and sines become sums: 2*cos(a)*cos(b) = cos(a - b) + cos(a + b).
    """
    half = _1 / 2
    sums: list[tuple[Node, str, Node]] = [(_1, "cos", _0)]
    for name, b in f.waves:
        more: list[tuple[Node, str, Node]] = []
        for c, kind, a in sums:
            if kind == name == "cos":
                more += [(half * c, "cos", a + b), (half * c, "cos", a - b)]
            elif kind == name == "sin":
                more += [(half * c, "cos", a - b), (-half * c, "cos", a + b)]
            elif kind == "cos":
                more += [(half * c, "sin", a + b), (-half * c, "sin", a - b)]
            else:
                more += [(half * c, "sin", a + b), (half * c, "sin", a - b)]
        sums = more
    gathered: dict[tuple[str, Node], Node] = {}
    for c, kind, w in sums:
        w = _folded(w)
        gathered[kind, w] = gathered.get((kind, w), _0) + c
    plain = replace(f, waves=())
    for (kind, w), c in gathered.items():
        if w.is_number(0):
            if kind == "cos":
                yield c, plain, "re"
        else:
            rate = f.rate
            assert isinstance(rate, Node)
            yield c, replace(plain, rate=Complex(rate, w)), "re" if kind == "cos" else "im"


def reciprocal(name: str, power: int | Fraction) -> str:
    """Return the text of a negative power."""
    return f"1/{name}" if power == -1 else f"1/{name}**{-power}"


def smallest(ends: tuple[Node, ...]) -> Node:
    """Return the smallest of some nodes."""
    return reduce(OPS["minimum"], ends)


def largest(ends: tuple[Node, ...]) -> Node:
    """Return the largest of some nodes."""
    return reduce(OPS["maximum"], ends)
