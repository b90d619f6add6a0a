"""Programs at exact points, in ball arithmetic: what is certain of every value.

A value is an exact rational, a finite ball that contains it, a truth value, or None where it is not certain to be a
real number (outside the domain, or too near its edge for the precision). None spreads to whatever reads it; only
`where` with a certain condition does not read the branch that is not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.checker.balls.arrays import ARRAYS, ARRAYS_LOCAL
from symgrad.checker.balls.choices import CERTAIN, LOCAL
from symgrad.checker.balls.entries import boxed, elementwise, filled, is_array, unboxed
from symgrad.checker.balls.gamma import polygamma
from symgrad.checker.balls.ops import CONSTANTS, Value, number
from symgrad.checker.clock import STEP, tick, until
from symgrad.checker.limits import ENTRIES
from symgrad.checker.numbers import flint
from symgrad.checker.program.lengths import length, resolve
from symgrad.checker.program.steps import ProofProgram, ProofStep, Symbol, resolved
from symgrad.support.errors import UsageError

__all__ = ["EVERY", "Value", "evaluate", "inside", "moving", "sizes_at"]

Point: TypeAlias = "Mapping[str, Any]"

fmpq: Any = flint.fmpq
context: Any = flint.ctx

_LOGIC = frozenset({"and_", "or_", "xor", "not_"})
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
# Where they are certain in the strict sense their results are constant near the point.
_PIECEWISE = _LOGIC | _COMPARISONS | {"floor", "ceil", "round", "sign", "argmax", "argmin", "one_hot"}
# Of a whole exponent or order they are defined where else they are not.
_WHOLE = frozenset({"pow", "jv", "iv"})
EVERY = "*"


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
        program: its steps.
        point: for every variable that is read a Fraction, int or truth value, or nested lists or an array of them.
        precision: of the balls, in bits.
        sizes: values of named lengths that no variable in ``point`` has in its shape.
        strict: whether values are unknown also where they are not differentiable: ties of comparisons, of maximum and
            minimum, jumps of floor, ceil, round and sign, abs at 0, ends of domains. With a name, only of steps that
            depend on that variable, other than through ``stop_gradient``. With `EVERY` of all that depend on any
            variable: what is known then is so all around the point.
        wanted: positions of the steps whose values are wanted; None for all. Others are not evaluated.
        plain: which of these need not be differentiable: only what the others read counts as strict.
        deadline: when to stop, on the count of `symgrad.checker.clock`.

    Returns:
        The values of the wanted steps: ``fmpq``, ``arb``, ``bool`` or None (unknown), or arrays of these.

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
    known = {**sizes_at(program, point), **(sizes or {})}
    local = moving(program, strict)
    if local is not None and plain is not None:
        others = set(program.needed(i for i in every if i != plain))
        local = bytearray(x and i in others for i, x in enumerate(local))
    real = _depends(program, EVERY, real=True) if strict == EVERY else None
    values: list[Any] = [None] * len(program.steps)
    with context.workprec(precision), until(deadline):
        cost = STEP * (1 + precision / 512)
        for i in program.needed(every):
            tick(cost)
            step = program.steps[i]
            values[i] = _value(program, step, values, point, known, local is not None and bool(local[i]))
            if real is not None and step.op in _WHOLE and not _all_around(step, values, real):
                values[i] = None
    return [values[i] for i in every]


def _all_around(step: ProofStep, values: list[Any], real: bytearray) -> bool:
    """Whether a power, or a function of an order, is not defined only because one of its arguments is whole here."""
    whole, other = step.args[::-1] if step.op == "pow" else step.args
    base = values[other]
    return not real[whole] or (base is not None and not is_array(base) and bool(base > 0))


def moving(program: ProofProgram, strict: bool | str) -> bytearray | None:
    """Tell for each step whether one of its arguments depends on a variable (on any real one for True)."""
    if strict is False:
        return None
    depends = _depends(program, strict)
    return bytearray(any(depends[a] for a in step.args) for step in program.steps)


def _depends(program: ProofProgram, strict: bool | str, *, real: bool = False) -> bytearray:
    """Tell for each step whether it moves with a variable; ``real``: with a real one."""
    every = strict == EVERY
    depends = bytearray(len(program.steps))
    for i, step in enumerate(program.steps):
        if step.op == "symbol":
            kind = step.kind == "real"
            depends[i] = kind or not real if every else kind if strict is True else step.params[0] == strict
        elif step.op not in _PIECEWISE and (every or step.op != "stop_gradient"):
            depends[i] = any(depends[a] for a in step.args)
    return depends


def sizes_at(program: ProofProgram, point: Point) -> dict[str, int]:
    """Return the named lengths that the arrays of a point tell.

    Raises:
        UsageError: if two arrays tell different ones, or one has another number of axes.
    """
    sizes: dict[str, int] = {}
    for symbol in program.symbols:
        value = point.get(symbol.name)
        if symbol.shape and value is not None:
            actual = np.shape(_objects(value))
            if len(actual) != len(symbol.shape) and 0 not in actual:
                raise UsageError(
                    f"'{symbol.name}' has the shape {actual} in the point",
                    expected=f"{len(symbol.shape)} axes",
                )
            for size, n in zip(symbol.shape, actual, strict=False):
                if isinstance(size, str) and size.isidentifier() and sizes.setdefault(size, n) != n:
                    raise UsageError(f"the length {size} is both {sizes[size]} and {n}")
    return sizes


def _objects(value: Any) -> Any:
    return value if is_array(value) else np.array(value, dtype=object)


def _shaped(value: Any, shape: tuple[int, ...]) -> Any:
    """Return a value as an array; nested lists do not tell the axes behind one of length 0."""
    array = _objects(value)
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
    wanted = tuple(length(s, sizes) for s in step.shape)
    array = _shaped(point[name], wanted)
    if array.shape != wanted:
        raise UsageError(f"'{name}' has the shape {array.shape} in the point", expected=str(wanted))
    return elementwise(_exact, array)


def _value(
    program: ProofProgram,
    step: ProofStep,
    values: list[Any],
    point: Point,
    sizes: Mapping[str, int],
    local: bool,
) -> Any:
    op = step.op
    function = (LOCAL.get(op) if local else None) or CERTAIN.get(op)
    if op == "polygamma":
        function = partial(polygamma, int(step.params[0]))
    if function is not None:
        args = [_operand(program, step, k, values[a]) for k, a in enumerate(step.args)]
        if not step.shape:
            return function(*args)
        return _array(step, sizes, lambda: elementwise(function, *args))
    if op == "symbol":
        return _symbol(step, point, sizes)
    if op == "number":
        value = _exact(step.params[0])
    elif op == "constant":
        value = CONSTANTS[step.params[0]]() if step.params[0] in CONSTANTS else None
    elif op == "size":
        value = fmpq(length(step.params[0], sizes))
    else:
        return _structural(program, step, values, sizes, local)
    return filled(tuple(length(s, sizes) for s in step.shape), value) if step.shape else value


def _operand(program: ProofProgram, step: ProofStep, k: int, value: Any) -> Any:
    """Return an argument as the op takes it: truth values are numbers where it calculates."""
    if program.steps[step.args[k]].kind != "bool" or step.op in _LOGIC or (step.op == "where" and k == 0):
        return value
    if step.kind == "bool" and step.op not in _COMPARISONS:
        return value
    return elementwise(number, value) if is_array(value) else number(value)


def _array(step: ProofStep, sizes: Mapping[str, int], compute: Callable[[], Any]) -> Any:
    shape = tuple(length(s, sizes) for s in step.shape)
    if min(shape, default=1) < 0 or int(np.prod(shape, dtype=object)) > ENTRIES:
        return None
    return compute()


def _structural(
    program: ProofProgram, step: ProofStep, values: list[Any], sizes: Mapping[str, int], local: bool
) -> Any:
    function = (ARRAYS_LOCAL.get(step.op) if local else None) or ARRAYS.get(step.op)
    args = [_operand(program, step, k, values[a]) for k, a in enumerate(step.args)]
    whole = all(is_array(v) or not program.steps[a].shape for v, a in zip(args, step.args, strict=True))
    if function is None or not whole:
        return None
    params = resolve(step.params, sizes)
    return _array(step, sizes, lambda: unboxed(function(*params, *(boxed(a) for a in args))))


def inside(program: ProofProgram, point: Point, sizes: Mapping[str, int] | None = None) -> bool:
    """Tell whether a point has for each variable a value that it may take.

    Example:
        >>> program = ProofProgram((), (Symbol("x", "real", Fraction(0), None),))
        >>> inside(program, {"x": Fraction(1, 2)}), inside(program, {"x": Fraction(0)})
        (True, False)
    """
    try:
        known = {**sizes_at(program, point), **(sizes or {})}
        return all(s.name in point and _admits(s, point[s.name], known) for s in program.symbols)
    except UsageError:
        return False


def _admits(symbol: Symbol, value: Any, sizes: Mapping[str, int]) -> bool:
    wanted = tuple(length(s, sizes) for s in symbol.shape)
    array = _shaped(value, wanted)
    if array.shape != wanted or (symbol.symmetric and array.tolist() != array.T.tolist()):
        return False
    known = resolved(symbol, sizes)
    return all(_in_domain(known, v) for v in cast("list[Any]", array.ravel().tolist()))


def _in_domain(symbol: Symbol, value: Any) -> bool:
    if symbol.kind == "bool" or isinstance(value, bool):
        return symbol.kind == "bool" and isinstance(value, bool)
    if not isinstance(value, (int, Fraction)) or (symbol.kind == "int" and Fraction(value).denominator != 1):
        return False
    return (symbol.low is None or value > symbol.low) and (symbol.high is None or value < symbol.high)
