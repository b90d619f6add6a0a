"""Names of variables and layers of a TensorFlow graph in a program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from symgrad.interop.importers.program import UniqueNames


def variable_names(
    variables: Sequence[Any], bound: Mapping[str, Any], inputs: Iterable[str]
) -> dict[int, str]:
    """Return names of variables, by their handles: the name in the function, or else the end of their path.

    Args:
        variables: the variables that the graph reads.
        bound: the values of the free names of the function.
        inputs: the names of inputs, which are taken.
    """
    keys = {id(v.handle) for v in variables}
    own: dict[int, str] = {}
    for name, value in bound.items():
        key = id(getattr(value, "handle", None))
        if key in keys:
            own.setdefault(key, name)
    taken, found = UniqueNames(inputs), dict[int, str]()
    paths = {
        id(v.handle): [re.sub(r"\W+", "_", part) for part in v.name.removesuffix(":0").split("/")]
        for v in variables
    }
    for key, path in paths.items():
        others = [p for k, p in paths.items() if k != key]
        alone = (n for n in range(min(2, len(path)), len(path)) if all(p[-n:] != path[-n:] for p in others))
        found[key] = taken.free(own.get(key) or "_".join(path[-next(alone, len(path)) :]))
    return found


def layer_names(graph: Any, models: Iterable[Any]) -> dict[Any, str]:
    """Return names for tensors that leave the name scope of a Keras layer.

    Args:
        graph: the graph.
        models: objects that may have layers: the function, and the values of its free names.
    """
    layers = {part for v in graph.variables for part in v.name.split("/")[:-1]}
    for model in models:
        found = getattr(model, "layers", None)
        if isinstance(found, list):
            layers |= {str(getattr(part, "name", "")) for part in cast("list[Any]", found)}
    names: dict[Any, str] = {}
    for op in graph.get_operations():
        parts = op.name.split("/")[:-1]
        own = [k for k, part in enumerate(parts) if part in layers or _unnumbered(part) in layers]
        for t in op.outputs if own else ():
            left = [
                k for k in own if any(c.name.split("/")[: k + 1] != parts[: k + 1] for c in t.consumers())
            ]
            if left:  # a layer of a model, and not the model itself
                part = parts[left[1] if len(left) > 1 and left[0] == 0 else left[0]]
                names[t.ref()] = part if part in layers else _unnumbered(part)
    return names


def _unnumbered(part: str) -> str:
    return re.sub(r"_\d+$", "", part)
