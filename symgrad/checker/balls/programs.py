"""Evaluate programs at exact points in ball arithmetic.

A value is an exact rational, a finite ball that contains the number, a truth value, or None where it is not certain to
be a real number (outside the domain, or too near its boundary for the precision). None propagates to every step that
reads it; `where` with a certain condition does not read the other branch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.checker.balls.array_ops import ARRAY_OPS, SMOOTH_ARRAY_OPS, pack
from symgrad.checker.balls.entries import box, elementwise, full_array, is_array, unbox
from symgrad.checker.balls.gamma import polygamma
from symgrad.checker.balls.piecewise_ops import POINTWISE_OPS, SMOOTH_OPS
from symgrad.checker.balls.scalar_ops import CONSTANTS, Value, number
from symgrad.checker.clock import STEP, tick, until
from symgrad.checker.limits import ARRAY_ENTRIES
from symgrad.checker.numbers import context, fmpq
from symgrad.checker.program.length_values import length_value, resolve_lengths
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol, resolve_ends
from symgrad.support.errors import UsageError

Point: TypeAlias = "Mapping[str, Any]"


_LOGIC = frozenset({"and_", "or_", "xor", "not_"})
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
# If `evaluate` is strict and gives one of these ops a value, the op is constant near the point.
_PIECEWISE = _LOGIC | _COMPARISONS | {"floor", "ceil", "round", "sign", "argmax", "argmin", "one_hot"}
# With an integer exponent or order, these ops have a larger domain.
_INTEGER_EXPONENT = frozenset({"pow", "jv", "iv"})
EVERY_VARIABLE = "*"


def evaluate(
    program: ProofProgram,
    point: Point,
    *,
    precision: int,
    sizes: Mapping[str, int] | None = None,
    strict: bool | str = False,
    wanted: Sequence[int] | None = None,
    plain: int | None = None,
    deadline: float | None = None,
) -> list[Value]:
    """Evaluate the steps of a program, each once, in one pass.

    Args:
        program: the steps.
        point: for every variable that is read, a Fraction, int or truth value, or nested lists or an array of them.
        precision: bits of the balls.
        sizes: values of named lengths that do not occur in the shape of any variable in ``point``.
        strict: whether values are also unknown where a step is not differentiable: at ties of comparisons, of maximum
            and minimum, at jumps of floor, ceil, round and sign, at 0 for abs, and at ends of domains. If it is the
            name of a variable, this holds only for steps that depend on it, other than through ``stop_gradient``. With
            `EVERY_VARIABLE` it holds for steps that depend on any variable: a known value is then defined in a
            neighbourhood of the point.
        wanted: positions of the outputs; None for all steps. Other steps are evaluated only if the outputs depend on
            them.
        plain: an output that need not be differentiable: steps that only this output reads are not strict.
        deadline: in seconds of work, as `symgrad.checker.clock` counts them.

    Returns:
        The values of the outputs: ``fmpq``, ``arb``, ``bool`` or None (unknown), or arrays of these.

    Raises:
        UsageError: if the point does not fit the program.
        TimeoutError: at the deadline.

    Example:
        >>> steps = (ProofStep("symbol", (), ("x",)), ProofStep("sqrt", (0,)), ProofStep("mul", (1, 1)))
        >>> program = ProofProgram(steps, (Symbol("x", "real", None, None),))
        >>> [str(v) for v in evaluate(program, {"x": Fraction(1, 4)}, precision=64)]
        ['1/4', '1/2', '1/4']
        >>> evaluate(program, {"x": -1}, precision=64, wanted=[2])
        [None]
    """
    every = range(len(program.steps)) if wanted is None else wanted
    known = {**infer_sizes(program, point), **(sizes or {})}
    local = depending_arguments(program, strict)
    if local is not None and plain is not None:
        others = set(program.needed(i for i in every if i != plain))
        local = bytearray(x and i in others for i, x in enumerate(local))
    run = _Evaluation(
        program, lambda step: _symbol(step, point, known), known, local, strict == EVERY_VARIABLE
    )
    with context.workprec(precision), until(deadline):
        return run.values(every, STEP * (1 + precision / 512))


class _Evaluation:
    """The evaluation of a program.

    Args:
        program: the steps.
        read: a function that returns the value of a step ``symbol``.
        sizes: the values of named lengths.
        local: for each step, whether its value must be unknown where it is not differentiable.
        around: whether a value must be known in a neighbourhood of the point.
    """

    def __init__(
        self,
        program: ProofProgram,
        read: Callable[[ProofStep], Any],
        sizes: Mapping[str, int],
        local: Sequence[int] | None,
        around: bool,
    ) -> None:
        self.program, self.read, self.sizes, self.local, self.around = program, read, sizes, local, around
        self._real = _depends(program, EVERY_VARIABLE, real=True) if around else None

    def values(self, wanted: Sequence[int], cost: float) -> list[Any]:
        """Return the values of some steps; other steps are evaluated only if these depend on them."""
        values: list[Any] = [None] * len(self.program.steps)
        for i in self.program.needed(wanted):
            tick(cost)
            step = self.program.steps[i]
            local = self.local is not None and bool(self.local[i])
            if step.op == "symbol":
                values[i] = self.read(step)
            elif step.op == "recurrence":
                values[i] = self._recurrence(step, [values[a] for a in step.args], local, cost)
            else:
                values[i] = _value(self.program, step, values, self.sizes, local)
            if (
                self._real is not None
                and step.op in _INTEGER_EXPONENT
                and not _is_defined_around(step, values, self._real)
            ):
                values[i] = None
        return [values[i] for i in wanted]

    def _recurrence(self, step: ProofStep, args: Sequence[Any], local: bool, cost: float) -> Any:
        """Return all values of a recurrence; None if an array is unknown, or has too many entries."""
        length, reverse, body = step.params
        shapes = [tuple(length_value(n, self.sizes) for n in s.shape) for s in body.program.symbols]
        steps = length_value(length, self.sizes)
        entries = sum(math.prod(shape) for shape in shapes[: body.carries])
        if any(v is None and shape for v, shape in zip(args, shapes, strict=True)):
            return None
        if steps < 0 or (steps + 1) * entries > ARRAY_ENTRIES:
            return None
        names = [s.name for s in body.program.symbols]
        known: dict[str, Any] = {}
        strict = depending_arguments(body.program, EVERY_VARIABLE) if local else None
        run = _Evaluation(body.program, lambda s: known[s.params[0]], self.sizes, strict, self.around)
        first, second = body.carries, body.carries + body.rows
        now = list(args[:first])
        found = [now]
        for at in range(steps)[:: -1 if reverse else 1]:
            rows = [unbox(box(a)[at]) for a in args[first:second]]
            known.update(zip(names, (*now, *rows, *args[second:]), strict=True))
            now = run.values(body.results, cost)
            if any(v is None and shape for v, shape in zip(now, shapes, strict=False)):
                return None
            found.append(now)
        if reverse:
            found.reverse()
        if body.carries == 1:
            return np.stack([box(v) for (v,) in found])
        return np.stack([pack(0, *map(box, some)) for some in found])


def _is_defined_around(step: ProofStep, values: list[Any], real: bytearray) -> bool:
    """Tell whether a power or a Bessel function stays defined if its integer exponent or order changes a little."""
    whole, other = step.args[::-1] if step.op == "pow" else step.args
    base = values[other]
    return not real[whole] or (base is not None and not is_array(base) and bool(base > 0))


def depending_arguments(program: ProofProgram, strict: bool | str) -> bytearray | None:
    """Tell for each step whether one of its arguments depends on a variable (if it is True, on any real variable)."""
    if strict is False:
        return None
    depends = _depends(program, strict)
    return bytearray(any(depends[a] for a in step.args) for step in program.steps)


def _depends(program: ProofProgram, strict: bool | str, *, real: bool = False) -> bytearray:
    """Tell for each step whether it depends on a variable; if ``real``, on a real variable."""
    every = strict == EVERY_VARIABLE
    depends = bytearray(len(program.steps))
    for i, step in enumerate(program.steps):
        if step.op == "symbol":
            kind = step.kind == "real"
            depends[i] = kind or not real if every else kind if strict is True else step.params[0] == strict
        elif step.op not in _PIECEWISE and (every or step.op != "stop_gradient"):
            depends[i] = any(depends[a] for a in step.args)
    return depends


def infer_sizes(program: ProofProgram, point: Point) -> dict[str, int]:
    """Return the named lengths, from the shapes of the arrays of a point.

    Raises:
        UsageError: if two arrays disagree, or one has a wrong number of axes.
    """
    sizes: dict[str, int] = {}
    for symbol in program.symbols:
        value = point.get(symbol.name)
        if symbol.shape and value is not None:
            actual = np.shape(_object_array(value))
            if len(actual) != len(symbol.shape) and 0 not in actual:
                raise UsageError(
                    f"'{symbol.name}' has the shape {actual} in the point",
                    expected=f"{len(symbol.shape)} axes",
                )
            for size, n in zip(symbol.shape, actual, strict=False):
                if isinstance(size, str) and size.isidentifier() and sizes.setdefault(size, n) != n:
                    raise UsageError(f"the length {size} is both {sizes[size]} and {n}")
    return sizes


def _object_array(value: Any) -> Any:
    return value if is_array(value) else np.array(value, dtype=object)


def _reshape_empty(value: Any, shape: tuple[int, ...]) -> Any:
    """Return a value as an array; for an empty array, restore the axes that nested lists do not show."""
    array = _object_array(value)
    return array.reshape(shape) if array.size == 0 and array.shape == shape[: array.ndim] else array


def _exact(value: Any) -> Value:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | Fraction):
        return fmpq(value.numerator, value.denominator)
    raise UsageError(f"{value!r} in a point", expected="a Fraction, an int, or a truth value")


def _symbol(step: ProofStep, point: Point, sizes: Mapping[str, int]) -> Any:
    name = step.params[0]
    if name not in point:
        raise UsageError(f"the point has no value of '{name}'")
    if not step.shape:
        return _exact(point[name])
    wanted = tuple(length_value(s, sizes) for s in step.shape)
    array = _reshape_empty(point[name], wanted)
    if array.shape != wanted:
        raise UsageError(f"'{name}' has the shape {array.shape} in the point", expected=str(wanted))
    return elementwise(_exact, array)


def _value(
    program: ProofProgram,
    step: ProofStep,
    values: list[Any],
    sizes: Mapping[str, int],
    local: bool,
) -> Any:
    op = step.op
    function = (SMOOTH_OPS.get(op) if local else None) or POINTWISE_OPS.get(op)
    if op == "polygamma":
        function = partial(polygamma, int(step.params[0]))
    if function is not None:
        args = [_operand(program, step, k, values[a]) for k, a in enumerate(step.args)]
        if not step.shape:
            return function(*args)
        if not _has_values(program, step, args):
            return None
        return _bounded_array(step, sizes, lambda: elementwise(function, *args))
    if op == "number":
        value = _exact(step.params[0])
    elif op == "constant":
        value = CONSTANTS[step.params[0]]() if step.params[0] in CONSTANTS else None
    elif op == "size":
        value = fmpq(length_value(step.params[0], sizes))
    else:
        return _array_op(program, step, values, sizes, local)
    return full_array(tuple(length_value(s, sizes) for s in step.shape), value) if step.shape else value


def _has_values(program: ProofProgram, step: ProofStep, args: Sequence[Any]) -> bool:
    """Tell whether the arrays that a step reads are known, and not too large."""
    return all(is_array(v) or not program.steps[a].shape for v, a in zip(args, step.args, strict=True))


def _operand(program: ProofProgram, step: ProofStep, k: int, value: Any) -> Any:
    """Return an argument of a step; for arithmetic, convert a truth value to a number."""
    if program.steps[step.args[k]].kind != "bool" or step.op in _LOGIC or (step.op == "where" and k == 0):
        return value
    if step.kind == "bool" and step.op not in _COMPARISONS:
        return value
    return elementwise(number, value) if is_array(value) else number(value)


def _bounded_array(step: ProofStep, sizes: Mapping[str, int], compute: Callable[[], Any]) -> Any:
    shape = tuple(length_value(s, sizes) for s in step.shape)
    if min(shape, default=1) < 0 or int(np.prod(shape, dtype=object)) > ARRAY_ENTRIES:
        return None
    return compute()


def _array_op(
    program: ProofProgram, step: ProofStep, values: list[Any], sizes: Mapping[str, int], local: bool
) -> Any:
    function = (SMOOTH_ARRAY_OPS.get(step.op) if local else None) or ARRAY_OPS.get(step.op)
    args = [_operand(program, step, k, values[a]) for k, a in enumerate(step.args)]
    if function is None or not _has_values(program, step, args):
        return None
    params = resolve_lengths(step.params, sizes)
    return _bounded_array(step, sizes, lambda: unbox(function(*params, *(box(a) for a in args))))


def in_domain(program: ProofProgram, point: Point, sizes: Mapping[str, int] | None = None) -> bool:
    """Tell whether a point has an admissible value for every variable.

    Example:
        >>> program = ProofProgram((), (Symbol("x", "real", Fraction(0), None),))
        >>> in_domain(program, {"x": Fraction(1, 2)}), in_domain(program, {"x": Fraction(0)})
        (True, False)
    """
    try:
        known = {**infer_sizes(program, point), **(sizes or {})}
        return all(s.name in point and _admits(s, point[s.name], known) for s in program.symbols)
    except UsageError:
        return False


def _admits(symbol: Symbol, value: Any, sizes: Mapping[str, int]) -> bool:
    wanted = tuple(length_value(s, sizes) for s in symbol.shape)
    array = _reshape_empty(value, wanted)
    if array.shape != wanted or (symbol.symmetric and array.tolist() != array.T.tolist()):
        return False
    known = resolve_ends(symbol, sizes)
    return all(_in_domain(known, v) for v in cast("list[Any]", array.ravel().tolist()))


def _in_domain(symbol: Symbol, value: Any) -> bool:
    if symbol.kind == "bool" or isinstance(value, bool):
        return symbol.kind == "bool" and isinstance(value, bool)
    return isinstance(value, int | Fraction) and in_interval(symbol, value)


def in_interval(symbol: Symbol, value: Fraction | int) -> bool:
    """Tell whether a number lies in the interval of a variable, and is an integer if the variable is one."""
    if symbol.kind == "int" and value.denominator != 1:
        return False
    return (symbol.low is None or value > symbol.low) and (symbol.high is None or value < symbol.high)
