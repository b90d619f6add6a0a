"""A program as a function of tensors; also as a module in which some inputs are parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, final

import numpy as np
import torch

from symgrad.api.handles.expr import Expr
from symgrad.interop.exporters.batching import SourceShapes
from symgrad.interop.exporters.callee import callee
from symgrad.interop.exporters.program_source import execute_source, source_of
from symgrad.interop.exporters.torch_call import call
from symgrad.interop.exporters.torch_registry import register_program
from symgrad.ir.listing import one_of
from symgrad.ir.values.inputs import in_order
from symgrad.support.errors import ArrayTypeError, MissingInputError, UsageError

CallForm = Literal["kernel", "source"]


@final
class TorchFunction:
    """Outputs as a function of tensors; `sg.to_torch` creates it.

    The object is immutable, and a copy of it is the object itself. A pickle contains the formulas; the loaded function
    returns the same bits.

    Attributes:
        inputs: the names of the inputs, in order.
        form: ``kernel`` or ``source``.
        source: the source code in the form ``source``; otherwise None.
    """

    def __init__(self, outputs: Sequence[Expr], inputs: Sequence[Expr], single: bool, form: CallForm) -> None:
        self._outputs, self._symbols, self._single = tuple(outputs), tuple(inputs), single
        self.form: CallForm = form
        self.inputs = tuple(str(e.node.name) for e in inputs)
        self._real = tuple(e.dtype == "real" for e in inputs)
        self.source: str | None = None
        self._function: Callable[..., Any] | None = None
        self._key = ""
        self._shapes = SourceShapes([e.node for e in outputs], [e.node for e in inputs], "torch.func.vmap")
        program = callee(list(outputs), list(inputs))
        if form == "kernel":
            self._key = register_program(program).key
        else:
            self.source = source_of(program, "torch", "f", single=single)
            self._function = execute_source(self.source, "f", self.inputs)

    def __call__(self, /, *tensors: Any, **by_name: Any) -> Any:
        """Compute the outputs.

        Args:
            tensors: the inputs in order. They have the declared shapes; in the form ``kernel``, batch axes may precede
                these shapes, and broadcast. A formula of scalars takes tensors of any shapes that broadcast. Numbers
                take the dtype of the tensors.
            by_name: inputs by their names.

        Returns:
            A new tensor with the whole batch; if a list was exported, a tuple of such tensors.

        Raises:
            ArrayTypeError: if a dtype is not float32 or float64 (int or bool where declared), or there are two float
                dtypes.
            MissingInputError: if an input is missing, or there is one too many.
            ShapeError: if shapes do not broadcast, or are not the declared ones.
            UnsupportedError: for tensors that are not on the CPU, and in forward mode under torch.compile.
        """
        if by_name or len(tensors) != len(self.inputs):
            tensors = tuple(in_order(self.inputs, tensors, by_name))
        given: list[Any] = list(tensors)
        if not all(isinstance(t, torch.Tensor) for t in given):
            given = self._as_tensors(given)
        if self._function is not None:
            self._shapes.check([tuple(t.shape) for t in given])
            return self._function(*given)
        if torch.compiler.is_compiling():  # a graph needs a registered operator
            found = tuple(torch.ops.symgrad.call(given, self._key))
        else:
            found = call(self._key, *given)
        return found[0] if self._single else found

    def _as_tensors(self, given: list[Any]) -> list[Any]:
        """Convert numbers and arrays to tensors; real numbers take the dtype of the tensors."""
        kinds = [t.dtype for t, r in zip(given, self._real, strict=True) if r and isinstance(t, torch.Tensor)]
        kind = kinds[0] if kinds else torch.get_default_dtype()
        return [
            torch.tensor(t, dtype=kind) if r and isinstance(t, int | float) else _tensor(name, t)
            for name, t, r in zip(self.inputs, given, self._real, strict=True)
        ]

    def module(self, **values: Any) -> TorchModule:
        """Return a module in which some inputs are parameters; inputs that are not real are buffers.

        Args:
            values: tensors by the names of inputs. The other inputs are the arguments of the module, in order.

        Raises:
            MissingInputError: if a name is not an input.
        """
        return TorchModule(self, values)

    def __copy__(self) -> TorchFunction:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> TorchFunction:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return (TorchFunction, (self._outputs, self._symbols, self._single, self.form))

    def __repr__(self) -> str:
        count = "1 output" if self._single else f"{len(self._outputs)} outputs"
        return f"<TorchFunction ({', '.join(self.inputs)}) -> {count}, {self.form}>"


@final
class TorchModule(torch.nn.Module):
    """A module in which some inputs of a function are parameters and buffers; `TorchFunction.module` creates it.

    Args:
        function: the function.
        values: the parameters and buffers, by the names of inputs.
    """

    def __init__(self, function: TorchFunction, values: dict[str, Any]) -> None:
        super().__init__()
        self.function = function
        for name, value in values.items():
            if name not in function.inputs:
                raise MissingInputError(f"'{name}' is not an input", expected=one_of(function.inputs))
            if hasattr(self, name):
                raise UsageError(
                    f"a torch module has a '{name}' of its own", cure="give the input another name"
                )
            tensor = torch.as_tensor(value).detach().clone()
            if tensor.is_floating_point():
                self.register_parameter(name, torch.nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)
        self._held = tuple(values)

    def forward(self, *tensors: Any, **by_name: Any) -> Any:
        """Compute the outputs from the parameters and the other inputs, in order or by name.

        Raises:
            MissingInputError: if an input is missing, or there is one too many.
        """
        others = [name for name in self.function.inputs if name not in self._held]
        given = dict(zip(others, in_order(others, tensors, by_name), strict=True))
        given |= {name: getattr(self, name) for name in self._held}
        return self.function(*[given[name] for name in self.function.inputs])


def _tensor(name: str, value: Any) -> Any:
    """Convert an array of another library, or a list, to a tensor."""
    try:
        if isinstance(value, np.ndarray):
            array = cast("np.ndarray[Any, Any]", value)
            value = array if array.flags.writeable else array.copy()  # torch warns about read-only arrays
        return torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArrayTypeError(
            f"input '{name}' cannot be read as a tensor: {error}", expected="a tensor, an array or a number"
        ) from None
