"""Dataflow of one function: the arguments on which each expression in its source depends."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from symgrad.interop.importers.code.flow_facts import (
    ABOUT,
    ARRAYS,
    CHANGES,
    IGNORED,
    METADATA,
    NOTHING,
    NUMBERS,
    STOPPED,
    TELL,
    Break,
    Flow,
    Kind,
    union,
)
from symgrad.interop.importers.code.source_scope import (
    UNKNOWN,
    CodeScope,
    Function,
    arguments,
    bracketed,
    definition,
    dotted,
    is_false,
    is_trainable,
    scope_of,
)
from symgrad.support.source import Place

_DEPTH = 20  # depth of nested calls


class FlowValues:
    """An abstract interpreter of one function: it computes the flow of its names and expressions."""

    def __init__(
        self, scope: CodeScope, env: dict[str, Flow], inner: Mapping[str, Function] | None = None
    ) -> None:
        self.scope, self.env = scope, env
        self.inner: dict[str, Function] = dict(inner or {})
        self.returns: list[list[tuple[Any, Flow]]] = []
        self._unrecorded: list[tuple[str, Place]] = []

    def function(self, node: Function) -> Flow:
        """Interpret a function; return the flow into its returned values."""
        raise NotImplementedError

    @property
    def _inside_names(self) -> set[str]:
        return {*self.env, *self.inner}

    def _object(self, node: ast.expr) -> Any:
        return self.scope.object(node, self._inside_names)

    def _recorded(self, flow: Flow) -> Flow:
        """Break the flow of a value inside a block that records no gradients."""
        if not self._unrecorded or not flow.sources:
            return flow
        text, place = self._unrecorded[-1]
        return self._broken("no_grad", flow, place, f"what is under {text}")

    def _bind(self, target: ast.expr, flow: Flow, value: ast.expr | None) -> None:
        """Bind names to a value; if both are displays, entry by entry."""
        if isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            if len(parts) == len(target.elts) and not any(
                isinstance(t, ast.Starred) for t in (*parts, *target.elts)
            ):
                for t, flow_of, v in zip(target.elts, [self._value(p) for p in parts], parts, strict=True):
                    self._bind(t, flow_of, v)
                return
            for t in target.elts:
                self._bind(t, flow, None)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, flow, None)
        elif isinstance(target, ast.Attribute) and target.attr == "requires_grad":
            if isinstance(value, ast.Constant) and value.value is False:
                self._cut_in_place(target.value, target)
        else:
            self._set(target, flow)

    def _set(self, target: ast.expr, flow: Flow) -> None:
        flow = self._recorded(flow)
        name = dotted(target)
        if name is not None:
            self.env[name] = flow
            self.inner.pop(name, None)
        elif isinstance(target, ast.Subscript):
            self._mix(target.value, flow)

    def _mix(self, container: ast.expr, flow: Flow) -> None:
        """Add a value to the flow of a container."""
        name = dotted(container)
        if name is not None:
            self.env[name] = self._read(container) | self._recorded(flow)

    def _cut_in_place(self, base: ast.expr, at: ast.expr) -> Flow:
        flow = self._value(base)
        name = dotted(base)
        if flow.sources:
            flow = self._broken("in_place", flow, self.scope.place(at), ast.unparse(at))
        if name is not None:
            self.env[name] = flow
        return flow

    # Values

    def _parts(self, node: ast.expr) -> list[tuple[Any, Flow]]:
        """Return the flows of the returned value: one for each position or key of a tuple, list or dict display."""
        if isinstance(node, ast.Tuple | ast.List) and node.elts:
            return [(k, self._value(e)) for k, e in enumerate(node.elts)]
        if isinstance(node, ast.Dict) and node.keys and all(isinstance(k, ast.Constant) for k in node.keys):
            keys = [cast("ast.Constant", k).value for k in node.keys]
            return [(k, self._value(v)) for k, v in zip(keys, node.values, strict=True)]
        return [(None, self._value(node))]

    def _value(self, node: ast.expr) -> Flow:
        match node:
            case ast.Name():
                return self._read(node)
            case ast.Attribute(value, attr):
                return self._attribute(node, value, attr)
            case ast.Subscript(value, index):
                self._value(index)
                return self._value(value)
            case ast.Call():
                return self._call(node)
            case ast.Compare() | ast.JoinedStr() | ast.UnaryOp(ast.Not(), _):
                self._inside(node)
                return NOTHING
            case ast.IfExp(test, body, orelse):
                self._value(test)
                return self._value(body) | self._value(orelse)
            case ast.NamedExpr(target, value):
                flow = self._value(value)
                self._set(target, flow)
                return flow
            case ast.Lambda():
                return self._run(node, None)
            case (
                ast.ListComp(element, loops) | ast.SetComp(element, loops) | ast.GeneratorExp(element, loops)
            ):
                return self._comprehension([element], loops)
            case ast.DictComp(key, element, loops):
                return self._comprehension([key, element], loops)
            case _:
                return self._inside(node)

    def _inside(self, node: ast.AST) -> Flow:
        return union([self._value(e) for e in ast.iter_child_nodes(node) if isinstance(e, ast.expr)])

    def _comprehension(self, elements: Sequence[ast.expr], loops: Sequence[ast.comprehension]) -> Flow:
        for loop in loops:
            self._bind(loop.target, self._value(loop.iter), None)
            for test in loop.ifs:
                self._value(test)
        return union([self._value(e) for e in elements])

    def _read(self, node: ast.expr) -> Flow:
        name = dotted(node)
        if name is None:
            return self._value(node)
        if name in self.env:
            return self.env[name]
        if name in self.inner:  # a function that is used as a value: assume that it is called
            return self._run(self.inner[name], None)
        found = self._object(node)
        if found is not UNKNOWN:
            if is_trainable(found):
                return Flow(frozenset([name]))
            return (self._run_object(found, None) or NOTHING) if inspect.isfunction(found) else NOTHING
        return self._value(node.value) if isinstance(node, ast.Attribute) else NOTHING

    def _attribute(self, node: ast.Attribute, value: ast.expr, attr: str) -> Flow:
        name = dotted(node)
        if attr in ABOUT:
            return NOTHING
        if attr == "data":
            flow = self._value(value)
            return self._lost("data", flow, node, ast.unparse(value)) if flow.sources else flow
        if name is not None and (name in self.env or self._object(node) is not UNKNOWN):
            return self._read(node)
        return self._value(value)

    def _call(self, node: ast.Call) -> Flow:
        func = node.func
        given = [self._value(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        # The key of a sort does not flow into its result.
        named = {k.arg: self._value(k.value) for k in node.keywords if k.arg != "key"}
        every = union([*given, *named.values()])
        base, name = (func.value, func.attr) if isinstance(func, ast.Attribute) else (None, "")
        found = self._object(func)
        if isinstance(func, ast.Name) and func.id not in self.env and found is UNKNOWN:
            name = func.id
        root, called = self.scope.library(func, self._inside_names)
        if name in STOPPED or called in STOPPED or (root == "builtins" and called in IGNORED):
            return NOTHING
        if root == "builtins" and called in ("float", "int", "complex") and every.sources:
            argument = node.args[0] if len(node.args) == 1 and called == "float" else None
            return self._lost("number", every, node, None if argument is None else bracketed(argument))
        if root == "math" and every.sources:
            return self._lost("number", every, node, None)
        if root == "numpy" and self.scope.differentiated and called not in TELL and every.sources:
            copies = called in ("asarray", "array") and len(node.args) == 1 and not node.keywords
            return self._lost("array", every, node, bracketed(node.args[0]) if copies else None)
        if (
            root == "torch"
            and called in ("tensor", "from_numpy", "FloatTensor", "DoubleTensor")
            and every.sources
        ):
            one = len(node.args) == 1 and not isinstance(node.args[0], ast.List | ast.Tuple | ast.ListComp)
            return self._lost("copy", every, node, bracketed(node.args[0]) if one else None)
        if called in ("convert_to_numpy", "device_get") and every.sources:
            return self._lost("array", every, node, bracketed(node.args[0]) if node.args else None)
        if base is not None:
            special = self._method(node, base, name, every)
            if special is not None:
                return special
        applied = self._applied(node, func, found, given, named)
        return applied if base is None or found is not UNKNOWN else applied | self._value(base)

    def _method(self, node: ast.Call, base: ast.expr, name: str, given: Flow) -> Flow | None:
        """Return the flow of a method of an array or a container; None for other methods."""
        if name in METADATA:
            return NOTHING
        if name in NUMBERS or name in ARRAYS:
            flow = self._value(base)
            if not flow.sources:
                return flow
            replacement = ast.unparse(base) if name in ("item", "numpy") and not node.args else None
            return self._lost("number" if name in NUMBERS else "array", flow, node, replacement)
        if name == "detach_" or (
            name == "requires_grad_" and is_false([*node.args, *(k.value for k in node.keywords)])
        ):
            return self._cut_in_place(base, node)
        if name in CHANGES:
            self._mix(base, given)
            return self._value(base)
        return None

    def _applied(
        self,
        node: ast.Call,
        func: ast.expr,
        found: Any,
        given: Sequence[Flow],
        named: Mapping[str | None, Flow],
    ) -> Flow:
        """Return the flow of a call without a special rule: from the function's source, or else from all arguments."""
        every = union([*given, *named.values()])
        plain = not any(isinstance(a, ast.Starred) for a in node.args) and None not in named
        name = dotted(func)
        if name in self.inner and name not in self.env:
            return self._run(self.inner[name], (given, named) if plain else None)
        if found is not UNKNOWN and callable(found) and not isinstance(found, type):
            text = self._run_object(found, (given, named) if plain else None)
            if text is not None:
                return text
            return every | (Flow(frozenset([name or ""])) if is_trainable(found) else NOTHING)
        if isinstance(
            func, ast.Call | ast.Lambda | ast.Subscript
        ):  # for instance jax.vmap(f)(x), or a lambda
            return every | self._value(func)
        return every | self.env.get(name or "", NOTHING)

    def _run_object(self, found: Any, given: Any) -> Flow | None:
        """Return the flow of a function of the user; None if its source is not known."""
        source = definition(found)
        if source is None:
            return None
        node, file = source
        return self._run(node, given, scope_of(found, file, self.scope.differentiated, self.scope))

    def _run(
        self,
        node: Function,
        given: tuple[Sequence[Flow], Mapping[str | None, Flow]] | None,
        scope: CodeScope | None = None,
    ) -> Flow:
        """Return the flow of a function; if ``given`` is None, its arguments may depend on every source."""
        here = scope or self.scope
        parameters = [a.arg for a in arguments(node) if scope is None or a.arg != scope.owner]
        if id(node) in here.running or here.depth > _DEPTH:
            return NOTHING if given is None else union([*given[0], *given[1].values()])
        env = {} if scope is not None else dict(self.env)
        if given is None:
            every = Flow(frozenset[str]().union(*(f.sources for f in self.env.values())))
            env |= dict.fromkeys(parameters, every)
        else:
            env |= dict.fromkeys(parameters, NOTHING)
            more = union(given[0][len(parameters) :])
            env |= dict(zip(parameters, given[0], strict=False)) | {str(k): f for k, f in given[1].items()}
            if parameters and node.args.vararg is not None:
                env[node.args.vararg.arg] = more | env.get(node.args.vararg.arg, NOTHING)
        inside = replace(here, depth=here.depth + 1, running=here.running | {id(node)})
        body = type(self)(inside, env, None if scope is not None else self.inner)
        return body.function(node)

    def _lost(self, kind: Kind, flow: Flow, node: ast.expr, replacement: str | None) -> Flow:
        edit = replacement if node.end_lineno == node.lineno else None  # an edit must be within one line
        return self._broken(kind, flow, self.scope.place(node), ast.unparse(node), edit)

    @staticmethod
    def _broken(kind: Kind, flow: Flow, place: Place, text: str, replacement: str | None = None) -> Flow:
        return Flow(frozenset(), flow.breaks | {Break(kind, place, text, flow.sources, replacement)})
