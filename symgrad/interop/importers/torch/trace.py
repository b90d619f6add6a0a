"""Trace a function of torch to a graph that has the places and names of the user's source.

`torch.export` returns the graph before decompositions, with `detach` and `no_grad`. A torch function mode numbers every
call, and the number is stored in the metadata of the graph's nodes. So every node has its line, also in nested
functions, and the variable of its value.
"""

from __future__ import annotations

import inspect
import logging
import math
import sys
import warnings
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, cast

from torch.fx import traceback
from torch.nn import Module
from torch.overrides import TorchFunctionMode

from symgrad.interop.importers.names import watch_locals
from symgrad.interop.importers.program import ImportNote
from symgrad.interop.importers.refusals import needs_number
from symgrad.interop.importers.torch.table import as_items
from symgrad.support.errors import SymgradError, UnsupportedError
from symgrad.support.source import Place
from symgrad.support.user_code import of_user

torch: Any = import_module("torch")  # the values of this module have any type here

VERSIONS = (2, 9), (2, 13)
"""The first and the last supported release: `torch.export` and names of operations change between releases."""

_BLOCKS: Any = import_module("torch._higher_order_ops.utils")

TAG = "symgrad"  # key of the number of a call, in the metadata of nodes


class Result(NamedTuple):
    """A returned value: the number of the call, and the position of the value in the result of the call."""

    call: int
    part: int | None


@dataclass
class TracedGraph:
    """A graph with places and names of its source.

    Args:
        program: the result of `torch.export`.
        places: the place of every call, by number.
        names: the variables of the user, in the order of their assignments.
        findings: notes about lines.
        constant: the numbers of the calls under no_grad, which torch's graph forgets beside blocks such as scan.
    """

    program: Any
    places: Mapping[int, Place | None]
    names: Mapping[Result, str]
    findings: list[ImportNote] = field(default_factory=list[ImportNote])
    constant: Collection[int] = ()


def trace_graph(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], dimensions: Any = None
) -> TracedGraph:
    """Return the graph of a function or module.

    Args:
        function: the function or module.
        args: example tensors, and values of Python.
        kwargs: the same for arguments that are passed by name.
        dimensions: the named sizes of the arguments; None if there are none.

    Raises:
        UnsupportedError: for control flow on values of tensors, if the export fails, or if the release of torch is not
            supported.
    """
    _check_version()
    watch = _Watch(_file_of(function))
    _check_hooks(function)
    with _quiet(), traceback.preserve_node_meta():
        try:
            program = torch.export.export(
                _Wrapped(function, watch), tuple(args), dict(kwargs), dynamic_shapes=dimensions
            )
        except SymgradError:
            raise
        except Exception as error:
            if watch.refused is not None:
                raise watch.refused from None
            at = None if watch.last is None else watch.last.location()
            if "Constraints violated" in str(error) or "pecialized" in str(error):
                raise needs_number("the function", _violated(error), "torch") from error
            raise UnsupportedError(
                f"torch.export cannot read this: {_first_line(error)}",
                at=at,
                expected="a function of tensors whose operations do not depend on their values",
            ) from error
    if watch.refused is not None:  # torch silently continued
        raise watch.refused
    return TracedGraph(program, watch.places, watch.names, watch.findings, watch.constant)


@contextmanager
def _quiet() -> Generator[None]:
    """Silence the log of torch for exceptions, and disable the validation of distributions."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    distribution = torch.distributions.Distribution
    checks = getattr(distribution, "_validate_args", True)
    distribution.set_default_validate_args(False)
    try:
        with warnings.catch_warnings():
            # torch's own recurrent layers keep their parameters in a second list, about which torch.export warns.
            warnings.filterwarnings("ignore", r"The tensor attributes? self\..*_flat_weights", UserWarning)
            yield
    finally:
        distribution.set_default_validate_args(checks)
        logging.disable(before)


def _check_version() -> None:
    found = tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2])
    if not VERSIONS[0] <= found <= VERSIONS[1]:
        first, last = (".".join(map(str, v)) for v in VERSIONS)
        raise UnsupportedError(
            f"programs are read from torch {first} to {last}, and this is torch {torch.__version__}",
            cure=f"pip install 'torch>={first},<={last}.*'",
        )


def _check_hooks(function: Callable[..., Any]) -> None:
    """Refuse hooks of the backward pass, which torch.export silently leaves out."""
    owner = function if isinstance(function, Module) else getattr(function, "__self__", None)
    if not isinstance(owner, Module):
        return
    parts: list[tuple[str, Any]] = [*owner.named_modules(), *owner.named_parameters()]
    for name, part in parts:
        if getattr(part, "_backward_hooks", None) or getattr(part, "_backward_pre_hooks", None):
            raise UnsupportedError(
                f"'{name or type(owner).__name__}' has a hook that changes gradients, which the graph does not hold",
                cure="remove it, and change the gradient where it is used",
            )


def _violated(error: Exception) -> str:
    """Return the condition on a size that is in the text of an error from torch."""
    lines = [line.strip(" -") for line in str(error).splitlines()]
    return next((line for line in lines if line.startswith(("Not all values", "You marked"))), lines[0])


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


class _Wrapped(Module):
    """The exported module: it calls the function, and watches it while it runs."""

    def __init__(self, function: Callable[..., Any], watch: _Watch) -> None:
        super().__init__()
        owner = getattr(function, "__self__", None)
        self.inner = (
            function if isinstance(function, torch.nn.Module) else owner
        )  # torch finds the parameters here
        self._hidden = function, watch  # inside a tuple, torch does not register a module a second time

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        function, watch = self._hidden
        return watch.running(lambda: function(*args, **kwargs))


# ---------------------------------------------------------------------------------------------------------- the mode

_DATA = "a value of a tensor is not known when a function is read"
_PYTHON_VALUES = {
    "__bool__": (
        "an `if`, `while`, `and`, `or` or `assert` on",
        "torch.where(condition, a, b) chooses by values",
    ),
    "__float__": ("float() of", "leave it a tensor: t.detach()"),
    "__int__": ("int() of", "leave it a tensor, or pass it as a Python number"),
    "__index__": ("a Python index from", "index with the tensor itself, or pass a Python number"),
    "tolist": ("tolist() of", "leave it a tensor: t.detach()"),
    "numpy": ("numpy() of", "leave it a tensor: t.detach()"),
    "__array__": ("a NumPy array from", "leave it a tensor: t.detach()"),
    "__contains__": ("`in` on", "compare and reduce: (t == value).any()"),
}


def _gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    if isinstance(var, float):
        var = var * torch.ones_like(input)
    elif var.size() == input.size()[:-1] != input.size():
        var = var.unsqueeze(-1)
    var = var.clamp(min=eps).detach() - (var.detach() - var)  # the derivative by var has no lower bound
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return loss if reduction == "none" else {"mean": torch.mean, "sum": torch.sum}[reduction](loss)


_WITHOUT_CHECKS = {torch.nn.functional.gaussian_nll_loss: _gaussian_nll_loss}
"""Functions of torch that raise an error for some values, and how they compute the others."""

_APPLY = torch.autograd.Function.apply.__func__.__code__


class _Watch(TorchFunctionMode):
    """Numbers the calls of torch in the user's code, and records their places and the names of their values."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file
        self.places: dict[int, Place | None] = {}
        self.constant: set[int] = set()
        self.names: dict[Result, str] = {}
        self.findings: list[ImportNote] = []
        self.last: Place | None = None
        self.refused: SymgradError | None = None
        self._results: dict[int, tuple[Any, Result]] = {}  # by id; kept alive, so that its id stays unique

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        place = self._user_place(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]  (documented, and the only way to the caller)
        self.last = place or self.last
        if func == torch.Tensor.data.__get__:
            self._find(
                ".data takes the value out of the graph: it is read as stop_gradient", "write .detach()"
            )
            func, args, kwargs = torch.Tensor.detach, args[:1], {}
        elif func is torch.Tensor.item:
            self._find(
                ".item() makes a Python number: it is read as stop_gradient of the value", "write .detach()"
            )
            func, args, kwargs = torch.Tensor.detach, args[:1], {}
        elif name in _PYTHON_VALUES and args and isinstance(args[0], torch.Tensor):
            what, cure = _PYTHON_VALUES[name]
            self.refused = UnsupportedError(
                f"{what} a tensor: {_DATA}",
                at=None if self.last is None else self.last.location(),
                expected="operations that are the same for all values",
                cure=cure,
            )
            raise self.refused
        func = _WITHOUT_CHECKS.get(func, func)
        if torch.is_inference_mode_enabled():
            self._refuse(
                "torch.inference_mode(), which the graph does not hold", "torch.no_grad() has the same values"
            )
        number = self._number()
        with traceback.annotate({TAG: number}):
            found = func(*args, **(kwargs or {}))
        for value, index in _tensors(found):
            self._results[id(value)] = value, Result(number, index)
        return found

    def _number(self) -> int:
        """Return the number of a new call."""
        number = len(self.places)
        self.places[number] = self.last
        if not torch.is_grad_enabled():
            self.constant.add(number)
        return number

    def _refuse(self, what: str, cure: str) -> None:
        """Record a call that torch exports in another way than it differentiates.

        The error is raised after the export.
        """
        at = None if self.last is None else self.last.location()
        self.refused = self.refused or UnsupportedError(what, at=at, cure=cure)

    def _find(self, what: str, cure: str) -> None:
        self.findings.append(ImportNote(what, self.last, cure))

    def running(self, call: Callable[[], Any]) -> Any:
        """Call a function of the user, and record its variables."""
        with self, self._blocks():
            found, names = watch_locals(call, self._file, self._result, self._entered)
        for result, name in names.items():
            self.names.setdefault(result, name)
        return found

    @contextmanager
    def _blocks(self) -> Generator[None]:
        """Number the calls of blocks, such as scan; torch compiles these, and cannot compile this mode."""
        compiled: Any = getattr(_BLOCKS, "_hop_compile_and_call", None)

        def call(function: Any, args: Any, kwargs: Any = None) -> Any:
            self.last = self._user_place(sys._getframe(1)) or self.last  # pyright: ignore[reportPrivateUsage]
            number = self._number()
            with torch.overrides._pop_mode_temporarily(), traceback.annotate({TAG: number}):
                found = compiled(function, args, kwargs)
            for k, value in enumerate(torch.utils._pytree.tree_leaves(found)):
                if isinstance(value, torch.Tensor):
                    self._results[id(value)] = value, Result(number, k)
            return found

        if compiled is not None:
            _BLOCKS._hop_compile_and_call = call
        try:
            yield
        finally:
            if compiled is not None:
                _BLOCKS._hop_compile_and_call = compiled

    def _result(self, value: Any) -> Result | None:
        found = self._results.get(id(value)) if isinstance(value, torch.Tensor) else None
        return None if found is None else found[1]

    def _entered(self, frame: FrameType) -> None:
        if frame.f_code is _APPLY:
            self.last = self._user_place(frame.f_back) or self.last
            self._refuse(
                f"the gradient that {frame.f_locals['cls'].__name__} gives itself, which the graph does not hold",
                "write it with detach: g + (f - g).detach() has the value of f and the gradient of g; or read f and g, "
                "and take sg.with_gradient or sg.custom_gradient",
            )

    def _user_place(self, frame: FrameType | None) -> Place | None:
        """Return the place in the innermost function of the user."""
        while frame is not None and not self._of_user(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return None
        spots = list(frame.f_code.co_positions())
        line, last, start, end = spots[frame.f_lasti // 2] if frame.f_lasti >= 0 else (None,) * 4
        line = line or frame.f_lineno
        # If a call extends over several lines, its span ends with the first line.
        return Place.of(frame.f_code.co_filename, line, start, end if last == line else None)

    def _of_user(self, file: str) -> bool:
        return file == self._file or of_user(file)


def _file_of(function: Callable[..., Any]) -> str:
    """Return the file of a function, or of the forward method of a module; empty for code of torch."""
    target: Any = function.forward if isinstance(function, Module) else function
    code = getattr(inspect.unwrap(getattr(target, "__func__", target)), "__code__", None)
    file = "" if code is None else code.co_filename
    return "" if file.startswith(str(Path(torch.__file__).parent)) else file


def _tensors(found: Any) -> list[tuple[Any, int | None]]:
    if isinstance(found, torch.Tensor):
        return [(found, None)]
    return [(t, k) for k, t in enumerate(as_items(found) or []) if isinstance(t, torch.Tensor)]


# ------------------------------------------------------------------------------------------------------------ inputs


def named_tensors(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """Return the tensors among arguments, in torch's order, with the names of their parameters and keys."""
    target: Any = function.forward if isinstance(function, Module) else function
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for k in range(len(args)):
        if not parameters:
            names.append(f"arg{k}")
            continue
        last = min(k, len(parameters) - 1)
        p = parameters[last]
        many = p.kind is inspect.Parameter.VAR_POSITIONAL
        names.append(f"{p.name}_{k - last}" if many else p.name)
    found: list[tuple[str, Any]] = []

    def walk(name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            found.append((name, value))
        elif isinstance(value, Mapping):
            for key, inner in cast("Mapping[Any, Any]", value).items():
                walk(f"{name}_{key}", inner)
        elif (parts := as_items(value)) is not None:
            for key, inner in zip(getattr(value, "_fields", range(len(parts))), parts, strict=True):
                walk(f"{name}_{key}", inner)

    for name, value in [*zip(names, args, strict=True), *kwargs.items()]:
        walk(name, value)
    return found
