"""Loops of torch as recurrences: values and gradients against torch's own steps, sizes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch._higher_order_ops import map as map_rows
from torch._higher_order_ops import scan, while_loop

import symgrad as sg
from symgrad.errors import UnsupportedError
from symgrad.ir.traverse import topological

DOUBLE = torch.float64
RNG = np.random.default_rng(23)


def tensor(*shape: int) -> Any:
    return torch.tensor(RNG.normal(size=shape), dtype=DOUBLE)


def agree(function: Any, reference: Any, *tensors: Any) -> Any:
    """Compare values and gradients with those of a function of torch that makes the steps in Python."""
    p = sg.from_torch(function, *tensors)
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    expected = reference(*leaves)
    names = [str(i.name) for i in p.inputs]
    arrays = [t.numpy() for t in tensors]
    assert len(p.returned) == len(expected)
    for e, y in zip(p.returned.values(), expected, strict=True):
        np.testing.assert_allclose(sg.compile(e, names)(*arrays), y.detach().numpy(), rtol=1e-11, atol=1e-13)
    total = sum(sg.sum(sg.sin(e)) if e.shape else sg.sin(e) for e in p.returned.values())
    slopes = torch.autograd.grad(sum(torch.sin(y).sum() for y in expected), leaves, allow_unused=True)
    for name, slope, leaf in zip(names, slopes, leaves, strict=True):
        wanted = torch.zeros_like(leaf) if slope is None else slope
        found = sg.compile(sg.grad(total, name), names)(*arrays)
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-9, atol=1e-12, err_msg=name)
    return p


def counts(p: Any) -> list[int]:
    """Return the number of nodes of a program, and how many of them are recurrences."""
    order = topological([e.node for e in p.returned.values()])
    return [len(order), sum(n.op.name == "recurrence" for n in order)]


def steps(combine: Any, h: Any, rows: Any) -> tuple[Any, Any]:
    """Return what scan returns, by steps in Python."""
    seen: list[Any] = []
    for row in rows:
        h, y = combine(h, row)
        seen.append(y)
    return h, torch.stack(seen)


def cell(w: Any) -> Any:
    def step(h: Any, r: Any) -> Any:
        h = torch.tanh(w * h + r)
        return h, h * r

    return step


@pytest.mark.parametrize("count", [1, 2, 6])
def test_scan(count: int) -> None:
    def network(h: Any, x: Any, w: Any) -> Any:
        last, seen = scan(cell(w), h, x, dim=0)
        return last, seen

    def back(h: Any, x: Any, w: Any) -> Any:
        last, seen = scan(cell(w), h, x, dim=1, reverse=True)
        return last, seen

    h, x, w = tensor(3), tensor(count, 3), tensor(3)
    p = agree(network, lambda h, x, w: steps(cell(w), h, x), h, x, w)
    assert list(p.outputs) == ["last", "seen"]
    assert counts(p)[1] == 1

    def reference(h: Any, x: Any, w: Any) -> Any:
        last, seen = steps(cell(w), h, x.T.flip(0))
        return last, seen.flip(0).T

    agree(back, reference, h, tensor(3, count), w)


def test_several_carries_and_conditions() -> None:
    def combine(state: Any, row: Any) -> Any:
        h, on = state["h"], state["on"]
        h = torch.where(on, torch.sin(h) + row["x"], h * 1)
        return {"h": h, "on": on & (h.sum() < 2)}, (h * row["y"], on.clone())

    def function(h: Any, x: Any, y: Any) -> Any:
        last, (seen, on) = scan(combine, {"h": h, "on": torch.tensor(True)}, {"x": x, "y": y})
        return last["h"], seen, torch.where(on[:, None], x, y)

    def reference(h: Any, x: Any, y: Any) -> Any:
        state: Any = {"h": h, "on": torch.tensor(True)}
        seen: list[Any] = []
        for k in range(len(x)):
            state, out = combine(state, {"x": x[k], "y": y[k]})
            seen.append(out)
        on = torch.stack([o for _, o in seen])
        return state["h"], torch.stack([s for s, _ in seen]), torch.where(on[:, None], x, y)

    p = agree(function, reference, tensor(3), tensor(7, 3), tensor(7, 3))
    assert counts(p)[1] == 1


def test_nested_loops_and_map() -> None:
    def function(h: Any, x: Any) -> Any:
        def outer(h: Any, rows: Any) -> Any:
            last, _ = scan(lambda g, r: (torch.sin(g * r), g * 1), h, rows)
            return last, last * 2

        last, seen = scan(outer, h, x)
        return last, seen, map_rows(lambda rows, h: torch.cos(rows).sum(0) * h, x, h)

    def reference(h: Any, x: Any) -> Any:
        seen: list[Any] = []
        first = h
        for rows in x:
            for r in rows:
                h = torch.sin(h * r)
            seen.append(h * 2)
        return h, torch.stack(seen), torch.stack([torch.cos(rows).sum(0) * first for rows in x])

    agree(function, reference, tensor(3), tensor(4, 2, 3))


def test_the_size_of_a_loop_does_not_depend_on_its_steps() -> None:
    def function(h: Any, x: Any, w: Any) -> Any:
        last, seen = scan(cell(w), h, x)
        return last.sum() + seen.sum()

    short, long = (counts(sg.from_torch(function, (3,), (n, 3), (3,))) for n in (5, 700))
    assert short == long
    named = sg.from_torch(function, (3,), ("T", 3), (3,))
    assert counts(named)[1] == 1
    h, x, w = tensor(3), tensor(9, 3), tensor(3)
    last, seen = steps(cell(w), h, x)
    np.testing.assert_allclose(
        named["out"](h=h.numpy(), x=x.numpy(), w=w.numpy()), last.sum() + seen.sum(), rtol=1e-12
    )


def test_while_loops() -> None:
    def counted(z: Any) -> Any:
        _, v = while_loop(lambda i, v: i < 7, lambda i, v: (i + 2, v * torch.sin(z) + i), (0, z))
        return (v,)

    def found(z: Any) -> Any:
        i, v = while_loop(
            lambda i, v: (i < 50) & (v.sum() > 0.1), lambda i, v: (i + 1, v / 2), (torch.tensor(0), z)
        )
        return v, i * z

    def reference(z: Any) -> Any:
        v, i = z, 0
        while i < 50 and v.sum() > 0.1:
            v, i = v / 2, i + 1
        return v, i * z

    def counted_steps(z: Any) -> Any:
        v = z
        for i in range(0, 7, 2):
            v = v * torch.sin(z) + i
        return (v,)

    p = agree(counted, counted_steps, tensor(3))
    assert counts(p)[1] == 1
    for z in (tensor(3).abs(), tensor(3).abs() * 1e-3, tensor(3).abs() * 1e9):
        p = agree(found, reference, z)
        assert counts(p)[1] == 1


def test_a_choice_computes_both_sides() -> None:
    def function(x: Any) -> Any:
        return (torch.cond(x.sum() > 0, lambda a: a * 2, torch.sin, (x,)),)

    for x in (torch.ones(3, dtype=DOUBLE), -torch.ones(3, dtype=DOUBLE)):
        agree(function, lambda x: (x * 2 if x.sum() > 0 else torch.sin(x),), x)


def test_derivatives_stop_at_no_grad_around_a_loop() -> None:
    def function(h: Any, x: Any) -> Any:
        with torch.no_grad():
            last, _ = scan(lambda h, r: (torch.sin(h * r), h * 1), h, x)
            last = last * h + torch.cond(x.sum() > 0, torch.sin, torch.cos, (h,))
        return (last * h,)

    def reference(h: Any, x: Any) -> Any:
        g = h.detach()
        for r in x:
            g = torch.sin(g * r.detach())
        f = torch.sin if x.sum() > 0 else torch.cos
        return (((g * h).detach() + f(h).detach()) * h,)

    agree(function, reference, tensor(3), tensor(4, 3))


def test_what_is_refused_has_its_line() -> None:
    def unbounded(z: Any) -> Any:
        return while_loop(lambda v: v.sum() > 0.1, lambda v: (v / 2,), (z,))[0]

    def whole(z: Any) -> Any:
        return while_loop(
            lambda k, v: (k < 100) & (v.sum() > 0), lambda k, v: (k * 2, v / 2), (torch.tensor(1), z)
        )[1]

    def missing(h: Any, x: Any) -> Any:
        def step(h: Any, r: Any) -> Any:
            y = h * r.sum()
            return torch.linalg.svdvals(y[:, None]) * h, h * 1

        return scan(step, h, x)[0].sum()

    for function, shapes, words in (
        (unbounded, [(3,)], "while_loop: a loop whose number of steps depends on the data"),
        (
            whole,
            [(3,)],
            "a loop that carries on a whole number other than a count, and whose number of steps",
        ),
        (missing, [(3,), (5, 3)], "aten.linalg_svdvals: it has no counterpart here"),
    ):
        with pytest.raises(UnsupportedError) as caught:
            sg.from_torch(function, *shapes)
        assert words in str(caught.value)
        line = function.__code__.co_firstlineno + (3 if function is missing else 1)
        assert f"line {line}" in str(caught.value)
        assert caught.value.cure


CELLS: dict[str, Any] = {
    "lstm": lambda: nn.LSTM(3, 4, num_layers=2),
    "lstm both ways": lambda: nn.LSTM(3, 4, bidirectional=True, batch_first=True, bias=False),
    "gru": lambda: nn.GRU(3, 4, num_layers=2, bidirectional=True),
    "rnn": lambda: nn.RNN(3, 4, nonlinearity="relu"),
}


@pytest.mark.parametrize("name", CELLS)
def test_recurrent_layers_are_loops(name: str) -> None:
    layer = CELLS[name]().to(DOUBLE)
    sizes: list[list[int]] = []
    for count in (2, 40):
        x = tensor(2, count, 3) if layer.batch_first else tensor(count, 2, 3)
        p = sg.from_torch(layer, x)
        sizes.append(counts(p))
        leaf = x.clone().requires_grad_()
        seen, _ = layer(leaf)
        weights = [leaf, *layer.parameters()]
        slopes = torch.autograd.grad(torch.sin(seen).sum(), weights)
        out = next(iter(p.returned.values()))
        names = [str(i.name) for i in p.inputs]
        values = [p.values[n].numpy() if n in p.values else x.numpy() for n in names]
        np.testing.assert_allclose(
            sg.compile(out, names)(*values), seen.detach().numpy(), rtol=1e-10, atol=1e-13
        )
        variables = [n for n in names if n not in p.parameters] + list(p.parameters)
        kernel = sg.compile(sg.grad(sg.sum(sg.sin(out)), variables), names)
        for found, slope, variable in zip(kernel(*values), slopes, variables, strict=True):
            np.testing.assert_allclose(found, slope.numpy(), rtol=1e-8, atol=1e-11, err_msg=variable)
    assert sizes[0] == sizes[1]
    assert sizes[0][1] == layer.num_layers * (1 + layer.bidirectional)
