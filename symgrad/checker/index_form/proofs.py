"""Prove that two array programs are equal, or that a gradient is right, for every size of their axes.

Each step of a program gets a normal form in index notation: a sum of products of indexed factors whose summed indices
have canonical names (`forms/terms.py`), simplified by a few laws (`forms/product_rules.py`). Two programs are equal if
the difference of their forms has no terms. The normal form is differentiated by rules of the checker.

Statements are pointwise, over the reals, where both sides are defined. The points at which the laws do not hold are
returned as conditions: zeros of denominators, nonpositive arguments of logarithms. Named sizes are at least 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from symgrad.checker.extension_field.field import GiveUp
from symgrad.checker.index_form.array_ops import ARRAY_OPS
from symgrad.checker.index_form.derivatives import FormDerivative, InputSubstitution, merge_repeated_indices
from symgrad.checker.index_form.elementwise_ops import (
    StepCall,
    elementwise,
    indexed_axes,
    polygamma,
    shape_of,
)
from symgrad.checker.index_form.forms.axis_products import AXIS_PRODUCT_RULES
from symgrad.checker.index_form.forms.canonical_labels import Form
from symgrad.checker.index_form.forms.form_conditions import merge_conditions
from symgrad.checker.index_form.forms.functions import constant, log, magnitude
from symgrad.checker.index_form.forms.product_rules import RULES
from symgrad.checker.index_form.forms.terms import REPEATED_INDEX, FormAlgebra, Head
from symgrad.checker.index_form.index_arrays import integer_bounds
from symgrad.checker.index_form.inverses import determinant, inverse
from symgrad.checker.index_form.matrix_functions import MATRIX_FUNCTION_RULES
from symgrad.checker.limits import FORM_TERMS
from symgrad.checker.program.length_polynomials import empty_axis_condition
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol
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


LAWS = {**RULES, **MATRIX_FUNCTION_RULES, **AXIS_PRODUCT_RULES, REPEATED_INDEX: merge_repeated_indices}
"""For each kind of factor, its simplification rule."""


def has_sizes(program: ProofProgram) -> bool:
    """Tell whether a program has a named size: as the length of an axis, or as a number."""
    return any(s.op == "size" or any(isinstance(n, str) for n in s.shape) for s in program.steps)


def prove_equal(program: ProofProgram, a: int, b: int, *, deadline: float = math.inf) -> tuple[str, ...]:
    """Prove that two steps have equal entries for all values of the symbols and all sizes.

    Args:
        program: the steps.
        a: the position of one step.
        b: the position of the other step, of the same shape.
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
        >>> prove_equal(ProofProgram(steps, (X,)), 0, 2)
        ()
    """
    t = FormAlgebra(FORM_TERMS, LAWS, deadline=deadline)
    if shape_of(program.steps[a]) != shape_of(program.steps[b]):
        raise GiveUp("the shapes differ")
    forms = normal_forms(t, program, (a, b))
    return _prove_forms_equal(t, forms[a], forms[b], frozen=_has_stop_gradient(program))


def prove_gradient(
    program: ProofProgram,
    y: int,
    wrt: str,
    claim: int,
    *,
    cotangent: int | None = None,
    most: int = FORM_TERMS,
    deadline: float = math.inf,
) -> tuple[str, ...]:
    """Prove that a step is the derivative of another step with respect to a symbol.

    Points where a piecewise function changes its piece are excluded.

    Args:
        program: the steps.
        y: the position of the differentiated step.
        wrt: the name of the symbol. Its entries count as independent, even for a symmetric matrix: only the point at
            which the derivative is taken is symmetric.
        claim: the position of the derivative, which has the axes of y and then those of the symbol.
        cotangent: the position of an array of y's shape; if there is one, the claim is the gradient of
            ``sum(cotangent*y)``.
        most: the number of terms at which the search gives up.
        deadline: on the clock of `symgrad.checker.clock`.

    Returns:
        The excluded points, as conditions.

    Raises:
        GiveUp: if no proof is found; a proof may still exist.
    """
    t = FormAlgebra(most, LAWS, smooth_input=wrt, deadline=deadline)
    symbol = _real_symbol(program, wrt)
    own = tuple(str(n) for n in symbol.shape)
    before = shape_of(program.steps[y])
    outputs = (y, claim) if cotangent is None else (y, claim, cotangent)
    forms = normal_forms(t, program, outputs, wrt)
    form = forms[y]
    if cotangent is not None:
        if shape_of(program.steps[cotangent]) != before:
            raise GiveUp("the cotangent has another shape")
        fixed = InputSubstitution(t, lambda head: _retag_input(t, head, True, head.symmetries)).of(
            forms[cotangent]
        )
        form = t.sum_over(t.multiply(form, fixed), {f"a{k}": before[k] for k in indexed_axes(before)})
        before = ()
    if shape_of(program.steps[claim]) != (*before, *own):
        raise GiveUp("the claim has another shape")
    found = FormDerivative(t, wrt, tuple(f"a{len(before) + k}" for k in indexed_axes(own))).of(form)
    frozen = symbol.symmetric or cotangent is not None or _has_stop_gradient(program)
    return _prove_forms_equal(t, found, forms[claim], frozen=frozen, symbol=symbol)


def prove_same_gradient(
    program: ProofProgram, a: int, b: int, wrt: str, *, deadline: float = math.inf
) -> tuple[str, ...]:
    """Prove that two steps have the same derivative with respect to a symbol; see `prove_gradient`.

    Args:
        program: the steps.
        a: the position of one step.
        b: the position of the other step, of the same shape.
        wrt: the name of the symbol.
        deadline: on the clock of `symgrad.checker.clock`.

    Returns:
        The excluded points, as conditions.

    Raises:
        GiveUp: if no proof is found; a proof may still exist.
    """
    t = FormAlgebra(FORM_TERMS, LAWS, smooth_input=wrt, deadline=deadline)
    symbol, shape = _real_symbol(program, wrt), shape_of(program.steps[a])
    if shape != shape_of(program.steps[b]):
        raise GiveUp("the shapes differ")
    forms = normal_forms(t, program, (a, b), wrt)
    own = indexed_axes(tuple(str(n) for n in symbol.shape))
    slope = FormDerivative(t, wrt, tuple(f"a{len(shape) + k}" for k in own))
    left, right = (slope.of(forms[k]) for k in (a, b))
    return _prove_forms_equal(
        t, left, right, frozen=symbol.symmetric or _has_stop_gradient(program), symbol=symbol
    )


def _prove_forms_equal(
    t: FormAlgebra, left: Form, right: Form, *, frozen: bool, symbol: Symbol | None = None
) -> tuple[str, ...]:
    """Unfreeze the inputs, prove that two forms are equal, and return the excluded points.

    After differentiation, the proof may use the symmetry of the symbol.
    """
    t.smooth_input = ""  # kinks of frozen inputs do not matter
    if frozen:
        unfreeze = InputSubstitution(
            t, lambda head: _retag_input(t, head, False, _input_symmetries(symbol, head))
        )
        left, right = unfreeze.of(left), unfreeze.of(right)
    _prove_zero(t, t.subtract(left, right))
    return merge_conditions(t.conditions)


def _real_symbol(program: ProofProgram, name: str) -> Symbol:
    symbol = next((s for s in program.symbols if s.name == name), None)
    if symbol is None or symbol.kind != "real":
        raise GiveUp(f"{name} is no real symbol of the program")
    return symbol


def _has_stop_gradient(program: ProofProgram) -> bool:
    return any(s.op == "stop_gradient" for s in program.steps)


def _input_symmetries(symbol: Symbol | None, head: Head) -> tuple[tuple[int, ...], ...]:
    """Return the symmetries of an input after the derivative with respect to a symbol is taken."""
    own = symbol is not None and symbol.symmetric and head.arity and head.params[0] == symbol.name
    return ((1, 0),) if own else head.symmetries


def _retag_input(t: FormAlgebra, head: Head, frozen: bool, symmetries: Iterable[tuple[int, ...]]) -> Head:
    """Return the head of an input, frozen (constant for derivatives) or not frozen."""
    name, lengths, _, kind = head.params
    key = (name, lengths, frozen, kind)
    return t.head("tensor", key, (), head.arity, symmetries=symmetries, positive=head.positive)


# ---------------------------------------------------------------------------------------------------- from the steps


def normal_forms(
    t: FormAlgebra, program: ProofProgram, outputs: Iterable[int], general: str = ""
) -> dict[int, Form]:
    """Return the forms of the steps that the outputs need; the symmetry of the input ``general`` is not used."""
    symbols = {s.name: s for s in program.symbols}
    t.integer_bounds.update((s.name, integer_bounds(s)) for s in program.symbols if s.kind == "int")
    forms: dict[int, Form] = {}
    partial: set[int] = set()  # these steps are not defined everywhere
    freeze = InputSubstitution(t, lambda head: _retag_input(t, head, True, head.symmetries))
    for i in program.needed(outputs):
        step = program.steps[i]
        for length in shape_of(step):
            _require_entries(t, length)
        before = t.assumed
        args = [forms[a] for a in step.args]
        shapes = [shape_of(program.steps[a]) for a in step.args]
        call = StepCall(t, step, shape_of(step), args, shapes)
        if step.op == "symbol":
            forms[i] = _input_form(t, symbols[step.params[0]], general)
        elif step.op == "stop_gradient":
            forms[i] = freeze.of(args[0])
        elif step.op == "where" and any(a in partial for a in step.args[1:]):
            if args[0] not in ({}, t.number(1)):
                raise GiveUp("a branch of where that is not defined everywhere")
            forms[i] = _op_form(call)
        elif step.op in ("inv", "det", "logdet"):
            found = function_of_product(t, program, i, forms)
            forms[i] = ARRAY_OPS[step.op](call) if found is None else found
        else:
            forms[i] = _op_form(call)
        if t.assumed != before or any(a in partial for a in step.args):
            partial.add(i)
    return forms


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


def _input_form(t: FormAlgebra, symbol: Symbol, general: str) -> Form:
    shape = tuple(str(n) for n in symbol.shape)
    lengths = tuple(n for n in shape if n != "1")
    orders: list[tuple[int, ...]] = []
    if symbol.symmetric and symbol.name != general:
        if len(shape) != 2 or shape[0] != shape[1]:
            raise GiveUp(f"{symbol.name} is no square matrix and not symmetric")
        orders = [(1, 0)] if lengths else []
    positive = symbol.low is not None and symbol.low >= 0
    head = t.head(
        "tensor",
        (symbol.name, lengths, False, symbol.kind),
        (),
        len(lengths),
        symmetries=orders,
        positive=positive,
    )
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
