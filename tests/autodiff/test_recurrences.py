"""Recurrences have the values and derivatives of their steps written out, in every way to compute or write them."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.autodiff.jvp import push_forward
from symgrad.autodiff.recurrences import recur
from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.kernels.compile import compile_nodes
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.notation.recurrences import is_recurrence
from symgrad.ir.size_substitution import resized, size_names
from symgrad.ir.traverse import symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate, evaluate_mp, mp_context
from symgrad.ops.numpy.calls import total
from symgrad.rewrite.pipeline import canonical
from tests.recurrences import RECURRENCES, unrolled

LENGTHS = {"T": 4, "S": 5, "n": 3, "m": 2, "k": 2}
every_recurrence = pytest.mark.parametrize("name", RECURRENCES)


def program_of(name: str) -> sg.Program:
    return sg.parse(dedent(RECURRENCES[name]))


def sized(nodes: list[Node]) -> list[Node]:
    return resized(nodes, {name: LENGTHS[name] for name in size_names(nodes)})


def values_for(nodes: list[Node]) -> dict[Node, Any]:
    rng = np.random.default_rng(1)
    return {s: rng.uniform(0.2, 0.8, size=tuple(map(int, s.shape))) for s in symbols_of(nodes)}  # type: ignore[arg-type]


def close(found: list[Any], wanted: list[Any], rtol: float = 1e-11) -> None:
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(1.0, float(np.max(np.abs(b), initial=0))))


def gradients(y: Node, xs: list[Node]) -> list[Node]:
    return list(pull_back([y], [as_node(1)], xs).gradients)


@every_recurrence
def test_derivatives_are_those_of_the_steps_written_out(name: str) -> None:
    (y,) = sized([program_of(name)["y"].node])
    xs = symbols_of([y])
    (plain,) = unrolled([y])
    assert any(map(is_recurrence, topological([y])))
    assert not any(map(is_recurrence, topological([plain])))
    values = values_for([y])
    first, first_plain = gradients(y, xs), gradients(plain, xs)
    close(evaluate([y, *first], values), evaluate([plain, *first_plain], values))
    tangents = {x: symbol(Declaration(f"d {x.name}", shape=x.shape)) for x in xs}
    values |= values_for(list(tangents.values()))
    along = [push_forward([z], tangents)[0] for z in (y, plain)]
    close(evaluate(along[:1], values), evaluate(along[1:], values))
    second, second_plain = (
        gradients(sum((total(g * tangents[x]) for g, x in zip(gs, xs, strict=True)), as_node(0)), xs)
        for gs in (first, first_plain)
    )
    close(evaluate(second, values), evaluate(second_plain, values), 1e-9)


@every_recurrence
def test_kernels_and_source(name: str) -> None:
    e = program_of(name)["y"]
    y = e.node
    xs = symbols_of([y])
    outputs = [y, *gradients(y, xs)]
    values = dict(zip(xs, values_for(sized([y])).values(), strict=True))
    wanted = evaluate(outputs, values)
    arguments = [values[x] for x in xs]
    close(list(compile_nodes(outputs, xs)(*arguments)), wanted)
    space: dict[str, Any] = {}
    exec(sg.Expr(y).numpy_source(), space)
    close([space["f"](*arguments)], wanted[:1])


@every_recurrence
def test_values_have_the_same_bits_beside_their_gradients(name: str) -> None:
    y = program_of(name)["y"].node
    xs = symbols_of([y])
    arguments = list(values_for(sized([y])).values())
    alone, beside = (
        compile_nodes([y], xs)(*arguments),
        compile_nodes([y, *gradients(y, xs)], xs)(*arguments)[0],
    )
    np.testing.assert_array_equal(alone, beside)


@every_recurrence
def test_programs_and_gradients_are_read_back(name: str) -> None:
    program = program_of(name)
    y = program["y"]
    again = sg.parse(str(program))
    assert again["y"].node is y.node
    for x in y.inputs:
        slope = sg.grad(y, x)
        texts = [slope.text(expand=True), str(slope)]
        for text in texts:
            alone = " : " in text.splitlines()[0]
            read = sg.parse(text if alone else f"{dedent(RECURRENCES[name])}\n{text}").last
            both = sized([read.node, slope.node])
            values = values_for(both)
            found, wanted = evaluate(both, values)
            close([found], [wanted])


@pytest.mark.parametrize("length", [0, 1, 2])
@pytest.mark.parametrize("reverse", [False, True])
def test_no_step_and_one_step(length: int, reverse: bool) -> None:
    h, x, a = (symbol(Declaration(n)) for n in "hxa")
    rows = symbol(Declaration("X", shape=("T",)))
    (values,) = recur([a], [h], [a * h + x], {x: rows}, "T", reverse=reverse)
    assert values.shape[0] != "T"
    y = total(values**2)
    found = compile_nodes([y, *gradients(y, [a, rows])], [a, rows])(0.5, np.arange(1.0, 1 + length))
    (plain,) = unrolled(resized([y], {"T": length}))
    symbols = [a, *resized([rows], {"T": length})]
    numbers = {a: 0.5, symbols[1]: np.arange(1.0, 1 + length)}
    close(list(found), evaluate([plain, *gradients(plain, symbols)], numbers))


def test_what_is_the_same_in_all_steps_is_computed_once() -> None:
    h, a = symbol(Declaration("h")), symbol(Declaration("a"))
    from symgrad.ops.scalar.elementary import exp

    (values,) = recur([as_node(1)], [h], [h * exp(a)], {}, 3)
    assert exp(a) in values.args


def test_equal_bodies_are_one_node() -> None:
    one = sg.parse("x : real[T]\nh[0] = 0\nh[t] = 2*h[t-1] + x[t-1] for t in 1..T")["h"]
    other = sg.parse("x : real[T]\ng[0] = 0\ng[k] = 2*g[k-1] + x[k-1] for k in 1..T")["g"]
    assert one.node is other.node


def test_a_stop_gradient_truncates_the_derivative() -> None:
    p = sg.parse("a : real\nh[0] = a\nh[t] = stop_gradient(h[t-1])*a for t in 1..3\ny = h[3]")
    assert float(p["y"](a=2.0)) == 16.0
    assert float(sg.grad(p["y"], "a")(a=2.0)) == 8.0  # of the last step alone


def test_loops_inside_loops() -> None:
    x = sg.parse("x : real[T]")["x"]

    def outer(c: sg.Expr, row: sg.Expr) -> tuple[sg.Expr, None]:
        inner, _ = sg.scan(lambda h, other: (h * c + other, None), 0, x)
        return c * row + inner / 10, None

    last, _ = sg.scan(outer, 0.5, x)
    (plain,) = unrolled(resized([last.node], {"T": 3}))
    (symbol_,) = symbols_of([plain])
    numbers = np.array([0.3, 0.4, 0.5])
    close([last(x=numbers)], evaluate([plain], {symbol_: numbers}))
    close([sg.grad(last, "x")(x=numbers)], evaluate(gradients(plain, [symbol_]), {symbol_: numbers}))
    wanted = evaluate(
        gradients(total(gradients(plain, [symbol_])[0] * as_node(1)), [symbol_]), {symbol_: numbers}
    )
    close([sg.hessian(last, "x")(x=numbers).sum(axis=0)], wanted, 1e-10)


def carries_in(*nodes: Node) -> list[int]:
    return [len(n.params[-1].carries) for n in topological(nodes) if is_recurrence(n)]


def test_carries_that_no_step_changes_are_none() -> None:
    p = sg.parse("""
    a : real[n]; b : real
    h[0] = a; w[0] = b
    h[t] = w[t-1]*h[t-1]; w[t] = w[t-1] for t in 1..2
    """)
    assert carries_in(p["h"].node) == [1]
    assert carries_in(p["w"].node) == []
    np.testing.assert_array_equal(p["h"](a=[1.0, 2.0], b=3.0), [[1, 2], [3, 6], [9, 18]])
    np.testing.assert_array_equal(p["w"](b=3.0), [3, 3, 3])


def test_duals_that_are_the_same_in_all_steps_are_no_carries() -> None:
    p = sg.parse("""
    a, b : real; x : real[T]
    h[0] = a; u[0] = b; k[0] = 1; l[0] = 0
    h[t] = b*h[t-1]; u[t] = u[t-1]**2 + h[t]; k[t] = k[t-1]*u[t]; l[t] = l[t-1] - h[t]**2 for t in 1..T
    """)
    loss = p["l"][-1].node
    xs = symbols_of([loss])
    # l_bar is 1 in all steps; those of u and k are 0.
    assert carries_in(loss) == [4]
    assert sorted(set(carries_in(*gradients(loss, xs))) - {4}) == [1]
    (along,) = push_forward([loss], {x: as_node(1) for x in xs if x.name == "a"})
    assert sorted(carries_in(along)) == [4, 4]


def test_numbers_at_any_precision_are_carried_on() -> None:
    p = sg.parse("x : real[3]; a : real\nh[0] = a\nh[t] = sin(a*h[t-1] + x[t-1]) for t in 1..3\ny = h[3]**2")
    x, a = p["x"].node, p["a"].node
    gradients = [sg.grad(p["y"], name).node for name in ("x", "a")]
    mp = mp_context(40)
    exact = {x: np.array([mp.mpf(k) / 4 for k in (1, -2, 3)], dtype=object), a: mp.mpf(3) / 4}
    found = evaluate_mp(mp, [p["y"].node, *gradients], exact)
    floats = {n: np.asarray(v, float) for n, v in exact.items()}
    for high, low in zip(found, evaluate([p["y"].node, *gradients], floats), strict=True):
        np.testing.assert_allclose(np.asarray(high, float), low, rtol=1e-14)


def test_forms_of_values_have_no_stops_in_steps() -> None:
    lines = "w : real; x : real[T]\nh[0] = 0\nh[t] = tanh(w*{} + x[t-1]) for t in 1..T\ny = h[T]**2"
    stopped, free = (sg.parse(lines.format(h))["y"].node for h in ("stop_gradient(h[t-1])", "h[t-1]"))
    assert canonical([stopped], drop_stops=True).nodes[0] is canonical([free]).nodes[0]
    assert canonical([stopped]).nodes[0] is not canonical([free]).nodes[0]


def test_what_reads_entries_of_the_last_value_adds_nothing_to_other_steps() -> None:
    p = sg.parse("""
    T : size; a : real; v : real[3]
    h[0] = v
    h[t] = sin(a*h[t-1]) for t in 1..T
    y = h[T, 0]**2 + h[T, 1:]@v[:2]
    """)
    (slope,) = gradients(p["y"].node, [p["v"].node])
    (back,) = (n for n in topological([slope]) if is_recurrence(n) and n.params[1])
    assert "unslice" not in {n.op.name for n in topological(back.params[-1].results)}
