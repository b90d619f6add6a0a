"""The functions in layers of neural networks, under the names in torch's and JAX's modules.

Example:
    >>> import symgrad as sg
    >>> print(sg.grad(sg.nn.softplus(sg.symbols("x")), "x"))
    sigmoid(x)
"""

from __future__ import annotations

from symgrad.api.functions.arrays import log_softmax, softmax
from symgrad.api.functions.elementary import (
    elu,
    gelu,
    gelu_tanh,
    leaky_relu,
    mish,
    relu,
    sigmoid,
    silu,
    softplus,
)
from symgrad.api.functions.layout import one_hot

__all__ = [
    "elu",
    "gelu",
    "gelu_tanh",
    "leaky_relu",
    "log_softmax",
    "mish",
    "one_hot",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
]
