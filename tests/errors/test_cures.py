"""Cures that can be copied: each is put in the place of the mistake, and means what was meant."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.ir.listing import suggest

# A mistake; the cure; what stands in the text instead of what; a program that says what was meant in other words.
_X = "x : real[n, 3]; y = "
_A = "A : real[2, 2]; y = "
CASES = [
    ("sin^2(x)", "write sin(x)**2", "sin^2(x)", "sin(x)*sin(x)"),
    ("1 + sin**2(3*x)", "write sin(3*x)**2", "sin**2(3*x)", "1 + sin(3*x)*sin(3*x)"),
    ("sin²(x + 1)", "write sin(x + 1)**2", "sin²(x + 1)", "sin(x + 1)*sin(x + 1)"),
    ("2*exp^-2(x)", "write exp(x)**(-2)", "exp^-2(x)", "2/exp(x)/exp(x)"),
    ("tan^-1(x)", "write atan(x)", "tan^-1(x)", "arctan(x)"),
    ("sin(x)²", "write sin(x)**2", "sin(x)²", "sin(x)*sin(x)"),
    ("x²", "write x**2", "x²", "x*x"),
    ("x¹²", "write x**12", "x¹²", "x**6*x**6"),
    ("x**²", "write 2", "²", "x*x"),
    ("3*x^2", "write 3*x**2", "3*x^2", "3*x*x"),
    ("e^x", "write exp(x)", "e^x", "exp(x)"),
    ("3*e^-x", "write 3*exp(-x)", "3*e^-x", "3*exp(-x)"),
    (_A + "A^-1", "write inv(A) for the inverse, A**-1 for each entry", "A^-1", _A + "inv(A)"),
    (_X + "x.mean(dim=1)", "write mean(x, axis=1)", "x.mean(dim=1)", _X + "mean(x, axis=1)"),
    (_X + "x.sum()", "write sum(x)", "x.sum()", _X + "sum(x)"),
    (_X + "(x + 1).sum(0)", "write sum((x + 1), 0)", "(x + 1).sum(0)", _X + "sum(x + 1, axis=0)"),
    (_X + "mean(x, dim=1)", "write axis=1", "dim=1", _X + "mean(x, axis=1)"),
    (_X + "sum(x, 1, keepdim=True)", "write keepdims=True", "keepdim=True", _X + "sum(x, axis=1, keepdims=True)"),
    (_X + "mean(x, axis=-1, keepdims=true)", "write True", "true", _X + "mean(x, axis=1, keepdims=True)"),
    (_X + "torch.sum(x, dim=1)", "write sum(x, axis=1), without torch.", "torch.sum(x, dim=1)", _X + "sum(x, axis=1)"),
    (_X + "tf.reduce_sum(x)", "write sum, without tf.", "tf.reduce_sum", _X + "sum(x)"),
    (_X + "reduce_sum(x, axis=1)", "write sum(x, axis=1)", "reduce_sum(x, axis=1)", _X + "sum(x, axis=1)"),
    ("min(x, 1)", "write minimum(x, 1)", "min(x, 1)", "where(x < 1, x, 1)"),
    ("x : real[n]; y = min(x, 1)", "write minimum(x, 1)", "min(x, 1)", "x : real[n]; y = where(x < 1, x, 1)"),
    ("max(x, 0)", "write maximum(x, 0)", "max(x, 0)", "where(x > 0, x, 0)"),
    ("max(x, 0, 1)", "write maximum(x, 0, 1)", "max(x, 0, 1)", "where(x > 1, x, 1)"),
    ("min([x, 1])", "write minimum(x, 1)", "min([x, 1])", "where(x < 1, x, 1)"),
    ("max(x, 2*x)", "write maximum(x, 2*x)", "max(x, 2*x)", "where(x > 0, 2*x, x)"),
    ("log(x, base=2)", "write log(x, 2)", "log(x, base=2)", "log2(x)"),
    ("log(x**2 + 1, base=3)", "write log(x**2 + 1, 3)", "log(x**2 + 1, base=3)", "log(x**2 + 1)/log(3)"),
    ("sqrt(x, 3)", "write x**(1/3)", "sqrt(x, 3)", "x**(1/3)"),
    ("round(x/3, 2)", "write round((x/3)*10**2)/10**2", "round(x/3, 2)", "round(100*(x/3))/100"),
    ("x : real(n, d); y = sum(x)", "write real[n, d]", "real(n, d)", "x : real[n, d]; y = sum(x)"),
    ("x : real(n, 3); y = sum(x)", "write real[n, 3]", "real(n, 3)", "x : real[n, 3]; y = sum(x)"),
    ("x : real(n); y = sum(x)", "write real[n]", "real(n)", "x : real[n]; y = sum(x)"),
    ("x : vector; y = sum(x)", "write real[n]", "vector", "x : real[n]; y = sum(x)"),
    ("x : matrix[n, n]; y = sum(x)", "write real", "matrix", "x : real[n, n]; y = sum(x)"),
    ("x : real > 0; y = x", "write positive", "real > 0", "x : positive; y = x"),
    ("x : real >= 0; y = x", "write nonnegative", "real >= 0", "x : nonnegative; y = x"),
    ("x : real > 2; y = x", "write real(2, oo)", "real > 2", "x : real(2, oo); y = x"),
    ("x: real, z: real; y = x*z", "write ; for the comma", ",", "x, z : real; y = x*z"),
    ("real x; y = x*x", "write x : real", "real x", "x : real; y = x*x"),
    ("let x : real; y = x*x", "leave 'let' out", "let ", "x : real; y = x*x"),
    ("x : real[n]; y = ||x||", "write norm(x)", "||x||", "x : real[n]; y = sqrt(sum(x**2))"),
    ("|x - 1|", "write abs(x - 1) for an absolute value", "|x - 1|", "abs(x - 1)"),
    ("1,000*x", "write 1000", "1,000", "1000*x"),
    ("clamp(x, 0, 1)", "write clip(x, 0, 1)", "clamp(x, 0, 1)", "minimum(maximum(x, 0), 1)"),
    ("cosec(x)", "write csc(x)", "cosec(x)", "1/sin(x)"),
    ("Phi(x)", "write ndtr(x)", "Phi(x)", "(1 + erf(x/sqrt(2)))/2"),
    ("norm.cdf(x)", "write ndtr, without norm.", "norm.cdf", "ndtr(x)"),
    (_A + "tr(A)", "write trace(A)", "tr(A)", _A + "trace(A)"),
    (_A + "A'@A", "write A.T for the transpose", "A'", _A + "transpose(A)@A"),
    (_A + "A'*A'", "write A.T for the transpose", "A'", _A + "transpose(A)*transpose(A)"),
    ("v : real[n]; y = v^T v", "write v.T@v", "v^T v", "v : real[n]; y = sum(v*v)"),
    ("v : real[n]; y = v^T@v", "write v.T for the transpose", "v^T", "v : real[n]; y = sum(v*v)"),
    ("v : real[n]; y = sum(v[i] for i in range(n))", "write sum(v[i], i=0..n-1)", "sum(v[i] for i in range(n))",
     "v : real[n]; y = sum(v)"),
    ("sinn(x)", "did you mean 'sin'?", "sinn", "sin(x)"),
    ("sofmax(x)", "did you mean 'softmax'?", "sofmax", "softmax(x)"),
    ("lgo(x)", "did you mean 'log'?", "lgo", "log(x)"),
    ("sigma : real; y = sgima**2", "did you mean 'sigma'?", "sgima", "sigma : real; y = sigma**2"),
]  # fmt: skip


def copied(cure: str) -> str:
    """What the cure says to write."""
    if cure.startswith("leave"):
        return ""
    if cure.startswith("did you mean"):
        return cure.split("'")[1]
    return cure.removeprefix("write ").split(" for ")[0].split(", without ")[0]


@pytest.mark.parametrize(("text", "cure", "wrong", "meant"), CASES)
def test_a_cure_that_is_copied_says_what_was_meant(text: str, cure: str, wrong: str, meant: str) -> None:
    with pytest.raises(SymgradError) as caught:
        sg.parse(text)
    assert caught.value.cure == cure
    found, expected = (sg.parse(t).last for t in (text.replace(wrong, copied(cure)), meant))
    shapes = {str(s.name): tuple(n if isinstance(n, int) else {"n": 3, "d": 4, "m": 4}[str(n)] for n in s.shape)
              for s in expected.inputs}  # fmt: skip
    assert {str(s.name) for s in found.inputs} == shapes.keys()
    random = np.random.default_rng(7)
    values = {name: 2 + random.random(shape) for name, shape in shapes.items()}
    np.testing.assert_allclose(found(**values), expected(**values), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("sigma", ["sinm", "sign", "gamma"]),
        ("Phi", ["Shi", "Chi"]),
        ("f", ["rf", "eq"]),
        ("tr", ["ndtr", "trace"]),
        ("size", ["slice"]),
        ("integrate", ["negative"]),
        ("normcdf", ["norm"]),
    ],
)
def test_another_word_is_no_slip_of_the_pen(name: str, known: list[str]) -> None:
    assert suggest(name, known) is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("heigth", "height"),
        ("X", "x"),
        ("sni", "sin"),
        ("log_2", "log2"),
        ("Gamma", "gamma"),
        ("logsumepx", "logsumexp"),
    ],
)
def test_a_slip_of_the_pen_is_mended(name: str, meant: str) -> None:
    assert suggest(name, ["min", "sign", "sinh", meant, "log"]) == f"did you mean '{meant}'?"
