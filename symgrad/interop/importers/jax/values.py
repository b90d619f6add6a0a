"""Values and equations of jaxprs, which the modules for JAX 0.8 to 0.12 share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, cast

import jax as _jax
import jax.extend.core as _core
import numpy as np
from jax.extend import source_info_util as _source_info

from symgrad.api.functions.constants import broadcastable_constant, constant
from symgrad.api.functions.layout import broadcast_to
from symgrad.api.handles.expr import Expr
from symgrad.interop.importers.jax.sizes import shape_of
from symgrad.interop.importers.refusals import Problem
from symgrad.support.source import Place
from symgrad.support.user_code import of_user

jax, core, source_info = cast(Any, _jax), cast(Any, _core), cast(Any, _source_info)

Value: TypeAlias = "Expr | np.ndarray"
"""An expression that broadcasts to the value, or a known array."""


class Nested(Protocol):
    """A reader of the jaxprs inside an equation.

    Attributes:
        problems: the unsupported equations, in order.
        inside: the calls with a custom derivative in which the reader currently is.
        itself: those of them that are called again by their own custom derivative.
    """

    problems: list[Problem]
    inside: tuple[tuple[Any, ...], ...]
    itself: set[tuple[Any, ...]]

    def closed(self, closed: Any, args: Sequence[Value]) -> list[Value]:
        """Return the outputs of a jaxpr that has its constants."""
        ...

    def inside_loop(self) -> Nested:
        """Return a reader for the step of a loop, whose values have no names outside, and its own problems."""
        ...

    def below(self, call: tuple[Any, ...]) -> Nested:
        """Return a reader for the custom derivative of a call."""
        ...


NOWHERE = Place("", 0)


def place_of(equation: Any) -> Place:
    """Return the place of an equation: in the user's innermost function, or else in the innermost one outside JAX."""
    traceback = equation.source_info.traceback
    for frame in traceback.frames if traceback is not None else ():
        if of_user(frame.file_name):
            return Place.of(frame.file_name, frame.line_num)
    said = re.match(r"(.*?):(\d+)(?::\d+)?(?: |$)", str(source_info.summarize(equation.source_info)))
    return Place.of(said[1], int(said[2])) if said else NOWHERE


def variable_of(bound: Any) -> Any:
    """Return the variable of a jaxpr to which a local variable is bound while a function is traced, or None."""
    found = getattr(bound, "val", None) if isinstance(bound, jax.core.Tracer) else None
    return found if isinstance(found, core.Var) else None


def expr_of(value: Value) -> Expr:
    """A value as an expression."""
    return value if isinstance(value, Expr) else constant(value)


def broadcastable(value: Value) -> Expr:
    """Return an expression that broadcasts to the value."""
    return value if isinstance(value, Expr) else broadcastable_constant(value)


def restore_booleans(found: Expr, aval: Any) -> Expr:
    """Turn numbers back into truth values: they had become numbers so that they could be broadcast or rearranged."""
    return found > 0 if kind_of(aval) == "b" and found.dtype != "bool" else found


def full_value(value: Value, aval: Any) -> Expr:
    """Return an expression that has the full shape of a value that broadcasts."""
    e = expr_of(value)
    shape = shape_of(aval)
    return e if tuple(e.shape) == shape else restore_booleans(broadcast_to(e, shape), aval)


def kind_of(aval: Any) -> str:
    """Return NumPy's letter for the kind of a dtype; an empty text for JAX's own dtypes, such as keys."""
    try:
        return np.dtype(aval.dtype).kind
    except TypeError:
        return ""


def equation_function(equation: Any) -> Callable[..., Sequence[Any]]:
    """An equation as a function of the variables that it reads."""
    variables = of_variables(equation, equation.invars)
    debug = core.DebugInfo("an equation", "an equation", tuple(f"x{k}" for k in range(len(variables))), None)
    jaxpr = core.Jaxpr([], variables, equation.outvars, [equation], debug_info=debug)
    return core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, []))


def of_variables(equation: Any, values: Sequence[Any]) -> list[Any]:
    """Given one value for each operand, return the values of the operands that are variables, one for each variable."""
    found: dict[Any, Any] = {}
    for v, value in zip(equation.invars, values, strict=True):
        if not isinstance(v, core.Literal):
            found.setdefault(v, value)
    return list(found.values())
