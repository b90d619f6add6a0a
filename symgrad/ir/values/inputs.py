"""Check and convert the values of inputs, for evaluations and kernels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.ir.bounds import out_of_memory
from symgrad.ir.exact import nearest_float
from symgrad.ir.sizes import Extent, evaluate_size, extent_text, names_of
from symgrad.ir.types import decimal_text
from symgrad.ir.values.bound_sizes import bind_sizes
from symgrad.ir.values.exchange import as_array
from symgrad.support.errors import (
    ArrayTypeError,
    ComplexInputError,
    DomainError,
    MissingInputError,
    ShapeError,
)

if TYPE_CHECKING:
    from symgrad.ir.graph import Node
    from symgrad.ir.types import End


def bind(
    symbols: Sequence[Node],
    args: Sequence[Any],
    by_name: Mapping[str, Any],
    *,
    together: bool = True,
    sizes: Mapping[str, int] | None = None,
    starts: Collection[Node] = (),
) -> dict[Node, Any]:
    """Match values with inputs, by position and by name, and check each value.

    Args:
        symbols: the inputs.
        args: values by position.
        by_name: values by name.
        together: whether all inputs must broadcast together, as in an elementwise program.
        sizes: sizes by name, for sizes that no input has in its shape.
        starts: inputs that an optimiser moves, whose domains the caller checks.

    Raises:
        MissingInputError: as for `in_order`.
        ArrayTypeError, ComplexInputError, ShapeError: as for `check_array` and `check_shapes`.
        DomainError: as for `check_domain`.
        OutOfMemoryError: if there is no memory for a copy of a value.
    """
    given = in_order([s.name for s in symbols], args, by_name)
    try:
        return _checked(symbols, given, sizes or {}, starts, together=together)
    except MemoryError:
        raise out_of_memory("copies of the inputs") from None


def _checked(
    symbols: Sequence[Node],
    given: Sequence[Any],
    sizes: Mapping[str, int],
    starts: Collection[Node],
    *,
    together: bool,
) -> dict[Node, Any]:
    values = {s: check_array(s, value) for s, value in zip(symbols, given, strict=True)}
    if not together:
        for s, value in values.items():
            if s.dtype == "int":
                check_int64(s, value)
    values = {s: _numbers(s, value) for s, value in values.items()}
    known = {**check_shapes(symbols, list(values.values()), together=together), **sizes}
    for s, value in values.items():
        check_symmetric(s, value)
        if s not in starts:
            check_domain(s, value, known)
    return values


def _numbers(symbol: Node, value: Any) -> Any:
    """Return integers of any dtype as floats for a real input, and as int64 for an input that is declared int.

    Arithmetic on narrow integers would wrap around.
    """
    array = np.asarray(value)
    if symbol.dtype == "bool" or array.dtype.kind not in "iub":
        return value
    fits = symbol.dtype == "int" and np.can_cast(array.dtype, np.int64, "safe")
    return converted(array, np.dtype(np.int64 if fits else np.float64))[()]


def distinct(array: np.ndarray) -> np.ndarray:
    """Return an array without the repetitions that broadcasting made; the set of values is the same."""
    if not array.size or 0 not in array.strides:
        return array
    return array[tuple([slice(1 if step == 0 else None) for step in array.strides])]


def converted(array: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    """Return an array with another dtype. Entries that broadcasting repeats are still stored once."""
    return np.broadcast_to(distinct(array).astype(kind), array.shape) if array.dtype != kind else array


def in_order(names: Sequence[str], args: Sequence[Any], by_name: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values by position, and then those by name in the order of names.

    Raises:
        MissingInputError: for too many values, an unknown name, or a name that is repeated or missing.
    """
    signature = f"{len(names)} input{'s' * (len(names) != 1)}: {', '.join(names)}" if names else "no inputs"
    if len(args) > len(names):
        raise MissingInputError(f"{len(args)} values were given", expected=signature)
    for name in by_name:
        if name not in names:
            from symgrad.ir.listing import suggest  # for start-up time: loading a kernel needs no graph

            raise MissingInputError(
                f"'{name}' is not an input", expected=signature, cure=suggest(name, names)
            )
        if name in names[: len(args)]:
            raise MissingInputError(f"the input '{name}' is given twice", expected=signature)
    rest = names[len(args) :]
    absent = [n for n in rest if n not in by_name]
    if absent:
        by_dict = len(args) == 1 and isinstance(args[0], Mapping)
        raise MissingInputError(
            f"no value for {', '.join(names if by_dict else absent)}",
            expected=signature,
            cure="pass the dictionary by name: e(**values)" if by_dict else f"pass {absent[0]}=...",
        )
    return (*args, *(by_name[n] for n in rest))


def check_array(symbol: Node, value: Any) -> Any:
    """Return a value as a NumPy array or scalar of real numbers.

    Raises:
        ComplexInputError: for complex numbers; declared symbols are real.
        ArrayTypeError: for anything else that is not a number or truth value (objects, text, dates).
    """
    if isinstance(value, Fraction):
        value = float(value)
    try:
        array = as_array(symbol.name, value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArrayTypeError(
            f"input '{symbol.name}' cannot be read as an array: {error}", expected="a real number or array"
        ) from None
    kind = array.dtype.kind
    not_complex(symbol.name, array)
    if kind not in "fiub":
        raise ArrayTypeError(
            f"input '{symbol.name}' is an array of dtype {array.dtype}",
            expected="real numbers (a float, integer or bool dtype)",
            cure="convert it, for instance with numpy.asarray(values, dtype=float)",
        )
    if symbol.dtype == "bool" and kind != "b":
        raise ArrayTypeError(
            f"input '{symbol.name}' is declared bool, got dtype {array.dtype}",
            cure=f"pass a condition, for instance {symbol.name} != 0",
        )
    check_whole(symbol, array)
    return array if array.ndim else array[()]


def check_whole(symbol: Node, value: Any) -> None:
    """Raise an error for fractions in an input that is declared int; NaN and infinities pass.

    Raises:
        ArrayTypeError: if there are any; the error names the first value that is not whole.
    """
    numbers = distinct(np.asarray(value))
    if symbol.dtype != "int" or numbers.dtype.kind != "f":
        return
    broken = numbers[np.isfinite(numbers) & (numbers != np.floor(numbers))]
    if broken.size:
        raise ArrayTypeError(
            f"input '{symbol.name}' is declared int, and one of its values is {broken.flat[0]}",
            expected="whole numbers",
            cure=f"round them, or declare {symbol.name} : real",
        )


def check_int64(symbol: Node, value: Any) -> None:
    """Raise an error for values beyond int64 in an input that is declared int, since it may be a position in an array.

    Raises:
        ArrayTypeError: if there are any; the error names the first such value.
    """
    check_whole(symbol, value)
    array = distinct(np.asarray(value))
    if array.dtype.kind == "f":  # narrower floats do not reach the ends
        array = array.astype(np.result_type(array, np.float64))
    # No float is equal to the largest int64; the next float above it is 2**63, which is out of range.
    wrong = array[~((array >= -(2**63)) & (array < 2**63))]
    if wrong.size:
        raise ArrayTypeError(
            f"input '{symbol.name}' is declared int, and one of its values is {wrong.flat[0]}",
            expected="whole numbers that int64 holds",
            cure=f"pass {symbol.name}.astype(np.int64) of finite values",
        )


def check_symmetric(symbol: Node, value: Any) -> None:
    """Raise an error for a value that is not symmetric, up to rounding, in an input that is declared symmetric.

    Raises:
        ArrayTypeError: if two entries differ by more than the largest entry times the square root of the machine
            epsilon; the error names the first two.
    """
    if not symbol.declaration.symmetric:
        return
    matrices = np.asarray(value)
    if matrices.dtype.kind != "f":
        matrices = matrices.astype(np.float64)
    if matrices.ndim < 2 or matrices.shape[-1] != matrices.shape[-2]:
        return  # the check of shapes raises the error
    transposed = np.swapaxes(matrices, -1, -2)
    with np.errstate(invalid="ignore"):
        if np.array_equal(matrices, transposed, equal_nan=True):
            return
        sizes = np.abs(matrices)
        largest = np.max(sizes, axis=(-1, -2), keepdims=True, where=np.isfinite(sizes), initial=0.0)
        near = np.abs(matrices - transposed) <= largest * np.sqrt(np.finfo(matrices.dtype).eps)
        near |= (matrices == transposed) | (np.isnan(matrices) & np.isnan(transposed))
    if np.all(near):
        return
    place = tuple(int(i) for i in np.argwhere(~near)[0])
    other = (*place[:-2], place[-1], place[-2])
    raise ArrayTypeError(
        f"input '{symbol.name}' is declared symmetric, and its entry {list(place)} is {matrices[place]}, "
        f"entry {list(other)} is {matrices[other]}",
        expected="equal entries on both sides of the diagonal, but for rounding",
        cure=f"pass ({symbol.name} + {symbol.name}.T)/2, or declare {symbol.declaration.name} : "
        f"{str(symbol.declaration).split(' : ')[1].removesuffix(' symmetric')}",
    )


def check_domain(symbol: Node, value: Any, sizes: Mapping[str, int]) -> None:
    """Raise an error for values beyond the ends of a declared interval.

    The ends themselves pass, also those of an open interval: a positive value may round to 0, as exp(-1000) does.
    NaN passes. A random input may have any value.

    Args:
        symbol: the input.
        value: its value, which consists of real numbers.
        sizes: the values of named sizes; an end that contains other names is not checked.

    Raises:
        DomainError: if there are any; the error names the first value outside.
    """
    domain = symbol.declaration.domain
    if domain.kind == "bool" or symbol.declaration.distribution is not None:
        return
    low, high = (known_end(end, sizes) for end in (domain.low, domain.high))
    array = distinct(np.asarray(value))
    if (low is None and high is None) or not array.size:
        return
    # The extremes are twice as fast as comparing every entry, which is only necessary with a NaN.
    beyond_low = low is not None and not np.minimum.reduce(array, axis=None) >= _end_of(low, array)
    beyond_high = high is not None and not np.maximum.reduce(array, axis=None) <= _end_of(high, array)
    if not beyond_low and not beyond_high:
        return
    array = np.asarray(value)
    wrong = np.zeros(array.shape, bool)
    if low is not None:
        wrong |= array < _end_of(low, array)
    if high is not None:
        wrong |= array > _end_of(high, array)
    if np.any(wrong):
        raise _outside(symbol, array, wrong, low, high)


def known_end(end: End | None, sizes: Mapping[str, int]) -> int | Fraction | None:
    """Return an end as a number; None for no end, or for an end with an unknown size."""
    if not isinstance(end, str | Extent):
        return end
    return evaluate_size(end, sizes) if all(name in sizes for name in names_of(end)) else None


def _end_of(end: int | Fraction, array: np.ndarray) -> Any:
    """Return an end in the precision of the values: 0.1 as float32 is a little more than 1/10."""
    if array.dtype.kind != "f" and isinstance(end, int):
        return end
    found = nearest_float(end)  # an infinity if the end is beyond all floats
    return found if array.dtype.kind != "f" else array.dtype.type(found)


def _outside(
    symbol: Node,
    array: np.ndarray,
    wrong: np.ndarray,
    low: int | Fraction | None,
    high: int | Fraction | None,
) -> DomainError:
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    domain, name = symbol.declaration.domain, symbol.name
    where = f" at [{', '.join(map(str, place))}]" if place else ""
    ends = [
        f"{value} ({end})" if isinstance(end, str | Extent) else decimal_text(value) or str(value)
        for value, end in ((low, domain.low), (high, domain.high))
        if value is not None
    ]
    plain = "numbers" if domain.kind == "real" else "whole numbers"
    if low is not None and high is not None:
        expected = f"{plain} from {ends[0]} to {ends[1]}"
    else:
        expected = f"{plain} {'from' if high is None else 'up to'} {ends[0]}{' on' if high is None else ''}"
    cure = f"correct the values, or declare {name} : {domain.kind}"
    if domain.kind == "int" and low == 0 and high is not None:
        if place and np.min(array) >= 1 and np.max(array) == high + 1:
            cure = f"if these are labels that count from 1, pass {name} - 1"
        elif array[place] < 0:
            cure = f"to count from the end, declare {name} : int; else correct the values"
    value = (
        extent_text(int(array[place])) if domain.kind == "int" and np.isfinite(array[place]) else array[place]
    )
    return DomainError(
        f"input '{name}' is {value}{where}, outside its domain {domain}", expected=expected, cure=cure
    )


def not_complex(name: str, array: Any) -> None:
    """Raise an error for complex numbers.

    Raises:
        ComplexInputError: for a complex dtype.
    """
    if array.dtype.kind == "c":
        raise ComplexInputError(
            f"input '{name}' is complex ({array.dtype}), and declared symbols are real",
            expected="real values",
            cure=f"pass {name}.real, or separate symbols for the real and the imaginary part",
        )


def check_shapes(symbols: Sequence[Node], values: Sequence[Any], *, together: bool = True) -> dict[str, int]:
    """Check declared sizes, and (if ``together``, as in one ufunc) that all inputs broadcast.

    Returns:
        The values of sizes, by name.

    Raises:
        ShapeError: if they do not agree; the error names the inputs and the sizes.
    """
    shaped: list[tuple[Node, tuple[int, ...]]] = []
    for s, value in zip(symbols, values, strict=True):
        if s.shape:
            shape = np.shape(value)
            if len(shape) != len(s.shape) or any(
                isinstance(size, int) and size != found for size, found in zip(s.shape, shape, strict=True)
            ):
                raise ShapeError(f"input '{s.name}' has shape {shape}", expected=str(s.declaration))
            shaped.append((s, shape))
    sizes = bind_sizes(shaped)
    if not together:
        return sizes
    try:
        np.broadcast_shapes(*(np.shape(v) for v in values))
    except ValueError:
        shapes = ", ".join(f"{s.name} {np.shape(v)}" for s, v in zip(symbols, values, strict=True))
        raise ShapeError(f"the inputs do not broadcast: {shapes}", expected="NumPy broadcasting") from None
    return sizes
