"""Gradient code of torch and JAX against the derivative of what it is said to differentiate."""

# pyright: basic

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import symgrad as sg


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, grad):
        (s,) = ctx.saved_tensors
        return grad * s * (1 - s)


class Forgetful(Sigmoid):
    @staticmethod
    def backward(ctx, grad):
        (s,) = ctx.saved_tensors
        return grad * s


class Single(Sigmoid):
    @staticmethod
    def backward(ctx, grad):
        (s,) = ctx.saved_tensors
        s = s.float()
        return (grad * s * (1 - s)).double()


class Apart(torch.autograd.Function):
    """With forward and setup_context apart, and an argument that has no gradient."""

    @staticmethod
    def forward(x, y, k):
        return x * y**2 * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.k = inputs
        ctx.save_for_backward(x, y)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y**2 * ctx.k, grad * 2 * x * y * ctx.k, None


def test_a_function_of_torch_with_a_backward_of_its_own():
    # 1 - s is 0 where s is near 1: below a rounding of what the derivative usually is.
    verdict = sg.testing.assert_gradient(Sigmoid, Sigmoid, "x : real[3]")
    assert verdict.status == "supported"
    assert "it is of torch" in verdict.how
    sg.testing.assert_gradient(lambda x: 1 / (1 + np.exp(-x)), Sigmoid, "x : real[3]")
    wrong = sg.verify_code(Sigmoid, Forgetful, "x : real[3]")
    assert (wrong.status, wrong.kind) == ("refuted", "wrong")
    assert wrong["x"].diagnosis


def test_single_precision_inside_of_a_backward_is_noise():
    assert sg.verify_code(Sigmoid, Single, "x : real[3]").kind == "float32 noise"


def test_forward_and_context_apart():
    assert sg.verify_code(Apart, Apart, "x, y : real[2]; k : int").kind == "right"


def test_tensors_as_samples():
    verdict = sg.verify_code(Sigmoid, Sigmoid, [torch.linspace(-2, 2, 3)])
    assert verdict.status == "supported"
    sg.testing.assert_gradient(Sigmoid, Sigmoid, [torch.linspace(-2, 2, 3).double()])


def test_functions_of_torch():
    def f(x):
        return torch.sum(torch.sin(x))

    assert sg.verify_code(f, lambda x: torch.cos(x), "x : real[3]").kind == "right"
    with pytest.raises(AssertionError, match="lost-minus"):
        sg.testing.assert_gradient(f, lambda x: -torch.cos(x), "x : real[3]")


@jax.custom_vjp
def product(x, y):
    return jnp.sin(x) * y


product.defvjp(
    lambda x, y: (product(x, y), (jnp.cos(x), jnp.sin(x), y)),
    lambda kept, g: (kept[0] * g * kept[2], kept[1] * g),
)


@jax.custom_vjp
def lossy(x, y):
    return jnp.sin(x) * y


lossy.defvjp(lambda x, y: (lossy(x, y), (jnp.cos(x), jnp.sin(x))), lambda kept, g: (kept[0] * g, kept[1] * g))


def test_a_custom_vjp_of_jax_in_single_and_in_double_precision():
    single = sg.verify_code(product, product, "x, y : real[3]")
    assert (single.status, single.kind) == ("supported", "right")
    assert 5 <= single["x"].verdict.digits <= 8
    with jax.enable_x64(True):
        double = sg.verify_code(product, product, "x, y : real[3]")
    assert (double.status, double.kind) == ("supported", "right")
    assert double["x"].verdict.digits >= 13


def test_a_wrong_custom_vjp_is_refuted_by_the_argument_that_it_is_wrong_by():
    verdict = sg.verify_code(lossy, lossy, "x, y : real[3]")
    assert {n: verdict[n].kind for n in verdict} == {"x": "wrong", "y": "right"}


def test_gradients_that_jax_makes():
    def f(x):
        return jnp.sum(jnp.tanh(x) ** 2)

    assert sg.testing.assert_gradient(f, jax.grad(f), "x : real[3]").status == "supported"
    sg.testing.assert_gradient(lambda x: np.sum(np.tanh(x) ** 2), jax.grad(f), "x : real[3]")
