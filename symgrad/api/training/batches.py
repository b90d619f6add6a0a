"""Feed training steps with data, in full batches or minibatches, and with samples of random inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import index
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.ir.graph import Node
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.sizes import evaluate_size, names_of
from symgrad.ir.traverse import symbols_of
from symgrad.ir.values.evaluate import evaluate
from symgrad.ir.values.inputs import bind
from symgrad.ops.random.laws import drawn as random_draw
from symgrad.support.errors import MissingInputError, ShapeError, UsageError

Values: TypeAlias = "dict[Node, np.ndarray[Any, Any]]"


def feed(
    data: Any,
    symbols: Sequence[Node],
    known: Iterable[str],
    parameters: Values,
    batch: Any,
    seed: int,
    dtype: np.dtype[Any],
) -> Iterator[Values]:
    """Yield the values of each step until the data end.

    Args:
        data: values by name, or an iterable of such mappings.
        symbols: the inputs that need values.
        known: further names that data may have.
        parameters: the values of the parameters; their sizes are the same in every step.
        batch: the number of rows of a step: a number for the only size that can be cut, or numbers by the names of
            sizes; or None.
        seed: the seed of the order of the rows and of the draws.
        dtype: of real numbers.

    Raises:
        MissingInputError, ShapeError, UsageError: for values that do not match; see `train`.
    """
    rows, noise = np.random.default_rng(seed).spawn(2)
    if isinstance(data, Mapping) or data is None:
        arrays = cast("Mapping[str, Any]", data or {})
        sampled, values = _bind_data(arrays, symbols, known, parameters, dtype)
        counts = _counts(batch, values, sampled, parameters)
        lengths = {_first(s) for s in values}
        fixed = {size: count for size, count in counts.items() if size not in lengths}
        cuts = {size: count for size, count in counts.items() if size in lengths}
        steps = _minibatches(values, cuts, rows) if cuts else repeat(values)
        return _with_samples(steps, sampled, parameters, fixed, noise, dtype)
    if batch is not None:
        raise UsageError("batch with data that come in batches", cure="leave batch out")
    return _repeat_data(data, symbols, known, parameters, noise, dtype)


def bind_values(
    symbols: Sequence[Node],
    arguments: Mapping[str, Any],
    known: Iterable[str],
    parameters: Values,
    dtype: np.dtype[Any],
    what: str = "data",
) -> Values:
    """Return values as arrays that a kernel takes without a copy.

    Args:
        symbols: the inputs that need values.
        arguments: their values by name.
        known: further names that are allowed.
        parameters: values of other inputs, whose sizes must agree.
        dtype: of real numbers.
        what: the name of the argument in messages.

    Raises:
        MissingInputError: if a value is missing, or a name is unknown.
        ShapeError: if a value does not have the declared shape.
    """
    names, taken = [s.name for s in symbols], {s.name for s in parameters}
    for name in arguments:
        if name in taken:
            raise MissingInputError(f"'{name}' is in start and in {what}", expected="one value")
        if name not in names and name not in known:
            raise MissingInputError(
                f"{what} has '{name}', which is no input of the loss",
                expected=f"{what} for {', '.join(names)}" if names else f"no {what}",
                cure=suggest(name, names),
            )
    absent = [name for name in names if name not in arguments]
    if absent:
        raise MissingInputError(f"no {what} for {absent[0]}", cure=f"pass {what}={{{absent[0]!r}: ...}}")
    everything = {**{s.name: v for s, v in parameters.items()}, **{n: arguments[n] for n in names}}
    found: Values = {}
    starts = symbols if what == "start" else [*parameters]
    for s, value in bind([*parameters, *symbols], (), everything, together=False, starts=starts).items():
        if s in parameters:
            continue
        check_scalar(s, value)
        kind: Any = {"int": np.int64, "bool": np.bool_}.get(s.dtype, dtype)
        found[s] = np.ascontiguousarray(value, kind).reshape(np.shape(value))
    return found


def check_scalar(s: Node, value: Any) -> None:
    """Check that a scalar input has one value.

    Raises:
        ShapeError: if its value is an array.
    """
    if not s.shape and np.shape(value):
        raise ShapeError(
            f"input '{s.name}' has shape {np.shape(value)}, and the loss is of one {s.name}",
            expected=str(s.declaration),
            cure="declare it with a shape, and sum the loss over it",
        )


# The values of the steps


def _bind_data(
    data: Mapping[str, Any],
    symbols: Sequence[Node],
    known: Iterable[str],
    parameters: Values,
    dtype: np.dtype[Any],
) -> tuple[list[Node], Values]:
    """Return the random inputs without data, and the values of all other inputs."""
    sampled = [s for s in symbols if s.declaration.distribution is not None and s.name not in data]
    return sampled, bind_values([s for s in symbols if s not in sampled], data, known, parameters, dtype)


def _repeat_data(
    data: Any,
    symbols: Sequence[Node],
    known: Iterable[str],
    parameters: Values,
    noise: np.random.Generator,
    dtype: np.dtype[Any],
) -> Iterator[Values]:
    """Yield the values of the batches. Data that are not an iterator are iterated again and again."""
    try:
        once = iter(data) is data
    except TypeError:
        raise UsageError(
            f"data is of type {type(data).__name__}",
            expected="a dictionary of values by name, or an iterable of such dictionaries",
        ) from None
    begun = False
    while not (begun and once):
        empty = True
        for values in data:
            if not isinstance(values, Mapping):
                raise UsageError(
                    f"a batch of the data is of type {type(values).__name__}",
                    expected="a dictionary of values by name",
                )
            arrays = cast("Mapping[str, Any]", values)
            sampled, bound = _bind_data(arrays, symbols, known, parameters, dtype)
            empty = False
            yield from _with_samples(iter([bound]), sampled, parameters, {}, noise, dtype)
        if empty and not begun:
            raise UsageError("data has no batches", expected="at least one")
        if empty:
            return
        begun = True


def _minibatches(values: Values, cuts: Mapping[str, int], rows: np.random.Generator) -> Iterator[Values]:
    """Yield minibatches of rows in reused buffers. Each epoch reads every row once, in a new order."""
    buffers = {
        s: np.empty((min(cuts[_first(s)], len(v)), *v.shape[1:]), v.dtype)
        for s, v in values.items()
        if _first(s) in cuts
    }
    lengths = {_first(s): len(values[s]) for s in buffers}
    for size, length in lengths.items():
        if not length:
            raise ShapeError(f"the data have no rows: the size {size} is 0", expected="at least one")
    orders = {size: _order(lengths[size], cuts[size], rows) for size in lengths}
    while True:
        where = {size: next(order) for size, order in orders.items()}
        step = dict(values)
        for s, buffer in buffers.items():
            positions = where[_first(s)]
            step[s] = buffer[: len(positions)]
            np.take(values[s], positions, axis=0, out=step[s], mode="clip")  # "raise" would copy
        yield step


def _order(length: int, count: int, rows: np.random.Generator) -> Iterator[np.ndarray[Any, Any]]:
    while True:
        order = rows.permutation(length)
        for k in range(0, length, count):
            yield order[k : k + count]


def _with_samples(
    steps: Iterator[Values],
    sampled: Sequence[Node],
    parameters: Values,
    fixed: Mapping[str, int],
    noise: np.random.Generator,
    dtype: np.dtype[Any],
) -> Iterator[Values]:
    """Add new draws of random inputs to the values of every step."""
    if not sampled:
        yield from steps
        return
    for step in steps:
        sizes = {**_sizes(parameters), **_sizes(step), **fixed}
        draws: Values = {}
        for s in sampled:
            absent = [n for n in names_of(s.shape) if n not in sizes]
            if absent:
                raise MissingInputError(
                    f"the size {absent[0]} of the random input '{s.name}' is in no other input",
                    expected=f"how many to draw a step: batch={{{absent[0]!r}: ...}}",
                )
            distribution = s.declaration.distribution
            assert distribution is not None
            shape = tuple(evaluate_size(size, sizes) for size in s.shape)
            kind: Any = np.int64 if s.dtype == "int" else dtype
            values = _parameters(s, {**parameters, **step}, sizes)
            draws[s] = np.asarray(random_draw(distribution, noise, shape, values), kind)
        yield {**step, **draws}


def _parameters(s: Node, values: Values, sizes: Mapping[str, int]) -> dict[Node, Any]:
    """Return the values of the parameters of a random input."""
    formulas = list(s.declaration.formulas)
    absent = [read.name for read in symbols_of(formulas) if read not in values]
    if absent:
        raise MissingInputError(
            f"'{s.name}' is drawn from {s.declaration.distribution}, and '{absent[0]}' has no value",
            expected=f"values of all inputs that the loss reads, or of '{s.name}' itself",
            cure=f"pass draws: data={{{s.name!r}: ...}}",
        )
    return dict(zip(formulas, evaluate(formulas, values, sizes), strict=True)) if formulas else {}


# Sizes


def _first(s: Node) -> Any:
    return s.shape[0] if s.shape else None


def _sizes(values: Values) -> dict[str, int]:
    return {
        name: found
        for s, value in values.items()
        for name, found in zip(s.shape, value.shape, strict=True)
        if isinstance(name, str)
    }


def _counts(batch: Any, values: Values, sampled: Sequence[Node], parameters: Values) -> dict[str, int]:
    """Return the number of rows of a step for each size that is cut, by the name of the size."""
    if batch is None:
        return {}
    of_parameters = {*names_of(*(s.shape for s in parameters))}
    first = {_first(s): None for s in (*values, *sampled)}
    offered = [s for s in first if isinstance(s, str) and s not in of_parameters]
    if isinstance(batch, Mapping):
        counts = {str(size): _rows(n) for size, n in cast("Mapping[Any, Any]", batch).items()}
    else:
        if len(offered) != 1:
            raise UsageError(
                f"batch={batch!r}, and {len(offered) or 'no'} sizes can be cut"
                + (f": {', '.join(offered)}" if offered else ""),
                expected="data whose first axis has a name that no parameter has, as in X : real[n, 5]",
                cure=f"say which: batch={{{offered[0]!r}: {batch!r}}}" if offered else None,
            )
        counts = {offered[0]: _rows(batch)}
    for size in counts:
        if size not in offered:
            raise UsageError(
                f"batch has the size '{size}'"
                + (", which parameters have: a step moves them as wholes" if size in of_parameters else ""),
                expected=one_of(offered) if offered else "no size: none can be cut",
                cure=suggest(size, offered),
            )
        for s in (*values, *sampled):
            if any(size in names_of(length) for length in s.shape[1:]) or (
                s.shape and s.shape[0] != size and size in names_of(s.shape[0])
            ):
                raise UsageError(
                    f"'{s.name}' of shape ({', '.join(map(str, s.shape))}) cannot be cut along {size}",
                    expected=f"{size} as its first size alone",
                    cure="give minibatches of your own: data= takes an iterable of dictionaries",
                )
    return counts


def _rows(value: Any) -> int:
    return count_from_one("batch", value, ", or such numbers by size")


def count_from_one(name: str, value: Any, otherwise: str = "") -> int:
    """Return an argument as a positive integer; a UsageError names the argument and its alternatives."""
    try:
        count = index(value)
    except TypeError:
        count = 0
    if count < 1 or isinstance(value, bool):
        raise UsageError(f"{name}={value!r}", expected=f"a whole number from 1 on{otherwise}")
    return count
