"""Read proof files as strict JSON: no duplicate keys, no floats, and bounded bytes, values, depth and digits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from symgrad.checker.file.schema_validation import find_fault
from symgrad.checker.limits import FILE_BYTES, FILE_DEPTH, FILE_VALUES, JSON_DIGITS
from symgrad.checker.program.names import terminal_text
from symgrad.support.errors import UsageError
from symgrad.support.files import read_start

_CURE = "make the proof anew, with --proof"


def read_proof_file(path: Path) -> dict[str, Any]:
    """Read a proof file.

    Args:
        path: the path of the file.

    Returns:
        The content of the file, which conforms to `symgrad/checker/schema.json`.

    Raises:
        UsageError: if the file is not a proof file.
        FileError: if the file cannot be read.
    """
    return read_proof(read_start(path, FILE_BYTES + 1))


def read_proof(content: bytes) -> dict[str, Any]:
    """Read the content of a proof file.

    Raises:
        UsageError: if the text is not a proof file.

    Example:
        >>> read_proof(b'{"format": 1, "format": 1}')
        Traceback (most recent call last):
            ...
        symgrad.errors.UsageError: this is not a proof file: the key 'format' stands twice in one object
        ...
    """
    if len(content) > FILE_BYTES:
        raise _refuse(f"it has more than {FILE_BYTES // 2**20} MiB", "a smaller file")
    # Every value except the first comes after one of these characters.
    if sum(map(content.count, (b",", b"[", b":"))) > FILE_VALUES:
        raise _refuse(f"it has more than {FILE_VALUES:,} values", "a smaller file")
    try:
        data = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=_no_float,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise _refuse("it nests too deeply", f"at most {FILE_DEPTH} levels") from None
    except UnicodeDecodeError as error:
        raise _refuse(f"it is not JSON: invalid UTF-8 at byte {error.start}", "JSON") from None
    except ValueError as error:
        raise _refuse(f"it is not JSON: {error}", "JSON") from None
    check_structure(data)
    return data


def check_structure(data: Any) -> None:
    """Check that data conforms to the schema of proof files.

    Raises:
        UsageError: if it does not conform; the message tells the place.
    """
    fault = find_fault(data)
    if fault is not None:
        at = f"at {fault.place}: " if fault.place else ""
        raise _refuse(f"{at}{fault.what}", fault.expected)


def _refuse(what: str, expected: str) -> UsageError:
    return UsageError(f"this is not a proof file: {what}", expected=expected, cure=_CURE)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise _refuse(f"the key '{terminal_text(key, 60)}' stands twice in one object", "each key once")
        made[key] = value
    return made


def _no_float(text: str) -> None:
    raise _refuse(f"the number {terminal_text(text, 60)} has a point or an exponent", 'a text such as "1/2"')


def _no_constant(text: str) -> None:
    raise _refuse(f"{text} is no number", 'a text such as "1/2"')


def _integer(text: str) -> int:
    if len(text) > JSON_DIGITS:
        raise _refuse(f"a number with {len(text):,} characters", f"at most {JSON_DIGITS}, or a text")
    return int(text)
