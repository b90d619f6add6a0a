"""A claim as a row of data: what batches decide."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from symgrad.api.program import parse
from symgrad.api.verify import equal, verify
from symgrad.errors import SymgradError, UsageError

if TYPE_CHECKING:
    from symgrad.verify.verdict import Verdict

__all__ = ["decide_claim"]


def decide_claim(row: Mapping[str, Any], time_limit: float, *, replay: bool = False) -> dict[str, Any]:
    """Decide a claim that came as data; never raise for what the row says.

    Args:
        row: ``program``, ``of``, ``wrt``, ``claim`` as in `verify` (without ``of`` the last line of the program), or
            ``a``, ``b`` as in `equal`; either with ``domain``, if need be. Other keys are not read.
        time_limit: seconds.
        replay: whether the proof is checked as `symgrad check` does.

    Returns:
        What `Verdict.to_json` returns; with ``replay`` and a proof also ``checked``, the status that the checker finds.
        If there is nothing to decide: ``status`` is ``"error"``, ``why`` is the message, ``error`` the class.

    Example:
        >>> decide_claim({"a": "x/x", "b": "1"}, 10)["status"]
        'proved'
        >>> decide_claim({"a": "x +", "b": "1"}, 10)["error"]
        'ProgramSyntaxError'
    """
    try:
        verdict = _verdict(row, time_limit)
    except SymgradError as error:
        return {"status": "error", "why": str(error), "error": type(error).__name__}
    except MemoryError:
        raise
    except Exception as fault:  # noqa: BLE001  a fault of ours is the result of its row
        why = "".join(traceback.format_exception(fault)[-2:]).strip()
        return {"status": "error", "why": f"a fault in symgrad: {why}", "error": type(fault).__name__}
    found = verdict.to_json()
    if replay and verdict.proof is not None:
        from symgrad.proof.check import check

        found["checked"] = check(json.loads(verdict.proof.to_json())).status
    return found


def _verdict(row: Mapping[str, Any], time_limit: float) -> Verdict:
    domain = _domain(row.get("domain"))
    if "claim" in row and "program" in row:
        program = parse(_text(row, "program"))
        y = program.last if row.get("of") is None else program[_text(row, "of")]
        return verify(y, program[_text(row, "wrt")], _text(row, "claim"), domain, time_limit)
    if "a" in row and "b" in row:
        return equal(_text(row, "a"), _text(row, "b"), domain, time_limit)
    raise UsageError(
        "the row is no claim",
        expected="program, of, wrt, claim; or a, b; and perhaps domain",
        cure="add the keys",
    )


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise UsageError(f"'{key}' is {value!r}", expected="text")
    return value


def _domain(domain: Any) -> Mapping[str, str] | str | None:
    if domain is None or isinstance(domain, str):
        return domain
    found = cast("Mapping[Any, Any]", domain if isinstance(domain, Mapping) else {None: domain})
    if not all(isinstance(k, str) and isinstance(v, str) for k, v in found.items()):
        raise UsageError(
            f"'domain' is {domain!r}", expected='an object such as {"x": "positive"}, or "complex"'
        )
    return found
