"""Programs that are read from torch, and how they are assembled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.expr import Expr, as_expr, handle
from symgrad.interop.importers.program import ImportedProgram, ImportNote, UniqueNames
from symgrad.interop.importers.specs import is_shape, parse_spec
from symgrad.interop.importers.torch.graph import ExportedGraphReader, Stopped
from symgrad.interop.importers.torch.ops.storage import TensorCell
from symgrad.interop.importers.torch.sizes import (
    SizeNames,
    bound_findings,
    dimensions,
    dims_of,
    hints,
    name_dimensions,
)
from symgrad.interop.importers.torch.table import as_items, kind_of
from symgrad.interop.importers.torch.trace import Result, TracedGraph, named_tensors, trace_graph
from symgrad.ir.graph import SYMBOL, Node, symbol
from symgrad.ir.listing import Listing
from symgrad.ir.notation.literals import decimals_in
from symgrad.ir.traverse import symbols_of
from symgrad.support.errors import UnsupportedError, UsageError

torch: Any = import_module("torch")  # the values of this module have any type here


def read_program(
    function: Callable[..., Any], specs: Sequence[Any], named: Mapping[str, Any]
) -> ImportedProgram:
    """Return a function or module as a program: see `sg.from_torch`."""
    if not callable(cast("Any", function)):
        raise UsageError(
            f"a value of type {type(function).__name__}", expected="a function or a module of torch's"
        )
    every = [*specs, *named.values()]
    declarations = [_declared(s) for s in every]
    shapes = [e.shape for e in declarations if e is not None]
    numbers = hints(
        [n for s in shapes for n in s if isinstance(n, str)],
        [n for s in shapes for n in s if isinstance(n, int)],
    )
    examples = [s if e is None else _example(e, numbers) for s, e in zip(every, declarations, strict=True)]
    said = {id(t): e for t, e in zip(examples, declarations, strict=True) if e is not None}
    args, kwargs = examples[: len(specs)], dict(zip(named, examples[len(specs) :], strict=True))
    told = [(t, said[id(t)].shape) for t in examples if id(t) in said]
    found = trace_graph(function, args, kwargs, dimensions(told, dims_of(every)))
    sizes = SizeNames()
    signature = found.program.graph_signature
    taken = UniqueNames()
    arguments = iter(named_tensors(function, args, kwargs))
    inputs: dict[str, Expr] = {}
    cells: list[TensorCell] = []
    parameters: list[str] = []
    values: dict[str, Any] = {}
    twice: dict[Any, str] = {}
    held = {**found.program.state_dict, **found.program.constants}
    metas = {n.name: n.meta.get("val") for n in found.program.graph.nodes if n.op == "placeholder"}
    for spec in signature.input_specs:
        kind, meta = spec.kind.name, metas[spec.arg.name]
        if not isinstance(meta, torch.Tensor):
            cells.append(getattr(spec.arg, "value", meta))
            continue
        if kind == "USER_INPUT":
            label, example = next(arguments)
            name = taken.free(label)
            if id(example) in said:
                declaration = said[id(example)].node.declaration
                inputs[name] = handle(symbol(replace(declaration, name=name)))
                sizes.bind(meta.shape, declaration.shape)
        else:
            value = held[spec.target].detach()
            if type(value) is not torch.Tensor:
                raise UnsupportedError(
                    "a transform of torch.func inside of the function",
                    cure="read what it transforms, and take the derivatives here: sg.grad, sg.jvp, sg.jacobian",
                )
            memory = (
                (value.data_ptr(), value.shape, value.stride(), value.dtype) if value.numel() else spec.target
            )
            if memory in twice:  # a parameter with two names is one input
                cells.append(TensorCell(inputs[twice[memory]]))
                continue
            if kind == "CONSTANT_TENSOR" and value.numel() <= _SMALL:
                cells.append(TensorCell(_spelled(value)))
                continue
            name = taken.free(spec.target.removeprefix("inner."))
            values[name] = value
            twice[memory] = name
            if kind == "PARAMETER":
                parameters.append(name)
        if name not in inputs:
            inputs[name] = array_input(name, tuple(map(int, meta.shape)), kind_of(meta.dtype))
        cells.append(TensorCell(inputs[name]))
    reader = ExportedGraphReader(found.places, found.constant, sizes)
    try:
        outputs: list[Any] = reader.run(found.program.graph_module, cells)
    except Stopped:
        outputs = list[Any]()
    _check_problems(reader)
    return _program(found, reader, inputs, outputs, parameters, values, taken, bound_findings(dims_of(every)))


_SMALL = 64  # entries of a constant in the formula


def _declared(spec: Any) -> Expr | None:
    """Parse a text or a tuple of sizes; return None for any other value, which is passed unchanged."""
    if isinstance(spec, str):
        return parse_spec("x", spec)
    if isinstance(spec, Expr) and spec.node.op is SYMBOL:
        return spec
    sizes = name_dimensions(spec)
    return array_input("x", sizes) if is_shape(sizes) else None


def _example(e: Expr, numbers: Mapping[str, int]) -> Any:
    """Return a tensor with a shape, in which numbers replace the names of sizes."""
    shape = [numbers[n] if isinstance(n, str) else n for n in e.shape]
    return torch.zeros(shape, dtype={"real": None, "int": torch.long, "bool": torch.bool}[e.dtype])


def _spelled(value: Any) -> Any:
    kind = kind_of(value.dtype)
    if kind == "bool":
        return as_expr(value.int().tolist()) != 0
    return as_expr(value.tolist())


def _check_problems(reader: ExportedGraphReader) -> None:
    if not reader.problems:
        return
    lines = [
        f"  {what}" + (f"\n    {place}: {place.text}" if place else "") for what, place in reader.problems
    ]
    cures = dict.fromkeys(e.cure for e in reader.problems.values() if e is not None and e.cure)
    first = next((place for _, place in reader.problems if place is not None), None)
    raise UnsupportedError(
        f"{len(lines)} operation{'s' * (len(lines) != 1)} of torch cannot be read:\n" + "\n".join(lines),
        at=None if first is None or len(lines) > 1 else first.location(),
        cure="; ".join(cures) or "leave this part to torch, and read the functions before and after it",
    )


def _program(
    found: TracedGraph,
    reader: ExportedGraphReader,
    inputs: Mapping[str, Expr],
    outputs: Sequence[Any],
    parameters: Sequence[str],
    values: Mapping[str, Any],
    taken: UniqueNames,
    findings: Sequence[ImportNote],
) -> ImportedProgram:
    assigned: dict[str, Node] = {}
    named: dict[Node, str] = {}
    for result, variable in _in_order(found.names):
        value = reader.values.get(result.call)
        parts = as_items(value)
        value = value if result.part is None or parts is None else parts[result.part]
        if (
            not isinstance(value, Expr)
            or value.node.op is SYMBOL
            or value.node in named
            or not value.node.args
        ):
            continue
        name = taken.free(variable)
        assigned[name] = value.node
        named[value.node] = name
    returned: list[tuple[str, str]] = []
    keys = _keys(found.program, len(outputs))
    specs = list(found.program.graph_signature.output_specs)
    for k, (cell, spec) in enumerate(zip(outputs, specs, strict=True)):
        if spec.kind.name != "USER_OUTPUT":
            continue
        e = cell.read() if isinstance(cell, TensorCell) else cell
        if e is None:
            continue
        node = as_expr(e).node
        key = keys[k]
        name = named.get(node)
        if node.op is SYMBOL and node.name in inputs:
            name = node.name
        if name is None:
            name = taken.free(key)
            assigned[name] = node
            named[node] = name
        # A value that is not in a dictionary has the name of its variable.
        returned.append((name if re.fullmatch(r"out\d*", key) else key, name))
    read = set(symbols_of(list(assigned.values())))
    # Return buffers on which no value depends, such as a count of batches or statistics that training does not use.
    symbols = {
        name: e.node
        for name, e in inputs.items()
        if e.node in read or name not in values or name in parameters
    }
    values = {name: v for name, v in values.items() if name in symbols}
    decimals = decimals_in(assigned.values())
    listing = Listing(symbols, assigned, places=reader.places, decimals=decimals, framework="torch")
    return ImportedProgram(listing, returned, parameters, values, [*findings, *found.findings])


def _in_order(names: Mapping[Result, str]) -> list[tuple[Result, str]]:
    return sorted(names.items(), key=lambda item: (item[0].call, item[0].part or 0))


def _keys(program: Any, count: int) -> list[str]:
    """Return the names of the function's results: their keys, or out, out0, out1, ..."""
    spec = program.call_spec.out_spec
    names: list[str] = []

    def walk(s: Any, path: str) -> None:
        if s.is_leaf():
            names.append(path.strip("_") or "out")
            return
        children = s.children() if callable(getattr(s, "children", None)) else s.children_specs
        keys = s.context if s.type is dict else range(len(children))
        for key, child in zip(keys, children, strict=True):
            walk(child, f"{path}_{key}" if isinstance(key, str) else f"{path or 'out'}{key}")

    walk(spec, "")
    return names if len(names) == count else [f"out{k}" for k in range(count)]
