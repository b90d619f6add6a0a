"""Functions of NumPy and their gradients: traced, compiled, and kept for the shapes of the arguments."""

# The dtypes of the arrays of users are not known.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, cast

import numpy as np

from symgrad.api.functions.structures import leaves_of, named_leaves, rebuilt
from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.base import Handle
from symgrad.api.handles.convert import tracing
from symgrad.api.handles.expr import Expr, as_expr
from symgrad.api.handles.inputs import inputs_of
from symgrad.api.kernels.compile import compile as compile_exprs
from symgrad.api.tracing.rebinding import Outside, Rebinding
from symgrad.api.tracing.replaced_functions import replacements
from symgrad.api.tracing.trace import KINDS, Traced, file_of
from symgrad.ops.array.layout import shape_text
from symgrad.support.errors import NotScalarError, UsageError

_KEPT = 128
"""The largest number of combinations of shapes for which a function keeps its gradient."""

_count = count()


@dataclass(frozen=True)
class _Compiled:
    """The kernel of a function for arguments of certain shapes.

    Args:
        kernel: the value, if it is wanted, and the gradients.
        takes: the positions of the arrays that the kernel takes, among those of the arguments.
        arrays: the further arguments of the kernel.
        gives: for each variable the position of its gradient among the outputs, or its gradient if that is zero.
        outside: what the function reads besides its arguments.
    """

    kernel: Callable[..., Any]
    takes: Sequence[int]
    arrays: Sequence[np.ndarray]
    gives: Sequence[Any]
    outside: Outside


class GradientFunction:
    """The gradient of a function of NumPy, as a function of the same arguments: see `symgrad.value_and_grad`.

    Args:
        function: the function.
        argnum: the position of the argument to differentiate by, or a tuple of positions.
        verb: `grad` or `value_and_grad`, which differentiates expressions.
        with_value: whether a call also returns the value, as `value_and_grad` does.
    """

    def __init__(
        self, function: Callable[..., Any], argnum: Any = 0, *, verb: Callable[..., Any], with_value: bool
    ) -> None:
        listed: Any = argnum if isinstance(argnum, tuple) else (argnum,)
        if not listed or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in listed):
            raise UsageError(
                f"argnum={argnum!r}",
                expected="the position of an argument, or a tuple of positions",
                cure="argnum=0",
            )
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._argnum: int | tuple[int, ...] = argnum
        self._moving = frozenset(cast("tuple[int, ...]", listed))
        self._verb, self._with_value = verb, with_value
        self._kept: dict[Any, _Compiled] = {}
        self._kernels: dict[Any, Any] = {}

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Return the value and the gradient, or the gradient, at arrays and numbers."""
        if len(args) <= max(self._moving):
            raise UsageError(
                f"argument {max(self._moving)} is not among the {len(args)} arguments by position",
                expected="the argument to differentiate by",
                cure="pass it by position",
            )
        given: list[Any] = []
        key = (
            *(_signature(a, k in self._moving, given) for k, a in enumerate(args)),
            *((name, _signature(a, False, given)) for name, a in sorted(options.items())),
        )
        if any(isinstance(v, Handle) for v in given):
            return self._of_expressions(args, options)
        found = self._kept.get(key)
        if found is None or found.outside.changed():
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            found = self._kept[key] = self._compiled(args, options, given)
        outputs: Any = found.kernel(*(given[i] for i in found.takes), *found.arrays)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        leaves = [outputs[at] if isinstance(at, int) else at.copy() for at in found.gives]
        rest = iter(leaves)
        gradients = {n: rebuilt(args[n], rest) for n in sorted(self._moving)}
        by = self._argnum
        gradient = tuple(gradients[n] for n in by) if isinstance(by, tuple) else gradients[by]
        return (outputs[0], gradient) if self._with_value else gradient

    def _compiled(self, args: Sequence[Any], options: Mapping[str, Any], given: Sequence[Any]) -> _Compiled:
        """Trace the function with symbols of the shapes of the arguments, and compile its gradient."""
        declared: list[Expr] = []
        names = _parameter_names(self._function, len(args))
        traced_args = [
            _declared(n, a, k in self._moving, declared)
            for k, (n, a) in enumerate(zip(names, args, strict=True))
        ]
        traced_options = {n: _declared(n, a, False, declared) for n, a in sorted(options.items())}
        traced = Traced(self._function, (str(e.name) for e in declared))
        returned = traced.call(traced_args, traced_options)
        traced.check_again(traced_args, traced_options, returned)
        value = _scalar(returned)
        moving = [e for a in sorted(self._moving) for e in leaves_of(traced_args[a])]
        needed = set(inputs_of([value]))
        by = [e for e in moving if e.node in needed]
        places = {e.node: k + self._with_value for k, e in enumerate(by)}
        gives = [places.get(e.node, np.zeros(e.shape)[()]) for e in moving]
        wanted = [*([value] if self._with_value else []), *self._gradients(value, by)]
        read = {array_input(n, v.shape, KINDS[v.dtype.kind]).node: v for n, v in traced.arrays.items()}
        inputs = inputs_of(wanted) if wanted else []
        if not inputs:
            constants = [e() for e in wanted]

            def copies() -> tuple[Any, ...]:
                return tuple(np.array(c)[()] for c in constants)

            return _Compiled(copies, (), (), gives, traced.outside())
        positions = {e.node: i for i, e in enumerate(declared)}
        own = [s for s in inputs if s in positions]
        others = [s for s in inputs if s in read]
        reals = [np.asarray(v).dtype for e, v in zip(declared, given, strict=True) if e.dtype == "real"]
        dtype = "float32" if reals and all(d == np.float32 for d in reals) else "float64"
        made = (tuple(e.node for e in wanted), tuple(own), tuple(others), dtype)
        kernel = self._kernels.get(made)
        if kernel is None:
            symbols_ = [Expr(s) for s in (*own, *others)]
            kernel = self._kernels[made] = compile_exprs(wanted, symbols_, dtype=dtype)
        return _Compiled(
            kernel, [positions[s] for s in own], [read[s] for s in others], gives, traced.outside()
        )

    def _gradients(self, value: Expr, by: Sequence[Expr]) -> Sequence[Expr]:
        if not by:
            return []
        found = self._verb(value, by)
        return found[1] if self._with_value else found

    def _of_expressions(self, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Return the gradient at expressions: inside of another function that is traced."""
        if tracing.get() is None:
            raise UsageError(
                "a gradient of a function of NumPy at expressions",
                expected="numbers and arrays",
                cure="sg.grad(f(x), x) for an expression x, or sg.from_numpy(f, ...)",
            )
        function = Rebinding(file_of(self._function), replacements()).of(self._function)
        table: dict[Expr, Expr] = {}

        def fresh(leaf: Any) -> Expr:
            e = as_expr(leaf)
            name = f"argument_{next(_count)}"
            own = array_input(name, e.shape)
            table[own] = e
            return own

        moved = [rebuilt(a, map(fresh, leaves_of(a))) if k in self._moving else a for k, a in enumerate(args)]
        value = _scalar(function(*moved, **options))
        needed = set(inputs_of([value]))
        by = [e for e in table if e.node in needed]
        slopes = dict(zip(by, self._gradients(value, by), strict=True))
        at = {own: slopes[own].subs(table) if own in slopes else own.subs(table) * 0 for own in table}
        results = [rebuilt(moved[n], (at[e] for e in leaves_of(moved[n]))) for n in sorted(self._moving)]
        by_position = dict(zip(sorted(self._moving), results, strict=True))
        argnum = self._argnum
        gradient = tuple(by_position[n] for n in argnum) if isinstance(argnum, tuple) else by_position[argnum]
        return (value.subs(table), gradient) if self._with_value else gradient


def _scalar(returned: Any) -> Expr:
    value = as_expr(returned)
    if value.shape:
        raise NotScalarError(
            f"the function returns an array of shape {shape_text(value.shape)}",
            expected="a number",
            cure="np.sum of it is a number; sg.from_numpy and sg.jacobian have all derivatives of an array",
        )
    return value


def _parameter_names(function: Callable[..., Any], number: int) -> list[str]:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        found = []
    plain = [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:number]
    several = next((p.name for p in found if p.kind is p.VAR_POSITIONAL), "x")
    return [*plain, *(f"{several}{k}" for k in range(number - len(plain)))]


def _is_input(value: Any, moving: bool) -> bool:
    """Tell whether a leaf of an argument is an input: arrays are, and the numbers to differentiate by."""
    if isinstance(value, np.ndarray | np.floating):
        return value.dtype.kind in KINDS
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, Handle) or (moving and number)


def _signature(value: Any, moving: bool, given: list[Any]) -> Any:
    """Return what a trace depends on, of an argument; add its arrays to a list."""
    if isinstance(value, np.ndarray | np.floating):  # first, for the time of a call
        if value.dtype.kind not in KINDS:
            return _Same(value)
        given.append(value)
        return value.shape, value.dtype.char
    if isinstance(value, list | tuple):
        parts = cast("Sequence[Any]", value)
        return type(cast("Any", value)), tuple([_signature(v, moving, given) for v in parts])
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return dict, tuple([(k, _signature(v, moving, given)) for k, v in items])
    if _is_input(value, moving):
        given.append(value)
        return "number"
    if isinstance(value, bool | int | float | str | np.generic | None):
        return type(value), repr(value)
    return _Same(value)


class _Same:
    """A value that is equal only to itself; it stays alive, so that no other value gets its identity."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __hash__(self) -> int:
        return id(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._value is other._value


def _declared(name: str, value: Any, moving: bool, declared: list[Expr]) -> Any:
    """Return an argument with symbols in place of its arrays; add the symbols to a list."""
    return rebuilt(value, [_symbol(n, leaf, moving, declared) for n, leaf in named_leaves(value, name)])


def _symbol(name: str, value: Any, moving: bool, declared: list[Expr]) -> Any:
    kind = KINDS[np.asarray(value).dtype.kind] if _is_input(value, moving) else None
    if moving and (kind is None or (isinstance(value, np.ndarray) and kind != "real")):
        said = (
            f"an array of dtype {value.dtype}"
            if isinstance(value, np.ndarray)
            else f"of type {type(value).__name__}"
        )
        raise UsageError(
            f"'{name}' is {said}, and is to be differentiated by",
            expected="real numbers",
            cure="pass it as floats, x.astype(float), or in another argument",
        )
    if kind is None:
        return value
    called = "".join(c if c.isalnum() else "_" for c in name)
    declared.append(array_input(called, np.shape(value), "real" if moving else kind))
    return declared[-1]
