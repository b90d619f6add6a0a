"""Times in torch, as ratios: ``python -m benchmarks.in_torch`` (torch installed; one thread).

First a kernel called through torch against the bare kernel, then losses with their gradients by all parameters: read by
`from_torch` and compiled, against torch's autograd and against torch.compile. What is compared is timed in turn, in the
processor's time, so that a busy machine says the same; medians.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

import symgrad as sg
from benchmarks.measure import interleaved
from tests.frameworks.models_torch import models

CXX = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
"""The C++ compiler that torch.compile calls."""


def calls_of_kernels() -> None:
    x, u = sg.symbols("x u")
    y = sg.exp(-(x**2) * u) * sg.sin(x)
    f = sg.to_torch(y)
    print("| elements | dtype | kernel | in torch | ratio | with requires_grad |")
    print("|---|---|---|---|---|---|")
    for n in (1, 1_000, 1_000_000):
        for dtype in (torch.float64, torch.float32):
            k = sg.compile(y, dtype=str(dtype).removeprefix("torch."), effort="high")
            X, U = torch.rand(n, dtype=dtype), torch.rand(n, dtype=dtype)
            a, b, leaf = X.numpy(), U.numpy(), X.clone().requires_grad_()
            calls = {"kernel": partial(k, a, b), "torch": partial(f, X, U), "grad": partial(f, leaf, U)}
            found = interleaved(calls, 30 if n == 1_000_000 else 300, warm=2)
            us = {name: f"{1e6 * t:.0f} us" for name, t in found.items()}
            ratio = found["torch"] / found["kernel"]
            print(
                f"| {n:,} | {str(dtype)[6:]} | {us['kernel']} | {us['torch']} | {ratio:.2f} | {us['grad']} |"
            )


def gradients_of_models(batch: int, dtype: torch.dtype) -> None:
    print(f"\nBatch {batch}, {str(dtype)[6:]}: loss and gradients by all parameters\n")
    print("| model | symgrad | / torch eager | / torch.compile |")
    print("|---|---|---|---|")
    for name, (module, args) in models(dtype, batch).items():
        p = sg.from_torch(module, *args)
        loss = p.returned["loss"]
        outputs = [loss, *sg.grad(loss, list(p.parameters))]
        kernel = sg.compile(outputs, list(p.inputs), dtype=str(dtype).removeprefix("torch."))
        given = iter(args)
        values = [p.values[i.name] if i.name in p.values else next(given) for i in p.inputs]
        arrays = [v.detach().numpy() for v in values]
        parameters = list(module.parameters())

        def gradient(call: Any, args: Any = args, parameters: Any = parameters) -> Any:
            found = call(*args)
            return torch.autograd.grad(found["loss"] if isinstance(found, dict) else found, parameters)

        calls: dict[str, Callable[[], Any]] = {
            "symgrad": lambda kernel=kernel, arrays=arrays: kernel(*arrays),
            "eager": lambda module=module, gradient=gradient: gradient(module),
        }
        if shutil.which(CXX):
            compiled = torch.compile(module)
            gradient(compiled)
            calls["compile"] = lambda compiled=compiled, gradient=gradient: gradient(compiled)
        found = interleaved(calls, 25, warm=2)
        ours = found["symgrad"]
        cells = [f"{ours / found[c]:.2f}" if c in found else "" for c in ("eager", "compile")]
        print(f"| {name} | {1e6 * ours:.0f} us | {cells[0]} | {cells[1]} |")


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}")
    calls_of_kernels()
    for batch, dtype in ((8, torch.float64), (64, torch.float64)):
        gradients_of_models(batch, dtype)
