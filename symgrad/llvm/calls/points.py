"""The functions that compute one point: what each is called, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["FILTER", "INTEGRAND", "NUMBERS", "POINT", "PointFunctions"]

POINT = "ufunc.point"
"""As an inner loop is called, ``void (char **args, intp *, intp *, void *)``: only the arguments are looked at."""

NUMBERS = "point.numbers"
"""``void (in..., out *...)``, inputs as numbers."""

INTEGRAND = "point.integrand"
"""``double (int n, double *x, void *)``: the first output; NaN where n is another number than that of the inputs."""

FILTER = "point.filter"
"""``int (double *x, intptr_t n, double *out, void *)``: 1; or 0 where n is another number than that of the inputs."""


class PointFunctions(Protocol):
    """Who owns them."""

    functions: Mapping[str, int]
    """Their addresses: of `POINT` and `NUMBERS`, and where all arguments are doubles of `INTEGRAND` and `FILTER`."""
