"""The families of random inputs: one rule for each family, which gives the expectation of a factor.

    Rule ::= (factor, given, parameters...) -> E[factor]

A rule raises `NoMoment` if there is provably no moment, and `Undecided` if it has no formula; it adds the conditions
that it requires to `given`. A family with few values has, instead of a rule, a list of values and probabilities, which
gives the expectation of any function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symgrad.analysis.expectations.assumptions import Assumptions, Undecided
from symgrad.analysis.expectations.families.bounded import beta, uniform
from symgrad.analysis.expectations.families.complexes import Complex, Value
from symgrad.analysis.expectations.families.factor import FamilyFactor, factor_of, in_waves, oriented
from symgrad.analysis.expectations.families.gamma import exponential, gamma, laplace
from symgrad.analysis.expectations.families.normal import lognormal, normal
from symgrad.analysis.expectations.families.poisson_cauchy import cauchy, poisson
from symgrad.analysis.expectations.terms.monomials import Monomial
from symgrad.autodiff.jvp import push_forward
from symgrad.ir.graph import OPS, Node, as_node, constant, symbol
from symgrad.ir.traverse import substitute, topological
from symgrad.ir.types import Declaration
from symgrad.ops.array.layout import move_up, slice_axes
from symgrad.ops.random.discrete import single_entries
from symgrad.rewrite.pipeline import canonical

_0, _1 = as_node(0), as_node(1)
_STEPS = 30  # number of factors of a product that is written out

_ROWS: Mapping[str, Callable[..., Value]] = {
    "Normal": normal,
    "LogNormal": lognormal,
    "Uniform": uniform,
    "Exponential": exponential,
    "Gamma": gamma,
    "Beta": beta,
    "Laplace": laplace,
    "Poisson": poisson,
    "Cauchy": cauchy,
}
_WITH_LOGS = frozenset({"LogNormal", "Uniform"})
"""Families whose rules handle log(u).

For the other families, the derivative with respect to the exponent of u gives log(u).
"""


def _bernoulli(p: Node) -> Sequence[tuple[Node, Node]]:
    return [(_0, 1 - p), (_1, p)]


def _categorical(p: Node) -> Sequence[tuple[Node, Node]] | None:
    count = p.shape[-1] if len(p.shape) == 1 else None
    if not isinstance(count, int) or count > _STEPS:
        return None
    entries = single_entries(p) or [move_up(slice_axes(p, [(k, k + 1, 1)]), ()) for k in range(count)]
    return [(as_node(k), entry) for k, entry in enumerate(entries)]


def _position(n: Node) -> Sequence[tuple[Node, Node]] | None:
    if not n.is_number() or n.value > _STEPS:
        return None
    return [(as_node(k), 1 / n) for k in range(int(n.value))]


_VALUES: Mapping[str, Callable[..., Sequence[tuple[Node, Node]] | None]] = {
    "Bernoulli": _bernoulli,
    "Categorical": _categorical,
    "Permutation": _position,
}


def parameters_of(u: Node) -> tuple[str, list[Node]]:
    """Return the family of a random input and its parameters, as nodes."""
    distribution = u.declaration.distribution
    assert distribution is not None
    return distribution.name, [as_node(p) for p in distribution.parameters]


def values_of(u: Node) -> Sequence[tuple[Node, Node]] | None:
    """Return the values of a random input that has few values, with their probabilities; None for other inputs."""
    name, parameters = parameters_of(u)
    return _VALUES[name](*parameters) if name in _VALUES else None


def expected(u: Node, monomial: Monomial, given: Assumptions) -> Node:
    """Return the expectation of a product of parts that depend on one random input only.

    Raises:
        NoMoment: if the expectation provably does not exist.
        Undecided: if no rule has a formula for the product.
    """
    name, parameters = parameters_of(u)
    return of_factor(name, parameters, factor_of(u, monomial), given)


def of_factor(name: str, parameters: Sequence[Node], f: FamilyFactor, given: Assumptions) -> Node:
    """Return the expectation of a factor, for a family with its parameters."""
    row = _ROWS.get(name)
    if row is None:
        raise Undecided
    total = _0
    sign, f = oriented(f, given)
    for c, one, part in in_waves(f) if f.waves else [(_1, f, "re")]:
        found = _with_logs(name, row, parameters, one, given)
        if isinstance(found, Complex):
            found = found.re if part == "re" else found.im
        total = total + c * found
    return _plain(sign * total)


def _plain(node: Node) -> Node:
    """Expand the gamma function and its logarithmic derivative at small numbers."""
    found: dict[Node, Node] = {}
    (node,) = canonical([node]).nodes
    for n in topological([node]):
        if n.op.name in {"gamma", "digamma"} and n.args[0].is_number():
            value = Fraction(n.args[0].value)
            if 0 < value <= _STEPS and value.denominator in ((1, 2) if n.op.name == "gamma" else (1,)):
                found[n] = _gamma(value) if n.op.name == "gamma" else _digamma(int(value))
    return substitute([node], found)[0]


def _gamma(value: Fraction) -> Node:
    start = Fraction(1) if value.denominator == 1 else Fraction(1, 2)
    product = as_node(math.prod(start + j for j in range(int(value - start))))
    return product if start == 1 else product * OPS["sqrt"](constant("pi"))


def _digamma(n: int) -> Node:
    return sum((Fraction(1, j) for j in range(1, n)), Fraction(0)) - constant("EulerGamma")


def _with_logs(
    name: str, row: Callable[..., Value], parameters: Sequence[Node], f: FamilyFactor, given: Assumptions
) -> Value:
    powers = [(f.power, f.logs), *((e, logs) for _, _, e, logs in f.shifted)]
    if name in _WITH_LOGS or not any(logs for _, logs in powers):
        return row(f, given, *parameters)
    if isinstance(f.rate, Complex) or not given.is_proved_positive(f.u):
        raise Undecided
    exponents = [symbol(Declaration(f"exponent {i}")) if logs else _0 for i, (_, logs) in enumerate(powers)]
    moved = replace(
        f,
        logs=0,
        power=f.power + exponents[0],
        shifted=tuple([(c, d, e + a, 0) for (c, d, e, _), a in zip(f.shifted, exponents[1:], strict=True)]),
    )
    at_zero = {a: _0 for a in exponents if a is not _0}
    # Run the rule to collect its conditions, which also hold near these exponents.
    row(replace(f, logs=0, shifted=tuple([(c, d, e, 0) for c, d, e, _ in f.shifted])), given, *parameters)
    found = row(moved, Assumptions(()), *parameters)
    assert isinstance(found, Node)
    for a, (_, logs) in zip(exponents, powers, strict=True):
        for _ in range(logs):
            (found,) = push_forward([found], {a: _1})
    return substitute([found], at_zero)[0]
