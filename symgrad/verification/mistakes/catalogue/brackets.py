"""Sums in powers, roots, denominators and functions; brackets that are lost; signs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symgrad.ir.graph import NUMBER, OPS, Node, apply
from symgrad.ops.scalar.arith import neg
from symgrad.verification.mistakes.rewriting import (
    AlgebraRule,
    Swap,
    factors_of,
    product,
    signed,
    terms_of,
    total,
)

__all__ = ["REWRITINGS"]

_CIRCULAR = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan")
_PARITY = tuple(op.name for op in OPS.values() if op.facts & {"odd", "even"} and op is not neg)


def _each(inner: Node, made: Callable[[Node], Node]) -> Iterator[Node]:
    """Yield the sum of a function of each term: with the signs outside, with them inside, and of two halves."""
    terms = terms_of(inner)
    if len(terms) < 2:
        return
    yield total(signed(sign, made(t)) for sign, t in terms)
    yield total(made(signed(sign, t)) for sign, t in terms)
    if inner.op.name == "add" and len(terms) > 2:
        yield total(made(a) for a in inner.args)


def _of_terms(node: Node) -> Iterator[Swap]:
    for other in _each(node.args[0], lambda t: apply(node.op, (t,), node.params)):
        yield Swap(other)
    if node.op.name == "sqrt":
        for other in _each(node.args[0], _plain_root):
            yield Swap(other)


def _plain_root(node: Node) -> Node:
    """Return the root as one takes it who forgets that it is never negative."""
    squared = node.op.name == "pow" and node.args[1].is_number(2)
    return node.args[0] if squared else OPS["sqrt"](node)


def _power_of_terms(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    right = None
    if exponent.is_number(2) and len(terms_of(base)) == 2:
        (s, a), (t, b) = terms_of(base)
        middle = 2 * a * b
        right = a**2 + (middle if s == t else -middle) + b**2
    for other in _each(base, lambda t: t**exponent):
        yield Swap(other, right)


def _over_terms(node: Node) -> Iterator[Swap]:
    above, below = node.args
    for other in _each(below, lambda t: above / t):
        yield Swap(other)


def _no_double(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    if exponent.is_number(2) and len(terms_of(base)) == 2:
        (s, a), (t, b) = terms_of(base)
        squares = a**2 + b**2
        right = squares + signed(s * t, 2 * a * b)
        yield Swap(squares + signed(s * t, a * b), right)


def _wrong_middle(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    if exponent.is_number(2) and len(terms_of(base)) == 2:
        (s, a), (t, b) = terms_of(base)
        middle = 2 * a * b
        right = a**2 + signed(s * t, middle) + b**2
        yield Swap(a**2 - signed(s * t, middle) + b**2, right)
        if s * t < 0:
            yield Swap(a**2 - middle - b**2, right)


def _first_alone(node: Node) -> Iterator[Swap]:
    """A minus, a factor or a divisor before or behind a bracket reaches one term of several."""
    name = node.op.name
    if name == "neg":
        terms = terms_of(node.args[0])
        if len(terms) > 1:
            right = total(signed(-s, t) for s, t in terms)
            (first, t), rest = terms[0], terms[1:]
            yield Swap(total([signed(-first, t), *(signed(s, r) for s, r in rest)]), right)
        return
    for k, inner in enumerate(node.args[:1] if name == "div" else node.args):
        terms = terms_of(inner)
        outer = node.args[1 - k]
        if len(terms) < 2:
            continue
        scaled = [signed(s, t / outer if name == "div" else outer * t) for s, t in terms]
        plain = [signed(s, t) for s, t in terms]
        for i in range(len(terms)):
            yield Swap(total(scaled[j] if j == i else plain[j] for j in range(len(terms))), total(scaled))


def _times_first(node: Node) -> Iterator[Swap]:
    """-c*(a - b) as -c*a - c*b."""
    factors = factors_of(node.args[0])
    for k, f in enumerate(factors):
        terms = terms_of(f)
        if len(terms) > 1:
            rest = product(x for j, x in enumerate(factors) if j != k)
            right = total(signed(-s, rest * t) for s, t in terms)
            (first, t), others = terms[0], terms[1:]
            yield Swap(total([signed(-first, rest * t), *(signed(s, rest * r) for s, r in others)]), right)


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


def _root_of_one(node: Node) -> Iterator[Swap]:
    for f in (factors := factors_of(node.args[0])):
        if len(factors) > 1:
            rest = product(g for g in factors if g is not f)
            yield Swap(rest * node.op(f), node.op(rest) * node.op(f))


def _parity(node: Node) -> Iterator[Swap]:
    arg = node.args[0]
    if any(s < 0 for s, _ in terms_of(arg)):
        yield Swap(-node, node.op(-arg) if "even" in node.op.facts else -node.op(-arg))


def _odd_power(node: Node) -> Iterator[Swap]:
    base, exponent = node.args
    if exponent.op is NUMBER and exponent.value % 2 == 1 and any(s < 0 for s, _ in terms_of(base)):
        yield Swap((-base) ** exponent, -((-base) ** exponent))


def _lost_sign(node: Node) -> Iterator[Swap]:
    yield Swap(node.args[0])


def _term_by_term(node: Node) -> Iterator[Swap]:
    """(a + b)*(x + y) as a*x + b*y."""
    one, other = (terms_of(a) for a in node.args)
    if len(one) == len(other) > 1:
        made = total(signed(s * t, a * b) for (s, a), (t, b) in zip(one, other, strict=True))
        yield Swap(made, total(signed(s * t, a * b) for s, a in one for t, b in other))


def _taken_out(node: Node) -> Iterator[Swap]:
    """f(c*x) as c*f(x)."""
    arg = node.args[0]
    if arg.op.name == "mul":
        for k in range(2):
            yield Swap(arg.args[k] * node.op(arg.args[1 - k]))
        factors = factors_of(arg)
        for f in factors if len(factors) > 2 else ():
            yield Swap(f * node.op(product(g for g in factors if g is not f)))
    elif arg.op.name == "div":
        yield Swap(node.op(arg.args[0]) / arg.args[1])


def _absolute(node: Node) -> Iterator[Swap]:
    yield Swap(node.args[0])


def _root_of_square(node: Node) -> Iterator[Swap]:
    arg = node.args[0]
    if arg.op.name == "pow" and arg.args[1].is_number(2):
        yield Swap(arg.args[0], OPS["abs"](arg.args[0]))
    elif arg.op.name == "mul" and any(a.op.name == "pow" and a.args[1].is_number(2) for a in arg.args):
        for k, a in enumerate(arg.args):
            if a.op.name == "pow" and a.args[1].is_number(2):
                rest = node.op(arg.args[1 - k])
                yield Swap(a.args[0] * rest, OPS["abs"](a.args[0]) * rest)


def _double(node: Node) -> Iterator[Swap]:
    a, b = node.args
    if a is b:
        yield Swap(a, 2 * a)
        yield Swap(a**2, 2 * a)


def _of_sum(ops: tuple[str, ...], kind: str, words: str, rank: float = 10) -> AlgebraRule:
    return AlgebraRule(
        kind=kind,
        says=f"this is what one gets by taking {words} at {{0}}",
        ops=ops,
        distort=_of_terms,
        rank=rank,
    )


REWRITINGS = (
    AlgebraRule(
        kind="power-of-a-sum",
        says="this is what one gets by taking the power of a sum for the sum of the powers at {0}",
        ops=("pow",),
        distort=_power_of_terms,
        rank=10,
    ),
    AlgebraRule(
        kind="factor-2",
        says="this is what one gets by losing the 2 of the mixed term in {0}",
        ops=("pow",),
        distort=_no_double,
        rank=10,
    ),
    AlgebraRule(
        kind="lost-minus",
        says="this is what one gets by a wrong sign in the square of the sum {0}",
        ops=("pow",),
        distort=_wrong_middle,
        rank=10,
    ),
    _of_sum(("sqrt", "cbrt"), "root-of-a-sum", "the root of a sum for the sum of the roots"),
    _of_sum(("log", "log2", "log10"), "log-of-a-sum", "the logarithm of a sum for the sum of the logarithms"),
    _of_sum(("exp", "exp2"), "exp-of-a-sum", "the exponential of a sum for the sum of the exponentials"),
    _of_sum((*_CIRCULAR, "abs", "sign", "sigmoid", "erf"), "function-of-a-sum", "this function for linear"),
    _of_sum(("inv",), "inverse-of-a-sum", "the inverse of a sum for the sum of the inverses"),
    _of_sum(("det",), "determinant-of-a-sum", "the determinant of a sum for the sum of the determinants"),
    _of_sum(("norm",), "norm-of-a-sum", "the norm of a sum for the sum of the norms"),
    AlgebraRule(
        kind="reciprocal-of-a-sum",
        says="this is what one gets by dividing by each term of the denominator alone at {0}",
        ops=("div",),
        distort=_over_terms,
        rank=10,
    ),
    AlgebraRule(
        kind="lost-bracket",
        says="this is what one gets by losing the bracket of {0}: a factor or a sign reaches one term alone",
        ops=("neg", "mul", "div"),
        distort=_first_alone,
        rank=11,
    ),
    AlgebraRule(
        kind="lost-bracket",
        says="this is what one gets by losing the bracket of {0}: the minus before it reaches one term alone",
        ops=("neg",),
        distort=_times_first,
        rank=11,
    ),
    AlgebraRule(
        kind="lost-bracket",
        says="this is what one gets by losing the bracket of {0}: the exponent reaches one factor alone",
        ops=("pow",),
        distort=_power_of_one,
        rank=11,
    ),
    AlgebraRule(
        kind="lost-bracket",
        says="this is what one gets by taking the root of one factor alone at {0}",
        ops=("sqrt", "cbrt"),
        distort=_root_of_one,
        rank=11,
    ),
    AlgebraRule(
        kind="parity",
        says="this is what one gets by a wrong sign when the sign of the argument of {0} is turned",
        ops=_PARITY,
        distort=_parity,
        rank=10.2,
    ),
    AlgebraRule(
        kind="parity",
        says="this is what one gets by losing the sign when the sign under the odd power {0} is turned",
        ops=("pow",),
        distort=_odd_power,
        rank=12,
    ),
    AlgebraRule(
        kind="lost-minus",
        says="this is what one gets by losing the minus sign of {0}",
        ops=("neg",),
        distort=_lost_sign,
        rank=14,
    ),
    AlgebraRule(
        kind="missing-term",
        says="this is what one gets by multiplying {0} term by term: the mixed products are missing",
        ops=("mul",),
        distort=_term_by_term,
        rank=11,
    ),
    AlgebraRule(
        kind="function-of-a-multiple",
        says="this is what one gets by taking a factor out of {0}",
        ops=(*_CIRCULAR, "log", "log2", "log10", "exp", "sqrt", "cbrt", "sigmoid", "erf"),
        distort=_taken_out,
        rank=12,
    ),
    AlgebraRule(
        kind="root-of-a-square",
        says="this is what one gets by taking the root {0} for what is squared: it is never negative",
        ops=("sqrt",),
        distort=_root_of_square,
        rank=10,
    ),
    AlgebraRule(
        kind="root-of-a-square",
        says="this is what one gets by leaving the bars of {0} out: it is never negative",
        ops=("abs",),
        distort=_absolute,
        rank=12,
    ),
    AlgebraRule(
        kind="factor-2",
        says="this is what one gets by adding {0} wrongly: it is two of one",
        ops=("add",),
        distort=_double,
        rank=12,
    ),
)
