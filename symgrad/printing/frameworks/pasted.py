"""Write formulas with the operations of JAX, torch, TensorFlow and Keras, to be pasted or committed.

From plain operations, the framework computes derivatives of every order, including stop_gradient; it chooses the slopes
at kinks. With symgrad's gradient, the framework gets the pullback, and differentiates the pullback for the next order.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Mapping, Sequence

from symgrad.autodiff.trace import BackwardTrace
from symgrad.autodiff.vjp import pull_back
from symgrad.compiler.forms.output import Output
from symgrad.compiler.forms.pipeline import arrange
from symgrad.ir.graph import Node, as_node, symbol
from symgrad.ir.listing import Derivative, one_of
from symgrad.ir.notation.free_names import free_name
from symgrad.ir.traverse import all_pointwise, symbols_of, topological
from symgrad.ir.types import Declaration
from symgrad.ops.control import stop_gradient, value_alone, with_slope
from symgrad.ops.scalar.arith import add, mul
from symgrad.ops.scalar.logic import where
from symgrad.pretty.simplify import simplified
from symgrad.printing.frameworks.branches import guard_branches
from symgrad.printing.frameworks.gradients import RESERVED, SPREAD, WRAPPED, Wrapped
from symgrad.printing.frameworks.own_functions import HELPERS
from symgrad.printing.frameworks.table import FRAMEWORK
from symgrad.printing.frameworks.writer import FunctionBody, unspelled
from symgrad.printing.limits import SLOPE_EQUATIONS
from symgrad.printing.python_text import parameters
from symgrad.rewrite.pipeline import canonical, stable
from symgrad.support.errors import UnsupportedError, UsageError

FRAMEWORKS = tuple(FRAMEWORK)
"""The names of the frameworks."""


def framework_source(
    outputs: Node | Sequence[Node],
    framework: str,
    name: str = "f",
    names: Mapping[Node, str] | None = None,
    *,
    inputs: Sequence[Node] | None = None,
    gradient: int = 0,
    forms: Sequence[Node] | None = None,
) -> str:
    """Return a Python function in the operations of a framework, operation by operation as written.

    Args:
        outputs: a node, or several nodes, which the function returns as a tuple.
        framework: one of `FRAMEWORKS`.
        name: the function's name.
        names: names of intermediate values; each is a line of the function.
        inputs: symbols in the order of arguments; None for all symbols that the outputs read, in the order of first
            use.
        gradient: the number of orders of differentiation for which the framework gets symgrad's pullback; 0 for
            plain operations.
        forms: equal forms in which the outputs are computed; None for the outputs themselves.

    Raises:
        UsageError: if there is no such framework, or the name is not an identifier.
        UnsupportedError: if operations have no counterpart in the framework; the message names all of them.
    """
    if framework not in FRAMEWORK:
        raise UsageError(f"the framework {framework!r}", expected=one_of(FRAMEWORKS))
    nodes = [outputs] if isinstance(outputs, Node) else list(outputs)
    if forms is None or unspelled(topological(forms), framework):
        forms = nodes
    symbols = symbols_of([*nodes, *forms]) if inputs is None else list(inputs)
    reached = set(topological([*nodes, *forms]))
    wanted = {n: t for n, t in (names or {}).items() if n.args and n in reached}
    for text in (name, *(s.name for s in symbols), *wanted.values()):
        if not text.isidentifier() or (keyword.iskeyword(text) and text == name):
            raise UsageError(f"{text!r} cannot name a value", expected="a Python identifier")
    for node in nodes if gradient else ():
        if node.dtype != "real":
            raise UnsupportedError(
                f"an output that is {node.dtype} has no gradient", cure="leave it out, or gradient=False"
            )
    writer = _Module(framework, name, symbols, wanted, RESERVED if gradient else ())
    writer.function(name, nodes, forms, symbols, gradient, single=isinstance(outputs, Node))
    parts = [FRAMEWORK[framework].imports + "\n", *writer.helpers.values(), *writer.functions]
    return "\n\n".join(parts)


class _Module:
    """The functions of a module, one after the other.

    Attributes:
        helpers: the texts of helper functions, by name; they come before the others.
        functions: the texts of the other functions.
    """

    def __init__(
        self,
        framework: str,
        name: str,
        symbols: Sequence[Node],
        names: Mapping[Node, str],
        reserved: Collection[str],
    ) -> None:
        self.framework = framework
        self.helpers: dict[str, str] = {}
        self.functions: list[str] = []
        self.taken = {*FRAMEWORK[framework].modules, name, "dtype", "like", *reserved}
        self.arguments = parameters(symbols, self.taken)
        self.names = {n: t for n, t in names.items() if t not in self.taken and not keyword.iskeyword(t)}

    def function(
        self,
        name: str,
        outputs: Sequence[Node],
        forms: Sequence[Node],
        symbols: Sequence[Node],
        gradient: int,
        *,
        single: bool,
        like: Sequence[Node] = (),
    ) -> None:
        """Write a function of symbols, with its gradient up to some order; `forms` are what it computes.

        If shapes are not declared, ``like`` has for each output the symbol that has its shape.
        """
        if gradient <= 0:
            # The framework differentiates what is written.
            kept = {n for n in topological(outputs) if n.op is where}
            guarded = [o if f is o else guard_branches(f, kept) for o, f in zip(outputs, forms, strict=True)]
            self.plain(name, guarded, symbols, single=single, like=like)
        elif self.framework == "keras" and len(outputs) > 1:  # its torch backend passes one cotangent
            parts = [f"_{name.strip('_')}_{k}" for k in range(len(outputs))]
            for k, (part, output) in enumerate(zip(parts, outputs, strict=True)):
                own = forms[k : k + 1]
                self.custom(part, [output], own, symbols, gradient, single=True, like=like[k : k + 1])
            arguments = ", ".join(self.arguments[s] for s in symbols)
            calls = ", ".join(f"{part}({arguments})" for part in parts)
            self.functions.append(f"def {name}({arguments}):\n    return {calls}\n")
        else:
            self.custom(name, outputs, forms, symbols, gradient, single=single, like=like)

    def plain(
        self,
        name: str,
        outputs: Sequence[Node],
        symbols: Sequence[Node],
        *,
        single: bool,
        like: Sequence[Node] = (),
    ) -> list[str]:
        """Write a function in plain operations; return the sizes that it takes in addition to the symbols."""
        missing = unspelled(topological(outputs), self.framework)
        if missing:
            raise UnsupportedError(
                f"no spelling in {self.framework} for {', '.join(missing)}",
                expected=f"operations that {FRAMEWORK[self.framework].title} has",
                cure="the kernel form has them all, on the CPU: sg.to_torch, sg.to_jax, sg.to_tensorflow",
            )
        arguments = {s: self.arguments[s] for s in symbols}
        body = FunctionBody(outputs, self.framework, arguments, self.names, self.helpers, self.taken)
        zeros = f"{FRAMEWORK[self.framework].array}.zeros_like"
        results = [
            f"{zeros}({arguments[like[k]]})" if like and o.is_number(0) else body.result(o)
            for k, o in enumerate(outputs)
        ]
        if self.framework == "torch":  # a torch Function must not return its arguments
            results = [
                f"{r}.clone()" if name.endswith("_value") and r in arguments.values() else r for r in results
            ]
        returned = results[0] if single else ", ".join(results) + ("," if len(results) == 1 else "")
        lines = [*body.setup(), *body.lines, f"return {returned}"]
        signature = ", ".join([*arguments.values(), *body.extra])
        self.functions.append(f"def {name}({signature}):\n" + "".join(f"    {line}\n" for line in lines))
        return body.extra

    def custom(
        self,
        name: str,
        outputs: Sequence[Node],
        forms: Sequence[Node],
        symbols: Sequence[Node],
        gradient: int,
        *,
        single: bool,
        like: Sequence[Node] = (),
    ) -> None:
        """Write a function with its pullback."""
        real = [s for s in symbols if s.dtype == "real"]
        if not real:
            self.plain(name, forms, symbols, single=single, like=like)
            return
        stem = "_" + name.strip("_")
        free = not any(n.shape or not n.op.pointwise for n in (*topological(outputs), *symbols))
        cotangents = self.cotangents(outputs)
        pulled = self.pulled(outputs, real, cotangents)
        value, pullback = f"{stem}_value", f"{stem}_pullback"
        missing = self.plain(value, value_alone(forms), symbols, single=single, like=like)
        if missing:  # a function with a custom gradient takes only arrays
            raise UsageError(
                f"no argument has the size {missing[0]} in its shape",
                expected="inputs that give every size",
                cure=f"list one that has it, such as like : real[{missing[0]}], among the inputs",
            )
        like = real if free else ()
        chosen = self.kernel_forms(outputs, real, cotangents, pulled, gradient - 1)
        self.function(
            pullback, pulled, chosen, [*symbols, *cotangents], gradient - 1, single=len(real) == 1, like=like
        )
        if self.framework == "keras":
            self.helpers.setdefault("_with_pullback", HELPERS["keras"]["_with_pullback"])
        names = [self.arguments[s] for s in symbols]
        spread = free and len(symbols) > 1
        inner = f"{stem}_given" if spread else name
        is_real = [s.dtype == "real" for s in symbols]
        self.functions.append(
            WRAPPED[self.framework](
                Wrapped(inner, value, pullback, names, is_real, 1 if single else len(outputs))
            )
        )
        if spread:
            lines = [*SPREAD[self.framework](names, is_real), f"return {inner}({', '.join(names)})"]
            self.functions.append(
                f"def {name}({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in lines)
            )

    def cotangents(self, outputs: Sequence[Node]) -> list[Node]:
        """Return new symbols with the shapes of outputs."""
        found: list[Node] = []
        for k, output in enumerate(outputs):
            text = self.names.get(output, f"out{k}" if len(outputs) > 1 else "out")
            text = free_name(f"{text}_bar", {*self.taken, *self.names.values()})
            self.taken.add(text)
            found.append(symbol(Declaration(text, shape=output.shape)))
            self.arguments[found[-1]] = text
        return found

    def pulled(
        self, outputs: Sequence[Node], wanted: Sequence[Node], cotangents: Sequence[Node]
    ) -> Sequence[Node]:
        """Return the cotangents of symbols; stop_gradient stays in them, for the next order."""
        found = pull_back(list(outputs), list(cotangents), list(wanted)).gradients
        symmetric = any(s.declaration.symmetric for s in symbols_of(found))
        return found if symmetric or len(topological(found)) > SLOPE_EQUATIONS else canonical(found).nodes

    def kernel_forms(
        self,
        outputs: Sequence[Node],
        wanted: Sequence[Node],
        cotangents: Sequence[Node],
        pulled: Sequence[Node],
        gradient: int,
    ) -> Sequence[Node]:
        """Return the forms in which kernels compute the cotangents of symbols, as far as the framework has them.

        Args:
            outputs: the outputs.
            wanted: the symbols.
            cotangents: the cotangents of the outputs.
            pulled: the cotangents of the symbols.
            gradient: the number of orders for which the framework does not differentiate the result.
        """
        order = topological(pulled)
        # A form that is equal only for symmetric matrices has other derivatives at other matrices.
        symmetric = any(s.declaration.symmetric for s in symbols_of(pulled))
        if len(order) > SLOPE_EQUATIONS or (symmetric and not gradient):
            return pulled
        if not gradient and any(n.op is stop_gradient or n.op is with_slope for n in order):
            found: Sequence[Node] = stable(pulled).nodes
        else:
            found = _pulled_forms(outputs, cotangents, wanted)
        return pulled if unspelled(topological(found), self.framework) else found


def _pulled_forms(
    outputs: Sequence[Node], cotangents: Sequence[Node], wanted: Sequence[Node]
) -> Sequence[Node]:
    """Return the cotangents of symbols in the forms of kernels; of numbers, these are sums of derivatives."""
    if not all_pointwise(topological(outputs)) or any(n.shape for n in (*outputs, *wanted)):
        trace = pull_back(list(outputs), list(cotangents), list(wanted))
        return _arranged(outputs, trace, [None for _ in wanted])
    totals = [as_node(0) for _ in wanted]
    for y, cotangent in zip(outputs, cotangents, strict=True):
        trace = pull_back([y], [as_node(1)], list(wanted))
        slopes = [Derivative(y, (x,)) for x in wanted]
        for k, form in enumerate(_arranged([y], trace, slopes)):
            if not form.is_number(0):
                term = cotangent if form.is_number(1) else mul(cotangent, form)
                totals[k] = term if totals[k].is_number(0) else add(totals[k], term)
    return totals


def _arranged(
    outputs: Sequence[Node], trace: BackwardTrace, slopes: Sequence[Derivative | None]
) -> Sequence[Node]:
    return arrange(
        [
            Output(node, tuple(outputs), (trace,), slope, lambda n: simplified(n).node)
            for node, slope in zip(trace.gradients, slopes, strict=True)
        ]
    ).nodes
