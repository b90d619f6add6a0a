"""Wrong rules for sums in powers, roots, denominators and functions; lost brackets; signs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symgrad.ir.graph import NUMBER, OPS, Node, apply
from symgrad.ir.traverse import signed_terms
from symgrad.ops.scalar.arith import neg
from symgrad.verification.mistakes.rewriting import Swap, factors_of, product, signed, total
from symgrad.verification.mistakes.rule import MistakeTable

_CIRCULAR = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan")

_PARITY = tuple(op.name for op in OPS.values() if op.facts & {"odd", "even"} and op is not neg)

mistake: MistakeTable[Node, Swap] = MistakeTable()


def _each(inner: Node, function: Callable[[Node], Node]) -> Iterator[Node]:
    """Apply a function to each term of a sum: with the signs outside, with the signs inside, and to two halves."""
    terms = signed_terms(inner)
    if len(terms) < 2:
        return
    yield total(signed(sign, function(t)) for sign, t in terms)
    yield total(function(signed(sign, t)) for sign, t in terms)
    if inner.op.name == "add" and len(terms) > 2:
        yield total(function(a) for a in inner.args)


def _of_terms(node: Node) -> Iterator[Swap]:
    for other in _each(node.args[0], lambda t: apply(node.op, (t,), node.params)):
        yield Swap(other)
    if node.op.name == "sqrt":
        for other in _each(node.args[0], _plain_root):
            yield Swap(other)


def _plain_root(node: Node) -> Node:
    """Return sqrt(x**2) as x, as if x were never negative."""
    squared = node.op.name == "pow" and node.args[1].is_number(2)
    return node.args[0] if squared else OPS["sqrt"](node)


def _square_of_two(node: Node) -> tuple[Node, Node, int] | None:
    """Return |a|, |b| and the sign of a*b for (a + b)**2; None for other powers."""
    base, exponent = node.args
    if not exponent.is_number(2) or len(signed_terms(base)) != 2:
        return None
    (s, a), (t, b) = signed_terms(base)
    return a, b, s * t


@mistake("power-of-a-sum", ("pow",), 10, "taking the power of a sum for the sum of the powers at {0}")
def _power_of_terms(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    right = None
    if (square := _square_of_two(node)) is not None:
        a, b, sign = square
        right = a**2 + signed(sign, 2 * a * b) + b**2
    for other in _each(base, lambda t: t**exponent):
        yield Swap(other, right)


@mistake("factor-2", ("pow",), 10, "losing the 2 of the mixed term in {0}")
def _no_double(node: Node) -> Iterator[Swap]:
    if (square := _square_of_two(node)) is not None:
        a, b, sign = square
        squares = a**2 + b**2
        yield Swap(squares + signed(sign, a * b), squares + signed(sign, 2 * a * b))


@mistake("lost-minus", ("pow",), 10, "a wrong sign in the square of the sum {0}")
def _wrong_middle(node: Node) -> Iterator[Swap]:
    if (square := _square_of_two(node)) is not None:
        a, b, sign = square
        middle = 2 * a * b
        right = a**2 + signed(sign, middle) + b**2
        yield Swap(a**2 - signed(sign, middle) + b**2, right)
        if sign < 0:
            yield Swap(a**2 - middle - b**2, right)


def _of_sum(ops: tuple[str, ...], kind: str, words: str) -> None:
    mistake(kind, ops, 10, f"taking {words} at {{0}}")(_of_terms)


_of_sum(("sqrt", "cbrt"), "root-of-a-sum", "the root of a sum for the sum of the roots")

_of_sum(("log", "log2", "log10"), "log-of-a-sum", "the logarithm of a sum for the sum of the logarithms")

_of_sum(("exp", "exp2"), "exp-of-a-sum", "the exponential of a sum for the sum of the exponentials")

_of_sum((*_CIRCULAR, "abs", "sign", "sigmoid", "erf"), "function-of-a-sum", "this function for linear")

_of_sum(("inv",), "inverse-of-a-sum", "the inverse of a sum for the sum of the inverses")

_of_sum(("det",), "determinant-of-a-sum", "the determinant of a sum for the sum of the determinants")

_of_sum(("norm",), "norm-of-a-sum", "the norm of a sum for the sum of the norms")


@mistake("reciprocal-of-a-sum", ("div",), 10, "dividing by each term of the denominator alone at {0}")
def _over_terms(node: Node) -> Iterator[Swap]:
    above, below = node.args
    for other in _each(below, lambda t: above / t):
        yield Swap(other)


@mistake(
    "lost-bracket",
    ("neg", "mul", "div"),
    11,
    "losing the bracket of {0}: a factor or a sign is applied to only one term",
)
def _first_term_only(node: Node) -> Iterator[Swap]:
    """Apply a minus sign, a factor or a divisor in front of a bracket to only one of the terms."""
    name = node.op.name
    if name == "neg":
        terms = signed_terms(node.args[0])
        if len(terms) > 1:
            right = total(signed(-s, t) for s, t in terms)
            (first, t), rest = terms[0], terms[1:]
            yield Swap(total([signed(-first, t), *(signed(s, r) for s, r in rest)]), right)
        return
    for k, inner in enumerate(node.args[:1] if name == "div" else node.args):
        terms = signed_terms(inner)
        outer = node.args[1 - k]
        if len(terms) < 2:
            continue
        scaled = [signed(s, t / outer if name == "div" else outer * t) for s, t in terms]
        plain = [signed(s, t) for s, t in terms]
        for i in range(len(terms)):
            yield Swap(total(scaled[j] if j == i else plain[j] for j in range(len(terms))), total(scaled))


@mistake(
    "lost-bracket",
    ("neg",),
    11,
    "losing the bracket of {0}: the minus sign before it is applied to only one term",
)
def _first_product_only(node: Node) -> Iterator[Swap]:
    """Expand -c*(a - b) as -c*a - c*b."""
    factors = factors_of(node.args[0])
    for k, f in enumerate(factors):
        terms = signed_terms(f)
        if len(terms) > 1:
            rest = product(x for j, x in enumerate(factors) if j != k)
            right = total(signed(-s, rest * t) for s, t in terms)
            (first, t), others = terms[0], terms[1:]
            yield Swap(total([signed(-first, rest * t), *(signed(s, rest * r) for s, r in others)]), right)


@mistake(
    "lost-bracket", ("pow",), 11, "losing the bracket of {0}: the exponent is applied to only one factor"
)
def _power_of_one(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    name = base.op.name
    if name == "mul":
        factors = factors_of(base)
        right = product(f**exponent for f in factors)
        for k, f in enumerate(factors):
            yield Swap(product(g for j, g in enumerate(factors) if j != k) * f**exponent, right)
    elif name == "div":
        a, b = base.args
        yield Swap(a**exponent / b, a**exponent / b**exponent)
        yield Swap(a / b**exponent, a**exponent / b**exponent)
    elif name == "neg":
        yield Swap(-(base.args[0] ** exponent))


@mistake("lost-bracket", ("sqrt", "cbrt"), 11, "taking the root of one factor alone at {0}")
def _root_of_one(node: Node) -> Iterator[Swap]:
    for f in (factors := factors_of(node.args[0])):
        if len(factors) > 1:
            rest = product(g for g in factors if g is not f)
            yield Swap(rest * node.op(f), node.op(rest) * node.op(f))


@mistake("parity", _PARITY, 10.2, "a wrong sign when the sign of the argument of {0} is turned")
def _parity(node: Node) -> Iterator[Swap]:
    arg = node.args[0]
    if any(s < 0 for s, _ in signed_terms(arg)):
        yield Swap(-node, node.op(-arg) if "even" in node.op.facts else -node.op(-arg))


@mistake("parity", ("pow",), 12, "losing the sign when the sign under the odd power {0} is turned")
def _odd_power(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    if exponent.op is NUMBER and exponent.value % 2 == 1 and any(s < 0 for s, _ in signed_terms(base)):
        yield Swap((-base) ** exponent, -((-base) ** exponent))


@mistake("lost-minus", ("neg",), 14, "losing the minus sign of {0}")
def _argument(node: Node) -> Iterator[Swap]:
    yield Swap(node.args[0])


@mistake("missing-term", ("mul",), 11, "multiplying {0} term by term: the mixed products are missing")
def _term_by_term(node: Node) -> Iterator[Swap]:
    """Expand (a + b)*(x + y) as a*x + b*y."""
    one, other = (signed_terms(a) for a in node.args)
    if len(one) == len(other) > 1:
        pairs = total(signed(s * t, a * b) for (s, a), (t, b) in zip(one, other, strict=True))
        yield Swap(pairs, total(signed(s * t, a * b) for s, a in one for t, b in other))


@mistake(
    "function-of-a-multiple",
    (*_CIRCULAR, "log", "log2", "log10", "exp", "sqrt", "cbrt", "sigmoid", "erf"),
    12,
    "taking a factor out of {0}",
)
def _extract_factor(node: Node) -> Iterator[Swap]:
    """Write f(c*x) as c*f(x)."""
    arg = node.args[0]
    if arg.op.name == "mul":
        for k in range(2):
            yield Swap(arg.args[k] * node.op(arg.args[1 - k]))
        factors = factors_of(arg)
        for f in factors if len(factors) > 2 else ():
            yield Swap(f * node.op(product(g for g in factors if g is not f)))
    elif arg.op.name == "div":
        yield Swap(node.op(arg.args[0]) / arg.args[1])


@mistake(
    "root-of-a-square",
    ("sqrt",),
    10,
    "taking the root {0} as the quantity that is squared: a root is never negative",
)
def _root_of_square(node: Node) -> Iterator[Swap]:
    arg = node.args[0]
    if arg.op.name == "pow" and arg.args[1].is_number(2):
        yield Swap(arg.args[0], OPS["abs"](arg.args[0]))
    elif arg.op.name == "mul" and any(a.op.name == "pow" and a.args[1].is_number(2) for a in arg.args):
        for k, a in enumerate(arg.args):
            if a.op.name == "pow" and a.args[1].is_number(2):
                rest = node.op(arg.args[1 - k])
                yield Swap(a.args[0] * rest, OPS["abs"](a.args[0]) * rest)


mistake("root-of-a-square", ("abs",), 12, "leaving the bars of {0} out: it is never negative")(_argument)


@mistake("factor-2", ("add",), 12, "adding {0} wrongly: it is twice one term")
def _double(node: Node) -> Iterator[Swap]:
    a, b = node.args
    if a is b:
        yield Swap(a, 2 * a)
        yield Swap(a**2, 2 * a)
