"""The methods of `minimize`: the derivatives that each method of SciPy uses, and the default for a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symgrad.api.limits import BFGS_VARIABLES
from symgrad.ir.bounds import main_memory
from symgrad.ir.listing import one_of, suggest
from symgrad.support.errors import UsageError

# The derivatives that each method of SciPy uses.
READS: dict[str, str] = {
    "nelder-mead": "value",
    "powell": "value",
    "cobyla": "value",
    "cobyqa": "value",
    "cg": "gradient",
    "bfgs": "gradient",
    "l-bfgs-b": "gradient",
    "tnc": "gradient",
    "slsqp": "gradient",
    "newton-cg": "hvp",
    "trust-ncg": "hvp",
    "trust-krylov": "hvp",
    "trust-constr": "hvp",
    "dogleg": "hessian",
    "trust-exact": "hessian",
}
BOUNDED = {"nelder-mead", "powell", "cobyla", "cobyqa", "l-bfgs-b", "tnc", "slsqp", "trust-constr"}
_OPTIONS = ("tol", "options", "callback", "constraints")

# The number of square matrices, with a row for each variable, that a method stores (measured, and rounded down).
_SQUARE = {
    "bfgs": 6,
    "cobyla": 10,
    "cobyqa": 4,
    "dogleg": 3,
    "nelder-mead": 2,
    "powell": 1,
    "slsqp": 4,
    "trust-exact": 3,
}


def method_name(method: Any, options: Mapping[str, Any]) -> str | None:
    """Return SciPy's name of a method; None for None.

    Raises:
        UsageError: for an unknown name, or an option that `minimize` does not pass on.
    """
    for option in options:
        if option not in _OPTIONS:
            raise UsageError(
                f"minimize has no option '{option}'",
                expected=one_of(_OPTIONS),
                cure="declare bounds as domains: real(0, 1), positive" if option == "bounds" else None,
            )
    if method is not None and (not isinstance(method, str) or method.lower() not in READS):
        raise UsageError(
            f"method={method!r}",
            expected=one_of(READS),
            cure=suggest(method.lower(), READS) if isinstance(method, str) else None,
        )
    return None if method is None else method.lower()


def choose_method(method: str | None, variables: int, *, bounds: bool, constraints: bool) -> str:
    """Return the method. For None, the number of variables, the bounds and the constraints determine a default.

    Raises:
        UsageError: if the method needs more memory than the machine has.
    """
    if method is None:
        method = "slsqp" if constraints else "l-bfgs-b" if bounds or variables > BFGS_VARIABLES else "bfgs"
    needed = _SQUARE.get(method, 0) * 8 * variables**2
    memory = main_memory()
    if memory is not None and needed > memory:
        raise UsageError(
            f"{method} of {variables:,} variables takes {needed / 2**30:,.0f} GiB of memory for square matrices, and "
            f"there are {memory / 2**30:,.0f} GiB",
            expected="a method that keeps none: l-bfgs-b, cg, tnc, newton-cg, trust-ncg, trust-krylov, trust-constr",
            cure="method='trust-constr'"
            if constraints
            else "method='l-bfgs-b', the default for many variables",
        )
    return method
