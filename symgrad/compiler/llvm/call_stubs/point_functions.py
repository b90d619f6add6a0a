"""The functions that compute one point: their names and signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["FILTER", "INTEGRAND", "NUMBERS", "POINT", "PointFunctions", "scipy_callbacks"]

POINT = "ufunc.point"
"""The signature of an inner loop, ``void (char **args, intp *, intp *, void *)``; only the first argument is read."""

NUMBERS = "point.numbers"
"""``void (in..., out *...)``, with inputs as numbers."""

INTEGRAND = "point.integrand"
"""``double (int n, double *x, void *)``: returns the first output, or NaN if n is not the number of inputs."""

FILTER = "point.filter"
"""``int (double *x, intptr_t n, double *out, void *)``: returns 1, or 0 if n is not the number of inputs."""


class PointFunctions(Protocol):
    """The owner of the functions of one kernel."""

    functions: Mapping[str, int]
    """The addresses of `POINT` and `NUMBERS`; if all arguments are doubles, also of `INTEGRAND` and `FILTER`."""


def scipy_callbacks(numbers: str, nin: int, nout: int) -> str:
    """Return the text of `INTEGRAND` and `FILTER`.

    Args:
        numbers: the `NUMBERS` function that both call; its arguments are all doubles.
        nin: the number of inputs of this function.
        nout: the number of its outputs, which is at least one.
    """
    inputs = "".join(
        f"  %at{k} = getelementptr double, ptr %x, i64 {k}\n  %x{k} = load double, ptr %at{k}\n"
        for k in range(nin)
    )
    unused = "".join(f"  %y{k} = alloca double\n" for k in range(1, nout))
    given = ", ".join([*(f"double %x{k}" for k in range(nin)), *(f"ptr %y{k}" for k in range(nout))])
    call = f"{inputs}{unused}  call void {numbers}({given})\n"
    return f"""\
define double @{INTEGRAND}(i32 %n, ptr %x, ptr %data) {{
  %all = icmp eq i32 %n, {nin}
  br i1 %all, label %compute, label %refuse
compute:
  %y0 = alloca double
{call}  %y = load double, ptr %y0
  ret double %y
refuse:
  ret double 0x7FF8000000000000
}}
define i32 @{FILTER}(ptr %x, i64 %n, ptr %y0, ptr %data) {{
  %all = icmp eq i64 %n, {nin}
  br i1 %all, label %compute, label %refuse
compute:
{call}  ret i32 1
refuse:
  ret i32 0
}}
"""
