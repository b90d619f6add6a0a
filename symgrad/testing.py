"""Assert in a test that gradient code is right; a failure names the mistake.

Example:
    >>> import numpy as np, symgrad as sg
    >>> sg.testing.assert_gradient(np.sin, np.cos, "x : real").status
    'proved'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.apps.gradcheck.record import KINDS, ArgumentVerdict, CodeKind, CodeVerdict
from symgrad.apps.gradcheck.verify import verify_code
from symgrad.ir.listing import one_of, suggest
from symgrad.support.errors import UsageError

__all__ = ["assert_gradient"]


def assert_gradient(
    f: Any,
    grad_f: Any,
    specs: Any = None,
    *,
    wrt: str | Sequence[str] | None = None,
    allow: Sequence[CodeKind] = (),
    time_limit: float = 60,
) -> CodeVerdict:
    """Raise an AssertionError unless code computes the gradient of a function; see `verify_code`.

    The message names the difference, the input, the size of the error, the mistake that it looks like, and the right
    formula.

    Args:
        f: the function.
        grad_f: the code.
        specs: the arguments: declarations, or a sample array for each.
        wrt: the names of the arguments to differentiate with respect to; by default all real arguments.
        allow: kinds of verdicts that also pass, beside ``"right"``: ``"float32 noise"``, ``"cancellation"``. Without
            ``allow``, cancellation passes only if the error is below a rounding error of the derivative's usual size: a
            derivative of 1e-22 may come out as 0.
        time_limit: the seconds for the whole check.

    Returns:
        The verdict.

    Raises:
        AssertionError: if the code is wrong anywhere, or nothing could be decided.
        UsageError: if there is nothing to decide, or ``allow`` has an unknown kind.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> def loss(x):
        ...     return np.sum(x**2)
        >>> sg.testing.assert_gradient(loss, lambda x: x, "x : real[3]")
        Traceback (most recent call last):
        ...
        AssertionError: grad_f is not the gradient of loss
        ...
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    allowed = [allow] if isinstance(allow, str) else list(allow)
    for kind in allowed:
        if kind not in KINDS:
            raise UsageError(f"'{kind}' is no kind", expected=one_of(KINDS), cure=suggest(kind, KINDS))
    verdict = verify_code(f, grad_f, specs, wrt=wrt, time_limit=time_limit)
    if all(_passes(v, allowed) for v in verdict.arguments.values()):
        return verdict
    names = [getattr(g, "__name__", "") for g in (grad_f, f)]
    code, function = (
        n if n.isidentifier() else default for n, default in zip(names, ("grad_f", "f"), strict=True)
    )
    if verdict.status == "refuted":
        said = f"{code} is not the gradient of {function}"
    elif verdict.status == "undecided":
        said = f"whether {code} is the gradient of {function} could not be found out"
    else:
        said = f"{code} is the gradient of {function} to less than working accuracy"
    raise AssertionError(f"{said}\n{verdict}")


def _passes(verdict: ArgumentVerdict, allowed: Sequence[str]) -> bool:
    if verdict.status in ("refuted", "undecided"):
        return verdict.kind in allowed
    return verdict.kind == "right" or verdict.small or verdict.kind in allowed
