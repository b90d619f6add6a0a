"""Functions that create arrays, change their layout, and find and select entries, under NumPy's names.

Sums and products of arrays are in the package itself: `sg.sum`, `sg.mean`, `sg.max`, `sg.matmul`, `sg.einsum`. NumPy's
functions give the same results on expressions: `np.concatenate([x, y])` is `sg.arrays.concatenate([x, y])`.

Example:
    >>> import symgrad as sg
    >>> x, y = sg.tensor("x", ("n",)), sg.tensor("y", ("m",))
    >>> print(sg.arrays.concatenate([x, y]).shape[0])
    m + n
    >>> T, ids = sg.tensor("T", ("v", 2)), sg.tensor("ids", ("k",), "int")
    >>> print(sg.grad(sg.sum(sg.arrays.take(T, ids, axis=0) ** 2) / 2, T))
    scatter_add(T[ids], ids, shape=(v, 2))
"""

from __future__ import annotations

from symgrad.api.functions.arrays import argmax, argmin, cumsum, diag, inner
from symgrad.api.functions.elementary import logical_and, logical_not, logical_or, logical_xor
from symgrad.api.functions.layout import (
    arange,
    broadcast_to,
    concatenate,
    expand_dims,
    eye,
    flip,
    full,
    moveaxis,
    ones,
    pad,
    reshape,
    scatter_add,
    squeeze,
    stack,
    swapaxes,
    take,
    take_along_axis,
    transpose,
    zeros,
)

__all__ = [
    "arange",
    "argmax",
    "argmin",
    "broadcast_to",
    "concatenate",
    "cumsum",
    "diag",
    "expand_dims",
    "eye",
    "flip",
    "full",
    "inner",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "moveaxis",
    "ones",
    "pad",
    "reshape",
    "scatter_add",
    "squeeze",
    "stack",
    "swapaxes",
    "take",
    "take_along_axis",
    "transpose",
    "zeros",
]
