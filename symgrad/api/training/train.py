"""Train some parameters of a loss by compiled gradient steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from symgrad.api.derivatives.differentiate import grad
from symgrad.api.derivatives.row_gradient import RowGradient, row_gradient
from symgrad.api.derivatives.targets import Wrt, Wrts, scalar_to_differentiate, targets_of
from symgrad.api.handles.expr import Expr, handle
from symgrad.api.handles.formula_arguments import Formula
from symgrad.api.handles.inputs import inputs_of, known_symbols
from symgrad.api.kernels.compile import compile
from symgrad.api.training.batches import Values, bind_values, count_from_one, feed
from symgrad.api.training.optimisers import METHODS, number_in, options_of, step_kernel
from symgrad.api.training.state import State
from symgrad.api.training.variables import all_in_domain, has_end, variables_of
from symgrad.ir.graph import Node
from symgrad.ir.listing import suggest
from symgrad.report.report import Reported
from symgrad.support.errors import ArrayTypeError, ConvergenceError, MissingInputError, UsageError
from symgrad.support.progress import reports_progress

_Callback: TypeAlias = "Callable[[int, float, Mapping[str, Any]], object]"
_Rate: TypeAlias = "float | Callable[[int], float]"


@dataclass(frozen=True, slots=True)
class Training(Reported):
    """The result of a training.

    Attributes:
        solution: the value of each parameter by name, both trained and frozen, in its declared shape; ``t["w"]`` is the
            value of w. Pass it as ``start`` for further training.
        history: the loss of each step, on the data of the step, before the parameters moved.
        trained: the names of the parameters that moved.
        frozen: the names of the parameters that did not move.
        method: the method.
        message: the reason why training ended.
    """

    told_by: ClassVar[str] = "symgrad.api.reports.minima:training_report"

    solution: Mapping[str, Any] = field(repr=False)
    history: np.ndarray[Any, Any] = field(repr=False)
    trained: tuple[str, ...]
    frozen: tuple[str, ...]
    method: str
    message: str

    @property
    def value(self) -> float:
        """The loss of the last step."""
        return float(self.history[-1])

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.history)

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter by name."""
        return self.solution[name]

    def __str__(self) -> str:
        def told(names: Sequence[str]) -> str:
            return ", ".join(f"{n} {np.shape(self[n])}" if np.ndim(self[n]) else n for n in names)

        lines = [
            f"{self.method}: {self.message}, loss {self.history[0]:.6g} at first, {self.value:.6g} at last",
            f"  trained: {told(self.trained)}",
        ]
        return "\n".join([*lines, f"  frozen: {told(self.frozen)}"] if self.frozen else lines)


def train(
    loss: Formula,
    start: Mapping[str, Any],
    data: Any = None,
    *,
    wrt: Wrt | Wrts | None = None,
    method: str = "adam",
    steps: int = 1000,
    rate: _Rate | None = None,
    batch: int | Mapping[str, int] | None = None,
    seed: int = 0,
    callback: _Callback | None = None,
    sparse: Wrt | Wrts = (),
    dtype: Any = "float64",
    threads: int = 1,
    **options: float,
) -> Training:
    """Train parameters of a loss by gradient steps.

    One compiled kernel computes the loss and its exact gradient, which respects ``stop_gradient``. Another kernel,
    compiled from the method's formula, moves all parameters at once. Results are the same in every run.

    ======== ============================================================= =========================================
    method   a step, with the gradient g                                    options
    ======== ============================================================= =========================================
    sgd      w - rate*g
    momentum w + v, where v = momentum*v - rate*g (Polyak 1964)             momentum=0.9
    nesterov w + momentum*v - rate*g with the same v (Nesterov 1983)        momentum=0.9
    adam     Kingma and Ba (2015), algorithm 1, with bias correction        beta1=0.9, beta2=0.999, epsilon=1e-8
    adamw    and minus rate*weight_decay*w (Loshchilov and Hutter 2019)     and weight_decay
    ======== ============================================================= =========================================

    Args:
        loss: a scalar expression.
        start: the values of the parameters before the first step, by name, in their declared shapes.
        data: the values of the other inputs by name; or an iterable of such dictionaries, one for each step, which is
            iterated again if possible. Random inputs without a value are drawn from their distributions in every step.
        wrt: the parameters in start to train; all other parameters are frozen and keep their values. By default all are
            trained.
        method: a method of the table.
        steps: the number of steps.
        rate: the step size: a number, or a function of the number of steps taken so far. The default is 0.001 for adam
            and adamw; other methods have no default.
        batch: the number of rows of the data in a step. Arrays whose first axis has the same named size are cut
            together. Every epoch reads each row once, in a new order (the last batch may be smaller). ``{"n": 32}``
            selects the size; for a size that only random inputs have, the number is the number of draws.
        seed: the seed of the order of the rows and of the draws.
        callback: a function that is called after every step with the step's number (from 0), its loss, and the
            parameters by name. It may read the parameters, but must copy them to keep them. Training ends if it returns
            True.
        sparse: trained parameters that are tables: a step moves only the rows that it reads, as in ``E[ids]``. Their
            gradient comes from `row_gradient`, and the time of a step does not depend on the length of the table. This
            works only with sgd, since the moments of the other methods move every row in every step.
        dtype: ``float64`` or ``float32``, for all values.
        threads: as for `compile`.
        options: the numeric options of the method.

    Returns:
        A Training: ``.solution`` by name, ``.history`` of the loss, ``.trained`` and ``.frozen``.

    Raises:
        NotScalarError: if the loss is an array.
        MissingInputError: if an input has no value or two values, or a name is not an input of the loss.
        ShapeError: if a value does not have the declared shape.
        UsageError: if a parameter has no gradient, or arguments are invalid.
        UnsupportedError: if the gradient with respect to a sparse parameter is dense.
        ConvergenceError: if a step has a loss or gradient that is not finite, or moves a parameter out of its declared
            domain.

    Example:
        >>> import numpy as np, symgrad as sg
        >>> X, y, w = sg.tensor("X", ("n", 2)), sg.tensor("y", ("n",)), sg.tensor("w", (2,))
        >>> rows = np.random.default_rng(1).normal(size=(100, 2))
        >>> data = {"X": rows, "y": rows @ [3.0, -1.0]}
        >>> t = sg.train(sg.mean((X @ w - y)**2), {"w": np.zeros(2)}, data, rate=0.1, steps=300, batch=20)
        >>> t["w"].round(6)
        array([ 3., -1.])
    """
    expr = scalar_to_differentiate(loss, "train", "train on its sum or mean over all axes")
    settings = options_of(method, options)
    total = count_from_one("steps", steps)
    schedule = _schedule(method, rate)
    parameters, trained = _parameters(expr, start, wrt, dtype)
    tables = _tables(expr, sparse, trained, method)
    dense = [s for s in trained if s not in tables]
    outputs = [expr, *_gradients(expr, dense), *(e for g in tables.values() for e in (g.ids, g.rows))]
    symbols = inputs_of(outputs)
    others = [s for s in symbols if s not in parameters]
    order = [*trained, *(s for s in parameters if s in symbols and s not in trained), *others]
    kernel = compile(outputs, inputs=[handle(s) for s in order], dtype=dtype, threads=threads, name="step")
    known = [s.name for s in known_symbols([expr])]
    steps_of = feed(data, others, known, parameters, batch, seed, kernel.dtype)
    state = State(kernel, parameters, dense, list(tables))
    move = _step_function(method, settings, state)
    history, message = _run(state, steps_of, move, schedule, total, callback, method)
    return Training(
        {s.name: (v if s in trained else np.array(v))[()] for s, v in state.values.items()},
        history,
        tuple(s.name for s in trained),
        tuple(s.name for s in parameters if s not in trained),
        method,
        message,
    )


def _step_function(method: str, settings: Mapping[str, float], state: State) -> Callable[[int, float], None]:
    """Return a function that takes a step; its arguments are the number of the step, from 0, and the step size."""
    kernel, powers = step_kernel(method, state.kernel.dtype.name), METHODS[method].powers
    memory = [np.zeros_like(state.point) for _ in METHODS[method].state]
    targets = (state.point, *memory)

    def move(step: int, rate: float) -> None:
        state.move_rows(rate)
        decays = [settings[name] ** (step + 1) for name in powers]
        kernel(state.point, state.slope, *memory, rate, *settings.values(), *decays, out=targets)

    return move


def _run(
    state: State,
    feeding: Iterator[Values],
    move: Callable[[int, float], None],
    schedule: Callable[[int], float],
    total: int,
    callback: _Callback | None,
    method: str,
) -> tuple[np.ndarray[Any, Any], str]:
    """Take the steps; return the losses, and the reason why training ended."""
    history = np.empty(total)
    ends = [s for s in state.trained if has_end(s.declaration.domain)]
    shown = {s.name: _read_only(v) for s, v in state.values.items()}
    done, message = 0, f"{total:,} steps"
    # The checks report infinities, so NumPy need not warn.
    with (
        reports_progress("training", f"training by {method}", total) as shown_work,
        np.errstate(over="ignore", invalid="ignore"),
    ):
        for k, values in zip(range(total), feeding, strict=False):
            loss = state.evaluate(values)
            if not isfinite(loss) or not state.seems_finite():
                _check(state, values, loss, k)
            move(k, schedule(k))
            for s in ends:
                if not all_in_domain(s.declaration.domain, state.moved(s)):
                    raise _outside(s, state.moved(s), k)
            history[k], done = loss, k + 1
            shown_work.advance(lambda loss=loss: f"loss {loss:.4g}")
            if callback is not None and callback(k, loss, shown) is True:
                message = f"{done:,} of {total:,} steps, when the callback returned True"
                break
        else:
            if done < total:
                message = f"{done:,} of {total:,} steps, when the data ended"
    for s in state.trained:
        if not np.isfinite(state.moved(s)).all():
            raise ConvergenceError(
                f"step {done - 1:,} takes '{s.name}' to {_first_wrong(state.moved(s))}",
                cure="take a smaller rate",
            )
    return history[:done], message


# Arguments


def _schedule(method: str, rate: Any) -> Callable[[int], float]:
    size = METHODS[method].rate if rate is None else rate
    if size is None:
        raise UsageError(
            f"{method} needs a rate", expected="a number or a function of the step", cure="pass rate=0.01"
        )
    if not callable(size):
        fixed = number_in("rate", size)
        return lambda step: fixed
    return lambda step: number_in(f"rate({step})", size(step))


def _parameters(loss: Expr, start: Any, wrt: Any, dtype: Any) -> tuple[Values, list[Node]]:
    """Return the values of all parameters, and the trained parameters."""
    if not isinstance(start, Mapping):
        raise UsageError(
            f"start is of type {type(start).__name__}",
            expected="a dictionary of values by name",
            cure="pass start={'w': ...}",
        )
    values = cast("Mapping[str, Any]", start)
    known = {s.name: s for s in (*known_symbols([loss]), *inputs_of([loss]))}
    for name in values:
        if name not in known:
            raise MissingInputError(
                f"start has '{name}', which is no input of the loss",
                expected="inputs among " + ", ".join(known),
                cure=suggest(name, known),
            )
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype("float64")  # `compile` raises the error
    parameters = bind_values([known[name] for name in values], values, (), {}, kind, "start")
    trained = [v.node for v in variables_of(loss, list(values) if wrt is None else wrt, "train", "wrt")]
    for s in trained:
        if s not in parameters:
            raise MissingInputError(f"no start for {s.name}", cure=f"pass start={{{s.name!r}: ...}}")
        if not parameters[s].size:
            raise UsageError(f"there is nothing to train: {s.name} has no entries")
        if not np.isfinite(parameters[s]).all():
            raise ArrayTypeError(f"the start of '{s.name}' has {_first_wrong(parameters[s])}")
        if not all_in_domain(s.declaration.domain, parameters[s]):
            raise UsageError(
                f"the start of '{s.name}' lies outside its domain, {s.declaration.domain}",
                cure="start inside",
            )
    return parameters, trained


def _tables(loss: Expr, sparse: Any, trained: Sequence[Node], method: str) -> dict[Node, RowGradient]:
    """Return the row gradients of the sparse parameters."""
    found = targets_of(loss, sparse)
    if found and method != "sgd":
        raise UsageError(
            f"sparse parameters with {method}, whose state moves every row in every step",
            expected="method='sgd'",
            cure="leave sparse out: the gradient with respect to the whole table is exact for every method",
        )
    for e in found:
        if e.node not in trained:
            raise UsageError(
                f"'{e}' is sparse and not trained", expected="some of " + ", ".join(s.name for s in trained)
            )
    return {e.node: row_gradient(loss, e) for e in found}


def _gradients(loss: Expr, trained: Sequence[Node]) -> list[Expr]:
    gradients = grad(loss, [handle(s) for s in trained])
    still = {s.name: g.nothing for s, g in zip(trained, gradients, strict=True) if g.nothing is not None}
    if still:
        name, nothing = next(iter(still.items()))
        moving = [s.name for s in trained if s.name not in still]
        raise UsageError(
            f"the loss has no gradient with respect to '{name}': {nothing}",
            expected="parameters with respect to which the loss has a gradient",
            cure=f"freeze it: wrt=[{', '.join(map(repr, moving))}]" if moving else None,
        )
    return gradients


# Errors of a step


def _check(state: State, step: Values, loss: float, k: int) -> None:
    """Raise an error if a value is not finite; the error names the value."""
    if isfinite(loss):
        for s, gradient in state.gradients.items():
            if not np.isfinite(gradient).all():
                raise ConvergenceError(
                    f"at step {k:,} the gradient by '{s.name}' has {_first_wrong(gradient)}; the loss is {loss:.6g}",
                    expected="finite numbers",
                    cure=f"check_domain(grad(loss, {s.name!r})) finds where the formula is no number",
                )
        return  # only the sum overflowed
    values = {**state.values, **{s: v for s, v in step.items() if s in state.kernel.symbols}}
    for s, value in values.items():
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise ConvergenceError(
                f"at step {k:,} the loss is {loss}: '{s.name}', as this step reads it, has {_first_wrong(value)}",
                expected="finite numbers",
                cure="take a smaller rate" if s in state.trained else f"correct the data of {s.name}",
            )
    largest = max(state.trained, key=lambda s: float(np.abs(state.values[s]).max()))
    raise ConvergenceError(
        f"at step {k:,} the loss is {loss}, and every input is finite; "
        f"entries of '{largest.name}' go up to {float(np.abs(state.values[largest]).max()):.6g}",
        expected="a finite loss",
        cure="take a smaller rate" if k else "check_domain(loss) finds where the formula is no number",
    )


def _outside(s: Node, value: Any, k: int) -> ConvergenceError:
    domain = s.declaration.domain
    wrong = next(v for v in np.asarray(value).flat if not all_in_domain(domain, v))
    return ConvergenceError(
        f"step {k:,} takes '{s.name}' out of its domain, {domain}: to {wrong:.6g}",
        cure=f"train its logarithm: write {s.name} = exp(log_{s.name}), and train log_{s.name}"
        if domain.low == 0 and domain.high is None
        else "take a smaller rate, or sg.minimize, which keeps to domains",
    )


def _first_wrong(value: Any) -> str:
    """Return the first entry that is not finite, with its place."""
    value = np.asarray(value)
    place = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
    return f"{value[place]}" + (f" at {list(place)}" if place else "")


def _read_only(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    view = value.view()
    view.flags.writeable = False
    return view
