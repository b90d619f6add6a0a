"""Proofs that two array programs are equal, or that a gradient is right, for every size of their axes.

Each step of a program gets a normal form entry by entry: a sum of products of indexed factors, the summed indices with
canonical names (`forms/terms.py`), taken apart by a few laws (`forms/rules.py`). Two programs are equal if the
difference of their forms has no terms. Derivatives are taken of the normal form, by rules of this checker alone.

The meaning is pointwise and over the reals, where both sides are defined. Where the laws do not hold is returned: where
a denominator is zero, where what has a logarithm is not positive. Sizes with a name are at least 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from symgrad.checker.entrywise.chains import of_product
from symgrad.checker.entrywise.derivatives import Derivative, Exchange, repeated
from symgrad.checker.entrywise.forms.along import PRODUCT_RULES
from symgrad.checker.entrywise.forms.laws import constant
from symgrad.checker.entrywise.forms.rules import RULES
from symgrad.checker.entrywise.forms.said import merge_conditions
from symgrad.checker.entrywise.forms.terms import REPEATED, Form, Head, Terms
from symgrad.checker.entrywise.matrix_functions import FUNCTION_RULES
from symgrad.checker.entrywise.ops_of_arrays import ARRAYS
from symgrad.checker.entrywise.pointers import between
from symgrad.checker.entrywise.rows import StepCall, axes, elementwise, polygamma, shape_of
from symgrad.checker.kernels.field import GiveUp
from symgrad.checker.program.sizes import empty
from symgrad.checker.program.steps import ProofProgram, Symbol

__all__ = ["LAWS", "forms_of", "has_sizes", "prove_equal", "prove_gradient", "prove_same_gradient"]

BUDGET = 100_000

LAWS = {**RULES, **FUNCTION_RULES, **PRODUCT_RULES, REPEATED: repeated}
"""The laws of each kind of factor."""


def has_sizes(program: ProofProgram) -> bool:
    """Tell whether the length of an axis, or a number, is a size with a name."""
    return any(s.op == "size" or any(isinstance(n, str) for n in s.shape) for s in program.steps)


def prove_equal(
    program: ProofProgram, a: int, b: int, *, budget: int = BUDGET, deadline: float = math.inf
) -> tuple[str, ...]:
    """Prove that two steps have equal entries for all values of the symbols and all sizes.

    Args:
        program: the steps.
        a: position of one of them.
        b: of the other, of the same shape.
        budget: work before giving up.
        deadline: when to give up, on the count of `symgrad.checker.clock`.

    Returns:
        Where it says nothing, as text.

    Raises:
        GiveUp: if it finds no proof; that says nothing about whether there is one.

    Example:
        >>> X = Symbol("X", "real", None, None, ("n", "m"))
        >>> from symgrad.checker.program.steps import ProofStep
        >>> turned = lambda k, *shape: ProofStep("einsum", (k,), (((0, 1),), (1, 0)), shape)
        >>> steps = (ProofStep("symbol", (), ("X",), ("n", "m")), turned(0, "m", "n"), turned(1, "n", "m"))
        >>> prove_equal(ProofProgram(steps, (X,)), 0, 2)
        ()
    """
    t = Terms(budget, LAWS, deadline=deadline)
    if shape_of(program.steps[a]) != shape_of(program.steps[b]):
        raise GiveUp("the shapes differ")
    forms = forms_of(t, program, (a, b))
    return _agree(t, forms[a], forms[b], frozen=_stops(program))


def prove_gradient(
    program: ProofProgram,
    y: int,
    wrt: str,
    claim: int,
    *,
    cotangent: int | None = None,
    budget: int = BUDGET,
    deadline: float = math.inf,
) -> tuple[str, ...]:
    """Prove that a step is the derivative of another by a symbol.

    Points where a piecewise function changes its piece are left out.

    Args:
        program: the steps.
        y: position of what is differentiated.
        wrt: name of the symbol; its entries count as independent, also those of a symmetric matrix, which is the point
            at which the derivative is taken.
        claim: position of the derivative, with the axes of y and then those of the symbol: for a scalar the gradient.
        cotangent: position of an array of y's shape; the claim is then the gradient of ``sum(cotangent*y)``.
        budget: work before giving up.
        deadline: when to give up, on the count of `symgrad.checker.clock`.

    Returns:
        Where it says nothing, as text.

    Raises:
        GiveUp: if it finds no proof; that says nothing about whether there is one.
    """
    t = Terms(budget, LAWS, smooth=wrt, deadline=deadline)
    symbol = _real(program, wrt)
    own = tuple(str(n) for n in symbol.shape)
    before = shape_of(program.steps[y])
    outputs = (y, claim) if cotangent is None else (y, claim, cotangent)
    forms = forms_of(t, program, outputs, wrt)
    form = forms[y]
    if cotangent is not None:
        if shape_of(program.steps[cotangent]) != before:
            raise GiveUp("the cotangent has another shape")
        fixed = Exchange(t, lambda head: _tensor(t, head, True, head.symmetries)).of(forms[cotangent])
        form = t.sum_over(t.multiply(form, fixed), {f"a{k}": before[k] for k in axes(before)})
        before = ()
    if shape_of(program.steps[claim]) != (*before, *own):
        raise GiveUp("the claim has another shape")
    found = Derivative(t, wrt, tuple(f"a{len(before) + k}" for k in axes(own))).of(form)
    frozen = symbol.symmetric or cotangent is not None or _stops(program)
    return _agree(t, found, forms[claim], frozen=frozen, symbol=symbol)


def prove_same_gradient(
    program: ProofProgram, a: int, b: int, wrt: str, *, budget: int = BUDGET, deadline: float = math.inf
) -> tuple[str, ...]:
    """Prove that two steps have the same derivative by a symbol; see `prove_gradient`.

    Args:
        program: the steps.
        a: position of one of them.
        b: of the other, of the same shape.
        wrt: name of the symbol.
        budget: work before giving up.
        deadline: when to give up, on the count of `symgrad.checker.clock`.

    Returns:
        Where it says nothing, as text.

    Raises:
        GiveUp: if it finds no proof; that says nothing about whether there is one.
    """
    t = Terms(budget, LAWS, smooth=wrt, deadline=deadline)
    symbol, shape = _real(program, wrt), shape_of(program.steps[a])
    if shape != shape_of(program.steps[b]):
        raise GiveUp("the shapes differ")
    forms = forms_of(t, program, (a, b), wrt)
    own = axes(tuple(str(n) for n in symbol.shape))
    slope = Derivative(t, wrt, tuple(f"a{len(shape) + k}" for k in own))
    left, right = (slope.of(forms[k]) for k in (a, b))
    return _agree(t, left, right, frozen=symbol.symmetric or _stops(program), symbol=symbol)


def _agree(
    t: Terms, left: Form, right: Form, *, frozen: bool, symbol: Symbol | None = None
) -> tuple[str, ...]:
    """Prove that two forms are equal, where inputs were frozen as these were before, and say where that says nothing.

    Of a symbol that a derivative was taken by, the symmetry may be used now.
    """
    t.smooth = ""  # what was frozen has no kinks
    if frozen:
        thaw = Exchange(t, lambda head: _tensor(t, head, False, _orders(symbol, head)))
        left, right = thaw.of(left), thaw.of(right)
    _vanish(t, t.subtract(left, right))
    return merge_conditions(t.conditions)


def _real(program: ProofProgram, name: str) -> Symbol:
    symbol = next((s for s in program.symbols if s.name == name), None)
    if symbol is None or symbol.kind != "real":
        raise GiveUp(f"{name} is no real symbol of the program")
    return symbol


def _stops(program: ProofProgram) -> bool:
    return any(s.op == "stop_gradient" for s in program.steps)


def _orders(symbol: Symbol | None, head: Head) -> tuple[tuple[int, ...], ...]:
    """Return the symmetries of an input after the derivative by a symbol is taken."""
    own = symbol is not None and symbol.symmetric and head.arity and head.params[0] == symbol.name
    return ((1, 0),) if own else head.symmetries


def _tensor(t: Terms, head: Head, frozen: bool, symmetries: Iterable[tuple[int, ...]]) -> Head:
    """Return an input as a constant to differentiation, or as it was before."""
    name, lengths, _, kind = head.params
    key = (name, lengths, frozen, kind)
    return t.head("tensor", key, (), head.arity, symmetries=symmetries, positive=head.positive)


# ---------------------------------------------------------------------------------------------------- from the steps


def forms_of(t: Terms, program: ProofProgram, outputs: Iterable[int], general: str = "") -> dict[int, Form]:
    """Return the forms of the steps that the outputs need; of one input the symmetry is not used."""
    symbols = {s.name: s for s in program.symbols}
    t.between.update((s.name, between(s)) for s in program.symbols if s.kind == "int")
    forms: dict[int, Form] = {}
    partial: set[int] = set()  # steps that are not defined everywhere
    freeze = Exchange(t, lambda head: _tensor(t, head, True, head.symmetries))
    for i in program.needed(outputs):
        step = program.steps[i]
        for length in shape_of(step):
            _has_entries(t, length)
        before = t.assumed
        args = [forms[a] for a in step.args]
        shapes = [shape_of(program.steps[a]) for a in step.args]
        call = StepCall(t, step, shape_of(step), args, shapes)
        if step.op == "symbol":
            forms[i] = _input(t, symbols[step.params[0]], general)
        elif step.op == "stop_gradient":
            forms[i] = freeze.of(args[0])
        elif step.op == "where" and any(a in partial for a in step.args[1:]):
            if args[0] not in ({}, t.number(1)):
                raise GiveUp("a branch of where that is not defined everywhere")
            forms[i] = _form(call)
        elif step.op in ("inv", "det", "logdet"):
            found = of_product(t, program, i, forms)
            forms[i] = ARRAYS[step.op](call) if found is None else found
        else:
            forms[i] = _form(call)
        if t.assumed != before or any(a in partial for a in step.args):
            partial.add(i)
    return forms


def _has_entries(t: Terms, length: str) -> None:
    """An empty sum of what is nowhere defined is defined: so every axis has an entry."""
    if length == "0":
        raise GiveUp("an axis without entries")
    without = empty(length)
    if without:
        t.conditions.setdefault(without)


def _form(call: StepCall) -> Form:
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
        case op if op in ARRAYS:
            return ARRAYS[op](call)
        case op:
            found = elementwise(call)
            if found is None:
                raise GiveUp(f"the op {op}")
            return found


def _input(t: Terms, symbol: Symbol, general: str) -> Form:
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
    return t.atom(head, [f"a{k}" for k in axes(shape)])


# ------------------------------------------------------------------------------------------------------------ is it 0?


def _vanish(t: Terms, form: Form) -> None:
    """Show that a form is zero, multiplied by denominators that are not summed if need be."""
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
