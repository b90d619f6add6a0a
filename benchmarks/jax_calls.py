"""What a call from JAX costs, and how gradients of imported models compare: ``python -m benchmarks.jax_calls``.

Times are by the clock, of one thread, interleaved: every figure is the median of rounds in which all that is compared
runs in turns. A million elements: XLA takes new memory for every call, and how long that takes is the system's
business; with ``MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592`` the C library uses it again, as a
bare kernel does with its own results. The third row is the kernel on arrays that XLA allocated.
"""

from __future__ import annotations

import ctypes
import os
import time
from functools import partial
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.measure import interleaved


def calls() -> None:
    """Print what a call of a kernel costs from JAX and by itself."""
    import symgrad as sg

    p = sg.parse("x : real\nu ~ Uniform(0.9, 1.1)\nz = sqrt(x**2*u)")
    both = [p["z"], sg.grad(p["z"], p["x"])]
    f, kernel = jax.jit(sg.to_jax(both)), sg.compile(both, effort="high")
    own = jax.jit(lambda x, u: (jnp.sqrt(x * x * u), u * x / jnp.sqrt(x * x * u)))
    print(
        "| elements | from JAX | bare kernel | kernel on XLA's arrays | JAX's own | from JAX / bare | / on XLA's |"
    )
    print("|---|---|---|---|---|---|---|")
    for n, repeat, rounds in ((1, 200, 15), (1_000, 200, 15), (100_000, 5, 25), (1_000_000, 1, 41)):
        x, u = jnp.linspace(0.1, 5, n), jnp.full(n, 1.1)
        a, b = np.array(x), np.array(u)
        kept = jax.block_until_ready(f(x, u))
        outs = tuple(
            np.ctypeslib.as_array((ctypes.c_double * n).from_address(y.unsafe_buffer_pointer())) for y in kept
        )
        inside = [np.asarray(x), np.asarray(u)]
        found = interleaved(
            {
                "jax": lambda x=x, u=u: f(x, u)[1].block_until_ready(),
                "bare": lambda a=a, b=b: kernel(a, b),
                "inside": lambda inside=inside, outs=outs: kernel(*inside, out=outs),
                "own": lambda x=x, u=u: own(x, u)[1].block_until_ready(),
            },
            rounds,
            calls=repeat,
            warm=1,
            clock=time.perf_counter,
        )
        cells = [f"{1e6 * found[k]:,.1f} us" for k in ("jax", "bare", "inside", "own")]
        ratios = [f"{found['jax'] / found[k]:.2f}" for k in ("bare", "inside")]
        print(f"| {n:,} | {' | '.join([*cells, *ratios])} |")


def _finished(call: Any, args: Any) -> None:
    for y in jax.tree.leaves(call(*args)):
        y.block_until_ready()


def gradients(scale: int) -> None:
    """Print how long value and gradient of the models take, by a kernel and by JAX."""
    import symgrad as sg
    from tests.frameworks.models_jax import models

    print(
        f"\n| model, {scale} times the smallest | import | compile | kernel | jax.jit(value_and_grad) | ratio |"
    )
    print("|---|---|---|---|---|---|")
    for name, (fn, *args) in models(scale).items():
        start = time.perf_counter()
        p = sg.from_jax(fn, *args)
        read = time.perf_counter() - start
        start = time.perf_counter()
        wrt = [e for e in p.inputs if str(e).startswith("params")]
        kernel = sg.compile([p.last, *sg.grad(p.last, wrt)], list(p.inputs))
        made = time.perf_counter() - start
        theirs = jax.jit(jax.value_and_grad(fn))
        given = jax.tree.map(jax.numpy.asarray, args)
        flat = [np.asarray(a) for a in jax.tree.leaves(args)]
        value, *found = kernel(*flat)
        expected, slopes = theirs(*given)
        np.testing.assert_allclose(value, expected, rtol=1e-9)
        for g, e in zip(found, jax.tree.leaves(slopes), strict=True):
            np.testing.assert_allclose(g, e, rtol=1e-8, atol=1e-10)
        compared = {"kernel": partial(kernel, *flat), "jax": partial(_finished, theirs, given)}
        t = interleaved(compared, 15, calls=3, warm=1, clock=time.perf_counter)
        print(
            f"| {name} | {read:.2f} s | {made:.2f} s | {1e6 * t['kernel']:,.0f} us | {1e6 * t['jax']:,.0f} us "
            f"| {t['kernel'] / t['jax']:.2f} |"
        )


def main() -> None:
    """Print all tables."""
    jax.config.update("jax_enable_x64", True)
    print(f"jax {jax.__version__}\n")
    calls()
    for scale in (1, 8):
        gradients(scale)


if __name__ == "__main__":
    main()
