"""The spelling of a contraction says what it is: what it says, computed in NumPy, is what einsum gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.ir.graph import OPS, Node, symbol
from symgrad.ir.notation.contractions import ContractionSpelling, spell, subscript
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.types import REAL, Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.ops.numpy.calls import reshaped
from symgrad.ops.numpy.products import diag, dot, einsum_text
from symgrad.ops.numpy.subscripts import index

SIZES = {"i": 2, "j": 3, "k": 4, "l": 2}


def array(name: str, *shape: int) -> Node:
    return symbol(Declaration(name, REAL, shape))


def einsum(subscripts: str) -> Node:
    terms = subscripts.split("->")[0].split(",")
    return einsum_text(subscripts, *(array(f"a{i}", *(SIZES[c] for c in t)) for i, t in enumerate(terms)))


@pytest.mark.parametrize(
    ("subscripts", "form"),
    [
        ("ij,jk->ik", "product"),
        ("ij,j->i", "product"),
        ("i,ij->j", "product"),
        ("i,i->", "product"),
        ("lij,ljk->lik", "product"),
        ("ij,ljk->lik", "product"),
        ("lij,jk->lik", "product"),
        ("ij,i->j", "product"),
        ("ij,kj->ik", "product"),
        ("ij,jk,kl->il", "product"),
        ("i,ij,j->", "product"),
        ("ij,j,i->", "product"),
        ("i,j->ij", "outer"),
        ("i,j->ji", "outer"),
        ("ij,j,k->ik", "outer"),
        ("ij,ji->", "trace"),
        ("ij,ij->", "elementwise"),
        ("ii->", "trace"),
        ("iij->j", "trace"),
        ("ii->i", "diagonal"),
        ("ij->", "sum"),
        ("ijk->j", "sum"),
        ("ijk->kji", "permute"),
        ("ij,ij->ij", "elementwise"),
        ("ij,ij->i", "elementwise"),
        ("ij,j->ij", "elementwise"),
        ("i,ij->ij", "elementwise"),
        ("ijk->ki", "index"),
        ("ij,jk->ijk", "index"),
        ("ij,kl->ijkl", "index"),
    ],
)
def test_forms(subscripts: str, form: str) -> None:
    assert spell(einsum(subscripts)).form == form
    says_what_it_is(einsum(subscripts))


def test_diag_needs_an_identity() -> None:
    v = array("v", 3)
    assert spell(diag(v)).form == "diag"
    assert spell(OPS["einsum"](v, array("m", 3, 3), params=(((0,), (0, 1)), (0, 1)))).form == "elementwise"


def chain(s: ContractionSpelling, part: int, values: list[Any]) -> Any:
    result: Any = None
    for operand, transposed in s.parts[part]:
        value = values[operand].T if transposed else values[operand]
        result = value if result is None else result @ value
    return result


def computed(s: ContractionSpelling, values: list[Any]) -> Any:
    match s.form:
        case "product":
            return chain(s, 0, values)
        case "outer":
            return np.outer(chain(s, 0, values), chain(s, 1, values))
        case "trace":
            return np.trace(chain(s, 0, values))
        case "sum":
            return np.sum(values[0], axis=s.axes)
        case "permute":
            return np.transpose(values[0], s.axes)
        case "diagonal" | "diag":
            return np.diag(values[0])
        case "elementwise":
            rank = max(map(len, s.places))
            product = np.ones(())
            for value, places in zip(values, s.places, strict=True):
                product = product * np.expand_dims(value, tuple(i for i in range(rank) if i not in places))
            return np.sum(product, axis=s.axes)
        case _:
            return np.einsum(s.subscripts, *values)


def shape_of(node: Node) -> tuple[int, ...]:
    return tuple(evaluate_size(size, {}) for size in node.shape)


def says_what_it_is(node: Node) -> None:
    s = spell(node)
    rng = np.random.default_rng(0)
    values: list[Any] = [rng.normal(size=shape_of(a)) for a in node.args]
    (expected,) = evaluate([node], dict(zip(node.args, values, strict=True)))
    np.testing.assert_allclose(computed(s, values), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.einsum(s.subscripts, *values), expected, rtol=1e-12, atol=1e-12)


@given(st.lists(st.lists(st.sampled_from("ijkl"), min_size=1, max_size=3), min_size=1, max_size=3), st.data())
def test_random_contractions(terms: list[list[str]], data: st.DataObject) -> None:
    known = sorted({c for t in terms for c in t})
    result = data.draw(st.permutations(known))[: data.draw(st.integers(0, len(known)))]
    node = einsum(f"{','.join(map(''.join, terms))}->{''.join(result)}")
    if node.op.name == "einsum":
        says_what_it_is(node)


def test_dot_is_a_product() -> None:
    assert spell(dot(array("x", 3), array("y", 3))).form == "product"


@pytest.mark.parametrize(
    ("key", "items"),
    [
        ((0,), (0, (None, None, 1), (None, None, 1))),
        ((slice(1, None), None), ((1, None, 1), None, (None, None, 1), (None, None, 1))),
        ((slice(None, None, -2), -1), ((None, None, -2), 3, (None, None, 1))),
        ((slice(None), slice(None), 0), ((None, None, 1), (None, None, 1), 0)),
        ((1, 2, 0), (1, 2, 0)),
    ],
)
def test_subscripts(key: Any, items: Any) -> None:
    x = array("x", 3, 4, 1)
    found = subscript(index(x, key))
    assert found == (x, items)
    written: Any = tuple(slice(*i) if isinstance(i, tuple) else i for i in items)
    assert index(x, written) is index(x, key)


@given(st.lists(st.sampled_from([1, 1, 2, 3]), max_size=4), st.data())
def test_random_reshapes_that_add_and_drop_axes(sizes: list[int], data: st.DataObject) -> None:
    target = [n for n in sizes if n != 1]
    for _ in range(data.draw(st.integers(0, 3))):
        target.insert(data.draw(st.integers(0, len(target))), 1)
    node = reshaped(array("x", *sizes), tuple(target))
    if node.op.name == "reshape":
        found = subscript(node)
        assert found is not None
        value: Any = np.reshape(np.arange(int(np.prod(sizes))), sizes)
        key = tuple(slice(*i) if isinstance(i, tuple) else i for i in found[1])
        np.testing.assert_array_equal(value[key], np.reshape(value, target))


def test_a_reshape_that_moves_elements_is_no_subscript() -> None:
    assert subscript(reshaped(array("x", 2, 3), (3, 2))) is None
