"""Arrays with their axes in another order, and steps turn by turn: the values are those of the program as written."""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import pytest

from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.llvm.text.types import FLOAT32, FLOAT64, FloatType
from symgrad.compiler.lowering.arrays import axes as layout
from symgrad.compiler.lowering.arrays import outer_loop_fusion as turns
from symgrad.compiler.lowering.arrays.plan import Plan, plan_arrays
from symgrad.compiler.lowering.contractions import estimate
from symgrad.errors import SymgradError
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.sizes import size_product
from symgrad.ir.traverse import topological
from symgrad.ir.types import BOOL
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.array.contraction import contract, sum_over, transpose
from symgrad.ops.array.layout import broadcast_to, concatenate, reshape, slice_axes
from tests.compiler.llvm.arrays import Compiled, tensor, values_for, with_gradients
from tests.compiler.llvm.test_array_code import check_random, compare

SIZES = ({"b": 3, "n": 40}, {"b": 1, "n": 9}, {"b": 4, "n": 1}, {"b": 2, "n": 0}, {"b": 0, "n": 3})
AXES = (3, "b", "n", 3)
KINDS = ("sum", "max", "logsumexp", "mean", "softmax", "reversed", "broadcast", "joined")


@contextmanager
def whenever_possible() -> Generator[None]:
    """Turn axes and take turns wherever it can be done, not only where it is worth it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_WORTH", float("inf"))
        patch.setattr(turns, "_LARGE", 0)
        patch.setattr(turns, "_TURN", 0)
        yield


def random_stacks(seed: int) -> list[Node]:
    """Return products of stacks of matrices and formulas of them, and a scalar of all; the same for the same seed."""
    r = random.Random(seed)
    pool: dict[tuple[int, ...], list[Node]] = {}

    def keep(axes: tuple[int, ...], node: Node) -> None:
        pool.setdefault(axes, []).append(node)

    def pick() -> tuple[tuple[int, ...], Node]:
        axes = r.choice(list(pool))
        return axes, r.choice(pool[axes][-3:])

    for k, axes in enumerate([(0, 1, 2), (0, 3, 1), (2, 1), (0, 1), (2, 0, 3), (1,), (0,)]):
        keep(axes, tensor(f"x{k}", *(AXES[a] for a in axes)))
    x = y = pool[0,][0]
    for _ in range(r.randint(6, 16)):
        a, x = pick()
        b, y = pick()
        kind = r.randint(0, 8)
        every = tuple(dict.fromkeys((*a, *b)))
        if kind < 3 and set(a) & set(b):
            gone = {k for k in set(a) & set(b) if r.random() < 0.5}
            kept = [k for k in every if k not in gone]
            r.shuffle(kept)
            keep(tuple(kept), contract([x, y], [a, b], kept))
        elif kind < 6:
            order = r.sample(every, len(every))
            parts = [_along(z, own, order) for z, own in ((x, a), (y, b))]
            if kind == 5:
                keep(tuple(order), OPS["where"](OPS["gt"](*parts), parts[0], parts[1] * 2 + 1))
            else:
                keep(tuple(order), OPS[r.choice(["add", "mul"])](*parts))
        elif kind == 6:
            keep(a, OPS[r.choice(["tanh", "sin", "neg"])](x))
        elif len(a) > 1:
            j = r.randrange(len(a))
            rest = tuple(k for i, k in enumerate(a) if i != j)
            name = r.choice([*KINDS, "parts"] if isinstance(AXES[a[j]], int) else KINDS)
            if name == "sum":
                keep(rest, sum_over(x, (j,)))
            elif name == "reversed":
                keep(a, slice_axes(x, [(None, None, -1 if i == j else 1) for i in range(len(a))]))
            elif name == "parts":
                parts = [OPS["tanh"](_sliced(x, j, None, 1)), OPS["sin"](_sliced(x, j, 1, None))]
                keep(a, concatenate(*parts, params=(j,)))
            elif name == "joined":  # as one axis, and from its end
                whole = reshape(OPS["tanh"](x), params=((size_product(x.shape),),))
                keep(a, reshape(slice_axes(whole, [(None, None, -1)]), params=(x.shape,)))
            elif name == "broadcast":
                thin = sum_over(x, (j,))
                shape = tuple(1 if i == j else n for i, n in enumerate(x.shape))
                keep(a, broadcast_to(reshape(thin, params=(shape,)), params=(x.shape,)))
            else:
                keep(a if name == "softmax" else rest, OPS[name](x, params=((j,),)))
    loss = sum((_total(nodes[-1]) for nodes in pool.values()), start=_total(y))
    return [loss, *(OPS["sin"](nodes[-1]) for nodes in r.sample(list(pool.values()), 2))]


def _sliced(x: Node, axis: int, start: int | None, stop: int | None) -> Node:
    return slice_axes(x, [(start, stop, 1) if i == axis else (None, None, 1) for i in range(len(x.shape))])


def _total(x: Node) -> Node:
    return sum_over(OPS["sin"](x), tuple(range(len(x.shape))))


def _along(x: Node, axes: tuple[int, ...], order: list[int]) -> Node:
    """Return an array so that it broadcasts against others whose axes are in this order."""
    own = [k for k in order if k in axes]
    turned = transpose(x, [axes.index(k) for k in own])
    shape = tuple(AXES[k] if k in axes else 1 for k in order)
    return turned if turned.shape == shape else reshape(turned, params=(shape,))


def check(seed: int) -> Plan:
    outputs = with_gradients(random_stacks(seed))
    with whenever_possible():
        compiled = Compiled(outputs)
        plan = plan_arrays(outputs, compiled.inputs)
    real = [n for n in topological(outputs) if n.dtype == "real"]
    for sizes in SIZES:
        values = values_for(compiled.inputs, sizes, seed)
        try:
            everything = evaluate(real, values)
        except SymgradError:
            continue  # the largest of no numbers
        if any(np.max(np.abs(v), initial=0) > 1e4 for v in everything):
            continue  # the sine of a large number has lost digits
        wanted = evaluate(outputs, values)
        compare(compiled(sizes, values), wanted, 1e-9)
    return plan


def test_random_stacks_of_matrices() -> None:
    plans = [check(seed) for seed in range(10)]
    assert sum(bool(p.turns) for p in plans) > 3
    assert sum(len(t.private) for p in plans for t in p.turns) > 6


def test_a_mixture_in_float32() -> None:
    outputs = mixture()
    with whenever_possible():
        compiled = Compiled(outputs, real=FLOAT32)
    values = values_for(compiled.inputs, {})
    compare(compiled({}, values), evaluate(outputs, values), 1e-4)


def test_random_programs_whenever_possible() -> None:
    with whenever_possible():
        assert sum(check_random(seed, FLOAT64, 1e-10) for seed in range(200, 220)) > 50


def mixture() -> list[Node]:
    """Distances of points from centres after a linear map of each centre, and their softmax."""
    x, c, m = tensor("x", 1000, 3), tensor("c", 25, 3), tensor("M", 25, 3, 3)
    apart = reshape(x, params=((1000, 1, 3),)) - c
    turned = contract([m, apart], [(0, 1, 2), (3, 0, 2)], (3, 0, 1)) + OPS["exp"](c) * apart
    nearest = OPS["logsumexp"](-sum_over(turned**2, (2,)), params=((1,),))
    loss = sum_over(nearest, (0,))
    return [loss, *pull_back([loss], [as_node(1)], [c, m]).gradients]


def test_points_of_few_coordinates_get_the_points_last() -> None:
    outputs = mixture()
    compiled = Compiled(outputs)
    plan = plan_arrays(outputs, compiled.inputs)
    loops = [s.loops for s in plan.passes if estimate(size_product(s.loops)) > 10_000]
    assert loops
    assert all(one[-1] == 1000 for one in loops)
    values = values_for(compiled.inputs, {})
    compare(compiled({}, values), evaluate(outputs, values), 1e-12)


def test_arrays_of_one_turn_take_the_memory_of_one_turn() -> None:
    outputs = mixture()
    compiled = Compiled(outputs)
    plan = plan_arrays(outputs, compiled.inputs)
    assert any(t.count == 25 and t.private for t in plan.turns)
    # All of them at once: the points less the centres, and one that the gradient reads again.
    assert compiled.needs({}) < 3 * 8 * 1000 * 25 * 3


def test_sums_over_rows_one_after_the_other_share_their_memory() -> None:
    x = tensor("x", "n", 1000)

    def needs(depth: int) -> int:
        value: Node = x
        for _ in range(depth):
            value = OPS["exp"](value * sum_over(value, [0]))
        return Compiled([value]).needs({"n": 3})

    assert needs(9) <= needs(3)


def test_wide_rows_stay_as_they_are() -> None:
    x = tensor("X", "n", 100)
    outputs = with_gradients([sum_over(OPS["logsumexp"](OPS["tanh"](x), params=((1,),)), (0,))])
    found, stored = layout.choose_axis_order(outputs)
    assert found == outputs
    assert not stored


def test_conditions_are_turned_as_conditions() -> None:
    mask, x = tensor("mask", 1000, 3, domain=BOOL), tensor("x", 1000, 3)
    apart = OPS["where"](mask, OPS["tanh"](x), reshape(sum_over(x, (1,)), params=((1000, 1),)))
    outputs = [sum_over(apart**2, (1,)), sum_over(apart, (0,))]
    with whenever_possible():
        compiled = Compiled(outputs)
    rng = np.random.default_rng(0)
    values = {mask: rng.random((1000, 3)) < 0.5, x: rng.normal(size=(1000, 3))}
    compare(compiled({}, values), evaluate(outputs, values), 1e-12)


@pytest.mark.parametrize("real", [FLOAT64, FLOAT32])
def test_products_along_rows(real: FloatType) -> None:
    a, b = tensor("a", "m", "k"), tensor("b", "n", "k")
    compiled = Compiled([contract([a, b], [(0, 2), (1, 2)], (0, 1))], [a, b], real)
    for m, n, k in (
        (10, 10, 1000),
        (1, 7, 64),
        (7, 1, 4096),
        (5, 32, 129),
        (32, 33, 70),
        (3, 4, 5000),
        (2, 2, 63),
    ):
        x, y = np.random.default_rng(m).normal(size=(m, k)), np.random.default_rng(n).normal(size=(n, k))
        x, y = x.astype(real.numpy), y.astype(real.numpy)
        (z,) = compiled({"m": m, "n": n, "k": k}, {a: x, b: y})
        np.testing.assert_allclose(
            z, x.astype(float) @ y.T.astype(float), atol=1e-11 if real is FLOAT64 else 2e-3
        )


def test_an_array_that_earlier_steps_begin_is_not_private() -> None:
    a, b, c = tensor("a", 4, 10), tensor("b", 4, 400), tensor("c", 410)
    both = concatenate(OPS["tanh"](a), OPS["sin"](b), params=(1,))
    outputs = [slice_axes(OPS["sin"](both * c), [(None, None, 1), (None, None, -1)])]
    with whenever_possible():
        compiled = Compiled(outputs)
    values = values_for(compiled.inputs, {})
    compare(compiled({}, values), evaluate(outputs, values), 1e-12)


def test_an_operand_that_every_turn_reads_is_not_written_over() -> None:
    x, m = tensor("x", 6, 6, 5), tensor("M", 6, 5, 5)
    base = OPS["tanh"](x)
    upside_down = slice_axes(base, [(None, None, -1), (None, None, 1), (None, None, 1)])
    product = contract([OPS["sin"](upside_down), m], [(0, 1, 2), (0, 2, 3)], (0, 1, 3))
    outputs = [base * product + 1]
    with whenever_possible():
        compiled = Compiled(outputs)
    values = values_for(compiled.inputs, {})
    compare(compiled({}, values), evaluate(outputs, values), 1e-9)
