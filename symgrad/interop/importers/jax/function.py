"""Import functions of JAX as programs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from symgrad.api.functions.symbols import array_input
from symgrad.api.handles.expr import Expr
from symgrad.api.missing_framework import not_installed
from symgrad.interop.importers.program import ImportedProgram, UniqueNames
from symgrad.interop.importers.refusals import depends_on_data, line_in, needs_number, not_covered
from symgrad.interop.importers.specs import argument_names, is_shape, parse_spec
from symgrad.ir.graph import SYMBOL, Node
from symgrad.ir.listing import Listing
from symgrad.ir.notation.literals import decimals_in
from symgrad.support.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from symgrad.interop.importers.jax.jaxpr_reader import JaxprReader


def from_jax(fn: Callable[..., Any], *specs: Any) -> ImportedProgram:
    r"""Import a function of JAX as a program: its formula, with the names of its variables.

    The function is traced once, for values of the declared shapes; nothing is computed, and no value is rounded to a
    lower precision. Captured values are constants. stop_gradient and custom derivatives (custom_jvp, custom_vjp) are
    preserved; calls, and loops of known length, are inlined. A position outside its axis is an error when the program
    runs, while JAX would clamp it or return NaN.

    Args:
        fn: a function of arrays, or of trees of arrays (dicts, lists, tuples), which returns arrays or trees.
        specs: a spec for every argument: an array or ``jax.ShapeDtypeStruct`` for its shape and dtype; a text such as
            ``"real[3, 5]"``, ``"positive"``, ``"int[8]"`` or ``"Normal(0, 1)[8]"``; or a tree of these. A tuple of
            integers or names, ``(8, 3)`` or ``("n", 3)``, is a shape. If sizes are names, the program is valid for all
            sizes from 1 on. An input has the name of its argument; in a tree, the keys are appended: ``params_w1``.

    Returns:
        An ImportedProgram. Its inputs are the arrays of all arguments; its last names are the outputs, and a single
        unnamed output has the name of the function.

    Raises:
        UnsupportedError: for unsupported operations, all of which are in one message with their lines; and for control
            flow that depends on the data.
        UsageError: if a spec is invalid, or JAX is not installed.

    Example:
        >>> import jax.numpy as jnp, symgrad as sg
        >>> def loss(w, x, y):
        ...     h = jnp.tanh(x @ w)
        ...     return jnp.mean((h - y)**2)
        >>> p = sg.from_jax(loss, "real[3]", "real[8, 3]", "real[8]")
        >>> print(p)
        w : real[3]
        x : real[8, 3]
        y : real[8]
        h = tanh(x@w)
        loss = sum((h - y)**2)/8
        >>> print(sg.grad(p["loss"], "w"))
        x.T@((1 - h**2)*(h - y))/4
    """
    try:
        import jax  # JAX starts slowly, and may be missing

        from symgrad.interop.importers.jax import jaxpr_reader
        from symgrad.interop.importers.names import watch_locals
    except ImportError as error:
        raise not_installed("jax", error) from error
    if not callable(fn):
        raise UsageError(f"a value of type {type(fn).__name__} is no function", expected="a function of JAX")
    inputs, avals = _inputs(fn, specs, cast(Any, jax))
    with cast(Any, jax).enable_x64(True):
        try:
            (closed, tree), names = watch_locals(
                # This is a new function object, because JAX caches traces and captured values may have changed.
                lambda: cast(Any, jax).make_jaxpr(partial(fn), return_shape=True)(*avals),
                _file(fn),
                jaxpr_reader.variable_of,
            )
        except _undecided(jax) as error:
            cure = "jnp.where(condition, a, b), or lax.cond"
            raise depends_on_data("the function", _file(fn), error.__traceback__, cure) from None
        except (TypeError, jax.errors.InconclusiveDimensionOperation) as error:
            if all(isinstance(n, int) for e in inputs.values() for n in e.shape):
                raise
            what = f"the function{line_in(_file(fn), error.__traceback__)}"
            raise needs_number(what, str(error).strip().splitlines()[0], "JAX") from None
        walk = jaxpr_reader.JaxprReader({v: n for v, n in names.items() if v not in set(closed.jaxpr.invars)})
        found = walk.closed(closed, list(inputs.values()))
        outs = [v.aval for v in closed.jaxpr.outvars]
        outputs: list[Expr] = []
        if not walk.problems:
            outputs = [jaxpr_reader.full_value(v, a) for v, a in zip(found, outs, strict=True)]
    if walk.problems:
        raise not_covered(getattr(fn, "__name__", "the function"), walk.problems)
    leaves: list[Any] = cast(Any, jax).tree_util.tree_flatten_with_path(tree)[0]
    paths = [_name(path) for path, _ in leaves]
    return _program(fn, inputs, walk, outputs, paths)


def _undecided(jax: Any) -> tuple[type[Exception], ...]:
    errors = jax.errors
    return (
        errors.ConcretizationTypeError,
        errors.TracerArrayConversionError,
        errors.NonConcreteBooleanIndexError,
    )


# Arguments


def _inputs(fn: Callable[..., Any], specs: Sequence[Any], jax: Any) -> tuple[dict[str, Expr], list[Any]]:
    """Return the inputs by name, and the abstract arguments of the trace."""
    from symgrad.interop.importers.jax.sizes import dims  # this module imports JAX

    names = argument_names(fn, len(specs))
    inputs: dict[str, Expr] = {}
    trees: list[Any] = []
    for name, spec in zip(names, specs, strict=True):
        leaves, tree = jax.tree_util.tree_flatten_with_path(spec, is_leaf=_is_shape)
        trees.append(tree)
        for path, leaf in leaves:
            full = "_".join(filter(None, (name, _name(path))))
            e = _declared(full, leaf)
            if full in inputs:
                raise UsageError(
                    f"two inputs are called '{full}'", cure="name the keys of the tree otherwise"
                )
            inputs[full] = e
    kinds = {"real": np.float64, "int": np.int64, "bool": np.bool_}
    exprs = list(inputs.values())
    shapes = dims([e.shape for e in exprs])
    shaped = iter([jax.ShapeDtypeStruct(s, kinds[e.dtype]) for s, e in zip(shapes, exprs, strict=True)])
    return inputs, [
        jax.tree_util.tree_unflatten(tree, [next(shaped) for _ in range(tree.num_leaves)]) for tree in trees
    ]


def _name(path: Sequence[Any]) -> str:
    """Return the keys of a leaf of a tree as a name."""
    keys: list[str] = []
    for part in path:
        key = next((getattr(part, a) for a in ("key", "idx", "name") if hasattr(part, a)), part)
        keys.append(re.sub(r"\W+", "_", str(key)).strip("_"))
    return "_".join(keys)


def _is_shape(spec: Any) -> bool:
    """Tell whether a spec is a shape; an empty tuple is a tree without leaves, as in JAX."""
    return is_shape(spec) and bool(spec)


def _declared(name: str, leaf: Any) -> Expr:
    if isinstance(leaf, str):
        return parse_spec(name, leaf)
    if is_shape(leaf):
        return array_input(name, leaf)
    if isinstance(leaf, Expr):
        if leaf.node.op is not SYMBOL:
            raise UsageError(f"'{leaf}' does not say what '{name}' is", expected="an input")
        return leaf
    shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
    if isinstance(leaf, bool | int | float):
        shape, dtype = (), np.dtype(type(leaf))
    if shape is None or dtype is None:
        raise UsageError(
            f"a value of type {type(leaf).__name__} does not say what '{name}' is",
            expected="an array, a jax.ShapeDtypeStruct, or a text such as 'real[3, 5]'",
        )
    text = str(dtype)
    kind = "real" if "float" in text else "bool" if text == "bool" else "int" if "int" in text else None
    if kind is None:
        key = text.startswith("key")
        raise UnsupportedError(
            f"'{name}' is {text}",
            expected="real numbers, whole numbers or truth values",
            cure="pass the noise in as an argument" if key else None,
        )
    from symgrad.interop.importers.jax.sizes import size_of  # this module imports JAX

    return array_input(name, tuple(map(size_of, shape)), kind)


def _file(fn: Callable[..., Any]) -> str:
    """Return the file of the code of a function."""
    code = getattr(inspect.unwrap(fn), "__code__", None)
    return code.co_filename if code is not None else ""


# The program


def _program(
    fn: Callable[..., Any],
    inputs: Mapping[str, Expr],
    walk: JaxprReader,
    outputs: Sequence[Expr],
    paths: Sequence[str],
) -> ImportedProgram:
    """Return the program: the named values in order, then the outputs."""
    function = getattr(fn, "__name__", "out")
    function = function if function.isidentifier() else "out"
    finals = {e.node for e in outputs}
    taken = UniqueNames(inputs)
    assignments: dict[str, Node] = {}
    known: set[Node] = {e.node for e in inputs.values()}
    own: dict[Node, str] = {}
    for name, e in walk.named:
        if e.node in finals:
            own.setdefault(e.node, name)
        elif e.node not in known:
            known.add(e.node)
            assignments[taken.free(name)] = e.node
    returned: list[tuple[str, str]] = []
    for k, (e, path) in enumerate(zip(outputs, paths, strict=True)):
        plain = function if len(outputs) == 1 else f"{function}_{path}" if path else f"{function}_{k}"
        name = taken.free(own.get(e.node) or plain)
        assignments[name] = e.node
        returned.append((path or "out", name))
    symbols = {n: e.node for n, e in inputs.items()}
    decimals = decimals_in(assignments.values())
    listing = Listing(symbols, assignments, places=walk.places, decimals=decimals, framework="jax")
    return ImportedProgram(listing, returned)
