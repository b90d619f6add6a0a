"""Call gradient code of NumPy, torch or JAX, and detect side effects and wrong shapes."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from symgrad.apps.gradcheck.arguments import with_signature
from symgrad.interop.importers.code.frameworks import FrameworkName, libraries_of
from symgrad.interop.importers.refusals import line_in

FaultKind: TypeAlias = Literal[
    "raises",
    "wrong number of gradients",
    "wrong shape",
    "no numbers",
    "changes its inputs",
    "not deterministic",
]


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of gradient code at a point, or the fault in it.

    Args:
        values: the gradients by name, in double precision.
        dtypes: the dtypes in which the code returned them, by name.
        fault: a fault other than a wrong value.
        says: the fault as a sentence.
        missing: the names by which the code returned None, which counts as zeros.
    """

    values: Mapping[str, Any]
    dtypes: Mapping[str, np.dtype[Any]]
    fault: FaultKind | None = None
    says: str = ""
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GradientCode:
    """Gradient code.

    Args:
        code: the object of the user.
        foreign: the library whose functions accept no expressions; None for plain code.
        call: calls the code with arrays and numbers, the positions of the variables of differentiation among them, and
            the number of arguments of f.
    """

    code: Any
    foreign: str | None
    call: Callable[[Sequence[Any], Sequence[int], int], Any]

    @classmethod
    def of(cls, code: Any) -> GradientCode:
        """Wrap the code of the user."""
        own, libraries = own_derivative(code), libraries_of(code)
        foreign = None
        if _is_jax(code) or "jax" in libraries:
            foreign = "JAX"
        elif _is_torch(code) or "torch" in libraries:
            foreign = "torch"
        if own is not None:
            return cls(code, foreign, own)
        if "torch" in libraries and "numpy" not in libraries:
            return cls(code, foreign, _with_tensors(code))
        return cls(code, foreign, lambda values, _wrt, _count: code(*values))

    def at(
        self,
        values: Mapping[str, Any],
        shapes: Mapping[str, tuple[int, ...]],
        count: int,
        *,
        twice: bool = False,
    ) -> CallResult:
        """Call the code at a point.

        Args:
            values: arrays and numbers by name, in the order of the parameters.
            shapes: the shapes of the variables of differentiation, by name, in the order of the gradients.
            count: the number of arguments of f; the other values are cotangents.
            twice: whether to call it again, and compare.
        """
        names = list(values)
        wrt = [names.index(n) for n in shapes]
        given = [_copied(v) for v in values.values()]
        try:
            with np.errstate(all="ignore"):
                returned = self.call(given, wrt, count)
        except Exception as error:  # noqa: BLE001  the user's code is run, and may raise anything
            return _failed("raises", _call_error(error, self.code))
        for name, value, before in zip(names, given, values.values(), strict=True):
            if not np.array_equal(np.asarray(value), np.asarray(before)):
                return _failed("changes its inputs", f"it writes into its argument '{name}'")
        found = by_name(returned, list(shapes), names[:count])
        if isinstance(found, CallResult):
            return found
        arrays: dict[str, Any] = {}
        dtypes: dict[str, np.dtype[Any]] = {}
        for name, value in found.items():
            array = np.zeros(shapes[name]) if value is None else _array(value)
            if array is None:
                return _failed("no numbers", f"by '{name}' it returns a value of type {type(value).__name__}")
            if array.shape != shapes[name]:
                return _failed(
                    "wrong shape",
                    f"by '{name}' it returns the shape {array.shape}, and '{name}' has {shapes[name]}",
                )
            dtypes[name] = array.dtype if array.dtype.kind == "f" else np.dtype(float)
            arrays[name] = array.astype(np.float64)
        called = CallResult(arrays, dtypes, missing=frozenset(n for n, v in found.items() if v is None))
        return self._again(called, values, shapes, count) if twice else called

    def _again(
        self, first: CallResult, values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], count: int
    ) -> CallResult:
        second = self.at(values, shapes, count)
        if second.fault is not None:
            return _failed(
                "not deterministic", f"called twice at one point, the second time it fails: {second.says}"
            )
        for name, array in first.values.items():
            other = second.values[name]
            if not np.array_equal(array, other, equal_nan=True):
                index = tuple(int(i) for i in np.argwhere(array != other)[0])
                return _failed(
                    "not deterministic",
                    f"called twice at one point, by '{name}' it gives {array[index]!s} and then {other[index]!s}",
                )
        return first


def _failed(fault: FaultKind, says: str) -> CallResult:
    return CallResult({}, {}, fault, says)


def _copied(value: Any) -> Any:
    return cast("Any", value).copy() if isinstance(value, np.ndarray) else value


def _array(value: Any) -> Any:
    if hasattr(value, "detach"):  # a tensor of torch's
        value = value.detach().cpu()
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            array = array.astype(np.float64) if array.dtype.kind == "V" else None  # V: bfloat16 of JAX
    except (TypeError, ValueError, RuntimeError):
        return None
    return array


def by_name(returned: Any, wrt: Sequence[str], arguments: Sequence[str]) -> dict[str, Any] | CallResult:
    """Return the gradients of a tuple, a dict or a single value, by name."""
    if isinstance(returned, Mapping):
        found = {str(k): v for k, v in cast("Mapping[Any, Any]", returned).items()}
        missing = [n for n in wrt if n not in found]
        if missing:
            return _failed(
                "wrong number of gradients", f"it returns none by '{missing[0]}', but {', '.join(found)}"
            )
        return {n: found[n] for n in wrt}
    if isinstance(returned, list | tuple):
        listed = list(cast("Sequence[Any]", returned))
        if len(listed) == len(wrt):
            return dict(zip(wrt, listed, strict=True))
        if len(listed) == len(arguments):  # one for each argument, or None, as in torch
            every = dict(zip(arguments, listed, strict=True))
            return {n: every[n] for n in wrt}
        if len(wrt) == 1 and listed and all(np.ndim(v) == 0 or isinstance(v, list) for v in listed):
            return {wrt[0]: returned}
        return _failed(
            "wrong number of gradients",
            f"it returns {len(listed)}, and there are {len(wrt)} to differentiate by: {', '.join(wrt)}",
        )
    if len(wrt) > 1:
        return _failed(
            "wrong number of gradients",
            f"it returns one, and there are {len(wrt)} to differentiate by: {', '.join(wrt)}",
        )
    return {wrt[0]: returned}


def _call_error(error: Exception, code: Any) -> str:
    file = getattr(getattr(code, "__code__", None), "co_filename", "")
    return f"{type(error).__name__}: {first_line(error)}{line_in(file, error.__traceback__)}"


def first_line(error: BaseException) -> str:
    """Return the first line of the message of an error."""
    return (str(error).strip().splitlines() or [""])[0]


# ------------------------------------------------------------------------------------------------- other frameworks


def primal(f: Any) -> tuple[Callable[..., Any], set[FrameworkName]]:
    """Return the function that computes the values, and its frameworks.

    A function with its own derivative has a forward pass; any other function is returned unchanged.
    """
    if _is_jax(f):
        return f.fun, {"jax"}
    if _is_torch(f):
        return _forward(f), {"torch"}
    return f, libraries_of(f)


def own_derivative(code: Any) -> Callable[[Sequence[Any], Sequence[int], int], Any] | None:
    """Return a function that calls the custom derivative of a function; None if it has none."""
    if _is_jax(code):
        return _vjp_by_jax(code)
    if _is_torch(code):
        return _vjp_by_torch(code)
    return None


def _is_jax(f: Any) -> bool:
    jax: Any = sys.modules.get("jax")
    return jax is not None and isinstance(f, (jax.custom_vjp, jax.custom_jvp))


def _is_torch(f: Any) -> bool:
    torch: Any = sys.modules.get("torch")
    return torch is not None and inspect.isclass(f) and issubclass(f, torch.autograd.Function)


def _vjp_by_jax(f: Any) -> Callable[[Sequence[Any], Sequence[int], int], Any]:
    jax: Any = sys.modules["jax"]

    def call(values: Sequence[Any], wrt: Sequence[int], count: int) -> Any:
        arguments, cotangents = values[:count], values[count:]

        def along(*moved: Any) -> Any:
            own = dict(zip(wrt, moved, strict=True))
            return f(*(own.get(i, v) for i, v in enumerate(arguments)))

        out, pull = jax.vjp(along, *(jax.numpy.asarray(arguments[i]) for i in wrt))
        leaves, tree = jax.tree_util.tree_flatten(out)
        given = cotangents or [1.0]
        seeds = [jax.numpy.asarray(c, dtype=o.dtype) for c, o in zip(given, leaves, strict=True)]
        return pull(jax.tree_util.tree_unflatten(tree, seeds))

    return call


def _vjp_by_torch(f: Any) -> Callable[[Sequence[Any], Sequence[int], int], Any]:
    torch: Any = sys.modules["torch"]

    def call(values: Sequence[Any], wrt: Sequence[int], count: int) -> Any:
        arguments = [torch.as_tensor(np.asarray(v)) for v in values[:count]]
        moved = [arguments[i].detach().requires_grad_() for i in wrt]
        for i, tensor in zip(wrt, moved, strict=True):
            arguments[i] = tensor
        out = f.apply(*arguments)
        every = cast("Any", out) if isinstance(out, tuple) else (out,)
        outs: list[Any] = [o for o in every if o.is_floating_point()]
        pairs = zip(values[count:], outs, strict=False)
        seeds = [torch.as_tensor(np.asarray(c), dtype=o.dtype) for c, o in pairs]
        seeds = seeds or [torch.ones_like(o) for o in outs]
        return list(torch.autograd.grad(outs, moved, seeds, allow_unused=True))

    return call


def _with_tensors(code: Any) -> Callable[[Sequence[Any], Sequence[int], int], Any]:
    torch: Any = sys.modules["torch"]
    return lambda values, _wrt, _count: code(*(torch.as_tensor(np.asarray(v)) for v in values))


class _Context:
    """The `ctx` of a `torch.autograd.Function` while its forward pass is traced: it accepts any call."""

    def __init__(self, count: int) -> None:
        self.needs_input_grad = (True,) * count
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("mark_", "set_")):
            return _ignore
        raise AttributeError(name)


def _ignore(*_: Any) -> None:
    """Do nothing."""


def _forward(f: Any) -> Callable[..., Any]:
    """Return the forward pass of a `torch.autograd.Function` as a function of its arguments."""
    names = list(inspect.signature(f.forward).parameters)
    no_context = "setup_context" in vars(f)
    own = names if no_context else names[1:]

    def call(*values: Any) -> Any:
        return f.forward(*values) if no_context else f.forward(_Context(len(own)), *values)

    return with_signature(call, f.__name__, own)
