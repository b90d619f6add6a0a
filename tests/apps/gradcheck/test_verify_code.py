"""Gradient code against the derivative: hand-written layers, and one example of each way to be wrong."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.apps.gradcheck import layers

LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def of_libm(name: str, kind: Any = ctypes.c_double) -> Any:
    function = getattr(LIBM, name)
    function.restype, function.argtypes = kind, [kind]
    return function


SPECS = {
    "softmax_cross_entropy": "z : real[3, 4]; y : real[3, 4]",
    "batch_norm": "x : real[4, 2]; gamma, beta : real[2]",
    "layer_norm": "x : real[2, 4]; gamma, beta : real[4]",
    "attention": "q : real[2, 3]; k : real[4, 3]; v : real[4, 2]",
    "lstm_cell": "x : real[2, 2]; h, c : real[2, 1]; W : real[2, 4]; U : real[1, 4]; b : real[4]",
}

PLANTED = [
    ("softmax_cross_entropy", "softmax_cross_entropy_backward_sum", ["z"], "sum-instead-of-mean"),
    ("batch_norm", "batch_norm_backward_variance", ["x"], "missing-term"),
    ("layer_norm", "layer_norm_backward_gamma", ["gamma"], None),
    ("attention", "attention_backward_diagonal", ["q", "k"], "diagonal-softmax-jacobian-only"),
    ("lstm_cell", "lstm_cell_backward_tanh", ["x", "h", "c", "W", "U", "b"], None),
]


def wrt_of(name: str) -> str | None:
    return "z" if "entropy" in name else None


@pytest.mark.parametrize("name", SPECS)
def test_a_right_backward_pass_is_proved(name: str) -> None:
    code = getattr(layers, f"{name}_backward")
    verdict = sg.verify_code(getattr(layers, name), code, SPECS[name], wrt=wrt_of(name))
    assert (verdict.status, verdict.kind) == ("proved", "right")
    assert all(v.verdict.proof is not None for v in verdict.arguments.values())


@pytest.mark.parametrize(("name", "code", "wrong", "kind"), PLANTED)
def test_a_planted_mistake_is_refuted_where_it_is(
    name: str, code: str, wrong: list[str], kind: str | None
) -> None:
    verdict = sg.verify_code(getattr(layers, name), getattr(layers, code), SPECS[name], wrt=wrt_of(name))
    assert verdict.status == "refuted"
    assert [n for n, v in verdict.arguments.items() if v.kind == "wrong"] == wrong
    assert all(v.status == "proved" for n, v in verdict.arguments.items() if n not in wrong)
    if kind is not None:
        assert kind in [d.kind for d in verdict[wrong[0]].diagnosis]


def test_code_that_writes_into_its_arrays_at_labels_is_proved() -> None:
    spec = "z : real[1, 3]; labels : int(0, 2)[1]"
    right = sg.verify_code(layers.labelled_cross_entropy, layers.labelled_cross_entropy_backward, spec)
    assert (right.status, right.kind) == ("proved", "right")
    assert "entry by entry" in right.how
    wrong = sg.verify_code(layers.labelled_cross_entropy, layers.labelled_cross_entropy_backward_plus, spec)
    assert (wrong.status, wrong.kind) == ("refuted", "wrong")
    assert wrong["z"].diagnosis


def test_code_that_reads_a_size_is_decided_for_some() -> None:
    spec = "x : real[n, d]; gamma, beta : real[d]"
    verdict = sg.verify_code(layers.batch_norm, layers.batch_norm_backward, spec)
    assert (verdict.status, verdict.kind) == ("supported", "right")
    assert "n = 3, d = 4" in verdict.how
    assert verdict["x"].verdict.why.startswith("proved for n = 3, d = 4, and nothing for others; right to ")
    assert verdict["x"].verdict.proof is None
    wrong = sg.verify_code(layers.batch_norm, layers.batch_norm_backward_variance, spec)
    assert [n for n in wrong if wrong[n].status == "refuted"] == ["x"]


def test_code_for_all_sizes_is_proved_for_all() -> None:
    verdict = sg.verify_code(
        lambda w, x: np.sum(np.tanh(x @ w)),
        lambda w, x: x.T @ (1 - np.tanh(x @ w) ** 2),
        "w : real[d]; x : real[n, d]",
        wrt="w",
    )
    assert verdict.status == "proved"
    assert "for all sizes" in verdict["w"].verdict.why


# ----------------------------------------------------------------------------------------------- code that is called


def test_c_through_ctypes_is_right_to_working_accuracy_and_never_proved() -> None:
    verdict = sg.verify_code(np.sin, of_libm("cos"), "x : real")
    assert (verdict.status, verdict.kind) == ("supported", "right")
    assert verdict["x"].verdict.digits is not None
    assert verdict["x"].verdict.digits >= 15
    assert verdict["x"].verdict.points >= 40


def test_single_precision_on_the_way_is_noise() -> None:
    verdict = sg.verify_code(np.sin, of_libm("cosf", ctypes.c_float), "x : real")
    assert (verdict.status, verdict.kind) == ("supported", "float32 noise")
    assert verdict["x"].relative is not None
    assert 1e-9 < verdict["x"].relative < 1e-4


def test_a_constant_with_seven_digits_is_no_noise() -> None:
    verdict = sg.verify_code(lambda x: np.pi * x**2, lambda x: float(2 * 3.141593 * x), "x : real")
    assert (verdict.status, verdict.kind) == ("refuted", "wrong")


def test_code_for_float32_is_held_to_its_dtype() -> None:
    x = np.array([0.5, 1.5, 2.5], dtype=np.float32)

    def code(x: Any) -> Any:
        assert x.dtype == np.float32
        return 2 * np.asarray(x) * np.cos(np.asarray(x) ** 2)

    verdict = sg.verify_code(lambda x: np.sum(np.sin(x**2)), code, [x])
    assert (verdict.status, verdict.kind) == ("supported", "right")
    assert verdict["x"].verdict.digits is not None
    assert 5 <= verdict["x"].verdict.digits <= 8


@pytest.mark.parametrize(
    ("f", "code", "small"),
    [
        (lambda x: x - np.sin(x), lambda x: 1 - math.cos(x), True),
        (lambda x: np.sin(x) / x, lambda x: math.cos(x) / float(x) - math.sin(x) / float(x) ** 2, False),
    ],
)
def test_cancellation_is_told_with_the_inputs(f: Any, code: Any, *, small: bool) -> None:
    verdict = sg.verify_code(f, code, "x : real")["x"]
    assert (verdict.status, verdict.kind) == ("supported", "cancellation")
    assert verdict.where is not None
    assert verdict.where.startswith("where |x| <= ")
    assert float(verdict.where.rpartition(" ")[2]) < 0.1
    assert verdict.small == small


def by_entry(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: np.array([function(float(v)) for v in x])


@pytest.mark.parametrize(
    ("f", "code", "spec", "where"),
    [
        (
            lambda x: np.where(x > 0, x**2, np.sin(x)),
            lambda x: float(2 * x if x > 0 else -math.cos(x)),
            "x : real",
            "where x <= 0",
        ),
        (
            lambda x: np.where(x > 1, x**3, x**2),
            lambda x: float(x**2 if x > 1 else 2 * x),
            "x : real",
            "where x > 1",
        ),
        (
            lambda x: np.sum(np.maximum(x, 0)),
            by_entry(lambda v: 1.0 if v > 0 else 0.1),
            "x : real[3]",
            "where an entry has x <= 0",
        ),
    ],
)
def test_wrong_on_one_side_of_a_choice(f: Any, code: Any, spec: str, where: str) -> None:
    verdict = sg.verify_code(f, code, spec)["x"]
    assert (verdict.status, verdict.kind) == ("refuted", "wrong on a branch")
    assert verdict.where == where


def test_a_right_branch_is_right_whatever_it_takes_at_the_kink() -> None:
    for at_zero in (0.0, 0.5, 1.0):
        code = by_entry(lambda v, at=at_zero: 1.0 if v > 0 else 0.0 if v < 0 else at)
        assert sg.verify_code(lambda x: np.sum(np.maximum(x, 0)), code, "x : real[3]").kind == "right"


def test_a_small_derivative_is_no_branch() -> None:
    verdict = sg.verify_code(lambda x: x**3 + x, lambda x: float(3 * x**2), "x : real")
    assert (verdict.status, verdict.kind) == ("refuted", "wrong")


def test_what_leaves_the_range_of_floats_is_told() -> None:
    verdict = sg.verify_code(
        lambda x: np.log1p(np.exp(x)), lambda x: float(np.exp(x) / (1 + np.exp(np.float64(x)))), "x : real"
    )
    assert verdict.kind == "right"
    assert any("leaves the range of floats: gives nan for 1 at x = " in note for note in verdict["x"].notes)


# ----------------------------------------------------------------------------------------------- what is no gradient


def writes(x: Any) -> Any:
    x *= 2
    return x


RANDOM = np.random.default_rng(0)


def square(x: Any) -> Any:
    return (x**2).sum()


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        (writes, "changes its inputs", "it writes into its argument 'x'"),
        (
            lambda x: 2 * np.asarray(x, float) + RANDOM.random(),
            "not deterministic",
            "called twice at one point",
        ),
        (
            lambda x: 2 * np.asarray(x, float)[:, None],
            "wrong shape",
            r"the shape \(4, 1\), and 'x' has \(4,\)",
        ),
        (lambda x: np.asarray(x, float).sum(), "wrong shape", r"the shape \(\), and 'x' has \(4,\)"),
        (
            lambda _: 1 / 0,
            "raises",
            r"ZeroDivisionError: division by zero \(.*test_verify_code.py, line \d+\)",
        ),
        (lambda _: np.full(4, np.nan), "not finite", "it gives nan where the derivative is a number"),
        (lambda _: "2*x", "no numbers", "a value of type str"),
        (
            lambda x: (x, x),
            "wrong number of gradients",
            "it returns 2, and there are 1 to differentiate by: x",
        ),
        (lambda x: {"y": x}, "wrong number of gradients", "it returns none by 'x', but y"),
        (lambda _: np.full(4, 1j), "no numbers", "a value of type ndarray"),
        (lambda _: None, "no gradient", "it returns None by 'x', which counts as zero"),
    ],
)
def test_what_is_no_gradient_is_told_by_name(code: Any, kind: str, told: str) -> None:
    verdict = sg.verify_code(square, code, "x : real[4]")
    assert (verdict.status, verdict.kind) == ("refuted", kind)
    with pytest.raises(AssertionError, match=told):
        sg.testing.assert_gradient(square, code, "x : real[4]")


def test_none_is_a_gradient_of_zeros() -> None:
    verdict = sg.verify_code(lambda x, t: x * t, lambda x, t: (t, None), "x, t : real")
    assert (verdict["x"].kind, verdict["t"].kind) == ("right", "no gradient")
    assert "fixed in" not in str(verdict)  # no mistake is named, as of a variable that is held constant
    assert "(it returns None by 't')" in verdict.how
    right = sg.verify_code(lambda x, t: x + np.floor(t), lambda x, t: (1.0, None), "x, t : real")
    assert right["t"].kind == "right"
    assert sg.verify_code(of_libm("sin"), lambda _: None, "x : real").kind == "no gradient"


def test_what_runs_counts_and_not_what_was_read() -> None:
    def code(x: Any) -> Any:
        return 2 * x if isinstance(x, sg.Expr) else 3 * x

    verdict = sg.verify_code(square, code, "x : real[4]")
    assert (verdict.status, verdict.kind) == ("refuted", "wrong")
    assert "as a formula it is right: what runs is something else" in verdict["x"].notes


# ------------------------------------------------------------------------------------------------ f that is not read


def test_a_function_that_cannot_be_read_is_compared_with_its_differences() -> None:
    right = sg.verify_code(of_libm("sin"), of_libm("cos"), "x : real")
    assert (right.status, right.kind) == ("supported", "right")
    assert right.how.startswith("in numbers alone, against differences of f, which cannot be read")
    wrong = sg.verify_code(of_libm("sin"), of_libm("sin"), "x : real")
    assert (wrong.status, wrong.kind) == ("refuted", "wrong")
    assert wrong["x"].point is not None


@pytest.mark.parametrize(
    ("f", "code", "at"),
    [
        (math.sin, math.cos, -5e18),  # the next float is many periods further
        (math.sin, math.cos, 1e-12),
        (
            math.tanh,
            lambda x: 4 * math.exp(-2 * abs(x)) / (1 + math.exp(-2 * abs(x))) ** 2,
            30.0,
        ),  # all values are 1
        (abs, lambda x: 1.0 if x >= 0 else -1.0, 0.0),  # a kink
        (lambda x: float(np.sin(np.float32(x))), math.cos, 0.75),
        (lambda x: (1e8 + math.sin(x)) - 1e8, math.cos, 0.75),
    ],
)
def test_right_code_is_not_refuted_where_differences_tell_nothing(f: Any, code: Any, at: float) -> None:
    verdict = sg.verify_code(lambda x: float(f(float(x))), lambda x: code(float(x)), {"x": np.float64(at)})
    assert verdict.status != "refuted"


def test_code_for_where_a_function_is_still_is_refuted() -> None:
    verdict = sg.verify_code(lambda x: max(float(x), 0.0), lambda x: 1.0, "x : real")
    assert (verdict.status, verdict.kind) == ("refuted", "wrong")
    assert verdict["x"].point is not None
    assert verdict["x"].point["x"] < 0
    other = sg.verify_code(
        lambda x, y: math.sin(float(x)), lambda x, y: (math.cos(x), 1.0), "x : real; y : real"
    )
    assert (other["x"].status, other["y"].status) == ("supported", "refuted")


def test_differences_of_arrays() -> None:
    def f(x: Any, k: Any) -> float:
        return float(sum(float(v) ** 2 for v in np.ravel(x)) * int(k))

    assert sg.verify_code(f, lambda x, k: 2 * x * k, "x : real[2, 2]; k : int").kind == "right"
    assert sg.verify_code(f, lambda x, k: 2 * x, "x : real[2, 2]; k : int").kind == "wrong"
    assert sg.verify_code(f, lambda x, k: writes(x), "x : real[2, 2]; k : int").kind == "changes its inputs"


def test_arrays_that_are_too_large_are_not_called() -> None:
    read = sg.verify_code(square, lambda x: 2 * x, "x : real[60000]")
    assert (read.status, read.kind) == ("proved", "right")
    assert "not called" in read["x"].told
    called = sg.verify_code(square, lambda x: 2 * np.asarray(x, float), "x : real[60000]")
    assert (called.status, called.kind) == ("undecided", "undecided")
    assert "60,000 entries, declare smaller ones" in called["x"].told


def test_a_function_without_values_is_undecided() -> None:
    verdict = sg.verify_code(lambda x: float(x) * math.nan, lambda x: x, "x : real")
    assert (verdict.status, verdict.kind) == ("undecided", "undecided")


# ----------------------------------------------------------------------------------------------------- how it is asked


def test_programs_and_expressions_are_functions_too() -> None:
    p = sg.parse("x : positive\ny = log(x)")
    assert sg.verify_code(p, lambda x: 1 / x).status == "proved"
    assert sg.verify_code(p["y"], lambda x: -1 / x).status == "refuted"


@pytest.mark.parametrize(
    "specs",
    [
        "x : real[3]; a : positive",
        {"x": "real[3]", "a": "positive"},
        ["real[3]", "positive"],
        [(3,), np.float64(2.0)],
        {"a": 2.0, "x": np.ones(3)},
        [sg.tensor("x", (3,)), sg.symbols("a", "positive")],
    ],
)
def test_specs(specs: Any) -> None:
    verdict = sg.verify_code(lambda x, a: a * (x**2).sum(), lambda x, a: (2 * a * x, (x**2).sum()), specs)
    assert verdict.status == "proved"
    assert list(verdict) == ["x", "a"]
    assert len(verdict) == 2


def test_gradients_come_as_a_tuple_or_by_name_or_one_for_each_argument() -> None:
    def f(x: Any, k: Any, a: Any) -> Any:
        return a * x * k

    spec = "x : real; k : int; a : real"
    for code in (
        lambda x, k, a: (a * k, x * k),
        lambda x, k, a: {"a": x * k, "x": a * k},
        lambda x, k, a: (a * k, None, x * k),
    ):
        assert sg.verify_code(f, code, spec).status == "proved"
    assert sg.verify_code(f, lambda x, k, a: x * k, spec, wrt="a").status == "proved"
    assert sg.verify_code(f, lambda x, k, a: (a * k, x * k), spec, wrt=["a", "x"]).status == "refuted"


def test_a_cotangent_stands_behind_the_arguments() -> None:
    verdict = sg.verify_code(lambda x: x**3, lambda x, dout: 3 * x**2 * dout, "x : real[2]")
    assert verdict.status == "proved"
    wrong = sg.verify_code(lambda x: x**3, lambda x, dout: 3 * x**2, "x : real[2]")["x"]
    assert wrong.status == "refuted"
    assert wrong.point is not None
    assert "dout" in wrong.point


@pytest.mark.parametrize(
    ("f", "code", "specs", "options", "said"),
    [
        (square, "2*x", "x : real[4]", {}, "decides formulas"),
        (square, np.cos, None, {}, "no spec says what the arguments are"),
        (3, np.cos, "x : real", {}, "is no function"),
        (square, lambda x: x, "y : real[4]", {}, "the function takes no 'y'"),
        (lambda x, y: x * y, lambda x, y: y, "x : real", {}, "no spec says what 'y' is"),
        (square, lambda x: x, "x : real[4]\ny = 2*x", {}, "'y' says nothing of an argument"),
        (square, lambda x: x, ["real[4]", "real"], {}, "2 specs for the arguments x"),
        (square, lambda x: x, ["abc"], {}, "abc"),
        (square, lambda x: x, [object()], {}, "does not say what 'x' is"),
        (square, lambda x: x, [np.array([1.0, np.nan])], {}, "no finite numbers"),
        (square, lambda x: x, "x : real[4]", {"wrt": "y"}, "'y' is no real argument"),
        (square, lambda x: x, "x : int[4]", {}, "no argument is real"),
        (lambda x: x**3, lambda x: 3 * x**2, "x : real[3]", {}, "takes no cotangent"),
        (square, lambda: 1, "x : real[4]", {}, "grad_f takes 0 arguments"),
        (lambda x: x > 0, lambda x: x, "x : real", {}, "f returns no real number"),
        (square, lambda x: x, "x : real[4]", {"time_limit": 0}, "time_limit"),
        (sg.parse("x : real\ny = x"), lambda x: 1, "x : real", {}, "leave specs out"),
    ],
)
def test_what_cannot_be_asked(f: Any, code: Any, specs: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(sg.errors.SymgradError, match=said):
        sg.verify_code(f, code, specs, **options)


def test_a_verdict_has_no_truth_value_and_is_plain_as_json() -> None:
    verdict = sg.verify_code(np.sin, lambda x: -np.cos(x), "x : real")
    for v in (verdict, verdict["x"]):
        with pytest.raises(sg.errors.TruthValueError):
            bool(v)
    with pytest.raises(sg.errors.NotInProgramError, match="'y'"):
        verdict["y"]
    found = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    assert (found["status"], found["kind"]) == ("refuted", "wrong")
    assert found["arguments"]["x"]["right"] == "cos(x)"
    assert found["arguments"]["x"]["verdict"]["diagnosis"][0]["kind"] == "wrong-sign-trig"


# ---------------------------------------------------------------------------------------------------- assert_gradient


def test_assert_gradient_returns_the_verdict_of_what_is_right() -> None:
    assert sg.testing.assert_gradient(np.sin, np.cos, "x : real").status == "proved"
    assert sg.testing.assert_gradient(np.sin, of_libm("cos"), "x : real").status == "supported"
    # Below one rounding of what the derivative usually is: 1 - cos(x) at 1e-9.
    assert sg.testing.assert_gradient(lambda x: x - np.sin(x), lambda x: 1 - math.cos(x), "x : real")[
        "x"
    ].small


def test_assert_gradient_says_what_is_wrong() -> None:
    with pytest.raises(AssertionError) as raised:
        sg.testing.assert_gradient(
            layers.batch_norm, layers.batch_norm_backward_variance, SPECS["batch_norm"]
        )
    said = str(raised.value).splitlines()
    assert said[0] == "batch_norm_backward_variance is not the gradient of batch_norm"
    assert said[2].startswith("  x: wrong, at ")
    assert any("it gives " in line and ", the derivative is " in line for line in said)
    assert any("missing-term" in line for line in said)


def test_assert_gradient_raises_where_digits_are_lost_unless_that_is_allowed() -> None:
    cosf = of_libm("cosf", ctypes.c_float)
    with pytest.raises(AssertionError, match="less than working accuracy"):
        sg.testing.assert_gradient(np.sin, cosf, "x : real")
    assert (
        sg.testing.assert_gradient(np.sin, cosf, "x : real", allow=["float32 noise"]).kind == "float32 noise"
    )
    with pytest.raises(sg.errors.UsageError, match="did you mean 'cancellation'"):
        sg.testing.assert_gradient(np.sin, cosf, "x : real", allow=["cancelation"])  # type: ignore[list-item]


def test_assert_gradient_passes_nothing_silently() -> None:
    with pytest.raises(AssertionError, match="could not be found out"):
        sg.testing.assert_gradient(lambda x: float(x) * math.nan, lambda x: x, "x : real")


def test_differences_that_are_zero_everywhere_tell_nothing() -> None:
    def f(x: float) -> float:
        return float(math.exp(-x * 1e20))

    def g(x: float) -> float:
        return -2e20 * math.exp(-x * 1e20)

    unknown = sg.verify_code(f, g, {"x": "real(1, 5)"})
    assert unknown.status == "undecided"
    assert "does not move at any" in str(unknown)
    assert sg.verify_code(f, g, {"x": "real(1e-21, 1e-19)"}).status == "refuted"
    # A name that f does not move with has the gradient 0, which differences tell where f moves with another.
    both = sg.verify_code(
        lambda x, y: float(math.exp(-x) + 0 * y),
        lambda x, y: (-math.exp(-x), 0.0),
        {"x": "real", "y": "real"},
    )
    assert both.status in ("proved", "supported")
