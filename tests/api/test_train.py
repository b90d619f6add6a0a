"""train: each method against a loop written by hand, minibatches, noise, what is frozen, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.api.training.batches import feed
from symgrad.errors import (
    ArrayTypeError,
    ConvergenceError,
    IndexRangeError,
    MissingInputError,
    NotInProgramError,
    NotScalarError,
    ShapeError,
    SymgradError,
    UnsupportedError,
    UsageError,
)

RNG = np.random.default_rng(11)
X, W, B = sg.tensor("X", ("n", 3)), sg.tensor("w", (3,)), sg.symbols("b")
Y = sg.tensor("y", ("n",))
LEAST = sg.mean((sg.tanh(X @ W) + B - Y) ** 2)
DATA = {"X": RNG.normal(size=(40, 3)), "y": RNG.normal(size=40)}
START = {"w": np.array([0.5, -1.0, 2.0]), "b": 0.25}


def slope(w: Any, b: Any) -> tuple[Any, Any]:
    """The gradient of LEAST by w and b, by hand."""
    h = np.tanh(DATA["X"] @ w)
    e = 2 * (h + b - DATA["y"]) / 40
    return DATA["X"].T @ (e * (1 - h**2)), e.sum()


def sgd(w: Any, g: Callable[[Any], Any], k: int, memory: dict[str, Any]) -> Any:
    return w - 0.1 * g(w)


def heavy_ball(w: Any, g: Callable[[Any], Any], k: int, memory: dict[str, Any]) -> Any:
    """Polyak's own form: by the two last points."""
    before = memory.get("before", w)
    memory["before"] = w
    return w - 0.1 * g(w) + 0.8 * (w - before)


def nesterov(w: Any, g: Callable[[Any], Any], k: int, memory: dict[str, Any]) -> Any:
    """Nesterov's own form: the point is ahead of the sequence x, which descends from it."""
    x = memory.get("x", w)
    memory["x"] = w - 0.1 * g(w)
    return memory["x"] + 0.8 * (memory["x"] - x)


def adam(w: Any, g: Callable[[Any], Any], k: int, memory: dict[str, Any]) -> Any:
    gradient, t = g(w), k + 1
    memory["m"] = m = 0.9 * memory.get("m", 0) + (1 - 0.9) * gradient
    memory["v"] = v = 0.99 * memory.get("v", 0) + (1 - 0.99) * gradient**2
    return w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-6)


def adamw(w: Any, g: Callable[[Any], Any], k: int, memory: dict[str, Any]) -> Any:
    return adam(w, g, k, memory) - 0.1 * 0.05 * w


LOOPS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "sgd": (sgd, {}),
    "momentum": (heavy_ball, {"momentum": 0.8}),
    "nesterov": (nesterov, {"momentum": 0.8}),
    "adam": (adam, {"beta2": 0.99, "epsilon": 1e-6}),
    "adamw": (adamw, {"beta2": 0.99, "epsilon": 1e-6, "weight_decay": 0.05}),
}


@pytest.mark.parametrize("method", LOOPS)
def test_a_method_is_its_formula(method: str) -> None:
    step, options = LOOPS[method]
    point, memory, losses = np.append(START["w"], START["b"]), {}, []
    for k in range(60):
        losses.append(np.mean((np.tanh(DATA["X"] @ point[:3]) + point[3] - DATA["y"]) ** 2))
        point = step(point, lambda p: np.append(*slope(p[:3], p[3])), k, memory)
    found = sg.train(LEAST, START, DATA, method=method, rate=0.1, steps=60, **options)
    np.testing.assert_allclose(np.append(found["w"], found["b"]), point, rtol=1e-12)
    np.testing.assert_allclose(found.history, losses, rtol=1e-12)
    assert (found.steps, found.value, found.trained) == (60, found.history[-1], ("w", "b"))


def test_adam_has_the_published_defaults() -> None:
    found = sg.train(LEAST, START, DATA, steps=9)
    same = sg.train(LEAST, START, DATA, steps=9, rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8)
    assert found["b"] == same["b"]
    assert found["b"] != START["b"]


def test_steps_are_to_the_last_bit_where_the_gradient_is() -> None:
    """The gradient of sum(c*w) is c in every bit, so that nothing but the formula of the step is left."""
    w, c = sg.tensor("w", ("k",)), sg.tensor("c", ("k",))
    slopes, point, memory = RNG.normal(size=17), RNG.normal(size=17), {}
    start = point
    for k in range(25):
        point = adam(point, lambda p: slopes, k, memory)
    found = sg.train(sg.sum(c * w), {"w": start}, {"c": slopes}, rate=0.1, steps=25, beta2=0.99, epsilon=1e-6)
    np.testing.assert_array_equal(found["w"], point)


@given(st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=4), st.integers(0, 9))
def test_parameters_of_any_shapes_move_by_their_own_gradients(shapes: list[list[int]], seed: int) -> None:
    shapes = [s for s in shapes if 0 not in s] or [[2]]
    rng = np.random.default_rng(seed)
    tensors = [sg.tensor(f"p{i}", s) if s else sg.symbols(f"p{i}") for i, s in enumerate(shapes)]
    loss = sum(sg.sum(sg.sin(t)) for t in tensors) ** 2
    start = {f"p{i}": rng.normal(size=s) for i, s in enumerate(shapes)}
    found = sg.train(loss, start, method="sgd", rate=0.1, steps=1)
    total = sum(np.sin(v).sum() for v in start.values())
    for name, value in start.items():
        np.testing.assert_allclose(
            found[name], value - 0.1 * 2 * total * np.cos(value), rtol=1e-12, atol=1e-12
        )
        assert np.shape(found[name]) == value.shape


def test_float32_stays_float32() -> None:
    found = sg.train(LEAST, START, DATA, rate=0.1, steps=20, dtype="float32")
    assert found["w"].dtype == np.float32
    np.testing.assert_allclose(found["w"], sg.train(LEAST, START, DATA, rate=0.1, steps=20)["w"], rtol=1e-4)


def test_a_rate_may_be_a_schedule() -> None:
    seen: list[int] = []

    def rate(step: int) -> float:
        seen.append(step)
        return 0.1 / (1 + step)

    found = sg.train(LEAST, START, DATA, method="sgd", rate=rate, steps=5)
    w, b = START["w"], START["b"]
    for k in range(5):
        gw, gb = slope(w, b)
        w, b = w - 0.1 / (1 + k) * gw, b - 0.1 / (1 + k) * gb
    np.testing.assert_allclose(found["w"], w, rtol=1e-12)
    assert seen == [0, 1, 2, 3, 4]


# -- what is trained ---------------------------------------------------------------------------------------------


def test_the_rest_is_frozen() -> None:
    found = sg.train(LEAST, START, DATA, wrt="b", rate=0.1, steps=50)
    assert (found.trained, found.frozen) == (("b",), ("w",))
    np.testing.assert_array_equal(found["w"], START["w"])
    h = np.tanh(DATA["X"] @ START["w"])
    by_hand = sg.train(
        sg.mean((sg.tensor("r", ("n",)) - B) ** 2), {"b": 0.25}, {"r": DATA["y"] - h}, rate=0.1, steps=50
    )
    np.testing.assert_allclose(found["b"], by_hand["b"], rtol=1e-12)
    on = sg.train(LEAST, found.solution, DATA, wrt=["w"], rate=0.1, steps=50)
    assert on["b"] == found["b"]
    assert on.value < found.value


def test_stop_gradient_is_what_it_says() -> None:
    """Two players, each with its own loss: what one sees of the other is held still."""
    a, b = sg.symbols("a b")
    loss = (a - sg.stop_gradient(b)) ** 2 + (b - sg.stop_gradient(a) / 2) ** 2
    found = sg.train(loss, {"a": 3.0, "b": -1.0}, method="sgd", rate=0.1, steps=30)
    x, y = 3.0, -1.0
    for _ in range(30):
        x, y = x - 0.1 * 2 * (x - y), y - 0.1 * 2 * (y - x / 2)
    np.testing.assert_allclose([found["a"], found["b"]], [x, y], rtol=1e-12)


def test_start_is_not_written_to() -> None:
    start = {"w": START["w"].copy(), "b": 0.25}
    found = sg.train(LEAST, start, DATA, rate=0.1, steps=3)
    np.testing.assert_array_equal(start["w"], START["w"])
    found["w"][0] = 7  # nor is the solution anybody else's
    assert found["w"][0] == 7


def test_it_prints_what_was_trained() -> None:
    found = sg.train(LEAST, START, DATA, wrt=["b"], rate=0.1, steps=3)
    first, last = found.history[0], found.history[-1]
    assert str(found) == (
        f"adam: 3 steps, loss {first:.6g} at first, {last:.6g} at last\n  trained: b\n  frozen: w (3,)"
    )
    assert "array" not in repr(found)


# -- data --------------------------------------------------------------------------------------------------------


def batches(count: int, batch: Any, seed: int = 0, rows: int = 10) -> list[Mapping[str, Any]]:
    symbols = [t.node for t in (X, Y)]
    data = {"X": np.arange(3.0 * rows).reshape(rows, 3), "y": np.arange(float(rows))}
    steps = feed(data, symbols, (), {}, batch, seed, np.dtype(float))
    return [{s.name: v.copy() for s, v in step.items()} for step in islice(steps, count)]


def test_an_epoch_reads_every_row_once() -> None:
    found = batches(8, 3)
    assert [len(b["y"]) for b in found] == [3, 3, 3, 1] * 2
    for epoch in (found[:4], found[4:]):
        np.testing.assert_array_equal(np.sort(np.concatenate([b["y"] for b in epoch])), np.arange(10))
    assert [b["y"].tolist() for b in found[:4]] != [b["y"].tolist() for b in found[4:]]
    for b in found:
        np.testing.assert_array_equal(b["X"][:, 0], 3 * b["y"])


def test_the_order_follows_the_seed() -> None:
    same, again, other = batches(4, 3), batches(4, {"n": 3}), batches(4, 3, seed=1)
    assert all((a["y"] == b["y"]).all() for a, b in zip(same, again, strict=True))
    assert any((a["y"] != b["y"]).any() for a, b in zip(same, other, strict=True))
    assert len(batches(1, 100)[0]["y"]) == 10


def test_minibatches_find_the_solution_of_all_data() -> None:
    loss = sg.mean((X @ W - Y) ** 2)
    data = {"X": DATA["X"], "y": DATA["X"] @ [1.0, -2.0, 3.0]}
    found = sg.train(loss, {"w": np.zeros(3)}, data, method="momentum", rate=0.02, steps=600, batch=8)
    np.testing.assert_allclose(found["w"], [1, -2, 3], atol=1e-8)


def test_batches_of_ones_own() -> None:
    halves = [{"X": DATA["X"][:20], "y": DATA["y"][:20]}, {"X": DATA["X"][20:], "y": DATA["y"][20:]}]
    again = sg.train(LEAST, START, halves, method="sgd", rate=0.1, steps=5)
    assert again.steps == 5
    assert again.message == "5 steps"
    once = sg.train(LEAST, START, iter(halves), method="sgd", rate=0.1, steps=5)
    assert (once.steps, once.message) == (2, "2 of 5 steps, when the data ended")
    np.testing.assert_array_equal(once.history, again.history[:2])


def test_data_of_the_program_that_the_loss_does_not_need_is_no_mistake() -> None:
    p = sg.parse("x : real\nunread : real\ny = (x - 1)**2")
    assert sg.train(p["y"], {"x": 0.0}, {"unread": 3}, rate=0.1).value < 1e-6


# -- noise -------------------------------------------------------------------------------------------------------

NOISY = sg.parse(
    "w : real[2]\nu ~ Normal(0, 1)[m, 2]\nk ~ Bernoulli(0.5)\nloss = mean((w - u)**2) + k*sum(w)"
)


def test_noise_is_drawn_anew_in_every_step_and_follows_the_seed() -> None:
    def run(seed: int) -> Any:
        return sg.train(NOISY["loss"], {"w": [0, 0]}, batch={"m": 50}, rate=0.01, steps=40, seed=seed)

    found = run(3)
    assert len(set(found.history)) == 40
    np.testing.assert_array_equal(found.history, run(3).history)
    assert (found.history != run(4).history).any()


def test_noise_has_its_distribution() -> None:
    p = sg.parse("w : real\nu ~ Uniform(2, 4)[m]\nloss = (w - mean(u))**2 + 0*sum(u)")
    found = sg.train(p["loss"], {"w": 0}, batch=1000, method="sgd", rate=lambda k: 0.5 / (k + 1), steps=400)
    assert abs(found["w"] - 3) < 0.01  # the mean of all draws
    fixed = sg.train(p["loss"], {"w": 0}, {"u": [2, 3]}, method="sgd", rate=0.5, steps=2)
    assert fixed["w"] == 2.5


def test_noise_is_as_long_as_the_batch() -> None:
    p = sg.parse("w : real\nx : real[n]\nu ~ Normal(0, 1)[n]\nloss = mean((w*x + u)**2)")
    seen: list[float] = []
    sg.train(
        p["loss"],
        {"w": 1},
        {"x": np.ones(7)},
        batch=3,
        rate=0.1,
        steps=6,
        callback=lambda k, v, _: seen.append(v),
    )
    assert len(seen) == 6


# -- the way -----------------------------------------------------------------------------------------------------


def test_a_callback_sees_the_parameters_and_may_end_it() -> None:
    seen: list[tuple[int, float, float]] = []

    def watch(step: int, loss: float, values: Mapping[str, Any]) -> bool:
        assert not values["w"].flags.writeable
        seen.append((step, loss, float(values["b"])))
        return step == 3

    found = sg.train(LEAST, START, DATA, rate=0.1, steps=50, callback=watch)
    assert [s for s, _, _ in seen] == [0, 1, 2, 3]
    assert [v for _, v, _ in seen] == found.history.tolist()
    assert seen[-1][2] == found["b"]
    assert found.message == "4 of 50 steps, when the callback returned True"


# -- what is refused ---------------------------------------------------------------------------------------------

Q = sg.symbols("q", "positive")
S = sg.symbols("s")


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (NotScalarError, "train needs a scalar", lambda: sg.train(X @ W, START, DATA)),
        (UsageError, "method='adm'", lambda: sg.train(LEAST, START, DATA, method="adm")),
        (UsageError, "sgd needs a rate", lambda: sg.train(LEAST, START, DATA, method="sgd")),
        (UsageError, "adamw needs weight_decay", lambda: sg.train(LEAST, START, DATA, method="adamw")),
        (UsageError, "no option 'momentum'", lambda: sg.train(LEAST, START, DATA, momentum=0.9)),
        (UsageError, r"beta1=1", lambda: sg.train(LEAST, START, DATA, beta1=1)),
        (UsageError, r"rate=-1", lambda: sg.train(LEAST, START, DATA, rate=-1)),
        (UsageError, r"rate\(0\)=nan", lambda: sg.train(LEAST, START, DATA, rate=lambda k: np.nan)),
        (UsageError, r"steps=0", lambda: sg.train(LEAST, START, DATA, steps=0)),
        (UsageError, r"batch=0", lambda: sg.train(LEAST, START, DATA, batch=0)),
        (UsageError, "the size 'q'", lambda: sg.train(LEAST, START, DATA, batch={"q": 2})),
        (UsageError, "start is of type list", lambda: sg.train(LEAST, [1, 2], DATA)),  # type: ignore[arg-type]
        (UsageError, "data is of type int", lambda: sg.train(LEAST, START, 3)),
        (UsageError, "data has no batches", lambda: sg.train(LEAST, START, [])),
        (UsageError, "a batch of the data is of type", lambda: sg.train(LEAST, START, [DATA["X"]])),
        (UsageError, "batch with data that come", lambda: sg.train(LEAST, START, [DATA], batch=2)),
        (UsageError, "nothing to train", lambda: sg.train(LEAST, START, DATA, wrt=[])),
        (UsageError, "names one input twice", lambda: sg.train(LEAST, START, DATA, wrt=["b", B])),
        (UsageError, r"cannot train 'X@w'", lambda: sg.train(LEAST, START, DATA, wrt=X @ W)),
        (NotInProgramError, "'c'", lambda: sg.train(LEAST, START, DATA, wrt="c")),
        (MissingInputError, "no start for b", lambda: sg.train(LEAST, {"w": [0, 0, 0]}, DATA, wrt="b")),
        (MissingInputError, "no data for y", lambda: sg.train(LEAST, START, {"X": DATA["X"]})),
        (MissingInputError, "'w' is in start and in data", lambda: sg.train(LEAST, START, {**DATA, "w": 1})),
        (MissingInputError, "data has 'z'", lambda: sg.train(LEAST, START, {**DATA, "z": 1})),
        (MissingInputError, "start has 'z'", lambda: sg.train(LEAST, {**START, "z": 1}, DATA)),
        (MissingInputError, "the size m of the random", lambda: sg.train(NOISY["loss"], {"w": [0, 0]})),
        (ShapeError, "size n is", lambda: sg.train(LEAST, START, {**DATA, "y": [1.0]})),
        (ShapeError, r"input 'b' has shape", lambda: sg.train(LEAST, {**START, "b": [1, 2]}, DATA)),
        (ShapeError, "no rows", lambda: sg.train(LEAST, START, {"X": np.ones((0, 3)), "y": []}, batch=2)),
        (ArrayTypeError, "'w' has nan", lambda: sg.train(LEAST, {**START, "w": [0, 0, np.nan]}, DATA)),
        (
            UsageError,
            "no gradient with respect to 'b': stopped",
            lambda: sg.train(sg.stop_gradient(B) * S, {"b": 1, "s": 2}),
        ),
        (
            UsageError,
            "no gradient with respect to 'b': zero",
            lambda: sg.train(sg.floor(B) * S, {"b": 1, "s": 2}),
        ),
        (UsageError, "outside its domain", lambda: sg.train(Q**2, {"q": -1})),
        (
            UnsupportedError,
            "declared symmetric",
            lambda: sg.train(sg.parse("S : real[n, n] symmetric; l = sum(S**2)")["l"], {"S": np.eye(2)}),
        ),
        (
            IndexRangeError,
            "'i' is 5",
            lambda: sg.train(
                sg.parse("t : real[3]; i : int[n]; l = sum(t[i]**2)")["l"], {"t": [1, 2, 3]}, {"i": [5]}
            ),
        ),
        (
            UsageError,
            "'K' of shape .* cannot be cut along n",
            lambda: sg.train(
                sg.parse("w : real; K : real[n, n]; l = sum(w*K)")["l"], {"w": 1}, {"K": np.eye(4)}, batch=2
            ),
        ),
        (
            UsageError,
            "which parameters have",
            lambda: sg.train(
                sg.parse("z : real[n]; y : real[n]; l = sum((z - y)**2)")["l"],
                {"z": [0, 0]},
                {"y": [1, 2]},
                batch={"n": 1},
            ),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error: type[SymgradError], match: str, call: Callable[[], Any]) -> None:
    with pytest.raises(error, match=match):
        call()


def test_training_that_runs_away_says_at_which_step_and_by_which_parameter() -> None:
    with pytest.raises(
        ConvergenceError, match=r"at step \d+ the loss is inf, .*entries of 's' go up to"
    ) as caught:
        sg.train(S**2, {"s": 1.0}, method="sgd", rate=10, steps=10_000)
    assert caught.value.cure == "take a smaller rate"
    with pytest.raises(ConvergenceError, match="step 0 takes 's' to -inf"):
        sg.train(S**2, {"s": 1e150}, method="sgd", rate=1e200, steps=1)


def test_bad_data_are_named() -> None:
    bad = {**DATA, "y": np.where(np.arange(40) == 7, np.nan, DATA["y"])}
    with pytest.raises(ConvergenceError, match=r"at step 0 the loss is nan: 'y', .* has nan at \[7\]"):
        sg.train(LEAST, START, bad)
    with pytest.raises(ConvergenceError, match=r"at step [0-4] the loss is nan: 'y'"):
        sg.train(LEAST, START, bad, batch=8)


def test_a_gradient_that_is_not_finite_moves_nothing() -> None:
    with pytest.raises(ConvergenceError, match="at step 0 the gradient by 's' has inf; the loss is 0"):
        sg.train(sg.sqrt(S), {"s": 0.0})


def test_large_gradients_whose_sum_overflows_are_no_mistake() -> None:
    w = sg.tensor("w", (4,))
    found = sg.train(sg.sum(w * 1e308), {"w": np.zeros(4)}, method="sgd", rate=1e-308, steps=1)
    np.testing.assert_allclose(found["w"], -1.0)


def test_a_parameter_that_leaves_its_domain_says_so() -> None:
    with pytest.raises(
        ConvergenceError, match="step 1 takes 'q' out of its domain, positive: to -"
    ) as caught:
        sg.train(sg.log(Q) + sg.sqrt(Q), {"q": 1}, method="sgd", rate=0.5)
    assert "exp(log_q)" in (caught.value.cure or "")


def test_a_mistake_in_a_callback_is_the_users() -> None:
    def fail(step: int, loss: float, values: Mapping[str, Any]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sg.train(LEAST, START, DATA, callback=fail)


@pytest.mark.parametrize(("option", "own"), [("lr", "rate="), ("epochs", "steps="), ("batch_size", "batch=")])
def test_names_of_other_libraries_are_told_ours(option: str, own: str) -> None:
    p = sg.parse("w : real[n]\nloss = sum(w**2)")
    options: dict[str, Any] = {option: 1}
    with pytest.raises(UsageError, match=f"write {own}"):
        sg.train(p["loss"], {"w": np.ones(3)}, **options)
