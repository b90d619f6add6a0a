"""symgrad: parse or build, differentiate, compile."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

import symgrad as sg
from benchmarks.scoreboard.peers import Bind, Run, UnableError
from benchmarks.scoreboard.pointwise import Pointwise, pbe
from benchmarks.scoreboard.programs import Program

# Seconds of the last preparation: reading or building the formula, deriving, compiling.
PHASES: dict[str, float] = {}
_NEVER = 2**62


def prepare(workload: Pointwise | Program, variant: str, threads: int) -> Bind:
    quick = variant == "quick"
    made = partial(
        _quick if quick else sg.compile,
        threads=threads,
        effort="auto" if quick else "high",
        accuracy="fast" if variant == "fast" else "high",
    )
    if isinstance(workload, Pointwise):
        return _pointwise(workload, made)
    if quick:
        raise UnableError("array programs are compiled to better code at once")
    return _program(workload, made)


def _quick(*arguments: Any, **options: Any) -> sg.Kernel:
    """Return a kernel whose quick code is not replaced, however often it is called."""
    from symgrad.compiler.lowering.elementwise.limits import better_pays_from

    with patch(
        "symgrad.compiler.llvm.elementwise.code.better_pays_from",
        lambda plan: better_pays_from(plan) and _NEVER,
    ):
        kernel = sg.compile(*arguments, **options)
    if not kernel.quick:
        raise UnableError("what repeats itself is compiled to better code at once")
    return kernel


def _read(workload: Pointwise) -> tuple[Any, Sequence[Any]]:
    if workload.formula is pbe:
        from examples.pbe_correlation import CORRELATION

        program = sg.parse(CORRELATION)
        return program.inputs, [program["energy"]]
    if workload.text:
        program = sg.parse(workload.text)
        return program.inputs, [program["f"]]
    xs = sg.symbols(" ".join(workload.inputs))
    functions = SimpleNamespace(sin=sg.sin, cos=sg.cos, tanh=sg.tanh, number=Fraction)
    return xs, workload.formula(functions, *xs)


def _pointwise(workload: Pointwise, made: Callable[..., sg.Kernel]) -> Bind:
    clock = [time.process_time()]
    xs, values = _read(workload)
    clock.append(time.process_time())
    wrt = [xs[k] for k in workload.wrt]
    if workload.order == 1:
        outputs = [e for f in values for e in (f, *sg.grad(f, wrt))]
    else:
        outputs = [e for f in values for e in sg.derivatives(f, wrt, order=workload.order).values()]
    clock.append(time.process_time())
    kernel = made(outputs, inputs=xs)
    _note(clock)

    def bind(inputs: Any) -> Run:
        given = tuple(inputs)
        out = tuple(np.empty((len(outputs), inputs.shape[1])))
        return Run(lambda: kernel(*given), lambda found: found, lambda: kernel(*given, out=out))

    return bind


def _program(workload: Program, made: Callable[..., sg.Kernel]) -> Bind:
    clock = [time.process_time()]
    program = sg.parse(workload.text)
    loss = program["loss"]
    clock.append(time.process_time())
    outputs = [loss, *sg.grad(loss, [program[n] for n in workload.wrt])]
    clock.append(time.process_time())
    kernel = made(outputs, program.inputs)
    _note(clock)

    def bind(arrays: Any) -> Run:
        given = tuple(arrays[str(i)] for i in program.inputs)
        out = (np.empty(()), *(np.empty_like(arrays[n]) for n in workload.wrt))
        return Run(lambda: kernel(*given), lambda found: found, lambda: kernel(*given, out=out))

    return bind


def _note(clock: list[float]) -> None:
    clock.append(time.process_time())
    for name, start, end in zip(("read", "derive", "compile"), clock, clock[1:], strict=False):
        PHASES[name] = end - start
