"""Loops in functions of NumPy that become recurrences: `sg.range`, and many equal steps over Python's `range`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.ir.traverse import topological

X = np.linspace(-1, 2, 24).reshape(12, 2)
LONG = np.linspace(-1, 1, 30)


def recurrences(e: sg.Expr) -> int:
    return sum(n.op.name == "recurrence" for n in topological([e.node]))


def one(a: Any, x: Any) -> Any:
    h = 0.0
    for t in sg.range(x.shape[0]):
        h = np.tanh(a * h + x[t, 0])
    return h


def several(a: Any, x: Any) -> Any:
    state = {"h": np.zeros(2), "parts": [1.0, a]}
    for t in sg.range(1, x.shape[0]):
        z = x[t] * state["parts"][0]
        state = {"h": np.tanh(state["h"] * a + z), "parts": [state["h"].sum(), state["parts"][0]]}
    return state["h"].sum() + state["parts"][1]


def one_after_another(a: Any, x: Any) -> Any:
    s = a * 0
    for t in sg.range(x.shape[0]):
        s = s + a * x[t, 0]
    for t in sg.range(x.shape[0]):
        s = s * np.cos(x[t, 1]) + t
    return s


def nested(a: Any, x: Any) -> Any:
    s = 0.0
    for i in sg.range(x.shape[0]):
        r = a
        for j in sg.range(x.shape[1]):
            r = r * np.sin(x[i, j]) + a
        s = s + r**2
    return s


def exchanges(a: Any, x: Any) -> Any:
    b, c = a, a + 1
    for t in sg.range(x.shape[0]):
        b, c = c, b + x[t, 0]
    return b - 2 * c


def through_closures(a: Any, x: Any) -> Any:
    h = a

    def step(t: Any) -> None:
        nonlocal h
        h = np.sin(h) + x[t, 0]

    for t in sg.range(x.shape[0]):
        step(t)
    return h


def steps_of_numbers(a: Any, x: Any) -> Any:
    count, power = 0, 1.0
    for _ in sg.range(x.shape[0]):
        count += 1
        power = power * a / count
    return power + count


def unread(a: Any, x: Any) -> Any:
    kept, last = a, a
    for t in sg.range(x.shape[0]):
        last = x[t, 1] * a
        kept = kept * 1.5
    return kept + last


LOOPS = (one, several, one_after_another, nested, exchanges, through_closures, steps_of_numbers, unread)


@pytest.mark.parametrize("function", LOOPS, ids=[f.__name__ for f in LOOPS])
def test_a_loop_is_a_recurrence_for_all_sizes(function: Callable[..., Any]) -> None:
    found = sg.from_numpy(function, a="real", x="real[T, m]" if function is nested else "real[T, 2]").last
    slope = sg.grad(found, "a")
    assert recurrences(found)
    for steps in (1, 2, 5, 12):
        x = X[:steps]
        assert float(found(a=0.7, x=x)) == pytest.approx(float(function(0.7, x)), rel=1e-13)
        difference = (function(0.7 + 1e-6, x) - function(0.7 - 1e-6, x)) / 2e-6
        assert float(slope(a=0.7, x=x)) == pytest.approx(float(difference), rel=1e-7, abs=1e-8)


def test_a_loop_of_no_steps_keeps_the_values() -> None:
    for function in (one, exchanges, unread):
        found = sg.from_numpy(function, a="real", x="real[T, 2]").last
        assert float(found(a=0.7, x=X[:0])) == pytest.approx(float(function(0.7, X[:0])), rel=1e-15)


def test_the_recurrence_has_the_names_of_the_variables() -> None:
    def smoothed(a: Any, x: Any) -> Any:
        level, trend = x[0], 0.0
        for t in sg.range(1, x.shape[0]):
            before = level
            level = a * x[t] + (1 - a) * (level + trend)
            trend = (level - before) / 2 + trend / 2
        return level**2

    p = sg.from_numpy(smoothed, a="real", x="real[T]")
    assert str(p).splitlines()[2:4] == ["level[0] = x[0]", "trend[0] = 0"]
    assert "level[t] = a*x[t] + (1 - a)*(level[t-1] + trend[t-1])" in str(p)
    assert set(p.names) == {"a", "x", "level", "trend", "smoothed"}


def counted(a: Any, x: Any) -> Any:
    h = 0.0
    for t in range(30):
        h = np.tanh(a * h + x[t])
    return h


def by_value_of_the_step(a: Any, x: Any) -> Any:
    h = 0.0
    for t in range(30):
        h = h + a**t / (t + 1) * x[t]
    return h


@pytest.mark.parametrize("function", [counted, by_value_of_the_step])
def test_many_equal_steps_over_pythons_range_are_a_recurrence(function: Callable[..., Any]) -> None:
    found = sg.from_numpy(function, a="real", x="real[30]").last
    assert recurrences(found) == 1
    assert float(found(a=0.7, x=LONG)) == pytest.approx(function(0.7, LONG), rel=1e-13)


def few(a: Any, x: Any) -> Any:
    h = 0.0
    for t in range(16):
        h = np.tanh(a * h + x[t])
    return h


def alternates(a: Any, x: Any) -> Any:
    h = a
    for t in range(30):
        h = h * a if t % 2 else h + x[t]
    return h


def reads_an_iterator(a: Any, x: Any) -> Any:
    numbers = iter([0.0] * 5 + [1.0] * 25)
    h = x[0]
    for _ in range(30):
        h = h * a + next(numbers)
    return h


def counts_outside(a: Any, x: Any) -> Any:
    state: Any = type("State", (), {})()
    state.steps = 0
    h = x[0]
    for _ in range(30):
        state.steps += 1
        h = h * a + (1.0 if state.steps > 10 else 0.0)
    return h


def makes_a_list(a: Any, x: Any) -> Any:
    values = []
    h = a
    for t in range(30):
        h = h * a + x[t]
        values.append(h)
    return np.sum(np.array(values))


def breaks(a: Any, x: Any) -> Any:
    h = a
    for t in range(30):
        h = h * a + x[t]
        if t == 20:
            break
    return h


def tabulates(a: Any, x: Any) -> Any:
    weights = np.zeros(30)
    for k in range(30):
        weights[k] = 1 / (k + 1)
    return np.sum(weights * x) * a


def sums_numbers(a: Any, x: Any) -> Any:
    total = 0.0
    for k in range(30):
        total += 1 / (k + 1)
    return total * a * x[0]


WRITTEN_OUT = (
    few,
    alternates,
    reads_an_iterator,
    counts_outside,
    makes_a_list,
    breaks,
    tabulates,
    sums_numbers,
)


@pytest.mark.parametrize("function", WRITTEN_OUT, ids=[f.__name__ for f in WRITTEN_OUT])
def test_other_loops_are_written_out(function: Callable[..., Any]) -> None:
    found = sg.from_numpy(function, a="real", x="real[30]").last
    assert recurrences(found) == 0
    assert float(found(a=0.7, x=LONG)) == pytest.approx(function(0.7, LONG), rel=1e-13)


def leaves(a: Any, x: Any) -> Any:
    h = a
    for t in sg.range(x.shape[0]):
        h = h * a + x[t]
        break
    return h


def grows(a: Any, x: Any) -> Any:
    values = []
    for t in sg.range(x.shape[0]):
        values.append(a * x[t])  # noqa: PERF401  (as users write it)
    return np.stack(values)


def reads_the_last_step(a: Any, x: Any) -> Any:
    h = a
    for t in sg.range(x.shape[0]):
        z = h * x[t]
        h = z + a
    return z


def reads_the_number(a: Any, x: Any) -> Any:
    h = a
    for t in sg.range(x.shape[0]):
        h = h * x[t]
    return h * t


def changes_the_shape(a: Any, x: Any) -> Any:
    h = 0.0
    for _ in sg.range(x.shape[0]):
        h = h + a * np.ones(3)
    return h


def has_a_first_step(a: Any, x: Any) -> Any:
    h, first = a, True
    for t in sg.range(x.shape[0]):
        if not first:
            h = h * x[t]
        first = False
    return h


def counts_in_an_object(a: Any, x: Any) -> Any:
    state: Any = type("State", (), {})()
    state.steps = 0
    h = a
    for t in sg.range(x.shape[0]):
        state.steps += 1
        h = h * x[t] + state.steps
    return h


def comprehends(a: Any, x: Any) -> Any:
    return sum([a * x[t] for t in sg.range(x.shape[0])])


def reads_numbers(a: Any, x: Any) -> Any:
    h = a * x[0]
    for t in sg.range(30):
        h = h + LONG[t]
    return h


def carries_a_text(a: Any, x: Any) -> Any:
    h, name = a, "a"
    for t in sg.range(x.shape[0]):
        h = h * x[t]
        name = name + "b"
    return h * len(name)


REFUSED = [
    (leaves, "break or return", "sg.while_loop"),
    (grows, "another structure", "sg.scan"),
    (reads_the_last_step, "after the loop", "before the loop"),
    (reads_the_number, "after the loop", "before the loop"),
    (changes_the_shape, "the shape", "np.zeros"),
    (has_a_first_step, "bool", "np.where"),
    (counts_in_an_object, "in another way", "out of the loop"),
    (comprehends, "after the loop", "sg.scan"),
    (reads_numbers, "not an array", "an argument"),
    (carries_a_text, "str", "np.where"),
]


@pytest.mark.parametrize(("function", "said", "cure"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED])
def test_a_loop_that_is_no_recurrence_is_refused(function: Callable[..., Any], said: str, cure: str) -> None:
    with pytest.raises(SymgradError, match=said) as caught:
        sg.from_numpy(function, a="real", x="real[T]")
    assert cure in str(caught.value.cure)
    if "after the loop" not in said:
        first = function.__code__.co_firstlineno
        assert any(
            f"line {first + k}," in str(caught.value)
            for k in range(len(inspect.getsource(function).splitlines()))
        )


def test_range_is_pythons_for_numbers() -> None:
    assert sg.range(3) == range(3)
    assert sg.range(1, 3) == range(1, 3)


def test_gradients_of_functions_with_loops() -> None:
    value, slope = sg.value_and_grad(counted)(0.7, LONG)
    assert value == pytest.approx(counted(0.7, LONG), rel=1e-13)
    assert slope == pytest.approx((counted(0.7 + 1e-6, LONG) - counted(0.7 - 1e-6, LONG)) / 2e-6, rel=1e-7)
    value, slope = sg.value_and_grad(one)(0.7, X)
    assert slope == pytest.approx((one(0.7 + 1e-6, X) - one(0.7 - 1e-6, X)) / 2e-6, rel=1e-7)
