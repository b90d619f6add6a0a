"""The page as it is served: with processes of its own once for all tests, and without any."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from symgrad.apps.web.workers import Workers
    from tests.apps.web.serving import Address


@pytest.fixture(scope="session")
def served() -> Generator[tuple[Workers, Address]]:
    """Processes that answer, and the page that they answer for."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    from symgrad.apps.web.workers import Workers
    from tests.apps.web.serving import running

    workers = Workers(2, part_seconds=60, total_seconds=120)  # whatever else runs on this machine
    with running(workers) as address:
        yield workers, address


@pytest.fixture
def page(served: tuple[Workers, Address]) -> Address:
    """The page with processes that answer."""
    return served[1]


@pytest.fixture
def workers(served: tuple[Workers, Address]) -> Workers:
    """The processes."""
    return served[0]


@pytest.fixture(scope="session")
def bare() -> Generator[Address]:
    """The page without processes: answers are found in this one."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    from tests.apps.web.serving import Here, running

    with running(Here(), names=("symgrad.example.org",)) as address:
        yield address
