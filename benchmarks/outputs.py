"""Kernels of many outputs: a call with numbers against a tuple of an array, one with arrays, and a long pendulum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import symgrad as sg
from benchmarks.measure import Options, Row, interleaved

__all__ = ["pendulum", "run"]

_COUNTS = (10, 254, 255, 1000)
_POINTS = 100
# Without types: a type checker that infers them in sympy.physics takes minutes.
_SYMPY: Any = import_module("sympy")
_MECHANICS: Any = import_module("sympy.physics.mechanics")


def run(options: Options) -> Iterator[Row]:
    x, y = sg.symbols("x y")
    u, v = np.linspace(0, 1, _POINTS), np.ones(_POINTS)
    works: dict[str, Callable[[], object]] = {}
    for count in _COUNTS:
        options.step(f"compile {count} outputs")
        kernel: Any = sg.compile([x * k + y for k in range(count)], inputs=[x, y])
        outs = tuple(np.empty((count, _POINTS)))
        works[f"numbers {count}"] = partial(kernel, 0.5, 2.0)
        works[f"tuple {count}"] = partial(tuple, np.arange(float(count)))
        works[f"arrays {count}"] = partial(kernel, u, v)
        works[f"out {count}"] = partial(kernel, u, v, out=outs)
    for work in works.values():
        work()
    options.step("calls with many outputs")
    found = interleaved(works, options.repeats(21), calls=2 if options.quick else 50, warm=1)
    for count in _COUNTS:
        numbers, peer = (found[f"{name} {count}"] * 1e6 for name in ("numbers", "tuple"))
        yield Row(f"two floats to {count:,}", numbers, "µs", "tuple of an array", peer, 3)
    few = _COUNTS[1]
    for name, what in (("arrays", "new arrays"), ("out", "out=")):
        each = [found[f"{name} {count}"] * 1e9 / count for count in (few, _COUNTS[-1])]
        what = f"{_COUNTS[-1]:,} outputs of {_POINTS} points, {what}: each"
        yield Row(what, each[1], "ns", f"{few} outputs", each[0], 2)
    yield from _pendulum(options)


def _pendulum(options: Options) -> Iterator[Row]:
    links = 2 if options.quick else 12
    options.step(f"a pendulum of {links} links")
    inputs, outputs = pendulum(links)
    read: Any = sg.from_sympy
    formulas: list[Any] = [read(entry) for entry in outputs]
    kernel: Any = sg.compile(formulas, inputs=[sg.symbols(str(s)) for s in inputs])
    peer: Any = _SYMPY.lambdify(inputs, outputs, cse=True)
    numbers = np.random.default_rng(0).uniform(0.5, 1.5, len(inputs)).tolist()
    np.testing.assert_allclose(kernel(*numbers), peer(*numbers), rtol=1e-9)
    works: dict[str, Callable[[], object]] = {
        "kernel": partial(kernel, *numbers),
        "peer": partial(peer, *numbers),
    }
    found = interleaved(works, options.repeats(21), calls=2 if options.quick else 200, warm=1)
    what = f"{len(outputs)} entries of the equations of motion, pendulum of {links} links"
    yield Row(what, found["kernel"] * 1e6, "µs", "lambdify(cse=True)", found["peer"] * 1e6, 0.5)


def pendulum(links: int) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the symbols, and the entries of the mass matrix and the forcing, of a pendulum on a cart (Kane)."""
    q, u = _MECHANICS.dynamicsymbols(f"q:{links + 1}"), _MECHANICS.dynamicsymbols(f"u:{links + 1}")
    force = _MECHANICS.dynamicsymbols("f")
    masses, lengths = _SYMPY.symbols(f"m:{links + 1}"), _SYMPY.symbols(f"l:{links}")
    g, time = _SYMPY.symbols("g t")
    frame, origin = _MECHANICS.ReferenceFrame("I"), _MECHANICS.Point("O")
    origin.set_vel(frame, 0)
    end = origin.locatenew("P0", q[0] * frame.x)
    end.set_vel(frame, u[0] * frame.x)
    bodies = [_MECHANICS.Particle("B0", end, masses[0])]
    loads = [(end, force * frame.x - masses[0] * g * frame.y)]
    for k in range(links):
        turned = frame.orientnew(f"F{k}", "Axis", [q[k + 1], frame.z])
        turned.set_ang_vel(frame, u[k + 1] * frame.z)
        joint, end = end, end.locatenew(f"P{k + 1}", lengths[k] * turned.x)
        end.v2pt_theory(joint, frame, turned)
        bodies.append(_MECHANICS.Particle(f"B{k + 1}", end, masses[k + 1]))
        loads.append((end, -masses[k + 1] * g * frame.y))
    rates = [a.diff(time) - b for a, b in zip(q, u, strict=True)]
    method = _MECHANICS.KanesMethod(frame, q_ind=q, u_ind=u, kd_eqs=rates)
    method.kanes_equations(bodies, loads)
    named = {s: _SYMPY.Symbol(s.func.__name__) for s in [*q, *u, force]}
    outputs = [*method.mass_matrix_full.xreplace(named), *method.forcing_full.xreplace(named)]
    return [*named.values(), *masses, *lengths, g], outputs
