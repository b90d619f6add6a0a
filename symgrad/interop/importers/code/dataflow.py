"""Forward dataflow analysis of a function's source: the values that reach its result.

The flow of a value consists of its sources, which are the arguments that its gradient reaches, and its breaks, which
are the places where it lost sources. Flows are joined where values meet (a join semilattice), so two passes over a loop
reach the fixed point.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from symgrad.interop.importers.code.expression_dataflow import FlowValues
from symgrad.interop.importers.code.flow_facts import NOTHING, UNRECORDED, Flow, union
from symgrad.interop.importers.code.source_scope import (
    Function,
    arguments,
    captured,
    definition,
    is_false,
    scope_of,
)


def return_flow(
    function: Any,
    sources: Collection[str],
    differentiated: bool = True,
    chosen: Sequence[str | int] = (),
) -> Flow:
    """Return the flow into the result of a function; if its source is not known, an empty flow.

    Args:
        function: the function.
        sources: the names of the arguments with respect to which the gradient is taken.
        differentiated: whether its arrays belong to a framework that differentiates, and not to NumPy.
        chosen: positions or keys of the result to follow; the first one that exists counts. By default, the first value
            with a gradient is followed.
    """
    found = definition(function)
    if found is None:
        return NOTHING
    node, file = found
    scope = scope_of(function, file, differentiated)
    names = [a.arg for a in arguments(node) if a.arg != scope.owner]
    env = {name: Flow(frozenset([name])) if name in sources else NOTHING for name in names}
    body = _FlowBody(replace(scope, running=frozenset([id(node)])), env)
    body.function(node)
    joined: dict[Any, Flow] = {}
    for parts in body.returns:
        for key, flow in parts:
            joined[key] = joined.get(key, NOTHING) | flow
    told = next((joined[key] for key in chosen if key in joined), None)
    if told is None and not chosen and None not in joined:
        told = next((flow for flow in joined.values() if flow.sources), None)
    return union(joined.values()) if told is None else told


class _FlowBody(FlowValues):
    """The interpretation of one function, statement by statement."""

    def function(self, node: Function) -> Flow:
        """Interpret a function; return the union of the flows of its results."""
        if isinstance(node, ast.Lambda):
            self.returns.append(self._parts(node.body))
        else:
            switched = [d for d in node.decorator_list if self._switches_off(d)]
            self._unrecorded += [(ast.unparse(d), self.scope.place(d)) for d in switched]
            self._block(node.body)
        return union(flow for parts in self.returns for _, flow in parts)

    # Statements

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for s in statements:
            self._statement(s)

    def _statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Assign(targets, value):
                flow = self._value(value)
                for target in targets:
                    self._bind(target, flow, value)
            case ast.AnnAssign(target, _, value) if value is not None:
                self._bind(target, self._value(value), value)
            case ast.AugAssign(target, _, value):
                self._set(target, self._read(target) | self._value(value))
            case ast.Return(value) if value is not None:
                self.returns.append([(key, self._recorded(flow)) for key, flow in self._parts(value)])
            case ast.Expr(value):
                self._value(value)
            case ast.If(test, body, orelse):
                self._value(test)
                self._branches([body, orelse])
            case ast.For(target, it, body, orelse) | ast.AsyncFor(target, it, body, orelse):
                flow = self._value(it)
                for _ in range(2):
                    before = dict(self.env)
                    self._bind(target, flow, None)
                    self._block(body)
                    self._join(before)
                self._block(orelse)
            case ast.While(test, body, orelse):
                for _ in range(2):
                    before = dict(self.env)
                    self._value(test)
                    self._block(body)
                    self._join(before)
                self._block(orelse)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                self._with(items, body)
            case ast.Try(body, handlers, orelse, final) | ast.TryStar(body, handlers, orelse, final):
                self._block([*body, *orelse])
                self._branches([[], *(h.body for h in handlers)])
                self._block(final)
            case ast.Match(subject, cases):
                flow = self._value(subject)
                for case in cases:
                    for name in captured(case.pattern):
                        self.env[name] = self.env.get(name, NOTHING) | flow
                self._branches([[], *(case.body for case in cases)])
            case ast.Import() | ast.ImportFrom():
                self.scope.imports(s)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.inner[s.name] = s
                self.env.pop(s.name, None)
            case _:
                pass

    def _branches(self, blocks: Sequence[Sequence[ast.stmt]]) -> None:
        before = dict(self.env)
        after: list[dict[str, Flow]] = []
        for block in blocks:
            self.env = dict(before)
            self._block(block)
            after.append(self.env)
        self.env = after[0]
        for env in after[1:]:
            self._join(env)

    def _join(self, other: Mapping[str, Flow]) -> None:
        for name, flow in other.items():
            self.env[name] = self.env.get(name, NOTHING) | flow

    def _with(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> None:
        count = len(self._unrecorded)
        for item in items:
            if self._switches_off(item.context_expr):
                self._unrecorded.append((ast.unparse(item.context_expr), self.scope.place(item.context_expr)))
            flow = self._value(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, flow, None)
        self._block(body)
        del self._unrecorded[count:]

    def _switches_off(self, node: ast.expr) -> bool:
        call = node.func if isinstance(node, ast.Call) else node
        name = call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else ""
        if name in UNRECORDED:
            return not (isinstance(node, ast.Call) and is_false(node.args[:1]))
        return name == "set_grad_enabled" and isinstance(node, ast.Call) and is_false(node.args[:1])
