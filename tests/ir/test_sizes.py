"""Sizes: polynomials over names, and the lengths of slices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.errors import ShapeError
from symgrad.ir.graph import SIZE, size_node
from symgrad.ir.shapes import slice_length, slice_start
from symgrad.ir.sizes import (
    Size,
    evaluate_size,
    names_of,
    resolve,
    size_ceildiv,
    size_max,
    size_min,
    size_product,
    size_quotient,
    size_sum,
)
from symgrad.ir.traverse import flatten, rebuild
from symgrad.ir.values.evaluate import evaluate
from tests.arrays import symbol_of

ends = st.none() | st.integers(-8, 8)
steps = st.sampled_from([1, 2, 3, -1, -2, -3])


@given(st.integers(0, 7), ends, ends, steps)
def test_slices_are_pythons(n: int, start: int | None, stop: int | None, step: int) -> None:
    chosen = range(n)[start:stop:step]
    length = slice_length("n", (start, stop, step))
    assert evaluate_size(length, {"n": n}) == len(chosen) == slice_length(n, (start, stop, step))
    if len(chosen):
        assert evaluate_size(slice_start("n", (start, stop, step)), {"n": n}) == chosen[0]


@st.composite
def polynomials(draw: st.DrawFn) -> tuple[Size, int]:
    """A size made of n = 3 and m = 5, and its value."""
    size, value = draw(st.sampled_from([("n", 3), ("m", 5), (0, 0), (1, 1), (4, 4)]))
    for _ in range(draw(st.integers(0, 4))):
        other, worth = draw(st.sampled_from([("n", 3), ("m", 5), (2, 2), (-1, -1)]))
        if draw(st.booleans()):
            size, value = size_sum([size, other]), value + worth
        else:
            size, value = size_product([size, other]), value * worth
    return size, value


@given(polynomials(), polynomials())
def test_arithmetic_is_exact_and_normal(a: tuple[Size, int], b: tuple[Size, int]) -> None:
    sizes = {"n": 3, "m": 5}
    (p, x), (q, y) = a, b
    assert evaluate_size(p, sizes) == x
    assert size_sum([p, q]) == size_sum([q, p])
    assert size_product([p, q]) == size_product([q, p])
    assert size_sum([p, q, size_product([-1, q])]) == p
    assert evaluate_size(size_product([p, q]), sizes) == x * y
    quotient = size_quotient(size_product([p, q]), q)
    assert quotient is None or q == 0 or evaluate_size(quotient, sizes) * y == x * y
    if x >= 0 and y >= 0:
        assert evaluate_size(size_max(p, q), sizes) == max(x, y)
        assert evaluate_size(size_min(p, q), sizes) == min(x, y)
        assert evaluate_size(size_ceildiv(p, 3), sizes) == -(-x // 3)


@given(polynomials())
def test_a_size_is_a_number_of_the_graph(a: tuple[Size, int]) -> None:
    size, value = a
    n, m = symbol_of("a", "n"), symbol_of("b", "m")
    assert evaluate([size_node(size)], {n: [0.0] * 3, m: [0.0] * 5})[0] == value
    assert all(name in ("n", "m") for name in names_of(size))


def test_the_lengths_of_slices_are_numbers_too() -> None:
    x = symbol_of("x", "n")
    for triple in [(1, None, 1), (-3, -1, 1), (None, None, 2), (4, None, -1)]:
        node = size_node(slice_length("n", triple))
        for n in range(6):
            assert evaluate([node], {x: [0.0] * n})[0] == len(range(n)[slice(*triple)])


def test_size_nodes_survive_flattening() -> None:
    node = size_node("n")
    assert node.op is SIZE
    assert rebuild(flatten([node]))[0] is node


def test_text() -> None:
    assert str(size_sum(["n", size_product([2, "m"]), -1])) == "2*m + n - 1"
    assert str(slice_length("n", (1, None, 1))) == "max(n - 1, 0)"
    assert str(size_ceildiv("n", 2)) == "ceil((n)/2)"
    assert sorted(names_of(slice_length("n", ("k", None, 1)))) == ["k", "n"]


def test_resolve_leaves_labels_and_none_alone() -> None:
    assert resolve(((0, None, 1), ("n", 2)), {"n": 7}) == ((0, None, 1), (7, 2))


def test_an_unbound_name_is_an_error_with_a_cure() -> None:
    with pytest.raises(ShapeError, match="the size n has no value"):
        evaluate_size("n", {})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (size_max(size_sum([size_max(size_sum(["n", -1]), 0), -1]), 0), size_max(size_sum(["n", -2]), 0)),
        (size_min(size_max(size_sum(["n", -3]), 0), "n"), size_max(size_sum(["n", -3]), 0)),
        (
            size_min(size_max(size_sum(["n", -1]), 0), size_max(size_sum(["n", -2]), 0)),
            size_max(size_sum(["n", -2]), 0),
        ),
        (slice_length(slice_length("n", (1, None, 1)), (1, None, 1)), slice_length("n", (2, None, 1))),
        (slice_length(slice_length("n", (1, None, 1)), (None, -1, 1)), slice_length("n", (1, -1, 1))),
    ],
)
def test_slices_of_slices_have_one_length(one: Size, other: Size) -> None:
    assert one == other


@given(st.lists(st.tuples(ends, ends, steps), min_size=1, max_size=4), st.integers(0, 7))
def test_slices_of_slices_are_pythons(triples: list[tuple[int | None, int | None, int]], n: int) -> None:
    size: Size = "n"
    chosen = range(n)
    for start, stop, step in triples:
        size = slice_length(size, (start, stop, step))
        chosen = chosen[start:stop:step]
    assert evaluate_size(size, {"n": n}) == len(chosen)


def test_a_part_of_equal_parts_is_one_of_them() -> None:
    part = slice_length("n", (7, None, 1))
    whole = size_product([4, part])
    for start in range(4):
        ends = (size_product([start, part]), size_product([start + 1, part]), 1)
        assert slice_length(whole, ends) == part
