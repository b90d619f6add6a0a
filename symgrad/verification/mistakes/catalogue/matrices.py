"""Wrong rules for products, inverses, traces and determinants of matrices, and for sums of products and of powers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from symgrad.ir.graph import Node, apply
from symgrad.ir.notation.arrays import is_transpose
from symgrad.ir.traverse import signed_terms
from symgrad.ops.array.contraction import adjoint
from symgrad.ops.array.linalg import product_of
from symgrad.verification.mistakes.edits.formulas import chained, matrices_of, swapped
from symgrad.verification.mistakes.rewriting import Swap, product, signed, total
from symgrad.verification.mistakes.rule import MistakeTable

mistake: MistakeTable[Node, Swap] = MistakeTable()


@mistake(
    "transpose-of-a-product", ("einsum",), 9, "transposing the factors of {0} without turning their order"
)
def _transpose(node: Node) -> Iterator[Swap]:
    if is_transpose(node):
        factors = matrices_of(node.args[0])
        if len(factors) > 1:
            turned = [adjoint(f) for f in factors]
            yield Swap(reduce(product_of, turned), reduce(product_of, turned[::-1]))


@mistake("inverse-of-a-product", ("inv",), 9, "inverting the factors of {0} without turning their order")
def _inverse(node: Node) -> Iterator[Swap]:
    factors = matrices_of(node.args[0])
    if len(factors) > 1 and all(f.shape == node.shape for f in factors):
        inverses = [node.op(f) for f in factors]
        yield Swap(reduce(product_of, inverses), reduce(product_of, inverses[::-1]))


@mistake("operands-swapped", ("einsum",), 11, "exchanging the matrices of {0}")
def _order(node: Node) -> Iterator[Swap]:
    if len(node.args) == 2 and all(len(a.shape) == 2 for a in node.args):
        for other in (swapped(node), *chained(node)):
            if other is not None and other.shape == node.shape:
                yield Swap(other)


@mistake(
    "trace-of-a-product", ("einsum",), 9, "taking the trace of a product for the product of the traces at {0}"
)
def _trace(node: Node) -> Iterator[Swap]:
    if node.params == (((0, 0),), ()):
        factors = matrices_of(node.args[0])
        if len(factors) > 1 and all(f.shape == node.args[0].shape for f in factors):
            traces = [apply(node.op, (f,), node.params) for f in factors]
            yield Swap(product(traces))


@mistake(
    "determinant-of-a-multiple", ("det",), 9, "taking the factor out of {0} once: it comes out for each row"
)
def _multiple(node: Node) -> Iterator[Swap]:
    inner = node.args[0]
    if inner.op.name == "mul":
        for k in range(2):
            scalar, matrix = inner.args[k], inner.args[1 - k]
            if not scalar.shape and matrix.shape:
                power = -1 if node.op.name == "inv" else node.args[0].shape[0]
                right = scalar**power * node.op(matrix) if isinstance(power, int) else None
                yield Swap(scalar * node.op(matrix), right)


mistake(
    "function-of-a-multiple", ("inv",), 9, "taking the factor out of {0} as it is: it comes out inverted"
)(_multiple)


@mistake(
    "norm-of-a-sum", ("einsum",), 9, "taking {0} for the sum of the squares: the mixed product is missing"
)
def _norm(node: Node) -> Iterator[Swap]:
    """Confuse the square of a sum of vectors with the sum of their squares."""
    if node.shape:
        return
    labels = node.params[0]
    if len(node.args) == 2 and node.args[0] is node.args[1] and labels == (labels[0],) * 2:
        terms = signed_terms(node.args[0])
        squares = [apply(node.op, (t, t), node.params) for _, t in terms]
    elif len(node.args) == 1 and node.args[0].op.name == "pow" and node.args[0].args[1].is_number(2):
        terms = signed_terms(node.args[0].args[0])
        squares = [apply(node.op, (t**2,), node.params) for _, t in terms]
    else:
        return
    if len(terms) > 1 and all(t.shape == terms[0][1].shape for _, t in terms):
        yield Swap(total(squares))
        yield Swap(total(signed(s, m) for (s, _), m in zip(terms, squares, strict=True)))


def _is_sum_over(node: Node) -> bool:
    """Tell whether an equation is just a sum or a mean of entries."""
    if node.op.name == "mean":
        return True
    return len(node.args) == 1 and len(node.params[1]) < len({*node.params[0][0]}) == len(node.params[0][0])


@mistake("sum-of-a-product", ("einsum", "mean"), 9.5, "taking {0} for the product of two sums")
def _product(node: Node) -> Iterator[Swap]:
    if _is_sum_over(node):
        inner = node.args[0]
        if inner.op.name in ("mul", "div") and all(a.shape == inner.shape for a in inner.args):
            a, b = (apply(node.op, (x,), node.params) for x in inner.args)
            yield Swap(a * b if inner.op.name == "mul" else a / b)
    elif node.op.name == "einsum" and node.params == (((0,), (0,)), ()):
        a, b = (apply(node.op, (x,), (((0,),), ())) for x in (node.args[0], node.args[1]))
        yield Swap(a * b)


@mistake("sum-of-a-power", ("einsum", "mean"), 9, "taking {0} for the power of the sum")
def _power(node: Node) -> Iterator[Swap]:
    if _is_sum_over(node) and node.args[0].op.name == "pow":
        base, exponent = node.args[0].args
        if base.shape == node.args[0].shape and not exponent.shape:
            yield Swap(apply(node.op, (base,), node.params) ** exponent)
    elif node.op.name == "einsum" and node.params == (((0,), (0,)), ()) and node.args[0] is node.args[1]:
        yield Swap(apply(node.op, (node.args[0],), (((0,),), ())) ** 2)


@mistake("function-of-a-sum", ("einsum", "mean"), 10, "taking {0} for the function of the sum")
def _function(node: Node) -> Iterator[Swap]:
    if _is_sum_over(node):
        inner = node.args[0]
        if inner.op.pointwise and len(inner.args) == 1 and inner.op.name != "neg":
            yield Swap(apply(inner.op, (apply(node.op, inner.args, node.params),), inner.params))
