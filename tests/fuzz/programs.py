"""Random texts in the program notation."""

from __future__ import annotations

import random

__all__ = ["decimal", "random_program"]

_FUNCTIONS = "sin cos exp log sqrt tanh atan expm1 log1p sinh erf abs sigmoid cbrt"
_BINARY = ("{0} + {1}", "{0} - {1}", "{0}*{1}", "{0}/{1}", "{0}*{1}", "{0} + {1}")


def decimal(rng: random.Random) -> str:
    """Return a number as people write them, from 1e-40 to 1e40."""
    digits = rng.choice(["1", "2", "0.5", "3", "9.8", "6.62607015", "1.380649", f"{rng.uniform(1, 10):.8g}"])
    exponent = rng.choice([0, 0, 0, rng.randint(-6, 6), rng.randint(-40, 40)])
    sign = "-" if rng.random() < 0.2 else ""
    return f"{sign}{digits}e{exponent}" if exponent else f"{sign}{digits}"


def random_program(rng: random.Random, lines: int, inputs: int = 3) -> str:
    """Return a program of some lines: scalar formulas with numbers of all sizes, each reading earlier ones."""
    names = [f"x{k}" for k in range(inputs)]
    text = [f"{', '.join(names)} : {rng.choice(['real', 'real', 'positive'])}"]
    if rng.random() < 0.2:
        text.append(f"u ~ {rng.choice(['Uniform(0.9, 1.1)', 'Normal(0, 1e-20)', 'Exponential(1e12)'])}")
        names.append("u")
    for k in range(lines):

        def operand() -> str:
            return f"({decimal(rng)})" if rng.random() < 0.3 else rng.choice(names[-5:])

        choice = rng.random()
        if choice < 0.3:
            formula = f"{rng.choice(_FUNCTIONS.split())}({operand()}*{operand()})"
        elif choice < 0.4:
            formula = f"{rng.choice(names)}**{rng.choice(['2', '3', '0.5', '(-1)', '(1/3)', '1.5', '(-2)'])}"
        elif choice < 0.5:
            formula = f"where({operand()} > {operand()}, {operand()}, {operand()})"
        else:
            formula = rng.choice(_BINARY).format(operand(), operand())
            if rng.random() < 0.5:
                formula = f"({formula}){rng.choice('*+/')}{operand()}"
        text.append(f"t{k} = {formula}")
        names.append(f"t{k}")
    return "\n".join(text)
