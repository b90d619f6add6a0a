"""The compiled callable."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from symgrad.errors import (
    ArrayTypeError,
    KernelError,
    ShapeError,
    SymgradError,
)
from symgrad.ir.graph import Node
from symgrad.ir.inputs import check_shapes, in_order, not_complex, whole
from symgrad.ir.traverse import flatten, rebuild
from symgrad.kernel.ufunc import MAX_ARGS, ufunc_from_loop
from symgrad.llvm.code import Code
from symgrad.llvm.jit import emit_assembly

__all__ = ["Kernel"]

_FLOAT64 = np.dtype(np.float64)
_LOOP_TYPE = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class Kernel:
    """Machine code for some outputs, called with arrays; made by ``compile_nodes``.

    Broadcasting, ``out=``, ``where=`` and strides are NumPy's own, because the kernel is a NumPy ufunc
    (``.ufunc``). Calling the Kernel checks the inputs first and says what is wrong in the words of the
    formula.

    Attributes:
        inputs: names of the inputs, in order.
        outputs: the nodes that it computes.
        symbols: the nodes of the inputs.
        kinds: NumPy dtype of every argument, inputs then outputs.
        dtype: NumPy dtype of all numbers.
        name: the kernel's name.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.kernel.compile import compile_nodes
        >>> x = symbol(Declaration("x"))
        >>> square = compile_nodes([x * x, x + 1], name="square")
        >>> square
        <Kernel square(x) -> 2 outputs, float64>
        >>> square(x=[1.0, 2.0])
        (array([1., 4.]), array([2., 3.]))
    """

    __slots__ = (
        "__weakref__",
        "_call",
        "_code",
        "_integers",
        "_rebuild",
        "_scalar",
        "_shaped",
        "_ufunc",
        "dtype",
        "inputs",
        "kinds",
        "name",
        "outputs",
        "symbols",
    )

    def __init__(
        self,
        code: Code,
        outputs: Sequence[Node],
        inputs: Sequence[Node],
        *,
        name: str,
        rebuild: Callable[..., Kernel],
    ) -> None:
        module = code.module
        self.name = name
        self.inputs = tuple(node.name for node in inputs)
        self.outputs = tuple(outputs)
        self.dtype = np.dtype(module.real.numpy)
        self.symbols = tuple(inputs)
        self._scalar = self.dtype.type
        self._shaped = any(node.shape for node in inputs)
        integers = [node if node.dtype == "int" else None for node in inputs]
        self._integers = tuple(integers) if any(integers) else ()
        self.kinds = tuple(np.dtype(np.bool_) if b else self.dtype for b in module.bools)
        self._code = code
        self._rebuild = rebuild
        self._ufunc: np.ufunc | None = None
        self._call: Callable[..., Any] = self._call_plainly
        # NumPy makes no ufunc without inputs, and none with more than MAX_ARGS arguments.
        if inputs and len(self.kinds) <= MAX_ARGS:
            kinds = [kind.name for kind in self.kinds]
            doc = f"{name}({', '.join(self.inputs)})"
            self._ufunc = ufunc_from_loop(
                code.loop, code.plan, kinds, len(inputs), name=name, doc=doc, code=code
            )
            self._call = self._ufunc

    @property
    def ufunc(self) -> np.ufunc:
        """The NumPy ufunc itself; it stays valid when the Kernel is gone.

        Raises:
            KernelError: if the kernel has no input, or more arguments than a ufunc can have.
        """
        if self._ufunc is None:
            raise KernelError(
                f"kernel '{self.name}' has {len(self.inputs)} inputs and {len(self.outputs)} outputs, "
                "and so is not a ufunc",
                expected=f"at least one input, and at most {MAX_ARGS} arguments together (NumPy's limit)",
                cure="call the kernel itself, which takes any number, or compile fewer outputs",
            )
        return self._ufunc

    @property
    def llvm_ir(self) -> str:
        """The LLVM module of the equations, as text."""
        return self._code.module.ir

    @property
    def asm(self) -> str:
        """The machine code of the equations, as assembly for this machine."""
        return emit_assembly(self.llvm_ir)

    def __call__(self, *arrays: Any, out: Any = None, where: Any = True, **by_name: Any) -> Any:
        """Compute the outputs.

        Args:
            arrays: the inputs in order: numbers, arrays, or what NumPy makes an array of. They broadcast.
            out: an array for the only output, or a tuple with an array or None for each; may be an input.
            where: boolean array: compute only there. Elsewhere ``out`` keeps its values, and new arrays have
                NaN (or False).
            by_name: inputs by their names.

        Returns:
            The output, or a tuple of the outputs if there are several. They are always as in NumPy: a
            scalar if all inputs are scalars.

        Raises:
            ArrayTypeError: if an input is not numeric, or would lose precision.
            ComplexInputError: if an input is complex.
            MissingInputError: if an input is missing or there is one too many.
            NumberTooLargeError: if a bare number is too large for the kernel's dtype.
            ShapeError: if shapes do not broadcast or are not the declared ones.
        """
        if by_name or len(arrays) != len(self.inputs):
            arrays = in_order(self.inputs, arrays, by_name)
        for array, kind in zip(arrays, self.kinds, strict=False):
            if type(array) is np.ndarray or type(array) is self._scalar:
                found = array.dtype
            else:
                found = _FLOAT64 if type(array) is float else None
            if found is not kind:
                arrays = tuple([self._admit(k, a) for k, a in enumerate(arrays)])
                break
        for node, array in zip(self._integers, arrays, strict=True) if self._integers else ():
            if node is not None:
                whole(node, array)
        if self._shaped:
            check_shapes(self.symbols, arrays)
        try:
            # Code without branches computes both sides of a `where`, so the floating-point flags that NumPy
            # would report say nothing about the result.
            with np.errstate(all="ignore"):
                if out is None and where is True:
                    return self._call(*arrays)
                if out is None:
                    out = self._fresh_outputs(arrays, where)
                return self._call(*arrays, out=out, where=where)
        except (TypeError, ValueError) as error:
            raise self._explain(error, arrays, out) from error

    # Checks

    def _admit(self, k: int, value: Any) -> Any:
        """Return input k as something the ufunc takes without loss, or raise."""
        name, kind = self.inputs[k], self.kinds[k]
        given = cast("type[Any]", type(value))
        if given is int and abs(value) <= 2**24 and kind.kind == "f":
            return self._scalar(value)  # exact, and so common that it must be quick
        if isinstance(value, Node) or isinstance(getattr(value, "node", None), Node):
            raise ArrayTypeError(
                f"input '{name}' is a formula",
                expected=f"a {kind} array",
                cure="give it a value, or substitute it in the formula and compile that",
            )
        is_array = issubclass(given, np.ndarray)
        if hasattr(given, "__array_ufunc__") and not is_array and not issubclass(given, np.generic):
            return value  # another array type; NumPy hands the call over to it
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise ArrayTypeError(f"input '{name}' is not an array: {error}") from error
        found = array.dtype
        not_complex(name, array)
        if given in (int, float) and kind.kind == "f":
            return self._code.module.real.round(value)  # a bare number takes the kernel's precision
        if found.kind not in "buif":
            raise ArrayTypeError(
                f"input '{name}' is not numeric: its dtype is {found}",
                expected=f"a {kind} array",
                cure=f"convert it: np.asarray({name}, dtype=np.{kind})",
            )
        if not np.can_cast(found, kind, "safe"):
            cure = f"pass {name}.astype(np.{kind})"
            if found == np.float64 and kind == np.float32:
                cure += ', or compile with dtype="float64"'
            raise ArrayTypeError(
                f"input '{name}' is {found}, but the kernel computes in {kind}"
                if kind.kind == "f"
                else f"input '{name}' is {found}, but it is declared bool",
                expected=f"a {kind} array",
                cure=cure,
            )
        return array if array.ndim and not is_array else value

    def _explain(self, error: Exception, arrays: tuple[Any, ...], out: Any) -> SymgradError:
        """Say in the formula's words what NumPy refused."""
        outs = _as_tuple(out)
        named = list(zip(self.inputs, arrays, strict=True))
        named += [("out", array) for array in outs if array is not None]
        text = ", ".join(f"{name} {np.shape(array)}" for name, array in named)
        if isinstance(error, ValueError):
            return ShapeError(
                f"the shapes do not broadcast: {text}",
                expected="shapes that broadcast as in NumPy",
                cure=str(error),
            )
        kinds = ", ".join(str(kind) for kind in self.kinds[len(self.inputs) :])
        return ArrayTypeError(
            f"the kernel cannot be called so: {error}", expected=f"out: {len(self.outputs)} arrays ({kinds})"
        )

    # Calls without a ufunc, and outputs for `where`

    def _fresh_outputs(self, arrays: tuple[Any, ...], where: Any) -> tuple[np.ndarray, ...]:
        shape = np.broadcast_shapes(*map(np.shape, arrays), np.shape(where))
        kinds = self.kinds[len(self.inputs) :]
        return tuple(np.full(shape, np.nan if kind.kind == "f" else False, kind) for kind in kinds)

    def _call_plainly(self, *arrays: Any, out: Any = None, where: Any = True) -> Any:
        """Do what the ufunc would do, with any number of arguments: on contiguous copies, into new arrays."""
        given = [np.asarray(a, dtype=kind) for a, kind in zip(arrays, self.kinds, strict=False)]
        shape = np.broadcast_shapes(*(a.shape for a in given))
        # Arguments of one element are read again and again (step 0); all others are brought to the common
        # shape.
        given = [a if a.size == 1 else np.ascontiguousarray(np.broadcast_to(a, shape)) for a in given]
        results = [np.empty(shape, kind) for kind in self.kinds[len(given) :]]
        everything = given + results
        count = len(everything)
        steps = [0 if a.size == 1 else a.itemsize for a in given] + [a.itemsize for a in results]
        _LOOP_TYPE(self._code.loop)(
            (ctypes.c_void_p * count)(*(a.ctypes.data for a in everything)),
            (ctypes.c_ssize_t * 1)(math.prod(shape)),
            (ctypes.c_ssize_t * count)(*steps),
            self._code.plan,
        )
        outs = (None,) * len(results) if out is None else _as_tuple(out)
        if len(outs) != len(results):
            raise TypeError(f"out has {len(outs)} arrays for {len(results)} outputs")
        for k, target in enumerate(outs):
            if target is not None:
                np.copyto(target, results[k], casting="same_kind", where=where)
                results[k] = target
        values = [r if outs[k] is not None else r[()] for k, r in enumerate(results)]
        return values[0] if len(values) == 1 else tuple(values)

    # A Kernel is immutable: a copy is itself. Machine code does not travel, so a pickle holds the graph.

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        graph = flatten([*self.outputs, *self.symbols])
        return (_load, (self._rebuild, graph, len(self.outputs), self.dtype.name, self.name))

    def __repr__(self) -> str:
        outputs = "1 output" if len(self.outputs) == 1 else f"{len(self.outputs)} outputs"
        return f"<Kernel {self.name}({', '.join(self.inputs)}) -> {outputs}, {self.dtype}>"


def _as_tuple(out: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)


def _load(
    compile_again: Callable[..., Kernel], graph: list[tuple[Any, ...]], count: int, dtype: str, name: str
) -> Kernel:
    nodes = rebuild(graph)
    return compile_again(nodes[:count], nodes[count:], dtype=dtype, name=name)
