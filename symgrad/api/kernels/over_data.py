"""`over_data`: a loss summed over rows of data, with its gradient, in blocks and a fixed tree of additions.

One kernel computes each block of a fixed number of rows. The results are added in a binary tree, which depends only on
the number of blocks. So the bits of the sum depend neither on where nor in which order the blocks are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast, final

import numpy as np

from symgrad.api.claims.verify import equal
from symgrad.api.derivatives.differentiate import grad
from symgrad.api.derivatives.distribution_check import differentiation_targets
from symgrad.api.derivatives.targets import Wrt, Wrts, as_list
from symgrad.api.functions.layout import concatenate, size
from symgrad.api.handles.expr import Expr, handle
from symgrad.api.handles.formula_arguments import Formula, formula
from symgrad.api.handles.inputs import inputs_of
from symgrad.api.kernels.compile import compile
from symgrad.api.training.batches import count_from_one
from symgrad.compiler.kernels.calls.called import as_tuple
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.ir.graph import Node, symbol
from symgrad.ir.listing import one_of, suggest
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.size_substitution import resized, size_names
from symgrad.ir.sizes import Size, names_of, size_sum
from symgrad.ir.traverse import substitute
from symgrad.ir.values.exchange import as_array
from symgrad.support.errors import MissingInputError, NotScalarError, ShapeError, UsageError
from symgrad.support.progress import steps

Part: TypeAlias = "tuple[Any, ...]"
"""The loss of some rows and its gradients."""

Data: TypeAlias = "Mapping[str, Any] | Callable[[int, int], Mapping[str, Any]]"
"""Arrays by name, or a function that reads a range of rows, by name."""


@final
class OverData:
    """A loss that is a sum or mean over rows of data, with its gradient; `over_data` returns it.

    Attributes:
        kernel: the kernel that computes a block: the sum over its rows, and the gradients.
        data: the names of the inputs with rows, and the axis of the rows.
        parameters: the names of the other inputs.
        rows: the number of rows of a block; the last block may have fewer.
        mean: whether the loss is the mean.
    """

    __slots__ = ("_single", "data", "kernel", "mean", "parameters", "rows")

    def __init__(
        self, kernel: Kernel, data: Mapping[str, int], rows: int, *, mean: bool, single: bool
    ) -> None:
        self.kernel = kernel
        self.data = dict(data)
        self.parameters = tuple(name for name in kernel.inputs if name not in data)
        self.rows = rows
        self.mean = mean
        self._single = single

    def __call__(self, data: Data, count: int | None = None, /, **parameters: Any) -> tuple[Any, Any]:
        """Compute the loss and its gradient block by block, in the memory of one block.

        Args:
            data: arrays by name (in memory, from `numpy.memmap`, or any object whose slices are rows); or a function
                that reads the rows ``first, ..., last - 1`` for two numbers ``first`` and ``last``.
            count: the number of rows; not needed with arrays.
            parameters: values of the other inputs, by name.

        Returns:
            The loss, and its gradient: one array, or a list of arrays if ``wrt`` of `over_data` was a list.

        Raises:
            MissingInputError: for a name that is missing or unknown.
            ShapeError: for arrays with different numbers of rows.
            UsageError: for a function without a count.
        """
        total = self.count(data, count)
        self.check(parameters)
        blocks = self.blocks(total)
        waiting: list[tuple[int, Part]] = []  # sums of 2**level blocks, highest level first
        for first, last in steps("kernel", "computing blocks of data", blocks):
            part, level = self.part(self.read(data, first, last), parameters), 0
            while waiting and waiting[-1][0] == level:
                part, level = _sum(waiting.pop()[1], part), level + 1
            waiting.append((level, part))
        part = waiting.pop()[1]
        while waiting:
            part = _sum(waiting.pop()[1], part)
        return self.finished(part, total)

    def __repr__(self) -> str:
        kind = "mean" if self.mean else "sum"
        return f"OverData({kind} over rows of {', '.join(self.data)}, in blocks of {self.rows:,})"

    # Steps, for distributed computation

    def count(self, data: Data, count: int | None = None) -> int:
        """Return the number of rows."""
        if not isinstance(data, Mapping):
            if count is None:
                raise UsageError("the number of rows is unknown", cure="total(read, 1_000_000, ...)")
            return count
        arrays = cast("Mapping[str, Any]", data)
        self._check_names(arrays, self.data, "rows")
        lengths = {name: int(np.shape(arrays[name])[axis]) for name, axis in self.data.items()}
        if count is not None:
            lengths["count"] = count
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{name} has {n:,}" for name, n in lengths.items())
            raise ShapeError(f"different numbers of rows: {counts}", expected="one number")
        return next(iter(lengths.values()))

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Check the names of parameters."""
        self._check_names(parameters, self.parameters, "value")

    def blocks(self, count: int) -> list[tuple[int, int]]:
        """Return the first row and the end of each block."""
        return [(k, min(k + self.rows, count)) for k in range(0, max(count, 1), self.rows)]

    def read(self, data: Data, first: int, last: int) -> Mapping[str, Any]:
        """Return the rows of a range, by name."""
        if isinstance(data, Mapping):
            return {name: rows_of(data[name], axis, first, last) for name, axis in self.data.items()}
        found = data(first, last)
        self._check_names(found, self.data, "rows")
        for name, axis in self.data.items():
            shape = np.shape(found[name])
            if len(shape) <= axis or shape[axis] != last - first:
                raise ShapeError(
                    f"'{name}' has shape {shape} for the rows {first:,} to {last:,}",
                    expected=f"{last - first:,} rows",
                )
        return found

    def part(self, block: Mapping[str, Any], parameters: Mapping[str, Any]) -> Part:
        """Return the sum over the rows of a block, with its gradients."""
        return as_tuple(
            self.kernel(**{n: as_array(n, v) for n, v in block.items() if n in self.data}, **parameters)
        )

    def finished(self, part: Part, count: int) -> tuple[Any, Any]:
        """Return the loss and its gradient from the sum of all parts."""
        if self.mean:
            with np.errstate(invalid="ignore"):  # the mean of no rows is NaN
                part = tuple(p / count for p in part)
        value, *gradients = part
        return value, gradients[0] if self._single else gradients

    def _check_names(
        self, values: Mapping[str, Any], names: Iterable[str], what: Literal["rows", "value"]
    ) -> None:
        names = list(names)
        for name in values:
            if name not in names:
                raise MissingInputError(
                    f"'{name}' is no input of the loss {'with' if what == 'rows' else 'without'} rows",
                    expected=one_of(names),
                    cure=suggest(name, names),
                )
        for name in names:
            if name not in values:
                raise MissingInputError(f"no {what} for '{name}'", expected=one_of(names))


def rows_of(array: Any, axis: int, first: int, last: int) -> Any:
    """Return rows of an array, by slicing."""
    return array[(slice(None),) * axis + (slice(first, last),)]


def add_parts(parts: Sequence[Part]) -> Part:
    """Return the sum of parts by a binary tree over neighbours.

    Example:
        >>> add_parts([(1.0,), (2.0,), (3.0,)])
        (6.0,)
    """
    while len(parts) > 1:
        pairs = [_sum(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = [*pairs, *parts[2 * len(pairs) :]]
    return parts[0]


def _sum(a: Part, b: Part) -> Part:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def over_data(
    loss: Formula,
    wrt: Wrt | Wrts,
    over: str,
    *,
    rows: int = 65_536,
    reduce: str | None = None,
    dtype: Any = "float64",
    time_limit: float = 20,
) -> OverData:
    """Return a loss that is a sum over rows of data, with its gradient, for data of any length.

    The rows are cut into blocks, and a fixed tree adds their results. So the bits depend on the data and on ``rows``,
    but not on where blocks are computed (`to_dask`). symgrad verifies that the loss is a sum: the loss of two joined
    parts of the data must be equal to the sum of the losses of the parts.

    Args:
        loss: a scalar expression.
        wrt: the inputs to differentiate with respect to, one or a list; they must not have rows.
        over: the name of the size that counts rows; inputs with it in their shapes are data.
        rows: the number of rows of a block.
        reduce: ``sum`` or ``mean``: the loss is taken to be of this kind unless symgrad refutes it; None to decide
            between the two.
        dtype: ``float64`` or ``float32``.
        time_limit: the seconds that the check of the loss may take.

    Returns:
        An OverData: call it with data and parameters for the loss and its gradient.

    Raises:
        NotScalarError: if the loss is not a scalar.
        UsageError: if the loss is not a sum over rows, or it is undecided whether it is; or if another argument is
            invalid.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> p = sg.parse("X : real[n, d]; w : real[d]; y : real[n]; loss = mean((X@w - y)**2)")
        >>> total = sg.over_data(p["loss"], "w", "n", rows=1000)
        >>> total
        OverData(mean over rows of X, y, in blocks of 1,000)
        >>> X = np.arange(5000.0).reshape(2500, 2)/5000
        >>> value, gradient = total({"X": X, "y": X[:, 0]}, w=np.array([1.0, 0.5]))
        >>> round(float(value), 6), gradient.shape
        (0.083333, (2,))
    """
    e = formula(loss)
    if e.shape:
        raise NotScalarError(f"the loss has shape {e.shape}", cure="take its sum or mean")
    if reduce not in (None, "sum", "mean"):
        raise UsageError(f"reduce={reduce!r}", expected="'sum', 'mean' or None")
    rows = count_from_one("rows", rows)
    targets = differentiation_targets(e, as_list(wrt))
    data = _with_rows(e, over)
    for t in targets:
        if over in t.shape:
            raise UsageError(
                f"the gradient with respect to '{t}' has rows itself",
                expected="inputs without rows",
                cure=f"leave {t} out",
            )
    mean = _is_mean(e, over, data, reduce, time_limit)
    whole = e * size(over) if mean else e
    gradients = grad(whole, targets)
    symbols = inputs_of([whole, *gradients])
    needed = [*symbols, *(s for s in data if s not in symbols)]
    kernel = compile([whole, *gradients], [handle(s) for s in needed], dtype=dtype, name="block")
    axes = {s.name: s.shape.index(over) for s in data}
    return OverData(kernel, axes, rows, mean=mean, single=not isinstance(wrt, list | tuple))


def _with_rows(e: Expr, over: str) -> list[Node]:
    symbols = inputs_of([e])
    data = [s for s in symbols if over in s.shape]
    if not data:
        sizes = size_names(symbols)
        raise UsageError(
            f"no input of the loss has the size '{over}'", expected=one_of(sizes), cure=suggest(over, sizes)
        )
    for s in symbols:
        if s.shape.count(over) > 1 or any(over in names_of(size) and size != over for size in s.shape):
            raise UsageError(
                f"'{s.declaration}' has '{over}' in more than one axis, or computed",
                expected="one axis of rows in each input",
            )
    return data


def _is_mean(e: Expr, over: str, data: Sequence[Node], reduce: str | None, time_limit: float) -> bool:
    """Tell whether the loss is the mean over rows; otherwise it is the sum."""
    witnesses: list[str] = []
    for kind in (reduce,) if reduce else ("sum", "mean"):
        whole, first, second = _split(e * size(over) if kind == "mean" else e, over, data)
        verdict = equal(whole, first + second, time_limit=time_limit)
        if verdict.status in ("proved", "supported"):
            return kind == "mean"
        if verdict.status == "undecided":
            if reduce:
                return kind == "mean"
            raise UsageError(
                f"whether the loss is a {kind} over rows of {over} is not known: {verdict.why}",
                cure=f"pass reduce={kind!r} if it is, or a larger time_limit",
            )
        witnesses.append(f"{kind}: {verdict.why}")
    raise UsageError(
        f"the loss is no {reduce or 'sum or mean'} over rows of {over}: the loss of two parts of data together "
        f"differs from the sum of theirs ({'; '.join(witnesses)})",
        expected="a sum of terms, each of which depends on one row",
        cure="add terms without rows (a penalty on parameters) outside, and pass statistics of all rows as inputs",
    )


def _split(e: Expr, over: str, data: Sequence[Node]) -> tuple[Expr, Expr, Expr]:
    """Return the loss of two concatenated parts of the data, and the losses of the parts."""
    taken = {*size_names([e.node, *data])}
    names = [free_name(f"{over}_{k}", taken) for k in (1, 2)]
    counts: list[Size] = [size_sum(names), *names]
    losses: list[Expr] = []
    parts: dict[str, list[Expr]] = {s.name: [] for s in data}
    for k, count in reversed([*enumerate(counts)]):  # the parts come first: they are concatenated
        nodes = resized([e.node, *data], {over: count})
        table: dict[Node, Node] = {}
        for s in nodes[1:]:
            if k:
                table[s] = symbol(replace(s.declaration, name=f"{s.name}_part{k}"))
                parts[s.name].insert(0, handle(table[s]))
            else:
                axis = next(n for n in data if n.name == s.name).shape.index(over)
                table[s] = concatenate(parts[s.name], axis).node
        losses.insert(0, handle(substitute([nodes[0]], table)[0]))
    return cast("tuple[Expr, Expr, Expr]", tuple(losses))
