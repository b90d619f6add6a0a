"""The note after the machine code in a file: the inputs and outputs of the kernel, for `symgrad.load`.

    the content, as every linker reads it
    the note, as JSON
    checksum of content and JSON (CRC-32, 4 bytes), length of the JSON (8 bytes); the lowest bytes first
    ``symgrad-note-v1`` and a line feed

Linkers and loaders find all parts of an object by its own tables, so they never read what follows it. In LLVM's text
the JSON is a comment. The checksum detects accidental damage only: an attacker can compute a new one.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, cast
from zlib import crc32

from symgrad.support.errors import FileError

ABI = 1
"""The version of the note. It changes whenever files saved before would be read or called differently."""

_MARK = b"symgrad-note-v1\n"
_TAIL = struct.Struct("<IQ")
_COMMENT = "; symgrad-note-v1 "

_CUT = "write the kernel to a file again with its save()"


def sealed(content: bytes, note: Mapping[str, Any]) -> bytes:
    """Return machine code followed by a note."""
    whole = content + _json(note)
    return whole + _TAIL.pack(crc32(whole), len(whole) - len(content)) + _MARK


def sealed_text(text: str, note: Mapping[str, Any]) -> str:
    """Return LLVM's text followed by a note."""
    whole = text + _COMMENT + _json(note).decode() + "\n"
    return f"{whole}; checksum {crc32(whole.encode())}\n"


def opened(content: bytes, name: str) -> tuple[bytes, Mapping[str, Any]]:
    """Return the arguments of the call of `sealed` or `sealed_text` that made a file.

    Args:
        content: the content of the file.
        name: the name of the file, for messages.

    Raises:
        FileError: if the file does not end with such a note, or the checksum does not fit.

    Example:
        >>> opened(sealed(b"code", {"kind": "elementwise"}), "k.o")
        (b'code', {'kind': 'elementwise'})
    """
    if content.endswith(_MARK) and len(content) >= len(_MARK) + _TAIL.size:
        whole, tail = content[: -len(_MARK) - _TAIL.size], content[-len(_MARK) - _TAIL.size : -len(_MARK)]
        checksum, length = _TAIL.unpack(tail)
        if crc32(whole) != checksum or length > len(whole):
            raise _damaged(name)
        start = len(whole) - length
        return whole[:start], _read(whole[start:], name)
    head, comment, last = content.rpartition(b"; checksum ")
    text, found, note = head.rpartition(_COMMENT.encode())
    if not comment or not found:
        raise FileError(
            f"'{name}' does not end with a note of symgrad",
            expected="the complete object, shared library or LLVM text to which a kernel of symgrad was saved",
            cure=_CUT,
        )
    if last != b"%d\n" % crc32(head):
        raise _damaged(name)
    return text, _read(note, name)


def _json(note: Mapping[str, Any]) -> bytes:
    return json.dumps(note, separators=(",", ":")).encode()


def _read(note: bytes, name: str) -> Mapping[str, Any]:
    try:
        found = json.loads(note)
    except ValueError:
        raise _damaged(name) from None
    if not isinstance(found, dict):
        raise _damaged(name)
    return cast("Mapping[str, Any]", found)


def _damaged(name: str) -> FileError:
    return FileError(
        f"'{name}' is damaged: its checksum does not fit its content",
        expected="the file as it was saved",
        cure=_CUT,
    )
