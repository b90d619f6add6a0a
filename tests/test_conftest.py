from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import compare_golden


def test_golden_text_is_written_then_compared(tmp_path: Path) -> None:
    path = tmp_path / "ir" / "chain.txt"
    compare_golden(path, "a = sin(x)", update=True)
    assert path.read_bytes() == b"a = sin(x)\n"
    compare_golden(path, "a = sin(x)\n", update=False)


def test_golden_failure_shows_the_difference(tmp_path: Path) -> None:
    path = tmp_path / "chain.txt"
    compare_golden(path, "a = sin(x)", update=True)
    with pytest.raises(pytest.fail.Exception, match=r"(?s)-a = sin\(x\).*\+a = cos\(x\)"):
        compare_golden(path, "a = cos(x)", update=False)


def test_missing_golden_text_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="--update-golden"):
        compare_golden(tmp_path / "none.txt", "a", update=False)
