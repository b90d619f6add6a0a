"""Kernels on a GPU: ``python -m benchmarks.on_gpu`` (needs an NVIDIA GPU, and torch or CuPy; JAX if it is there).

W1, which memory limits, as the share of the speed of a copy on the device; W2 beside torch.compile and jax.jit, which
compute the same formulas, derivatives by hand. What is compared is timed in turn; medians, with the queue of the GPU
empty before and after each time.
"""

from __future__ import annotations

import statistics
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import symgrad as sg
from benchmarks.speed import WORKLOADS
from symgrad.compiler.gpu.launch.driver import driver
from symgrad.errors import KernelError


def seconds(
    calls: dict[str, Callable[[], Any]], wait: Callable[[Any], None], repeats: int
) -> dict[str, float]:
    """Return how long each call takes on the GPU, the median of turns in which all are made."""
    for call in calls.values():  # compiled, and its memory there
        for _ in range(3):
            wait(call())
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            begun = time.perf_counter()
            wait(call())
            found[name].append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in found.items()}


def in_torch(torch: Any, what: str, points: int, dtype: str, repeats: int) -> dict[str, float]:
    """Times in torch: of symgrad's kernel, of the formulas and derivatives by hand, and of a copy."""
    text, names, wrt, by_hand = WORKLOADS[what]
    kernel, kind = compiled(text, names, wrt, dtype), getattr(torch, dtype)
    arrays = [0.5 + torch.rand(points, dtype=kind, device="cuda") for _ in names]
    outs = tuple(torch.empty_like(arrays[0]) for _ in range(1 + len(wrt)))
    fused = torch.compile(with_functions(by_hand, torch))
    calls = {
        "symgrad": lambda: kernel(*arrays, out=outs),
        "torch.compile": lambda: fused(*arrays),
        "copy": lambda: outs[0].copy_(arrays[0]),
    }
    return seconds(calls, lambda _: torch.cuda.synchronize(), repeats)


def in_cupy(cupy: Any, what: str, points: int, dtype: str, repeats: int) -> dict[str, float]:
    text, names, wrt, _ = WORKLOADS[what]
    kernel = compiled(text, names, wrt, dtype)
    arrays = [0.5 + cupy.random.random(points, dtype=dtype) for _ in names]
    outs = tuple(cupy.empty_like(arrays[0]) for _ in range(1 + len(wrt)))
    calls = {
        "symgrad": lambda: kernel(*arrays, out=outs),
        "copy": lambda: cupy.copyto(outs[0], arrays[0]),
    }
    return seconds(calls, lambda _: cupy.cuda.get_current_stream().synchronize(), repeats)


def in_jax(jax: Any, what: str, points: int, dtype: str, repeats: int) -> dict[str, float]:
    jax.config.update("jax_enable_x64", True)
    _, names, _, by_hand = WORKLOADS[what]
    keys = jax.random.split(jax.random.key(0), len(names))
    arrays = [0.5 + jax.random.uniform(key, (points,), dtype) for key in keys]
    jitted = jax.jit(with_functions(by_hand, jax.numpy))
    return seconds({"jax.jit": lambda: jitted(*arrays)}, jax.block_until_ready, repeats)


def compiled(text: str, names: tuple[str, ...], wrt: tuple[str, ...], dtype: str) -> Any:
    program = sg.parse("".join(f"{n} : real\n" for n in names) + f"f = {text}")
    outputs = [program["f"], *sg.grad(program["f"], list(wrt))]
    return sg.compile(outputs, list(names), target="cuda", dtype=dtype)


def with_functions(by_hand: Callable[..., Any], library: Any) -> Callable[..., Any]:
    """The formulas of a workload with the functions of another library than NumPy."""
    return type(by_hand)(by_hand.__code__, {"np": library}, by_hand.__name__)  # type: ignore[call-arg]


def main() -> int:
    options = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--points", type=int, default=10**8)
    options.add_argument("--repeats", type=int, default=20)
    given = options.parse_args()
    try:
        driver()
    except KernelError as error:
        print(f"This benchmark needs a GPU. {error}", file=sys.stderr)
        return 1
    ways = {"torch": in_torch, "cupy": in_cupy, "jax": in_jax}
    there = {name: import_module(name) for name in ways if find_spec(name)}
    if not {"torch", "cupy"} & there.keys():
        print("This benchmark needs torch or CuPy, whose arrays the kernels take.", file=sys.stderr)
        return 1
    for what, (_, names, wrt, _) in WORKLOADS.items():
        moved = len(names) + 1 + len(wrt)
        for dtype, size in (("float64", 8), ("float32", 4)):
            print(f"\n{what}, {dtype}, {given.points:,} points, {moved} arrays moved")
            for name, module in there.items():
                found = ways[name](module, what, given.points, dtype, given.repeats)
                copied = 2 * size * given.points / found["copy"] if "copy" in found else None
                for way, taken in found.items():
                    arrays = 2 if way == "copy" else moved
                    speed = arrays * size * given.points / taken
                    share = f", {speed / copied:.0%} of a copy" if copied else ""
                    print(f"  {name:6} {way:14} {1e3 * taken:8.3f} ms {speed / 1e9:8.0f} GB/s{share}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
