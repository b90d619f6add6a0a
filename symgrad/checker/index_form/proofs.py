"""Prove that two array programs are equal, for every size of their axes; also where one is a derivative.

Each step of a program gets a normal form in index notation: a sum of products of indexed factors whose summed indices
have canonical names (`forms/terms.py`), simplified by a few laws (`forms/product_rules.py`). Two programs are equal if
the difference of their forms has no terms. A derivative is a program, too (`symgrad/checker/program/derivative.py`).

Statements are pointwise, over the reals, where both sides are defined. The points at which the laws do not hold are
returned as conditions: zeros of denominators, nonpositive arguments of logarithms. Named sizes are at least 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from symgrad.checker.balls.programs import depending_arguments
from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.array_ops import ARRAY_OPS
from symgrad.checker.index_form.elementwise_ops import (
    StepCall,
    elementwise,
    indexed_axes,
    polygamma,
    shape_of,
)
from symgrad.checker.index_form.forms.axis_products import AXIS_PRODUCT_RULES
from symgrad.checker.index_form.forms.canonical_labels import Form
from symgrad.checker.index_form.forms.form_conditions import (
    failure_condition,
    merge_conditions,
    tie_condition,
    zero_conditions,
)
from symgrad.checker.index_form.forms.functions import constant, exclude, log, magnitude
from symgrad.checker.index_form.forms.product_rules import RULES, delta
from symgrad.checker.index_form.forms.terms import REPEATED_INDEX, FormAlgebra, Head, heads_of, heads_within
from symgrad.checker.index_form.index_arrays import integer_bounds
from symgrad.checker.index_form.inverses import determinant, inverse
from symgrad.checker.index_form.matrix_functions import MATRIX_FUNCTION_RULES
from symgrad.checker.index_form.repeated_indices import merge_repeated_indices
from symgrad.checker.limits import FORM_TERMS
from symgrad.checker.program.equality import Equality, Tangents
from symgrad.checker.program.length_polynomials import empty_axis_condition
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
from symgrad.support.traversal import leaves, walk


def function_of_product(
    t: FormAlgebra, program: ProofProgram, at: int, forms: Mapping[int, Form]
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


LAWS = {**RULES, **MATRIX_FUNCTION_RULES, **AXIS_PRODUCT_RULES, REPEATED_INDEX: merge_repeated_indices}
"""For each kind of factor, its simplification rule."""


def has_sizes(program: ProofProgram) -> bool:
    """Tell whether a program has a named size: as the length of an axis, or as a number."""
    return any(s.op == "size" or any(isinstance(n, str) for n in s.shape) for s in program.steps)


def prove_equal(claim: Equality, *, most: int = FORM_TERMS, deadline: float = math.inf) -> tuple[str, ...]:
    """Prove that two steps have equal entries for all values of the symbols and all sizes.

    Args:
        claim: the claim; if it is about a derivative, points where a piecewise function changes its piece are excluded.
        most: the number of terms at which the search gives up.
        deadline: on the clock of `symgrad.checker.clock`.

    Returns:
        The excluded points, as conditions.

    Raises:
        GiveUp: if no proof is found; a proof may still exist.

    Example:
        >>> X = Symbol("X", "real", None, None, ("n", "m"))
        >>> from symgrad.checker.program.steps import ProofStep
        >>> turned = lambda k, *shape: ProofStep("einsum", (k,), (((0, 1),), (1, 0)), shape)
        >>> steps = (ProofStep("symbol", (), ("X",), ("n", "m")), turned(0, "m", "n"), turned(1, "n", "m"))
        >>> prove_equal(Equality(ProofProgram(steps, (X,)), 0, 2))
        ()
    """
    program, a, b, tangents = claim.program, claim.a, claim.b, claim.tangents
    t = FormAlgebra(most, LAWS, smooth_input=tangents.wrt if tangents else "", deadline=deadline)
    if shape_of(program.steps[a]) != shape_of(program.steps[b]):
        raise GiveUp("the shapes differ")
    forms = normal_forms(t, program, (a, b), tangents)
    _prove_zero(t, t.subtract(forms[a], forms[b]))
    return merge_conditions(t.conditions)


# ---------------------------------------------------------------------------------------------------- from the steps


def normal_forms(
    t: FormAlgebra, program: ProofProgram, outputs: Iterable[int], tangents: Tangents | None = None
) -> dict[int, Form]:
    """Return the forms of the steps that the outputs and the differentiated steps need, and note what is excluded.

    Where a step of a tangent has no value, there is no derivative, and nothing is claimed. So only the conditions of
    branches of ``where`` are noted, which need not be read, unless they were simplified away. The direction is that of
    an entry, at the indices "d0", "d1", ...: tangents are linear in it.
    """
    t.integer_bounds.update((s.name, integer_bounds(s)) for s in program.symbols if s.kind == "int")
    first, values = (tangents.first, tangents.values) if tangents else (len(program.steps), ())
    forms: dict[int, Form] = {}
    partial: dict[int, dict[str, None]] = {}  # steps that are not defined everywhere, with the conditions
    for i in program.needed((*outputs, *values)):
        step = program.steps[i]
        for length in shape_of(step):
            _require_entries(t, length)
        before, noted, t.conditions = t.assumed, t.conditions, {}
        if step.op == "where" and forms[step.args[0]] not in ({}, t.number(1)):
            for branch in sorted(partial.keys() & step.args[1:]):
                if i < first:
                    raise GiveUp("a branch of where that is not defined everywhere")
                if not _is_total(t, forms[branch]):
                    noted |= partial[branch]
        forms[i] = _step_form(t, program, i, forms, tangents)
        open_args = partial.keys() & step.args
        if t.assumed != before or open_args:
            partial[i] = t.conditions.copy()
            for arg in open_args:
                partial[i] |= partial[arg]
        t.conditions = noted if i >= first else noted | t.conditions
    if tangents:
        _note_jumps(t, program, forms, tangents)
    return forms


def _step_form(
    t: FormAlgebra, program: ProofProgram, at: int, forms: Mapping[int, Form], tangents: Tangents | None
) -> Form:
    step = program.steps[at]
    if step.op == "symbol":
        (name,) = step.params
        if tangents and name == tangents.direction:
            shape = shape_of(step)
            return t.multiply(*(delta(t, f"a{k}", f"d{k}", shape[k]) for k in indexed_axes(shape)))
        return _input_form(t, next(s for s in program.symbols if s.name == name))
    if step.op == "stop_gradient":
        return forms[step.args[0]]
    found = function_of_product(t, program, at, forms) if step.op in ("inv", "det", "logdet") else None
    shapes = [shape_of(program.steps[a]) for a in step.args]
    call = StepCall(t, step, shape_of(step), [forms[a] for a in step.args], shapes)
    return _op_form(call) if found is None else found


_PARTIAL = {"inv", "cholesky", "log", "asin", "acosh", "atanh", "gamma", "lgamma", "polygamma"}


def _is_total(t: FormAlgebra, form: Form) -> bool:
    """Tell whether a form has a value at every point: it has no denominators, roots and functions with a domain."""
    heads = [t.heads[h] for h in heads_within(t, form)]
    monomials = [m for own in (form, *(f for head in heads for f in head.forms)) for m in own]
    exponents = (e for m in monomials for (_, own), x in m for e in (x, *(y for _, _, y in own)))
    return all(e > 0 and e.denominator == 1 for e in exponents) and not any(h.kind in _PARTIAL for h in heads)


_JUMPS = {
    "floor": "is a whole number",
    "ceil": "is a whole number",
    "round": "is halfway between whole numbers",
}
_EXTREMES = {"max", "min", "argmax", "argmin"}


def _note_jumps(t: FormAlgebra, program: ProofProgram, forms: Mapping[int, Form], tangents: Tangents) -> None:
    """Note where a differentiated value is not smooth although it has a value: no law takes these functions apart."""

    def moving(at: int) -> tuple[int, ...]:
        return program.steps[at].args if program.steps[at].op != "stop_gradient" else ()

    depends = depending_arguments(program, tangents.wrt) or ()
    read = heads_within(t, *(forms[i] for i in tangents.values))
    for i in walk(tangents.values, moving):
        if depends[i]:
            own = heads_of(forms[i]).difference(*(heads_of(forms[a]) for a in program.steps[i].args))
            for head in sorted(own & read):
                exclude(t, _jump_conditions(t, t.heads[head]))


def _jump_conditions(t: FormAlgebra, head: Head) -> Iterable[str]:
    """Return the conditions under which a function jumps, or an extreme entry is another one."""
    if head.kind == "sign":
        return () if head.params[0] else zero_conditions(t, head.forms[0], "= 0")
    if head.kind in _JUMPS:
        return [failure_condition(t, head.forms[0], _JUMPS[head.kind])]
    return [tie_condition(t, head.forms[0], head.kind)] if head.kind in _EXTREMES else ()


def _require_entries(t: FormAlgebra, length: str) -> None:
    """Require that an axis has entries: an empty sum is defined even where its terms are not."""
    if length == "0":
        raise GiveUp("an axis without entries")
    without = empty_axis_condition(length)
    if without:
        t.conditions.setdefault(without)


def _op_form(call: StepCall) -> Form:
    t, step = call.t, call.step
    match step.op:
        case "number":
            (value,) = step.params
            return t.number(Fraction(value))
        case "constant":
            return constant(t, step.params[0])
        case "size":
            return t.size(step.params[0])
        case "polygamma":
            return polygamma(t, call.args[0], step.params[0])
        case op if op in ARRAY_OPS:
            return ARRAY_OPS[op](call)
        case op:
            found = elementwise(call)
            if found is None:
                raise GiveUp(f"the op {op}")
            return found


def _input_form(t: FormAlgebra, symbol: Symbol) -> Form:
    shape = tuple(str(n) for n in symbol.shape)
    lengths = tuple(n for n in shape if n != "1")
    orders: list[tuple[int, ...]] = []
    if symbol.symmetric:
        if len(shape) != 2 or shape[0] != shape[1]:
            raise GiveUp(f"{symbol.name} is no square matrix and not symmetric")
        orders = [(1, 0)] if lengths else []
    positive = symbol.low is not None and symbol.low >= 0
    params = (symbol.name, lengths, symbol.kind)
    head = t.head("tensor", params, (), len(lengths), symmetries=orders, positive=positive)
    return t.atom(head, [f"a{k}" for k in indexed_axes(shape)])


# ------------------------------------------------------------------------------------------------------- zero test


def _prove_zero(t: FormAlgebra, form: Form) -> None:
    """Prove that a form is zero; if necessary, multiply it by its denominators first."""
    for _ in range(3):
        if not form:
            return
        low: dict[tuple[int, tuple[str, ...]], Fraction] = {}
        for monomial in form:
            for (lengths, own), e in monomial:
                head, positions, _one = own[0]
                if not lengths and e < 0 and t.heads[head].kind == "sum":
                    low[head, positions] = min(e, low.get((head, positions), e))
        if not low:
            break
        for (head, positions), e in low.items():
            form = t.multiply(form, t.atom(t.heads[head], positions, -e))
    if form:
        raise GiveUp("the normal forms differ")
