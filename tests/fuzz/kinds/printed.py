"""Gradients of random array programs, as printed: each way of writing them ends, and the text means them."""

from __future__ import annotations

import random

import numpy as np

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.ir.notation.printer import program_text
from tests.fuzz.kind import kind, refused
from tests.graphs_arrays import SYMBOLS, random_arrays, random_sizes, random_values


@kind("printed gradients of arrays", seconds=60)
def gradients(rng: random.Random) -> None:
    """Print the gradient of a sum of squares, and compute what is printed."""
    seed = rng.randrange(2**32)
    node = random_arrays(seed, size=6)[-1]
    if node.dtype != "real":
        return
    text = program_text({"y_out": node}, declared=SYMBOLS) + "\nloss_ = sum(y_out*y_out)"
    program = sg.parse(text)
    loss = program["loss_"]
    inputs = [i for i in loss.inputs if i.dtype == "real"]
    if not inputs:
        return
    gradient = sg.grad(loss, rng.choice(inputs))
    printed = str(gradient)
    for write in (gradient.latex, gradient.numpy_source):
        try:
            write()
        except SymgradError as error:
            refused(error)
    if "\n" in printed:
        return  # with lines for what is long: how these read back is tested where they are made
    numbers = np.random.default_rng(seed)
    values = random_values(numbers, random_sizes(numbers))
    arrays = {s.name: v for s, v in values.items()}
    again = sg.parse(f"{text}\ngradient_ = {printed}")["gradient_"]
    try:
        wanted, found = (e(**{str(i.name): arrays[str(i.name)] for i in e.inputs}) for e in (gradient, again))
    except SymgradError as error:
        refused(error)  # an index into an axis without entries, the largest of nothing
        return
    scale = float(np.max(np.abs(wanted), initial=1.0))
    if np.all(np.isfinite(wanted)) and np.all(np.isfinite(found)):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-10 * scale)
