"""The functions that compute one point: what each is called, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["FILTER", "INTEGRAND", "NUMBERS", "POINT", "PointFunctions", "scipy_callbacks"]

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


def scipy_callbacks(numbers: int, nin: int, nout: int) -> str:
    """Return the text of a module with `INTEGRAND` and `FILTER`, around a function that is in memory already.

    Args:
        numbers: address of `NUMBERS`, all arguments of which are doubles.
        nin: how many inputs it has.
        nout: how many outputs, at least one.
    """
    inputs = "".join(
        f"  %at{k} = getelementptr double, ptr %x, i64 {k}\n  %x{k} = load double, ptr %at{k}\n"
        for k in range(nin)
    )
    unused = "".join(f"  %y{k} = alloca double\n" for k in range(1, nout))
    given = ", ".join([*(f"double %x{k}" for k in range(nin)), *(f"ptr %y{k}" for k in range(nout))])
    call = f"{inputs}{unused}  call void inttoptr (i64 {numbers} to ptr)({given})\n"
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
