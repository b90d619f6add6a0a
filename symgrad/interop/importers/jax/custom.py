"""Functions with custom derivatives, custom_jvp and custom_vjp, as expressions with a pullback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from symgrad.api.derivatives.differentiate import stop_gradient
from symgrad.api.handles.expr import Expr, handle
from symgrad.autodiff.vjp import pull_back
from symgrad.interop.importers.custom_pullback import with_custom_pullback
from symgrad.interop.importers.jax.ops import LIBRARY
from symgrad.interop.importers.jax.sizes import shape_of
from symgrad.interop.importers.jax.values import (
    Nested,
    Value,
    broadcastable,
    equation_function,
    full_value,
    jax,
    kind_of,
    of_variables,
)
from symgrad.ir.graph import symbol
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import symbols_of
from symgrad.ir.types import Declaration
from symgrad.ir.values.evaluate import evaluate
from symgrad.support.errors import UnsupportedError

T = TypeVar("T")

_NESTED = 3
"""The nesting of calls of a function, with other values, by its own custom derivative."""


def custom(walk: Nested, equation: Any, given: Sequence[Value]) -> list[Value]:
    """Translate custom_jvp and custom_vjp: return the value of the function, with the pullback that JAX would use."""
    inner = equation.params["call_jaxpr"]
    known = of_library(inner, LIBRARY)
    avals = [v.aval for v in equation.invars]
    if known is not None:
        return [known(*map(broadcastable, given))]
    values = walk.closed(inner, given)
    real = [
        k for k, v in enumerate(values) if isinstance(v, Expr) and kind_of(equation.outvars[k].aval) == "f"
    ]
    moving = [
        k
        for k, v in enumerate(given)
        if isinstance(v, Expr) and kind_of(avals[k]) == "f" and symbols_of([v.node])
    ]
    if not real or not moving:
        return [_stopped(v) for v in values]
    args = [full_value(v, a) for v, a in zip(given, avals, strict=True)]
    source = str(getattr(inner.jaxpr.debug_info, "func_src_info", ""))
    key = (source, *(a.node for a in args))
    if key in walk.inside:
        walk.itself.add(key)
        return values
    if [other[0] for other in walk.inside].count(source) > _NESTED:
        raise UnsupportedError("a custom derivative that calls the function itself at other values")

    call = equation_function(equation)

    def function(every: Sequence[Any], k: int) -> Any:
        return call(*of_variables(equation, every))[k]

    results: list[Value] = [_stopped(v) for v in values]
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]
    for k in real:  # one output at a time, because a pullback is linear in one cotangent
        aval = equation.outvars[k].aval

        def pull(every: Any, cotangent: Any, k: int = k) -> Any:
            def along(*moved: Any) -> Any:
                own = dict(zip(moving, moved, strict=True))
                return function([own.get(i, value) for i, value in enumerate(every)], k)

            return jax.vjp(along, *[every[i] for i in moving])[1](cotangent)

        traced = jax.make_jaxpr(pull)(shapes, jax.ShapeDtypeStruct(aval.shape, aval.dtype))
        cotangent = handle(symbol(Declaration(_unused(args), shape=shape_of(aval))))
        pulled = walk.below(key).closed(traced, [*args, cotangent])
        value = full_value(values[k], aval)
        if key in walk.itself:
            full = [full_value(p, avals[i]) for i, p in zip(moving, pulled, strict=True)]
            _require_derivative(value, [args[i] for i in moving], full, cotangent)
            results[k] = value
            continue
        pairs = (
            (args[i], full_value(p, avals[i]) if isinstance(p, Expr) else p)
            for i, p in zip(moving, pulled, strict=True)
        )
        results[k] = with_custom_pullback(value, pairs, cotangent, "derivative")
    return results


def _require_derivative(value: Expr, args: Sequence[Expr], pulled: Sequence[Expr], cotangent: Expr) -> None:
    """Refuse a pullback that calls its function, unless the pullback equals the ordinary derivative at three points.

    Its higher derivatives would call custom derivatives endlessly.
    """
    derived = pull_back([value.node], [cotangent.node], [a.node for a in args]).gradients
    both = [*pulled, *map(handle, derived)]
    symbols_read = symbols_of([e.node for e in both])
    rng = np.random.default_rng(0)
    for _ in range(3):
        values = {
            s.name: rng.uniform(0.2, 0.8, tuple(cast("tuple[int, ...]", s.shape))) for s in symbols_read
        }
        given = {s.name: values[s.name] > 0.5 if s.dtype == "bool" else values[s.name] for s in symbols_read}
        given |= {s.name: np.zeros(values[s.name].shape, np.int64) for s in symbols_read if s.dtype == "int"}
        found = [
            np.asarray(evaluate([e.node], {s: given[s.name] for s in symbols_of([e.node])})[0]) for e in both
        ]
        for mine, theirs in zip(found[: len(args)], found[len(args) :], strict=True):
            if not np.allclose(np.broadcast_to(mine, theirs.shape), theirs, rtol=1e-8, atol=1e-12):
                raise UnsupportedError(
                    "a custom derivative that calls the function itself and is not the function's derivative",
                    cure="stop_gradient(value) where the rule reads the value",
                )


def _unused(exprs: Iterable[Expr]) -> str:
    names = {s.name for s in symbols_of([e.node for e in exprs])}
    return free_name("cotangent", names)


def _stopped(value: Value) -> Value:
    return stop_gradient(value) if isinstance(value, Expr) and value.dtype == "real" else value


def of_library(inner: Any, library: Mapping[tuple[str, str], T]) -> T | None:
    """Look up a function of JAX in a table, by the end of its file and by its name."""
    source = str(getattr(inner.jaxpr.debug_info, "func_src_info", "") or "").replace("\\", "/")
    for (file, name), function in library.items():
        if source.startswith(f"{name} at ") and f"/jax/_src/{file}" in source:
            return function
    return None
