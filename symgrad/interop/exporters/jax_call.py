"""The JAX primitive that calls a program, with its rules and its lowering; it is imported on demand.

The jvp rule calls the program for tangents, which is linear in the tangents; the transpose rule calls the program for
cotangents. So jvp, grad, vmap, jit and their compositions work at every order, and calls are pure. On the CPU, XLA
calls the kernel with its own buffers.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, cast, final

import jax as _jax
import jax.extend.core as _core
import jax.numpy as _jnp
import numpy as np
from jax.interpreters import ad as _ad
from jax.interpreters import batching as _batching
from jax.interpreters import mlir as _mlir

from symgrad.api.functions.symbols import symbols
from symgrad.api.handles.expr import Expr
from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.kernels.xla import layout_fits, needs_python, xla_handler
from symgrad.interop.exporters.callee import Callee, repeated_axes
from symgrad.support.errors import ArrayTypeError, ComplexInputError, SymgradError, UnsupportedError

# JAX has partial type information: its values are untyped here.
jax, jnp, core = cast(Any, _jax), cast(Any, _jnp), cast(Any, _core)
ad, batching, mlir = cast(Any, _ad), cast(Any, _batching), cast(Any, _mlir)


def call_program(program: TangentProgram, arrays: Sequence[Any]) -> list[Any]:
    """Compute the outputs of a program, by JAX.

    Args:
        program: the program.
        arrays: the inputs, in order.
    """
    given, dtype = validate_arrays(program.called.inputs, arrays)
    return _call.bind(*given, program=program, dtype=dtype)


# Arguments


def validate_arrays(symbols: Sequence[Expr], given: Sequence[Any]) -> tuple[list[Any], str]:
    """Return the arrays in the dtypes of a call, and the dtype of its real numbers."""
    arrays = [_array(e, value) for e, value in zip(symbols, given, strict=True)]
    reals = [a for e, a in zip(symbols, arrays, strict=True) if e.dtype == "real"]
    dtype = np.dtype(jnp.result_type(*reals) if reals else jnp.result_type(float))
    if dtype.kind != "f" and dtype.name != "bfloat16":
        dtype = np.dtype(jnp.result_type(float))
    if dtype.name not in ("float32", "float64"):
        named = next((e for e, a in zip(symbols, arrays, strict=True) if _dtype(a) == dtype), symbols[0])
        raise ArrayTypeError(
            f"input '{named}' is {dtype.name}",
            expected="float32 or float64",
            cure=f"pass {named}.astype(jnp.float32)",
        )
    return [
        jax.lax.convert_element_type(a, dtype) if e.dtype == "real" else jnp.asarray(a)
        for e, a in zip(symbols, arrays, strict=True)
    ], dtype.name


def _dtype(array: Any) -> Any:
    return getattr(array, "dtype", None)


def _array(e: Expr, value: Any) -> Any:
    """Check an argument; Python numbers stay unchanged, because they take the dtype of the other arguments."""
    if isinstance(value, Expr):
        raise ArrayTypeError(f"input '{e}' is a formula", expected="an array")
    if not isinstance(value, bool | int | float):
        try:
            value = value if isinstance(value, jax.Array | np.ndarray | np.generic) else jnp.asarray(value)
        except (TypeError, ValueError) as error:
            raise ArrayTypeError(f"input '{e}' is not an array: {error}") from error
    found = jnp.result_type(value)
    kind = "f" if found.name == "bfloat16" else found.kind
    if kind == "c":
        raise ComplexInputError(f"input '{e}' is complex: {found.name}", expected="real numbers")
    if kind not in {"real": "fiub", "int": "iub", "bool": "b"}[e.dtype]:
        raise ArrayTypeError(f"input '{e}' is {found.name}", expected=f"an array of dtype {e.dtype}")
    return value


# The primitive


@final
class TangentProgram:
    """The parameter of the primitive: a Callee with its derivatives.

    A tangent program holds a reference to its primal.
    """

    __slots__ = ("_derived", "called", "kinds", "label", "pushed")

    def __init__(
        self,
        called: Callee,
        label: str,
        pushed: tuple[TangentProgram, tuple[bool, ...]] | None = None,
        *,
        derived: bool = False,
    ) -> None:
        self.called = called
        # A derivative is real, even if its formula is an integer.
        self.kinds = ["real" if derived else e.dtype for e in called.outputs]
        self.label = label
        self.pushed = pushed
        self._derived: dict[tuple[str, tuple[bool, ...]], TangentProgram] = {}

    def _once(self, kind: str, which: tuple[bool, ...], make: Callable[[], TangentProgram]) -> TangentProgram:
        found = self._derived.get((kind, which))
        if found is None:
            found = self._derived[kind, which] = make()
        return found

    def tangents(self, moving: tuple[bool, ...]) -> TangentProgram:
        """Return the program for the tangents of the real outputs."""
        label, primal = f"jvp of {self.label}", (self, moving)
        return self._once(
            "jvp", moving, lambda: TangentProgram(self.called.jvp(moving), label, primal, derived=True)
        )

    def cotangents(self, wanted: tuple[bool, ...], given: tuple[bool, ...]) -> TangentProgram:
        """Return the program for the cotangents of the ``wanted`` inputs; some real outputs have a cotangent."""
        part = self if all(given) else self._once("part", given, lambda: self._part(given))
        label = f"vjp of {self.label}"
        return part._once("vjp", wanted, lambda: TangentProgram(part.called.vjp(wanted), label, derived=True))

    def _part(self, given: tuple[bool, ...]) -> TangentProgram:
        outputs = [e for e, g in zip(self.reals, given, strict=True) if g]
        return TangentProgram(Callee(outputs, self.called.inputs), self.label)

    @property
    def reals(self) -> list[Expr]:
        """The real outputs, which have tangents."""
        return [e for e in self.called.outputs if e.dtype == "real"]

    def __repr__(self) -> str:
        return self.label


_call: Any = core.Primitive("symgrad")
_call.multiple_results = True


def _impl(*arrays: Any, program: TangentProgram, dtype: str) -> Any:
    with jax.disable_jit(disable=False):  # kernels are compiled even if jit is disabled
        return _compiled(program, dtype)(*arrays)


@cache
def _compiled(program: TangentProgram, dtype: str) -> Any:
    return jax.jit(partial(_call.bind, program=program, dtype=dtype))


def _abstract(*arrays: Any, program: TangentProgram, dtype: str) -> Any:
    for e, a in zip(program.called.inputs, arrays, strict=True):
        if not all(isinstance(n, int) for n in a.shape):
            raise UnsupportedError(
                f"input '{e}' has the shape {a.shape}, whose sizes JAX does not know yet",
                expected="sizes in numbers",
                cure="form='source'",
            )
    shapes, *_ = program.called.shapes([a.shape for a in arrays])
    return [
        jax.core.ShapedArray(shape, _result_dtype(kind, dtype))
        for shape, kind in zip(shapes, program.kinds, strict=True)
    ]


def _result_dtype(kind: str, dtype: str) -> Any:
    if kind == "real":
        return np.dtype(dtype)
    return np.dtype(bool) if kind == "bool" else jax.dtypes.canonicalize_dtype(np.int64)


def _jvp(primals: Any, tangents: Any, *, program: TangentProgram, dtype: str) -> Any:
    outputs = _call.bind(*primals, program=program, dtype=dtype)
    moving = tuple(
        type(t) is not ad.Zero and e.dtype == "real"
        for t, e in zip(tangents, program.called.inputs, strict=True)
    )
    moved = iter(())
    if any(moving) and program.reals:
        dots = [t for t, m in zip(tangents, moving, strict=True) if m]
        moved = iter(_call.bind(*primals, *dots, program=program.tangents(moving), dtype=dtype))
    return outputs, [
        next(moved, None) if e.dtype == "real" and any(moving) else _still(y)
        for e, y in zip(program.called.outputs, outputs, strict=True)
    ]


def _still(y: Any) -> Any:
    return ad.Zero(jax.core.ShapedArray(y.shape, core.primal_dtype_to_tangent_dtype(y.dtype)))


def _transpose(cotangents: Any, *arguments: Any, program: TangentProgram, dtype: str) -> Any:
    """Pull cotangents back through a program for tangents, which is linear in the tangents."""
    linear = [ad.is_undefined_primal(a) for a in arguments]
    if program.pushed is None:
        raise UnsupportedError(f"{program} is not linear: it has no transpose")
    origin, moving = program.pushed
    count = len(moving)
    if any(linear[:count]):
        raise UnsupportedError(f"{program} is linear in its tangents alone")
    dots = [k for k, m in enumerate(moving) if m]
    wanted = [False] * count
    for k, is_linear in zip(dots, linear[count:], strict=True):
        wanted[k] = is_linear
    found: list[Any] = [None] * len(arguments)
    given = tuple(type(c) is not ad.Zero for c in cotangents)
    if not any(given):
        return [ad.Zero(a.aval) if u else None for a, u in zip(arguments, linear, strict=True)]
    pulled = _call.bind(
        *arguments[:count],
        *[c for c, g in zip(cotangents, given, strict=True) if g],
        program=origin.cotangents(tuple(wanted), given),
        dtype=dtype,
    )
    results = iter(pulled)
    for place, k in enumerate(dots, count):
        if wanted[k]:
            found[place] = _summed(next(results), arguments[place].aval.shape, origin.called.inputs[k])
    return found


def _summed(cotangent: Any, shape: tuple[int, ...], e: Expr) -> Any:
    """Sum the cotangent of a batch over the axes along which an input was broadcast."""
    rank = len(e.shape)
    lead = cotangent.ndim - rank
    axes = repeated_axes(cotangent.shape[:lead], shape[: len(shape) - rank])
    return jnp.reshape(jnp.sum(cotangent, axes), shape) if axes else cotangent


def _batched(arguments: Any, axes: Any, *, program: TangentProgram, dtype: str) -> Any:
    """Move the new axis to the front of every batch; an argument without this axis broadcasts."""
    inputs = program.called.inputs
    owns = [
        np.ndim(a) - len(e.shape) - (axis is not None)
        for a, axis, e in zip(arguments, axes, inputs, strict=True)
    ]
    depth = max(owns)
    given: list[Any] = []
    for a, axis, own in zip(arguments, axes, owns, strict=True):
        if axis is not None:
            a = jnp.moveaxis(a, axis, 0)
            a = jnp.reshape(a, (a.shape[0], *[1] * (depth - own), *a.shape[1:]))
        given.append(a)
    found = _call.bind(*given, program=program, dtype=dtype)
    return found, [0] * len(found)


# On the CPU, and elsewhere


def _natively(*arrays: Any, program: TangentProgram, dtype: str) -> Any:
    kernel = program.called.kernel(dtype)
    shapes, *_ = program.called.shapes([a.shape for a in arrays])
    why = needs_python(kernel) or _native_failure()
    if why is None:
        return _by_xla(kernel, arrays, shapes, program, dtype)
    warnings.warn(f"'{program}' is called through Python: {why}", stacklevel=2)
    return _by_python(kernel, arrays, shapes, program, dtype)


def _by_xla(
    kernel: Kernel,
    arrays: Sequence[Any],
    shapes: Sequence[tuple[int, ...]],
    program: TangentProgram,
    dtype: str,
) -> list[Any]:
    handler = xla_handler(kernel, [a.shape for a in arrays])
    _register(handler.name, handler.address)
    nin = len(arrays)
    with jax.enable_x64(True):  # positions are int64 in kernels, but may be int32 in JAX
        given = [jax.lax.convert_element_type(a, kind) for a, kind in zip(arrays, kernel.kinds, strict=False)]
        results = [
            jax.ShapeDtypeStruct(shape, kind) for shape, kind in zip(shapes, kernel.kinds[nin:], strict=True)
        ]
        found = jax.ffi.ffi_call(handler.name, results)(*given)
        return [
            jax.lax.convert_element_type(y, _result_dtype(kind, dtype))
            for y, kind in zip(found, program.kinds, strict=True)
        ]


@cache
def _register(name: str, address: int) -> None:
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(ctypes.c_void_p(address)), platform="cpu")


def _by_python(
    kernel: Kernel,
    arrays: Sequence[Any],
    shapes: Sequence[tuple[int, ...]],
    program: TangentProgram,
    dtype: str,
) -> Any:
    results = [
        jax.ShapeDtypeStruct(shape, _result_dtype(kind, dtype))
        for shape, kind in zip(shapes, program.kinds, strict=True)
    ]

    def compute(*given: Any) -> list[np.ndarray]:
        plain = [np.asarray(a) for a in given]
        plain = [
            a if a.dtype == kind else a.astype(kind) for a, kind in zip(plain, kernel.kinds, strict=False)
        ]
        found = program.called.run(kernel, plain)
        return [np.asarray(y, r.dtype) for y, r in zip(found, results, strict=True)]

    return jax.pure_callback(compute, results, *arrays)


@cache
def _native_failure() -> str | None:
    """Test once whether native calls work; return the reason why XLA cannot make them, or None if it can."""
    x, u = symbols("x u")
    program = TangentProgram(Callee([x * u, x + u], [x, u]), "probe")
    kernel = program.called.kernel("float32")
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(3, 6, dtype=np.float32)

    def probe(a: Any, b: Any) -> Any:
        return _by_xla(kernel, [a, b], [(2, 3), (2, 3)], program, "float32")

    version = f"jax {jax.__version__}"
    try:
        with jax.ensure_compile_time_eval(), jax.default_device(jax.devices("cpu")[0]):
            handler = xla_handler(kernel, [(2, 3), (3,)])
            _register(handler.name, handler.address)
            if not layout_fits():
                return f"{version} describes its calls otherwise than symgrad knows"
            found = jax.jit(probe)(a, b)
    except SymgradError:
        raise
    except Exception as error:  # noqa: BLE001 JAX may raise anything for an invalid handler
        return f"{version} does not take native code of symgrad's: {error}"
    good = np.array_equal(found[0], a * b) and np.array_equal(found[1], a + b)
    return None if good else f"{version} lays out a call otherwise than symgrad knows"


def _elsewhere(ctx: Any, *_: Any, program: TangentProgram, **__: Any) -> Any:
    platforms = ctx.platforms or ctx.module_context.platforms
    raise UnsupportedError(
        f"'{program}' on the platform {' and '.join(platforms)}",
        expected="the CPU, which kernels are compiled for",
        cure="form='source' runs on any device",
    )


_call.def_impl(_impl)
_call.def_abstract_eval(_abstract)
ad.primitive_jvps[_call] = _jvp
ad.primitive_transposes[_call] = _transpose
batching.primitive_batchers[_call] = _batched
mlir.register_lowering(_call, mlir.lower_fun(_natively, multiple_results=True), platform="cpu")
mlir.register_lowering(_call, _elsewhere)
