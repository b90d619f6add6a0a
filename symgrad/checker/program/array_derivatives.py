"""Tangents of array ops, as steps.

Matrices: Petersen & Pedersen, The Matrix Cookbook (2012), equations 36 to 43.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from symgrad.checker.program.builder import Shape, StepBuilder, broadcast
from symgrad.checker.program.steps import ProofStep

_Rule: TypeAlias = "Callable[[StepBuilder, int, ProofStep, Sequence[int | None]], int | None]"
"""A function that maps a builder, the position of an op, its step and the tangents of its arguments (None: zero) to the
tangent of the op."""


def _on(reads: Callable[[StepBuilder, int, ProofStep, int], int]) -> _Rule:
    """Return the rule of an op that depends smoothly on its first argument only."""

    def rule(into: StepBuilder, at: int, step: ProofStep, moving: Sequence[int | None]) -> int | None:
        return None if moving[0] is None else reads(into, at, step, moving[0])

    return rule


def _linear(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
    return into.step(ProofStep(step.op, (moved, *step.args[1:]), step.params, step.shape))


def _einsum(into: StepBuilder, _at: int, step: ProofStep, moving: Sequence[int | None]) -> int | None:
    total: int | None = None
    for k, moved in enumerate(moving):
        if moved is not None:
            args = (*step.args[:k], moved, *step.args[k + 1 :])
            term = into.step(ProofStep("einsum", args, step.params, step.shape))
            total = term if total is None else into.op("add", total, term)
    return total


def _concatenate(into: StepBuilder, _at: int, step: ProofStep, moving: Sequence[int | None]) -> int | None:
    parts = [
        into.full(into.number(0), into.shape(a)) if moved is None else moved
        for a, moved in zip(step.args, moving, strict=True)
    ]
    return into.step(ProofStep("concatenate", tuple(parts), step.params, step.shape))


def _extreme(into: StepBuilder, at: int, step: ProofStep, moved: int) -> int:
    """Return the mean of the tangents of the extreme entries: in the strict sense, these are copies of one entry."""
    axes: tuple[int, ...] = step.params[0]
    here = into.op("eq", step.args[0], into.spread(at, axes))
    copies = into.sum(into.op("where", here, into.number(1), into.number(0)), axes)
    return into.op("div", into.sum(into.op("where", here, moved, into.number(0)), axes), copies)


def _norm(into: StepBuilder, at: int, step: ProofStep, moved: int) -> int:
    return into.op("div", into.sum(into.op("mul", step.args[0], moved), step.params[0]), at)


def _logsumexp(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
    shares = into.step(ProofStep("softmax", step.args, step.params, into.shape(step.args[0])))
    return into.sum(into.op("mul", shares, moved), step.params[0])


def _logcumsumexp(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
    def running(x: int) -> int:
        return into.step(ProofStep("cumsum", (x,), (*step.params, 0), step.shape))

    e = into.op("exp", step.args[0])
    return into.op("div", running(into.op("mul", e, moved)), running(e))


def _less_mean(into: StepBuilder, shares: int, axes: Sequence[int], moved: int) -> int:
    """Return a tangent minus its weighted mean."""
    mean = into.spread(into.sum(into.op("mul", shares, moved), axes), axes)
    return into.op("add", moved, into.op("neg", mean))


def _log_softmax(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
    shares = into.step(ProofStep("softmax", step.args, step.params, step.shape))
    return _less_mean(into, shares, step.params[0], moved)


def _prod(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
    """Apply the product rule along one axis after the other, the last axis first."""
    x = step.args[0]
    for axis in sorted(step.params[0], reverse=True):
        shape = into.shape(x)
        others = into.step(ProofStep("prod_except", (x,), (axis,), shape))
        moved = into.sum(into.op("mul", others, moved), (axis,))
        x = into.step(ProofStep("prod", (x,), ((axis,),), (*shape[:axis], *shape[axis + 1 :])))
    return moved


def _prod_except(into: StepBuilder, _at: int, step: ProofStep, moved: int) -> int:
    """Return the sum over k of tangent k times the product of all entries except entry k and this one.

    K is a new axis.
    """
    x, axis = step.args[0], int(step.params[0])
    shape = step.shape
    size, behind = shape[axis], len(shape) - axis - 1
    place = into.step(ProofStep("iota", (), (size,), (size,), "int"))
    ones: Shape = (1,) * behind
    # The new axis comes before this axis: it counts the entry whose tangent is taken.
    off = into.op("ne", into.reshape(place, (size, 1, *ones)), into.reshape(place, (size, *ones)))
    rows = into.op("where", off, into.reshape(x, (*shape[:axis], 1, *shape[axis:])), into.number(1))
    rows = into.full(rows, (*shape[:axis], size, *shape[axis:]))
    others = into.step(ProofStep("prod_except", (rows,), (axis + 1,), into.shape(rows)))
    change = into.reshape(moved, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    return into.sum(into.op("where", off, into.op("mul", others, change), into.number(0)), (axis,))


# ---------------------------------------------------------------------------------------------------- linear algebra


def _matmul(into: StepBuilder, a: int, b: int) -> int:
    """Multiply the matrices of two stacks, whose leading axes broadcast."""
    lead = broadcast([into.shape(a)[:-2], into.shape(b)[:-2]])
    n = len(lead)

    def operand(at: int, row: int, column: int) -> tuple[int, tuple[int, ...]]:
        *own, rows, columns = into.shape(at)
        kept = [
            k for k, size in enumerate(own, n - len(own)) if size == lead[k]
        ]  # the other leading axes broadcast
        return into.reshape(at, (*(lead[k] for k in kept), rows, columns)), (*kept, row, column)

    return into.contract([operand(a, n, n + 1), operand(b, n + 1, n + 2)], (*range(n), n, n + 2))


def _trace_with_inverse(into: StepBuilder, step: ProofStep, moved: int) -> int:
    x = step.args[0]
    inverse = into.step(ProofStep("inv", (x,), (), into.shape(x)))
    lead = tuple(range(len(into.shape(x)) - 2))
    n = len(lead)
    return into.contract([(inverse, (*lead, n, n + 1)), (moved, (*lead, n + 1, n))], lead)


def _solve(into: StepBuilder, at: int, step: ProofStep, moving: Sequence[int | None]) -> int | None:
    a, b = step.args
    change = moving[1]
    if moving[0] is not None:
        vector = len(into.shape(b)) == 1
        product = (
            into.contract([(moving[0], (0, 1)), (at, (1,))], (0,)) if vector else _matmul(into, moving[0], at)
        )
        less = into.op("neg", product)
        change = less if change is None else into.op("add", change, less)
    if change is None:
        return None
    return into.step(ProofStep("solve", (a, change), (), step.shape))


def _matrix_function(
    into: StepBuilder, _at: int, step: ProofStep, moving: Sequence[int | None]
) -> int | None:
    """Return the tangent of a function of a matrix, or of its derivative in given directions, linear in each of them.

    The derivative of order k has k directions: N. J. Higham, Functions of Matrices, SIAM 2008, section 3.2.
    """
    (x, *directions), (along, *turned) = step.args, moving
    ways = [(*directions[:k], e, *directions[k + 1 :]) for k, e in enumerate(turned) if e is not None]
    if along is not None:
        ways.append((*directions, along))
    op = f"{step.op.removesuffix('_frechet')}_frechet"
    total: int | None = None
    for way in ways:
        term = into.step(ProofStep(op, (x, *way), (), step.shape))
        total = term if total is None else into.op("add", total, term)
    return total


def _lower_half(into: StepBuilder, x: int) -> int:
    """Return the lower triangle of matrices with half of the diagonal."""
    n = into.shape(x)[-1]
    column = into.step(ProofStep("iota", (), (n,), (n,), "int"))
    row = into.reshape(column, (n, 1))
    weight = into.op("where", into.op("eq", row, column), into.number(Fraction(1, 2)), into.number(0))
    return into.op("mul", into.op("where", into.op("gt", row, column), into.number(1), weight), x)


def _transposed(into: StepBuilder, x: int) -> int:
    n = len(into.shape(x))
    return into.contract([(x, tuple(range(n)))], (*range(n - 2), n - 1, n - 2))


def _cholesky(into: StepBuilder, at: int, step: ProofStep, moved: int) -> int:
    """Return L @ H(inv(L) @ dA @ inv(L).T), where dA = H(moved) + H(moved).T: I. Murray, arXiv 1602.07527, 2016."""

    def solved(x: int) -> int:
        return into.step(ProofStep("solve", (at, x), (), step.shape))

    half = _lower_half(into, moved)
    change = into.op("add", half, _transposed(into, half))
    return _matmul(into, at, _lower_half(into, solved(_transposed(into, solved(change)))))


ARRAY_DERIVATIVES: dict[str, Any] = {
    **dict.fromkeys(
        ("mean", "reshape", "broadcast_to", "slice", "unslice", "cumsum", "gather", "scatter_add"),
        _on(_linear),
    ),
    "einsum": _einsum,
    "concatenate": _concatenate,
    "max": _on(_extreme),
    "min": _on(_extreme),
    "norm": _on(_norm),
    "logsumexp": _on(_logsumexp),
    "logcumsumexp": _on(_logcumsumexp),
    "softmax": _on(lambda b, at, step, moved: b.op("mul", at, _less_mean(b, at, step.params[0], moved))),
    "log_softmax": _on(_log_softmax),
    "prod": _on(_prod),
    "prod_except": _on(_prod_except),
    "inv": _on(lambda b, at, _, moved: b.op("neg", _matmul(b, _matmul(b, at, moved), at))),
    "det": _on(lambda b, at, step, moved: b.op("mul", at, _trace_with_inverse(b, step, moved))),
    "logdet": _on(lambda b, _, step, moved: _trace_with_inverse(b, step, moved)),
    "solve": _solve,
    "cholesky": _on(_cholesky),
    **dict.fromkeys(("expm", "sinm", "cosm"), _matrix_function),
    **dict.fromkeys(("expm_frechet", "sinm_frechet", "cosm_frechet"), _matrix_function),
}
