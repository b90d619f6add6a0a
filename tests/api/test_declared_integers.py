"""Whole numbers that are declared between ends: read, printed, checked when values arrive, used in what is printed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import DomainError, IndexRangeError
from symgrad.ir.types import Declaration

_NLL = """
L : real[n, k]
t : int(0, k - 1)[n]
P = softmax(L, axis=1)
nll = -mean(log(P[arange(n), t]))
"""


def _declared(text: str) -> Declaration:
    return sg.parse(text).inputs[0].node.declaration


@pytest.mark.parametrize(
    "text",
    [
        "t : int(0, 9)",
        "t : int(0, k - 1)[n]",
        "t : int(-k, 2*k + m - 3)[n, 2]",
        "t : int(-oo, k)",
        "t : int(1, oo)[n]",
        "t : int(3, 3)",
        "t : int(k, k)",
    ],
)
def test_what_is_printed_reads_back(text: str) -> None:
    declared = _declared(text)
    assert str(declared) == text
    assert _declared(str(declared)) == declared


def test_python_declares_the_same() -> None:
    t = sg.parse(_NLL)["t"].node
    assert sg.tensor("t", ("n",), "int(0, k - 1)").node is t
    assert sg.tensor("t", ("n",), f"int(0, {sg.size('k') - 1})").node is t
    assert sg.tensor("t", ("n",), "int(0, x - 1)").node.declaration.domain.sizes == ("x",)
    assert sg.symbols("c", "int(-oo, oo)") is sg.symbols("c", "int")


def _calls(p: sg.Program, name: str) -> list[Any]:
    return [p[name], sg.compile(p[name]), sg.compile([p[name], sg.grad(p[name], "L")])]


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize(
    ("t", "what", "cure"),
    [
        ([0, 3, 1], "'t' is 3 at [1]", "correct the values, or declare t : int"),
        ([0, 1, -1], "'t' is -1 at [2]", "to count from the end, declare t : int; else correct the values"),
        ([1, 2, 3], "'t' is 3 at [2]", "if these are labels that count from 1, pass t - 1"),
    ],
)
def test_labels_out_of_range_are_refused(which: int, t: list[int], what: str, cure: str) -> None:
    call = _calls(sg.parse(_NLL), "nll")[which]
    for labels in (t, np.array(t), np.array(t, np.int8), np.array(t, float)):
        with pytest.raises(DomainError) as caught:
            call(L=np.zeros((3, 3)), t=labels)
        assert caught.value.what == f"input {what}, outside its domain int(0, k - 1)"
        assert caught.value.expected == "whole numbers from 0 to 2 (k - 1)"
        assert caught.value.cure == cure


@pytest.mark.parametrize("which", range(2))
def test_labels_in_range_and_none_at_all_pass(which: int) -> None:
    call = _calls(sg.parse(_NLL), "nll")[which]
    logits = np.random.default_rng(0).normal(size=(4, 3))
    expected = np.mean(
        [np.log(np.sum(np.exp(row))) - row[t] for row, t in zip(logits, (2, 0, 1, 1), strict=True)]
    )
    np.testing.assert_allclose(call(L=logits, t=[2, 0, 1, 1]), expected)
    assert np.isnan(sg.compile(sg.parse(_NLL)["nll"])(L=np.zeros((0, 3)), t=np.zeros(0, int)))


def test_a_batch_is_checked_too() -> None:
    kernel = sg.compile(sg.parse(_NLL)["nll"])
    labels = np.zeros((5, 2), int)
    assert kernel(L=np.zeros((5, 2, 3)), t=labels).shape == (5,)
    labels[4, 1] = 3
    with pytest.raises(DomainError, match=r"'t' is 3 at \[4, 1\]"):
        kernel(L=np.zeros((5, 2, 3)), t=labels)


@pytest.mark.parametrize("compiled", [False, True])
def test_formulas_of_numbers_check_whole_numbers(compiled: bool) -> None:
    y = sg.parse("x : real; t : int(0, 9); y = x**t")["y"]
    call = sg.compile(y) if compiled else y
    assert call(x=2.0, t=9) == 512
    np.testing.assert_array_equal(call(x=2.0, t=np.array([0, 3])), [1, 8])
    with pytest.raises(DomainError, match="'t' is 10, outside its domain int"):
        call(x=2.0, t=10)
    with pytest.raises(DomainError, match=r"'t' is -1 at \[1\]"):
        call(x=np.ones(2), t=np.array([1, -1]))


def test_an_end_of_a_size_that_nothing_tells_is_not_checked() -> None:
    total = sg.parse("t : int(0, k - 1)[n]; s = sum(t)")["s"]
    assert total(t=[0, 100]) == 100
    with pytest.raises(DomainError, match="from 0 on"):
        total(t=[-1, 100])
    with pytest.raises(DomainError, match=r"from 0 to 9 \(k - 1\)"):
        total(t=[0, 100], k=10)


def test_an_end_too_far_leaves_the_check_of_positions() -> None:
    y = sg.parse("h : real[k]; t : int(0, k); y = h[t]")["y"]
    for call in (y, sg.compile(y)):
        assert call(h=[1.0, 2.0], t=1) == 2
        with pytest.raises(IndexRangeError):
            call(h=[1.0, 2.0], t=2)


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        ("positive", [0.0, 5e-324, np.inf, np.nan], [-5e-324, -np.inf]),
        ("nonnegative", [-0.0, 1.0], [-1e-300]),
        ("real(0, 1)", [0.0, 0.5, 1.0, np.nan], [1 + 2.0**-52, -1e-9, np.inf]),
        ("real(-oo, 1/3)", [1 / 3, -np.inf], [np.nextafter(1 / 3, 1)]),
        ("real", [np.inf, -1e308], []),
    ],
)
def test_real_values_beyond_the_ends_are_refused(
    domain: str, inside: list[float], outside: list[float]
) -> None:
    x, v = sg.symbols("x", domain), sg.tensor("v", ("n",), domain)
    for value in inside:
        x(x=value)
        sg.sum(v)(v=[value, 0.25])
    for value in outside:
        with pytest.raises(DomainError, match=r"'x' is .*, outside its domain"):
            (2 * x)(x=value)
        with pytest.raises(DomainError, match=r"'v' is .* at \[2\], outside its domain"):
            sg.sum(v)(v=[0.25, np.nan, value])


def test_float32_values_are_compared_with_rounded_ends() -> None:
    x = sg.symbols("x", "real(1/10, 1)")
    (2 * x)(x=np.float32(0.1))
    with pytest.raises(DomainError):
        (2 * x)(x=np.nextafter(np.float32(0.1), np.float32(0)))


def test_an_end_that_no_float_holds_refuses_nothing() -> None:
    (2 * sg.symbols("x", "real(0, 1e400)"))(x=np.inf)


def test_random_inputs_take_any_value() -> None:
    assert (2 * sg.symbols("u", "Uniform(0, 1)"))(u=3.0) == 6


# ------------------------------------------------------------------------------------------------- what is printed

_SPELLINGS = [
    "-mean(log(P[arange(n), t]))",
    "mean(logsumexp(L, axis=1) - L[arange(n), t])",
    "mean(logsumexp(L, axis=1) - take_along_axis(L, t[:, None], 1)[:, 0])",
    "-mean(take_along_axis(log_softmax(L, axis=1), t[:, None], 1))",
    "-sum(one_hot(t, k)*log_softmax(L, axis=1))/n",
]


@pytest.mark.parametrize("loss", _SPELLINGS)
def test_gradients_by_declared_labels_have_one_hot(loss: str) -> None:
    g = sg.grad(sg.parse(f"{_NLL}; loss = {loss}")["loss"], "L")
    assert str(g) == "(P - one_hot(t, k))/n"
    assert g.form_notes == ()


@pytest.mark.parametrize("loss", _SPELLINGS)
def test_notes_name_the_declaration(loss: str) -> None:
    program = f"{_NLL}; loss = {loss}".replace("int(0, k - 1)", "int")
    (note,) = sg.grad(sg.parse(program)["loss"], "L").form_notes
    assert "where every entry of t is in 0..k-1, as t : int(0, k - 1)[n] declares" in note


def test_notes_say_that_both_ends_belong() -> None:
    program = _NLL.replace("k - 1)", "k)")
    (note,) = sg.grad(sg.parse(program)["nll"], "L").form_notes
    assert "as t : int(0, k - 1)[n] declares (both ends of int(0, k) belong to it)" in note


def test_labels_of_sequences() -> None:
    p = sg.parse("""
    L : real[b, n, k]; t : int(0, k - 1)[b, n]
    P = softmax(L, axis=2)
    loss = -sum(take_along_axis(log_softmax(L, axis=2), t[:, :, None], 2))
    """)
    g = sg.grad(p["loss"], "L")
    assert str(g) == "P - one_hot(t, k)"
    logits, t = np.random.default_rng(1).normal(size=(2, 3, 4)), np.array([[0, 3, 1], [2, 2, 0]])
    shares = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    np.testing.assert_allclose(g(L=logits, t=t), shares - np.eye(4)[t])
    assert sg.verify(p["loss"], "L", str(g)).status == "proved"


def test_what_divides_by_a_chosen_share_ends() -> None:
    """Forms of forms led back to each other."""
    p = sg.parse(f"{_NLL}; loss = -mean(log(P[arange(n), t] + 1e-9))")
    g = sg.grad(p["loss"], "L")
    assert "scatter_add" not in str(g)
    assert sg.equal(sg.parse(str(g), symbols={s: p[s] for s in ("L", "t", "P")}).last, g).status == "proved"


_END = st.sampled_from(["-2", "-1", "0", "1", "2", "k - 2", "k - 1", "k", "-k", "m - 1"])
_INDEX = st.sampled_from(
    ["t", "t - 1", "k - 1 - t", "clip(t, 0, k - 1)", "where(t > 0, t, 0)", "t[::-1]", "maximum(t, 1)"]
)


@given(_END, _END, _INDEX, st.randoms())
def test_printed_gradients_have_the_value_of_the_gradient(low: str, high: str, index: str, rng: Any) -> None:
    """Whatever ends are declared: the gradient as it is printed, read back, against the one that was built."""
    text = f"h : real[n, k]; y : real[m]; t : int({low}, {high})[n]; s = {index}"
    text += "; loss = sum(exp(h)[arange(n), s])*sum(y)"
    sizes = {"n": 2, "k": 3, "m": 2}
    first, last = (int(eval(end, {}, sizes)) for end in (low, high))
    try:
        p = sg.parse(text)
    except sg.errors.DeclarationError:
        return
    if first > last:
        return
    g = sg.grad(p["loss"], "h")
    again = sg.parse(str(g), symbols={name: p[name] for name in ("h", "y", "t", "s", "loss")}).last
    values = {
        "h": np.arange(6.0).reshape(2, 3) / 7,
        "y": np.array([0.5, 0.75]),
        "t": np.array([rng.randint(first, last) for _ in range(2)]),
    }
    try:
        expected = sg.compile(g)(**values)
    except IndexRangeError:
        return
    np.testing.assert_allclose(again(**values), expected)


@pytest.mark.parametrize(
    ("declared", "values"),
    [
        ("h : real[2]; t ~ Bernoulli(1/2)[n]", {"h": [1.0, 2.0], "t": [0, 2]}),  # may be given any value
        ("h : real[k]; t : int(0, k - 1 - m)[n]", {"h": [1.0, 2.0], "t": [0, 2]}),  # nothing tells m
        ("h : real[k]; t : int(0, k)[n]", {"h": [1.0, 2.0], "t": [0, 2]}),
    ],
)
def test_positions_are_checked_where_their_ends_are_not(declared: str, values: dict[str, Any]) -> None:
    y = sg.parse(f"{declared}; y = sum(h[t])")["y"]
    for call in (y, sg.compile(y)):
        with pytest.raises(IndexRangeError):
            call(**values)
