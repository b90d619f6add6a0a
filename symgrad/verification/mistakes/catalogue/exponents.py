"""Wrong rules for exponents, logarithms and fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symgrad.ir.graph import NUMBER, OPS, Node, as_node
from symgrad.ir.traverse import signed_terms
from symgrad.verification.mistakes.rewriting import Swap, factors_of, product, signed, total
from symgrad.verification.mistakes.rule import MistakeTable

mistake: MistakeTable[Node, Swap] = MistakeTable()


def _power(node: Node) -> tuple[Node | None, Node]:
    """Return base and exponent; the base is None for an exponential."""
    if node.op.name == "pow":
        return node.args[0], node.args[1]
    return (None, node.args[0]) if node.op.name == "exp" else (node, as_node(1))


def _raised(base: Node | None, exponent: Node) -> Node:
    return OPS["exp"](exponent) if base is None else base**exponent


@mistake("exponents-multiplied", ("mul",), 10, "multiplying the exponents at {0}: they add")
def _multiplied(node: Node) -> Iterator[Swap]:
    factors = factors_of(node)
    for i, f in enumerate(factors):
        for j in range(i):
            (base, m), (other, n) = _power(factors[j]), _power(f)
            if base is other and not (m.is_number(1) and n.is_number(1)):
                rest = [g for k, g in enumerate(factors) if k not in (i, j)]
                right = product([_raised(base, m + n), *rest])
                yield Swap(product([_raised(base, m * n), *rest]), right)


@mistake("exponents-multiplied", ("div",), 10, "dividing or adding the exponents at {0}: they are subtracted")
def _divided(node: Node) -> Iterator[Swap]:
    (base, m), (other, n) = map(_power, node.args)
    if base is other and base is not node.args[1]:
        yield Swap(_raised(base, m / n), _raised(base, m - n))
        yield Swap(_raised(base, m + n), _raised(base, m - n))


@mistake("exponents-added", ("pow",), 10, "adding the exponents at {0}, or by a power of them: they multiply")
def _added(node: Node) -> Iterator[Swap]:
    inner, n = node.args
    base, m = _power(inner)
    if inner.op.name in ("pow", "exp"):
        yield Swap(_raised(base, m + n), _raised(base, m * n))
        yield Swap(_raised(base, m**n), _raised(base, m * n))


@mistake(
    "negative-power",
    ("pow",),
    11,
    "misreading the exponent of {0}: negative is a reciprocal, a fraction a root",
)
def _negative(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    if base.op is NUMBER and exponent.op is NUMBER:
        return  # a literal such as 6.6*10**-34: another row loses its sign
    if (exponent.op is NUMBER and exponent.value < 0) or exponent.op.name == "neg":
        right = 1 / base ** (-exponent)
        yield Swap(-(base ** (-exponent)), right)
        yield Swap(base ** (-exponent), right)
        yield Swap(-right, right)
        if exponent.op is NUMBER:
            yield Swap(base ** (-1 / exponent), right)
    elif exponent.op is NUMBER and Fraction(exponent.value).denominator > 1:
        yield Swap(base ** (-1 / exponent))


@mistake("power-as-product", ("pow",), 12, "multiplying with the exponent at {0}")
def _as_product(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    if exponent.op is NUMBER:
        yield Swap(exponent * base)


@mistake("lost-power", ("pow",), 12.5, "losing the exponent, or one of the factors, of {0}")
def _lower_power(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    n = exponent.value if exponent.op is NUMBER else None
    if isinstance(n, int) and n > 1:
        yield Swap(base)
        if n > 2:
            yield Swap(base ** (n - 1))


@mistake(
    "log-of-a-product",
    ("log", "log2", "log10"),
    10,
    "taking the logarithm of a product for the product of the logarithms at {0}",
)
def _log_of_product(node: Node) -> Iterator[Swap]:
    factors = factors_of(node.args[0])
    if len(factors) > 1:
        yield Swap(product(map(node.op, factors)), total(map(node.op, factors)))


@mistake(
    "log-of-a-quotient",
    ("log", "log2", "log10"),
    10,
    "taking {0} for the quotient or the sum of logarithms: it is a difference",
)
def _log_of_quotient(node: Node) -> Iterator[Swap]:
    inner = node.args[0]
    if inner.op.name == "div":
        a, b = map(node.op, inner.args)
        yield Swap(a / b, a - b)
        yield Swap(a + b, a - b)


@mistake(
    "log-of-a-power",
    ("log", "log2", "log10"),
    10,
    "treating the exponent in {0} wrongly: it comes out as a factor",
)
def _log_of_power(node: Node) -> Iterator[Swap]:
    inner = node.args[0]
    if inner.op.name == "pow":
        base, exponent = inner.args
        right = exponent * node.op(base)
        yield Swap(node.op(base) ** exponent, right)
        yield Swap(node.op(base) + node.op(exponent), right)
        yield Swap(node.op(base), right)


@mistake("log-of-a-quotient", ("div",), 10, "cancelling the function in {0}")
def _of_function(node: Node) -> Iterator[Swap]:
    """Cancel the name of the function: write log(a)/log(b) as a/b."""
    a, b = node.args
    if a.op is b.op and len(a.args) == 1:
        yield Swap(a.args[0] / b.args[0])


@mistake(
    "exp-of-a-product",
    ("exp", "exp2"),
    10,
    "taking {0} for the product or the sum of the exponentials of its factors",
)
def _exp_of_product(node: Node) -> Iterator[Swap]:
    factors = factors_of(node.args[0])
    if len(factors) > 1:
        yield Swap(product(map(node.op, factors)), node.op(factors[0]) ** product(factors[1:]))
        yield Swap(total(map(node.op, factors)), node.op(factors[0]) ** product(factors[1:]))


@mistake("fractions-added", ("add",), 10, "adding fractions without a common denominator at {0}")
def _added_fractions(node: Node) -> Iterator[Swap]:
    terms = signed_terms(node)
    for j in range(1, len(terms)):
        for i in range(j):
            (s, a), (t, b) = terms[i], terms[j]
            rest = [signed(u, x) for k, (u, x) in enumerate(terms) if k not in (i, j)]
            (p, q), (r, w) = _fraction(a), _fraction(b)
            if q.is_number(1) and w.is_number(1):
                continue
            above = signed(s, p) + signed(t, r)
            right = total([(signed(s, p * w) + signed(t, r * q)) / (q * w), *rest])
            yield Swap(total([above / (q + w), *rest]), right)
            yield Swap(total([above / (q * w), *rest]), right)
            yield Swap(total([above / (q - w), *rest]), right)
            if q.is_number(1) or w.is_number(1):
                yield Swap(total([above / (w if q.is_number(1) else q), *rest]), right)


def _fraction(node: Node) -> tuple[Node, Node]:
    return (node.args[0], node.args[1]) if node.op.name == "div" else (node, as_node(1))


@mistake("cancelled-term", ("div",), 9.5, "cancelling a term of a sum in {0}")
def _cancelled(node: Node) -> Iterator[Swap]:
    """Cancel a term in numerator and denominator, or a factor that only one term has."""
    above, below = node.args
    over, under = signed_terms(above), signed_terms(below)
    if len(over) == len(under) == 1:
        return
    for i, (s, a) in enumerate(over):
        for j, (t, b) in enumerate(under):
            left = [signed(u, x) for k, (u, x) in enumerate(over) if k != i]
            down = [signed(u, x) for k, (u, x) in enumerate(under) if k != j]
            if a is b:
                yield Swap(_over(left, down))
            for f in {*factors_of(a)} & {*factors_of(b)}:
                yield Swap(_over([*left, signed(s, _without(a, f))], [*down, signed(t, _without(b, f))]))


def _over(above: list[Node], below: list[Node]) -> Node:
    """Return a quotient; if the denominator cancels entirely, return the numerator."""
    return total(above) / total(below) if below else total(above)


def _without(node: Node, factor: Node) -> Node:
    factors = factors_of(node)
    factors.remove(factor)
    return product(factors)


@mistake("quotient-inverted", ("div",), 10, "dividing by the fraction in {0} the wrong way")
def _inverted(node: Node) -> Iterator[Swap]:
    a, b = node.args
    if b.op.name == "div":
        p, q = b.args
        right = a * q / p
        yield Swap(a / (p * q), right)
        yield Swap(a * p / q, right)
    if a.op.name == "div":
        p, q = a.args
        right = p / (q * b)
        yield Swap(p * b / q, right)
        yield Swap(q / (p * b), right)


@mistake("quotient-inverted", ("div",), 13, "turning {0} upside down")
def _upside_down(node: Node) -> Iterator[Swap]:
    yield Swap(node.args[1] / node.args[0])


@mistake("quotient-inverted", ("mul",), 12, "multiplying the denominator at {0}, too")
def _both_scaled(node: Node) -> Iterator[Swap]:
    for k in range(2):
        other, fraction = node.args[1 - k], node.args[k]
        if fraction.op.name == "div":
            p, q = fraction.args
            yield Swap((other * p) / (other * q), other * p / q)
            yield Swap(p / (other * q), other * p / q)
