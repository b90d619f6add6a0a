"""The assembly of a kernel, each line with the equations from which it was made.

For scalar equations LLVM records the equation of each instruction (`symgrad/compiler/llvm/text/debug_locations.py`).
Where loops over arrays compute a program, each loop is a function, and LLVM records the equations of each function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from symgrad.compiler.kernels.kernel import Kernel
from symgrad.compiler.llvm.elementwise.emit import emit
from symgrad.compiler.llvm.engine.jit import emit_assembly
from symgrad.compiler.llvm.engine.target import host
from symgrad.compiler.llvm.text.debug_locations import DebugLocations
from symgrad.compiler.llvm.text.types import float_type
from symgrad.compiler.lowering.arrays.nests import Nest
from symgrad.compiler.lowering.arrays.plan import plan_arrays
from symgrad.ir.graph import Node

_SHOWN = ("ufunc.body", "chunk.", "copies.", "step.", "maths.")
"""How the names of functions begin that compute; all other functions call these with blocks of arrays."""


class AssemblyLine(NamedTuple):
    """A line of assembly.

    Args:
        text: an instruction, or a label.
        function: the function that contains it.
        nodes: the equations from which it was made; empty for instructions that run a loop.
    """

    text: str
    function: str
    nodes: tuple[Node, ...]


def assembly_lines(kernel: Kernel) -> list[AssemblyLine]:
    """Return the instructions of a kernel's equations in the order of the code, each with the equations it comes from.

    Args:
        kernel: the kernel. The optimised code is shown, which uses all features of this processor.

    Example:
        >>> from symgrad.ir.graph import symbol
        >>> from symgrad.ir.types import Declaration
        >>> from symgrad.compiler.kernels.compile import compile_nodes
        >>> x = symbol(Declaration("x"))
        >>> lines = assembly_lines(compile_nodes([x / (x + 1)]))
        >>> {node.op.name for line in lines for node in line.nodes} >= {"div", "add"}
        True
    """
    plan = kernel.plan()
    if plan is None:
        made = _of_steps(kernel)
        return [AssemblyLine(text, f, made.get(f, ())) for text, f, _ in _lines(kernel.asm)]
    places = DebugLocations()
    ir = emit(plan, float_type(kernel.dtype), host().target, places=places).ir
    found: list[AssemblyLine] = []
    for text, function, number in _lines(emit_assembly(ir)):
        node = places.node(number)
        found.append(AssemblyLine(text, function, () if node is None else (node,)))
    return found


def _of_steps(kernel: Kernel) -> Mapping[str, tuple[Node, ...]]:
    """Return for each function of an array program the nodes that it computes."""
    plan = plan_arrays(kernel.outputs, kernel.symbols)
    return {
        f"step.{k}": tuple(dict.fromkeys(m.task.node for m in step.members))
        if isinstance(step, Nest)
        else (step.node,)
        for k, step in enumerate(plan.steps)
    }


def _lines(assembly: str) -> Iterator[tuple[str, str, int]]:
    """Yield the instructions and labels of the functions to show, each with its function and debug location.

    A label begins a line and ends with a colon, and a directive begins with a dot, in the syntax of all of LLVM's
    assemblers.
    """
    function, number = "", 0
    for line in assembly.splitlines():
        words = line.split()
        if not words:
            continue
        if not line[0].isspace():
            if not words[0].endswith(":"):
                continue
            label = words[0].rstrip(":").lstrip("_").strip('"')
            local = label.startswith((".L", "L"))
            if not local:
                function, number = label if label.startswith(_SHOWN) else "", 0
            elif label.startswith((".Lfunc_end", "Lfunc_end")):
                function = ""
            if function and not label.startswith((".Lfunc", "Lfunc", ".Ltmp", "Ltmp")):
                yield words[0], function, 0 if not local else number
        elif words[0] == ".loc":
            number = int(words[2])
        elif function and not words[0].startswith("."):
            yield "    " + " ".join(_columns(words)), function, number


def _columns(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of an instruction, with its name in a column of its own."""
    first, *more = words
    yield f"{first:12}" if more else first
    yield from more
