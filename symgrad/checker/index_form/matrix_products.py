"""Inverses and determinants of products of square matrices, factor by factor: inv(A @ B) = inv(B) @ inv(A)."""

from __future__ import annotations

from symgrad.checker.index_form.elementwise_ops import shape_of
from symgrad.checker.index_form.forms.canonical_labels import Form
from symgrad.checker.index_form.forms.functions import log, magnitude
from symgrad.checker.index_form.forms.terms import FormAlgebra
from symgrad.checker.index_form.inverses import determinant, inverse
from symgrad.checker.program.steps import ProofProgram, ProofStep
from symgrad.support.traversal import leaves


def function_of_product(
    t: FormAlgebra, program: ProofProgram, at: int, forms: dict[int, Form]
) -> Form | None:
    """Return inv, det or logdet of a product of square matrices; None if the argument is not such a product.

    The product is invertible exactly where all of its factors are.
    """
    step = program.steps[at]
    shape = shape_of(program.steps[step.args[0]])
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == "1":
        return None
    factors = _matrix_factors(program, step.args[0])
    if len(factors) < 2:
        return None
    length = shape[0]
    if step.op == "inv":
        result = t.number(1)
        for k, (position, turned) in enumerate(reversed(factors)):
            own = inverse(t, forms[position], "a0", "a1", length)
            ends = (f"p{k}", f"p{k + 1}")
            row, column = reversed(ends) if turned else ends
            result = t.multiply(result, t.rename(own, {"a0": row, "a1": column}))
        result = t.sum_over(result, {f"p{k}": length for k in range(1, len(factors))})
        return t.rename(result, {"p0": "a0", f"p{len(factors)}": "a1"})
    result = t.multiply(*(determinant(t, forms[p], "a0", "a1", length) for p, _ in factors))
    return result if step.op == "det" else log(t, magnitude(t, result))


def _matrix_factors(program: ProofProgram, at: int) -> list[tuple[int, bool]]:
    """Return the positions of the factors of a matrix product, and whether each is transposed."""

    def operands(factor: tuple[int, bool]) -> list[tuple[int, bool]] | None:
        position, transposed = factor
        path = _product_order(program, program.steps[position])
        return [(p, not flip) for p, flip in reversed(path)] if transposed and path is not None else path

    return leaves((at, False), operands)


def _product_order(program: ProofProgram, step: ProofStep) -> list[tuple[int, bool]] | None:
    """Return the operands of a contraction in the order of a matrix product, each with a flag that it is transposed."""
    if step.op != "einsum":
        return None
    labels, result = step.params
    if len(result) != 2 or any(shape_of(program.steps[a]) != shape_of(step) for a in step.args):
        return None
    left = list(zip(step.args, labels, strict=True))
    end, last = result
    path: list[tuple[int, bool]] = []
    seen = {end}
    while left:
        found = [(arg, own) for arg, own in left if len(own) == 2 and end in own and own[0] != own[1]]
        if len(found) != 1:
            return None
        arg, own = found[0]
        left.remove(found[0])
        path.append((arg, own[0] != end))
        end = own[1] if own[0] == end else own[0]
        if end in seen or (end == last and left):
            return None
        seen.add(end)
    return path if end == last else None
