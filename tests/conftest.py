"""What every test gets: repeatable Hypothesis, and texts compared with files under tests/golden/."""

from __future__ import annotations

import difflib
import faulthandler
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

GOLDEN = Path(__file__).parent / "golden"

# The same examples in every run, on every machine: a red build must be the fault of a change.
# `--hypothesis-profile=search` looks further. Deadlines and slow-data checks measure the machine, not the code.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("repeatable")


# Code on disk is of this run alone, so that what is compiled, loaded and found there is the same in every run.
_CODE = tempfile.TemporaryDirectory(prefix="symgrad-", ignore_cleanup_errors=True)
os.environ["SYMGRAD_CACHE"] = _CODE.name
# What one test compiled would be there for the next: whole kernels are kept in their own tests alone.
os.environ["SYMGRAD_CACHE_KERNELS"] = "0"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files under tests/golden/")


@pytest.fixture
def ends() -> Iterator[None]:
    """End a test that hangs in integer arithmetic, which nothing else interrupts."""
    faulthandler.dump_traceback_later(600, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """A function (name, text) that compares text with tests/golden/<name>, or rewrites it under --update-golden."""
    update = bool(request.config.getoption("--update-golden"))
    return lambda name, text: compare_golden(GOLDEN / name, text, update=update)


def compare_golden(path: Path, text: str, *, update: bool) -> None:
    text = text.rstrip("\n") + "\n"
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    if not path.exists():
        pytest.fail(
            f"no golden text {path}; look at the result, then run pytest with --update-golden:\n{text}"
        )
    expected = path.read_text(encoding="utf-8")
    if text != expected:
        diff = difflib.unified_diff(expected.splitlines(), text.splitlines(), "golden", "now", lineterm="")
        pytest.fail("\n".join([f"{path} differs; --update-golden accepts it", *diff]))
