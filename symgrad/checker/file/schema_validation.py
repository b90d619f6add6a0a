"""Validate data against the JSON Schema of proof files, and locate the first fault.

The module supports the keywords that `symgrad/checker/schema.json` uses, with the meaning of draft 2020-12. It refuses
to load a schema with any other keyword: so every rule of the published schema is enforced. Floats are valid nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias, cast

from symgrad.checker.limits import FILE_DEPTH, VALUE_CHARACTERS
from symgrad.checker.program.names import terminal_text
from symgrad.support.errors import InternalError

_TOO_DEEP = f"nests deeper than {FILE_DEPTH} levels"
_ANNOTATIONS = frozenset({"$schema", "$defs", "title", "description"})


# How well an object or a list fits an alternative of oneOf: first it counts whether constants agree, then keys.
_OTHER_VALUE, _EXTRA_KEY, _MISSING_KEY, _AT_VALUE = range(4)


@dataclass(slots=True)
class Fault:
    """A violation of the schema.

    Args:
        what: the problem, as text.
        expected: the values that are valid at this place.
        likeness: how well the data fits the alternative that it violates.
        reversed_path: the keys and positions that lead to the value, innermost first.
    """

    what: str
    expected: str
    likeness: int = _AT_VALUE
    reversed_path: list[str | int] = field(default_factory=list["str | int"])

    @property
    def rank(self) -> tuple[int, int]:
        """The sort key for alternatives: likeness, then the depth of the fault."""
        depth = len(self.reversed_path)
        return self.likeness if depth < 2 else _AT_VALUE, depth

    @property
    def place(self) -> str:
        """The path of the value, such as ``program/steps/3``."""
        return terminal_text("/".join(map(str, reversed(self.reversed_path))), 200)


Check: TypeAlias = "Callable[[Any, int], Fault | None]"
"""Map a value and its depth to its first fault."""


def load_schema() -> dict[str, Any]:
    """Return the schema of proof files."""
    return json.loads(files("symgrad.checker").joinpath("schema.json").read_text(encoding="utf-8"))


def find_fault(data: Any) -> Fault | None:
    """Return the first fault of a proof file; None if it has none.

    Example:
        >>> find_fault({"format": 1, "status": "proved", "kind": 3}).place
        'kind'
    """
    return _proof_check()(data, 0)


@cache
def _proof_check() -> Check:
    return compile_schema(load_schema())


def compile_schema(whole: Mapping[str, Any]) -> Check:
    """Return the validator of a schema.

    Raises:
        InternalError: if the schema has an unsupported keyword.
    """
    made: dict[str, Check] = {}

    def reference(name: str) -> Check:
        def check(value: Any, depth: int) -> Fault | None:
            if name not in made:
                made[name] = schema_check(whole["$defs"][name.removeprefix("#/$defs/")])
            return made[name](value, depth)

        return check

    def schema_check(own: Any) -> Check:
        if isinstance(own, bool):
            return _accept if own else _reject
        rest = dict(own)
        checks: list[Check] = []
        for keywords, build in _BUILDERS.items():
            if any(k in rest for k in keywords):
                found = {k: rest.pop(k) for k in keywords if k in rest}
                checks.append(build(found, reference if keywords == ("$ref",) else schema_check))
        unknown = rest.keys() - _ANNOTATIONS
        if unknown:
            raise InternalError(f"the schema has keywords that nothing enforces: {sorted(unknown)}")
        return checks[0] if len(checks) == 1 else _all(checks)

    return schema_check(whole)


def _accept(_value: Any, _depth: int) -> Fault | None:
    return None


def _reject(value: Any, _depth: int) -> Fault | None:
    return Fault(f"{_text(value)} has no place here", "nothing", _EXTRA_KEY)


def _all(checks: Sequence[Check]) -> Check:
    def check(value: Any, depth: int) -> Fault | None:
        return next((fault for c in checks if (fault := c(value, depth)) is not None), None)

    return check


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if type(value) is int and value.bit_length() > 10_000:  # Python writes no longer numbers out
        return f"a whole number of {value.bit_length():,} bits"
    return terminal_text(
        str(value) if isinstance(value, float) else json.dumps(value, default=repr), VALUE_CHARACTERS
    )


# ------------------------------------------------------------------------------------------------------------ keywords

_TYPES: dict[str, tuple[type, str]] = {
    "object": (dict, "an object"),
    "array": (list, "a list"),
    "string": (str, "text"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "null": (type(None), "null"),
}


def _type(own: Mapping[str, Any], _schema: Any) -> Check:
    kind, words = _TYPES[own["type"]]

    def check(value: Any, depth: int) -> Fault | None:
        if type(value) is not kind:
            return Fault(f"{_text(value)} is not {words}", words)
        return Fault(_TOO_DEEP, f"at most {FILE_DEPTH} levels") if depth > FILE_DEPTH else None

    return check


def _one_of_values(values: Sequence[Any]) -> Check:
    words = " or ".join(json.dumps(v) for v in values)

    def check(value: Any, _depth: int) -> Fault | None:
        if any(type(value) is type(v) and value == v for v in values):
            return None
        return Fault(f"{_text(value)} is none of the values here", words, _OTHER_VALUE)

    return check


def _bounds(own: Mapping[str, Any], _schema: Any) -> Check:
    low, high = own.get("minimum"), own.get("maximum")

    def check(value: Any, _depth: int) -> Fault | None:
        if type(value) is int and ((low is not None and value < low) or (high is not None and value > high)):
            return Fault(f"{_text(value)} is out of range", f"a whole number from {low} to {high}")
        return None

    return check


def _string(own: Mapping[str, Any], _schema: Any) -> Check:
    least, most = own.get("minLength", 0), own.get("maxLength")
    # In a JSON Schema `$` matches only at the end of the text, not before a final line break.
    pattern = re.compile(own["pattern"].replace("$", r"\Z")) if "pattern" in own else None

    def check(value: Any, _depth: int) -> Fault | None:
        if type(value) is not str:
            return None
        if len(value) < least or (most is not None and len(value) > most):
            return Fault(f"a text of {len(value)} characters", f"{least} to {most} characters")
        if pattern is not None and pattern.search(value) is None:
            return Fault(f"{_text(value)} does not have the required form", f"the form {own['pattern']}")
        return None

    return check


def _array(own: Mapping[str, Any], schema: Callable[[Any], Check]) -> Check:
    first = [schema(s) for s in own.get("prefixItems", ())]
    others = schema(own["items"]) if "items" in own else _accept
    least, most = own.get("minItems", 0), own.get("maxItems")

    def check(value: Any, depth: int) -> Fault | None:
        if type(value) is not list:
            return None
        items = cast("list[Any]", value)
        if len(items) < least or (most is not None and len(items) > most):
            up = f"{least} or more" if most is None else f"{least} to {most}"
            return Fault(f"{len(items)} entries", f"{up} entries")
        for i, item in enumerate(items):
            fault = (first[i] if i < len(first) else others)(item, depth + 1)
            if fault is not None:
                fault.reversed_path.append(i)
                return fault
        return None

    return check


def _object(own: Mapping[str, Any], schema: Callable[[Any], Check]) -> Check:
    known = {key: schema(s) for key, s in own.get("properties", {}).items()}
    others = schema(own["additionalProperties"]) if "additionalProperties" in own else _accept
    names = schema(own["propertyNames"]) if "propertyNames" in own else _accept
    required: Sequence[str] = own.get("required", ())

    def check(value: Any, depth: int) -> Fault | None:
        if type(value) is not dict:
            return None
        entries = cast("dict[Any, Any]", value)
        for key, item in entries.items():
            fault = (
                Fault("a key that is not a text", "text") if type(key) is not str else names(key, depth + 1)
            )
            fault = fault or known.get(key, others)(item, depth + 1)
            if fault is not None:
                fault.reversed_path.append(key)
                return fault
        missing = next((key for key in required if key not in entries), None)
        return (
            None if missing is None else Fault(f"'{missing}' is missing", ", ".join(required), _MISSING_KEY)
        )

    return check


def _one_of(own: Mapping[str, Any], schema: Callable[[Any], Check]) -> Check:
    ways = [schema(s) for s in own["oneOf"]]

    def check(value: Any, depth: int) -> Fault | None:
        faults = [fault for way in ways if (fault := way(value, depth)) is not None]
        if len(faults) == len(ways) - 1:
            return None
        if len(faults) < len(ways):
            return Fault(f"{_text(value)} is of several kinds", "one of them")
        # Report the fault in the alternative that fits the data best.
        furthest = max(faults, key=lambda f: f.rank)
        same = [f.expected for f in faults if f.reversed_path == furthest.reversed_path]
        furthest.expected = " or ".join(dict.fromkeys(same))
        return furthest

    return check


_BUILDERS: dict[tuple[str, ...], Callable[[Mapping[str, Any], Any], Check]] = {
    ("$ref",): lambda own, reference: reference(own["$ref"]),
    ("type",): _type,
    ("const",): lambda own, _schema: _one_of_values([own["const"]]),
    ("enum",): lambda own, _schema: _one_of_values(own["enum"]),
    ("minimum", "maximum"): _bounds,
    ("minLength", "maxLength", "pattern"): _string,
    ("prefixItems", "items", "minItems", "maxItems"): _array,
    ("properties", "additionalProperties", "propertyNames", "required"): _object,
    ("oneOf",): _one_of,
}
