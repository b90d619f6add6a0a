"""The methods of `train`: each step is an elementwise program in symgrad's own notation, compiled once.

A program reads a parameter ``w``, its gradient ``g``, the step size ``rate``, its state and its options, and assigns
``w_new``, and ``s_new`` for every state ``s``. ``beta1_t`` is beta1 to the power t, where t = 1, 2, ... counts steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

from symgrad.api.handles.program import parse
from symgrad.api.kernels.compile import compile
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.ir.listing import one_of, suggest
from symgrad.support.errors import UsageError


@dataclass(frozen=True, slots=True)
class Method:
    """One way to take a step.

    Args:
        program: the assignments of a step.
        source: the publication of the method.
        state: the names of its state variables, all 0 before the first step.
        options: its options with their defaults; None for an option that is required.
        powers: the options whose powers with exponent t the program reads.
        rate: the published step size, or None.
    """

    program: str
    source: str
    state: tuple[str, ...] = ()
    options: tuple[tuple[str, float | None], ...] = ()
    powers: tuple[str, ...] = ()
    rate: float | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs of its program, in the order of its kernel."""
        return ("w", "g", *self.state, "rate", *dict(self.options), *(f"{name}_t" for name in self.powers))


_MOMENTS = """
m_new = beta1*m + (1 - beta1)*g
v_new = beta2*v + (1 - beta2)*g**2
"""
_ADAM = "rate*(m_new/(1 - beta1_t))/(sqrt(v_new/(1 - beta2_t)) + epsilon)"
_ADAM_OPTIONS = (("beta1", 0.9), ("beta2", 0.999), ("epsilon", 1e-8))

METHODS: dict[str, Method] = {
    "sgd": Method("w_new = w - rate*g", "Robbins and Monro (1951)"),
    # The velocity is w - (previous w), so the new w is w + momentum*(w - previous w) - rate*g.
    "momentum": Method(
        "velocity_new = momentum*velocity - rate*g\nw_new = w + velocity_new",
        "Polyak (1964), Some methods of speeding up the convergence of iteration methods, equation 9",
        state=("velocity",),
        options=(("momentum", 0.9),),
    ),
    # w is the point at which Nesterov's method takes the gradient: Bengio and others (2013), equation 7.
    "nesterov": Method(
        "velocity_new = momentum*velocity - rate*g\nw_new = w + momentum*velocity_new - rate*g",
        "Nesterov (1983), A method of solving a convex programming problem with convergence rate O(1/k**2)",
        state=("velocity",),
        options=(("momentum", 0.9),),
    ),
    "adam": Method(
        f"{_MOMENTS}w_new = w - {_ADAM}",
        "Kingma and Ba (2015), Adam: A method for stochastic optimization, algorithm 1",
        state=("m", "v"),
        options=_ADAM_OPTIONS,
        powers=("beta1", "beta2"),
        rate=0.001,
    ),
    "adamw": Method(
        f"{_MOMENTS}w_new = w - {_ADAM} - rate*weight_decay*w",
        "Loshchilov and Hutter (2019), Decoupled weight decay regularization, algorithm 2",
        state=("m", "v"),
        options=(*_ADAM_OPTIONS, ("weight_decay", None)),
        powers=("beta1", "beta2"),
        rate=0.001,
    ),
}

_BELOW_ONE = {"momentum", "beta1", "beta2"}


@cache
def step_kernel(name: str, dtype: str) -> Kernel:
    """Return the kernel of a step, which computes the new parameter and the new state from `Method.inputs`."""
    method = METHODS[name]
    program = parse("".join(f"{i} : real\n" for i in method.inputs) + method.program, name)
    outputs = [program[f"{output}_new"] for output in ("w", *method.state)]
    return compile(outputs, inputs=method.inputs, dtype=dtype, name=name)


_OTHER_NAMES = {
    **dict.fromkeys(("lr", "learning_rate", "step_size"), "write rate=, a number or a function of the step"),
    **dict.fromkeys(("epochs", "iterations", "max_iter"), "write steps=, how many steps are taken"),
    "batch_size": "write batch=, how many rows a step reads",
    "params": "write wrt=, the names of what is trained",
}
"""Names of the arguments of `train` in other libraries."""


def options_of(name: Any, options: Mapping[str, Any]) -> dict[str, float]:
    """Return the options of a method with their values.

    Raises:
        UsageError: for an unknown method, an unknown or missing option, or a value out of range.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise UsageError(
            f"method={name!r}",
            expected=one_of(METHODS),
            cure=suggest(name.lower(), METHODS) if isinstance(name, str) else None,
        )
    known = dict(METHODS[name].options)
    for option in options:
        if option not in known:
            raise UsageError(
                f"{name} has no option '{option}'",
                expected=one_of(known) if known else "no options",
                cure="method='adamw', whose weight decay is decoupled from the gradient"
                if option == "weight_decay"
                else _OTHER_NAMES.get(option) or suggest(option, known),
            )
    found: dict[str, float] = {}
    for option, default in known.items():
        value = options.get(option, default)
        if value is None:
            raise UsageError(
                f"{name} needs {option}", expected="a number from 0 on", cure=f"pass {option}=0.01"
            )
        found[option] = number_in(option, value, 1.0 if option in _BELOW_ONE else None)
    return found


def number_in(option: str, value: Any, below: float | None = None) -> float:
    """Return an option as a finite nonnegative number.

    Raises:
        UsageError: for any other value, or a value that is not below a limit.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not isfinite(number) or number < 0 or (below is not None and number >= below):
        limit = f" and below {below:g}" if below is not None else ""
        raise UsageError(f"{option}={value!r}", expected=f"a finite number from 0 on{limit}")
    return number
