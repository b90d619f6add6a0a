"""The programs that frameworks call: derivatives of every order against the verbs, and shapes of calls."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DomainError, MissingInputError, NotInProgramError, ShapeError, UsageError
from symgrad.interop.exporters.callee import callee, repeated_axes

TEXT = "X: real[n, d]\nw: real[d]\nt: int[n]\nz = X@w\ns = sum(z[1:]*z[:-1])\ny = z[1:] - z[:-1]\nb = z > t"
RNG = np.random.default_rng(3)


def test_shapes_of_a_call_with_a_batch():
    p = sg.parse(TEXT)
    f = callee([p["y"], p["s"]])
    outputs, batch, own = f.shapes([(7, 5, 3), (3,)])
    assert (outputs, batch, own) == ([(7, 4), (7,)], (7,), [(7,), ()])
    with pytest.raises(ShapeError, match="size d is 3"):
        f.shapes([(5, 3), (4,)])


def test_inputs_that_are_not_all():
    x, u = sg.symbols("x u")
    with pytest.raises(MissingInputError, match="the outputs read u, which is not among the inputs"):
        callee(x * u, ["x"])
    with pytest.raises(UsageError, match="nothing to compute"):
        callee([])


def test_cotangents_of_cotangents():
    p = sg.parse(TEXT)
    f = callee([p["y"], p["s"]])
    pulled = f.vjp([True, False])
    assert pulled is f.vjp((True, False))
    again = pulled.vjp([True, True, True, True])
    X, w, a, b, c = (RNG.normal(size=s) for s in ((5, 3), (3,), (4,), (), (5, 3)))
    total = sg.sum(pulled.outputs[0] * sg.tensor("c", ("n", "d")))
    expected = [g(X=X, w=w, y_bar=a, s_bar=b, c=c) for g in sg.grad(total, [*pulled.inputs])]
    for found, wanted in zip(again.kernel()(X, w, a, b, c), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_tangents_of_outputs_that_are_no_numbers_are_left_out():
    p = sg.parse(TEXT)
    f = callee([p["b"], p["s"]])
    assert [e.shape for e in f.jvp([True, True, False]).outputs] == [()]
    assert len(f.vjp([True, True, False]).inputs) == 4
    with pytest.raises(UsageError, match="'t' is int: it has no tangent"):
        f.jvp([True, True, True])


def test_names_that_are_taken_stay_their_owners():
    x, other = sg.symbols("x x_dot")
    assert [str(e) for e in callee(x * other).jvp([True, False]).inputs] == ["x", "x_dot", "x_dot_"]


def test_inputs_by_name_in_any_order():
    p = sg.parse("x: real\nu: real\nz = sin(x*u)")
    assert [str(e) for e in callee(p["z"], ["u", "x"]).inputs] == ["u", "x"]
    with pytest.raises(NotInProgramError, match="'v' is not an input"):
        callee(p["z"], "v")
    with pytest.raises(UsageError, match="listed twice"):
        callee(p["z"], ["x", "x", "u"])


def test_axes_along_which_arrays_are_repeated():
    assert repeated_axes((2, 3), ()) == (0, 1)
    assert repeated_axes((1, 3), (1, 3)) == ()
    assert repeated_axes((2, 3), (2, 1)) == (1,)


def test_derivatives_by_what_a_program_does_not_read():
    p = sg.parse("x : real[n]\ny : real\nz = sum(x)*2\nw = y**2")
    f = callee([p["z"], p["w"]], ["x", "y"])
    back = f.vjp([True, True])
    assert [str(e) for e in back.inputs] == ["x", "y", "z_bar", "w_bar"]
    again = back.jvp([False, False, True, True])
    assert [e.shape for e in again.outputs] == [("n",), ()]
    found = again.kernel()([1.0, 2.0], 3.0, 1.0, 1.0, 5.0, 7.0)
    assert [np.asarray(a).tolist() for a in found] == [[10.0, 10.0], 42.0]
    only = callee(p["w"], ["x", "y"]).vjp([True, False])
    assert only.kernel()([1.0, 2.0], 3.0, 1.0).tolist() == [0.0, 0.0]


def test_arrays_of_few_declared_axes_are_aligned_behind_the_batch():
    x, y, z = sg.tensor("x", (2, 3)), sg.tensor("y", (3,)), sg.symbols("z")
    f = callee(x * y * z)
    shapes = [(5, 2, 3), (4, 5, 3), ()]
    aligned = f.aligned(shapes)
    assert [tuple(s) for s in aligned] == [(5, 2, 3), (4, 5, 1, 3), ()]
    assert np.broadcast_shapes(*map(tuple, aligned)) == f.shapes(shapes)[0][0]


def test_batches_of_programs_that_compute_entry_by_entry():
    x, y, k = sg.tensor("x", (3,)), sg.symbols("y"), sg.symbols("k", domain="int(0, 4)")
    f = callee([sg.sin(x) * y, x + k], [x, y, k])
    X, Y = RNG.normal(size=(5, 3)), RNG.normal(size=5)
    found = f.run(f.kernel(), [X, Y, np.array(2)])
    np.testing.assert_allclose(found[0], np.sin(X) * Y[:, None], rtol=1e-14)
    np.testing.assert_allclose(found[1], X + 2, rtol=1e-14)
    with pytest.raises(ShapeError, match="input 'x' has shape"):
        f.run(f.kernel(), [X[:, :2], Y, np.array(2)])
    with pytest.raises(DomainError, match="'k'"):
        f.run(f.kernel(), [X, Y, np.array([0, 1, 2, 3, 5])])


def test_batches_of_more_arguments_than_a_ufunc_has():
    xs = [sg.tensor(f"x{k}", (2,)) for k in range(70)]
    f = callee(sum(xs[1:], xs[0]))
    arrays = [RNG.normal(size=(4, 2) if k % 2 else (2,)) for k in range(70)]
    np.testing.assert_allclose(f.run(f.kernel(), arrays)[0], sum(arrays), rtol=1e-13)
