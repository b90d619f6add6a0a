"""One operator of torch for all programs, with derivatives for autograd and for `torch.func`.

torch refers to a program by its key. Derivatives are programs, too, and are called with the same operator.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, cast, final

import numpy as np
from torch.autograd import Function

from symgrad.interop.exporters.callee import cast_for_kernel
from symgrad.interop.exporters.torch_registry import REAL, KeyedProgram, program_of
from symgrad.ir.sizes import evaluate_size
from symgrad.ir.values.bound_sizes import lengths_of_names
from symgrad.support.errors import ArrayTypeError, UnsupportedError

torch: Any = import_module("torch")  # the values of this module have any type here
forward_ad = torch.autograd.forward_ad

# A tensor; None if torch has no tensor. Beyond the calls of torch there are no strict types.
_Tensors = Sequence[Any]


# ------------------------------------------------------------------------------------------------------------- checks

_INT = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def _validate_inputs(program: KeyedProgram, tensors: _Tensors) -> Any:
    """Check the arguments; return the dtype in which to compute."""
    real: tuple[str, Any] | None = None
    for (e, kind), t in zip(program.inputs, tensors, strict=True):
        if t.layout is not torch.strided:
            raise ArrayTypeError(f"input '{e}' is a {t.layout} tensor", cure=f"pass {e}.to_dense()")
        if t.device.type not in ("cpu", "meta"):
            raise UnsupportedError(
                f"input '{e}' is on {t.device}, and kernels run on the CPU",
                expected="tensors on the CPU",
                cure=f'pass {e}.cpu(), or take sg.to_torch(..., form="source"), which runs where its tensors are',
            )
        if kind == "real":
            if t.dtype not in REAL:
                raise ArrayTypeError(
                    f"input '{e}' is {t.dtype}",
                    expected="torch.float64 or torch.float32",
                    cure=f"pass {e}.float()" if t.dtype.is_floating_point else f"pass {e}.double()",
                )
            if real is None:
                real = e, t.dtype
            elif real[1] is not t.dtype:
                raise ArrayTypeError(
                    f"input '{real[0]}' is {real[1]} and '{e}' is {t.dtype}",
                    expected="real inputs of one dtype",
                    cure="pass all in one: .float() or .double()",
                )
        elif t.dtype is not torch.bool and (kind == "bool" or t.dtype not in _INT):
            raise ArrayTypeError(
                f"input '{e}' is {t.dtype}, but it is declared {kind}",
                expected=f"a tensor of {'whole numbers' if kind == 'int' else 'truth values'}",
                cure=f"pass {e}.long()" if kind == "int" else f"pass {e} != 0",
            )
    return torch.get_default_dtype() if real is None else real[1]


def _no_tangents(program: KeyedProgram, tensors: _Tensors) -> None:
    """Refuse tangents: the operator has no rule for them, and torch would silently take them as zeros."""
    for (e, _), t in zip(program.inputs, tensors, strict=True):
        try:
            there = forward_ad.unpack_dual(t).tangent is not None
        except RuntimeError:  # there is a tangent, but at this point torch cannot return it
            there = True
        if there:
            raise UnsupportedError(
                f"input '{e}' has a tangent in a compiled graph, which has no forward mode",
                expected="forward mode outside of torch.compile, or reverse mode",
                cure="call torch.func.jvp on the function itself, or compile sg.to_torch(sg.jvp(...))",
            )


# ------------------------------------------------------------------------------------------------------- the operator


def _computed(inputs: list[Any], program: str, graph: bool) -> list[Any]:
    found = program_of(program)
    if graph:
        _no_tangents(found, inputs)
    kernel = found.kernel(_validate_inputs(found, inputs))
    arrays = [_array(t, kernel.kinds[k], kernel.inputs[k]) for k, t in enumerate(inputs)]
    results = found.callee.run(kernel, arrays)
    return [
        torch.from_numpy(r) if isinstance(r, np.ndarray) else torch.from_numpy(np.array(r)) for r in results
    ]


def _array(tensor: Any, kind: np.dtype[Any], name: str) -> Any:
    """Return a tensor on the CPU as an array that shares its memory, in the dtype that the kernel takes."""
    array = cast_for_kernel(
        tensor.numpy(force=True), kind, name
    )  # `force` detaches, and resolves views that negate
    return array if array.ndim else array[()]


def _fake_outputs(inputs: list[Any], program: str, graph: bool) -> list[Any]:
    """Return tensors of the shapes and dtypes of a call, without values; sizes may be symbols of torch."""
    del graph
    found = program_of(program)
    callee = found.callee
    kernel = found.kernel(_validate_inputs(found, inputs))
    shapes = [tuple(t.shape) for t in inputs]
    if all(type(n) is int for shape in shapes for n in shape):
        outputs = callee.shapes(shapes)[0]
    else:
        batches: list[Any] = []
        own: list[Any] = []
        for e, shape in zip(callee.inputs, shapes, strict=True):
            split = len(shape) - len(e.shape)
            batches.append(shape[:split])
            own.append(shape[split:])
        sizes = lengths_of_names([e.shape for e in callee.inputs], own)
        batch = tuple(torch.broadcast_shapes(*batches))
        outputs = [batch + tuple(evaluate_size(n, sizes) for n in e.shape) for e in callee.outputs]
    device = inputs[0].device if inputs else "cpu"
    kinds = [_DTYPES[kind.name] for kind in kernel.kinds[len(inputs) :]]
    return [torch.empty(s, dtype=k, device=device) for s, k in zip(outputs, kinds, strict=True)]


_DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "int64": torch.int64,
    "bool": torch.bool,
}


# -------------------------------------------------------------------------------------------------------- derivatives

_Calls = Callable[..., Sequence[Any]]


def _pulled(
    key: str, inputs: _Tensors, cotangents: _Tensors, wanted: Sequence[bool], calls: _Calls
) -> list[Any]:
    """Return the cotangents of the wanted inputs; None for an input without a cotangent."""
    program = program_of(key)
    given = [r and c is not None for r, c in zip(program.real, cotangents, strict=True)]
    into = [w and e.dtype == "real" for w, e in zip(wanted, program.callee.inputs, strict=True)]
    found: list[Any] = [None] * len(inputs)
    if not any(given) or not any(into):
        return found
    pulled = program.only(given).vjp(into)
    there = [e.nothing is None for e in pulled.callee.outputs]
    if any(there):
        seeds = [c for c, g in zip(cotangents, given, strict=True) if g]
        made = iter(calls(pulled.only(there).key, *inputs, *seeds))
        places = [k for k, w in enumerate(into) if w]
        for k, t in zip(places, there, strict=True):
            if t:  # sum over the batch axes along which the input was broadcast
                found[k] = next(made).sum_to_size(inputs[k].shape)
    return found


_PLAIN = (torch.Tensor, torch.nn.Parameter)
_modes = getattr(torch._C, "_len_torch_dispatch_stack", None)


def _unobserved() -> bool:
    """Tell whether nothing records the called operators, as make_fx does: then the operator need not be called.

    Skipping the operator halves the time of a small call. If a release of torch does not tell, the operator is called.
    """
    return _modes is not None and _modes() == 0


def call(key: str, *inputs: Any) -> Any:
    """Call a program in the way that `torch.func` and forward mode need, and return a tuple of its outputs."""
    return cast("Any", TorchCall).apply(key, *inputs)


@final
class TorchCall(Function):
    """A call in the form that `torch.func` and forward mode require."""

    @staticmethod
    def forward(key: str, *inputs: Any) -> Any:
        if _unobserved() and all(type(t) in _PLAIN and t.is_cpu for t in inputs):
            return tuple(_computed(list(inputs), key, False))
        return tuple(torch.ops.symgrad.kernel(list(inputs), key, False))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.key = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(o for o in output if not o.is_floating_point()))

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return None, *_pulled(ctx.key, ctx.saved_tensors, cotangents, ctx.needs_input_grad[1:], call)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        tangents = tangents[1:]  # the key does not have one
        program, inputs = program_of(ctx.key), ctx.saved_tensors
        moving = [
            t is not None and e.dtype == "real" for t, e in zip(tangents, program.callee.inputs, strict=True)
        ]
        if not any(moving):
            return (None,) * len(program.real)
        pushed = iter(call(program.jvp(moving).key, *inputs, *(t for t in tangents if t is not None)))
        return tuple(next(pushed) if r else None for r in program.real)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:  # noqa: ARG004  (torch names its arguments)
        key, *inputs = args
        return call(key, *_aligned(program_of(key), in_dims[1:], inputs)), 0


# torch inspects the signature in every call, so it is computed once.
TorchCall.forward.__signature__ = inspect.signature(TorchCall.forward)


def _aligned(program: KeyedProgram, in_dims: Sequence[int | None], inputs: _Tensors) -> list[Any]:
    """Return inputs in which the axis of a vmap is the first batch axis, before further batch axes of other inputs."""
    own = [
        t.dim() - len(e.shape) - (d is not None)
        for e, t, d in zip(program.callee.inputs, inputs, in_dims, strict=True)
    ]
    most = max(own, default=0)
    placed: list[Any] = []
    for t, d, n in zip(inputs, in_dims, own, strict=True):
        if d is not None:
            t = t.movedim(d, 0)
            t = t.reshape(t.shape[0], *(1,) * (most - n), *t.shape[1:])
        placed.append(t)
    return placed


_kernel: Any = torch.library.custom_op(
    "symgrad::kernel",
    _computed,
    mutates_args=(),
    schema="(Tensor[] inputs, str program, bool graph) -> Tensor[]",
)
"""The operator of all programs. In a compiled graph it must check for tangents; elsewhere `TorchCall` handles them."""

_kernel.register_fake(_fake_outputs)


def _setup(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG001  (torch names its arguments)
    ctx.key = inputs[1]
    ctx.save_for_backward(*inputs[0])
    ctx.set_materialize_grads(False)


def _backward(ctx: Any, cotangents: Any) -> Any:
    def calls(key: str, *tensors: Any) -> Any:
        return torch.ops.symgrad.kernel(list(tensors), key, True)

    return _pulled(ctx.key, ctx.saved_tensors, cotangents, ctx.needs_input_grad[0], calls), None, None


_kernel.register_autograd(_backward, setup_context=_setup)


def _vmap(_: Any, in_dims: Any, inputs: Any, program: str, graph: bool = True) -> Any:
    found = torch.ops.symgrad.kernel(_aligned(program_of(program), in_dims[0], inputs), program, graph)
    return found, [0] * len(found)


_kernel.register_vmap(_vmap)
torch.library.define("symgrad::call", "(Tensor[] inputs, str program) -> Tensor[]")


@torch.library.impl("symgrad::call", "CompositeImplicitAutograd")
def _call(inputs: list[Any], program: str) -> Any:
    """Call the operator in a compiled graph, in which a composite operator is traced before differentiation."""
    _no_tangents(program_of(program), inputs)
    return torch.ops.symgrad.kernel(inputs, program, True)


torch.library.register_vmap("symgrad::call", _vmap)
