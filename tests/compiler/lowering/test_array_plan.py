"""Plans of array programs: what is fused, what is kept, what is written over what."""

from __future__ import annotations

import symgrad as sg
from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.lowering.arrays.index import Index, flat, loop, shifted, total
from symgrad.compiler.lowering.arrays.nests import LibraryCall, Nest
from symgrad.compiler.lowering.arrays.normal_form import to_normal_form
from symgrad.compiler.lowering.arrays.plan import Plan, plan_arrays
from symgrad.compiler.lowering.contractions import is_product_of_matrices
from symgrad.ir.graph import OPS, Node, as_node
from symgrad.ir.sizes import size_product
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import INT
from symgrad.ops.array import indexing
from symgrad.ops.array.contraction import contract, sum_over
from tests.compiler.llvm.arrays import tensor


def plan(outputs: list[Node]) -> Plan:
    return plan_arrays(outputs, symbols_of(outputs))


def nests(made: Plan) -> list[Nest]:
    return [s for s in made.steps if isinstance(s, Nest)]


def value_and_gradients(loss: Node, wrt: list[Node]) -> list[Node]:
    return [loss, *pull_back([loss], [as_node(1)], wrt).gradients]


def least_squares() -> list[Node]:
    x, w, y = tensor("X", "n", "d"), tensor("w", "d"), tensor("y", "n")
    loss = OPS["mean"]((contract([x, w], [(0, 1), (1,)], (0,)) - y) ** 2, params=((0,),))
    return value_and_gradients(loss, [w])


def cross_entropy() -> list[Node]:
    z, t = tensor("Z", "n", "k"), tensor("t", "n", domain=INT)
    picked = indexing.gather(z, OPS["iota"](params=("n",)), t, params=((0, 1),))
    loss = OPS["mean"](OPS["logsumexp"](z, params=((1,),)) - picked, params=((0,),))
    return value_and_gradients(loss, [z])


def network() -> list[Node]:
    x, t = tensor("X", "b", "i"), tensor("T", "b", "o")
    w1, b1, w2, b2 = tensor("W1", "i", "h"), tensor("b1", "h"), tensor("W2", "h", "o"), tensor("b2", "o")
    hidden = OPS["tanh"](contract([x, w1], [(0, 1), (1, 2)], (0, 2)) + b1)
    out = contract([hidden, w2], [(0, 1), (1, 2)], (0, 2)) + b2
    return value_and_gradients(OPS["mean"]((out - t) ** 2, params=((0, 1),)), [w1, b1, w2, b2])


def test_least_squares_reads_its_matrix_once() -> None:
    first, *others = nests(plan(least_squares()))
    assert first.loops == ("n", "d")
    assert all(n.loops == () for n in others)
    assert len({index for node, index in first.loads if node.op.name == "symbol" and node.name == "X"}) == 1


def test_cross_entropy_and_its_gradient_are_three_passes_over_a_row() -> None:
    made = plan(cross_entropy())
    first, *others = nests(made)
    assert first.loops == ("n", "k")
    assert all(n.loops == () for n in others)
    passes = made.passes[first]
    assert len(passes.passes) == 3
    assert [n.op.name for n in passes.rows] == ["exp"]
    # Nothing of the size of the matrix is kept: one row, and a number.
    scratch = [a.count for a in made.memory.arrays if a.slot >= 0]
    assert all(count in ("k", 1) for count in scratch)


def test_biases_and_activations_join_the_nest_after_a_product() -> None:
    made = plan(network())
    products = [s for s in made.steps if isinstance(s, LibraryCall)]
    assert len(products) == 5
    assert sum(bool(n.loops) for n in nests(made)) == 3


def test_results_are_written_over_dead_operands() -> None:
    x, w = tensor("X", "n", "k"), tensor("w", "k", "k")
    y = OPS["exp"](contract([x, w], [(0, 1), (1, 2)], (0, 2)))
    z = contract([y, w], [(0, 1), (1, 2)], (0, 2))
    made = plan([z])
    big = {a.slot for a in made.memory.arrays if a.slot >= 0}
    assert len(big) == 1


def test_an_operand_that_is_read_elsewhere_is_not_written_over() -> None:
    x, w = tensor("X", "n", "n"), tensor("w", "n", "n")
    p = contract([x, w], [(0, 1), (1, 2)], (0, 2))
    y = OPS["exp"](p) + contract([p], [(0, 1)], (1, 0))
    z = contract([y, w], [(0, 1), (1, 2)], (0, 2))
    made = plan([z])
    assert (
        len({a.slot for a in made.memory.arrays if a.slot >= 0 and a.count == size_product(["n", "n"])}) == 2
    )


def test_many_operands_are_contracted_in_a_cheap_order() -> None:
    a, b, v = tensor("A", 300, 200), tensor("B", 200, 100), tensor("v", 100)
    (node,) = to_normal_form([contract([a, b, v], [(0, 1), (1, 2), (2,)], (0,))])
    inner = [x for x in node.args if x.op.name == "einsum"]
    assert [x.shape for x in inner] == [(200,)]


def test_a_scatter_that_gives_each_entry_one_value_is_a_choice() -> None:
    s, t = tensor("s", "n"), tensor("t", "n", domain=INT)
    iota = OPS["iota"](params=("n",))
    (node,) = to_normal_form([indexing.scatter_add(s, iota, t, params=((0, 1), ("n", 5)))])
    assert node.op.name == "where"
    (node,) = to_normal_form([indexing.scatter_add(s, t, params=((0,), (5,)))])
    assert node.op.name == "scatter_add"


def test_products_of_matrices() -> None:
    assert is_product_of_matrices(((0, 1), (1, 2)), (0, 2))
    assert is_product_of_matrices(((3, 0, 1), (3, 1, 2)), (3, 0, 2))
    assert not is_product_of_matrices(((0, 1), (1,)), (0,))
    assert not is_product_of_matrices(((0,), (1,)), (0, 1))
    assert not is_product_of_matrices(((0, 0), (0, 2)), (2,))


def test_indices() -> None:
    place = (loop(0), shifted(loop(1), 2, -1))
    assert flat(place, ("n", 5)) == Index(((0, 5), (1, -1)), 2)
    assert total([(loop(0), "n"), (loop(0), size_product([-1, "n"]))]) == Index()
    assert flat((loop(0), loop(1)), ("n", "k")).renamed({0: 1, 1: 0}) == Index(((0, 1), (1, "k")))


def test_sums_that_share_nothing_are_apart() -> None:
    a, b = tensor("a", "n", "k"), tensor("b", "n", "k")
    made = plan([sum_over(a, [1]), sum_over(b, [1])])
    assert len(nests(made)) == 2
    assert len(nests(plan([sum_over(a, [1]), OPS["max"](a, params=((1,),))]))) == 1


def test_a_product_and_its_transpose_are_one() -> None:
    a, b = tensor("A", "n", "k"), tensor("B", "k", "m")
    straight = contract([a, b], [(0, 1), (1, 2)], (0, 2))
    turned = contract([b, a], [(1, 2), (0, 1)], (2, 0))
    made = plan([OPS["exp"](straight), OPS["tanh"](turned)])
    assert sum(isinstance(s, LibraryCall) for s in made.steps) == 1


def test_what_an_output_is_computed_from_is_in_the_output() -> None:
    a, b = tensor("A", "n", "k"), tensor("B", "k", "m")
    made = plan([OPS["exp"](contract([a, b], [(0, 1), (1, 2)], (0, 2)))])
    assert not made.memory.slots


def test_products_of_rows_are_computed_for_all_steps_at_once() -> None:
    p = sg.parse(
        "x : real[T, m]; h0 : real[n]; W : real[n, n]; U : real[n, m]; b : real[n]\n"
        "h[0] = h0\nh[t] = tanh(W@h[t-1] + U@x[t-1] + b) for t in 1..T\nloss = sum(h[T]**2)"
    )
    loss = p["loss"].node
    value = plan([loss])
    (body,) = value.bodies.values()
    both = plan(value_and_gradients(loss, [p["W"].node]))
    forward, backward = both.bodies.values()
    # What each step multiplies by depends on the step before: by h[t-1], or by h_bar[t].
    for one in (body, forward, backward):
        assert [n.op.name for n in topological(one.outputs)].count("einsum") == 1
    assert sum(isinstance(s, LibraryCall) and s.node.op.name == "einsum" for s in value.steps) == 1


def test_a_sum_of_parts_multiplies_a_matrix_along_its_rows() -> None:
    p = sg.parse("W : real[8, 6]; g : real[4]\nr = W.T@(pad(g, (0, 4)) + pad(g**2, (4, 0)))")
    (nest,) = (s for s in nests(plan([p["r"].node])) if s.loops == (8, 6))
    assert nest.inner == 1
