"""Answer a question about a program as plain data, independent of the web.

An answer is a sequence of parts, so that the page can show the first while the others are computed. A part is a list
of blocks for JSON: a ``kind`` with the fields that `blocks.py` lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from symgrad.apps.web.blocks import Block, text
from symgrad.apps.web.code import LANGUAGES, assembly, source
from symgrad.apps.web.formulas import derivation, gradient, graph, latex, moments, noise, verdict
from symgrad.apps.web.limits import CLAIM_CHARACTERS, NAME_CHARACTERS, PROGRAM_CHARACTERS
from symgrad.apps.web.plots import plot
from symgrad.apps.web.question import PageQuestion
from symgrad.apps.web.review import review, understood
from symgrad.support.errors import SymgradError

__all__ = ["LANGUAGES", "PARTS", "QuestionError", "answer", "validate_question"]

PARTS: dict[str, Callable[[PageQuestion], list[Block]]] = {
    "understood": understood,
    "review": review,
    "gradient": gradient,
    "claim": verdict,
    "derivation": derivation,
    "noise": noise,
    "graph": graph,
    "plot": plot,
    "latex": latex,
    "source": source,
    "assembly": assembly,
    "moments": moments,
}
"""The parts of an answer in their order, the fastest first."""

_OF_DERIVATIONS = ("understood", "review")
"""The parts of the answer about a derivation; the others are about a formula or a program."""

_FIELDS = {
    "program": PROGRAM_CHARACTERS,
    "of": NAME_CHARACTERS,
    "wrt": NAME_CHARACTERS,
    "claim": CLAIM_CHARACTERS,
    "language": NAME_CHARACTERS,
    "range": NAME_CHARACTERS,
    "values": NAME_CHARACTERS,
    "form": NAME_CHARACTERS,
}


class QuestionError(ValueError):
    """A question is malformed or too long."""


def validate_question(data: Any) -> dict[str, Any]:
    r"""Validate a question: return its fields, each a text within its limit.

    Args:
        data: the JSON data: ``program``, and optionally ``of``, ``wrt``, ``claim``, ``language``, ``range``,
            ``values``, ``form``, each a text; and ``parts``, a list of names of `PARTS`.

    Raises:
        QuestionError: if it is anything else.

    Example:
        >>> validate_question({"program": "x**2", "parts": ["latex", "gradient"]})["parts"]
        ['gradient', 'latex']
    """
    if not isinstance(data, dict):
        raise QuestionError("a question is a JSON object")
    fields = cast("dict[Any, Any]", data)
    unknown = [repr(k)[:40] for k in fields if k not in _FIELDS and k != "parts"]
    if unknown:
        raise QuestionError(f"a question has no field {unknown[0]}")
    found: dict[str, Any] = {}
    for field, most in _FIELDS.items():
        value = fields.get(field, "")
        if not isinstance(value, str):
            raise QuestionError(f"'{field}' is not text")
        if len(value) > most:
            raise QuestionError(f"'{field}' is longer than {most:,} characters")
        found[field] = value.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded later
    parts = fields.get("parts", ["gradient"])
    names = cast("list[Any]", parts) if isinstance(parts, list) else [None]
    if not all(isinstance(p, str) and p in PARTS for p in names):
        raise QuestionError(f"'parts' is a list of {', '.join(PARTS)}")
    found["parts"] = [p for p in PARTS if p in names]
    return found


def answer(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    r"""Answer a question part by part.

    Args:
        data: as `validate_question` returns it.

    Yields:
        For each part, ``part`` (its name) with ``blocks`` or ``error``: a ``message``, with ``line`` and ``column``
        (from 1) for a fault in the program, or with ``field`` for a fault in another field.

    Example:
        >>> (found,) = answer(validate_question({"program": "x : real\ny = sin(x**2)"}))
        >>> found["blocks"][1]["text"]
        'dy/dx = 2*x*cos(x**2)'
        >>> next(answer(validate_question({"program": "x +* 2"})))["error"]["column"]
        4
    """
    question = PageQuestion(data)
    for part in data["parts"]:
        yield {"part": part, **_part(part, question)}


def _part(part: str, question: PageQuestion) -> dict[str, Any]:
    question.at_fault = None  # forget the fault of another part
    try:
        if part not in _OF_DERIVATIONS and question.box.kind == "derivation":
            return {"blocks": []}
        return {"blocks": PARTS[part](question)}
    except SymgradError as error:
        return {"error": _error(error, question)}
    except MemoryError:
        return {"error": {"message": "there is not enough memory for this"}}
    except RecursionError:
        return {"error": {"message": "this is nested too deeply"}}
    except ImportError as error:  # in a browser there is no LLVM
        if (error.name or "").partition(".")[0] == "llvmlite":
            return {
                "blocks": [text("Native code needs llvmlite, which is not here: install symgrad for it.")]
            }
        return {"error": _fault(error)}
    except Exception as error:  # noqa: BLE001  report the fault of this part, and compute the others
        return {"error": _fault(error)}


def _fault(error: Exception) -> dict[str, Any]:
    message = f"{type(error).__name__}: {error}"[:500]
    return {"message": f"this is a fault in symgrad; please report it with the program ({message})"}


_LABELS = {"of": "Differentiate", "wrt": "by"}
"""The labels of the fields for names on the page."""


def _error(error: SymgradError, question: PageQuestion) -> dict[str, Any]:
    found: dict[str, Any] = {"message": str(error)[:4000]}
    if question.at_fault is not None:
        message = f"in the field “{_LABELS[question.at_fault]}”: {found['message']}"
        found |= {"field": question.at_fault, "message": message}
    if error.at is not None and error.at.source.name == PageQuestion.NAME:
        found |= {"line": error.at.line, "column": error.at.column}
    return found
