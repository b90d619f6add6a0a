"""Gradients by parts: the diagnosis says what was summed away, and every way that it names gives the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError

LAYER = """
W : real[3, 4]
x : real[4]
b : real[3]
y0 : real[3]
h = W@x + b
y = tanh(h)
loss = mean((y - y0)**2)
"""


def random_values(*exprs: Any) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    inputs = {s.name: s.shape for e in exprs for s in e.inputs}
    return {
        name: rng.normal(size=[n if isinstance(n, int) else 3 for n in shape])
        for name, shape in inputs.items()
    }


def every_way_is(found: Any, program: Any, expected: Any) -> None:
    """Run every line of the diagnosis and compare it with the gradient."""
    assert len(found.code) >= 2
    values = random_values(expected)
    namespace = {"sg": sg, "np": np, **{n: program[n] for n in program.names}}
    for line in found.code:
        result = eval(line, dict(namespace))
        assert result.shape == expected.shape
        np.testing.assert_allclose(result(**values), expected(**values), rtol=1e-12, atol=1e-14)
        assert type(sg.explain(sg.sum(result))).__name__ == "Derivation"  # what is right is not diagnosed


@pytest.fixture
def layer() -> Any:
    return sg.parse(LAYER)


def parts(p: Any, y: str, h: str, x: str) -> tuple[Any, Any]:
    return sg.gradients(p[y], p[h])[0], sg.gradients(p[h], p[x])[0]


def test_the_product_that_does_not_multiply_says_why(layer: Any, golden: Any) -> None:
    g1, g2 = parts(layer, "loss", "h", "W")
    with pytest.raises(ShapeError) as raised:
        _ = g1 * g2
    golden("parts/does_not_multiply.txt", str(raised.value))
    with pytest.raises(ShapeError) as again:
        sg.linalg.tensordot(g1, g2, axes=([0], [1]))
    assert "gradients(h, W) sums over the 3 entries of h" in str(again.value)


@pytest.mark.parametrize(
    "write", ["g2 @ g1", "g2*g1", 'sg.einsum("i,kj->ij", g1, g2)', "(2*g1)*(-g2)", "g1[:, None]*g2"]
)
def test_every_way_of_writing_the_product(write: str, golden: Any) -> None:
    p = sg.parse(LAYER.replace("3, 4", "3, 3").replace("real[4]", "real[3]"))
    g1, g2 = parts(p, "loss", "h", "W")
    found = sg.explain(eval(write, {"sg": sg, "g1": g1, "g2": g2}))
    assert (
        "gradients(h, W) sums over the 3 entries of h: entry (j, k) is the sum over i of dh_i/dW_jk."
        in str(found)
    )
    every_way_is(found, p, sg.grad(p["loss"], p["W"]))
    if write == "g2*g1":
        golden("parts/fits.txt", str(found))


def test_a_product_that_is_right_is_not_called_wrong(layer: Any) -> None:
    # h is linear in W and each row of W feeds one entry of h: this contraction is the gradient.
    g1, g2 = parts(layer, "loss", "h", "W")
    found = sg.explain(sg.einsum("i,ij->ij", g1, g2))
    assert "it agrees with the gradient; that is no rule" in " ".join(str(found).split())
    p = sg.parse("x : real\nh = sin(x)\ny = h**2")
    right = sg.explain(sg.gradients(p["y"], p["h"])[0] * sg.gradients(p["h"], p["x"])[0])
    assert right.headline == "gradients(y, h) times gradients(h, x) is the chain rule"
    assert not right.code


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("A : real[2, 3]\nv : real[3]\nh = exp(A@v)\ny = sum(h**3)", ("y", "h", "v")),
        ("A : real[2, 3]\nh = A.T*2\ny = prod(h)", ("y", "h", "A")),
        ("A : real[2, 3]\nh = softmax(A, axis=1)\ny = logsumexp(h)", ("y", "h", "A")),
        ("c : real\nv : real[4]\nh = c*v\ny = norm(h)", ("y", "h", "c")),
        ("v : real[4]\nh = cumsum(v)\ny = h**2", ("y", "h", "v")),
        ("X : real[n, 2]\nw : real[2]\nh = X@w\ny = mean(tanh(h))", ("y", "h", "w")),
    ],
)
def test_any_parts(program: str, names: tuple[str, str, str]) -> None:
    p = sg.parse(program)
    g1, g2 = parts(p, *names)
    found = sg.explain(sg.sum(g1) * g2)
    assert found.summed
    every_way_is(found, p, sg.gradients(p[names[0]], p[names[2]])[0])


def test_a_longer_chain() -> None:
    p = sg.parse("v : real[3]\nA : real[3, 3]\na = tanh(A@v)\nb = sin(A@a)\ny = sum(b*b)")
    g = [sg.gradients(p[y], p[x])[0] for y, x in (("y", "b"), ("b", "a"), ("a", "v"))]
    found = sg.explain(g[0] * g[1] * g[2])
    assert (
        found.headline == "gradients(y, b) times gradients(b, a) times gradients(a, v) is not the chain rule"
    )
    assert [part.of.shape for part in found.summed] == [(3,), (3,)]
    assert "Right, each equal to sg.grad(y, v)\n" in str(found)
    every_way_is(found, p, sg.grad(p["y"], p["v"]))


def test_other_ways_to_the_value_are_mentioned() -> None:
    p = sg.parse(LAYER + "penalised = loss + sum(W**2)")
    g1, g2 = parts(p, "penalised", "h", "W")
    found = sg.explain(sg.sum(g1) * g2)
    assert "each equal to the part of sg.grad(penalised, W) that passes h" in str(found)
    every_way_is(found, p, sg.grad(p["loss"], p["W"]))


def test_names_are_given_where_there_are_none() -> None:
    h, x = sg.tensor("h", (3,)), sg.tensor("x", (3, 3))
    value = x @ h
    y = sg.sum(value**2)
    found = sg.explain(sg.gradients(y, value)[0] * sg.gradients(value, x)[0])
    assert "  y = sum(h2**2)\n  h2 = x@h\n" in str(found)
    for line in found.code:
        result = eval(line, {"sg": sg, "np": np, "y": y, "h2": value, "x": x})
        values = random_values(y)
        np.testing.assert_allclose(result(**values), sg.grad(y, x)(**values), rtol=1e-12)


JOINED = "x : real[1, 10]\nw : real[10, 5]\nout = x@w\nloss = mean((out - 0)**2)"


def joined(p: Any, axis: int) -> Any:
    return sg.arrays.concatenate([sg.gradients(p["out"][:, i], p["x"])[0] for i in range(5)], axis=axis)


def test_components_along_the_wrong_axis(golden: Any) -> None:
    p = sg.parse(JOINED)
    wrong = joined(p, 1)
    assert wrong.shape == (1, 50)
    golden("parts/joined.txt", str(sg.explain(wrong)))
    with pytest.raises(ShapeError) as raised:
        _ = sg.grad(p["loss"], p["out"]) @ wrong
    golden("parts/joined_product.txt", str(raised.value))
    jacobian = sg.jacobian(p["out"], p["x"])
    assert jacobian.shape == (1, 5, 1, 10)
    values = {"x": np.ones((1, 10)), "w": np.full((10, 5), 0.5)}
    rows = joined(p, 0)
    assert rows.shape == (5, 10)
    np.testing.assert_array_equal(rows(**values), jacobian(**values).reshape(5, 10))
    whole = sg.grad(p["loss"], p["x"])(**values)
    np.testing.assert_allclose((sg.grad(p["loss"], p["out"]) @ rows)(**values), whole, rtol=1e-15)
    for line in sg.explain(wrong).code:
        assert eval(line, {"sg": sg, "out": p["out"], "x": p["x"]}).shape in ((1, 5, 1, 10), (5, 10))


def test_what_is_put_together_rightly_is_explained_as_ever() -> None:
    p = sg.parse(JOINED)
    g = sg.gradients(p["out"][:, 0], p["x"])[0]
    assert type(sg.explain(sg.sum(g))).__name__ == "Derivation"
    step = sg.sum((p["x"] + 0.1 * sg.grad(p["loss"], p["x"])) ** 2)
    assert type(sg.explain(step)).__name__ == "Derivation"


def test_a_gradient_of_an_array_is_that_of_its_sum() -> None:
    p = sg.parse("W : real[3, 4]\nx : real[4]\nh = tanh(W@x)\nv : real[3]")
    d = sg.explain(sg.gradients(p["h"], p["W"])[0])
    assert str(d).startswith("sum(h), differentiated by W\n")
    pulled = sg.vjp(p["h"], p["x"], p["v"])
    values = random_values(pulled)
    np.testing.assert_allclose(sg.explain(pulled).gradient[0](**values), pulled(**values), rtol=1e-13)
