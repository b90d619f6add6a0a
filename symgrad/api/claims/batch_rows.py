"""`decide_claim`: decide a claim in plain data, a row of a batch."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symgrad.api.claims.domains import validate_domain
from symgrad.api.claims.verify import equal, verify
from symgrad.api.handles.program import parse
from symgrad.ir.listing import suggest
from symgrad.support.errors import SymgradError, UsageError

if TYPE_CHECKING:
    from symgrad.verification.verdict import Verdict

_DERIVATIVE = ("program", "of", "wrt", "claim")
_SIDES = ("a", "b")
_MORE = ("id", "domain", "expect", "values_only")
_ROW = "program, of, wrt, claim; or a, b; and perhaps id, domain, expect, values_only"


def decide_claim(row: Mapping[str, Any], time_limit: float, *, replay: bool = False) -> dict[str, Any]:
    """Decide a claim in plain data. Faults of the row are reported in the result and raise no error.

    Args:
        row: ``program``, ``of``, ``wrt``, ``claim`` as in `verify` (without ``of`` the last line of the program), or
            ``a``, ``b`` and optionally ``values_only`` as in `equal`. Both kinds of row may have ``domain``. ``id`` and
            ``expect`` are ignored.
        time_limit: seconds.
        replay: whether the proof is checked as `symgrad check` does.

    Returns:
        The result of `Verdict.to_json`; if ``replay`` is set and there is a proof, also ``checked``, the status from
        the checker. For a faulty row, ``status`` is ``"error"``, ``why`` is the message, and ``error`` is the class of
        the error.

    Example:
        >>> decide_claim({"a": "x/x", "b": "1"}, 10)["status"]
        'proved'
        >>> decide_claim({"a": "x +", "b": "1"}, 10)["error"]
        'ProgramSyntaxError'
    """
    try:
        verdict = _verdict(row, time_limit)
        found = verdict.to_json()  # for a refuted claim this also searches for the mistake
    except SymgradError as error:
        return {"status": "error", "why": str(error), "error": type(error).__name__}
    except MemoryError:
        raise
    except Exception as fault:  # noqa: BLE001  a fault of ours is the result of its row
        why = "".join(traceback.format_exception(fault)[-2:]).strip()
        return {"status": "error", "why": f"a fault in symgrad: {why}", "error": type(fault).__name__}
    if replay and verdict.proof is not None:
        from symgrad.checker.check import check  # for start-up time

        found["checked"] = check(json.loads(verdict.proof.to_json())).status
    return found


def _verdict(row: Mapping[str, Any], time_limit: float) -> Verdict:
    derivative = _keys_of(row)
    domain = validate_domain(row.get("domain"))
    if derivative:
        program = parse(_text(row, "program"))
        y = program.last if row.get("of") is None else program[_text(row, "of")]
        return verify(y, program[_text(row, "wrt")], _text(row, "claim"), domain, time_limit)
    values_only = row.get("values_only", False)
    if not isinstance(values_only, bool):
        raise UsageError(f"'values_only' is {values_only!r}", expected="true or false")
    return equal(_text(row, "a"), _text(row, "b"), domain, time_limit, values_only=values_only)


def _keys_of(row: Mapping[str, Any]) -> bool:
    """Tell whether a row claims a derivative; else it claims the equality of two sides.

    Raises:
        UsageError: if the row claims neither or both, or has unknown keys.
    """
    known = (*_DERIVATIVE, *_SIDES, *_MORE)
    strange = next((key for key in row if key not in known), None)
    if strange is not None:
        raise UsageError(
            f"the key {strange!r} of the row means nothing",
            expected=_ROW,
            cure=suggest(strange, known) or "leave it out",
        )
    both = [[key for key in keys if key in row] for keys in (_DERIVATIVE, _SIDES)]
    if all(both):
        raise UsageError(
            f"the row is two claims: it has {', '.join(both[0])} and {', '.join(both[1])}",
            expected=_ROW,
            cure="make two rows of it",
        )
    missing = {"program", "wrt", "claim"}.difference(row), set(_SIDES).difference(row)
    if all(missing):
        raise UsageError("the row is no claim", expected=_ROW, cure="add the keys")
    return not missing[0]


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise UsageError(f"'{key}' is {value!r}", expected="text")
    return value
