"""Write functions with custom gradients for each framework: the lines around a value and its pullback.

The pullback recomputes forward values from the arguments. If a closure kept values, these would be constants for the
next derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

RESERVED = frozenset(
    ["args", "cotangent", "ctx", "grad", "inputs", "of_real", "output", "saved", "shape", "upstream"]
)
"""Names in these lines, which no argument may have."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A function with a custom gradient.

    Args:
        name: the name of the function.
        value: the function that computes its values from all arguments.
        pullback: a function of all arguments and the cotangents. It returns a cotangent for every real argument, as a
            tuple if there are several.
        arguments: the names of the arguments.
        real: for each argument, whether it is real.
        count: the number of outputs; several outputs are a tuple.
    """

    name: str
    value: str
    pullback: str
    arguments: Sequence[str]
    real: Sequence[bool]
    count: int

    @property
    def parameters(self) -> str:
        """The arguments of calls."""
        return ", ".join(self.arguments)

    @property
    def cotangents(self) -> str:
        """The name of the cotangent, or the names of all."""
        return "cotangent" if self.count == 1 else "*cotangent"

    def for_each(self, call: str, indent: str) -> str:
        """Return lines that return the result of the pullback, with None for arguments that are not real."""
        if all(self.real):
            return f"{indent}return {call}\n"
        wanted = [f"{a}_bar" for a, real in zip(self.arguments, self.real, strict=True) if real]
        every = [f"{a}_bar" if real else "None" for a, real in zip(self.arguments, self.real, strict=True)]
        return f"{indent}{', '.join(wanted)} = {call}\n{indent}return {', '.join(every)}\n"


def _jax(w: Wrapped) -> str:
    saved = f"({w.parameters}{',' if len(w.arguments) == 1 else ''})"
    backward = w.for_each(f"{w.pullback}(*saved, {w.cotangents})", "    ")
    if len(w.arguments) == 1:  # JAX requires a tuple
        backward = backward.replace("return ", "return (").replace(")\n", "),)\n")
    return (
        f"@jax.custom_vjp\ndef {w.name}({w.parameters}):\n    return {w.value}({w.parameters})\n\n\n"
        f"def {w.name}_forward({w.parameters}):\n    return {w.name}({w.parameters}), {saved}\n\n\n"
        f"def {w.name}_backward(saved, cotangent):\n"
        + backward
        + f"\n\n{w.name}.defvjp({w.name}_forward, {w.name}_backward)\n"
    )


def _torch(w: Wrapped) -> str:
    title = "".join(part.capitalize() for part in w.name.strip("_").split("_"))
    return (
        f"class _{title}(torch.autograd.Function):\n    generate_vmap_rule = True\n\n"
        f"    @staticmethod\n    def forward({w.parameters}):\n        return {w.value}({w.parameters})\n\n"
        "    @staticmethod\n    def setup_context(ctx, inputs, output):\n"
        "        ctx.save_for_backward(*inputs)\n\n"
        f"    @staticmethod\n    def backward(ctx, {w.cotangents}):\n"
        + w.for_each(f"{w.pullback}(*ctx.saved_tensors, {w.cotangents})", "        ")
        + f"\n\ndef {w.name}({w.parameters}):\n    return _{title}.apply({w.parameters})\n"
    )


def _tensorflow(w: Wrapped) -> str:
    return (
        f"@tf.custom_gradient\ndef {w.name}({w.parameters}):\n    def grad(*cotangent):\n"
        + w.for_each(f"{w.pullback}({w.parameters}, *cotangent)", "        ")
        + f"\n    return {w.value}({w.parameters}), grad\n"
    )


def _keras(w: Wrapped) -> str:
    return f"{w.name} = _with_pullback({w.value}, {w.pullback})\n"


WRAPPED: Mapping[str, Callable[[Wrapped], str]] = {
    "jax": _jax,
    "torch": _torch,
    "tensorflow": _tensorflow,
    "keras": _keras,
}
"""By framework, the writer of a function with a custom gradient."""


def _spread_keras(names: Sequence[str], real: Sequence[bool]) -> list[str]:
    like = next(n for n, r in zip(names, real, strict=True) if r)
    terms = [n if r else f"ops.cast({n}, {like}.dtype)" for n, r in zip(names, real, strict=True)]
    return [
        f"shape = ops.shape({' + '.join(terms)})",
        *(f"{name} = ops.broadcast_to({name}, shape)" for name in names),
    ]


def _spread_tensorflow(names: Sequence[str], _real: Sequence[bool]) -> list[str]:
    shape = f"tf.shape({names[0]})"
    for name in names[1:]:
        shape = f"tf.broadcast_dynamic_shape({shape}, tf.shape({name}))"
    return [f"shape = {shape}", *(f"{name} = tf.broadcast_to({name}, shape)" for name in names)]


SPREAD: Mapping[str, Callable[[Sequence[str], Sequence[bool]], list[str]]] = {
    "jax": lambda names, _: [f"{', '.join(names)} = jnp.broadcast_arrays({', '.join(names)})"],
    "torch": lambda names, _: [f"{', '.join(names)} = torch.broadcast_tensors({', '.join(names)})"],
    "tensorflow": _spread_tensorflow,
    "keras": _spread_keras,
}
"""By framework, lines that broadcast arguments to one shape, from their names and whether each is real: every cotangent
then has the shape of its argument."""
